//! The JSON schema of a configuration file, and the keys that it knows.

use std::sync::OnceLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::options::{Model, Placement, Settings};
use crate::problem::nearest;
use crate::rules::Rules;

/// A configuration file: the settings at the top, and what differs for some files.
#[derive(JsonSchema)]
#[schemars(title = "noisy.toml", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use: the file is read in layers")]
struct File {
    #[schemars(flatten)]
    settings: Settings,
    /// A configuration file that this one is put on top of, key by key: a path from the folder of this file. All patterns are about the files below this file.
    #[schemars(default)]
    extends: String,
    /// Files that are not checked unless they are named: patterns as in a .gitignore beside this file.
    #[schemars(default)]
    exclude: Vec<String>,
    /// What differs for some files. Where several match, the later counts more.
    #[schemars(default)]
    overrides: Vec<Override>,
}

/// What differs for some files.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use: the file is read in layers")]
struct Override {
    /// Which files: patterns as in a .gitignore beside this file.
    files: Vec<String>,
    /// Which diagnostics are wanted, and how bad they are.
    #[schemars(default)]
    rules: Rules,
    /// The optimizer that inserts `reduce_noise`.
    #[schemars(default)]
    placement: Placement,
    /// How noise grows, how much of it is legal, and what is inserted to bring it down.
    #[schemars(default)]
    model: Model,
    /// Programs of HEIR: what is judged beyond what stands in them.
    #[schemars(default)]
    heir: noisy_analyses::heir::Options,
}

/// The JSON schema (draft 2020-12) of `noisy.toml`.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<File>().to_value();
        close(&mut schema);
        schema
    })
}

/// Objects with a list of properties have no others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            map.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// So many mistakes are told of, each with its place, which takes a look at the text before it.
pub(crate) const MOST: usize = 100;

/// Says the keys of a table that the schema does not know, up to a hundred.
pub(crate) fn unknown_keys(text: &str, table: &DeTable<'_>) -> Vec<Problem> {
    let mut out = Vec::new();
    walk(text, table, schema(), "", &mut out);
    out.sort_by_key(|it| it.range.start);
    out
}

fn walk(
    text: &str,
    table: &DeTable<'_>,
    schema: &'static Value,
    path: &str,
    out: &mut Vec<Problem>,
) {
    let schema = resolve(schema);
    static NONE: OnceLock<serde_json::Map<String, Value>> = OnceLock::new();
    let none = NONE.get_or_init(serde_json::Map::new);
    let properties = schema["properties"].as_object().unwrap_or(none);
    for (key, value) in table {
        if out.len() >= MOST {
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
            out.push(Problem::new(text, key.span(), format!("unknown key `{name}`{place}{hint}")));
            continue;
        }
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        walk_value(text, value, schema, &path, out);
    }
}

/// What a `$ref` stands for.
pub(crate) fn resolve(of: &'static Value) -> &'static Value {
    let target = of["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| schema().pointer(it)).unwrap_or(of)
}

fn walk_value(
    text: &str,
    value: &Spanned<DeValue<'_>>,
    schema: &'static Value,
    path: &str,
    out: &mut Vec<Problem>,
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
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_current() {
        let text = serde_json::to_string_pretty(schema()).unwrap_or_default() + "\n";
        expect_test::expect_file!["../noisy.schema.json"].assert_eq(&text);
    }
}
