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

    /// The unknown that it is, if it is one.
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

    /// The polynomial whose product with another is this one, if that is a monomial.
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

/// The work that is left for a proof, and the unknowns that it has named.
pub(crate) struct Work<'a> {
    left: u64,
    /// Asked now and then; true ends the proof.
    stop: &'a dyn Fn() -> bool,
    /// Work until the next time it is asked.
    until_asked: u64,
    n_unknowns: u32,
    /// The unknowns that are integers: constants by type and number, and sums of an unknown and a
    /// number.
    constants: FxHashMap<(String, i128), Unknown>,
    sums: FxHashMap<(Unknown, i128), Unknown>,
    /// The unknown and the number that an integer is the sum of.
    parts: FxHashMap<Unknown, (Unknown, i128)>,
}

/// Work between two looks at the clock.
const MOST_UNASKED: u64 = 2000;

impl<'a> Work<'a> {
    pub(crate) fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            left: MOST_WORK,
            stop,
            until_asked: MOST_UNASKED,
            n_unknowns: 0,
            constants: FxHashMap::default(),
            sums: FxHashMap::default(),
            parts: FxHashMap::default(),
        }
    }

    /// A new unknown. Later ones are greater.
    pub(super) fn unknown(&mut self) -> Unknown {
        let unknown = Unknown(self.n_unknowns);
        self.n_unknowns += 1;
        unknown
    }

    /// The unknown that stands for a constant of a type.
    pub(super) fn constant(&mut self, ty: String, number: i128) -> Unknown {
        if let Some(&it) = self.constants.get(&(ty.clone(), number)) {
            return it;
        }
        let unknown = self.unknown();
        self.constants.insert((ty, number), unknown);
        unknown
    }

    /// The unknown that stands for the sum of an integer and a number.
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
        let difference = self.sum(a, b, true)?;
        Some(self.expanded(difference, Unknown(0), meaning)?.0.is_empty())
    }

    /// A polynomial in which the unknowns from one on that stand for others are replaced by these.
    pub(super) fn expanded(
        &mut self,
        mut at: Polynomial,
        from: Unknown,
        meaning: &FxHashMap<Unknown, Rc<Polynomial>>,
    ) -> Option<Polynomial> {
        // Meanings name earlier unknowns only, so this ends.
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
                if out.len() > MOST_MONOMIALS {
                    return None;
                }
            }
            at = out;
        }
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
