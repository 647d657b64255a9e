//! The greedy driver: applies folds and patterns until nothing changes.
//!
//! An iteration works as in MLIR. It merges constants and moves them to the start of their scope.
//! Then it takes each op from the worklist, at first in textual order. The op is erased if it is
//! dead, folded if possible, or else rewritten by the first matching pattern. At the end, the
//! blocks of each region are simplified. Iterations repeat until nothing changes. *Cost.* Linear in
//! the ops and the rewrites. An endless sequence of rewrites is stopped, and the error names the
//! patterns.
//!
//! Unreachable blocks are erased first, because a value in them may depend on itself. A pattern
//! that replaces an op by another one of the same kind could then apply forever. Cycles remain if
//! blocks are not simplified, or in graph regions such as that of a module. Ops in a cycle, and ops
//! that depend on one, are not rewritten.

use noisy_syntax::{Ir, Op, OpKind, Region, Traits};
use rustc_hash::FxHashSet;

use super::Rewriter;
use super::constants::UniquedConstants;
use super::cycles;
use super::regions::{self, SimplificationLevel};
use crate::actions::{self, Actions, ITERATION_TAG, PATTERN_TAG};
use noisy_analyses::facts::effects;

/// A rewrite pattern for one kind of op.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The name in messages and traces.
    pub name: &'static str,
    /// The kind of ops that the pattern may match; [`OpKind::Unknown`] for any op.
    pub kind: OpKind,
    /// Rewrites the op if it matches. Returns true if it matched.
    pub rewrite: fn(&mut Rewriter<'_>, Op) -> bool,
}

/// The configuration of the greedy driver.
#[derive(Clone, Copy, Debug)]
pub struct GreedyConfig {
    /// True if the worklist starts with the first op, false if with the last.
    pub(crate) is_top_down: bool,
    /// True if ops are folded and equal constants are merged, in addition to applying patterns.
    pub is_folding: bool,
    /// The simplification of blocks.
    pub simplify: SimplificationLevel,
    /// Maximum number of iterations; `None` for no limit.
    pub(crate) max_iterations: Option<usize>,
    /// Maximum number of rewrites per iteration; `None` for no limit.
    pub(crate) max_rewrites: Option<usize>,
}

impl Default for GreedyConfig {
    fn default() -> Self {
        Self {
            is_top_down: true,
            is_folding: true,
            simplify: SimplificationLevel::Normal,
            max_iterations: Some(10),
            max_rewrites: None,
        }
    }
}

/// An error: rewriting does not converge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotConverged {
    /// The last two different patterns or folds, which may undo each other. Empty if the limit of
    /// iterations was reached.
    pub patterns: Vec<&'static str>,
}

/// Patterns by kind of op, in the order in which they are tried.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    by_kind: Vec<Vec<Pattern>>,
    any: Vec<Pattern>,
}

impl Patterns {
    pub(crate) fn new(all: impl IntoIterator<Item = Pattern>) -> Self {
        let all: Vec<Pattern> = all.into_iter().collect();
        let n = all.iter().map(|it| it.kind.index() + 1).max().unwrap_or(0);
        let mut out = Self { by_kind: vec![Vec::new(); n], any: Vec::new() };
        for pattern in all {
            if pattern.kind == OpKind::Unknown {
                out.any.push(pattern);
            } else {
                out.by_kind[pattern.kind.index()].push(pattern);
            }
        }
        out
    }

    fn of(&self, kind: OpKind) -> impl Iterator<Item = &Pattern> {
        self.by_kind.get(kind.index()).into_iter().flatten().chain(&self.any)
    }
}

/// Applies folds and patterns inside a region until nothing changes. Returns true if the program
/// changed.
///
/// # Errors
/// If rewriting does not converge.
pub(crate) fn rewrite_region(
    ir: &mut Ir,
    region: Region,
    patterns: &Patterns,
    config: GreedyConfig,
    actions: &mut Actions,
) -> Result<bool, NotConverged> {
    let mut rewriter = Rewriter::within(ir, region);
    let mut is_changed = false;
    let mut iteration = 0;
    if config.simplify != SimplificationLevel::Disabled && actions.is_within_limit() {
        is_changed = regions::erase_all_unreachable(&mut rewriter, region);
        if is_changed {
            let holder = rewriter.ir.region(region).parent;
            let at =
                |ir: &Ir| holder.map_or_else(Default::default, |it| actions::target_of(ir, it));
            actions.record_step(rewriter.ir, "unreachable blocks are erased", || at(rewriter.ir));
        }
    }
    loop {
        iteration += 1;
        if config.max_iterations.is_some_and(|it| iteration > it) {
            return Err(NotConverged { patterns: Vec::new() });
        }
        let holder = rewriter.ir.region(region).parent;
        if !actions.begin_iteration(iteration, rewriter.ir, holder) {
            return Ok(is_changed);
        }
        let at = |ir: &Ir| holder.map_or_else(Default::default, |it| actions::target_of(ir, it));
        let before = rewriter.n_changes();
        fill_worklist(&mut rewriter, region, config);
        if rewriter.n_changes() != before {
            actions.record_step(rewriter.ir, "equal constants are merged", || at(rewriter.ir));
        }
        let frozen = cycles::in_cycles(rewriter.ir, region);
        let n_frozen = frozen.len();
        rewriter.unreachable = if config.simplify == SimplificationLevel::Disabled {
            regions::all_unreachable(rewriter.ir, region).into_iter().collect()
        } else {
            FxHashSet::default()
        };
        let before = rewriter.n_changes();
        let outcome = process_worklist(&mut rewriter, patterns, config, actions, &frozen);
        rewriter.ir.set_location_of_new_ops(None);
        let mut goes_on = rewriter.n_changes() != before;
        let mut is_simplified = false;
        if config.simplify != SimplificationLevel::Disabled
            && actions.is_within_limit()
            && regions::simplify(&mut rewriter, region, config.simplify)
        {
            (goes_on, is_simplified) = (true, true);
            actions.record_step(rewriter.ir, "blocks are simplified", || at(rewriter.ir));
        }
        // Rewrites may have made a block unreachable and created a cycle in it. If the block is
        // erased now, or the cycle is found, another iteration can succeed.
        let has_new_cycle = || cycles::in_cycles(rewriter.ir, region).len() > n_frozen;
        if outcome.is_err() && !is_simplified && !has_new_cycle() {
            return outcome.map(|()| is_changed);
        }
        actions.end(ITERATION_TAG);
        if !goes_on {
            return Ok(is_changed);
        }
        is_changed = true;
    }
}

/// Merges constants, and puts all remaining ops on the worklist.
fn fill_worklist(
    rewriter: &mut Rewriter<'_>,
    region: Region,
    GreedyConfig { is_top_down: top_down, is_folding: folds, .. }: GreedyConfig,
) {
    let mut uniqued = UniquedConstants::default();
    let order = if top_down { super::preorder } else { super::postorder };
    let ops = order(rewriter.ir, region);
    let mut waiting = Vec::with_capacity(ops.len());
    for op in ops {
        let is_constant = folds && rewriter.ir.op(op).kind.has(Traits::CONSTANT);
        if !is_constant || uniqued.merge_or_move(rewriter, op) {
            waiting.push(op);
        }
    }
    rewriter.worklist.clear();
    for op in waiting {
        rewriter.worklist.push(op);
    }
    if top_down {
        rewriter.worklist.reverse();
    }
}

/// Minimum number of rewrites in an iteration that is treated as endless.
const MAX_REWRITES: usize = 64_000;
/// An endless iteration also has more rewrites than this number times its ops.
const MAX_REWRITES_PER_OP: usize = 100;

fn process_worklist(
    rewriter: &mut Rewriter<'_>,
    patterns: &Patterns,
    config: GreedyConfig,
    actions: &mut Actions,
    frozen: &FxHashSet<Op>,
) -> Result<(), NotConverged> {
    let mut n_rewrites = 0;
    let n_ops = rewriter.ir.n_slots().0;
    let mut last: [&'static str; 2] = ["", ""];
    while let Some(op) = rewriter.worklist.pop() {
        if config.max_rewrites.is_some_and(|it| n_rewrites >= it) || !actions.is_within_limit() {
            return Ok(());
        }
        if !rewriter.ir.is_alive(op) {
            continue;
        }
        let place = actions.target(rewriter.ir, op);
        if effects::is_trivially_dead(rewriter.ir, op) {
            rewriter.erase(op);
            actions.record_step_with_worklist(
                rewriter.ir,
                "nothing uses it",
                || place,
                || rewriter.worklist.waiting(),
            );
            continue;
        }
        if frozen.contains(&op) {
            continue;
        }
        rewriter.ir.set_location_of_new_ops(Some(op));
        let kind = rewriter.ir.op(op).kind;
        let applied = if kind.has(Traits::CONSTANT) || !config.is_folding {
            None
        } else if rewriter.order_operands(op) {
            Some("the order of operands")
        } else if rewriter.try_fold(op) {
            Some("a fold")
        } else {
            None
        };
        let applied = applied.or_else(|| {
            let mut found = None;
            for pattern in patterns.of(kind) {
                if !actions.begin_pattern(pattern.name, rewriter.ir, op) {
                    continue;
                }
                let applies = (pattern.rewrite)(rewriter, op);
                actions.end(PATTERN_TAG);
                if applies {
                    found = Some(pattern.name);
                    break;
                }
            }
            found
        });
        let Some(name) = applied else { continue };
        actions.record_step_with_worklist(
            rewriter.ir,
            name,
            || place,
            || rewriter.worklist.waiting(),
        );
        n_rewrites += 1;
        if last[1] != name {
            last = [last[1], name];
        }
        if n_rewrites > MAX_REWRITES.max(MAX_REWRITES_PER_OP.saturating_mul(n_ops)) {
            let patterns = last.into_iter().filter(|it| !it.is_empty()).collect();
            return Err(NotConverged { patterns });
        }
    }
    Ok(())
}
