//! The level at which a plaintext is needed: that of the ciphertexts that it is combined with.
//!
//! A plaintext is encoded for one level (`mgmt.init` once for each use): the largest level of the
//! sums and products that take it. In HEIR, other ops and ends of regions do not determine the
//! level: HEIR then annotates the plaintext with the level of a fresh ciphertext. This analysis
//! uses that level only if it is correct. A plaintext that is not a `mgmt.init` has no level in
//! HEIR; this analysis uses the level of the values that are computed from it. A plaintext that
//! becomes a ciphertext at the end of a branch or of an iteration has the level and the dimension
//! of this ciphertext, the least of several.
//!
//! *Source.* HEIR, the backward analyses in `lib/Analysis/{LevelAnalysis,DimensionAnalysis}`.
//! *Cost.* The ops on plaintexts that follow from a value, up to a bound.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::facts::fact::{Ciphertext, Dimension, Level, NumberSources};
use crate::facts::loops;
use crate::ops::rules;
use crate::text::types;
use noisy_dataflow::flow;

/// The largest number of values that are visited from one value.
const MAX_VISITED: usize = 10_000;

/// The numbers that the uses of a plaintext need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaintextDemand {
    /// The largest level of the results of sums and products.
    level: Option<Level>,
    /// The largest level of the results of other ops.
    other_level: Option<Level>,
    /// The largest level of the ciphertexts that the plaintext becomes where paths meet.
    merged_level: Option<Level>,
    /// The largest dimension of the values that are computed with the plaintext.
    dimension: Option<Dimension>,
    /// The largest dimension of the ciphertexts that the plaintext becomes where paths meet.
    merged_dimension: Option<Dimension>,
    /// The least level of the ciphertexts that the plaintext itself, not a value computed from it,
    /// becomes where paths meet.
    directly_merged_level: Option<Level>,
    /// The least dimension of these ciphertexts.
    directly_merged_dimension: Option<Dimension>,
    /// True if a sum or product that takes the plaintext has no level or an unknown one. Any level
    /// may be needed then.
    is_unsettled: bool,
}

fn least<T: Ord>(a: Option<T>, b: T) -> Option<T> {
    Some(match a {
        Some(a) => a.min(b),
        None => b,
    })
}

/// Returns the values that an operand feeds, except the next iteration of a loop that runs once,
/// and the results of a loop that runs at least once.
fn fed_by(ir: &Ir, user: Op, index: u32) -> impl Iterator<Item = Value> {
    let holder = ir.parent_op(user).filter(|_| flow::is_yield(ir, user));
    let is_last = holder.is_some_and(|it| loops::trip_count(ir, it) == Some(1));
    let is_entered =
        loops::is_loop(ir, user) && loops::trip_count(ir, user).is_some_and(|it| it > 0);
    let all = flow::fed_values(ir, user, index as usize).into_iter();
    all.filter(move |&it| match ir.value(it).def {
        Def::Result(..) => !is_entered,
        Def::Argument(..) => !is_last,
    })
}

/// Computes the numbers that the uses of a plaintext need.
pub(crate) fn plaintext_demand(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> PlaintextDemand {
    let mut out = PlaintextDemand::default();
    let mut seen: FxHashSet<(Value, bool)> = FxHashSet::default();
    // The flag is true while the value is still the plaintext itself.
    let mut stack = vec![(value, true)];
    while let Some((at, is_itself)) = stack.pop() {
        if !seen.insert((at, is_itself)) || seen.len() > MAX_VISITED {
            continue;
        }
        for &(user, index) in &ir.value(at).uses {
            let data = ir.op(user);
            for fed in fed_by(ir, user, index) {
                match of(fed) {
                    Ciphertext::Encrypted { level, dimension } => {
                        out.merged_level = out.merged_level.max(Some(level));
                        out.merged_dimension = out.merged_dimension.max(Some(dimension));
                        if is_itself {
                            out.directly_merged_level = least(out.directly_merged_level, level);
                            out.directly_merged_dimension =
                                least(out.directly_merged_dimension, dimension);
                        }
                    }
                    _ => stack.push((fed, is_itself)),
                }
            }
            if !data.regions.is_empty() || flow::is_yield(ir, user) {
                continue;
            }
            let is_encoded = at == value && rules::is_plaintext_operand(ir, user, index as usize);
            out.is_unsettled |= is_encoded && has_result_without_level(ir, user, of);
            // If the result of an op is unknown, the level that the op needs is unknown too.
            if has_unknown_result(ir, user, of) {
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
            let slot = if is_encoded { &mut out.level } else { &mut out.other_level };
            *slot = (*slot).max(Some(level));
            if at == value || !is_init(ir, value) {
                out.dimension = out.dimension.max(Some(dimension));
            }
        }
    }
    out
}

/// Returns true if a result of an op is unknown or unreachable.
fn has_unknown_result(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> bool {
    let mut results = ir.op(op).results.iter();
    results.any(|&it| matches!(of(it), Ciphertext::Unknown | Ciphertext::Bottom))
}

/// Returns true if a result of an op is a ciphertext without a level, or with an unknown one.
fn has_result_without_level(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> bool {
    ir.op(op).results.iter().any(|&it| {
        let fact = of(it);
        fact == Ciphertext::Unknown || fact.level() == Some(Level::Invalid)
    })
}

/// Returns the level that a plaintext is encoded for. `direct` returns the level of
/// [`direct_demand`] for an operand of a `mgmt.init`.
pub(crate) fn encoded_level(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    direct: &dyn Fn(Value) -> Option<Level>,
) -> Option<Level> {
    let here = plaintext_demand(ir, value, of);
    if here.is_unsettled {
        return None;
    }
    if !is_init(ir, value) {
        return here.level.max(here.other_level).max(here.merged_level);
    }
    // A plaintext that also has other uses is encoded for the larger level of both.
    let operand = ir.defining_op(value).and_then(|it| ir.op(it).operands.first()?.value);
    let source = operand.and_then(|it| largest_level_through_inits(ir, it, direct));
    let fresh = Some(Level::Used(0));
    let others = here.other_level.max(here.merged_level);
    if let Some(level) = here.level.max(source) {
        return (others <= Some(level)).then_some(level);
    }
    if others == fresh {
        return fresh;
    }
    // An argument of a function counts as fresh, and the lesser of the two levels is used.
    let is_merged = here.other_level.is_none() && operand.is_some_and(|it| is_computed(ir, it));
    here.directly_merged_level.filter(|_| is_merged)
}

/// Returns the level in HEIR's annotation of a `mgmt.init` whose uses need no level: that of the
/// ciphertext that it becomes, else that of a fresh ciphertext.
pub(crate) fn annotated_level(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    direct: &dyn Fn(Value) -> Option<Level>,
) -> Option<Level> {
    if !is_init(ir, value) {
        return None;
    }
    let operand = encoded_operand(ir, value);
    let is_entry = operand.is_some_and(|it| !is_computed(ir, it));
    let here = plaintext_demand(ir, value, of);
    let level = here.level.max(operand.and_then(|it| largest_level_through_inits(ir, it, direct)));
    // A callee or a caller that gets the plaintext may need it at a level.
    let is_passed = |it: Value| {
        let mut users = ir.value(it).uses.iter().map(|it| ir.op(it.0).kind);
        users.any(|it| matches!(it, OpKind::FuncCall | OpKind::FuncReturn))
    };
    let is_anywhere = level.is_none() && (is_passed(value) || operand.is_some_and(is_passed));
    if is_anywhere || here.is_unsettled || level == Some(Level::Invalid) {
        return None;
    }
    let level = level.or(is_entry.then_some(Level::Used(0)));
    // Where paths meet, the level with more remaining moduli is used.
    let merged = here.directly_merged_level.map(|it| level.map_or(it, |level| level.min(it)));
    Some(merged.or(level).unwrap_or(Level::Used(0)))
}

/// Returns the dimension of the ciphertexts that a plaintext is combined with.
pub(crate) fn combined_dimension(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> Option<Dimension> {
    let wanted = plaintext_demand(ir, value, of);
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

/// Returns the dimension in HEIR's annotation of a `mgmt.init`: that which its users need, else
/// that of the ciphertext that it becomes, else 2.
pub(crate) fn annotated_dimension(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> Option<Dimension> {
    if !is_init(ir, value) {
        return None;
    }
    let wanted = plaintext_demand(ir, value, of);
    Some(wanted.dimension.or(wanted.directly_merged_dimension).unwrap_or(Dimension::Known(2)))
}

/// Returns the numbers of [`direct_demand`] for a value.
pub(crate) type DemandOf<'a> = &'a mut dyn FnMut(Value) -> DirectDemand;

/// Where branches meet or a loop starts, a plaintext may become the ciphertext `fed`. A number of
/// `fed` is not checked if it is smaller than the number for which this plaintext is encoded.
pub(crate) fn numbers_raised_by_plaintexts(
    ir: &Ir,
    fed: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    source: DemandOf<'_>,
) -> NumberSources {
    let mut out = NumberSources::FRESH;
    let Ciphertext::Encrypted { level: own_level, dimension: own_dimension } = of(fed) else {
        return out;
    };
    for value in plain_feeders(ir, fed, of) {
        let (level, dimension) = match encoded_operand(ir, value) {
            Some(operand) => {
                let encoded = largest_level_through_inits(ir, operand, |it| source(it).level);
                let level = plaintext_demand(ir, value, of).level.max(encoded);
                (level, annotated_dimension(ir, value, of))
            }
            None => {
                let direct = source(value);
                let level = direct.level.filter(|_| is_encodable(ir, value));
                (level, direct.dimension.max(direct.merged_dimension))
            }
        };
        out.level.set_unchecked_if(level.is_some_and(|it| it != Level::Invalid && it > own_level));
        out.dimension.set_unchecked_if(dimension > Some(own_dimension));
    }
    out
}

/// Returns a function that caches [`direct_demand`] for each value.
pub(crate) fn cached_direct_demand(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
) -> impl FnMut(Value) -> DirectDemand {
    let mut known: FxHashMap<Value, DirectDemand> = FxHashMap::default();
    move |value| *known.entry(value).or_insert_with(|| direct_demand(ir, value, of))
}

/// Returns the [`defined_values`] of an op with regions; nothing for other ops.
fn defined_by_regions(ir: &Ir, op: Op) -> SmallVec<[Value; 2]> {
    if ir.op(op).regions.is_empty() { SmallVec::new() } else { defined_values(ir, op) }
}

/// Returns the plaintext operands of an op, and the plaintexts that become its results or the
/// arguments of its regions.
pub(crate) fn plaintexts_of(ir: &Ir, op: Op, of: &dyn Fn(Value) -> Ciphertext) -> Vec<Value> {
    let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
    let mut out: Vec<Value> = operands.filter(|&it| of(it) == Ciphertext::Plain).collect();
    let fed = defined_by_regions(ir, op).into_iter();
    out.extend(fed.flat_map(|it| plain_feeders(ir, it, of)));
    out
}

/// Returns the plaintexts that feed a value.
fn plain_feeders(ir: &Ir, fed: Value, of: &dyn Fn(Value) -> Ciphertext) -> SmallVec<[Value; 2]> {
    let feeders = flow::feeding_values(ir, fed).into_iter().map(|it| it.1);
    feeders.filter(|&it| of(it) == Ciphertext::Plain).collect()
}

/// Returns, for each value that a `mgmt.init` encodes, the level at which its other uses need it,
/// [`Level::Invalid`] if it is unknown. One value may be encoded many times.
pub(crate) fn levels_of_encoded(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
) -> FxHashMap<Value, Option<Level>> {
    let mut out = FxHashMap::default();
    for source in all_values(ir).into_iter().filter_map(|it| encoded_operand(ir, it)) {
        out.entry(source).or_insert_with(|| {
            let direct = direct_demand(ir, source, of);
            if direct.is_unsettled { Some(Level::Invalid) } else { direct.level }
        });
    }
    out
}

/// The numbers that the direct uses of a plaintext need: the largest level of the sums and products
/// that take it, else the least level of the ciphertexts that it becomes; the largest dimension of
/// these sums and products; and true if one of these has no level or an unknown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectDemand {
    pub(crate) level: Option<Level>,
    pub(crate) dimension: Option<Dimension>,
    /// The largest dimension of the ciphertexts that it becomes.
    merged_dimension: Option<Dimension>,
    is_unsettled: bool,
}

/// Computes the numbers that the direct uses of a value need. *Cost.* Its uses.
pub(crate) fn direct_demand(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> DirectDemand {
    let mut out = DirectDemand::default();
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
        if !rules::is_plaintext_operand(ir, user, index as usize) {
            continue;
        }
        out.is_unsettled |= has_result_without_level(ir, user, of);
        if has_unknown_result(ir, user, of) {
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

/// Returns the level at which sums and products need a plaintext, if other ops take it at a lower
/// level. `source` returns the level at which a value that a `mgmt.init` encodes is needed.
pub(crate) fn conflicting_level(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
    value: Value,
    source: &mut dyn FnMut(Value) -> Option<Level>,
) -> Option<Level> {
    let uses = &ir.value(value).uses;
    if of(value) != Ciphertext::Plain || uses.is_empty() || !is_encodable(ir, value) {
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
        if rules::is_plaintext_operand(ir, user, index as usize) {
            most = most.max(Some(here));
        }
    }
    let least = least?;
    if let Some(operand) = encoded_operand(ir, value) {
        most = most.max(largest_level_through_inits(ir, operand, source));
    }
    most.filter(|&it| it > least)
}

/// Returns the value that a `mgmt.init` encodes.
fn encoded_operand(ir: &Ir, value: Value) -> Option<Value> {
    let op = ir.defining_op(value).filter(|_| is_init(ir, value))?;
    ir.op(op).operands.first()?.value
}

/// The longest chain of `mgmt.init` that is followed.
const MAX_INITS: usize = 16;

/// Returns the largest level at which a value, or a value in the chain of `mgmt.init` before it, is
/// needed.
fn largest_level_through_inits(
    ir: &Ir,
    mut value: Value,
    mut wanted: impl FnMut(Value) -> Option<Level>,
) -> Option<Level> {
    let mut out = wanted(value);
    for _ in 0..MAX_INITS {
        let Some(operand) = encoded_operand(ir, value) else { break };
        out = out.max(wanted(operand));
        value = operand;
    }
    out
}

/// Returns true if a value is a `mgmt.init`, or its type allows encoding.
pub(crate) fn is_encodable(ir: &Ir, value: Value) -> bool {
    is_init(ir, value) || types::has_encodable_type(ir, value)
}

pub(crate) fn is_init(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op_name(op) == "mgmt.init")
}

/// Returns true if an op without regions computes a value.
fn is_computed(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).regions.is_empty())
}

/// Returns the results of an op, and the arguments of the entry blocks of its regions or of its
/// label.
pub(crate) fn defined_values(ir: &Ir, op: Op) -> SmallVec<[Value; 2]> {
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

/// Returns all values of a program, in textual order.
pub(crate) fn all_values(ir: &Ir) -> Vec<Value> {
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
