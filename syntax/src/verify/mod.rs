//! The verifier: structure and types of the core dialects, op by op.
//!
//! A rule reads one op: its text; the definitions that its operands, successors and symbols refer
//! to; the enclosing op; and the first and last items of its own blocks. [`Verdicts`] lists the ops
//! that an edit may affect, and only these are verified again. Rules report nothing about unknown
//! ops and types, nor about ops with a syntax error. The verifier checks:
//! - numbers and types of operands and results, noisy widths (`types.rs`), shapes of memrefs
//!   (`memref.rs`), their layouts (`layouts.rs`);
//! - that blocks end with terminators, that no branch targets an entry block, and that the operands
//!   of successors, returns and yields have the types that are expected by their receivers
//!   (`blocks.rs`);
//! - that operands are dominated by their definitions and do not cross isolated regions
//!   (`scopes.rs`, `flow.rs`);
//! - that each symbol is defined once, that calls refer to functions and `memref.get_global` to a
//!   global of its type, and that public functions have bodies (`symbols.rs`).

mod affine;
mod arity;
mod blocks;
mod buffers;
mod flow;
mod layouts;
mod memref;
mod regions;
mod rules;
mod scopes;
mod secret;
mod symbols;
mod types;
mod verdicts;

pub(crate) use rules::VerifierRules;

use std::cell::Cell;

use rustc_hash::FxHashMap;

use crate::ir::seq;
use crate::{Block, Category, Code, Form, Ir, Op, OpKind, Problem, Region, Span, Type, Value};
use flow::RegionDominators;
pub(crate) use verdicts::Verdicts;

/// Prefix of messages about the values that a region yields; the number of the region follows. Such
/// a problem is reported at the end of the region.
pub(crate) const END_OF_REGION: &str = "the end of region #";

/// The problems of a program, in program order. Runs on `n_threads` threads, or on the caller's if
/// that is 0.
pub(crate) fn verify(ir: &Ir, n_threads: usize) -> Vec<(Op, Problem)> {
    let verdicts = Verdicts::new(ir, n_threads);
    if verdicts.iter().next().is_none() {
        return Vec::new();
    }
    let order = ItemOrder::of(ir);
    let mut ops: Vec<(Op, &Verdict)> = verdicts.iter().collect();
    ops.sort_by_key(|it| order.positions[it.0.index()]);
    let problems =
        |it: &Verdict| it.local.iter().chain(&it.contextual).cloned().collect::<Vec<_>>();
    ops.iter().flat_map(|it| problems(it.1).into_iter().map(|problem| (it.0, problem))).collect()
}

/// The problems of one op, in its own text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Problems that depend only on the op and the types of its operands.
    pub(crate) local: Vec<Problem>,
    /// Problems that depend on the context of the op: the enclosing ops, dominance and symbols.
    /// They are not reported if the surrounding text is broken.
    pub(crate) contextual: Vec<Problem>,
}

impl Verdict {
    fn is_empty(&self) -> bool {
        self.local.is_empty() && self.contextual.is_empty()
    }
}

/// The order and the blocks of all items. Used to verify a whole program.
#[derive(Debug)]
struct ItemOrder {
    /// All items in textual order.
    items: Vec<Op>,
    /// The position of each item in `items`.
    positions: Vec<u32>,
    /// The block of each item.
    blocks: Vec<Block>,
    /// Regions with labels.
    with_labels: Vec<Region>,
    /// True if a rule of some op depends on how an index is computed.
    reads_indices: bool,
}

impl ItemOrder {
    fn of(ir: &Ir) -> Self {
        let n = ir.n_slots().0;
        let mut out = Self {
            items: Vec::with_capacity(n),
            positions: vec![0; n],
            blocks: vec![ir.region(ir.root()).entry; n],
            with_labels: Vec::new(),
            reads_indices: false,
        };
        out.enter(ir, ir.root());
        out
    }

    fn enter(&mut self, ir: &Ir, region: Region) {
        if seq::first_label(ir, region).is_some() {
            self.with_labels.push(region);
        }
        let mut block = ir.region(region).entry;
        for op in ir.items(region) {
            let data = ir.op(op);
            if data.kind == OpKind::Label {
                block = ir.label_block(op);
            }
            self.reads_indices |= verdicts::reads_indices(data.kind);
            self.positions[op.index()] = self.items.len() as u32;
            self.blocks[op.index()] = block;
            self.items.push(op);
            for &(_, inner) in &data.regions {
                self.enter(ir, inner);
            }
        }
    }
}

/// Verifies ops of one IR.
#[derive(Debug)]
pub(crate) struct Verifier<'a> {
    ir: &'a Ir,
    dominators: &'a FxHashMap<Region, RegionDominators>,
    order: Option<&'a ItemOrder>,
    /// The op whose rank was computed last, and that rank.
    last_rank: Cell<Option<(Op, usize)>>,
    /// The problems that were found for the current op so far.
    problems: Vec<Problem>,
}

impl<'a> Verifier<'a> {
    fn new(
        ir: &'a Ir,
        flows: &'a FxHashMap<Region, RegionDominators>,
        order: Option<&'a ItemOrder>,
    ) -> Self {
        Self { ir, dominators: flows, order, last_rank: Cell::new(None), problems: Vec::new() }
    }

    /// Verifies an item. If the item has problems of its own, the rules about its context are
    /// skipped.
    fn verify(&mut self, op: Op) -> Verdict {
        let mut out = Verdict::default();
        if self.ir.op(op).kind == OpKind::Label {
            self.check_named_entry_block(op);
            out.local = std::mem::take(&mut self.problems);
            self.check_label(op);
        } else if self.ir.op(op).kind.is_op() && is_understood(self.ir, op) {
            self.check_stated_types(op);
            if self.problems.is_empty() {
                self.check_counts(op);
            }
            if self.problems.is_empty() {
                self.check_types(op);
            }
            if self.problems.is_empty() {
                self.check_attributes(op);
            }
            out.local = std::mem::take(&mut self.problems);
            if out.local.is_empty() {
                self.check_secret(op);
                if let Some(rule) = self.rules(op).symbols {
                    rule(self, op);
                }
                self.check_symbol_definition(op);
                self.check_block(op);
                if self.problems.is_empty() {
                    self.check_regions(op);
                }
                if self.problems.is_empty()
                    && let Some(rule) = self.rules(op).indices
                {
                    rule(self, op);
                }
                self.check_dominance(op);
            }
        } else {
            self.check_secret(op);
            out.local = std::mem::take(&mut self.problems);
            if self.ir.is_opaque_with_known_operands(op) || is_custom_generic(self.ir, op) {
                self.check_dominance(op);
            }
        }
        out.contextual = std::mem::take(&mut self.problems);
        out
    }

    /// Reports operands whose stated type differs from the type of their value.
    fn check_stated_types(&mut self, op: Op) {
        for operand in &self.ir.op(op).operands {
            let Some(value) = operand.value else { continue };
            let ty = self.value_type(value);
            if self.is_type_clash(ty, operand.ty) {
                let (expected, found) = (self.type_text(operand.ty), self.type_text(ty));
                self.problems.push(Problem {
                    code: Code::TypeClash,
                    span: operand.span,
                    message: format!(
                        "this value has type {found}, but {expected} is expected here"
                    ),
                });
            }
        }
    }

    /// Returns true if both types are known and differ. Blanks in the bodies of types of other
    /// dialects are ignored.
    fn is_type_clash(&self, a: Type, b: Type) -> bool {
        if a == b || a == Type::UNKNOWN || b == Type::UNKNOWN {
            return false;
        }
        !self.ir.interner.is_same_type(a, b)
    }

    fn report(&mut self, op: Op, code: Code, message: impl Into<String>) {
        let span = self.ir.op(op).name_span;
        self.report_at(span, code, message);
    }

    fn report_at(&mut self, span: Span, code: Code, message: impl Into<String>) {
        let message = message.into();
        self.problems.push(Problem { code, span, message });
    }

    /// The type of the operand's value; if that is unknown or guessed, the type that the text
    /// states for the operand.
    fn operand_type(&self, op: Op, at: usize) -> Type {
        let operand = &self.ir.op(op).operands[at];
        match operand.value.map(|it| self.ir.value(it)) {
            Some(value) if !value.is_guessed && value.ty != Type::UNKNOWN => value.ty,
            _ => operand.ty,
        }
    }

    fn value_type(&self, value: Value) -> Type {
        let data = self.ir.value(value);
        if data.is_guessed { Type::UNKNOWN } else { data.ty }
    }

    fn type_text(&self, ty: Type) -> String {
        self.ir.interner.short_type_text(ty)
    }

    fn region(&self, op: Op, n: usize) -> Option<Region> {
        self.ir.op(op).regions.get(n).map(|it| it.1)
    }

    /// The first block of a region; `None` if it has no blocks.
    fn entry_block(&self, region: Region) -> Option<Block> {
        let first = self.ir.items(region).next();
        let entry = match first {
            Some(it) if self.ir.op(it).kind == OpKind::Label => self.ir.label_block(it),
            _ => self.ir.region(region).entry,
        };
        (first.is_some() || !self.ir.block(entry).args.is_empty()).then_some(entry)
    }

    fn argument_types(&self, block: Block) -> Vec<Type> {
        self.ir.block(block).args.iter().map(|&it| self.value_type(it)).collect()
    }

    fn result_types(&self, op: Op) -> Vec<Type> {
        self.ir.op(op).results.iter().map(|&it| self.value_type(it)).collect()
    }

    fn operand_types(&self, op: Op) -> Vec<Type> {
        (0..self.ir.op(op).operands.len()).map(|at| self.operand_type(op, at)).collect()
    }

    /// The block that contains an op.
    fn block_of(&self, op: Op) -> Block {
        match self.order {
            Some(order) => order.blocks[op.index()],
            None => self.ir.block_of(op),
        }
    }

    /// Returns true if a definition precedes a user in the same region.
    fn is_before(&self, it: Op, user: Op) -> bool {
        if let Some(order) = self.order {
            return order.positions[it.index()] < order.positions[user.index()];
        }
        let rank = match self.last_rank.get() {
            Some((op, rank)) if op == user => rank,
            _ => self.ir.rank(user),
        };
        self.last_rank.set(Some((user, rank)));
        self.ir.rank(it) < rank
    }
}

/// Returns true if the op was parsed by a known grammar, without a problem.
fn is_understood(ir: &Ir, op: Op) -> bool {
    let is_wrong = |it: &Problem| it.category() != Category::Structure;
    matches!(ir.op(op).form, Form::Generic | Form::Custom)
        && !ir.extra(op).problems.iter().any(is_wrong)
}

/// Returns true if an op is a `secret.generic` in its custom form. Each `%name` in its header is an
/// operand.
fn is_custom_generic(ir: &Ir, op: Op) -> bool {
    ir.op(op).form == Form::Opaque && ir.is_secret_generic(op)
}

#[cfg(test)]
mod tests;
