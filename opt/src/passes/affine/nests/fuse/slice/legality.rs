//! The conditions under which the source may run in slices; the table in [`super`] states them.

use noisy_loops::{JointSystem, LinearForm, LinearTerm};
use noisy_syntax::Value;

use super::super::bounds::projection_contains;
use super::{ITERATION_SIDE, NestPair, SOURCE_SIDE, Slice, TARGET_SIDE};

impl NestPair {
    /// Adds the constraint that the iteration on side `later` follows the one on side `first`, and
    /// that the first difference is at `level`.
    fn add_later(
        joint: &mut JointSystem<'_>,
        loops: &[u32],
        level: usize,
        first: usize,
        later: usize,
    ) -> Option<()> {
        for (at, &loop_) in loops.iter().enumerate().take(level + 1) {
            let iv = LinearForm::term(LinearTerm::Iv(loop_));
            let is_last = at == level;
            joint.add_constraint(
                &[(later, &iv, 1), (first, &iv, -1)],
                -i128::from(is_last),
                !is_last,
            )?;
        }
        Some(())
    }

    /// Returns true if the source may run in the slices. `is_fresh` is true if the content of a
    /// memref before the source is unused. For `is_temporary`, see [`NestPair::is_temporary`].
    /// `runs_before` is true if the source is not erased and also runs as a whole.
    pub(in super::super) fn is_legal(
        &self,
        slice: &Slice,
        is_fresh: &dyn Fn(Value) -> bool,
        is_temporary: &dyn Fn(Value) -> bool,
        runs_before: bool,
    ) -> bool {
        self.keeps_order_with_target(slice) && self.is_closed(slice, is_temporary) && {
            let needs_once = self.has_unknown || self.may_read_old_content(is_fresh);
            !needs_once || (!runs_before && self.has_distinct_slices(slice))
        }
    }

    /// Returns true if each load of a memref in the source follows a store of the same element in
    /// the same iteration of all loops that the slice restricts. Then the load reads a value of its
    /// own slice, regardless of other slices. Only for memrefs that only the source accesses.
    pub(in super::super) fn is_temporary(&self, slice: &Slice, memref: Value) -> bool {
        let all: Vec<usize> =
            self.source.iter().copied().filter(|&it| self.view(it) == memref).collect();
        let is_bounded = |it: &u32| slice.bounds.iter().any(|bounds| bounds.loop_ == *it);
        all.iter().filter(|&&it| !self.is_store(it)).all(|&load| {
            all.iter().any(|&store| {
                let around = self.inner_loops(store);
                self.is_store(store)
                    && store < load
                    && self.inner_loops(load).starts_with(&around)
                    && self.element(store) == self.element(load)
                    && all.iter().all(|&it| {
                        self.inner_loops(it)
                            .iter()
                            .filter(|it| is_bounded(it))
                            .all(|it| around.contains(it))
                    })
            })
        })
    }

    /// Returns true if no instance of the source runs after an instance of the target that writes
    /// the same element.
    fn keeps_order_with_target(&self, slice: &Slice) -> bool {
        let Some(prefix) = self.domain_of_loops(&slice.target) else { return false };
        self.conflicting_pairs(&self.source, &self.target).all(|(a, b)| {
            !self.is_store(b)
                || (0..slice.target.len()).all(|level| {
                    self.never_access_same_element((a, b), Some(&prefix), &|joint| {
                        self.add_membership(joint, a, SOURCE_SIDE, slice, ITERATION_SIDE)?;
                        Self::add_later(joint, &slice.target, level, TARGET_SIDE, ITERATION_SIDE)
                    })
                })
        })
    }

    /// Returns the pairs of accesses of one memref, one of them a store.
    fn conflicting_pairs<'s>(
        &'s self,
        a: &'s [usize],
        b: &'s [usize],
    ) -> impl Iterator<Item = (usize, usize)> + 's {
        let all = a.iter().flat_map(move |&a| b.iter().map(move |&b| (a, b)));
        all.filter(|&(a, b)| self.view(a) == self.view(b) && (self.is_store(a) || self.is_store(b)))
    }

    /// Returns true if instances of the source that access the same element are always in the same
    /// slices.
    fn is_closed(&self, slice: &Slice, is_temporary: &dyn Fn(Value) -> bool) -> bool {
        let Some(prefix) = self.domain_of_loops(&slice.target) else { return false };
        self.conflicting_pairs(&self.source, &self.source).all(|(a, b)| {
            is_temporary(self.view(a))
                || self.membership_conditions(b, slice).into_iter().all(|(iv, sign, bound)| {
                    self.never_access_same_element((a, b), Some(&prefix), &|joint| {
                        self.add_membership(joint, a, SOURCE_SIDE, slice, ITERATION_SIDE)?;
                        joint.add_constraint(
                            &[(TARGET_SIDE, &iv, -sign), (ITERATION_SIDE, bound, sign)],
                            -1,
                            false,
                        )
                    })
                })
        })
    }

    /// Returns true if the source may read an element before it writes the element, and the content
    /// before the source may be used.
    fn may_read_old_content(&self, is_fresh: &dyn Fn(Value) -> bool) -> bool {
        self.conflicting_pairs(&self.source, &self.source).any(|(a, b)| {
            if self.is_store(a) || !self.is_store(b) || is_fresh(self.view(a)) {
                return false;
            }
            let loops = self.common_loops(&[a, b]);
            let is_never = |level: usize| {
                self.never_access_same_element((a, b), None, &|joint| {
                    if level < loops.len() {
                        return Self::add_later(joint, &loops, level, SOURCE_SIDE, TARGET_SIDE);
                    }
                    loops.iter().try_for_each(|&it| {
                        let iv = LinearForm::term(LinearTerm::Iv(it));
                        joint.add_constraint(
                            &[(SOURCE_SIDE, &iv, 1), (TARGET_SIDE, &iv, -1)],
                            0,
                            true,
                        )
                    })
                })
            };
            let n_levels = loops.len() + usize::from(a < b);
            !(0..n_levels).all(is_never)
        })
    }

    /// Returns true if no instance of the source is in the slices of two different iterations.
    fn has_distinct_slices(&self, slice: &Slice) -> bool {
        let Some(prefix) = self.domain_of_loops(&slice.target) else { return false };
        self.source.iter().all(|&a| {
            let Some(of_a) = self.domain_of(a) else { return false };
            let sides = [
                (SOURCE_SIDE, of_a),
                (TARGET_SIDE, prefix.clone()),
                (ITERATION_SIDE, prefix.clone()),
            ];
            (0..slice.target.len()).all(|level| {
                self.has_no_instance(&sides, &|joint| {
                    self.add_membership(joint, a, SOURCE_SIDE, slice, TARGET_SIDE)?;
                    self.add_membership(joint, a, SOURCE_SIDE, slice, ITERATION_SIDE)?;
                    Self::add_later(joint, &slice.target, level, TARGET_SIDE, ITERATION_SIDE)
                })
            })
        })
    }

    /// Returns true if each instance of the given accesses of the source is in a slice.
    pub(in super::super) fn is_covered_by_slices(&self, slice: &Slice, accesses: &[usize]) -> bool {
        let covered = |a: usize| -> Option<bool> {
            let prefix = self.domain_of_loops(&slice.target)?;
            let all = self.domain_of(a)?;
            Some(all.iter().all(|of_a| {
                prefix.iter().any(|of_x| {
                    let mut joint = self.joint();
                    let made = joint
                        .add_domain(SOURCE_SIDE, of_a)
                        .map(|()| joint.n_rows())
                        .and_then(|n| {
                            joint.add_domain(ITERATION_SIDE, of_x)?;
                            self.add_membership(&mut joint, a, SOURCE_SIDE, slice, ITERATION_SIDE)?;
                            projection_contains(&joint, n, SOURCE_SIDE, Self::budget)
                        });
                    made.unwrap_or(false)
                })
            }))
        };
        accesses.iter().all(|&it| covered(it).unwrap_or(false))
    }

    /// Returns true if each load of a memref in the target reads an element that a store of the
    /// source writes in the slice of the same iteration.
    pub(in super::super) fn are_loads_covered(&self, slice: &Slice, view: Value) -> bool {
        let covered = |b: usize| -> Option<bool> {
            let of_b = self.domain_of(b)?;
            let mut all = of_b.iter();
            Some(all.all(|of_b| {
                let stores =
                    self.source.iter().filter(|&&a| self.is_store(a) && self.view(a) == view);
                stores.into_iter().any(|&a| {
                    // In this query, the load is on side S and the store is on side T.
                    let is_covered = || -> Option<bool> {
                        for of_a in self.domain_of(a)? {
                            let mut joint = self.joint();
                            joint.add_domain(SOURCE_SIDE, of_b)?;
                            let n = joint.n_rows();
                            joint.add_domain(TARGET_SIDE, &of_a)?;
                            joint.add_equal_elements(
                                [TARGET_SIDE, SOURCE_SIDE],
                                [self.element(a), self.element(b)],
                            )?;
                            self.add_membership(&mut joint, a, TARGET_SIDE, slice, SOURCE_SIDE)?;
                            if projection_contains(&joint, n, SOURCE_SIDE, Self::budget)? {
                                return Some(true);
                            }
                        }
                        Some(false)
                    };
                    is_covered().unwrap_or(false)
                })
            }))
        };
        let mut loads = self.target.iter().filter(|&&b| !self.is_store(b) && self.view(b) == view);
        loads.all(|&it| covered(it).unwrap_or(false))
    }

    /// Returns true if no load of a memref in the target reads a value that the target wrote in
    /// another iteration of the loops `target`.
    pub(in super::super) fn has_no_carried_read(&self, target: &[u32], view: Value) -> bool {
        let all: Vec<usize> =
            self.target.iter().copied().filter(|&it| self.view(it) == view).collect();
        self.conflicting_pairs(&all, &all).all(|(a, b)| {
            !self.is_store(a)
                || self.is_store(b)
                || (0..target.len()).all(|level| {
                    self.never_access_same_element((a, b), None, &|joint| {
                        Self::add_later(joint, target, level, SOURCE_SIDE, TARGET_SIDE)
                    })
                })
        })
    }
}
