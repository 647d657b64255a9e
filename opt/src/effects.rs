//! What ops do besides giving results: which memory they touch, whether they may be erased, moved, or run where they did not.
//!
//! *Law.* What is not known to be harmless is not: an op that no row tells of may do anything.

pub(crate) mod foreign;

use noisy_syntax::{Def, Dim, Ir, Op, OpKind, Region, Traits, TypeData, Value};
use smallvec::{SmallVec, smallvec};

use crate::rewrite::{constants, operand};

/// What an op does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Makes it.
    Allocate,
    /// Ends it.
    Free,
}

/// Accesses, each with the buffer it goes to, if that is known.
pub type Accesses = SmallVec<[(Access, Option<Value>); 2]>;

/// The accesses of an op by itself, each with the buffer it goes to; `None` if they are not known. Those of what is in its regions
/// come on top if [`is_recursive`].
pub fn accesses(ir: &Ir, op: Op) -> Option<Accesses> {
    let at = |n: usize| operand(ir, op, n);
    let result = || ir.op(op).results.first().copied();
    let kind = ir.op(op).kind;
    Some(match kind {
        OpKind::MemrefLoad | OpKind::AffineLoad | OpKind::AffineVectorLoad => {
            smallvec![(Access::Read, at(0))]
        }
        OpKind::MemrefStore | OpKind::AffineStore | OpKind::AffineVectorStore => {
            smallvec![(Access::Write, at(1))]
        }
        OpKind::MemrefAlloc | OpKind::MemrefAlloca => smallvec![(Access::Allocate, result())],
        OpKind::MemrefDealloc => smallvec![(Access::Free, at(0))],
        OpKind::MemrefCopy => smallvec![(Access::Read, at(0)), (Access::Write, at(1))],
        OpKind::MemrefAtomicRmw => smallvec![(Access::Read, at(1)), (Access::Write, at(1))],
        _ if kind.has(Traits::PURE) || is_recursive(kind) => SmallVec::new(),
        OpKind::Unknown => return foreign::accesses(ir.op_name(op)),
        _ => return None,
    })
}

/// Whether an op does what the ops in its regions do, and nothing else.
pub fn is_recursive(kind: OpKind) -> bool {
    use OpKind::{
        AffineFor, AffineIf, AffineParallel, BuiltinModule, MemrefAllocaScope, ScfExecuteRegion,
        ScfFor, ScfForall, ScfForallInParallel, ScfIf, ScfIndexSwitch, ScfParallel, ScfReduce,
        ScfWhile,
    };
    matches!(
        kind,
        AffineFor
            | AffineIf
            | AffineParallel
            | MemrefAllocaScope
            | ScfExecuteRegion
            | ScfFor
            | ScfForall
            | ScfForallInParallel
            | ScfIf
            | ScfIndexSwitch
            | ScfParallel
            | ScfReduce
            | ScfWhile
    ) && kind != BuiltinModule
}

/// The ops in the regions of an op, itself included, while `is_fine` says so; whether it always did.
fn all_in(ir: &Ir, op: Op, is_fine: &mut dyn FnMut(Op) -> bool) -> bool {
    let mut stack = vec![op];
    while let Some(op) = stack.pop() {
        if !ir.op(op).kind.is_op() {
            continue;
        }
        if !is_fine(op) {
            return false;
        }
        for &(_, region) in &ir.op(op).regions {
            stack.extend(ir.items(region));
        }
    }
    true
}

/// Whether an op, and what is in it, touches no memory.
pub fn is_free_of_effects(ir: &Ir, op: Op) -> bool {
    all_in(ir, op, &mut |it| accesses(ir, it).is_some_and(|it| it.is_empty()))
}

/// Whether an op could be erased if nothing used its results: it only reads, or makes buffers that nobody sees.
pub fn is_droppable(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    if !data.kind.is_op() || data.kind.has(Traits::TERMINATOR) || data.kind.has(Traits::SYMBOL) {
        return false;
    }
    all_in(ir, op, &mut |it| {
        accesses(ir, it).is_some_and(|it| {
            it.iter().all(|it| matches!(it.0, Access::Read | Access::Allocate))
        })
    })
}

/// Whether nothing uses the results of an op and it may be erased.
pub fn is_trivially_dead(ir: &Ir, op: Op) -> bool {
    ir.op(op).results.iter().all(|&it| ir.value(it).uses.is_empty()) && is_droppable(ir, op)
}

/// Whether an op, and what is in it, may run where it did not: it has no effects and is always defined.
pub fn is_speculatable(ir: &Ir, op: Op) -> bool {
    all_in(ir, op, &mut |it| is_defined(ir, it))
}

/// Whether an op by itself is defined for all operands.
fn is_defined(ir: &Ir, op: Op) -> bool {
    let kind = ir.op(op).kind;
    let divisor = || {
        let ty = operand(ir, op, 1).map(|it| ir.value(it).ty)?;
        let width = noisy_analyses::constant::width(ir, ty)?;
        Some((constants::int_of(ir, operand(ir, op, 1)?)?, width))
    };
    match kind {
        OpKind::ArithDivui | OpKind::ArithRemui | OpKind::ArithCeildivui => {
            divisor().is_some_and(|it| it.0 != 0)
        }
        OpKind::ArithDivsi
        | OpKind::ArithRemsi
        | OpKind::ArithCeildivsi
        | OpKind::ArithFloordivsi => divisor().is_some_and(|(it, _)| it != 0 && it != -1),
        OpKind::MemrefDim => {
            let index = operand(ir, op, 1).and_then(|it| constants::int_of(ir, it));
            let rank = operand(ir, op, 0).and_then(|it| rank_of(ir, it));
            matches!((index, rank), (Some(index), Some(rank)) if (0..rank).contains(&index))
        }
        // Loops may not end, and how often they run is decided where they stand.
        OpKind::ScfFor => {
            operand(ir, op, 2).and_then(|it| constants::int_of(ir, it)).is_some_and(|it| it == 1)
        }
        OpKind::ScfIf
        | OpKind::ScfIndexSwitch
        | OpKind::ScfExecuteRegion
        | OpKind::AffineIf
        | OpKind::AffineParallel => true,
        OpKind::AffineFor => ir.attr(op, "step").is_some_and(|it| {
            matches!(ir.interner.attr_data(it), noisy_syntax::AttrData::Int { value: 1, .. })
        }),
        // Access out of bounds is undefined, and so is a division by zero in a map.
        OpKind::AffineApply | OpKind::AffineMin | OpKind::AffineMax => {
            noisy_analyses::integer::fold::map(ir, op, "map").is_some_and(|map| {
                let exprs: Vec<_> = match &map.body {
                    noisy_syntax::affine::Body::Map(it) => it.iter().collect(),
                    noisy_syntax::affine::Body::Set(_) => return false,
                };
                exprs.into_iter().all(divides_by_constants)
            })
        }
        OpKind::AffineDelinearizeIndex | OpKind::NoisyDecode | OpKind::NoisyReduceNoise => false,
        OpKind::Unknown => foreign::is_always_defined(ir, op),
        _ => kind.has(Traits::PURE),
    }
}

fn divides_by_constants(expr: &noisy_syntax::affine::Expr) -> bool {
    use noisy_syntax::affine::{Expr, Operator};
    match expr {
        Expr::Const(_) | Expr::Dim(_) | Expr::Symbol(_) => true,
        Expr::Binary(op, both) => {
            let is_division =
                matches!(op, Operator::Mod | Operator::FloorDiv | Operator::CeilDiv);
            let is_positive = matches!(both.1, Expr::Const(by) if by > 0);
            (!is_division || is_positive)
                && divides_by_constants(&both.0)
                && divides_by_constants(&both.1)
        }
    }
}

/// The rank of a value whose type states it.
pub fn rank_of(ir: &Ir, value: Value) -> Option<i128> {
    let n = match ir.interner.type_data(ir.value(value).ty) {
        TypeData::MemRef { dims: Some(dims), .. } | TypeData::Tensor { dims: Some(dims), .. } => {
            dims.len()
        }
        TypeData::Vector { dims, .. } => dims.len(),
        _ => return None,
    };
    Some(n as i128)
}

/// The sizes of the dimensions that the type of a value states.
pub fn dims_of(ir: &Ir, value: Value) -> Option<&[Dim]> {
    match ir.interner.type_data(ir.value(value).ty) {
        TypeData::MemRef { dims, .. } | TypeData::Tensor { dims, .. } => dims.as_deref(),
        TypeData::Vector { dims, .. } => Some(dims),
        _ => None,
    }
}

/// Whether a value is defined outside of a region.
pub fn is_outside(ir: &Ir, value: Value, region: Region) -> bool {
    let at = match ir.value(value).def {
        Def::Result(op, _) => ir.op(op).parent,
        Def::Argument(block, _) => ir.block(block).region,
    };
    let mut at = Some(at);
    while let Some(it) = at {
        if it == region {
            return false;
        }
        at = ir.region(it).parent.map(|op| ir.op(op).parent);
    }
    true
}
