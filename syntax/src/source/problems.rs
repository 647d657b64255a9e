//! Everything that is wrong with a document, as it is told.
//!
//! What one mistake breaks is not told of a second time: names that a broken op may define are no errors, and what
//! follows from the shape of a function is silent while its syntax or its names are wrong, as the real tools verify only what
//! they could read.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::Source;
use crate::lex::lex_part;
use crate::verify::UNKNOWN_FUNCTION;
use crate::{Category, Ir, Op, Problem, Region, T, Traits};

/// How much of a broken op is searched for names that it may have been meant to define, in bytes.
const MENTIONS_BYTES: usize = 1 << 16;

type Placed = (Op, Range<usize>, Problem);

impl Source {
    /// Everything that is wrong with the text, in textual order: the op, the range in bytes, the problem.
    pub fn problems(&self) -> Vec<Placed> {
        let ir = &self.ir;
        let mut out = Vec::new();
        let mentioned = self.mentioned_by_broken();
        for op in ir.suspects() {
            let start = ir.start(op);
            for problem in ir.problems_of(op) {
                let range = ir.absolute_at(op, start, problem.span);
                let undefined = matches!(problem.code, "undefined-value" | "undefined-block");
                if undefined && self.may_be_defined(op, &range, &mentioned) {
                    continue;
                }
                out.push((op, range, problem));
            }
        }
        for (op, problem) in ir.redefinitions() {
            out.push((op, ir.absolute(op, problem.span), problem));
        }
        let broken = Broken::of(ir, &out);
        for (op, verdict) in self.verdicts.iter().filter(|it| ir.is_judged(it.0)) {
            let start = ir.start(op);
            let placed = if broken.spoils(ir, op) { &[][..] } else { &verdict.placed[..] };
            for problem in verdict.own.iter().chain(placed) {
                let range = ir.absolute_at(op, start, problem.span);
                let unknown = problem.code == UNKNOWN_FUNCTION;
                if !unknown || !self.may_be_defined(op, &range, &mentioned) {
                    out.push((op, range, problem.clone()));
                }
            }
        }
        self.in_order(out)
    }

    /// In textual order, each thing once: of problems that say the same in the same place (two regions that end with the text) the
    /// outermost op's stays, of a name without a definition the first use in the function.
    fn in_order(&self, mut problems: Vec<Placed>) -> Vec<Placed> {
        let ir = &self.ir;
        let key = |it: &Placed| (it.1.start, it.1.end, it.2.category, it.2.code);
        problems.sort_by(|a, b| {
            let text = || a.2.message.cmp(&b.2.message);
            key(a).cmp(&key(b)).then_with(text).then_with(|| ir.start(a.0).cmp(&ir.start(b.0)))
        });
        problems.dedup_by(|b, a| key(a) == key(b) && a.2.message == b.2.message);
        let mut seen: FxHashSet<(Region, String)> = FxHashSet::default();
        problems.retain(|(op, _, problem)| match problem.code {
            "undefined-value" => seen.insert((scope(ir, *op), problem.message.clone())),
            "undefined-block" => seen.insert((ir.op(*op).parent, problem.message.clone())),
            _ => true,
        });
        problems
    }

    /// Whether broken syntax may hide the definition of a name: a broken item mentions it, the region that uses it has no
    /// end, or it is defined where only a bracket gone astray can have put it.
    fn may_be_defined(&self, op: Op, name: &Range<usize>, broken: &FxHashSet<String>) -> bool {
        if broken.is_empty() {
            return false;
        }
        let text = self.slice(name.clone());
        if broken.contains(&text) || self.ir.is_defined_elsewhere(&text) {
            return true;
        }
        let mut region = self.ir.op(op).parent;
        loop {
            let data = self.ir.region(region);
            match data.parent {
                Some(parent) if data.closed => region = self.ir.op(parent).parent,
                _ => return !data.closed,
            }
        }
    }

    /// The `%value`s, `^label`s and `@symbol`s in the text of items with a syntax problem, and of each such item its name.
    fn mentioned_by_broken(&self) -> FxHashSet<String> {
        let ir = &self.ir;
        let mut out = FxHashSet::default();
        let syntax = |it: &Problem| it.category == Category::Syntax;
        for op in ir.suspects().filter(|&op| ir.rest(op).problems.iter().any(syntax)) {
            let head = ir.head_range(op);
            let text = self.slice(head.start..head.end.min(head.start + MENTIONS_BYTES));
            out.insert(ir.op_name(op).to_owned());
            for token in lex_part(&text, false).tokens {
                if matches!(token.kind, T::Percent | T::Caret | T::At) {
                    out.insert(text[token.range()].to_owned());
                }
            }
        }
        out
    }
}

/// What has a problem that the real tools would stop at.
struct Broken {
    ops: FxHashSet<Op>,
    /// The scopes with such ops.
    scopes: FxHashSet<Region>,
}

impl Broken {
    fn of(ir: &Ir, problems: &[Placed]) -> Self {
        let mut out = Self { ops: FxHashSet::default(), scopes: FxHashSet::default() };
        for (op, _, problem) in problems {
            if problem.category != Category::Structure {
                out.ops.insert(*op);
                out.scopes.insert(scope(ir, *op));
            }
        }
        out
    }

    /// Whether what an op has around it is not what was meant.
    fn spoils(&self, ir: &Ir, op: Op) -> bool {
        if self.ops.is_empty() {
            return false;
        }
        let mut at = Some(op);
        while let Some(it) = at {
            if self.ops.contains(&it) {
                return true;
            }
            at = ir.parent_op(it);
        }
        self.scopes.contains(&scope(ir, op))
    }
}

/// The innermost region around an op that uses no values from outside: the body of its function.
fn scope(ir: &Ir, op: Op) -> Region {
    let mut region = ir.op(op).parent;
    loop {
        match ir.region(region).parent {
            Some(parent) if !ir.op(parent).kind.has(Traits::ISOLATED) => {
                let around = ir.op(parent).parent;
                if around == ir.root() {
                    return region;
                }
                region = around;
            }
            _ => return region,
        }
    }
}
