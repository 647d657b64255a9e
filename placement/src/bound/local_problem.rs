//! A local problem consists of some sites of a graph, while all others are chosen. This module
//! contains its rows, their separation, and the bounds that multipliers prove.
//!
//! Law: if choosing a site never raises noise, the restriction of a legal choice to the sites of a
//! local problem is legal in the local problem. So the rows of a local problem are valid for the
//! whole problem.
//!
//! Cost: a solve and a separation per round. The rows are kept between solves with different
//! weights.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use noisy_solver::{Basis, Column, LinearProgram, Optimum};

use crate::bound::cores::{CoreSeparator, NoiseAssumptions};
use crate::bound::relax::MAX_IDLE_SLACK;
use crate::certificate::{ProofRow, SCALE};
use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::NoiseBits;
use crate::question::least_noise::{beyond_all_limits, least_solution};
use crate::question::limits::EffortBudget;

/// The problem of choosing some sites of a graph, which is solved repeatedly with different
/// weights.
pub(crate) struct LocalProblem<'a, 'g> {
    pub graph: &'g NoiseGraph,
    pub cores: &'a mut CoreSeparator<'g>,
    /// The sites, in increasing order.
    pub sites: Vec<u32>,
    /// The nodes that the sites affect, in the order of the graph.
    nodes: Vec<u32>,
    /// The column of each site of the graph; `NO_INDEX` outside.
    pub column: Vec<u32>,
    /// The point, by site; 1 outside.
    pub x: Vec<f32>,
    lp: LinearProgram,
    /// Indices of the rows in the solver. The other rows rest until a point violates them.
    active: Vec<u32>,
    pub rows: Vec<ProofRow>,
    /// The terms of the rows, by column.
    pub terms: Vec<Box<[(u32, u64)]>>,
    /// The cores among the rows.
    known: HashSet<ProofRow>,
    /// The current assumptions. Rows that are not valid under them rest.
    assumed: NoiseAssumptions,
    /// The weight of one unit of cost in the solver.
    unit: f64,
    pub gains: PseudoCosts,
}

/// Gains of the bound from branching at each column, down and up, per unit of change of the column
/// (pseudo-costs): sum and count.
#[derive(Clone, Debug)]
pub(crate) struct PseudoCosts(Vec<[(f64, u32); 2]>);

impl PseudoCosts {
    pub(crate) fn new(n: usize) -> PseudoCosts {
        PseudoCosts(vec![[(0.0, 0); 2]; n])
    }

    /// Records the gain of the bound when a column with value `x` is set to one or zero.
    pub(crate) fn record(&mut self, column: u32, x: f64, is_chosen: bool, gain: f64) {
        let (sum, n) = &mut self.0[column as usize][usize::from(is_chosen)];
        *sum += gain / (if is_chosen { 1.0 - x } else { x }).max(0.05);
        *n += 1;
    }

    /// Returns the number of tries of a column, the minimum over both directions.
    pub(crate) fn n_tried(&self, column: u32) -> u32 {
        let [down, up] = self.0[column as usize];
        down.1.min(up.1)
    }

    /// Returns the mean gain of all columns; 1 before the first try.
    pub(crate) fn mean(&self) -> f64 {
        let all = self.0.iter().flatten();
        let (sum, n) = all.fold((0.0, 0), |acc, it| (acc.0 + it.0, acc.1 + it.1));
        if n == 0 { 1.0 } else { sum / f64::from(n) }
    }

    /// Rates a column with value `x` for branching. `unknown` is the gain per unit in a direction
    /// that was never tried.
    pub(crate) fn score(&self, column: u32, x: f64, unknown: f64) -> f64 {
        let gain = |(sum, n): (f64, u32)| if n == 0 { unknown } else { sum / f64::from(n) };
        let [down, up] = self.0[column as usize];
        (gain(down) * x).max(1e-6) * (gain(up) * (1.0 - x)).max(1e-6)
    }
}

/// Multipliers with the indices of their rows.
pub(crate) type MultiplierList = Arc<Vec<(u32, i128)>>;

/// A bound that multipliers prove, and the reduced cost of each column, both times `2^SCALE`.
pub(crate) struct MultiplierBound {
    pub list: MultiplierList,
    pub bound: i128,
    pub reduced: Vec<i128>,
}

/// The decision about a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnDecision {
    Open,
    /// The column has no weight and counts as chosen.
    Free,
    Absent,
    Chosen,
}

impl<'a, 'g> LocalProblem<'a, 'g> {
    /// Returns the problem of some sites, which are in increasing order. `None` if the solver
    /// rejects it.
    pub(crate) fn new(
        cores: &'a mut CoreSeparator<'g>,
        sites: Vec<u32>,
    ) -> Option<LocalProblem<'a, 'g>> {
        let graph = cores.graph;
        let free = Column { cost: 0.0, lower: 0.0, upper: 1.0, is_integer: false };
        let mut column = vec![NO_INDEX; graph.n_sites()];
        let mut x = vec![1.0; graph.n_sites()];
        for (at, &s) in sites.iter().enumerate() {
            column[s as usize] = at as u32;
            x[s as usize] = 0.0;
        }
        Some(LocalProblem {
            nodes: affected_nodes(graph, &sites, &column),
            lp: LinearProgram::new(&vec![free; sites.len()]).ok()?,
            unit: 1.0,
            gains: PseudoCosts::new(sites.len()),
            graph,
            cores,
            sites,
            column,
            x,
            active: Vec::new(),
            rows: Vec::new(),
            terms: Vec::new(),
            known: HashSet::new(),
            assumed: NoiseAssumptions::default(),
        })
    }

    /// Adds valid rows; all their sites must be in this problem.
    pub(crate) fn add_rows(&mut self, rows: impl IntoIterator<Item = ProofRow>) -> Option<()> {
        let from = self.rows.len();
        for row in rows {
            if !matches!(row, ProofRow::Cut(_)) && !self.known.insert(row.clone()) {
                continue;
            }
            let mut terms = Vec::new();
            row.for_each(|s, weight| terms.push((self.column[s as usize], weight)));
            self.terms.push(terms.into());
            self.rows.push(row);
        }
        self.activate_rows(from as u32..self.rows.len() as u32)
    }

    /// Adds rows to the solver.
    fn activate_rows(&mut self, rows: impl Iterator<Item = u32> + Clone) -> Option<()> {
        let column = |s: u32| self.column[s as usize];
        let scaled = rows.clone().map(|row| self.rows[row as usize].scaled_terms(column));
        let scaled: Vec<Vec<(u32, f64)>> = scaled.collect();
        self.active.extend(rows);
        self.lp.add_rows(scaled.iter().map(|it| (1.0, &it[..]))).ok()
    }

    /// Makes each solve start from the basis of [`LocalProblem::set_basis`].
    pub(crate) fn start_from_set_basis(&mut self) -> Option<()> {
        self.lp.expect_given_bases().ok()
    }

    /// Sets the bounds of some columns.
    pub(crate) fn set_bounds(
        &mut self,
        columns: &[u32],
        lower: &[f64],
        upper: &[f64],
    ) -> Option<()> {
        self.lp.set_bounds(columns, lower, upper).ok()
    }

    /// Returns the basis of the last solution, over all rows.
    pub(crate) fn basis(&mut self) -> Option<Basis> {
        let it = self.lp.basis().ok()?;
        let mut rows = vec![Basis::BASIC; self.rows.len()];
        for (&row, status) in self.active.iter().zip(it.rows) {
            rows[row as usize] = status;
        }
        Some(Basis { columns: it.columns, rows })
    }

    /// Sets the basis for the start of the next solve. It covers the first rows; later rows are
    /// basic.
    pub(crate) fn set_basis(&mut self, basis: &Basis) -> Option<()> {
        let mut resting = vec![true; self.rows.len()];
        self.active.iter().for_each(|&row| resting[row as usize] = false);
        let needed = (0..).zip(&basis.rows).filter(|it| *it.1 != Basis::BASIC).map(|it| it.0);
        let needed: Vec<u32> = needed.filter(|&row: &u32| resting[row as usize]).collect();
        self.activate_rows(needed.into_iter())?;
        let status = |&row: &u32| basis.rows.get(row as usize).copied().unwrap_or(Basis::BASIC);
        let rows = self.active.iter().map(status).collect();
        self.lp.set_basis(&Basis { columns: basis.columns.clone(), rows }).ok()
    }

    /// Adds valid rows that rest until a point violates them. Known rows are added again, so that
    /// rows get the same indices in each copy of the problem.
    pub(crate) fn append_resting(&mut self, rows: &[ProofRow]) {
        for row in rows {
            if !matches!(row, ProofRow::Cut(_)) {
                self.known.insert(row.clone());
            }
            let mut terms = Vec::new();
            row.for_each(|s, weight| terms.push((self.column[s as usize], weight)));
            self.terms.push(terms.into());
            self.rows.push(row.clone());
        }
    }

    /// Returns true if a row is valid under the current assumptions.
    pub(crate) fn is_valid(&self, row: &ProofRow) -> bool {
        self.assumed.implies_conditions(row)
    }

    /// Replaces the assumptions. Rows that are not valid under them rest.
    pub(crate) fn assume(&mut self, assumed: &NoiseAssumptions) -> Option<()> {
        if self.assumed == *assumed {
            return Some(());
        }
        self.cores.assume(assumed);
        self.assumed.clone_from(assumed);
        let rests: Vec<bool> = self
            .active
            .iter()
            .map(|&row| !assumed.implies_conditions(&self.rows[row as usize]))
            .collect();
        if !rests.contains(&true) {
            return Some(());
        }
        let mut of_rows = rests.iter();
        self.active.retain(|_| of_rows.next() != Some(&true));
        self.lp.remove_rows(&rests).ok()
    }

    /// Returns nodes and levels to branch at, ordered by the expected gain of the worse branch. In
    /// the branch below the level, the parts up to the node of all cores that bring it to at least
    /// this level are cores. In the branch from the level on, the parts after the node of all cores
    /// that need at most this level are cores.
    ///
    /// If a row with multiplier `y` is split into parts of weights `a` and `1 - a`, it raises the
    /// bound by at most `y (1 - a)` in one branch and `y a` in the other.
    pub(crate) fn branching_levels(&self, answer: &Optimum) -> Vec<(u32, NoiseBits)> {
        let graph = self.graph;
        // By node: the level to which a core brings it, the multiplier of the core, and the weight
        // of the core up to the node.
        let mut passes: BTreeMap<u32, Vec<(NoiseBits, f64, f64)>> = BTreeMap::new();
        let mut pass = |core: &[u32], y: f64| {
            let nodes = core.iter().flat_map(|&s| graph.nodes_of.of(s).iter().copied());
            let mut nodes: Vec<u32> = nodes.collect();
            nodes.sort_unstable_by_key(|&v| graph.rank[v as usize]);
            let mut leaves: Vec<(u32, NoiseBits)> = Vec::with_capacity(nodes.len());
            let mut part = 0.0;
            for v in nodes {
                let before = graph.noise_before(v, |u| match leaves.iter().find(|it| it.0 == u) {
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
                ProofRow::Core(core) => pass(core, y),
                ProofRow::CoreWhere(it) => pass(&it.core, y),
                ProofRow::Cut(cut) => {
                    let list = cut.proof.multipliers.first().into_iter().flatten();
                    for &(row, times) in list {
                        if let ProofRow::Core(core) = &cut.proof.rows[row as usize] {
                            pass(core, y * times.0 as f64 / (1_u64 << SCALE) as f64);
                        }
                    }
                }
            }
        }
        let mut found: Vec<(f64, u32, NoiseBits)> = Vec::new();
        for (v, mut list) in passes {
            let is_assumed = |it: &(u32, NoiseBits)| it.0 == v;
            let assumed = &self.assumed;
            if assumed.below.iter().any(is_assumed) || assumed.least.iter().any(is_assumed) {
                continue;
            }
            list.sort_by_key(|it| it.0);
            let lowest =
                self.cores.levels().0[v as usize].max(graph.reset[graph.site[v as usize] as usize]);
            let mut below: f64 = list.iter().map(|it| it.1 * (1.0 - it.2)).sum();
            let mut least = 0.0;
            let mut best: Option<(f64, NoiseBits)> = None;
            for same in list.chunk_by(|a, b| a.0 == b.0) {
                least += same.iter().map(|it| it.1 * it.2).sum::<f64>();
                let worse = below.min(least);
                // Branching is useless at a level that the noise after the node always or never
                // reaches.
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

    /// Returns new cores that the point violates.
    pub(crate) fn violated_cores(
        &mut self,
        slack: f32,
        budget: &mut EffortBudget,
    ) -> Vec<ProofRow> {
        let known = &mut self.known;
        let found = self.cores.separate(&self.nodes, &self.x, slack, known, budget);
        for core in &found {
            known.remove(core);
        }
        found
    }

    /// Adds the cores that the point violates. Returns their number.
    pub(crate) fn separate(&mut self, slack: f32, budget: &mut EffortBudget) -> Option<usize> {
        let found = self.violated_cores(slack, budget);
        let n = found.len();
        self.add_rows(found)?;
        Some(n)
    }

    /// Like [`LocalProblem::separate`], at an integral point. It also finds a core that is hidden
    /// in a cycle.
    pub(crate) fn separate_integral(&mut self, budget: &mut EffortBudget) -> Option<usize> {
        let found = self.separate(0.5, budget)?;
        if found > 0 || !self.graph.is_cyclic {
            return Some(found);
        }
        let mut absent: Vec<bool> = self.x.iter().map(|&x| x < 0.5).collect();
        if !is_over_without(self.graph, &absent) {
            return Some(0);
        }
        // Shrinks the core: inserts sites in smaller and smaller groups, as long as a node stays
        // over its limit.
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
        self.add_rows([ProofRow::Core(left.into())])?;
        Some(1)
    }

    pub(crate) fn set_point(&mut self, values: &[f64]) {
        for (&s, &value) in self.sites.iter().zip(values) {
            self.x[s as usize] = value as f32;
        }
    }

    /// Rounds a point to a legal choice: chooses sites until all rows are satisfied and removes
    /// sites that no row needs, until no core is violated.
    pub(crate) fn round_to_legal(
        &mut self,
        values: &[f64],
        weights: &[u64],
        budget: &mut EffortBudget,
    ) -> Option<Vec<bool>> {
        let mut chosen: Vec<bool> = values.iter().map(|&x| x > 0.6).collect();
        let mut by_weight: Vec<usize> = (0..chosen.len()).collect();
        by_weight.sort_by(|&a, &b| {
            weights[b].cmp(&weights[a]).then(values[a].total_cmp(&values[b])).then(a.cmp(&b))
        });
        loop {
            // The slack of each row.
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
            if self.separate_integral(budget)? == 0 {
                return Some(chosen);
            }
            if budget.is_spent() {
                return None;
            }
        }
    }

    /// Sets the weights of the columns. Columns without weight count as chosen.
    pub(crate) fn set_weights(&mut self, weights: &[u64]) -> Option<()> {
        let most = weights.iter().copied().max().unwrap_or(0);
        // Large weights are scaled, because the tolerances of the solver are absolute.
        self.unit = if most < 1 << 10 { 1.0 } else { most as f64 };
        let costs: Vec<f64> = weights.iter().map(|&it| it as f64 / self.unit).collect();
        self.lp.set_costs(&costs).ok()?;
        let (lower, upper): (Vec<f64>, Vec<f64>) =
            weights.iter().map(|&it| (if it == 0 { 1.0 } else { 0.0 }, 1.0)).unzip();
        let columns: Vec<u32> = (0..weights.len() as u32).collect();
        self.lp.set_bounds(&columns, &lower, &upper).ok()
    }

    /// Returns the slack of a row at a point, relative to its least weight.
    fn relative_slack(&self, row: usize, values: &[f64]) -> f64 {
        let value = |it: &(u32, u64)| it.1 as f64 * values[it.0 as usize];
        self.terms[row].iter().map(value).sum::<f64>() / self.rows[row].least() as f64 - 1.0
    }

    /// Returns, for each row, true if it is idle: it has no multiplier, and its slack at the point
    /// exceeds `spare`. Rows that were added after the answer are not idle.
    fn idle_rows(&self, answer: &Optimum, spare: f64) -> Vec<bool> {
        let is_idle = |(row, &y): (usize, &f64)| {
            y < self.unit * 1e-9 && self.relative_slack(row, &answer.values) > spare
        };
        let mut idle: Vec<bool> = answer.multipliers.iter().enumerate().map(is_idle).collect();
        idle.resize(self.rows.len(), false);
        idle
    }

    /// Makes idle rows ([`LocalProblem::idle_rows`]) rest until a point violates them, which makes
    /// solves faster.
    pub(crate) fn deactivate_idle(&mut self, answer: &Optimum, spare: f64) -> Option<()> {
        let idle = self.idle_rows(answer, spare);
        let rests: Vec<bool> = self.active.iter().map(|&row| idle[row as usize]).collect();
        self.active.retain(|&row| !idle[row as usize]);
        self.lp.remove_rows(&rests).ok()
    }

    /// Makes idle rows rest, and drops idle rows with much slack.
    pub(crate) fn drop_idle(&mut self, answer: &mut Optimum, spare: f64) -> Option<()> {
        self.deactivate_idle(answer, spare.min(MAX_IDLE_SLACK))?;
        let idle = self.idle_rows(answer, MAX_IDLE_SLACK);
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

    /// Solves the relaxation over all known rows. Multipliers and cost are in units of weight.
    pub(crate) fn solve(&mut self, budget: &mut EffortBudget) -> Option<Optimum> {
        loop {
            let mut answer = self.lp.solve(&budget.for_solver(self.sites.len())).ok()?;
            // The fixed cost of a solve.
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
                    && self.relative_slack(*row as usize, &answer.values) < -1e-6
                    && self.is_valid(&self.rows[*row as usize])
            };
            let violated: Vec<u32> = (0..self.rows.len() as u32).filter(is_violated).collect();
            if violated.is_empty() {
                answer.cost *= self.unit;
                answer.multipliers = multipliers;
                return Some(answer);
            }
            self.activate_rows(violated.into_iter())?;
        }
    }

    /// Returns the bound that the multipliers of an answer prove.
    pub(crate) fn multiplier_bound(
        &self,
        weights: &[u64],
        fixed: &[ColumnDecision],
        answer: &Optimum,
    ) -> MultiplierBound {
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
                ColumnDecision::Open | ColumnDecision::Free => it.min(0),
                ColumnDecision::Absent => 0,
                ColumnDecision::Chosen => it,
            };
        }
        MultiplierBound { list: Arc::new(list), bound, reduced }
    }
}

/// Returns true if a node is over its limit while the absent sites are not chosen and all others
/// lower noise as far as they can.
fn is_over_without(graph: &NoiseGraph, absent: &[bool]) -> bool {
    let n = graph.n_nodes();
    let (mut p, mut e) = (vec![0; n], vec![0; n]);
    let most = beyond_all_limits(graph);
    let after = |v: u32, p: NoiseBits| match graph.site[v as usize] {
        s if s != NO_INDEX && !absent[s as usize] => p.min(graph.reset[s as usize]),
        _ => p,
    };
    least_solution(graph, &mut p, &mut e, |_, p| p.min(most), after);
    p.iter().zip(&graph.limit).any(|(p, limit)| p > limit)
}

/// Returns the nodes that some sites affect: their own nodes, and the nodes that they reach if all
/// other sites are chosen.
fn affected_nodes(graph: &NoiseGraph, sites: &[u32], column: &[u32]) -> Vec<u32> {
    let mut nodes: Vec<u32> = Vec::new();
    let mut is_in: rustc_hash::FxHashSet<u32> = rustc_hash::FxHashSet::default();
    for &s in sites {
        nodes.extend(graph.nodes_of.of(s).iter().filter(|v| is_in.insert(**v)));
    }
    let mut next = 0;
    while let Some(&v) = nodes.get(next) {
        next += 1;
        let site = graph.site[v as usize];
        if site != NO_INDEX && column[site as usize] == NO_INDEX {
            continue;
        }
        nodes.extend(graph.users.of(v).iter().filter(|w| is_in.insert(**w)));
    }
    nodes.sort_unstable_by_key(|&v| graph.rank[v as usize]);
    nodes
}
