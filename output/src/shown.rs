//! Text for people: control characters are shown and not sent, so that no source, file name or symbol name writes to a terminal, or
//! begins a line that a CI takes for a command.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

/// The text with a visible character for each control character: its picture, or U+FFFD where there is none. Line breaks and tabs
/// stay, and so do the numbers of characters and lines.
pub fn shown(text: &str) -> Cow<'_, str> {
    pictured(text, is_hidden)
}

/// As [`shown`], in one line: of line breaks there are pictures too.
pub fn shown_line(text: &str) -> Cow<'_, str> {
    pictured(text, |it| it == '\n' || is_hidden(it))
}

/// The name of a file in one line, as [`shown_line`].
pub fn shown_path(path: &Path) -> String {
    shown_line(&path.to_string_lossy()).into_owned()
}

/// The name of a file for the first lines of a diff: one with control characters, quotes or backslashes stands in quotes, with the
/// escapes of C, as git writes it and `git apply` and `patch` read it. Where backslashes separate folders they stay.
pub fn quoted_name(name: &str) -> Cow<'_, str> {
    let is_escaped =
        |it: char| it.is_control() || it == '"' || (it == '\\' && MAIN_SEPARATOR != '\\');
    if !name.contains(is_escaped) {
        return Cow::Borrowed(name);
    }
    let mut out = String::from("\"");
    for it in name.chars() {
        match it {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '"' | '\\' => out.extend(['\\', it]),
            _ if it.is_control() => {
                for byte in it.to_string().bytes() {
                    out.push_str(&format!("\\{byte:03o}"));
                }
            }
            _ => out.push(it),
        }
    }
    out.push('"');
    out.into()
}

/// Whether a terminal would act on a character, or show others in another order because of it.
pub fn is_hidden(it: char) -> bool {
    let is_bidi =
        matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_bidi || (it.is_control() && !matches!(it, '\n' | '\t'))
}

/// What stands for a hidden character.
pub fn picture(it: char) -> char {
    match u32::from(it) {
        code @ ..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// The text with pictures of some characters.
fn pictured(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|it| if is_hidden(it) { picture(it) } else { it }).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert!(matches!(shown("a\tb\n\u{e4}\u{1f600}"), Cow::Borrowed(_)));
        assert_eq!(
            shown("\u{1b}[2J\r\u{7}\u{7f}\u{9b}\u{202e}"),
            "\u{241b}[2J\u{240d}\u{2407}\u{2421}\u{fffd}\u{fffd}"
        );
        assert_eq!(shown("\0"), "\u{2400}");
    }

    #[test]
    fn names_stay_in_their_line() {
        assert!(matches!(shown_line("a\tb \u{e4}"), Cow::Borrowed(_)));
        assert_eq!(shown_line("x\n::error::y\r\n"), "x\u{240a}::error::y\u{240d}\u{240a}");
        assert_eq!(shown_path(Path::new("a\n/b\u{1b}.mlir")), "a\u{240a}/b\u{241b}.mlir");
    }

    #[test]
    fn names_in_diffs_are_quoted_as_git_does() {
        assert!(matches!(quoted_name("a b/\u{e4}'.mlir"), Cow::Borrowed(_)));
        assert_eq!(quoted_name("x\n\r\t::error::y"), r#""x\n\r\t::error::y""#);
        assert_eq!(quoted_name("\u{1b}[2J\u{7f}\u{9b}\u{e4}"), "\"\\033[2J\\177\\302\\233\u{e4}\"");
        assert_eq!(quoted_name("a\"b"), r#""a\"b""#);
        if MAIN_SEPARATOR == '/' {
            assert_eq!(quoted_name("a\\b"), r#""a\\b""#);
        }
    }
}
