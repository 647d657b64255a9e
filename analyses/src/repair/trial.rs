//! Fixes of diagnostics, verified by an analysis of the edited program.
//!
//! *Cost.* One analysis, unless fixes overlap or add errors.

use noisy_syntax::{Op, Source};
use rustc_hash::FxHashMap;

use crate::checks::{self, DiagnosticDetail, FixFunction, Index};
use crate::explain::core_range;
use crate::problems;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, Severity, TextEdit, combine_fixes};
use crate::report::remarks::Remark;

/// Maximum number of edits for one request. Later diagnostics have no fix.
const MAX_EDITS: usize = 1 << 16;

/// Maximum number of analyses that verify the fixes of one request. Fixes that are not verified
/// within this limit are not offered.
const MAX_ANALYSES: usize = 64;

/// Returns the verified fix of each diagnostic. A diagnostic whose op moves together with the op of
/// another diagnostic has no fix.
pub(super) fn fixes<'a>(
    program: &Program,
    index: &Index,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    trial: &mut FixTrial,
) -> Vec<Option<Fix>> {
    let diagnostics: Vec<&Diagnostic> = diagnostics.into_iter().collect();
    let mut fixes = unverified_fixes(program, diagnostics.iter().copied());
    if fixes.iter().all(Option::is_none) {
        return fixes;
    }
    // The fixes of problems have already been tried one by one. The fix of a misspelled name is
    // tried without an analysis: it may reveal errors that the wrong name hid.
    let mut tried: Vec<Option<Fix>> = vec![None; fixes.len()];
    let mut n_tried = 0;
    for (n, it) in diagnostics.iter().enumerate() {
        if problems::is_problem(it) {
            tried[n] = fixes[n].take();
        } else if problems::hides_others(it) {
            n_tried += 1;
            let fix = fixes[n].take().filter(|_| n_tried <= MAX_ANALYSES);
            tried[n] = fix.filter(|it| adds_no_problem(program, it));
        }
    }
    if fixes.iter().any(Option::is_some) {
        fixes = verified_fixes(program, index, fixes, trial);
    }
    fixes.into_iter().zip(tried).map(|(fix, tried)| fix.or(tried)).collect()
}

/// Returns true if a fix adds no problem of the parser or the verifier.
fn adds_no_problem(program: &Program, fix: &Fix) -> bool {
    let source = program.source();
    let after = Source::new(&fix.apply(&source.text().to_string()));
    after.problems().len() <= source.problems().len()
}

/// Returns all verified fixes of each diagnostic, the best first. Only problems of the parser and
/// the verifier have several fixes.
pub(super) fn choices<'a>(
    program: &Program,
    index: &Index,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<Vec<Fix>> {
    let diagnostics: Vec<&Diagnostic> = diagnostics.into_iter().collect();
    let mut out = problems::fixes(program, &diagnostics);
    let others: Vec<usize> =
        (0..out.len()).filter(|&it| !problems::is_problem(diagnostics[it])).collect();
    let wanted = others.iter().map(|&it| diagnostics[it]);
    let found = fixes(program, index, wanted, &mut FixTrial::default());
    for (n, fix) in others.into_iter().zip(found) {
        out[n] = fix.into_iter().collect();
    }
    out
}

/// Returns the fix of each diagnostic without verification. Most of these fixes add no error.
pub(super) fn unverified_fixes<'a>(
    program: &Program,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<Option<Fix>> {
    let diagnostics: Vec<&Diagnostic> = diagnostics.into_iter().collect();
    let along = checks::moved_with_others(program, &diagnostics);
    let mut n_edits = 0;
    let mut together: FxHashMap<&str, std::vec::IntoIter<Option<Fix>>> = FxHashMap::default();
    let fix = |(at, it): (usize, &&Diagnostic)| {
        let is_wanted = n_edits < MAX_EDITS && !along.contains(&at);
        let fix = match checks::check_by_code(it.code).and_then(|it| it.fix) {
            None => None,
            Some(FixFunction::Each(fix)) => is_wanted.then(|| fix(program, it)).flatten(),
            Some(FixFunction::Together(fix)) => {
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
    let mut fixes: Vec<Option<Fix>> = diagnostics.iter().enumerate().map(fix).collect();
    for (fix, all) in fixes.iter_mut().zip(problems::fixes(program, &diagnostics)) {
        *fix = fix.take().or_else(|| all.into_iter().next());
    }
    fixes
}

/// Returns the verified fix of a remark on an op.
pub(super) fn fix_of(program: &Program, index: &Index, op: Op, remark: Remark) -> Option<Fix> {
    let check = checks::check_by_code(remark.code())?;
    let at = check.diagnostic_at(core_range(program.ir(), op), String::new());
    fixes(program, index, [&at], &mut FixTrial::default()).pop()?
}

/// Returns the fixes that add no error to the program. Fixes that do not overlap are applied
/// together to a copy of the program, and the copy is analyzed. This also verifies each fix alone,
/// because no fix depends on another: the removal of an unused op, or of a reset that only raises
/// noise, does not affect the remaining ops.
fn verified_fixes(
    program: &Program,
    index: &Index,
    fixes: Vec<Option<Fix>>,
    trial: &mut FixTrial,
) -> Vec<Option<Fix>> {
    let before = n_errors(program, index);
    let mut holds = vec![false; fixes.len()];
    let mut groups: Vec<Vec<usize>> =
        vec![(0..fixes.len()).filter(|&it| fixes[it].is_some()).collect()];
    for _ in 0..MAX_ANALYSES {
        let Some(group) = groups.pop() else { break };
        let (edits, is_taken) = combine_fixes(group.iter().filter_map(|&it| fixes[it].as_ref()));
        let mut is_taken = is_taken.into_iter();
        let (together, apart): (Vec<usize>, Vec<usize>) =
            group.into_iter().partition(|_| is_taken.next() == Some(true));
        if !apart.is_empty() {
            groups.push(apart);
        }
        if trial.n_errors(program, &edits) <= before {
            for at in together {
                holds[at] = true;
            }
        } else if together.len() > 1 {
            let (left, right) = together.split_at(together.len() / 2);
            groups.extend([right.to_vec(), left.to_vec()]);
        }
    }
    fixes.into_iter().zip(holds).map(|(fix, holds)| fix.filter(|_| holds)).collect()
}

/// Returns true if some sorted edits add no error to the program, or reduce the problems of the
/// parser and the verifier, which hide other errors.
pub(super) fn is_valid(
    program: &Program,
    index: &Index,
    edits: &[TextEdit],
    trial: &mut FixTrial,
) -> bool {
    trial.n_errors(program, edits) <= n_errors(program, index)
        || trial.0.as_ref().is_some_and(|it| {
            it.after.source().problems().len() < program.source().problems().len()
        })
}

/// Cache: the program after the last tried edits.
#[derive(Debug, Default)]
pub(super) struct FixTrial(Option<TriedEdits>);

#[derive(Debug)]
struct TriedEdits {
    edits: Vec<TextEdit>,
    after: Program,
    index: Index,
    n_errors: usize,
}

impl FixTrial {
    /// Returns the number of errors after some sorted edits. All calls must pass the same program.
    fn n_errors(&mut self, program: &Program, edits: &[TextEdit]) -> usize {
        if let Some(tried) = self.0.as_ref().filter(|it| it.edits == edits) {
            return tried.n_errors;
        }
        // Drops the old copy first, to keep only one in memory.
        self.0 = None;
        let text = TextEdit::apply_all(edits, &program.source().text().to_string());
        let after = Program::with_model(&text, program.model().clone());
        let index = Index::new(&after);
        let n_errors = n_errors(&after, &index);
        self.0.insert(TriedEdits { edits: edits.to_vec(), after, index, n_errors }).n_errors
    }

    /// Returns the program after some edits, if they are the last tried edits.
    pub(super) fn after(self, edits: &[TextEdit]) -> Option<(Program, Index)> {
        self.0.filter(|it| it.edits == edits).map(|it| (it.after, it.index))
    }
}

/// Returns the number of errors of a program: those of the parser, the verifier and the checks.
fn n_errors(program: &Program, index: &Index) -> usize {
    let found = checks::run(program, index, &[], DiagnosticDetail::Brief);
    let n_found = found.iter().filter(|it| it.severity == Severity::Error).count();
    program.source().problems().len() + n_found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::diagnostic::Applicability;

    /// Returns a fix that replaces the first occurrence of a text.
    fn replacing(text: &str, this: &str, that: &str) -> Option<Fix> {
        let start = text.find(this).expect("the text has it");
        let edits = vec![TextEdit { range: start..start + this.len(), text: that.to_owned() }];
        Some(Fix { title: String::new(), applicability: Applicability::Safe, edits })
    }

    #[test]
    fn rejects_only_fixes_that_add_errors() {
        let text = "func.func @f(%a: i32) -> i32 {\n  %b = arith.addi %a, %a : i32\n  %c = arith.addi %b, %b : i32\n  return %b : i32\n}\n";
        let program = Program::new(text);
        let proven = |fixes| {
            verified_fixes(&program, &Index::new(&program), fixes, &mut FixTrial::default())
        };
        let no_c = "  %c = arith.addi %b, %b : i32\n";
        let fixes = vec![
            replacing(text, no_c, ""),
            None,
            replacing(text, "  %b = arith.addi %a, %a : i32\n", ""),
            // Overlaps the first fix, and adds no error.
            replacing(text, "%b, %b", "%a, %a"),
            // Overlaps the first and the preceding fix, and adds an error.
            replacing(text, "%b, %b", "%z, %a"),
        ];
        let holds: Vec<bool> = proven(fixes).iter().map(Option::is_some).collect();
        assert_eq!(holds, [true, false, false, true, false]);
        assert_eq!(proven(Vec::new()), []);
        assert_eq!(proven(vec![None]), [None]);
    }
}
