//! What is reported beyond the grammar, one file per code. Each file opens with its code and title, its documentation and an example;
//! [`Check::docs`] is made from those comments.

mod constant_condition;
mod contract_violated;
mod decode_over_budget;
mod invalid_contract;
mod missing_contract;
mod noise_grows;
mod noise_overflow;
mod redundant_reduce;
mod removal;
mod suppression;
mod unreachable_code;
mod unused_op;

pub(crate) use removal::proven;
pub(crate) use suppression::MARK;

use std::ops::Range;

use crate::{Category, Diagnostic, Document, Fix, Severity, Tag};

/// A check: what it is called and how it finds what it reports.
#[derive(Debug)]
pub struct Check {
    /// The code of its diagnostics, in kebab case.
    pub code: &'static str,
    /// The family of its diagnostics.
    pub category: Category,
    /// How bad they are, unless a configuration says otherwise.
    pub severity: Severity,
    /// How an editor may show them.
    pub tag: Option<Tag>,
    /// The text of its file, which opens with the documentation.
    source: &'static str,
    /// Adds what it finds.
    run: fn(&Document, &mut Vec<Diagnostic>),
    /// What mends one of its diagnostics.
    fix: Option<fn(&Document, &Diagnostic) -> Option<Fix>>,
}

/// All checks.
pub const ALL: &[Check] = &[
    noise_overflow::CHECK,
    noise_grows::CHECK,
    decode_over_budget::CHECK,
    contract_violated::CHECK,
    invalid_contract::CHECK,
    missing_contract::CHECK,
    redundant_reduce::CHECK,
    unused_op::CHECK,
    unreachable_code::CHECK,
    constant_condition::CHECK,
    suppression::CHECK,
];

/// Everything that the checks find, in no particular order.
pub(crate) fn run(document: &Document) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for check in ALL {
        (check.run)(document, &mut out);
    }
    suppression::apply(document, &mut out);
    out
}

/// The check of a code.
pub fn find(code: &str) -> Option<&'static Check> {
    ALL.iter().find(|it| it.code == code)
}

impl Check {
    /// What it is about, a few words: `noise over the budget`.
    pub fn title(&self) -> &'static str {
        let first = self.source.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(self.code, |(_, title)| title)
    }

    /// What it reports and what to do about it, with an example, in Markdown.
    pub fn docs(&self) -> String {
        let mut out = String::new();
        let lines = self.source.lines().map_while(|it| it.strip_prefix("//!"));
        for line in lines.skip(1) {
            out.push_str(line.strip_prefix(' ').unwrap_or(line));
            out.push('\n');
        }
        out.trim_matches('\n').to_owned() + "\n"
    }

    pub(crate) fn fix(&self, document: &Document, diagnostic: &Diagnostic) -> Option<Fix> {
        self.fix?(document, diagnostic)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_title() {
        for check in ALL {
            assert!(check.source.starts_with(&format!("//! {}: ", check.code)), "{}", check.code);
            assert!(find(check.code).is_some_and(|it| it.title() == check.title()));
        }
    }
}
