//! A row of the op table.
//!
//! *Law.* A row contains everything that the name of an op determines. Parser, printers, verifier,
//! completion and passes read it from the row. The facts are those of the op definitions of MLIR 19
//! (`*Ops.td`). Rows note the differences of later versions.

use super::syntax::Element;
use crate::OpKind;
use crate::op_traits::{
    AttrSpec, Buffer, CountRange, Effects, PassedOperands, Speculation, Traits, TypeRule,
};
use crate::print::ResultNames;
use crate::verify::VerifierRules;

/// A row of the op table: everything that the name of an op determines.
#[derive(Debug)]
pub struct OpSpec {
    /// Full name, such as `arith.addi`.
    pub name: &'static str,
    /// One paragraph of documentation in Markdown, for hover.
    pub doc: &'static str,
    /// Traits.
    pub traits: Traits,
    /// Number of operands.
    pub operands: CountRange,
    /// The limits of each group of operands, in the order of the attribute `operandSegmentSizes`;
    /// empty if the op has no such attribute.
    pub segments: &'static [CountRange],
    /// Number of results.
    pub results: CountRange,
    /// Number of regions.
    pub regions: CountRange,
    /// Number of successors.
    pub successors: CountRange,
    /// Types of operands and results.
    pub types: TypeRule,
    /// Attributes, sorted by name.
    pub attrs: &'static [AttrSpec],
    /// The terminator that the text may omit in the regions of the op.
    pub implicit_terminator: Option<OpKind>,
    /// Names of the ops with regions that may contain it; empty: any op.
    pub parents: &'static [&'static str],
    /// The operands that it passes to its successors.
    pub passed_operands: PassedOperands,
    /// The names that the op suggests for its results.
    pub result_names: ResultNames,
    /// The dialect prefix that ops in its regions may omit; `None`: they need a prefix.
    pub default_dialect: Option<&'static str>,
    /// Effects.
    pub effects: Effects,
    /// The condition under which it may be executed speculatively.
    pub speculation: Speculation,
    /// Verifier rules beyond those that follow from the other fields.
    pub(crate) rules: VerifierRules,
    /// Custom syntax, in the order of the text.
    pub syntax: &'static [Element],
}

impl OpSpec {
    /// A row that states nothing: no operands, results, regions or attributes; any effect is
    /// possible.
    pub const NONE: OpSpec = OpSpec {
        name: "",
        doc: "",
        traits: Traits::empty(),
        operands: CountRange::exactly(0),
        segments: &[],
        results: CountRange::exactly(0),
        regions: CountRange::exactly(0),
        successors: CountRange::exactly(0),
        types: TypeRule::ANY,
        attrs: &[],
        implicit_terminator: None,
        parents: &[],
        passed_operands: PassedOperands::None,
        result_names: ResultNames::None,
        default_dialect: None,
        effects: Effects::Unknown,
        speculation: Speculation::Never,
        rules: VerifierRules::NONE,
        syntax: &[],
    };

    /// A row of an op without effects that is defined for all operands.
    pub const PURE: OpSpec =
        OpSpec { effects: Effects::NONE, speculation: Speculation::Always, ..OpSpec::NONE };

    /// An op with one region of one block and no effects of its own.
    pub const STRUCTURED: OpSpec = OpSpec {
        traits: Traits::SINGLE_BLOCK,
        operands: CountRange::ANY,
        results: CountRange::ANY,
        regions: CountRange::exactly(1),
        effects: Effects::NONE,
        ..OpSpec::NONE
    };

    /// A row of a terminator that passes on its operands.
    pub const TERMINATOR: OpSpec =
        OpSpec { traits: Traits::TERMINATOR, operands: CountRange::ANY, ..OpSpec::PURE };

    /// Returns true if the op has custom syntax.
    pub fn has_custom_form(&self) -> bool {
        !self.syntax.is_empty()
    }

    /// Returns the attribute with this name.
    pub fn attr(&self, name: &str) -> Option<&AttrSpec> {
        self.attrs.iter().find(|it| it.name == name)
    }

    /// Returns the properties, which the generic form prints between `<{` and `}>`.
    pub fn inherent_attrs(&self) -> impl Iterator<Item = &AttrSpec> {
        self.attrs.iter().filter(|it| it.is_inherent)
    }

    /// Returns true if every `{` outside brackets that does not follow `attributes` starts a
    /// region. Then an error at the start of a body does not hide the body. `is_first`: no region
    /// precedes the `{`.
    pub fn brace_is_region(&self, is_first: bool) -> bool {
        let is_region = |it: &Element| matches!(it, Element::Region | Element::OptRegion);
        let Some(region) = self.syntax.iter().position(is_region) else { return false };
        let elements = if is_first { &self.syntax[..region] } else { self.syntax };
        !elements.iter().any(|it| matches!(it, Element::AttrDict))
    }

    /// Returns a contradiction within the row or between it and the row of its terminator.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let name = self.name;
        if !self.attrs.is_sorted_by_key(|it| it.name) {
            return Some(format!("the attributes of `{name}` are not sorted by name"));
        }
        let least: usize = self.segments.iter().map(|it| it.least).sum();
        if least > self.operands.least {
            return Some(format!("`{name}` may have fewer operands than its groups need"));
        }
        if !self.segments.is_empty() && self.attr("operandSegmentSizes").is_none() {
            return Some(format!("`{name}` has groups of operands and no `operandSegmentSizes`"));
        }
        if let Effects::Known(accesses) = self.effects {
            let is_there = |buffer: Buffer| match buffer {
                Buffer::Operand(n) => n < self.operands.least,
                Buffer::Result(n) => n < self.results.least,
            };
            if !accesses.iter().all(|it| is_there(it.1)) {
                return Some(format!("`{name}` accesses a value that it may not have"));
            }
        }
        let is_terminator = self.traits.contains(Traits::TERMINATOR);
        if self.successors.most > 0 && !is_terminator {
            return Some(format!("`{name}` has successors but is not a terminator"));
        }
        if is_terminator && self.results != CountRange::exactly(0) {
            return Some(format!("`{name}` is a terminator but has results"));
        }
        let end = self.implicit_terminator.map(OpKind::spec)?;
        if !end.traits.contains(Traits::TERMINATOR) {
            return Some(format!("`{}`, which must end `{name}`, is not a terminator", end.name));
        }
        (!end.parents.contains(&name))
            .then(|| format!("`{}`, the terminator of `{name}`, is not allowed in it", end.name))
    }

    /// Returns true if the op has neither effects of its own nor regions with ops that may have
    /// effects.
    pub fn is_pure(&self) -> bool {
        self.effects == Effects::NONE && self.regions.most == 0
    }
}
