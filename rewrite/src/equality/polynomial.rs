//! Polynomials with coefficients modulo `2^5` in normal form: monomials are sorted and have nonzero
//! coefficients.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// Number of bits of a plaintext: coefficients are integers modulo a power of two.
pub(crate) const PLAINTEXT_BITS: u32 = 5;

/// Maximum number of monomials of a polynomial.
const MAX_MONOMIALS: usize = 20_000;

/// Maximum number of products of monomials in a proof.
const MAX_WORK: u64 = 10_000_000;

/// Maximum exponent.
const MAX_EXPONENT: u32 = 1 << 20;

/// A variable that represents an unknown value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Unknown(pub(crate) u32);

/// Unknowns with exponents, sorted by unknown.
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

    pub(super) fn minus_one() -> Self {
        Self::number((1 << PLAINTEXT_BITS) - 1)
    }

    /// Number of monomials.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the unknown if the polynomial consists of only one unknown.
    pub(super) fn as_unknown(&self) -> Option<Unknown> {
        match self.0.iter().next() {
            Some((powers, 1)) if self.len() == 1 => match powers[..] {
                [(unknown, 1)] => Some(unknown),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn unknowns(&self) -> impl Iterator<Item = Unknown> {
        self.0.keys().flatten().map(|it| it.0)
    }

    /// Returns the quotient by a monomial with coefficient 1; `None` if `by` is not such a
    /// monomial, or does not divide this polynomial.
    pub(super) fn divided(&self, by: &Self) -> Option<Self> {
        let (factor, &coefficient) = by.0.iter().next().filter(|_| by.len() == 1)?;
        let mut out = Self::default();
        for (powers, &number) in &self.0 {
            let mut rest: BTreeMap<Unknown, u32> = powers.iter().copied().collect();
            for &(unknown, exponent) in factor {
                let left = rest.get_mut(&unknown)?;
                *left = left.checked_sub(exponent)?;
            }
            let rest: Powers = rest.into_iter().filter(|it| it.1 > 0).collect();
            (coefficient == 1).then(|| out.add(rest, number))?;
        }
        Some(out)
    }

    /// Returns the monomials, as powers of unknowns, with their coefficients.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[(Unknown, u32)], u64)> {
        self.0.iter().map(|it| (&**it.0, *it.1))
    }

    /// Returns the largest degree of a monomial.
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

/// The remaining work of a proof, and its unknowns.
pub(crate) struct ProofWork<'a> {
    left: u64,
    /// Called from time to time; true ends the proof.
    stop: &'a dyn Fn() -> bool,
    /// Work until the next call of `stop`.
    until_asked: u64,
    n_unknowns: u32,
    /// The unknowns of integer constants, by type and number.
    constants: FxHashMap<(String, i128), Unknown>,
    /// The unknowns of sums of an integer unknown and a number.
    sums: FxHashMap<(Unknown, i128), Unknown>,
    /// The base unknown and the offset of each unknown in `sums`.
    parts: FxHashMap<Unknown, (Unknown, i128)>,
}

/// Work between two calls of `stop`.
const STOP_CHECK_INTERVAL: u64 = 2000;

impl<'a> ProofWork<'a> {
    pub(crate) fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            left: MAX_WORK,
            stop,
            until_asked: STOP_CHECK_INTERVAL,
            n_unknowns: 0,
            constants: FxHashMap::default(),
            sums: FxHashMap::default(),
            parts: FxHashMap::default(),
        }
    }

    /// Returns a new unknown, which is greater than all earlier ones.
    pub(super) fn unknown(&mut self) -> Unknown {
        let unknown = Unknown(self.n_unknowns);
        self.n_unknowns += 1;
        unknown
    }

    /// Returns the unknown that represents a constant of a type.
    pub(super) fn constant(&mut self, ty: String, number: i128) -> Unknown {
        if let Some(&it) = self.constants.get(&(ty.clone(), number)) {
            return it;
        }
        let unknown = self.unknown();
        self.constants.insert((ty, number), unknown);
        unknown
    }

    /// Returns the unknown that represents the sum of an integer and a number.
    pub(super) fn offset(&mut self, of: Unknown, by: i128) -> Option<Unknown> {
        let (base, first) = self.parts.get(&of).copied().unwrap_or((of, 0));
        let sum = first.checked_add(by)?;
        if sum == 0 {
            return Some(base);
        }
        if let Some(&it) = self.sums.get(&(base, sum)) {
            return Some(it);
        }
        let unknown = self.unknown();
        self.sums.insert((base, sum), unknown);
        self.parts.insert(unknown, (base, sum));
        Some(unknown)
    }

    /// Counts the work for an op.
    pub(crate) fn count_op(&mut self) -> Result<(), String> {
        self.spend(1).ok_or_else(|| "the proof takes too long".to_owned())
    }

    fn spend(&mut self, n: usize) -> Option<()> {
        self.left = self.left.checked_sub(n as u64)?;
        if self.until_asked > n as u64 {
            self.until_asked -= n as u64;
            return Some(());
        }
        self.until_asked = STOP_CHECK_INTERVAL;
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
        (out.len() <= MAX_MONOMIALS).then_some(out)
    }

    pub(crate) fn product(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let mut out = Polynomial::default();
        for (left, x) in &a.0 {
            self.spend(b.len())?;
            for (right, y) in &b.0 {
                out.add(multiply_powers(left, right)?, x * y);
            }
            if out.len() > MAX_MONOMIALS {
                return None;
            }
        }
        Some(out)
    }

    /// Returns true if two polynomials are proven equal: in their difference, unknowns with a
    /// meaning are substituted, the latest first, until nothing is left. Most terms cancel long
    /// before all unknowns are substituted.
    pub(crate) fn are_equal(
        &mut self,
        a: &Polynomial,
        b: &Polynomial,
        meaning: &FxHashMap<Unknown, Rc<Polynomial>>,
    ) -> Option<bool> {
        let difference = self.sum(a, b, true)?;
        Some(self.substitute(difference, Unknown(0), meaning)?.0.is_empty())
    }

    /// Returns a polynomial in which all unknowns with a meaning, from the unknown `from` on, are
    /// substituted.
    pub(super) fn substitute(
        &mut self,
        mut at: Polynomial,
        from: Unknown,
        meaning: &FxHashMap<Unknown, Rc<Polynomial>>,
    ) -> Option<Polynomial> {
        // Meanings contain only earlier unknowns, so the loop terminates.
        loop {
            let unknowns = at.unknowns().filter(|&it| it >= from && meaning.contains_key(&it));
            let Some(latest) = unknowns.max() else { return Some(at) };
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
                if out.len() > MAX_MONOMIALS {
                    return None;
                }
            }
            at = out;
        }
    }
}

/// Multiplies two products of powers.
fn multiply_powers(a: &Powers, b: &Powers) -> Option<Powers> {
    let mut out: BTreeMap<Unknown, u32> = BTreeMap::new();
    for &(unknown, exponent) in a.iter().chain(b.iter()) {
        let sum = out.entry(unknown).or_default();
        *sum += exponent;
        if *sum > MAX_EXPONENT {
            return None;
        }
    }
    Some(out.into_iter().collect())
}
