//! Untrusted text for people: control characters are displayed, not sent. So no source, file name
//! or symbol name can control a terminal, or start a line that a CI system interprets as a command.
//! Also file names for programs.

use std::borrow::Cow;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// Returns the text with a visible character for each control character: its picture in Unicode, or
/// U+FFFD if there is none. Line breaks and tabs are kept, and the numbers of characters and lines
/// do not change.
pub fn shown(text: &str) -> Cow<'_, str> {
    replace_hidden(text, is_hidden)
}

/// Like [`shown`], but returns one line: line breaks are also replaced.
pub fn shown_line(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |it| it == '\n' || is_hidden(it))
}

/// Returns the name of a file in one line, like [`shown_line`].
pub fn shown_path(path: &Path) -> String {
    shown_line(&path.to_string_lossy()).into_owned()
}

/// Returns the name of a file as git and CI services write it: without redundant parts (`a/b` for
/// `./a//./b`), and with `/` between folders.
pub fn plain_path(path: &Path) -> PathBuf {
    let plain: PathBuf = path.components().filter(|it| *it != Component::CurDir).collect();
    if plain.as_os_str().is_empty() {
        return path.to_owned();
    }
    if MAIN_SEPARATOR == '/' {
        return plain;
    }
    plain.to_string_lossy().replace(MAIN_SEPARATOR, "/").into()
}

/// Returns the name of a file for the header of a diff: like [`plain_path`], but a name with
/// control characters, quotes, backslashes or invalid UTF-8 is quoted with C escapes. This is the
/// format of git, which `git apply` and `patch` read.
pub fn quoted_name(name: impl AsRef<Path>) -> String {
    let path = plain_path(name.as_ref());
    let is_escaped = |it: char| it.is_control() || matches!(it, '"' | '\\');
    if let Some(name) = path.to_str().filter(|it| !it.contains(is_escaped)) {
        return name.to_owned();
    }
    let put = |out: &mut String, bytes: &[u8]| {
        out.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
    };
    let mut out = String::from("\"");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for it in chunk.valid().chars() {
            match it {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '"' | '\\' => out.extend(['\\', it]),
                _ if it.is_control() => put(&mut out, it.to_string().as_bytes()),
                _ => out.push(it),
            }
        }
        put(&mut out, chunk.invalid());
    }
    out.push('"');
    out
}

/// Returns true if a terminal would interpret a character, reorder others because of it, or display
/// nothing for it. These are the control characters, and all of Unicode's format characters that
/// are `Bidi_Control` or `Default_Ignorable_Code_Point`. The joiners U+200C and U+200D are
/// exceptions, which scripts and emoji need.
pub fn is_hidden(it: char) -> bool {
    let is_format = matches!(
        it,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}'
    );
    is_format || (it.is_control() && !matches!(it, '\n' | '\t'))
}

/// Returns the visible replacement of a hidden character.
pub fn picture(it: char) -> char {
    match u32::from(it) {
        code @ ..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// Replaces the hidden characters by visible ones.
fn replace_hidden(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
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
    fn shows_reordering_and_invisible_characters() {
        for it in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}".chars() {
            assert_eq!(shown_line(&format!("a{it}b")), "a\u{fffd}b", "{it:?}");
        }
        for it in
            "\u{ad}\u{180e}\u{200b}\u{2060}\u{206f}\u{feff}\u{1d17a}\u{e0001}\u{e007f}".chars()
        {
            assert_eq!(shown(&format!("a{it}b")), "a\u{fffd}b", "{it:?}");
        }
        // Joined letters, an emoji of a family, a red heart, and a no-break space.
        let texts =
            "\u{915}\u{94d}\u{200c}\u{937} \u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f} \u{a0}";
        assert!(matches!(shown(texts), Cow::Borrowed(_)));
    }

    #[test]
    fn names_for_programs_are_plain() {
        for (typed, plain) in [
            ("a.mlir", "a.mlir"),
            ("./a.mlir", "a.mlir"),
            ("././/src/./a.mlir", "src/a.mlir"),
            ("../a.mlir", "../a.mlir"),
            ("/src/.//a.mlir", "/src/a.mlir"),
            (".a/.b.mlir", ".a/.b.mlir"),
            ("<stdin>", "<stdin>"),
            (".", "."),
            ("", ""),
        ] {
            assert_eq!(plain_path(Path::new(typed)).to_str(), Some(plain));
        }
    }

    #[test]
    fn names_in_diffs_are_quoted_as_git_does() {
        assert_eq!(quoted_name("a b/\u{e4}'.mlir"), "a b/\u{e4}'.mlir");
        assert_eq!(quoted_name("./a/./b.mlir"), "a/b.mlir");
        assert_eq!(quoted_name("x\n\r\t::error::y"), r#""x\n\r\t::error::y""#);
        assert_eq!(quoted_name("\u{1b}[2J\u{7f}\u{9b}\u{e4}"), "\"\\033[2J\\177\\302\\233\u{e4}\"");
        assert_eq!(quoted_name("./a\"b"), r#""a\"b""#);
        if MAIN_SEPARATOR == '/' {
            assert_eq!(quoted_name("a\\b"), r#""a\\b""#);
        }
    }

    #[cfg(unix)]
    #[test]
    fn quotes_invalid_utf8_like_git() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes| quoted_name(std::ffi::OsStr::from_bytes(bytes));
        assert_eq!(name(b"\xff.mlir"), r#""\377.mlir""#);
        assert_eq!(name(b"./\xc3\xa4 \xc3\\\xa4\xc3"), "\"\u{e4} \\303\\\\\\244\\303\"");
    }
}
