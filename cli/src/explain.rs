//! `explain`: documentation of diagnostic codes.

use std::io::{self, Write};

use noisy_analyses::Rule;

use crate::{EXIT_CLEAN, EXIT_FAILURE, print_error};

/// Prints the page of a code or of all codes, or lists all codes.
pub(crate) fn run(code: Option<&str>, all: bool, out: &mut dyn Write) -> io::Result<i32> {
    let Some(code) = code else {
        if !all {
            list(out)?;
            return Ok(EXIT_CLEAN);
        }
        for (n, it) in Rule::all().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            write!(out, "{separator}{}", it.page())?;
        }
        out.flush()?;
        return Ok(EXIT_CLEAN);
    };
    let Some(rule) = Rule::find(code) else {
        let near = noisy_settings::nearest(code, Rule::all().map(Rule::code));
        let near = near.map_or(String::new(), |it| format!("; did you mean {it}?"));
        print_error(&format!(
            "noisy-check: unknown code {code}{near}\n`noisy-check explain` lists all codes"
        ));
        return Ok(EXIT_FAILURE);
    };
    write!(out, "{}", rule.page())?;
    out.flush()?;
    Ok(EXIT_CLEAN)
}

/// Prints all codes with their titles, by category.
fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = Rule::all().map(|it| it.code().len()).max().unwrap_or(0);
    let mut last = None;
    for rule in Rule::all() {
        let category = rule.category().name();
        if last != Some(category) {
            let separator = if last.is_none() { "" } else { "\n" };
            writeln!(out, "{separator}{category}:")?;
            last = Some(category);
        }
        let off = if rule.is_on() { "" } else { " (off by default)" };
        writeln!(out, "  {:width$}  {}{off}", rule.code(), rule.title())?;
    }
    writeln!(out, "\n`noisy-check explain CODE` prints the page of a code.")?;
    out.flush()
}
