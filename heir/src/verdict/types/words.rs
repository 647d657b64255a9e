//! Describes differences between types in words.

use crate::text::scheme_type::{CiphertextType, PlaintextSpace, PolynomialRing, SchemeType};

pub(super) fn count_text(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(super) fn polynomial_count_text(n: u32) -> String {
    format!("{n} polynomial{}", if n == 1 { "" } else { "s" })
}

pub(super) fn kind_text(ty: &SchemeType) -> &'static str {
    match ty {
        SchemeType::Ciphertext(_) => "the type of a ciphertext",
        SchemeType::Plaintext(_) => "the type of a plaintext",
        SchemeType::Key(_) => "the type of a key",
    }
}

/// Describes the difference between two rings.
pub(super) fn ring_words(a: &PolynomialRing, b: &PolynomialRing) -> (String, String) {
    let level = |it: &PolynomialRing| it.residues().map(|it| it.len().saturating_sub(1));
    match (level(a), level(b)) {
        (Some(a), Some(b)) if a != b => (format!("level {a}"), format!("level {b}")),
        _ => ("one ring".to_owned(), "another".to_owned()),
    }
}

pub(super) fn space_words(a: &PlaintextSpace, b: &PlaintextSpace) -> (String, String) {
    if a.encoding.name == b.encoding.name && a.encoding.scale != b.encoding.scale {
        let scale = |it: &PlaintextSpace| format!("scale {}", it.encoding.scale);
        return (scale(a), scale(b));
    }
    ("one plaintext space".to_owned(), "another".to_owned())
}

pub(super) fn ciphertext_words(a: &CiphertextType, b: &CiphertextType) -> (String, String) {
    if a.ring != b.ring {
        return ring_words(&a.ring, &b.ring);
    }
    if a.space != b.space {
        return space_words(&a.space, &b.space);
    }
    if a.n_polynomials != b.n_polynomials {
        return (polynomial_count_text(a.n_polynomials), polynomial_count_text(b.n_polynomials));
    }
    if a.encryption != b.encryption {
        return (format!("encryption {}", a.encryption), b.encryption.clone());
    }
    let level = |it: &CiphertextType| it.chain.as_ref().map(|it| it.current);
    match (level(a), level(b)) {
        (Some(a), Some(b)) if a != b => (format!("level {a}"), format!("level {b}")),
        _ => ("one key or modulus chain".to_owned(), "another".to_owned()),
    }
}
