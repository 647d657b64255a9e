//! Values whose noise first exceeds the budget, and loops whose noise grows without bound: found
//! while the solver iterates.
//!
//! *Roots.* A value is a root if it is over and no value that it is computed from is over or
//! unknown: the error is reported at this value, once per chain, and the values after it are
//! counted, not reported. In a cycle every value may be computed from one that is over; the root of
//! a cycle is the op that first goes over when the iterations are replayed, noted with its
//! iteration. If an unknown number of iterations would add more noise, the loop itself is at fault
//! ([`Growing`]) and its overflows are the evidence.

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::analysis::NoiseAnalysis;
use super::fact::Noise;
use super::model::{Bits, Growth};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{Computed, GrowthTrace, LoopTrace, Observer, Round};

/// A value whose noise first exceeds the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The upper bound of its noise, in bits, when it first exceeded the budget.
    pub noise: Bits,
    /// The iterations of the cycles around in which that happened, outermost first; empty outside
    /// of cycles.
    pub rounds: SmallVec<[Round; 1]>,
    /// The turn of a recursion in which that happened, from 1.
    pub turn: u64,
    /// The context of the function (see [`noisy_dataflow::sparse::Context`]); `None` if there is
    /// only the assumed one.
    pub context: Option<u32>,
}

/// A loop with an unknown trip count that adds noise in each iteration, or a cycle of blocks, by
/// the label of a block that it goes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growing {
    /// Index of the carried value, or of the argument of the block, that grows.
    pub index: usize,
    /// The operand of a yield or branch that carries it into the next round.
    pub carrier: Option<(Op, usize)>,
    /// The growth in bits in the iteration that exceeded the budget; `None` if it is not seen: it
    /// had no bound at once, or grows through other values.
    pub by: Option<Bits>,
    /// The number of the iteration, from 1.
    pub round: u64,
    /// The value that exceeded the budget in it.
    pub root: Value,
    /// Its noise, in bits; [`Bits::MAX`] where it has no bound.
    pub noise: Bits,
}

/// The growth of a loop in each context of its function.
type InContexts = SmallVec<[(Option<u32>, Growing); 1]>;

/// The overflows and the growing loops.
#[derive(Debug, Default)]
pub struct Findings {
    /// By the op that defines the values: a result's own, the function of an argument.
    overflows: FxHashMap<Op, SmallVec<[(Value, Overflow); 1]>>,
    /// Overflows found in the cycle that is being iterated.
    recent: FxHashSet<(Op, Value)>,
    /// By loop or label.
    growing: FxHashMap<Op, InContexts>,
    /// Resets whose operand was, at some visit, at most at the level that they reset to.
    idle_resets: FxHashSet<Op>,
    /// The contexts that are being evaluated, innermost last.
    entered: Vec<Entered>,
}

/// A function in one of its contexts, while it is evaluated.
#[derive(Debug)]
struct Entered {
    context: Option<u32>,
    /// The turn of its recursion.
    turn: u64,
    /// The recent values of the cycles around.
    recent: FxHashSet<(Op, Value)>,
}

impl Findings {
    /// The overflows in all contexts, in no particular order; see [`crate::Program::overflows`].
    pub(crate) fn overflows(&self, ir: &Ir) -> Vec<(Value, &Overflow)> {
        let overflows = self.overflows.iter().filter(|(op, _)| ir.is_alive(**op));
        overflows.flat_map(|(_, it)| it.iter().map(|(value, root)| (*value, root))).collect()
    }

    /// The loops that add noise in each iteration without bound, in all contexts, in no particular
    /// order; see [`crate::Program::growing`].
    pub(crate) fn growing(&self, ir: &Ir) -> Vec<(Op, Option<u32>, &Growing)> {
        let loops = self.growing.iter().filter(|(op, _)| ir.is_alive(**op));
        loops.flat_map(|(op, it)| it.iter().map(|(context, it)| (*op, *context, it))).collect()
    }

    /// The growth of a loop in each context in which it grows without bound; see
    /// [`crate::Program::growth_of`].
    pub(crate) fn growth_of(&self, op: Op) -> impl Iterator<Item = (Option<u32>, &Growing)> {
        self.growing.get(&op).into_iter().flatten().map(|(context, it)| (*context, it))
    }

    /// Resets that may have nothing to reset, in no particular order; the facts decide.
    pub(crate) fn idle_resets(&self, ir: &Ir) -> Vec<Op> {
        self.idle_resets.iter().copied().filter(|&op| ir.is_alive(op)).collect()
    }

    fn context(&self) -> Option<u32> {
        self.entered.last().and_then(|it| it.context)
    }

    fn note(&mut self, op: Op, value: Value, noise: Noise, rounds: &[Round]) {
        let Some(noise) = noise.hi() else { return };
        let context = self.context();
        let turn = self.entered.last().map_or(1, |it| it.turn);
        let overflows = self.overflows.entry(op).or_default();
        if overflows.iter().any(|it| it.0 == value && it.1.context == context) {
            return;
        }
        overflows
            .push((value, Overflow { noise, rounds: SmallVec::from_slice(rounds), turn, context }));
        if !rounds.is_empty() {
            self.recent.insert((op, value));
        }
    }

    /// Drops an overflow of the current context, which is reported in another way.
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
        it: Computed<'_, Noise>,
        rounds: &[Round],
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
            self.note(it.op, ir.op(it.op).results[it.result], *it.fact, rounds);
        }
    }

    fn looped(
        &mut self,
        analysis: &NoiseAnalysis,
        ir: &Ir,
        op: Op,
        trace: &LoopTrace<'_, Noise>,
        rounds: &[Round],
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
                Some(Growing { index, carrier, by: bounded(by), round, root, noise })
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
        rounds: &[Round],
    ) {
        let context = self.context();
        // The overflows that the cycle brought about, each with the innermost one around it.
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
                // The first of those that grew most.
                let grew = of_head().map(|it| (it.index, grown(&it.moves, round)));
                let most = grew.fold((0, 0), |best, it| if it.1 > best.1 { it } else { best });
                let carrier = of_head().find(|it| it.index == most.0).and_then(|it| it.carrier);
                Some(Growing { index: most.0, carrier, by: bounded(most.1), round, root, noise })
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
        self.entered.push(Entered { context, turn, recent });
    }

    fn leave(&mut self) {
        if let Some(it) = self.entered.pop() {
            self.recent = it.recent;
        }
    }

    fn forget(&mut self, op: Op) {
        if let Some(context) = self.context() {
            // While one context is visited, the findings of the others stay.
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

/// An argument of a block that exceeds the budget although no op in the cycle overflows: the
/// overflow is in a callee.
fn cycling_by_calls(budget: Bits, ir: &Ir, growth: &GrowthTrace<Noise>) -> Option<Growing> {
    let at = growth.moves.iter().position(|it| it.1.is_over(budget)).filter(|&it| it > 0)?;
    let (before, after) = (growth.moves[at - 1].1.hi()?, growth.moves[at].1.hi()?);
    let earlier = at.checked_sub(2).and_then(|it| growth.moves[it].1.hi());
    let (by, noise) = growth_by_calls(earlier, before, after)?;
    let (end, operand) = growth.carrier?;
    let root = ir.op(end).operands.get(operand)?.value?;
    let round = growth.moves[at].0.saturating_sub(1);
    let (index, carrier) = (growth.index, growth.carrier);
    Some(Growing { index, carrier, by, round, root, noise })
}

/// A carried value that exceeds the budget from one iteration to the next although no op in the
/// loop overflows: the overflow is in a callee.
fn growing_by_calls(budget: Bits, ir: &Ir, op: Op, starts: &[Vec<Noise>]) -> Option<Growing> {
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
    Some(Growing { index, carrier, by, round: round as u64 + 1, root, noise })
}

/// The growth of noise in an iteration, and the noise after it, from its noise in the iteration
/// before, at the start and at the end. `None` if it did not grow.
fn growth_by_calls(earlier: Option<Bits>, from: Bits, to: Bits) -> Option<(Option<Bits>, Bits)> {
    if to < Bits::MAX {
        return (to > from).then(|| (Some(to - from), to));
    }
    // Noise that is unbounded by now went on growing; the iteration before shows the growth.
    let by = bounded(from.saturating_sub(earlier.unwrap_or(from)));
    Some((by, by.map_or(to, |it| from.saturating_add(it))))
}

/// A growth that was seen, if there is any.
fn bounded(by: Bits) -> Option<Bits> {
    (by > 0).then_some(by)
}

/// The difference of two bounds; 0 if there is none, or if the later one is no bound.
fn counted(before: Bits, after: Bits) -> Bits {
    if after == Bits::MAX { 0 } else { after.saturating_sub(before) }
}

/// By how much an argument of a block grew into a pass, by its moves.
fn grown(moves: &[(u64, Noise)], pass: u64) -> Bits {
    let Some(at) = moves.iter().rposition(|it| it.0 <= pass) else { return 0 };
    let hi = |at: usize| moves[at].1.hi().unwrap_or(0);
    if at == 0 { 0 } else { counted(hi(at - 1), hi(at)) }
}

/// Returns the index of the carried fact that grew most in a round, and its growth.
fn growth_in(starts: &[Vec<Noise>], round: u64) -> (usize, Bits) {
    let at = usize::try_from(round).unwrap_or(usize::MAX).clamp(2, starts.len().max(2)) - 1;
    let (Some(before), Some(after)) = (starts.get(at - 1), starts.get(at)) else { return (0, 0) };
    let grew = before
        .iter()
        .zip(after)
        .map(|(before, after)| counted(before.hi().unwrap_or(0), after.hi().unwrap_or(0)));
    // The first of the largest.
    grew.enumerate().fold((0, 0), |best, (index, by)| if by > best.1 { (index, by) } else { best })
}
