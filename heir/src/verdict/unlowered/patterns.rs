//! Finds ops that no pattern of `--secret-to-ckks` or `--secret-to-bgv` matches.

use noisy_syntax::{Dim, Ir, Op, TypeData, Value};

use super::{RefusedOperand, UnloweredReason, first_operand_where, is_checked_ciphertext};
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::plaintext::is_init;
use crate::ops::rules;
use crate::text::setting::Scheme;
use crate::verdict::plaintexts::{is_checked_plaintext, is_constant, splat_number};

/// Returns the operand at which an op is refused, with the reason.
pub(super) fn refused(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    let (dialect, short) = ir.op_name(op).split_once('.')?;
    if matches!((dialect, short), ("tensor", "extract_slice" | "insert_slice")) {
        return refused_slice(ir, heir, op);
    }
    let is_layout = match dialect {
        "tensor" => {
            matches!(short, "expand_shape" | "collapse_shape" | "cast" | "concat")
        }
        it => it == "tensor_ext",
    };
    let reason = if is_layout { UnloweredReason::Layout } else { UnloweredReason::NoPattern };
    no_pattern(ir, heir, op).map(|at| RefusedOperand::new(at, reason))
}

/// Returns the first ciphertext operand of an op without a pattern.
fn no_pattern(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<u32> {
    let setting = heir.setting_of(op)?;
    let scheme = setting.scheme?;
    let (dialect, short) = ir.op_name(op).split_once('.')?;
    let is_ckks = scheme == Scheme::Ckks;
    if !ir.op(op).regions.is_empty() {
        return None;
    }
    let is_lowered = match dialect {
        "arith" => match short {
            // Casts become the identity.
            "addi" | "muli" | "subi" | "constant" | "extsi" | "extui" | "fptosi" | "fptoui"
            | "sitofp" | "uitofp" => true,
            "addf" | "mulf" | "subf" | "negf" => is_ckks,
            "divf" => {
                let divisor = ir.op(op).operands.get(1)?.value?;
                is_ckks
                    && !is_checked_ciphertext(heir, divisor)
                    && !is_unencoded_plaintext(ir, heir, divisor)
            }
            _ => false,
        },
        "tensor" => match short {
            "extract" => !ir.op(op).results.iter().any(|&it| is_scalar(ir, it)),
            "insert" | "splat" | "from_elements" | "expand_shape" | "collapse_shape" | "cast"
            | "concat" => false,
            _ => true,
        },
        "tensor_ext" => short == "rotate",
        "mgmt" => match short {
            "init" => false,
            "bootstrap" => is_ckks,
            // HEIR does not manage scales for OpenFHE.
            "adjust_scale" => is_ckks || !setting.is_openfhe(),
            // Their operands must be ciphertexts.
            "relinearize" | "modreduce" => {
                return first_operand_where(ir, op, |it| is_checked_plaintext(heir, it));
            }
            _ => true,
        },
        "math" | "linalg" => false,
        _ => true,
    };
    if is_lowered {
        None
    } else {
        first_operand_where(ir, op, |it| is_checked_ciphertext(heir, it))
    }
}

/// Returns true if a value is a plaintext that is not encoded by a `mgmt.init`.
fn is_unencoded_plaintext(ir: &Ir, heir: &CiphertextFacts, value: Value) -> bool {
    is_checked_plaintext(heir, value) && !is_init(ir, value)
}

fn is_scalar(ir: &Ir, value: Value) -> bool {
    matches!(
        ir.interner.type_data(ir.value(value).ty),
        TypeData::Int { .. } | TypeData::Float(_) | TypeData::Index
    )
}

/// Returns true if MLIR may fold an op, according to the ops around it.
pub(super) fn may_fold(ir: &Ir, op: Op) -> bool {
    let Some((dialect, short)) = ir.op_name(op).split_once('.') else { return false };
    let data = ir.op(op);
    let by = |at: usize| {
        let by = data.operands.get(at)?.value.and_then(|it| ir.defining_op(it))?;
        Some((by, ir.op_name(by)))
    };
    let is_by_tensor = |at: usize| by(at).is_some_and(|it| it.1.starts_with("tensor."));
    match (dialect, short) {
        ("arith", "select") => {
            data.operands.first().is_some_and(|it| it.value.is_some_and(|it| is_constant(ir, it)))
        }
        // Extensions fold, and a shift or a product after one becomes part of another op.
        ("arith", "trunci") => by(0).is_some_and(|it| {
            !matches!(it.1, "arith.addi" | "arith.subi" | "arith.muli" | "tensor_ext.rotate")
                && !it.1.starts_with("mgmt.")
        }),
        ("arith", _) if short.ends_with('f') => false,
        ("arith", _) => may_fold_integers(ir, op),
        ("tensor", "extract_slice") => {
            let source = data.operands.first().and_then(|it| it.value);
            let is_whole = source.is_some_and(|it| has_type_of(ir, op, it));
            // A slice that is inserted at its own position is folded.
            let is_back = |user: Op| {
                ir.op_name(user) == "tensor.insert_slice"
                    && ir.op(user).operands.get(1).and_then(|it| it.value) == source
            };
            let mut users = data.results.iter().flat_map(|&it| &ir.value(it).uses);
            is_whole || is_by_tensor(0) || users.any(|it| is_back(it.0))
        }
        ("tensor", "insert_slice") => {
            let source = data.operands.first().and_then(|it| it.value);
            let is_whole = source.is_some_and(|it| has_type_of(ir, op, it));
            let dest = data.operands.get(1).and_then(|it| it.value);
            let is_back = by(0).is_some_and(|(by, name)| {
                name == "tensor.extract_slice"
                    && ir.op(by).operands.first().and_then(|it| it.value) == dest
            });
            is_whole || is_back
        }
        ("tensor", "expand_shape" | "collapse_shape" | "cast") => {
            let uses = || data.results.iter().flat_map(|&it| &ir.value(it).uses);
            let is_tensor = |it: Op| ir.op_name(it).starts_with("tensor.");
            let source = data.operands.first().and_then(|it| it.value);
            source.is_some_and(|it| has_type_of(ir, op, it))
                || is_by_tensor(0)
                || uses().any(|it| is_tensor(it.0))
        }
        ("tensor", "concat") => data.operands.len() < 2,
        _ => false,
    }
}

/// Returns true if a result of an op has the type of a value.
fn has_type_of(ir: &Ir, op: Op, value: Value) -> bool {
    let mut results = ir.op(op).results.iter();
    results.any(|&it| ir.value(it).ty == ir.value(value).ty)
}

/// Returns true if MLIR may fold an op of `arith` on integers: one with a constant operand that is
/// 0, 1, negative or large, or one next to an op with the same name.
fn may_fold_integers(ir: &Ir, op: Op) -> bool {
    let operands = || ir.op(op).operands.iter().filter_map(|it| it.value);
    let constants: Vec<Value> = operands().filter(|&it| is_constant(ir, it)).collect();
    let [constant] = constants.as_slice() else { return !constants.is_empty() };
    let is_simple =
        ir.defining_op(*constant).and_then(|it| splat_number(ir, it)).is_some_and(|it| {
            // The largest numbers of a type fold, too.
            (2.0..64.0).contains(&it)
        });
    let is_behind = operands().any(|it| {
        let by = ir.defining_op(it).map_or("", |it| ir.op_name(it));
        by == ir.op_name(op) || by.starts_with("arith.ext")
    });
    let results = ir.op(op).results.iter();
    let mut users = results.flat_map(|&it| &ir.value(it).uses).map(|it| ir.op_name(it.0));
    !is_simple || is_behind || users.any(|it| it == ir.op_name(op) || it == "arith.trunci")
}

/// Returns the operand at which a slice of ciphertexts is refused, with the reason. A slice with an
/// offset, size or stride that may still become constant is not checked.
fn refused_slice(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    let operands: Vec<Value> =
        ir.op(op).operands.iter().map(|it| it.value).collect::<Option<_>>()?;
    let is_inserted = ir.op_name(op) == "tensor.insert_slice";
    let rows = *operands.get(usize::from(is_inserted))?;
    if is_inserted {
        let source = operands[0];
        if is_checked_plaintext(heir, source) && is_checked_ciphertext(heir, rows) {
            return Some(RefusedOperand::new(0, UnloweredReason::MixedSlice));
        }
        // HEIR turns an empty tensor into a tensor of ciphertexts.
        let is_empty = |it: Value| {
            let encoded = ir.defining_op(it).and_then(|it| ir.op(it).operands.first()?.value);
            encoded
                .and_then(|it| ir.defining_op(it))
                .is_some_and(|it| ir.op_name(it) == "tensor.empty")
        };
        let is_kept = is_checked_plaintext(heir, rows) && is_init(ir, rows) && !is_empty(rows);
        if is_checked_ciphertext(heir, source) && is_kept {
            return Some(RefusedOperand::new(1, UnloweredReason::MixedSlice));
        }
    }
    let at = first_operand_where(ir, op, |it| is_checked_ciphertext(heir, it))?;
    let [offsets, sizes, strides] = ["static_offsets", "static_sizes", "static_strides"]
        .map(|it| rules::dense_array(ir, op, it));
    let (offsets, sizes, strides) = (offsets?, sizes?, strides?);
    let dims = dims(ir, rows)?;
    let is_row = match (dims, &*offsets, &*sizes, &*strides) {
        ([_, Dim::Fixed(width)], &[_, offset], &[1, size], &[1, 1]) => {
            offset == 0 && u64::try_from(size) == Ok(*width)
        }
        _ => false,
    };
    // MLIR turns a constant operand into an attribute first.
    let n_own = if is_inserted { 2 } else { 1 };
    let is_open = operands.iter().skip(n_own).any(|&it| is_constant(ir, it));
    (!is_row && !is_open).then_some(RefusedOperand::new(at, UnloweredReason::Slice))
}

/// Returns the dimensions of a tensor.
fn dims(ir: &Ir, value: Value) -> Option<&[Dim]> {
    match ir.interner.type_data(ir.value(value).ty) {
        TypeData::Tensor { dims, .. } => dims.as_deref(),
        _ => None,
    }
}
