//! The settings of one file, as types: from them come reading, the JSON schema, and `--show-settings`.

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
    /// Which diagnostics are wanted, and how bad they are.
    pub rules: Rules,
    /// The optimizer that inserts `reduce_noise`.
    pub placement: Placement,
    /// Rewriting programs so that they need fewer `reduce_noise`.
    pub rewrite: Rewrite,
    /// What an editor shows between the text.
    pub hints: Hints,
    /// Affine loops: what is taken for granted of memrefs, and how large tiles are.
    pub loops: Loops,
    /// How noise grows, how much of it is legal, and what is inserted to bring it down.
    pub model: Model,
    /// Programs of HEIR: what is judged beyond what stands in them.
    pub heir: noisy_analyses::heir::Options,
}

/// The noise model: as it is written, and ready for use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    spec: ModelSpec,
    noise: Arc<NoiseModel>,
}

impl Model {
    /// A model that makes sense.
    pub(crate) fn new(spec: ModelSpec) -> Result<Self, ModelError> {
        let noise = Arc::new(NoiseModel::new(&spec)?);
        Ok(Self { spec, noise })
    }

    /// The same with what is said of HEIR's programs.
    pub(crate) fn with_heir(self, heir: noisy_analyses::heir::Options) -> Self {
        let mut noise = (*self.noise).clone();
        noise.heir = heir;
        Self { spec: self.spec, noise: Arc::new(noise) }
    }

    /// Ready for use.
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
    /// Seconds that one run of the optimizer may take. A legal placement comes at once; time makes it cheaper and proves it.
    pub time_limit: Seconds,
    /// What a placement costs.
    pub objective: Objective,
    /// Remove existing `reduce_noise` and re-optimize all of them. Otherwise they are kept, and only missing ones are added.
    pub replace: bool,
}

impl Placement {
    /// What the optimizer is asked for, within some time; it remembers what it solved for as long as the process runs.
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

/// Settings of rewriting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct Rewrite {
    /// Rewrite programs into equal ones that need fewer `reduce_noise`, when they are fixed.
    pub enabled: bool,
    /// Seconds that rewriting may take, within the time limit of the placement.
    pub time_limit: Seconds,
    /// Operations that a rewritten function executes, at most, as a multiple of those before.
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
pub struct Loops {
    /// Different memrefs that a function is passed may share elements, and so may globals. Otherwise they do not, as MLIR takes it.
    pub arguments_may_alias: bool,
    /// Iterations of a tile in each loop, for the code action that tiles. 0: as many as fit into the cache.
    pub tile_size: u16,
    /// Kilobytes of the cache that the elements of a tile are to fit into.
    pub tile_cache: u32,
}

impl Default for Loops {
    fn default() -> Self {
        Self { arguments_may_alias: false, tile_size: 0, tile_cache: 32 }
    }
}

/// What an editor shows between the text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(default, rename_all = "kebab-case")]
pub struct Hints {
    /// The noise range after each noisy value, such as `[0, 24]`; of HEIR's ciphertexts noise and what is left of the modulus, such as `29.3 bits, 27.9 left`.
    pub noise: bool,
    /// How much of the noise budget is left.
    pub budget: bool,
    /// The inferred range of integers, such as `in [0, 7]`, where it says more than the type.
    pub ranges: bool,
    /// How many iterations a loop has.
    pub trip_counts: bool,
    /// How noise grows over the iterations of a loop, such as `noise 12 → 20`.
    pub loop_growth: bool,
    /// The noise assumed for arguments without a declared bound, such as `[0, 12] assumed fresh`.
    pub contracts: bool,
    /// The multiplicative depth of encrypted values, such as `depth 2`.
    pub depth: bool,
    /// Which values depend on encrypted data although their type does not say so: `secret`.
    pub secrecy: bool,
    /// What affine loops carry: `parallel`, `carries 2 dependences`, `reduction`.
    pub dependences: bool,
    /// The levels that a ciphertext of HEIR has left, such as `L3`.
    pub levels: bool,
    /// The polynomials of a ciphertext of HEIR, such as `D2`.
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

    /// The number, if it is one that may be waited for.
    pub fn new(seconds: f64) -> Option<Self> {
        (0.0..=Self::MOST).contains(&seconds).then_some(Self(seconds))
    }

    /// As a duration.
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
    /// As a configuration file that sets everything.
    pub fn to_toml(&self) -> String {
        // Every type here has a form in TOML.
        toml::to_string(self).unwrap_or_default()
    }
}
