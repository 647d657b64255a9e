//! The complete optimizer: it simplifies the instance, finds a legal choice for each part, searches
//! and proves part by part, and verifies the result.

mod answer;
mod time_share;

use std::time::{Duration, Instant};

use crate::certificate::{Certificate, Proof, ProofRow, SCALE};
use crate::question::evaluate;
use crate::question::graph::NoiseGraph;
use crate::question::infeasible::{Infeasible, InfeasibleReason};
use crate::question::instance::{Instance, Node, Site};
use crate::question::limits::{
    EffortBudget, EnabledSteps, PlacementLimits, PlacementPhase, PlacementProgress, RunClock,
};
use crate::question::simplify::{SiteDecision, simplify};
use crate::search::greedy;
use crate::search::incumbent::Incumbent;
use crate::search::state::ChoiceState;
use crate::search::subproblem::Subproblem;

use self::time_share::EffortShare;

pub use self::answer::{Optimality, Placement, PlacementStats};

/// Computes a legal choice of sites that is as cheap as possible within the limits.
///
/// # Errors
///
/// [`Infeasible`] if no choice is legal, or if the instance is malformed: an operand or a site out
/// of range.
pub fn place(instance: &Instance, limits: &PlacementLimits) -> Result<Placement, Infeasible> {
    place_with(instance, limits, &mut |_| ())
}

/// Like [`place`], with a callback for progress. It is called on the calling thread, for each part
/// at most about twenty times per second.
///
/// # Errors
///
/// The same as for [`place`].
pub fn place_with(
    instance: &Instance,
    limits: &PlacementLimits,
    progress: &mut dyn FnMut(&PlacementProgress),
) -> Result<Placement, Infeasible> {
    check_indices(instance)?;
    let clock = RunClock::new(limits);
    let mut steps = limits.steps;
    let graph = NoiseGraph::new(instance);
    // A verifier repeats the sweep on the given instance, so the whole instance must be acyclic.
    steps.frontier_dp &= !graph.is_cyclic;
    let simple =
        simplify(&graph, vec![SiteDecision::Open; graph.n_sites()], steps.force, steps.split)?;
    let mut stats = PlacementStats {
        n_sites: graph.n_sites(),
        n_parts: simple.parts.len(),
        ..PlacementStats::default()
    };
    let mut chosen = vec![false; graph.n_sites()];
    let mut base = 0_u64;
    for (s, fixed) in simple.fixed.iter().enumerate() {
        match fixed {
            SiteDecision::Chosen => {
                chosen[s] = true;
                stats.n_forced += 1;
                base = base.saturating_add(graph.cost[s]);
            }
            SiteDecision::Absent => stats.n_idle += 1,
            SiteDecision::Open => {}
        }
    }
    let mut parts = Vec::with_capacity(simple.parts.len());
    let is_over = || clock.is_over();
    let work = limits.work.unwrap_or(u64::MAX);
    let budget = EffortBudget { stop: &is_over, remaining: work, steps };
    for part in simple.parts {
        parts.push(Subproblem::new(part, &budget)?);
    }
    stats.n_largest_part_sites = parts.iter().map(|part| part.graph.n_sites()).max().unwrap_or(0);
    stats.greedy_cost =
        parts.iter().fold(base, |acc, part| acc.saturating_add(part.cost_and_bound().0));
    stats.greedy_time = clock.elapsed();

    let mut sums = PartSums::new(base, &parts);
    let mut tell = |phase, (cost, lower_bound)| {
        progress(&PlacementProgress { phase, cost, lower_bound, elapsed: clock.elapsed() });
    };
    tell(PlacementPhase::Greedy, sums.total());
    let mut work = limits.work.unwrap_or(u64::MAX);
    // Parts that are proven early leave effort for the others, so there are several rounds, until
    // all parts are proven or the limits are reached.
    for round in 0.. {
        // Small parts come first: they are proven quickly and leave their share to the large ones.
        let is_open = |part: &Subproblem| !part.incumbent.is_proven();
        let mut by_size: Vec<usize> = (0..parts.len()).filter(|&i| is_open(&parts[i])).collect();
        by_size.sort_by_key(|&i| (parts[i].graph.n_sites(), i));
        let mut open: usize = by_size.iter().map(|&i| parts[i].graph.n_sites()).sum();
        let n_open = by_size.len();
        let (before, work_before) = (sums.total(), work);
        for i in by_size {
            let part = &parts[i];
            let n = part.graph.n_sites();
            // The first round is short: it suffices for many parts, and an interrupted proof starts
            // again.
            let is_taste = round == 0 && n_open > 1;
            let mut steps = steps;
            // The verifier also requires that no site has two nodes in the instance, even if only
            // one of them is in the part.
            steps.frontier_dp &= part.sites.iter().all(|&s| graph.nodes_of.of(s).len() == 1);
            let share =
                EffortShare { round, ..effort_share(&clock, work, n, open, is_taste, steps) };
            let mut report = |_: &Incumbent| {
                sums.set(i, part.cost_and_bound());
                tell(PlacementPhase::Search, sums.total());
            };
            let spent = time_share::solve(&part.graph, &part.incumbent, &clock, share, &mut report);
            work = if work == u64::MAX { work } else { work.saturating_sub(spent) };
            open -= n;
            sums.set(i, part.cost_and_bound());
        }
        let is_over = clock.is_over() || work == 0 || parts.iter().all(|it| !is_open(it));
        let is_idle =
            sums.total() == before && (!steps.anneal || work_before == work && work < u64::MAX);
        if is_over || is_idle {
            break;
        }
    }
    for part in &parts {
        for (&s, c) in part.sites.iter().zip(part.incumbent.best()) {
            chosen[s as usize] = c;
        }
        stats.n_proven_parts += usize::from(part.incumbent.is_proven());
    }
    let certificate = certificate(&graph, &simple.fixed, &parts);
    // An interrupted search may leave useless sites. The time for their removal is limited too.
    let last = clock.end.map(|_| Instant::now() + MAX_PRUNING_TIME);
    let is_late = || last.is_some_and(|last| Instant::now() >= last);
    let chosen = verified(instance, &graph, chosen, &is_late)?;
    let cost = graph.cost_of(&chosen);
    // The certificate may prove less than the search claimed.
    let lower_bound = certificate.bound().min(cost);
    tell(PlacementPhase::Done, (cost, lower_bound));
    stats.time = clock.elapsed();
    Ok(Placement {
        sites: (0..).map(Site).zip(&chosen).filter_map(|(s, c)| c.then_some(s)).collect(),
        cost,
        lower_bound,
        proof: if lower_bound == cost { Optimality::Optimal } else { Optimality::Gap },
        certificate,
        stats,
    })
}

/// Combines the proofs of the forced sites and of all parts.
fn certificate(graph: &NoiseGraph, fixed: &[SiteDecision], parts: &[Subproblem]) -> Certificate {
    let mut out = Certificate::default();
    for (s, _) in fixed.iter().enumerate().filter(|it| *it.1 == SiteDecision::Chosen) {
        let core = (ProofRow::Core([s as u32].into()), 1 << SCALE);
        out.parts.push(Proof::from_multipliers(
            vec![s as u32],
            std::iter::once(core),
            graph.cost[s],
        ));
    }
    for part in parts {
        let proof = part.incumbent.proof();
        if proof.bound > 0 {
            out.parts.push(proof.renumbered(&part.sites, &part.nodes, part.cost_unit));
        }
    }
    out
}

/// Checks that all indices are in range. All other code relies on this check.
fn check_indices(instance: &Instance) -> Result<(), Infeasible> {
    let (n_nodes, n_sites) = (instance.nodes.len(), instance.sites.len());
    for (v, data) in instance.nodes.iter().enumerate() {
        let (first, n) = (data.first_operand as usize, data.n_operands as usize);
        let operands = instance.operands.get(first..first.saturating_add(n));
        let fine = operands.is_some_and(|list| list.iter().all(|u| (u.0 as usize) < n_nodes))
            && data.site.is_none_or(|s| (s.0 as usize) < n_sites);
        if !fine {
            return Err(Infeasible { node: Node(v as u32), reason: InfeasibleReason::Malformed });
        }
    }
    Ok(())
}

/// Returns the share of a part in the remaining effort. It is proportional to the size of the part;
/// only the last part gets everything. If `is_taste`, an eighth of that.
fn effort_share(
    clock: &RunClock,
    work: u64,
    n: usize,
    open: usize,
    is_taste: bool,
    steps: EnabledSteps,
) -> EffortShare {
    let factor = if is_taste { 0.125 } else { 1.0 };
    let part = |of: f64| of * factor * n as f64 / open.max(1) as f64;
    let is_all = n == open && !is_taste;
    let end = clock.end.map(|end| {
        let now = Instant::now();
        let left = end.saturating_duration_since(now).as_secs_f64();
        if is_all { end } else { now + Duration::from_secs_f64(part(left)) }
    });
    let work = if work == u64::MAX || is_all { work } else { part(work as f64) as u64 };
    EffortShare { work, end, steps, round: 0 }
}

/// The costs and bounds of all parts, and their sums.
struct PartSums {
    base: u64,
    parts: Vec<(u64, u64)>,
    /// The sums are exact in 128 bits, so that parts can be subtracted.
    cost: u128,
    lower: u128,
}

impl PartSums {
    fn new(base: u64, parts: &[Subproblem]) -> PartSums {
        let parts: Vec<(u64, u64)> = parts.iter().map(Subproblem::cost_and_bound).collect();
        let cost = parts.iter().map(|part| u128::from(part.0)).sum();
        let lower = parts.iter().map(|part| u128::from(part.1)).sum();
        PartSums { base, parts, cost, lower }
    }

    fn set(&mut self, i: usize, (cost, lower): (u64, u64)) {
        let (old_cost, old_lower) = std::mem::replace(&mut self.parts[i], (cost, lower));
        self.cost = self.cost - u128::from(old_cost) + u128::from(cost);
        self.lower = self.lower - u128::from(old_lower) + u128::from(lower);
    }

    fn total(&self) -> (u64, u64) {
        let with_base = |sum: u128| {
            u64::try_from(sum.saturating_add(u128::from(self.base))).unwrap_or(u64::MAX)
        };
        (with_base(self.cost), with_base(self.lower))
    }
}

/// Maximum time for the removal of useless sites at the end, if time is limited.
const MAX_PRUNING_TIME: Duration = Duration::from_millis(250);

/// Removes useless sites, and checks the choice on the given instance.
fn verified(
    instance: &Instance,
    graph: &NoiseGraph,
    mut chosen: Vec<bool>,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<bool>, Infeasible> {
    let mut state = ChoiceState::new(graph, chosen.clone());
    if state.is_legal() {
        loop {
            let before = state.cost;
            greedy::prune(graph, &mut state, stop);
            if state.cost == before {
                break;
            }
        }
        chosen = state.chosen;
    }
    match evaluate::first_over_limit(instance, &chosen) {
        None => Ok(chosen),
        Some(node) => {
            debug_assert!(false, "an answer for {node:?} that is not legal");
            // An expensive answer is better than a wrong one.
            let all = vec![true; graph.n_sites()];
            let legal = evaluate::is_legal(instance, &all);
            if legal {
                Ok(all)
            } else {
                Err(Infeasible { node, reason: InfeasibleReason::NotFound })
            }
        }
    }
}
