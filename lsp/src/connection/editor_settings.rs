//! Settings of the editor: `initializationOptions`, and the section `noisy` of its configuration.
//!
//! A setting of the editor overrides `noisy.toml`. If it is missing or `null`, `noisy.toml` or the
//! default applies. Unknown keys are ignored, because clients also send settings of their own.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use noisy_settings::Overrides;
use serde::Deserialize;
use serde_json::Value;

/// All settings of the editor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EditorSettings {
    /// Settings that override every file.
    pub overrides: Overrides,
    /// The configuration file that replaces the nearest one.
    pub config_file: Option<PathBuf>,
    /// True if placements are searched for in the background, so that the titles of actions show
    /// the result.
    pub searches_in_background: bool,
    /// Time that a fix on save waits for a running search.
    pub save_wait: Duration,
    /// True if a lens is shown above each function.
    pub shows_lenses: bool,
    /// True if rewritings are searched for in the background, and the lens above each function
    /// shows their savings.
    pub shows_rewriting_lenses: bool,
    /// True if the server handles only noise: no errors of syntax, names and types, no navigation,
    /// no symbols, no completion. This setting is for users of another server for the same files.
    /// The default is true in programs of HEIR while another server runs.
    pub only_noise: Option<bool>,
    /// True if the client says that another MLIR server sees the same files.
    pub has_other_server: bool,
}

/// The settings in the format of the editor.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SettingsSection {
    configuration: Option<PathBuf>,
    placement: Option<PlacementSection>,
    inlay_hints: Option<serde_json::Map<String, Value>>,
    code_lens: Option<CodeLensSection>,
    features: Option<FeaturesSection>,
    heir: Option<serde_json::Map<String, Value>>,
    loops: Option<serde_json::Map<String, Value>>,
    rules: Option<serde_json::Map<String, Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PlacementSection {
    time_limit: Option<Value>,
    objective: Option<Value>,
    replace: Option<Value>,
    background: Option<bool>,
    save_wait: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CodeLensSection {
    enable: Option<bool>,
    rewriting: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FeaturesSection {
    only_noise: Option<bool>,
    other_server: Option<bool>,
}

impl EditorSettings {
    /// The settings of an editor that sends none.
    pub(crate) fn new() -> Self {
        let save_wait = Duration::from_millis(500);
        Self { searches_in_background: true, save_wait, shows_lenses: true, ..Self::default() }
    }

    /// Reads the settings from the client's message: the section itself, or an object that contains
    /// it as `noisy`.
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
        let section = SettingsSection::deserialize(section).map_err(|error| error.to_string())?;
        let placement = section.placement.unwrap_or_default();
        let lens = section.code_lens.unwrap_or_default();
        let mut toml = String::new();
        let mut set = |key: &str, value: &Value| {
            if !value.is_null() {
                // Strings, numbers and words of JSON have the same syntax in TOML.
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
            set(&format!("hints.{}", Value::from(kebab_case(&key))), &value);
        }
        for (key, value) in section.loops.unwrap_or_default() {
            set(&format!("loops.{}", Value::from(kebab_case(&key))), &value);
        }
        for (key, value) in section.heir.unwrap_or_default() {
            let key = format!("heir.{}", Value::from(kebab_case(&key)));
            match value {
                Value::Object(inner) => {
                    for (name, value) in inner {
                        set(&format!("{key}.{}", Value::from(kebab_case(&name))), &value);
                    }
                }
                value => set(&key, &value),
            }
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
            config_file: section.configuration.filter(|it| !it.as_os_str().is_empty()),
            searches_in_background: placement.background.unwrap_or(usual.searches_in_background),
            save_wait: placement
                .save_wait
                .map_or(usual.save_wait, |it| Duration::from_millis(u64::from(it))),
            shows_lenses: lens.enable.unwrap_or(usual.shows_lenses),
            shows_rewriting_lenses: lens.rewriting.unwrap_or(usual.shows_rewriting_lenses),
            only_noise: section.features.as_ref().and_then(|it| it.only_noise),
            has_other_server: section.features.and_then(|it| it.other_server).unwrap_or_default(),
        })
    }

    /// True if another server handles everything but noise in every program.
    pub(crate) fn is_noise_only(&self) -> bool {
        self.only_noise == Some(true)
    }

    /// True if another server handles everything but noise in this program. HEIR has its own server
    /// for its programs; by default, this server runs beside it.
    pub(crate) fn is_noise_only_in(&self, is_of_heir: bool) -> bool {
        self.only_noise.unwrap_or(self.has_other_server && is_of_heir)
    }
}

/// Converts camel case to kebab case: `tripCounts` becomes `trip-counts`.
fn kebab_case(camel: &str) -> String {
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
    fn reads_the_section_or_the_whole_object() {
        let mut wanted = EditorSettings::new();
        let toml =
            "placement.time-limit = 2.5\nhints.\"budget\" = true\nloops.\"tile-size\" = 16\n";
        assert_eq!(wanted.overrides.add_toml(toml), Ok(()));
        let section = json!({ "placement": { "timeLimit": 2.5 }, "inlayHints": { "budget": true }, "loops": { "tileSize": 16 } });
        for settings in [section.clone(), json!({ "noisy": section, "unknown": 1 })] {
            assert_eq!(EditorSettings::read(&settings), Ok(wanted.clone()));
        }
        for settings in [Value::Null, json!([]), json!({ "inlayHints": { "noise": null } })] {
            let config = EditorSettings::read(&settings)
                .map(|it| EditorSettings { overrides: Overrides::default(), ..it });
            assert_eq!(config, Ok(EditorSettings::new()), "{settings}");
        }
    }

    #[test]
    fn tables_in_tables_are_read() {
        let settings = json!({ "heir": { "levelBudget": 3, "latency": { "switchModulus": 7 } } });
        let mut wanted = EditorSettings::new();
        let toml = "heir.\"latency\".\"switch-modulus\" = 7\nheir.\"level-budget\" = 3\n";
        assert_eq!(wanted.overrides.add_toml(toml), Ok(()));
        assert_eq!(EditorSettings::read(&settings), Ok(wanted));
    }

    #[test]
    fn another_server_counts_in_programs_of_heir_unless_the_user_says_otherwise() {
        for (only_noise, other_server, elsewhere, in_heir) in [
            (Value::Null, false, false, false),
            (Value::Null, true, false, true),
            (false.into(), true, false, false),
            (true.into(), false, true, true),
        ] {
            let features = json!({ "onlyNoise": only_noise, "otherServer": other_server });
            let config = EditorSettings::read(&json!({ "features": features })).expect("settings");
            let found = [config.is_noise_only_in(false), config.is_noise_only_in(true)];
            assert_eq!(found, [elsewhere, in_heir], "{features}");
            assert_eq!(config.is_noise_only(), elsewhere, "{features}");
        }
    }

    #[test]
    fn wrong_values_are_errors() {
        for settings in [
            json!({ "placement": { "timeLimit": "soon" } }),
            json!({ "placement": { "timeLimit": -1 } }),
            json!({ "inlayHints": 3 }),
            json!({ "inlayHints": { "nosie": true } }),
            json!({ "heir": { "levelBudget": 0 } }),
            json!({ "heir": { "latency": { "rotate": -1 } } }),
            json!({ "rules": { "noise-overflow": "loud" } }),
            json!([1]),
        ] {
            assert!(EditorSettings::read(&settings).is_err(), "{settings}");
        }
    }
}
