//! The noise model: the only table of growth rules.
//!
//! The analysis, the optimizer, the edits, hover and hints all read this table and have no rule of
//! their own. It is data, keyed by the full name of an op, so that another scheme is another table:
//! a user writes a [`ModelSpec`], and [`NoiseModel`] is its validated form, fast to query. The
//! built-in one is [`ModelSpec::default`], the `noisy` dialect of the MLIR tutorial.

mod pattern;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use noisy_syntax::{AttrData, Interner, Ir, Name, Op, Type, Value};
use rustc_hash::FxHashMap;

pub use self::spec::{GrowthKind, InsertSpec, ModelError, ModelSpec, OpSpec};

use self::pattern::Pattern;
use noisy_dataflow::view::View;

/// Bits of noise; in schemes that count levels, levels.
pub type Bits = u32;

/// The rule that gives the noise of an op's noisy results from that of its noisy operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// New noise of a level, for any operands.
    Fresh(Bits),
    /// The noisiest operand, plus a constant.
    Max(Bits),
    /// The sum of the operands, plus a constant.
    Sum(Bits),
    /// Back to a level, for any operand, as by an inserted op.
    Reset(Bits),
}

/// The rule for the ops of one name. [`NoiseModel::growth`] makes a [`Growth`] of it for one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrowthRule {
    kind: GrowthKind,
    /// The addend, or the level; `None` if the op must state it.
    constant: Option<Bits>,
    /// The attribute that states it, as an index into the model's list.
    attribute: Option<u32>,
    operands: Carriers,
    results: Carriers,
}

impl GrowthRule {
    /// The kind of growth, which is the same for every op of the name.
    pub(crate) fn kind(&self) -> GrowthKind {
        self.kind
    }

    /// Returns true if the op brings noise to a level, for any operands.
    #[inline]
    pub fn is_reset(&self) -> bool {
        self.kind == GrowthKind::Reset
    }
}

/// The operands or results that carry noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Carriers {
    /// The operands or results with a noisy or an unknown type.
    ByType,
    /// The operands or results at these indices.
    These(u64),
}

/// A scheme: fresh noise, the budget, the noisy types, and the growth rule of each op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseModel {
    /// Noise of an encoded value and of values from outside, in bits.
    pub fresh: Bits,
    /// The largest legal noise, in bits.
    pub budget: Bits,
    /// The op that is inserted to bring noise down; its rule is a reset.
    pub reset_op: String,
    reset_level: Bits,
    reset_cost: u64,
    reset_text: Option<String>,
    /// True if `!noisy.i32` is noisy; the other types are in `types`.
    dialect_type: bool,
    types: Vec<Pattern>,
    attributes: Vec<String>,
    rules: FxHashMap<String, GrowthRule>,
    pub heir: noisy_heir::Options,
}

impl Default for NoiseModel {
    fn default() -> Self {
        Self::tutorial()
    }
}

impl NoiseModel {
    /// Makes a model of a description.
    ///
    /// # Errors
    ///
    /// The first entry that is contradictory or meaningless, with its key.
    pub fn new(spec: &ModelSpec) -> Result<Self, ModelError> {
        spec::compile(spec)
    }

    /// The model of the MLIR tutorial's `noisy` dialect: fresh 12, budget 26.
    pub fn tutorial() -> Self {
        let spec = ModelSpec::default();
        // The built-in description is valid, which a test checks; without rules every op would be
        // unknown.
        Self::new(&spec).unwrap_or_else(|_| Self::empty(&spec))
    }

    fn empty(spec: &ModelSpec) -> Self {
        Self {
            fresh: spec.fresh,
            budget: spec.budget,
            reset_op: spec.insert.op.clone(),
            reset_level: spec.fresh,
            reset_cost: spec.insert.cost,
            reset_text: spec.insert.text.clone(),
            dialect_type: false,
            types: Vec::new(),
            attributes: Vec::new(),
            rules: FxHashMap::default(),
            heir: noisy_heir::Options::default(),
        }
    }

    /// The rule of an op by its full name; `None` if the model does not know it.
    pub fn rule(&self, name: &str) -> Option<GrowthRule> {
        self.rules.get(name).copied()
    }

    /// The growth of the noise of one op by the rule of its name; `None` if an attribute states it
    /// that the op does not have or that is no number of bits.
    pub fn growth(&self, ir: &impl View, op: Op, rule: GrowthRule) -> Option<Growth> {
        let written = rule.attribute.and_then(|it| {
            let name = self.attributes.get(it as usize)?;
            ir.attr(op, name)
        });
        let constant = match written {
            None => rule.constant?,
            Some(attr) => match ir.interner().attr_data(attr) {
                AttrData::Int { value, .. } => Bits::try_from(*value).ok()?,
                _ => return None,
            },
        };
        Some(match rule.kind {
            GrowthKind::Fresh => Growth::Fresh(constant),
            GrowthKind::Max => Growth::Max(constant),
            GrowthKind::Sum => Growth::Sum(constant),
            GrowthKind::Reset => Growth::Reset(constant),
        })
    }

    /// Returns true if an operand of an op carries noise into its results. An operand of unknown
    /// type does: nothing may be concluded without it.
    #[inline]
    pub(crate) fn is_carrier(
        &self,
        ir: &impl View,
        op: Op,
        rule: GrowthRule,
        operand: usize,
    ) -> bool {
        match rule.operands {
            Carriers::These(mask) => operand < 64 && mask >> operand & 1 == 1,
            Carriers::ByType => {
                let ty = ir.operand_ty(op, operand);
                ty.is_none_or(|ty| ty == Type::UNKNOWN || self.is_noisy(ir.interner(), ty))
            }
        }
    }

    /// The operands that carry noise into the results of an op, in order; `None` for one that names
    /// no value.
    pub fn carriers<'a>(
        &'a self,
        ir: &'a Ir,
        op: Op,
        rule: GrowthRule,
    ) -> impl Iterator<Item = Option<Value>> + 'a {
        let operands = ir.op(op).operands.iter().enumerate();
        operands
            .filter(move |it| self.is_carrier(ir, op, rule, it.0))
            .map(|(_, operand)| operand.value)
    }

    /// Returns true if the rule of an op covers a result; its other results of a noisy type have no
    /// noise.
    pub fn is_carried(&self, rule: GrowthRule, result: usize) -> bool {
        match rule.results {
            Carriers::ByType => true,
            Carriers::These(mask) => result < 64 && mask >> result & 1 == 1,
        }
    }

    /// Returns true if values of a type carry noise.
    pub(crate) fn is_noisy(&self, interner: &Interner, ty: Type) -> bool {
        if ty == Type::NOISY {
            return self.dialect_type;
        }
        !self.types.is_empty() && pattern::any(&self.types, interner, ty)
    }

    /// The name of [`NoiseModel::reset_op`] without that of its dialect, for people.
    pub fn reset_name(&self) -> &str {
        self.reset_op.rsplit('.').next().unwrap_or_default()
    }

    /// The level that [`NoiseModel::reset_op`] brings noise down to, in bits.
    pub(crate) fn reset_level(&self) -> Bits {
        self.reset_level
    }

    /// The price of one inserted [`NoiseModel::reset_op`]; at least 1.
    pub(crate) fn reset_cost(&self) -> u64 {
        self.reset_cost
    }

    /// The text of an inserted [`NoiseModel::reset_op`]. Each name includes its `%`. Without a
    /// template the op is written as `%r = op %a : type`, or in generic form if its neighbors are.
    pub(crate) fn reset_text(
        &self,
        result: &str,
        operand: &str,
        ty: &str,
        is_generic: bool,
    ) -> String {
        let op = &self.reset_op;
        match &self.reset_text {
            Some(text) => spec::fill(text, result, operand, ty),
            None if is_generic => format!("{result} = \"{op}\"({operand}) : ({ty}) -> {ty}"),
            None => format!("{result} = {op} {operand} : {ty}"),
        }
    }
}

/// The rules of a model looked up by op: names are compared once per document, not once per visit.
#[derive(Debug)]
pub(crate) struct GrowthRules {
    model: Arc<NoiseModel>,
    /// The names that were seen, each with its rule if it has one. They are few.
    by_name: FxHashMap<Name, Option<GrowthRule>>,
    /// The name that was asked for last: the same op is often asked for again.
    last: Option<(Name, Option<GrowthRule>)>,
}

impl GrowthRules {
    /// The rules of a model, for one document.
    pub(crate) fn new(model: Arc<NoiseModel>) -> Self {
        Self { model, by_name: FxHashMap::default(), last: None }
    }

    pub(crate) fn model(&self) -> &Arc<NoiseModel> {
        &self.model
    }

    /// The rule of an op, if [`GrowthRules::of`] was asked for one of its name last.
    #[inline]
    pub(crate) fn last(&self, name: Name) -> Option<GrowthRule> {
        self.last.filter(|it| it.0 == name)?.1
    }

    /// The rule of an op.
    pub(crate) fn of(&mut self, ir: &impl View, op: Op) -> Option<GrowthRule> {
        let data = ir.op(op);
        if !data.kind.is_op() {
            return None;
        }
        if let Some((_, rule)) = self.last.filter(|it| it.0 == data.name) {
            return rule;
        }
        let rule = self.by_name.entry(data.name).or_insert_with(|| self.model.rule(ir.op_name(op)));
        self.last = Some((data.name, *rule));
        *rule
    }
}
