//! Patterns with the semantics of git, and paths relative to their folder.

use std::borrow::Cow;
use std::env;
use std::iter::Peekable;
use std::path::{Path, PathBuf, is_separator};
use std::str::Chars;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::folders::{absolute, folders};

/// The folder to which some patterns are relative.
#[derive(Clone, Debug)]
pub struct PatternRoot {
    folder: PathBuf,
    /// The path from the current folder to this folder, if this folder is inside.
    from_here: Option<PathBuf>,
    /// The path from this folder to the current folder, if the current folder is inside.
    here: Option<PathBuf>,
}

impl PatternRoot {
    /// Creates a root from a folder, which is relative to the current folder or absolute.
    pub fn new(folder: &Path) -> Self {
        let folder = absolute(folder);
        let here = env::current_dir().unwrap_or_default();
        let below = |it: &Path, above: &Path| it.strip_prefix(above).ok().map(Path::to_owned);
        let from_here = below(&folder, &here);
        let here = if from_here.is_none() { below(&here, &folder) } else { None };
        Self { folder, from_here, here }
    }

    /// Returns the path of a file relative to the folder, without `.` and `..`, under any name of
    /// the file. `None` if the file is outside. Links are not followed.
    pub fn relative_path<'a>(&self, path: &'a Path) -> Option<Cow<'a, Path>> {
        // Every prefix of a path is matched, so the number of folders is limited.
        folders(path).next()?;
        // Most paths are already normalized.
        let short = path.strip_prefix(".").unwrap_or(path);
        if path.is_absolute() {
            if let Some(it) = path.strip_prefix(&self.folder).ok().filter(|it| is_plain(it)) {
                return Some(Cow::Borrowed(it));
            }
        } else if is_plain(short) {
            if let Some(from_here) = &self.from_here {
                return short.strip_prefix(from_here).ok().map(Cow::Borrowed);
            }
            return self.here.as_ref().map(|it| Cow::Owned(it.join(short)));
        }
        absolute(path).strip_prefix(&self.folder).ok().map(|it| Cow::Owned(it.to_owned()))
    }
}

/// Returns true if a path has no `.`, `..` or empty names.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.split(|it| is_separator(char::from(*it))).all(|it| !matches!(it, b"" | b"." | b".."))
}

/// Returns true if patterns match a file or a folder above it. The path is relative to the folder
/// of the patterns.
pub fn is_matched(patterns: &Gitignore, place: &Path) -> bool {
    patterns.matched_path_or_any_parents(place, false).is_ignore()
}

/// Adds a line of an ignore file with git's semantics. The `ignore` crate differs: in git, braces
/// are plain characters, only blanks are removed at the end, classes have names (`[[:alpha:]]`) and
/// escapes and never match a slash, and a single `!` is ignored.
///
/// # Errors
///
/// If the line is not a valid pattern; git ignores such lines.
pub fn add_pattern(builder: &mut GitignoreBuilder, line: &str) -> Result<(), String> {
    if let Some(pattern) = convert_line(line)? {
        builder.add_line(None, &pattern).map_err(|it| it.to_string())?;
    }
    Ok(())
}

/// Converts a line to the syntax of the `ignore` crate; `None` if it is empty.
fn convert_line(line: &str) -> Result<Option<String>, String> {
    if line.starts_with('#') {
        return Ok(None);
    }
    let line = without_blanks(line);
    let (sign, pattern) = line.strip_prefix('!').map_or(("", line), |it| ("!", it));
    let (pattern, end) = pattern.strip_suffix('/').map_or((pattern, ""), |it| (it, "/"));
    let start = if pattern.contains('/') { "/" } else { "" };
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            '*' | '?' => out.push(it),
            '[' => {
                let class = CharClass::read(&mut chars)?;
                if !class.add_to(&mut out) {
                    return Ok(None);
                }
            }
            '\\' => match chars.next() {
                Some(it) => add_plain(&mut out, it),
                None => return Err("nothing follows the `\\` at the end".to_owned()),
            },
            _ => add_plain(&mut out, it),
        }
    }
    if out.is_empty() {
        return Ok(None);
    }
    // The crate would remove trailing whitespace.
    if end.is_empty()
        && let Some(last) = out.pop()
    {
        if last.is_whitespace() {
            out.extend(['{', last, '}']);
        } else {
            out.push(last);
        }
    }
    // The crate would interpret the slash of a class as a separator.
    let start = if start.is_empty() && out.contains('/') { "**/" } else { start };
    Ok(Some(format!("{sign}{start}{out}{end}")))
}

/// Removes the blanks at the end of a line, except one after a backslash.
fn without_blanks(line: &str) -> &str {
    let mut end = None;
    let mut chars = line.char_indices();
    while let Some((at, it)) = chars.next() {
        match it {
            ' ' => {
                end.get_or_insert(at);
            }
            '\\' => {
                chars.next();
                end = None;
            }
            _ => end = None,
        }
    }
    &line[..end.unwrap_or(line.len())]
}

/// Adds a literal character.
fn add_plain(out: &mut String, it: char) {
    if "*?[]{}\\!#".contains(it) {
        out.push('\\');
    }
    out.push(it);
}

/// A class of characters, such as `[a-z_]`.
#[derive(Default)]
struct CharClass {
    is_negated: bool,
    /// The ASCII characters, one bit each.
    ascii: u128,
    /// Other characters, as in the pattern.
    others: String,
}

impl CharClass {
    /// Parses a class after its `[`.
    fn read(chars: &mut Peekable<Chars<'_>>) -> Result<Self, String> {
        let is_negated = chars.next_if(|it| matches!(it, '!' | '^')).is_some();
        let mut out = Self { is_negated, ..Self::default() };
        // The possible start of a range.
        let mut before: Option<char> = None;
        let mut is_first = true;
        loop {
            let it = or_unclosed(chars.next())?;
            if it == ']' && !is_first {
                return Ok(out);
            }
            is_first = false;
            let to = chars.peek().copied().filter(|it| *it != ']');
            before = if it == '\\' {
                Some(or_unclosed(chars.next())?)
            } else if let ('-', Some(from), Some(to)) = (it, before, to) {
                chars.next();
                let to = if to == '\\' { or_unclosed(chars.next())? } else { to };
                out.add(from, to);
                None
            } else if it == '['
                && let Some(name) = read_class_name(chars)
            {
                out.add_named(&name)?;
                None
            } else {
                Some(it)
            };
            if let Some(it) = before {
                out.add(it, it);
            }
        }
    }

    fn add(&mut self, from: char, to: char) {
        self.ascii |= (from..=to.min('\x7f')).fold(0, |it, c| it | 1 << u32::from(c));
        let from = from.max('\u{80}');
        if from < to {
            self.others.extend([from, '-', to]);
        } else if from == to {
            self.others.push(to);
        }
    }

    fn add_named(&mut self, name: &str) -> Result<(), String> {
        let is_in: fn(&char) -> bool = match name {
            "alnum" => char::is_ascii_alphanumeric,
            "alpha" => char::is_ascii_alphabetic,
            "blank" => |it| matches!(it, ' ' | '\t'),
            "cntrl" => char::is_ascii_control,
            "digit" => char::is_ascii_digit,
            "graph" => char::is_ascii_graphic,
            "lower" => char::is_ascii_lowercase,
            "print" => |it| matches!(it, ' '..='~'),
            "punct" => char::is_ascii_punctuation,
            "space" => |it| matches!(it, ' ' | '\t'..='\r'),
            "upper" => char::is_ascii_uppercase,
            "xdigit" => char::is_ascii_hexdigit,
            _ => return Err(format!("there is no class `[:{name}:]`")),
        };
        ('\0'..='\x7f').filter(is_in).for_each(|it| self.add(it, it));
        Ok(())
    }

    /// Writes the class in the syntax of the crate, which has no escapes in classes. Returns false
    /// if it matches nothing.
    fn add_to(mut self, out: &mut String) -> bool {
        let bit = |it: char| 1_u128 << u32::from(it);
        let mut take = |it: char| {
            let is_in = self.ascii & bit(it) != 0;
            self.ascii &= !bit(it);
            is_in
        };
        take('/');
        let special: Vec<char> = [']', '!', '^', '-'].into_iter().filter(|it| take(*it)).collect();
        let mut plain = self.others;
        let is_in = |it: u8| it < 0x80 && self.ascii & 1 << it != 0;
        let mut at = 0;
        while at < 0x80 {
            let n = (at..0x80).take_while(|it| is_in(*it)).count() as u8;
            match n {
                0 => {}
                1 => plain.push(char::from(at)),
                _ => plain.extend([char::from(at), '-', char::from(at + n - 1)]),
            }
            at += n + 1;
        }
        if self.is_negated {
            // `]` comes first and `-` last, because they are literal there.
            let close = if special.contains(&']') { "]" } else { "" };
            out.extend(["[!", close, &plain, "/"]);
            out.extend(special.iter().filter(|it| **it != ']'));
            out.push(']');
            return true;
        }
        let mut parts: Vec<String> = special.iter().map(|it| format!("\\{it}")).collect();
        if !plain.is_empty() {
            parts.push(format!("[{plain}]"));
        }
        match &parts[..] {
            [] => return false,
            [one] => out.push_str(one),
            _ => out.push_str(&format!("{{{}}}", parts.join(","))),
        }
        true
    }
}

fn or_unclosed(it: Option<char>) -> Result<char, String> {
    it.ok_or_else(|| "no `]` closes the `[`".to_owned())
}

/// Parses a class name such as `[:alpha:]`, from the `:` on. Consumes nothing if there is none.
fn read_class_name(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut ahead = chars.clone();
    ahead.next_if_eq(&':')?;
    let mut name = String::new();
    // A name ends where another one may start, so no text is read twice.
    while let Some(it) = ahead.next_if(|it| !":[]".contains(*it)) {
        name.push(it);
    }
    let is_closed = ahead.next() == Some(':') && ahead.next() == Some(']');
    is_closed.then(|| {
        *chars = ahead;
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that a line matches.
    #[cfg(unix)]
    fn matched(line: &str, names: &[&'static str]) -> Result<Vec<&'static str>, String> {
        let mut builder = GitignoreBuilder::new("");
        add_pattern(&mut builder, line)?;
        let patterns = builder.build().expect(line);
        let mut names = names.to_vec();
        names.retain(|it| is_matched(&patterns, Path::new(it)));
        Ok(names)
    }

    /// A line, names that it matches, and names that it does not match.
    #[cfg(unix)]
    const LINES: &[(&str, &[&str], &[&str])] = &[
        ("{a,b}", &["{a,b}", "x/{a,b}/y"], &["a", "b"]),
        ("a{", &["a{"], &["a"]),
        ("a}", &["a}"], &["a"]),
        ("[{]", &["{"], &["[{]"]),
        ("a,b", &["a,b"], &["a"]),
        ("[[:alpha:]]x", &["ax", "Zx"], &["1x", ":x", "[x", "_x"]),
        ("[[:digit:][:upper:]_]", &["7", "A", "_"], &["a", ":", "d"]),
        ("[![:space:]]", &["a", "]"], &[" ", "\t", "aa"]),
        ("[[:digit:]-z]", &["5", "-", "z"], &["m"]),
        ("[[:x]", &["[", ":", "x"], &["]", "a"]),
        ("[[:]", &["[", ":"], &["]"]),
        ("[[a]", &["[", "a"], &["]"]),
        ("[\\]x]", &["]", "x"], &["\\", "[\\]x]"]),
        ("[Z-\\]]", &["Z", "[", "\\", "]"], &["-", "a"]),
        ("[]-a]", &["]", "^", "a"], &["-", "b"]),
        ("[]!a]x", &["]x", "!x", "ax"], &["bx"]),
        ("[!]-]x", &["ax", "!x"], &["]x", "-x"]),
        ("[^-a]", &["b", "^"], &["-", "a"]),
        ("[-a]", &["-", "a"], &["b"]),
        ("[--0]", &["-", "0"], &["a", ","]),
        ("[\\!\\^]", &["!", "^"], &["a", "-"]),
        ("[\\!-]", &["!", "-"], &["a"]),
        ("[z-ab]", &["z", "b"], &["a", "c"]),
        ("[a-c-e]", &["a", "b", "-", "e"], &["d"]),
        ("x[,-/]y", &["x-y", "x,y"], &["x/y"]),
        ("a[/]b", &[], &["a/b", "ab"]),
        ("a[!x]b", &["ayb", "c/ayb"], &["axb", "a/b"]),
        ("a/[!x]", &["a/y"], &["a/x", "b/a/y"]),
        ("[/a]b", &["ab"], &["b", "c/ab"]),
        ("a\t", &["a\t"], &["a"]),
        ("a\t/", &["a\t/x"], &["a/x", "a\t"]),
        ("a  ", &["a"], &["a  "]),
        ("a\\ ", &["a "], &["a"]),
        ("a\\   ", &["a "], &["a", "a   "]),
        ("a\\\\ ", &["a\\"], &["a\\ "]),
        ("a\u{a0}", &["a\u{a0}"], &["a"]),
        ("  a", &["  a"], &["a"]),
        ("!", &[], &["a", "!"]),
        ("/", &[], &["a"]),
        ("!/", &[], &["a"]),
        ("//a", &[], &["a", "b/a"]),
        ("#a", &[], &["#a", "a"]),
        ("\\#a", &["#a"], &["a"]),
        ("\\!a", &["!a"], &["a"]),
        ("\\*a", &["*a"], &["ba"]),
        ("a\\/b", &["a/b"], &["c/a/b"]),
        ("/a", &["a", "a/x"], &["x/a"]),
        ("a/b", &["a/b", "a/b/c"], &["x/a/b"]),
        ("a/**/b", &["a/b", "a/x/y/b"], &["ab"]),
        ("a/**", &["a/b", "a/b/c"], &["a", "b/a"]),
        ("**", &["a", "a/b"], &[]),
        ("[\u{e9}]", &[], &["\u{e9}"]),
        ("?", &["a"], &["\u{e9}", "ab"]),
    ];

    #[cfg(unix)]
    #[test]
    fn reads_patterns_like_git() {
        for (line, yes, no) in LINES {
            assert_eq!(matched(line, yes).as_deref(), Ok(*yes), "{line:?}");
            assert_eq!(matched(line, no), Ok(Vec::new()), "{line:?}");
        }
        let wrong =
            ["[a", "[", "[!", "[]", "a[\\]", "[[:alpha:", "a\\", "a\\/", "[[:foo:]a]", "[[::]a]"];
        for line in wrong {
            assert!(matched(line, &[]).is_err(), "{line:?}");
        }
    }

    #[test]
    fn long_classes_are_fast() {
        for line in ["[".repeat(500_000), "[:".repeat(250_000), "[[:a".repeat(100_000) + "]"] {
            let _ = convert_line(&line);
        }
    }

    #[test]
    fn finds_a_file_by_any_of_its_names() {
        let here = env::current_dir().expect("there is one");
        let name = PathBuf::from(here.file_name().expect("it has a name"));
        let above = here.parent().expect("it is in a folder");
        let places = |root: &Path, paths: &[PathBuf]| {
            let root = PatternRoot::new(root);
            let place = |it: &PathBuf| root.relative_path(it).map(Cow::into_owned);
            paths.iter().map(place).collect::<Vec<_>>()
        };
        let paths: Vec<PathBuf> = vec![
            "q/a.mlir".into(),
            "./q/a.mlir".into(),
            "q//./a.mlir".into(),
            "q/../q/a.mlir".into(),
            PathBuf::from("..").join(&name).join("q/a.mlir"),
            here.join("q/a.mlir"),
            here.join("x/./../q/a.mlir"),
        ];
        for (root, place) in [
            (here.join("q"), Some(PathBuf::from("a.mlir"))),
            (PathBuf::from("q"), Some(PathBuf::from("a.mlir"))),
            (PathBuf::from("x/../q"), Some(PathBuf::from("a.mlir"))),
            (here.clone(), Some(PathBuf::from("q/a.mlir"))),
            (PathBuf::new(), Some(PathBuf::from("q/a.mlir"))),
            (above.to_owned(), Some(name.join("q/a.mlir"))),
            (here.join("other"), None),
            (above.join("other"), None),
        ] {
            assert_eq!(places(&root, &paths), vec![place; paths.len()], "{}", root.display());
        }
        let beside = [PathBuf::from("../other/a.mlir"), above.join("other/a.mlir")];
        let found = vec![Some(PathBuf::from("a.mlir")); 2];
        assert_eq!(places(&above.join("other"), &beside), found);
        assert_eq!(places(&here, &beside), [None, None]);
    }
}
