//! The points and arrows of a nest, and their order after a transformation.

use std::cmp::Ordering;

use noisy_syntax::{Ir, Op, Source};
use rustc_hash::{FxHashMap, FxHashSet};

use super::run::{Extent, Run, Stop};
use super::{Arrow, Change, Changed, DrawingSize, Point, PointPart, Space};
use crate::body::{Body, ScopeKind};
use crate::dependence::{DependenceKind, Limits, paths};
use crate::legality::Legality;
use crate::memory::{Aliasing, Meeting};
use crate::nest::{LIMITS, Nest, line};
use crate::refusal;

/// Maximum number of iterations and accesses that are visited.
pub(super) const MOST_LOOKED_AT: usize = 400_000;
/// Maximum number of notes.
const MOST_NOTES: usize = 5;
/// Bound of the variables of drawn points, so that sums of variables do not overflow.
const MOST_VALUE: i64 = 1 << 40;

/// An instance of an access: its point, its access, and the variables of all enclosing loops.
struct Instance {
    point: usize,
    access: usize,
    ivs: Vec<i64>,
}

pub(super) fn names(ir: &Ir, body: &Body, loops: &[u32]) -> Vec<String> {
    let name = |it: &u32| {
        body.loops[*it as usize].iv.map_or("the loop".to_owned(), |it| ir.value_text(it))
    };
    loops.iter().map(name).collect()
}

/// Compares two instances by their order of execution.
fn compare(paths: &[Vec<u32>], a: &Instance, b: &Instance) -> Ordering {
    let common = paths[a.access].iter().zip(&paths[b.access]).take_while(|(a, b)| a == b).count();
    a.ivs[..common]
        .cmp(&b.ivs[..common])
        .then(a.access.cmp(&b.access))
        .then_with(|| a.ivs.cmp(&b.ivs))
}

/// The input of an attempt to draw.
pub(super) struct Attempt<'a> {
    pub(super) source: &'a Source,
    pub(super) ir: &'a Ir,
    pub(super) nest: &'a Nest,
    pub(super) drawn: &'a [u32],
    pub(super) size: DrawingSize,
    pub(super) aliasing: Aliasing,
}

impl Attempt<'_> {
    /// Draws up to `n_points` iterations of each drawn loop, and visits up to `n_inner` iterations
    /// of each inner loop.
    pub(super) fn draw(&self, n_points: i64, n_inner: i64) -> Result<Space, Stop> {
        let body = &self.nest.body;
        let outermost = self.drawn[0];
        let paths = paths(body);
        let mut extents = vec![Extent::First(n_inner); body.loops.len()];
        for &it in self.drawn {
            extents[it as usize] = Extent::First(n_points);
        }
        // Fix each enclosing loop to the first iteration in which the drawn loops run.
        let scope_of = |loop_: u32| {
            body.scopes.iter().position(|it| it.kind == ScopeKind::Loop(loop_)).map(|it| it as u32)
        };
        let innermost = scope_of(*self.drawn.last().unwrap_or(&outermost));
        let mut around = body.loops_around(innermost);
        around.truncate(around.iter().position(|it| *it == outermost).unwrap_or(0));
        let mut first: Option<Vec<i64>> = None;
        let mut run = Run::new(body, self.size.points, extents.clone(), MOST_LOOKED_AT);
        let found = run.each(innermost, &mut |it| {
            first = Some(around.iter().map(|&at| it.iv(at)).collect::<Result<_, _>>()?);
            Err(Stop::Enough)
        });
        let first = match (found, first) {
            (Err(Stop::Enough), Some(it)) => it,
            (Ok(()), _) => return Err(Stop::Enough),
            (Err(why), _) => return Err(why),
        };
        for (&at, &iv) in around.iter().zip(&first) {
            extents[at as usize] = Extent::At(iv);
        }
        let mut out = Space {
            ivs: names(self.ir, body, self.drawn),
            lines: self
                .drawn
                .iter()
                .map(|&it| line(self.source, body.loops[it as usize].op))
                .collect(),
            around: names(self.ir, body, &around).into_iter().zip(first).collect(),
            ..Space::default()
        };
        let step = |it: &u32| body.loops[*it as usize].step.and_then(|it| i64::try_from(it).ok());
        out.steps = self.drawn.iter().map(step).collect::<Option<_>>().ok_or(Stop::Unknown)?;
        let mut run = Run::new(body, self.size.points, extents, MOST_LOOKED_AT);
        let mut places: FxHashMap<(PointPart, Vec<i64>), usize> = FxHashMap::default();
        let mut points = Vec::new();
        let mut point = |part: PointPart, at: Vec<i64>, is_used: bool| -> Result<usize, Stop> {
            if at.iter().any(|it| it.abs() > MOST_VALUE) {
                return Err(Stop::Unknown);
            }
            let number = *places.entry((part, at.clone())).or_insert_with(|| {
                points.push(Point { at, part, is_used });
                points.len() - 1
            });
            points[number].is_used |= is_used;
            Ok(number)
        };
        run.each(innermost, &mut |it| {
            let at = self.drawn.iter().map(|&at| it.iv(at)).collect::<Result<_, _>>()?;
            point(PointPart::Whole, at, false).map(|_| ())
        })?;
        // The instances, grouped by element.
        let (classes, mut notes) = self.classes();
        let mut elements: FxHashMap<(usize, Vec<i64>, Vec<i128>), Vec<Instance>> =
            FxHashMap::default();
        for (number, access) in body.accesses.iter().enumerate() {
            let path = &paths[number];
            let Some(class) = classes[number].filter(|_| path.contains(&outermost)) else {
                continue;
            };
            let Ok(element) = &access.element else { continue };
            let is_whole = self.drawn.iter().all(|it| path.contains(it));
            let part = if is_whole { PointPart::Whole } else { self.part(access.op) };
            let done = run.each(access.scope, &mut |it| {
                it.left = it.left.checked_sub(1).ok_or(Stop::Spent)?;
                let ivs = path.iter().map(|&at| it.iv(at)).collect::<Result<Vec<i64>, _>>()?;
                let at = self.drawn.iter().filter(|at| path.contains(at)).map(|&at| it.iv(at));
                let point = point(part, at.collect::<Result<_, _>>()?, true)?;
                let element =
                    element.iter().map(|form| it.value(form)).collect::<Result<_, _>>()?;
                let depth = (access.place.depth as usize).min(ivs.len());
                let key = (class, ivs[..depth].to_vec(), element);
                elements.entry(key).or_default().push(Instance { point, access: number, ivs });
                Ok(())
            });
            match done {
                Err(Stop::Spent) => return Err(Stop::Spent),
                Err(_) => notes.push(format!(
                    "Line {} is not drawn: its execution or its accesses depend on unknown values.",
                    line(self.source, access.op)
                )),
                Ok(()) => {}
            }
        }
        let mut arrows = Vec::new();
        // The order of the hash map does not matter: arrows are sorted later.
        let elements: Vec<Vec<Instance>> = elements.into_values().collect();
        for mut all in elements {
            all.sort_by(|a, b| compare(&paths, a, b));
            self.chain(&all, &mut arrows);
        }
        self.carried_values(&points, &mut arrows);
        // The points in execution order.
        let mut order: Vec<usize> = (0..points.len()).collect();
        let key = |it: &Point| (it.at[0], it.part, it.at.get(1).copied());
        order.sort_by_key(|&it| key(&points[it]));
        let mut number = vec![0; points.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new;
        }
        out.points = order.iter().map(|&it| points[it].clone()).collect();
        for it in &mut arrows {
            (it.from, it.to) = (number[it.from], number[it.to]);
        }
        let arrow = |it: &Arrow| {
            (it.from, it.to, it.source, it.target, it.kind.map_or("", DependenceKind::name))
        };
        arrows.sort_by_key(arrow);
        arrows.dedup();
        out.arrows = arrows;
        notes.extend(self.assumptions(&run, &out.around));
        if notes.len() > MOST_NOTES {
            let more = notes.len() - MOST_NOTES;
            notes.truncate(MOST_NOTES);
            notes.push(format!("{more} more notes are not shown."));
        }
        out.notes = notes;
        self.change(&mut out);
        Ok(out)
    }

    /// Returns the part of the outer loop's body that contains an op outside the inner loop.
    fn part(&self, op: Op) -> PointPart {
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
    fn classes(&self) -> (Vec<Option<usize>>, Vec<String>) {
        let all = &self.nest.body.accesses;
        let line = |it: usize| line(self.source, all[it].op);
        let mut notes = Vec::new();
        let mut out: Vec<Option<usize>> = Vec::new();
        for (at, it) in all.iter().enumerate() {
            if let Err(why) = it.element {
                notes.push(format!("Line {} is not drawn: {}.", line(at), why.text()));
                out.push(None);
                continue;
            }
            let mut class = at;
            for (earlier, other) in all[..at].iter().enumerate() {
                match it.place.meets(&other.place, self.aliasing) {
                    Meeting::Same(_) => class = class.min(out[earlier].unwrap_or(at)),
                    Meeting::Unknown if it.is_store || other.is_store => notes.push(format!(
                        "Lines {} and {} may access the same elements: dependences between them are not drawn.",
                        line(earlier),
                        line(at)
                    )),
                    Meeting::Unknown | Meeting::Never => {}
                }
            }
            out.push(Some(class));
        }
        for (op, _) in &self.nest.body.effects {
            let name = self.ir.op_name(*op);
            notes.push(format!(
                "Line {} is not drawn: the effects of {name} are unknown.",
                crate::nest::line(self.source, *op)
            ));
        }
        (out, notes)
    }

    /// Adds the arrows between the instances of one element, which are in execution order.
    fn chain(&self, all: &[Instance], out: &mut Vec<Arrow>) {
        let body = &self.nest.body;
        let mut seen: FxHashSet<(usize, usize, usize, usize)> = FxHashSet::default();
        let mut add = |from: &Instance, to: &Instance| {
            if from.point != to.point && seen.insert((from.point, to.point, from.access, to.access))
            {
                let line = |it: &Instance| line(self.source, body.accesses[it.access].op);
                let kind = Some(DependenceKind::of(body, from.access, to.access));
                out.push(Arrow {
                    from: from.point,
                    to: to.point,
                    source: line(from),
                    target: line(to),
                    kind,
                });
            }
        };
        let (mut store, mut loads): (Option<&Instance>, Vec<&Instance>) = (None, Vec::new());
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
    fn carried_values(&self, points: &[Point], out: &mut Vec<Arrow>) {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by_key(|&it| (points[it].at[0], points[it].part, points[it].at.get(1).copied()));
        for (depth, &loop_) in self.drawn.iter().enumerate() {
            let op = self.nest.body.loops[loop_ as usize].op;
            if self.ir.op(op).results.is_empty() {
                continue;
            }
            let line = line(self.source, op);
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
                    out.push(Arrow { from, to, source: line, target: line, kind: None });
                }
            }
        }
    }

    fn assumptions(&self, run: &Run<'_>, around: &[(String, i64)]) -> Vec<String> {
        let body = &self.nest.body;
        let mut out = Vec::new();
        for is_low in [false, true] {
            let is_meant = |it: &&noisy_syntax::Value| run.lows.contains(*it) == is_low;
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
            run.cut.iter().partition(|it| self.drawn.contains(it));
        cut.sort_unstable();
        inside.sort_unstable();
        if !cut.is_empty() {
            out.push(format!(
                "Only the first iterations are drawn: the loops over {} have more.",
                names(self.ir, body, &cut).join(" and ")
            ));
        }
        if !inside.is_empty() {
            out.push(format!(
                "Only the first iterations of the loops over {} inside of a point are examined: arrows may be missing.",
                names(self.ir, body, &inside).join(" and ")
            ));
        }
        out
    }

    /// Adds the other orders, with their legality.
    fn change(&self, space: &mut Space) {
        if space.points.iter().any(|it| it.part != PointPart::Whole) {
            space.notes.push("Squares are ops before or after the inner loop; because of them no other order is shown.".to_owned());
            return;
        }
        let changes: &[Change] = match self.drawn.len() {
            1 => &[Change::ReverseOuter],
            _ => &[
                Change::Interchange,
                Change::Skew,
                Change::Wavefront,
                Change::ReverseOuter,
                Change::ReverseInner,
                Change::Tile(self.size.tile),
            ],
        };
        let limits = Limits { aliasing: self.aliasing, ..LIMITS };
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
            let allowed = match (carries, change.rows(self.drawn.len())) {
                (Some(&it), _) => Err(format!(
                    "the loop over {} carries values from one iteration to the next",
                    names(self.ir, &self.nest.body, &[it]).concat()
                )),
                (None, Some(rows)) => {
                    let rows: Vec<Vec<i128>> = rows
                        .iter()
                        .map(|it| it.iter().map(|&it| i128::from(it)).collect())
                        .collect();
                    legality
                        .reorders(self.drawn, &rows)
                        .map_err(|it| refusal::words(self.source, self.nest, &legality, it))
                }
                (None, None) => legality
                    .tiles(self.drawn)
                    .map_err(|it| refusal::words(self.source, self.nest, &legality, it)),
            };
            let times: Vec<Vec<i64>> =
                space.points.iter().map(|it| change.time(it, &first, &space.steps)).collect();
            let is_backward =
                |it: &usize| times[space.arrows[*it].to] < times[space.arrows[*it].from];
            let backward: Vec<usize> = (0..space.arrows.len()).filter(is_backward).collect();
            let mut order: Vec<usize> = (0..space.points.len()).collect();
            order.sort_by(|&a, &b| times[a].cmp(&times[b]));
            space.changes.push(Changed { change, verdict: allowed, backward, order });
        }
    }
}
