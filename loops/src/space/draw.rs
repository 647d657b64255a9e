//! The points and arrows of a nest, and their order after a transformation.

use std::cmp::Ordering;

use noisy_syntax::{Ir, Op, Source};
use rustc_hash::{FxHashMap, FxHashSet};

use super::run::{NestRun, RunStopped, VisitedIterations};
use super::{
    DependenceArrow, DrawingSize, IterationPoint, IterationSpace, PointPart, ReorderedPoints,
    Reordering,
};
use crate::body::{FunctionBody, ScopeKind};
use crate::dependence::{DependenceKind, DependenceLimits, loop_paths};
use crate::legality::Legality;
use crate::memory::{AliasAssumptions, AliasRelation};
use crate::nest::{INTERACTIVE_LIMITS, LoopNest, line_of};
use crate::refusal;

/// Maximum number of iterations and accesses that are visited.
pub(super) const MAX_VISITS: usize = 400_000;
/// Maximum number of notes.
const MAX_NOTES: usize = 5;
/// Bound of the variables of drawn points, so that sums of variables do not overflow.
const MAX_VALUE: i64 = 1 << 40;

/// An instance of an access: its point, its access, and the variables of all enclosing loops.
struct AccessInstance {
    point: usize,
    access: usize,
    ivs: Vec<i64>,
}

pub(super) fn iv_names(ir: &Ir, body: &FunctionBody, loops: &[u32]) -> Vec<String> {
    let name = |it: &u32| {
        body.loops[*it as usize].iv.map_or("the loop".to_owned(), |it| ir.value_text(it))
    };
    loops.iter().map(name).collect()
}

/// Compares two instances by their order of execution.
fn compare_execution_order(paths: &[Vec<u32>], a: &AccessInstance, b: &AccessInstance) -> Ordering {
    let common = paths[a.access].iter().zip(&paths[b.access]).take_while(|(a, b)| a == b).count();
    a.ivs[..common]
        .cmp(&b.ivs[..common])
        .then(a.access.cmp(&b.access))
        .then_with(|| a.ivs.cmp(&b.ivs))
}

/// The input of an attempt to draw.
pub(super) struct DrawingAttempt<'a> {
    pub(super) source: &'a Source,
    pub(super) ir: &'a Ir,
    pub(super) nest: &'a LoopNest,
    pub(super) drawn: &'a [u32],
    pub(super) size: DrawingSize,
    pub(super) aliasing: AliasAssumptions,
}

impl DrawingAttempt<'_> {
    /// Draws up to `n_points` iterations of each drawn loop, and visits up to `n_inner` iterations
    /// of each inner loop.
    pub(super) fn draw(&self, n_points: i64, n_inner: i64) -> Result<IterationSpace, RunStopped> {
        let body = &self.nest.body;
        let outermost = self.drawn[0];
        let paths = loop_paths(body);
        let mut extents = vec![VisitedIterations::First(n_inner); body.loops.len()];
        for &it in self.drawn {
            extents[it as usize] = VisitedIterations::First(n_points);
        }
        // Fix each enclosing loop to the first iteration in which the drawn loops run.
        let scope_of = |loop_: u32| {
            body.scopes.iter().position(|it| it.kind == ScopeKind::Loop(loop_)).map(|it| it as u32)
        };
        let innermost = scope_of(*self.drawn.last().unwrap_or(&outermost));
        let mut around = body.loops_around(innermost);
        around.truncate(around.iter().position(|it| *it == outermost).unwrap_or(0));
        let mut first: Option<Vec<i64>> = None;
        let mut run = NestRun::new(body, self.size.points, extents.clone(), MAX_VISITS);
        let found = run.for_each_entry(innermost, &mut |it| {
            first = Some(around.iter().map(|&at| it.iv(at)).collect::<Result<_, _>>()?);
            Err(RunStopped::StoppedByVisitor)
        });
        let first = match (found, first) {
            (Err(RunStopped::StoppedByVisitor), Some(it)) => it,
            (Ok(()), _) => return Err(RunStopped::StoppedByVisitor),
            (Err(why), _) => return Err(why),
        };
        for (&at, &iv) in around.iter().zip(&first) {
            extents[at as usize] = VisitedIterations::At(iv);
        }
        let mut out = IterationSpace {
            iv_names: iv_names(self.ir, body, self.drawn),
            lines: self
                .drawn
                .iter()
                .map(|&it| line_of(self.source, body.loops[it as usize].op))
                .collect(),
            fixed_ivs: iv_names(self.ir, body, &around).into_iter().zip(first).collect(),
            ..IterationSpace::default()
        };
        let step = |it: &u32| body.loops[*it as usize].step.and_then(|it| i64::try_from(it).ok());
        out.steps =
            self.drawn.iter().map(step).collect::<Option<_>>().ok_or(RunStopped::Unknown)?;
        let mut run = NestRun::new(body, self.size.points, extents, MAX_VISITS);
        let mut places: FxHashMap<(PointPart, Vec<i64>), usize> = FxHashMap::default();
        let mut points = Vec::new();
        let mut point =
            |part: PointPart, at: Vec<i64>, is_used: bool| -> Result<usize, RunStopped> {
                if at.iter().any(|it| it.abs() > MAX_VALUE) {
                    return Err(RunStopped::Unknown);
                }
                let number = *places.entry((part, at.clone())).or_insert_with(|| {
                    points.push(IterationPoint { at, part, is_used });
                    points.len() - 1
                });
                points[number].is_used |= is_used;
                Ok(number)
            };
        run.for_each_entry(innermost, &mut |it| {
            let at = self.drawn.iter().map(|&at| it.iv(at)).collect::<Result<_, _>>()?;
            point(PointPart::Whole, at, false).map(|_| ())
        })?;
        // The instances, grouped by element.
        let (classes, mut notes) = self.memref_classes();
        let mut elements: FxHashMap<(usize, Vec<i64>, Vec<i128>), Vec<AccessInstance>> =
            FxHashMap::default();
        for (number, access) in body.accesses.iter().enumerate() {
            let path = &paths[number];
            let Some(class) = classes[number].filter(|_| path.contains(&outermost)) else {
                continue;
            };
            let Ok(element) = &access.subscripts else { continue };
            let is_whole = self.drawn.iter().all(|it| path.contains(it));
            let part = if is_whole { PointPart::Whole } else { self.point_part(access.op) };
            let done = run.for_each_entry(access.scope, &mut |it| {
                it.remaining_visits =
                    it.remaining_visits.checked_sub(1).ok_or(RunStopped::BudgetSpent)?;
                let ivs = path.iter().map(|&at| it.iv(at)).collect::<Result<Vec<i64>, _>>()?;
                let at = self.drawn.iter().filter(|at| path.contains(at)).map(|&at| it.iv(at));
                let point = point(part, at.collect::<Result<_, _>>()?, true)?;
                let element =
                    element.iter().map(|form| it.value(form)).collect::<Result<_, _>>()?;
                let depth = (access.memref.depth as usize).min(ivs.len());
                let key = (class, ivs[..depth].to_vec(), element);
                elements.entry(key).or_default().push(AccessInstance {
                    point,
                    access: number,
                    ivs,
                });
                Ok(())
            });
            match done {
                Err(RunStopped::BudgetSpent) => return Err(RunStopped::BudgetSpent),
                Err(_) => notes.push(format!(
                    "Line {} is not drawn: its execution or its accesses depend on unknown values.",
                    line_of(self.source, access.op)
                )),
                Ok(()) => {}
            }
        }
        let mut arrows = Vec::new();
        // The order of the hash map does not matter: arrows are sorted later.
        let elements: Vec<Vec<AccessInstance>> = elements.into_values().collect();
        for mut all in elements {
            all.sort_by(|a, b| compare_execution_order(&paths, a, b));
            self.add_arrows(&all, &mut arrows);
        }
        self.add_iter_arg_arrows(&points, &mut arrows);
        // The points in execution order.
        let mut order: Vec<usize> = (0..points.len()).collect();
        let key = |it: &IterationPoint| (it.at[0], it.part, it.at.get(1).copied());
        order.sort_by_key(|&it| key(&points[it]));
        let mut number = vec![0; points.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new;
        }
        out.points = order.iter().map(|&it| points[it].clone()).collect();
        for it in &mut arrows {
            (it.from, it.to) = (number[it.from], number[it.to]);
        }
        let arrow = |it: &DependenceArrow| {
            (it.from, it.to, it.source, it.target, it.kind.map_or("", DependenceKind::name))
        };
        arrows.sort_by_key(arrow);
        arrows.dedup();
        out.arrows = arrows;
        notes.extend(self.assumptions(&run, &out.fixed_ivs));
        if notes.len() > MAX_NOTES {
            let more = notes.len() - MAX_NOTES;
            notes.truncate(MAX_NOTES);
            notes.push(format!("{more} more notes are not shown."));
        }
        out.notes = notes;
        self.add_reorderings(&mut out);
        Ok(out)
    }

    /// Returns the part of the outer loop's body that contains an op outside the inner loop.
    fn point_part(&self, op: Op) -> PointPart {
        let start = |op: Op| self.ir.range(op).start;
        let inner = self.drawn.last().map(|&it| self.nest.body.loops[it as usize].op);
        if inner.is_some_and(|inner| start(inner) < start(op)) {
            PointPart::After
        } else {
            PointPart::Before
        }
    }

    /// Returns a class for each access; accesses of the same memref have the same class. Adds a
    /// note for accesses that may share elements in an unknown way. `None` for accesses that are
    /// not drawn.
    fn memref_classes(&self) -> (Vec<Option<usize>>, Vec<String>) {
        let all = &self.nest.body.accesses;
        let line = |it: usize| line_of(self.source, all[it].op);
        let mut notes = Vec::new();
        let mut out: Vec<Option<usize>> = Vec::new();
        for (at, it) in all.iter().enumerate() {
            if let Err(why) = it.subscripts {
                notes.push(format!("Line {} is not drawn: {}.", line(at), why.description()));
                out.push(None);
                continue;
            }
            let mut class = at;
            for (earlier, other) in all[..at].iter().enumerate() {
                match it.memref.alias_relation(&other.memref, self.aliasing) {
                    AliasRelation::SameMemref(_) => class = class.min(out[earlier].unwrap_or(at)),
                    AliasRelation::Unknown if it.is_store || other.is_store => notes.push(format!(
                        "Lines {} and {} may access the same elements: dependences between them are not drawn.",
                        line(earlier),
                        line(at)
                    )),
                    AliasRelation::Unknown | AliasRelation::NoAlias => {}
                }
            }
            out.push(Some(class));
        }
        for (op, _) in &self.nest.body.effects {
            let name = self.ir.op_name(*op);
            notes.push(format!(
                "Line {} is not drawn: the effects of {name} are unknown.",
                crate::nest::line_of(self.source, *op)
            ));
        }
        (out, notes)
    }

    /// Adds the arrows between the instances of one element, which are in execution order.
    fn add_arrows(&self, all: &[AccessInstance], out: &mut Vec<DependenceArrow>) {
        let body = &self.nest.body;
        let mut seen: FxHashSet<(usize, usize, usize, usize)> = FxHashSet::default();
        let mut add = |from: &AccessInstance, to: &AccessInstance| {
            if from.point != to.point && seen.insert((from.point, to.point, from.access, to.access))
            {
                let line = |it: &AccessInstance| line_of(self.source, body.accesses[it.access].op);
                let kind = Some(DependenceKind::of(body, from.access, to.access));
                out.push(DependenceArrow {
                    from: from.point,
                    to: to.point,
                    source: line(from),
                    target: line(to),
                    kind,
                });
            }
        };
        let (mut store, mut loads): (Option<&AccessInstance>, Vec<&AccessInstance>) =
            (None, Vec::new());
        for it in all {
            if !body.accesses[it.access].is_store {
                if let Some(store) = store {
                    add(store, it);
                }
                loads.push(it);
                continue;
            }
            match (store, loads.is_empty()) {
                (Some(store), true) => add(store, it),
                _ => loads.iter().for_each(|load| add(load, it)),
            }
            store = Some(it);
            loads.clear();
        }
    }

    /// Adds the arrows for the values that a drawn loop carries (`iter_args`).
    fn add_iter_arg_arrows(&self, points: &[IterationPoint], out: &mut Vec<DependenceArrow>) {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by_key(|&it| (points[it].at[0], points[it].part, points[it].at.get(1).copied()));
        for (depth, &loop_) in self.drawn.iter().enumerate() {
            let op = self.nest.body.loops[loop_ as usize].op;
            if self.ir.op(op).results.is_empty() {
                continue;
            }
            let line = line_of(self.source, op);
            for pair in order.windows(2) {
                let [from, to] = [pair[0], pair[1]];
                let (a, b) = (&points[from], &points[to]);
                let is_next = match depth {
                    0 => a.at[0] != b.at[0],
                    _ => {
                        a.at[0] == b.at[0]
                            && a.part == PointPart::Whole
                            && b.part == PointPart::Whole
                    }
                };
                if is_next {
                    out.push(DependenceArrow { from, to, source: line, target: line, kind: None });
                }
            }
        }
    }

    fn assumptions(&self, run: &NestRun<'_>, around: &[(String, i64)]) -> Vec<String> {
        let body = &self.nest.body;
        let mut out = Vec::new();
        for is_low in [false, true] {
            let is_meant =
                |it: &&noisy_syntax::Value| run.symbols_in_lower_bounds.contains(*it) == is_low;
            let names = run.symbols.iter().filter(is_meant).map(|&it| self.ir.value_text(it));
            let mut names: Vec<String> = names.collect();
            names.sort();
            if !names.is_empty() {
                let value = if is_low { 0 } else { self.size.points };
                let names = names.join(", ");
                out.push(format!("Unknown values are assumed to be {value}: {names}."));
            }
        }
        if !around.is_empty() {
            let all: Vec<String> = around.iter().map(|(iv, it)| format!("{iv} = {it}")).collect();
            out.push(format!("One iteration of each enclosing loop is drawn: {}.", all.join(", ")));
        }
        let (mut cut, mut inside): (Vec<u32>, Vec<u32>) =
            run.truncated_loops.iter().partition(|it| self.drawn.contains(it));
        cut.sort_unstable();
        inside.sort_unstable();
        if !cut.is_empty() {
            out.push(format!(
                "Only the first iterations are drawn: the loops over {} have more.",
                iv_names(self.ir, body, &cut).join(" and ")
            ));
        }
        if !inside.is_empty() {
            out.push(format!(
                "Only the first iterations of the loops over {} inside of a point are examined: arrows may be missing.",
                iv_names(self.ir, body, &inside).join(" and ")
            ));
        }
        out
    }

    /// Adds the other orders, with their legality.
    fn add_reorderings(&self, space: &mut IterationSpace) {
        if space.points.iter().any(|it| it.part != PointPart::Whole) {
            space.notes.push("Squares are ops before or after the inner loop; because of them no other order is shown.".to_owned());
            return;
        }
        let changes: &[Reordering] = match self.drawn.len() {
            1 => &[Reordering::ReverseOuter],
            _ => &[
                Reordering::Interchange,
                Reordering::Skew,
                Reordering::Wavefront,
                Reordering::ReverseOuter,
                Reordering::ReverseInner,
                Reordering::Tile(self.size.tile),
            ],
        };
        let limits = DependenceLimits { aliasing: self.aliasing, ..INTERACTIVE_LIMITS };
        let Some(legality) = Legality::new(&self.nest.body, &limits) else {
            space.notes.push("The nest has too many dependences to show other orders.".to_owned());
            return;
        };
        let low = |at: usize| space.points.iter().map(|it| it.at[at]).min().unwrap_or(0);
        let first: Vec<i64> = (0..self.drawn.len()).map(low).collect();
        let carries = self
            .drawn
            .iter()
            .find(|&&it| !self.ir.op(self.nest.body.loops[it as usize].op).results.is_empty());
        for &change in changes {
            let allowed = match (carries, change.coefficients(self.drawn.len())) {
                (Some(&it), _) => Err(format!(
                    "the loop over {} carries values from one iteration to the next",
                    iv_names(self.ir, &self.nest.body, &[it]).concat()
                )),
                (None, Some(rows)) => {
                    let rows: Vec<Vec<i128>> = rows
                        .iter()
                        .map(|it| it.iter().map(|&it| i128::from(it)).collect())
                        .collect();
                    legality.check_reordering(self.drawn, &rows).map_err(|it| {
                        refusal::describe_obstacle(self.source, self.nest, &legality, it)
                    })
                }
                (None, None) => legality.check_tiling(self.drawn).map_err(|it| {
                    refusal::describe_obstacle(self.source, self.nest, &legality, it)
                }),
            };
            let times: Vec<Vec<i64>> =
                space.points.iter().map(|it| change.time(it, &first, &space.steps)).collect();
            let is_backward =
                |it: &usize| times[space.arrows[*it].to] < times[space.arrows[*it].from];
            let backward: Vec<usize> = (0..space.arrows.len()).filter(is_backward).collect();
            let mut order: Vec<usize> = (0..space.points.len()).collect();
            order.sort_by(|&a, &b| times[a].cmp(&times[b]));
            space.changes.push(ReorderedPoints { change, legality: allowed, backward, order });
        }
    }
}
