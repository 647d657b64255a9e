//! The dependences of one loop nest as text, for hints and hovers.
//!
//! *Law.* A loop is called `parallel` only if its iterations may run in parallel. A loop that
//! contains an op with unknown effects is `unknown`. *Cost.* It depends on the size of the nest,
//! not of the function, because values from outside are symbols.

use std::fmt::Write as _;

use noisy_syntax::{Ir, MAX_PADDING, Op, OpKind, Source};

use crate::body::FunctionBody;
use crate::dependence::{Dependence, DependenceLimits, Dependences, dependences};
use crate::memory::AliasAssumptions;
use noisy_polyhedra::FormInterval;

/// A loop nest: an outermost loop and its region.
#[derive(Debug)]
pub struct LoopNest {
    /// The loops and accesses.
    pub body: FunctionBody,
    /// The dependences.
    pub dependences: Dependences,
    /// True if the nest has too many accesses. Then its dependences are unknown.
    is_large: bool,
}

/// The summary of the dependences that a loop carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarriedSummary {
    /// The iterations may run in parallel.
    Parallel,
    /// The loop carries this many dependences.
    Carries(usize),
    /// The loop carries values from one iteration to the next (`iter_args`).
    IterArgs,
    /// The only carried dependences are those of one reduction, such as a sum.
    Reduction,
    /// The loop contains an op with unknown effects, or the nest is too large.
    Unknown,
}

impl CarriedSummary {
    /// Returns a short text.
    pub fn text(&self) -> String {
        match self {
            CarriedSummary::Parallel => "parallel".to_owned(),
            CarriedSummary::Carries(1) => "carries 1 dependence".to_owned(),
            CarriedSummary::Carries(n) => format!("carries {n} dependences"),
            CarriedSummary::IterArgs => "carries values".to_owned(),
            CarriedSummary::Reduction => "reduction".to_owned(),
            CarriedSummary::Unknown => "dependences unknown".to_owned(),
        }
    }
}

/// Limits of the work while a user is waiting.
pub(crate) const INTERACTIVE_LIMITS: DependenceLimits = DependenceLimits {
    has_load_pairs: false,
    aliasing: AliasAssumptions { arguments_may_alias: false },
    work_per_pair: 1_000_000,
    total_work: 20_000_000,
};

/// Maximum number of accesses of a nest that is analyzed while a user is waiting.
pub(crate) const MAX_NEST_ACCESSES: usize = 300;

/// Returns true if an op is a loop whose dependences can be queried.
pub fn is_loop(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::AffineFor | OpKind::AffineParallel | OpKind::ScfFor)
}

/// Returns the outermost loop that encloses an op or is the op itself.
pub fn outermost_loop(ir: &Ir, op: Op) -> Option<Op> {
    let around = std::iter::successors(Some(op), |&it| ir.parent_op(it));
    around.take_while(|&it| ir.op(it).kind != OpKind::FuncFunc).filter(|&it| is_loop(ir, it)).last()
}

impl LoopNest {
    /// Reads and analyzes the nest with the outermost loop `root`.
    pub fn new(ir: &Ir, root: Op, aliasing: AliasAssumptions) -> Self {
        let body = FunctionBody::of_nest(ir, root);
        let is_large = body.accesses.len() > MAX_NEST_ACCESSES;
        let limits = DependenceLimits { aliasing, ..INTERACTIVE_LIMITS };
        let found = if is_large { Dependences::default() } else { dependences(&body, &limits) };
        Self { body, dependences: found, is_large }
    }

    /// Returns true if the nest is small enough to be analyzed.
    pub fn is_analyzed(&self) -> bool {
        !self.is_large
    }

    /// Returns the index of a loop in [`FunctionBody::loops`]; the outermost one if the op has
    /// several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.body.loop_of(op)
    }

    /// Returns the known dependences, followed by those that unknown pairs may have.
    pub(crate) fn dependences(&self) -> impl Iterator<Item = Dependence> {
        let possible =
            self.dependences.unknown.iter().flat_map(|it| it.possible_dependences(&self.body));
        self.dependences.known.iter().cloned().chain(possible)
    }

    /// Returns the known and possible dependences that a loop carries.
    pub fn carried(&self, loop_: u32) -> Vec<Dependence> {
        let depth = self.body.loops[loop_ as usize].depth as usize;
        let path = |access: usize| self.body.loops_around(self.body.accesses[access].scope);
        let is_carried =
            |it: &Dependence| it.level == depth && path(it.source).get(depth - 1) == Some(&loop_);
        self.dependences().filter(is_carried).collect()
    }

    /// Returns the dependences with an access as source or target, at any level.
    pub fn dependences_of(&self, access: Op) -> Vec<Dependence> {
        let is_it = |at: usize| self.body.accesses[at].op == access;
        self.dependences().filter(|it| is_it(it.source) || is_it(it.target)).collect()
    }

    /// Summarizes the dependences that a loop carries.
    pub fn summary(&self, ir: &Ir, loop_: u32) -> CarriedSummary {
        if self.is_large || self.body.effect_in(loop_).is_some() {
            return CarriedSummary::Unknown;
        }
        let carried = self.carried(loop_);
        let has_values = !ir.op(self.body.loops[loop_ as usize].op).results.is_empty();
        match (carried.is_empty(), has_values) {
            (true, false) => CarriedSummary::Parallel,
            (true, true) => CarriedSummary::IterArgs,
            (false, false) if self.is_reduction(ir, &carried) => CarriedSummary::Reduction,
            (false, _) => CarriedSummary::Carries(carried.len()),
        }
    }

    /// Returns true if all dependences in `carried` are between a store and the load of the same
    /// element, and the stored value is a reduction of the loaded one.
    fn is_reduction(&self, ir: &Ir, carried: &[Dependence]) -> bool {
        let mut stores = carried.iter().flat_map(|it| [it.source, it.target]);
        let Some(store) = stores.find(|&it| self.body.accesses[it].is_store) else { return false };
        let operand = |op: Op, at: usize| ir.op(op).operands.get(at).and_then(|it| it.value);
        let sum = operand(self.body.accesses[store].op, 0).and_then(|it| ir.defining_op(it));
        let Some(sum) = sum.filter(|&it| {
            matches!(
                ir.op(it).kind,
                OpKind::ArithAddf
                    | OpKind::ArithAddi
                    | OpKind::ArithMulf
                    | OpKind::ArithMuli
                    | OpKind::ArithMaximumf
                    | OpKind::ArithMinimumf
                    | OpKind::ArithMaxsi
                    | OpKind::ArithMinsi
            )
        }) else {
            return false;
        };
        let added =
            [operand(sum, 0), operand(sum, 1)].map(|it| it.and_then(|it| ir.defining_op(it)));
        let load = (0..self.body.accesses.len()).find(|&it| {
            let at = &self.body.accesses[it];
            !at.is_store
                && added.contains(&Some(at.op))
                && at.subscripts.is_ok()
                && at.subscripts == self.body.accesses[store].subscripts
                && at.memref == self.body.accesses[store].memref
        });
        load.is_some_and(|load| {
            carried.iter().all(|it| {
                let is_own = |at: usize| at == store || at == load;
                it.is_exact && is_own(it.source) && is_own(it.target)
            })
        })
    }

    fn line(&self, source: &Source, access: usize) -> usize {
        line_of(source, self.body.accesses[access].op)
    }

    /// Describes a dependence in one line: `flow from line 5 to line 4, distance (0, 1)`.
    pub fn describe(&self, source: &Source, it: &Dependence) -> String {
        let (from, to) = (self.line(source, it.source), self.line(source, it.target));
        let may = if it.is_exact { "" } else { "possible " };
        let distance = distance_text(&it.distance);
        format!("{may}{} from line {from} to line {to}, distance {distance}", it.kind.name())
    }

    /// Returns a Markdown table of dependences, truncated to 12 rows. The columns are aligned, so
    /// that it is readable without rendering, too.
    pub fn markdown_table(&self, source: &Source, all: &[Dependence]) -> String {
        let mut rows =
            vec![["from line", "to line", "memref", "kind", "distance"].map(str::to_owned)];
        rows.extend(all.iter().take(MAX_TABLE_ROWS).map(|it| {
            let memref = source.ir().value_text(self.body.accesses[it.source].memref.base);
            let may = if it.is_exact { "" } else { " (possible)" };
            [
                self.line(source, it.source).to_string(),
                self.line(source, it.target).to_string(),
                format!("`{memref}`"),
                format!("{}{may}", it.kind.name()),
                distance_text(&it.distance),
            ]
        }));
        let widths: [usize; 5] = std::array::from_fn(|at| {
            let widest = rows.iter().map(|it| it[at].chars().count()).max().unwrap_or(0);
            widest.min(MAX_PADDING)
        });
        // In Markdown, a colon at the end of the rule aligns a column on the right.
        let rules = widths.map(|it| "-".repeat(it));
        let right = |at: usize| format!("{}:", &rules[at][1..]);
        rows.insert(1, [right(0), right(1), rules[2].clone(), rules[3].clone(), rules[4].clone()]);
        let [from, to, memref, kind, far] = widths;
        let mut out = String::new();
        for [source, target, of, is, by] in &rows {
            let _ = writeln!(
                out,
                "| {source:>from$} | {target:>to$} | {of:memref$} | {is:kind$} | {by:far$} |"
            );
        }
        if all.len() > MAX_TABLE_ROWS {
            let _ = writeln!(out, "\nand {} more", all.len() - MAX_TABLE_ROWS);
        }
        out
    }
}

/// Returns the line number of an op, from 1.
pub(crate) fn line_of(source: &Source, op: Op) -> usize {
    source.text().byte_to_line(source.ir().name_range(op).start) + 1
}

/// Maximum number of rows of a table.
const MAX_TABLE_ROWS: usize = 12;

/// Returns a distance as text: `(0, 1)`, `(0, 1..)`, `(0, -2..3)`.
pub fn distance_text(all: &[FormInterval]) -> String {
    let one = |it: &FormInterval| match (it.least, it.greatest) {
        (Some(a), Some(b)) if a == b => a.to_string(),
        (Some(a), Some(b)) => format!("{a}..{b}"),
        (Some(a), None) => format!("{a}.."),
        (None, Some(b)) => format!("..{b}"),
        (None, None) => "any".to_owned(),
    };
    format!("({})", all.iter().map(one).collect::<Vec<_>>().join(", "))
}
