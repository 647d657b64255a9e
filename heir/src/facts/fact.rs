//! The facts about levels and polynomials of values, a lattice.

use std::fmt;

use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::Domain;

/// A level, as the number of levels used since encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The number of levels that are used up.
    Used(u32),
    /// All levels of the module are used up, however many there are (`mgmt.level_reduce_min`).
    All,
    /// No level: more levels are dropped than exist, or the level would increase in each iteration
    /// of a loop.
    Invalid,
}

/// The number of polynomials of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// The default of 2, for the result of an op of `linalg` that may multiply ciphertexts, which
    /// HEIR does not count as a product. The dimension of a product of such values is unknown.
    Assumed,
    /// The number of polynomials.
    Known(u32),
    /// Unknown, or without a bound.
    Unknown,
}

impl Dimension {
    pub(crate) fn times(self, other: Dimension) -> Dimension {
        match (self, other) {
            (Dimension::Known(a), Dimension::Known(b)) => {
                Dimension::Known(a.saturating_add(b).saturating_sub(1).max(2))
            }
            _ => Dimension::Unknown,
        }
    }
}

/// The source of a number in HEIR's annotation of a value. Where paths meet, the largest variant
/// counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum NumberSource {
    /// HEIR finds no number, and annotates the number of a fresh ciphertext.
    #[default]
    Fresh,
    /// HEIR annotates the number that follows from the ops.
    Inferred,
    /// The number depends on the order in which HEIR visits ops, and is not checked.
    Unchecked,
}

impl NumberSource {
    /// Leaves the number unchecked if a condition holds.
    pub(crate) fn set_unchecked_if(&mut self, condition: bool) {
        if condition {
            *self = NumberSource::Unchecked;
        }
    }
}

/// The sources of the level and of the dimension in HEIR's annotation of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NumberSources {
    pub(crate) level: NumberSource,
    pub(crate) dimension: NumberSource,
}

impl NumberSources {
    pub(crate) const FRESH: NumberSources = NumberSources::both(NumberSource::Fresh);
    pub(crate) const INFERRED: NumberSources = NumberSources::both(NumberSource::Inferred);
    pub(crate) const UNCHECKED: NumberSources = NumberSources::both(NumberSource::Unchecked);

    const fn both(number: NumberSource) -> Self {
        Self { level: number, dimension: number }
    }

    /// Returns true if some number is not checked.
    pub(crate) fn has_unchecked(self) -> bool {
        self.level == NumberSource::Unchecked || self.dimension == NumberSource::Unchecked
    }

    /// Returns the larger source of each number.
    pub(crate) fn max(self, other: NumberSources) -> NumberSources {
        NumberSources {
            level: self.level.max(other.level),
            dimension: self.dimension.max(other.dimension),
        }
    }
}

/// The kind of a value, with its level and dimension if it is a ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ciphertext {
    /// The value is unreachable.
    #[default]
    Bottom,
    /// The value is a plaintext: it is not computed from any ciphertext.
    Plain,
    /// The value is a ciphertext.
    Encrypted {
        /// The level.
        level: Level,
        /// The number of polynomials.
        dimension: Dimension,
    },
    /// Unknown.
    Unknown,
}

impl Ciphertext {
    /// A fresh ciphertext.
    pub const FRESH: Ciphertext =
        Ciphertext::Encrypted { level: Level::Used(0), dimension: Dimension::Known(2) };

    /// Returns the level of a ciphertext.
    pub(crate) fn level(self) -> Option<Level> {
        match self {
            Ciphertext::Encrypted { level, .. } => Some(level),
            _ => None,
        }
    }

    /// Returns the dimension of a ciphertext.
    pub(crate) fn dimension(self) -> Option<Dimension> {
        match self {
            Ciphertext::Encrypted { dimension, .. } => Some(dimension),
            _ => None,
        }
    }

    /// Returns the least upper bound.
    pub(crate) fn join(self, other: Ciphertext) -> Ciphertext {
        use Ciphertext::{Bottom, Encrypted, Plain, Unknown};
        match (self, other) {
            (Bottom, it) | (it, Bottom) => it,
            (Unknown, _) | (_, Unknown) => Unknown,
            (Plain, it) | (it, Plain) => it,
            (Encrypted { level: a, dimension: m }, Encrypted { level: b, dimension: n }) => {
                Encrypted { level: a.max(b), dimension: m.max(n) }
            }
        }
    }
}

/// The fact that the analysis infers for a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CiphertextFact {
    /// The kind, the level and the dimension of the value.
    pub(crate) ciphertext: Ciphertext,
    /// The sources of the numbers in HEIR's annotation of the value.
    pub(crate) number_sources: NumberSources,
}

impl From<Ciphertext> for CiphertextFact {
    fn from(ciphertext: Ciphertext) -> Self {
        let written = match ciphertext {
            Ciphertext::Bottom => NumberSources::default(),
            _ => NumberSources::INFERRED,
        };
        CiphertextFact { ciphertext, number_sources: written }
    }
}

impl Domain for CiphertextFact {
    fn unknown() -> Self {
        CiphertextFact { ciphertext: Ciphertext::Unknown, number_sources: NumberSources::UNCHECKED }
    }

    fn widened(&self, next: Self) -> Self {
        let ciphertext = match (self.ciphertext, next.ciphertext) {
            (
                Ciphertext::Encrypted { level: a, dimension: m },
                Ciphertext::Encrypted { level: b, dimension: n },
            ) => Ciphertext::Encrypted {
                level: if a < b { Level::Invalid } else { b },
                dimension: if m < n { Dimension::Unknown } else { n },
            },
            _ => next.ciphertext,
        };
        CiphertextFact { ciphertext, ..next }
    }
}

impl Lattice for CiphertextFact {
    fn bottom() -> Self {
        CiphertextFact::default()
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        self.ciphertext = before.ciphertext.join(other.ciphertext);
        self.number_sources = before.number_sources.max(other.number_sources);
        Changed::when(*self != before)
    }
}

impl fmt::Display for CiphertextFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not_checked = if self.number_sources.has_unchecked() { ", not checked" } else { "" };
        write!(f, "{}{not_checked}", self.ciphertext)
    }
}

impl fmt::Display for Ciphertext {
    /// Writes `level 3 dimension 2`, `plaintext`, `unknown` or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (level, dimension) = match self {
            Ciphertext::Bottom => return f.write_str("unreached"),
            Ciphertext::Plain => return f.write_str("plaintext"),
            Ciphertext::Unknown => return f.write_str("unknown"),
            Ciphertext::Encrypted { level, dimension } => (level, dimension),
        };
        match level {
            Level::Used(n) => write!(f, "level {n}")?,
            Level::All => f.write_str("the last level")?,
            Level::Invalid => f.write_str("no level")?,
        }
        match dimension {
            Dimension::Assumed => f.write_str(" dimension 2 (assumed)"),
            Dimension::Known(n) => write!(f, " dimension {n}"),
            Dimension::Unknown => f.write_str(" dimension unknown"),
        }
    }
}
