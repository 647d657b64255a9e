//! Bounds and proofs for one part: the relaxation over conflict cores, what it fixes, and branch and bound.
//!
//! Phases:
//!
//! 1. *Relaxation* ([`crate::relax`]): a bound, reduced costs, and the cores that matter.
//! 2. *Fixing.* A site whose reduced cost lifts the bound to the incumbent cannot differ in a better choice. Fix
//!    all such, simplify what is left, and start over on its parts.
//! 3. *Sweep.* A program that is narrow in some order is decided by dynamic programming ([`crate::frontier_dp`]).
//! 4. *Local cuts* ([`crate::local_cuts`]) while they raise the bound; in parts where the program is large ([`crate::cost_partition`]).
//! 5. *Branch and bound* over cores ([`crate::branch`]), more of which are found on the way.
//!
//! Law kept: what is posted as a bound has a proof, whatever was interrupted.
//!
//! Source of the idea: implicit hitting sets as in `MaxSAT` (Davies, Bacchus) with the cores of this problem.

use std::sync::{Arc, Mutex, PoisonError};

use crate::branch::Effort;
use crate::certificate::{Proof, Row, Step, numbered};
use crate::compact;
use crate::cores::Cores;
use crate::cost_partition::cost_partition;
use crate::fixed_point::{SCALE, ceil_cost};
use crate::frontier_dp::{Frontier, Outcome, Terms, frontier_dp};
use crate::graph::{Graph, NONE};
use crate::greedy;
use crate::incumbent::{Incumbent, Of, Source};
use crate::instance::Bits;
use crate::levels::{beyond_all_limits, least_solution};
use crate::limits::Budget;
use crate::local_cuts::{DEEP, Resume, Way};
use crate::piece::Piece;
use crate::relax::{Tight, Weighed, relax};
use crate::repeats::Repeats;
use crate::shared_tree::{Question, shared_tree};
use crate::simplify::{Fixed, simplify};
use crate::state::State;
use crate::walk::walk_for;
use crate::window::Window;
use crate::workers::workers;

/// Proves what it can about a graph and posts bounds and better choices on the incumbent.
pub(crate) fn prove(graph: &Graph, incumbent: &Arc<Incumbent>, budget: &mut Budget) {
    if budget.steps.cores {
        by_cores(graph, Cores::new(graph), incumbent, budget);
    } else {
        by_rows(graph, incumbent, budget);
    }
}

/// A choice from the compact model, solved once. It proves no bound.
fn by_rows(graph: &Graph, incumbent: &Incumbent, budget: &mut Budget) {
    if !budget.steps.branch {
        return;
    }
    let (mip, _) = compact::rows(graph);
    let best = incumbent.best();
    let state = State::new(graph, best);
    let start: Vec<f64> = (state.chosen.iter().map(|&c| f64::from(u8::from(c))))
        .chain(state.e.iter().map(|&e| f64::from(e)))
        .collect();
    let start = state.is_legal().then_some(&start[..]);
    let Ok(answer) = mip.solve(start, &budget.for_solver(graph.n_sites())) else { return };
    budget.spend_iterations(answer.iterations, graph.n_sites());
    if let Some(values) = &answer.values {
        offer(graph, compact::choice(graph, values), incumbent, budget.stop);
    }
}

/// Offers a choice made by rounding, if it is legal, without what it does not need.
fn offer(graph: &Graph, mut chosen: Vec<bool>, incumbent: &Incumbent, stop: &dyn Fn() -> bool) {
    // Where every chosen site does what is lower, those that lower nothing may go.
    let n = graph.n_nodes();
    let (mut p, mut e) = (vec![0; n], vec![0; n]);
    let most = beyond_all_limits(graph);
    let after = |v: u32, p: Bits| match graph.site[v as usize] {
        s if s != NONE && chosen[s as usize] => p.min(graph.reset[s as usize]),
        _ => p,
    };
    least_solution(graph, &mut p, &mut e, |_, p| p.min(most), after);
    for (s, chosen) in chosen.iter_mut().enumerate() {
        let lowers = |&v: &u32| graph.reset[s] < p[v as usize];
        *chosen &= graph.nodes_of.of(s as u32).iter().any(lowers);
    }
    let mut state = State::new(graph, chosen);
    if state.is_legal() {
        greedy::prune(graph, &mut state, stop);
        incumbent.offer(state.cost, &state.chosen);
    }
}

fn by_cores<'g>(
    graph: &'g Graph,
    mut cores: Cores<'g>,
    incumbent: &Arc<Incumbent>,
    budget: &mut Budget,
) {
    let Some(relaxed) = relax(graph, &mut cores, incumbent, budget) else { return };
    if incumbent.is_proven() || budget.is_spent() {
        return;
    }
    let mut tight = relaxed.tight();
    if budget.steps.fix && fix(graph, &tight, 10, incumbent, budget) {
        return;
    }
    // A little of each, then much of each: either may decide at once where the other never ends. What is narrow is decided at once.
    let frontier = budget.steps.frontier_dp.then(|| Frontier::new(graph, cores.levels()));
    let is_narrow = frontier.as_ref().is_some_and(|it| it.bits <= NARROW);
    let is_small = graph.n_sites() <= SMALL;
    let few = if graph.n_sites() <= TREE_FIRST { FEW_NODES } else { FEW_NODES / 8 };
    let mut rows = relaxed.binding();
    for (states, nodes) in
        [(if is_narrow { MOST_STATES } else { FEW_STATES }, few), (MOST_STATES, usize::MAX)]
    {
        if nodes > few && (relaxed.complete || !is_small) && budget.steps.cuts {
            let done = tighten(graph, &mut cores, rows, tight, incumbent, budget);
            let Some(it) = done else { return };
            (rows, tight) = it;
        }
        if let Some(frontier) = &frontier
            && narrow(graph, &cores, &tight, frontier, states, incumbent, budget)
        {
            return;
        }
        let is_little = graph.n_sites() > TREE_FIRST && nodes == few && budget.steps.cuts;
        if relaxed.complete && budget.steps.branch && !budget.is_spent() && !is_little {
            branch(graph, &mut cores, &rows, nodes, incumbent, budget);
        }
        if incumbent.is_proven() || budget.is_spent() {
            return;
        }
    }
    // In a loop a core can hide. The compact model may still find a better choice.
    if graph.cyclic && !incumbent.is_proven() && !budget.is_spent() {
        by_rows(graph, incumbent, budget);
    }
}

/// Phase 4: local cuts; the rows that matter then and what they prove. `None` when all is said.
fn tighten<'g>(
    graph: &'g Graph,
    cores: &mut Cores<'g>,
    rows: Vec<Row>,
    tight: Tight,
    incumbent: &Arc<Incumbent>,
    budget: &mut Budget,
) -> Option<(Vec<Row>, Tight)> {
    let n_workers = workers(budget);
    if graph.n_sites() > SMALL {
        let it = cost_partition(graph, cores, &tight.rows, PART, n_workers, incumbent, budget);
        let tight = it.unwrap_or(tight);
        let is_over = incumbent.is_proven() || budget.is_spent();
        let is_done = is_over || budget.steps.fix && fix(graph, &tight, 10, incumbent, budget);
        return (!is_done).then_some((rows, tight));
    }
    if exceeds_floats(graph) {
        return Some((rows, tight));
    }
    let sites: Vec<u32> = (0..graph.n_sites() as u32).collect();
    let mut tight = tight;
    let repeats = Repeats::new(graph);
    let mut resume = Resume::new(rows, DEEP[0]);
    let (mut nodes, mut shared) = (FEW_NODES, SHARED_NODES);
    while !resume.is_done() {
        let known = incumbent.best();
        let way = Way {
            weights: &graph.cost,
            known: &known,
            n_workers,
            rounds: ROUNDS,
            halves: HALVES,
            repeats: &repeats,
        };
        let mut window = Window::new(graph, cores, sites.clone())?;
        let mut tell = |it: &Tight| {
            tight = it.clone();
            if ceil_cost(it.bound) > incumbent.lower() {
                incumbent.certify(it.proof());
            }
            !incumbent.is_proven()
        };
        window.tighten(&way, &mut resume, &mut tell, budget)?;
        // Where much is settled what is left is another, smaller question.
        let is_over = incumbent.is_proven() || budget.is_spent();
        if is_over || budget.steps.fix && fix(graph, &tight, 3, incumbent, budget) {
            return None;
        }
        // Near the end a tree may do what many more cuts do not.
        let gap = (i128::from(incumbent.upper()) << SCALE) - tight.bound;
        if gap < (1 << SCALE) + tight.bound / NEAR && budget.steps.branch {
            branch(graph, cores, resume.rows(), nodes, incumbent, budget);
            nodes *= 2;
        } else if resume.is_slow() && budget.steps.branch {
            let (rows, basis, known) = (resume.rows(), resume.basis(), incumbent.best());
            let question = Question { graph, rows, basis, known, nodes: shared, n_workers };
            let tell = |proof| incumbent.certify(proof);
            let mut found = None;
            incumbent.crowd(RESTS, || found = shared_tree(question, cores, &tell, budget));
            resume.learn(found.unwrap_or_default());
            shared *= 2;
        }
        if incumbent.is_proven() || budget.is_spent() {
            return None;
        }
    }
    Some((resume.into_rows(), tight))
}

/// What has more sites is tightened in parts of about so many.
const SMALL: usize = 2500;
const PART: usize = 1500;
/// Rounds of cuts between attempts to settle sites, and to branch where the gap is less than a part; looks for halves in each round.
const ROUNDS: usize = 4;
const HALVES: usize = 12;
const NEAR: i128 = 100;
/// Rests of a walk for each of its turns while threads share a tree: by then it finds next to nothing.
const RESTS: u32 = 7;
/// Nodes that threads share where rounds gain little, at the first attempt.
const SHARED_NODES: usize = 48;

/// Beyond this a solver in floating point cannot tell costs apart.
fn exceeds_floats(graph: &Graph) -> bool {
    graph.cost.iter().fold(0, |acc: u64, &c| acc.saturating_add(c)) > 1 << 40
}

/// What is left of a graph when sites are settled, in pieces.
struct Pieces {
    n_sites: usize,
    /// No choice that differs in a settled site costs less.
    upper: u64,
    /// What settles them.
    rows: Weighed,
    absent: Vec<u32>,
    chosen: Vec<u32>,
    /// What these cost.
    base: u64,
    /// Sites that follow from these, with their costs: without one of them nothing is legal.
    forced: Vec<(u32, u64)>,
    of: Vec<PieceOf>,
}

/// A piece in the numbers of the whole.
struct PieceOf {
    incumbent: Arc<Incumbent>,
    sites: Vec<u32>,
    nodes: Vec<u32>,
    grain: u64,
}

impl Source for Pieces {
    fn proof(&self) -> Proof {
        let (rows, list) = numbered(self.rows.iter().cloned());
        let (absent, chosen) = (self.absent.clone(), self.chosen.clone());
        let settle = Step::Settle { multipliers: 0, least: self.upper, absent, chosen };
        let forced = self.forced.iter().map(|&(s, cost)| {
            let core = (Row::Core([s].into()), 1 << SCALE);
            Proof::by_rows(vec![s], std::iter::once(core), cost)
        });
        let pieces =
            self.of.iter().map(|it| it.incumbent.proof().lifted(&it.sites, &it.nodes, it.grain));
        let pieces: Vec<Proof> = forced.chain(pieces.filter(|it| it.bound > 0)).collect();
        let sum = pieces.iter().fold(self.base, |sum, it| sum.saturating_add(it.bound));
        Proof {
            sites: (0..self.n_sites as u32).collect(),
            rows,
            multipliers: vec![list],
            steps: vec![settle, Step::Split(pieces)],
            bound: sum.min(self.upper),
        }
    }
}

/// Phase 2, where one site in `least` at least can be settled. Says whether it took over: then nothing is left to do here.
fn fix(
    graph: &Graph,
    tight: &Tight,
    least: usize,
    incumbent: &Arc<Incumbent>,
    budget: &mut Budget,
) -> bool {
    let upper = incumbent.upper();
    let better = (i128::from(upper) - 1) << SCALE;
    let mut fixed = vec![Fixed::Open; graph.n_sites()];
    let (mut absent, mut chosen) = (Vec::new(), Vec::new());
    for (s, &reduced) in tight.reduced.iter().enumerate() {
        if tight.bound + reduced.abs() > better {
            fixed[s] = if reduced > 0 { Fixed::Absent } else { Fixed::Chosen };
            if reduced > 0 { absent.push(s as u32) } else { chosen.push(s as u32) }
        }
    }
    if (absent.len() + chosen.len()) * least < graph.n_sites() {
        return false;
    }
    let cost_of = |list: &[u32]| {
        list.iter().fold(0, |sum: u64, &s| sum.saturating_add(graph.cost[s as usize]))
    };
    let rows = tight.rows.clone();
    let base = cost_of(&chosen);
    let mut source = Pieces {
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
        // Nothing better is legal: without the settled sites something is over its limit, whatever else is chosen.
        let nothing = (Row::Core([].into()), (i128::from(upper)) << SCALE);
        let mut proof = source.proof();
        let piece = Proof::by_rows(Vec::new(), std::iter::once(nothing), upper);
        proof.steps[1] = Step::Split(vec![piece]);
        proof.bound = upper;
        incumbent.certify(proof);
        return true;
    };
    for (s, (&before, &now)) in fixed.iter().zip(&simple.fixed).enumerate() {
        if before == Fixed::Open && now == Fixed::Chosen {
            source.forced.push((s as u32, graph.cost[s]));
        }
    }
    let mut chosen: Vec<bool> = simple.fixed.iter().map(|&f| f == Fixed::Chosen).collect();
    let base = graph.cost_of(&chosen);
    // What is proven of the pieces is at once of the whole: no choice costs less than `upper` without being one of them.
    let sum = Arc::new(Mutex::new((base, vec![0; simple.parts.len()])));
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, part) in simple.parts.into_iter().enumerate() {
        let nodes = part.nodes.clone();
        let Ok(piece) = Piece::new(part, budget) else { return false };
        let (sum, whole, grain) = (Arc::clone(&sum), Arc::clone(incumbent), piece.grain);
        let piece = piece.with_listener(move |bound| {
            let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            sum.1[at] = bound.saturating_mul(grain).max(sum.1[at]);
            let lower = sum.1.iter().fold(sum.0, |all: u64, &it| all.saturating_add(it));
            whole.prove(lower.min(upper));
        });
        let (incumbent, sites) = (Arc::clone(&piece.incumbent), piece.sites.clone());
        source.of.push(PieceOf { incumbent, sites, nodes, grain });
        pieces.push(piece);
    }
    incumbent.ask(Of::Pieces, Arc::new(source));
    let mut by_size: Vec<&Piece> = pieces.iter().collect();
    by_size.sort_by_key(|it| it.graph.n_sites());
    for piece in by_size {
        let visits = (piece.graph.n_sites() as u64 * 2000).min(budget.left);
        walk_for(&piece.graph, &piece.incumbent, 1, visits, budget);
        prove(&piece.graph, &piece.incumbent, budget);
    }
    for piece in &pieces {
        for (&s, c) in piece.sites.iter().zip(piece.incumbent.best()) {
            chosen[s as usize] = c;
        }
    }
    offer(graph, chosen, incumbent, budget.stop);
    let lower = pieces.iter().fold(base, |sum, it| sum.saturating_add(it.cost_and_bound().1));
    incumbent.prove(lower.min(upper));
    true
}

/// States of the frontier and nodes of a tree at the first attempt.
const FEW_STATES: usize = 1 << 12;
const FEW_NODES: usize = 200;
/// With more sites than these a tree comes after the cuts only: a program of 850 spent ten seconds on its first 25 nodes.
const TREE_FIRST: usize = 400;
/// Most states of the frontier at a time.
const MOST_STATES: usize = 1 << 19;
/// A frontier of at most so many bits is swept to the end before branch and bound starts.
const NARROW: u32 = 48;

/// Decides a small program by a sweep with the bound of packed cores, and says whether it did: that takes less time than one relaxation.
pub(crate) fn at_once(graph: &Graph, incumbent: &Incumbent, budget: &mut Budget) -> bool {
    let steps = budget.steps;
    let is_wanted = steps.sweep_first && steps.frontier_dp && steps.prove && steps.cores;
    if graph.n_sites() > TINY || graph.cyclic || !is_wanted || budget.is_spent() {
        return false;
    }
    let mut cores = Cores::new(graph);
    let tight = packed(graph, &mut cores, incumbent.upper());
    budget.spend(cores.work);
    incumbent.certify(tight.proof());
    if incumbent.is_proven() {
        return true;
    }
    let frontier = Frontier::new(graph, cores.levels());
    narrow(graph, &cores, &tight, &frontier, TINY_STATES, incumbent, budget)
}

/// Cores one after the other, each weighed with what the cores before it leave of its cheapest site, until all that are left have a
/// site of which nothing is left, or the bound is `enough`. This is the dual ascent of the hitting set; where all costs are equal,
/// the cores have no site in common.
fn packed(graph: &Graph, cores: &mut Cores, enough: u64) -> Tight {
    let mut reduced: Vec<i128> = graph.cost.iter().map(|&cost| i128::from(cost) << SCALE).collect();
    let mut spent = vec![0.0; graph.n_sites()];
    let (mut bound, mut rows) = (0, Vec::new());
    while ceil_cost(bound) < enough {
        cores.fill(&spent, &graph.order);
        let over = cores.violated(&spent, &graph.order, 0.0);
        let found = over.first().and_then(|&it| cores.core(&spent, it));
        let Some(Row::Core(core)) = found else { break };
        let Some(least) = core.iter().map(|&s| reduced[s as usize]).min() else { break };
        for &s in &core {
            reduced[s as usize] -= least;
            spent[s as usize] = if reduced[s as usize] == 0 { 1.0 } else { 0.0 };
        }
        bound += least;
        rows.push((Row::Core(core), least));
    }
    Tight { bound, rows: rows.into(), reduced }
}

/// So many sites at most are decided at once, with so many states of the frontier.
const TINY: usize = 64;
const TINY_STATES: usize = 1 << 9;

/// Phase 3. Says whether it decided the matter.
///
/// A sweep has few states where little may be spent beyond the bound. So it is first asked for what costs no more than the bound, then for
/// what costs a little more, three times as much more, and so on, some eight times at most: what a sweep decided is a better bound, and the
/// last one takes most of the time.
fn narrow(
    graph: &Graph,
    cores: &Cores,
    tight: &Tight,
    frontier: &Frontier,
    states: usize,
    incumbent: &Incumbent,
    budget: &mut Budget,
) -> bool {
    let little = (incumbent.upper().saturating_sub(incumbent.lower()) / 64).max(1);
    let mut beyond = 0_u64;
    while !incumbent.is_proven() {
        // Somebody else may have lowered it meanwhile.
        let all = incumbent.upper().saturating_sub(1);
        let most = incumbent.lower().saturating_add(beyond).min(all);
        let terms = Terms {
            frontier,
            levels: cores.levels(),
            bound: tight.bound,
            better: i128::from(most) << SCALE,
            rows: &tight.rows,
            reduced: &tight.reduced,
            states,
            work: budget.left,
            stop: budget.stop,
        };
        let (outcome, work) = frontier_dp(graph, &terms);
        budget.spend(work);
        let (least, is_last) = match outcome {
            Outcome::NoneBetter => (most + 1, most == all),
            Outcome::Better(chosen) => {
                let cost = graph.cost_of(&chosen);
                offer(graph, chosen, incumbent, budget.stop);
                (cost, true)
            }
            Outcome::GaveUp => return false,
        };
        let sweep = Step::Sweep { order: frontier.order.clone(), multipliers: 0, least };
        incumbent.certify(Proof { steps: vec![sweep], bound: least, ..tight.proof() });
        if is_last {
            break;
        }
        beyond = beyond.saturating_mul(2).saturating_add(little);
    }
    true
}

/// Phase 5, with a tree of so many nodes at most.
fn branch<'g>(
    graph: &'g Graph,
    cores: &mut Cores<'g>,
    rows: &[Row],
    nodes: usize,
    incumbent: &Incumbent,
    budget: &mut Budget,
) {
    if exceeds_floats(graph) {
        return;
    }
    let sites = (0..graph.n_sites() as u32).collect();
    let Some(mut window) = Window::new(graph, cores, sites) else { return };
    if window.add(rows.iter().cloned()).is_none() {
        return;
    }
    let effort = Effort { nodes, tolerance: 0, enough: 0 };
    let known = Some(incumbent.best());
    let stop = budget.stop;
    let mut report = |proof: &dyn Fn() -> Proof, lower: u64, choice: Option<&[bool]>| {
        if let Some(choice) = choice {
            offer(graph, choice.to_vec(), incumbent, stop);
        }
        if lower > incumbent.lower() {
            incumbent.certify(proof());
        }
    };
    if let Some(answer) = window.least(&graph.cost, known, effort, &mut report, budget) {
        offer(graph, answer.choice, incumbent, stop);
        incumbent.certify(answer.proof);
    }
}
