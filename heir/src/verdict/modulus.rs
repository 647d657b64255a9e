//! Finds scales that exceed the modulus.
//!
//! *Law.* A ciphertext whose scale exceeds the product of the moduli at its level decrypts to
//! garbage, although every pass accepts it. Only a value whose operands have no such scale is
//! reported. *Cost.* Linear in the operands. *Source.* HEIR issue 1642.

use noisy_syntax::{Ir, Value};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::facts::scale::{ScaleFacts, modulus_bits};
use crate::text::annotation;
use crate::text::setting::Scheme;

/// A ciphertext whose scale exceeds its modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverModulus {
    /// The ciphertext.
    pub value: Value,
    /// The logarithm to base 2 of its scale.
    pub scale: i64,
    /// The remaining levels.
    pub level: usize,
    /// The number of bits of the modulus at that level.
    pub bits: i64,
}

/// Returns the scale and the modulus of a value, if the scale exceeds the modulus.
pub(crate) fn over_modulus(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: Option<ScaleFacts<'_>>,
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
    let (scheme, params) = annotation::scheme_and_params(heir.setting_of_value(ir, value)?)?;
    let level = heir.remaining_levels(value).filter(|_| scheme == Scheme::Ckks)?;
    let bits = params.q.get(..=level)?.iter().map(|&it| modulus_bits(it)).sum();
    (scale > bits).then_some(OverModulus { value, scale, level, bits })
}
