//! Cuts from rows that are added up, halved and rounded (Chvátal-Gomory cuts with multipliers of one half).
//!
//! Half of a sum of rows in whole numbers is `w x >= c`. A choice is whole, so `ceil(w) x >= ceil(c)` holds, too. A point violates it where
//! the rows have nothing to spare, `c` is no whole number, and the columns whose sum is odd weigh little at the point: then less is lost by rounding
//! weights up than the half that is gained. (A weight of a column near 1 is rounded down, for what the column lacks of 1.)
//!
//! So rows are added modulo 2. One column after the other is eliminated, those that would lose most first, each by a row that has little
//! to spare. What is left holds few odd columns, and is looked at whenever it changes. Sums of many rows are given up: they are dense, and every
//! solve with them is slow.
//!
//! Why it pays: cores of additions are chains of fifteen. In a random program they spread over a third of it, and no small window holds
//! several. An odd number of chains around a ring, each of which shares stretches with the next, is found here wherever it lies.
//!
//! Cost: for each column, a few operations for each row that it is eliminated from.
//!
//! Source of the idea: {0, 1/2}-cuts of Caprara and Fischetti; the heuristic of Koster, Zymolka and Kutschka.

use num_integer::gcd;
use rustc_hash::FxHashSet;

use crate::anneal::Random;
use crate::certificate::Row;
use crate::limits::Budget;

/// A row in whole numbers.
pub(crate) struct Whole<'a> {
    pub row: &'a Row,
    /// Columns with their weights.
    pub terms: &'a [(u32, u64)],
    pub least: u64,
}

/// A cut from half of a sum of rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Half {
    /// The rows, by place.
    pub rows: Vec<u32>,
    /// Columns with their weights, in increasing order. They have no common divisor.
    pub terms: Vec<(u32, u64)>,
    pub least: u64,
    /// How far the point is from satisfying it.
    pub depth: f64,
}

/// A row that has more to spare is not added to others.
const SPARE: f64 = 0.1;
/// So many rows at most are added up.
const ROWS: usize = 16;
/// What a cut lacks at the point, at least.
const LACK: f64 = 0.05;
/// So many orders of elimination are tried.
const ORDERS: usize = 8;
/// Nothing is looked for where more columns are not whole: the sums would be long.
const MOST: usize = 4000;

/// A sum modulo 2.
#[derive(Clone)]
struct Sum {
    /// The columns that are not whole and whose sum is odd, as bits.
    odd: Box<[u64]>,
    /// Whether something is gained by rounding.
    is_odd: bool,
    spare: f64,
    /// The rows, in increasing order.
    rows: Vec<u32>,
    /// It is used up, or given up.
    is_over: bool,
}

impl Sum {
    fn has(&self, place: usize) -> bool {
        self.odd[place / 64] >> (place % 64) & 1 == 1
    }

    fn add(&mut self, other: &Sum) {
        for (word, other) in self.odd.iter_mut().zip(&other.odd) {
            *word ^= other;
        }
        self.is_odd ^= other.is_odd;
        self.spare += other.spare;
        self.rows.extend_from_slice(&other.rows);
        self.rows.sort_unstable();
        // Twice is not at all.
        self.rows =
            self.rows.chunk_by(u32::eq).filter(|it| it.len() == 1).map(|it| it[0]).collect();
    }

    /// Twice what rounding loses.
    fn loss(&self, lost: &[f64]) -> f64 {
        let mut sum = self.spare;
        for (&word, lost) in self.odd.iter().zip(lost.chunks(64)) {
            let mut word = word;
            while word != 0 {
                sum += lost[word.trailing_zeros() as usize];
                word &= word - 1;
            }
        }
        sum
    }
}

/// Cuts that a point violates, the deepest first.
pub(crate) fn zero_half(
    rows: &[Whole],
    x: &[f64],
    random: &mut Random,
    budget: &mut Budget,
) -> Vec<Half> {
    let is_open = |x: f64| x > 1e-9 && x < 1.0 - 1e-9;
    let columns: Vec<usize> = (0..x.len()).filter(|&at| is_open(x[at])).collect();
    if columns.len() > MOST {
        return Vec::new();
    }
    let mut place = vec![usize::MAX; x.len()];
    columns.iter().enumerate().for_each(|(i, &at)| place[at] = i);
    let lost: Vec<f64> = columns.iter().map(|&at| x[at].min(1.0 - x[at])).collect();
    let sums: Vec<Sum> = (0..)
        .zip(rows)
        .map(|(number, row)| sum_of(number, row, x, &place, columns.len()))
        .filter(|it| it.spare < SPARE)
        .collect();
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    for order in 0..ORDERS {
        if budget.is_spent() {
            break;
        }
        let mut noise = || if order == 0 { 1.0 } else { 0.5 + random.unit() };
        let mut sums = sums.clone();
        let mut by_loss: Vec<(f64, usize)> = lost.iter().map(|it| it * noise()).zip(0..).collect();
        by_loss.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, at) in by_loss {
            let having = (0..sums.len()).filter(|&i| !sums[i].is_over && sums[i].has(at));
            let having: Vec<usize> = having.collect();
            let dear = having.iter().map(|&i| sums[i].spare * 4.0 + sums[i].loss(&lost) * noise());
            let pivot = dear.zip(&having).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, &pivot)) = pivot else { continue };
            budget.spend((having.len() * (sums[pivot].odd.len() + ROWS)) as u64);
            sums[pivot].is_over = true;
            let by = sums[pivot].clone();
            for i in having.into_iter().filter(|&i| i != pivot) {
                let sum = &mut sums[i];
                sum.add(&by);
                sum.is_over = sum.rows.len() > ROWS;
                let is_deep = || sum.loss(&lost) < 1.0 - 2.0 * LACK;
                if !sum.is_over && sum.is_odd && is_deep() && seen.insert(sum.rows.clone()) {
                    found.extend(half(rows, x, &sum.rows));
                }
            }
        }
    }
    found.sort_by(|a, b| b.depth.total_cmp(&a.depth).then_with(|| a.rows.cmp(&b.rows)));
    found
}

/// A row as a sum.
fn sum_of(number: u32, row: &Whole, x: &[f64], place: &[usize], n: usize) -> Sum {
    let value: f64 = row.terms.iter().map(|it| it.1 as f64 * x[it.0 as usize]).sum();
    let mut odd = vec![0; n.div_ceil(64)].into_boxed_slice();
    let mut is_odd = row.least % 2 == 1;
    for &(at, _) in row.terms.iter().filter(|it| it.1 % 2 == 1) {
        // What is rounded down takes a half of the other side, too.
        is_odd ^= x[at as usize] > 0.5;
        let place = place[at as usize];
        if place != usize::MAX {
            odd[place / 64] ^= 1 << (place % 64);
        }
    }
    let spare = (value - row.least as f64).max(0.0);
    Sum { odd, is_odd, spare, rows: vec![number], is_over: false }
}

/// The cut from some rows, if the point violates it.
fn half(rows: &[Whole], x: &[f64], places: &[u32]) -> Option<Half> {
    let mut terms: Vec<(u32, u64)> = Vec::new();
    let mut sum = 0_u64;
    for &at in places {
        let row = &rows[at as usize];
        terms.extend_from_slice(row.terms);
        sum = sum.checked_add(row.least)?;
    }
    terms.sort_unstable();
    terms.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    for (at, weight) in &mut terms {
        if x[*at as usize] > 0.5 {
            sum = sum.checked_sub(*weight % 2)?;
            *weight /= 2;
        } else {
            *weight = weight.div_ceil(2);
        }
    }
    terms.retain(|it| it.1 > 0);
    let least = sum.div_ceil(2);
    let value: f64 = terms.iter().map(|it| it.1 as f64 * x[it.0 as usize]).sum();
    let length = terms.iter().map(|it| (it.1 * it.1) as f64).sum::<f64>().sqrt();
    let lack = least as f64 - value;
    // Proofs count multipliers in the common divisor, of which a half may be no half.
    let divisor = terms.iter().fold(0, |divisor, it| gcd(divisor, it.1));
    let is_wanted = lack > LACK && divisor == 1;
    is_wanted.then(|| Half { rows: places.to_vec(), terms, least, depth: lack / length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Steps;

    fn halves(
        rows: &[Vec<(u32, u64)>],
        least: &[u64],
        x: &[f64],
        random: &mut Random,
    ) -> Vec<Half> {
        let core = Row::Core([].into());
        let whole = |(terms, &least)| Whole { row: &core, terms, least };
        let rows: Vec<Whole> = rows.iter().map(Vec::as_slice).zip(least).map(whole).collect();
        let stop = || false;
        let mut budget = Budget { stop: &stop, left: 1 << 40, steps: Steps::default() };
        zero_half(&rows, x, random, &mut budget)
    }

    #[test]
    fn a_ring_of_five_pairs_takes_three() {
        let rows: Vec<Vec<(u32, u64)>> = (0..5).map(|i| vec![(i, 1), ((i + 1) % 5, 1)]).collect();
        let found = halves(&rows, &[1; 5], &[0.5; 5], &mut Random::new(1));
        assert_eq!(found[0].terms, (0..5).map(|at| (at, 1)).collect::<Vec<_>>());
        assert_eq!((found[0].least, found[0].rows.len()), (3, 5));
    }

    #[test]
    fn every_choice_that_satisfies_the_rows_satisfies_the_halves_that_a_point_violates() {
        let mut random = Random::new(5);
        let mut n_found = 0;
        for _ in 0..3000 {
            let n = 3 + random.below(6);
            // A point of halves, and rows that hold there with nothing to spare.
            let x: Vec<f64> = (0..n).map(|_| [0.0, 0.5, 0.5, 0.5, 1.0][random.below(5)]).collect();
            let (mut rows, mut least) = (Vec::new(), Vec::new());
            for _ in 0..2 + random.below(8) {
                let terms: Vec<(u32, u64)> = (0..n as u32)
                    .filter_map(|at| {
                        Some((at, [0, 0, 1, 1, 2, 3][random.below(6)])).filter(|it| it.1 > 0)
                    })
                    .collect();
                let value: f64 = terms.iter().map(|it| it.1 as f64 * x[it.0 as usize]).sum();
                least.push(value as u64);
                rows.push(terms);
            }
            let weigh = |terms: &[(u32, u64)], choice: usize| -> u64 {
                terms.iter().filter(|it| choice >> it.0 & 1 == 1).map(|it| it.1).sum()
            };
            let found = halves(&rows, &least, &x, &mut random);
            for half in &found {
                let value: f64 = half.terms.iter().map(|it| it.1 as f64 * x[it.0 as usize]).sum();
                assert!(value < half.least as f64 - LACK);
                for choice in 0..1 << n {
                    let is_legal = rows.iter().zip(&least).all(|it| weigh(it.0, choice) >= *it.1);
                    assert!(!is_legal || weigh(&half.terms, choice) >= half.least);
                }
            }
            n_found += found.len();
        }
        assert!(n_found > 300, "{n_found}");
    }
}
