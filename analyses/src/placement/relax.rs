//! The linear relaxation over conflict cores: a bound for any size, in integers.
//!
//! Start without rows; solve; separate violated cores ([`super::cores`]); add them; repeat until none is violated.
//! Rows that stopped binding are dropped now and then. After each solve the multipliers `y >= 0` of the rows
//! give a bound that does not trust the solver: whatever they are, every choice that hits all cores costs at
//! least
//!
//! ```text
//! sum of y  +  sum over sites s of min(0, cost(s) - sum of y over the cores with s)
//! ```
//!
//! computed in integers after rounding the multipliers down. Where every core counts once this is a packing: `k`
//! disjoint cores prove that `k` sites are needed.
//!
//! *Stretches.* The simplex method is superlinear, and most cores are local. So a large graph is first cut along its
//! order into stretches, each with the cores that lie wholly in it. Their bounds add up, so there is a bound early;
//! and their optimal bases together are an optimal basis of all their rows, from which the whole goes on.

use std::collections::HashSet;
use std::ops::Range;

use super::board::Board;
use super::cores::{Core, Cores};
use super::exact::Budget;
use super::graph::Graph;
use super::highs::{Basis, Column, Lp, LpAnswer};

/// Multipliers and bounds are counted in units of `2^-SCALE`.
pub(super) const SCALE: u32 = 24;

/// What the relaxation leaves behind.
pub(super) struct Relaxed {
    /// The cores of the last program.
    pub cores: Vec<Core>,
    /// The bound, times `2^SCALE`.
    pub bound: i128,
    /// The cores that prove it.
    pub proof: Vec<Core>,
    /// Their multipliers, times `2^SCALE`.
    pub multipliers: Vec<i128>,
    /// Reduced cost per site, times `2^SCALE`.
    pub reduced: Vec<i128>,
    /// No core is violated.
    pub complete: bool,
}

/// Solves the relaxation as far as the budget goes, posting bounds. `None` when the solver fails at once.
pub(super) fn relax(
    graph: &Graph,
    cores: &mut Cores,
    board: &Board,
    budget: &mut Budget,
) -> Option<Relaxed> {
    let n = graph.n_sites();
    let mut whole = Program::new(graph, (0..n as u32).collect(), 0..graph.n_nodes())?;
    if n >= 3 * STRETCH && budget.steps.stretch {
        let mut basis = Basis::new(n);
        let mut rows = Vec::new();
        let mut bound = 0;
        for (sites, ranks) in stretches(graph) {
            let mut program = Program::new(graph, sites, ranks)?;
            let before = bound;
            program.rounds(graph, cores, board, budget, before)?;
            bound += program.bound;
            if budget.is_spent() || board.is_proven() {
                return None;
            }
            program.basis(&mut basis)?;
            rows.append(&mut program.rows);
        }
        whole.start(rows, &basis)?;
    }
    whole.rounds(graph, cores, board, budget, 0)?;
    Some(Relaxed {
        cores: whole.rows,
        bound: whole.bound,
        proof: whole.proof,
        multipliers: whole.multipliers,
        reduced: whole.reduced,
        complete: whole.complete,
    })
}

/// Sites per stretch.
const STRETCH: usize = 2000;

/// Runs of the order with their sites. A site with several nodes belongs to the first.
fn stretches(graph: &Graph) -> Vec<(Vec<u32>, Range<usize>)> {
    let n_stretches = graph.n_sites() / STRETCH;
    let most = graph.n_sites().div_ceil(n_stretches.max(1));
    let mut stretches: Vec<(Vec<u32>, Range<usize>)> = vec![(Vec::new(), 0..0)];
    let mut seen = vec![false; graph.n_sites()];
    for (rank, &v) in graph.order.iter().enumerate() {
        if stretches.last().is_some_and(|(sites, _)| sites.len() >= most) {
            stretches.push((Vec::new(), rank..rank));
        }
        let Some((sites, ranks)) = stretches.last_mut() else { break };
        ranks.end = rank + 1;
        let s = graph.site[v as usize];
        if s != super::graph::NONE && !std::mem::replace(&mut seen[s as usize], true) {
            sites.push(s);
        }
    }
    stretches
}

/// A linear program over some sites and the cores among them.
struct Program {
    lp: Lp,
    /// Its columns as sites.
    sites: Vec<u32>,
    /// Sites as columns; `u32::MAX` for those outside.
    column: Vec<u32>,
    /// The nodes it looks at, as places in the order.
    ranks: Range<usize>,
    rows: Vec<Core>,
    known: HashSet<Core>,
    /// The point, per site of the graph; 1 outside, so that no core with such a site is violated.
    x: Vec<f32>,
    bound: i128,
    proof: Vec<Core>,
    multipliers: Vec<i128>,
    reduced: Vec<i128>,
    complete: bool,
}

impl Program {
    fn new(graph: &Graph, sites: Vec<u32>, ranks: Range<usize>) -> Option<Program> {
        let columns: Vec<Column> = sites
            .iter()
            .map(|&s| Column {
                cost: graph.cost[s as usize] as f64,
                lower: 0.0,
                upper: 1.0,
                integer: false,
            })
            .collect();
        let mut column = vec![u32::MAX; graph.n_sites()];
        let mut x = vec![1.0; graph.n_sites()];
        for (i, &s) in sites.iter().enumerate() {
            column[s as usize] = i as u32;
            x[s as usize] = 0.0;
        }
        Some(Program {
            lp: Lp::new(&columns)?,
            sites,
            column,
            ranks,
            rows: Vec::new(),
            known: HashSet::new(),
            x,
            bound: 0,
            proof: Vec::new(),
            multipliers: Vec::new(),
            reduced: graph.cost.iter().map(|&c| i128::from(c) << SCALE).collect(),
            complete: false,
        })
    }

    /// Rows that are known to matter, and a basis for them.
    fn start(&mut self, rows: Vec<Core>, basis: &Basis) -> Option<()> {
        self.add(&rows)?;
        self.known.extend(rows.iter().cloned());
        self.rows = rows;
        self.lp.set_basis(basis)
    }

    fn add(&mut self, rows: &[Core]) -> Option<()> {
        let columns: Vec<Vec<u32>> = rows
            .iter()
            .map(|core| core.iter().map(|&s| self.column[s as usize]).collect())
            .collect();
        let columns: Vec<&[u32]> = columns.iter().map(|row| &**row).collect();
        self.lp.add(&columns, 1.0)
    }

    /// Solves and separates until nothing is violated. Bounds are posted on top of `base`. What was reached stays
    /// when the budget ends; `None` when the solver fails.
    fn rounds(
        &mut self,
        graph: &Graph,
        cores: &mut Cores,
        board: &Board,
        budget: &mut Budget,
        base: i128,
    ) -> Option<()> {
        let mut round = 0;
        let mut earlier = [0; 3];
        // Rows to begin with are solved before the first separation.
        let mut found = Vec::new();
        loop {
            if round > 0 || self.rows.is_empty() {
                let ranks = self.ranks.clone();
                found = separate(graph, cores, ranks, &self.x, 1e-4, &mut self.known, budget);
                if found.is_empty() {
                    self.complete = !budget.is_spent();
                    return Some(());
                }
            }
            if budget.is_spent() {
                return Some(());
            }
            if !found.is_empty() {
                self.add(&found)?;
            }
            self.rows.append(&mut found);
            let Some(answer) = self.lp.solve(&budget.effort(self.sites.len())) else {
                return Some(());
            };
            budget.spend_iterations(answer.iterations, self.sites.len());
            for (&s, value) in self.sites.iter().zip(&answer.values) {
                self.x[s as usize] = *value as f32;
            }
            self.certify(graph, &answer);
            board.prove(ceiling(base + self.bound));
            if board.is_proven() {
                return Some(());
            }
            // A stretch is only a beginning: its last thousandths are left to the whole.
            let local = self.sites.len() < graph.n_sites();
            if local && round > 3 && self.bound - earlier[round % 3] < self.bound / 1000 {
                return Some(());
            }
            earlier[round % 3] = self.bound;
            round += 1;
            if round.is_multiple_of(10) {
                self.drop_idle(&answer)?;
            }
        }
    }

    /// The bound of the module's header, kept if it is better.
    fn certify(&mut self, graph: &Graph, answer: &LpAnswer) {
        let mut reduced: Vec<i128> = graph.cost.iter().map(|&c| i128::from(c) << SCALE).collect();
        let multipliers: Vec<i128> = answer.multipliers.iter().map(|&y| scaled(y)).collect();
        let mut bound = 0_i128;
        for (core, &y) in self.rows.iter().zip(&multipliers) {
            bound += y;
            for &s in core {
                reduced[s as usize] -= y;
            }
        }
        bound += reduced.iter().map(|&r| r.min(0)).sum::<i128>();
        if bound > self.bound {
            self.bound = bound;
            self.reduced = reduced;
            self.proof.clone_from(&self.rows);
            self.multipliers = multipliers;
        }
    }

    /// Drops the rows without a multiplier.
    fn drop_idle(&mut self, answer: &LpAnswer) -> Option<()> {
        let idle: Vec<bool> = answer.multipliers.iter().map(|m| *m < 1e-9).collect();
        self.lp.remove(&idle)?;
        let mut i = 0;
        let known = &mut self.known;
        self.rows.retain(|core| {
            let keep = !idle[i];
            i += 1;
            if !keep {
                known.remove(core);
            }
            keep
        });
        debug_assert_eq!(self.lp.n_rows(), self.rows.len());
        Some(())
    }

    /// Adds the basis of this program to that of the whole, whose rows are those of all programs in turn.
    fn basis(&mut self, whole: &mut Basis) -> Option<()> {
        let basis = self.lp.basis()?;
        for (&s, &status) in self.sites.iter().zip(&basis.columns) {
            whole.columns[s as usize] = status;
        }
        whole.rows.extend_from_slice(&basis.rows);
        Some(())
    }
}

/// Cores that a point violates, each site in a few of them only, none known already.
pub(super) fn separate(
    graph: &Graph,
    cores: &mut Cores,
    ranks: Range<usize>,
    x: &[f32],
    slack: f32,
    known: &mut HashSet<Core>,
    budget: &mut Budget,
) -> Vec<Core> {
    /// New cores per site and round.
    const SHARE: u8 = 3;
    let before = cores.work;
    cores.fill(x, ranks.clone());
    budget.spend(cores.work - before);
    let mut uses = vec![0_u8; graph.n_sites()];
    let mut found = Vec::new();
    for (_, v) in cores.violated(ranks, slack) {
        let Some(core) = cores.core(x, v) else { continue };
        if core.iter().all(|&s| uses[s as usize] >= SHARE) || !known.insert(core.clone()) {
            continue;
        }
        for &s in &core {
            uses[s as usize] = uses[s as usize].saturating_add(1);
        }
        found.push(core);
    }
    found
}

/// A multiplier as an integer, rounded down; at least zero.
fn scaled(y: f64) -> i128 {
    if y.is_finite() { (y.max(0.0) * f64::from(1_u32 << SCALE)) as i128 } else { 0 }
}

/// The least integer cost at or above a bound.
pub(super) fn ceiling(bound: i128) -> u64 {
    let unit = 1_i128 << SCALE;
    u64::try_from((bound.max(0) + unit - 1) >> SCALE).unwrap_or(u64::MAX)
}
