//! Finds impossible written scales of CKKS ciphertexts.
//!
//! *Law.* Only written scales are compared (`mgmt.mgmt`). Each op is checked separately, and an op
//! without a scale is not checked. If arguments or results of a generic have no scale, the first of
//! these is reported and nothing else, as in HEIR: without them no op can be checked.
//!
//! *Cost.* Constant for each op, and for each function and generic. *Source.* HEIR,
//! `lib/Transforms/ValidateScale`, as measured by `--validate-scale`.

use noisy_syntax::{Def, Ir, Op, Value};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::text::annotation::{self, WrittenNumber};
use crate::text::params::SchemeParams;
use crate::text::setting::Scheme;
use noisy_dataflow::flow;
use rustc_hash::FxHashSet;

/// A missing or impossible scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScaleFault {
    /// A secret argument or a result of a generic has no scale.
    Missing {
        /// The value.
        value: Value,
        /// True if any scale is written in the program.
        is_partial: bool,
    },
    /// The scales of an op contradict each other.
    Contradictory {
        /// The op.
        op: Op,
        /// The message, with the numbers.
        message: String,
        /// The values whose scales were compared.
        values: Vec<(Value, i64)>,
    },
}

/// Returns the contradiction in the scales of one op.
pub(crate) fn contradiction(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<ScaleFault> {
    let rules = ScaleRules { ir, heir };
    let (message, values) = rules.contradiction(op)?;
    Some(ScaleFault::Contradictory { op, message, values })
}

/// Returns the first ciphertext without a scale: an argument of a function that contains a generic,
/// or else a result of a generic. `holders` are the functions and generics, in textual order.
pub(crate) fn first_missing(ir: &Ir, heir: &CiphertextFacts, holders: &[Op]) -> Option<ScaleFault> {
    ScaleRules { ir, heir }.first_missing(holders)
}

struct ScaleRules<'a> {
    ir: &'a Ir,
    heir: &'a CiphertextFacts,
}

impl ScaleRules<'_> {
    /// Returns the CKKS parameters for a value.
    fn params(&self, value: Value) -> Option<&SchemeParams> {
        let (scheme, params) =
            annotation::scheme_and_params(self.heir.setting_of_value(self.ir, value)?)?;
        (scheme == Scheme::Ckks).then_some(params)
    }

    /// Returns the written scale of a value.
    fn scale(&self, value: Value) -> Option<i64> {
        self.written_scale(value).number().map(i64::from)
    }

    /// Reads the written scale of a value, or that of the value that is passed to an argument.
    fn written_scale(&self, value: Value) -> WrittenNumber {
        match (annotation::annotated_number(self.ir, value, "scale"), self.ir.value(value).def) {
            (WrittenNumber::Absent, Def::Argument(block, _)) => {
                let from = annotation::forwarded_operand(self.ir, block, value);
                from.map_or(WrittenNumber::Absent, |it| self.written_scale(it))
            }
            (said, _) => said,
        }
    }

    fn first_missing(&self, holders: &[Op]) -> Option<ScaleFault> {
        let ir = self.ir;
        let (mut first, mut is_partial) = (None, false);
        let mut look = |value: Value| {
            let is_encrypted = matches!(self.heir.ciphertext(value), Ciphertext::Encrypted { .. });
            if !is_encrypted || self.params(value).is_none() {
                return;
            }
            match self.written_scale(value) {
                WrittenNumber::Number(_) => is_partial = true,
                WrittenNumber::Absent => first = first.or(Some(value)),
                // Another diagnostic reports unreadable scales.
                WrittenNumber::Unreadable => {}
            }
        };
        let generics = holders.iter().filter(|&&it| ir.is_secret_generic(it));
        let with_generic: FxHashSet<Op> = generics.filter_map(|&it| ir.function_of(it)).collect();
        for &op in holders {
            if with_generic.contains(&op)
                && ir.attr(op, "client.dec_func").is_none()
                && let Some(body) = flow::function_body(ir, op)
            {
                ir.block(flow::entry_block(ir, body)).args.iter().copied().for_each(&mut look);
            }
            if ir.is_secret_generic(op) {
                ir.op(op).results.iter().copied().for_each(&mut look);
            }
        }
        first.map(|value| ScaleFault::Missing { value, is_partial })
    }

    /// Returns the message about the scales of an op, and these scales.
    fn contradiction(&self, op: Op) -> Option<(String, Vec<(Value, i64)>)> {
        let ir = self.ir;
        let data = ir.op(op);
        let (name, &[result]) = (ir.op_name(op), data.results.as_slice()) else { return None };
        let is_judged = matches!(
            name,
            "arith.addi" | "arith.addf" | "arith.subi" | "arith.subf" | "arith.muli" | "arith.mulf"
        ) || matches!(name, "tensor.insert" | "tensor.insert_slice")
            || matches!(name, "mgmt.modreduce" | "mgmt.adjust_scale" | "mgmt.bootstrap");
        if !is_judged {
            return None;
        }
        let params = self.params(result)?;
        let to = self.scale(result)?;
        let from: Vec<(Value, i64)> = data
            .operands
            .iter()
            .filter_map(|it| Some((it.value?, self.scale(it.value?)?)))
            .collect();
        let &(first, input) = from.first()?;
        let message = match name {
            "arith.muli" | "arith.mulf" => {
                let [(_, a), (_, b)] = from[..] else { return None };
                (to != a + b).then(|| {
                    format!(
                        "a product of scales 2^{a} and 2^{b} has scale 2^{}, but 2^{to} is written",
                        a + b
                    )
                })
            }
            "mgmt.modreduce" => {
                let level = self.heir.remaining_levels(first)?;
                let bits = crate::facts::scale::modulus_bits(*params.q.get(level)?);
                let wanted = input - bits;
                (to != wanted).then(|| {
                    format!("the modulus of level {level} has {bits} bits, so scale 2^{input} becomes 2^{wanted}, but 2^{to} is written")
                })
            }
            "mgmt.adjust_scale" => (to < input)
                .then(|| format!("a scale can only be raised, but 2^{to} is lower than 2^{input}")),
            "mgmt.bootstrap" => {
                let most = crate::facts::scale::modulus_bits(*params.q.first()?) - 1;
                let default = params.log_default_scale.map(i64::from);
                if input > most {
                    Some(format!(
                        "the scale before a bootstrap must be at most 2^{most}, but is 2^{input}"
                    ))
                } else {
                    default.filter(|&it| it != to).map(|default| {
                        format!(
                            "a bootstrap gives the default scale 2^{default}, but 2^{to} is written"
                        )
                    })
                }
            }
            _ => from.iter().find(|it| it.1 != to).map(|(other, scale)| {
                let other = ir.value_text(*other);
                format!("scales must be equal: {other} has 2^{scale}, but 2^{to} is written")
            }),
        };
        Some((message?, from))
    }
}
