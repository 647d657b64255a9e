//! Effects of ops: their accesses to memory, and predicates for erasing, moving and speculating
//! them.
//!
//! *Law.* An op without a row may have any effect.

pub mod foreign;

pub use noisy_syntax::dialect::Access;
use noisy_syntax::dialect::{Buffer, Effects, Speculation};
use noisy_syntax::{Dim, Ir, Op, OpKind, Region, Traits, Type, TypeData, Value};
use smallvec::SmallVec;

use crate::facts::values::{int_of, is_number, operand, operands};

/// Accesses, each with its buffer if that is known.
pub(crate) type Accesses = SmallVec<[(Access, Option<Value>); 2]>;

/// Returns the accesses of an op, each with its buffer; `None` if they are unknown. The accesses of
/// the ops in its regions are not included.
pub fn accesses(ir: &Ir, op: Op) -> Option<Accesses> {
    let data = ir.op(op);
    if data.kind == OpKind::Unknown {
        return foreign::accesses(ir.op_name(op));
    }
    let Effects::Known(all) = data.kind.spec().effects else { return None };
    let value = |it: Buffer| match it {
        Buffer::Operand(at) => operand(ir, op, at),
        Buffer::Result(at) => data.results.get(at).copied(),
    };
    Some(all.iter().map(|&(access, buffer)| (access, value(buffer))).collect())
}

/// Returns true if `is_fine` holds for an op and all ops in its regions.
fn is_true_for_all_in(ir: &Ir, op: Op, is_fine: &mut dyn FnMut(Op) -> bool) -> bool {
    let mut stack: SmallVec<[Op; 8]> = SmallVec::from_slice(&[op]);
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

/// Returns true if an op and its regions access no memory.
pub fn is_free_of_effects(ir: &Ir, op: Op) -> bool {
    is_true_for_all_in(ir, op, &mut |it| accesses(ir, it).is_some_and(|it| it.is_empty()))
}

/// Returns true if an op or its regions may write.
pub(crate) fn may_write(ir: &Ir, op: Op) -> bool {
    let writes = |it: &(Access, _)| matches!(it.0, Access::Write | Access::Free);
    !is_true_for_all_in(ir, op, &mut |it| accesses(ir, it).is_some_and(|it| !it.iter().any(writes)))
}

/// Returns true if an op only reads.
pub(crate) fn only_reads(ir: &Ir, op: Op) -> bool {
    ir.op(op).regions.is_empty()
        && accesses(ir, op).is_some_and(|it| it.iter().all(|it| it.0 == Access::Read))
}

/// Returns true if an op can be erased once its results are unused: the op and its regions only
/// read or allocate.
pub fn is_erasable_if_unused(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    if !data.kind.is_op() || data.kind.has(Traits::TERMINATOR) || data.kind.has(Traits::SYMBOL) {
        return false;
    }
    is_true_for_all_in(ir, op, &mut |it| {
        accesses(ir, it)
            .is_some_and(|it| it.iter().all(|it| matches!(it.0, Access::Read | Access::Allocate)))
    })
}

/// Returns true if the results of an op are unused and it can be erased.
pub fn is_trivially_dead(ir: &Ir, op: Op) -> bool {
    ir.op(op).results.iter().all(|&it| ir.value(it).uses.is_empty())
        && is_erasable_if_unused(ir, op)
}

/// Returns true if an op and its regions may run speculatively: they are defined for all operands.
pub fn is_speculatable(ir: &Ir, op: Op) -> bool {
    is_true_for_all_in(ir, op, &mut |it| is_defined(ir, it))
}

/// Returns true if an op without its regions is defined for all operands.
fn is_defined(ir: &Ir, op: Op) -> bool {
    let int = |at: usize| operand(ir, op, at).and_then(|it| int_of(ir, it));
    let kind = ir.op(op).kind;
    match kind.spec().speculation {
        Speculation::Never if kind == OpKind::Unknown => foreign::is_always_defined(ir, op),
        Speculation::Never => false,
        Speculation::Always => true,
        Speculation::Regions => is_decided_by_numbers(ir, op),
        Speculation::UnitStep => {
            let is_unit = match kind {
                OpKind::AffineFor => ir.attr(op, "step").is_some_and(|it| {
                    let step = ir.interner.attr_data(it);
                    matches!(step, noisy_syntax::AttrData::Int { value: 1, .. })
                }),
                _ => int(2) == Some(1),
            };
            is_unit && is_decided_by_numbers(ir, op)
        }
        Speculation::Divisor => int(1).is_some_and(|it| it != 0),
        Speculation::SignedDivisor => int(1).is_some_and(|it| it != 0 && it != -1),
        Speculation::Dimension => {
            let rank = operand(ir, op, 0).and_then(|it| rank_of(ir, it));
            matches!((int(1), rank), (Some(index), Some(rank)) if (0..rank).contains(&index))
        }
        Speculation::Map => {
            ir.attr(op, "map").and_then(|it| ir.interner.affine(it)).is_some_and(|map| {
                match &map.body {
                    noisy_syntax::affine::AffineBody::Map(it) => {
                        it.iter().all(divides_by_constants)
                    }
                    noisy_syntax::affine::AffineBody::Set(_) => false,
                }
            })
        }
    }
}

/// Returns true if the operands that select regions and trip counts are surely numbers (see
/// [`is_number`]): with poison the op is undefined.
fn is_decided_by_numbers(ir: &Ir, op: Op) -> bool {
    let operands = operands(ir, op);
    let decides = |at: usize| match ir.op(op).kind {
        OpKind::ScfIf | OpKind::ScfIndexSwitch | OpKind::AffineIf | OpKind::AffineParallel => true,
        OpKind::ScfFor => at < 3,
        // Bounds are indices; most iteration arguments are not.
        OpKind::AffineFor => ir.value(operands[at]).ty == Type::INDEX,
        _ => false,
    };
    (0..operands.len()).all(|at| !decides(at) || is_number(ir, operands[at]))
}

fn divides_by_constants(expr: &noisy_syntax::affine::AffineExpr) -> bool {
    use noisy_syntax::affine::{AffineExpr, AffineOperator};
    match expr {
        AffineExpr::Const(_) | AffineExpr::Dim(_) | AffineExpr::Symbol(_) => true,
        AffineExpr::Binary(op, both) => {
            let is_division = matches!(
                op,
                AffineOperator::Mod | AffineOperator::FloorDiv | AffineOperator::CeilDiv
            );
            let is_positive = matches!(both.1, AffineExpr::Const(by) if by > 0);
            (!is_division || is_positive)
                && divides_by_constants(&both.0)
                && divides_by_constants(&both.1)
        }
    }
}

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

/// Returns the dimensions in the type of a value.
pub fn dims_of(ir: &Ir, value: Value) -> Option<&[Dim]> {
    match ir.interner.type_data(ir.value(value).ty) {
        TypeData::MemRef { dims, .. } | TypeData::Tensor { dims, .. } => dims.as_deref(),
        TypeData::Vector { dims, .. } => Some(dims),
        _ => None,
    }
}

/// Returns true if a value is defined outside of a region.
pub fn is_outside(ir: &Ir, value: Value, region: Region) -> bool {
    !ir.region_encloses(region, ir.def_region(value))
}
