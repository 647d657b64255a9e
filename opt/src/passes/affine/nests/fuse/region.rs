//! The sizes of slices: their trip counts, and the boxes of elements that they access.

use noisy_loops::{LinearForm, LinearTerm};

use super::bounds::{BoundQuery, closest, is_bound, proposed, to_forms};
use super::slice::{NestPair, SOURCE_SIDE, Slice, TARGET_SIDE};

impl Slice {
    /// Returns the trip count of a loop of the source in a slice, if it is constant.
    pub(super) fn trips(&self, loop_: u32) -> Option<i128> {
        let it = self.bounds.iter().find(|it| it.loop_ == loop_)?;
        closest(&it.low, &it.high).map(|it| it.1.max(0))
    }
}

impl NestPair {
    /// Returns queries for the range of a dimension that accesses use in an iteration of the
    /// target. Accesses of the source are restricted to the slice.
    fn range_queries<'s>(
        &'s self,
        accesses: &[usize],
        dimension: usize,
        slice: Option<&'s Slice>,
    ) -> Option<Vec<BoundQuery<'s>>> {
        let target = slice.map_or(&[][..], |it| &it.target);
        let is_kept = move |term: LinearTerm| match term {
            LinearTerm::Iv(it) => target.contains(&it) || self.around.contains(&it),
            LinearTerm::Symbol(_) => true,
            _ => false,
        };
        let mut out = Vec::new();
        for &access in accesses {
            let is_source = self.source.contains(&access);
            for of_access in self.domain_of(access)? {
                let prefix = match (slice, is_source) {
                    (Some(slice), true) => self.domain_of_loops(&slice.target)?,
                    _ => vec![Vec::new()],
                };
                for of_x in prefix {
                    let mut joint = self.joint();
                    let side = if is_source { SOURCE_SIDE } else { TARGET_SIDE };
                    joint.add_domain(side, &of_access)?;
                    if let (Some(slice), true) = (slice, is_source) {
                        joint.add_domain(TARGET_SIDE, &of_x)?;
                        self.add_membership(&mut joint, access, SOURCE_SIDE, slice, TARGET_SIDE)?;
                    }
                    for &it in target {
                        joint.column_of(TARGET_SIDE, LinearTerm::Iv(it))?;
                    }
                    let column = joint.add_column();
                    joint.add_definition(column, side, self.element(access).get(dimension)?)?;
                    out.push(BoundQuery::new(joint, column, TARGET_SIDE, &self.body, &is_kept));
                }
            }
        }
        Some(out)
    }

    /// Returns the box of elements that accesses of one memref use: the first index and the size of
    /// each dimension. `None` if a size is not constant.
    pub(super) fn element_box(
        &mut self,
        accesses: &[usize],
        slice: Option<&Slice>,
    ) -> Option<Vec<(LinearForm, i128)>> {
        let rank = self.element(*accesses.first()?).len();
        let mut out = Vec::new();
        for dimension in 0..rank {
            let found = proposed(&self.range_queries(accesses, dimension, slice)?)?;
            let [low, high] = found.map(|it| to_forms(it, &mut self.body.quotients));
            let asked = self.range_queries(accesses, dimension, slice)?;
            let fit = |all: Vec<LinearForm>, is_low: bool| -> Vec<LinearForm> {
                all.into_iter()
                    .filter(|it| is_bound(&asked, TARGET_SIDE, it, is_low, &mut Self::budget()))
                    .collect()
            };
            let (low, high) = (fit(low?, true), fit(high?, false));
            let (start, n) = closest(&low, &high)?;
            out.push((start.clone(), n.max(0)));
        }
        Some(out)
    }
}
