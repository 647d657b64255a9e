//! The tree of one branch and bound: what is decided at each node, what closed it, and the [`Proof`] that they are together at any time.
//!
//! Costs: memory the multipliers of all nodes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::certificate::{Multiplier, Proof, Row, Step};
use crate::fixed_point::{SCALE, ceil_cost};
use crate::graph::NONE;
use crate::instance::Bits;
use crate::window::{Fixed, List, Proven};

pub(crate) struct TreeNode {
    pub parent: u32,
    /// What is decided here: whether the site is chosen, or at least the level leaves the node.
    pub decided: Option<(By, bool)>,
    /// What is settled here by multipliers that prove `least` for all else.
    pub settled: Option<Settled>,
    /// Its proof, or that of the node above.
    pub list: List,
    pub bound: i128,
    pub body: Body,
}

impl TreeNode {
    pub(crate) fn prove(&mut self, list: &List, bound: i128) {
        if bound > self.bound {
            (self.list, self.bound) = (list.clone(), bound);
        }
    }
}

pub(crate) struct Settled {
    pub list: List,
    pub least: u64,
    pub columns: Vec<(u32, bool)>,
}

/// What a node is branched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A column.
    Site(u32),
    /// Whether at least `level` leaves a node.
    Level {
        /// The node of the graph.
        node: u32,
        level: Bits,
        /// The column of its site, which resets to less: it is absent where at least the level leaves.
        absent: u32,
    },
}

#[derive(Clone, Copy)]
pub(crate) enum Body {
    Open,
    Closed,
    /// The nodes without the column and with it, or below the level and from it on.
    Branched(By, [u32; 2]),
}

/// The tree of one search. Weights are counted in their greatest common divisor.
pub(crate) struct Tree {
    pub upper: u64,
    pub choice: Vec<bool>,
    pub nodes: Vec<TreeNode>,
    pub open: Vec<u32>,
    /// The least bound of those that can be neither closed nor branched.
    pub given_up: u64,
    /// What the solver has.
    pub fixed: Vec<Fixed>,
    pub weights: Vec<u64>,
}

impl Tree {
    /// Closes a node if nothing below it is better than what is known; whether it did.
    pub(crate) fn is_closed(&mut self, at: u32) -> bool {
        let is_closed = ceil_cost(self.nodes[at as usize].bound) >= self.upper;
        if is_closed {
            self.close(at);
        }
        is_closed
    }

    /// Multipliers that prove that nothing is legal where a row cannot hold any more.
    pub(crate) fn against(&self, row: u32) -> List {
        Arc::new(vec![(row, (i128::from(self.upper) + 1) << SCALE)])
    }

    pub(crate) fn close(&mut self, at: u32) {
        self.open.retain(|&it| it != at);
        self.nodes[at as usize].body = Body::Closed;
    }

    /// Leaves a node as it is for good.
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

    /// The open node to go on with; those that are closed by a better choice are closed.
    pub(crate) fn next(&mut self) -> Option<u32> {
        let upper = self.upper;
        let nodes = &mut self.nodes;
        self.open.retain(|&it| {
            let node = &mut nodes[it as usize];
            let is_open = ceil_cost(node.bound) < upper;
            if !is_open {
                node.body = Body::Closed;
            }
            is_open
        });
        self.open.iter().copied().min_by_key(|&it| (self.nodes[it as usize].bound, it))
    }

    /// The least of all bounds.
    pub(crate) fn lower(&self) -> u64 {
        let open = self.open.iter().map(|&it| ceil_cost(self.nodes[it as usize].bound));
        open.min().unwrap_or(self.upper).min(self.upper).min(self.given_up)
    }

    /// Fixes for all below what cannot be otherwise in a better choice.
    pub(crate) fn settle(&mut self, at: u32, proven: &Proven) {
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

    /// Two new nodes, the first without a column and the second with it, or below a level and from it on.
    pub(crate) fn branch(&mut self, at: u32, by: By) -> u32 {
        let first = self.nodes.len() as u32;
        for value in [false, true] {
            let parent = &self.nodes[at as usize];
            let (list, bound) = (parent.list.clone(), parent.bound);
            let decided = Some((by, value));
            let body = Body::Open;
            self.open.push(self.nodes.len() as u32);
            self.nodes.push(TreeNode { parent: at, decided, settled: None, list, bound, body });
        }
        self.close(at);
        self.nodes[at as usize].body = Body::Branched(by, [first, first + 1]);
        first
    }

    /// What is decided of each column at a node.
    pub(crate) fn decisions(&self, at: u32) -> Vec<Fixed> {
        let mut out: Vec<Fixed> = self
            .weights
            .iter()
            .map(|&it| if it == 0 { Fixed::Free } else { Fixed::Open })
            .collect();
        let mut at = at;
        while at != NONE {
            let node = &self.nodes[at as usize];
            let settled = node.settled.iter().flat_map(|it| it.columns.iter().copied());
            let decided = node.decided.and_then(|(by, value)| match by {
                By::Site(column) => Some((column, value)),
                By::Level { absent, .. } => value.then_some((absent, false)),
            });
            for (column, is_chosen) in settled.chain(decided) {
                out[column as usize] = if is_chosen { Fixed::Chosen } else { Fixed::Absent };
            }
            at = node.parent;
        }
        out
    }

    /// The proof of [`Tree::lower`].
    pub(crate) fn proof(&self, sites: &[u32], rows: &[Row], weights: &[u64], grain: u64) -> Proof {
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
            let mut number = |out: &mut Proof, list: &List| {
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
            if let Some(Settled { list, least, columns }) = &node.settled {
                let multipliers = number(&mut out, list);
                let of = |wanted: bool| -> Vec<u32> {
                    let columns = columns.iter().filter(|it| it.1 == wanted);
                    columns.map(|it| sites[it.0 as usize]).collect()
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
                Body::Branched(by, [without, with]) => {
                    out.steps.push(match by {
                        By::Site(column) => Step::Branch(sites[column as usize]),
                        By::Level { node, level, .. } => Step::Level(node, level),
                    });
                    stack.push(with);
                    stack.push(without);
                }
            }
        }
        out
    }
}
