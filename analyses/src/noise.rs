//! The noise analysis: the rules of the model applied to every op, and where the noise first goes over the budget.
//!
//! *Facts* are [`Noise`] ranges. Arguments of functions are what the contract `{noisy.bound = N : i64}` on them says, else fresh if anybody may call
//! the function, and what each call passes, apart ([`crate::sparse::Context`]). The results of a call are what the callee returns in
//! that context, and at most what the contracts on its results say; without a body to look at only those count. The results of ops that the model does not know
//! are unknown, and those of broken ones.
//!
//! *Roots.* A value is a root if it is over and nothing that it is computed from is over or unknown: there the error
//! stands, once per chain, and what the chain spoils further down is counted, not reported. In a cycle every value may be
//! fed by one that is over; there the root is the op that first goes over when the rounds are replayed, noted with its
//! round. If an unknown number of rounds would go on to add noise, the loop itself is at fault ([`Growing`]) and its roots are
//! the evidence.

use noisy_syntax::{Form, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::contract::{self, Contract, Side};
use crate::fact::Noise;
use crate::flow;
use crate::integer::Integers;
use crate::model::{Bits, Growth, NoiseModel, Rules};
use crate::sparse::{Climb, LoopTrace, Round, Scene, SparseForward, Trips};

/// Where noise first goes over the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The upper bound there, in bits, when it first went over.
    pub noise: Bits,
    /// The rounds of the cycles around in which that happened, outermost first; empty outside of cycles.
    pub rounds: SmallVec<[Round; 1]>,
    /// The turn of a recursion in which that happened, from 1.
    pub turn: u64,
    /// The context of the function (see [`crate::sparse::Context`]); none where there is only the assumed one.
    pub context: Option<u32>,
}

/// A loop that runs an unknown number of times and adds noise each time, or a cycle of blocks, by the label of a block that it goes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growing {
    /// Which carried value, or argument of the block, grows.
    pub index: usize,
    /// The operand of a yield or branch that carries it into the next round.
    pub carrier: Option<(Op, usize)>,
    /// By how much in the round in which the budget was exceeded, in bits.
    pub by: Bits,
    /// That round, from 1.
    pub round: u64,
    /// What went over in it.
    pub root: Value,
    /// Its noise, in bits.
    pub noise: Bits,
}

/// How a loop grows in each context of its function.
type InContexts = SmallVec<[(Option<u32>, Growing); 1]>;

/// The analysis and what it noted on the side.
#[derive(Debug)]
pub struct NoiseAnalysis {
    rules: Rules,
    /// By the op that defines the values: a result's own, the function of an argument.
    roots: FxHashMap<Op, SmallVec<[(Value, Root); 1]>>,
    /// Roots found in the cycle that is being iterated.
    recent: FxHashSet<(Op, Value)>,
    /// By loop or label.
    growing: FxHashMap<Op, InContexts>,
    /// Resets whose operand was, at some visit, at most at the level they reset to.
    idle_resets: FxHashSet<Op>,
    /// The contexts that are being evaluated, innermost last.
    entered: Vec<Entered>,
}

/// A function in one of its contexts, while it is evaluated.
#[derive(Debug)]
struct Entered {
    context: u32,
    /// The turn of its recursion.
    turn: u64,
    /// What was recent around.
    recent: FxHashSet<(Op, Value)>,
}

impl NoiseAnalysis {
    /// The analysis under a model.
    pub fn new(model: NoiseModel) -> Self {
        Self {
            rules: Rules::new(model),
            roots: FxHashMap::default(),
            recent: FxHashSet::default(),
            growing: FxHashMap::default(),
            idle_resets: FxHashSet::default(),
            entered: Vec::new(),
        }
    }

    /// The model.
    pub fn model(&self) -> &NoiseModel {
        self.rules.model()
    }

    /// The roots in all contexts, in no particular order; see [`crate::Program::roots`].
    pub fn roots(&self, ir: &Ir) -> Vec<(Value, &Root)> {
        let roots = self.roots.iter().filter(|(op, _)| ir.is_alive(**op));
        roots.flat_map(|(_, it)| it.iter().map(|(value, root)| (*value, root))).collect()
    }

    /// The loops that add noise each round without end, in all contexts, in no particular order; see
    /// [`crate::Program::growing`].
    pub fn growing(&self, ir: &Ir) -> Vec<(Op, Option<u32>, &Growing)> {
        let loops = self.growing.iter().filter(|(op, _)| ir.is_alive(**op));
        loops.flat_map(|(op, it)| it.iter().map(|(context, it)| (*op, *context, it))).collect()
    }

    /// How a loop adds noise each round without end, in each context in which it does; see [`crate::Program::growth_of`].
    pub fn growth_of(&self, op: Op) -> impl Iterator<Item = (Option<u32>, &Growing)> {
        self.growing.get(&op).into_iter().flatten().map(|(context, it)| (*context, it))
    }

    /// Resets that may have nothing to reset, in no particular order; whether they have is in the facts.
    pub fn idle_resets(&self, ir: &Ir) -> Vec<Op> {
        self.idle_resets.iter().copied().filter(|&op| ir.is_alive(op)).collect()
    }

    fn context(&self) -> Option<u32> {
        self.entered.last().map(|it| it.context)
    }

    fn note(&mut self, op: Op, value: Value, noise: Noise, rounds: &[Round]) {
        let Some(noise) = noise.hi() else { return };
        let context = self.context();
        let turn = self.entered.last().map_or(1, |it| it.turn);
        let roots = self.roots.entry(op).or_default();
        if roots.iter().any(|it| it.0 == value && it.1.context == context) {
            return;
        }
        roots.push((value, Root { noise, rounds: SmallVec::from_slice(rounds), turn, context }));
        if !rounds.is_empty() {
            self.recent.insert((op, value));
        }
    }

    /// A root in the context that is looked into is told of in another way.
    fn forget_root(&mut self, op: Op, value: Value) {
        let context = self.context();
        if let Some(roots) = self.roots.get_mut(&op) {
            roots.retain(|it| it.0 != value || it.1.context != context);
        }
    }

    fn root(&self, op: Op, value: Value) -> Option<&Root> {
        let context = self.context();
        let mut roots = self.roots.get(&op)?.iter().filter(|it| it.0 == value).map(|it| &it.1);
        roots.find(|it| it.context == context)
    }
}

/// What a contract says of a value. That a bound exceeds the budget is told where it stands, and no value is a root because of it.
fn by_contract(stated: Contract) -> Noise {
    match stated {
        Contract::Bound(bound) => Noise::up_to(bound),
        Contract::Wrong => Noise::Unknown,
    }
}

impl SparseForward for NoiseAnalysis {
    type Fact = Noise;
    type Base = Integers;

    const REPLAYS: bool = true;
    const LINKS: bool = false;
    const FOLLOWS: bool = true;

    fn carries(&self, ir: &Ir, value: Value) -> bool {
        self.model().is_noisy(&ir.interner, ir.value(value).ty)
    }

    fn entry(&mut self, ir: &Scene<'_, Integers>, function: Op, index: usize, _: Value) -> Noise {
        if ir.op(function).form == Form::Broken {
            return Noise::Unknown;
        }
        match contract::of(ir, function, Side::Argument, index) {
            Some(stated) => by_contract(stated),
            None => Noise::up_to(self.model().fresh),
        }
    }

    fn unknown(&self) -> Noise {
        Noise::Unknown
    }

    fn transfer(
        &mut self,
        ir: &Scene<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Noise],
        rounds: &[Round],
    ) -> Noise {
        if rounds.is_empty() {
            self.recent.clear();
        }
        let data = ir.op(op);
        if data.form == Form::Broken || (data.extra.is_some() && !ir.extra(op).problems.is_empty())
        {
            return Noise::Unknown;
        }
        let carriers: SmallVec<[Noise; 2]>;
        let (noise, fed_by) = if data.kind == OpKind::FuncCall {
            let stated = flow::callee(ir, op);
            let stated = stated.and_then(|it| contract::of(ir, it, Side::Result, result));
            return stated.map_or(Noise::Unknown, by_contract);
        } else {
            let Some(rule) = self.rules.of(ir, op) else { return Noise::Unknown };
            let model = self.model();
            if !model.is_carried(rule, result) {
                return Noise::up_to(0);
            }
            let Some(growth) = model.growth(ir, op, rule) else { return Noise::Unknown };
            let budget = model.budget;
            let carried = operands.iter().enumerate();
            let carried = carried.filter(|it| model.is_carrier(ir, op, rule, it.0));
            carriers = carried.map(|it| *it.1).collect();
            let noise = match growth {
                // Noise comes with operands; an op without any is not what the rule is about.
                Growth::Max(_) | Growth::Sum(_) if carriers.is_empty() => Noise::Unknown,
                growth => Noise::after(growth, &carriers),
            };
            if let Growth::Reset(level) = growth
                && carriers.first().is_some_and(|it| it.hi().is_some_and(|hi| hi <= level))
            {
                self.idle_resets.insert(op);
            }
            if !noise.is_over(budget) {
                return noise;
            }
            match growth {
                Growth::Fresh(_) | Growth::Reset(_) => (noise, &[][..]),
                Growth::Max(_) | Growth::Sum(_) => (noise, &carriers[..]),
            }
        };
        let budget = self.model().budget;
        if noise.is_over(budget) && !fed_by.iter().any(|it| it.is_over(budget)) {
            self.note(op, data.results[result], noise, rounds);
        }
        noise
    }

    fn may_take(&self, ir: &Scene<'_, Integers>, op: Op, index: usize, _: &Noise) -> bool {
        ir.base.may_take(ir, op, index)
    }

    fn trips(&self, ir: &Scene<'_, Integers>, op: Op, _: &dyn Fn(usize) -> Noise) -> Trips {
        ir.base.trips(ir, op)
    }

    fn concerned(&self, ir: &Scene<'_, Integers>, moved: Value, enter: &mut dyn FnMut(Op)) {
        Integers::decided_by(ir, moved, enter);
    }

    fn pass(&self, ir: &Scene<'_, Integers>, function: Op, index: usize, fact: Noise) -> Noise {
        contract::of(ir, function, Side::Argument, index).map_or(fact, by_contract)
    }

    fn give(&self, ir: &Scene<'_, Integers>, function: Op, index: usize, fact: Noise) -> Noise {
        match contract::of(ir, function, Side::Result, index) {
            // That the body keeps it is told at its returns.
            Some(Contract::Bound(bound)) if fact.hi().is_none_or(|it| it > bound) => match fact {
                Noise::Bottom => fact,
                Noise::Range { lo, .. } => Noise::Range { lo: lo.min(bound), hi: bound },
                Noise::Unknown => Noise::up_to(bound),
            },
            _ => fact,
        }
    }

    fn enter(&mut self, _: Op, context: u32, turn: u64) {
        let recent = std::mem::take(&mut self.recent);
        self.entered.push(Entered { context, turn, recent });
    }

    fn leave(&mut self) {
        if let Some(it) = self.entered.pop() {
            self.recent = it.recent;
        }
    }

    fn is_settled(&self, fact: &Noise) -> bool {
        fact.is_over(self.model().budget)
    }

    fn endless(&self, fact: &Noise) -> Noise {
        match *fact {
            Noise::Range { lo, .. } => Noise::Range { lo, hi: Bits::MAX },
            other => other,
        }
    }

    fn looped(
        &mut self,
        ir: &Scene<'_, Integers>,
        op: Op,
        trace: &LoopTrace<'_, Noise>,
        rounds: &[Round],
    ) {
        let context = self.context();
        let is_endless = trace.endless
            || trace.starts.last().is_some_and(|it| it.iter().any(|it| it.hi() == Some(Bits::MAX)));
        if is_endless && trace.trip_count.is_none() {
            let mut evidence: Vec<(u64, usize, Op, Value)> = Vec::new();
            #[allow(clippy::iter_over_hash_type, reason = "sorted below")]
            for &(definer, value) in &self.recent {
                let Some(root) = self.root(definer, value) else { continue };
                let here = root.rounds.iter().find(|it| it.op == op);
                if let Some(round) = here.filter(|it| it.number > 1) {
                    evidence.push((round.number, ir.start(definer), definer, value));
                }
            }
            evidence.sort_unstable_by_key(|it| (it.0, it.1, ir.value(it.3).number));
            let growing = if let Some(&(round, _, definer, root)) = evidence.first() {
                let noise = self.root(definer, root).map_or(0, |it| it.noise);
                for (_, _, definer, value) in evidence {
                    self.forget_root(definer, value);
                }
                let (index, by) = growth_in(trace.starts, round);
                let carrier = flow::carried_operand(ir, op, index);
                Some(Growing { index, carrier, by, round, root, noise })
            } else {
                self.growing_by_calls(ir, op, trace.starts)
            };
            if let Some(growing) = growing {
                self.growing.entry(op).or_default().push((context, growing));
            }
        }
        if rounds.is_empty() {
            self.recent.clear();
        }
    }

    fn circled(
        &mut self,
        ir: &Scene<'_, Integers>,
        op: Op,
        climbs: &[Climb<Noise>],
        place: &dyn Fn(Op) -> Option<u32>,
        rounds: &[Round],
    ) {
        let context = self.context();
        // The roots that the cycle brought about, each with the innermost one around it.
        let mut heads: Vec<&Climb<Noise>> = climbs.iter().collect();
        heads.dedup_by_key(|it| it.label);
        let mut evidence: Vec<(Op, u64, usize, Op, Value)> = Vec::new();
        #[allow(clippy::iter_over_hash_type, reason = "sorted below")]
        for &(definer, value) in &self.recent {
            let Some(root) = self.root(definer, value) else { continue };
            let here = root.rounds.iter().find(|it| it.op == op && it.number > 1);
            let Some(at) = place(definer) else { continue };
            let around = heads.iter().filter(|it| it.start <= at && at <= it.end);
            if let (Some(round), Some(head)) = (here, around.max_by_key(|it| it.start)) {
                evidence.push((head.label, round.number, ir.start(definer), definer, value));
            }
        }
        evidence.sort_unstable_by_key(|it| (it.1, it.2, ir.value(it.4).number));
        for head in heads.iter().map(|it| it.label) {
            let of_head = || climbs.iter().filter(|it| it.label == head);
            let mut roots = evidence.iter().filter(|it| it.0 == head);
            let growing = if let Some(&(_, round, _, definer, root)) = roots.next() {
                let noise = self.root(definer, root).map_or(0, |it| it.noise);
                // The first of those that grew most.
                let grew = of_head().map(|it| (it.index, grown(&it.moves, round)));
                let most = grew.fold((0, 0), |best, it| if it.1 > best.1 { it } else { best });
                let carrier = of_head().find(|it| it.index == most.0).and_then(|it| it.carrier);
                Some(Growing { index: most.0, carrier, by: most.1, round, root, noise })
            } else if evidence.is_empty() && climbs.first().is_some_and(|it| it.label == head) {
                of_head().find_map(|it| self.circling_by_calls(ir, it))
            } else {
                None
            };
            if let Some(growing) = growing {
                self.growing.entry(head).or_default().push((context, growing));
            }
        }
        for (.., definer, value) in evidence {
            self.forget_root(definer, value);
        }
        if rounds.is_empty() {
            self.recent.clear();
        }
    }

    fn forget(&mut self, op: Op) {
        if let Some(context) = self.context() {
            // In the midst of one context what was noted in the others stands.
            if let Some(roots) = self.roots.get_mut(&op) {
                roots.retain(|it| it.1.context != Some(context));
            }
            if let Some(growing) = self.growing.get_mut(&op) {
                growing.retain(|it| it.0 != Some(context));
            }
            return;
        }
        self.roots.remove(&op);
        self.growing.remove(&op);
        self.idle_resets.remove(&op);
    }

    fn clear(&mut self) {
        self.rules.clear();
        self.roots.clear();
        self.recent.clear();
        self.growing.clear();
        self.idle_resets.clear();
    }
}

impl NoiseAnalysis {
    /// An argument of a block that goes over without a root in the cycle: in a callee, then.
    fn circling_by_calls(&self, ir: &Ir, climb: &Climb<Noise>) -> Option<Growing> {
        let budget = self.model().budget;
        let at = climb.moves.iter().position(|it| it.1.is_over(budget)).filter(|&it| it > 0)?;
        let (before, after) = (climb.moves[at - 1].1.hi()?, climb.moves[at].1.hi()?);
        let earlier = at.checked_sub(2).and_then(|it| climb.moves[it].1.hi());
        let by = match (after, earlier) {
            (Bits::MAX, Some(earlier)) => before.saturating_sub(earlier),
            _ => after.saturating_sub(before),
        };
        let (end, operand) = climb.carrier?;
        let root = ir.op(end).operands.get(operand)?.value?;
        let noise = if after == Bits::MAX { before.saturating_add(by) } else { after };
        let round = climb.moves[at].0.saturating_sub(1);
        let (index, carrier) = (climb.index, climb.carrier);
        (by > 0).then_some(Growing { index, carrier, by, round, root, noise })
    }

    /// A carried value that goes over from one round to the next without a root in the loop: in a callee, then.
    fn growing_by_calls(&self, ir: &Ir, op: Op, starts: &[Vec<Noise>]) -> Option<Growing> {
        let budget = self.model().budget;
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
        // What is endless by now went on to grow; by how much is seen in the round before.
        let by = match (to, round.checked_sub(1).and_then(|it| starts[it].get(index)?.hi())) {
            (Bits::MAX, Some(earlier)) => from.saturating_sub(earlier),
            _ => to.saturating_sub(from),
        };
        let carrier = flow::carried_operand(ir, op, index);
        let root = carrier.and_then(|(end, at)| ir.op(end).operands.get(at)?.value)?;
        let noise = if to == Bits::MAX { from.saturating_add(by) } else { to };
        (by > 0).then_some(Growing { index, carrier, by, round: round as u64 + 1, root, noise })
    }
}

/// By how much an argument of a block grew into a pass, by its moves.
fn grown(moves: &[(u64, Noise)], pass: u64) -> Bits {
    let Some(at) = moves.iter().rposition(|it| it.0 <= pass) else { return 0 };
    let hi = |at: usize| moves[at].1.hi().unwrap_or(0);
    if at == 0 { 0 } else { hi(at).saturating_sub(hi(at - 1)) }
}

/// Which carried fact grew most into a round, and by how much.
fn growth_in(starts: &[Vec<Noise>], round: u64) -> (usize, Bits) {
    let at = usize::try_from(round).unwrap_or(usize::MAX).clamp(2, starts.len().max(2)) - 1;
    let (Some(before), Some(after)) = (starts.get(at - 1), starts.get(at)) else { return (0, 0) };
    let grew = before
        .iter()
        .zip(after)
        .map(|(before, after)| after.hi().unwrap_or(0).saturating_sub(before.hi().unwrap_or(0)));
    // The first of the largest.
    grew.enumerate().fold((0, 0), |best, (index, by)| if by > best.1 { (index, by) } else { best })
}
