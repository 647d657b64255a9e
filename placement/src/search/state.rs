//! A choice of sites and its noise, updated incrementally when sites are inserted or removed.
//!
//! *Law.* Between operations `p` and `e` are the least solution for `chosen`, and a legal state
//! stays legal. A change is propagated in topological order through the nodes whose noise changes;
//! an undo log reverts it. In a cycle, noise can only be propagated upward (the least solution is
//! reached from any lower values). After a change that lowers the noise of a graph with cycles,
//! everything is recomputed.
//!
//! *Cost* of a step: the changed nodes and their users, typically a dozen.

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::NoiseBits;
use crate::question::least_noise::{least_solution, noise_cap};

/// A choice of sites and its noise.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceState<'g> {
    graph: &'g NoiseGraph,
    /// True for each chosen site.
    pub chosen: Vec<bool>,
    /// Sum of the costs of the chosen sites.
    pub cost: u64,
    /// Noise before the reset, by node.
    pub noise_before: Vec<NoiseBits>,
    /// Noise after the reset, by node.
    pub noise_after: Vec<NoiseBits>,
    /// Work done up to now, in visits of nodes.
    pub work: u64,
    /// Upper limit of all noise, because noise may be unbounded in a cycle.
    most: NoiseBits,
    queue: RankQueue,
    undo: Vec<UndoStep>,
}

#[derive(Clone, Copy, Debug)]
enum UndoStep {
    Noise { node: u32, p: NoiseBits, e: NoiseBits },
    Flip(u32),
}

/// A position in the undo log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UndoMark(usize);

impl<'g> ChoiceState<'g> {
    /// Returns the state of a choice, which need not be legal.
    pub(crate) fn new(graph: &'g NoiseGraph, chosen: Vec<bool>) -> ChoiceState<'g> {
        let n = graph.n_nodes();
        let mut state = ChoiceState {
            graph,
            cost: graph.cost_of(&chosen),
            chosen,
            noise_before: Vec::new(),
            noise_after: Vec::new(),
            work: 0,
            most: noise_cap(graph),
            queue: RankQueue::new(n),
            undo: Vec::new(),
        };
        (state.noise_before, state.noise_after) = state.solve();
        state
    }

    /// Returns true if no node is over its limit.
    pub(crate) fn is_legal(&self) -> bool {
        self.noise_before.iter().zip(&self.graph.limit).all(|(p, limit)| p <= limit)
    }

    /// Returns a mark for [`ChoiceState::roll_back`].
    pub(crate) fn mark(&self) -> UndoMark {
        UndoMark(self.undo.len())
    }

    /// Clears the undo log.
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
    }

    /// Undoes all changes since the mark.
    pub(crate) fn roll_back(&mut self, mark: UndoMark) {
        while self.undo.len() > mark.0 {
            match self.undo.pop() {
                Some(UndoStep::Noise { node, p, e }) => {
                    self.noise_before[node as usize] = p;
                    self.noise_after[node as usize] = e;
                }
                Some(UndoStep::Flip(s)) => self.flip(s),
                None => return,
            }
        }
    }

    /// Returns the nodes whose noise changed since the mark.
    pub(crate) fn changed(&self, mark: UndoMark) -> impl Iterator<Item = u32> + '_ {
        self.undo[mark.0..].iter().filter_map(|undo| match undo {
            UndoStep::Noise { node, .. } => Some(*node),
            UndoStep::Flip(_) => None,
        })
    }

    fn flip(&mut self, s: u32) {
        let cost = self.graph.cost[s as usize];
        let now = !self.chosen[s as usize];
        self.chosen[s as usize] = now;
        // A saturated sum cannot be updated by differences, so it is recomputed.
        if self.cost == u64::MAX || cost == u64::MAX {
            self.cost = self.graph.cost_of(&self.chosen);
        } else if now {
            self.cost = self.cost.saturating_add(cost);
        } else {
            self.cost -= cost;
        }
    }

    /// Removes a site and returns true if the result is legal; otherwise changes nothing and
    /// returns false.
    pub(crate) fn try_remove(&mut self, s: u32) -> bool {
        debug_assert!(self.chosen[s as usize], "only a chosen site can be taken out");
        let mark = self.mark();
        self.undo.push(UndoStep::Flip(s));
        self.flip(s);
        self.queue_flip(s);
        if self.propagate() {
            return true;
        }
        self.roll_back(mark);
        false
    }

    /// Inserts a site. Returns false if the new state is not legal, which happens only if a reset
    /// raises noise.
    pub(crate) fn insert(&mut self, s: u32) -> bool {
        debug_assert!(!self.chosen[s as usize], "only a site that is not chosen can be put in");
        self.undo.push(UndoStep::Flip(s));
        self.flip(s);
        if self.graph.is_cyclic {
            self.recompute();
            return self.is_legal();
        }
        self.queue_flip(s);
        self.propagate()
    }

    /// Updates the noise after the nodes of a flipped site, and queues their users.
    fn queue_flip(&mut self, s: u32) {
        let graph = self.graph;
        for &v in graph.nodes_of.of(s) {
            let i = v as usize;
            let e = if self.chosen[s as usize] {
                graph.reset[s as usize]
            } else {
                self.noise_before[i]
            };
            if e != self.noise_after[i] {
                self.undo.push(UndoStep::Noise {
                    node: v,
                    p: self.noise_before[i],
                    e: self.noise_after[i],
                });
                self.noise_after[i] = e;
                for &w in graph.users.of(v) {
                    self.queue.push(graph.rank[w as usize]);
                }
            }
        }
    }

    /// Propagates queued changes. At the first node over its limit, clears the queue and returns
    /// false.
    fn propagate(&mut self) -> bool {
        let graph = self.graph;
        // In a cycle without limits, noise may be unbounded; then everything is recomputed.
        let most = self.work + 1000 + 64 * graph.n_nodes() as u64;
        while let Some(rank) = self.queue.pop() {
            let v = graph.order[rank as usize];
            let i = v as usize;
            self.work += 1;
            let p = graph.noise_before(v, |u| self.noise_after[u as usize]).min(self.most);
            if p > graph.limit[i] {
                self.queue.clear();
                return false;
            }
            if graph.is_cyclic && self.work > most {
                self.queue.clear();
                self.recompute();
                return self.is_legal();
            }
            if p == self.noise_before[i] {
                continue;
            }
            let s = graph.site[i];
            let e =
                if s != NO_INDEX && self.chosen[s as usize] { graph.reset[s as usize] } else { p };
            self.undo.push(UndoStep::Noise {
                node: v,
                p: self.noise_before[i],
                e: self.noise_after[i],
            });
            self.noise_before[i] = p;
            if e != self.noise_after[i] {
                self.noise_after[i] = e;
                for &w in graph.users.of(v) {
                    self.queue.push(graph.rank[w as usize]);
                }
            }
        }
        true
    }

    /// Computes the noise before and after each node from scratch.
    fn solve(&mut self) -> (Vec<NoiseBits>, Vec<NoiseBits>) {
        let graph = self.graph;
        let n = graph.n_nodes();
        let (mut p, mut e) = (vec![0; n], vec![0; n]);
        let after = |v: u32, p: NoiseBits| match graph.site[v as usize] {
            s if s != NO_INDEX && self.chosen[s as usize] => graph.reset[s as usize],
            _ => p,
        };
        let most = self.most;
        let n_passes = least_solution(graph, &mut p, &mut e, |_, p| p.min(most), after);
        self.work += (n_passes * n) as u64;
        (p, e)
    }

    /// Recomputes all noise and logs the changes.
    fn recompute(&mut self) {
        let (p, e) = self.solve();
        for v in 0..self.graph.n_nodes() {
            if (p[v], e[v]) != (self.noise_before[v], self.noise_after[v]) {
                self.undo.push(UndoStep::Noise {
                    node: v as u32,
                    p: self.noise_before[v],
                    e: self.noise_after[v],
                });
                (self.noise_before[v], self.noise_after[v]) = (p[v], e[v]);
            }
        }
    }
}

/// A priority queue of ranks as a bit set; the smallest rank comes first.
#[derive(Clone, Debug)]
struct RankQueue {
    words: Vec<u64>,
    /// Words before this index are zero.
    first: usize,
    len: usize,
}

impl RankQueue {
    fn new(n: usize) -> RankQueue {
        RankQueue { words: vec![0; n.div_ceil(64)], first: 0, len: 0 }
    }

    fn push(&mut self, rank: u32) {
        let (word, bit) = (rank as usize / 64, 1_u64 << (rank % 64));
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.first = if self.len == 0 { word } else { self.first.min(word) };
            self.len += 1;
        }
    }

    fn pop(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        while self.words[self.first] == 0 {
            self.first += 1;
        }
        let bit = self.words[self.first].trailing_zeros();
        self.words[self.first] &= self.words[self.first] - 1;
        self.len -= 1;
        Some(self.first as u32 * 64 + bit)
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}
