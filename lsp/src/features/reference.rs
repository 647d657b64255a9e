//! Find all references, and highlight them: one search for both.

use std::ops::Range;

use noisy_syntax::{Ir, Op, Source};

use super::cursor::{self, Thing};
use super::definition::defining;

/// A place that names a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The name.
    pub range: Range<usize>,
    /// Whether it is defined here.
    pub defines: bool,
}

/// Everywhere that what stands at an offset is named, in textual order.
pub(crate) fn references(source: &Source, offset: usize) -> Vec<Reference> {
    cursor::mention_at(source, offset).map_or_else(Vec::new, |it| all(source.ir(), it.thing))
}

/// Everywhere that a thing is named, in textual order.
pub(crate) fn all(ir: &Ir, thing: Thing) -> Vec<Reference> {
    let mut out: Vec<_> =
        uses(ir, thing).into_iter().map(|range| Reference { range, defines: false }).collect();
    if let Some((_, range)) = defining(ir, thing) {
        out.push(Reference { range, defines: true });
    }
    out.sort_unstable_by_key(|it| (it.range.start, !it.defines));
    out.dedup_by_key(|it| it.range.start);
    out
}

/// As [`all`], with all that shares the name: a pack has one, `%a#0` and `%a#1` change together.
pub(crate) fn named(ir: &Ir, thing: Thing) -> Vec<Reference> {
    let mut out = all(ir, thing);
    if let Thing::Value(value) = thing {
        for other in cursor::pack(ir, value).into_iter().filter(|it| *it != value) {
            let uses = cursor::uses(ir, other).into_iter();
            out.extend(uses.map(|range| Reference { range, defines: false }));
        }
        out.sort_unstable_by_key(|it| it.range.start);
    }
    out
}

fn uses(ir: &Ir, thing: Thing) -> Vec<Range<usize>> {
    match thing {
        Thing::Value(value) => cursor::uses(ir, value),
        Thing::Block(block) => {
            let preds = ir.block(block).preds.iter();
            preds
                .map(|&(op, index)| ir.absolute(op, ir.rest(op).successors[index as usize].span))
                .collect()
        }
        Thing::Symbol(target) => symbol_uses(ir, target).into_iter().map(|it| it.1).collect(),
        Thing::Alias(from, name) => {
            let mut out = Vec::new();
            for &(_, region) in &ir.op(ir.chunk_of(from)).regions {
                ir.walk(region, &mut |op| alias_uses(ir, op, name, &mut out));
                // Aliases use aliases.
                ir.items(region).filter(|&op| !ir.op(op).kind.is_op()).for_each(|op| {
                    alias_uses(ir, op, name, &mut out);
                });
            }
            out
        }
        Thing::OpName(_) => Vec::new(),
    }
}

fn alias_uses(ir: &Ir, op: Op, name: noisy_syntax::Name, out: &mut Vec<Range<usize>>) {
    for it in &ir.rest(op).alias_uses {
        if it.name == name {
            out.push(ir.absolute(op, it.span));
        }
    }
}

/// The ops that refer to a symbol, with the reference, in textual order.
pub(crate) fn symbol_uses(ir: &Ir, target: Op) -> Vec<(Op, Range<usize>)> {
    let Some((name, _)) = ir.rest(target).symbol else { return Vec::new() };
    let mut users = ir.symbol_users(name).to_vec();
    users.sort_unstable();
    users.dedup();
    let mut out = Vec::new();
    for op in users {
        for &(last, first, span) in &ir.rest(op).symbol_uses {
            let is_it = cursor::symbol(ir, op, first, last) == Some(target)
                || (first == name && ir.resolve_symbol(op, first) == Some(target));
            if is_it {
                out.push((op, ir.absolute(op, span)));
            }
        }
    }
    out.sort_unstable_by_key(|it| it.1.start);
    out
}
