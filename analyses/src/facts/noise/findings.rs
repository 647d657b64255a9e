//! Values at which noise first exceeds the budget, and loops whose noise grows without bound. An
//! observer finds them while the solver iterates.
//!
//! *Roots.* A value is a root if it is over and no operand of its op is over or unknown. The error
//! is reported at the root; later values of the chain are counted, not reported. In a cycle each
//! value may depend on one that is over: the root is then the first result over the budget when the
//! iterations are replayed, recorded with its iteration. If the number of iterations is unknown and
//! each adds noise, the loop itself is reported ([`GrowingLoop`]), and its overflows are the
//! evidence.

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::analysis::NoiseAnalysis;
use super::fact::Noise;
use super::model::{Bits, Growth};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{ComputedResult, CycleRound, GrowthTrace, LoopTrace, Observer};

/// The overflow of a root: a value at which noise first exceeds the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The upper bound of its noise, in bits, when it first exceeded the budget.
    pub noise: Bits,
    /// The iterations of the enclosing cycles in which the overflow occurred, outermost first;
    /// empty outside of cycles.
    pub rounds: SmallVec<[CycleRound; 1]>,
    /// The round of a recursion in which the overflow occurred, from 1.
    pub recursion_round: u64,
    /// The context of the function (see [`noisy_dataflow::sparse::CallContext`]); `None` if the
    /// function has only the context with assumed noise.
    pub context: Option<u32>,
}

/// The growth of a loop with an unknown trip count, or of a cycle of blocks, that adds noise in
/// each iteration. A cycle is identified by the label of the target of a back edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingLoop {
    /// Index of the iteration argument or block argument that grows.
    pub index: usize,
    /// The operand of a yield or branch that passes the value to the next iteration.
    pub carrier: Option<(Op, usize)>,
    /// The growth in bits in the iteration that exceeded the budget; `None` if it cannot be
    /// observed: the noise has no bound at once, or other values grow.
    pub growth: Option<Bits>,
    /// The number of that iteration, from 1.
    pub iteration: u64,
    /// The value that exceeded the budget in that iteration.
    pub root: Value,
    /// The noise of `root` in bits; [`Bits::MAX`] without a bound.
    pub noise: Bits,
}

/// The growth of a loop in each context of its function.
type GrowthInContexts = SmallVec<[(Option<u32>, GrowingLoop); 1]>;

/// The overflows and growing loops of a program.
#[derive(Debug, Default)]
pub struct Findings {
    /// The overflows by op: the defining op of a result, or the function of an argument.
    overflows: FxHashMap<Op, SmallVec<[(Value, Overflow); 1]>>,
    /// Overflows found in the cycle that is being iterated.
    recent: FxHashSet<(Op, Value)>,
    /// The growth by loop or label.
    growing: FxHashMap<Op, GrowthInContexts>,
    /// Resets whose operand had, at some visit, no more noise than the level of the reset.
    idle_resets: FxHashSet<Op>,
    /// The contexts that are being evaluated, innermost last.
    entered: Vec<EnteredContext>,
}

/// A function in one of its contexts, while it is evaluated.
#[derive(Debug)]
struct EnteredContext {
    context: Option<u32>,
    /// The round of its recursion, from 1.
    turn: u64,
    /// The saved `recent` of the caller.
    recent: FxHashSet<(Op, Value)>,
}

impl Findings {
    /// Returns the overflows in all contexts, in no particular order; see
    /// [`crate::Program::overflows`].
    pub(crate) fn overflows(&self, ir: &Ir) -> Vec<(Value, &Overflow)> {
        let overflows = self.overflows.iter().filter(|(op, _)| ir.is_alive(**op));
        overflows.flat_map(|(_, it)| it.iter().map(|(value, root)| (*value, root))).collect()
    }

    /// Returns the loops whose noise grows without bound, in all contexts, in no particular order;
    /// see [`crate::Program::growing_loops`].
    pub(crate) fn growing(&self, ir: &Ir) -> Vec<(Op, Option<u32>, &GrowingLoop)> {
        let loops = self.growing.iter().filter(|(op, _)| ir.is_alive(**op));
        loops.flat_map(|(op, it)| it.iter().map(|(context, it)| (*op, *context, it))).collect()
    }

    /// Returns the growth of a loop in each context in which its noise grows without bound; see
    /// [`crate::Program::growth_of`].
    pub(crate) fn growth_of(&self, op: Op) -> impl Iterator<Item = (Option<u32>, &GrowingLoop)> {
        self.growing.get(&op).into_iter().flatten().map(|(context, it)| (*context, it))
    }

    /// Returns the resets that may be redundant, in no particular order. Callers test the final
    /// facts.
    pub(crate) fn idle_resets(&self, ir: &Ir) -> Vec<Op> {
        self.idle_resets.iter().copied().filter(|&op| ir.is_alive(op)).collect()
    }

    fn context(&self) -> Option<u32> {
        self.entered.last().and_then(|it| it.context)
    }

    fn record_overflow(&mut self, op: Op, value: Value, noise: Noise, rounds: &[CycleRound]) {
        let Some(noise) = noise.hi() else { return };
        let context = self.context();
        let turn = self.entered.last().map_or(1, |it| it.turn);
        let overflows = self.overflows.entry(op).or_default();
        if overflows.iter().any(|it| it.0 == value && it.1.context == context) {
            return;
        }
        overflows.push((
            value,
            Overflow {
                noise,
                rounds: SmallVec::from_slice(rounds),
                recursion_round: turn,
                context,
            },
        ));
        if !rounds.is_empty() {
            self.recent.insert((op, value));
        }
    }

    /// Drops an overflow of the current context: it is the evidence of a growing loop.
    fn forget_overflow(&mut self, op: Op, value: Value) {
        let context = self.context();
        if let Some(overflows) = self.overflows.get_mut(&op) {
            overflows.retain(|it| it.0 != value || it.1.context != context);
        }
    }

    fn overflow_of(&self, op: Op, value: Value) -> Option<&Overflow> {
        let context = self.context();
        let mut overflows =
            self.overflows.get(&op)?.iter().filter(|it| it.0 == value).map(|it| &it.1);
        overflows.find(|it| it.context == context)
    }
}

impl Observer<NoiseAnalysis> for Findings {
    #[inline]
    fn computed(
        &mut self,
        analysis: &NoiseAnalysis,
        ir: &Ir,
        it: ComputedResult<'_, Noise>,
        rounds: &[CycleRound],
    ) {
        if rounds.is_empty() {
            self.recent.clear();
        }
        let model = analysis.model();
        let Some(hi) = it.fact.hi() else { return };
        let Some(rule) = analysis.last_rule(ir.op(it.op).name) else { return };
        let is_over = hi > model.budget;
        if !is_over && !rule.is_reset() {
            return;
        }
        let Some(growth) = model.growth(ir, it.op, rule) else { return };
        let operands = it.operands.iter().enumerate();
        let mut carriers =
            operands.filter(|at| model.is_carrier(ir, it.op, rule, at.0)).map(|at| *at.1);
        let is_first = match growth {
            Growth::Reset(level) => {
                if carriers.next().and_then(Noise::hi).is_some_and(|hi| hi <= level) {
                    self.idle_resets.insert(it.op);
                }
                true
            }
            Growth::Fresh(_) => true,
            Growth::Max(_) | Growth::Sum(_) => !carriers.any(|at| at.is_over(model.budget)),
        };
        if is_over && is_first {
            self.record_overflow(it.op, ir.op(it.op).results[it.result], *it.fact, rounds);
        }
    }

    fn looped(
        &mut self,
        analysis: &NoiseAnalysis,
        ir: &Ir,
        op: Op,
        trace: &LoopTrace<'_, Noise>,
        rounds: &[CycleRound],
    ) {
        let context = self.context();
        let is_unbounded = trace.is_unbounded
            || trace.starts.last().is_some_and(|it| it.iter().any(|it| it.hi() == Some(Bits::MAX)));
        if is_unbounded && trace.most.is_none() {
            let mut evidence: Vec<(u64, usize, Op, Value)> = Vec::new();
            #[allow(clippy::iter_over_hash_type, reason = "sorted below")]
            for &(defining_op, value) in &self.recent {
                let Some(root) = self.overflow_of(defining_op, value) else { continue };
                let here = root.rounds.iter().find(|it| it.op == op);
                if let Some(round) = here.filter(|it| it.number > 1) {
                    evidence.push((round.number, ir.start(defining_op), defining_op, value));
                }
            }
            evidence.sort_unstable_by_key(|it| (it.0, it.1, ir.value(it.3).number));
            let growing = if let Some(&(round, _, defining_op, root)) = evidence.first() {
                let noise = self.overflow_of(defining_op, root).map_or(0, |it| it.noise);
                for (_, _, defining_op, value) in evidence {
                    self.forget_overflow(defining_op, value);
                }
                let (index, by) = growth_in(trace.starts, round);
                let carrier = flow::carried_operand(ir, op, index);
                Some(GrowingLoop {
                    index,
                    carrier,
                    growth: nonzero(by),
                    iteration: round,
                    root,
                    noise,
                })
            } else {
                growing_by_calls(analysis.model().budget, ir, op, trace.starts)
            };
            if let Some(growing) = growing {
                self.growing.entry(op).or_default().push((context, growing));
            }
        }
        if rounds.is_empty() {
            self.recent.clear();
        }
    }

    fn cycled(
        &mut self,
        analysis: &NoiseAnalysis,
        ir: &Ir,
        op: Op,
        growths: &[GrowthTrace<Noise>],
        place: &dyn Fn(Op) -> Option<u32>,
        rounds: &[CycleRound],
    ) {
        let context = self.context();
        // The overflows after the first iteration, each with the innermost cycle around it.
        let mut heads: Vec<&GrowthTrace<Noise>> = growths.iter().collect();
        heads.dedup_by_key(|it| it.label);
        let mut evidence: Vec<(Op, u64, usize, Op, Value)> = Vec::new();
        #[allow(clippy::iter_over_hash_type, reason = "sorted below")]
        for &(defining_op, value) in &self.recent {
            let Some(root) = self.overflow_of(defining_op, value) else { continue };
            let here = root.rounds.iter().find(|it| it.op == op && it.number > 1);
            let Some(at) = place(defining_op) else { continue };
            let around = heads.iter().filter(|it| it.start <= at && at <= it.end);
            if let (Some(round), Some(head)) = (here, around.max_by_key(|it| it.start)) {
                evidence.push((
                    head.label,
                    round.number,
                    ir.start(defining_op),
                    defining_op,
                    value,
                ));
            }
        }
        evidence.sort_unstable_by_key(|it| (it.1, it.2, ir.value(it.4).number));
        for head in heads.iter().map(|it| it.label) {
            let of_head = || growths.iter().filter(|it| it.label == head);
            let mut overflows = evidence.iter().filter(|it| it.0 == head);
            let growing = if let Some(&(_, round, _, defining_op, root)) = overflows.next() {
                let noise = self.overflow_of(defining_op, root).map_or(0, |it| it.noise);
                // The first argument with the largest growth.
                let grew = of_head().map(|it| (it.index, growth_at_pass(&it.changes, round)));
                let most = grew.fold((0, 0), |best, it| if it.1 > best.1 { it } else { best });
                let carrier =
                    of_head().find(|it| it.index == most.0).and_then(|it| it.back_operand);
                Some(GrowingLoop {
                    index: most.0,
                    carrier,
                    growth: nonzero(most.1),
                    iteration: round,
                    root,
                    noise,
                })
            } else if evidence.is_empty() && growths.first().is_some_and(|it| it.label == head) {
                of_head().find_map(|it| cycling_by_calls(analysis.model().budget, ir, it))
            } else {
                None
            };
            if let Some(growing) = growing {
                self.growing.entry(head).or_default().push((context, growing));
            }
        }
        for (.., defining_op, value) in evidence {
            self.forget_overflow(defining_op, value);
        }
        if rounds.is_empty() {
            self.recent.clear();
        }
    }

    fn enter(&mut self, context: Option<u32>, turn: u64) {
        let recent = std::mem::take(&mut self.recent);
        self.entered.push(EnteredContext { context, turn, recent });
    }

    fn leave(&mut self) {
        if let Some(it) = self.entered.pop() {
            self.recent = it.recent;
        }
    }

    fn forget(&mut self, op: Op) {
        if let Some(context) = self.context() {
            // During the visit of a context, the findings of other contexts are kept.
            if let Some(overflows) = self.overflows.get_mut(&op) {
                overflows.retain(|it| it.1.context != Some(context));
            }
            if let Some(growing) = self.growing.get_mut(&op) {
                growing.retain(|it| it.0 != Some(context));
            }
            return;
        }
        self.overflows.remove(&op);
        self.growing.remove(&op);
        self.idle_resets.remove(&op);
    }

    fn clear(&mut self) {
        self.overflows.clear();
        self.recent.clear();
        self.growing.clear();
        self.idle_resets.clear();
    }
}

/// Returns the growth of a block argument that exceeds the budget although no op in the cycle
/// overflows: the overflow is in a callee.
fn cycling_by_calls(budget: Bits, ir: &Ir, growth: &GrowthTrace<Noise>) -> Option<GrowingLoop> {
    let at = growth.changes.iter().position(|it| it.1.is_over(budget)).filter(|&it| it > 0)?;
    let (before, after) = (growth.changes[at - 1].1.hi()?, growth.changes[at].1.hi()?);
    let earlier = at.checked_sub(2).and_then(|it| growth.changes[it].1.hi());
    let (by, noise) = growth_by_calls(earlier, before, after)?;
    let (end, operand) = growth.back_operand?;
    let root = ir.op(end).operands.get(operand)?.value?;
    let round = growth.changes[at].0.saturating_sub(1);
    let (index, carrier) = (growth.index, growth.back_operand);
    Some(GrowingLoop { index, carrier, growth: by, iteration: round, root, noise })
}

/// Returns the growth of an iteration argument that exceeds the budget although no op in the loop
/// overflows: the overflow is in a callee.
fn growing_by_calls(budget: Bits, ir: &Ir, op: Op, starts: &[Vec<Noise>]) -> Option<GrowingLoop> {
    let round = starts.windows(2).position(|it| {
        it[0]
            .iter()
            .zip(&it[1])
            .any(|(a, b)| a.hi().is_some() && !a.is_over(budget) && b.is_over(budget))
    })?;
    let (before, after) = (&starts[round], &starts[round + 1]);
    let index = before
        .iter()
        .zip(after)
        .position(|(a, b)| a.hi().is_some() && !a.is_over(budget) && b.is_over(budget))?;
    let (from, to) = (before[index].hi()?, after[index].hi()?);
    let earlier = round.checked_sub(1).and_then(|it| starts[it].get(index)?.hi());
    let (by, noise) = growth_by_calls(earlier, from, to)?;
    let carrier = flow::carried_operand(ir, op, index);
    let root = carrier.and_then(|(end, at)| ir.op(end).operands.get(at)?.value)?;
    Some(GrowingLoop { index, carrier, growth: by, iteration: round as u64 + 1, root, noise })
}

/// Returns the growth of noise in an iteration, and the noise after it; `None` without growth. The
/// arguments are the noise at the start of the previous iteration (`earlier`), of this iteration
/// (`from`) and of the next iteration (`to`).
fn growth_by_calls(earlier: Option<Bits>, from: Bits, to: Bits) -> Option<(Option<Bits>, Bits)> {
    if to < Bits::MAX {
        return (to > from).then(|| (Some(to - from), to));
    }
    // The noise has been widened to "no bound"; the growth is that of the previous iteration.
    let by = nonzero(from.saturating_sub(earlier.unwrap_or(from)));
    Some((by, by.map_or(to, |it| from.saturating_add(it))))
}

/// Returns a growth; `None` if it is 0.
fn nonzero(by: Bits) -> Option<Bits> {
    (by > 0).then_some(by)
}

/// Returns the increase from one bound to the next; 0 if `after` means "no bound".
fn increase(before: Bits, after: Bits) -> Bits {
    if after == Bits::MAX { 0 } else { after.saturating_sub(before) }
}

/// Returns the growth of a block argument at a pass of the cycle, from its recorded changes.
fn growth_at_pass(moves: &[(u64, Noise)], pass: u64) -> Bits {
    let Some(at) = moves.iter().rposition(|it| it.0 <= pass) else { return 0 };
    let hi = |at: usize| moves[at].1.hi().unwrap_or(0);
    if at == 0 { 0 } else { increase(hi(at - 1), hi(at)) }
}

/// Returns the index of the iteration argument with the largest growth in a round, and that growth.
fn growth_in(starts: &[Vec<Noise>], round: u64) -> (usize, Bits) {
    let at = usize::try_from(round).unwrap_or(usize::MAX).clamp(2, starts.len().max(2)) - 1;
    let (Some(before), Some(after)) = (starts.get(at - 1), starts.get(at)) else { return (0, 0) };
    let grew = before
        .iter()
        .zip(after)
        .map(|(before, after)| increase(before.hi().unwrap_or(0), after.hi().unwrap_or(0)));
    // The first one with the largest growth.
    grew.enumerate().fold((0, 0), |best, (index, by)| if by > best.1 { (index, by) } else { best })
}
