//! Settings: `initializationOptions`, and the section `noisy` of the client's configuration. Unknown keys are ignored, wrong
//! values are reported and leave the default.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// All settings, each with its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Config {
    /// The optimizer of `reduce_noise`.
    pub placement: Placement,
    /// What is shown between the text.
    pub inlay_hints: InlayHints,
    /// What another server for the same files may give already.
    pub features: Features,
}

/// Settings of the optimizer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Placement {
    /// Seconds that one run may take.
    pub time_limit: f64,
    /// Solve in the background, so that the titles of actions say what they will do.
    pub background: bool,
}

/// Settings of the inlay hints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InlayHints {
    /// `[0, 24]` behind every noisy value.
    pub noise: bool,
    /// How much is left of the budget.
    pub budget: bool,
}

/// Switches for what other MLIR servers give, too.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Features {
    /// Only what is about noise: no syntax, name and type errors, no navigation, no symbols, no completion.
    pub only_noise: bool,
}

impl Default for Placement {
    fn default() -> Self {
        Self { time_limit: 5.0, background: true }
    }
}

impl Default for InlayHints {
    fn default() -> Self {
        Self { noise: true, budget: false }
    }
}

impl Config {
    /// Reads the settings out of what the client sent: the section itself, or an object that has it as `noisy`.
    pub(crate) fn read(settings: &Value) -> Result<Self, String> {
        let section = settings.get("noisy").unwrap_or(settings);
        if section.is_null() {
            return Ok(Self::default());
        }
        if !section.is_object() {
            return Err("expected an object of settings".to_owned());
        }
        let config: Self = Self::deserialize(section).map_err(|error| error.to_string())?;
        if !(config.placement.time_limit > 0.0 && config.placement.time_limit <= 86_400.0) {
            return Err("noisy.placement.timeLimit: expected seconds, more than 0".to_owned());
        }
        Ok(config)
    }

    /// The time limit of the optimizer.
    pub(crate) fn time_limit(&self) -> Duration {
        Duration::from_secs_f64(self.placement.time_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn section_or_whole() {
        let wanted = Config {
            placement: Placement { time_limit: 2.0, ..Placement::default() },
            ..Config::default()
        };
        for settings in [
            json!({"placement": {"timeLimit": 2}}),
            json!({"noisy": {"placement": {"timeLimit": 2.0}, "unknown": 1}}),
        ] {
            assert_eq!(Config::read(&settings), Ok(wanted.clone()));
        }
        assert_eq!(Config::read(&Value::Null), Ok(Config::default()));
    }

    #[test]
    fn wrong_values_are_errors() {
        for settings in [
            json!({"placement": {"timeLimit": "soon"}}),
            json!({"placement": {"timeLimit": -1}}),
            json!({"inlayHints": 3}),
            json!([]),
        ] {
            assert!(Config::read(&settings).is_err(), "{settings}");
        }
    }
}
