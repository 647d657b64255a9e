//! `explain`: documentation of diagnostic codes.

use std::io::{self, Write};

use noisy_analyses::Rule;

use crate::{CLEAN, FAILED, complain};

/// Prints the page of a code, or of all codes.
pub(crate) fn run(code: Option<&str>, out: &mut dyn Write) -> io::Result<i32> {
    let Some(code) = code else {
        for (n, it) in Rule::all().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            write!(out, "{separator}{}", it.page())?;
        }
        out.flush()?;
        return Ok(CLEAN);
    };
    let Some(rule) = Rule::find(code) else {
        let near = noisy_settings::nearest(code, Rule::all().map(Rule::code));
        let near = near.map_or(String::new(), |it| format!("; did you mean {it}?"));
        complain(&format!(
            "noisy-check: unknown code {code}{near}\n`noisy-check explain --all` lists all codes"
        ));
        return Ok(FAILED);
    };
    write!(out, "{}", rule.page())?;
    out.flush()?;
    Ok(CLEAN)
}
