//! Unions of conjunctions.

use crate::budget::{Budget, QueryFailure};
use crate::conjunction::{Conjunction, FormInterval};

/// A union of conjunctions over the same variables.
#[derive(Clone, Debug)]
pub struct Set {
    /// The parts, which may overlap.
    pub parts: Vec<Conjunction>,
}

impl Set {
    /// Returns true if there is no integer point.
    ///
    /// # Errors
    /// If the budget is spent first.
    pub fn is_empty(&self, budget: &mut Budget) -> Result<bool, QueryFailure> {
        for part in &self.parts {
            if !part.is_empty(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the least and the greatest value of a form. `None` if there is no point.
    ///
    /// # Errors
    /// If the budget is spent first.
    pub fn bounds(
        &self,
        form: &[i128],
        budget: &mut Budget,
    ) -> Result<Option<FormInterval>, QueryFailure> {
        let mut out: Option<FormInterval> = None;
        for part in &self.parts {
            if let Some(found) = part.bounds(form.to_vec(), budget)? {
                out = Some(out.map_or(found, |it| it.hull(found)));
            }
        }
        Ok(out)
    }
}
