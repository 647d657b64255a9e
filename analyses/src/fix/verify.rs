//! The analysis disposes: an edited copy of the text is read and analyzed, calls and all.

use super::FixError;
use super::group::Answer;
use crate::diagnostic::TextEdit;
use crate::program::Program;

/// Analyzes the text with the edits of some answers; the program that it is then.
pub(super) fn verify(
    program: &Program,
    answers: &[&Answer],
    edits: &[TextEdit],
) -> Result<Program, FixError> {
    let unverified = |how: String| Err(FixError::Unverified(how));
    let sum = |of: fn(&Answer) -> usize| answers.iter().map(|it| of(it)).sum::<usize>();
    let op = &program.model().reset_op;
    let n_promised = count_ops(program, op) + sum(Answer::inserted) - sum(Answer::removed);
    let after = reread(program, edits, op, n_promised)?;
    // Functions keep their order.
    let (old, new) = (program.ir().functions(), after.ir().functions());
    let (before, after_all) = (program.excesses(), after.excesses());
    for (old, new) in old.iter().zip(&new) {
        let n_before = before.get(old).copied().unwrap_or_default();
        let n_after = after_all.get(new).copied().unwrap_or_default();
        let name = after.function_name(*new);
        if n_after > 0 && answers.iter().any(|it| it.is_fixed(*old)) {
            return unverified(format!("@{name} is still over the budget"));
        }
        if n_after > n_before {
            return unverified(format!("{n_after} noise errors in @{name} instead of {n_before}"));
        }
    }
    Ok(after)
}

/// Reads the edited text. It has as many problems and functions as before, and as many ops of a name as were promised.
pub(super) fn reread(
    program: &Program,
    edits: &[TextEdit],
    op: &str,
    n_promised: usize,
) -> Result<Program, FixError> {
    let unverified = |how: String| Err(FixError::Unverified(how));
    let text = TextEdit::apply_all(edits, &program.source().text().to_string());
    let after = Program::with_model(&text, program.model().clone());
    let (n_before, n_after) = (program.source().problems().len(), after.source().problems().len());
    if n_before != n_after {
        return unverified(format!("{n_after} other problems instead of {n_before}"));
    }
    let n_found = count_ops(&after, op);
    if n_promised != n_found {
        return unverified(format!("{n_found} ops of {op} instead of {n_promised}"));
    }
    if program.ir().functions().len() != after.ir().functions().len() {
        return unverified("the functions of the file differ".to_owned());
    }
    Ok(after)
}

/// How many ops of a name a program has.
pub(super) fn count_ops(program: &Program, name: &str) -> usize {
    let ir = program.ir();
    let mut n = 0;
    ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op) == name));
    n
}
