//! The noise model: the one table of how noise grows.
//!
//! The analysis, the optimizer, hover and hints all read this table and state no rule of their own. It is data, keyed by
//! the full name of an op, so that another scheme is another table. [`NoiseModel::tutorial`] is the built-in one.

use noisy_syntax::{Ir, Op};
use rustc_hash::FxHashMap;

/// Bits of noise.
pub type Bits = u32;

/// How the noise of an op's noisy results follows from that of its noisy operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// New noise, whatever the operands: the model's fresh level.
    Fresh,
    /// The noisiest operand, plus a constant.
    Max(Bits),
    /// The sum of the operands, plus a constant.
    Sum(Bits),
    /// Back to a level, whatever the operand; this is what an inserted op does.
    Reset(Bits),
}

/// What a model says of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// How its noise follows from its noisy operands.
    pub growth: Growth,
    /// The operands from this index on carry noise; those before do not.
    pub first: usize,
    /// The price of executing it once, in the unit that the optimizer adds up.
    pub cost: u64,
}

/// A scheme: what is fresh, what is too much, and how each op adds to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseModel {
    /// Noise of an encoded value and of what comes from outside, in bits.
    pub fresh: Bits,
    /// The largest legal noise, in bits.
    pub budget: Bits,
    /// The op that is inserted to bring noise down; its rule is a [`Growth::Reset`].
    pub reset_op: String,
    rules: FxHashMap<String, Rule>,
}

impl Default for NoiseModel {
    fn default() -> Self {
        Self::tutorial()
    }
}

impl NoiseModel {
    /// A model without rules: every op is unknown to it.
    pub fn new(fresh: Bits, budget: Bits, reset_op: &str) -> Self {
        Self { fresh, budget, reset_op: reset_op.into(), rules: FxHashMap::default() }
    }

    /// The model of the MLIR tutorial's `noisy` dialect: fresh 12, budget 26.
    pub fn tutorial() -> Self {
        let mut it = Self::new(12, 26, "noisy.reduce_noise");
        for (name, growth, first, cost) in [
            ("noisy.encode", Growth::Fresh, 0, 0),
            ("noisy.add", Growth::Max(1), 0, 0),
            ("noisy.sub", Growth::Max(1), 0, 0),
            ("noisy.mul", Growth::Sum(0), 0, 0),
            ("noisy.reduce_noise", Growth::Reset(12), 0, 1),
            // Picks one of its operands and does nothing to it.
            ("arith.select", Growth::Max(0), 1, 0),
        ] {
            it.set(name, Rule { growth, first, cost });
        }
        it
    }

    /// States the rule of an op by its full name.
    pub fn set(&mut self, name: &str, rule: Rule) {
        self.rules.insert(name.into(), rule);
    }

    /// The rule of an op by its full name; `None` if the model does not know it.
    pub fn rule(&self, name: &str) -> Option<Rule> {
        self.rules.get(name).copied()
    }

    /// The level that [`NoiseModel::reset_op`] brings noise down to, in bits.
    pub fn reset_level(&self) -> Bits {
        match self.rule(&self.reset_op) {
            Some(Rule { growth: Growth::Reset(level), .. }) => level,
            _ => self.fresh,
        }
    }

    /// The price of one inserted [`NoiseModel::reset_op`]; at least 1.
    pub fn reset_cost(&self) -> u64 {
        self.rule(&self.reset_op).map_or(1, |it| it.cost.max(1))
    }
}

/// The rules of a model looked up by op: names are compared once per document, not once per visit.
#[derive(Debug)]
pub struct Rules {
    model: NoiseModel,
    /// By interned op name, in the order of their index; grown as names are seen.
    by_name: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Unseen,
    None,
    Rule(Rule),
}

impl Rules {
    /// The rules of a model, for one document.
    pub fn new(model: NoiseModel) -> Self {
        Self { model, by_name: Vec::new() }
    }

    /// The model.
    pub fn model(&self) -> &NoiseModel {
        &self.model
    }

    /// Forgets the names: they belong to another document now.
    pub fn clear(&mut self) {
        self.by_name.clear();
    }

    /// The rule of an op.
    pub fn of(&mut self, ir: &Ir, op: Op) -> Option<Rule> {
        let data = ir.op(op);
        if !data.kind.is_op() {
            return None;
        }
        let index = data.name.index();
        if index >= self.by_name.len() {
            self.by_name.resize(index + 1, Entry::Unseen);
        }
        match self.by_name[index] {
            Entry::Rule(rule) => Some(rule),
            Entry::None => None,
            Entry::Unseen => {
                let rule = self.model.rule(ir.op_name(op));
                self.by_name[index] = rule.map_or(Entry::None, Entry::Rule);
                rule
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tutorial_has_its_six_ops() {
        let model = NoiseModel::tutorial();
        assert_eq!((model.fresh, model.budget, model.reset_level()), (12, 26, 12));
        assert_eq!(model.rule("noisy.mul").map(|it| it.growth), Some(Growth::Sum(0)));
        assert_eq!(model.rule("noisy.sub").map(|it| it.growth), Some(Growth::Max(1)));
        assert_eq!(model.rule("noisy.decode"), None);
        assert_eq!(model.reset_cost(), 1);
    }

    #[test]
    fn other_schemes_are_other_tables() {
        let mut model = NoiseModel::new(0, 3, "mgmt.bootstrap");
        model.set("ckks.mul", Rule { growth: Growth::Max(1), first: 0, cost: 0 });
        model.set("mgmt.bootstrap", Rule { growth: Growth::Reset(1), first: 0, cost: 40 });
        assert_eq!((model.reset_level(), model.reset_cost()), (1, 40));
        assert_eq!(model.rule("noisy.mul"), None);
    }
}
