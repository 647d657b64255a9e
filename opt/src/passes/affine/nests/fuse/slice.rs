//! The slice of a loop nest, the source, that an iteration of another nest, the target, needs:
//! bounds of the loops of the source as functions of the outer loops of the target. Also decides if
//! the source may run in these slices.
//!
//! Let x be an iteration of the d outermost loops of the target. The slice of x runs before the
//! other ops of x. So an instance of the source runs in each x whose slice contains it: once,
//! several times, or never. *Law.* Let s and t be instances of the source and of the target that
//! access the same element, one of them a store. The slices are legal if no row of the table
//! occurs:
//!
//! | if | must not occur |
//! |---|---|
//! | t reads the value that s wrote | s is not in the slice of the iteration of t |
//! | t writes | s is in the slice of a later iteration than that of t |
//! | s and s' access an element that the source writes | one is in a slice and the other is not |
//! | s reads an older value of an element that the source overwrites later | s is in two slices |
//! | the source has ops with unknown effects | an instance is in two slices |
//!
//! Reductions keep their order, because a slice runs in the order of the source. All checks are
//! exact. If the budget is spent, the slices are not legal.

mod legality;

use noisy_loops::{
    AliasAssumptions, AliasRelation, Constraint, FunctionBody, JointSystem, LinearForm, LinearTerm,
};
use noisy_polyhedra::Budget;
use noisy_syntax::{Ir, Op, OpKind, Value};

use super::bounds::{BoundQuery, is_bound, proposed, to_forms};
use crate::passes::affine::legal;
use crate::rewrite::{operand, preorder};
use noisy_analyses::facts::effects;

/// Maximum work for one query, in machine words (see [`Budget`]).
const MAX_WORK: u64 = 500_000;

/// Two nests of a block. Slices of the source may run in the target.
pub(super) struct NestPair {
    pub(super) body: FunctionBody,
    /// The loops around the block.
    pub(super) around: Vec<u32>,
    /// The accesses of the source and of the target, as indices into [`FunctionBody::accesses`].
    pub(super) source: Vec<usize>,
    pub(super) target: Vec<usize>,
    /// True if the source contains ops other than loads and stores that may have effects.
    pub(super) has_unknown: bool,
}

/// The inclusive bounds of a loop of the source in a slice. The greatest of `low` and the least of
/// `high` count.
#[derive(Clone, Debug)]
pub(super) struct SliceBounds {
    pub(super) loop_: u32,
    pub(super) low: Vec<LinearForm>,
    pub(super) high: Vec<LinearForm>,
}

/// A slice of the source for each iteration of the outer loops of the target.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    /// The outer loops of the target, outermost first.
    pub(super) target: Vec<u32>,
    pub(super) bounds: Vec<SliceBounds>,
}

/// The sides of a [`JointSystem`]: an instance of the source, an instance of the target, and an
/// iteration of the outer loops of the target.
pub(super) const SOURCE_SIDE: usize = 0;
pub(super) const TARGET_SIDE: usize = 1;
const ITERATION_SIDE: usize = 2;

impl NestPair {
    /// Analyzes two nests of a block. `None` if they contain unsupported loops, accesses or
    /// effects.
    pub(super) fn new(
        ir: &Ir,
        function: Op,
        source: Op,
        target: Op,
        aliasing: AliasAssumptions,
    ) -> Option<Self> {
        let body = legal::body_of(ir, function);
        let (first, second) = (body.loop_of(source)?, body.loop_of(target)?);
        let around = body.loops_around(body.scope_of_loop(first));
        let around = around[..around.len() - 1].to_vec();
        let within = |loop_: u32| -> Option<Vec<usize>> {
            let all = 0..body.accesses.len();
            let is_inside =
                |it: &usize| body.loops_around(body.accesses[*it].scope).contains(&loop_);
            let all: Vec<usize> = all.filter(is_inside).collect();
            let is_plain = |it: &usize| {
                let it = &body.accesses[*it];
                let is_affine =
                    matches!(ir.op(it.op).kind, OpKind::AffineLoad | OpKind::AffineStore);
                let memref = operand(ir, it.op, usize::from(it.is_store));
                is_affine && it.subscripts.is_ok() && memref == Some(it.memref.base)
            };
            all.iter().all(is_plain).then_some(all)
        };
        let is_known = |root: Op| {
            let mut all = preorder(ir, ir.op(root).regions[0].1);
            all.push(root);
            all.iter().all(|&op| match ir.op(op).kind {
                OpKind::AffineFor => body.loop_of(op).is_some_and(|it| {
                    let it = &body.loops[it as usize];
                    it.lower.is_some() && it.upper.is_some() && it.step.is_some_and(|it| it > 0)
                }),
                _ => ir.op(op).regions.is_empty() && ir.extra(op).successors.is_empty(),
            })
        };
        if !is_known(source)
            || !is_known(target)
            || body.effect_in(first).is_some()
            || body.effect_in(second).is_some()
        {
            return None;
        }
        let (source_accesses, target_accesses) = (within(first)?, within(second)?);
        // Reject memrefs that may share elements in an unknown way.
        let all: Vec<usize> = source_accesses.iter().chain(&target_accesses).copied().collect();
        for &a in &source_accesses {
            for &b in &all {
                let (a, b) = (&body.accesses[a], &body.accesses[b]);
                let is_fine = match a.memref.alias_relation(&b.memref, aliasing) {
                    AliasRelation::NoAlias => true,
                    AliasRelation::SameMemref(depth) => {
                        depth as usize <= around.len() && a.memref.base == b.memref.base
                    }
                    AliasRelation::Unknown => false,
                };
                if !is_fine && (a.is_store || b.is_store) {
                    return None;
                }
            }
        }
        let has_unknown = preorder(ir, ir.op(source).regions[0].1).iter().any(|&op| {
            let kind = ir.op(op).kind;
            let is_access = matches!(
                kind,
                OpKind::AffineLoad | OpKind::AffineStore | OpKind::MemrefLoad | OpKind::MemrefStore
            );
            kind.is_op()
                && ir.op(op).regions.is_empty()
                && !is_access
                && kind != OpKind::AffineYield
                && !effects::is_free_of_effects(ir, op)
        });
        Some(Self { around, source: source_accesses, target: target_accesses, has_unknown, body })
    }

    pub(super) fn view(&self, access: usize) -> Value {
        self.body.accesses[access].memref.base
    }

    pub(super) fn is_store(&self, access: usize) -> bool {
        self.body.accesses[access].is_store
    }

    /// Returns the loops around an access, without those around the block.
    pub(super) fn inner_loops(&self, access: usize) -> Vec<u32> {
        self.body.loops_around(self.body.accesses[access].scope)[self.around.len()..].to_vec()
    }

    /// Returns the common loops of accesses, without those around the block.
    pub(super) fn common_loops(&self, accesses: &[usize]) -> Vec<u32> {
        let mut all = accesses.iter().map(|&it| self.inner_loops(it));
        let Some(mut out) = all.next() else { return Vec::new() };
        for path in all {
            let n = out.iter().zip(&path).take_while(|(a, b)| a == b).count();
            out.truncate(n);
        }
        out
    }

    /// Returns true if the block is not in a loop.
    pub(super) fn is_outermost(&self) -> bool {
        self.around.is_empty()
    }

    /// Returns the loops of ops.
    pub(super) fn loops_of(&self, ops: &[Op]) -> Vec<u32> {
        ops.iter().filter_map(|&it| self.body.loop_of(it)).collect()
    }

    pub(super) fn element(&self, access: usize) -> &[LinearForm] {
        self.body.accesses[access].subscripts.as_deref().unwrap_or_default()
    }

    pub(super) fn budget() -> Budget {
        Budget::new(MAX_WORK)
    }

    /// Returns the domain of an access: a union of conjunctions.
    pub(super) fn domain_of(&self, access: usize) -> Option<Vec<Vec<&Constraint>>> {
        self.body.conjunctions(self.body.accesses[access].scope)
    }

    /// Returns the domain of the innermost of the given loops.
    pub(super) fn domain_of_loops(&self, loops: &[u32]) -> Option<Vec<Vec<&Constraint>>> {
        self.body.conjunctions(self.body.scope_of_loop(*loops.last()?))
    }

    pub(super) fn joint(&self) -> JointSystem<'_> {
        JointSystem::new(&self.body, &self.around)
    }

    /// Returns true if there is no point with the domains of `sides` and the constraints that
    /// `more` adds; false also if this is unknown.
    fn has_no_instance(
        &self,
        sides: &[(usize, Vec<Vec<&Constraint>>)],
        more: &dyn Fn(&mut JointSystem<'_>) -> Option<()>,
    ) -> bool {
        let mut all = vec![self.joint()];
        for (side, pieces) in sides {
            let mut next = Vec::new();
            for joint in &all {
                for piece in pieces {
                    let mut joint = joint.clone();
                    if joint.add_domain(*side, piece).is_none() {
                        return false;
                    }
                    next.push(joint);
                }
            }
            all = next;
        }
        all.into_iter()
            .all(|mut joint| more(&mut joint).is_some() && joint.has_no_point(&mut Self::budget()))
    }

    /// Returns true if an instance of the first access (S) and one of the second (T) certainly
    /// never access the same element, given the domain of X, if any, and more constraints.
    fn never_access_same_element(
        &self,
        (a, b): (usize, usize),
        of_x: Option<&Vec<Vec<&Constraint>>>,
        more: &dyn Fn(&mut JointSystem<'_>) -> Option<()>,
    ) -> bool {
        let (Some(of_a), Some(of_b)) = (self.domain_of(a), self.domain_of(b)) else { return false };
        let mut sides = vec![(SOURCE_SIDE, of_a), (TARGET_SIDE, of_b)];
        sides.extend(of_x.map(|it| (ITERATION_SIDE, it.clone())));
        self.has_no_instance(&sides, &|joint| {
            joint.add_equal_elements(
                [SOURCE_SIDE, TARGET_SIDE],
                [self.element(a), self.element(b)],
            )?;
            more(joint)
        })
    }

    /// Adds the constraints that an instance of an access on `side` is in the slice of the
    /// iteration on side `of`.
    pub(super) fn add_membership(
        &self,
        joint: &mut JointSystem<'_>,
        access: usize,
        side: usize,
        slice: &Slice,
        of: usize,
    ) -> Option<()> {
        for (form, sign, of_x) in self.membership_conditions(access, slice) {
            joint.add_constraint(&[(side, &form, sign), (of, of_x, -sign)], 0, false)?;
        }
        Some(())
    }

    /// Returns the conditions under which an instance of an access is in a slice: the variable of a
    /// loop, 1 for a lower or -1 for an upper bound, and the bound.
    fn membership_conditions<'s>(
        &self,
        access: usize,
        slice: &'s Slice,
    ) -> Vec<(LinearForm, i128, &'s LinearForm)> {
        let path = self.inner_loops(access);
        let mut out = Vec::new();
        for it in slice.bounds.iter().filter(|it| path.contains(&it.loop_)) {
            let iv = LinearForm::term(LinearTerm::Iv(it.loop_));
            out.extend(it.low.iter().map(|low| (iv.clone(), 1, low)));
            out.extend(it.high.iter().map(|high| (iv.clone(), -1, high)));
        }
        out
    }

    /// Returns queries for the range of a loop of the source that the target needs. Each pair has
    /// an access of the source and an access of the target to the same memref.
    fn loop_queries<'s>(
        &'s self,
        pairs: &[(usize, usize)],
        loop_: u32,
        target: &'s [u32],
    ) -> Option<Vec<BoundQuery<'s>>> {
        let mut out = Vec::new();
        let is_kept = move |term: LinearTerm| match term {
            LinearTerm::Iv(it) => target.contains(&it) || self.around.contains(&it),
            LinearTerm::Symbol(_) => true,
            _ => false,
        };
        for &(a, b) in pairs {
            for of_a in self.domain_of(a)? {
                for of_b in self.domain_of(b)? {
                    let mut joint = self.joint();
                    joint.add_domain(SOURCE_SIDE, &of_a)?;
                    joint.add_domain(TARGET_SIDE, &of_b)?;
                    joint.add_equal_elements(
                        [SOURCE_SIDE, TARGET_SIDE],
                        [self.element(a), self.element(b)],
                    )?;
                    if joint.has_no_point(&mut Self::budget()) {
                        continue;
                    }
                    for &it in target {
                        joint.column_of(TARGET_SIDE, LinearTerm::Iv(it))?;
                    }
                    let column = joint.column_of(SOURCE_SIDE, LinearTerm::Iv(loop_))?;
                    out.push(BoundQuery::new(joint, column, TARGET_SIDE, &self.body, &is_kept));
                }
            }
        }
        Some(out)
    }

    /// Returns the slice of the source that an iteration of the loops `target` needs, according to
    /// pairs of accesses of the source and of the target. From the first loop with `free` on, loops
    /// run completely.
    pub(super) fn slice(
        &mut self,
        pairs: &[(usize, usize)],
        target: &[u32],
        free: &dyn Fn(u32) -> bool,
    ) -> Option<Slice> {
        let sources: Vec<usize> = pairs.iter().map(|it| it.0).collect();
        let mut bounds = Vec::new();
        for loop_ in self.common_loops(&sources) {
            if free(loop_) || self.body.loops[loop_ as usize].step != Some(1) {
                break;
            }
            let found = proposed(&self.loop_queries(pairs, loop_, target)?)?;
            let [low, high] = found.map(|it| to_forms(it, &mut self.body.quotients));
            let asked = self.loop_queries(pairs, loop_, target)?;
            if asked.is_empty() {
                return None;
            }
            // Shadows are rational. They may miss that a variable of the source equals one of the
            // target, so propose these bounds as well.
            let same = target.iter().map(|&it| LinearForm::term(LinearTerm::Iv(it)));
            let with_same =
                |all: Option<Vec<LinearForm>>| all.map(|it| same.clone().chain(it).collect());
            let (low, high): (Option<Vec<LinearForm>>, Option<Vec<LinearForm>>) =
                (with_same(low), with_same(high));
            let fit = |all: Vec<LinearForm>, is_low: bool| -> Vec<LinearForm> {
                let fits = |it: &LinearForm| {
                    is_bound(&asked, TARGET_SIDE, it, is_low, &mut Self::budget())
                };
                let mut all: Vec<LinearForm> = all.into_iter().filter(fits).collect();
                self.drop_implied(&mut all, target, is_low);
                all
            };
            let (low, high) = (fit(low?, true), fit(high?, false));
            if low.is_empty() || high.is_empty() {
                break;
            }
            bounds.push(SliceBounds { loop_, low, high });
        }
        Some(Slice { target: target.to_vec(), bounds })
    }

    /// Drops bounds that another bound implies in all iterations of the target.
    fn drop_implied(&self, all: &mut Vec<LinearForm>, target: &[u32], is_low: bool) {
        let Some(pieces) = self.domain_of_loops(target) else { return };
        let is_implied = |weak: &LinearForm, strong: &LinearForm| {
            // The weaker bound is implied if it never excludes more than the stronger one.
            let sign = if is_low { 1 } else { -1 };
            self.has_no_instance(&[(ITERATION_SIDE, pieces.clone())], &|joint| {
                joint.add_constraint(
                    &[(ITERATION_SIDE, weak, sign), (ITERATION_SIDE, strong, -sign)],
                    -1,
                    false,
                )
            })
        };
        let mut at = all.len();
        while at > 0 {
            at -= 1;
            let implied = (0..all.len()).any(|it| it != at && is_implied(&all[at], &all[it]));
            if implied {
                all.remove(at);
            }
        }
    }

    /// Returns true if the bounds of a slice imply the bounds of the loop itself.
    pub(super) fn implies_loop_bounds(&self, slice: &Slice, at: usize) -> bool {
        let it = &slice.bounds[at];
        let data = &self.body.loops[it.loop_ as usize];
        let (Some(lower), Some(upper)) = (&data.lower, &data.upper) else { return false };
        let Some(pieces) = self.domain_of_loops(&slice.target) else { return false };
        let iv = LinearForm::term(LinearTerm::Iv(it.loop_));
        let outside = lower.iter().map(|form| (form, 1)).chain(upper.iter().map(|form| (form, -1)));
        outside.into_iter().all(|(form, sign)| {
            self.has_no_instance(&[(ITERATION_SIDE, pieces.clone())], &|joint| {
                for it in &slice.bounds[..=at] {
                    let iv = LinearForm::term(LinearTerm::Iv(it.loop_));
                    for low in &it.low {
                        joint.add_constraint(
                            &[(SOURCE_SIDE, &iv, 1), (ITERATION_SIDE, low, -1)],
                            0,
                            false,
                        )?;
                    }
                    for high in &it.high {
                        joint.add_constraint(
                            &[(SOURCE_SIDE, &iv, -1), (ITERATION_SIDE, high, 1)],
                            0,
                            false,
                        )?;
                    }
                }
                // A violation is a value below the lower bound, or at or above the upper bound.
                joint.add_constraint(
                    &[(SOURCE_SIDE, form, sign), (SOURCE_SIDE, &iv, -sign)],
                    if sign > 0 { -1 } else { 0 },
                    false,
                )
            })
        })
    }
}
