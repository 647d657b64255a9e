//! Rules: all codes of diagnostics, with their documentation.
//!
//! There are two kinds: the checks of this crate ([`crate::checks`]) and the codes of the parser
//! and the verifier ([`Code`]). These rules are the source of `noisy-check explain`, the rules in
//! SARIF, the links of diagnostics in editors, and `docs/diagnostics.md`.

use std::borrow::Cow;

use noisy_syntax::Code;

use crate::checks::{self, Check};
use crate::report::diagnostic::{Category, Severity};

#[derive(Clone, Copy, Debug)]
pub enum Rule {
    Check(&'static Check),
    /// An error of the parser or the verifier.
    Problem(Code),
}

impl Rule {
    /// All rules, in the order of `docs/diagnostics.md`.
    pub fn all() -> impl Iterator<Item = Rule> {
        let checks = checks::ALL.iter().map(Rule::Check);
        checks.chain(Code::ALL.iter().copied().map(Rule::Problem))
    }

    /// Returns the rule with a code.
    pub fn find(code: &str) -> Option<Rule> {
        Rule::all().find(|it| it.code() == code)
    }

    /// The code of its diagnostics.
    pub fn code(self) -> &'static str {
        match self {
            Rule::Check(it) => it.code,
            Rule::Problem(it) => it.name(),
        }
    }

    /// The category of its diagnostics.
    pub fn category(self) -> Category {
        match self {
            Rule::Check(it) => it.category,
            Rule::Problem(it) => it.category().into(),
        }
    }

    /// Returns true if its diagnostics are reported by default.
    pub fn is_on(self) -> bool {
        match self {
            Rule::Check(it) => it.is_on,
            Rule::Problem(_) => true,
        }
    }

    /// The default severity of its diagnostics.
    pub fn severity(self) -> Severity {
        match self {
            Rule::Check(it) => it.severity,
            Rule::Problem(_) => Severity::Error,
        }
    }

    /// A short description, for example `noise over the budget`.
    pub fn title(self) -> &'static str {
        match self {
            Rule::Check(it) => it.title(),
            Rule::Problem(it) => it.title(),
        }
    }

    /// The problem and its remedy, with examples, in Markdown.
    pub fn docs(self) -> Cow<'static, str> {
        match self {
            Rule::Check(it) => it.docs().into(),
            Rule::Problem(it) => it.docs().into(),
        }
    }

    /// Returns the page of the rule in Markdown.
    pub fn page(self) -> String {
        let (severity, category) = (self.severity().name(), self.category().name());
        let docs = self.docs();
        let docs = docs.trim_end();
        let code = self.code();
        let (off, how) = if self.is_on() {
            ("", String::new())
        } else {
            let how = format!("`{code} = \"hint\"` under `[rules]` turns it on.");
            (", off by default", format!("\n\n{how}"))
        };
        format!("# {code}: {}\n\n*{severity}, {category}{off}*\n\n{docs}{how}\n", self.title())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::Document;

    /// Returns all rules in Markdown: the text of `docs/diagnostics.md`.
    fn book() -> String {
        let mut out = "# Diagnostics\n\n\
                       This page lists all codes: first those of the noise analysis and the lints, then those of parsing and verifying. The first example of each code is \
                       reported, the second is not. `noisy-check explain CODE` prints the same text. A test generates this page from the comments at the top of the files in \
                       `analyses/src/checks/`, and from `syntax/src/catalogue.md`.\n"
            .to_owned();
        for rule in Rule::all() {
            let _ = write!(out, "\n#{}", rule.page());
        }
        out
    }

    #[test]
    fn every_rule_is_found_by_its_code() {
        for rule in Rule::all() {
            assert!(Rule::find(rule.code()).is_some_and(|it| it.title() == rule.title()));
        }
        assert!(Rule::find("noise").is_none());
    }

    #[test]
    fn the_first_example_is_reported_and_the_second_is_not() {
        for rule in Rule::all() {
            let found = |text: &str| {
                let mut out = Document::new(text).diagnostics_with(&[rule.code()]);
                out.dedup_by_key(|it| it.code);
                out
            };
            let docs = rule.docs();
            let examples = docs.split("```mlir\n").skip(1).filter_map(|it| it.split("```").next());
            let examples: Vec<_> = examples.collect();
            let [bad, good] = examples[..] else {
                let limits = [Code::NestingTooDeep, Code::TooMany].map(Code::name);
                assert!(limits.contains(&rule.code()), "{} has examples", rule.code());
                continue;
            };
            // Hints of unused values may be reported too: the examples are short.
            let bad_found: Vec<_> =
                found(bad).into_iter().filter(|it| it.severity <= rule.severity()).collect();
            let [it] = &bad_found[..] else { panic!("{bad}{bad_found:?}") };
            let is_told = (it.code, it.category, it.severity);
            assert_eq!(is_told, (rule.code(), rule.category(), rule.severity()), "{bad}");
            let worse: Vec<_> = found(good)
                .into_iter()
                .filter(|it| it.severity != Severity::Hint || it.code == rule.code())
                .collect();
            assert_eq!(worse, [], "{good}");
        }
    }

    #[test]
    fn the_book_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/diagnostics.md");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, book()).unwrap_or_else(|it| panic!("{path}: {it}"));
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == book(),
            "write it anew: BLESS=1 cargo test --release -p noisy-analyses --lib book"
        );
    }
}
