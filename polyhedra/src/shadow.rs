//! Projection of a conjunction along a variable, for code generation for loops: rational and dark
//! shadows, and removal of redundant inequalities.
//!
//! *Law.* The rational shadow contains the projection of each point. A point of the shadow need not
//! be the projection of an integer point. On overflow the result is `None`. *Cost.* Fourier-Motzkin
//! elimination: the number of lower bounds times the number of upper bounds of the variable.

use crate::budget::Budget;
use crate::conjunction::Conjunction;
use crate::number::gcd;

impl Conjunction {
    /// Returns all rows as inequalities; each equality becomes two.
    fn as_inequalities(&self) -> Vec<Vec<i128>> {
        let negated = |row: &Vec<i128>| row.iter().map(|it| -it).collect();
        let both = self.equalities().iter().flat_map(|it| [it.clone(), negated(it)]);
        both.chain(self.inequalities().iter().cloned()).collect()
    }

    /// Returns the rational shadow along a variable. The variable remains, without constraints.
    /// `None` on overflow.
    #[must_use]
    pub fn rational_shadow(&self, var: usize) -> Option<Conjunction> {
        self.shadow_along(var, false)
    }

    /// Returns the dark shadow along a variable. The variable remains, without constraints. Each
    /// point of the dark shadow is the projection of an integer point, but it need not contain all
    /// projections. A variable with coefficient 1 or -1 in an equality is substituted, which is
    /// exact. `None` on overflow.
    #[must_use]
    pub fn dark_shadow(&self, var: usize) -> Option<Conjunction> {
        match self.equalities().iter().position(|it| it[var].abs() == 1) {
            Some(at) => self.substituted(var, at),
            None => self.shadow_along(var, true),
        }
    }

    /// Substitutes a variable by means of an equality in which its coefficient is 1 or -1.
    fn substituted(&self, var: usize, equality: usize) -> Option<Conjunction> {
        let by = &self.equalities()[equality];
        let without = |row: &Vec<i128>| {
            let times = row[var].checked_mul(by[var])?;
            let rest = |(x, y): (&i128, &i128)| x.checked_sub(y.checked_mul(times)?);
            row.iter().zip(by).map(rest).collect::<Option<Vec<i128>>>()
        };
        let mut out = Conjunction::new(self.n_vars());
        for (at, row) in self.equalities().iter().enumerate() {
            if at != equality {
                out.add_equality(without(row)?);
            }
        }
        for row in self.inequalities() {
            out.add_inequality(without(row)?);
        }
        Some(out)
    }

    fn shadow_along(&self, var: usize, is_dark: bool) -> Option<Conjunction> {
        let mut out = Conjunction::new(self.n_vars());
        let mut rows = Vec::new();
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for row in self.as_inequalities() {
            match row[var] {
                0 => rows.push(row),
                1.. => low.push(row),
                _ => high.push(row),
            }
        }
        for a in &low {
            for b in &high {
                let (by_a, by_b) = (b[var].checked_neg()?, a[var]);
                let sum =
                    |(x, y): (&i128, &i128)| x.checked_mul(by_a)?.checked_add(y.checked_mul(by_b)?);
                let mut row = a.iter().zip(b).map(sum).collect::<Option<Vec<i128>>>()?;
                if is_dark {
                    // The dark shadow: bounds this far apart have an integer between them.
                    let apart = by_a.checked_sub(1)?.checked_mul(by_b.checked_sub(1)?)?;
                    let end = row.len() - 1;
                    row[end] = row[end].checked_sub(apart)?;
                }
                rows.push(row);
            }
        }
        for row in tightest(rows) {
            out.add_inequality(row);
        }
        Some(out)
    }

    /// Removes inequalities that the others imply. An inequality is kept if the budget is spent
    /// before the test ends. Each equality becomes two inequalities.
    #[must_use]
    pub fn without_implied(&self, budget: &mut Budget) -> Conjunction {
        let mut rows = tightest(self.as_inequalities());
        let mut at = rows.len();
        while at > 0 {
            at -= 1;
            let mut others = Conjunction::new(self.n_vars());
            for (other, row) in rows.iter().enumerate() {
                if other != at {
                    others.add_inequality(row.clone());
                }
            }
            others.add_inequality(negated_inequality(&rows[at]));
            if matches!(others.is_empty(budget), Ok(true)) {
                rows.remove(at);
            }
        }
        let mut out = Conjunction::new(self.n_vars());
        for row in rows {
            out.add_inequality(row);
        }
        out
    }

    /// Returns true if a form is at least 0 at all points; false also if the budget is spent first.
    #[must_use]
    pub fn implies(&self, row: &[i128], budget: &mut Budget) -> bool {
        let mut it = self.clone();
        it.add_inequality(negated_inequality(row));
        matches!(it.is_empty(budget), Ok(true))
    }
}

/// Returns the negation of an inequality: `-form - 1`.
fn negated_inequality(row: &[i128]) -> Vec<i128> {
    let mut out: Vec<i128> = row.iter().map(|it| -it).collect();
    if let Some(last) = out.last_mut() {
        *last -= 1;
    }
    out
}

/// Normalizes inequalities: divides each by the common divisor of its coefficients, rounds the
/// constant down, and keeps the tightest of parallel inequalities. Keeps the order of first
/// occurrence.
fn tightest(rows: Vec<Vec<i128>>) -> Vec<Vec<i128>> {
    let mut out: Vec<Vec<i128>> = Vec::new();
    for mut row in rows {
        let end = row.len() - 1;
        let divisor = row[..end].iter().fold(0, |a: i128, b| gcd(a, *b));
        if divisor == 0 {
            // A constant inequality is kept only if it is a contradiction.
            if row[end] < 0 && !out.contains(&row) {
                out.push(row);
            }
            continue;
        }
        for it in &mut row[..end] {
            *it /= divisor;
        }
        row[end] = row[end].div_euclid(divisor);
        match out.iter_mut().find(|it| it[..end] == row[..end]) {
            Some(old) => old[end] = old[end].min(row[end]),
            None => out.push(row),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_hold_all_points() {
        let mut seed = 88_172_645_463_325_252_u64;
        let mut random = |n: i128| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            i128::from(seed % 1000) % n
        };
        let (mut n_outside, mut n_inside) = (0, 0);
        for _ in 0..400 {
            let mut it = Conjunction::new(3);
            for var in 0..3 {
                let mut row = vec![0; 4];
                (row[var], row[3]) = (1, 4);
                it.add_inequality(row.clone());
                (row[var], row[3]) = (-1, 4);
                it.add_inequality(row);
            }
            for _ in 0..3 {
                it.add_inequality((0..4).map(|_| random(7) - 3).collect());
            }
            let shadow = it.rational_shadow(1).unwrap();
            let dark = it.dark_shadow(1).unwrap();
            let slim = it.without_implied(&mut Budget::new(1_000_000));
            assert!(shadow.inequalities().iter().all(|row| row[1] == 0));
            assert!(slim.inequalities().len() <= it.inequalities().len());
            for point in 0..729 {
                let point = [point % 9 - 4, point / 9 % 9 - 4, point / 81 - 4];
                assert_eq!(it.contains(&point), slim.contains(&point));
                assert!(!it.contains(&point) || shadow.contains(&point));
                n_outside += usize::from(!shadow.contains(&point));
                let has_value = (-4..=4).any(|y| it.contains(&[point[0], y, point[2]]));
                assert!(!dark.contains(&point) || has_value);
                n_inside += usize::from(dark.contains(&point));
            }
        }
        assert!(n_outside > 10_000 && n_inside > 10_000, "{n_outside} {n_inside}");
    }
}
