//! What is left of a conjunction without a variable, for those who write loops: the rational shadow, and inequalities that say nothing new.
//!
//! *Law.* Each point without its variable is in the shadow; a point of the shadow need not have a value of the variable that is an integer.
//! Numbers that do not fit are told (`None`), never wrapped. *Cost.* Fourier and Motzkin: lower times upper bounds of the variable.

use crate::budget::Budget;
use crate::conjunction::Conjunction;

impl Conjunction {
    /// The inequalities, equalities as two of them.
    fn halves(&self) -> Vec<Vec<i128>> {
        let negated = |row: &Vec<i128>| row.iter().map(|it| -it).collect();
        let both = self.equalities().iter().flat_map(|it| [it.clone(), negated(it)]);
        both.chain(self.inequalities().iter().cloned()).collect()
    }

    /// The rational shadow along a variable, which stays as one that nothing is said of. `None` if a number gets too large.
    #[must_use]
    pub fn shadow(&self, var: usize) -> Option<Conjunction> {
        let mut out = Conjunction::new(self.n_vars());
        let mut rows = Vec::new();
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for row in self.halves() {
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
                rows.push(a.iter().zip(b).map(sum).collect::<Option<Vec<i128>>>()?);
            }
        }
        for row in tightest(rows) {
            out.at_least(row);
        }
        Some(out)
    }

    /// The same points without inequalities that the others imply. One is kept if the budget ends before that is known.
    #[must_use]
    pub fn without_implied(&self, budget: &mut Budget) -> Conjunction {
        let mut rows = tightest(self.halves());
        let mut at = rows.len();
        while at > 0 {
            at -= 1;
            let mut others = Conjunction::new(self.n_vars());
            for (other, row) in rows.iter().enumerate() {
                if other != at {
                    others.at_least(row.clone());
                }
            }
            others.at_least(below(&rows[at]));
            if matches!(others.is_empty(budget), Ok(true)) {
                rows.remove(at);
            }
        }
        let mut out = Conjunction::new(self.n_vars());
        for row in rows {
            out.at_least(row);
        }
        out
    }

    /// Whether a form is not negative at all points; `false` if the budget ends first.
    #[must_use]
    pub fn implies(&self, row: &[i128], budget: &mut Budget) -> bool {
        let mut it = self.clone();
        it.at_least(below(row));
        matches!(it.is_empty(budget), Ok(true))
    }
}

/// The form that is not negative where the given one is.
fn below(row: &[i128]) -> Vec<i128> {
    let mut out: Vec<i128> = row.iter().map(|it| -it).collect();
    if let Some(last) = out.last_mut() {
        *last -= 1;
    }
    out
}

/// Inequalities divided by the divisor of their coefficients, the constant rounded down; of parallel ones the tightest, in the order
/// of the first.
fn tightest(rows: Vec<Vec<i128>>) -> Vec<Vec<i128>> {
    let mut out: Vec<Vec<i128>> = Vec::new();
    for mut row in rows {
        let end = row.len() - 1;
        let divisor = row[..end].iter().fold(0, |a: i128, b| gcd(a, *b));
        if divisor == 0 {
            // A number: kept only if it says that there is no point.
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

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
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
        let mut n_outside = 0;
        for _ in 0..400 {
            let mut it = Conjunction::new(3);
            for var in 0..3 {
                let mut row = vec![0; 4];
                (row[var], row[3]) = (1, 4);
                it.at_least(row.clone());
                (row[var], row[3]) = (-1, 4);
                it.at_least(row);
            }
            for _ in 0..3 {
                it.at_least((0..4).map(|_| random(7) - 3).collect());
            }
            let shadow = it.shadow(1).unwrap();
            let slim = it.without_implied(&mut Budget::new(1_000_000));
            assert!(shadow.inequalities().iter().all(|row| row[1] == 0));
            assert!(slim.inequalities().len() <= it.inequalities().len());
            for point in 0..729 {
                let point = [point % 9 - 4, point / 9 % 9 - 4, point / 81 - 4];
                assert_eq!(it.holds(&point), slim.holds(&point));
                assert!(!it.holds(&point) || shadow.holds(&point));
                n_outside += usize::from(!shadow.holds(&point));
            }
        }
        assert!(n_outside > 10_000, "{n_outside}");
    }
}
