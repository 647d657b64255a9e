//! Zero-half cuts: rows are added, halved and rounded (Chvátal-Gomory cuts with multipliers of one
//! half).
//!
//! Half of a sum of rows with integer terms is `w x >= c`. A choice is integral, so `ceil(w) x >=
//! ceil(c)` is valid, too. A point violates it if the rows have little slack, `c` is fractional,
//! and the columns with an odd sum have small values at the point: then rounding up the weights
//! loses less than the half that rounding up `c` gains. (The weight of a column with a value near 1
//! is rounded down instead, which loses the distance from 1.)
//!
//! So rows are added modulo 2. Columns are eliminated one by one, in descending order of the loss
//! by rounding, each with a row with little slack. The resulting sums have few odd columns. Each
//! changed sum is checked. Sums of many rows are discarded: they are dense and make every solve
//! slow.
//!
//! This is useful because cores of additions are chains of fifteen sites. In a random program each
//! one extends over a third of the program, so no small local problem contains several cores.
//! Zero-half cuts find any ring of an odd number of chains in which neighbors overlap.
//!
//! Cost: for each column, a few operations for each row from which it is eliminated.
//!
//! Source of the idea: {0, 1/2}-cuts of Caprara and Fischetti; the heuristic of Koster, Zymolka and
//! Kutschka.

use num_integer::gcd;
use rustc_hash::FxHashSet;

use crate::certificate::ProofRow;
use crate::question::limits::EffortBudget;
use crate::random::Random;

/// A row with integer terms.
pub(crate) struct IntegerRow<'a> {
    pub row: &'a ProofRow,
    /// Columns with their weights.
    pub terms: &'a [(u32, u64)],
    pub least: u64,
}

/// A cut from half of a sum of rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ZeroHalfCut {
    /// Indices of the rows.
    pub rows: Vec<u32>,
    /// Columns with their weights, in increasing order. The greatest common divisor of the weights
    /// is 1.
    pub terms: Vec<(u32, u64)>,
    pub least: u64,
    /// The Euclidean distance of the point from the cut.
    pub depth: f64,
}

/// Largest slack of a row that is added to others.
const MAX_SLACK: f64 = 0.1;
/// Maximum number of rows in a sum.
const MAX_ROWS: usize = 16;
/// Minimum violation of a cut by the point.
const MIN_VIOLATION: f64 = 0.05;
/// Number of elimination orders to try.
const N_ORDERS: usize = 8;
/// Above this number of fractional columns there is no search, because the sums would be long.
const MAX_COLUMNS: usize = 4000;

/// A sum of rows modulo 2.
#[derive(Clone)]
struct ParitySum {
    /// The fractional columns with an odd coefficient, as a bit set.
    odd: Box<[u64]>,
    /// True if rounding the right-hand side gains a half.
    is_odd: bool,
    spare: f64,
    /// The rows, in increasing order.
    rows: Vec<u32>,
    /// True if the sum was used for elimination, or discarded.
    is_done: bool,
}

impl ParitySum {
    fn has(&self, place: usize) -> bool {
        self.odd[place / 64] >> (place % 64) & 1 == 1
    }

    fn add(&mut self, other: &ParitySum) {
        for (word, other) in self.odd.iter_mut().zip(&other.odd) {
            *word ^= other;
        }
        self.is_odd ^= other.is_odd;
        self.spare += other.spare;
        self.rows.extend_from_slice(&other.rows);
        self.rows.sort_unstable();
        // A row that occurs twice cancels out.
        self.rows =
            self.rows.chunk_by(u32::eq).filter(|it| it.len() == 1).map(|it| it[0]).collect();
    }

    /// Returns twice the loss of rounding.
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

/// Returns cuts that a point violates, the deepest first.
pub(crate) fn zero_half(
    rows: &[IntegerRow],
    x: &[f64],
    random: &mut Random,
    budget: &mut EffortBudget,
) -> Vec<ZeroHalfCut> {
    let is_open = |x: f64| x > 1e-9 && x < 1.0 - 1e-9;
    let columns: Vec<usize> = (0..x.len()).filter(|&at| is_open(x[at])).collect();
    if columns.len() > MAX_COLUMNS {
        return Vec::new();
    }
    let mut place = vec![usize::MAX; x.len()];
    columns.iter().enumerate().for_each(|(i, &at)| place[at] = i);
    let lost: Vec<f64> = columns.iter().map(|&at| x[at].min(1.0 - x[at])).collect();
    let sums: Vec<ParitySum> = (0..)
        .zip(rows)
        .map(|(number, row)| sum_of(number, row, x, &place, columns.len()))
        .filter(|it| it.spare < MAX_SLACK)
        .collect();
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    for order in 0..N_ORDERS {
        if budget.is_spent() {
            break;
        }
        let mut noise = || if order == 0 { 1.0 } else { 0.5 + random.unit() };
        let mut sums = sums.clone();
        let mut by_loss: Vec<(f64, usize)> = lost.iter().map(|it| it * noise()).zip(0..).collect();
        by_loss.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, at) in by_loss {
            let having = (0..sums.len()).filter(|&i| !sums[i].is_done && sums[i].has(at));
            let having: Vec<usize> = having.collect();
            let dear = having.iter().map(|&i| sums[i].spare * 4.0 + sums[i].loss(&lost) * noise());
            let pivot = dear.zip(&having).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, &pivot)) = pivot else { continue };
            budget.spend((having.len() * (sums[pivot].odd.len() + MAX_ROWS)) as u64);
            sums[pivot].is_done = true;
            let by = sums[pivot].clone();
            for i in having.into_iter().filter(|&i| i != pivot) {
                let sum = &mut sums[i];
                sum.add(&by);
                sum.is_done = sum.rows.len() > MAX_ROWS;
                let is_deep = || sum.loss(&lost) < 1.0 - 2.0 * MIN_VIOLATION;
                if !sum.is_done && sum.is_odd && is_deep() && seen.insert(sum.rows.clone()) {
                    found.extend(cut_from_rows(rows, x, &sum.rows));
                }
            }
        }
    }
    found.sort_by(|a, b| b.depth.total_cmp(&a.depth).then_with(|| a.rows.cmp(&b.rows)));
    found
}

/// Returns the sum with only one row.
fn sum_of(number: u32, row: &IntegerRow, x: &[f64], place: &[usize], n: usize) -> ParitySum {
    let value: f64 = row.terms.iter().map(|it| it.1 as f64 * x[it.0 as usize]).sum();
    let mut odd = vec![0; n.div_ceil(64)].into_boxed_slice();
    let mut is_odd = row.least % 2 == 1;
    for &(at, _) in row.terms.iter().filter(|it| it.1 % 2 == 1) {
        // Rounding down a weight lowers the right-hand side by a half.
        is_odd ^= x[at as usize] > 0.5;
        let place = place[at as usize];
        if place != usize::MAX {
            odd[place / 64] ^= 1 << (place % 64);
        }
    }
    let spare = (value - row.least as f64).max(0.0);
    ParitySum { odd, is_odd, spare, rows: vec![number], is_done: false }
}

/// Returns the cut from some rows if the point violates it.
fn cut_from_rows(rows: &[IntegerRow], x: &[f64], places: &[u32]) -> Option<ZeroHalfCut> {
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
    // The unit of multipliers in a proof depends on the common divisor of the weights. With a
    // divisor other than 1, one half may not be representable.
    let divisor = terms.iter().fold(0, |divisor, it| gcd(divisor, it.1));
    let is_wanted = lack > MIN_VIOLATION && divisor == 1;
    is_wanted.then(|| ZeroHalfCut { rows: places.to_vec(), terms, least, depth: lack / length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::limits::EnabledSteps;

    fn halves(
        rows: &[Vec<(u32, u64)>],
        least: &[u64],
        x: &[f64],
        random: &mut Random,
    ) -> Vec<ZeroHalfCut> {
        let core = ProofRow::Core([].into());
        let whole = |(terms, &least)| IntegerRow { row: &core, terms, least };
        let rows: Vec<IntegerRow> = rows.iter().map(Vec::as_slice).zip(least).map(whole).collect();
        let stop = || false;
        let mut budget =
            EffortBudget { stop: &stop, remaining: 1 << 40, steps: EnabledSteps::default() };
        zero_half(&rows, x, random, &mut budget)
    }

    #[test]
    fn cuts_a_ring_of_five_pairs() {
        let rows: Vec<Vec<(u32, u64)>> = (0..5).map(|i| vec![(i, 1), ((i + 1) % 5, 1)]).collect();
        let found = halves(&rows, &[1; 5], &[0.5; 5], &mut Random::new(1));
        assert_eq!(found[0].terms, (0..5).map(|at| (at, 1)).collect::<Vec<_>>());
        assert_eq!((found[0].least, found[0].rows.len()), (3, 5));
    }

    #[test]
    fn cuts_hold_for_every_choice_that_satisfies_the_rows() {
        let mut random = Random::new(5);
        let mut n_found = 0;
        for _ in 0..3000 {
            let n = 3 + random.below(6);
            // A half-integral point, and rows with little slack at that point.
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
                assert!(value < half.least as f64 - MIN_VIOLATION);
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
