//! JSON text that is written piece by piece and may be megabytes long.
//!
//! *Law.* Written text is not moved before it is sent, so that appending to a long text costs no
//! more than to a short one.

use std::io::{self, Write};

use serde::Serialize;

/// A text in pieces.
#[derive(Debug, Default)]
pub(crate) struct JsonBuffer {
    pieces: Vec<Vec<u8>>,
    len: usize,
}

impl JsonBuffer {
    /// Maximum size of a piece in bytes, except for pieces that are appended without copying.
    const PIECE_BYTES: usize = 1 << 16;

    /// Appends a text.
    pub(crate) fn push(&mut self, mut text: &[u8]) {
        self.len += text.len();
        while !text.is_empty() {
            let room =
                self.pieces.last().map_or(0, |it| Self::PIECE_BYTES.saturating_sub(it.len()));
            let (now, later) = text.split_at(room.min(text.len()));
            if let Some(last) = self.pieces.last_mut() {
                last.extend_from_slice(now);
            }
            if !later.is_empty() {
                // A long text will probably grow further.
                let is_long = self.len > Self::PIECE_BYTES;
                self.pieces.push(Vec::with_capacity(if is_long { Self::PIECE_BYTES } else { 0 }));
            }
            text = later;
        }
    }

    /// Appends a text without copying it.
    pub(crate) fn append(&mut self, text: Vec<u8>) {
        self.len += text.len();
        self.pieces.push(text);
    }

    /// Surrounds the text with `before` and `after`.
    pub(crate) fn surround(mut self, before: Vec<u8>, after: &[u8]) -> Self {
        self.len += before.len();
        self.pieces.insert(0, before);
        self.push(after);
        self
    }

    /// Size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the whole text in one piece.
    #[cfg(target_family = "wasm")]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// Writes the whole text; a short text in a single call.
    pub(crate) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        if self.len <= Self::PIECE_BYTES {
            return out.write_all(&self.pieces.concat());
        }
        self.pieces.iter().try_for_each(|it| out.write_all(it))
    }
}

impl From<Vec<u8>> for JsonBuffer {
    fn from(text: Vec<u8>) -> Self {
        Self { len: text.len(), pieces: vec![text] }
    }
}

impl Write for JsonBuffer {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.push(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A JSON array, written item by item.
#[derive(Debug)]
pub(crate) struct JsonArray {
    text: JsonBuffer,
    /// Buffer for one item.
    item: Vec<u8>,
}

impl JsonArray {
    pub(crate) fn new() -> Self {
        Self { text: vec![b'['].into(), item: Vec::new() }
    }

    /// Appends an item. An item that cannot be serialized is left out.
    pub(crate) fn push(&mut self, item: &impl Serialize) {
        self.item.clear();
        if self.text.len() > 1 {
            self.item.push(b',');
        }
        if serde_json::to_writer(&mut self.item, item).is_ok() {
            self.text.push(&self.item);
        }
    }

    /// Completes the text and returns it.
    pub(crate) fn finish(&mut self) -> JsonBuffer {
        self.text.push(b"]");
        std::mem::take(&mut self.text)
    }
}

/// JSON objects that contain others in a field `children`, written in the order of a tree walk.
#[derive(Debug)]
pub(crate) struct JsonTree {
    text: JsonBuffer,
    /// Number of open objects.
    depth: usize,
}

impl JsonTree {
    pub(crate) fn new() -> Self {
        Self { text: vec![b'['].into(), depth: 0 }
    }

    /// Adds an object inside the last object at `depth - 1`. The object must have a field, and
    /// depths grow by at most one.
    pub(crate) fn push(&mut self, depth: usize, object: &impl Serialize) {
        let Ok(json) = serde_json::to_vec(object) else { return };
        let Some((b'}', open)) = json.split_last() else { return };
        if depth >= self.depth {
            if self.depth > 0 {
                self.text.push(b",\"children\":[");
            }
        } else {
            self.close(depth);
            self.text.push(b",");
        }
        self.text.push(open);
        self.depth += 1;
    }

    /// Closes objects until `depth` are open.
    fn close(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            self.text.push(if self.depth > depth { b"}]" } else { b"}" });
        }
    }

    /// Completes the text and returns it.
    pub(crate) fn finish(&mut self) -> JsonBuffer {
        self.close(0);
        self.text.push(b"]");
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(pieces: &JsonBuffer) -> String {
        let mut out = Vec::new();
        assert!(pieces.write_to(&mut out).is_ok());
        assert_eq!(out.len(), pieces.len());
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn pieces_join_to_the_text() {
        let mut pieces = JsonBuffer::default();
        let mut wanted = String::new();
        for n in 0..40_000 {
            let word = n.to_string();
            pieces.push(word.as_bytes());
            wanted += &word;
        }
        assert!(pieces.pieces.iter().all(|it| it.len() <= JsonBuffer::PIECE_BYTES));
        assert_eq!(text(&pieces), wanted);
        let around = pieces.surround(b"<".to_vec(), b">");
        assert_eq!(text(&around), format!("<{wanted}>"));
    }

    #[test]
    fn an_array_is_written_item_by_item() {
        let mut array = JsonArray::new();
        assert_eq!(text(&JsonArray::new().finish()), "[]");
        array.push(&1);
        array.push(&"a");
        assert_eq!(text(&array.finish()), r#"[1,"a"]"#);
    }

    #[test]
    fn a_tree_is_written_in_the_order_of_a_walk() {
        let mut tree = JsonTree::new();
        assert_eq!(text(&JsonTree::new().finish()), "[]");
        for (depth, name) in
            [(0, "a"), (1, "b"), (2, "c"), (2, "d"), (1, "e"), (0, "f"), (1, "g"), (0, "h")]
        {
            tree.push(depth, &json!({ "n": name }));
        }
        let text = text(&tree.finish());
        let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let wanted = json!([
            { "n": "a", "children": [
                { "n": "b", "children": [{ "n": "c" }, { "n": "d" }] },
                { "n": "e" },
            ] },
            { "n": "f", "children": [{ "n": "g" }] },
            { "n": "h" },
        ]);
        assert_eq!(found, wanted, "{text}");
    }
}
