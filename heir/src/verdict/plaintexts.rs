//! Plaintexts that ops take without an encoding.
//!
//! *Law.* HEIR encodes a plaintext where `mgmt.init` says so. It takes any other operand for a
//! ciphertext, and refuses the program. Constants, arguments of functions, and sums, products and
//! rotations are judged: other plaintexts may be folded before. *Cost.* That of the operands.

use noisy_syntax::{AttrData, Def, Ir, Op, OpKind, Value};

use crate::facts::ciphertext::Ciphertext;
use crate::facts::known::Heir;

/// A plaintext that an op takes without an encoding.
#[derive(Clone, Copy, Debug)]
pub struct Unencoded {
    /// The op.
    pub op: Op,
    /// The operand.
    pub at: u32,
    /// The plaintext.
    pub value: Value,
}

/// The plaintext that an op takes without an encoding, if there is one.
pub(crate) fn unencoded(ir: &Ir, heir: &Heir, op: Op) -> Option<Unencoded> {
    let name = ir.op_name(op);
    let (dialect, kind) = name.split_once('.')?;
    let is_judged = matches!(kind, "addf" | "addi" | "subf" | "subi" | "mulf" | "muli");
    let [left, right] = ir.op(op).operands.as_slice() else { return None };
    if dialect != "arith" || !is_judged {
        return None;
    }
    let (left, right) = (left.value?, right.value?);
    let is_encrypted = |it: Value| matches!(heir.ciphertext(it), Ciphertext::Encrypted { .. });
    let (at, value) = match (is_encrypted(left), is_encrypted(right)) {
        (true, false) => (1, right),
        (false, true) => (0, left),
        _ => return None,
    };
    let is_plain = heir.ciphertext(value) == Ciphertext::Plain && !heir.unchecked(value).is_any();
    let is_given = match ir.value(value).def {
        Def::Result(by, _) => {
            ir.op(by).kind == OpKind::ArithConstant && !folds(kind, at, constant(ir, by))
                || is_computed(ir, by)
        }
        Def::Argument(block, _) => {
            let holder = ir.region(ir.block(block).region).parent;
            holder.is_some_and(|it| ir.op(it).kind == OpKind::FuncFunc)
        }
    };
    (is_plain && is_given).then_some(Unencoded { op, at, value })
}

/// Returns true if an op computes a plaintext that MLIR does not fold: a sum, a product or a
/// rotation of values that are no constants.
fn is_computed(ir: &Ir, op: Op) -> bool {
    let is_constant = |it: Value| match ir.value(it).def {
        Def::Result(by, _) => ir.op(by).kind == OpKind::ArithConstant,
        Def::Argument(..) => false,
    };
    let name = ir.op_name(op);
    let operands = &ir.op(op).operands;
    match name {
        "arith.addf" | "arith.addi" | "arith.mulf" | "arith.muli" => {
            operands.iter().all(|it| it.value.is_some_and(|it| !is_constant(it)))
        }
        "tensor_ext.rotate" => operands.iter().all(|it| it.value.is_some()),
        _ => false,
    }
}

/// Returns true if MLIR folds an op with a constant operand away: a sum with zero, a product with
/// zero or one.
fn folds(kind: &str, at: u32, constant: Option<f64>) -> bool {
    match kind {
        "addi" | "addf" => constant == Some(0.0),
        "subi" | "subf" => constant == Some(0.0) && at == 1,
        _ => constant == Some(0.0) || constant == Some(1.0),
    }
}

/// The number that all elements of a constant are, if it is one and not negative.
fn constant(ir: &Ir, op: Op) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "only zero and one are distinguished")]
    match ir.interner.attr_data(ir.attr(op, "value")?) {
        AttrData::Int { value, .. } => Some(*value as f64),
        AttrData::Float { bits, .. } => Some(f64::from_bits(*bits)),
        AttrData::Elements(text, _) => {
            let text = ir.interner.str(*text).strip_prefix("dense<")?.strip_suffix('>')?;
            text.parse().ok()
        }
        _ => None,
    }
}
