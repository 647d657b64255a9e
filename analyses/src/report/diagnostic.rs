//! Diagnostics and fixes: plain data with byte ranges of a text.

use std::collections::BTreeMap;
use std::ops::Range;

pub use noisy_syntax::TextEdit;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program is wrong.
    Error,
    /// The program probably differs from the intention.
    Warning,
    /// Information, without a problem.
    Info,
    /// The program can be improved.
    Hint,
}

/// Maximum number of diagnostics of a file that are reported by default; further ones are only
/// counted.
pub const MAX_DIAGNOSTICS: usize = 1000;

/// Returns at most `most` diagnostics of a file, the most severe ones, in their order, and the
/// number of omitted ones.
pub fn most_severe(found: Vec<Diagnostic>, most: usize) -> (Vec<Diagnostic>, usize) {
    let n_left = found.len().saturating_sub(most);
    if n_left == 0 {
        return (found, 0);
    }
    let mut numbered: Vec<_> = found.into_iter().enumerate().collect();
    numbered.sort_by_key(|(_, it)| it.severity);
    numbered.truncate(most);
    numbered.sort_by_key(|it| it.0);
    (numbered.into_iter().map(|it| it.1).collect(), n_left)
}

/// The category of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The text does not follow the grammar.
    Syntax,
    Name,
    Type,
    /// A verifier rejects the op.
    Structure,
    /// Noise over the budget, contracts.
    Noise,
    /// A possible improvement.
    Lint,
}

impl Severity {
    /// Returns the name in output and settings: `error`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        }
    }
}

impl Category {
    /// Returns the name in output and settings: `syntax`.
    pub fn name(self) -> &'static str {
        match self {
            Category::Syntax => "syntax",
            Category::Name => "name",
            Category::Type => "type",
            Category::Structure => "structure",
            Category::Noise => "noise",
            Category::Lint => "lint",
        }
    }
}

impl From<noisy_syntax::Category> for Category {
    fn from(it: noisy_syntax::Category) -> Category {
        match it {
            noisy_syntax::Category::Syntax => Category::Syntax,
            noisy_syntax::Category::Name => Category::Name,
            noisy_syntax::Category::Type => Category::Type,
            noisy_syntax::Category::Structure => Category::Structure,
        }
    }
}

/// A property of the range that decides how editors show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Unnecessary code, which editors fade out.
    Unnecessary,
}

/// A position that explains a diagnostic, such as an op from which the noise comes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RelatedLocation {
    pub range: Range<usize>,
    pub message: String,
}

impl Diagnostic {
    /// Returns the text that identifies the diagnostic across versions of a program: without
    /// suggestions, which depend on the rest of the program.
    pub fn identity(&self) -> &str {
        self.mlir_wording.as_ref().unwrap_or(&self.message)
    }
}

/// A reported problem of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Stable kebab-case code, such as `noise-overflow`.
    pub code: &'static str,
    pub category: Category,
    pub severity: Severity,
    pub range: Range<usize>,
    /// The problem and its reason: one sentence with the value, the number and the limit, in lower
    /// case, without a full stop.
    pub message: String,
    /// The chain of causes, starting at its source.
    pub related: Vec<RelatedLocation>,
    /// The remedy: capitalized sentences, without the last full stop.
    pub help: Option<String>,
    /// The problem in the words of `mlir-opt`, for searches in the web; `None` if the message has
    /// the same words.
    pub mlir_wording: Option<String>,
    pub tags: Vec<Tag>,
    /// The kind of repair that the diagnostic needs; [`crate::repair`] computes the repair.
    pub repair: RepairKind,
}

/// The kind of repair that a diagnostic needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RepairKind {
    /// No repair is known.
    #[default]
    None,
    /// The edits of a fix for this diagnostic: [`crate::Document::fixes`].
    Edits,
    /// One of several fixes, among which the user chooses: [`crate::Document::choices`].
    Choice,
    /// A placement of `reduce_noise` in its function and in functions that are connected with it by
    /// calls.
    Placement,
    /// A placement of bootstraps, level reductions or relinearizations in its function.
    Management,
}

impl RepairKind {
    /// Returns true if the optimizer computes this repair.
    pub fn is_by_optimizer(self) -> bool {
        matches!(self, RepairKind::Placement | RepairKind::Management)
    }
}

/// The confidence in a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Applicability {
    /// The fix keeps the meaning of the program. If it changes noise, the edited program has been
    /// analyzed.
    Safe,
    /// The fix is probably right; a user must review it.
    Unsafe,
}

/// A change that removes a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fix {
    /// An imperative: `Insert 3 reduce_noise (proven optimal)`.
    pub title: String,
    pub applicability: Applicability,
    /// Disjoint edits of the analyzed text, in textual order.
    pub edits: Vec<TextEdit>,
}

/// Selects fixes that can be applied together: in the given order, each fix whose edits do not
/// overlap those of a selected earlier fix. Returns the selected edits in textual order, and for
/// each fix true if it is selected. Lines that several fixes insert at one offset keep the order of
/// the fixes.
pub fn combine_fixes<'a>(fixes: impl IntoIterator<Item = &'a Fix>) -> (Vec<TextEdit>, Vec<bool>) {
    // The key is the start of an edit and the index of its fix. Only inserted lines of several
    // fixes, and a repeated edit of one fix, have the same start.
    let mut taken: BTreeMap<(usize, usize), &TextEdit> = BTreeMap::new();
    let mut is_taken = Vec::new();
    let is_line = |it: &TextEdit| it.range.is_empty() && it.text.ends_with('\n');
    for (n, fix) in fixes.into_iter().enumerate() {
        let is_free = fix.edits.iter().all(|it| {
            let at = it.range.start;
            let before = taken.range(..=(at, usize::MAX)).next_back();
            let after = taken.range((at, 0)..).next();
            let is_behind = |of: &TextEdit| {
                of.range.end <= at && (of.range.start < at || is_line(of) && is_line(it))
            };
            before.is_none_or(|(_, of)| is_behind(of))
                && after.is_none_or(|(&(start, _), _)| it.range.end <= start)
        });
        if is_free {
            taken.extend(fix.edits.iter().map(|it| ((it.range.start, n), it)));
        }
        is_taken.push(is_free);
    }
    (taken.into_values().cloned().collect(), is_taken)
}

impl Fix {
    /// Returns the text after the fix.
    pub fn apply(&self, text: &str) -> String {
        TextEdit::apply_all(&self.edits, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_fixes_are_not_combined() {
        let fix = |ranges: &[(usize, usize)]| {
            let edit = |it: &(usize, usize)| TextEdit { range: it.0..it.1, text: "x".into() };
            let edits = ranges.iter().map(edit).collect();
            Fix { title: String::new(), applicability: Applicability::Safe, edits }
        };
        let fixes = [
            fix(&[(0, 2), (10, 12)]),
            // Adjacent to the first.
            fix(&[(2, 4)]),
            // Overlaps the first.
            fix(&[(5, 6), (11, 13)]),
            // Overlaps only the preceding fix, which is not selected.
            fix(&[(5, 6)]),
            // Starts at the start of a selected fix.
            fix(&[(5, 5)]),
            fix(&[(6, 6)]),
            // Two insertions at one offset, which have no order.
            fix(&[(6, 6)]),
            // Inside of a selected range.
            fix(&[(3, 3)]),
            fix(&[(8, 11)]),
            fix(&[]),
        ];
        let (edits, is_taken) = combine_fixes(&fixes);
        let taken = [true, true, false, true, false, true, false, false, false, true];
        assert_eq!(is_taken, taken);
        let ranges: Vec<_> = edits.iter().map(|it| it.range.clone()).collect();
        assert_eq!(ranges, [0..2, 2..4, 5..6, 6..6, 10..12]);
        // Insertions of whole lines have an order.
        let line = |at: usize, text: &str| {
            let edits = vec![TextEdit { range: at..at, text: text.to_owned() }];
            Fix { title: String::new(), applicability: Applicability::Safe, edits }
        };
        let (edits, is_taken) = combine_fixes(&[
            line(6, "a\n"),
            line(6, "b\n"),
            line(6, "c"),
            fix(&[(6, 7)]),
            line(6, "d\n"),
        ]);
        assert_eq!(is_taken, [true, true, false, false, true]);
        assert_eq!(TextEdit::apply_all(&edits, "012345678"), "012345a\nb\nd\n678");
    }

    #[test]
    fn the_most_severe_diagnostics_keep_their_order() {
        use Severity::{Error, Hint, Warning};
        let found: Vec<_> = [Warning, Hint, Error, Error, Hint, Warning]
            .into_iter()
            .enumerate()
            .map(|(at, severity)| Diagnostic {
                code: "a",
                category: Category::Lint,
                severity,
                range: at..at,
                message: String::new(),
                related: Vec::new(),
                help: None,
                mlir_wording: None,
                tags: Vec::new(),
                repair: RepairKind::None,
            })
            .collect();
        let kept = |most| {
            let (kept, n_left) = most_severe(found.clone(), most);
            (kept.iter().map(|it| it.range.start).collect::<Vec<_>>(), n_left)
        };
        assert_eq!(kept(6), (vec![0, 1, 2, 3, 4, 5], 0));
        assert_eq!(kept(3), (vec![0, 2, 3], 3));
        assert_eq!(kept(0), (vec![], 6));
    }
}
