//! What the passes take for granted where they ask what is allowed.
//!
//! Ops of unknown dialects that are given no memref and have no region are taken to touch no memory that a loop accesses and to
//! keep no order, as upstream's affine passes take all ops. Ops that a row tells of do what the row says; of those whose effects no row
//! knows (calls) nothing is taken for granted.

use noisy_loops::{Aliasing, Body, Legality, Limits};
use noisy_syntax::{Ir, Op, OpKind, TypeData};

use crate::pass::Context;
use crate::rewrite::operands;

/// The loops and accesses of a function, without the effects that are taken not to count.
pub(super) fn body_of(ir: &Ir, function: Op) -> Body {
    let mut body = Body::new(ir, function);
    body.effects.retain(|it| !is_harmless(ir, it.0));
    body
}

/// The same of a nest alone.
pub(super) fn nest_of(ir: &Ir, root: Op) -> Body {
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

/// What is allowed in a body, if this is taken for granted of different memrefs; `None` if it has too many dependences, which forbids all.
pub(super) fn legality(body: &Body, aliasing: Aliasing) -> Option<Legality<'_>> {
    Legality::new(body, &Limits { aliasing, ..Limits::default() })
}

/// The same of the body of a function; where all is forbidden, a remark says why its loops stay.
pub(super) fn of_function<'a>(
    cx: &mut Context<'_>,
    function: Op,
    body: &'a Body,
) -> Option<Legality<'a>> {
    let legality = legality(body, cx.aliasing);
    if legality.is_none() {
        cx.remark(function, "the loops stay as they are: their accesses have too many dependences");
    }
    legality
}
