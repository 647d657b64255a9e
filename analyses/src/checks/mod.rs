//! Checks: diagnostics beyond the grammar, one file per code. The header of each file is its
//! documentation: code and title, a description and examples. `Check::docs` returns it.

/// Expands to the text of the header of a file. The rest of the file is cut off at compile time, so
/// the binary does not contain it.
macro_rules! header {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const HEADER: [u8; $crate::checks::header_len(TEXT)] = $crate::checks::first_bytes(TEXT);
        match std::str::from_utf8(&HEADER) {
            Ok(it) => it,
            Err(_) => panic!("the header ends with a line"),
        }
    }};
}

mod code;
pub(crate) mod heir;
mod index;
mod noise;
pub(crate) mod rule;
mod suppression;

pub(crate) use code::loop_invariant::moved_with_others;
pub(crate) use index::Index;
pub use suppression::{can_be_suppressed, suppression_edits};

use std::ops::Range;

use crate::program::Program;
use crate::report::diagnostic::{Category, Diagnostic, Fix, RepairKind, Severity, Tag};

/// A check: its code, and the function that computes its diagnostics.
#[derive(Debug)]
pub struct Check {
    /// The code of its diagnostics, in kebab case.
    pub code: &'static str,
    /// The category of its diagnostics.
    pub category: Category,
    /// True if its diagnostics are reported by default.
    pub is_on: bool,
    /// The default severity of its diagnostics.
    pub severity: Severity,
    /// The kind of repair that its diagnostics need if they have no fixes.
    repair: RepairKind,
    /// The tag of its diagnostics, which decides how editors show them.
    pub tag: Option<Tag>,
    /// The header of its file: the documentation.
    header: &'static str,
    run: CheckFunction,
    /// Like `run`, but without explanations; present if these are most of the work.
    run_in_brief: Option<CheckFunction>,
    /// Computes the fixes of its diagnostics.
    pub(crate) fix: Option<FixFunction>,
}

/// A function that adds the diagnostics of a check.
type CheckFunction = fn(&Program, &Index, &mut Vec<Diagnostic>);

/// The level of detail of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiagnosticDetail {
    /// The problem and its reason.
    Full,
    /// Only the problem, for checks with expensive explanations.
    Brief,
}

/// The function that computes the fixes of a check.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FixFunction {
    /// Computes the fix of one diagnostic.
    Each(fn(&Program, &Diagnostic) -> Option<Fix>),
    /// Computes the fixes of all requested diagnostics, in the same order, with shared look-ups.
    Together(fn(&Program, &[&Diagnostic]) -> Vec<Option<Fix>>),
}

/// All checks.
pub const ALL: &[Check] = &[
    noise::noise_overflow::CHECK,
    noise::noise_grows::CHECK,
    noise::decode_over_budget::CHECK,
    noise::contract_violated::CHECK,
    noise::invalid_contract::CHECK,
    noise::missing_contract::CHECK,
    heir::missing_relinearize::CHECK,
    heir::operands::unequal_levels::CHECK,
    heir::operands::ciphertext_types::CHECK,
    heir::operands::unequal_scales::CHECK,
    heir::operands::unencoded_plaintext::CHECK,
    heir::operands::not_lowered::CHECK,
    heir::operands::scale_over_modulus::CHECK,
    heir::operands::out_of_range::CHECK,
    heir::level_mismatch::CHECK,
    heir::dimension_mismatch::CHECK,
    heir::level_underflow::CHECK,
    heir::too_few_moduli::CHECK,
    heir::varying_level::CHECK,
    heir::noise_validation::CHECK,
    heir::scale_mismatch::CHECK,
    heir::missing_scale::CHECK,
    heir::invalid_scheme::CHECK,
    heir::unreadable_attribute::CHECK,
    heir::needless_relinearize::CHECK,
    heir::unknown_heir_op::CHECK,
    noise::redundant_reduce::CHECK,
    code::misspelled_name::CHECK,
    code::unused_op::CHECK,
    code::unreachable_code::CHECK,
    code::constant_condition::CHECK,
    code::same_value::CHECK,
    code::folds_to_constant::CHECK,
    code::loop_invariant::CHECK,
    code::dead_store::CHECK,
    noise::undecided::CHECK,
    suppression::CHECK,
];

/// Returns the diagnostics of all checks that are on or whose codes are in `also`, in no particular
/// order.
pub(crate) fn run(
    program: &Program,
    index: &Index,
    also: &[&str],
    detail: DiagnosticDetail,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let is_run = |it: &Check| it.is_on || also.contains(&it.code);
    for check in ALL.iter().filter(|it| is_run(it)) {
        let in_brief = check.run_in_brief.filter(|_| detail == DiagnosticDetail::Brief);
        in_brief.unwrap_or(check.run)(program, index, &mut out);
    }
    suppression::apply(program, index, &is_run, &mut out);
    out
}

/// Returns the check with a code.
pub(crate) fn check_by_code(code: &str) -> Option<&'static Check> {
    ALL.iter().find(|it| it.code == code)
}

impl Check {
    /// The defaults of a check that reports noise errors: it is on and has no fix.
    const ERROR: Check = Check {
        code: "",
        category: Category::Noise,
        is_on: true,
        severity: Severity::Error,
        repair: RepairKind::None,
        tag: None,
        header: "",
        run: |_, _, _| {},
        run_in_brief: None,
        fix: None,
    };

    /// The defaults of a check that reports noise warnings.
    const WARNING: Check = Check { severity: Severity::Warning, ..Check::ERROR };

    /// The defaults of a check that reports hints at possible improvements.
    const HINT: Check =
        Check { category: Category::Lint, severity: Severity::Hint, ..Check::ERROR };

    /// Returns the title in the header: `noise over the budget`.
    pub(crate) fn title(&self) -> &'static str {
        let first = self.header.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(self.code, |(_, title)| title)
    }

    /// Returns the documentation in the header as Markdown: the problem, its remedy, and examples.
    pub(crate) fn docs(&self) -> String {
        let mut out = String::new();
        let lines = self.header.lines().map_while(|it| it.strip_prefix("//!"));
        for line in lines.skip(1) {
            out.push_str(line.strip_prefix(' ').unwrap_or(line));
            out.push('\n');
        }
        out.trim_matches('\n').to_owned() + "\n"
    }

    /// Creates a diagnostic of this check.
    pub(crate) fn diagnostic_at(&self, range: Range<usize>, message: String) -> Diagnostic {
        Diagnostic {
            code: self.code,
            category: self.category,
            severity: self.severity,
            range,
            message,
            related: Vec::new(),
            help: None,
            mlir_wording: None,
            tags: self.tag.into_iter().collect(),
            repair: if self.fix.is_some() { RepairKind::Edits } else { self.repair },
        }
    }
}

/// Returns the length in bytes of the `//!` lines at the start of a text.
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

/// Returns the first `N` bytes of a text.
const fn first_bytes<const N: usize>(text: &str) -> [u8; N] {
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
            assert!(check_by_code(check.code).is_some_and(|it| it.title() == check.title()));
            assert!(check.header.lines().all(|it| it.starts_with("//!")), "{}", check.code);
            assert!(check.header.contains("//! ```mlir"), "{} has no example", check.code);
        }
    }
}
