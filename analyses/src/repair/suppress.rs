//! Suppression of diagnostics by comments: `noisy-check --add-suppressions`.

use super::{MAX_ROUNDS, RepairResult, ReportRules};
use crate::checks;
use crate::document::Document;
use crate::report::diagnostic::Severity;

/// Suppresses the errors and warnings of a document by comments, if that is possible, and removes
/// comments that suppress nothing.
pub fn suppress(document: &mut Document, rules: &dyn ReportRules) -> RepairResult {
    let mut repaired = RepairResult::default();
    // Suppression of a diagnostic may reveal others.
    for _ in 0..MAX_ROUNDS {
        let mut found = rules.brief_diagnostics(document);
        rules.apply(&mut found);
        found.retain(|it| it.severity <= Severity::Warning);
        let unused = found.iter().filter(|it| !checks::can_be_suppressed(it.code));
        let (mut edits, n_removed) = document.fix_all(unused, false);
        let mut n_added = 0;
        if edits.is_empty() {
            found.retain(|it| checks::can_be_suppressed(it.code));
            edits = checks::suppression_edits(document, &found);
            n_added = found.len();
        }
        if edits.is_empty() {
            break;
        }
        let after = document.after(&edits);
        if after.source().problems().len() > document.source().problems().len() {
            break;
        }
        repaired.n_fixed += n_removed;
        repaired.n_suppressed += n_added;
        repaired.add(edits);
        *document = after;
    }
    repaired
}

#[cfg(test)]
mod tests;
