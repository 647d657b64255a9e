//! Lower bounds on the number of reductions of all programs that compute the same polynomials.
//!
//! A program with `r` reductions has `r + 1` *bins*: groups of operations between reductions, each
//! with a reduced value or the output as its result. Let `R` be the noise after a reduction, `B`
//! the budget, and `L` the minimum of `R` and the noise of all leaves.
//!
//! *Weight.* A value with noise `n` is composed of leaves, reduced values and products whose
//! weights `2^noise` add up to at most `2^n`; this is true for sums (Kraft) and, with noise of at
//! least one bit, for products. So the total capacity of the bins is `(r + 1) 2^B`. The bins must
//! contain all variables of the polynomial, and the reduced values. Similarly, a bin contains at
//! most `2^(B - 2L)` products.
//!
//! *Products.* The quadratic part of each value is a combination of products of two linear forms,
//! one for each multiplication. The alternating form of such a product has rank two or zero, so the
//! number of multiplications is at least half of the rank of the quadratic part modulo 2. If they
//! fill all bins, and no product can be multiplied again, then the first reduced value is a sum of
//! products of leaves. It has no linear part, so a product with it does not contribute to the
//! quadratic part, and no bin has room for it: one more reduction is necessary.
//!
//! *Degree.* A bin multiplies the degree by at most `B / L`. If this factor is two, and the degree
//! is the largest possible, then the part of highest degree is a power of a quadratic form with
//! exponent `2^r`, in which modulo 2 all exponents are multiples of `2^r`.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::equality::polynomial::{Polynomial, ProofWork, Unknown};
use crate::scale::NoiseParameters;
use crate::straight::{StraightLine, StraightProgram};

/// Maximum total number of monomials of all lines of a program.
const MAX_MONOMIALS: usize = 200_000;

/// Returns a lower bound of the number of reductions of all programs with the same outputs.
pub(crate) fn least_reductions(
    program: &StraightProgram,
    scale: NoiseParameters,
    stop: &dyn Fn() -> bool,
) -> u64 {
    let noises = program.leaves.iter().map(|it| it.noise);
    let lowest = noises.min().unwrap_or(scale.reset).min(scale.reset);
    if lowest == 0 {
        return 0;
    }
    let bins = Bins { program, scale, lowest };
    let Some(polynomials) = polynomials(program, stop) else { return 0 };
    let least = polynomials.iter().map(|it| bins.least(it));
    least.max().unwrap_or(0)
}

/// Returns the polynomials of the outputs. The index of a variable is that of its leaf.
fn polynomials(program: &StraightProgram, stop: &dyn Fn() -> bool) -> Option<Vec<Rc<Polynomial>>> {
    let live = program.live_lines();
    let mut work = ProofWork::new(stop);
    let mut n_left = MAX_MONOMIALS;
    let mut known: Vec<Option<Rc<Polynomial>>> = vec![None; program.lines.len()];
    for (at, &line) in program.lines.iter().enumerate().filter(|it| live[it.0]) {
        let of = |it: crate::straight::Reg| known[it.index()].clone();
        let polynomial = match line {
            StraightLine::Leaf(index) => match program.leaves[index as usize].constant {
                Some(number) => Polynomial::number(number),
                None => Polynomial::of(Unknown(index)),
            },
            StraightLine::Add(a, b) => work.sum(&*of(a)?, &*of(b)?, false)?,
            StraightLine::Sub(a, b) => work.sum(&*of(a)?, &*of(b)?, true)?,
            StraightLine::Mul(a, b) => work.product(&*of(a)?, &*of(b)?)?,
        };
        n_left = n_left.checked_sub(polynomial.len())?;
        known[at] = Some(Rc::new(polynomial));
    }
    program.outputs.iter().map(|it| known[it.index()].clone()).collect()
}

struct Bins<'a> {
    program: &'a StraightProgram,
    scale: NoiseParameters,
    /// Least noise of any value.
    lowest: u32,
}

impl Bins<'_> {
    fn least(&self, polynomial: &Polynomial) -> u64 {
        let by_weight = self.by_weight(polynomial);
        if self.max_factors() < 2 {
            // No two values can be multiplied.
            return by_weight;
        }
        by_weight.max(self.by_products(polynomial)).max(self.by_degree(polynomial))
    }

    /// Returns the bound from the weights of all variables and reduced values.
    fn by_weight(&self, polynomial: &Polynomial) -> u64 {
        let mut is_used = vec![false; self.program.leaves.len()];
        for (powers, _) in polynomial.terms() {
            for (unknown, _) in powers {
                is_used[unknown.0 as usize] = true;
            }
        }
        let leaves = self.program.leaves.iter().zip(is_used).filter(|it| it.1);
        let weight: u128 = leaves.map(|it| u128::from(NoiseParameters::weight(it.0.noise))).sum();
        let (bin, reduced) = (1_u128 << self.scale.budget, 1_u128 << self.scale.reset);
        weight.saturating_sub(bin).div_ceil(bin - reduced) as u64
    }

    /// Returns the bound from the number of products in the quadratic part.
    fn by_products(&self, polynomial: &Polynomial) -> u64 {
        let n = n_products(polynomial);
        let most = 1_u64 << (self.scale.budget - 2 * self.lowest);
        let least = n.div_ceil(most).saturating_sub(1);
        let is_full = least > 0 && n == most * (least + 1) && self.max_factors() == 2;
        least + u64::from(is_full)
    }

    /// Returns the bound from the degree.
    fn by_degree(&self, polynomial: &Polynomial) -> u64 {
        let of = |powers: &[(Unknown, u32)]| powers.iter().map(|it| u64::from(it.1)).sum::<u64>();
        let degree = polynomial.terms().map(|it| of(it.0)).max().unwrap_or(0);
        let (mut least, mut reached) = (0_u64, self.max_factors());
        while reached < degree {
            reached = reached.saturating_mul(self.max_factors());
            least += 1;
        }
        let is_power = |exponent: u32| u64::from(exponent) % (1 << least) == 0;
        let is_highest_power = polynomial.terms().all(|(powers, coefficient)| {
            of(powers) < degree || coefficient % 2 == 0 || powers.iter().all(|it| is_power(it.1))
        });
        let is_extreme = least > 0 && reached == degree && self.max_factors() == 2;
        least + u64::from(is_extreme && !is_highest_power)
    }

    /// Returns the maximum number of factors of a product without reductions.
    fn max_factors(&self) -> u64 {
        u64::from(self.scale.budget / self.lowest)
    }
}

/// Returns a lower bound of the number of multiplications for the quadratic part of a polynomial:
/// half of the rank of its alternating form modulo 2.
fn n_products(polynomial: &Polynomial) -> u64 {
    let mut place: FxHashMap<Unknown, usize> = FxHashMap::default();
    let mut pairs = Vec::new();
    for (powers, coefficient) in polynomial.terms() {
        if let (&[(a, 1), (b, 1)], 1) = (powers, coefficient % 2) {
            let mut at = |it| {
                let n = place.len();
                *place.entry(it).or_insert(n)
            };
            pairs.push((at(a), at(b)));
        }
    }
    let n = place.len();
    let mut rows = vec![vec![0_u64; n.div_ceil(64)]; n];
    for (a, b) in pairs {
        rows[a][b / 64] |= 1 << (b % 64);
        rows[b][a / 64] |= 1 << (a % 64);
    }
    let mut rank = 0;
    for column in 0..n {
        let has = |row: &[u64]| row[column / 64] >> (column % 64) & 1 == 1;
        let Some(found) = (rank..n).find(|&it| has(&rows[it])) else { continue };
        rows.swap(rank, found);
        let pivot = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            if has(row) {
                row.iter_mut().zip(&pivot).for_each(|(it, of)| *it ^= of);
            }
        }
        rank += 1;
    }
    rank as u64 / 2
}

#[cfg(test)]
mod tests;
