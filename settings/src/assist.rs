//! Help while a configuration file is written: what may stand at a place, and what a key or a value means. Everything that is said comes
//! from the JSON schema.
//!
//! *Law.* Every proposal is known to the reader: put in, it is no unknown key and no value of a wrong type. Costs O(text), for a
//! text of a megabyte at most.

mod node;
mod place;

use std::ops::Range;

use node::Node;
use place::{Place, Role};

/// Something that may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What it is called.
    pub label: String,
    /// The text in place of [`Proposals::replaces`].
    pub text: String,
    /// In `text` what is to be filled in, or chosen from; nothing if there is nothing to fill in.
    pub blank: Option<Blank>,
    /// Its type or its default, shortly.
    pub detail: String,
    /// What it means.
    pub what: String,
    /// What kind of thing it is.
    pub kind: Kind,
}

/// A part of a text that is to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blank {
    /// Where, in bytes of the text; what stands there is a default.
    pub range: Range<usize>,
    /// All that may stand there, if that is a short list.
    pub choices: Vec<String>,
}

/// The kinds of things that are proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A key of a table.
    Key,
    /// A key that has a table.
    Table,
    /// A value.
    Value,
}

/// All that may stand at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposals {
    /// The word at the place, in bytes of the text.
    pub replaces: Range<usize>,
    /// In alphabetical order of keys, and values in the order of the documentation.
    pub all: Vec<Proposal>,
}

/// What a key or a value means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Where it stands, in bytes of the text.
    pub range: Range<usize>,
    /// What it means, in Markdown.
    pub text: String,
}

/// What may stand at an offset of a configuration file.
pub fn complete(text: &str, offset: usize) -> Proposals {
    let Some(place) = place::at(text, offset) else { return Proposals::default() };
    let Some(node) = Node::at(&place.path) else { return Proposals::default() };
    let all = match place.role {
        Role::Key { has_value } => keys(node, &place, has_value),
        Role::Header { of_arrays } => headers(node, &place, of_arrays),
        Role::Value => values(node.of_item(place.is_item), place.is_item),
    };
    Proposals { replaces: place.range, all }
}

/// What the key or the value at an offset of a configuration file means.
pub fn explain(text: &str, offset: usize) -> Option<Explanation> {
    let place = place::at(text, offset)?;
    let word = text.get(place.range.clone()).filter(|it| !it.is_empty())?;
    let text = match place.role {
        Role::Value => {
            let node = Node::at(&place.path)?.of_item(place.is_item);
            let choice = node.choices().into_iter().find(|it| it.text == word)?;
            format!("`{word}`\n\n{}", choice.what)
        }
        Role::Key { .. } | Role::Header { .. } => {
            let path = [place.path, vec![place.word]].concat();
            let node = Node::at(&path)?;
            let name: Vec<String> = path.iter().map(|it| node::quoted(it)).collect();
            described(&name.join("."), node)
        }
    };
    Some(Explanation { range: place.range, text })
}

/// What a key is, what it means, its default, and what it may be.
fn described(name: &str, node: Node) -> String {
    let mut out = format!("**`{name}`**: {}", node.type_name());
    if let Some(default) = node.default() {
        out.push_str(&format!(", default `{default}`"));
    }
    out.push_str(&format!("\n\n{}", node.description()));
    let choices: Vec<String> = node
        .choices()
        .iter()
        .filter(|it| !it.what.is_empty())
        .map(|it| format!("- `{}`: {}", it.text, it.what))
        .collect();
    if !choices.is_empty() {
        out.push_str(&format!("\n\n{}", choices.join("\n")));
    }
    out
}

/// The keys of a table, but for those that it has.
fn keys(table: Node, place: &Place, has_value: bool) -> Vec<Proposal> {
    let is_new = |it: &(String, Node)| !place.taken.contains(&it.0) || it.0 == place.word;
    let proposal = |(name, node): (String, Node)| {
        let label = node::quoted(&name);
        let (mut text, mut blank) = (label.clone(), None);
        if !has_value {
            text.push_str(" = ");
            let (before, default, after) = node.blank();
            let start = text.len() + before.len();
            text.push_str(&format!("{before}{default}{after}"));
            let choices = node.choices().into_iter().map(|it| it.text).collect();
            blank = Some(Blank { range: start..start + default.len(), choices });
        }
        let kind = if node.is_table() { Kind::Table } else { Kind::Key };
        let (detail, what) = (node.detail(), node.description().to_owned());
        Proposal { label, text, blank, detail, what, kind }
    };
    // An array of tables has headers of its own.
    let is_key = |it: &(String, Node)| !it.1.is_array_of_tables();
    table.keys().into_iter().filter(is_key).filter(is_new).map(proposal).collect()
}

/// The tables of a table, for a header.
fn headers(table: Node, place: &Place, of_arrays: bool) -> Vec<Proposal> {
    let fits = |it: &(String, Node)| {
        let is_new = !place.taken.contains(&it.0) || it.0 == place.word;
        if of_arrays { it.1.is_array_of_tables() } else { it.1.is_table() && is_new }
    };
    let proposal = |(name, node): (String, Node)| Proposal {
        label: node::quoted(&name),
        text: node::quoted(&name),
        blank: None,
        detail: String::new(),
        what: node.description().to_owned(),
        kind: Kind::Table,
    };
    table.keys().into_iter().filter(fits).map(proposal).collect()
}

/// What may stand for a value.
fn values(node: Node, is_item: bool) -> Vec<Proposal> {
    let mut all = node.choices();
    if all.is_empty() {
        let text = if is_item { None } else { node.default() };
        all.extend(text.map(|text| node::Choice { text, what: "The default.".to_owned() }));
    }
    let proposal = |it: node::Choice| Proposal {
        label: it.text.clone(),
        text: it.text,
        blank: None,
        detail: String::new(),
        what: it.what,
        kind: Kind::Value,
    };
    all.into_iter().map(proposal).collect()
}

#[cfg(test)]
mod tests;
