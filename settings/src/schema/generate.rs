//! Generates the schema from the types of the settings. A test compares it with the published
//! schema, which the programs read.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::options::{FileSettings, ModelSettings, PlacementSettings, RewriteSettings};
use crate::rules::Rules;

/// A configuration file: the settings at the top, and overrides for some files.
#[derive(JsonSchema)]
#[schemars(title = "noisy.toml", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use: the file is read in layers")]
struct File {
    #[schemars(flatten)]
    settings: FileSettings,
    /// A configuration file that this file extends, key by key: a path relative to the folder of
    /// this file. All patterns match files below the folder of this file.
    #[schemars(default)]
    extends: String,
    /// Files that are checked only if the command line names them: patterns as in a .gitignore
    /// beside this file.
    #[schemars(default)]
    exclude: Vec<String>,
    /// Overrides for some files. If several match, the last one wins.
    #[schemars(default)]
    overrides: Vec<Override>,
}

/// Overrides for some files.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use: the file is read in layers")]
struct Override {
    /// The files: patterns as in a .gitignore beside this file.
    files: Vec<String>,
    /// The reported diagnostics and their severities.
    #[schemars(default)]
    rules: Rules,
    /// The optimizer that inserts `reduce_noise`.
    #[schemars(default)]
    placement: PlacementSettings,
    /// Rewriting programs so that they need fewer `reduce_noise`.
    #[schemars(default)]
    rewrite: RewriteSettings,
    /// The noise model: the growth of noise, the budget, and the op that reduces noise.
    #[schemars(default)]
    model: ModelSettings,
    /// Programs of HEIR: settings for checks beyond the text of the program.
    #[schemars(default)]
    heir: noisy_heir::HeirOptions,
}

/// Forbids other properties in objects with a list of properties.
fn forbid_other_properties(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            map.values_mut().for_each(forbid_other_properties);
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_other_properties),
        _ => {}
    }
}

#[test]
fn the_published_schema_is_current() {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    forbid_other_properties(&mut schema);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    expect_test::expect_file!["../../noisy.schema.json"].assert_eq(&text);
    // The update takes effect at the next compilation.
    if std::env::var_os("UPDATE_EXPECT").is_none() {
        assert!(super::schema() == &schema, "compile again: the schema was written anew");
    }
}
