//! The compiled form of an instance: operands, users and sites in flat arrays, and an order of the
//! nodes.
//!
//! Construction takes time linear in the size of the instance. A [`NoiseGraph`] owns its data, so
//! that threads can share it.

use rustc_hash::FxHashSet;

use crate::question::instance::{Instance, NodeRule, NoiseBits};

/// Lists of `u32` in one array.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupedLists {
    start: Vec<u32>,
    item: Vec<u32>,
}

impl GroupedLists {
    /// Groups (key, item) pairs into one list for each key in `0..n`, in the order of the pairs.
    /// Calls `pairs` twice.
    pub(crate) fn group(n: usize, pairs: impl Fn(&mut dyn FnMut(u32, u32))) -> GroupedLists {
        let mut start = vec![0_u32; n + 1];
        pairs(&mut |key, _| start[key as usize + 1] += 1);
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut item = vec![0; start[n] as usize];
        pairs(&mut |key, value| {
            item[next[key as usize] as usize] = value;
            next[key as usize] += 1;
        });
        GroupedLists { start, item }
    }

    pub(crate) fn of(&self, key: u32) -> &[u32] {
        &self.item[self.start[key as usize] as usize..self.start[key as usize + 1] as usize]
    }
}

/// The compiled form of an [`Instance`]. Nodes and sites keep their numbers.
#[derive(Clone, Debug)]
pub(crate) struct NoiseGraph {
    /// The rule for the noise of each node.
    pub rule: Vec<NodeRule>,
    /// The largest legal noise of each node.
    pub limit: Vec<NoiseBits>,
    /// The site of each node, or `NO_INDEX`.
    pub site: Vec<u32>,
    /// Noise after a reset, by site.
    pub reset: Vec<NoiseBits>,
    /// Cost of a reset, by site.
    pub cost: Vec<u64>,
    /// Operands of each node, with repetitions.
    pub operands: GroupedLists,
    /// Users of each node, without repetitions.
    pub users: GroupedLists,
    /// Nodes of each site.
    pub nodes_of: GroupedLists,
    /// The nodes, operands before users except around cycles.
    pub order: Vec<u32>,
    /// The position of each node in `order`.
    pub rank: Vec<u32>,
    /// True if a value depends on itself.
    pub is_cyclic: bool,
}

/// Index that means "no site" or "no node".
pub(crate) const NO_INDEX: u32 = u32::MAX;

impl NoiseGraph {
    /// Compiles an instance. All indices in the instance must be in range.
    pub(crate) fn new(instance: &Instance) -> NoiseGraph {
        let n = instance.nodes.len();
        let operands = operands(instance);
        let users = GroupedLists::group(n, |put| {
            for v in 0..n as u32 {
                for_each_once(operands.of(v), |u| put(u, v));
            }
        });
        let site: Vec<u32> =
            instance.nodes.iter().map(|data| data.site.map_or(NO_INDEX, |s| s.0)).collect();
        let nodes_of = GroupedLists::group(instance.sites.len(), |put| {
            for (v, &s) in (0..).zip(&site).filter(|it| *it.1 != NO_INDEX) {
                put(s, v);
            }
        });
        let (order, cyclic) = topological_order(n, &operands, &users);
        let mut rank = vec![0; n];
        for (i, &v) in order.iter().enumerate() {
            rank[v as usize] = i as u32;
        }
        NoiseGraph {
            rule: instance.nodes.iter().map(|data| data.rule).collect(),
            limit: instance.nodes.iter().map(|data| data.limit).collect(),
            reset: instance.sites.iter().map(|data| data.reset).collect(),
            cost: instance.sites.iter().map(|data| data.cost).collect(),
            site,
            operands,
            users,
            nodes_of,
            order,
            rank,
            is_cyclic: cyclic,
        }
    }

    /// Number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.rule.len()
    }

    /// Number of sites.
    pub(crate) fn n_sites(&self) -> usize {
        self.cost.len()
    }

    /// Returns the noise of a node before its reset. `after` returns the noise of an operand after
    /// its reset.
    pub(crate) fn noise_before(&self, v: u32, after: impl Fn(u32) -> NoiseBits) -> NoiseBits {
        self.rule[v as usize].noise_before(self.operands.of(v).iter().map(|&u| after(u)))
    }

    /// Returns the sum of the costs of the chosen sites.
    pub(crate) fn cost_of(&self, chosen: &[bool]) -> u64 {
        let costs = self.cost.iter().zip(chosen).filter(|(_, c)| **c);
        costs.fold(0, |acc, (&cost, _)| acc.saturating_add(cost))
    }
}

/// Returns the operands of each node. Operands of sources are ignored.
fn operands(instance: &Instance) -> GroupedLists {
    let mut lists = GroupedLists {
        start: Vec::with_capacity(instance.nodes.len() + 1),
        item: Vec::with_capacity(instance.operands.len()),
    };
    lists.start.push(0);
    for data in &instance.nodes {
        if !matches!(data.rule, NodeRule::Source(_)) {
            let (first, n) = (data.first_operand as usize, data.n_operands as usize);
            lists.item.extend(instance.operands[first..][..n].iter().map(|u| u.0));
        }
        lists.start.push(lists.item.len() as u32);
    }
    lists
}

/// Up to this length, a linear search for duplicates is faster than a hash set.
const MAX_LINEAR_SEARCH: usize = 32;

/// Calls `each` with each distinct item of a list, in the order of first occurrences.
pub(crate) fn for_each_once(list: &[u32], mut each: impl FnMut(u32)) {
    if list.len() > MAX_LINEAR_SEARCH {
        let mut seen = FxHashSet::default();
        list.iter().filter(|&&u| seen.insert(u)).for_each(|&u| each(u));
        return;
    }
    for (i, &u) in list.iter().enumerate() {
        if !list[..i].contains(&u) {
            each(u);
        }
    }
}

/// Returns a topological order, and true if there are cycles. It repeatedly takes the ready node
/// with the smallest index. If only nodes on or after cycles are left, the smallest index counts as
/// ready. If operands precede their users, the order is that of the indices.
fn topological_order(n: usize, operands: &GroupedLists, users: &GroupedLists) -> (Vec<u32>, bool) {
    let in_order = (0..n as u32).all(|v| operands.of(v).iter().all(|&u| u < v));
    if in_order {
        return ((0..n as u32).collect(), false);
    }
    let mut missing: Vec<u32> = vec![0; n];
    for u in 0..n as u32 {
        for &v in users.of(u) {
            missing[v as usize] += 1;
        }
    }
    let mut taken = vec![false; n];
    let mut ready: std::collections::BTreeSet<u32> =
        (0..n as u32).filter(|&v| missing[v as usize] == 0).collect();
    let (mut order, mut cyclic, mut next) = (Vec::with_capacity(n), false, 0);
    while order.len() < n {
        let v = if let Some(v) = ready.pop_first() {
            v
        } else {
            while taken[next as usize] {
                next += 1;
            }
            cyclic = true;
            next
        };
        taken[v as usize] = true;
        order.push(v);
        for &w in users.of(v) {
            missing[w as usize] = missing[w as usize].saturating_sub(1);
            if missing[w as usize] == 0 && !taken[w as usize] {
                ready.insert(w);
            }
        }
    }
    (order, cyclic)
}
