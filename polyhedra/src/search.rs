//! Whether a system has an integer point, and the least and greatest value of a form over its points.
//!
//! *Cost.* Each elimination and each splinter removes a variable, so the depth of the recursion is the number of variables. The width
//! is not bounded by anything useful; the budget is.

use crate::budget::{Budget, Stop};
use crate::elimination::Standing;
use crate::number::Number;
use crate::rows::{Rows, support};
use crate::system::{Hope, System};

/// Bounds of a form over a set of integer points that is not empty; `None` where there is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormBounds<T> {
    pub(crate) least: Option<T>,
    pub(crate) greatest: Option<T>,
}

/// What shadows of one kind say of a variable.
struct Shadow<T> {
    /// `None` if they say that there is no point.
    bounds: Option<FormBounds<T>>,
    /// Whether each elimination was exact, so that this is the truth.
    is_exact: bool,
}

/// From so many values on, a variable is not searched value by value.
const FEW_VALUES: u64 = 12;

/// How many values next to the bounds of the real shadow are tried one by one.
const MAX_STEPS: usize = 6;

impl<T: Number> System<T> {
    /// Whether it has an integer point.
    pub(crate) fn has_point(mut self, budget: &mut Budget) -> Result<bool, Stop> {
        self.outputs = Rows::new(self.n_vars + 1);
        loop {
            if self.solve(budget)? == Hope::Empty {
                return Ok(false);
            }
            let Some(it) = self.next_variable(&|_| false)? else { return Ok(true) };
            if it.is_unbounded() {
                self.drop_rows(it.var);
            } else if it.is_exact() {
                self.eliminate(it.var, false, budget)?;
            } else {
                return self.has_point_by_parts(&it, budget);
            }
        }
    }

    /// Whether there is a point, where no elimination is exact. Shadows of one kind alone often know; else by the values of the
    /// variable that has fewest, if these are few, or by splinters.
    fn has_point_by_parts(&self, it: &Standing<T>, budget: &mut Budget) -> Result<bool, Stop> {
        if self.clone().survives(true, &mut true, budget)? {
            return Ok(true);
        }
        if !self.clone().survives(false, &mut true, budget)? {
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
        self.splinters(it, budget, &mut |splinter, budget| {
            found = splinter.has_point(budget)?;
            Ok(found)
        })?;
        Ok(found)
    }

    /// Whether there is a point, by all values of the variable that has fewest, if these are fewer than the splinters.
    fn try_values(&self, it: &Standing<T>, budget: &mut Budget) -> Result<Option<bool>, Stop> {
        let n_splinters = it.n_splinters[0].min(it.n_splinters[1]);
        let mut best: Option<(u64, usize, T, T)> = None;
        for var in 0..self.n_vars {
            if self.least.iter().all(|it| it[var].is_zero()) {
                continue;
            }
            let Some(range) = self.shadow(var, false, budget)?.bounds else {
                return Ok(Some(false));
            };
            let (Some(low), Some(high)) = (range.least, range.greatest) else { continue };
            let n = high.plus(&low.negated()).ok_or(Stop::Overflow)?.magnitude();
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
            value = value.plus(&one).ok_or(Stop::Overflow)?;
        }
        Ok(Some(false))
    }

    /// The least and the greatest value of the output `at` over all integer points; `None` if there is no point.
    ///
    /// Real shadows alone give bounds that hold all values, dark shadows alone some that are taken. What is between is searched
    /// by halves, asking for a point. Where there is a point and no bound in the rationals, there is none in the integers.
    pub(crate) fn bounds(
        mut self,
        at: usize,
        budget: &mut Budget,
    ) -> Result<Option<FormBounds<T>>, Stop> {
        // The other outputs do not matter any more.
        let mut only = Rows::new(self.n_vars + 1);
        only.push(self.outputs.row(at));
        self.outputs = only;
        loop {
            if self.solve(budget)? == Hope::Empty {
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
                _ => self.name_output(&form)?,
            }
        }
        // From here on in terms of the variable.
        let form = self.outputs.row(0).to_vec();
        let Some(var) = support(&form).next() else { return Err(Stop::Overflow) };
        let Some(found) = self.bounds_of_named(var, budget)? else { return Ok(None) };
        let one = Self::number(1)?;
        let value = |it: Option<T>| -> Result<Option<T>, Stop> {
            it.map(|it| {
                T::combined(&form[var], &it, &one, &form[self.n_vars]).ok_or(Stop::Overflow)
            })
            .transpose()
        };
        let (low, high) = (value(found.least)?, value(found.greatest)?);
        let (least, greatest) = if form[var].sign() > 0 { (low, high) } else { (high, low) };
        Ok(Some(FormBounds { least, greatest }))
    }

    /// The bounds of a variable.
    fn bounds_of_named(
        &self,
        var: usize,
        budget: &mut Budget,
    ) -> Result<Option<FormBounds<T>>, Stop> {
        let Shadow { bounds: outer, is_exact } = self.shadow(var, false, budget)?;
        let Some(outer) = outer else { return Ok(None) };
        if is_exact {
            return Ok(Some(outer));
        }
        let inner = self.shadow(var, true, budget)?.bounds;
        if inner.as_ref() == Some(&outer) {
            return Ok(inner);
        }
        let inner = match inner {
            Some(it) => it,
            None if self.clone().has_point(budget)? => {
                // No value is known yet, but there is one: the first one from the side that has a bound.
                let Some(known) = self.some_value(var, &outer, budget)? else { return Ok(None) };
                FormBounds { least: Some(known.clone()), greatest: Some(known) }
            }
            None => return Ok(None),
        };
        let least = match (&outer.least, inner.least) {
            (Some(end), Some(known)) => Some(self.closest(var, end, known, true, budget)?),
            _ => None,
        };
        let greatest = match (&outer.greatest, inner.greatest) {
            (Some(end), Some(known)) => Some(self.closest(var, end, known, false, budget)?),
            _ => None,
        };
        Ok(Some(FormBounds { least, greatest }))
    }

    /// A value that the variable surely takes, when there is a point: a least or greatest one, or any if it has no bound.
    fn some_value(
        &self,
        var: usize,
        outer: &FormBounds<T>,
        budget: &mut Budget,
    ) -> Result<Option<T>, Stop> {
        // Grows an interval around the end that there is, or around zero, until it holds a value.
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
            let (near, far) = (near.ok_or(Stop::Overflow)?, far.ok_or(Stop::Overflow)?);
            let (low, high) = match (is_open, up) {
                (true, _) => (near, far),
                (false, true) => (from.clone(), far),
                (false, false) => (near, from.clone()),
            };
            let mut part = self.clone();
            part.limit(var, &low, true)?;
            part.limit(var, &high, false)?;
            if part.has_point(budget)? {
                // Inside of it, the least by halves.
                return self.closest_in(var, &low, high, budget).map(Some);
            }
            size = T::combined(&size, &Self::number(2)?, &one, &one).ok_or(Stop::Overflow)?;
            budget.spend(T::WORK)?;
        }
    }

    /// The least value from `low` on, where there is one up to `high`.
    fn closest_in(&self, var: usize, low: &T, high: T, budget: &mut Budget) -> Result<T, Stop> {
        let mut part = self.clone();
        part.limit(var, low, true)?;
        part.closest(var, low, high, true, budget)
    }

    /// The value closest to `end` (from above, if `up`) where there is one between `end` and `known`.
    fn closest(
        &self,
        var: usize,
        end: &T,
        known: T,
        up: bool,
        budget: &mut Budget,
    ) -> Result<T, Stop> {
        let (mut end, mut known) = (end.clone(), known);
        let one = Self::number(1)?;
        let two = Self::number(2)?;
        let step = if up { one.clone() } else { one.negated() };
        // The end is mostly near, and to ask for one value takes a variable away.
        for _ in 0..MAX_STEPS {
            if end == known {
                return Ok(known);
            }
            if self.with_value(var, &end)?.has_point(budget)? {
                return Ok(end);
            }
            end = end.plus(&step).ok_or(Stop::Overflow)?;
        }
        while end != known {
            // The middle, towards the end.
            let sum = end.plus(&known).ok_or(Stop::Overflow)?;
            let middle = if up {
                sum.floor_div(&two)
            } else {
                sum.plus(&one).ok_or(Stop::Overflow)?.floor_div(&two)
            };
            let mut part = self.clone();
            part.limit(var, &middle, !up)?;
            if part.has_point(budget)? {
                known = middle;
            } else {
                end = middle.plus(&step).ok_or(Stop::Overflow)?;
            }
        }
        Ok(known)
    }

    /// The part where a variable is that number.
    fn with_value(&self, var: usize, value: &T) -> Result<Self, Stop> {
        let mut part = self.clone();
        let mut row = vec![Self::number(0)?; self.n_vars + 1];
        row[var] = Self::number(1)?;
        row[self.n_vars] = value.negated();
        part.equal.push(&row);
        Ok(part)
    }

    /// Lets a variable be at least (`true`) or at most that number.
    fn limit(&mut self, var: usize, value: &T, is_lower: bool) -> Result<(), Stop> {
        let mut row = vec![Self::number(0)?; self.n_vars + 1];
        let one = Self::number(1)?;
        row[var] = if is_lower { one } else { one.negated() };
        row[self.n_vars] = if is_lower { value.negated() } else { value.clone() };
        self.least.push(&row);
        Ok(())
    }

    /// The bounds of a variable by shadows of one kind alone.
    fn shadow(&self, var: usize, is_dark: bool, budget: &mut Budget) -> Result<Shadow<T>, Stop> {
        let mut it = self.clone();
        it.outputs = Rows::new(self.n_vars + 1);
        let mut output = vec![Self::number(0)?; self.n_vars + 1];
        output[var] = Self::number(1)?;
        it.outputs.push(&output);
        let mut is_exact = true;
        loop {
            if it.solve(budget)? == Hope::Empty {
                return Ok(Shadow { bounds: None, is_exact });
            }
            let form = it.outputs.row(0).to_vec();
            let vars: Vec<usize> = support(&form).collect();
            let var = match vars[..] {
                [] => {
                    // The value is known; whether there is a point is not.
                    let value = form[it.n_vars].clone();
                    let mut rest = it;
                    let there = rest.survives(is_dark, &mut is_exact, budget)?;
                    let bounds = there
                        .then(|| FormBounds { least: Some(value.clone()), greatest: Some(value) });
                    return Ok(Shadow { bounds, is_exact });
                }
                [var] => var,
                _ => {
                    it.name_output(&form)?;
                    continue;
                }
            };
            match it.next_variable(&|other| other == var)? {
                None => {
                    return Ok(Shadow { bounds: it.bounds_of_variable(var, &form)?, is_exact });
                }
                Some(next) => it.step(&next, is_dark, &mut is_exact, budget)?,
            }
        }
    }

    /// Lets one variable be the part of the output that varies, divided by its divisor.
    fn name_output(&mut self, form: &[T]) -> Result<(), Stop> {
        let divisor = crate::rows::content(form).ok_or(Stop::Overflow)?;
        let zero = Self::number(0)?;
        let name = self.add_variable()?;
        let (constant, coefficients) = form.split_last().ok_or(Stop::Overflow)?;
        let mut row: Vec<T> = coefficients.iter().map(|it| it.floor_div(&divisor)).collect();
        row.push(Self::number(-1)?);
        row.push(zero.clone());
        self.equal.push(&row);
        let mut output = vec![zero; self.n_vars + 1];
        output[name] = divisor;
        output[self.n_vars] = constant.clone();
        let mut only = Rows::new(self.n_vars + 1);
        only.push(&output);
        self.outputs = only;
        Ok(())
    }

    /// The bounds of a form of one variable, when no other is left.
    fn bounds_of_variable(&self, var: usize, form: &[T]) -> Result<Option<FormBounds<T>>, Stop> {
        let (mut low, mut high): (Option<T>, Option<T>) = (None, None);
        for row in self.least.iter() {
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
        let value = |it: Option<T>| -> Result<Option<T>, Stop> {
            it.map(|it| {
                T::combined(&form[var], &it, &one, &form[self.n_vars]).ok_or(Stop::Overflow)
            })
            .transpose()
        };
        let (low, high) = (value(low)?, value(high)?);
        let (least, greatest) = if form[var].sign() > 0 { (low, high) } else { (high, low) };
        Ok(Some(FormBounds { least, greatest }))
    }
}
