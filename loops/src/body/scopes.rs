//! Loops and guards as scopes, with the constraints under which their bodies run.
//!
//! *Law.* Bounds, steps and conditions that are not affine are omitted, and the scope is not exact.
//! With a step above 1, iterations count from the greatest lower bound, so there is one conjunction
//! for each lower bound that may be the greatest. An else branch has one conjunction for each
//! constraint that may be the first to fail.

use noisy_syntax::affine::{Affine, AffineBody as Exprs};
use noisy_syntax::{AttrData, Ir, Op, Type, Value};

use super::{Constraint, FunctionBody, NestLoop, ScopeKind};
use crate::form::{LinearForm, LinearTerm, NotAffine};

impl FunctionBody {
    /// Adds a loop and its scope, and returns the scope.
    fn add_loop(
        &mut self,
        ir: &Ir,
        parent: Option<u32>,
        (op, index, iv): (Op, u32, Option<Value>),
        lower: Result<Vec<LinearForm>, NotAffine>,
        upper: Result<Vec<LinearForm>, NotAffine>,
        step: Option<i128>,
    ) -> u32 {
        let at = self.loops.len() as u32;
        let depth = self.n_loops(parent) + 1;
        if let Some(iv) = iv {
            self.depths.insert(iv, depth);
            if ir.value(iv).ty == Type::INDEX {
                self.forms.insert(iv, LinearForm::term(LinearTerm::Iv(at)));
            }
        }
        let (lower, upper) = (lower.ok(), upper.ok());
        let when = loop_constraints(at, lower.as_deref(), upper.as_deref(), step);
        let is_exact = when.is_ok() && lower.is_some() && upper.is_some() && step.is_some();
        self.loops.push(NestLoop { op, index, iv, depth, lower, upper, step });
        let when = when.unwrap_or_else(|NotAffine| vec![Vec::new()]);
        self.add_scope(parent, op, ScopeKind::Loop(at), when, is_exact)
    }

    pub(super) fn affine_for(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let Some(&(_, region)) = ir.op(op).regions.first() else { return };
        let iv = ir.blocks(region).first().and_then(|it| ir.block(*it).args.first().copied());
        let (lower_map, upper_map) =
            (affine_attr(ir, op, "lowerBoundMap"), affine_attr(ir, op, "upperBoundMap"));
        let n_lower = lower_map.as_ref().map_or(0, Affine::n_inputs);
        let mut bounds = |map: Option<Affine>, at| match map {
            Some(map) => self.map_forms(ir, op, &map, at).and_then(nonempty),
            None => Err(NotAffine),
        };
        let (lower, upper) = (bounds(lower_map, 0), bounds(upper_map, n_lower));
        let step = match ir.attr(op, "step").map(|it| ir.interner.attr_data(it)) {
            Some(AttrData::Int { value, .. }) => *value,
            _ => 1,
        };
        let inner = self.add_loop(ir, scope, (op, 0, iv), lower, upper, Some(step));
        self.visit_region(ir, region, Some(inner));
    }

    pub(super) fn affine_parallel(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let Some(&(_, region)) = ir.op(op).regions.first() else { return };
        let ivs = ir.blocks(region).first().map(|it| ir.block(*it).args.to_vec());
        let ivs = ivs.unwrap_or_default();
        let (lower_map, upper_map) =
            (affine_attr(ir, op, "lowerBoundsMap"), affine_attr(ir, op, "upperBoundsMap"));
        let n_lower = lower_map.as_ref().map_or(0, Affine::n_inputs);
        let mut bounds =
            |map: Option<Affine>, name: &str, at| -> Result<Vec<Vec<LinearForm>>, NotAffine> {
                let all = self.map_forms(ir, op, &map.ok_or(NotAffine)?, at)?;
                let groups = group_sizes(ir, op, name, ivs.len()).ok_or(NotAffine)?;
                let mut all = all.into_iter();
                let parts: Vec<Vec<LinearForm>> =
                    groups.iter().map(|&n| all.by_ref().take(n).collect()).collect();
                Ok(parts)
            };
        let lower = bounds(lower_map, "lowerBoundsGroups", 0);
        let upper = bounds(upper_map, "upperBoundsGroups", n_lower);
        let steps = int_array_attr(ir, op, "steps").unwrap_or_default();
        let mut inner = scope;
        for (at, &iv) in ivs.iter().enumerate() {
            let part = |it: &Result<Vec<Vec<LinearForm>>, NotAffine>| {
                it.as_ref()
                    .map_err(|it| *it)
                    .and_then(|it| it.get(at).cloned().ok_or(NotAffine))
                    .and_then(nonempty)
            };
            let step = steps.get(at).copied();
            let loop_ = (op, at as u32, Some(iv));
            inner = Some(self.add_loop(ir, inner, loop_, part(&lower), part(&upper), step));
        }
        let inner = match inner {
            _ if ivs.is_empty() => Some(self.add_unknown_loop(op, scope)),
            it => it,
        };
        self.visit_region(ir, region, inner);
    }

    pub(super) fn scf_for(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let Some(&(_, region)) = ir.op(op).regions.first() else { return };
        let iv = ir.blocks(region).first().and_then(|it| ir.block(*it).args.first().copied());
        let is_signed = ir.attr(op, "unsignedCmp").is_none();
        let is_index = iv.is_some_and(|it| ir.value(it).ty == Type::INDEX);
        let bound = |at| match self.operand_form(ir, op, at) {
            Ok(it) if is_signed && is_index => Ok(vec![it]),
            _ => Err(NotAffine),
        };
        let (lower, upper) = (bound(0), bound(1));
        let step = self.operand_form(ir, op, 2).ok().and_then(|it| it.as_constant());
        let inner = self.add_loop(ir, scope, (op, 0, iv), lower, upper, step);
        self.visit_region(ir, region, Some(inner));
    }

    pub(super) fn affine_if(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let set = affine_attr(ir, op, "condition");
        let constraints = set.and_then(|set| {
            let (n_dims, n) = (set.n_dims as usize, set.n_inputs());
            let dims = self.operand_forms(ir, op, 0..n_dims).ok()?;
            let symbols = self.operand_forms(ir, op, n_dims..n).ok()?;
            let Exprs::Set(constraints) = &set.body else { return None };
            let constraint = |(expr, is_equality): &(_, bool)| {
                let form = self.quotients.form(expr, &dims, &symbols).ok()?;
                Some(Constraint { form, is_equality: *is_equality })
            };
            if constraints.len() > MAX_CONSTRAINTS {
                return None;
            }
            constraints.iter().map(constraint).collect::<Option<Vec<_>>>()
        });
        for (at, &(_, region)) in ir.op(op).regions.iter().enumerate() {
            let when = match (&constraints, at) {
                (Some(it), 0) => Some(vec![it.clone()]),
                (Some(it), _) => complement_of(it).ok(),
                (None, _) => None,
            };
            let inner = match when {
                Some(when) => self.add_scope(scope, op, ScopeKind::Guard, when, true),
                None => {
                    self.add_scope(scope, op, ScopeKind::Choice(at as u32), vec![Vec::new()], false)
                }
            };
            self.visit_region(ir, region, Some(inner));
        }
    }
}

/// Maximum number of constraints of a set. The complement of n constraints has n or more
/// conjunctions of up to n constraints each.
const MAX_CONSTRAINTS: usize = 64;

fn nonempty(it: Vec<LinearForm>) -> Result<Vec<LinearForm>, NotAffine> {
    if it.is_empty() { Err(NotAffine) } else { Ok(it) }
}

fn affine_attr(ir: &Ir, op: Op, name: &str) -> Option<Affine> {
    ir.interner.affine(ir.attr(op, name)?).cloned()
}

/// Returns the integers of an array attribute.
fn int_array_attr(ir: &Ir, op: Op, name: &str) -> Option<Vec<i128>> {
    let (AttrData::Array(list) | AttrData::DenseArray { values: list, .. }) =
        ir.interner.attr_data(ir.attr(op, name)?)
    else {
        return None;
    };
    list.iter().map(|&it| ir.interner.int_value(it)).collect()
}

/// Returns, for each loop of an `affine.parallel`, the number of map results that are its bounds.
/// The attribute is `dense<[1, 2]>`, or `dense<1>` for equal numbers.
fn group_sizes(ir: &Ir, op: Op, name: &str, n: usize) -> Option<Vec<usize>> {
    let all = ir.interner.element_ints(ir.attr(op, name)?, n)?;
    all.into_iter().map(|it| usize::try_from(it).ok()).collect()
}

/// Returns the constraints under which the body of a loop runs. With a single lower bound or with
/// step 1, the result is one conjunction. Otherwise it has one for each lower bound that may be the
/// greatest, because steps count from that bound.
fn loop_constraints(
    at: u32,
    lower: Option<&[LinearForm]>,
    upper: Option<&[LinearForm]>,
    step: Option<i128>,
) -> Result<Vec<Vec<Constraint>>, NotAffine> {
    let iv = LinearForm::term(LinearTerm::Iv(at));
    let mut bounds = Vec::new();
    for it in upper.unwrap_or_default() {
        let form = it.plus(&iv, -1)?.offset(-1)?;
        bounds.push(Constraint { form, is_equality: false });
    }
    let step = step.filter(|it| *it > 1);
    let lower = lower.unwrap_or_default();
    let from =
        |it: &LinearForm| iv.plus(it, -1).map(|form| Constraint { form, is_equality: false });
    let Some(step) = step.filter(|_| !lower.is_empty()) else {
        for it in lower {
            bounds.push(from(it)?);
        }
        return Ok(vec![bounds]);
    };
    // Of constant bounds, only the greatest can be the start.
    let greatest = lower.iter().filter_map(LinearForm::as_constant).max();
    let mut candidates: Vec<&LinearForm> = Vec::new();
    for it in lower {
        let is_weak = it.as_constant().is_some_and(|it| Some(it) != greatest);
        if !is_weak && !candidates.contains(&it) {
            candidates.push(it);
        }
        if candidates.len() > MAX_CONSTRAINTS {
            return Err(NotAffine);
        }
    }
    let mut out = Vec::new();
    for (which, start) in candidates.iter().enumerate() {
        let mut piece = bounds.clone();
        piece.push(from(start)?);
        let counted = iv.plus(start, -1)?.plus(&LinearForm::term(LinearTerm::Step(at)), -step)?;
        piece.push(Constraint { form: counted, is_equality: true });
        for (other, it) in candidates.iter().enumerate() {
            if other != which {
                let form = start.plus(it, -1)?.offset(-i128::from(other < which))?;
                piece.push(Constraint { form, is_equality: false });
            }
        }
        out.push(piece);
    }
    Ok(out)
}

/// Returns the complement of a conjunction: one conjunction for each constraint that may be the
/// first to fail (two for an equality).
fn complement_of(constraints: &[Constraint]) -> Result<Vec<Vec<Constraint>>, NotAffine> {
    let mut out = Vec::new();
    for (at, it) in constraints.iter().enumerate() {
        let below = Constraint { form: it.form.times(-1)?.offset(-1)?, is_equality: false };
        let before = || constraints[..at].iter().cloned();
        out.push(before().chain([below]).collect());
        if it.is_equality {
            let above = Constraint { form: it.form.offset(-1)?, is_equality: false };
            out.push(before().chain([above]).collect());
        }
    }
    Ok(out)
}
