//! The search for an integer point of a system, and for the bounds of a form over its points.
//!
//! *Cost.* Each elimination and each splinter removes a variable, so the depth of the recursion is
//! the number of variables. Only the budget limits the number of branches.

use crate::budget::{Budget, QueryFailure};
use crate::elimination::VariableBounds;
use crate::number::Number;
use crate::rows::{Rows, support};
use crate::system::{Feasibility, System};

/// Bounds of a form over a nonempty set of integer points; `None` if there is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormBounds<T> {
    pub(crate) least: Option<T>,
    pub(crate) greatest: Option<T>,
}

/// The bounds of a variable, computed by shadows of one kind.
struct ShadowBounds<T> {
    /// `None` if the shadows end in a contradiction.
    bounds: Option<FormBounds<T>>,
    /// True if each elimination was exact, so that the bounds are exact, too.
    is_exact: bool,
}

/// The search tries the values of a variable one by one only if it has fewer than this.
const FEW_VALUES: u64 = 12;

/// Number of values next to a bound of the real shadow that are tried before bisection.
const MAX_STEPS: usize = 6;

impl<T: Number> System<T> {
    /// Returns true if the system has an integer point.
    pub(crate) fn has_point(mut self, budget: &mut Budget) -> Result<bool, QueryFailure> {
        self.outputs = Rows::new(self.n_vars + 1);
        loop {
            if self.solve(budget)? == Feasibility::Empty {
                return Ok(false);
            }
            let Some(it) = self.cheapest_elimination(&|_| false)? else { return Ok(true) };
            if it.is_unbounded() {
                self.drop_rows(it.var);
            } else if it.is_exact() {
                self.eliminate(it.var, false, budget)?;
            } else {
                return self.has_point_by_parts(&it, budget);
            }
        }
    }

    /// Decides if there is a point when no elimination is exact. Tries shadows of one kind for all
    /// variables, then the values of the variable with the fewest, then splinters.
    fn has_point_by_parts(
        &self,
        it: &VariableBounds<T>,
        budget: &mut Budget,
    ) -> Result<bool, QueryFailure> {
        if self.clone().has_shadow(true, &mut true, budget)? {
            return Ok(true);
        }
        if !self.clone().has_shadow(false, &mut true, budget)? {
            return Ok(false);
        }
        if let Some(found) = self.try_values(it, budget)? {
            return Ok(found);
        }
        let mut dark = self.clone();
        dark.eliminate(it.var, true, budget)?;
        if dark.has_point(budget)? {
            return Ok(true);
        }
        let mut real = self.clone();
        real.eliminate(it.var, false, budget)?;
        if !real.has_point(budget)? {
            return Ok(false);
        }
        let mut found = false;
        self.for_each_splinter(it, budget, &mut |splinter, budget| {
            found = splinter.has_point(budget)?;
            Ok(found)
        })?;
        Ok(found)
    }

    /// Decides if there is a point by trying all values of the variable with the fewest values.
    /// `None` if the values are not fewer than the splinters.
    fn try_values(
        &self,
        it: &VariableBounds<T>,
        budget: &mut Budget,
    ) -> Result<Option<bool>, QueryFailure> {
        let n_splinters = it.n_splinters[0].min(it.n_splinters[1]);
        let mut best: Option<(u64, usize, T, T)> = None;
        for var in 0..self.n_vars {
            if self.inequalities.iter().all(|it| it[var].is_zero()) {
                continue;
            }
            let Some(range) = self.shadow_bounds(var, false, budget)?.bounds else {
                return Ok(Some(false));
            };
            let (Some(low), Some(high)) = (range.least, range.greatest) else { continue };
            let n = high.plus(&low.negated()).ok_or(QueryFailure::Overflow)?.magnitude();
            if n < n_splinters.min(FEW_VALUES) && best.as_ref().is_none_or(|it| n < it.0) {
                best = Some((n, var, low, high));
                if n <= 1 {
                    break;
                }
            }
        }
        let Some((_, var, low, high)) = best else { return Ok(None) };
        let one = Self::number(1)?;
        let mut value = low;
        while value <= high {
            budget.spend((self.n_vars + 1) * T::WORK)?;
            if self.with_value(var, &value)?.has_point(budget)? {
                return Ok(Some(true));
            }
            value = value.plus(&one).ok_or(QueryFailure::Overflow)?;
        }
        Ok(Some(false))
    }

    /// Returns the least and the greatest value of the output `at` over all integer points. `None`
    /// if there is no point.
    ///
    /// The bounds of real shadows contain all values; the bounds of dark shadows are attained. The
    /// values between both are searched by bisection, with queries for a point. If there is a point
    /// and no rational bound, there is no integer bound.
    pub(crate) fn bounds(
        mut self,
        at: usize,
        budget: &mut Budget,
    ) -> Result<Option<FormBounds<T>>, QueryFailure> {
        // Drop the other outputs.
        let mut only = Rows::new(self.n_vars + 1);
        only.push(self.outputs.row(at));
        self.outputs = only;
        loop {
            if self.solve(budget)? == Feasibility::Empty {
                return Ok(None);
            }
            let form = self.outputs.row(0).to_vec();
            let vars: Vec<usize> = support(&form).collect();
            match vars[..] {
                [] => {
                    let value = form[self.n_vars].clone();
                    let there = self.has_point(budget)?;
                    return Ok(there.then(|| FormBounds {
                        least: Some(value.clone()),
                        greatest: Some(value),
                    }));
                }
                [_] => break,
                _ => self.add_output_variable(&form)?,
            }
        }
        // The output is now a form of one variable.
        let form = self.outputs.row(0).to_vec();
        let Some(var) = support(&form).next() else { return Err(QueryFailure::Overflow) };
        let Some(found) = self.exact_bounds(var, budget)? else { return Ok(None) };
        let one = Self::number(1)?;
        let value = |it: Option<T>| -> Result<Option<T>, QueryFailure> {
            it.map(|it| {
                T::combined(&form[var], &it, &one, &form[self.n_vars]).ok_or(QueryFailure::Overflow)
            })
            .transpose()
        };
        let (low, high) = (value(found.least)?, value(found.greatest)?);
        let (least, greatest) = if form[var].sign() > 0 { (low, high) } else { (high, low) };
        Ok(Some(FormBounds { least, greatest }))
    }

    /// Returns the exact bounds of a variable.
    fn exact_bounds(
        &self,
        var: usize,
        budget: &mut Budget,
    ) -> Result<Option<FormBounds<T>>, QueryFailure> {
        let ShadowBounds { bounds: outer, is_exact } = self.shadow_bounds(var, false, budget)?;
        let Some(outer) = outer else { return Ok(None) };
        if is_exact {
            return Ok(Some(outer));
        }
        let inner = self.shadow_bounds(var, true, budget)?.bounds;
        if inner.as_ref() == Some(&outer) {
            return Ok(inner);
        }
        let inner = match inner {
            Some(it) => it,
            None if self.clone().has_point(budget)? => {
                // The dark shadows give no value, but one exists. Search it from a side that has a
                // bound.
                let Some(known) = self.some_value(var, &outer, budget)? else { return Ok(None) };
                FormBounds { least: Some(known.clone()), greatest: Some(known) }
            }
            None => return Ok(None),
        };
        let least = match (&outer.least, inner.least) {
            (Some(end), Some(known)) => Some(self.closest_value(var, end, known, true, budget)?),
            _ => None,
        };
        let greatest = match (&outer.greatest, inner.greatest) {
            (Some(end), Some(known)) => Some(self.closest_value(var, end, known, false, budget)?),
            _ => None,
        };
        Ok(Some(FormBounds { least, greatest }))
    }

    /// Returns a value of the variable: the least or the greatest one, or any value if it has no
    /// bound.
    fn some_value(
        &self,
        var: usize,
        outer: &FormBounds<T>,
        budget: &mut Budget,
    ) -> Result<Option<T>, QueryFailure> {
        // Grow an interval around the bound, or around zero, until it contains a value.
        let (from, up) = match outer {
            FormBounds { least: Some(it), .. } => (it.clone(), true),
            FormBounds { greatest: Some(it), .. } => (it.clone(), false),
            _ => (Self::number(0)?, true),
        };
        let is_open = outer.least.is_none() && outer.greatest.is_none();
        let mut size = Self::number(0)?;
        let one = Self::number(1)?;
        loop {
            let (near, far) = (from.plus(&size.negated()), from.plus(&size));
            let (near, far) =
                (near.ok_or(QueryFailure::Overflow)?, far.ok_or(QueryFailure::Overflow)?);
            let (low, high) = match (is_open, up) {
                (true, _) => (near, far),
                (false, true) => (from.clone(), far),
                (false, false) => (near, from.clone()),
            };
            let mut part = self.clone();
            part.add_bound(var, &low, true)?;
            part.add_bound(var, &high, false)?;
            if part.has_point(budget)? {
                // Find the least value in `low..=high` by bisection.
                return self.least_value_in(var, &low, high, budget).map(Some);
            }
            size =
                T::combined(&size, &Self::number(2)?, &one, &one).ok_or(QueryFailure::Overflow)?;
            budget.spend(T::WORK)?;
        }
    }

    /// Returns the least value in `low..=high`, which contains at least one value.
    fn least_value_in(
        &self,
        var: usize,
        low: &T,
        high: T,
        budget: &mut Budget,
    ) -> Result<T, QueryFailure> {
        let mut part = self.clone();
        part.add_bound(var, low, true)?;
        part.closest_value(var, low, high, true, budget)
    }

    /// Returns the value of the variable closest to `end` (from above if `up`), between `end` and
    /// `known`, which is a value.
    fn closest_value(
        &self,
        var: usize,
        end: &T,
        known: T,
        up: bool,
        budget: &mut Budget,
    ) -> Result<T, QueryFailure> {
        let (mut end, mut known) = (end.clone(), known);
        let one = Self::number(1)?;
        let two = Self::number(2)?;
        let step = if up { one.clone() } else { one.negated() };
        // The result is often close to the end, and a query for a single value has one variable
        // less.
        for _ in 0..MAX_STEPS {
            if end == known {
                return Ok(known);
            }
            if self.with_value(var, &end)?.has_point(budget)? {
                return Ok(end);
            }
            end = end.plus(&step).ok_or(QueryFailure::Overflow)?;
        }
        while end != known {
            // The middle, rounded towards `end`.
            let sum = end.plus(&known).ok_or(QueryFailure::Overflow)?;
            let middle = if up {
                sum.floor_div(&two)
            } else {
                sum.plus(&one).ok_or(QueryFailure::Overflow)?.floor_div(&two)
            };
            let mut part = self.clone();
            part.add_bound(var, &middle, !up)?;
            if part.has_point(budget)? {
                known = middle;
            } else {
                end = middle.plus(&step).ok_or(QueryFailure::Overflow)?;
            }
        }
        Ok(known)
    }

    /// Returns the system with a variable fixed to a value.
    fn with_value(&self, var: usize, value: &T) -> Result<Self, QueryFailure> {
        let mut part = self.clone();
        let mut row = vec![Self::number(0)?; self.n_vars + 1];
        row[var] = Self::number(1)?;
        row[self.n_vars] = value.negated();
        part.equalities.push(&row);
        Ok(part)
    }

    /// Adds the constraint that a variable is at least `value` (if `is_lower`) or at most `value`.
    fn add_bound(&mut self, var: usize, value: &T, is_lower: bool) -> Result<(), QueryFailure> {
        let mut row = vec![Self::number(0)?; self.n_vars + 1];
        let one = Self::number(1)?;
        row[var] = if is_lower { one } else { one.negated() };
        row[self.n_vars] = if is_lower { value.negated() } else { value.clone() };
        self.inequalities.push(&row);
        Ok(())
    }

    /// Returns the bounds of a variable by shadows of one kind.
    fn shadow_bounds(
        &self,
        var: usize,
        is_dark: bool,
        budget: &mut Budget,
    ) -> Result<ShadowBounds<T>, QueryFailure> {
        let mut it = self.clone();
        it.outputs = Rows::new(self.n_vars + 1);
        let mut output = vec![Self::number(0)?; self.n_vars + 1];
        output[var] = Self::number(1)?;
        it.outputs.push(&output);
        let mut is_exact = true;
        loop {
            if it.solve(budget)? == Feasibility::Empty {
                return Ok(ShadowBounds { bounds: None, is_exact });
            }
            let form = it.outputs.row(0).to_vec();
            let vars: Vec<usize> = support(&form).collect();
            let var = match vars[..] {
                [] => {
                    // The output is constant, but there may be no point.
                    let value = form[it.n_vars].clone();
                    let mut rest = it;
                    let there = rest.has_shadow(is_dark, &mut is_exact, budget)?;
                    let bounds = there
                        .then(|| FormBounds { least: Some(value.clone()), greatest: Some(value) });
                    return Ok(ShadowBounds { bounds, is_exact });
                }
                [var] => var,
                _ => {
                    it.add_output_variable(&form)?;
                    continue;
                }
            };
            match it.cheapest_elimination(&|other| other == var)? {
                None => {
                    return Ok(ShadowBounds {
                        bounds: it.bounds_of_variable(var, &form)?,
                        is_exact,
                    });
                }
                Some(next) => it.eliminate_by_shadow(&next, is_dark, &mut is_exact, budget)?,
            }
        }
    }

    /// Adds a variable for the output without its constant, divided by the common divisor.
    fn add_output_variable(&mut self, form: &[T]) -> Result<(), QueryFailure> {
        let divisor = crate::rows::common_divisor(form).ok_or(QueryFailure::Overflow)?;
        let zero = Self::number(0)?;
        let name = self.add_variable()?;
        let (constant, coefficients) = form.split_last().ok_or(QueryFailure::Overflow)?;
        let mut row: Vec<T> = coefficients.iter().map(|it| it.floor_div(&divisor)).collect();
        row.push(Self::number(-1)?);
        row.push(zero.clone());
        self.equalities.push(&row);
        let mut output = vec![zero; self.n_vars + 1];
        output[name] = divisor;
        output[self.n_vars] = constant.clone();
        let mut only = Rows::new(self.n_vars + 1);
        only.push(&output);
        self.outputs = only;
        Ok(())
    }

    /// Returns the bounds of a form of the only remaining variable.
    fn bounds_of_variable(
        &self,
        var: usize,
        form: &[T],
    ) -> Result<Option<FormBounds<T>>, QueryFailure> {
        let (mut low, mut high): (Option<T>, Option<T>) = (None, None);
        for row in self.inequalities.iter() {
            let constant = &row[self.n_vars];
            match row[var].sign() {
                // b x + c >= 0: x >= ceil(-c / b) = -floor(c / b)
                1 => {
                    let bound = constant.floor_div(&row[var]).negated();
                    low = Some(low.map_or(bound.clone(), |it| it.max(bound)));
                }
                -1 => {
                    let bound = constant.floor_div(&row[var].negated());
                    high = Some(high.map_or(bound.clone(), |it| it.min(bound)));
                }
                _ => {}
            }
        }
        if let (Some(low), Some(high)) = (&low, &high)
            && low > high
        {
            return Ok(None);
        }
        let one = Self::number(1)?;
        let value = |it: Option<T>| -> Result<Option<T>, QueryFailure> {
            it.map(|it| {
                T::combined(&form[var], &it, &one, &form[self.n_vars]).ok_or(QueryFailure::Overflow)
            })
            .transpose()
        };
        let (low, high) = (value(low)?, value(high)?);
        let (least, greatest) = if form[var].sign() > 0 { (low, high) } else { (high, low) };
        Ok(Some(FormBounds { least, greatest }))
    }
}
