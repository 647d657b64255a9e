//! The search for all references of an entity. Highlights and renames use it too.

use std::ops::Range;

use noisy_syntax::{Ir, Op};

use crate::features::find::cursor::{self, Entity};
use crate::features::find::definition::defining_op;
use crate::features::walk::{ITEMS_PER_STEP, ItemWalk};

/// A mention of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub range: Range<usize>,
    /// True if the mention defines the entity.
    pub is_definition: bool,
}

/// Finds all mentions of an entity, in steps and in no particular order; a mention may be found
/// twice.
#[derive(Debug)]
pub(crate) struct ReferenceJob {
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
    Items(ItemWalk, usize),
}

impl ReferenceJob {
    pub(crate) fn new(ir: &Ir, entity: Entity) -> Self {
        let candidates = match entity {
            Entity::Value(value) => Candidates::Uses(ir.value(value).uses.len()),
            Entity::Block(block) => Candidates::Uses(ir.block(block).preds.len()),
            Entity::Symbol(target) => Candidates::Ops(symbol_users(ir, target)),
            Entity::Alias(from, _) => {
                let chunk = ir.chunk_of(from);
                let start = ir.start(chunk);
                let (_, walk) = ItemWalk::starting_at(ir, start);
                Candidates::Items(walk, start + ir.item_len(chunk))
            }
            Entity::OpName(_) => Candidates::Uses(0),
        };
        Self { entity, candidates }
    }

    /// Runs one step; returns true if more steps remain. The definition is found last.
    pub(crate) fn step(&mut self, ir: &Ir, found: &mut impl FnMut(Reference)) -> bool {
        let mut used = |range| found(Reference { range, is_definition: false });
        match (self.entity, &mut self.candidates) {
            (Entity::Value(value), Candidates::Uses(n)) => {
                for &(op, index) in take_batch(&ir.value(value).uses, n) {
                    used(ir.absolute(op, ir.op(op).operands[index as usize].span));
                }
            }
            (Entity::Block(block), Candidates::Uses(n)) => {
                for &(op, index) in take_batch(&ir.block(block).preds, n) {
                    used(ir.absolute(op, ir.extra(op).successors[index as usize].span));
                }
            }
            (Entity::Symbol(target), Candidates::Ops(ops)) => {
                let from = ops.len().saturating_sub(ITEMS_PER_STEP);
                for op in ops.drain(from..) {
                    symbol_uses_in(ir, op, target).for_each(&mut used);
                }
            }
            (Entity::Alias(_, name), Candidates::Items(walk, end)) => {
                for _ in 0..ITEMS_PER_STEP {
                    let Some(item) = walk.next(ir).filter(|it| it.start < *end) else {
                        *walk = ItemWalk::default();
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
        if !more && let Some((_, range)) = defining_op(ir, self.entity) {
            found(Reference { range, is_definition: true });
        }
        more
    }
}

/// Returns the last batch of the first `n` elements, and subtracts its length from `n`.
fn take_batch<'a, T>(all: &'a [T], n: &mut usize) -> &'a [T] {
    let end = *n;
    *n = end.saturating_sub(ITEMS_PER_STEP);
    all.get(*n..end).unwrap_or_default()
}

/// Sorts by position and removes duplicates. Of a definition and a use at the same position, the
/// definition is kept.
pub(crate) fn sort_and_dedup<T, K: Ord>(all: &mut Vec<T>, place: impl Fn(&T) -> (K, bool)) {
    all.sort_unstable_by_key(|it| {
        let (start, defines) = place(it);
        (start, !defines)
    });
    all.dedup_by(|a, b| place(a).0 == place(b).0);
}

/// All mentions of an entity and of values that share its name, in textual order: a rename changes
/// `%a#0` and `%a#1` of a pack together. `None` if there are more than `most`.
pub(crate) fn mentions_of_name(ir: &Ir, entity: Entity, most: usize) -> Option<Vec<Reference>> {
    let others = match entity {
        Entity::Value(value) => cursor::values_with_same_name(ir, value),
        _ => Vec::new(),
    };
    let others = others.into_iter().map(Entity::Value).filter(|it| *it != entity);
    let mut out = Vec::new();
    for entity in std::iter::once(entity).chain(others) {
        let mut search = ReferenceJob::new(ir, entity);
        while search.step(ir, &mut |it| out.push(it)) {
            if out.len() > most {
                return None;
            }
        }
    }
    sort_and_dedup(&mut out, |it| (it.range.start, it.is_definition));
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
        let is_it = cursor::resolve_path(ir, op, first, last).contains(&target);
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
