//! The position of an offset in a configuration file: in a key, a header or a value, and its table.
//! The text is parsed by TOML's own parser, which continues after an error, so an incomplete line
//! does not hide others.

use std::ops::Range;

use rustc_hash::FxHashMap;
use toml_parser::Source;
use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};

/// The syntax at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionRole {
    /// A key. True if a value follows it.
    Key { has_value: bool },
    /// A part of a header, of `[[...]]` or of `[...]`.
    Header { of_arrays: bool },
    /// A value.
    Value,
}

/// The position of an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The path of the table that contains the key or the part of a header, or the path of the
    /// value.
    pub path: Vec<String>,
    /// The syntax at the position.
    pub role: PositionRole,
    /// True if a value is an element of an array.
    pub is_item: bool,
    /// The word at the offset, in bytes; empty if there is none.
    pub range: Range<usize>,
    /// The key at the offset.
    pub word: String,
    /// The keys that the table already has.
    pub existing_keys: Vec<String>,
}

/// Maximum size in bytes of an analyzed text; no configuration is larger.
const MAX_TEXT_LEN: usize = 1 << 20;

/// Maximum depth of brackets; deeper ones are ignored.
const MAX_DEPTH: u32 = 64;

/// The index of a key in [`KeyPaths`]. The root of the text is 0.
type KeyId = usize;

/// The keys that were read. Each is stored once, with its table, so a key costs only its word at
/// any depth.
struct KeyPaths {
    /// The table and the word of each key.
    all: Vec<(KeyId, String)>,
    numbers: FxHashMap<(KeyId, String), KeyId>,
}

impl KeyPaths {
    const ROOT: KeyId = 0;

    fn new() -> Self {
        Self { all: vec![(Self::ROOT, String::new())], numbers: FxHashMap::default() }
    }

    /// Returns the index of a key in a table, and adds it if it is new.
    fn key(&mut self, table: KeyId, word: String) -> KeyId {
        let all = &mut self.all;
        *self.numbers.entry((table, word)).or_insert_with_key(|it| {
            all.push(it.clone());
            all.len() - 1
        })
    }

    /// Returns the words on the path to a key.
    fn words(&self, mut path: KeyId) -> Vec<String> {
        let mut out = Vec::new();
        while path != Self::ROOT {
            let (table, word) = &self.all[path];
            out.push(word.clone());
            path = *table;
        }
        out.reverse();
        out
    }
}

/// An open bracket.
struct OpenBracket {
    is_array: bool,
    /// The path of the value that the bracket starts.
    path: KeyId,
}

/// The current syntax.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SyntaxPart {
    Header {
        of_arrays: bool,
    },
    Key,
    Value,
    /// A value or a header is complete.
    Done,
}

/// The state before an event.
struct ReaderState<'a> {
    text: &'a str,
    paths: KeyPaths,
    /// The table of the last header.
    table: KeyId,
    /// Number of `[[...]]` so far: each has its own keys.
    n_arrays: usize,
    frames: Vec<OpenBracket>,
    /// The path of the current table, including the parts of a key or header that were read.
    path: KeyId,
    part: SyntaxPart,
    /// True if a part of a key is expected: after a dot, or before the first part.
    expects_key: bool,
    /// All keys, each with its element of an array of tables.
    seen: Vec<(usize, KeyId)>,
}

impl<'a> ReaderState<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            paths: KeyPaths::new(),
            table: KeyPaths::ROOT,
            n_arrays: 0,
            frames: Vec::new(),
            path: KeyPaths::ROOT,
            part: SyntaxPart::Key,
            expects_key: true,
            seen: Vec::new(),
        }
    }

    fn is_in_array(&self) -> bool {
        self.frames.last().is_some_and(|it| it.is_array)
    }

    /// Returns the element of an array of tables that contains the current table.
    fn element(&self) -> usize {
        if matches!(self.part, SyntaxPart::Header { .. }) { 0 } else { self.n_arrays }
    }

    fn begin(&mut self, part: SyntaxPart) {
        self.path = match (part, self.frames.last()) {
            (SyntaxPart::Header { .. }, _) => KeyPaths::ROOT,
            (_, Some(frame)) => frame.path,
            (_, None) => self.table,
        };
        self.part = part;
        self.expects_key = true;
    }

    fn advance(&mut self, event: &Event) {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                let of_arrays = event.kind() == EventKind::ArrayTableOpen;
                self.frames.clear();
                self.table = KeyPaths::ROOT;
                self.begin(SyntaxPart::Header { of_arrays });
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                self.n_arrays += usize::from(event.kind() == EventKind::ArrayTableClose);
                self.table = self.path;
                self.part = SyntaxPart::Done;
            }
            EventKind::SimpleKey => {
                self.path = self.paths.key(self.path, word(self.text, event));
                self.seen.push((self.element(), self.path));
                self.expects_key = false;
            }
            EventKind::KeySep => self.expects_key = true,
            EventKind::KeyValSep => self.part = SyntaxPart::Value,
            EventKind::InlineTableOpen | EventKind::ArrayOpen => {
                let is_array = event.kind() == EventKind::ArrayOpen;
                self.frames.push(OpenBracket { is_array, path: self.path });
                self.begin(if is_array { SyntaxPart::Value } else { SyntaxPart::Key });
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                self.frames.pop();
                self.begin(SyntaxPart::Done);
            }
            EventKind::Scalar => self.part = SyntaxPart::Done,
            EventKind::ValueSep => {
                self.begin(if self.is_in_array() { SyntaxPart::Value } else { SyntaxPart::Key });
            }
            EventKind::Newline => {
                if self.frames.is_empty() {
                    if matches!(self.part, SyntaxPart::Header { .. }) {
                        self.table = self.path;
                    }
                    self.begin(SyntaxPart::Key);
                }
            }
            EventKind::Whitespace | EventKind::Comment | EventKind::Error => {}
        }
    }
}

/// Returns the position of an offset. `None` in comments, or if the text is too long.
pub(super) fn at(text: &str, offset: usize) -> Option<Position> {
    if text.len() > MAX_TEXT_LEN {
        return None;
    }
    let offset = offset.min(text.len());
    let tokens = Source::new(text).lex().into_vec();
    let mut events: Vec<Event> = Vec::new();
    parse_document(&tokens, &mut RecursionGuard::new(&mut events, MAX_DEPTH), &mut ());
    let mut state = ReaderState::new(text);
    let mut found = None;
    for (n, event) in events.iter().enumerate() {
        let span = event.span().start()..event.span().end();
        let touches = span.start <= offset && offset <= span.end;
        match event.kind() {
            EventKind::Comment if span.start < offset && offset <= span.end => return None,
            EventKind::SimpleKey if touches => {
                let mut after = events[n + 1..].iter().map(Event::kind);
                let next = after.find(|it| *it != EventKind::Whitespace);
                let has_value = matches!(next, Some(EventKind::KeyValSep | EventKind::KeySep));
                found = Some(place(&state, span.clone(), has_value, word(text, event)));
            }
            EventKind::Scalar | EventKind::Error if touches && span.start < offset => {
                let is_word = event.kind() == EventKind::Scalar;
                if found.is_none() && (is_word || state.part == SyntaxPart::Value) {
                    found = Some(place(&state, span.clone(), false, String::new()));
                }
            }
            _ => {}
        }
        if found.is_none() && span.start >= offset {
            found = Some(place(&state, offset..offset, false, String::new()));
        }
        state.advance(event);
    }
    let found = found.unwrap_or_else(|| place(&state, offset..offset, false, String::new()));
    let (mut place, element, path, wants) = found;
    place.path = state.paths.words(path);
    let keys = state.seen.iter().filter(|it| it.0 == element).map(|it| &state.paths.all[it.1]);
    place.existing_keys = keys.filter(|it| it.0 == path).map(|it| it.1.clone()).collect();
    wants.then_some(place)
}

/// Returns the position between two events without its words, the element of an array of tables,
/// its path, and true if a proposal is possible there.
fn place(
    state: &ReaderState<'_>,
    range: Range<usize>,
    has_value: bool,
    word: String,
) -> (Position, usize, KeyId, bool) {
    let (role, wants) = match state.part {
        SyntaxPart::Header { of_arrays } => (PositionRole::Header { of_arrays }, state.expects_key),
        SyntaxPart::Key => (PositionRole::Key { has_value }, state.expects_key),
        SyntaxPart::Value => (PositionRole::Value, true),
        SyntaxPart::Done => (PositionRole::Value, false),
    };
    let is_item = role == PositionRole::Value && state.is_in_array();
    let place =
        Position { path: Vec::new(), role, is_item, range, word, existing_keys: Vec::new() };
    (place, state.element(), state.path, wants)
}

/// Returns a key without its quotes and escapes.
fn word(text: &str, event: &Event) -> String {
    let span = event.span();
    let raw = text.get(span.start()..span.end()).unwrap_or_default();
    let mut out = std::borrow::Cow::Borrowed("");
    let encoding: Option<Encoding> = event.encoding();
    toml_parser::Raw::new_unchecked(raw, encoding, span).decode_key(&mut out, &mut ());
    out.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of bytes of all stored words of a text, and the number of keys.
    fn kept(text: &str) -> (usize, usize) {
        let tokens = Source::new(text).lex().into_vec();
        let mut events: Vec<Event> = Vec::new();
        parse_document(&tokens, &mut events, &mut ());
        let mut state = ReaderState::new(text);
        for it in &events {
            state.advance(it);
        }
        (state.paths.all.iter().map(|it| it.1.len()).sum(), state.seen.len())
    }

    #[test]
    fn stores_each_word_of_a_key_once() {
        for n in [100, 10_000] {
            let key = vec!["ab"; n].join(".");
            assert_eq!(kept(&format!("{key} = 1\n")), (2 * n, n));
            let (header, value) = (format!("[{key}]\nx = 1\n"), format!("y = {{ {key} = [1] }}\n"));
            assert_eq!(kept(&format!("{header}{value}")), (2 * n + 2 + 2 * n, 2 * n + 2));
            let place = at(&format!("{key} = 1\n"), 3 * n - 1).expect("a key");
            assert_eq!((place.path.len(), place.word.as_str()), (n - 1, "ab"));
            // Repeated tables store no further words.
            assert_eq!(kept(&format!("{key}.x = 1\n{key}.x = 1\n")), (2 * n + 1, 2 * n + 2));
        }
    }
}
