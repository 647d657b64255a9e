//! Ops that HEIR's lowering has no pattern for, or whose operands it cannot type.
//!
//! *Law.* Each case names the pass that refuses it, and the file of HEIR. A value whose facts are
//! not checked is no ciphertext here. *Cost.* That of the operands, and of their uses for a loop.

use noisy_syntax::{Def, Ir, Op, OpKind, TypeData, Value};

use crate::facts::ciphertext::{Ciphertext, Dimension, Level};
use crate::facts::known::Heir;
use crate::text::setting::Scheme;

/// The reason why an op is not lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Returns the reason why HEIR does not lower an op, if there is one.
pub(crate) fn unlowered(ir: &Ir, heir: &Heir, op: Op) -> Option<Unlowered> {
    let kind = ir.op(op).kind;
    let name = ir.op_name(op);
    let found = if ir.is_secret_generic(op) {
        floats(ir, heir, op)
    } else if ir.is_secret_yield(op) {
        yielded_twice(ir, heir, op).map(|at| (at, Reason::YieldedTwice))
    } else if matches!(kind, OpKind::ScfYield | OpKind::AffineYield) {
        branches(ir, heir, op).map(|at| (at, Reason::Branches))
    } else {
        match name.split_once('.')?.0 {
            "arith" | "math" | "linalg" | "tensor" | "mgmt" => {
                no_pattern(ir, heir, op).or_else(|| start_of_loop(ir, heir, op))
            }
            _ => start_of_loop(ir, heir, op),
        }
    };
    let (at, reason) = found?;
    let scheme = heir.setting_of(op)?.scheme?;
    Some(Unlowered { op, at, reason, scheme })
}

fn is_encrypted(heir: &Heir, value: Value) -> bool {
    matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. })
        && !heir.unchecked(value).is_any()
}

/// The first ciphertext that an op takes for which there is no pattern.
fn no_pattern(ir: &Ir, heir: &Heir, op: Op) -> Option<(u32, Reason)> {
    let scheme = heir.setting_of(op)?.scheme?;
    let (dialect, short) = ir.op_name(op).split_once('.')?;
    let is_ckks = scheme == Scheme::Ckks;
    if !ir.op(op).regions.is_empty() || dialect == "arith" && may_fold(ir, op, short) {
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
            "relinearize" | "modreduce" => {
                return takes(is_plain).map(|at| (at, Reason::NoPattern));
            }
            _ => true,
        },
        _ => false,
    };
    if is_lowered {
        return None;
    }
    takes(is_encrypted).map(|at| (at, Reason::NoPattern))
}

fn is_plain(heir: &Heir, value: Value) -> bool {
    heir.ciphertext(value) == Ciphertext::Plain && !heir.unchecked(value).is_any()
}

/// Returns true if MLIR may fold an op of `arith` with a constant operand away.
fn may_fold(ir: &Ir, op: Op, short: &str) -> bool {
    let is_constant = |value: Option<Value>| {
        value.is_some_and(|it| match ir.value(it).def {
            Def::Result(by, _) => ir.op(by).kind == OpKind::ArithConstant,
            Def::Argument(..) => false,
        })
    };
    let operands = &ir.op(op).operands;
    match short {
        "select" => operands.first().is_some_and(|it| is_constant(it.value)),
        _ if short.ends_with('f') => false,
        _ => operands.iter().any(|it| is_constant(it.value)),
    }
}

fn is_scalar(ir: &Ir, value: Value) -> bool {
    matches!(
        ir.interner.type_data(ir.value(value).ty),
        TypeData::Int { .. } | TypeData::Float(_) | TypeData::Index
    )
}

/// The operand of a yield that is the same as an earlier one, and the result of the last op.
fn yielded_twice(ir: &Ir, heir: &Heir, op: Op) -> Option<u32> {
    let last = ir.prev(op)?;
    let is_loop = matches!(ir.op(last).kind, OpKind::ScfFor | OpKind::AffineFor);
    let generic = ir.parent_op(op)?;
    if is_loop || !ir.is_secret_generic(generic) {
        return None;
    }
    // A result of the generic that nothing uses is removed.
    let results = &ir.op(generic).results;
    let is_used =
        |at: u32| results.get(at as usize).is_some_and(|&it| !ir.value(it).uses.is_empty());
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

/// The operand of an op in the body of a loop that is the value which starts the loop.
fn start_of_loop(ir: &Ir, heir: &Heir, op: Op) -> Option<(u32, Reason)> {
    let mut around = ir.parent_op(op);
    while let Some(it) = around.filter(|&it| !ir.is_secret_generic(it)) {
        let is_loop = matches!(ir.op(it).kind, OpKind::ScfFor | OpKind::AffineFor);
        let results = ir.op(it).results.len();
        if is_loop && results > 0 {
            let starts = &ir.op(it).operands[ir.op(it).operands.len().saturating_sub(results)..];
            let mut operands = (0..).zip(&ir.op(op).operands);
            let found = operands.find(|(_, operand)| {
                let is_start = starts.iter().any(|it| it.value == operand.value);
                is_start && operand.value.is_some_and(|it| is_encrypted(heir, it))
            });
            if let Some((at, _)) = found {
                return Some((at, Reason::StartOfLoop));
            }
        }
        around = ir.parent_op(it);
    }
    None
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
        let is_used = ir
            .op(parent)
            .results
            .get(*at as usize)
            .is_some_and(|&it| !ir.value(it).uses.is_empty());
        let shapes = a.value.and_then(shape).zip(b.value.and_then(shape));
        is_used && shapes.is_some_and(|(a, b)| a != b)
    });
    Some(found?.0)
}

/// The first secret float that a generic of a scheme for integers takes.
fn floats(ir: &Ir, heir: &Heir, op: Op) -> Option<(u32, Reason)> {
    let scheme = heir.setting_of(op)?.scheme?;
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
    let at = operands.find(|it| it.1.value.is_some_and(is_float))?.0;
    Some((at, Reason::FloatsInIntegers))
}
