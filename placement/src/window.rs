//! Some sites of a graph as a problem of their own, all others chosen: its rows, their separation, and what multipliers prove of it.
//!
//! Law kept: where choosing a site never raises noise, the sites of a legal choice of the whole that lie in a window are a legal
//! choice of the window. So rows of a window hold for the whole.
//!
//! Costs: a solve and a separation for each round; the rows are kept from one question to the next.

use std::collections::HashSet;
use std::rc::Rc;

use noisy_solver::{Column, LinearProgram, Optimum};

use crate::certificate::Row;
use crate::cores::{Core, Cores};
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
    pub lp: LinearProgram,
    pub rows: Vec<Row>,
    /// The terms of the rows, by column.
    pub terms: Vec<Box<[(u32, u64)]>>,
    known: HashSet<Core>,
    /// So much weight costs one in the solver.
    unit: f64,
    /// What a column gains in each direction: sum and count.
    pub gains: Vec<[(f64, u32); 2]>,
}

/// Multipliers of rows by index.
pub(crate) type List = Rc<Vec<(u32, i128)>>;

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
    pub(crate) fn separate(&mut self, slack: f32, budget: &mut Budget) -> Option<usize> {
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

    /// Drops the rows without a multiplier that spare much at the point of the answer.
    pub(crate) fn drop_idle(&mut self, answer: &mut Optimum) -> Option<()> {
        let spares = |row: usize| {
            let value = |it: &(u32, u64)| it.1 as f64 * answer.values[it.0 as usize];
            self.terms[row].iter().map(value).sum::<f64>() / self.rows[row].least() as f64 - 1.0
        };
        let is_idle = |(row, &y): (usize, &f64)| y < self.unit * 1e-9 && spares(row) > SPARE;
        let mut idle: Vec<bool> = answer.multipliers.iter().enumerate().map(is_idle).collect();
        // What came after the answer.
        idle.resize(self.rows.len(), false);
        self.lp.remove_rows(&idle).ok()?;
        let mut row = 0;
        let known = &mut self.known;
        self.rows.retain(|it| {
            if let (true, Row::Core(core)) = (idle[row], it) {
                known.remove(core);
            }
            row += 1;
            !idle[row - 1]
        });
        let mut of_terms = idle.iter();
        self.terms.retain(|_| of_terms.next() != Some(&true));
        let mut of_multipliers = idle.iter();
        answer.multipliers.retain(|_| of_multipliers.next() != Some(&true));
        Some(())
    }

    /// Solves the relaxation over the rows that are known; multipliers and the cost are in units of weight.
    pub(crate) fn solve(&mut self, budget: &mut Budget) -> Option<Optimum> {
        let mut answer = self.lp.solve(&budget.for_solver(self.sites.len())).ok()?;
        // A solve costs more than its iterations where these are few.
        budget.spend(3000 + self.rows.len() as u64 * 4);
        budget.spend_iterations(answer.iterations, self.sites.len());
        answer.cost *= self.unit;
        answer.multipliers.iter_mut().for_each(|it| *it *= self.unit);
        Some(answer)
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
        Proven { list: Rc::new(list), bound, reduced }
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
