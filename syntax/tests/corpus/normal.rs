//! Normalizes the generic form: removes the differences between two prints of the same program,
//! which are names of values and blocks, aliases, comments and empty lines.
//!
//! Values and blocks are numbered in the order of their definitions. Each pair of braces is a
//! scope. A name refers to its definition in the nearest enclosing scope, before or after the use.

use std::collections::HashMap;
use std::fmt::Write as _;

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece<'a> {
    /// `%name`, and true at its definition.
    Value(&'a str, bool),
    /// `^name`, and true at its definition.
    Block(&'a str, bool),
    /// `#name` or `!name`.
    Alias(&'a str),
    Open,
    Close,
    Other(&'a str),
}

/// Returns the normalized text.
pub(crate) fn normalize(text: &str) -> String {
    let (aliases, body) = split_aliases(text);
    let body = expand(&body, &aliases);
    let pieces = split_pieces(&body);
    // The parent of each scope, and the definitions in each scope.
    let mut parents = vec![0];
    let mut scopes = vec![HashMap::new()];
    let (mut at, mut n_values, mut n_blocks) = (0, 0, 0);
    let mut opened = Vec::new();
    for piece in &pieces {
        match *piece {
            Piece::Open => {
                parents.push(at);
                scopes.push(HashMap::new());
                at = scopes.len() - 1;
                opened.push(at);
            }
            Piece::Close => at = parents[at],
            Piece::Value(name, true) => {
                scopes[at].insert(name, n_values);
                n_values += 1;
            }
            Piece::Block(name, true) => {
                scopes[at].insert(name, n_blocks);
                n_blocks += 1;
            }
            _ => {}
        }
    }
    let find = |mut at: usize, name: &str| loop {
        if let Some(number) = scopes[at].get(name) {
            return Some(*number);
        }
        if at == 0 {
            return None;
        }
        at = parents[at];
    };
    let mut out = String::new();
    let mut opened = opened.into_iter();
    at = 0;
    for piece in &pieces {
        match *piece {
            Piece::Open => {
                at = opened.next().unwrap_or(0);
                out.push('{');
            }
            Piece::Close => {
                at = parents[at];
                out.push('}');
            }
            Piece::Value(name, _) | Piece::Block(name, _) => {
                out.push_str(&name[..1]);
                match find(at, name) {
                    Some(number) => write!(out, "{number}").expect("writing to a string"),
                    None => out.push_str("undefined"),
                }
            }
            Piece::Alias(text) | Piece::Other(text) => out.push_str(text),
        }
    }
    let lines = out.lines().map(str::trim_end).filter(|it| !it.is_empty());
    lines.fold(String::new(), |out, it| out + it + "\n")
}

/// Returns the aliases with their meanings, and the text without their definitions.
fn split_aliases(text: &str) -> (HashMap<String, String>, String) {
    let mut aliases: HashMap<String, String> = HashMap::new();
    let mut body = String::new();
    for line in text.lines() {
        if line.starts_with(['#', '!'])
            && let Some((name, value)) = line.split_once(" = ")
        {
            // A location within a location is written without `loc(..)`.
            let inner = |it: &String| {
                let location = it.strip_prefix("loc(").and_then(|it| it.strip_suffix(')'));
                location.unwrap_or(it).to_owned()
            };
            let nested: HashMap<String, String> =
                aliases.iter().map(|(name, value)| (name.clone(), inner(value))).collect();
            let is_location = value.starts_with("loc(");
            let value = expand(value, if is_location { &nested } else { &aliases });
            aliases.insert(name.to_owned(), value);
        } else {
            body += line;
            body.push('\n');
        }
    }
    (aliases, body)
}

fn expand(text: &str, aliases: &HashMap<String, String>) -> String {
    let mut out = String::new();
    for piece in split_pieces(text) {
        match piece {
            Piece::Value(it, _) | Piece::Block(it, _) | Piece::Other(it) => out.push_str(it),
            Piece::Alias(it) => out.push_str(aliases.get(it).map_or(it, String::as_str)),
            Piece::Open => out.push('{'),
            Piece::Close => out.push('}'),
        }
    }
    out
}

fn split_pieces(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let is_name = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'$' | b'.' | b'_' | b'-');
    let mut out = Vec::new();
    let mut at = 0;
    let mut line_start = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                at = (at + 1).min(bytes.len());
                out.push(Piece::Other(&text[start..at]));
            }
            b'/' if bytes.get(at) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'{' => out.push(Piece::Open),
            b'}' => out.push(Piece::Close),
            sigil @ (b'%' | b'^' | b'#' | b'!') => {
                while at < bytes.len() && is_name(bytes[at]) {
                    at += 1;
                }
                let name = &text[start..at];
                let starts_line = text[line_start..start].trim().is_empty();
                let next = bytes.get(at).copied().unwrap_or(0);
                out.push(match sigil {
                    // `%0 = `, `%0:2 = `, or `^bb0(%0: i32)`.
                    b'%' => Piece::Value(name, starts_line || next == b':'),
                    b'^' => Piece::Block(name, starts_line),
                    _ => Piece::Alias(name),
                });
            }
            _ => {
                while at < bytes.len() && !b"\"/{}%^#!\n".contains(&bytes[at]) {
                    at += 1;
                }
                if bytes[start] == b'\n' {
                    line_start = start + 1;
                }
                out.push(Piece::Other(&text[start..at]));
            }
        }
    }
    out
}

#[test]
fn names_and_aliases_do_not_matter() {
    let one = "#map = affine_map<(d0) -> (d0)>
module {
  %a:2 = f(%b) {m = #map} // here
  ^bb1(%b: i32):
  {
    %x = g(%a#1)
  }
}
";
    let other = "module {
  %0:2 = f(%arg0) {m = affine_map<(d0) -> (d0)>}
^bb7(%arg0: i32):
  {
    %7 = g(%0#1)
  }
}
";
    let strip = |it: &str| it.replace("  ^bb1", "^bb1");
    assert_eq!(normalize(&strip(one)), normalize(other));
    assert_ne!(normalize(&strip(one)), normalize(&other.replace("#1", "#0")));
}
