//! The sizes of slices: their trip counts, and the boxes of elements that they access.

use noisy_loops::{Form, Term};

use super::bounds::{Asked, closest, divided, holds, proposed};
use super::slice::{Pair, S, Slice, T};

impl Slice {
    /// Returns the trip count of a loop of the source in a slice, if it is constant.
    pub(super) fn trips(&self, loop_: u32) -> Option<i128> {
        let it = self.bounds.iter().find(|it| it.loop_ == loop_)?;
        closest(&it.low, &it.high).map(|it| it.1.max(0))
    }
}

impl Pair {
    /// Returns queries for the range of a dimension that accesses use in an iteration of the
    /// target. Accesses of the source are restricted to the slice.
    fn touched<'s>(
        &'s self,
        accesses: &[usize],
        dimension: usize,
        slice: Option<&'s Slice>,
    ) -> Option<Vec<Asked<'s>>> {
        let target = slice.map_or(&[][..], |it| &it.target);
        let is_kept = move |term: Term| match term {
            Term::Iv(it) => target.contains(&it) || self.around.contains(&it),
            Term::Symbol(_) => true,
            _ => false,
        };
        let mut out = Vec::new();
        for &access in accesses {
            let is_source = self.source.contains(&access);
            for of_access in self.when(access)? {
                let prefix = match (slice, is_source) {
                    (Some(slice), true) => self.when_in(&slice.target)?,
                    _ => vec![Vec::new()],
                };
                for of_x in prefix {
                    let mut joint = self.joint();
                    let side = if is_source { S } else { T };
                    joint.domain(side, &of_access)?;
                    if let (Some(slice), true) = (slice, is_source) {
                        joint.domain(T, &of_x)?;
                        self.is_in(&mut joint, access, S, slice, T)?;
                    }
                    for &it in target {
                        joint.column(T, Term::Iv(it))?;
                    }
                    let column = joint.add();
                    joint.name(column, side, self.element(access).get(dimension)?)?;
                    out.push(Asked::new(joint, column, T, &self.body, &is_kept));
                }
            }
        }
        Some(out)
    }

    /// Returns the box of elements that accesses of one memref use: the first index and the size of
    /// each dimension. `None` if a size is not constant.
    pub(super) fn region(
        &mut self,
        accesses: &[usize],
        slice: Option<&Slice>,
    ) -> Option<Vec<(Form, i128)>> {
        let rank = self.element(*accesses.first()?).len();
        let mut out = Vec::new();
        for dimension in 0..rank {
            let found = proposed(&self.touched(accesses, dimension, slice)?)?;
            let [low, high] = found.map(|it| divided(it, &mut self.body.quotients));
            let asked = self.touched(accesses, dimension, slice)?;
            let fit = |all: Vec<Form>, is_low: bool| -> Vec<Form> {
                all.into_iter()
                    .filter(|it| holds(&asked, T, it, is_low, &mut Self::budget()))
                    .collect()
            };
            let (low, high) = (fit(low?, true), fit(high?, false));
            let (start, n) = closest(&low, &high)?;
            out.push((start.clone(), n.max(0)));
        }
        Some(out)
    }
}
