//! Scales that are larger than the modulus.
//!
//! *Law.* A ciphertext whose scale exceeds the product of the moduli at its level decrypts to
//! garbage, although every pass accepts it. The first value is told of: none that it is made of is
//! too large. *Cost.* That of the operands. *Source.* HEIR issue 1642.

use noisy_syntax::{Ir, Value};

use crate::facts::fact::Ciphertext;
use crate::facts::known::Heir;
use crate::facts::scale::{Scales, modulus_bits};
use crate::text::annotation;
use crate::text::setting::Scheme;

/// A ciphertext whose scale exceeds its modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverModulus {
    /// The ciphertext.
    pub value: Value,
    /// The logarithm to base 2 of its scale.
    pub scale: i64,
    /// The level that is left.
    pub level: usize,
    /// The bits of the modulus at that level.
    pub bits: i64,
}

/// The excess of the scale of a value over its modulus, if there is one.
pub(crate) fn over(
    ir: &Ir,
    heir: &Heir,
    scales: Option<Scales<'_>>,
    value: Value,
) -> Option<OverModulus> {
    if !matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. })
        || heir.is_level_unchecked(value)
    {
        return None;
    }
    let scale = match heir.type_facts(&ir.interner, ir.value(value).ty).scale {
        Some(scale) => scale,
        None => scales?.log2(value)?,
    };
    let (scheme, params) = annotation::params(heir.setting_for(ir, value)?)?;
    let level = heir.left(value).filter(|_| scheme == Scheme::Ckks)?;
    let bits = params.q.get(..=level)?.iter().map(|&it| modulus_bits(it)).sum();
    (scale > bits).then_some(OverModulus { value, scale, level, bits })
}
