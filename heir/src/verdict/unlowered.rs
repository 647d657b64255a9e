//! Ops that HEIR's lowering has no pattern for, or whose operands it cannot type.
//!
//! *Law.* Each case names the pass that refuses it, and the file of HEIR. A value whose facts are
//! not checked is no ciphertext here. An edit elsewhere may decide about an op, so the ops that may
//! be refused are kept, and judged when they are listed. *Cost.* That of the operands; for a loop,
//! of the uses of the values that start it.

use noisy_syntax::{Ir, Op, OpKind, Operand, TypeData, Value};

use crate::facts::ciphertext::{Ciphertext, Dimension, Level};
use crate::facts::known::Heir;
use crate::text::setting::Scheme;
use crate::verdict::plaintexts::{is_constant, is_plain};

/// The reason why an op is not lowered, the one that is told before others first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No pattern of `--secret-to-ckks` or `--secret-to-bgv` matches the op: `failed to legalize
    /// operation 'secret.generic' that was explicitly marked illegal`. Source:
    /// `lib/Dialect/Secret/Conversions/{SecretToCKKS,SecretToBGV,Patterns}.cpp`.
    NoPattern,
    /// The result of the last op of a generic is yielded twice: `requires one result`. Source:
    /// `lib/Utils/ContextAwareConversionUtils.h`.
    YieldedTwice,
    /// The value that starts a loop is used in its body: `--secret-distribute-generic` makes it a
    /// secret there. Source: `lib/Dialect/Secret/Transforms/DistributeGeneric.cpp`.
    StartOfLoop,
    /// The branches of an `if` yield ciphertexts of different levels or numbers of polynomials:
    /// `types mismatch between yield op and its parent`.
    Branches,
    /// BGV and BFV compute on integers: `Floating point types are not supported in BGV`. Source:
    /// `lib/Dialect/Secret/Conversions/SecretToBGV/SecretToBGV.cpp`.
    FloatsInIntegers,
}

/// An op that HEIR does not lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlowered {
    /// The op.
    pub op: Op,
    /// The operand at which it is reported.
    pub at: u32,
    /// The reason.
    pub reason: Reason,
    /// The scheme of the module.
    pub scheme: Scheme,
}

/// Returns true if an op may not be lowered, by its own text and the facts of its operands. Ops
/// around it, and uses of values, decide later: they change without the op.
pub(crate) fn is_candidate(ir: &Ir, heir: &Heir, op: Op) -> bool {
    let kind = ir.op(op).kind;
    if ir.is_secret_generic(op) || is_loop(ir, op) {
        return true;
    }
    if ir.is_secret_yield(op) {
        return has_twice(ir, op);
    }
    matches!(kind, OpKind::ScfYield | OpKind::AffineYield) || no_pattern(ir, heir, op).is_some()
}

/// Returns why HEIR does not lower a candidate, or ops in a loop that is one, at most once per op.
pub(crate) fn unlowered(ir: &Ir, heir: &Heir, op: Op) -> Vec<Unlowered> {
    let Some(scheme) = heir.setting_of(op).and_then(|it| it.scheme) else { return Vec::new() };
    let found = |op: Op, at: u32, reason: Reason| Unlowered { op, at, reason, scheme };
    if is_loop(ir, op) {
        let uses = uses_of_starts(ir, heir, op).into_iter();
        return uses.map(|(user, at)| found(user, at, Reason::StartOfLoop)).collect();
    }
    let reason = if ir.is_secret_generic(op) {
        floats(ir, scheme, op).map(|at| (at, Reason::FloatsInIntegers))
    } else if ir.is_secret_yield(op) {
        yielded_twice(ir, heir, op).map(|at| (at, Reason::YieldedTwice))
    } else if matches!(ir.op(op).kind, OpKind::ScfYield | OpKind::AffineYield) {
        branches(ir, heir, op).map(|at| (at, Reason::Branches))
    } else {
        let at = no_pattern(ir, heir, op).filter(|_| !may_fold(ir, op));
        at.map(|at| (at, Reason::NoPattern))
    };
    reason.into_iter().map(|(at, reason)| found(op, at, reason)).collect()
}

fn is_loop(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::ScfFor | OpKind::AffineFor)
}

/// Returns true if a value is a ciphertext whose facts are checked.
fn is_encrypted(heir: &Heir, value: Value) -> bool {
    matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. })
        && !heir.unchecked(value).is_any()
}

/// The first ciphertext that an op takes for which there is no pattern.
fn no_pattern(ir: &Ir, heir: &Heir, op: Op) -> Option<u32> {
    let scheme = heir.setting_of(op)?.scheme?;
    let (dialect, short) = ir.op_name(op).split_once('.')?;
    let is_ckks = scheme == Scheme::Ckks;
    if !ir.op(op).regions.is_empty() {
        return None;
    }
    let takes = |wanted: fn(&Heir, Value) -> bool| {
        let mut operands = (0..).zip(&ir.op(op).operands);
        operands.find(|it| it.1.value.is_some_and(|it| wanted(heir, it))).map(|it| it.0)
    };
    let is_lowered = match dialect {
        "arith" => match short {
            // Casts become the identity; MLIR folds truncations of extensions.
            "addi" | "muli" | "subi" | "constant" | "extsi" | "extui" | "trunci" | "fptosi"
            | "fptoui" | "sitofp" | "uitofp" => true,
            "addf" | "mulf" | "subf" | "negf" => is_ckks,
            "divf" => {
                let divisor = ir.op(op).operands.get(1)?.value?;
                is_ckks && !is_encrypted(heir, divisor)
            }
            _ => false,
        },
        "tensor" => match short {
            "extract" => !ir.op(op).results.iter().any(|&it| is_scalar(ir, it)),
            "insert" | "splat" | "from_elements" => false,
            _ => true,
        },
        "mgmt" => match short {
            "init" => false,
            "bootstrap" => is_ckks,
            // They are for ciphertexts.
            "relinearize" | "modreduce" => return takes(is_plain),
            _ => true,
        },
        "math" | "linalg" => false,
        _ => true,
    };
    if is_lowered { None } else { takes(is_encrypted) }
}

/// Returns true if MLIR may fold an op of `arith` with a constant operand away.
fn may_fold(ir: &Ir, op: Op) -> bool {
    let Some(short) = ir.op_name(op).strip_prefix("arith.") else { return false };
    let operands = &ir.op(op).operands;
    let is_constant = |it: &Operand| it.value.is_some_and(|it| is_constant(ir, it));
    match short {
        "select" => operands.first().is_some_and(is_constant),
        _ if short.ends_with('f') => false,
        _ => operands.iter().any(is_constant),
    }
}

fn is_scalar(ir: &Ir, value: Value) -> bool {
    matches!(
        ir.interner.type_data(ir.value(value).ty),
        TypeData::Int { .. } | TypeData::Float(_) | TypeData::Index
    )
}

/// Returns true if an op takes a value twice.
fn has_twice(ir: &Ir, op: Op) -> bool {
    let operands = &ir.op(op).operands;
    (1..operands.len()).any(|at| operands[..at].iter().any(|it| it.value == operands[at].value))
}

/// The operand of a yield that is the same as an earlier one, and the result of the last op.
fn yielded_twice(ir: &Ir, heir: &Heir, op: Op) -> Option<u32> {
    let last = ir.prev(op).filter(|&it| !is_loop(ir, it))?;
    let generic = ir.parent_op(op).filter(|&it| ir.is_secret_generic(it))?;
    // A result of the generic that nothing uses is removed.
    let is_used = |at: u32| is_used(ir, generic, at);
    let operands = &ir.op(op).operands;
    let mut all = (0..).zip(operands).skip(1);
    let found = all.find(|(at, operand)| {
        let is_result = operand
            .value
            .is_some_and(|it| ir.op(last).results.contains(&it) && is_encrypted(heir, it));
        let is_same = |it: u32| is_used(it) && operands[it as usize].value == operand.value;
        is_result && is_used(*at) && (0..*at).any(is_same)
    });
    Some(found?.0)
}

/// Returns true if something uses a result of an op.
fn is_used(ir: &Ir, op: Op, at: u32) -> bool {
    let result = ir.op(op).results.get(at as usize);
    result.is_some_and(|&it| !ir.value(it).uses.is_empty())
}

/// The ops in the body of a loop that take a ciphertext which starts the loop, each with its first
/// such operand.
fn uses_of_starts(ir: &Ir, heir: &Heir, op: Op) -> Vec<(Op, u32)> {
    let data = ir.op(op);
    let first = data.operands.len().saturating_sub(data.results.len());
    let starts = data.operands[first..].iter().filter_map(|it| it.value);
    let starts = starts.filter(|&it| is_encrypted(heir, it));
    let uses = starts.flat_map(|it| ir.value(it).uses.iter().copied());
    let is_inside = |it: &(Op, u32)| {
        let kind = ir.op(it.0).kind;
        let is_end = matches!(kind, OpKind::ScfYield | OpKind::AffineYield);
        it.0 != op && !is_end && ir.is_within(it.0, op)
    };
    let mut out: Vec<(Op, u32)> = uses.filter(is_inside).collect();
    out.sort_unstable();
    out.dedup_by_key(|it| it.0);
    out
}

/// The operand of the last branch's yield that differs from that of the first in its level or in
/// its number of polynomials.
fn branches(ir: &Ir, heir: &Heir, op: Op) -> Option<u32> {
    let parent = ir.parent_op(op)?;
    let is_branch = matches!(ir.op(parent).kind, OpKind::ScfIf | OpKind::AffineIf);
    let regions = &ir.op(parent).regions;
    let (first, last) = (regions.first()?.1, regions.last()?.1);
    if !is_branch || regions.len() != 2 || ir.op(op).parent != last {
        return None;
    }
    let other = ir.items(first).last()?;
    let shape = |value: Value| match heir.ciphertext(value) {
        Ciphertext::Encrypted { level: Level::Used(level), dimension: Dimension::Known(n) }
            if !heir.unchecked(value).is_any() =>
        {
            Some((level, n))
        }
        _ => None,
    };
    let pairs = ir.op(other).operands.iter().zip(&ir.op(op).operands);
    let found = (0..).zip(pairs).find(|(at, (a, b))| {
        let shapes = a.value.and_then(shape).zip(b.value.and_then(shape));
        is_used(ir, parent, *at) && shapes.is_some_and(|(a, b)| a != b)
    });
    Some(found?.0)
}

/// The first secret float that a generic of a scheme for integers takes.
fn floats(ir: &Ir, scheme: Scheme, op: Op) -> Option<u32> {
    if scheme == Scheme::Ckks {
        return None;
    }
    let is_float = |value: Value| {
        let ty = ir.value(value).ty;
        let Some(inside) = ir.interner.secret_element(ty) else { return false };
        match ir.interner.type_data(inside) {
            TypeData::Float(_) => true,
            TypeData::Tensor { element, .. } => {
                matches!(ir.interner.type_data(*element), TypeData::Float(_))
            }
            _ => false,
        }
    };
    let mut operands = (0..).zip(&ir.op(op).operands);
    Some(operands.find(|it| it.1.value.is_some_and(is_float))?.0)
}
