//! Partition of the costs of columns among groups, guided by binding rows.
//!
//! Rows `a x >= b` with multipliers `y` prove a bound of `sum of y b` if they use at most the cost
//! of each column. Each group gets the rows that are mostly inside it, their columns, and the part
//! of the cost of each column that these rows use. The remaining cost of a column is divided
//! equally among the groups with the column. So the least costs of the groups add up to at least
//! the bound of the rows, and to more if a group costs more than its rows prove.
//!
//! Law: the shares of all groups in a column add up to at most its cost.
//!
//! Source of the idea: optimal cost partitioning (Katz and Domshlak).
//!
//! Cost: the square of the length of each narrow row, and a sort.

use crate::bound::partition::grow_groups;
use crate::question::graph::NO_INDEX;
use crate::random::Random;

/// A binding row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BindingRow<'a> {
    /// Columns with their weights.
    pub terms: &'a [(u32, u64)],
    /// The multiplier of the row: the cost that it uses of a column with weight 1.
    pub y: f64,
}

/// Rows with more terms do not connect columns.
const NARROW: usize = 100;
/// Rows with more terms are assigned only to a group with all of their columns.
const WIDE: usize = 1000;

/// A group with its share of costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnGroup {
    /// The columns, in increasing order.
    pub columns: Vec<u32>,
    /// The share of the cost of each column.
    pub shares: Vec<f64>,
    /// Indices of the rows.
    pub rows: Vec<usize>,
}

/// Returns groups that are grown to at most `size` columns each, and then extended by the other
/// columns of their rows. `neighbors` lists columns that are connected even without a row.
pub(crate) fn share_costs(
    costs: &[f64],
    rows: &[BindingRow],
    neighbors: &[Vec<u32>],
    size: usize,
    random: &mut Random,
) -> Vec<ColumnGroup> {
    let n = costs.len();
    let mut seeds: Vec<u32> = (0..n as u32).collect();
    random.shuffle(&mut seeds);
    let group_of = grow_groups(&adjacency(rows, neighbors), &vec![1; n], size, seeds.into_iter());
    let n_groups = group_of.iter().max().map_or(0, |it| *it as usize + 1);
    let mut groups = vec![ColumnGroup::default(); n_groups];
    for (at, &group) in (0..).zip(&group_of) {
        groups[group as usize].columns.push(at);
    }
    let mut taken = vec![0.0; n];
    let mut count: Vec<(u32, usize)> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        count.clear();
        for &(at, weight) in row.terms {
            taken[at as usize] += row.y * weight as f64;
            let group = group_of[at as usize];
            match count.iter_mut().find(|it| it.0 == group) {
                Some(it) => it.1 += 1,
                None => count.push((group, 1)),
            }
        }
        let most = count.iter().max_by_key(|it| (it.1, std::cmp::Reverse(it.0)));
        if let Some(&(group, most)) = most
            && (most == row.terms.len() || row.terms.len() <= WIDE)
        {
            groups[group as usize].rows.push(number);
        }
    }
    let is_left = |at: u32| taken[at as usize] < costs[at as usize] * (1.0 - 1e-9);
    let mut last = vec![NO_INDEX; n];
    let mut n_groups_of = vec![0_u32; n];
    for (number, group) in (0..).zip(&mut groups) {
        let columns = &mut group.columns;
        for &at in &*columns {
            last[at as usize] = number;
        }
        let mut put = |columns: &mut Vec<u32>, at: u32| {
            if std::mem::replace(&mut last[at as usize], number) != number {
                columns.push(at);
            }
        };
        for &row in &group.rows {
            rows[row].terms.iter().for_each(|it| put(columns, it.0));
        }
        // Adds neighbors with remaining cost: as outside columns, they would be free in this part.
        for i in 0..columns.len() {
            let near = neighbors[columns[i] as usize].iter().copied();
            near.filter(|&at| is_left(at)).for_each(|at| put(columns, at));
        }
        columns.sort_unstable();
        for &at in &*columns {
            n_groups_of[at as usize] += 1;
        }
    }
    let mut own = vec![0.0; n];
    for group in &mut groups {
        for &row in &group.rows {
            for &(at, weight) in rows[row].terms {
                own[at as usize] += rows[row].y * weight as f64;
            }
        }
        let price = |&at: &u32| {
            let i = at as usize;
            let own = std::mem::take(&mut own[i]);
            let factor = if taken[i] > costs[i] { costs[i] / taken[i] } else { 1.0 };
            own * factor + (costs[i] - taken[i]).max(0.0) / f64::from(n_groups_of[i])
        };
        group.shares = group.columns.iter().map(price).collect();
    }
    groups
}

/// Returns the weighted edges between columns: narrow rows contribute according to their
/// multipliers, neighborhood contributes little.
pub(crate) fn adjacency(rows: &[BindingRow], neighbors: &[Vec<u32>]) -> Vec<Vec<(u32, u32)>> {
    // The largest cost that a row uses of a column.
    let taken =
        |row: &BindingRow| row.y * row.terms.iter().map(|it| it.1).max().unwrap_or(0) as f64;
    let most = rows.iter().map(taken).fold(1e-9, f64::max);
    let mut out: Vec<Vec<(u32, u32)>> =
        neighbors.iter().map(|list| list.iter().map(|&w| (w, 20)).collect()).collect();
    for row in rows.iter().filter(|it| it.terms.len() <= NARROW) {
        let others = row.terms.len().max(2) - 1;
        let edges = (1000.0 * taken(row) / most / others as f64) as u32 + 1;
        for &(a, _) in row.terms {
            let others = row.terms.iter().filter(|it| it.0 != a);
            out[a as usize].extend(others.map(|it| (it.0, edges)));
        }
    }
    for list in &mut out {
        list.sort_unstable();
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_costs_exactly_and_pays_for_all_rows() {
        let mut random = Random::new(3);
        for round in 0..200 {
            let n = 2 + random.below(40);
            let costs: Vec<f64> = (0..n).map(|_| 1.0 + random.below(5) as f64).collect();
            let mut taken = vec![0.0; n];
            let mut rows: Vec<(Vec<(u32, u64)>, f64)> = Vec::new();
            for _ in 0..random.below(60) {
                let from = random.below(n);
                let to = n.min(from + 1 + random.below(8));
                let terms: Vec<(u32, u64)> =
                    (from as u32..to as u32).map(|at| (at, 1 + random.below(2) as u64)).collect();
                // In some rounds, rows use more than the cost of a column.
                let y = 0.1 * random.below(7) as f64;
                let is_over = terms
                    .iter()
                    .any(|it| taken[it.0 as usize] + y * it.1 as f64 > costs[it.0 as usize]);
                if y > 0.0 && (!is_over || round % 3 == 0) {
                    for it in &terms {
                        taken[it.0 as usize] += y * it.1 as f64;
                    }
                    rows.push((terms, y));
                }
            }
            let binding: Vec<BindingRow> =
                rows.iter().map(|it| BindingRow { terms: &it.0, y: it.1 }).collect();
            let neighbors: Vec<Vec<u32>> = (0..n as u32)
                .map(|at| {
                    [at.wrapping_sub(1), at + 1].into_iter().filter(|&w| (w as usize) < n).collect()
                })
                .collect();
            let groups =
                share_costs(&costs, &binding, &neighbors, 1 + random.below(12), &mut random);
            let mut got = vec![0.0; n];
            let mut n_dealt = 0;
            for group in &groups {
                assert!(group.columns.is_sorted() && group.columns.len() == group.shares.len());
                let price = |at: u32| {
                    group
                        .columns
                        .binary_search(&at)
                        .map(|i| group.shares[i])
                        .expect("a column of its rows")
                };
                for &at in &group.columns {
                    got[at as usize] += price(at);
                }
                let mut own = vec![0.0; n];
                for &row in &group.rows {
                    n_dealt += 1;
                    rows[row]
                        .0
                        .iter()
                        .for_each(|it| own[it.0 as usize] += rows[row].1 * it.1 as f64);
                }
                for &at in &group.columns {
                    let i = at as usize;
                    let is_over = taken[i] > costs[i];
                    assert!(is_over || price(at) >= own[i] - 1e-9);
                }
            }
            assert_eq!(n_dealt, rows.len());
            for at in 0..n {
                assert!((got[at] - costs[at]).abs() < 1e-9, "{} of {}", got[at], costs[at]);
            }
        }
    }
}
