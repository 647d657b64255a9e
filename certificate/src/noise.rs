//! The least noise of an instance over all choices that do not contain some sites.
//!
//! The noise after a site that may be chosen is the lesser of its reset and the noise before it. So
//! no legal choice has less noise, whether or not resets can raise it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::file::{Instance, NodeRule};

/// Represents noise that grows without a bound; above all other noise.
const ENDLESS: u64 = u32::MAX as u64;

/// Noise before the resets, updated when sites become absent.
#[derive(Debug)]
pub(crate) struct LeastNoise<'a> {
    pub instance: &'a Instance,
    /// The users of each node, each once.
    pub users: Vec<Vec<u32>>,
    /// The nodes of each site.
    pub nodes_of: Vec<Vec<u32>>,
    /// The sites that are not chosen.
    pub is_absent: Vec<bool>,
    /// The least solution with these sites absent and all others chosen.
    before_reset: Vec<u64>,
    /// Lower bounds of the noise after each node, independent of its rule.
    least_after: Vec<u64>,
    /// True if the least solution brings a node over its limit.
    is_over: bool,
    /// True if a chosen site gives its reset even where that raises noise; false if it gives the
    /// lesser noise.
    is_exact: bool,
}

impl<'a> LeastNoise<'a> {
    /// Computes the noise with all sites chosen.
    ///
    /// # Errors
    ///
    /// If a node names a node or a site that does not exist.
    pub(crate) fn new(instance: &'a Instance) -> Result<LeastNoise<'a>, String> {
        let (n, n_sites) = (instance.nodes.len(), instance.sites.len());
        let (mut users, mut nodes_of) = (vec![Vec::new(); n], vec![Vec::new(); n_sites]);
        for (v, node) in instance.nodes.iter().enumerate() {
            let operands: BTreeSet<u32> = node.operands.iter().copied().collect();
            for u in operands {
                let list = users.get_mut(u as usize);
                list.ok_or(format!("node {v} uses node {u}, which does not exist"))?.push(v as u32);
            }
            if let Some(site) = node.site {
                let list = nodes_of.get_mut(site as usize);
                list.ok_or(format!("node {v} has site {site}, which does not exist"))?
                    .push(v as u32);
            }
        }
        let is_absent = vec![false; n_sites];
        let (before, floor) = (vec![0; n], vec![0; n]);
        let (is_over, is_exact) = (false, false);
        let mut it = LeastNoise {
            instance,
            users,
            nodes_of,
            is_absent,
            before_reset: before,
            least_after: floor,
            is_over,
            is_exact,
        };
        let mut log = Vec::new();
        it.is_over = it.propagate((0..n as u32).collect(), false, &mut log);
        Ok(it)
    }

    /// Returns the first node that is over its limit if exactly these sites are absent and all
    /// others reset, even where that raises noise.
    pub(crate) fn first_over(&mut self, absent: &[u32]) -> Option<usize> {
        self.is_exact = true;
        self.set_absent(absent);
        self.is_exact = false;
        let limits = self.instance.nodes.iter().map(|it| u64::from(it.limit.unwrap_or(u32::MAX)));
        let over = self.before_reset.iter().zip(limits).position(|(&before, limit)| before > limit);
        self.set_absent(&[]);
        over
    }

    /// Returns true if some node is over its limit when these sites and those that are already
    /// absent are not chosen.
    pub(crate) fn is_core(&mut self, sites: &[u32]) -> bool {
        self.is_conditional_core(sites, &[], &[])
    }

    /// Returns true if no legal choice without these sites and those that are already absent has
    /// less noise than `below` after some nodes and at least `least` after others.
    ///
    /// The least noise of the choices with `least` follows from these levels as lower bounds of the
    /// noise after their nodes.
    ///
    /// To find the least noise of the choices with `least`, these levels are put in for the noise
    /// after their nodes.
    pub(crate) fn is_conditional_core(
        &mut self,
        sites: &[u32],
        below: &[(u32, u32)],
        least: &[(u32, u32)],
    ) -> bool {
        if self.is_over {
            return true;
        }
        let mut start = BTreeSet::new();
        for &(v, level) in least {
            let floor = &mut self.least_after[v as usize];
            *floor = (*floor).max(level.into());
            start.extend(self.users[v as usize].iter().copied());
        }
        let mut log = Vec::new();
        let is_over = self.raise_without(sites, start, below.is_empty(), &mut log);
        let absent: BTreeSet<u32> = sites.iter().copied().collect();
        let is_too_much = |&(v, level): &(u32, u32)| {
            let stays = |s: u32| self.is_absent[s as usize] || absent.contains(&s);
            self.noise_after(v, stays) >= u64::from(level)
        };
        let is_none = is_over || below.iter().any(is_too_much);
        for &(v, old) in log.iter().rev() {
            self.before_reset[v as usize] = old;
        }
        for &(v, _) in least {
            self.least_after[v as usize] = 0;
        }
        is_none
    }

    /// Makes exactly these sites absent.
    pub(crate) fn set_absent(&mut self, sites: &[u32]) {
        self.is_absent.fill(false);
        self.before_reset.fill(0);
        for &s in sites {
            self.is_absent[s as usize] = true;
        }
        let all = (0..self.before_reset.len() as u32).collect();
        self.is_over = self.propagate(all, false, &mut Vec::new());
    }

    fn raise_without(
        &mut self,
        sites: &[u32],
        mut start: BTreeSet<u32>,
        stops: bool,
        log: &mut Vec<(u32, u64)>,
    ) -> bool {
        let fresh: Vec<u32> =
            sites.iter().copied().filter(|&s| !self.is_absent[s as usize]).collect();
        for &s in &fresh {
            self.is_absent[s as usize] = true;
            for &v in &self.nodes_of[s as usize] {
                start.extend(self.users[v as usize].iter().copied());
            }
        }
        let is_over = self.propagate(start, stops, log);
        for s in fresh {
            self.is_absent[s as usize] = false;
        }
        is_over
    }

    /// Propagates noise from some nodes to their users until nothing changes. Returns true if a
    /// node is over its limit; with `stops`, it then returns immediately.
    fn propagate(
        &mut self,
        mut start: BTreeSet<u32>,
        stops: bool,
        log: &mut Vec<(u32, u64)>,
    ) -> bool {
        let n = self.before_reset.len();
        let (mut is_over, mut n_passes) = (false, 0);
        while !start.is_empty() {
            let mut queued = std::mem::take(&mut start);
            let mut heap: BinaryHeap<Reverse<u32>> = queued.iter().copied().map(Reverse).collect();
            while let Some(Reverse(v)) = heap.pop() {
                queued.remove(&v);
                let was = self.before_reset[v as usize];
                // Noise that still rises after more passes than nodes has no bound.
                let now = match self.noise_before(v) {
                    now if n_passes > n && now > was => ENDLESS,
                    now => now.min(ENDLESS),
                };
                let limit = self.instance.nodes[v as usize].limit.unwrap_or(u32::MAX);
                if now > u64::from(limit) {
                    is_over = true;
                    if stops {
                        return true;
                    }
                }
                if now <= was {
                    continue;
                }
                log.push((v, was));
                self.before_reset[v as usize] = now;
                for &w in &self.users[v as usize] {
                    if w <= v {
                        start.insert(w);
                    } else if queued.insert(w) {
                        heap.push(Reverse(w));
                    }
                }
            }
            n_passes += 1;
        }
        is_over
    }

    /// Returns the noise after a node with some sites absent.
    fn noise_after(&self, v: u32, is_absent: impl Fn(u32) -> bool) -> u64 {
        let before = self.before_reset[v as usize];
        let leaving = match self.instance.nodes[v as usize].site {
            Some(s) if !is_absent(s) => {
                let reset = u64::from(self.instance.sites[s as usize].reset);
                if self.is_exact { reset } else { reset.min(before) }
            }
            _ => before,
        };
        leaving.max(self.least_after[v as usize])
    }

    /// Evaluates the rule of a node.
    fn noise_before(&self, v: u32) -> u64 {
        let node = &self.instance.nodes[v as usize];
        let is_absent = |s: u32| self.is_absent[s as usize];
        let leaving = node.operands.iter().map(|&u| self.noise_after(u, is_absent));
        match node.rule {
            NodeRule::Source(noise) => u64::from(noise),
            NodeRule::Max(plus) => leaving.max().unwrap_or(0) + u64::from(plus),
            NodeRule::Sum(plus) => leaving.fold(u64::from(plus), u64::saturating_add),
        }
    }
}
