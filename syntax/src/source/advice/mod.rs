//! Advice on problems: a remedy in words, a related place, and edits that may help.
//!
//! The parser and the verifier report a problem with a code, a position and one sentence that is
//! close to the message of MLIR. All other information for users is derived here from the code, the
//! op and the surrounding text, and only when a problem is shown. A file without problems has no
//! cost.
//!
//! *Proposals* are guesses. [`Source::proven_proposals`] applies each to a copy and keeps those
//! after which the text has fewer problems. A proposal may thus be wrong, but no offered proposal
//! adds problems.
//!
//! *Cost.* Each search visits a bounded number of names, values and tokens near the problem.

mod blocks;
mod calls;
mod convert;
mod counts;
mod junk;
mod names;
mod pieces;
mod scope;
mod secret;
mod syntax;
mod tokens;
mod trial;
mod types;
mod words;

use std::ops::Range;

use super::Source;
pub use crate::text::near::nearest;
use crate::{Code, Ir, Op, OpKind, Problem};

/// The advice on one problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The message, including the name of its subject.
    pub message: String,
    /// The remedy: one or more sentences, without the last full stop.
    pub help: Option<String>,
    /// Related ranges, such as the first definition or the opening brace, each with a message.
    pub related: Vec<(Range<usize>, String)>,
    /// Edits that may help, sorted by likelihood.
    pub proposals: Vec<Proposal>,
}

/// Edits that may remove a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// An imperative title, such as `Replace by %sum`.
    pub title: String,
    /// True if no other correction is plausible.
    pub is_sure: bool,
    /// The edits in textual order, disjoint.
    pub edits: Vec<(Range<usize>, String)>,
}

impl Source {
    /// The advice on one of [`Source::problems`].
    pub fn advice(&self, op: Op, range: &Range<usize>, problem: &Problem) -> Advice {
        let mut adviser = Adviser {
            source: self,
            ir: &self.ir,
            op,
            range: range.clone(),
            problem,
            out: Advice::default(),
        };
        adviser.out.message.clone_from(&problem.message);
        adviser.advise();
        adviser.finish()
    }
}

/// Derives the advice on one problem.
struct Adviser<'a> {
    source: &'a Source,
    ir: &'a Ir,
    /// The op whose text contains the problem.
    op: Op,
    /// The range of the problem in the file.
    range: Range<usize>,
    problem: &'a Problem,
    out: Advice,
}

impl Adviser<'_> {
    fn advise(&mut self) {
        match self.problem.code {
            Code::ExpectedToken | Code::MixedArguments => self.advise_on_expected_token(),
            Code::ExpectedOperation => self.advise_on_expected_operation(),
            Code::UnexpectedCharacter => self.advise_on_unexpected_character(),
            Code::UnclosedRegion => self.advise_on_unclosed_region(),
            Code::UnknownOp | Code::UnregisteredOp => self.advise_on_unknown_op(),
            Code::UnknownType => self.advise_on_unknown_type(),
            Code::UnknownCase => self.advise_on_unknown_case(),
            Code::DuplicateKey => self.advise_on_duplicate_key(),
            Code::UndefinedValue => self.advise_on_undefined_value(),
            Code::UndefinedBlock => self.advise_on_undefined_block(),
            Code::UndefinedAlias => self.advise_on_undefined_alias(),
            Code::UndeclaredIdentifier => self.advise_on_undeclared_identifier(),
            Code::UnknownFunction | Code::AttributeValue => self.advise_on_unknown_symbol(),
            Code::RedefinedValue => self.advise_on_redefined_value(),
            Code::RedefinedBlock => self.advise_on_redefined_block(),
            Code::RedefinedSymbol => self.advise_on_redefined_symbol(),
            Code::RedefinedAlias => self.advise_on_redefined_alias(),
            Code::Dominance => self.advise_on_dominance(),
            Code::Isolated => self.advise_on_isolated(),
            Code::InvalidResultNumber => self.advise_on_result_number(),
            Code::TypeClash => self.advise_on_type_clash(),
            Code::EntryArguments => self.advise_on_entry_arguments(),
            Code::InvalidType if self.problem.message.contains("function type") => {
                self.advise_on_plain_function_type();
            }
            Code::AffineOperand => self.advise_on_affine_operand(),
            Code::OperandType | Code::TypesDiffer => self.advise_on_operand_type(),
            Code::ResultType | Code::ElementType => self.advise_on_result_type(),
            Code::CastWidth | Code::CastTypes => self.advise_on_cast(),
            Code::LiteralType => self.advise_on_literal_type(),
            Code::ResultCount => self.advise_on_result_count(),
            Code::WrongCount | Code::OperandCount => self.advise_on_wrong_count(),
            Code::IndexCount => self.advise_on_index_count(),
            Code::CallOperands | Code::CallResults => self.advise_on_call(),
            Code::SuccessorOperands => self.advise_on_successor_operands(),
            Code::MissingTerminator | Code::EmptyBlock => self.advise_on_missing_terminator(),
            Code::TerminatorNotLast => self.advise_on_terminator_not_last(),
            Code::WrongTerminator => self.advise_on_wrong_terminator(),
            Code::MissingElse => self.advise_on_missing_else(),
            Code::RegionValues => self.advise_on_region_values(),
            Code::PublicDeclaration => self.advise_on_public_declaration(),
            Code::NamedBlock => self.advise_on_named_block(),
            Code::BranchToEntry => self.advise_on_branch_to_entry(),
            Code::MisplacedOp => self.advise_on_misplaced(),
            _ => {}
        }
    }

    /// Adds the parts that every advice has: a subject in the message, and a remedy.
    fn finish(mut self) -> Advice {
        let name = self.op_name();
        if let Some(message) = words::add_subject(&self.out.message, name.as_deref()) {
            self.out.message = message;
        }
        if self.out.help.is_none() {
            self.out.help = words::remedy(self.problem.code);
        }
        self.out
    }

    /// The name of the op in messages; `None` for labels, aliases and junk.
    fn op_name(&self) -> Option<String> {
        let data = self.ir.op(self.op);
        let name = self.ir.op_name(self.op);
        let is_named = (data.kind.is_op() || data.kind == OpKind::Unknown) && !name.is_empty();
        is_named.then(|| name.to_owned())
    }

    fn set_message(&mut self, message: impl Into<String>) {
        self.out.message = message.into();
    }

    fn set_help(&mut self, help: impl Into<String>) {
        self.out.help = Some(help.into());
    }

    fn add_related(&mut self, range: Range<usize>, message: impl Into<String>) {
        self.out.related.push((range, message.into()));
    }

    /// Proposes edits that are one plausible correction among others.
    fn propose(&mut self, title: impl Into<String>, edits: Vec<(Range<usize>, String)>) {
        self.out.proposals.push(Proposal { title: title.into(), is_sure: false, edits });
    }

    /// Proposes one edit.
    fn propose_replacement(
        &mut self,
        title: impl Into<String>,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        self.propose(title, vec![(range, text.into())]);
    }

    fn propose_insertion(&mut self, title: impl Into<String>, at: usize, text: impl Into<String>) {
        self.propose_replacement(title, at..at, text);
    }

    /// Marks the last proposal as sure.
    fn mark_as_sure(&mut self) {
        if let Some(it) = self.out.proposals.last_mut() {
            it.is_sure = true;
        }
    }

    /// The text of the range of the problem.
    fn problem_text(&self) -> String {
        self.source.slice(self.range.clone())
    }
}

#[cfg(test)]
mod tests;
