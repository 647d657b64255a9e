//! The least weight of a legal choice of some sites, all others chosen, by branch and bound over cores, and its proof.
//!
//! At each node of the tree the relaxation over the rows that are known is solved, and violated cores are added: they hold everywhere. A node is closed when its
//! multipliers prove, in integers, that nothing below it is better than the best choice that is known. Sites whose reduced cost proves that are settled for all that
//! is below. What closed and settled is kept, so that the tree is a [`Proof`] at any time: of the least bound of the nodes that are open.
//!
//! Costs: a few dozen simplex iterations and a separation per node; memory the multipliers of all nodes.

use std::collections::HashSet;
use std::rc::Rc;

use noisy_solver::{Column, LinearProgram, Optimum};
use num_integer::gcd;
use rustc_hash::FxHashMap;

use crate::certificate::{Multiplier, Proof, Row, Step};
use crate::cores::{Core, Cores};
use crate::fixed_point::SCALE;
use crate::graph::{Graph, NONE};
use crate::instance::Bits;
use crate::levels::{beyond_all_limits, least_solution};
use crate::limits::Budget;
use crate::relax::separate;

/// Some sites of a graph as a problem of their own, asked again and again with other weights.
pub(crate) struct Window<'a, 'g> {
    graph: &'g Graph,
    cores: &'a mut Cores<'g>,
    /// In increasing order.
    pub sites: Vec<u32>,
    /// The nodes that matter to them, in the order of the graph.
    nodes: Vec<u32>,
    /// By site.
    column: Vec<u32>,
    /// The point, by site; 1 outside.
    x: Vec<f32>,
    lp: LinearProgram,
    pub rows: Vec<Row>,
    /// The terms of the rows, by column.
    terms: Vec<Box<[(u32, u64)]>>,
    known: HashSet<Core>,
    /// What a column gains in each direction: sum and count.
    gains: Vec<[(f64, u32); 2]>,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Nodes of the tree.
    pub nodes: usize,
}

/// Is told the proof, which is made when it is asked for, its bound, and a better choice if there is one.
pub(crate) type Report<'r> = dyn FnMut(&dyn Fn() -> Proof, u64, Option<&[bool]>) + 'r;

/// What came of it.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The best choice that is known, by column.
    pub choice: Vec<bool>,
    /// That no legal choice weighs less than some bound.
    pub proof: Proof,
}

/// Multipliers of rows by index.
type List = Rc<Vec<(u32, i128)>>;

struct TreeNode {
    parent: u32,
    /// The column that is decided here, and how.
    decided: Option<(u32, bool)>,
    /// What is settled here by multipliers that prove `least` for all else.
    settled: Option<Settled>,
    /// Its proof, or that of the node above.
    list: List,
    bound: i128,
    body: Body,
}

impl TreeNode {
    fn prove(&mut self, list: &List, bound: i128) {
        if bound > self.bound {
            (self.list, self.bound) = (list.clone(), bound);
        }
    }
}

/// What multipliers prove, times `2^SCALE`, and what they leave of the weight of each column.
struct Proven {
    list: List,
    bound: i128,
    reduced: Vec<i128>,
}

struct Settled {
    list: List,
    least: u64,
    columns: Vec<(u32, bool)>,
}

#[derive(Clone, Copy)]
enum Body {
    Open,
    Closed,
    /// The nodes without the column and with it.
    Branched(u32, [u32; 2]),
}

impl<'a, 'g> Window<'a, 'g> {
    /// The problem of some sites, in increasing order. `None` when the solver refuses it.
    pub(crate) fn new(
        graph: &'g Graph,
        cores: &'a mut Cores<'g>,
        sites: Vec<u32>,
    ) -> Option<Window<'a, 'g>> {
        let free = Column { cost: 0.0, lower: 0.0, upper: 1.0, is_integer: false };
        let mut column = vec![NONE; graph.n_sites()];
        let mut x = vec![1.0; graph.n_sites()];
        for (at, &s) in sites.iter().enumerate() {
            column[s as usize] = at as u32;
            x[s as usize] = 0.0;
        }
        Some(Window {
            nodes: nodes_of(graph, &sites, &column),
            lp: LinearProgram::new(&vec![free; sites.len()]).ok()?,
            gains: vec![[(0.0, 0); 2]; sites.len()],
            graph,
            cores,
            sites,
            column,
            x,
            rows: Vec::new(),
            terms: Vec::new(),
            known: HashSet::new(),
        })
    }

    /// Adds rows that hold, with sites of the window only.
    pub(crate) fn add(&mut self, rows: impl IntoIterator<Item = Row>) -> Option<()> {
        let from = self.rows.len();
        for row in rows {
            if let Row::Core(core) = &row
                && !self.known.insert(core.clone())
            {
                continue;
            }
            let mut terms = Vec::new();
            row.for_each(|s, weight| terms.push((self.column[s as usize], weight)));
            self.terms.push(terms.into());
            self.rows.push(row);
        }
        let scaled: Vec<Vec<(u32, f64)>> =
            self.rows[from..].iter().map(|row| row.scaled(|s| self.column[s as usize])).collect();
        self.lp.add_rows(scaled.iter().map(|it| (1.0, &it[..]))).ok()
    }

    /// Cores that a choice of the columns violates, added; how many.
    fn separate(&mut self, slack: f32, budget: &mut Budget) -> Option<usize> {
        let (graph, cores) = (self.graph, &mut *self.cores);
        let mut known = std::mem::take(&mut self.known);
        let found = separate(graph, cores, &self.nodes, &self.x, slack, &mut known, budget);
        for core in &found {
            known.remove(core);
        }
        self.known = known;
        let n = found.len();
        self.add(found.into_iter().map(Row::Core))?;
        Some(n)
    }

    /// [`Window::separate`] at a point of zeros and ones, where a core that hides in a loop is found, too.
    fn separate_whole(&mut self, budget: &mut Budget) -> Option<usize> {
        let found = self.separate(0.5, budget)?;
        if found > 0 || !self.graph.cyclic {
            return Some(found);
        }
        let mut absent: Vec<bool> = self.x.iter().map(|&x| x < 0.5).collect();
        if !is_over_without(self.graph, &absent) {
            return Some(0);
        }
        // Fewer and fewer at a time are put back, as long as something stays over its limit.
        let mut left: Vec<u32> =
            self.sites.iter().copied().filter(|&s| absent[s as usize]).collect();
        let mut size = left.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < left.len() {
                let end = (at + size).min(left.len());
                left[at..end].iter().for_each(|&s| absent[s as usize] = false);
                budget.spend(self.graph.n_nodes() as u64);
                if is_over_without(self.graph, &absent) {
                    left.drain(at..end);
                } else {
                    left[at..end].iter().for_each(|&s| absent[s as usize] = true);
                    at = end;
                }
            }
            if size == 1 || budget.is_spent() {
                break;
            }
            size = size.div_ceil(2);
        }
        self.add([Row::Core(left.into())])?;
        Some(1)
    }

    fn set_point(&mut self, values: &[f64]) {
        for (&s, &value) in self.sites.iter().zip(values) {
            self.x[s as usize] = value as f32;
        }
    }

    /// A legal choice near a point: what is missing in the rows is chosen, what none needs is left out, until no core is violated.
    fn round(&mut self, values: &[f64], weights: &[u64], budget: &mut Budget) -> Option<Vec<bool>> {
        let mut chosen: Vec<bool> = values.iter().map(|&x| x > 0.6).collect();
        let mut by_weight: Vec<usize> = (0..chosen.len()).collect();
        by_weight.sort_by(|&a, &b| {
            weights[b].cmp(&weights[a]).then(values[a].total_cmp(&values[b])).then(a.cmp(&b))
        });
        loop {
            // How much each row has more than it needs.
            let mut over: Vec<i128> = Vec::with_capacity(self.rows.len());
            let mut rows_of: Vec<Vec<(u32, u64)>> = vec![Vec::new(); chosen.len()];
            for (row, terms) in self.terms.iter().enumerate() {
                let mut sum = -i128::from(self.rows[row].least());
                for &(at, weight) in terms {
                    rows_of[at as usize].push((row as u32, weight));
                    sum += if chosen[at as usize] { i128::from(weight) } else { 0 };
                }
                over.push(sum);
            }
            for row in 0..self.rows.len() {
                while over[row] < 0 {
                    let open = self.terms[row].iter().filter(|it| !chosen[it.0 as usize]);
                    let &(at, _) = open.max_by(|a, b| {
                        let (a, b) = (a.0 as usize, b.0 as usize);
                        let worth = |at: usize| (values[at] + 0.05) / (weights[at] as f64 + 0.01);
                        worth(a).total_cmp(&worth(b))
                    })?;
                    chosen[at as usize] = true;
                    for &(row, weight) in &rows_of[at as usize] {
                        over[row as usize] += i128::from(weight);
                    }
                }
            }
            for &at in &by_weight {
                let list = &rows_of[at];
                let is_useless = list.iter().all(|it| over[it.0 as usize] >= i128::from(it.1));
                if chosen[at] && weights[at] > 0 && is_useless {
                    chosen[at] = false;
                    for &(row, weight) in list {
                        over[row as usize] -= i128::from(weight);
                    }
                }
            }
            let point: Vec<f64> = chosen.iter().map(|&it| f64::from(u8::from(it))).collect();
            self.set_point(&point);
            if self.separate_whole(budget)? == 0 {
                return Some(chosen);
            }
            if budget.is_spent() {
                return None;
            }
        }
    }

    /// The least weight of a legal choice. `report` is told of better bounds and choices, and may ask for the proof. `None` when the solver fails at once.
    pub(crate) fn least(
        &mut self,
        weights: &[u64],
        known: Option<Vec<bool>>,
        effort: Effort,
        report: &mut Report,
        budget: &mut Budget,
    ) -> Option<Answer> {
        let grain = weights.iter().fold(0, |grain, &weight| gcd(grain, weight)).max(1);
        let scaled: Vec<u64> = weights.iter().map(|it| it / grain).collect();
        let n = self.sites.len();
        self.lp.set_costs(&scaled.iter().map(|&it| it as f64).collect::<Vec<f64>>()).ok()?;
        let (lower, upper): (Vec<f64>, Vec<f64>) =
            scaled.iter().map(|&it| (if it == 0 { 1.0 } else { 0.0 }, 1.0)).unzip();
        let columns: Vec<u32> = (0..n as u32).collect();
        self.lp.set_bounds(&columns, &lower, &upper).ok()?;
        let weigh = |choice: &[bool]| -> u64 {
            scaled
                .iter()
                .zip(choice)
                .filter(|it| *it.1)
                .fold(0, |sum, it| sum.saturating_add(*it.0))
        };
        let all = vec![true; n];
        let choice = known.unwrap_or(all);
        let list = List::default();
        let root = TreeNode {
            parent: NONE,
            decided: None,
            settled: None,
            list,
            bound: 0,
            body: Body::Open,
        };
        let mut tree = Tree {
            upper: weigh(&choice),
            choice,
            nodes: vec![root],
            open: vec![0],
            given_up: u64::MAX,
            fixed: scaled
                .iter()
                .map(|&it| if it == 0 { Fixed::Free } else { Fixed::Open })
                .collect(),
            weights: scaled,
        };
        let mut told = 0;
        let mut next = None;
        while tree.nodes.len() < effort.nodes && !budget.is_spent() {
            let Some(at) = next.take().or_else(|| tree.next()) else { break };
            let upper = tree.upper;
            next = match self.visit(&mut tree, at, budget) {
                Visited::Went(next) => next,
                Visited::Failed => break,
            };
            let lower = tree.lower();
            if lower > told || tree.upper < upper {
                told = lower;
                let choice = (tree.upper < upper).then_some(&*tree.choice);
                let proof = || tree.proof(self, weights, grain);
                report(&proof, lower.saturating_mul(grain), choice);
            }
            if lower >= tree.upper {
                break;
            }
        }
        Some(Answer { proof: tree.proof(self, weights, grain), choice: tree.choice })
    }

    /// Solves the relaxation where a node is, and closes or branches it; which of the new nodes to go on with.
    fn visit(&mut self, tree: &mut Tree, at: u32, budget: &mut Budget) -> Visited {
        if self.go_to(tree, at).is_none() {
            return Visited::Failed;
        }
        let mut round = 0;
        let (answer, proven) = loop {
            if let Some(list) = self.dead_row(tree) {
                tree.nodes[at as usize].prove(&list, i128::MAX >> 8);
                tree.close(at);
                return Visited::Went(None);
            }
            let Some(answer) = self.solve(budget) else { return Visited::Failed };
            let proven = self.certified(tree, &answer);
            tree.nodes[at as usize].prove(&proven.list, proven.bound);
            if tree.is_closed(at) {
                return Visited::Went(None);
            }
            self.set_point(&answer.values);
            let is_whole = answer.values.iter().all(|x| (x - x.round()).abs() < 1e-6);
            let slack = if at == 0 { 1e-4 } else { 0.02 };
            let found = match round {
                _ if is_whole => self.separate_whole(budget),
                0..4 => self.separate(slack, budget),
                _ if at == 0 => self.separate(slack, budget),
                _ => Some(0),
            };
            let Some(found) = found else { return Visited::Failed };
            if found == 0 {
                if is_whole {
                    // Legal, and the best below this node but for the rounding of the solver.
                    tree.offer(answer.values.iter().map(|&x| x > 0.5).collect());
                    if !tree.is_closed(at) {
                        tree.give_up(at);
                    }
                    return Visited::Went(None);
                }
                break (answer, proven);
            }
            if budget.is_spent() {
                return Visited::Went(None);
            }
            round += 1;
        };
        if at == 0 || tree.nodes.len().is_multiple_of(16) {
            if let Some(choice) = self.round(&answer.values, &tree.weights, budget) {
                tree.offer(choice);
            }
            if tree.is_closed(at) {
                return Visited::Went(None);
            }
        }
        tree.settle(at, &proven);
        let Some((column, value)) = self.pick(tree, &answer, budget) else {
            return Visited::Failed;
        };
        let first = tree.branch(at, column);
        // First what the point is nearer to.
        Visited::Went(Some(first + u32::from(value > 0.5)))
    }

    /// Sets the bounds of the columns as they are at a node.
    fn go_to(&mut self, tree: &mut Tree, at: u32) -> Option<()> {
        let wanted = tree.decisions(at);
        let mut changed = Vec::new();
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (column, (is, wanted)) in tree.fixed.iter_mut().zip(wanted).enumerate() {
            if *is != wanted {
                *is = wanted;
                changed.push(column as u32);
                lower.push(if matches!(wanted, Fixed::Chosen | Fixed::Free) { 1.0 } else { 0.0 });
                upper.push(if wanted == Fixed::Absent { 0.0 } else { 1.0 });
            }
        }
        if changed.is_empty() {
            Some(())
        } else {
            self.lp.set_bounds(&changed, &lower, &upper).ok()
        }
    }

    fn solve(&mut self, budget: &mut Budget) -> Option<Optimum> {
        let answer = self.lp.solve(&budget.for_solver(self.sites.len())).ok()?;
        // A solve costs more than its iterations where these are few.
        budget.spend(3000 + self.rows.len() as u64 * 4);
        budget.spend_iterations(answer.iterations, self.sites.len());
        Some(answer)
    }

    /// Multipliers that prove that nothing is legal here, if a row cannot hold any more.
    fn dead_row(&self, tree: &Tree) -> Option<List> {
        let row = self.terms.iter().zip(&self.rows).position(|(terms, row)| {
            let open = terms.iter().filter(|it| tree.fixed[it.0 as usize] != Fixed::Absent);
            let most = open.fold(0, |sum: u64, it| sum.saturating_add(it.1));
            most < row.least()
        })?;
        Some(Rc::new(vec![(row as u32, (i128::from(tree.upper) + 1) << SCALE)]))
    }

    /// What multipliers prove here, with what they leave of the weight of each column; times `2^SCALE`.
    fn certified(&self, tree: &Tree, answer: &Optimum) -> Proven {
        let mut reduced: Vec<i128> =
            tree.weights.iter().map(|&weight| i128::from(weight) << SCALE).collect();
        let mut list = Vec::new();
        let mut bound = 0;
        for (row, &y) in answer.multipliers.iter().enumerate() {
            let y = self.rows[row].multiplier(y);
            if y > 0 {
                bound += y * i128::from(self.rows[row].least());
                for &(at, weight) in &self.terms[row] {
                    reduced[at as usize] -= y * i128::from(weight);
                }
                list.push((row as u32, y));
            }
        }
        for (&it, &fixed) in reduced.iter().zip(&tree.fixed) {
            bound += match fixed {
                Fixed::Open | Fixed::Free => it.min(0),
                Fixed::Absent => 0,
                Fixed::Chosen => it,
            };
        }
        Proven { list: Rc::new(list), bound, reduced }
    }

    /// The column to branch at: that which raises the bound most in both directions, as far as is known.
    fn pick(&mut self, tree: &Tree, answer: &Optimum, budget: &mut Budget) -> Option<(u32, f64)> {
        /// Columns that are tried, and how often before what they gained is believed.
        const TRIED: usize = 8;
        const BELIEVED: u32 = 2;
        let open = |it: &(usize, &f64)| {
            tree.fixed[it.0] == Fixed::Open && (it.1 - it.1.round()).abs() > 1e-6
        };
        let mut candidates: Vec<(f64, u32)> = answer
            .values
            .iter()
            .enumerate()
            .filter(open)
            .map(|(column, &x)| (self.score(column, x), column as u32))
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (_, mut best) = *candidates.first()?;
        let mut most = -1.0;
        for &(score, column) in candidates.iter().take(TRIED) {
            let x = answer.values[column as usize];
            let mut score = score;
            if self.gains[column as usize].iter().any(|it| it.1 < BELIEVED) {
                for value in [0.0, 1.0] {
                    self.lp.set_bounds(&[column], &[value], &[value]).ok()?;
                    let is_dead = value == 0.0 && self.is_dead_without(tree, column);
                    let gain = if is_dead {
                        answer.cost.abs().max(1.0)
                    } else {
                        (self.solve(budget)?.cost - answer.cost).max(0.0)
                    };
                    let (sum, n) = &mut self.gains[column as usize][value as usize];
                    let by = if value == 0.0 { x } else { 1.0 - x };
                    *sum += gain / by.max(0.05);
                    *n += 1;
                }
                self.lp.set_bounds(&[column], &[0.0], &[1.0]).ok()?;
                score = self.score(column as usize, x);
            }
            if score > most {
                (most, best) = (score, column);
            }
            if budget.is_spent() {
                break;
            }
        }
        Some((best, answer.values[best as usize]))
    }

    /// Whether a row can hold no more without a column.
    fn is_dead_without(&self, tree: &Tree, column: u32) -> bool {
        self.terms.iter().zip(&self.rows).any(|(terms, row)| {
            let open = terms.iter();
            let open =
                open.filter(|it| it.0 != column && tree.fixed[it.0 as usize] != Fixed::Absent);
            open.fold(0, |sum: u64, it| sum.saturating_add(it.1)) < row.least()
        })
    }

    fn score(&self, column: usize, x: f64) -> f64 {
        let gain = |(sum, n): (f64, u32)| if n == 0 { 1.0 } else { sum / f64::from(n) };
        let [down, up] = self.gains[column];
        (gain(down) * x).max(1e-6) * (gain(up) * (1.0 - x)).max(1e-6)
    }
}

enum Visited {
    /// On to this node, if to any.
    Went(Option<u32>),
    Failed,
}

/// What is decided of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fixed {
    Open,
    /// It weighs nothing.
    Free,
    Absent,
    Chosen,
}

/// The tree of one search. Weights are counted in their greatest common divisor.
struct Tree {
    upper: u64,
    choice: Vec<bool>,
    nodes: Vec<TreeNode>,
    open: Vec<u32>,
    /// The least bound of those that can be neither closed nor branched.
    given_up: u64,
    /// What the solver has.
    fixed: Vec<Fixed>,
    weights: Vec<u64>,
}

fn whole(bound: i128) -> u64 {
    crate::fixed_point::ceil_cost(bound)
}

impl Tree {
    /// Closes a node if nothing below it is better than what is known; whether it did.
    fn is_closed(&mut self, at: u32) -> bool {
        let is_closed = whole(self.nodes[at as usize].bound) >= self.upper;
        if is_closed {
            self.close(at);
        }
        is_closed
    }

    fn close(&mut self, at: u32) {
        self.open.retain(|&it| it != at);
        self.nodes[at as usize].body = Body::Closed;
    }

    /// Leaves a node as it is for good.
    fn give_up(&mut self, at: u32) {
        self.close(at);
        self.given_up = self.given_up.min(whole(self.nodes[at as usize].bound));
    }

    fn offer(&mut self, choice: Vec<bool>) {
        let weight = self.weights.iter().zip(&choice).filter(|it| *it.1).map(|it| *it.0).sum();
        if weight < self.upper {
            (self.upper, self.choice) = (weight, choice);
        }
    }

    /// The open node to go on with; those that are closed by a better choice are closed.
    fn next(&mut self) -> Option<u32> {
        let upper = self.upper;
        let nodes = &mut self.nodes;
        self.open.retain(|&it| {
            let node = &mut nodes[it as usize];
            let is_open = whole(node.bound) < upper;
            if !is_open {
                node.body = Body::Closed;
            }
            is_open
        });
        self.open.iter().copied().min_by_key(|&it| (self.nodes[it as usize].bound, it))
    }

    /// The least of all bounds.
    fn lower(&self) -> u64 {
        let open = self.open.iter().map(|&it| whole(self.nodes[it as usize].bound));
        open.min().unwrap_or(self.upper).min(self.upper).min(self.given_up)
    }

    /// Fixes for all below what cannot be otherwise in a better choice.
    fn settle(&mut self, at: u32, proven: &Proven) {
        let better = (i128::from(self.upper) - 1) << SCALE;
        let columns: Vec<(u32, bool)> = (proven.reduced.iter().enumerate())
            .filter(|it| self.fixed[it.0] == Fixed::Open && proven.bound + it.1.abs() > better)
            .map(|(column, &it)| (column as u32, it < 0))
            .collect();
        if !columns.is_empty() {
            let (list, least) = (proven.list.clone(), self.upper);
            self.nodes[at as usize].settled = Some(Settled { list, least, columns });
        }
    }

    /// Two new nodes, the first without a column and the second with it.
    fn branch(&mut self, at: u32, column: u32) -> u32 {
        let first = self.nodes.len() as u32;
        for value in [false, true] {
            let parent = &self.nodes[at as usize];
            let (list, bound) = (parent.list.clone(), parent.bound);
            let decided = Some((column, value));
            let body = Body::Open;
            self.open.push(self.nodes.len() as u32);
            self.nodes.push(TreeNode { parent: at, decided, settled: None, list, bound, body });
        }
        self.close(at);
        self.nodes[at as usize].body = Body::Branched(column, [first, first + 1]);
        first
    }

    /// What is decided of each column at a node.
    fn decisions(&self, at: u32) -> Vec<Fixed> {
        let mut out: Vec<Fixed> = self
            .weights
            .iter()
            .map(|&it| if it == 0 { Fixed::Free } else { Fixed::Open })
            .collect();
        let mut at = at;
        while at != NONE {
            let node = &self.nodes[at as usize];
            let settled = node.settled.iter().flat_map(|it| it.columns.iter().copied());
            for (column, is_chosen) in settled.chain(node.decided) {
                out[column as usize] = if is_chosen { Fixed::Chosen } else { Fixed::Absent };
            }
            at = node.parent;
        }
        out
    }

    /// The proof of [`Tree::lower`].
    fn proof(&self, window: &Window, weights: &[u64], grain: u64) -> Proof {
        let mut out = Proof {
            sites: (window.sites.iter().zip(weights))
                .filter(|it| *it.1 > 0)
                .map(|it| *it.0)
                .collect(),
            bound: self.lower().saturating_mul(grain),
            ..Proof::default()
        };
        let mut row_at: FxHashMap<u32, u32> = FxHashMap::default();
        let mut list_at: FxHashMap<*const Vec<(u32, i128)>, u32> = FxHashMap::default();
        let mut stack = vec![0_u32];
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at as usize];
            let mut number = |out: &mut Proof, list: &List| {
                *list_at.entry(Rc::as_ptr(list)).or_insert_with(|| {
                    let list = list.iter().map(|&(row, y)| {
                        let place = *row_at.entry(row).or_insert_with(|| {
                            out.rows.push(window.rows[row as usize].clone());
                            out.rows.len() as u32 - 1
                        });
                        (place, Multiplier(y.unsigned_abs()))
                    });
                    let list = list.collect();
                    out.multipliers.push(list);
                    out.multipliers.len() as u32 - 1
                })
            };
            if let Some(Settled { list, least, columns }) = &node.settled {
                let multipliers = number(&mut out, list);
                let of = |wanted: bool| -> Vec<u32> {
                    let columns = columns.iter().filter(|it| it.1 == wanted);
                    columns.map(|it| window.sites[it.0 as usize]).collect()
                };
                let (absent, chosen) = (of(false), of(true));
                let least = least.saturating_mul(grain);
                out.steps.push(Step::Settle { multipliers, least, absent, chosen });
            }
            match node.body {
                Body::Open | Body::Closed => {
                    let list = number(&mut out, &node.list);
                    out.steps.push(Step::Bound(list));
                }
                Body::Branched(column, [without, with]) => {
                    out.steps.push(Step::Branch(window.sites[column as usize]));
                    stack.push(with);
                    stack.push(without);
                }
            }
        }
        out
    }
}

/// Whether a node is over its limit without some sites, where all others do what is lower.
fn is_over_without(graph: &Graph, absent: &[bool]) -> bool {
    let n = graph.n_nodes();
    let (mut p, mut e) = (vec![0; n], vec![0; n]);
    let most = beyond_all_limits(graph);
    let after = |v: u32, p: Bits| match graph.site[v as usize] {
        s if s != NONE && !absent[s as usize] => p.min(graph.reset[s as usize]),
        _ => p,
    };
    least_solution(graph, &mut p, &mut e, |_, p| p.min(most), after);
    p.iter().zip(&graph.limit).any(|(p, limit)| p > limit)
}

/// The nodes that matter to some sites: theirs, and what these reach through nodes without a reset, with all other sites chosen.
fn nodes_of(graph: &Graph, sites: &[u32], column: &[u32]) -> Vec<u32> {
    let mut nodes: Vec<u32> = Vec::new();
    let mut is_in: rustc_hash::FxHashSet<u32> = rustc_hash::FxHashSet::default();
    for &s in sites {
        nodes.extend(graph.nodes_of.of(s).iter().filter(|v| is_in.insert(**v)));
    }
    let mut next = 0;
    while let Some(&v) = nodes.get(next) {
        next += 1;
        let site = graph.site[v as usize];
        if site != NONE && column[site as usize] == NONE {
            continue;
        }
        nodes.extend(graph.users.of(v).iter().filter(|w| is_in.insert(**w)));
    }
    nodes.sort_unstable_by_key(|&v| graph.rank[v as usize]);
    nodes
}
