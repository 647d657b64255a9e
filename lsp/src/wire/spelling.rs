//! Document names that are not valid URIs in the spelling of the client, because they contain `[`
//! or `^`, blanks, or letters beyond ASCII.
//!
//! *Law.* In the server such a name is a URI, with these characters percent-encoded. Sent messages
//! contain the client's spelling, because editors compare names by their text.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use tower_lsp::ls_types as lsp;

use crate::wire::json::JsonBuffer;

/// The client's spellings of such names. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spellings(Arc<Mutex<SpellingTable>>);

#[derive(Debug, Default)]
struct SpellingTable {
    /// The client's spelling of each name, as a JSON string, by URI.
    written: Arc<FxHashMap<Vec<u8>, Vec<u8>>>,
    /// Names that are not URIs even when encoded.
    invalid: FxHashSet<String>,
    /// The names in `invalid` that were not reported to the user yet.
    unreported: Vec<String>,
}

impl Spellings {
    fn table(&self) -> MutexGuard<'_, SpellingTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns the names in a received message into URIs.
    pub(crate) fn encode_names(&self, message: &mut Value) {
        match message {
            Value::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    match value {
                        Value::String(name) if is_name_field(key) => self.read_name(name),
                        value => self.encode_names(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.encode_names(it)),
            _ => {}
        }
    }

    fn read_name(&self, name: &mut String) {
        let is_uri = |text: &str| text.parse::<lsp::Uri>().is_ok();
        if is_uri(name) {
            return;
        }
        let uri = percent_encoded(name);
        let mut table = self.table();
        if is_uri(&uri) {
            let written = Value::from(name.as_str()).to_string();
            let all = Arc::make_mut(&mut table.written);
            all.insert(uri.clone().into_bytes(), written.into_bytes());
            *name = uri;
        } else if table.invalid.insert(name.clone()) {
            table.unreported.push(name.clone());
        }
    }

    /// Returns the names that are not URIs even when encoded. Each name is returned once.
    pub(crate) fn take_unreported(&self) -> Vec<String> {
        std::mem::take(&mut self.table().unreported)
    }

    /// Replaces each URI in a sent message by the client's spelling.
    pub(crate) fn restore_spellings(&self, message: JsonBuffer) -> JsonBuffer {
        let written = self.table().written.clone();
        if written.is_empty() {
            return message;
        }
        let mut text = Vec::with_capacity(message.len());
        if message.write_to(&mut text).is_err() {
            return message;
        }
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(open) = text[at..].iter().position(|it| *it == b'"') {
            let start = at + open;
            let end = string_end(&text, start);
            out.extend_from_slice(&text[at..start]);
            let string = &text[start..end];
            let uri = string.get(1..string.len() - 1).unwrap_or_default();
            out.extend_from_slice(written.get(uri).map_or(string, Vec::as_slice));
            at = end;
        }
        out.extend_from_slice(&text[at..]);
        out.into()
    }
}

/// True if a field of the protocol contains the name of a document.
fn is_name_field(key: &str) -> bool {
    key == "uri" || key == "href" || key.ends_with("Uri")
}

/// The offset after a JSON string.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while json.get(at).is_some_and(|it| *it != b'"') {
        at += 1 + usize::from(json[at] == b'\\');
    }
    (at + 1).min(json.len())
}

/// Percent-encodes the characters of a name that the path of a URI cannot contain.
fn percent_encoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    let mut has_fragment = false;
    let mut out = String::with_capacity(name.len() + 16);
    for (at, &byte) in bytes.iter().enumerate() {
        let stays = match byte {
            b'%' => is_hex(at + 1) && is_hex(at + 2),
            b'#' => !std::mem::replace(&mut has_fragment, true),
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte),
        };
        if stays {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(spellings: &Spellings, message: &Value) -> Value {
        let message = spellings.restore_spellings(message.to_string().into_bytes().into());
        let mut text = Vec::new();
        assert!(message.write_to(&mut text).is_ok());
        serde_json::from_slice(&text).unwrap_or_default()
    }

    #[test]
    fn encodes_received_names_and_restores_them() {
        for (name, uri) in [
            ("file:///a/b.mlir", "file:///a/b.mlir"),
            ("file:///a%5B1%5D.mlir", "file:///a%5B1%5D.mlir"),
            ("file:///a[1].mlir", "file:///a%5B1%5D.mlir"),
            ("file:///a^b|c.mlir", "file:///a%5Eb%7Cc.mlir"),
            ("file:///two words.mlir", "file:///two%20words.mlir"),
            ("file:///caf\u{e9}.mlir", "file:///caf%C3%A9.mlir"),
            ("file:///100%.mlir", "file:///100%25.mlir"),
            ("file:///a\"b\\c.mlir", "file:///a%22b%5Cc.mlir"),
            ("file:///a#b#c.mlir", "file:///a#b%23c.mlir"),
        ] {
            let spellings = Spellings::default();
            let message = |name: &str| json!({ "textDocument": { "uri": name, "text": "\"[\\" }, "all": [{ "rootUri": name }] });
            let mut inside = message(name);
            spellings.encode_names(&mut inside);
            assert_eq!(inside, message(uri), "{name}");
            assert_eq!(written(&spellings, &inside), message(name), "{name}");
            let edit = |name: &str| json!({ "changes": { name: [] } });
            assert_eq!(written(&spellings, &edit(uri)), edit(name), "{name}");
            assert!(spellings.take_unreported().is_empty(), "{name}");
        }
    }

    #[test]
    fn reports_invalid_names_once() {
        let spellings = Spellings::default();
        for _ in 0..2 {
            let mut message = json!({ "uri": "a b.mlir" });
            spellings.encode_names(&mut message);
            assert_eq!(message["uri"], "a b.mlir");
        }
        assert_eq!(spellings.take_unreported(), ["a b.mlir"]);
        assert!(spellings.take_unreported().is_empty());
    }
}
