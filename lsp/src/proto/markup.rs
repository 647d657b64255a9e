//! Converts texts with markup for clients with and without support for markup.

use tower_lsp::ls_types as lsp;

/// A Markdown text in the client's format.
pub(crate) fn markup_content(is_plain: bool, text: String) -> lsp::MarkupContent {
    if is_plain {
        return lsp::MarkupContent {
            kind: lsp::MarkupKind::PlainText,
            value: without_markup(&text),
        };
    }
    lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: text }
}

/// Removes the marks of code blocks, bold text and code from a text.
fn without_markup(text: &str) -> String {
    let mut fence = None;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(_) => out.extend([line, "\n"]),
            None => out.extend([&*line.replace("**", "").replace('`', ""), "\n"]),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_have_no_marks() {
        for (text, wanted) in [
            ("one\n\ntwo\n", "one\n\ntwo"),
            ("```mlir\n%a ** `b`\n```\n\n**22 over** in `f`.\n", "%a ** `b`\n\n22 over in f."),
            ("````````mlir\n```\nx\n````````\nend", "```\nx\nend"),
            ("**`rules`**: a table", "rules: a table"),
        ] {
            assert_eq!(without_markup(text), wanted, "{text}");
        }
        assert_eq!(markup_content(false, "**a**".to_owned()).value, "**a**");
    }
}
