//! Local cuts for relaxations that are too large for repeated solves: costs are partitioned among
//! parts, and each part is tightened separately.
//!
//! The rows that prove the bound of the relaxation are assigned to overlapping parts
//! ([`crate::bound::cost_shares`]) with their shares of the costs. So the bounds of the parts add
//! up to the bound of the relaxation, and each cut that raises the bound of a part
//! ([`crate::bound::local_cuts`]) raises the bound of the whole. The rows of all parts with their
//! multipliers are a proof for the whole, because together they use at most the cost of each site.
//!
//! Every part gets a few rounds. Then all rows, including cuts, are partitioned again into other
//! parts, so that rows at a border of parts come inside, and late cuts are copied everywhere. When
//! a partition gains little, parts and local problems become larger, until the last part is the
//! whole.
//!
//! Cost: the rounds. Memory: the rows of all parts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::bound::cores::CoreSeparator;
use crate::bound::cost_shares::{BindingRow, share_costs};
use crate::bound::cut_patterns::CutPatterns;
use crate::bound::local_cuts::{CutProgress, CutSettings, LOCAL_SIZES, neighbors};
use crate::bound::local_problem::LocalProblem;
use crate::bound::relax::{BoundLedger, DualBound, LedgerEntry, WeightedRows};
use crate::bound::workers::{n_workers, run_on_workers};
use crate::certificate::{ProofRow, SCALE};
use crate::question::graph::NoiseGraph;
use crate::question::limits::EffortBudget;
use crate::random::Random;
use crate::search::incumbent::{Incumbent, SourceKind};

/// Binary logarithm of the number of units of weight per unit of cost.
const UNIT: u32 = 20;
/// Rounds of cuts between two partitions.
const ROUNDS: usize = 3;
/// Attempts at zero-half cuts in parts. None, because their solves take longer than grown local
/// problems, and gain less.
const HALVES: usize = 0;
/// Parts become larger after a partition that raises the bound by less than
/// `bound / MIN_GAIN_DIVISOR`.
const MIN_GAIN_DIVISOR: i128 = 2000;

struct CostShare {
    sites: Vec<u32>,
    weights: Vec<u64>,
    /// Initial rows.
    rows: Vec<ProofRow>,
    /// The size of grown local problems in this part.
    local_size: usize,
    /// The best bound, in units of cost, with its proof.
    dual: (i128, WeightedRows),
}

/// Raises a bound with parts of about `size` sites, and offers it to the incumbent. Returns the
/// last bound. `None` if costs are too large to be partitioned.
pub(crate) fn cost_partition(
    cores: &mut CoreSeparator,
    proof: &WeightedRows,
    size: usize,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) -> Option<DualBound> {
    let graph = cores.graph;
    let sum = graph.cost.iter().try_fold(0_u64, |sum, &it| sum.checked_add(it))?;
    if sum >= 1 << 40 {
        return None;
    }
    let repeats = CutPatterns::new(graph);
    let (mut rows, mut size) = (proof.clone(), size);
    let mut before = DualBound::new(graph, rows.clone());
    let mut random = Random::new(1);
    let mut deep = LOCAL_SIZES[0];
    loop {
        let parts = partition_costs(graph, &rows, size, deep, &mut random);
        // Because of rounding, the parts prove slightly less than the whole did, so its proof is
        // stored first.
        incumbent.offer_proof((*incumbent.proof()).clone());
        let parts = tighten(cores, parts, &repeats, incumbent, budget);
        rows = Arc::new(parts.iter().flat_map(|it| it.dual.1.to_vec()).collect());
        let now = DualBound::new(graph, rows.clone());
        let (gain, is_whole) = (now.bound - before.bound, size >= graph.n_sites());
        if now.bound > before.bound {
            // Together the rows prove at least the sum of the bounds, because one part may use cost
            // that another part does not need.
            incumbent.offer_proof(now.proof());
            before = now;
        } else {
            rows = before.rows.clone();
        }
        if budget.is_spent() || incumbent.is_proven() {
            break;
        }
        if gain < before.bound / MIN_GAIN_DIVISOR {
            if is_whole {
                break;
            }
            size = size.saturating_mul(2);
            deep = (deep * 2).min(LOCAL_SIZES[1]);
        }
    }
    Some(before)
}

/// Tightens all parts.
fn tighten(
    cores: &mut CoreSeparator,
    parts: Vec<CostShare>,
    repeats: &CutPatterns,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) -> Vec<CostShare> {
    let entries = parts.iter().map(|it| it.dual.clone()).collect();
    let ledger = Arc::new(BoundLedger::new(cores.graph.n_sites(), entries));
    incumbent.set_source(SourceKind::Relaxation, ledger.clone());
    let jobs: Vec<Mutex<CostShare>> = parts.into_iter().map(Mutex::new).collect();
    let best = incumbent.best();
    let next = AtomicUsize::new(0);
    let work = |cores: &mut CoreSeparator, budget: &mut EffortBudget| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { break };
            if budget.is_spent() || incumbent.is_proven() {
                break;
            }
            let post = LedgerEntry::new(&ledger, at, incumbent);
            let mut part = job.lock().unwrap_or_else(PoisonError::into_inner);
            part.tighten(cores, &best, repeats, &post, budget);
        }
    };
    incumbent.with_sleeping_search(1, || {
        run_on_workers(n_workers(budget).min(jobs.len()), cores, budget, work);
    });
    jobs.into_iter().map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Returns a partition of rows and costs among parts.
fn partition_costs(
    graph: &NoiseGraph,
    proof: &WeightedRows,
    size: usize,
    deep: usize,
    random: &mut Random,
) -> Vec<CostShare> {
    let costs: Vec<f64> = graph.cost.iter().map(|&it| it as f64).collect();
    let one = (1_u64 << SCALE) as f64;
    let terms: Vec<Vec<(u32, u64)>> = proof
        .iter()
        .map(|(row, _)| {
            let mut terms = Vec::new();
            row.for_each(|s, weight| terms.push((s, weight)));
            terms
        })
        .collect();
    let rows: Vec<BindingRow> = (proof.iter().zip(&terms))
        .map(|((_, y), terms)| BindingRow { terms, y: *y as f64 / one })
        .collect();
    let n = graph.n_sites() as u32;
    let near: Vec<Vec<u32>> = (0..n).map(|s| neighbors(graph, s).collect()).collect();
    let groups = share_costs(&costs, &rows, &near, size, random);
    let unit = f64::from(1 << UNIT);
    groups
        .into_iter()
        .map(|group| {
            let weighed = group.columns.iter().copied().zip(&group.shares);
            let weighed =
                weighed.map(|(s, price)| (s, (price * unit) as u64)).filter(|it| it.1 > 0);
            let (sites, weights): (Vec<u32>, Vec<u64>) = weighed.unzip();
            let rows: Vec<(ProofRow, i128)> =
                group.rows.iter().map(|&it| proof[it].clone()).collect();
            let is_inside = |row: &ProofRow| {
                let mut is_inside = true;
                row.for_each(|s, _| is_inside &= sites.binary_search(&s).is_ok());
                is_inside
            };
            let inside = rows.iter().map(|it| &it.0).filter(|it| is_inside(it)).cloned().collect();
            let dual = (bound(&sites, &weights, &rows), Arc::new(rows));
            CostShare { sites, weights, rows: inside, local_size: deep, dual }
        })
        .collect()
}

/// Returns the bound that rows prove for a part, in units of cost. Sites outside of the part have
/// cost 0.
fn bound(sites: &[u32], weights: &[u64], rows: &[(ProofRow, i128)]) -> i128 {
    let mut left: std::collections::BTreeMap<u32, i128> = sites
        .iter()
        .zip(weights)
        .map(|(&s, &weight)| (s, i128::from(weight) << (SCALE - UNIT)))
        .collect();
    let mut bound = 0;
    for (row, y) in rows {
        bound += y * i128::from(row.least());
        row.for_each(|s, weight| *left.entry(s).or_default() -= y * i128::from(weight));
    }
    bound + left.values().map(|&it| it.min(0)).sum::<i128>()
}

impl CostShare {
    fn tighten(
        &mut self,
        cores: &mut CoreSeparator,
        best: &[bool],
        repeats: &CutPatterns,
        post: &LedgerEntry,
        budget: &mut EffortBudget,
    ) {
        if self.sites.is_empty() {
            return;
        }
        let Some(mut local) = LocalProblem::new(cores, self.sites.clone()) else { return };
        let known: Vec<bool> = self.sites.iter().map(|&s| best[s as usize]).collect();
        let settings = CutSettings {
            weights: &self.weights,
            known: &known,
            n_workers: 1,
            rounds: ROUNDS,
            zero_half_attempts: HALVES,
            patterns: repeats,
        };
        let (sites, weights, dual) = (&self.sites, &self.weights, &mut self.dual);
        let mut tell = |it: &DualBound| {
            // Multipliers in units of cost, rounded down.
            let rows = it.rows.iter().map(|(row, y)| (row.clone(), y >> UNIT));
            let rows: Vec<(ProofRow, i128)> = rows.filter(|it| it.1 > 0).collect();
            let bound = bound(sites, weights, &rows);
            if bound > dual.0 {
                *dual = (bound, Arc::new(rows));
                post.enter(bound, &dual.1);
            }
            !post.is_proven()
        };
        let mut progress = CutProgress::new(std::mem::take(&mut self.rows), self.local_size);
        // The entered bounds stay valid even if the tightening ends early.
        let _ = local.tighten(&settings, &mut progress, &mut tell, budget);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::relax::relax;
    use crate::certificate::ceil_cost;
    use crate::programs::multiplier;
    use crate::question::limits::{EnabledSteps, PlacementLimits};

    #[test]
    fn parts_prove_more_than_the_relaxation() {
        let instance = multiplier(6);
        let graph = NoiseGraph::new(&instance);
        let all = vec![true; graph.n_sites()];
        let limits =
            PlacementLimits { work: Some(60_000_000), time: None, ..PlacementLimits::default() };
        let best = crate::place(&instance, &limits).unwrap();
        let incumbent = Incumbent::new(graph.cost_of(&all), all);
        let mut cores = CoreSeparator::new(&graph);
        let stop = || false;
        let mut budget =
            EffortBudget { stop: &stop, remaining: 30_000_000, steps: EnabledSteps::default() };
        let relaxed = relax(&mut cores, &incumbent, &mut budget).unwrap();
        assert!(relaxed.is_complete);
        let dual = relaxed.dual_bound();
        let parts = cost_partition(&mut cores, &dual.rows, 40, &incumbent, &mut budget).unwrap();
        assert!(parts.bound > dual.bound, "{} of {}", parts.bound, dual.bound);
        assert!(ceil_cost(parts.bound) <= best.cost);
        assert!(incumbent.lower() >= ceil_cost(parts.bound));
        // The proof contains the cuts.
        let proof = incumbent.proof();
        assert_eq!(proof.bound, incumbent.lower());
        assert!(proof.rows.iter().any(|it| matches!(it, ProofRow::Cut(_))));
    }
}
