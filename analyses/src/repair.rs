//! Repairs of a program. [`repair`] alone defines the steps of "fix all", their order and their
//! repetition: `noisy-check --fix`, fix on save, the quick fix of a function and "Fix all in file"
//! call it and differ only in their [`RepairScope`].
//!
//! The order: first the fixes of diagnostics, until none is left; then `reduce_noise` in functions
//! that exceed the budget; in HEIR programs bootstraps, level reductions and relinearizations; then
//! fixes again, because annotations may not agree with the inserted ops. If these fixes raise the
//! noise of a value over the budget, the placement is repeated.
//!
//! *Law.* In a function with errors in syntax, names or types, only these errors are fixed. A round
//! of fixes after which there are more errors is undone, unless it removes an error in syntax,
//! names or types: such errors hide others. A placement that does not pass re-analysis is undone.

mod edits;
pub mod placement;
mod suppress;
mod trial;

pub use suppress::suppress;

use noisy_syntax::Op;

use self::placement::{
    FunctionOutcome, MANAGEMENT_STAGES, PlacementError, PlacementOptions, PlacementOutcome,
    PlacementVerdict,
};
use crate::document::Document;
use crate::problems;
use crate::report::diagnostic::{Diagnostic, RepairKind, Severity, TextEdit};
use crate::report::diff;

/// Maximum number of rounds; a fix may make another one possible.
const MAX_ROUNDS: usize = 20;

/// The diagnostics that a call of [`repair`] repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairScope<'a> {
    /// Errors and warnings of the whole file.
    File,
    /// Errors and warnings of one function, given by its index among the functions of the file.
    Function(usize),
    /// The diagnostics of one code that have fixes, of any severity.
    Code(&'a str),
}

/// The configured rules that decide which diagnostics are reported.
pub trait ReportRules {
    /// Returns the diagnostics of a document with their default severities, including those of
    /// rules that are off. Explanations may be omitted.
    fn brief_diagnostics(&self, document: &Document) -> Vec<Diagnostic>;

    /// Removes the diagnostics of rules that are off, and sets the severity of the others.
    fn apply(&self, diagnostics: &mut Vec<Diagnostic>);
}

/// The default rules, without a configuration.
#[derive(Clone, Copy, Debug)]
pub struct DefaultRules;

impl ReportRules for DefaultRules {
    fn brief_diagnostics(&self, document: &Document) -> Vec<Diagnostic> {
        document.diagnostics_in_brief(&[])
    }

    fn apply(&self, _: &mut Vec<Diagnostic>) {}
}

/// The kinds of repairs that [`repair`] may apply.
#[derive(Clone, Copy)]
pub struct RepairOptions<'a> {
    /// The rules of the file.
    pub rules: &'a dyn ReportRules,
    /// True if fixes that need a review are also applied.
    pub unsafe_fixes: bool,
    /// Options of the optimizer; `None` disables placements.
    pub placement: Option<&'a PlacementOptions>,
}

impl std::fmt::Debug for RepairOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted")
            .field("unsafe_fixes", &self.unsafe_fixes)
            .field("placement", &self.placement)
            .finish_non_exhaustive()
    }
}

/// The ops placed in one step.
#[derive(Debug)]
pub struct PlacedOps {
    /// The name of the placed op, without its dialect.
    pub op: String,
    /// True if it resets noise, as `reduce_noise` does.
    pub resets_noise: bool,
    /// The outcome of the placement, without the program after it.
    pub outcome: PlacementOutcome,
}

/// The result of [`repair`].
#[derive(Debug, Default)]
pub struct RepairResult {
    /// Placements, in order. If the placement is repeated, earlier outcomes keep only the functions
    /// that they changed.
    pub placed: Vec<PlacedOps>,
    /// Number of diagnostics that fixes removed.
    pub n_fixed: usize,
    /// Number of diagnostics that fixes removed before the first placement.
    pub n_fixed_first: usize,
    /// Number of diagnostics that new comments suppress.
    pub n_suppressed: usize,
    changes: Changes,
}

/// The steps that changed the text.
#[derive(Debug, Default)]
enum Changes {
    #[default]
    None,
    /// One step, with its edits.
    One(Vec<TextEdit>),
    Several,
}

impl RepairResult {
    /// Returns true if the text is changed.
    pub fn is_changed(&self) -> bool {
        !matches!(self.changes, Changes::None)
    }

    /// Returns the edits that change the text `before` into `after`, sorted and disjoint.
    pub fn edits(&self, before: &str, after: &Document) -> Vec<TextEdit> {
        match &self.changes {
            Changes::None => Vec::new(),
            Changes::One(edits) => edits.clone(),
            Changes::Several => line_edits(before, &after.source().text().to_string()),
        }
    }

    /// Returns the reason why the first refused function is not changed.
    pub fn refusal(&self) -> Option<&str> {
        let mut functions = self.placed.iter().flat_map(|it| &it.outcome.functions);
        functions.find_map(|it| match &it.verdict {
            PlacementVerdict::Refused(why) => Some(why.as_str()),
            PlacementVerdict::Legal | PlacementVerdict::Fixed(_) => None,
        })
    }

    /// Describes the repairs in a line, in the imperative: `Insert 1 bootstrap (proven optimal), 2
    /// relinearize (proven optimal)`. Fixes after a placement are part of it and are not counted.
    pub fn title(&self) -> String {
        let placed =
            self.placed.iter().filter_map(|it| Some(it.outcome.fix.as_ref()?.title.clone()));
        let fixed = match self.n_fixed_first {
            0 => None,
            1 => Some("Fix 1 problem".to_owned()),
            n => Some(format!("Fix {n} problems")),
        };
        let mut out = String::new();
        for part in fixed.into_iter().chain(placed) {
            match part.strip_prefix("Insert ") {
                Some(rest) if out.starts_with("Insert ") => out.push_str(&format!(", {rest}")),
                _ if out.is_empty() => out = part,
                _ => out.push_str(&format!("; {part}")),
            }
        }
        out
    }

    fn add(&mut self, edits: Vec<TextEdit>) {
        self.changes = match self.changes {
            Changes::None => Changes::One(edits),
            Changes::One(_) | Changes::Several => Changes::Several,
        };
    }
}

/// Returns edits of the lines in which two texts differ, sorted and not adjacent.
fn line_edits(before: &str, after: &str) -> Vec<TextEdit> {
    let (old, new): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let (mut out, mut from, mut offset) = (Vec::new(), 0, 0);
    let length = |lines: &[&str]| -> usize { lines.iter().map(|it| it.len()).sum() };
    for it in diff::changes(&old, &new) {
        let start = offset + length(&old[from..it.before.start]);
        offset = start + length(&old[it.before.clone()]);
        out.push(TextEdit { range: start..offset, text: new[it.after].concat() });
        from = it.before.end;
    }
    out
}

/// Repairs the diagnostics of a scope in place.
///
/// # Errors
///
/// A placement does not pass re-analysis, which is a defect of this crate. The document may still
/// be changed.
pub fn repair(
    document: &mut Document,
    scope: RepairScope<'_>,
    wanted: &RepairOptions<'_>,
) -> Result<RepairResult, PlacementError> {
    let mut run = RepairRun { document, scope, wanted, repaired: RepairResult::default() };
    let found = wanted.rules.brief_diagnostics(run.document);
    let found = run.apply_fixes(found);
    run.repaired.n_fixed_first = run.repaired.n_fixed;
    if let Some(options) = wanted.placement.filter(|_| !matches!(scope, RepairScope::Code(_))) {
        run.place_all(options, &found)?;
    }
    Ok(run.repaired)
}

/// Returns true if [`repair`] would apply or try a repair.
pub fn has_repairs(
    document: &Document,
    scope: RepairScope<'_>,
    wanted: &RepairOptions<'_>,
) -> bool {
    let mut found = wanted.rules.brief_diagnostics(document);
    wanted.rules.apply(&mut found);
    let is_in_scope = scope.filter(document);
    wanted.placement.is_some_and(|it| it.replace)
        || found.iter().any(|it| it.repair == RepairKind::Placement && is_in_scope(it))
        || !document.fix_all(&scope.fixable(document, &found), wanted.unsafe_fixes).0.is_empty()
}

impl<'a> RepairScope<'a> {
    /// Returns a predicate for the diagnostics of this scope in a document, which may be partly
    /// repaired.
    fn filter(self, document: &Document) -> impl Fn(&Diagnostic) -> bool + use<'a> {
        let range = |op: &Op| document.ir().range(*op);
        let range = self.functions(document).first().map(range).unwrap_or_default();
        move |it| match self {
            RepairScope::File => true,
            RepairScope::Function(_) => range.contains(&it.range.start),
            RepairScope::Code(code) => it.code == code,
        }
    }

    /// Returns the reported diagnostics of the scope that have fixes. Infos and hints are excluded,
    /// unless the rules raise their severity or the scope is their code.
    fn fixable(self, document: &Document, reported: &[Diagnostic]) -> Vec<Diagnostic> {
        let is_in_scope = self.filter(document);
        let is_problem = |it: &Diagnostic| {
            it.severity <= Severity::Warning || matches!(self, RepairScope::Code(_))
        };
        let is_edited =
            |it: &Diagnostic| matches!(it.repair, RepairKind::Edits | RepairKind::Choice);
        let fixable =
            reported.iter().filter(|it| is_edited(it) && is_problem(it) && is_in_scope(it));
        fixable.cloned().collect()
    }

    fn functions(self, document: &Document) -> Vec<Op> {
        let all = document.ir().functions();
        match self {
            RepairScope::Function(number) => all.get(number).copied().into_iter().collect(),
            RepairScope::File | RepairScope::Code(_) => all,
        }
    }
}

/// The state of a call of [`repair`].
struct RepairRun<'a> {
    document: &'a mut Document,
    scope: RepairScope<'a>,
    wanted: &'a RepairOptions<'a>,
    repaired: RepairResult,
}

impl RepairRun<'_> {
    /// Applies the fixes of diagnostics until none is left, starting with those of `found`. Returns
    /// the remaining diagnostics.
    fn apply_fixes(&mut self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let RepairOptions { rules, unsafe_fixes, .. } = *self.wanted;
        for _ in 0..MAX_ROUNDS {
            let mut reported = found.clone();
            rules.apply(&mut reported);
            let fixable = self.scope.fixable(self.document, &reported);
            let mut now = Vec::new();
            let mut is_kept = |after: &Document| {
                now = rules.brief_diagnostics(after);
                // Errors in syntax, names or types hide other errors.
                n_errors(&now) <= n_errors(&found) || n_problems(&now) < n_problems(&found)
            };
            let applied = self.document.apply_fixes(&fixable, unsafe_fixes, &mut is_kept);
            let Some((edits, n)) = applied else { break };
            self.repaired.n_fixed += n;
            self.repaired.add(edits);
            found = now;
        }
        found
    }

    /// Places the ops that the diagnostics need, and fixes the diagnostics that the new ops cause.
    fn place_all(
        &mut self,
        options: &PlacementOptions,
        found: &[Diagnostic],
    ) -> Result<(), PlacementError> {
        let mut resets_noise = options.replace || self.n_over_budget(found) > 0;
        // A certificate covers only one placement.
        let n_rounds = if options.wants_proofs { 1 } else { MAX_ROUNDS };
        for round in 0..n_rounds {
            if round > 0 {
                // Unchanged functions are tried again.
                let is_fixed =
                    |it: &FunctionOutcome| matches!(it.verdict, PlacementVerdict::Fixed(_));
                for it in &mut self.repaired.placed {
                    it.outcome.functions.retain(is_fixed);
                }
            }
            if !self.place(options, resets_noise)? {
                break;
            }
            // After the insertion, suppressions may be unused and annotations may be wrong.
            let found = self.wanted.rules.brief_diagnostics(self.document);
            let n_before = self.n_over_budget(&found);
            let found = self.apply_fixes(found);
            resets_noise = self.n_over_budget(&found) > n_before;
            if !resets_noise {
                break;
            }
        }
        Ok(())
    }

    /// Inserts `reduce_noise` if `resets_noise` is true, and HEIR's management ops. Returns true if
    /// the program changed.
    fn place(
        &mut self,
        options: &PlacementOptions,
        resets_noise: bool,
    ) -> Result<bool, PlacementError> {
        let mut is_changed = false;
        if resets_noise && !options.is_cancelled() {
            let op = self.document.model().reset_name().to_owned();
            let functions = self.scope.functions(self.document);
            let outcome = self.document.insert_reduces(&functions, options)?;
            is_changed |= self.record_placement(op, true, outcome);
        }
        if !self.document.is_heir_program() {
            return Ok(is_changed);
        }
        for (op, insert) in MANAGEMENT_STAGES {
            if options.is_cancelled() {
                break;
            }
            let functions = self.scope.functions(self.document);
            let mut outcome = insert(self.document, &functions, options)?;
            if let Some(after) = outcome.after.take().filter(|_| outcome.has_edits()) {
                *self.document = Document::from_program(after);
            }
            is_changed |= self.record_placement(op.to_owned(), false, outcome);
        }
        Ok(is_changed)
    }

    /// Records the outcome of a placement. Returns true if it changed the program.
    fn record_placement(
        &mut self,
        op: String,
        resets_noise: bool,
        outcome: PlacementOutcome,
    ) -> bool {
        let edits = outcome.fix.as_ref().map(|it| it.edits.clone()).unwrap_or_default();
        let is_changed = !edits.is_empty();
        if is_changed {
            self.repaired.add(edits);
        }
        self.repaired.placed.push(PlacedOps { op, resets_noise, outcome });
        is_changed
    }

    /// Returns the number of reported diagnostics of the scope that need `reduce_noise`.
    fn n_over_budget(&self, found: &[Diagnostic]) -> usize {
        let is_in_scope = self.scope.filter(self.document);
        let over = found.iter().filter(|it| it.repair == RepairKind::Placement && is_in_scope(it));
        let mut over: Vec<Diagnostic> = over.cloned().collect();
        self.wanted.rules.apply(&mut over);
        over.len()
    }
}

fn n_problems(found: &[Diagnostic]) -> usize {
    found.iter().filter(|it| problems::hides_others(it)).count()
}

fn n_errors(found: &[Diagnostic]) -> usize {
    found.iter().filter(|it| it.severity == Severity::Error).count()
}

#[cfg(test)]
mod tests;
