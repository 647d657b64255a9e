//! Bounds and proofs for one part: the relaxation over conflict cores, reduced-cost fixing, dynamic
//! programming, cuts, and branch and bound.
//!
//! Phases:
//!
//! 1. *Relaxation* ([`crate::bound::relax`]): a bound, reduced costs, and the binding cores.
//! 2. *Fixing.* If bound plus reduced cost of a site reach the cost of the incumbent, the site has
//!    the same value in every better choice. All these sites are fixed, the rest is simplified, and
//!    its parts are solved from the start.
//! 3. *Sweep.* Dynamic programming solves a narrow program ([`crate::exact::frontier_dp`]).
//! 4. *Local cuts* ([`crate::bound::local_cuts`]) while they raise the bound; a large program is
//!    cut in parts ([`crate::bound::cost_partition`]).
//! 5. *Branch and bound* over cores ([`crate::bound::branch`]), which finds more cores.
//!
//! Law: each offered bound has a proof, even after an interruption.
//!
//! Source of the idea: implicit hitting sets as in `MaxSAT` (Davies, Bacchus).

use std::sync::{Arc, Mutex, PoisonError};

use crate::bound::branch::SearchEffort;
use crate::bound::cores::CoreSeparator;
use crate::bound::cost_partition::cost_partition;
use crate::bound::cut_patterns::CutPatterns;
use crate::bound::local_cuts::{CutProgress, CutSettings, LOCAL_SIZES};
use crate::bound::local_problem::LocalProblem;
use crate::bound::relax::{DualBound, WeightedRows, relax};
use crate::bound::workers::n_workers;
use crate::certificate::{Proof, ProofRow, ProofStep, SCALE, ceil_cost, number_rows};
use crate::exact::frontier_dp::{FrontierOrder, SweepInput, SweepOutcome, frontier_dp};
use crate::exact::shared_tree::{TreeProblem, shared_tree};
use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::NoiseBits;
use crate::question::least_noise::{beyond_all_limits, least_solution};
use crate::question::limits::EffortBudget;
use crate::question::simplify::{SiteDecision, simplify};
use crate::search::anneal::improve_for;
use crate::search::compact;
use crate::search::greedy;
use crate::search::incumbent::{Incumbent, ProofSource, SourceKind};
use crate::search::state::ChoiceState;
use crate::search::subproblem::Subproblem;

/// Proves bounds for a graph, finds better choices, and offers both to the incumbent.
pub(crate) fn prove(graph: &NoiseGraph, incumbent: &Arc<Incumbent>, budget: &mut EffortBudget) {
    if budget.steps.cores {
        prove_with_cores(CoreSeparator::new(graph), incumbent, budget);
    } else {
        solve_compact_model(graph, incumbent, budget);
    }
}

/// Solves the compact model once and offers its choice. Proves no bound.
fn solve_compact_model(graph: &NoiseGraph, incumbent: &Incumbent, budget: &mut EffortBudget) {
    if !budget.steps.branch {
        return;
    }
    let (mip, _) = compact::compact_model(graph);
    let best = incumbent.best();
    let state = ChoiceState::new(graph, best);
    let start: Vec<f64> = (state.chosen.iter().map(|&c| f64::from(u8::from(c))))
        .chain(state.noise_after.iter().map(|&e| f64::from(e)))
        .collect();
    let start = state.is_legal().then_some(&start[..]);
    let Ok(answer) = mip.solve(start, &budget.for_solver(graph.n_sites())) else { return };
    budget.spend_iterations(answer.iterations, graph.n_sites());
    if let Some(values) = &answer.values {
        offer_pruned(graph, compact::chosen_sites(graph, values), incumbent, budget.stop);
    }
}

/// Removes useless sites from a choice, and offers it if it is legal.
fn offer_pruned(
    graph: &NoiseGraph,
    mut chosen: Vec<bool>,
    incumbent: &Incumbent,
    stop: &dyn Fn() -> bool,
) {
    // First removes the sites that lower no noise, if each chosen site lowers noise as far as it
    // can.
    let n = graph.n_nodes();
    let (mut p, mut e) = (vec![0; n], vec![0; n]);
    let most = beyond_all_limits(graph);
    let after = |v: u32, p: NoiseBits| match graph.site[v as usize] {
        s if s != NO_INDEX && chosen[s as usize] => p.min(graph.reset[s as usize]),
        _ => p,
    };
    least_solution(graph, &mut p, &mut e, |_, p| p.min(most), after);
    for (s, chosen) in chosen.iter_mut().enumerate() {
        let lowers = |&v: &u32| graph.reset[s] < p[v as usize];
        *chosen &= graph.nodes_of.of(s as u32).iter().any(lowers);
    }
    let mut state = ChoiceState::new(graph, chosen);
    if state.is_legal() {
        greedy::prune(graph, &mut state, stop);
        incumbent.offer(state.cost, &state.chosen);
    }
}

fn prove_with_cores(
    mut cores: CoreSeparator,
    incumbent: &Arc<Incumbent>,
    budget: &mut EffortBudget,
) {
    let graph = cores.graph;
    let Some(relaxed) = relax(&mut cores, incumbent, budget) else { return };
    if incumbent.is_proven() || budget.is_spent() {
        return;
    }
    let mut dual = relaxed.dual_bound();
    if budget.steps.fix && fix_by_reduced_cost(graph, &dual, 10, incumbent, budget) {
        return;
    }
    // The sweep and the tree each get little effort first, and then much: either may finish quickly
    // where the other never finishes. A narrow program gets all states immediately.
    let frontier = budget.steps.frontier_dp.then(|| FrontierOrder::new(graph, cores.levels()));
    let is_narrow = frontier.as_ref().is_some_and(|it| it.bits <= MAX_NARROW_BITS);
    let is_small = graph.n_sites() <= MAX_WHOLE_SITES;
    let few = if graph.n_sites() <= TREE_FIRST { FEW_NODES } else { FEW_NODES / 8 };
    let mut rows = relaxed.binding_rows();
    for (states, nodes) in
        [(if is_narrow { MAX_STATES } else { FEW_STATES }, few), (MAX_STATES, usize::MAX)]
    {
        if nodes > few && (relaxed.is_complete || !is_small) && budget.steps.cuts {
            let done = tighten(&mut cores, rows, dual, incumbent, budget);
            let Some(it) = done else { return };
            (rows, dual) = it;
        }
        if let Some(frontier) = &frontier
            && sweep_narrow(&cores, &dual, frontier, states, incumbent, budget)
        {
            return;
        }
        let is_little = graph.n_sites() > TREE_FIRST && nodes == few && budget.steps.cuts;
        if relaxed.is_complete && budget.steps.branch && !budget.is_spent() && !is_little {
            branch_and_bound(&mut cores, &rows, nodes, incumbent, budget);
        }
        if incumbent.is_proven() || budget.is_spent() {
            return;
        }
    }
    // A cycle can hide a core, so the compact model may still find a better choice.
    if graph.is_cyclic && !incumbent.is_proven() && !budget.is_spent() {
        solve_compact_model(graph, incumbent, budget);
    }
}

/// Phase 4: local cuts. Returns the final rows and the bound that they prove. `None` if the part is
/// finished.
fn tighten(
    cores: &mut CoreSeparator,
    rows: Vec<ProofRow>,
    dual: DualBound,
    incumbent: &Arc<Incumbent>,
    budget: &mut EffortBudget,
) -> Option<(Vec<ProofRow>, DualBound)> {
    let graph = cores.graph;
    let n_workers = n_workers(budget);
    if graph.n_sites() > MAX_WHOLE_SITES {
        let it = cost_partition(cores, &dual.rows, PART_SITES, incumbent, budget);
        let dual = it.unwrap_or(dual);
        let is_over = incumbent.is_proven() || budget.is_spent();
        let is_done =
            is_over || budget.steps.fix && fix_by_reduced_cost(graph, &dual, 10, incumbent, budget);
        return (!is_done).then_some((rows, dual));
    }
    if exceeds_floats(graph) {
        return Some((rows, dual));
    }
    let sites: Vec<u32> = (0..graph.n_sites() as u32).collect();
    let mut dual = dual;
    let repeats = CutPatterns::new(graph);
    let mut progress = CutProgress::new(rows, LOCAL_SIZES[0]);
    let (mut nodes, mut shared) = (FEW_NODES, SHARED_NODES);
    while !progress.is_done() {
        let known = incumbent.best();
        let settings = CutSettings {
            weights: &graph.cost,
            known: &known,
            n_workers,
            rounds: ROUNDS,
            zero_half_attempts: HALVES,
            patterns: &repeats,
        };
        let mut local = LocalProblem::new(cores, sites.clone())?;
        let mut tell = |it: &DualBound| {
            dual = it.clone();
            if ceil_cost(it.bound) > incumbent.lower() {
                incumbent.offer_proof(it.proof());
            }
            !incumbent.is_proven()
        };
        local.tighten(&settings, &mut progress, &mut tell, budget)?;
        // If many sites can be settled, the rest is a smaller problem.
        let is_over = incumbent.is_proven() || budget.is_spent();
        if is_over || budget.steps.fix && fix_by_reduced_cost(graph, &dual, 3, incumbent, budget) {
            return None;
        }
        // If the gap is small, a tree may gain more than further cuts.
        let gap = (i128::from(incumbent.upper()) << SCALE) - dual.bound;
        if gap < (1 << SCALE) + dual.bound / NEAR_GAP_DIVISOR && budget.steps.branch {
            branch_and_bound(cores, progress.rows(), nodes, incumbent, budget);
            nodes *= 2;
        } else if progress.is_slow() && budget.steps.branch {
            let (rows, basis, known) = (progress.rows(), progress.basis(), incumbent.best());
            let problem = TreeProblem { graph, rows, basis, known, nodes: shared, n_workers };
            let tell = |proof| incumbent.offer_proof(proof);
            let mut found = None;
            incumbent
                .with_sleeping_search(RESTS, || found = shared_tree(problem, cores, &tell, budget));
            progress.add_rows(found.unwrap_or_default());
            shared *= 2;
        }
        if incumbent.is_proven() || budget.is_spent() {
            return None;
        }
    }
    Some((progress.into_rows(), dual))
}

/// Graphs with more sites are tightened in parts of about `PART_SITES` sites.
const MAX_WHOLE_SITES: usize = 2500;
const PART_SITES: usize = 1500;
/// Number of rounds of cuts between attempts to settle sites.
const ROUNDS: usize = 4;
/// Maximum number of attempts at zero-half cuts per round.
const HALVES: usize = 12;
/// Branching starts when the gap is less than `bound / NEAR_GAP_DIVISOR`.
const NEAR_GAP_DIVISOR: i128 = 100;
/// Ratio of the time that annealing sleeps to the time that it works while threads share a tree. In
/// this phase annealing finds almost nothing.
const RESTS: u32 = 7;
/// Number of nodes of the first shared tree, which is started when rounds gain little.
const SHARED_NODES: usize = 48;

/// Returns true if costs are too large for the precision of a solver in floating point.
fn exceeds_floats(graph: &NoiseGraph) -> bool {
    graph.cost.iter().fold(0, |acc: u64, &c| acc.saturating_add(c)) > 1 << 40
}

/// The proof of a graph with some settled sites, composed of the proofs of the remaining
/// subproblems.
struct SettledProof {
    n_sites: usize,
    /// A lower bound of the cost of every choice that differs in a settled site.
    upper: u64,
    /// The rows that prove `upper`.
    rows: WeightedRows,
    absent: Vec<u32>,
    chosen: Vec<u32>,
    /// The total cost of `chosen`.
    base: u64,
    /// Sites that are forced by the settled ones, with their costs.
    forced: Vec<(u32, u64)>,
    of: Vec<LiftedSubproblem>,
}

/// A subproblem, with the indices of its sites and nodes in the whole graph.
struct LiftedSubproblem {
    incumbent: Arc<Incumbent>,
    sites: Vec<u32>,
    nodes: Vec<u32>,
    grain: u64,
}

impl ProofSource for SettledProof {
    fn proof(&self) -> Proof {
        let (rows, list) = number_rows(self.rows.iter().cloned());
        let (absent, chosen) = (self.absent.clone(), self.chosen.clone());
        let settle = ProofStep::Settle { multipliers: 0, least: self.upper, absent, chosen };
        let forced = self.forced.iter().map(|&(s, cost)| {
            let core = (ProofRow::Core([s].into()), 1 << SCALE);
            Proof::from_multipliers(vec![s], std::iter::once(core), cost)
        });
        let subproblems = self
            .of
            .iter()
            .map(|it| it.incumbent.proof().renumbered(&it.sites, &it.nodes, it.grain));
        let subproblems: Vec<Proof> = forced.chain(subproblems.filter(|it| it.bound > 0)).collect();
        let sum = subproblems.iter().fold(self.base, |sum, it| sum.saturating_add(it.bound));
        Proof {
            sites: (0..self.n_sites as u32).collect(),
            rows,
            multipliers: vec![list],
            steps: vec![settle, ProofStep::Split(subproblems)],
            bound: sum.min(self.upper),
        }
    }
}

/// Phase 2, if at least one in `least` sites can be settled. Returns true if it solved the
/// remaining subproblems: then the caller must not continue.
fn fix_by_reduced_cost(
    graph: &NoiseGraph,
    dual: &DualBound,
    least: usize,
    incumbent: &Arc<Incumbent>,
    budget: &mut EffortBudget,
) -> bool {
    let upper = incumbent.upper();
    let better = (i128::from(upper) - 1) << SCALE;
    let mut fixed = vec![SiteDecision::Open; graph.n_sites()];
    let (mut absent, mut chosen) = (Vec::new(), Vec::new());
    for (s, &reduced) in dual.reduced.iter().enumerate() {
        if dual.bound + reduced.abs() > better {
            fixed[s] = if reduced > 0 { SiteDecision::Absent } else { SiteDecision::Chosen };
            if reduced > 0 { absent.push(s as u32) } else { chosen.push(s as u32) }
        }
    }
    if (absent.len() + chosen.len()) * least < graph.n_sites() {
        return false;
    }
    let cost_of = |list: &[u32]| {
        list.iter().fold(0, |sum: u64, &s| sum.saturating_add(graph.cost[s as usize]))
    };
    let rows = dual.rows.clone();
    let base = cost_of(&chosen);
    let mut source = SettledProof {
        n_sites: graph.n_sites(),
        upper,
        rows,
        absent,
        chosen,
        base,
        forced: Vec::new(),
        of: Vec::new(),
    };
    let Ok(simple) = simplify(graph, fixed.clone(), true, true) else {
        // There is no better choice: with the settled sites, a node is over its limit for any
        // choice of the others.
        let nothing = (ProofRow::Core([].into()), (i128::from(upper)) << SCALE);
        let mut proof = source.proof();
        let subproblem = Proof::from_multipliers(Vec::new(), std::iter::once(nothing), upper);
        proof.steps[1] = ProofStep::Split(vec![subproblem]);
        proof.bound = upper;
        incumbent.offer_proof(proof);
        return true;
    };
    for (s, (&before, &now)) in fixed.iter().zip(&simple.fixed).enumerate() {
        if before == SiteDecision::Open && now == SiteDecision::Chosen {
            source.forced.push((s as u32, graph.cost[s]));
        }
    }
    let mut chosen: Vec<bool> = simple.fixed.iter().map(|&f| f == SiteDecision::Chosen).collect();
    let base = graph.cost_of(&chosen);
    // Bounds of the subproblems immediately give bounds of the whole, because every choice that
    // costs less than `upper` consists of choices of the subproblems.
    let sum = Arc::new(Mutex::new((base, vec![0; simple.parts.len()])));
    let mut subproblems: Vec<Subproblem> = Vec::new();
    for (at, part) in simple.parts.into_iter().enumerate() {
        let nodes = part.nodes.clone();
        let Ok(subproblem) = Subproblem::new(part, budget) else { return false };
        let (sum, whole, grain) = (Arc::clone(&sum), Arc::clone(incumbent), subproblem.cost_unit);
        let subproblem = subproblem.with_listener(move |bound| {
            let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            sum.1[at] = bound.saturating_mul(grain).max(sum.1[at]);
            let lower = sum.1.iter().fold(sum.0, |all: u64, &it| all.saturating_add(it));
            whole.raise_bound(lower.min(upper));
        });
        let (incumbent, sites) = (Arc::clone(&subproblem.incumbent), subproblem.sites.clone());
        source.of.push(LiftedSubproblem { incumbent, sites, nodes, grain });
        subproblems.push(subproblem);
    }
    incumbent.set_source(SourceKind::Subproblems, Arc::new(source));
    let mut by_size: Vec<&Subproblem> = subproblems.iter().collect();
    by_size.sort_by_key(|it| it.graph.n_sites());
    for subproblem in by_size {
        let visits = (subproblem.graph.n_sites() as u64 * 2000).min(budget.remaining);
        improve_for(&subproblem.graph, &subproblem.incumbent, 1, visits, budget);
        prove(&subproblem.graph, &subproblem.incumbent, budget);
    }
    for subproblem in &subproblems {
        for (&s, c) in subproblem.sites.iter().zip(subproblem.incumbent.best()) {
            chosen[s as usize] = c;
        }
    }
    offer_pruned(graph, chosen, incumbent, budget.stop);
    let lower = subproblems.iter().fold(base, |sum, it| sum.saturating_add(it.cost_and_bound().1));
    incumbent.raise_bound(lower.min(upper));
    true
}

/// Maximum number of states of the frontier, and of nodes of the tree, in the first attempt.
const FEW_STATES: usize = 1 << 12;
const FEW_NODES: usize = 200;
/// With more sites than this, branch and bound comes only after the cuts: for a program with 850
/// sites, the first 25 nodes take ten seconds.
const TREE_FIRST: usize = 400;
/// Maximum number of states of the frontier.
const MAX_STATES: usize = 1 << 19;
/// A frontier with at most this number of bits is narrow: the sweep gets all states in the first
/// attempt.
const MAX_NARROW_BITS: u32 = 48;

/// Solves a small program by a sweep with the bound of packed cores, which is faster than one
/// relaxation. Returns true if the program is solved.
pub(crate) fn solve_small(
    graph: &NoiseGraph,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) -> bool {
    let steps = budget.steps;
    let is_wanted = steps.sweep_first && steps.frontier_dp && steps.prove && steps.cores;
    if graph.n_sites() > MAX_SMALL_SITES || graph.is_cyclic || !is_wanted || budget.is_spent() {
        return false;
    }
    let mut cores = CoreSeparator::new(graph);
    let dual = pack_cores(&mut cores, incumbent.upper());
    budget.spend(cores.work);
    incumbent.offer_proof(dual.proof());
    if incumbent.is_proven() {
        return true;
    }
    let frontier = FrontierOrder::new(graph, cores.levels());
    sweep_narrow(&cores, &dual, &frontier, TINY_STATES, incumbent, budget)
}

/// Packs cores by dual ascent. The multiplier of each core is the least remaining cost of its
/// sites. Ends when each further core has a site without remaining cost, or when the bound is
/// `enough`. If all costs are equal, the cores are disjoint.
fn pack_cores(cores: &mut CoreSeparator, enough: u64) -> DualBound {
    let graph = cores.graph;
    let mut reduced: Vec<i128> = graph.cost.iter().map(|&cost| i128::from(cost) << SCALE).collect();
    let mut spent = vec![0.0; graph.n_sites()];
    let (mut bound, mut rows) = (0, Vec::new());
    while ceil_cost(bound) < enough {
        cores.compute_steps(&spent, &graph.order);
        let over = cores.violated(&spent, &graph.order, 0.0);
        let found = over.first().and_then(|&it| cores.core(&spent, it));
        let Some(ProofRow::Core(core)) = found else { break };
        let Some(least) = core.iter().map(|&s| reduced[s as usize]).min() else { break };
        for &s in &core {
            reduced[s as usize] -= least;
            spent[s as usize] = if reduced[s as usize] == 0 { 1.0 } else { 0.0 };
        }
        bound += least;
        rows.push((ProofRow::Core(core), least));
    }
    DualBound { bound, rows: rows.into(), reduced }
}

/// Maximum number of sites of a small program, and of states of its frontier.
const MAX_SMALL_SITES: usize = 64;
const TINY_STATES: usize = 1 << 9;

/// Phase 3. Returns true if the part is solved.
///
/// A sweep has few states if the allowed excess over the bound is small. So the first sweep
/// searches for choices that cost at most the bound, and each further sweep allows about twice as
/// much excess; there are about eight sweeps at most. Each sweep without a choice gives a better
/// bound, and the last sweep takes most of the time.
fn sweep_narrow(
    cores: &CoreSeparator,
    dual: &DualBound,
    frontier: &FrontierOrder,
    states: usize,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) -> bool {
    let graph = cores.graph;
    let little = (incumbent.upper().saturating_sub(incumbent.lower()) / 64).max(1);
    let mut beyond = 0_u64;
    while !incumbent.is_proven() {
        // Another thread may have lowered the upper bound meanwhile.
        let all = incumbent.upper().saturating_sub(1);
        let most = incumbent.lower().saturating_add(beyond).min(all);
        let input = SweepInput {
            frontier,
            levels: cores.levels(),
            bound: dual.bound,
            better: i128::from(most) << SCALE,
            rows: &dual.rows,
            reduced: &dual.reduced,
            states,
            work: budget.remaining,
            stop: budget.stop,
        };
        let (outcome, work) = frontier_dp(graph, &input);
        budget.spend(work);
        let (least, is_last) = match outcome {
            SweepOutcome::NoneBetter => (most + 1, most == all),
            SweepOutcome::Better(chosen) => {
                let cost = graph.cost_of(&chosen);
                offer_pruned(graph, chosen, incumbent, budget.stop);
                (cost, true)
            }
            SweepOutcome::GaveUp => return false,
        };
        let sweep = ProofStep::Sweep { order: frontier.order.clone(), multipliers: 0, least };
        incumbent.offer_proof(Proof { steps: vec![sweep], bound: least, ..dual.proof() });
        if is_last {
            break;
        }
        beyond = beyond.saturating_mul(2).saturating_add(little);
    }
    true
}

/// Phase 5: branch and bound with at most `nodes` nodes.
fn branch_and_bound(
    cores: &mut CoreSeparator,
    rows: &[ProofRow],
    nodes: usize,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) {
    let graph = cores.graph;
    if exceeds_floats(graph) {
        return;
    }
    let sites = (0..graph.n_sites() as u32).collect();
    let Some(mut local) = LocalProblem::new(cores, sites) else { return };
    if local.add_rows(rows.iter().cloned()).is_none() {
        return;
    }
    let effort = SearchEffort { nodes, tolerance: 0, enough: 0 };
    let known = incumbent.best();
    let stop = budget.stop;
    let mut report = |proof: &dyn Fn() -> Proof, lower: u64, choice: Option<&[bool]>| {
        if let Some(choice) = choice {
            offer_pruned(graph, choice.to_vec(), incumbent, stop);
        }
        if lower > incumbent.lower() {
            incumbent.offer_proof(proof());
        }
    };
    if let Some(answer) = local.find_least_weight(&graph.cost, known, effort, &mut report, budget) {
        offer_pruned(graph, answer.choice, incumbent, stop);
        incumbent.offer_proof(answer.proof);
    }
}
