//! Dependences: pairs of instances of accesses, one after the other, that access the same element.
//!
//! *Queries.* Consider two accesses s and t in n common loops. The variables are the iterations of
//! s and of t, the points are those at which both run and access the same element. Let d be the
//! iteration of t minus the iteration of s in the common loops. The dependence from s to t *carried
//! by level k* is the set of points with `d_1 = .. = d_(k-1) = 0` and `d_k >= 1`. The dependence
//! that is *independent of all loops* (level n + 1) has d = 0, if s precedes t. The dependence from
//! t to s has `d_k <= -1` and negated distances. So each unordered pair is one relation, which is
//! prepared once and answers at most 2 n + 1 queries.
//!
//! *Law.* Existence and distances are exact for integers of any size. Symbols may be any integers,
//! and subscripts may be out of bounds. If a loop or a guard is unknown, the points are a superset,
//! and the dependence is not exact (`is_exact`). The loops of an `affine.parallel` are treated as
//! sequential, in the order of their variables.
//!
//! *Cost.* Pairs with relations that are equal up to the names of variables are analyzed once.

use std::cmp::Ordering;

use noisy_polyhedra::{
    Budget, Conjunction, FormInterval, OutputCondition, QueryFailure, Relation, SparseRow,
};
use rustc_hash::FxHashMap;

use crate::body::{Access, AnalysisFailure, Constraint, FunctionBody, ScopeKind};
use crate::form::{LinearForm, LinearTerm};
use crate::memory::{AliasAssumptions, AliasRelation};

/// The kind of a dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DependenceKind {
    /// A load after a store.
    Flow,
    /// A store after a load.
    Anti,
    /// A store after a store.
    Output,
    /// A load after a load.
    Input,
}

impl DependenceKind {
    pub(crate) fn of(body: &FunctionBody, source: usize, target: usize) -> Self {
        match (body.accesses[source].is_store, body.accesses[target].is_store) {
            (true, true) => DependenceKind::Output,
            (true, false) => DependenceKind::Flow,
            (false, true) => DependenceKind::Anti,
            (false, false) => DependenceKind::Input,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
            DependenceKind::Input => "input",
        }
    }
}

/// A dependence at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The access that runs first: an index into [`FunctionBody::accesses`].
    pub source: usize,
    /// The access that runs later: an index into [`FunctionBody::accesses`].
    pub target: usize,
    /// The depth of the common loop that carries the dependence, from 1. If it is independent of
    /// all n common loops, n + 1.
    pub level: usize,
    /// The distance per common loop, outermost first: the variable at the target minus the variable
    /// at the source.
    pub distance: Vec<FormInterval>,
    pub kind: DependenceKind,
    /// True if the dependence exists with exactly these distances; false if it may exist.
    pub is_exact: bool,
}

/// A pair that could not be analyzed. Each access may depend on the other, at any level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPair {
    /// One access: an index into [`FunctionBody::accesses`].
    pub source: usize,
    /// The other access: an index into [`FunctionBody::accesses`]. It is the same access or a later
    /// one.
    pub target: usize,
    /// The reason.
    pub reason: AnalysisFailure,
}

impl UnknownPair {
    /// Returns the dependences that the pair may have: all that the order of iterations allows.
    pub fn possible_dependences(&self, body: &FunctionBody) -> Vec<Dependence> {
        let around = |it: usize| body.loops_around(body.accesses[it].scope);
        let (source, target) = (around(self.source), around(self.target));
        let n = source.iter().zip(&target).take_while(|(a, b)| a == b).count();
        let mut out = Vec::new();
        for (source, target) in [(self.source, self.target), (self.target, self.source)] {
            if source == target && !out.is_empty() {
                break;
            }
            for level in 1..=n + 1 {
                if level == n + 1 && source >= target {
                    break;
                }
                let distance = (1..=n).map(|it| match it.cmp(&level) {
                    Ordering::Less => FormInterval { least: Some(0), greatest: Some(0) },
                    Ordering::Equal => FormInterval { least: Some(1), greatest: None },
                    Ordering::Greater => FormInterval { least: None, greatest: None },
                });
                let kind = DependenceKind::of(body, source, target);
                let distance = distance.collect();
                out.push(Dependence { source, target, level, distance, kind, is_exact: false });
            }
        }
        out
    }
}

/// The dependences of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependences {
    /// The dependences, sorted by source, target and level.
    pub known: Vec<Dependence>,
    /// The pairs that could not be analyzed.
    pub unknown: Vec<UnknownPair>,
}

/// Limits and assumptions of a dependence analysis.
#[derive(Clone, Copy, Debug)]
pub struct DependenceLimits {
    /// True if pairs of two loads are included.
    pub has_load_pairs: bool,
    /// The assumptions about memrefs.
    pub aliasing: AliasAssumptions,
    /// Maximum work for one pair, in machine words (see [`Budget`]).
    pub work_per_pair: u64,
    /// Maximum work for all pairs together.
    pub total_work: u64,
}

impl Default for DependenceLimits {
    fn default() -> Self {
        let aliasing = AliasAssumptions::default();
        Self { has_load_pairs: false, aliasing, work_per_pair: 5_000_000, total_work: 50_000_000 }
    }
}

/// Maximum number of accesses of a function that is analyzed as a whole. The number of pairs grows
/// with the square.
pub const MAX_PAIRED_ACCESSES: usize = 1500;

/// Maximum size of the cached queries, in numbers of 16 bytes.
const MAX_CACHED_NUMBERS: usize = 5_000_000;

/// Returns the number of coefficients and constants of a conjunction.
pub(crate) fn n_numbers(points: &Conjunction) -> usize {
    (points.equalities().len() + points.inequalities().len()) * (points.n_vars() + 1)
}

/// Returns all dependences of a body.
pub fn dependences(body: &FunctionBody, limits: &DependenceLimits) -> Dependences {
    let mut out = Dependences::default();
    let mut answers: FxHashMap<DependenceSystem, PairDependences> = FxHashMap::default();
    let mut n_kept = 0;
    let mut left = limits.total_work;
    let paths = loop_paths(body);
    for_each_pair(body, &paths, limits, |i, j, pair| {
        let (question, is_exact) = match pair.and_then(|it| it.system()) {
            Ok(it) => it,
            Err(why) => {
                out.unknown.push(UnknownPair { source: i, target: j, reason: why });
                return;
            }
        };
        if n_kept > MAX_CACHED_NUMBERS {
            answers.clear();
            n_kept = 0;
        }
        let answer = match answers.get(&question) {
            Some(it) => it,
            None => {
                n_kept += question.pieces.iter().map(n_numbers).sum::<usize>();
                let work = limits.work_per_pair.min(left);
                let mut budget = Budget::new(work);
                let answer = question.dependences_of_pair(&mut budget);
                left -= work - budget.remaining();
                answers.entry(question).or_insert(answer)
            }
        };
        match answer {
            Ok(levels) => out.known.extend(levels.iter().map(|it| {
                let (source, target) = if it.is_forward { (i, j) } else { (j, i) };
                let kind = DependenceKind::of(body, source, target);
                let (level, distance) = (it.level, it.distance.clone());
                Dependence { source, target, level, distance, kind, is_exact }
            })),
            Err(_) => {
                out.unknown.push(UnknownPair {
                    source: i,
                    target: j,
                    reason: AnalysisFailure::Budget,
                });
            }
        }
    });
    out.known.sort_by_key(|it| (it.source, it.target, it.level));
    out
}

/// Returns the loops around each access, outermost first.
pub(crate) fn loop_paths(body: &FunctionBody) -> Vec<Vec<u32>> {
    body.accesses.iter().map(|it| body.loops_around(it.scope)).collect()
}

/// Visits all pairs of accesses that may share elements, if one of the two is a store or the limits
/// include pairs of loads. The visitor gets the pair, or the reason why it is unknown.
pub(crate) fn for_each_pair<'a>(
    body: &'a FunctionBody,
    paths: &'a [Vec<u32>],
    limits: &DependenceLimits,
    mut visit: impl FnMut(usize, usize, Result<AccessPair<'a>, AnalysisFailure>),
) {
    for (i, s) in body.accesses.iter().enumerate() {
        for (j, t) in body.accesses.iter().enumerate().skip(i) {
            if !(s.is_store || t.is_store || limits.has_load_pairs) || (i == j && !s.is_store) {
                continue;
            }
            let depth = match s.memref.alias_relation(&t.memref, limits.aliasing) {
                AliasRelation::NoAlias => continue,
                AliasRelation::SameMemref(depth) => Ok(depth),
                AliasRelation::Unknown => Err(AnalysisFailure::Alias),
            };
            let pair = |depth| AccessPair {
                body,
                s,
                t,
                depth,
                paths: [&paths[i], &paths[j]],
                is_self: i == j,
            };
            visit(i, j, depth.map(pair));
        }
    }
}

/// A dependence of a pair at one level.
#[derive(Clone, Debug)]
struct LevelDependence {
    is_forward: bool,
    level: usize,
    distance: Vec<FormInterval>,
}

type PairDependences = Result<Vec<LevelDependence>, QueryFailure>;

/// The system of constraints that determines the dependences of a pair. Equal systems have equal
/// dependences.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct DependenceSystem {
    pub(crate) pieces: Vec<Conjunction>,
    pub(crate) n_common: usize,
    /// Locals that both accesses use: the columns at the source and at the target, and the depth of
    /// the local. The difference is 0 if this many outer loops are in the same iteration.
    pub(crate) locals: Vec<(usize, usize, u32)>,
    /// Number of outer common loops that must be in the same iteration for both accesses to use the
    /// same memref.
    pub(crate) depth: u32,
    /// True if the first access may precede the second in the same iteration of all common loops.
    pub(crate) is_ordered: bool,
    pub(crate) is_self: bool,
}

/// Two accesses of one memref.
pub(crate) struct AccessPair<'a> {
    body: &'a FunctionBody,
    s: &'a Access,
    t: &'a Access,
    /// Number of outer common loops that must be in the same iteration for both accesses to use the
    /// same memref.
    depth: u32,
    paths: [&'a [u32]; 2],
    is_self: bool,
}

/// For each piece and each side, the columns of the variables of loops that are not common.
pub(crate) type UncommonColumns = Vec<[Vec<usize>; 2]>;

/// The numbering of the variables of a pair, and the rows over them. The first columns are the
/// iterations of s in the common loops, then come the distances.
struct PairColumns<'a> {
    body: &'a FunctionBody,
    common: &'a [u32],
    numbers: FxHashMap<(bool, LinearTerm), usize>,
    n: usize,
    locals: Vec<(usize, usize, u32)>,
    rows: Vec<SparseRow>,
}

impl PairColumns<'_> {
    fn add_column(&mut self) -> usize {
        self.n += 1;
        self.n - 1
    }

    /// Adds `by` times a form of one side (`true` for the target) to a row.
    fn add_scaled(
        &mut self,
        row: &mut SparseRow,
        form: &LinearForm,
        is_target: bool,
        by: i128,
    ) -> Result<(), AnalysisFailure> {
        let scaled = |it: i128| it.checked_mul(by).ok_or(AnalysisFailure::NotAffine);
        let constant = row.constant.checked_add(scaled(form.constant)?);
        row.constant = constant.ok_or(AnalysisFailure::NotAffine)?;
        for &(term, coefficient) in &form.terms {
            let coefficient = scaled(coefficient)?;
            let shared = match term {
                LinearTerm::Iv(at) => self.common.iter().position(|it| *it == at),
                _ => None,
            };
            if let Some(at) = shared {
                // target = source + distance
                row.terms.push((at, coefficient));
                if is_target {
                    row.terms.push((self.common.len() + at, coefficient));
                }
                continue;
            }
            let column = self.column(term, is_target)?;
            row.terms.push((column, coefficient));
        }
        Ok(())
    }

    fn column(&mut self, term: LinearTerm, is_target: bool) -> Result<usize, AnalysisFailure> {
        let is_one = match term {
            LinearTerm::Symbol(_) => true,
            LinearTerm::Quotient(at) => self.body.quotients.get(at).is_symbolic,
            _ => false,
        };
        let key = (is_target && !is_one, term);
        if let Some(&column) = self.numbers.get(&key) {
            return Ok(column);
        }
        let column = self.add_column();
        self.numbers.insert(key, column);
        match term {
            LinearTerm::Quotient(at) => {
                let it = self.body.quotients.get(at);
                // 0 <= form - by q <= by - 1
                let mut low = SparseRow::default();
                self.add_scaled(&mut low, &it.form, is_target, 1)?;
                low.terms.push((column, -it.divisor));
                let mut high = SparseRow { constant: it.divisor - 1, ..SparseRow::default() };
                self.add_scaled(&mut high, &it.form, is_target, -1)?;
                high.terms.push((column, it.divisor));
                self.rows.extend([low, high]);
            }
            LinearTerm::Local(value) => {
                if let Some(&other) = self.numbers.get(&(!is_target, term)) {
                    self.locals.push((other, column, self.body.depth_of(value)));
                }
            }
            _ => {}
        }
        Ok(column)
    }

    fn constrain(&mut self, it: &Constraint, is_target: bool) -> Result<(), AnalysisFailure> {
        let mut row = SparseRow { is_equality: it.is_equality, ..SparseRow::default() };
        self.add_scaled(&mut row, &it.form, is_target, 1)?;
        self.rows.push(row);
        Ok(())
    }
}

impl AccessPair<'_> {
    /// Returns the system, and true if it is exact.
    fn system(&self) -> Result<(DependenceSystem, bool), AnalysisFailure> {
        self.build_system(None)
    }

    /// Returns the same as [`Self::system`], and the columns of the variables of loops that are
    /// not common.
    pub(crate) fn system_with_columns(
        &self,
    ) -> Result<(DependenceSystem, UncommonColumns, bool), AnalysisFailure> {
        let mut own = Vec::new();
        let (question, is_exact) = self.build_system(Some(&mut own))?;
        Ok((question, own, is_exact))
    }

    fn build_system(
        &self,
        mut own: Option<&mut UncommonColumns>,
    ) -> Result<(DependenceSystem, bool), AnalysisFailure> {
        let body = self.body;
        let elements =
            [&self.s.subscripts, &self.t.subscripts].map(|it| it.as_ref().map_err(|it| *it));
        let [Ok(source), Ok(target)] = elements else {
            return Err(elements
                .into_iter()
                .find_map(Result::err)
                .unwrap_or(AnalysisFailure::NotAffine));
        };
        if source.len() != target.len() {
            return Err(AnalysisFailure::Alias);
        }
        let n_common = self.paths[0].iter().zip(self.paths[1]).take_while(|(a, b)| a == b).count();
        let common = &self.paths[0][..n_common];
        let too_many = AnalysisFailure::Budget;
        let source_pieces = body.conjunctions(self.s.scope).ok_or(too_many)?;
        let target_pieces = body.conjunctions(self.t.scope).ok_or(too_many)?;
        let mut question = DependenceSystem {
            pieces: Vec::with_capacity(source_pieces.len() * target_pieces.len()),
            n_common,
            locals: Vec::new(),
            depth: self.depth,
            is_ordered: !self.is_self && !self.is_exclusive(),
            is_self: self.is_self,
        };
        let mut has_locals = false;
        for of_source in &source_pieces {
            for of_target in &target_pieces {
                let mut columns = PairColumns {
                    body,
                    common,
                    numbers: FxHashMap::default(),
                    n: 2 * n_common,
                    locals: Vec::new(),
                    rows: Vec::new(),
                };
                for (a, b) in source.iter().zip(target) {
                    let mut row = SparseRow { is_equality: true, ..SparseRow::default() };
                    columns.add_scaled(&mut row, a, false, 1)?;
                    columns.add_scaled(&mut row, b, true, -1)?;
                    columns.rows.push(row);
                }
                for it in of_source {
                    columns.constrain(it, false)?;
                }
                for it in of_target {
                    columns.constrain(it, true)?;
                }
                if let Some(own) = &mut own {
                    let mut sides = [Vec::new(), Vec::new()];
                    for (side, path) in self.paths.iter().enumerate() {
                        for &at in &path[n_common..] {
                            sides[side].push(columns.column(LinearTerm::Iv(at), side == 1)?);
                        }
                    }
                    own.push(sides);
                }
                let piece = Conjunction::of_rows(columns.n, &columns.rows);
                question.pieces.push(piece.ok_or(AnalysisFailure::NotAffine)?);
                has_locals |= columns.numbers.keys().any(|it| matches!(it.1, LinearTerm::Local(_)));
                // Columns are numbered in order of occurrence, which may differ between pieces. All
                // pieces must have the same columns for locals.
                if question.pieces.len() == 1 {
                    question.locals = columns.locals;
                } else if question.locals != columns.locals {
                    return Err(too_many);
                }
            }
        }
        let is_known =
            |scope| body.scopes_around(scope).all(|it| body.scopes[it as usize].is_exact);
        let is_exact = !has_locals && is_known(self.s.scope) && is_known(self.t.scope);
        Ok((question, is_exact))
    }

    /// Returns true if the accesses are in different regions of an op that runs only one region.
    fn is_exclusive(&self) -> bool {
        let choices = |scope| {
            let scopes = self.body.scopes_around(scope).map(|it| &self.body.scopes[it as usize]);
            scopes.filter_map(|it| match it.kind {
                ScopeKind::Choice(region) => Some((it.op, region)),
                _ => None,
            })
        };
        choices(self.s.scope).any(|a| choices(self.t.scope).any(|b| a.0 == b.0 && a.1 != b.1))
    }
}

impl DependenceSystem {
    fn dependences_of_pair(&self, budget: &mut Budget) -> PairDependences {
        let n = self.n_common;
        let relations: Vec<Relation> = self.pieces.iter().map(|it| self.relation(it)).collect();
        let mut out = Vec::new();
        for level in 1..=n + 1 {
            if (self.depth as usize) >= level {
                // Different iterations use different memrefs.
                continue;
            }
            if level == n + 1 {
                if self.is_ordered
                    && any_has_point(&relations, &self.conditions_at(level, true), budget)?
                {
                    let zero = FormInterval { least: Some(0), greatest: Some(0) };
                    out.push(LevelDependence { is_forward: true, level, distance: vec![zero; n] });
                }
                continue;
            }
            for is_forward in [true, false] {
                if !is_forward && self.is_self {
                    continue;
                }
                let at = level - 1;
                let asked = self.conditions_at(level, is_forward);
                if let Some(distance) = self.distances(&relations, &asked, at, budget)? {
                    let turn = |it: FormInterval| FormInterval {
                        least: it.greatest.map(|it| -it),
                        greatest: it.least.map(|it| -it),
                    };
                    let distance = if is_forward {
                        distance
                    } else {
                        distance.into_iter().map(turn).collect()
                    };
                    out.push(LevelDependence { is_forward, level, distance });
                }
            }
        }
        Ok(out)
    }

    /// Returns the conditions on the outputs of a relation for a dependence at a level in one
    /// direction.
    pub(crate) fn conditions_at(&self, level: usize, is_forward: bool) -> Vec<OutputCondition> {
        let n = self.n_common;
        let mut out: Vec<OutputCondition> =
            (0..(level - 1).min(n)).map(|at| OutputCondition::Equals(at, 0)).collect();
        for (at, local) in self.locals.iter().enumerate() {
            if (local.2 as usize) < level {
                out.push(OutputCondition::Equals(n + at, 0));
            }
        }
        if level <= n {
            let at = level - 1;
            out.push(if is_forward {
                OutputCondition::AtLeast(at, 1)
            } else {
                OutputCondition::AtMost(at, -1)
            });
        }
        out
    }

    /// Returns the distances under the conditions `asked`. Those of loops before `at` are 0. `None`
    /// if there is no point.
    fn distances(
        &self,
        relations: &[Relation],
        asked: &[OutputCondition],
        at: usize,
        budget: &mut Budget,
    ) -> Result<Option<Vec<FormInterval>>, QueryFailure> {
        let zero = FormInterval { least: Some(0), greatest: Some(0) };
        let mut out = vec![zero; at];
        for output in at..self.n_common {
            let mut hull: Option<FormInterval> = None;
            for relation in relations {
                if let Some(found) = relation.bounds(asked, output, budget)? {
                    hull = Some(hull.map_or(found, |it| it.hull(found)));
                }
            }
            let Some(hull) = hull else { return Ok(None) };
            out.push(hull);
        }
        Ok(Some(out))
    }

    /// Returns the relation of a piece. Its outputs are the distances in the common loops, and then
    /// the differences of locals.
    pub(crate) fn relation(&self, piece: &Conjunction) -> Relation {
        let width = piece.n_vars() + 1;
        let mut outputs = Vec::with_capacity(self.n_common + self.locals.len());
        for at in 0..self.n_common {
            let mut row = vec![0; width];
            row[self.n_common + at] = 1;
            outputs.push(row);
        }
        for &(a, b, _) in &self.locals {
            let mut row = vec![0; width];
            (row[a], row[b]) = (1, -1);
            outputs.push(row);
        }
        Relation::new(piece.clone(), outputs)
    }
}

fn any_has_point(
    relations: &[Relation],
    asked: &[OutputCondition],
    budget: &mut Budget,
) -> Result<bool, QueryFailure> {
    for relation in relations {
        if !relation.is_empty(asked, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}
