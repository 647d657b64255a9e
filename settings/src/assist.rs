//! Editing support for configuration files: completion and documentation of keys and values, from
//! the JSON schema.
//!
//! *Law.* Every proposal is valid: inserting it causes neither an unknown key nor a value of a
//! wrong type. *Cost.* Linear in the text, which is at most a megabyte.

mod node;
mod place;

use std::ops::Range;

use node::SchemaNode;
use place::{Position, PositionRole};

/// A proposal at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingProposal {
    /// Its label.
    pub label: String,
    /// The text that replaces [`SettingProposals::replaced_range`].
    pub text: String,
    /// The part of `text` that the user fills in, if there is one.
    pub placeholder: Option<Placeholder>,
    /// Its type or its default, abbreviated.
    pub detail: String,
    /// Its documentation.
    pub documentation: String,
    /// Its kind.
    pub kind: ProposalKind,
}

/// A part of a text that the user fills in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Its range in bytes of the text. The text contains a default.
    pub range: Range<usize>,
    /// All possible texts, if there are few.
    pub choices: Vec<String>,
}

/// The kinds of proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalKind {
    /// A key of a table.
    Key,
    /// A key with a table as its value.
    Table,
    /// A value.
    Value,
}

/// All proposals at a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingProposals {
    /// The range of the word at the position, in bytes of the text.
    pub replaced_range: Range<usize>,
    /// Keys in alphabetical order, or values in the order of the documentation.
    pub all: Vec<SettingProposal>,
}

/// The documentation of a key or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Its range, in bytes of the text.
    pub range: Range<usize>,
    /// The documentation, in Markdown.
    pub text: String,
}

/// Returns the proposals for an offset of a configuration file.
pub fn complete(text: &str, offset: usize) -> SettingProposals {
    let Some(place) = place::at(text, offset) else { return SettingProposals::default() };
    let Some(node) = SchemaNode::at(&place.path) else { return SettingProposals::default() };
    let all = match place.role {
        PositionRole::Key { has_value } => keys(node, &place, has_value),
        PositionRole::Header { of_arrays } => headers(node, &place, of_arrays),
        PositionRole::Value => values(node.of_item(place.is_item), place.is_item),
    };
    SettingProposals { replaced_range: place.range, all }
}

/// Returns the documentation of the key or the value at an offset of a configuration file.
pub fn explain(text: &str, offset: usize) -> Option<Explanation> {
    let place = place::at(text, offset)?;
    let word = text.get(place.range.clone()).filter(|it| !it.is_empty())?;
    let text = match place.role {
        PositionRole::Value => {
            let node = SchemaNode::at(&place.path)?.of_item(place.is_item);
            let choice = node.choices().into_iter().find(|it| it.text == word)?;
            format!("`{word}`\n\n{}", choice.documentation)
        }
        PositionRole::Key { .. } | PositionRole::Header { .. } => {
            let path = [place.path, vec![place.word]].concat();
            let node = SchemaNode::at(&path)?;
            let name: Vec<String> = path.iter().map(|it| node::key_to_toml(it)).collect();
            described(&name.join("."), node)
        }
    };
    Some(Explanation { range: place.range, text })
}

/// Returns the documentation of a key: its type, meaning, default and values.
fn described(name: &str, node: SchemaNode) -> String {
    let mut out = format!("**`{name}`**: {}", node.type_name());
    if let Some(default) = node.default() {
        out.push_str(&format!(", default `{default}`"));
    }
    out.push_str(&format!("\n\n{}", node.description()));
    let choices: Vec<String> = node
        .choices()
        .iter()
        .filter(|it| !it.documentation.is_empty())
        .map(|it| format!("- `{}`: {}", it.text, it.documentation))
        .collect();
    if !choices.is_empty() {
        out.push_str(&format!("\n\n{}", choices.join("\n")));
    }
    out
}

/// Returns the keys of a table that are not set yet.
fn keys(table: SchemaNode, place: &Position, has_value: bool) -> Vec<SettingProposal> {
    let is_new =
        |it: &(String, SchemaNode)| !place.existing_keys.contains(&it.0) || it.0 == place.word;
    let proposal = |(name, node): (String, SchemaNode)| {
        let label = node::key_to_toml(&name);
        let (mut text, mut blank) = (label.clone(), None);
        if !has_value {
            text.push_str(" = ");
            let (before, default, after) = node.placeholder();
            let start = text.len() + before.len();
            text.push_str(&format!("{before}{default}{after}"));
            let choices = node.choices().into_iter().map(|it| it.text).collect();
            blank = Some(Placeholder { range: start..start + default.len(), choices });
        }
        let kind = if node.is_table() { ProposalKind::Table } else { ProposalKind::Key };
        let (detail, what) = (node.detail(), node.description().to_owned());
        SettingProposal { label, text, placeholder: blank, detail, documentation: what, kind }
    };
    // An array of tables has its own headers, `[[...]]`.
    let is_key = |it: &(String, SchemaNode)| !it.1.is_array_of_tables();
    table.keys().into_iter().filter(is_key).filter(is_new).map(proposal).collect()
}

/// Returns the tables inside a table, for a header.
fn headers(table: SchemaNode, place: &Position, of_arrays: bool) -> Vec<SettingProposal> {
    let fits = |it: &(String, SchemaNode)| {
        let is_new = !place.existing_keys.contains(&it.0) || it.0 == place.word;
        if of_arrays { it.1.is_array_of_tables() } else { it.1.is_table() && is_new }
    };
    let proposal = |(name, node): (String, SchemaNode)| SettingProposal {
        label: node::key_to_toml(&name),
        text: node::key_to_toml(&name),
        placeholder: None,
        detail: String::new(),
        documentation: node.description().to_owned(),
        kind: ProposalKind::Table,
    };
    table.keys().into_iter().filter(fits).map(proposal).collect()
}

/// Returns the proposals for a value.
fn values(node: SchemaNode, is_item: bool) -> Vec<SettingProposal> {
    let mut all = node.choices();
    if all.is_empty() {
        let text = if is_item { None } else { node.default() };
        all.extend(
            text.map(|text| node::ValueChoice { text, documentation: "The default.".to_owned() }),
        );
    }
    let proposal = |it: node::ValueChoice| SettingProposal {
        label: it.text.clone(),
        text: it.text,
        placeholder: None,
        detail: String::new(),
        documentation: it.documentation,
        kind: ProposalKind::Value,
    };
    all.into_iter().map(proposal).collect()
}

#[cfg(test)]
mod tests;
