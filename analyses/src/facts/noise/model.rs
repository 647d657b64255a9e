//! The noise model: the only table of growth rules.
//!
//! The analysis, the optimizer, the edits, hover and hints read this table and have no rules of
//! their own. The table is data, keyed by the full names of ops, so that another scheme needs only
//! another table. Users write a [`ModelSpec`]; [`NoiseModel`] is its validated form, fast to query.
//! The built-in model is [`ModelSpec::default`], the `noisy` dialect of the MLIR tutorial.

mod pattern;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use noisy_syntax::{AttrData, Interner, Ir, Name, Op, Type, Value};
use rustc_hash::FxHashMap;

pub use self::spec::{GrowthKind, GrowthRow, InsertSpec, ModelError, ModelSpec};

use self::pattern::TypePattern;
use noisy_dataflow::view::ProgramView;

/// Bits of noise; levels in schemes that count levels.
pub type Bits = u32;

/// The rule that computes the noise of an op's noisy results from that of its noisy operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// A fixed level of new noise, even if an operand is unreachable.
    Fresh(Bits),
    /// The largest noise of the operands, plus a constant.
    Max(Bits),
    /// The sum of the noise of the operands, plus a constant.
    Sum(Bits),
    /// A fixed level, for any noise of the operands, as after an inserted op.
    Reset(Bits),
}

/// The rule for all ops of a name. [`NoiseModel::growth`] returns the [`Growth`] of an op from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrowthRule {
    kind: GrowthKind,
    /// The addend or the level; `None` if each op must state it in an attribute.
    constant: Option<Bits>,
    /// The attribute that states the constant, as an index into `NoiseModel::attributes`.
    attribute: Option<u32>,
    operands: Carriers,
    results: Carriers,
}

impl GrowthRule {
    /// Returns the kind of growth, which all ops of the name share.
    pub(crate) fn kind(&self) -> GrowthKind {
        self.kind
    }

    /// Returns true if the op resets noise to a fixed level.
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

/// A noise model: fresh noise, the budget, the noisy types, and the growth rule of each op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseModel {
    /// Noise of an encoded value and of values from callers outside of the program, in bits.
    pub fresh: Bits,
    /// The largest legal noise, in bits.
    pub budget: Bits,
    /// The op that is inserted to lower noise; its rule is a reset.
    pub reset_op: String,
    reset_level: Bits,
    reset_cost: u64,
    reset_text: Option<String>,
    /// True if `!noisy.i32` carries noise; the other types are in `types`.
    is_dialect_type_noisy: bool,
    types: Vec<TypePattern>,
    attributes: Vec<String>,
    rules: FxHashMap<String, GrowthRule>,
    pub heir: noisy_heir::HeirOptions,
}

impl Default for NoiseModel {
    fn default() -> Self {
        Self::tutorial()
    }
}

impl NoiseModel {
    /// Creates a model from its description.
    ///
    /// # Errors
    ///
    /// The first contradictory or meaningless entry, with its key.
    pub fn new(spec: &ModelSpec) -> Result<Self, ModelError> {
        spec::compile(spec)
    }

    /// The model of the MLIR tutorial's `noisy` dialect: fresh 12, budget 26.
    pub fn tutorial() -> Self {
        let spec = ModelSpec::default();
        // A test checks that the built-in description is valid. In the empty model every op is
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
            is_dialect_type_noisy: false,
            types: Vec::new(),
            attributes: Vec::new(),
            rules: FxHashMap::default(),
            heir: noisy_heir::HeirOptions::default(),
        }
    }

    /// Returns the rule of the ops with a full name, if the model has one.
    pub fn rule(&self, name: &str) -> Option<GrowthRule> {
        self.rules.get(name).copied()
    }

    /// Returns the growth of an op from the rule of its name; `None` if the attribute that must
    /// state the constant is missing or not a valid number of bits.
    pub fn growth(&self, ir: &impl ProgramView, op: Op, rule: GrowthRule) -> Option<Growth> {
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
    /// type counts as a carrier, so that the result becomes unknown.
    #[inline]
    pub(crate) fn is_carrier(
        &self,
        ir: &impl ProgramView,
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

    /// Returns the operands that carry noise into the results of an op, in order; `None` for an
    /// operand with an undefined name.
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

    /// Returns true if the rule of an op applies to a result. Its other results of a noisy type
    /// have a noise of 0.
    pub fn is_noisy_result(&self, rule: GrowthRule, result: usize) -> bool {
        match rule.results {
            Carriers::ByType => true,
            Carriers::These(mask) => result < 64 && mask >> result & 1 == 1,
        }
    }

    /// Returns true if values of a type carry noise.
    pub(crate) fn is_noisy(&self, interner: &Interner, ty: Type) -> bool {
        if ty == Type::NOISY {
            return self.is_dialect_type_noisy;
        }
        !self.types.is_empty() && pattern::any_matches(&self.types, interner, ty)
    }

    /// Returns the name of [`NoiseModel::reset_op`] without its dialect, for messages.
    pub fn reset_name(&self) -> &str {
        self.reset_op.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the noise after [`NoiseModel::reset_op`], in bits.
    pub(crate) fn reset_level(&self) -> Bits {
        self.reset_level
    }

    /// Returns the cost of one inserted [`NoiseModel::reset_op`]; at least 1.
    pub(crate) fn reset_cost(&self) -> u64 {
        self.reset_cost
    }

    /// Returns the text of an inserted [`NoiseModel::reset_op`]. The names include the `%`. Without
    /// a template the op is written as `%r = op %a : type`, or in generic form if `is_generic`.
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

/// A cache of the rules of a model by interned name: names are compared once per document, not once
/// per visit.
#[derive(Debug)]
pub(crate) struct GrowthRuleCache {
    model: Arc<NoiseModel>,
    /// The names looked up so far, each with its rule if it has one. Documents have few different
    /// names.
    by_name: FxHashMap<Name, Option<GrowthRule>>,
    /// The last lookup, which is often repeated.
    last: Option<(Name, Option<GrowthRule>)>,
}

impl GrowthRuleCache {
    /// Creates an empty cache for one document.
    pub(crate) fn new(model: Arc<NoiseModel>) -> Self {
        Self { model, by_name: FxHashMap::default(), last: None }
    }

    pub(crate) fn model(&self) -> &Arc<NoiseModel> {
        &self.model
    }

    /// Returns the rule of a name if it was the last lookup of [`GrowthRuleCache::of`].
    #[inline]
    pub(crate) fn last(&self, name: Name) -> Option<GrowthRule> {
        self.last.filter(|it| it.0 == name)?.1
    }

    /// Returns the rule of an op.
    pub(crate) fn of(&mut self, ir: &impl ProgramView, op: Op) -> Option<GrowthRule> {
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
