//! `explain`: what a diagnostic is about.

use std::io::{self, Write};

use noisy_analyses::checks::{self, Check};

use crate::{CLEAN, FAILED, complain};

/// Prints the documentation of a code, or of all.
pub(crate) fn run(code: Option<&str>, out: &mut dyn Write) -> io::Result<i32> {
    let Some(code) = code else {
        for (n, it) in checks::ALL.iter().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            write!(out, "{separator}{}", page(it))?;
        }
        out.flush()?;
        return Ok(CLEAN);
    };
    let Some(check) = checks::find(code) else {
        let codes: Vec<_> = checks::ALL.iter().map(|it| it.code).collect();
        let near = noisy_settings::nearest(code, codes.iter().copied());
        let near = near.map_or(String::new(), |it| format!("; did you mean {it}?"));
        complain(&format!(
            "noisy-check: there is no rule {code}{near}\nThere are: {}",
            codes.join(", ")
        ));
        return Ok(FAILED);
    };
    write!(out, "{}", page(check))?;
    out.flush()?;
    Ok(CLEAN)
}

fn page(check: &Check) -> String {
    let (severity, category) =
        (crate::format::severity(check.severity), crate::format::category(check.category));
    format!("# {}: {}\n\n{severity}, {category}\n\n{}", check.code, check.title(), check.docs())
}
