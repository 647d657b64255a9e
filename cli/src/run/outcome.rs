//! The result of a run: totals over all files, the last line of the output, the exit code.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::file::check::FileReport;
use crate::input::args::CheckArgs;
use crate::output::format::FindingTotals;
use crate::{EXIT_CLEAN, EXIT_FAILURE, EXIT_FINDINGS, EXIT_INTERNAL_ERROR};

/// Totals of a run.
#[derive(Debug, Default)]
pub(crate) struct RunTotals {
    totals: FindingTotals,
    /// Number of diagnostics of each code.
    pub codes: BTreeMap<&'static str, usize>,
    n_changed: usize,
    /// Number of inserted ops by name.
    inserted: BTreeMap<String, usize>,
    n_fixed: usize,
    n_suppressed: usize,
    n_left_out: usize,
    /// Number of files that could not be checked.
    pub n_unchecked: usize,
    has_failure: bool,
    has_internal_error: bool,
}

impl RunTotals {
    /// Adds a file.
    pub(crate) fn add_file(&mut self, checked: &FileReport) {
        let (totals, counts) = (&mut self.totals, &checked.counts);
        totals.n_files += usize::from(checked.is_read);
        self.n_unchecked += usize::from(!checked.is_read);
        totals.n_files_with_findings += usize::from(!counts.codes.is_empty());
        totals.n_errors += counts.errors;
        totals.n_warnings += counts.warnings;
        totals.n_hints += counts.hints;
        for (code, n) in &counts.codes {
            *self.codes.entry(code).or_default() += n;
        }
        self.n_left_out += checked.n_left_out;
        if let Some(failure) = &checked.failure {
            self.has_failure = true;
            self.has_internal_error |= failure.code == "internal-error";
        }
        if checked.fixed.is_changed {
            self.n_changed += 1;
            self.n_fixed += checked.fixed.n_fixed;
            self.n_suppressed += checked.fixed.n_suppressed;
            for note in &checked.fixed.notes {
                if let Some(n) = note.inserted.filter(|&it| it > 0) {
                    *self.inserted.entry(note.op.clone()).or_default() += n;
                }
            }
        }
    }

    /// The last line of the output for people.
    pub(crate) fn summary(&self, args: &CheckArgs) -> String {
        let FindingTotals {
            n_files: files,
            n_files_with_findings: files_with,
            n_errors: errors,
            n_warnings: warnings,
            n_hints: hints,
        } = self.totals;
        let mut out = String::new();
        let mut done = Vec::new();
        let mut add = |verb: &str, what: String| {
            let first = &verb[..1];
            let first = if done.is_empty() { first.to_uppercase() } else { first.to_owned() };
            done.push(format!("{first}{} {what}", &verb[1..]));
        };
        if self.n_fixed > 0 {
            add("fixed", count_text(self.n_fixed, "problem"));
        }
        if self.n_suppressed > 0 {
            add("suppressed", count_text(self.n_suppressed, "problem"));
        }
        for (op, n) in &self.inserted {
            add("inserted", format!("{n} {op}"));
        }
        if !done.is_empty() {
            out = format!("{} in {}. ", done.join(", "), count_text(self.n_changed, "file"));
        }
        let left = if args.fixing.is_writing() { "left " } else { "" };
        let parts: Vec<_> = [(errors, "error"), (warnings, "warning"), (hints, "hint")]
            .iter()
            .filter(|it| it.0 > 0)
            .map(|&(n, what)| count_text(n, what))
            .collect();
        if files == 0 && self.has_failure {
            if self.n_unchecked == 0 {
                out.push_str("No files to check.");
            }
        } else if parts.is_empty() {
            out.push_str(&format!("No problems {left}in {}.", count_text(files, "file")));
        } else {
            let files = match (files_with, files) {
                (with, all) if all > with => format!("{with} of {all} files"),
                (with, _) => count_text(with, "file"),
            };
            out.push_str(&format!("{} {left}in {files}.", parts.join(", ")));
        }
        if self.n_left_out > 0 {
            out.push_str(&format!(" {} not shown.", self.n_left_out));
        }
        if self.n_unchecked > 0 {
            let separator = if out.is_empty() { "" } else { " " };
            let files = count_text(self.n_unchecked, "file");
            out.push_str(&format!("{separator}{files} could not be checked."));
        }
        out
    }

    /// Prints the counts of `--statistics`.
    pub(crate) fn print_statistics(&self) -> io::Result<()> {
        let mut codes: Vec<_> = self.codes.iter().collect();
        codes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        for (code, n) in codes {
            writeln!(io::stderr(), "{n:>8}  {code}")?;
        }
        Ok(())
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self, args: &CheckArgs) -> i32 {
        let totals = self.totals;
        if self.has_internal_error {
            EXIT_INTERNAL_ERROR
        } else if self.has_failure {
            EXIT_FAILURE
        } else if args.show.show_ranges || args.fixing.fix_only {
            EXIT_CLEAN
        } else {
            let found = if args.fixing.diff {
                self.n_changed > 0
            } else {
                let wrong = totals.n_errors > 0 || (args.error_on_warning && totals.n_warnings > 0);
                wrong && !args.exit_zero
            };
            if found { EXIT_FINDINGS } else { EXIT_CLEAN }
        }
    }
}

/// A count with its noun: `1 file`, `2 files`.
pub(crate) fn count_text(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
