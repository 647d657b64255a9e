//! Verification of placements: an edited copy of the text is parsed and analyzed with all calls.

use noisy_syntax::Op;
use rustc_hash::FxHashSet;

use super::PlacementError;
use super::group::GroupPlacement;
use crate::program::Program;
use crate::report::diagnostic::TextEdit;

/// The numbers of problems, ops and noise errors that are expected after the edits of some
/// placements.
#[derive(Debug, Default)]
pub(super) struct ExpectedCounts {
    n_problems: usize,
    n_ops: usize,
    /// All functions of the program, in textual order.
    functions: Vec<ExpectedFunction>,
}

#[derive(Clone, Copy, Debug)]
struct ExpectedFunction {
    /// True if the placement brings the function within the budget.
    is_fixed: bool,
    n_excesses: usize,
}

impl ExpectedCounts {
    pub(super) fn of(program: &Program, answers: &[&GroupPlacement]) -> Self {
        let sum = |of: fn(&GroupPlacement) -> usize| answers.iter().map(|it| of(it)).sum::<usize>();
        let n_before = count_ops(program, &program.model().reset_op);
        let excesses = program.excesses();
        let fixed: FxHashSet<Op> = answers.iter().flat_map(|it| it.fixed()).collect();
        let functions = program.ir().functions().into_iter().map(|it| ExpectedFunction {
            is_fixed: fixed.contains(&it),
            n_excesses: excesses.get(&it).copied().unwrap_or_default(),
        });
        Self {
            n_problems: program.source().problems().len(),
            n_ops: n_before + sum(GroupPlacement::n_inserted) - sum(GroupPlacement::n_removed),
            functions: functions.collect(),
        }
    }

    /// Returns an error unless a program has the promised numbers of problems, functions and ops,
    /// no noise error in fixed functions, and no additional noise error in others.
    pub(super) fn check_program(&self, after: &Program) -> Result<(), PlacementError> {
        let functions = after.ir().functions();
        check_problems(after, self.n_problems, self.functions.len(), functions.len())?;
        check_ops(after, &after.model().reset_op, self.n_ops)?;
        let excesses = after.excesses();
        // The edits keep the order of functions.
        for (old, new) in self.functions.iter().zip(functions) {
            let n_after = excesses.get(&new).copied().unwrap_or_default();
            let name = || after.function_name(new);
            if n_after > 0 && old.is_fixed {
                return unverified(format!("@{} is still over the budget", name()));
            }
            if n_after > old.n_excesses {
                let n_before = old.n_excesses;
                return unverified(format!(
                    "{n_after} noise errors in @{} instead of {n_before}",
                    name()
                ));
            }
        }
        Ok(())
    }
}

fn unverified<T>(how: String) -> Result<T, PlacementError> {
    Err(PlacementError::Unverified(how))
}

fn check_problems(
    after: &Program,
    n_problems: usize,
    n_functions: usize,
    n_functions_after: usize,
) -> Result<(), PlacementError> {
    let n_after = after.source().problems().len();
    if n_problems != n_after {
        return unverified(format!("{n_after} other problems instead of {n_problems}"));
    }
    if n_functions != n_functions_after {
        return unverified("the functions of the file differ".to_owned());
    }
    Ok(())
}

fn check_ops(after: &Program, op: &str, n_promised: usize) -> Result<(), PlacementError> {
    let n_found = count_ops(after, op);
    if n_promised != n_found {
        return unverified(format!("{n_found} ops of {op} instead of {n_promised}"));
    }
    Ok(())
}

/// Analyzes the edited text, and returns its program if it keeps the promise.
pub(super) fn verify(
    program: &Program,
    promise: &ExpectedCounts,
    edits: &[TextEdit],
) -> Result<Program, PlacementError> {
    let after = edited(program, edits);
    promise.check_program(&after)?;
    Ok(after)
}

fn edited(program: &Program, edits: &[TextEdit]) -> Program {
    let text = TextEdit::apply_all(edits, &program.source().text().to_string());
    Program::with_model(&text, program.model().clone())
}

/// Analyzes the edited text. Returns an error unless it has as many problems and functions as
/// before, and the promised number of ops with a name.
pub(super) fn reread(
    program: &Program,
    edits: &[TextEdit],
    op: &str,
    n_promised: usize,
) -> Result<Program, PlacementError> {
    let after = edited(program, edits);
    let n_functions = program.ir().functions().len();
    check_problems(
        &after,
        program.source().problems().len(),
        n_functions,
        after.ir().functions().len(),
    )?;
    check_ops(&after, op, n_promised)?;
    Ok(after)
}

/// Returns the number of ops with a name.
pub(super) fn count_ops(program: &Program, name: &str) -> usize {
    let ir = program.ir();
    let mut n = 0;
    ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op) == name));
    n
}
