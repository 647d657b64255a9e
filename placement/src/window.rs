//! Some sites of a graph as a problem of their own, all others chosen: its rows, their separation, and what multipliers prove of it.
//!
//! Law kept: where choosing a site never raises noise, the sites of a legal choice of the whole that lie in a window are a legal
//! choice of the window. So rows of a window hold for the whole.
//!
//! Costs: a solve and a separation for each round; the rows are kept from one question to the next.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use noisy_solver::{Basis, Column, LinearProgram, Optimum};

use crate::certificate::Row;
use crate::cores::{Assumed, Cores};
use crate::fixed_point::SCALE;
use crate::graph::{Graph, NONE};
use crate::instance::Bits;
use crate::levels::{beyond_all_limits, least_solution};
use crate::limits::Budget;
use crate::relax::{SPARE, separate};

/// Some sites of a graph as a problem of their own, asked again and again with other weights.
pub(crate) struct Window<'a, 'g> {
    pub graph: &'g Graph,
    pub cores: &'a mut Cores<'g>,
    /// In increasing order.
    pub sites: Vec<u32>,
    /// The nodes that matter to them, in the order of the graph.
    nodes: Vec<u32>,
    /// By site.
    pub column: Vec<u32>,
    /// The point, by site; 1 outside.
    pub x: Vec<f32>,
    lp: LinearProgram,
    /// The rows that the solver has; the others rest, until a point violates them.
    active: Vec<u32>,
    pub rows: Vec<Row>,
    /// The terms of the rows, by column.
    pub terms: Vec<Box<[(u32, u64)]>>,
    /// The cores among the rows.
    known: HashSet<Row>,
    /// Rows that hold elsewhere only rest here.
    assumed: Assumed,
    /// So much weight costs one in the solver.
    unit: f64,
    pub gains: Gains,
}

/// What deciding a column adds to the relaxation for each unit that it moves, down and up: sum and count.
#[derive(Clone, Debug)]
pub(crate) struct Gains(Vec<[(f64, u32); 2]>);

impl Gains {
    pub(crate) fn new(n: usize) -> Gains {
        Gains(vec![[(0.0, 0); 2]; n])
    }

    /// What a column at `x` gained by being one or zero.
    pub(crate) fn learn(&mut self, column: u32, x: f64, is_chosen: bool, gain: f64) {
        let (sum, n) = &mut self.0[column as usize][usize::from(is_chosen)];
        *sum += gain / (if is_chosen { 1.0 - x } else { x }).max(0.05);
        *n += 1;
    }

    /// How often a column was tried in the direction where that is less.
    pub(crate) fn n_tried(&self, column: u32) -> u32 {
        let [down, up] = self.0[column as usize];
        down.1.min(up.1)
    }

    /// What a unit gained on average; 1 before anything did.
    pub(crate) fn mean(&self) -> f64 {
        let all = self.0.iter().flatten();
        let (sum, n) = all.fold((0.0, 0), |acc, it| (acc.0 + it.0, acc.1 + it.1));
        if n == 0 { 1.0 } else { sum / f64::from(n) }
    }

    /// How much a column at `x` promises, where one that was never tried gains `unknown` for each unit.
    pub(crate) fn score(&self, column: u32, x: f64, unknown: f64) -> f64 {
        let gain = |(sum, n): (f64, u32)| if n == 0 { unknown } else { sum / f64::from(n) };
        let [down, up] = self.0[column as usize];
        (gain(down) * x).max(1e-6) * (gain(up) * (1.0 - x)).max(1e-6)
    }
}

/// Multipliers of rows by index.
pub(crate) type List = Arc<Vec<(u32, i128)>>;

/// What multipliers prove, times `2^SCALE`, and what they leave of the weight of each column.
pub(crate) struct Proven {
    pub list: List,
    pub bound: i128,
    pub reduced: Vec<i128>,
}

/// What is decided of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fixed {
    Open,
    /// It weighs nothing.
    Free,
    Absent,
    Chosen,
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
            unit: 1.0,
            gains: Gains::new(sites.len()),
            graph,
            cores,
            sites,
            column,
            x,
            active: Vec::new(),
            rows: Vec::new(),
            terms: Vec::new(),
            known: HashSet::new(),
            assumed: Assumed::default(),
        })
    }

    /// Adds rows that hold, with sites of the window only.
    pub(crate) fn add(&mut self, rows: impl IntoIterator<Item = Row>) -> Option<()> {
        let from = self.rows.len();
        for row in rows {
            if !matches!(row, Row::Cut(_)) && !self.known.insert(row.clone()) {
                continue;
            }
            let mut terms = Vec::new();
            row.for_each(|s, weight| terms.push((self.column[s as usize], weight)));
            self.terms.push(terms.into());
            self.rows.push(row);
        }
        self.wake(from as u32..self.rows.len() as u32)
    }

    /// Gives rows to the solver.
    fn wake(&mut self, rows: impl Iterator<Item = u32> + Clone) -> Option<()> {
        let column = |s: u32| self.column[s as usize];
        let scaled = rows.clone().map(|row| self.rows[row as usize].scaled(column));
        let scaled: Vec<Vec<(u32, f64)>> = scaled.collect();
        self.active.extend(rows);
        self.lp.add_rows(scaled.iter().map(|it| (1.0, &it[..]))).ok()
    }

    /// Solves start from a basis that is set each time.
    pub(crate) fn starts_from_bases(&mut self) -> Option<()> {
        self.lp.starts_from_bases().ok()
    }

    /// Sets the least and the largest value of some columns.
    pub(crate) fn set_bounds(
        &mut self,
        columns: &[u32],
        lower: &[f64],
        upper: &[f64],
    ) -> Option<()> {
        self.lp.set_bounds(columns, lower, upper).ok()
    }

    /// The basis of the last solution, over all rows.
    pub(crate) fn basis(&mut self) -> Option<Basis> {
        let it = self.lp.basis().ok()?;
        let mut rows = vec![Basis::BASIC; self.rows.len()];
        for (&row, status) in self.active.iter().zip(it.rows) {
            rows[row as usize] = status;
        }
        Some(Basis { columns: it.columns, rows })
    }

    /// Sets where the next solve starts, by a basis over the first rows; later ones are basic.
    pub(crate) fn set_basis(&mut self, basis: &Basis) -> Option<()> {
        let mut resting = vec![true; self.rows.len()];
        self.active.iter().for_each(|&row| resting[row as usize] = false);
        let needed = (0..).zip(&basis.rows).filter(|it| *it.1 != Basis::BASIC).map(|it| it.0);
        let needed: Vec<u32> = needed.filter(|&row: &u32| resting[row as usize]).collect();
        self.wake(needed.into_iter())?;
        let status = |&row: &u32| basis.rows.get(row as usize).copied().unwrap_or(Basis::BASIC);
        let rows = self.active.iter().map(status).collect();
        self.lp.set_basis(&Basis { columns: basis.columns.clone(), rows }).ok()
    }

    /// Adds rows that hold, all of them, so that they have the same numbers wherever the same were added. They rest until a point
    /// violates them.
    pub(crate) fn append(&mut self, rows: &[Row]) {
        for row in rows {
            if !matches!(row, Row::Cut(_)) {
                self.known.insert(row.clone());
            }
            let mut terms = Vec::new();
            row.for_each(|s, weight| terms.push((self.column[s as usize], weight)));
            self.terms.push(terms.into());
            self.rows.push(row.clone());
        }
    }

    /// Whether a row holds where the window is.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        self.assumed.admits(row)
    }

    /// Goes to where this is assumed of the noise, and nothing else: rows that do not hold there rest.
    pub(crate) fn assume(&mut self, assumed: &Assumed) -> Option<()> {
        if self.assumed == *assumed {
            return Some(());
        }
        self.cores.assume(assumed);
        self.assumed.clone_from(assumed);
        let rests: Vec<bool> =
            self.active.iter().map(|&row| !assumed.admits(&self.rows[row as usize])).collect();
        if !rests.contains(&true) {
            return Some(());
        }
        let mut of_rows = rests.iter();
        self.active.retain(|_| of_rows.next() != Some(&true));
        self.lp.remove_rows(&rests).ok()
    }

    /// Nodes and levels to branch at, those first at which most is expected of the worse branch: below the level the first halves of the
    /// cores that bring as much to the node are cores, and from it on the second halves of those that need no more.
    ///
    /// A row with multiplier `y` that is cut into parts of weights `a` and `1 - a` raises the bound by at most `y (1 - a)` in one branch and
    /// `y a` in the other.
    pub(crate) fn levels(&self, answer: &Optimum) -> Vec<(u32, Bits)> {
        let graph = self.graph;
        // By node: the level that a core brings it to, its multiplier, and the part of its weight up to the node.
        let mut passes: BTreeMap<u32, Vec<(Bits, f64, f64)>> = BTreeMap::new();
        let mut pass = |core: &[u32], y: f64| {
            let nodes = core.iter().flat_map(|&s| graph.nodes_of.of(s).iter().copied());
            let mut nodes: Vec<u32> = nodes.collect();
            nodes.sort_unstable_by_key(|&v| graph.rank[v as usize]);
            let mut leaves: Vec<(u32, Bits)> = Vec::with_capacity(nodes.len());
            let mut part = 0.0;
            for v in nodes {
                let before = graph.before(v, |u| match leaves.iter().find(|it| it.0 == u) {
                    Some(it) => it.1,
                    None => self.cores.levels().0[u as usize],
                });
                leaves.push((v, before));
                part += f64::from(self.x[graph.site[v as usize] as usize]);
                passes.entry(v).or_default().push((before, y, part.min(1.0)));
            }
        };
        for (row, &y) in self.rows.iter().zip(&answer.multipliers).filter(|it| *it.1 > 1e-9) {
            match row {
                Row::Core(core) => pass(core, y),
                Row::CoreWhere(it) => pass(&it.core, y),
                Row::Cut(cut) => {
                    let list = cut.proof.multipliers.first().into_iter().flatten();
                    for &(row, times) in list {
                        if let Row::Core(core) = &cut.proof.rows[row as usize] {
                            pass(core, y * times.0 as f64 / (1_u64 << SCALE) as f64);
                        }
                    }
                }
            }
        }
        let mut found: Vec<(f64, u32, Bits)> = Vec::new();
        for (v, mut list) in passes {
            let is_assumed = |it: &(u32, Bits)| it.0 == v;
            let assumed = &self.assumed;
            if assumed.below.iter().any(is_assumed) || assumed.least.iter().any(is_assumed) {
                continue;
            }
            list.sort_by_key(|it| it.0);
            let lowest =
                self.cores.levels().0[v as usize].max(graph.reset[graph.site[v as usize] as usize]);
            let mut below: f64 = list.iter().map(|it| it.1 * (1.0 - it.2)).sum();
            let mut least = 0.0;
            let mut best: Option<(f64, Bits)> = None;
            for same in list.chunk_by(|a, b| a.0 == b.0) {
                least += same.iter().map(|it| it.1 * it.2).sum::<f64>();
                let worse = below.min(least);
                // What leaves the site anyway, or never, is nothing to branch at.
                let is_open = same[0].0 > lowest && same[0].0 <= graph.limit[v as usize];
                if is_open && best.is_none_or(|it| worse > it.0) {
                    best = Some((worse, same[0].0));
                }
                below -= same.iter().map(|it| it.1 * (1.0 - it.2)).sum::<f64>();
            }
            found.extend(best.map(|(worse, level)| (worse, v, level)));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        found.into_iter().map(|it| (it.1, it.2)).collect()
    }

    /// Cores that are not known and that the point violates.
    pub(crate) fn violated(&mut self, slack: f32, budget: &mut Budget) -> Vec<Row> {
        let (graph, cores, known) = (self.graph, &mut *self.cores, &mut self.known);
        let found = separate(graph, cores, &self.nodes, &self.x, slack, known, budget);
        for core in &found {
            known.remove(core);
        }
        found
    }

    /// Cores that a choice of the columns violates, added; how many.
    pub(crate) fn separate(&mut self, slack: f32, budget: &mut Budget) -> Option<usize> {
        let found = self.violated(slack, budget);
        let n = found.len();
        self.add(found)?;
        Some(n)
    }

    /// [`Window::separate`] at a point of zeros and ones, where a core that hides in a loop is found, too.
    pub(crate) fn separate_whole(&mut self, budget: &mut Budget) -> Option<usize> {
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

    pub(crate) fn set_point(&mut self, values: &[f64]) {
        for (&s, &value) in self.sites.iter().zip(values) {
            self.x[s as usize] = value as f32;
        }
    }

    /// A legal choice near a point: what is missing in the rows is chosen, what none needs is left out, until no core is violated.
    pub(crate) fn round(
        &mut self,
        values: &[f64],
        weights: &[u64],
        budget: &mut Budget,
    ) -> Option<Vec<bool>> {
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

    /// Sets what the columns weigh; those of no weight count as chosen.
    pub(crate) fn set_weights(&mut self, weights: &[u64]) -> Option<()> {
        let most = weights.iter().copied().max().unwrap_or(0);
        // Tolerances of a solver are absolute.
        self.unit = if most < 1 << 10 { 1.0 } else { most as f64 };
        let costs: Vec<f64> = weights.iter().map(|&it| it as f64 / self.unit).collect();
        self.lp.set_costs(&costs).ok()?;
        let (lower, upper): (Vec<f64>, Vec<f64>) =
            weights.iter().map(|&it| (if it == 0 { 1.0 } else { 0.0 }, 1.0)).unzip();
        let columns: Vec<u32> = (0..weights.len() as u32).collect();
        self.lp.set_bounds(&columns, &lower, &upper).ok()
    }

    /// What a row has more than it needs at a point, as a part of its least weight.
    fn spares(&self, row: usize, values: &[f64]) -> f64 {
        let value = |it: &(u32, u64)| it.1 as f64 * values[it.0 as usize];
        self.terms[row].iter().map(value).sum::<f64>() / self.rows[row].least() as f64 - 1.0
    }

    /// Which rows have no multiplier and spare more than some part of their least weight at the point of an answer; none that came after it.
    fn idle(&self, answer: &Optimum, spare: f64) -> Vec<bool> {
        let is_idle = |(row, &y): (usize, &f64)| {
            y < self.unit * 1e-9 && self.spares(row, &answer.values) > spare
        };
        let mut idle: Vec<bool> = answer.multipliers.iter().enumerate().map(is_idle).collect();
        idle.resize(self.rows.len(), false);
        idle
    }

    /// Lets the rows rest that have no multiplier and spare more than some part of their least weight at the point of the answer, until
    /// a point violates them: they are at hand, and solves are faster without.
    pub(crate) fn rest(&mut self, answer: &Optimum, spare: f64) -> Option<()> {
        let idle = self.idle(answer, spare);
        let rests: Vec<bool> = self.active.iter().map(|&row| idle[row as usize]).collect();
        self.active.retain(|&row| !idle[row as usize]);
        self.lp.remove_rows(&rests).ok()
    }

    /// The same, and drops those that spare much.
    pub(crate) fn drop_idle(&mut self, answer: &mut Optimum, spare: f64) -> Option<()> {
        self.rest(answer, spare.min(SPARE))?;
        let idle = self.idle(answer, SPARE);
        let mut n_stay = 0;
        let mut place = Vec::with_capacity(idle.len());
        for &is_idle in &idle {
            place.push(n_stay);
            n_stay += u32::from(!is_idle);
        }
        self.active.iter_mut().for_each(|row| *row = place[*row as usize]);
        let known = &mut self.known;
        let mut of_rows = idle.iter();
        self.rows.retain(|it| {
            let is_idle = of_rows.next() == Some(&true);
            if is_idle {
                known.remove(it);
            }
            !is_idle
        });
        let mut of_terms = idle.iter();
        self.terms.retain(|_| of_terms.next() != Some(&true));
        let mut of_multipliers = idle.iter();
        answer.multipliers.retain(|_| of_multipliers.next() != Some(&true));
        Some(())
    }

    /// Solves the relaxation over the rows that are known; multipliers and the cost are in units of weight.
    pub(crate) fn solve(&mut self, budget: &mut Budget) -> Option<Optimum> {
        loop {
            let mut answer = self.lp.solve(&budget.for_solver(self.sites.len())).ok()?;
            // A solve costs more than its iterations where these are few.
            budget.spend(3000 + self.rows.len() as u64 * 4);
            budget.spend_iterations(answer.iterations, self.sites.len());
            let mut multipliers = vec![0.0; self.rows.len()];
            let mut rests = vec![true; self.rows.len()];
            for (&row, y) in self.active.iter().zip(&answer.multipliers) {
                multipliers[row as usize] = y * self.unit;
                rests[row as usize] = false;
            }
            let is_violated = |row: &u32| {
                rests[*row as usize]
                    && self.spares(*row as usize, &answer.values) < -1e-6
                    && self.holds(&self.rows[*row as usize])
            };
            let violated: Vec<u32> = (0..self.rows.len() as u32).filter(is_violated).collect();
            if violated.is_empty() {
                answer.cost *= self.unit;
                answer.multipliers = multipliers;
                return Some(answer);
            }
            self.wake(violated.into_iter())?;
        }
    }

    /// What multipliers prove here, with what they leave of the weight of each column; times `2^SCALE`.
    pub(crate) fn certified(&self, weights: &[u64], fixed: &[Fixed], answer: &Optimum) -> Proven {
        let mut reduced: Vec<i128> =
            weights.iter().map(|&weight| i128::from(weight) << SCALE).collect();
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
        for (&it, &fixed) in reduced.iter().zip(fixed) {
            bound += match fixed {
                Fixed::Open | Fixed::Free => it.min(0),
                Fixed::Absent => 0,
                Fixed::Chosen => it,
            };
        }
        Proven { list: Arc::new(list), bound, reduced }
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
