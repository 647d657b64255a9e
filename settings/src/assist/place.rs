//! Where in a configuration file an offset is: in a key, a header or a value, and of which table. The text is read by TOML's own
//! parser, which goes on after an error, so that a line that is being written hides no other.

use std::ops::Range;

use rustc_hash::FxHashMap;
use toml_parser::Source;
use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};

/// What stands at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A key; whether a value follows it.
    Key { has_value: bool },
    /// A part of a header, of `[[...]]` or of `[...]`.
    Header { of_arrays: bool },
    /// A value.
    Value,
}

/// Where an offset is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The table of a key or of a part of a header; of a value its own path.
    pub path: Vec<String>,
    /// What stands there.
    pub role: Role,
    /// A value is an element of an array there.
    pub is_item: bool,
    /// The word at the offset, in bytes; empty if there is none.
    pub range: Range<usize>,
    /// The key that the word is.
    pub word: String,
    /// The keys that the table has.
    pub taken: Vec<String>,
}

/// The largest text that is looked at, in bytes; no configuration is larger.
const MOST: usize = 1 << 20;

/// Deeper brackets are passed over.
const DEPTH: u32 = 64;

/// A key with the table that it is in: its number among [`Paths`]. The text itself is 0.
type Path = usize;

/// The keys that were read, each once with the table that it is in: a key costs its word, however deep it is.
struct Paths {
    /// The table and the word of each.
    all: Vec<(Path, String)>,
    numbers: FxHashMap<(Path, String), Path>,
}

impl Paths {
    const ROOT: Path = 0;

    fn new() -> Self {
        Self { all: vec![(Self::ROOT, String::new())], numbers: FxHashMap::default() }
    }

    /// A key of a table.
    fn key(&mut self, table: Path, word: String) -> Path {
        let all = &mut self.all;
        *self.numbers.entry((table, word)).or_insert_with_key(|it| {
            all.push(it.clone());
            all.len() - 1
        })
    }

    /// The words on the way to a key.
    fn words(&self, mut path: Path) -> Vec<String> {
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

/// A bracket that is open.
struct Frame {
    is_array: bool,
    /// The path of the value that it begins.
    path: Path,
}

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Header {
        of_arrays: bool,
    },
    Key,
    Value,
    /// A value or a header is complete.
    Done,
}

/// What was read up to an event.
struct State<'a> {
    text: &'a str,
    paths: Paths,
    /// The table of the last header.
    table: Path,
    /// How many `[[...]]` there were: each has keys of its own.
    n_arrays: usize,
    frames: Vec<Frame>,
    /// The path of the table that a key is in, the parts of a key or of a header that were read included.
    path: Path,
    part: Part,
    /// The last thing was a dot between two parts, or there are no parts yet.
    wants_key: bool,
    /// Every key, with the element of an array of tables that it is in.
    seen: Vec<(usize, Path)>,
}

impl<'a> State<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            paths: Paths::new(),
            table: Paths::ROOT,
            n_arrays: 0,
            frames: Vec::new(),
            path: Paths::ROOT,
            part: Part::Key,
            wants_key: true,
            seen: Vec::new(),
        }
    }

    fn is_in_array(&self) -> bool {
        self.frames.last().is_some_and(|it| it.is_array)
    }

    /// Which element of an array of tables a table is in.
    fn element(&self) -> usize {
        if matches!(self.part, Part::Header { .. }) { 0 } else { self.n_arrays }
    }

    fn begin(&mut self, part: Part) {
        self.path = match (part, self.frames.last()) {
            (Part::Header { .. }, _) => Paths::ROOT,
            (_, Some(frame)) => frame.path,
            (_, None) => self.table,
        };
        self.part = part;
        self.wants_key = true;
    }

    fn take(&mut self, event: &Event) {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                let of_arrays = event.kind() == EventKind::ArrayTableOpen;
                self.frames.clear();
                self.table = Paths::ROOT;
                self.begin(Part::Header { of_arrays });
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                self.n_arrays += usize::from(event.kind() == EventKind::ArrayTableClose);
                self.table = self.path;
                self.part = Part::Done;
            }
            EventKind::SimpleKey => {
                self.path = self.paths.key(self.path, word(self.text, event));
                self.seen.push((self.element(), self.path));
                self.wants_key = false;
            }
            EventKind::KeySep => self.wants_key = true,
            EventKind::KeyValSep => self.part = Part::Value,
            EventKind::InlineTableOpen | EventKind::ArrayOpen => {
                let is_array = event.kind() == EventKind::ArrayOpen;
                self.frames.push(Frame { is_array, path: self.path });
                self.begin(if is_array { Part::Value } else { Part::Key });
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                self.frames.pop();
                self.begin(Part::Done);
            }
            EventKind::Scalar => self.part = Part::Done,
            EventKind::ValueSep => {
                self.begin(if self.is_in_array() { Part::Value } else { Part::Key });
            }
            EventKind::Newline => {
                if self.frames.is_empty() {
                    if matches!(self.part, Part::Header { .. }) {
                        self.table = self.path;
                    }
                    self.begin(Part::Key);
                }
            }
            EventKind::Whitespace | EventKind::Comment | EventKind::Error => {}
        }
    }
}

/// The place of an offset; nothing in comments, where nothing can stand, or if the text is too long.
pub(super) fn at(text: &str, offset: usize) -> Option<Place> {
    if text.len() > MOST {
        return None;
    }
    let offset = offset.min(text.len());
    let tokens = Source::new(text).lex().into_vec();
    let mut events: Vec<Event> = Vec::new();
    parse_document(&tokens, &mut RecursionGuard::new(&mut events, DEPTH), &mut ());
    let mut state = State::new(text);
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
                if found.is_none() && (is_word || state.part == Part::Value) {
                    found = Some(place(&state, span.clone(), false, String::new()));
                }
            }
            _ => {}
        }
        if found.is_none() && span.start >= offset {
            found = Some(place(&state, offset..offset, false, String::new()));
        }
        state.take(event);
    }
    let found = found.unwrap_or_else(|| place(&state, offset..offset, false, String::new()));
    let (mut place, element, path, wants) = found;
    place.path = state.paths.words(path);
    let keys = state.seen.iter().filter(|it| it.0 == element).map(|it| &state.paths.all[it.1]);
    place.taken = keys.filter(|it| it.0 == path).map(|it| it.1.clone()).collect();
    wants.then_some(place)
}

/// The place between two events without its words, the element of an array of tables that it is in, its path, and whether something
/// can stand there.
fn place(
    state: &State<'_>,
    range: Range<usize>,
    has_value: bool,
    word: String,
) -> (Place, usize, Path, bool) {
    let (role, wants) = match state.part {
        Part::Header { of_arrays } => (Role::Header { of_arrays }, state.wants_key),
        Part::Key => (Role::Key { has_value }, state.wants_key),
        Part::Value => (Role::Value, true),
        Part::Done => (Role::Value, false),
    };
    let is_item = role == Role::Value && state.is_in_array();
    let place = Place { path: Vec::new(), role, is_item, range, word, taken: Vec::new() };
    (place, state.element(), state.path, wants)
}

/// A key without its quotes and escapes.
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

    /// How many bytes of words a text leaves, and how many keys.
    fn kept(text: &str) -> (usize, usize) {
        let tokens = Source::new(text).lex().into_vec();
        let mut events: Vec<Event> = Vec::new();
        parse_document(&tokens, &mut events, &mut ());
        let mut state = State::new(text);
        for it in &events {
            state.take(it);
        }
        (state.paths.all.iter().map(|it| it.1.len()).sum(), state.seen.len())
    }

    #[test]
    fn a_key_costs_its_word_however_deep_it_is() {
        for n in [100, 10_000] {
            let key = vec!["ab"; n].join(".");
            assert_eq!(kept(&format!("{key} = 1\n")), (2 * n, n));
            let (header, value) = (format!("[{key}]\nx = 1\n"), format!("y = {{ {key} = [1] }}\n"));
            assert_eq!(kept(&format!("{header}{value}")), (2 * n + 2 + 2 * n, 2 * n + 2));
            let place = at(&format!("{key} = 1\n"), 3 * n - 1).expect("a key");
            assert_eq!((place.path.len(), place.word.as_str()), (n - 1, "ab"));
            // The same tables again cost no words.
            assert_eq!(kept(&format!("{key}.x = 1\n{key}.x = 1\n")), (2 * n + 1, 2 * n + 2));
        }
    }
}
