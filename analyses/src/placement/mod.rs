//! Where to insert `reduce_noise` so that a program is legal and the cost is least.
//!
//! [`place`] takes an [`Instance`] and [`Limits`] and returns a [`Placement`]: verified, with a lower bound, and
//! called optimal only when that bound meets its cost. The problem is NP-hard (Paindavoine and Vialla, "Minimizing
//! bootstrappings in FHE"), so the optimizer is *anytime*: a legal answer at once, then better ones, then proof.
//!
//! # Pipeline
//!
//! ```text
//! Instance -> simplify   forced and idle sites, independent parts                  [simplify]
//!          -> greedy     a legal answer per part, without useless sites             [greedy]
//!          -> search     annealing, a million moves a second                        [anneal, state]
//!             beside     bounds and proofs from conflict cores, branch and bound    [exact, cores, compact, highs]
//!          -> verify     by an evaluator that knows none of the above               [evaluate]
//! ```
//!
//! # Laws
//!
//! 1. Every returned placement was found legal by [`evaluate::legal`] on the instance that was given.
//! 2. `lower_bound <= optimum <= cost`, and [`Proof::Optimal`] exactly when the ends meet.
//! 3. No site of a placement is useless: without it alone, the placement is not legal.
//! 4. With a work limit and nothing else the answer is a function of the instance and the limits.
//!
//! What each step is worth is in `docs/placement.md`, with the command that repeats each figure.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "solvers compute in floating point; what they say is recomputed in integers"
)]
#![allow(
    clippy::many_single_char_names,
    clippy::needless_range_loop,
    reason = "v, u, w are nodes, s sites, p and e noise before and after, as in the headers"
)]

mod anneal;
mod board;
pub mod cache;
pub mod certificate;
mod cluster;
mod compact;
mod cores;
pub mod evaluate;
mod exact;
mod graph;
mod greedy;
mod highs;
pub mod instance;
mod limits;
mod relax;
mod search;
mod simplify;
mod state;
mod sweep;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub use self::cache::Cache;
pub use self::certificate::{Certificate, PartCertificate, WeighedCore};
pub use self::instance::{Bits, Instance, Node, NodeData, Rule, Site, SiteData};
pub use self::limits::{Limits, Phase, Progress, Steps};

use crate::extract::gcd;

use self::board::Board;
use self::exact::Budget;
use self::graph::Graph;
use self::limits::Clock;
use self::search::Share;
use self::simplify::{Fixed, Part, simplify};
use self::state::State;

/// A legal choice of sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where to reduce, in increasing order.
    pub sites: Vec<Site>,
    /// The sum of their costs; saturates.
    pub cost: u64,
    /// No legal choice costs less.
    pub lower_bound: u64,
    /// Whether the cost is known to be the least.
    pub proof: Proof,
    /// What proves the bound, or as much of it as cores prove without a solver.
    pub certificate: Certificate,
    /// How it came about.
    pub stats: Stats,
}

/// Whether a placement is the cheapest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Proven: the lower bound meets the cost exactly.
    Optimal,
    /// There may be a cheaper one, but none below the lower bound.
    Gap,
}

/// Figures about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sites of the instance.
    pub sites: usize,
    /// Sites that every legal choice contains.
    pub forced: usize,
    /// Sites that no cheapest choice needs.
    pub idle: usize,
    /// Independent parts left to search.
    pub parts: usize,
    /// Parts proven optimal.
    pub parts_proven: usize,
    /// Sites of the largest part.
    pub largest_part: usize,
    /// Cost of the first legal answer.
    pub greedy_cost: u64,
    /// When the first legal answer was there.
    pub greedy_time: Duration,
    /// Time of the whole run.
    pub time: Duration,
}

/// Why there is no placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// Where the contradiction shows.
    pub node: Node,
    /// What it is.
    pub why: Why,
}

/// Why a node cannot be made legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// With a reduce wherever one can stand the noise here is at least `least` bits, and only `limit` are borne,
    /// by the node itself or by what uses it.
    Over {
        /// The least possible noise, in bits.
        least: Bits,
        /// What is borne, in bits.
        limit: Bits,
    },
    /// A reduce is needed here, and what it leaves is still too much.
    Reset {
        /// Where the reduce is needed.
        site: Site,
        /// What it leaves, in bits.
        reset: Bits,
    },
    /// No choice satisfies this node and those connected with it together.
    Contradiction,
    /// A legal choice may exist, but the limits ended before one was found. Only where a reduce can raise noise.
    NotFound,
    /// The instance names a node or a site that it does not have.
    Malformed,
}

/// The cheapest legal choice of sites that can be found within the limits.
///
/// # Errors
///
/// [`Infeasible`] when no choice is legal, or when the instance is malformed: an operand or a site out of range.
pub fn place(instance: &Instance, limits: &Limits) -> Result<Placement, Infeasible> {
    place_with(instance, limits, &mut |_| ())
}

/// [`place`] with a callback that is told of progress, on the calling thread, at most some twenty times a second
/// and part.
///
/// # Errors
///
/// As [`place`].
pub fn place_with(
    instance: &Instance,
    limits: &Limits,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Placement, Infeasible> {
    well_formed(instance)?;
    let clock = Clock::new(limits);
    let steps = limits.steps;
    let graph = Graph::new(instance);
    let simple = simplify(&graph, vec![Fixed::Open; graph.n_sites()], steps.force, steps.split)?;
    let mut stats = Stats { sites: graph.n_sites(), parts: simple.parts.len(), ..Stats::default() };
    let mut chosen = vec![false; graph.n_sites()];
    let mut base = 0_u64;
    for (s, fixed) in simple.fixed.iter().enumerate() {
        match fixed {
            Fixed::Chosen => {
                chosen[s] = true;
                stats.forced += 1;
                base = base.saturating_add(graph.cost[s]);
            }
            Fixed::Absent => stats.idle += 1,
            Fixed::Open => {}
        }
    }
    let mut parts = Vec::with_capacity(simple.parts.len());
    for part in simple.parts {
        parts.push(Ready::new(part, &clock, limits)?);
    }
    stats.largest_part = parts.iter().map(|part| part.graph.n_sites()).max().unwrap_or(0);
    stats.greedy_cost = parts.iter().fold(base, |acc, part| acc.saturating_add(part.ends().0));
    stats.greedy_time = clock.elapsed();

    let mut sums = Sums::new(base, &parts);
    let mut tell = |phase, (cost, lower_bound)| {
        progress(&Progress { phase, cost, lower_bound, elapsed: clock.elapsed() });
    };
    tell(Phase::Greedy, sums.total());
    // The small ones first: they are proven in moments, and what they leave is for the large.
    let mut by_size: Vec<usize> = (0..parts.len()).collect();
    by_size.sort_by_key(|&i| (parts[i].graph.n_sites(), i));
    let mut open: usize = parts.iter().map(|part| part.graph.n_sites()).sum();
    let mut work = limits.work.unwrap_or(u64::MAX);
    for i in by_size {
        let part = &parts[i];
        let n = part.graph.n_sites();
        let share = share(&clock, work, n, open, steps);
        let mut report = |_: &Board| {
            sums.set(i, part.ends());
            tell(Phase::Search, sums.total());
        };
        let spent = search::solve(&part.graph, &part.board, &clock, share, &mut report);
        work = if work == u64::MAX { work } else { work.saturating_sub(spent) };
        open -= n;
        sums.set(i, part.ends());
    }
    for part in &parts {
        for (&s, c) in part.sites.iter().zip(part.board.best()) {
            chosen[s as usize] = c;
        }
        stats.parts_proven += usize::from(part.board.is_proven());
    }
    let (_, lower) = sums.total();
    let certificate = certificate(&graph, &simple.fixed, &parts);
    let chosen = verified(instance, &graph, chosen)?;
    let cost = graph.cost_of(&chosen);
    let lower_bound = lower.min(cost);
    tell(Phase::Done, (cost, lower_bound));
    stats.time = clock.elapsed();
    Ok(Placement {
        sites: (0..).map(Site).zip(&chosen).filter_map(|(s, c)| c.then_some(s)).collect(),
        cost,
        lower_bound,
        proof: if lower_bound == cost { Proof::Optimal } else { Proof::Gap },
        certificate,
        stats,
    })
}

/// What is forced, and what the cores of each part prove.
fn certificate(graph: &Graph, fixed: &[Fixed], parts: &[Ready]) -> Certificate {
    let mut out = Certificate::default();
    if !cores::is_monotone(graph) {
        return out;
    }
    for (s, _) in fixed.iter().enumerate().filter(|it| *it.1 == Fixed::Chosen) {
        let (sites, cost) = (vec![Site(s as u32)], graph.cost[s]);
        let core = WeighedCore { sites, multiplier: u128::from(cost) << relax::SCALE };
        out.parts.push(PartCertificate { cores: vec![core], grain: cost, bound: cost });
    }
    for part in parts {
        let proof = part.board.proof();
        let weigh = |(core, y): (cores::Core, i128)| {
            let mut sites: Vec<Site> = core.iter().map(|&s| Site(part.sites[s as usize])).collect();
            sites.sort_unstable();
            let multiplier = y.unsigned_abs().saturating_mul(u128::from(part.grain));
            WeighedCore { sites, multiplier }
        };
        out.parts.push(PartCertificate {
            cores: proof.cores.into_iter().map(weigh).collect(),
            grain: part.grain,
            bound: proof.bound.saturating_mul(part.grain),
        });
    }
    out
}

/// The one place where a dangling index is met.
fn well_formed(instance: &Instance) -> Result<(), Infeasible> {
    let (n_nodes, n_sites) = (instance.nodes.len(), instance.sites.len());
    for (v, data) in instance.nodes.iter().enumerate() {
        let (first, n) = (data.first_operand as usize, data.n_operands as usize);
        let operands = instance.operands.get(first..first.saturating_add(n));
        let fine = operands.is_some_and(|list| list.iter().all(|u| (u.0 as usize) < n_nodes))
            && data.site.is_none_or(|s| (s.0 as usize) < n_sites);
        if !fine {
            return Err(Infeasible { node: Node(v as u32), why: Why::Malformed });
        }
    }
    Ok(())
}

/// A part with a legal choice.
struct Ready {
    graph: Arc<Graph>,
    board: Arc<Board>,
    /// Its sites in the whole.
    sites: Vec<u32>,
    /// All costs of the part are multiples of this, and are counted in it.
    grain: u64,
}

impl Ready {
    fn new(mut part: Part, clock: &Clock, limits: &Limits) -> Result<Ready, Infeasible> {
        let grain = part.instance.sites.iter().fold(0, |grain, site| gcd(grain, site.cost)).max(1);
        for site in &mut part.instance.sites {
            site.cost /= grain;
        }
        let graph = Graph::new(&part.instance);
        let first = match greedy::greedy(&graph) {
            Some(chosen) => chosen,
            None => ask_solver(&graph, &part, clock, limits)?,
        };
        let mut state = State::new(&graph, first);
        if limits.steps.prune {
            greedy::prune(&graph, &mut state);
        }
        let board = Board::new(state.cost, state.chosen);
        Ok(Ready { graph: Arc::new(graph), board: Arc::new(board), sites: part.sites, grain })
    }
}

impl Ready {
    /// Cost and bound, in units of the whole.
    fn ends(&self) -> (u64, u64) {
        let whole = |it: u64| it.saturating_mul(self.grain);
        (whole(self.board.upper()), whole(self.board.lower()))
    }
}

/// A legal choice where the cheap ways find none, which takes sites that can raise noise.
fn ask_solver(
    graph: &Graph,
    part: &Part,
    clock: &Clock,
    limits: &Limits,
) -> Result<Vec<bool>, Infeasible> {
    let stop = || clock.is_over();
    let budget = Budget { stop: &stop, left: limits.work.unwrap_or(u64::MAX), steps: limits.steps };
    let node = part.nodes.iter().copied().find(|&v| v != graph::NONE).unwrap_or(0);
    let err = |why| Err(Infeasible { node: Node(node), why });
    match exact::any_legal(graph, &budget) {
        exact::Found::Choice(chosen) => Ok(chosen),
        exact::Found::None => err(Why::Contradiction),
        exact::Found::Unknown => err(Why::NotFound),
    }
}

/// What a part may use of what is left: in proportion to its size, and never all before the last.
fn share(clock: &Clock, work: u64, n: usize, open: usize, steps: Steps) -> Share {
    let part = |of: f64| of * n as f64 / open.max(1) as f64;
    let end = clock.end.map(|end| {
        let now = std::time::Instant::now();
        let left = end.saturating_duration_since(now).as_secs_f64();
        if n == open { end } else { now + Duration::from_secs_f64(part(left)) }
    });
    let work = if work == u64::MAX || n == open { work } else { part(work as f64) as u64 };
    Share { work, end, steps }
}

/// Costs and bounds of the parts and their sums.
struct Sums {
    base: u64,
    parts: Vec<(u64, u64)>,
    /// Exact, so that parts can be taken out again.
    cost: u128,
    lower: u128,
}

impl Sums {
    fn new(base: u64, parts: &[Ready]) -> Sums {
        let parts: Vec<(u64, u64)> = parts.iter().map(Ready::ends).collect();
        let cost = parts.iter().map(|part| u128::from(part.0)).sum();
        let lower = parts.iter().map(|part| u128::from(part.1)).sum();
        Sums { base, parts, cost, lower }
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

/// The choice without useless sites, found legal on the instance as it was given.
fn verified(
    instance: &Instance,
    graph: &Graph,
    mut chosen: Vec<bool>,
) -> Result<Vec<bool>, Infeasible> {
    let mut state = State::new(graph, chosen.clone());
    if state.is_legal() {
        loop {
            let before = state.cost;
            greedy::prune(graph, &mut state);
            if state.cost == before {
                break;
            }
        }
        chosen = state.chosen;
    }
    match evaluate::first_over(instance, &chosen) {
        None => Ok(chosen),
        Some(node) => {
            debug_assert!(false, "an answer for {node:?} that is not legal");
            // Too much is better than wrong.
            let all = vec![true; graph.n_sites()];
            let legal = evaluate::legal(instance, &all);
            if legal { Ok(all) } else { Err(Infeasible { node, why: Why::NotFound }) }
        }
    }
}
