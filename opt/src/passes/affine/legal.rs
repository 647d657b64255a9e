//! The assumptions that the passes make about legality.
//!
//! As in MLIR's affine passes, unknown ops without memref operands and regions are assumed to have
//! no effects. Known ops have the effects that the table of ops states. Ops with unknown effects,
//! such as calls, forbid transformations.

use noisy_loops::{AliasAssumptions, DependenceLimits, FunctionBody, Legality};
use noisy_syntax::{Ir, Op, OpKind, TypeData};

use crate::pass::PassContext;
use crate::rewrite::operands;

/// Returns the loops and accesses of a function, without the effects that are assumed not to exist.
pub(crate) fn body_of(ir: &Ir, function: Op) -> FunctionBody {
    let mut body = FunctionBody::new(ir, function);
    body.effects.retain(|it| !is_harmless(ir, it.0));
    body
}

/// Returns the same as [`body_of`] for a single nest.
pub(crate) fn nest_of(ir: &Ir, root: Op) -> FunctionBody {
    let mut body = FunctionBody::of_nest(ir, root);
    body.effects.retain(|it| !is_harmless(ir, it.0));
    body
}

fn is_harmless(ir: &Ir, op: Op) -> bool {
    let has_memref = operands(ir, op)
        .iter()
        .chain(&ir.op(op).results)
        .any(|&it| matches!(ir.interner.type_data(ir.value(it).ty), TypeData::MemRef { .. }));
    ir.op(op).kind == OpKind::Unknown && ir.op(op).regions.is_empty() && !has_memref
}

/// Returns the legality of transformations of a body. `None` if it has too many dependences; then
/// no transformation is legal.
pub(crate) fn legality(body: &FunctionBody, aliasing: AliasAssumptions) -> Option<Legality<'_>> {
    Legality::new(body, &DependenceLimits { aliasing, ..DependenceLimits::default() })
}

/// Returns the legality of transformations of a function. If there are too many dependences,
/// reports a remark.
pub(crate) fn of_function<'a>(
    cx: &mut PassContext<'_>,
    function: Op,
    body: &'a FunctionBody,
) -> Option<Legality<'a>> {
    let legality = legality(body, cx.aliasing);
    if legality.is_none() {
        cx.remark(function, "the loops stay unchanged: their accesses have too many dependences");
    }
    legality
}
