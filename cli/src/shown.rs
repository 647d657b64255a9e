//! Text for people: control characters are shown and not sent, so that no source, file name or symbol name writes to a terminal.

use std::borrow::Cow;

/// The text with a visible character for each control character: its picture, or U+FFFD where there is none. Line breaks and tabs
/// stay, and so do the numbers of characters and lines.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|it| if is_hidden(it) { picture(it) } else { it }).collect::<String>().into()
}

/// Whether a terminal would act on a character, or show others in another order because of it.
pub(crate) fn is_hidden(it: char) -> bool {
    let is_bidi =
        matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_bidi || (it.is_control() && !matches!(it, '\n' | '\t'))
}

/// What stands for a hidden character.
pub(crate) fn picture(it: char) -> char {
    match u32::from(it) {
        code @ ..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
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
}
