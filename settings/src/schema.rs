//! The JSON schema of a configuration file, and its known keys.

use std::sync::OnceLock;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::ConfigProblem;
use crate::problem::nearest;

/// Returns the JSON schema (draft 2020-12) of `noisy.toml`.
///
/// It is generated from the types of the settings. The tests of this crate compare it with them, or
/// update it if `UPDATE_EXPECT=1`.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        serde_json::from_str(include_str!("../noisy.schema.json")).unwrap_or_default()
    })
}

/// Maximum number of unknown keys that are reported: each requires a scan of the text for its
/// position.
pub(crate) const MAX_UNKNOWN_KEYS: usize = 100;

/// Reports the keys of a table that are not in the schema, at most [`MAX_UNKNOWN_KEYS`].
pub(crate) fn unknown_keys(text: &str, table: &DeTable<'_>) -> Vec<ConfigProblem> {
    let mut out = Vec::new();
    // Without configuration the schema is not parsed.
    if !table.is_empty() {
        walk(text, table, schema(), "", &mut out);
    }
    out.sort_by_key(|it| it.range.start);
    out
}

fn walk(
    text: &str,
    table: &DeTable<'_>,
    schema: &'static Value,
    path: &str,
    out: &mut Vec<ConfigProblem>,
) {
    let schema = resolve(schema);
    static NONE: OnceLock<serde_json::Map<String, Value>> = OnceLock::new();
    let none = NONE.get_or_init(serde_json::Map::new);
    let properties = schema["properties"].as_object().unwrap_or(none);
    for (key, value) in table {
        if out.len() >= MAX_UNKNOWN_KEYS {
            return;
        }
        let name: &str = key.get_ref();
        let schema = properties.get(name).unwrap_or(&schema["additionalProperties"]);
        if schema == &Value::Bool(false) {
            let known = properties.keys().map(String::as_str);
            let place = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
            let hint = match nearest(name, known.clone()) {
                Some(meant) => format!("; did you mean `{meant}`?"),
                None => format!("; there are {}", known.collect::<Vec<_>>().join(", ")),
            };
            out.push(ConfigProblem::new(
                text,
                key.span(),
                format!("unknown key `{name}`{place}{hint}"),
            ));
            continue;
        }
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        walk_value(text, value, schema, &path, out);
    }
}

/// Returns the target of a `$ref`.
pub(crate) fn resolve(of: &'static Value) -> &'static Value {
    let target = of["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| schema().pointer(it)).unwrap_or(of)
}

fn walk_value(
    text: &str,
    value: &Spanned<DeValue<'_>>,
    schema: &'static Value,
    path: &str,
    out: &mut Vec<ConfigProblem>,
) {
    match value.get_ref() {
        DeValue::Table(table) => walk(text, table, schema, path, out),
        DeValue::Array(items) => {
            items.iter().for_each(|it| walk_value(text, it, &schema["items"], path, out));
        }
        _ => {}
    }
}

#[cfg(test)]
mod generate;
