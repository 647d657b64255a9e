//! Wording that is shared by messages about all problems.

use crate::Code;

/// Returns true if a message contains a name from the program: a value, a symbol, a label, an
/// alias, an op, or a quoted word.
fn has_subject(message: &str) -> bool {
    let starts_name = |at: usize, it: char| {
        matches!(it, '%' | '@' | '^')
            && message[at + 1..].starts_with(|it: char| it.is_alphanumeric() || it == '_')
    };
    let has_name = message.char_indices().any(|(at, it)| starts_name(at, it));
    let is_quoted = |quote: char| {
        let mut parts = message.split(quote).skip(1).step_by(2);
        parts.any(|it| it.contains(|it: char| it.is_alphanumeric() || it == '_'))
    };
    has_name || is_quoted('`')
}

/// Adds the op as the subject of a message; `None` if the message already has a subject.
pub(super) fn add_subject(message: &str, op: Option<&str>) -> Option<String> {
    let op = op?;
    if has_subject(message) {
        return None;
    }
    // Messages that start with these verbs continue a sentence that starts with the op. Others are
    // complete sentences.
    let verbs = [
        "has ",
        "must ",
        "expects ",
        "passes ",
        "gives ",
        "returns ",
        "needs ",
        "uses ",
        "takes ",
        "accesses ",
        "requires ",
        "cannot ",
        "can ",
        "does ",
        "may ",
        "is ",
    ];
    if verbs.iter().any(|it| message.starts_with(it)) {
        return Some(format!("`{op}` {message}"));
    }
    Some(format!("{message} (in `{op}`)"))
}

/// The remedy of a code: the text between the examples in its documentation.
pub(super) fn remedy(code: Code) -> Option<String> {
    let after = code.docs().split("```mlir").nth(1)?.split("```").nth(1)?;
    let text = after.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches('.');
    (!text.is_empty()).then(|| text.to_owned())
}

/// A number with a noun: `1 operand`, `2 operands`.
pub(super) fn count_text(n: usize, thing: &str) -> String {
    if n == 1 { format!("{n} {thing}") } else { format!("{n} {thing}s") }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn alternatives(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
