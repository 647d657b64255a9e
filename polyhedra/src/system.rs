//! A system of equalities and inequalities in integers. Equalities are solved, inequalities are
//! normalized.
//!
//! *Equalities* are solved as in the Omega test (W. Pugh, "The Omega test: a fast and practical
//! integer programming algorithm for dependence analysis", 1991). A variable with coefficient 1 or
//! -1 is substituted. If there is none, the variable with the smallest coefficient is expressed by
//! a new variable and the remainders of the other coefficients, which are smaller. The new variable
//! takes the column of the old one.
//!
//! *Inequalities* are divided by the common divisor of their coefficients. The constant is rounded
//! down, which removes no integer point. The tightest of parallel inequalities is kept. Two
//! opposite inequalities with only one value between them become an equality.
//!
//! *Outputs* are forms. Each substitution is applied to them as well, so that they keep their
//! values.
//!
//! *Law.* Simplification maps the integer points one to one, with equal outputs.

use crate::budget::{Budget, QueryFailure};
use crate::number::Number;
use crate::rows::{Rows, common_divisor, support};

/// A system in which every variable is an integer.
#[derive(Clone, Debug)]
pub(crate) struct System<T> {
    pub(crate) n_vars: usize,
    /// Forms that are 0.
    pub(crate) equalities: Rows<T>,
    /// Forms that are at least 0.
    pub(crate) inequalities: Rows<T>,
    /// The output forms.
    pub(crate) outputs: Rows<T>,
}

/// The result of simplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feasibility {
    /// The system has no integer point.
    Empty,
    /// The system may have an integer point.
    Open,
}

impl<T: Number> System<T> {
    pub(crate) fn number(value: i128) -> Result<T, QueryFailure> {
        T::of(value).ok_or(QueryFailure::Overflow)
    }

    /// Solves the equalities and normalizes the inequalities until nothing changes. If the result
    /// is open, no equality is left.
    pub(crate) fn solve(&mut self, budget: &mut Budget) -> Result<Feasibility, QueryFailure> {
        loop {
            if self.solve_equalities(budget)? == Feasibility::Empty {
                return Ok(Feasibility::Empty);
            }
            if self.normalize_inequalities(budget)? == Feasibility::Empty {
                return Ok(Feasibility::Empty);
            }
            if self.equalities.is_empty() {
                return Ok(Feasibility::Open);
            }
        }
    }

    fn solve_equalities(&mut self, budget: &mut Budget) -> Result<Feasibility, QueryFailure> {
        loop {
            // Divide each row by its common divisor, and drop trivial rows.
            let mut at = 0;
            while at < self.equalities.len() {
                let row = self.equalities.row_mut(at);
                let divisor = common_divisor(row).ok_or(QueryFailure::Overflow)?;
                let (constant, _) = row.split_last().ok_or(QueryFailure::Overflow)?;
                if divisor.is_zero() {
                    if !constant.is_zero() {
                        return Ok(Feasibility::Empty);
                    }
                    self.equalities.swap_remove(at);
                    continue;
                }
                if !divisor.is_unit() {
                    for it in row.iter_mut() {
                        let quotient = it.floor_div(&divisor);
                        let one = Self::number(-1)?;
                        let rest =
                            T::combined(&Self::number(1)?, it, &one, &times(&quotient, &divisor)?);
                        if !rest.ok_or(QueryFailure::Overflow)?.is_zero() {
                            return Ok(Feasibility::Empty);
                        }
                        *it = quotient;
                    }
                }
                at += 1;
            }
            let Some((row, var)) = self.pivot() else { return Ok(Feasibility::Open) };
            let pivot = self.equalities.row(row).to_vec();
            budget.spend(
                ((self.equalities.len() + self.inequalities.len()) * self.n_vars) * T::WORK,
            )?;
            let mut form = Vec::with_capacity(pivot.len());
            if pivot[var].is_unit() {
                // ±x + rest = 0: x = ∓rest.
                let is_positive = pivot[var].sign() > 0;
                form.extend(
                    pivot.iter().map(|it| if is_positive { it.negated() } else { it.clone() }),
                );
                form[var] = Self::number(0)?;
                self.equalities.swap_remove(row);
            } else {
                // With m = |a| + 1: a_i mod^ m is in -m/2 .. m/2, and the form with these
                // coefficients is a multiple of m.
                let sign = pivot[var].sign();
                let size = if sign < 0 { pivot[var].negated() } else { pivot[var].clone() };
                let modulus = size.plus(&Self::number(1)?).ok_or(QueryFailure::Overflow)?;
                for it in &pivot {
                    let rest = centered(it, &modulus)?;
                    form.push(if sign < 0 { rest.negated() } else { rest });
                }
                form[var] = if sign < 0 { modulus } else { modulus.negated() };
            }
            for rows in [&mut self.equalities, &mut self.inequalities, &mut self.outputs] {
                rows.substitute(var, &form).ok_or(QueryFailure::Overflow)?;
            }
        }
    }

    /// Returns the equality to solve next and the variable to solve it for. The smallest
    /// coefficient is preferred, then a variable of no output, then a variable in few rows. If
    /// there is a single output, its variables are kept as long as the equality can be solved for
    /// others.
    fn pivot(&self) -> Option<(usize, usize)> {
        let (mut best, mut least) = (None, (u64::MAX, true, usize::MAX));
        for (at, row) in self.equalities.iter().enumerate() {
            let is_output = |var: usize| self.outputs.iter().any(|it| !it[var].is_zero());
            let spares_output = self.outputs.len() == 1 && {
                let others = support(row).filter(|it| !is_output(*it));
                let divisor = others.fold(None, |out: Option<T>, it| {
                    Some(out.map_or_else(|| row[it].clone(), |out| out.gcd(&row[it])))
                });
                divisor.is_some_and(|it| it.is_unit())
            };
            for var in support(row) {
                let is_output = is_output(var);
                if is_output && spares_output {
                    continue;
                }
                let size = row[var].magnitude();
                if size > least.0 {
                    continue;
                }
                let n_rows = self.inequalities.iter().filter(|it| !it[var].is_zero()).count();
                let cost = (size, is_output, n_rows);
                if best.is_none() || cost < least {
                    (best, least) = (Some((at, var)), cost);
                }
            }
        }
        best
    }

    /// Normalizes the inequalities, and merges parallel and opposite ones.
    pub(crate) fn normalize_inequalities(
        &mut self,
        budget: &mut Budget,
    ) -> Result<Feasibility, QueryFailure> {
        budget.spend(self.inequalities.len() * self.n_vars * T::WORK)?;
        let mut keys: Vec<(u64, usize)> = Vec::with_capacity(self.inequalities.len());
        let mut at = 0;
        while at < self.inequalities.len() {
            let row = self.inequalities.row_mut(at);
            let divisor = common_divisor(row).ok_or(QueryFailure::Overflow)?;
            let last = row.len() - 1;
            if divisor.is_zero() {
                if row[last].sign() < 0 {
                    return Ok(Feasibility::Empty);
                }
                self.inequalities.swap_remove(at);
                continue;
            }
            if !divisor.is_unit() {
                for it in row.iter_mut() {
                    *it = it.floor_div(&divisor);
                }
            }
            keys.push((direction_hash(row), at));
            at += 1;
        }
        keys.sort_unstable();
        let mut dead = vec![false; self.inequalities.len()];
        for (i, &(hash, a)) in keys.iter().enumerate() {
            for &(other, b) in &keys[i + 1..] {
                if other != hash || dead[a] {
                    break;
                }
                if dead[b] {
                    continue;
                }
                let (x, y) = (self.inequalities.row(a), self.inequalities.row(b));
                let last = x.len() - 1;
                if x[..last] == y[..last] {
                    let weaker = if x[last] <= y[last] { b } else { a };
                    dead[weaker] = true;
                } else if is_opposite(&x[..last], &y[..last]) {
                    let gap = x[last].plus(&y[last]).ok_or(QueryFailure::Overflow)?;
                    if gap.sign() < 0 {
                        return Ok(Feasibility::Empty);
                    }
                    if gap.is_zero() {
                        let row = x.to_vec();
                        self.equalities.push(&row);
                        (dead[a], dead[b]) = (true, true);
                    }
                }
            }
        }
        for at in (0..dead.len()).rev() {
            if dead[at] {
                self.inequalities.swap_remove(at);
            }
        }
        Ok(Feasibility::Open)
    }

    /// Adds a variable that no row contains.
    pub(crate) fn add_variable(&mut self) -> Result<usize, QueryFailure> {
        let zero = Self::number(0)?;
        for rows in [&mut self.equalities, &mut self.inequalities, &mut self.outputs] {
            rows.add_column(&zero);
        }
        self.n_vars += 1;
        Ok(self.n_vars - 1)
    }
}

pub(crate) fn times<T: Number>(a: &T, b: &T) -> Result<T, QueryFailure> {
    let zero = T::of(0).ok_or(QueryFailure::Overflow)?;
    T::combined(a, b, &zero, &zero).ok_or(QueryFailure::Overflow)
}

/// Returns the remainder with the least absolute value, which is at most half of the modulus.
fn centered<T: Number>(value: &T, modulus: &T) -> Result<T, QueryFailure> {
    let two = T::of(2).ok_or(QueryFailure::Overflow)?;
    let one = T::of(1).ok_or(QueryFailure::Overflow)?;
    let (numerator, denominator) = (
        T::combined(&two, value, &one, modulus).ok_or(QueryFailure::Overflow)?,
        times(&two, modulus)?,
    );
    let quotient = numerator.floor_div(&denominator);
    T::combined(&one, value, &quotient.negated(), modulus).ok_or(QueryFailure::Overflow)
}

fn is_opposite<T: Number>(x: &[T], y: &[T]) -> bool {
    x.iter().zip(y).all(|(x, y)| *x == y.negated())
}

/// Returns a hash of the coefficients, equal for rows with equal or opposite coefficients.
fn direction_hash<T: Number>(row: &[T]) -> u64 {
    let mut out = 0_u64;
    let mut first = 0;
    for it in &row[..row.len() - 1] {
        if first == 0 {
            first = it.sign();
        }
        let sign = u64::from(it.sign() == first);
        let mixed = it.magnitude().wrapping_mul(2).wrapping_add(sign);
        out = (out.rotate_left(5) ^ mixed).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    out
}
