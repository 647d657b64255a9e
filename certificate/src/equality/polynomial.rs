//! Polynomials with coefficients modulo 32 in normal form: each monomial occurs once, with a
//! coefficient that is not zero. Equal polynomials have equal normal forms.

use std::collections::BTreeMap;

/// Limits of a verification. A file that exceeds them is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolynomialLimits {
    /// Number of products and sums of monomials.
    pub work: u64,
    /// Number of monomials of one polynomial.
    pub monomials: usize,
    /// Number of monomials of all values together.
    pub kept: usize,
}

impl Default for PolynomialLimits {
    /// Limits that allow some seconds of time and some hundred megabytes of memory.
    fn default() -> Self {
        Self { work: 20_000_000, monomials: 40_000, kept: 3_000_000 }
    }
}

/// The modulus of the coefficients.
pub(super) const MODULUS: u64 = 32;

/// A product of powers: unknowns in increasing order, each with an exponent that is not zero.
type Monomial = Vec<(u32, u32)>;

/// A polynomial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polynomial {
    terms: BTreeMap<Monomial, u64>,
}

/// The work that the limits still allow.
#[derive(Debug)]
pub(super) struct WorkBudget {
    left: u64,
    most_monomials: usize,
}

impl WorkBudget {
    pub(super) fn new(limits: PolynomialLimits) -> Self {
        Self { left: limits.work, most_monomials: limits.monomials }
    }

    /// Subtracts some work.
    ///
    /// # Errors
    ///
    /// If the limit is exceeded.
    pub(super) fn spend(&mut self, n: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(n as u64).ok_or("the verification takes too long")?;
        Ok(())
    }
}

impl Polynomial {
    pub(super) fn constant(number: u64) -> Self {
        let mut out = Self::default();
        out.add_term(Vec::new(), number % MODULUS);
        out
    }

    pub(super) fn unknown(unknown: u32) -> Self {
        Self { terms: BTreeMap::from([(vec![(unknown, 1)], 1)]) }
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The terms, each a monomial with its coefficient.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[(u32, u32)], u64)> {
        self.terms.iter().map(|(monomial, &coefficient)| (&**monomial, coefficient))
    }

    /// Returns the unknown, if the polynomial is a single unknown with coefficient and exponent 1.
    pub(super) fn as_unknown(&self) -> Option<u32> {
        let mut terms = self.terms();
        match (terms.next(), terms.next()) {
            (Some((&[(unknown, 1)], 1)), None) => Some(unknown),
            _ => None,
        }
    }

    /// Returns the quotient by a monomial with coefficient 1; `None` if `by` is not such a monomial
    /// or does not divide each term.
    pub(super) fn quotient_by_monomial(&self, by: &Self) -> Option<Self> {
        let mut terms = by.terms();
        let (Some((divisor, 1)), None) = (terms.next(), terms.next()) else { return None };
        let mut out = Self::default();
        for (monomial, coefficient) in self.terms() {
            let mut left: BTreeMap<u32, u32> = monomial.iter().copied().collect();
            for (unknown, exponent) in divisor {
                let rest = left.get(unknown)?.checked_sub(*exponent)?;
                left.insert(*unknown, rest);
            }
            let left: Monomial = left.into_iter().filter(|it| it.1 > 0).collect();
            out.add_term(left, coefficient);
        }
        Some(out)
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: u64) {
        let sum = (self.terms.get(&monomial).unwrap_or(&0) + coefficient) % MODULUS;
        if sum == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
    }

    /// `self + factor * other`
    pub(super) fn plus(
        &self,
        factor: u64,
        other: &Self,
        work: &mut WorkBudget,
    ) -> Result<Self, String> {
        work.spend(self.len() + other.len())?;
        let mut out = self.clone();
        for (monomial, coefficient) in other.terms() {
            out.add_term(monomial.to_vec(), coefficient * (factor % MODULUS));
        }
        out.check_size(work)
    }

    /// `self - other`
    pub(super) fn minus(&self, other: &Self, work: &mut WorkBudget) -> Result<Self, String> {
        self.plus(MODULUS - 1, other, work)
    }

    /// `self * other`
    pub(super) fn times(&self, other: &Self, work: &mut WorkBudget) -> Result<Self, String> {
        let mut out = Self::default();
        for (a, x) in self.terms() {
            work.spend(other.len())?;
            for (b, y) in other.terms() {
                out.add_term(product(a, b)?, x * y);
            }
            if out.len() > work.most_monomials {
                break;
            }
        }
        out.check_size(work)
    }

    /// Replaces an unknown by a polynomial.
    pub(super) fn replace(
        &self,
        unknown: u32,
        by: &Self,
        work: &mut WorkBudget,
    ) -> Result<Self, String> {
        let mut powers = vec![Self::constant(1)];
        let mut out = Self::default();
        for (monomial, coefficient) in self.terms() {
            let (with, rest): (Monomial, Monomial) =
                monomial.iter().partition(|it| it.0 == unknown);
            let exponent = with.first().map_or(0, |it| it.1 as usize);
            while powers.len() <= exponent {
                let next = powers[powers.len() - 1].times(by, work)?;
                powers.push(next);
            }
            let rest = Self { terms: BTreeMap::from([(rest, 1)]) };
            let product = rest.times(&powers[exponent], work)?;
            work.spend(product.len())?;
            for (monomial, by) in product.terms {
                out.add_term(monomial, coefficient * by);
            }
            if out.len() > work.most_monomials {
                break;
            }
        }
        out.check_size(work)
    }

    fn check_size(self, work: &WorkBudget) -> Result<Self, String> {
        if self.len() > work.most_monomials {
            return Err("a polynomial has too many monomials".to_owned());
        }
        Ok(self)
    }
}

fn product(a: &[(u32, u32)], b: &[(u32, u32)]) -> Result<Monomial, String> {
    let mut out: BTreeMap<u32, u32> = a.iter().copied().collect();
    for &(unknown, exponent) in b {
        let sum = out.entry(unknown).or_default();
        *sum = sum.checked_add(exponent).ok_or("an exponent is too large")?;
    }
    Ok(out.into_iter().collect())
}
