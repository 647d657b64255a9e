//! Finds plaintext operands without an encoding.
//!
//! *Law.* HEIR encodes a plaintext where there is a `mgmt.init`. It treats any other operand as a
//! ciphertext, and refuses the program. Constants, arguments of functions, and the results of ops
//! on these and on encoded plaintexts are checked, unless MLIR folds the op before. *Cost.* Linear
//! in the operands, and in the ops that compute the plaintext, up to a bound.

use noisy_syntax::{AttrData, Def, Ir, Op, OpKind, Value};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::facts::plaintext::is_init;

/// A plaintext that an op takes without an encoding.
#[derive(Clone, Copy, Debug)]
pub struct UnencodedPlaintext {
    /// The op.
    pub op: Op,
    /// The index of the operand.
    pub operand: u32,
    /// The plaintext.
    pub value: Value,
}

/// Returns true if a value is a plaintext whose facts are checked.
pub(super) fn is_checked_plaintext(heir: &CiphertextFacts, value: Value) -> bool {
    heir.ciphertext(value) == Ciphertext::Plain && !heir.number_sources(value).has_unchecked()
}

/// Returns true if a value is an `arith.constant`.
pub(super) fn is_constant(ir: &Ir, value: Value) -> bool {
    ir.defining_op(value).is_some_and(|it| ir.op(it).kind == OpKind::ArithConstant)
}

/// Returns the plaintext operand of an op on a ciphertext, if it is not encoded. The result is a
/// candidate: MLIR may fold the op that defines the plaintext. This depends on preceding ops, which
/// may change without this op.
pub(crate) fn unencoded_candidate(
    ir: &Ir,
    heir: &CiphertextFacts,
    op: Op,
) -> Option<UnencodedPlaintext> {
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
    let is_given = match ir.value(value).def {
        Def::Result(by, _) => {
            ir.op(by).kind == OpKind::ArithConstant || is_plaintext_computation(ir, by)
        }
        Def::Argument(..) => is_function_argument(ir, value),
    };
    (is_checked_plaintext(heir, value) && is_given).then_some(UnencodedPlaintext {
        op,
        operand: at,
        value,
    })
}

/// Returns the plaintext operand of an op that is not encoded, if there is one and MLIR does not
/// fold its definition.
pub(crate) fn unencoded(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<UnencodedPlaintext> {
    let found = unencoded_candidate(ir, heir, op)?;
    let is_kept = ir.defining_op(found.value).is_none_or(|by| match ir.op(by).kind {
        OpKind::ArithConstant => {
            let (_, kind) = ir.op_name(op).split_once('.').unwrap_or_default();
            !is_folded(kind, found.operand, splat_number(ir, by))
        }
        _ => is_computed(ir, by, MAX_STEPS),
    });
    is_kept.then_some(found)
}

/// The largest number of ops that are followed from a plaintext to the arguments that it is
/// computed from.
const MAX_STEPS: u32 = 8;

/// Returns true for an argument of a function.
fn is_function_argument(ir: &Ir, value: Value) -> bool {
    let Def::Argument(block, _) = ir.value(value).def else { return false };
    let holder = ir.region(ir.block(block).region).parent;
    holder.is_some_and(|it| ir.op(it).kind == OpKind::FuncFunc)
}

/// Returns true if an op may compute a plaintext that is not encoded.
fn is_plaintext_computation(ir: &Ir, op: Op) -> bool {
    let name = ir.op_name(op);
    ir.op(op).regions.is_empty()
        && (is_folded_with_constants_only(name)
            || is_foldable_with_definitions(name)
            || name == "tensor_ext.rotate")
}

/// Returns true for ops that MLIR folds only with constants.
fn is_folded_with_constants_only(name: &str) -> bool {
    name.starts_with("math.")
        || matches!(
            name,
            "arith.addf"
                | "arith.addi"
                | "arith.mulf"
                | "arith.muli"
                | "tensor.empty"
                | "func.call"
                | "mgmt.level_reduce"
        )
}

/// Returns true for ops that MLIR may also fold with the ops that define their operands, or if
/// their operands are equal.
fn is_foldable_with_definitions(name: &str) -> bool {
    matches!(name, "arith.subf" | "arith.subi" | "arith.divf" | "arith.maximumf" | "arith.minimumf")
}

/// Returns true if an op computes a plaintext from arguments and encoded plaintexts, and MLIR does
/// not fold it.
fn is_computed(ir: &Ir, op: Op, steps: u32) -> bool {
    let data = ir.op(op);
    let name = ir.op_name(op);
    if !is_plaintext_computation(ir, op) {
        return false;
    }
    let is_variable = |it: Value| is_function_argument(ir, it) || is_init(ir, it);
    let by = |it: Value| ir.defining_op(it).filter(|_| !is_init(ir, it));
    let operands: Option<Vec<Value>> = data.operands.iter().map(|it| it.value).collect();
    let Some(operands) = operands else { return false };
    match *operands {
        _ if data.kind == OpKind::FuncCall => true,
        // Only with different operands, and not as an operand of another op.
        [left, right] if is_foldable_with_definitions(name) => {
            steps == MAX_STEPS && left != right && is_variable(left) && is_variable(right)
        }
        // A rotation by zero is folded, and MLIR may merge two rotations.
        [value, shift] if name == "tensor_ext.rotate" => {
            let by_constant = |it: Op| splat_number(ir, it).is_some_and(|it| it != 0.0);
            is_variable(value) && by(shift).is_none_or(by_constant)
        }
        _ => {
            let is_inner = |it: Op| steps > 0 && is_computed(ir, it, steps - 1);
            let mut all = operands.iter();
            is_folded_with_constants_only(name)
                && all.all(|&it| is_variable(it) || by(it).is_some_and(is_inner))
        }
    }
}

/// Returns true if MLIR folds an op with a constant operand: a sum with zero, a product with zero
/// or one.
fn is_folded(kind: &str, at: u32, constant: Option<f64>) -> bool {
    match kind {
        "addi" | "addf" => constant == Some(0.0),
        "subi" | "subf" => constant == Some(0.0) && at == 1,
        _ => constant == Some(0.0) || constant == Some(1.0),
    }
}

/// Returns the number of a constant, if all of its elements are equal.
pub(super) fn splat_number(ir: &Ir, op: Op) -> Option<f64> {
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
