//! The settings of one file as types. They determine the format of the file, the JSON schema, and
//! the output of `--show-settings`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{ModelError, ModelSpec, NoiseModel, Objective, PlacementOptions};
use noisy_placement::PlacementLimits;
#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::rules::Rules;

/// All settings of one file, each with its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(from = "FileSettings", into = "FileSettings")]
pub struct Settings {
    /// The reported diagnostics and their severities.
    pub rules: Rules,
    /// The optimizer that inserts `reduce_noise`.
    pub placement: PlacementSettings,
    /// The search for equal programs that need fewer `reduce_noise`.
    pub rewrite: RewriteSettings,
    /// The inlay hints of an editor.
    pub hints: HintSettings,
    /// Affine loops: assumptions about memrefs, and the size of tiles.
    pub loops: LoopSettings,
    /// The noise model, and the options for HEIR's programs.
    pub model: ModelSettings,
}

/// The settings in the layout of a file: options for HEIR's programs have their own table.
#[derive(Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct FileSettings {
    /// The reported diagnostics and their severities.
    rules: Rules,
    /// The optimizer that inserts `reduce_noise`.
    placement: PlacementSettings,
    /// Rewriting programs so that they need fewer `reduce_noise`.
    rewrite: RewriteSettings,
    /// The inlay hints of an editor.
    hints: HintSettings,
    /// Affine loops: aliasing of memrefs, and tile sizes.
    loops: LoopSettings,
    /// The noise model: the growth of noise, the budget, and the op that reduces noise.
    model: ModelSettings,
    /// Programs of HEIR: settings for checks beyond the text of the program.
    heir: noisy_heir::HeirOptions,
}

impl From<FileSettings> for Settings {
    fn from(it: FileSettings) -> Self {
        let FileSettings { rules, placement, rewrite, hints, loops, model, heir } = it;
        Settings { rules, placement, rewrite, hints, loops, model: model.with_heir(heir) }
    }
}

impl From<Settings> for FileSettings {
    fn from(it: Settings) -> Self {
        let Settings { rules, placement, rewrite, hints, loops, model } = it;
        let heir = model.noise.heir;
        FileSettings { rules, placement, rewrite, hints, loops, model, heir }
    }
}

/// The noise model, as in the file and compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    spec: ModelSpec,
    noise: Arc<NoiseModel>,
}

impl ModelSettings {
    /// Checks and compiles a model.
    pub(crate) fn new(spec: ModelSpec) -> Result<Self, ModelError> {
        let noise = Arc::new(NoiseModel::new(&spec)?);
        Ok(Self { spec, noise })
    }

    /// Returns the same model with other options for HEIR's programs.
    fn with_heir(self, heir: noisy_heir::HeirOptions) -> Self {
        let mut noise = (*self.noise).clone();
        noise.heir = heir;
        Self { spec: self.spec, noise: Arc::new(noise) }
    }

    /// Returns the compiled model.
    pub fn noise(&self) -> &Arc<NoiseModel> {
        &self.noise
    }
}

impl Serialize for ModelSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spec.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ModelSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(ModelSpec::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
impl JsonSchema for ModelSettings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        ModelSpec::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ModelSpec::json_schema(generator)
    }
}

/// Settings of the optimizer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct PlacementSettings {
    /// Seconds that one run of the optimizer may take. A legal placement is found immediately;
    /// more time makes it cheaper or proves it optimal.
    pub time_limit: Seconds,
    /// The cost that a placement minimizes.
    pub objective: Objective,
    /// Remove existing `reduce_noise` and re-optimize all of them. Otherwise they are kept, and
    /// only missing ones are added.
    pub replace: bool,
}

impl PlacementSettings {
    /// Returns the options of the optimizer for a time limit. The cache of the process is used.
    pub fn options(&self, time: Duration) -> PlacementOptions {
        PlacementOptions {
            limits: PlacementLimits { time: Some(time), ..PlacementLimits::default() },
            objective: self.objective,
            replace: self.replace,
            cache: Some(noisy_analyses::repair::placement::shared_cache()),
            watch: None,
            wants_proofs: false,
        }
    }
}

/// Settings of rewriting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct RewriteSettings {
    /// Before fixing, rewrite programs into equal ones that need fewer `reduce_noise`.
    pub enabled: bool,
    /// Seconds of the search for rewritings, at most half of the time limit of the placement.
    pub time_limit: Seconds,
    /// Limit on the executed operations of a rewritten function, relative to the original.
    pub growth: Growth,
}

/// A factor from 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "f64")]
pub struct Growth(f64);

impl Growth {
    const MOST: f64 = 1000.0;

    /// Returns the factor.
    pub fn factor(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Growth {
    type Error = &'static str;

    fn try_from(factor: f64) -> Result<Self, Self::Error> {
        let is_fine = (1.0..=Self::MOST).contains(&factor);
        is_fine.then_some(Self(factor)).ok_or("expected a number between 1 and 1000")
    }
}

impl Default for Growth {
    fn default() -> Self {
        Self(1.5)
    }
}

#[cfg(test)]
impl JsonSchema for Growth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Growth".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 1, "maximum": Self::MOST })
    }
}

/// Settings of affine loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct LoopSettings {
    /// Assume that memref arguments and globals may alias. By default they do not, as in MLIR.
    pub arguments_may_alias: bool,
    /// Tile size per loop for the code action *Tile*. 0: as many iterations as fit into the cache.
    pub tile_size: u16,
    /// The size in kilobytes of the cache into which the elements of a tile should fit.
    pub tile_cache: u32,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self { arguments_may_alias: false, tile_size: 0, tile_cache: 32 }
    }
}

/// The inlay hints of an editor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct HintSettings {
    /// The noise range after each noisy value, such as `[0, 24]`; for HEIR's ciphertexts the noise
    /// and the bits left, such as `29.3 bits, 27.9 left`.
    pub noise: bool,
    /// The remaining noise budget.
    pub budget: bool,
    /// The inferred range of integers, such as `in [0, 7]`, if it is narrower than the type.
    pub ranges: bool,
    /// The number of iterations of a loop.
    pub trip_counts: bool,
    /// The growth of noise over the iterations of a loop, such as `noise 12 → 20`.
    pub loop_growth: bool,
    /// The noise assumed for arguments without a declared bound, such as `[0, 12] assumed fresh`.
    pub contracts: bool,
    /// The multiplicative depth of encrypted values, such as `depth 2`.
    pub depth: bool,
    /// Marks values that depend on encrypted data although their type is not encrypted: `secret`.
    pub secrecy: bool,
    /// The dependences that affine loops carry: `parallel`, `carries 2 dependences`, `reduction`.
    pub dependences: bool,
    /// The remaining levels of a ciphertext of HEIR, such as `L3`.
    pub levels: bool,
    /// The number of polynomials of a ciphertext of HEIR, such as `D2`.
    pub dimensions: bool,
    /// The logarithm to base 2 of the scale of a CKKS ciphertext of HEIR, such as `s45`.
    pub scales: bool,
    /// The range of the numbers in a CKKS ciphertext of HEIR, such as `in [-1, 1]`, if ranges of
    /// inputs are stated.
    pub value_ranges: bool,
}

impl Default for HintSettings {
    fn default() -> Self {
        Self {
            noise: true,
            budget: false,
            ranges: false,
            trip_counts: true,
            loop_growth: true,
            contracts: true,
            depth: false,
            secrecy: false,
            dependences: false,
            levels: true,
            dimensions: true,
            scales: true,
            value_ranges: true,
        }
    }
}

/// A number of seconds, from 0 to a million.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seconds(f64);

impl Seconds {
    const MOST: f64 = 1e6;

    /// Returns `None` if the number is out of range.
    pub fn new(seconds: f64) -> Option<Self> {
        (0.0..=Self::MOST).contains(&seconds).then_some(Self(seconds))
    }

    /// Converts it to a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl Default for Seconds {
    fn default() -> Self {
        Self(10.0)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds between 0 and 1000000")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Seconds, E> {
                Seconds::new(value)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Float(value), &self))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Seconds, E> {
                Seconds::new(value as f64)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(value), &self))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Seconds, E> {
                self.visit_f64(value as f64)
            }
        }
        deserializer.deserialize_any(Number)
    }
}

#[cfg(test)]
impl JsonSchema for Seconds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": Self::MOST })
    }
}

impl Settings {
    /// Returns a configuration file that sets every key.
    pub fn to_toml(&self) -> String {
        // Every type of the settings can be written as TOML.
        toml::to_string(self).unwrap_or_default()
    }
}
