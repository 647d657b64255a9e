//! Several instances of accesses in one conjunction. A *side* is an iteration of the loops around
//! an access. All sides are in the same iteration of the loops around the block.
//!
//! *Law.* Terms that are equal for all sides (symbols, variables of the loops around the block,
//! quotients of these) share one column. All others have one column per side. On overflow, the
//! result is `None`.

use noisy_polyhedra::{Budget, Conjunction, SparseRow};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::body::{Constraint, FunctionBody};
use crate::form::{LinearForm, LinearTerm};

/// The side of terms that all sides share.
const SHARED: usize = usize::MAX;

/// A conjunction under construction.
#[derive(Clone, Debug)]
pub struct JointSystem<'a> {
    body: &'a FunctionBody,
    /// The loops around the block.
    around: &'a [u32],
    numbers: FxHashMap<(usize, LinearTerm), usize>,
    rows: Vec<SparseRow>,
    n: usize,
}

impl<'a> JointSystem<'a> {
    /// Returns a conjunction without constraints.
    pub fn new(body: &'a FunctionBody, around: &'a [u32]) -> Self {
        Self { body, around, numbers: FxHashMap::default(), rows: Vec::new(), n: 0 }
    }

    fn is_shared(&self, term: LinearTerm) -> bool {
        match term {
            LinearTerm::Symbol(_) => true,
            LinearTerm::Iv(it) | LinearTerm::Step(it) => self.around.contains(&it),
            LinearTerm::Local(value) => self.body.depth_of(value) as usize <= self.around.len(),
            LinearTerm::Quotient(at) => {
                self.body.quotients.get(at).form.terms.iter().all(|it| self.is_shared(it.0))
            }
        }
    }

    /// Returns the column of a term of a side.
    pub fn column_of(&mut self, side: usize, term: LinearTerm) -> Option<usize> {
        let key = (if self.is_shared(term) { SHARED } else { side }, term);
        if let Some(&at) = self.numbers.get(&key) {
            return Some(at);
        }
        let at = self.add_column();
        self.numbers.insert(key, at);
        if let LinearTerm::Quotient(which) = term {
            // 0 <= form - by q <= by - 1
            let it = self.body.quotients.get(which);
            let rest = it.form.plus(&LinearForm::term(term), it.divisor.checked_neg()?).ok()?;
            self.add_constraint(&[(side, &rest, 1)], 0, false)?;
            self.add_constraint(&[(side, &rest, -1)], it.divisor - 1, false)?;
        }
        Some(at)
    }

    /// Adds a column.
    pub fn add_column(&mut self) -> usize {
        self.n += 1;
        self.n - 1
    }

    /// Adds the constraint that a linear combination of forms of sides, plus a constant, is 0 (if
    /// `is_equality`) or nonnegative.
    pub fn add_constraint(
        &mut self,
        sum: &[(usize, &LinearForm, i128)],
        constant: i128,
        is_equality: bool,
    ) -> Option<()> {
        let mut row = SparseRow { terms: SmallVec::new(), constant, is_equality };
        for &(side, form, by) in sum {
            row.constant = form.constant.checked_mul(by)?.checked_add(row.constant)?;
            for &(term, factor) in &form.terms {
                row.terms.push((self.column_of(side, term)?, factor.checked_mul(by)?));
            }
        }
        self.rows.push(row);
        Some(())
    }

    /// Adds the constraint that a column equals a form of a side.
    pub fn add_definition(&mut self, column: usize, side: usize, form: &LinearForm) -> Option<()> {
        self.add_constraint(&[(side, form, -1)], 0, true)?;
        self.rows.last_mut()?.terms.push((column, 1));
        Some(())
    }

    /// Adds a conjunction of constraints for a side.
    pub fn add_domain(&mut self, side: usize, piece: &[&Constraint]) -> Option<()> {
        piece
            .iter()
            .try_for_each(|it| self.add_constraint(&[(side, &it.form, 1)], 0, it.is_equality))
    }

    /// Adds the constraints that two lists of forms, one of each side, are equal.
    pub fn add_equal_elements(
        &mut self,
        sides: [usize; 2],
        forms: [&[LinearForm]; 2],
    ) -> Option<()> {
        if forms[0].len() != forms[1].len() {
            return None;
        }
        forms[0].iter().zip(forms[1]).try_for_each(|(a, b)| {
            self.add_constraint(&[(sides[0], a, 1), (sides[1], b, -1)], 0, true)
        })
    }

    /// Returns the number of rows, for [`JointSystem::conjunction_of`].
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the conjunction.
    pub fn conjunction(&self) -> Option<Conjunction> {
        self.conjunction_of(self.rows.len())
    }

    /// Returns the conjunction of the first `n_rows` rows, over all columns.
    pub fn conjunction_of(&self, n_rows: usize) -> Option<Conjunction> {
        Conjunction::of_rows(self.n, &self.rows[..n_rows])
    }

    /// Returns true if there is no point; false also on overflow or if the budget is spent.
    pub fn has_no_point(&self, budget: &mut Budget) -> bool {
        self.conjunction().is_some_and(|it| matches!(it.is_empty(budget), Ok(true)))
    }

    /// Returns true if `column` is at least `bound` (if `is_low`) or at most `bound` at all points;
    /// false also if this is unknown. Adds a row.
    pub fn is_column_bounded(
        &mut self,
        column: usize,
        bound: usize,
        is_low: bool,
        budget: &mut Budget,
    ) -> bool {
        let sign = if is_low { -1 } else { 1 };
        let terms = smallvec![(column, sign), (bound, -sign)];
        self.rows.push(SparseRow { terms, constant: -1, is_equality: false });
        self.has_no_point(budget)
    }

    /// Returns the terms of a side and the shared terms, with their columns.
    pub fn terms_of(&self, side: usize) -> Vec<(usize, LinearTerm)> {
        let of = self.numbers.iter().filter(|it| it.0.0 == side || it.0.0 == SHARED);
        let mut out: Vec<(usize, LinearTerm)> = of.map(|(key, &at)| (at, key.1)).collect();
        out.sort_unstable_by_key(|it| it.0);
        out
    }

    /// Returns all columns except those of a side and the shared ones.
    pub fn columns_without(&self, side: usize) -> Vec<usize> {
        let kept: Vec<usize> = self.terms_of(side).into_iter().map(|it| it.0).collect();
        (0..self.n).filter(|it| !kept.contains(it)).collect()
    }
}
