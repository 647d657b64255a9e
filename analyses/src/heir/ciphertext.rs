//! Levels and dimensions of ciphertexts, by dataflow.
//!
//! *Facts.* A value is a plaintext or a ciphertext with a level and a dimension; both only grow along a chain of facts. Plaintexts are neutral: an op with
//! ciphertext operands has the largest level of these, and then does to it what its row says (`rows.rs`). What grows from one iteration of a loop to the
//! next has no level: HEIR demands that a loop carries the same level round.
//!
//! *Source.* HEIR, `lib/Analysis/{LevelAnalysis,DimensionAnalysis,SecretnessAnalysis}`.

use std::fmt;

use noisy_syntax::{AttrData, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::base;
use super::rows::{self, DimensionRule, LevelRule};
use super::scheme::Setting;
use crate::contract::{self, Side};
use crate::integer::Integers;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{AnalysisContext, Domain, SparseForward};
use crate::view::View;

/// A level, counted from fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// So many levels are used up.
    Used(u32),
    /// All levels of the module are used up, however many there are (`mgmt.level_reduce_min`).
    All,
    /// There is none: more levels are dropped than can be, or it would go on to grow round a loop.
    Invalid,
}

/// The number of polynomials of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// 2, for want of better knowledge: what a contraction of `linalg` gives, which HEIR counts as no product. Of a product of such values nothing is
    /// known.
    Assumed,
    /// So many.
    Known(u32),
    /// Not known, or without a bound.
    Unknown,
}

impl Dimension {
    fn times(self, other: Dimension) -> Dimension {
        match (self, other) {
            (Dimension::Known(a), Dimension::Known(b)) => {
                Dimension::Known(a.saturating_add(b).saturating_sub(1).max(2))
            }
            _ => Dimension::Unknown,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ciphertext {
    /// Nothing reaches it.
    #[default]
    Bottom,
    /// No ciphertext goes into it.
    Plain,
    /// It is encrypted.
    Encrypted {
        /// Its level.
        level: Level,
        /// Its polynomials.
        dimension: Dimension,
    },
    /// Not known.
    Unknown,
}

impl Ciphertext {
    /// A fresh ciphertext.
    pub const FRESH: Ciphertext =
        Ciphertext::Encrypted { level: Level::Used(0), dimension: Dimension::Known(2) };

    /// The level, if it is a ciphertext.
    pub fn level(self) -> Option<Level> {
        match self {
            Ciphertext::Encrypted { level, .. } => Some(level),
            _ => None,
        }
    }
}

impl Domain for Ciphertext {
    fn unknown() -> Self {
        Ciphertext::Unknown
    }

    fn widened(&self, next: Self) -> Self {
        match (*self, next) {
            (
                Ciphertext::Encrypted { level: a, dimension: m },
                Ciphertext::Encrypted { level: b, dimension: n },
            ) => Ciphertext::Encrypted {
                level: if a < b { Level::Invalid } else { b },
                dimension: if m < n { Dimension::Unknown } else { n },
            },
            _ => next,
        }
    }
}

impl Lattice for Ciphertext {
    fn bottom() -> Self {
        Ciphertext::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        use Ciphertext::{Bottom, Encrypted, Plain, Unknown};
        let before = *self;
        *self = match (before, *other) {
            (Bottom, it) | (it, Bottom) => it,
            (Unknown, _) | (_, Unknown) => Unknown,
            (Plain, it) | (it, Plain) => it,
            (Encrypted { level: a, dimension: m }, Encrypted { level: b, dimension: n }) => {
                Encrypted { level: a.max(b), dimension: m.max(n) }
            }
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Ciphertext {
    /// `level 3 dimension 2`, `plaintext`, `unknown` or `unreached`.
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

/// The analysis.
#[derive(Debug)]
pub struct Ciphertexts {
    pub(super) setting: Setting,
    /// Whether the program marks what is secret; if not, whatever it computes with may be.
    marks_secrets: bool,
    /// Levels of arguments that are not those of fresh ciphertexts.
    pub(super) entries: FxHashMap<(Op, usize), Level>,
    /// Values that a loop carries with another level than it takes them.
    pub(super) variant: FxHashSet<Value>,
}

impl Ciphertexts {
    /// The analysis of a program.
    pub fn new(ir: &Ir, setting: Setting) -> Self {
        let marks_secrets = ir.functions().into_iter().any(|function| {
            ir.op(function).regions.first().is_some_and(|&(_, region)| {
                let args = &ir.block(crate::flow::entry_block(ir, region)).args;
                args.iter().enumerate().any(|(at, &it)| is_secret_argument(ir, function, at, it))
            })
        });
        Self {
            setting,
            marks_secrets,
            entries: FxHashMap::default(),
            variant: FxHashSet::default(),
        }
    }
}

/// What an argument of a region starts with that nothing flows into: of a function what it is by itself, `fresh` if it is encrypted; else it is a plaintext.
pub(super) fn entry<F: Domain>(
    base: &base::Base<'_>,
    op: Op,
    argument: Value,
    plain: F,
    fresh: impl FnOnce() -> Option<F>,
) -> F {
    if base.ir.op(op).kind != OpKind::FuncFunc {
        return plain;
    }
    match base.heir.ciphertext(argument) {
        Ciphertext::Encrypted { .. } => fresh().unwrap_or_else(F::unknown),
        Ciphertext::Plain => plain,
        _ => F::unknown(),
    }
}

/// Whether an argument of a function is a ciphertext, by its type or its attribute `secret.secret`.
pub(crate) fn is_secret_argument(ir: &impl View, function: Op, index: usize, value: Value) -> bool {
    is_ciphertext_type(ir, value)
        || contract::dictionary(ir, function, Side::Argument, index).is_some_and(|dict| {
            match ir.interner().attr_data(dict) {
                AttrData::Dict(entries) => {
                    entries.iter().any(|it| ir.interner().str(it.0) == "secret.secret")
                }
                _ => false,
            }
        })
}

/// Whether the type of a value is that of a ciphertext, or of a shape of them.
pub(crate) fn is_ciphertext_type(ir: &impl View, value: Value) -> bool {
    let text = ir.interner().type_text(ir.ty(value));
    ["!secret.secret<", "!lwe.lwe_ciphertext", "!openfhe.ciphertext", "!lattigo.rlwe.ciphertext"]
        .iter()
        .any(|it| text.contains(it))
}

impl SparseForward for Ciphertexts {
    type Fact = Ciphertext;
    type Base = Integers;

    fn entry(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        function: Op,
        index: usize,
        value: Value,
        _: &[Ciphertext],
    ) -> Ciphertext {
        if ir.op(function).kind != OpKind::FuncFunc {
            return Ciphertext::Plain;
        }
        if let Some(&level) = self.entries.get(&(function, index)) {
            return Ciphertext::Encrypted { level, dimension: Dimension::Known(2) };
        }
        if !self.marks_secrets || is_secret_argument(ir, function, index, value) {
            Ciphertext::FRESH
        } else {
            Ciphertext::Plain
        }
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Ciphertext],
    ) -> Ciphertext {
        let name = ir.op_name(op);
        if rows::encrypts(name) {
            return Ciphertext::FRESH;
        }
        if rows::decrypts(name) {
            return Ciphertext::Plain;
        }
        let operands: Vec<Ciphertext> = base::known(ir, op, operands);
        if ir.op(op).kind == OpKind::FuncCall {
            // What is made of plaintexts alone is one, unless its type says otherwise.
            let is_public = |it: &Ciphertext| matches!(it, Ciphertext::Plain | Ciphertext::Bottom);
            let is_plain = self.marks_secrets
                && operands.iter().all(is_public)
                && !is_ciphertext_type(ir, ir.op(op).results[result]);
            return if is_plain { Ciphertext::Plain } else { Ciphertext::Unknown };
        }
        let mut joined = Ciphertext::Plain;
        for it in &operands {
            let _ = joined.join(it);
        }
        // What is not reached yet gives nothing.
        if operands.contains(&Ciphertext::Bottom) {
            return Ciphertext::Bottom;
        }
        let Ciphertext::Encrypted { level, mut dimension } = joined else { return joined };
        match rows::dimension(name) {
            Some(DimensionRule::Product) => {
                let of = |it: &Ciphertext| match it {
                    Ciphertext::Encrypted { dimension, .. } => Some(*dimension),
                    _ => None,
                };
                dimension =
                    operands.iter().filter_map(of).reduce(Dimension::times).unwrap_or(dimension);
            }
            Some(DimensionRule::Relinearize) => dimension = Dimension::Known(2),
            None if name.starts_with("linalg.") => dimension = Dimension::Assumed,
            None => {}
        }
        match self.level_after(ir, op, level) {
            Some(level) => Ciphertext::Encrypted { level, dimension },
            None => Ciphertext::Unknown,
        }
    }

    fn refine(
        &self,
        _: &AnalysisContext<'_, Integers>,
        value: Value,
        fact: Ciphertext,
    ) -> Ciphertext {
        match fact {
            Ciphertext::Encrypted { dimension, .. } if self.variant.contains(&value) => {
                Ciphertext::Encrypted { level: Level::Invalid, dimension }
            }
            _ => fact,
        }
    }
}

/// What an op does to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// So many more are used.
    By(u32),
    /// All are used.
    ToTheLast,
    /// Those that a bootstrap takes are used.
    Bootstrapped,
}

impl Ciphertexts {
    /// What an op does to the level of its operands; `None` if it is not known.
    pub(super) fn moved(&self, ir: &impl View, op: Op) -> Option<Moved> {
        let Some(rule) = rows::level(ir.op_name(op)) else { return Some(Moved::By(0)) };
        Some(Moved::By(match rule {
            LevelRule::DropAll => return Some(Moved::ToTheLast),
            LevelRule::Bootstrap => return Some(Moved::Bootstrapped),
            LevelRule::Drop(default, None) => default,
            LevelRule::Drop(default, Some(attribute)) => match ir.attr(op, attribute) {
                None => default,
                Some(attr) => match ir.interner().attr_data(attr) {
                    AttrData::Int { value, .. } => u32::try_from(*value).ok()?,
                    _ => return None,
                },
            },
            LevelRule::Chebyshev => {
                let coefficients = match ir.interner().attr_data(ir.attr(op, "coefficients")?) {
                    AttrData::Array(items) => items.len(),
                    AttrData::DenseArray { values, .. } => values.len(),
                    _ => return None,
                };
                let degree = u32::try_from(coefficients.checked_sub(1)?).ok()?;
                rows::chebyshev(degree, self.setting.is_lattigo)?
            }
        }))
    }

    /// The level after an op; `None` if it is not known.
    fn level_after(&self, ir: &impl View, op: Op, level: Level) -> Option<Level> {
        Some(match (self.moved(ir, op)?, level) {
            (Moved::Bootstrapped, _) => Level::Used(self.setting.bootstrap_level),
            (Moved::ToTheLast, Level::Used(_)) => Level::All,
            (Moved::By(drop), Level::Used(n)) => Level::Used(n.saturating_add(drop)),
            (Moved::By(1..), Level::All) => Level::Invalid,
            (_, other) => other,
        })
    }
}
