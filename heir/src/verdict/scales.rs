//! Operands at different scales.
//!
//! `--populate-scale-ckks` raises the smaller scale of the operands of a sum, so it mends nearly
//! all programs. One case is left: where it raises the scale of an operand of the first op of a
//! block, it takes the rest of the block for dead, and raises nothing there.
//!
//! *Law.* A generic is judged if the operands of its first op are arguments of a function or
//! encoded plaintexts: their scales are known. Of an op that is not understood the scale is not
//! known, and nothing follows from it. *Cost.* That of the first op, and where it is adjusted, that
//! of the generic. *Source.* HEIR, `lib/Transforms/PopulateScale/PopulateScaleCKKS.cpp`, where
//! `isBlockLive` asks about the point before the first op; measured with HEIR 2026.9.1.

use noisy_syntax::{Def, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::Ciphertext;
use crate::facts::known::Heir;
use crate::facts::scale::modulus_bits;
use crate::options::Options;
use crate::text::annotation::{self, Said};
use crate::text::params::SchemeParams;
use crate::text::setting::Scheme;
use noisy_dataflow::flow;

/// An op that HEIR refuses because of its scales.
#[derive(Clone, Debug)]
pub struct UnequalScales {
    /// The op.
    pub op: Op,
    /// Its ciphertexts with the logarithms to base 2 of their scales; one for a modulus switch
    /// behind another.
    pub values: Vec<(Value, i64)>,
    /// The first op of the block, whose operand HEIR adjusts.
    pub first: Op,
    /// The operand that it adjusts.
    pub adjusted: Value,
    /// The logarithm to base 2 of the scale that the operand gets.
    pub to: i64,
    /// The level that is left for the operand.
    pub level: u32,
}

/// The first op of a generic that HEIR refuses because of its scales.
pub(crate) fn unequal(
    ir: &Ir,
    heir: &Heir,
    options: Options,
    generic: Op,
) -> Option<UnequalScales> {
    let (scheme, params) = annotation::params(heir.setting_of(generic)?)?;
    let default = i64::from(params.log_default_scale.filter(|_| scheme == Scheme::Ckks)?);
    let fresh = if options.before_mul_include_first_mul { 2 * default } else { default };
    let &(_, region) = ir.op(generic).regions.first()?;
    let block = flow::entry_block(ir, region);
    let mut walk = Walk { ir, heir, params, default, fresh, known: FxHashMap::default() };
    let mut ops = ir.block_ops(block);
    let first = ops.next()?;
    let Adjusted { value: adjusted, to, result } = walk.adjusted(first)?;
    let level = walk.level(adjusted)?;
    walk.known.insert(*ir.op(first).results.first()?, result);
    for op in ops {
        if let Err(values) = walk.follow(op) {
            return Some(UnequalScales { op, values, first, adjusted, to, level });
        }
    }
    None
}

/// The adjustment of an op.
struct Adjusted {
    /// The operand.
    value: Value,
    /// The scale that it gets.
    to: i64,
    /// The scale of the result.
    result: i64,
}

struct Walk<'a> {
    ir: &'a Ir,
    heir: &'a Heir,
    params: &'a SchemeParams,
    default: i64,
    fresh: i64,
    /// The scales of the values of the block.
    known: FxHashMap<Value, i64>,
}

impl Walk<'_> {
    /// The level that HEIR writes on a value.
    fn level(&self, value: Value) -> Option<u32> {
        let used = self.heir.level(self.ir, value)?;
        self.heir.levels_around(self.ir, value).checked_sub(used)
    }

    /// The bits of the modulus of the level of a value.
    fn modulus(&self, value: Value) -> Option<i64> {
        let level = self.level(value)? as usize;
        Some(self.params.q.get(level).map_or(self.default, |&q| modulus_bits(q)))
    }

    /// The scale of a value.
    fn scale(&self, value: Value) -> Option<i64> {
        if let Some(&known) = self.known.get(&value) {
            return Some(known);
        }
        let ir = self.ir;
        match ir.value(value).def {
            Def::Result(op, _) if ir.op_name(op) == "mgmt.init" => {
                match annotation::on_result(ir, op, "scale") {
                    Said::Number(it) => Some(it.into()),
                    Said::Nothing => Some(self.fresh),
                    Said::Unreadable => None,
                }
            }
            Def::Result(..) => None,
            Def::Argument(block, _) => {
                let holder = ir.region(ir.block(block).region).parent?;
                if ir.op(holder).kind == OpKind::FuncFunc {
                    let is_encrypted =
                        matches!(self.heir.ciphertext(value), Ciphertext::Encrypted { .. });
                    return is_encrypted.then_some(self.fresh);
                }
                let from = annotation::forwarded(ir, block, value)?;
                let is_generic = ir.is_secret_generic(holder);
                is_generic.then(|| self.scale(from))?
            }
        }
    }

    /// True if a value has a scale for HEIR: ciphertexts and encoded plaintexts.
    fn has_scale(&self, value: Value) -> bool {
        let is_init =
            self.ir.defining_op(value).is_some_and(|it| self.ir.op_name(it) == "mgmt.init");
        is_init || matches!(self.heir.ciphertext(value), Ciphertext::Encrypted { .. })
    }

    /// The operands with scales.
    fn scaled(&self, op: Op) -> Vec<Value> {
        let operands = self.ir.op(op).operands.iter().filter_map(|it| it.value);
        operands.filter(|&it| self.has_scale(it)).collect()
    }

    /// The adjustment that HEIR makes at an op, if it makes one.
    fn adjusted(&self, op: Op) -> Option<Adjusted> {
        let &result = self.ir.op(op).results.first()?;
        match (self.ir.op_name(op), self.scaled(op).as_slice()) {
            ("mgmt.modreduce", &[value]) => {
                let bits = self.modulus(value)?;
                let is_low = self.scale(value)? - bits < self.default;
                let to = self.default + bits;
                is_low.then_some(Adjusted { value, to, result: self.default })
            }
            ("arith.mulf", &[left, right]) => {
                let (a, b) = (self.scale(left)?, self.scale(right)?);
                let target = self.default + self.modulus(result)?;
                if a + b >= target {
                    return None;
                }
                if left == right {
                    let to = (target + 1) / 2;
                    return Some(Adjusted { value: left, to, result: 2 * to });
                }
                let (value, to) = if a < b { (left, target - b) } else { (right, target - a) };
                Some(Adjusted { value, to, result: target })
            }
            _ => None,
        }
    }

    /// Takes note of the scale that an op gives.
    ///
    /// # Errors
    /// The scales of its operands, if HEIR refuses these.
    fn follow(&mut self, op: Op) -> Result<(), Vec<(Value, i64)>> {
        let ir = self.ir;
        let &[result] = ir.op(op).results.as_slice() else { return Ok(()) };
        let values = self.scaled(op);
        let scales: Option<Vec<(Value, i64)>> =
            values.iter().map(|&it| Some((it, self.scale(it)?))).collect();
        let Some(scales) = scales else { return Ok(()) };
        let Some(&(value, first)) = scales.first() else { return Ok(()) };
        let scale = match ir.op_name(op) {
            "arith.addf" | "arith.addi" | "arith.subf" | "arith.subi" => {
                if scales.iter().any(|it| it.1 != first) {
                    return Err(scales);
                }
                Some(first)
            }
            "arith.mulf" | "arith.muli" => Some(first + scales.get(1).map_or(first, |it| it.1)),
            "mgmt.modreduce" => {
                // The canonicalizer makes a drop of a level of the first of two.
                let before = ir.defining_op(value).filter(|_| ir.value(value).uses.len() == 1);
                if before.is_some_and(|it| ir.op_name(it) == "mgmt.modreduce") {
                    return Err(scales);
                }
                self.modulus(value).map(|it| first - it)
            }
            "mgmt.relinearize" | "mgmt.level_reduce" | "tensor_ext.rotate" | "arith.negf" => {
                Some(first)
            }
            "mgmt.bootstrap" => Some(self.fresh),
            _ => None,
        };
        if let Some(scale) = scale {
            self.known.insert(result, scale);
        }
        Ok(())
    }
}
