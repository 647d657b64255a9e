//! What the editor says about settings: `initializationOptions`, and the section `noisy` of its configuration.
//!
//! A setting that the editor leaves out, or gives as `null`, is decided by `noisy.toml` or its default; one that it gives counts more than
//! the file. Unknown keys are ignored, since clients send settings of their own along.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use noisy_settings::Overrides;
use serde::Deserialize;
use serde_json::Value;

/// All settings of the editor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// What counts more than any file.
    pub overrides: Overrides,
    /// The configuration file to use in place of the nearest.
    pub file: Option<PathBuf>,
    /// Solve in the background, so that the titles of actions say what they will do.
    pub background: bool,
    /// How long a fix on save waits for a search that is under way.
    pub save_wait: Duration,
    /// Show a line above each function.
    pub lenses: bool,
    /// Only what is about noise: no syntax, name and type errors, no navigation, no symbols, no completion; for those who have another
    /// server for the same files.
    pub only_noise: bool,
}

/// As the editor writes it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Section {
    configuration: Option<PathBuf>,
    placement: Option<Placement>,
    inlay_hints: Option<serde_json::Map<String, Value>>,
    code_lens: Option<CodeLens>,
    features: Option<Features>,
    rules: Option<serde_json::Map<String, Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Placement {
    time_limit: Option<Value>,
    objective: Option<Value>,
    replace: Option<Value>,
    background: Option<bool>,
    save_wait: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CodeLens {
    enable: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Features {
    only_noise: Option<bool>,
}

impl Config {
    /// The settings of an editor that says nothing.
    pub(crate) fn new() -> Self {
        let save_wait = Duration::from_millis(500);
        Self { background: true, save_wait, lenses: true, ..Self::default() }
    }

    /// Reads the settings out of what the client sent: the section itself, or an object that has it as `noisy`.
    pub(crate) fn read(settings: &Value) -> Result<Self, String> {
        let section = settings.get("noisy").unwrap_or(settings);
        if section.is_null() {
            return Ok(Self::new());
        }
        // An empty table of Lua is a list in JSON.
        if section.as_array().is_some_and(Vec::is_empty) {
            return Ok(Self::new());
        }
        if !section.is_object() {
            return Err("expected an object of settings".to_owned());
        }
        let section = Section::deserialize(section).map_err(|error| error.to_string())?;
        let placement = section.placement.unwrap_or_default();
        let mut toml = String::new();
        let mut set = |key: &str, value: &Value| {
            if !value.is_null() {
                // Strings, numbers and words of JSON are such of TOML.
                let _ = writeln!(toml, "{key} = {value}");
            }
        };
        for (key, value) in [
            ("placement.time-limit", placement.time_limit),
            ("placement.objective", placement.objective),
            ("placement.replace", placement.replace),
        ] {
            set(key, &value.unwrap_or_default());
        }
        for (key, value) in section.inlay_hints.unwrap_or_default() {
            set(&format!("hints.{}", Value::from(kebab(&key))), &value);
        }
        for (code, value) in section.rules.unwrap_or_default() {
            set(&format!("rules.{}", Value::from(code)), &value);
        }
        let mut overrides = Overrides::default();
        overrides.add_toml(&toml).map_err(|problems| {
            let all: Vec<_> = problems.into_iter().map(|it| it.message).collect();
            all.join("; ")
        })?;
        let usual = Self::new();
        Ok(Self {
            overrides,
            file: section.configuration.filter(|it| !it.as_os_str().is_empty()),
            background: placement.background.unwrap_or(usual.background),
            save_wait: placement
                .save_wait
                .map_or(usual.save_wait, |it| Duration::from_millis(u64::from(it))),
            lenses: section.code_lens.and_then(|it| it.enable).unwrap_or(usual.lenses),
            only_noise: section.features.and_then(|it| it.only_noise).unwrap_or(usual.only_noise),
        })
    }
}

/// `tripCounts` as `trip-counts`.
fn kebab(camel: &str) -> String {
    let mut out = String::new();
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn section_or_whole() {
        let mut wanted = Config::new();
        let toml = "placement.time-limit = 2.5\nhints.\"budget\" = true\n";
        assert_eq!(wanted.overrides.add_toml(toml), Ok(()));
        let section =
            json!({ "placement": { "timeLimit": 2.5 }, "inlayHints": { "budget": true } });
        for settings in [section.clone(), json!({ "noisy": section, "unknown": 1 })] {
            assert_eq!(Config::read(&settings), Ok(wanted.clone()));
        }
        for settings in [Value::Null, json!([]), json!({ "inlayHints": { "noise": null } })] {
            let config =
                Config::read(&settings).map(|it| Config { overrides: Overrides::default(), ..it });
            assert_eq!(config, Ok(Config::new()), "{settings}");
        }
    }

    #[test]
    fn wrong_values_are_errors() {
        for settings in [
            json!({ "placement": { "timeLimit": "soon" } }),
            json!({ "placement": { "timeLimit": -1 } }),
            json!({ "inlayHints": 3 }),
            json!({ "inlayHints": { "nosie": true } }),
            json!({ "rules": { "noise-overflow": "loud" } }),
            json!([1]),
        ] {
            assert!(Config::read(&settings).is_err(), "{settings}");
        }
    }
}
