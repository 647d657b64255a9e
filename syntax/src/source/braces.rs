//! Locates missing and superfluous braces by indentation.
//!
//! The parser detects a wrong brace late: at an op that is not allowed there, or at the end of the
//! file. Most lines are indented correctly, so the indentation shows where the brace is wrong.
//! Problems that are consequences of the wrong brace are dropped, so each mistake is reported once.
//!
//! *Cost.* None for a text without such a problem; otherwise a bounded number of items.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::Source;
use crate::{Code, Op, OpKind, Problem, Region};

/// Prefix of the message about a function whose body has no opening brace.
pub(super) const MISSING_BODY: &str = "expected `{` after the header of";

/// Maximum number of items that are searched for one brace.
const MAX_ITEMS: usize = 4096;
/// Maximum number of wrong braces that are searched in a text.
const MAX_BRACES: usize = 16;

type PlacedProblem = (Op, Range<usize>, Problem);

/// The problems that are consequences of wrong braces.
#[derive(Default)]
struct BraceConsequences {
    n_searched: usize,
    /// Ranges inside ops with an unclosed region.
    inside_unclosed: Vec<Range<usize>>,
    /// Ranges that follow an op that ends too early, each with the region that contains the op.
    after_early_end: Vec<(Region, Range<usize>)>,
    /// Unmatched braces that are explained by another reported problem.
    explained_braces: FxHashSet<Op>,
    /// Unknown ops.
    unknown_ops: FxHashSet<Op>,
}

/// A step through the text inside an op, in textual order.
#[derive(Clone, Copy)]
enum BraceStep {
    /// The enclosing op, and an item.
    Item(Op, Op),
    /// The enclosing op, and an item that is followed by junk.
    Behind(Op, Op),
    /// An op, and the offset of the closing brace of one of its regions.
    Close(Op, usize),
}

impl Source {
    /// Moves problems about braces to the braces, and drops the problems that follow from them.
    pub(super) fn locate_brace_problems(
        &self,
        mut problems: Vec<PlacedProblem>,
    ) -> Vec<PlacedProblem> {
        let is_about = |it: &PlacedProblem| {
            matches!(it.2.code, Code::UnclosedRegion | Code::ExpectedOperation | Code::UnknownOp)
        };
        if !problems.iter().any(is_about) {
            return problems;
        }
        let mut dropped = BraceConsequences::default();
        for placed in &mut problems {
            let (op, range, problem) = &*placed;
            let (op, at) = (*op, range.start);
            let is_unmatched = problem.code == Code::ExpectedOperation && self.is_brace(at);
            if dropped.n_searched > MAX_BRACES {
                break;
            }
            if problem.code == Code::UnclosedRegion {
                dropped.n_searched += 1;
                if let Some((_, place)) = self.find_missing_brace(op) {
                    dropped.inside_unclosed.push(place.start..self.ir.range(op).end);
                    placed.1 = place;
                }
            } else if is_unmatched {
                dropped.n_searched += 1;
                let extra = self.find_extra_brace(op);
                if extra.is_some_and(|it| self.has_broken_brace(it.0)) {
                    dropped.explained_braces.insert(op);
                } else if let Some((closed, brace)) = extra {
                    let end = self.next_function(closed).map_or(at, |it| self.ir.start(it)).min(at);
                    dropped.after_early_end.push((self.ir.op(closed).parent, brace + 1..end));
                    placed.1 = brace..brace + 1;
                } else if let Some((function, end)) = self.function_without_body(op) {
                    dropped.after_early_end.push((self.ir.op(function).parent, end..at));
                    if self.ir.has_problem(function) {
                        // The problem of the header is reported.
                        dropped.explained_braces.insert(op);
                    } else {
                        let span = self.ir.op(function).name_span;
                        let name = self.ir.extra(function).symbol;
                        let name = name.map_or("", |it| self.ir.interner.str(it.0));
                        let message = format!("{MISSING_BODY} @{name}: its body follows");
                        let problem = Problem { code: Code::ExpectedToken, span, message };
                        *placed = (function, end..end, problem);
                    }
                }
            }
        }
        let is_unknown = |it: &&PlacedProblem| it.2.code == Code::UnknownOp;
        dropped.unknown_ops = problems.iter().filter(is_unknown).map(|it| it.0).collect();
        problems.retain(|it| !self.is_dropped(it, &dropped));
        problems
    }

    fn is_dropped(
        &self,
        (op, range, problem): &PlacedProblem,
        dropped: &BraceConsequences,
    ) -> bool {
        let region = self.ir.op(*op).parent;
        let is_behind = || {
            let mut behind = dropped.after_early_end.iter();
            behind.any(|it| it.1.contains(&range.start) && self.is_region_in(region, it.0))
        };
        match problem.code {
            Code::UnknownOp if self.slice(range.clone()) == "return" => {
                // In an unknown op, `return` may be correct.
                let around = self.ir.region(region).parent;
                around.is_some_and(|it| dropped.unknown_ops.contains(&it))
                    || dropped.inside_unclosed.iter().any(|it| it.contains(&range.start))
                    || is_behind()
            }
            Code::ExpectedOperation if self.is_brace(range.start) => {
                dropped.explained_braces.contains(op)
            }
            Code::ExpectedOperation => self.rope.byte(range.start) == b'^' && is_behind(),
            Code::UndefinedValue | Code::UndefinedBlock | Code::MisplacedOp => is_behind(),
            _ => false,
        }
    }

    /// The range of an op from its start to the end of its name; empty for a broken op without a
    /// name.
    pub(super) fn op_head(&self, op: Op) -> Range<usize> {
        let start = self.ir.range(op).start;
        start..self.ir.name_range(op).end.max(start)
    }

    fn is_brace(&self, at: usize) -> bool {
        at < self.rope.len_bytes() && self.rope.byte(at) == b'}'
    }

    /// Returns true if `region` is `outer`, or nested in it without an intermediate function.
    fn is_region_in(&self, mut region: Region, outer: Region) -> bool {
        while region != outer {
            let parent = self.ir.region(region).parent;
            let Some(parent) = parent.filter(|&it| self.ir.op(it).kind != OpKind::FuncFunc) else {
                return false;
            };
            region = self.ir.op(parent).parent;
        }
        true
    }

    /// The next function after an op in its region.
    fn next_function(&self, op: Op) -> Option<Op> {
        let next = std::iter::successors(self.ir.next(op), |&it| self.ir.next(it));
        next.take(MAX_ITEMS).find(|&it| self.ir.op(it).kind == OpKind::FuncFunc)
    }

    /// Calls `found` with the steps through an op, in textual order, and returns the first result
    /// that is not `None`.
    fn find_step<T>(&self, op: Op, mut found: impl FnMut(BraceStep) -> Option<T>) -> Option<T> {
        let inside = |op: Op, open: &mut Vec<BraceStep>| {
            for &(_, region) in self.ir.op(op).regions.iter().rev() {
                if self.ir.region(region).is_closed {
                    let end = self.ir.region_start(region) + self.ir.region_len(region);
                    open.push(BraceStep::Close(op, end));
                }
                let items: Vec<Op> = self.ir.items(region).take(MAX_ITEMS).collect();
                open.extend(items.into_iter().rev().map(|it| BraceStep::Item(op, it)));
            }
        };
        let mut open = Vec::new();
        inside(op, &mut open);
        let mut n_steps = 0;
        while let Some(step) = open.pop() {
            n_steps += 1;
            if n_steps > MAX_ITEMS {
                return None;
            }
            if let Some(it) = found(step) {
                return Some(it);
            }
            if let BraceStep::Item(around, op) = step {
                open.push(BraceStep::Behind(around, op));
                inside(op, &mut open);
            }
        }
        None
    }

    /// The first position in an op at which a closing brace seems to be missing, with the op that
    /// lacks it (`op` or a nested one): an item that is not indented deeper than the enclosing op,
    /// or a closing brace that is indented less than its op.
    pub(super) fn find_missing_brace(&self, op: Op) -> Option<(Op, Range<usize>)> {
        self.find_step(op, |step| match step {
            BraceStep::Item(_, it) if self.ir.op(it).kind == OpKind::Label => None,
            BraceStep::Item(around, it) => {
                let place = self.op_head(it);
                self.is_outdented(around, place.start).then_some((around, place))
            }
            BraceStep::Behind(around, it) => {
                let problem = self
                    .ir
                    .extra(it)
                    .problems
                    .last()
                    .filter(|_| self.ir.is_followed_by_junk(it))?;
                let place = self.ir.absolute(it, problem.span);
                self.is_outdented(around, place.start).then_some((around, place))
            }
            BraceStep::Close(of, brace) => {
                let (inner, outer) = self.indentations(of, brace)?;
                (inner < outer).then_some((of, brace..brace + 1))
            }
        })
    }

    /// Returns true if a position in an op is not indented deeper than the op.
    pub(super) fn is_outdented(&self, around: Op, start: usize) -> bool {
        self.indentations(around, start).is_some_and(|(inner, outer)| inner <= outer)
    }

    /// The indentation of a position in an op and that of the op, if both are first on their lines.
    fn indentations(&self, around: Op, start: usize) -> Option<(usize, usize)> {
        let outer = self.ir.range(around).start;
        let are_first = self.is_first_on_line(start)
            && self.is_first_on_line(outer)
            && self.line_start(start) > outer;
        are_first.then(|| (self.indentation(start).len(), self.indentation(outer).len()))
    }

    /// The brace that closes an op too early before an unmatched brace, with that op: the brace is
    /// indented deeper than the op.
    pub(super) fn find_extra_brace(&self, unmatched: Op) -> Option<(Op, usize)> {
        let before = std::iter::successors(self.ir.prev(unmatched), |&it| self.ir.prev(it));
        let closed = before
            .take(MAX_ITEMS)
            .take_while(|&it| self.ir.op(it).kind != OpKind::Junk)
            .find(|&it| !self.ir.op(it).regions.is_empty())?;
        let is_early = |of: Op, brace: usize| {
            let (inner, outer) = self.indentations(of, brace)?;
            (inner > outer).then_some((of, brace))
        };
        self.find_step(closed, |step| match step {
            BraceStep::Close(of, brace) => is_early(of, brace),
            BraceStep::Item(..) | BraceStep::Behind(..) => None,
        })
    }

    /// Returns true if a broken line in an op contains a brace. That brace may be the wrong one,
    /// and the line is already reported.
    fn has_broken_brace(&self, op: Op) -> bool {
        let has_brace = |it: Op| {
            self.ir.op(it).kind != OpKind::Junk
                && self.ir.is_broken(it)
                && self.slice(self.ir.head_range(it)).contains(['{', '}'])
        };
        let found = self.find_step(op, |step| match step {
            BraceStep::Item(_, it) => has_brace(it).then_some(()),
            _ => None,
        });
        found.is_some()
    }

    /// The function before an unmatched brace that has no body although the following lines are
    /// indented deeper, and the end of its header.
    fn function_without_body(&self, unmatched: Op) -> Option<(Op, usize)> {
        let mut before = self.ir.prev(unmatched);
        for _ in 0..MAX_ITEMS {
            let op = before?;
            let data = self.ir.op(op);
            if data.kind == OpKind::FuncFunc {
                let (start, end) = if self.ir.is_followed_by_junk(op) {
                    let problem = self.ir.extra(op).problems.last()?;
                    let start = self.ir.absolute(op, problem.span).start;
                    let header = self.slice(self.ir.range(op).start..start);
                    (start, self.ir.range(op).start + header.trim_end().len())
                } else {
                    let first = self.ir.next(op).filter(|&it| it != unmatched)?;
                    (self.ir.range(first).start, self.ir.range(op).end)
                };
                let is_deeper = self.indentations(op, start).is_some_and(|it| it.0 > it.1);
                return (data.regions.is_empty() && is_deeper).then_some((op, end));
            }
            if data.kind == OpKind::Junk || data.kind == OpKind::BuiltinModule {
                return None;
            }
            before = self.ir.prev(op);
        }
        None
    }
}
