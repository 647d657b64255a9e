//! Local cuts where the relaxation is too large to be solved again and again: the costs are dealt out to parts, and each is tightened
//! on its own.
//!
//! The rows that prove the bound of the relaxation are dealt to overlapping parts ([`crate::deal`]) with what they take of the costs.
//! So the bounds of the parts add up to that of the relaxation, and each cut that raises the bound of a part ([`crate::local_cuts`])
//! raises that of the whole. All rows of all parts with their multipliers are a proof over the whole: together they take no more of a
//! site than it costs.
//!
//! Every part is given a few rounds. Then everything is dealt again, cuts with their multipliers among the rows, to other parts: what
//! lay on a border lies inside, and what was learned late has copies in all. When that gains little the parts become larger, until the
//! last is the whole, and so do the windows of their cuts.
//!
//! Cost: that of the rounds; memory the rows of all parts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::anneal::Random;
use crate::certificate::Row;
use crate::cores::Cores;
use crate::deal::{Binding, deal};
use crate::fixed_point::SCALE;
use crate::graph::Graph;
use crate::incumbent::{Incumbent, Of};
use crate::limits::Budget;
use crate::local_cuts::{DEEP, Resume, Way, neighbors};
use crate::relax::{Ledger, Post, Tight, Weighed};
use crate::repeats::Repeats;
use crate::window::Window;
use crate::workers::side_by_side;

/// So many units of weight are one of cost, as a power of two.
const UNIT: u32 = 20;
/// Rounds between one deal and the next.
const ROUNDS: usize = 3;
/// No halves of sums in parts: their solves take longer than deep windows, and gain less.
const HALVES: usize = 0;
/// After a deal that raises the bound by less than this part, parts are larger.
const LITTLE: i128 = 2000;

struct Part {
    sites: Vec<u32>,
    weights: Vec<u64>,
    /// Rows to begin with.
    rows: Vec<Row>,
    /// The size of its deep windows.
    deep: usize,
    /// The best bound, in units of cost, with what proves it.
    tight: (i128, Weighed),
}

/// Raises what some rows with multipliers prove by parts of about so many sites, and posts it; what is proven at last. `None` where
/// costs are too large to be dealt out.
pub(crate) fn cost_partition<'g>(
    graph: &'g Graph,
    cores: &mut Cores<'g>,
    proof: &Weighed,
    size: usize,
    n_workers: usize,
    incumbent: &Incumbent,
    budget: &mut Budget,
) -> Option<Tight> {
    let sum = graph.cost.iter().try_fold(0_u64, |sum, &it| sum.checked_add(it))?;
    if sum >= 1 << 40 {
        return None;
    }
    let repeats = Repeats::new(graph);
    let (mut rows, mut size) = (proof.clone(), size);
    let mut before = proven(graph, rows.clone());
    let mut random = Random::new(1);
    let mut deep = DEEP[0];
    loop {
        let parts = parts(graph, &rows, size, deep, &mut random);
        // The parts prove a little less than what is dealt, by rounding.
        incumbent.certify((*incumbent.proof()).clone());
        let parts = tighten(graph, cores, parts, &repeats, n_workers, incumbent, budget);
        rows = Arc::new(parts.iter().flat_map(|it| it.tight.1.to_vec()).collect());
        let now = proven(graph, rows.clone());
        let (gain, is_whole) = (now.bound - before.bound, size >= graph.n_sites());
        if now.bound > before.bound {
            // What one part leaves of a cost another may need: together they prove no less than one by one.
            incumbent.certify(now.proof());
            before = now;
        } else {
            rows = before.rows.clone();
        }
        if budget.is_spent() || incumbent.is_proven() {
            break;
        }
        if gain < before.bound / LITTLE {
            if is_whole {
                break;
            }
            size = size.saturating_mul(2);
            deep = (deep * 2).min(DEEP[1]);
        }
    }
    Some(before)
}

/// Raises the bounds of some parts.
fn tighten<'g>(
    graph: &'g Graph,
    cores: &mut Cores<'g>,
    parts: Vec<Part>,
    repeats: &Repeats,
    n_workers: usize,
    incumbent: &Incumbent,
    budget: &mut Budget,
) -> Vec<Part> {
    let entries = parts.iter().map(|it| it.tight.clone()).collect();
    let ledger = Arc::new(Ledger::new(graph.n_sites(), entries));
    incumbent.ask(Of::Relaxation, ledger.clone());
    let jobs: Vec<Mutex<Part>> = parts.into_iter().map(Mutex::new).collect();
    let best = incumbent.best();
    let next = AtomicUsize::new(0);
    let work = |cores: &mut Cores<'g>, budget: &mut Budget| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { break };
            if budget.is_spent() || incumbent.is_proven() {
                break;
            }
            let post = Post::new(&ledger, at, incumbent);
            let mut part = job.lock().unwrap_or_else(PoisonError::into_inner);
            part.tighten(graph, cores, &best, repeats, &post, budget);
        }
    };
    incumbent.crowd(1, || side_by_side(n_workers.min(jobs.len()), cores, budget, work));
    jobs.into_iter().map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The parts with the rows that are dealt to them.
fn parts(
    graph: &Graph,
    proof: &Weighed,
    size: usize,
    deep: usize,
    random: &mut Random,
) -> Vec<Part> {
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
    let rows: Vec<Binding> = (proof.iter().zip(&terms))
        .map(|((_, y), terms)| Binding { terms, y: *y as f64 / one })
        .collect();
    let n = graph.n_sites() as u32;
    let near: Vec<Vec<u32>> = (0..n).map(|s| neighbors(graph, s).collect()).collect();
    let groups = deal(&costs, &rows, &near, size, random);
    let unit = f64::from(1 << UNIT);
    groups
        .into_iter()
        .map(|group| {
            let weighed = group.columns.iter().copied().zip(&group.prices);
            let weighed =
                weighed.map(|(s, price)| (s, (price * unit) as u64)).filter(|it| it.1 > 0);
            let (sites, weights): (Vec<u32>, Vec<u64>) = weighed.unzip();
            let rows: Vec<(Row, i128)> = group.rows.iter().map(|&it| proof[it].clone()).collect();
            let is_inside = |row: &Row| {
                let mut is_inside = true;
                row.for_each(|s, _| is_inside &= sites.binary_search(&s).is_ok());
                is_inside
            };
            let inside = rows.iter().map(|it| &it.0).filter(|it| is_inside(it)).cloned().collect();
            let tight = (bound(&sites, &weights, &rows), Arc::new(rows));
            Part { sites, weights, rows: inside, deep, tight }
        })
        .collect()
}

/// What rows prove of a part, in units of cost; sites outside of it cost nothing there.
fn bound(sites: &[u32], weights: &[u64], rows: &[(Row, i128)]) -> i128 {
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

/// What rows prove of the whole.
fn proven(graph: &Graph, rows: Weighed) -> Tight {
    let mut reduced: Vec<i128> = graph.cost.iter().map(|&it| i128::from(it) << SCALE).collect();
    let mut bound = 0;
    for (row, y) in &*rows {
        bound += y * i128::from(row.least());
        row.for_each(|s, weight| reduced[s as usize] -= y * i128::from(weight));
    }
    bound += reduced.iter().map(|&it| it.min(0)).sum::<i128>();
    Tight { bound, rows, reduced }
}

impl Part {
    fn tighten<'g>(
        &mut self,
        graph: &'g Graph,
        cores: &mut Cores<'g>,
        best: &[bool],
        repeats: &Repeats,
        post: &Post,
        budget: &mut Budget,
    ) {
        if self.sites.is_empty() {
            return;
        }
        let Some(mut window) = Window::new(graph, cores, self.sites.clone()) else { return };
        let known: Vec<bool> = self.sites.iter().map(|&s| best[s as usize]).collect();
        let way = Way {
            weights: &self.weights,
            known: &known,
            n_workers: 1,
            rounds: ROUNDS,
            halves: HALVES,
            repeats,
        };
        let (sites, weights, tight) = (&self.sites, &self.weights, &mut self.tight);
        let mut tell = |it: &Tight| {
            // In units of cost, rounded down.
            let rows = it.rows.iter().map(|(row, y)| (row.clone(), y >> UNIT));
            let rows: Vec<(Row, i128)> = rows.filter(|it| it.1 > 0).collect();
            let bound = bound(sites, weights, &rows);
            if bound > tight.0 {
                *tight = (bound, Arc::new(rows));
                post.enter(bound, &tight.1);
            }
            !post.is_proven()
        };
        let mut resume = Resume::new(std::mem::take(&mut self.rows), self.deep);
        // What was told stays, whatever ended it.
        let _ = window.tighten(&way, &mut resume, &mut tell, budget);
    }
}
