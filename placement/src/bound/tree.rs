//! The tree of branch and bound: the decision at each node, and the multipliers that prove its
//! bound. At any time, the tree is a [`Proof`] of a lower bound.
//!
//! Memory: the multipliers of all nodes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::bound::local_problem::{ColumnDecision, MultiplierBound, MultiplierList};
use crate::certificate::{Multiplier, Proof, ProofRow, ProofStep, SCALE, ceil_cost};
use crate::question::graph::NO_INDEX;
use crate::question::instance::NoiseBits;

pub(crate) struct TreeNode {
    pub parent: u32,
    /// The decision between the parent and this node. True if the site is chosen, or if the noise
    /// is at least the level.
    pub decided: Option<(Branching, bool)>,
    /// Columns that are settled in this subtree, because multipliers prove the bound `least` for
    /// their other values.
    pub settled: Option<SettledColumns>,
    /// The multipliers that prove the bound; initially those of the parent.
    pub list: MultiplierList,
    pub bound: i128,
    pub status: NodeStatus,
}

impl TreeNode {
    pub(crate) fn prove(&mut self, list: &MultiplierList, bound: i128) {
        if bound > self.bound {
            (self.list, self.bound) = (list.clone(), bound);
        }
    }
}

pub(crate) struct SettledColumns {
    pub list: MultiplierList,
    pub least: u64,
    pub columns: Vec<(u32, bool)>,
}

/// The subject of a branching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branching {
    /// A column is chosen or not.
    Site(u32),
    /// The noise after a node of the graph is at least `level`, or below.
    Level {
        /// A node of the graph.
        node: u32,
        level: NoiseBits,
        /// The column of the site of the node. Its reset is below the level, so the site is absent
        /// if the noise is at least the level.
        absent: u32,
    },
}

#[derive(Clone, Copy)]
pub(crate) enum NodeStatus {
    Open,
    Closed,
    /// Branched into two nodes: without and with the column, or below the level and from the level
    /// on.
    Branched(Branching, [u32; 2]),
}

/// The tree of a search. Weights are divided by their greatest common divisor.
pub(crate) struct BranchTree {
    pub upper: u64,
    pub choice: Vec<bool>,
    pub nodes: Vec<TreeNode>,
    pub open: Vec<u32>,
    /// The least bound of all nodes that were given up.
    pub given_up: u64,
    /// The current decisions of the solver.
    pub fixed: Vec<ColumnDecision>,
    pub weights: Vec<u64>,
}

impl BranchTree {
    /// Returns a tree with an open root. The multipliers prove the bound of the root.
    pub(crate) fn new(
        weights: Vec<u64>,
        choice: Vec<bool>,
        fixed: Vec<ColumnDecision>,
        list: MultiplierList,
        bound: i128,
    ) -> BranchTree {
        let root = TreeNode {
            parent: NO_INDEX,
            decided: None,
            settled: None,
            list,
            bound,
            status: NodeStatus::Open,
        };
        let chosen = weights.iter().zip(&choice).filter(|it| *it.1);
        BranchTree {
            upper: chosen.fold(0, |sum: u64, it| sum.saturating_add(*it.0)),
            choice,
            nodes: vec![root],
            open: vec![0],
            given_up: u64::MAX,
            fixed,
            weights,
        }
    }

    /// Closes a node if its subtree contains no better choice. Returns true if the node was closed.
    pub(crate) fn close_if_dominated(&mut self, at: u32) -> bool {
        let is_closed = ceil_cost(self.nodes[at as usize].bound) >= self.upper;
        if is_closed {
            self.close(at);
        }
        is_closed
    }

    /// Returns multipliers that prove that a node has no legal choice, from a row that cannot be
    /// satisfied any more.
    pub(crate) fn infeasibility_multipliers(&self, row: u32) -> MultiplierList {
        Arc::new(vec![(row, (i128::from(self.upper) + 1) << SCALE)])
    }

    pub(crate) fn close(&mut self, at: u32) {
        self.open.retain(|&it| it != at);
        self.nodes[at as usize].status = NodeStatus::Closed;
    }

    /// Gives up a node that can be neither closed nor branched.
    pub(crate) fn give_up(&mut self, at: u32) {
        self.close(at);
        self.given_up = self.given_up.min(ceil_cost(self.nodes[at as usize].bound));
    }

    pub(crate) fn offer(&mut self, choice: Vec<bool>) {
        let weight = self.weights.iter().zip(&choice).filter(|it| *it.1).map(|it| *it.0).sum();
        if weight < self.upper {
            (self.upper, self.choice) = (weight, choice);
        }
    }

    /// Returns the open node with the least bound. First closes nodes that cannot contain a better
    /// choice any more.
    pub(crate) fn next(&mut self) -> Option<u32> {
        let upper = self.upper;
        let nodes = &mut self.nodes;
        self.open.retain(|&it| {
            let node = &mut nodes[it as usize];
            let is_open = ceil_cost(node.bound) < upper;
            if !is_open {
                node.status = NodeStatus::Closed;
            }
            is_open
        });
        self.open.iter().copied().min_by_key(|&it| (self.nodes[it as usize].bound, it))
    }

    /// Returns the bound that the tree proves: the least bound of open nodes and nodes that were
    /// given up.
    pub(crate) fn lower(&self) -> u64 {
        let open = self.open.iter().map(|&it| ceil_cost(self.nodes[it as usize].bound));
        open.min().unwrap_or(self.upper).min(self.upper).min(self.given_up)
    }

    /// Settles, for the subtree, the columns that have the same value in every better choice.
    pub(crate) fn settle(&mut self, at: u32, proven: &MultiplierBound) {
        let better = (i128::from(self.upper) - 1) << SCALE;
        let columns: Vec<(u32, bool)> = (proven.reduced.iter().enumerate())
            .filter(|it| {
                self.fixed[it.0] == ColumnDecision::Open && proven.bound + it.1.abs() > better
            })
            .map(|(column, &it)| (column as u32, it < 0))
            .collect();
        if !columns.is_empty() {
            let (list, least) = (proven.list.clone(), self.upper);
            self.nodes[at as usize].settled = Some(SettledColumns { list, least, columns });
        }
    }

    /// Adds two nodes: without and with a column, or below a level and from the level on. Returns
    /// the first.
    pub(crate) fn branch(&mut self, at: u32, by: Branching) -> u32 {
        let first = self.nodes.len() as u32;
        for value in [false, true] {
            let parent = &self.nodes[at as usize];
            let (list, bound) = (parent.list.clone(), parent.bound);
            let decided = Some((by, value));
            let body = NodeStatus::Open;
            self.open.push(self.nodes.len() as u32);
            self.nodes.push(TreeNode {
                parent: at,
                decided,
                settled: None,
                list,
                bound,
                status: body,
            });
        }
        self.close(at);
        self.nodes[at as usize].status = NodeStatus::Branched(by, [first, first + 1]);
        first
    }

    /// Returns the decision about each column at a node.
    pub(crate) fn decisions(&self, at: u32) -> Vec<ColumnDecision> {
        let mut out: Vec<ColumnDecision> = self
            .weights
            .iter()
            .map(|&it| if it == 0 { ColumnDecision::Free } else { ColumnDecision::Open })
            .collect();
        let mut at = at;
        while at != NO_INDEX {
            let node = &self.nodes[at as usize];
            let settled = node.settled.iter().flat_map(|it| it.columns.iter().copied());
            let decided = node.decided.and_then(|(by, value)| match by {
                Branching::Site(column) => Some((column, value)),
                Branching::Level { absent, .. } => value.then_some((absent, false)),
            });
            for (column, is_chosen) in settled.chain(decided) {
                out[column as usize] =
                    if is_chosen { ColumnDecision::Chosen } else { ColumnDecision::Absent };
            }
            at = node.parent;
        }
        out
    }

    /// Returns the proof of [`BranchTree::lower`].
    pub(crate) fn proof(
        &self,
        sites: &[u32],
        rows: &[ProofRow],
        weights: &[u64],
        grain: u64,
    ) -> Proof {
        let mut out = Proof {
            sites: (sites.iter().zip(weights)).filter(|it| *it.1 > 0).map(|it| *it.0).collect(),
            bound: self.lower().saturating_mul(grain),
            ..Proof::default()
        };
        let mut row_at: FxHashMap<u32, u32> = FxHashMap::default();
        let mut list_at: FxHashMap<*const Vec<(u32, i128)>, u32> = FxHashMap::default();
        let mut stack = vec![0_u32];
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at as usize];
            let mut number = |out: &mut Proof, list: &MultiplierList| {
                *list_at.entry(Arc::as_ptr(list)).or_insert_with(|| {
                    let list = list.iter().map(|&(row, y)| {
                        let place = *row_at.entry(row).or_insert_with(|| {
                            out.rows.push(rows[row as usize].clone());
                            out.rows.len() as u32 - 1
                        });
                        (place, Multiplier(y.unsigned_abs()))
                    });
                    let list = list.collect();
                    out.multipliers.push(list);
                    out.multipliers.len() as u32 - 1
                })
            };
            if let Some(SettledColumns { list, least, columns }) = &node.settled {
                let multipliers = number(&mut out, list);
                let of = |wanted: bool| -> Vec<u32> {
                    let columns = columns.iter().filter(|it| it.1 == wanted);
                    columns.map(|it| sites[it.0 as usize]).collect()
                };
                let (absent, chosen) = (of(false), of(true));
                let least = least.saturating_mul(grain);
                out.steps.push(ProofStep::Settle { multipliers, least, absent, chosen });
            }
            match node.status {
                NodeStatus::Open | NodeStatus::Closed => {
                    let list = number(&mut out, &node.list);
                    out.steps.push(ProofStep::Bound(list));
                }
                NodeStatus::Branched(by, [without, with]) => {
                    out.steps.push(match by {
                        Branching::Site(column) => ProofStep::Branch(sites[column as usize]),
                        Branching::Level { node, level, .. } => ProofStep::Level(node, level),
                    });
                    stack.push(with);
                    stack.push(without);
                }
            }
        }
        out
    }
}
