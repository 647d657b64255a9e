//! The search for all references of an entity. Highlights and renames use it too.

use std::ops::Range;

use noisy_syntax::{Ir, Op};

use crate::features::find::cursor::{self, Entity};
use crate::features::find::definition::defining;
use crate::features::walk::{BATCH, Walk};

/// A mention of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub range: Range<usize>,
    /// True if the mention defines the entity.
    pub defines: bool,
}

/// Finds all mentions of an entity, in steps and in no particular order; a mention may be found
/// twice.
#[derive(Debug)]
pub(crate) struct Search {
    entity: Entity,
    candidates: Candidates,
}

/// Positions that remain to be searched.
#[derive(Debug)]
enum Candidates {
    /// The first uses of a value or block, up to this number. Uses have positions.
    Uses(usize),
    /// Ops that may refer to a symbol.
    Ops(Vec<Op>),
    /// The items of a chunk up to this offset. Each of them may use an alias.
    Items(Walk, usize),
}

impl Search {
    pub(crate) fn new(ir: &Ir, entity: Entity) -> Self {
        let candidates = match entity {
            Entity::Value(value) => Candidates::Uses(ir.value(value).uses.len()),
            Entity::Block(block) => Candidates::Uses(ir.block(block).preds.len()),
            Entity::Symbol(target) => Candidates::Ops(symbol_users(ir, target)),
            Entity::Alias(from, _) => {
                let chunk = ir.chunk_of(from);
                let start = ir.start(chunk);
                let (_, walk) = Walk::from(ir, start);
                Candidates::Items(walk, start + ir.len(chunk))
            }
            Entity::OpName(_) => Candidates::Uses(0),
        };
        Self { entity, candidates }
    }

    /// Runs one step; returns true if more steps remain. The definition is found last.
    pub(crate) fn step(&mut self, ir: &Ir, found: &mut impl FnMut(Reference)) -> bool {
        let mut used = |range| found(Reference { range, defines: false });
        match (self.entity, &mut self.candidates) {
            (Entity::Value(value), Candidates::Uses(n)) => {
                for &(op, index) in batch(&ir.value(value).uses, n) {
                    used(ir.absolute(op, ir.op(op).operands[index as usize].span));
                }
            }
            (Entity::Block(block), Candidates::Uses(n)) => {
                for &(op, index) in batch(&ir.block(block).preds, n) {
                    used(ir.absolute(op, ir.extra(op).successors[index as usize].span));
                }
            }
            (Entity::Symbol(target), Candidates::Ops(ops)) => {
                let from = ops.len().saturating_sub(BATCH);
                for op in ops.drain(from..) {
                    symbol_uses_in(ir, op, target).for_each(&mut used);
                }
            }
            (Entity::Alias(_, name), Candidates::Items(walk, end)) => {
                for _ in 0..BATCH {
                    let Some(item) = walk.next(ir).filter(|it| it.start < *end) else {
                        *walk = Walk::default();
                        break;
                    };
                    let uses = ir.extra(item.op).alias_uses.iter().filter(|it| it.name == name);
                    for it in uses {
                        used(ir.absolute_at(item.op, item.start, it.span));
                    }
                }
            }
            _ => {}
        }
        let more = match &self.candidates {
            Candidates::Uses(n) => *n > 0,
            Candidates::Ops(ops) => !ops.is_empty(),
            Candidates::Items(walk, _) => !walk.is_over(),
        };
        if !more && let Some((_, range)) = defining(ir, self.entity) {
            found(Reference { range, defines: true });
        }
        more
    }
}

/// Returns the last batch of the first `n` elements, and subtracts its length from `n`.
fn batch<'a, T>(all: &'a [T], n: &mut usize) -> &'a [T] {
    let end = *n;
    *n = end.saturating_sub(BATCH);
    all.get(*n..end).unwrap_or_default()
}

/// Sorts by position and removes duplicates. Of a definition and a use at the same position, the
/// definition is kept.
pub(crate) fn in_order<T, K: Ord>(all: &mut Vec<T>, place: impl Fn(&T) -> (K, bool)) {
    all.sort_unstable_by_key(|it| {
        let (start, defines) = place(it);
        (start, !defines)
    });
    all.dedup_by(|a, b| place(a).0 == place(b).0);
}

/// All mentions of an entity and of values that share its name, in textual order: a rename changes
/// `%a#0` and `%a#1` of a pack together. `None` if there are more than `most`.
pub(crate) fn named(ir: &Ir, entity: Entity, most: usize) -> Option<Vec<Reference>> {
    let others = match entity {
        Entity::Value(value) => cursor::pack(ir, value),
        _ => Vec::new(),
    };
    let others = others.into_iter().map(Entity::Value).filter(|it| *it != entity);
    let mut out = Vec::new();
    for entity in std::iter::once(entity).chain(others) {
        let mut search = Search::new(ir, entity);
        while search.step(ir, &mut |it| out.push(it)) {
            if out.len() > most {
                return None;
            }
        }
    }
    in_order(&mut out, |it| (it.range.start, it.defines));
    (out.len() <= most).then_some(out)
}

/// The ops that may refer to a symbol, without duplicates. The first name of such a reference is
/// the symbol or an enclosing one.
pub(crate) fn symbol_users(ir: &Ir, target: Op) -> Vec<Op> {
    let around = std::iter::successors(Some(target), |&it| ir.parent_op(it));
    let named = around.filter_map(|it| ir.extra(it).symbol);
    let mut users: Vec<Op> = named.flat_map(|it| ir.symbol_users(it.0).iter().copied()).collect();
    users.sort_unstable();
    users.dedup();
    users
}

/// The references of an op to a symbol.
fn symbol_uses_in(ir: &Ir, op: Op, target: Op) -> impl Iterator<Item = Range<usize>> + '_ {
    ir.extra(op).symbol_uses.iter().filter_map(move |&(last, first, span)| {
        let is_it = cursor::path(ir, op, first, last).contains(&target);
        is_it.then(|| ir.absolute(op, span))
    })
}

/// The ops that refer to a symbol, with the reference, in textual order.
pub(crate) fn symbol_uses(ir: &Ir, target: Op) -> Vec<(Op, Range<usize>)> {
    let users = symbol_users(ir, target).into_iter();
    let mut out: Vec<_> =
        users.flat_map(|op| symbol_uses_in(ir, op, target).map(move |it| (op, it))).collect();
    out.sort_unstable_by_key(|it| it.1.start);
    out
}
