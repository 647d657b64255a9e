//! The plaintext spaces of the results of products and modulus switches.
//!
//! *Source.* HEIR, `lib/Dialect/LWE/IR/LWEAttributes.cpp`.

use crate::facts::scale::{modular_inverse, modulus_bits};
use crate::text::scheme_type::{self, CiphertextType, PlaintextSpace};

/// Returns the plaintext space of a product; `None` if it is unknown.
pub(super) fn space_of_product(
    left: &PlaintextSpace,
    right: &PlaintextSpace,
) -> Option<PlaintextSpace> {
    let [x, y] = [left, right].map(|it| it.encoding.scale);
    let is_known = |it: &str| {
        matches!(it, "#lwe.full_crt_packing_encoding" | "#lwe.inverse_canonical_encoding")
    };
    if !is_known(&left.encoding.name) || !is_known(&right.encoding.name) {
        return None;
    }
    let scale = if [x, y].contains(&-1) {
        -1
    } else if left.encoding.name == "#lwe.full_crt_packing_encoding" {
        let t = u128::from(left.ring.single_modulus()?);
        let (x, y) = (u128::try_from(x).ok()?, u128::try_from(y).ok()?);
        i64::try_from(x.checked_mul(y)?.checked_rem(t)?).ok()?
    } else {
        x.checked_add(y)?
    };
    let mut out = left.clone();
    out.encoding.scale = scale;
    Some(out)
}

/// Returns the plaintext space after a switch to fewer moduli; `None` if it is unknown.
pub(super) fn space_after_switch(
    from: &CiphertextType,
    to: &CiphertextType,
) -> Option<PlaintextSpace> {
    let (all, left) = (from.ring.residues()?, to.ring.residues()?);
    let [dropped] = all.get(left.len()..)? else { return None };
    let q = scheme_type::modulus_of_type(dropped)?;
    let mut out = from.space.clone();
    let scale = &mut out.encoding.scale;
    match out.encoding.name.as_str() {
        _ if *scale == -1 => {}
        "#lwe.inverse_canonical_encoding" if *scale == 0 => {}
        "#lwe.inverse_canonical_encoding" => *scale = scale.checked_sub(modulus_bits(q))?,
        "#lwe.full_crt_packing_encoding" => {
            let t = from.space.ring.single_modulus()?;
            let product = i128::from(*scale).checked_mul(modular_inverse(q, t)?)?;
            *scale = i64::try_from(product.checked_rem(t.into())?).ok()?;
        }
        _ => return None,
    }
    Some(out)
}
