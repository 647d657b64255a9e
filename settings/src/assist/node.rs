//! A node of the JSON schema of a configuration file.

use serde_json::Value;

use crate::schema::{resolve, schema};

/// The schema of one key. Its own description takes precedence over that of the type to which it
/// refers.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaNode {
    own: &'static Value,
    of_type: &'static Value,
}

/// A possible value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueChoice {
    /// Its TOML.
    pub text: String,
    /// Its documentation.
    pub documentation: String,
}

/// Returns the likely keys of a map keyed by op names: the ops in its default, the built-in model.
fn op_names(of: &'static Value) -> impl Iterator<Item = String> {
    of["default"].as_object().into_iter().flat_map(|it| it.keys().cloned())
}

impl SchemaNode {
    fn new(own: &'static Value) -> Self {
        let mut of_type = resolve(own);
        // An optional value has a type or is null.
        if let Some(items) = of_type["anyOf"].as_array() {
            of_type = items.iter().find(|it| it["type"] != "null").map_or(of_type, resolve);
        }
        Self { own, of_type }
    }

    /// Returns the node of a path of keys. In arrays, this is the node of an element.
    pub(super) fn at(path: &[String]) -> Option<Self> {
        let mut node = Self::new(schema());
        for name in path {
            let table = node.of_item(node.is_array_of_tables());
            node = table.key(name)?;
        }
        Some(node)
    }

    fn key(self, name: &str) -> Option<Self> {
        let of = self.of_type;
        let others = of.get("additionalProperties").filter(|it| it.is_object());
        of["properties"].get(name).or(others).map(Self::new)
    }

    /// Returns the node of its elements if `is_item`, otherwise the node itself.
    pub(super) fn of_item(self, is_item: bool) -> Self {
        if is_item { Self::new(&self.of_type["items"]) } else { self }
    }

    /// Returns its keys; for a map keyed by op names, likely keys.
    pub(super) fn keys(self) -> Vec<(String, Self)> {
        let table = self.of_item(self.is_array_of_tables());
        let named = table.of_type["properties"].as_object();
        let mut out: Vec<(String, Self)> =
            named.into_iter().flatten().map(|(name, it)| (name.clone(), Self::new(it))).collect();
        if let Some(others) = table.of_type.get("additionalProperties").filter(|it| it.is_object())
        {
            out.extend(op_names(table.own).map(|name| (name, Self::new(others))));
        }
        out
    }

    fn is_of(self, name: &str) -> bool {
        let of = &self.of_type["type"];
        of == name || of.as_array().is_some_and(|it| it.iter().any(|it| it == name))
    }

    /// Returns true if it is a table.
    pub(super) fn is_table(self) -> bool {
        self.is_of("object")
    }

    /// Returns true if its text is `[[...]]`.
    pub(super) fn is_array_of_tables(self) -> bool {
        self.is_of("array") && Self::new(&self.of_type["items"]).is_table()
    }

    /// Returns its documentation.
    pub(super) fn description(self) -> &'static str {
        let of = |it: &'static Value| it["description"].as_str();
        of(self.own).or_else(|| of(self.of_type)).unwrap_or_default()
    }

    /// Returns a short name of its type.
    pub(super) fn type_name(self) -> &'static str {
        match () {
            () if self.of_type["oneOf"].is_array() => "one of a list",
            () if self.is_table() => "table",
            () if self.is_array_of_tables() => "array of tables",
            () if self.is_of("array") => "array",
            () if self.is_of("boolean") => "true or false",
            () if self.is_of("integer") => "integer",
            () if self.is_of("number") => "number",
            () => "string",
        }
    }

    /// Returns the text of its default, unless it is long.
    pub(super) fn default(self) -> Option<String> {
        match &self.own["default"] {
            Value::Null | Value::Object(_) => None,
            it => Some(value_to_toml(it)).filter(|it| it.len() <= 40),
        }
    }

    /// Returns its type and its default.
    pub(super) fn detail(self) -> String {
        let default = self.default().map(|it| format!(", default {it}")).unwrap_or_default();
        format!("{}{default}", self.type_name())
    }

    /// Returns the possible values if they can be listed.
    pub(super) fn choices(self) -> Vec<ValueChoice> {
        if self.is_of("boolean") {
            let says =
                |text: &str| ValueChoice { text: text.to_owned(), documentation: String::new() };
            return ["true", "false"].map(says).to_vec();
        }
        let all = self.of_type["oneOf"].as_array().map_or(&[][..], Vec::as_slice);
        let choice = |it: &Value| ValueChoice {
            text: value_to_toml(&it["const"]),
            documentation: it["description"].as_str().unwrap_or_default().to_owned(),
        };
        all.iter().filter(|it| !it["const"].is_null()).map(choice).collect()
    }

    /// Returns a value in three parts: its start, a default content that the user replaces, and its
    /// end.
    pub(super) fn placeholder(self) -> (&'static str, String, &'static str) {
        let default = self.default();
        match () {
            () if !self.choices().is_empty() => {
                let first = || self.choices().first().map(|it| it.text.clone());
                ("", default.or_else(first).unwrap_or_default(), "")
            }
            () if self.is_table() => ("{ ", String::new(), " }"),
            () if self.is_of("array") => ("[", String::new(), "]"),
            () if self.is_of("integer") || self.is_of("number") => {
                ("", default.unwrap_or_else(|| "1".to_owned()), "")
            }
            () => {
                let inner = self.own["default"].as_str().map(|it| value_to_toml(&it.into()));
                let inner = inner.map(|it| it.trim_matches('"').to_owned());
                ("\"", inner.unwrap_or_default(), "\"")
            }
        }
    }
}

/// Returns the TOML of a value.
fn value_to_toml(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(value_to_toml).collect::<Vec<_>>().join(", "))
        }
        // JSON strings without control characters are valid in TOML.
        it => it.to_string(),
    }
}

/// Returns the TOML of a key.
pub(super) fn key_to_toml(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || "-_".contains(it));
    if is_bare { name.to_owned() } else { value_to_toml(&name.into()) }
}
