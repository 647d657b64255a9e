//! Polynomials with coefficients modulo `2^5` in normal form: monomials in order, none with
//! coefficient zero.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// Bits of a plaintext: coefficients are integers modulo a power of two.
pub(crate) const PLAINTEXT_BITS: u32 = 5;

/// Monomials of a polynomial, at most.
const MOST_MONOMIALS: usize = 20_000;

/// Products of monomials that a proof computes, at most.
const MOST_WORK: u64 = 10_000_000;

/// The largest exponent.
const MOST_EXPONENT: u32 = 1 << 20;

/// A value that nothing is known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Unknown(pub(crate) u32);

/// Unknowns with exponents, by unknown.
type Powers = Box<[(Unknown, u32)]>;

/// A polynomial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Polynomial(BTreeMap<Powers, u64>);

fn modulo(number: u64) -> u64 {
    number % (1 << PLAINTEXT_BITS)
}

impl Polynomial {
    pub(crate) fn of(unknown: Unknown) -> Self {
        Self([(vec![(unknown, 1)].into_boxed_slice(), 1)].into())
    }

    pub(crate) fn number(number: u64) -> Self {
        let mut out = Self::default();
        out.add(Box::default(), number);
        out
    }

    /// Number of monomials.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The monomials, as powers of unknowns, and their coefficients.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[(Unknown, u32)], u64)> {
        self.0.iter().map(|it| (&**it.0, *it.1))
    }

    /// The largest number of factors of a monomial.
    pub(crate) fn degree(&self) -> u32 {
        self.0.keys().map(|it| it.iter().map(|it| it.1).sum()).max().unwrap_or(0)
    }

    fn add(&mut self, powers: Powers, coefficient: u64) {
        let sum = modulo(self.0.get(&powers).copied().unwrap_or(0) + modulo(coefficient));
        if sum == 0 {
            self.0.remove(&powers);
        } else {
            self.0.insert(powers, sum);
        }
    }
}

/// The work that is left for a proof.
pub(crate) struct Work<'a> {
    left: u64,
    /// Asked now and then; true ends the proof.
    stop: &'a dyn Fn() -> bool,
    /// Work until the next time it is asked.
    until_asked: u64,
}

/// Work between two looks at the clock.
const MOST_UNASKED: u64 = 2000;

impl<'a> Work<'a> {
    pub(crate) fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self { left: MOST_WORK, stop, until_asked: MOST_UNASKED }
    }

    /// Counts an op.
    pub(crate) fn tick(&mut self) -> Result<(), String> {
        self.spend(1).ok_or_else(|| "the proof takes too long".to_owned())
    }

    fn spend(&mut self, n: usize) -> Option<()> {
        self.left = self.left.checked_sub(n as u64)?;
        if self.until_asked > n as u64 {
            self.until_asked -= n as u64;
            return Some(());
        }
        self.until_asked = MOST_UNASKED;
        if (self.stop)() {
            self.left = 0;
            return None;
        }
        Some(())
    }

    pub(crate) fn sum(
        &mut self,
        a: &Polynomial,
        b: &Polynomial,
        is_difference: bool,
    ) -> Option<Polynomial> {
        self.spend(a.len() + b.len())?;
        let mut out = a.clone();
        for (powers, &coefficient) in &b.0 {
            let sign = if is_difference { (1 << PLAINTEXT_BITS) - 1 } else { 1 };
            out.add(powers.clone(), modulo(coefficient * sign));
        }
        (out.len() <= MOST_MONOMIALS).then_some(out)
    }

    pub(crate) fn product(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let mut out = Polynomial::default();
        for (left, x) in &a.0 {
            self.spend(b.len())?;
            for (right, y) in &b.0 {
                out.add(joined(left, right)?, x * y);
            }
            if out.len() > MOST_MONOMIALS {
                return None;
            }
        }
        Some(out)
    }

    /// True if two polynomials are shown equal: in their difference, unknowns that stand for others
    /// are replaced by these, the latest first, until nothing is left. Most cancels long before all
    /// are.
    pub(crate) fn are_equal(
        &mut self,
        a: &Polynomial,
        b: &Polynomial,
        meaning: &FxHashMap<Unknown, Rc<Polynomial>>,
    ) -> Option<bool> {
        let mut at = self.sum(a, b, true)?;
        // Meanings name earlier unknowns only, so this ends.
        while !at.0.is_empty() {
            let unknowns = at.0.keys().flatten().map(|it| it.0);
            let Some(latest) = unknowns.filter(|it| meaning.contains_key(it)).max() else {
                return Some(false);
            };
            let value = meaning.get(&latest)?;
            let mut out = Polynomial::default();
            let mut powers_of: Vec<Polynomial> = vec![Polynomial::number(1)];
            for (powers, &coefficient) in &at.0 {
                let exponent = powers.iter().find(|it| it.0 == latest).map_or(0, |it| it.1);
                if exponent == 0 {
                    self.spend(1)?;
                    out.add(powers.clone(), coefficient);
                    continue;
                }
                while powers_of.len() <= exponent as usize {
                    let next = self.product(powers_of.last()?, value)?;
                    powers_of.push(next);
                }
                let rest: Powers = powers.iter().copied().filter(|it| it.0 != latest).collect();
                let rest = Polynomial([(rest, coefficient)].into());
                let term = self.product(&rest, &powers_of[exponent as usize])?;
                for (powers, coefficient) in term.0 {
                    out.add(powers, coefficient);
                }
                if out.len() > MOST_MONOMIALS {
                    return None;
                }
            }
            at = out;
        }
        Some(true)
    }
}

/// The product of two products of powers.
fn joined(a: &Powers, b: &Powers) -> Option<Powers> {
    let mut out: BTreeMap<Unknown, u32> = BTreeMap::new();
    for &(unknown, exponent) in a.iter().chain(b.iter()) {
        let sum = out.entry(unknown).or_default();
        *sum += exponent;
        if *sum > MOST_EXPONENT {
            return None;
        }
    }
    Some(out.into_iter().collect())
}
