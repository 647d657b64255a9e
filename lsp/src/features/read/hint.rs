//! Inlay hints: the noise of each noisy value; the level, dimension and scale of HEIR's
//! ciphertexts; multiplicative depth, dependence on encrypted data, ranges of integers, trip counts
//! of loops.

use std::ops::Range;

use noisy_analyses::explain::SaturationCache;
use noisy_analyses::program::depth::Depth;
use noisy_analyses::program::secretness::Secretness;
use noisy_analyses::{Assumption, Bits, Document};
use noisy_dataflow::flow::{self, Flow};
use noisy_heir::CiphertextNumbers;
use noisy_integers::range;
use noisy_settings::{HintSettings, LoopSettings};
use noisy_syntax::{Def, Op, OpKind, Value};

use crate::features::find::cursor;
use crate::features::nest::{LastNest, NestCache};
use crate::features::read::ciphertext;
use crate::features::texts;
use crate::features::walk::{ITEMS_PER_STEP, ItemWalk, WalkedItem};

/// A hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Byte offset.
    pub offset: usize,
    pub label: String,
    /// True if it shows noise over the budget.
    pub is_over: bool,
}

/// Finds the hints in a range of bytes, including its end, in steps and in textual order of the
/// ops.
#[derive(Debug)]
pub(crate) struct HintJob {
    range: Range<usize>,
    /// Ancestors of the first item of the walk.
    ancestors: Vec<WalkedItem>,
    walk: ItemWalk,
    nests: NestCache,
    loops: LoopSettings,
    last_nest: LastNest,
    saturation: SaturationCache,
}

impl HintJob {
    pub(crate) fn new(
        document: &Document,
        range: Range<usize>,
        wanted: &HintSettings,
        loops: LoopSettings,
        nests: NestCache,
    ) -> Self {
        let is_any = wanted.noise
            || wanted.contracts
            || wanted.ranges
            || wanted.trip_counts
            || wanted.loop_growth
            || wanted.depth
            || wanted.secrecy
            || wanted.dependences
            || wanted.levels
            || wanted.dimensions
            || wanted.scales;
        let (around, walk) = if is_any {
            ItemWalk::starting_at(document.ir(), range.start)
        } else {
            Default::default()
        };
        Self {
            range,
            ancestors: around,
            walk,
            nests,
            loops,
            last_nest: LastNest::default(),
            saturation: SaturationCache::default(),
        }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(
        &mut self,
        document: &Document,
        wanted: &HintSettings,
        found: &mut impl FnMut(Hint),
    ) -> bool {
        for item in std::mem::take(&mut self.ancestors) {
            self.of_item(document, item, wanted).into_iter().for_each(&mut *found);
        }
        for _ in 0..ITEMS_PER_STEP {
            let next = self.walk.next(document.ir()).filter(|it| it.start <= self.range.end);
            let Some(item) = next else { return false };
            self.of_item(document, item, wanted).into_iter().for_each(&mut *found);
        }
        true
    }

    /// Returns the hints at the names that an item defines, and at the name of its op.
    fn of_item(
        &mut self,
        document: &Document,
        item: WalkedItem,
        wanted: &HintSettings,
    ) -> Vec<Hint> {
        let name =
            document.ir().absolute_at(item.op, item.start, document.ir().op(item.op).name_span);
        let is_seen = self.range.start <= name.end && name.end <= self.range.end;
        let carried = (wanted.dependences && is_seen)
            .then(|| self.nests.label(document.source(), item.op, self.loops, &mut self.last_nest))
            .flatten();
        of_item(document, item, &self.range, wanted, carried, &mut self.saturation)
    }
}

/// Returns the hints at the names that an item defines, and at the name of its op. `carried`
/// describes the dependences of a loop.
fn of_item(
    document: &Document,
    item: WalkedItem,
    range: &Range<usize>,
    wanted: &HintSettings,
    carried: Option<String>,
    known: &mut SaturationCache,
) -> Vec<Hint> {
    let ir = document.ir();
    let mut out = Vec::new();
    // The results of a label are its block arguments, which are added below.
    let is_label = ir.op(item.op).kind == OpKind::Label;
    let results = if is_label { &[][..] } else { &ir.op(item.op).results };
    for &value in results {
        add(document, item, value, range, wanted, known, &mut out);
    }
    for value in cursor::arguments_in(ir, item.op) {
        add(document, item, value, range, wanted, known, &mut out);
    }
    let does = loop_label(document, item.op, wanted);
    let label = match (does, carried) {
        (Some(does), Some(carried)) => Some(format!("{does}, {carried}")),
        (does, carried) => does.or(carried),
    };
    if let Some(label) = label {
        let name = ir.absolute_at(item.op, item.start, ir.op(item.op).name_span);
        if range.start <= name.end && name.end <= range.end {
            out.push(Hint { offset: name.end, label, is_over: false });
        }
    }
    out.sort_by_key(|it| it.offset);
    out
}

fn add(
    document: &Document,
    item: WalkedItem,
    value: Value,
    range: &Range<usize>,
    wanted: &HintSettings,
    known: &mut SaturationCache,
    out: &mut Vec<Hint>,
) {
    let Some(label) = label(document, value, wanted, known) else { return };
    let (ir, span) = (document.ir(), document.ir().value(value).span);
    if span.start >= span.end {
        return;
    }
    // The start of the item is known, which saves a look-up.
    let name = match ir.definition_site(value) {
        Some(op) if op == item.op => ir.absolute_at(op, item.start, span),
        _ => match cursor::definition_range(ir, value) {
            Some(name) => name,
            None => return,
        },
    };
    if range.start <= name.end && name.end <= range.end {
        let is_over = document.noise(value).hi().is_some_and(|hi| hi > document.model().budget)
            || ciphertext::numbers_of(document, value).is_some_and(|it| it.is_over_budget());
        // The values of a pack share a name and so an offset.
        match out.last_mut().filter(|it| it.offset == name.end) {
            Some(last) => {
                last.label = format!("{} {label}", last.label);
                last.is_over |= is_over;
            }
            None => out.push(Hint { offset: name.end, label, is_over }),
        }
    }
}

fn label(
    document: &Document,
    value: Value,
    wanted: &HintSettings,
    known: &mut SaturationCache,
) -> Option<String> {
    let is_noisy = document.is_noisy(value);
    let ciphertext = ciphertext::numbers_of(document, value);
    let is_secret = || {
        // The level of a value already shows that it is encrypted.
        !is_noisy
            && ciphertext.is_none()
            && wanted.secrecy
            && document.secretness(value) == Secretness::Secret
    };
    let other = match (is_noisy, &ciphertext) {
        (true, _) => noise_text(document, value, wanted, known),
        // The integer range of an encrypted value is not useful.
        (false, Some(_)) => None,
        (false, None) => integer_text(document, value, wanted),
    };
    // The depth is computed at its first use, so it is only read if levels are not placed.
    let depth = |it: &CiphertextNumbers| {
        if it.is_without_level_uses { document.depth(value) } else { Depth::Unknown }
    };
    let is_deep = ciphertext.is_some_and(|it| it.is_without_level_uses && wanted.levels);
    let parts = [
        ciphertext.and_then(|it| ciphertext::hint_text(&it, depth(&it), wanted)),
        other,
        (wanted.depth && !is_deep).then(|| texts::depth_text(document.depth(value))).flatten(),
        is_secret().then(|| "secret".to_owned()),
    ];
    parts.into_iter().flatten().reduce(|all, part| format!("{all}, {part}"))
}

/// Text for noise: `[0, 24]`, with the assumption and the remaining bits if the settings select
/// them. For noise over the budget, the text contains the budget.
fn noise_text(
    document: &Document,
    value: Value,
    wanted: &HintSettings,
    known: &mut SaturationCache,
) -> Option<String> {
    let noise = texts::noise_text(document, value, known)?;
    let budget = document.model().budget;
    let is_assumed = wanted.contracts && is_assumed(document, value);
    let assumed = if is_assumed { " assumed fresh" } else { "" };
    if !wanted.noise {
        return is_assumed.then(|| format!("{noise}{assumed}"));
    }
    match document.noise(value).hi() {
        Some(Bits::MAX) => Some(format!("{noise} (budget {budget})")),
        Some(hi) if hi > budget => Some(format!("{noise} > {budget}")),
        Some(hi) if wanted.budget => Some(format!("{noise}{assumed}, {} left", budget - hi)),
        _ => Some(format!("{noise}{assumed}")),
    }
}

/// True for an argument of a function that is assumed to be fresh, because any code may call the
/// function and no contract bounds the argument. The noise of other block arguments follows from
/// the branches.
fn is_assumed(document: &Document, value: Value) -> bool {
    let ir = document.ir();
    let Def::Argument(block, _) = ir.value(value).def else { return false };
    let is_entry = flow::entry_block(ir, ir.block(block).region) == block;
    is_entry && matches!(document.assumption(value), Some(Assumption::Fresh { .. }))
}

/// Text for an integer: `in [0, 7]` or `= 7`. `None` for a constant in the text.
fn integer_text(document: &Document, value: Value, wanted: &HintSettings) -> Option<String> {
    wanted.ranges.then(|| document.integer_in_words(value)).flatten()
}

/// The trip count of a loop, and its effect on the noise it carries.
fn loop_label(document: &Document, op: Op, wanted: &HintSettings) -> Option<String> {
    let iterations = wanted.trip_counts.then(|| trip_count_text(document, op)).flatten();
    let growth = wanted.loop_growth.then(|| growth_text(document, op)).flatten();
    match (iterations, growth) {
        (Some(iterations), Some(growth)) => Some(format!("{iterations}, {growth}")),
        (iterations, growth) => iterations.or(growth),
    }
}

/// The trip count of a loop, if known. A bound that only reflects the width of its type is unknown.
pub(crate) fn trip_count_text(document: &Document, op: Op) -> Option<String> {
    let ir = document.ir();
    if !Flow::of(ir, op).is_loop() {
        return None;
    }
    let integers = document.integers();
    let is_known = |value: Value| {
        let is_constant = integers.constant(ir, value).int().is_some();
        is_constant || matches!(integers.range(value), range::Range::Within(_))
    };
    let operands = &ir.op(op).operands;
    let carried = ir.op(op).results.len();
    let bounds = &operands[..operands.len().saturating_sub(carried)];
    let are_known = bounds.iter().filter_map(|it| it.value).all(is_known);
    let trips = integers.trips(ir, op);
    Some(match (trips.least, trips.most.filter(|_| are_known)) {
        (0, None) => return None,
        (a, Some(b)) if a == b => texts::op_count_text(b, "iteration"),
        (0, Some(b)) => format!("at most {}", texts::op_count_text(b, "iteration")),
        (a, Some(b)) => format!("{a} to {b} iterations"),
        (a, None) => format!("at least {}", texts::op_count_text(a, "iteration")),
    })
}

/// The effect of a loop on the noise that it carries. With a known trip count, the noise before and
/// after the loop; otherwise the growth per iteration.
pub(crate) fn growth_text(document: &Document, op: Op) -> Option<String> {
    let ir = document.ir();
    if !Flow::of(ir, op).is_loop() {
        return None;
    }
    if let Some(it) = document.growth_of(op) {
        return Some(it.growth.map_or_else(
            || "noise grows with each iteration".to_owned(),
            |by| format!("noise +{} per iteration", texts::op_count_text(u64::from(by), "bit")),
        ));
    }
    document.integers().trip_count(ir, op).filter(|&it| it > 1)?;
    let &(_, region) = ir.op(op).regions.first()?;
    let args = &ir.block(flow::entry_block(ir, region)).args;
    let risen = args.iter().filter_map(|&arg| {
        let (init, yielded): (Vec<_>, Vec<_>) =
            flow::feeding_values(ir, arg).into_iter().partition(|it| it.0 == op);
        let from = document.noise(init.first()?.1).hi()?;
        let to = document.noise(yielded.first()?.1).hi()?;
        (from < to && to < u32::MAX).then_some((to, from))
    });
    let (to, from) = risen.max()?;
    Some(format!("noise {from} → {to}"))
}
