//! Assumptions of the passes in questions of legality.
//!
//! Ops of unknown dialects without memref operands and regions are assumed not to access the memory
//! of loops and to need no order, as in upstream's affine passes. Known ops do what their rows say.
//! Nothing is assumed about ops with unknown effects (calls).

use noisy_loops::{Aliasing, Body, Legality, Limits};
use noisy_syntax::{Ir, Op, OpKind, TypeData};

use crate::pass::Context;
use crate::rewrite::operands;

/// Returns the loops and accesses of a function, without the effects that are assumed not to count.
pub(crate) fn body_of(ir: &Ir, function: Op) -> Body {
    let mut body = Body::new(ir, function);
    body.effects.retain(|it| !is_harmless(ir, it.0));
    body
}

/// Returns the same for a nest alone.
pub(crate) fn nest_of(ir: &Ir, root: Op) -> Body {
    let mut body = Body::of_nest(ir, root);
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

/// Returns the legal transformations of a body under an aliasing assumption. `None` if it has too
/// many dependences, which forbids all.
pub(crate) fn legality(body: &Body, aliasing: Aliasing) -> Option<Legality<'_>> {
    Legality::new(body, &Limits { aliasing, ..Limits::default() })
}

/// Returns the legal transformations of the body of a function. If everything is forbidden, a
/// remark gives the reason.
pub(crate) fn of_function<'a>(
    cx: &mut Context<'_>,
    function: Op,
    body: &'a Body,
) -> Option<Legality<'a>> {
    let legality = legality(body, cx.aliasing);
    if legality.is_none() {
        cx.remark(function, "the loops stay unchanged: their accesses have too many dependences");
    }
    legality
}
