//! The level at which a plaintext is needed: that of the ciphertexts that it meets.
//!
//! A plaintext is encoded for one level (`mgmt.init` once for each use): the largest of the ciphertexts that sums and products with it
//! give. Other ops, and ends of regions, say nothing of the level in HEIR, which then writes the plaintext as if it were for a fresh
//! ciphertext; that is said here only where it is true. A plaintext that is no `mgmt.init` has no level in HEIR; its level here is
//! that of what is computed from it. Where a plaintext becomes a ciphertext at the end of a branch or of a round, it has the level and the
//! polynomials of that one, the least of several; what is computed with it says nothing there.
//!
//! *Source.* HEIR, `lib/Analysis/{LevelAnalysis,DimensionAnalysis}`, the backward analyses. *Cost.* The ops on plaintexts that follow
//! from a value, up to a bound.

use noisy_syntax::{Def, Ir, Op, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::ciphertext::Ciphertexts;
use super::{Ciphertext, Dimension, Level, rows, types};
use crate::flow;
use crate::sparse::Sparse;

/// How many plaintext ops are looked through from one value.
const MOST: usize = 10_000;

/// What the uses of a plaintext want of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The largest level of the results of sums and products.
    level: Option<Level>,
    /// That of the ciphertexts which are met in any other way.
    elsewhere: Option<Level>,
    /// That of the ciphertexts which are the plaintext at the end of another way.
    merged: Option<Level>,
    /// The most polynomials of what is computed with it.
    dimension: Option<Dimension>,
    /// The most of the ciphertexts which are the plaintext.
    merged_dimension: Option<Dimension>,
    /// The least of the ciphertexts which are the value itself at the end of another way.
    itself: Option<Level>,
    /// The same of polynomials.
    itself_dimension: Option<Dimension>,
}

fn least<T: Ord>(a: Option<T>, b: T) -> Option<T> {
    Some(match a {
        Some(a) => a.min(b),
        None => b,
    })
}

/// What the uses of a plaintext want.
pub(super) fn wanted(ir: &Ir, value: Value, of: &dyn Fn(Value) -> Ciphertext) -> Wanted {
    let mut out = Wanted::default();
    let mut seen: FxHashSet<(Value, bool)> = FxHashSet::default();
    // Whether what is looked at is still the value itself.
    let mut stack = vec![(value, true)];
    while let Some((at, is_itself)) = stack.pop() {
        if !seen.insert((at, is_itself)) || seen.len() > MOST {
            continue;
        }
        for &(user, index) in &ir.value(at).uses {
            let data = ir.op(user);
            for fed in flow::feeds(ir, user, index as usize) {
                match of(fed) {
                    Ciphertext::Encrypted { level, dimension } => {
                        out.merged = out.merged.max(Some(level));
                        out.merged_dimension = out.merged_dimension.max(Some(dimension));
                        if is_itself {
                            out.itself = least(out.itself, level);
                            out.itself_dimension = least(out.itself_dimension, dimension);
                        }
                    }
                    _ => stack.push((fed, is_itself)),
                }
            }
            if !data.regions.is_empty() || flow::is_yield(ir, user) {
                continue;
            }
            // Of what is not known it is not known what it wants.
            if data.results.iter().any(|&it| of(it) == Ciphertext::Unknown) {
                continue;
            }
            let encrypted = data.results.iter().filter_map(|&it| match of(it) {
                Ciphertext::Encrypted { level: Level::Invalid, .. } => None,
                Ciphertext::Encrypted { level, dimension } => Some((level, dimension)),
                _ => None,
            });
            let Some((level, dimension)) = encrypted.max() else {
                stack.extend(data.results.iter().map(|&it| (it, false)));
                continue;
            };
            let is_encoded = at == value && rows::takes_plaintext(ir, user, index as usize);
            let slot = if is_encoded { &mut out.level } else { &mut out.elsewhere };
            *slot = (*slot).max(Some(level));
            if at == value || !is_init(ir, value) {
                out.dimension = out.dimension.max(Some(dimension));
            }
        }
    }
    out
}

/// The level that a plaintext is encoded for; `direct` is [`direct`] of what a `mgmt.init` encodes.
pub(super) fn level(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    direct: &dyn Fn(Value) -> Option<Level>,
) -> Option<Level> {
    let here = wanted(ir, value, of);
    if !is_init(ir, value) {
        return here.level.max(here.elsewhere).max(here.merged);
    }
    // What is used directly besides is encoded for the larger of both.
    let operand = ir.defining_op(value).and_then(|it| ir.op(it).operands.first()?.value);
    let source = operand.and_then(direct);
    let fresh = Some(Level::Used(0));
    let others = here.elsewhere.max(here.merged);
    if let Some(level) = here.level.max(source) {
        return (others <= Some(level)).then_some(level);
    }
    if others == fresh {
        return fresh;
    }
    // The argument of a function counts as one for a fresh ciphertext, and less of two levels is taken.
    let is_merged = here.elsewhere.is_none() && operand.is_some_and(|it| is_computed(ir, it));
    here.itself.filter(|_| is_merged)
}

/// The level that HEIR writes on a `mgmt.init` where none follows from its uses: what it merges with, else that of a fresh ciphertext.
pub(super) fn written(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    direct: &dyn Fn(Value) -> Option<Level>,
) -> Option<Level> {
    if !is_init(ir, value) {
        return None;
    }
    let operand = ir.defining_op(value).and_then(|it| ir.op(it).operands.first()?.value);
    let is_entry = operand.is_some_and(|it| !is_computed(ir, it));
    let here = wanted(ir, value, of);
    let level = here.level.max(operand.and_then(direct));
    let level = level.or(is_entry.then_some(Level::Used(0)));
    // Of two levels the one with more moduli left is taken where paths meet.
    let merged = here.itself.map(|it| level.map_or(it, |level| level.min(it)));
    Some(merged.or(level).unwrap_or(Level::Used(0)))
}

/// The polynomials of the ciphertexts that a plaintext meets.
pub(super) fn dimension(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> Option<Dimension> {
    let wanted = wanted(ir, value, of);
    let fresh = Some(Dimension::Known(2));
    match wanted.dimension {
        None if is_init(ir, value) => {
            wanted.merged_dimension.filter(|_| wanted.merged_dimension == fresh)
        }
        None => wanted.merged_dimension,
        it if is_init(ir, value) && wanted.merged_dimension > it => None,
        it => it,
    }
}

/// The polynomials that HEIR writes on a `mgmt.init`: what ops want that take it, else of what it merges with, else two.
pub(super) fn written_dimension(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> Option<Dimension> {
    if !is_init(ir, value) {
        return None;
    }
    let wanted = wanted(ir, value, of);
    Some(wanted.dimension.or(wanted.itself_dimension).unwrap_or(Dimension::Known(2)))
}

/// The ciphertexts that an op with regions gives, or that these start with, and that a plaintext becomes which is encoded with more
/// polynomials than they have: HEIR then takes them to have these.
pub(super) fn widened(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> SmallVec<[Value; 1]> {
    if ir.op(op).regions.is_empty() {
        return SmallVec::new();
    }
    let is_wider = |fed: Value| {
        let own = of(fed).dimension();
        let plain = flow::feeders(ir, fed).into_iter().map(|it| it.1);
        let mut plain = plain.filter(|&it| own.is_some() && of(it) == Ciphertext::Plain);
        plain.any(|it| written_dimension(ir, it, of) > own)
    };
    defined(ir, op).into_iter().filter(|&it| is_wider(it)).collect()
}

/// What each value that a `mgmt.init` encodes is wanted at by itself. One value may be encoded many times.
pub(super) fn sources(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
) -> FxHashMap<Value, Option<Level>> {
    let mut out = FxHashMap::default();
    for source in values(ir).into_iter().filter_map(|it| source_of(ir, it)) {
        out.entry(source).or_insert_with(|| direct(ir, source, of));
    }
    out
}

/// The largest level of the sums and products that use a value itself. *Cost.* Its uses.
pub(super) fn direct(ir: &Ir, value: Value, of: &dyn Fn(Value) -> Ciphertext) -> Option<Level> {
    let level = |&(user, index): &(Op, u32)| {
        let data = ir.op(user);
        if !data.regions.is_empty() || flow::is_yield(ir, user) {
            return None;
        }
        if data.results.iter().any(|&it| of(it) == Ciphertext::Unknown) {
            return None;
        }
        let levels = data.results.iter().filter_map(|&it| of(it).level());
        let level = levels.filter(|&it| it != Level::Invalid).max()?;
        rows::takes_plaintext(ir, user, index as usize).then_some(level)
    };
    ir.value(value).uses.iter().filter_map(level).max()
}

/// The plaintexts that sums and products want at a level, and that other ops take at a lower one.
pub(super) fn encoded(ir: &Ir, facts: &Sparse<Ciphertexts>) -> FxHashMap<Value, Level> {
    let of = |it: Value| facts.fact(it).copied().unwrap_or_default();
    let mut out = FxHashMap::default();
    // One value may be encoded many times.
    let mut sources: FxHashMap<Value, Option<Level>> = FxHashMap::default();
    for value in values(ir) {
        let level = encoded_for(ir, &of, value, &mut |source| {
            let encoded = out.get(&source).copied();
            encoded.or_else(|| *sources.entry(source).or_insert_with(|| direct(ir, source, &of)))
        });
        if let Some(level) = level {
            out.insert(value, level);
        }
    }
    out
}

/// The level of a plaintext that sums and products want at that, and that other ops take at a lower one; `source` says at which the value
/// is wanted that a `mgmt.init` encodes.
pub(super) fn encoded_for(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
    value: Value,
    source: &mut dyn FnMut(Value) -> Option<Level>,
) -> Option<Level> {
    let uses = &ir.value(value).uses;
    if of(value) != Ciphertext::Plain || uses.is_empty() || !may_be_encoded(ir, value) {
        return None;
    }
    let (mut least, mut most): (Option<Level>, Option<Level>) = (None, None);
    for &(user, index) in uses {
        let data = ir.op(user);
        if !data.regions.is_empty() || flow::is_yield(ir, user) {
            continue;
        }
        let here = data.results.iter().filter_map(|&it| of(it).level()).max();
        let Some(here) = here.filter(|&it| it != Level::Invalid) else { continue };
        least = Some(least.map_or(here, |it| it.min(here)));
        if rows::takes_plaintext(ir, user, index as usize) {
            most = most.max(Some(here));
        }
    }
    let least = least?;
    if let Some(operand) = source_of(ir, value) {
        most = most.max(source(operand));
    }
    most.filter(|&it| it > least)
}

/// What a `mgmt.init` encodes.
fn source_of(ir: &Ir, value: Value) -> Option<Value> {
    let op = ir.defining_op(value).filter(|_| is_init(ir, value))?;
    ir.op(op).operands.first()?.value
}

/// Whether a value may be encoded: what is, and what has the type of it.
pub(super) fn may_be_encoded(ir: &Ir, value: Value) -> bool {
    is_init(ir, value) || types::may_be_encoded(ir, value)
}

pub(super) fn is_init(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op_name(op) == "mgmt.init")
}

/// Whether an op without regions computes a value.
fn is_computed(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).regions.is_empty())
}

/// The values that an op gives, that a label says, or that the first blocks of the regions of an op start with.
pub(super) fn defined(ir: &Ir, op: Op) -> SmallVec<[Value; 2]> {
    let data = ir.op(op);
    let mut out = SmallVec::from_slice(&data.results);
    for &(_, region) in &data.regions {
        let entry = ir.block(flow::entry_block(ir, region));
        if entry.label.is_none() {
            out.extend_from_slice(&entry.args);
        }
    }
    out
}

/// All values of a program, in textual order.
pub(crate) fn values(ir: &Ir) -> Vec<Value> {
    fn within(ir: &Ir, region: Region, out: &mut Vec<Value>) {
        for block in ir.blocks(region) {
            out.extend(ir.block(block).args.iter().copied());
            for op in ir.block_ops(block) {
                out.extend(ir.op(op).results.iter().copied());
                for &(_, inner) in &ir.op(op).regions {
                    within(ir, inner, out);
                }
            }
        }
    }
    let mut out = Vec::new();
    for chunk in ir.items(ir.root()) {
        for &(_, region) in &ir.op(chunk).regions {
            within(ir, region, &mut out);
        }
    }
    out
}
