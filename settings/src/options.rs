//! The settings of one file as types, which determine the format of the file, the JSON schema, and
//! `--show-settings`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{ModelError, ModelSpec, NoiseModel, Objective, Options};
use noisy_placement::Limits;
#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::rules::Rules;

/// All settings of one file, each with its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct Settings {
    /// The reported diagnostics and their severities.
    pub rules: Rules,
    /// The optimizer that inserts `reduce_noise`.
    pub placement: Placement,
    /// The inlay hints of an editor.
    pub hints: Hints,
    /// Affine loops: aliasing of memrefs, and tile sizes.
    pub loops: Loops,
    /// The growth of noise, its legal amount, and the op that reduces it.
    pub model: Model,
    /// Programs of HEIR: settings for checks beyond the text of the program.
    pub heir: noisy_analyses::heir::Options,
}

/// The noise model: as it is written, and compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    spec: ModelSpec,
    noise: Arc<NoiseModel>,
}

impl Model {
    /// Checks and compiles a model.
    pub(crate) fn new(spec: ModelSpec) -> Result<Self, ModelError> {
        let noise = Arc::new(NoiseModel::new(&spec)?);
        Ok(Self { spec, noise })
    }

    /// Returns the model with options for HEIR's programs.
    pub(crate) fn with_heir(self, heir: noisy_analyses::heir::Options) -> Self {
        let mut noise = (*self.noise).clone();
        noise.heir = heir;
        Self { spec: self.spec, noise: Arc::new(noise) }
    }

    /// Returns the compiled model.
    pub fn noise(&self) -> &Arc<NoiseModel> {
        &self.noise
    }
}

impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spec.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(ModelSpec::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
impl JsonSchema for Model {
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
pub struct Placement {
    /// Seconds that one run of the optimizer may take. The first legal placement comes at once;
    /// more time makes it cheaper and proves it optimal.
    pub time_limit: Seconds,
    /// The costs that a placement minimizes.
    pub objective: Objective,
    /// Remove existing `reduce_noise` and re-optimize all of them. Otherwise they are kept, and
    /// only missing ones are added.
    pub replace: bool,
}

impl Placement {
    /// Returns the options of the optimizer for a time limit, with a cache that lives as long as
    /// the process.
    pub fn options(&self, time: Duration) -> Options {
        Options {
            limits: Limits { time: Some(time), ..Limits::default() },
            objective: self.objective,
            replace: self.replace,
            cache: Some(noisy_analyses::repair::placement::shared_cache()),
            watch: None,
            wants_proofs: false,
        }
    }
}

/// Settings of affine loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct Loops {
    /// Different memref arguments of a function may share elements, and so may globals. Otherwise
    /// they do not, as MLIR assumes.
    pub arguments_may_alias: bool,
    /// Iterations of a tile in each loop, for the code action that tiles. 0: as many as fit into
    /// the cache.
    pub tile_size: u16,
    /// The size of the cache, in kilobytes, into which the elements of a tile should fit.
    pub tile_cache: u32,
}

impl Default for Loops {
    fn default() -> Self {
        Self { arguments_may_alias: false, tile_size: 0, tile_cache: 32 }
    }
}

/// The inlay hints of an editor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct Hints {
    /// The noise range after each noisy value, such as `[0, 24]`; for HEIR's ciphertexts the noise
    /// and the rest of the modulus, such as `29.3 bits, 27.9 left`.
    pub noise: bool,
    /// The rest of the noise budget.
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
}

impl Default for Hints {
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
        }
    }
}

/// A number of seconds, from 0 to a million.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seconds(f64);

impl Seconds {
    const MOST: f64 = 1e6;

    /// Returns the number if it is in the range.
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
    /// Returns a configuration file that sets everything.
    pub fn to_toml(&self) -> String {
        // Every type here has a form in TOML.
        toml::to_string(self).unwrap_or_default()
    }
}
