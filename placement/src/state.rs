//! A choice of sites with its noise, kept up to date while sites come and go.
//!
//! Law kept: between operations `p` and `e` are the least solution under `chosen`, and no node is over its limit
//! once the state was legal. A change is followed outward in topological order through the nodes whose
//! noise really changes; an undo log takes it back. In a loop noise can only be followed upward (the least
//! solution from below is reached from any smaller one); to lower it there, everything is computed anew.
//!
//! Cost of a step: the nodes it changes and their users, typically a dozen.

use crate::graph::{Graph, NONE};
use crate::instance::Bits;
use crate::levels::{least_solution, most_noise};

/// A choice of sites and the noise that follows.
#[derive(Clone, Debug)]
pub(crate) struct State<'g> {
    graph: &'g Graph,
    /// Which sites are chosen.
    pub chosen: Vec<bool>,
    /// Sum of the costs of the chosen sites.
    pub cost: u64,
    /// Noise before a reduce.
    pub p: Vec<Bits>,
    /// Noise that leaves.
    pub e: Vec<Bits>,
    /// Steps of work done: nodes looked at.
    pub work: u64,
    /// In a cycle noise may rise for ever: nothing is above this.
    most: Bits,
    queue: Queue,
    undo: Vec<Undo>,
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    Noise { node: u32, p: Bits, e: Bits },
    Flip(u32),
}

/// A place in the undo log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

impl<'g> State<'g> {
    /// The state of a choice, legal or not.
    pub(crate) fn new(graph: &'g Graph, chosen: Vec<bool>) -> State<'g> {
        let n = graph.n_nodes();
        let mut state = State {
            graph,
            cost: graph.cost_of(&chosen),
            chosen,
            p: Vec::new(),
            e: Vec::new(),
            work: 0,
            most: most_noise(graph),
            queue: Queue::new(n),
            undo: Vec::new(),
        };
        (state.p, state.e) = state.solve();
        state
    }

    /// Whether no node is over its limit.
    pub(crate) fn is_legal(&self) -> bool {
        self.p.iter().zip(&self.graph.limit).all(|(p, limit)| p <= limit)
    }

    /// Where to return to.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.undo.len())
    }

    /// Forgets how to return.
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
    }

    /// Takes back everything since the mark.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        while self.undo.len() > mark.0 {
            match self.undo.pop() {
                Some(Undo::Noise { node, p, e }) => {
                    self.p[node as usize] = p;
                    self.e[node as usize] = e;
                }
                Some(Undo::Flip(s)) => self.flip(s),
                None => return,
            }
        }
    }

    /// The nodes whose noise changed since the mark.
    pub(crate) fn changed(&self, mark: Mark) -> impl Iterator<Item = u32> + '_ {
        self.undo[mark.0..].iter().filter_map(|undo| match undo {
            Undo::Noise { node, .. } => Some(*node),
            Undo::Flip(_) => None,
        })
    }

    fn flip(&mut self, s: u32) {
        let cost = self.graph.cost[s as usize];
        let now = !self.chosen[s as usize];
        self.chosen[s as usize] = now;
        // The sum saturates when it is made; differences of it would lie, so it is made anew.
        if self.cost == u64::MAX || cost == u64::MAX {
            self.cost = self.graph.cost_of(&self.chosen);
        } else if now {
            self.cost = self.cost.saturating_add(cost);
        } else {
            self.cost -= cost;
        }
    }

    /// Takes a site out if that is legal; otherwise changes nothing.
    pub(crate) fn try_remove(&mut self, s: u32) -> bool {
        debug_assert!(self.chosen[s as usize], "only a chosen site can be taken out");
        let mark = self.mark();
        self.undo.push(Undo::Flip(s));
        self.flip(s);
        self.seed(s);
        if self.follow() {
            return true;
        }
        self.roll_back(mark);
        false
    }

    /// Puts a site in. Says whether the state is legal after it; where a reset raises noise it may not be.
    pub(crate) fn insert(&mut self, s: u32) -> bool {
        debug_assert!(!self.chosen[s as usize], "only a site that is not chosen can be put in");
        self.undo.push(Undo::Flip(s));
        self.flip(s);
        if self.graph.cyclic {
            self.recompute();
            return self.is_legal();
        }
        self.seed(s);
        self.follow()
    }

    /// Sets what leaves the nodes of a flipped site and queues their users.
    fn seed(&mut self, s: u32) {
        let graph = self.graph;
        for &v in graph.nodes_of.of(s) {
            let i = v as usize;
            let e = if self.chosen[s as usize] { graph.reset[s as usize] } else { self.p[i] };
            if e != self.e[i] {
                self.undo.push(Undo::Noise { node: v, p: self.p[i], e: self.e[i] });
                self.e[i] = e;
                for &w in graph.users.of(v) {
                    self.queue.push(graph.rank[w as usize]);
                }
            }
        }
    }

    /// Follows queued changes. Stops, with the queue empty, at the first node that goes over.
    fn follow(&mut self) -> bool {
        let graph = self.graph;
        // In a loop without limits noise may climb forever; then everything is computed anew.
        let most = self.work + 1000 + 64 * graph.n_nodes() as u64;
        while let Some(rank) = self.queue.pop() {
            let v = graph.order[rank as usize];
            let i = v as usize;
            self.work += 1;
            let p = graph.before(v, |u| self.e[u as usize]).min(self.most);
            if p > graph.limit[i] {
                self.queue.clear();
                return false;
            }
            if graph.cyclic && self.work > most {
                self.queue.clear();
                self.recompute();
                return self.is_legal();
            }
            if p == self.p[i] {
                continue;
            }
            let s = graph.site[i];
            let e = if s != NONE && self.chosen[s as usize] { graph.reset[s as usize] } else { p };
            self.undo.push(Undo::Noise { node: v, p: self.p[i], e: self.e[i] });
            self.p[i] = p;
            if e != self.e[i] {
                self.e[i] = e;
                for &w in graph.users.of(v) {
                    self.queue.push(graph.rank[w as usize]);
                }
            }
        }
        true
    }

    /// The noise before and after each node, computed anew from below.
    fn solve(&mut self) -> (Vec<Bits>, Vec<Bits>) {
        let graph = self.graph;
        let n = graph.n_nodes();
        let (mut p, mut e) = (vec![0; n], vec![0; n]);
        let after = |v: u32, p: Bits| match graph.site[v as usize] {
            s if s != NONE && self.chosen[s as usize] => graph.reset[s as usize],
            _ => p,
        };
        let most = self.most;
        let n_passes = least_solution(graph, &mut p, &mut e, |_, p| p.min(most), after);
        self.work += (n_passes * n) as u64;
        (p, e)
    }

    /// Computes everything anew, logging what changes.
    fn recompute(&mut self) {
        let (p, e) = self.solve();
        for v in 0..self.graph.n_nodes() {
            if (p[v], e[v]) != (self.p[v], self.e[v]) {
                self.undo.push(Undo::Noise { node: v as u32, p: self.p[v], e: self.e[v] });
                (self.p[v], self.e[v]) = (p[v], e[v]);
            }
        }
    }
}

/// A set of ranks that gives out the smallest: one bit each, found by scanning words.
#[derive(Clone, Debug)]
struct Queue {
    words: Vec<u64>,
    /// No bit is set in words before this one.
    first: usize,
    len: usize,
}

impl Queue {
    fn new(n: usize) -> Queue {
        Queue { words: vec![0; n.div_ceil(64)], first: 0, len: 0 }
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
