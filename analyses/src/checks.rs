//! What is reported beyond the grammar, one file per code. Each file opens with its code and title, its documentation and an example;
//! `Check::docs` is made from those comments.

/// The comment that opens a file, as text: nothing else of the file gets into a program.
macro_rules! header {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const HEADER: [u8; super::header_len(TEXT)] = super::start_of(TEXT);
        match std::str::from_utf8(&HEADER) {
            Ok(it) => it,
            Err(_) => panic!("the header ends with a line"),
        }
    }};
}

mod chain;
mod constant_condition;
mod contract_violated;
mod dead_store;
mod decode_over_budget;
mod dimension_mismatch;
mod folds_to_constant;
mod hoist;
mod index;
mod invalid_contract;
mod invalid_scheme;
mod level_mismatch;
mod level_underflow;
mod loop_invariant;
mod missing_contract;
mod missing_relinearize;
mod missing_scale;
mod needless_relinearize;
mod noise_grows;
mod noise_overflow;
mod noise_validation;
mod one_way;
mod redundant_reduce;
mod removal;
mod same_value;
mod scale_mismatch;
mod suppression;
mod too_few_moduli;
mod undecided;
mod unknown_heir_op;
mod unreachable_code;
mod unreadable_attribute;
mod unused_op;
mod varying_level;

pub(crate) use index::Index;
pub use suppression::{allow, can_be_allowed};

use std::ops::Range;

use noisy_syntax::Op;
use rustc_hash::FxHashMap;

use crate::diagnostic::{Category, Diagnostic, Fix, Severity, Tag, TextEdit};
use crate::explain::core_range;
use crate::program::Program;
use crate::remarks::Remark;

/// A check: what it is called and how it finds what it reports.
#[derive(Debug)]
pub struct Check {
    /// The code of its diagnostics, in kebab case.
    pub code: &'static str,
    /// The family of its diagnostics.
    pub category: Category,
    /// Whether they are reported unless a configuration says otherwise.
    pub is_on: bool,
    /// How bad they are, unless a configuration says otherwise.
    pub severity: Severity,
    /// Whether they say that noise is more than is allowed.
    is_over_budget: bool,
    /// How an editor may show them.
    pub tag: Option<Tag>,
    /// The comment that opens its file: the documentation.
    header: &'static str,
    /// Adds what it finds.
    run: Run,
    /// The same without what explains it, where that is nearly all of the work.
    in_brief: Option<Run>,
    /// What fixes each of its diagnostics by itself.
    fix: Option<Fixing>,
}

/// Adds what a check finds.
type Run = fn(&Program, &Index, &mut Vec<Diagnostic>);

/// How much is told of what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// What is wrong and why.
    All,
    /// Where explanations cost the most, only what is wrong.
    InBrief,
}

/// How the fixes of diagnostics are made.
#[derive(Clone, Copy, Debug)]
enum Fixing {
    /// One by one.
    Each(fn(&Program, &Diagnostic) -> Option<Fix>),
    /// Those of all that are asked for, in their order, which have something to look up in common.
    Together(fn(&Program, &[&Diagnostic]) -> Vec<Option<Fix>>),
}

/// All checks.
pub const ALL: &[Check] = &[
    noise_overflow::CHECK,
    noise_grows::CHECK,
    decode_over_budget::CHECK,
    contract_violated::CHECK,
    invalid_contract::CHECK,
    missing_contract::CHECK,
    missing_relinearize::CHECK,
    level_mismatch::CHECK,
    dimension_mismatch::CHECK,
    level_underflow::CHECK,
    too_few_moduli::CHECK,
    varying_level::CHECK,
    noise_validation::CHECK,
    scale_mismatch::CHECK,
    missing_scale::CHECK,
    invalid_scheme::CHECK,
    unreadable_attribute::CHECK,
    needless_relinearize::CHECK,
    unknown_heir_op::CHECK,
    redundant_reduce::CHECK,
    unused_op::CHECK,
    unreachable_code::CHECK,
    constant_condition::CHECK,
    same_value::CHECK,
    folds_to_constant::CHECK,
    loop_invariant::CHECK,
    dead_store::CHECK,
    undecided::CHECK,
    suppression::CHECK,
];

/// Everything that the checks find that are on, or whose codes are among some; in no particular order.
pub(crate) fn run(program: &Program, index: &Index, also: &[&str], told: Told) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let is_run = |it: &Check| it.is_on || also.contains(&it.code);
    for check in ALL.iter().filter(|it| is_run(it)) {
        let in_brief = check.in_brief.filter(|_| told == Told::InBrief);
        in_brief.unwrap_or(check.run)(program, index, &mut out);
    }
    suppression::apply(program, index, &is_run, &mut out);
    out
}

/// The fixes of one request edit so many places at most; what comes after them has none.
const MOST_EDITS: usize = 1 << 16;

/// What fixes each of some diagnostics by itself, proven by analyzing the text after it. An op that moves with another one that is asked for, too,
/// has no fix of its own.
pub(crate) fn fixes<'a>(
    program: &Program,
    index: &Index,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    trial: &mut Trial,
) -> Vec<Option<Fix>> {
    let fixes = unproven(program, diagnostics);
    if fixes.iter().all(Option::is_none) {
        return fixes;
    }
    removal::proven(program, index, fixes, trial)
}

/// As [`fixes`], of which the most hold.
pub(crate) fn unproven<'a>(
    program: &Program,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<Option<Fix>> {
    let diagnostics: Vec<&Diagnostic> = diagnostics.into_iter().collect();
    let along = loop_invariant::moves_along(program, &diagnostics);
    let mut n_edits = 0;
    let mut together: FxHashMap<&str, std::vec::IntoIter<Option<Fix>>> = FxHashMap::default();
    let fix = |(at, it): (usize, &&Diagnostic)| {
        let is_wanted = n_edits < MOST_EDITS && !along.contains(&at);
        let fix = match find(it.code).and_then(|it| it.fix) {
            None => None,
            Some(Fixing::Each(fix)) => is_wanted.then(|| fix(program, it)).flatten(),
            Some(Fixing::Together(fix)) => {
                let found = together.entry(it.code).or_insert_with(|| {
                    let is_same = |other: &&&Diagnostic| other.code == it.code;
                    let same: Vec<&Diagnostic> =
                        diagnostics.iter().filter(is_same).copied().collect();
                    fix(program, &same).into_iter()
                });
                found.next().flatten().filter(|_| is_wanted)
            }
        };
        n_edits += fix.as_ref().map_or(0, |it| it.edits.len());
        fix
    };
    diagnostics.iter().enumerate().map(fix).collect()
}

/// What fixes what a remark says of an op, proven as [`fixes`] are.
pub(crate) fn fix_of(program: &Program, index: &Index, op: Op, remark: Remark) -> Option<Fix> {
    let at = find(remark.code())?.at(core_range(program.ir(), op), String::new());
    fixes(program, index, [&at], &mut Trial::default()).pop()?
}

/// Whether a program has no more errors after some edits, which are in order.
pub(crate) fn holds(
    program: &Program,
    index: &Index,
    edits: &[TextEdit],
    trial: &mut Trial,
) -> bool {
    trial.n_errors(program, edits) <= n_errors(program, index)
}

/// What became of a program by edits that were tried last.
#[derive(Debug, Default)]
pub(crate) struct Trial(Option<Tried>);

#[derive(Debug)]
struct Tried {
    edits: Vec<TextEdit>,
    after: Program,
    index: Index,
    n_errors: usize,
}

impl Trial {
    /// How many errors a program, always the same, has after some edits, which are in order.
    fn n_errors(&mut self, program: &Program, edits: &[TextEdit]) -> usize {
        if let Some(tried) = self.0.as_ref().filter(|it| it.edits == edits) {
            return tried.n_errors;
        }
        // Not two of them at a time.
        self.0 = None;
        let text = TextEdit::apply_all(edits, &program.source().text().to_string());
        let after = Program::with_model(&text, program.model().clone());
        let index = Index::new(&after);
        let n_errors = n_errors(&after, &index);
        self.0.insert(Tried { edits: edits.to_vec(), after, index, n_errors }).n_errors
    }

    /// The program after some edits, if these were tried last.
    pub(crate) fn after(self, edits: &[TextEdit]) -> Option<(Program, Index)> {
        self.0.filter(|it| it.edits == edits).map(|it| (it.after, it.index))
    }
}

/// How many errors a program has, in the grammar and beyond.
fn n_errors(program: &Program, index: &Index) -> usize {
    let found = run(program, index, &[], Told::InBrief);
    let n_found = found.iter().filter(|it| it.severity == Severity::Error).count();
    program.source().problems().len() + n_found
}

/// Whether a code says that noise is more than is allowed, by the budget or by a contract, so that a placement of reduces may help.
/// That is a property of the code alone: how severe a configuration makes it changes nothing.
pub fn is_over_budget(code: &str) -> bool {
    find(code).is_some_and(|it| it.is_over_budget)
}

/// Whether inserting ops may fix what diagnostics of a code say of a program: `reduce_noise` for noise over the budget; in HEIR's
/// programs relinearizations, and bootstraps if the settings say how many levels there are.
pub fn is_placeable(program: &Program, code: &str) -> bool {
    match code {
        "missing-relinearize" => true,
        "level-underflow" | "varying-level" => program.model().heir.level_budget.is_some(),
        _ => is_over_budget(code),
    }
}

/// The check of a code.
pub(crate) fn find(code: &str) -> Option<&'static Check> {
    ALL.iter().find(|it| it.code == code)
}

impl Check {
    /// A check that is on, reports errors of noise and has no fix: what a check is where its file does not say something else.
    const ERROR: Check = Check {
        code: "",
        category: Category::Noise,
        is_on: true,
        severity: Severity::Error,
        is_over_budget: false,
        tag: None,
        header: "",
        run: |_, _, _| {},
        in_brief: None,
        fix: None,
    };

    /// The same with warnings.
    const WARNING: Check = Check { severity: Severity::Warning, ..Check::ERROR };

    /// The same with hints at what could be better.
    const HINT: Check =
        Check { category: Category::Lint, severity: Severity::Hint, ..Check::ERROR };

    /// What it is about, a few words: `noise over the budget`.
    pub(crate) fn title(&self) -> &'static str {
        let first = self.header.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(self.code, |(_, title)| title)
    }

    /// What it reports and what to do about it, with an example, in Markdown.
    pub(crate) fn docs(&self) -> String {
        let mut out = String::new();
        let lines = self.header.lines().map_while(|it| it.strip_prefix("//!"));
        for line in lines.skip(1) {
            out.push_str(line.strip_prefix(' ').unwrap_or(line));
            out.push('\n');
        }
        out.trim_matches('\n').to_owned() + "\n"
    }

    /// One of its diagnostics.
    fn at(&self, range: Range<usize>, message: String) -> Diagnostic {
        Diagnostic {
            code: self.code,
            category: self.category,
            severity: self.severity,
            range,
            message,
            related: Vec::new(),
            help: None,
            tags: self.tag.into_iter().collect(),
        }
    }
}

/// How many bytes the `//!` lines have that open a text.
const fn header_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        let mut at = start;
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        let is_header = at >= start + 3
            && bytes[start] == b'/'
            && bytes[start + 1] == b'/'
            && bytes[start + 2] == b'!';
        if !is_header || at == bytes.len() {
            return start;
        }
        start = at + 1;
    }
}

/// So many of the first bytes of a text.
const fn start_of<const N: usize>(text: &str) -> [u8; N] {
    let mut out = [0; N];
    let mut at = 0;
    while at < N {
        out[at] = text.as_bytes()[at];
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_title() {
        for check in ALL {
            assert!(check.header.starts_with(&format!("//! {}: ", check.code)), "{}", check.code);
            assert!(find(check.code).is_some_and(|it| it.title() == check.title()));
            assert!(check.header.lines().all(|it| it.starts_with("//!")), "{}", check.code);
            assert!(check.header.contains("//! ```mlir"), "{} has no example", check.code);
        }
    }
}
