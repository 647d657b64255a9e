//! The analysis disposes: an edited copy of the text is read and analyzed, calls and all.

use noisy_syntax::{Ir, Op};
use rustc_hash::FxHashSet;

use super::FixError;
use super::group::Answer;
use crate::{Document, TextEdit};

/// The functions in which noise goes over the budget.
pub(super) fn functions_over(document: &Document) -> FxHashSet<Op> {
    let (ir, analysis) = (document.ir(), &document.facts().analysis);
    let roots = analysis.roots(ir).into_iter().filter_map(|(value, _)| ir.defining_op(value));
    let loops = analysis.growing(ir).into_iter().map(|it| it.0);
    roots.chain(loops).filter_map(|op| ir.function_of(op)).collect()
}

/// Analyzes the text with the edits of some answers.
pub(super) fn verify(
    document: &Document,
    answers: &[&Answer],
    edits: &[TextEdit],
) -> Result<(), FixError> {
    let unverified = |how: String| Err(FixError::Unverified(how));
    let text = TextEdit::apply_all(edits, &document.source().text().to_string());
    let after = Document::with_model(&text, document.model().clone());
    let (n_before, n_after) = (document.source().problems().len(), after.source().problems().len());
    if n_before != n_after {
        return unverified(format!("{n_before} other problems became {n_after}"));
    }
    let count = |document: &Document| count_resets(document.ir(), &document.model().reset_op);
    let sum = |of: fn(&Answer) -> usize| answers.iter().map(|it| of(it)).sum::<usize>();
    let n_promised = count(document) + sum(Answer::inserted) - sum(Answer::removed);
    let n_found = count(&after);
    if n_promised != n_found {
        return unverified(format!("{n_promised} ops were promised, {n_found} found"));
    }
    // Functions keep their order.
    let (old, new) = (document.ir().functions(), after.ir().functions());
    if old.len() != new.len() {
        return unverified("functions came or went".to_owned());
    }
    let was_over = functions_over(document);
    let over = functions_over(&after);
    let mut n_mended = 0;
    for (old, new) in old.iter().zip(&new) {
        let is_mended = answers.iter().any(|it| it.is_mended(*old));
        n_mended += usize::from(is_mended && was_over.contains(old));
        let name = || after.function_name(*new);
        if is_mended && over.contains(new) {
            return unverified(format!("@{} is still over the budget", name()));
        }
        if over.contains(new) && !was_over.contains(old) {
            return unverified(format!("@{} is over the budget then", name()));
        }
    }
    let (n_before, n_after) = (document.n_errors(), after.n_errors());
    // One error at least is gone with each; but several may come of one chain, or of one contract.
    if n_after + n_mended > n_before {
        return unverified(format!("{n_before} errors became {n_after}"));
    }
    Ok(())
}

fn count_resets(ir: &Ir, name: &str) -> usize {
    let mut n = 0;
    ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op) == name));
    n
}
