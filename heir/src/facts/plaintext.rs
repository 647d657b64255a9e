//! The level at which a plaintext is needed: that of the ciphertexts that it meets.
//!
//! A plaintext is encoded for one level (`mgmt.init` once for each use): the largest of the
//! ciphertexts that sums and products with it give. In HEIR other ops, and ends of regions, do not
//! decide the level: HEIR then writes the plaintext as if it were for a fresh ciphertext. We give
//! it that level only where it is true. A plaintext that is no `mgmt.init` has no level in HEIR; we
//! give it that of the values that are computed from it. A plaintext that becomes a ciphertext at
//! the end of a branch or of a round has the level and the polynomials of that one, the least of
//! several.
//!
//! *Source.* HEIR, `lib/Analysis/{LevelAnalysis,DimensionAnalysis}`, the backward analyses. *Cost.*
//! The ops on plaintexts that follow from a value, up to a bound.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::facts::fact::{Ciphertext, Dimension, HeirNumbers, Level};
use crate::facts::loops;
use crate::ops::rules;
use crate::text::types;
use noisy_dataflow::flow;

/// Most plaintext ops that are followed from one value.
const MOST: usize = 10_000;

/// The numbers that the uses of a plaintext want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The largest level of the results of sums and products.
    level: Option<Level>,
    /// The largest level of the ciphertexts that it meets otherwise.
    elsewhere: Option<Level>,
    /// The largest level of the ciphertexts that it becomes where paths meet.
    merged: Option<Level>,
    /// The most polynomials of what is computed with it.
    dimension: Option<Dimension>,
    /// The most of the ciphertexts which are the plaintext.
    merged_dimension: Option<Dimension>,
    /// The least of the ciphertexts which are the value itself at the end of another way.
    itself: Option<Level>,
    /// The same of polynomials.
    itself_dimension: Option<Dimension>,
    /// True if a sum or product that takes it has an unknown level, or none: then it may be wanted
    /// at any.
    is_unsettled: bool,
}

fn least<T: Ord>(a: Option<T>, b: T) -> Option<T> {
    Some(match a {
        Some(a) => a.min(b),
        None => b,
    })
}

/// The values that an operand flows into; not those of a further round of a loop that runs once,
/// nor those past a loop that runs.
fn fed_by(ir: &Ir, user: Op, index: u32) -> impl Iterator<Item = Value> {
    let holder = ir.parent_op(user).filter(|_| flow::is_yield(ir, user));
    let is_last = holder.is_some_and(|it| loops::rounds(ir, it) == Some(1));
    let is_entered = loops::is_loop(ir, user) && loops::rounds(ir, user).is_some_and(|it| it > 0);
    let all = flow::feeds(ir, user, index as usize).into_iter();
    all.filter(move |&it| match ir.value(it).def {
        Def::Result(..) => !is_entered,
        Def::Argument(..) => !is_last,
    })
}

/// The numbers that the uses of a plaintext want.
pub(crate) fn wanted(ir: &Ir, value: Value, of: &dyn Fn(Value) -> Ciphertext) -> Wanted {
    let mut out = Wanted::default();
    let mut seen: FxHashSet<(Value, bool)> = FxHashSet::default();
    // The flag is true while the value is still the plaintext itself.
    let mut stack = vec![(value, true)];
    while let Some((at, is_itself)) = stack.pop() {
        if !seen.insert((at, is_itself)) || seen.len() > MOST {
            continue;
        }
        for &(user, index) in &ir.value(at).uses {
            let data = ir.op(user);
            for fed in fed_by(ir, user, index) {
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
            let is_encoded = at == value && rules::takes_plaintext(ir, user, index as usize);
            out.is_unsettled |= is_encoded && gives_no_level(ir, user, of);
            // If the result of an op is unknown, so is the level it needs.
            if is_unknown(ir, user, of) {
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
            let slot = if is_encoded { &mut out.level } else { &mut out.elsewhere };
            *slot = (*slot).max(Some(level));
            if at == value || !is_init(ir, value) {
                out.dimension = out.dimension.max(Some(dimension));
            }
        }
    }
    out
}

/// Returns true if a result of an op is unknown or unreached.
fn is_unknown(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> bool {
    let mut results = ir.op(op).results.iter();
    results.any(|&it| matches!(of(it), Ciphertext::Unknown | Ciphertext::Bottom))
}

/// Returns true if an op gives a ciphertext without a level, or with an unknown one.
fn gives_no_level(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> bool {
    ir.op(op).results.iter().any(|&it| {
        let fact = of(it);
        fact == Ciphertext::Unknown || fact.level() == Some(Level::Invalid)
    })
}

/// The level that a plaintext is encoded for; `direct` is [`direct`] of what a `mgmt.init` encodes.
pub(crate) fn level(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    direct: &dyn Fn(Value) -> Option<Level>,
) -> Option<Level> {
    let here = wanted(ir, value, of);
    if here.is_unsettled {
        return None;
    }
    if !is_init(ir, value) {
        return here.level.max(here.elsewhere).max(here.merged);
    }
    // A plaintext that is also used directly is encoded for the larger level of both.
    let operand = ir.defining_op(value).and_then(|it| ir.op(it).operands.first()?.value);
    let source = operand.and_then(|it| through_inits(ir, it, direct));
    let fresh = Some(Level::Used(0));
    let others = here.elsewhere.max(here.merged);
    if let Some(level) = here.level.max(source) {
        return (others <= Some(level)).then_some(level);
    }
    if others == fresh {
        return fresh;
    }
    // An argument of a function counts as fresh, and the lesser of two levels is taken.
    let is_merged = here.elsewhere.is_none() && operand.is_some_and(|it| is_computed(ir, it));
    here.itself.filter(|_| is_merged)
}

/// The level that HEIR writes on a `mgmt.init` whose uses decide none: that of the ciphertext that
/// it becomes, else that of a fresh one.
pub(crate) fn written(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    direct: &dyn Fn(Value) -> Option<Level>,
) -> Option<Level> {
    if !is_init(ir, value) {
        return None;
    }
    let operand = source_of(ir, value);
    let is_entry = operand.is_some_and(|it| !is_computed(ir, it));
    let here = wanted(ir, value, of);
    let level = here.level.max(operand.and_then(|it| through_inits(ir, it, direct)));
    // A function that it is passed to, or returned to, may want it at a level.
    let is_passed = |it: Value| {
        let mut users = ir.value(it).uses.iter().map(|it| ir.op(it.0).kind);
        users.any(|it| matches!(it, OpKind::FuncCall | OpKind::FuncReturn))
    };
    let is_anywhere = level.is_none() && (is_passed(value) || operand.is_some_and(is_passed));
    if is_anywhere || here.is_unsettled || level == Some(Level::Invalid) {
        return None;
    }
    let level = level.or(is_entry.then_some(Level::Used(0)));
    // Of two levels the one with more moduli left is taken where paths meet.
    let merged = here.itself.map(|it| level.map_or(it, |level| level.min(it)));
    Some(merged.or(level).unwrap_or(Level::Used(0)))
}

/// The polynomials of the ciphertexts that a plaintext meets.
pub(crate) fn dimension(
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

/// The polynomials that HEIR writes on a `mgmt.init`: those that its users want, else those of the
/// ciphertext that it becomes, else two.
pub(crate) fn written_dimension(
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

/// Says of a value what is wanted of it by itself.
pub(crate) type Source<'a> = &'a mut dyn FnMut(Value) -> Direct;

/// Leaves the numbers of a ciphertext open that are smaller than those for which a plaintext is
/// encoded that becomes it, where branches meet or a loop starts.
pub(crate) fn raised(
    ir: &Ir,
    fed: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    source: Source<'_>,
) -> HeirNumbers {
    let mut out = HeirNumbers::FRESH;
    let Ciphertext::Encrypted { level: own_level, dimension: own_dimension } = of(fed) else {
        return out;
    };
    for value in plain_feeders(ir, fed, of) {
        let (level, dimension) = match source_of(ir, value) {
            Some(operand) => {
                let encoded = through_inits(ir, operand, |it| source(it).level);
                let level = wanted(ir, value, of).level.max(encoded);
                (level, written_dimension(ir, value, of))
            }
            None => {
                let direct = source(value);
                let level = direct.level.filter(|_| may_be_encoded(ir, value));
                (level, direct.dimension.max(direct.merged_dimension))
            }
        };
        out.level.open_if(level.is_some_and(|it| it != Level::Invalid && it > own_level));
        out.dimension.open_if(dimension > Some(own_dimension));
    }
    out
}

/// [`direct`] that looks at each value once.
pub(crate) fn direct_once(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
) -> impl FnMut(Value) -> Direct {
    let mut known: FxHashMap<Value, Direct> = FxHashMap::default();
    move |value| *known.entry(value).or_insert_with(|| direct(ir, value, of))
}

/// The [`defined`] values of an op with regions.
fn regions_define(ir: &Ir, op: Op) -> SmallVec<[Value; 2]> {
    if ir.op(op).regions.is_empty() { SmallVec::new() } else { defined(ir, op) }
}

/// The plaintexts that an op takes, or that become what its regions define or give.
pub(crate) fn taken(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> Vec<Value> {
    let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
    let mut out: Vec<Value> = operands.filter(|&it| of(it) == Ciphertext::Plain).collect();
    let fed = regions_define(ir, op).into_iter();
    out.extend(fed.flat_map(|it| plain_feeders(ir, it, of)));
    out
}

/// The plaintexts that a value is fed with.
fn plain_feeders(ir: &Ir, fed: Value, of: &dyn Fn(Value) -> Ciphertext) -> SmallVec<[Value; 2]> {
    let feeders = flow::feeders(ir, fed).into_iter().map(|it| it.1);
    feeders.filter(|&it| of(it) == Ciphertext::Plain).collect()
}

/// The level at which each value is wanted by itself that a `mgmt.init` encodes, [`Level::Invalid`]
/// if it is unknown. One value may be encoded many times.
pub(crate) fn sources(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
) -> FxHashMap<Value, Option<Level>> {
    let mut out = FxHashMap::default();
    for source in values(ir).into_iter().filter_map(|it| source_of(ir, it)) {
        out.entry(source).or_insert_with(|| {
            let direct = direct(ir, source, of);
            if direct.is_unsettled { Some(Level::Invalid) } else { direct.level }
        });
    }
    out
}

/// The largest level of the sums and products that use a value itself, else the least of the
/// ciphertexts that it becomes; the most polynomials of these sums and products; and a flag if one
/// of these has no level or an unknown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Direct {
    pub(crate) level: Option<Level>,
    pub(crate) dimension: Option<Dimension>,
    /// The most of the ciphertexts that it becomes.
    merged_dimension: Option<Dimension>,
    is_unsettled: bool,
}

/// The numbers at which a value is wanted by itself. *Cost.* Its uses.
pub(crate) fn direct(ir: &Ir, value: Value, of: &dyn Fn(Value) -> Ciphertext) -> Direct {
    let mut out = Direct::default();
    let mut merged: Option<Level> = None;
    for &(user, index) in &ir.value(value).uses {
        let data = ir.op(user);
        for fed in fed_by(ir, user, index) {
            if let Some(level) = of(fed).level().filter(|&it| it != Level::Invalid) {
                merged = least(merged, level);
            }
            out.merged_dimension = out.merged_dimension.max(of(fed).dimension());
        }
        if !data.regions.is_empty() || flow::is_yield(ir, user) {
            continue;
        }
        if !rules::takes_plaintext(ir, user, index as usize) {
            continue;
        }
        out.is_unsettled |= gives_no_level(ir, user, of);
        if is_unknown(ir, user, of) {
            continue;
        }
        let given = || data.results.iter().map(|&it| of(it));
        let levels = given().filter_map(Ciphertext::level);
        out.level = out.level.max(levels.filter(|&it| it != Level::Invalid).max());
        out.dimension = out.dimension.max(given().filter_map(Ciphertext::dimension).max());
    }
    out.level = out.level.or(merged);
    out
}

/// The level at which sums and products want a plaintext that other ops take at a lower one;
/// `source` is the level at which a value is wanted that a `mgmt.init` encodes.
pub(crate) fn encoded_for(
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
        if rules::takes_plaintext(ir, user, index as usize) {
            most = most.max(Some(here));
        }
    }
    let least = least?;
    if let Some(operand) = source_of(ir, value) {
        most = most.max(through_inits(ir, operand, source));
    }
    most.filter(|&it| it > least)
}

/// The value that a `mgmt.init` encodes.
fn source_of(ir: &Ir, value: Value) -> Option<Value> {
    let op = ir.defining_op(value).filter(|_| is_init(ir, value))?;
    ir.op(op).operands.first()?.value
}

/// The most `mgmt.init` behind one another that are looked through.
const MOST_INITS: usize = 16;

/// The largest level at which a value or what it encodes is wanted.
fn through_inits(
    ir: &Ir,
    mut value: Value,
    mut wanted: impl FnMut(Value) -> Option<Level>,
) -> Option<Level> {
    let mut out = wanted(value);
    for _ in 0..MOST_INITS {
        let Some(operand) = source_of(ir, value) else { break };
        out = out.max(wanted(operand));
        value = operand;
    }
    out
}

/// Returns true if a value may be encoded: a `mgmt.init`, or a value of such a type.
pub(crate) fn may_be_encoded(ir: &Ir, value: Value) -> bool {
    is_init(ir, value) || types::may_be_encoded(ir, value)
}

pub(crate) fn is_init(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op_name(op) == "mgmt.init")
}

/// Returns true if an op without regions computes a value.
fn is_computed(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).regions.is_empty())
}

/// The results of an op, and the arguments of the first blocks of its regions or of a label.
pub(crate) fn defined(ir: &Ir, op: Op) -> SmallVec<[Value; 2]> {
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
