//! Branch and bound over cores: finds the least weight of a legal choice of some sites, with a
//! proof. All other sites count as chosen.
//!
//! At each node of the tree the relaxation over the known rows is solved, and violated cores are
//! added; they are valid in the whole tree. A node is closed if its multipliers prove, in integers,
//! that its subtree contains no better choice. Sites are settled for the subtree by reduced cost.
//! All these multipliers are kept, so that the tree is a [`Proof`] of the least bound of its open
//! nodes at any time.
//!
//! Cost: a few dozen simplex iterations and some separations per node. Memory: the multipliers of
//! all nodes.

use noisy_solver::Optimum;
use num_integer::gcd;

use crate::bound::local_problem::{ColumnDecision, LocalProblem, MultiplierList};
use crate::bound::tree::{BranchTree, Branching};
use crate::certificate::Proof;
use crate::question::limits::EffortBudget;

/// Conditions for the end of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchEffort {
    /// Maximum number of nodes of the tree.
    pub nodes: usize,
    /// The search ends when the bound is at most this much below the best choice.
    pub tolerance: u64,
    /// The search ends when a choice weighs less than this.
    pub enough: u64,
}

/// Called with a function that builds the proof, with the bound, and with a better choice if there
/// is one.
pub(crate) type Report<'r> = dyn FnMut(&dyn Fn() -> Proof, u64, Option<&[bool]>) + 'r;

/// The result of a search.
#[derive(Debug)]
pub(crate) struct LeastWeight {
    /// The best known choice, by column.
    pub choice: Vec<bool>,
    /// The proof of a lower bound.
    pub proof: Proof,
}

impl LocalProblem<'_, '_> {
    /// Finds the least weight of a legal choice. `report` is called with better bounds and choices.
    /// `None` if the solver fails immediately.
    pub(crate) fn find_least_weight(
        &mut self,
        weights: &[u64],
        known: Vec<bool>,
        effort: SearchEffort,
        report: &mut Report,
        budget: &mut EffortBudget,
    ) -> Option<LeastWeight> {
        let grain = weights.iter().fold(0, |grain, &weight| gcd(grain, weight)).max(1);
        let scaled: Vec<u64> = weights.iter().map(|it| it / grain).collect();
        self.set_weights(&scaled)?;
        let fixed = scaled
            .iter()
            .map(|&it| if it == 0 { ColumnDecision::Free } else { ColumnDecision::Open })
            .collect();
        let mut tree = BranchTree::new(scaled, known, fixed, MultiplierList::default(), 0);
        let mut told = 0;
        let mut next = None;
        while tree.nodes.len() < effort.nodes && !budget.is_spent() {
            let Some(at) = next.take().or_else(|| tree.next()) else { break };
            let upper = tree.upper;
            next = match self.visit(&mut tree, at, budget) {
                VisitResult::ContinueWith(next) => next,
                VisitResult::Failed => break,
            };
            let lower = tree.lower();
            if lower > told || tree.upper < upper {
                told = lower;
                let choice = (tree.upper < upper).then_some(&*tree.choice);
                let proof = || tree.proof(&self.sites, &self.rows, weights, grain);
                report(&proof, lower.saturating_mul(grain), choice);
            }
            if lower.saturating_add(effort.tolerance / grain) >= tree.upper
                || tree.upper.saturating_mul(grain) < effort.enough
            {
                break;
            }
        }
        Some(LeastWeight {
            proof: tree.proof(&self.sites, &self.rows, weights, grain),
            choice: tree.choice,
        })
    }

    /// Solves the relaxation of a node, and closes or branches it. Returns the new node to continue
    /// with.
    fn visit(&mut self, tree: &mut BranchTree, at: u32, budget: &mut EffortBudget) -> VisitResult {
        let wanted = tree.decisions(at);
        if self.set_decisions(&mut tree.fixed, &wanted).is_none() {
            return VisitResult::Failed;
        }
        let mut round = 0;
        let (answer, proven) = loop {
            if let Some(row) = self.unsatisfiable_row(|column| tree.fixed[column as usize]) {
                let list = tree.infeasibility_multipliers(row);
                tree.nodes[at as usize].prove(&list, i128::MAX >> 8);
                tree.close(at);
                return VisitResult::ContinueWith(None);
            }
            let Some(answer) = self.solve(budget) else { return VisitResult::Failed };
            let proven = self.multiplier_bound(&tree.weights, &tree.fixed, &answer);
            tree.nodes[at as usize].prove(&proven.list, proven.bound);
            if tree.close_if_dominated(at) {
                return VisitResult::ContinueWith(None);
            }
            self.set_point(&answer.values);
            let is_whole = answer.values.iter().all(|x| (x - x.round()).abs() < 1e-6);
            let slack = if at == 0 { 1e-4 } else { 0.02 };
            let found = match round {
                _ if is_whole => self.separate_integral(budget),
                0..4 => self.separate(slack, budget),
                _ if at == 0 => self.separate(slack, budget),
                _ => Some(0),
            };
            let Some(found) = found else { return VisitResult::Failed };
            if found == 0 {
                if is_whole {
                    // The point is a legal choice, and it is optimal in this subtree up to the
                    // rounding of the solver.
                    tree.offer(answer.values.iter().map(|&x| x > 0.5).collect());
                    if !tree.close_if_dominated(at) {
                        tree.give_up(at);
                    }
                    return VisitResult::ContinueWith(None);
                }
                break (answer, proven);
            }
            if budget.is_spent() {
                return VisitResult::ContinueWith(None);
            }
            round += 1;
        };
        if at == 0 || tree.nodes.len().is_multiple_of(16) {
            if let Some(choice) = self.round_to_legal(&answer.values, &tree.weights, budget) {
                tree.offer(choice);
            }
            if tree.close_if_dominated(at) {
                return VisitResult::ContinueWith(None);
            }
        }
        tree.settle(at, &proven);
        let Some((column, value)) = self.select_column(tree, &answer, budget) else {
            return VisitResult::Failed;
        };
        let first = tree.branch(at, Branching::Site(column));
        // Continue with the value nearest to the point.
        VisitResult::ContinueWith(Some(first + u32::from(value > 0.5)))
    }

    /// Sets the bounds of the columns to the decisions of a node. `fixed` are the current decisions
    /// of the solver.
    pub(crate) fn set_decisions(
        &mut self,
        fixed: &mut [ColumnDecision],
        wanted: &[ColumnDecision],
    ) -> Option<()> {
        let mut changed = Vec::new();
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (column, (is, &wanted)) in fixed.iter_mut().zip(wanted).enumerate() {
            if *is != wanted {
                *is = wanted;
                changed.push(column as u32);
                lower.push(if matches!(wanted, ColumnDecision::Chosen | ColumnDecision::Free) {
                    1.0
                } else {
                    0.0
                });
                upper.push(if wanted == ColumnDecision::Absent { 0.0 } else { 1.0 });
            }
        }
        if changed.is_empty() { Some(()) } else { self.set_bounds(&changed, &lower, &upper) }
    }

    /// Returns a row that cannot be satisfied any more.
    pub(crate) fn unsatisfiable_row(&self, fixed: impl Fn(u32) -> ColumnDecision) -> Option<u32> {
        let row = self.terms.iter().zip(&self.rows).position(|(terms, row)| {
            let open = terms.iter().filter(|it| fixed(it.0) != ColumnDecision::Absent);
            open.fold(0, |sum: u64, it| sum.saturating_add(it.1)) < row.least()
                && self.is_valid(row)
        })?;
        Some(row as u32)
    }

    /// Selects the column to branch at: the one with the largest expected gain of the bound in both
    /// directions.
    fn select_column(
        &mut self,
        tree: &BranchTree,
        answer: &Optimum,
        budget: &mut EffortBudget,
    ) -> Option<(u32, f64)> {
        /// Number of columns to try (strong branching), and number of tries after which the mean
        /// gain is used instead.
        const TRIED: usize = 8;
        const BELIEVED: u32 = 2;
        let open = |it: &(usize, &f64)| {
            tree.fixed[it.0] == ColumnDecision::Open && (it.1 - it.1.round()).abs() > 1e-6
        };
        let mut candidates: Vec<(f64, u32)> = answer
            .values
            .iter()
            .enumerate()
            .filter(open)
            .map(|(column, &x)| (self.gains.score(column as u32, x, 1.0), column as u32))
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (_, mut best) = *candidates.first()?;
        let mut most = -1.0;
        for &(score, column) in candidates.iter().take(TRIED) {
            let x = answer.values[column as usize];
            let mut score = score;
            if self.gains.n_tried(column) < BELIEVED {
                for value in [0.0, 1.0] {
                    self.set_bounds(&[column], &[value], &[value])?;
                    let without = |it| match tree.fixed[it as usize] {
                        _ if it == column => ColumnDecision::Absent,
                        fixed => fixed,
                    };
                    let gain = if value == 0.0 && self.unsatisfiable_row(without).is_some() {
                        answer.cost.abs().max(1.0)
                    } else {
                        (self.solve(budget)?.cost - answer.cost).max(0.0)
                    };
                    self.gains.record(column, x, value > 0.5, gain);
                }
                self.set_bounds(&[column], &[0.0], &[1.0])?;
                score = self.gains.score(column, x, 1.0);
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
}

enum VisitResult {
    /// The node to continue with, if any.
    ContinueWith(Option<u32>),
    Failed,
}
