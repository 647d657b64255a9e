//! Reads the facts that types of ciphertexts state, such as:
//!
//! ```text
//! !lwe.lwe_ciphertext<..., ciphertext_space = <..., size = 3>, ...,
//!   modulus_chain = <elements = <...>, current = 1>>
//! ```
//!
//! After lowering to `bgv`, `ckks` and `lwe`, a type states the number of polynomials, by default
//! 2, and the level. *Cost.* Each type is parsed once.

use noisy_syntax::{Interner, Ir, Type, Value};
use rustc_hash::FxHashMap;

use crate::text::entries::entries;
use noisy_dataflow::view::ProgramView;

/// The largest length of the text of a type; longer types are not parsed.
pub(crate) const MAX_TYPE_TEXT: usize = 1 << 16;

/// The facts that a type states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeFacts {
    /// True for the type of a ciphertext, or of a container of ciphertexts.
    pub(crate) is_ciphertext: bool,
    /// True for a type of a scheme or a library, which only lowered programs have.
    pub(crate) is_lowered: bool,
    /// The remaining levels.
    pub(crate) level: Option<usize>,
    /// The number of polynomials.
    pub(crate) size: StatedSize,
    /// The logarithm to base 2 of the scale in CKKS.
    pub(crate) scale: Option<i64>,
}

/// The number of polynomials that a type states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StatedSize {
    /// The type states no number.
    #[default]
    Unstated,
    /// The type states this number.
    Known(u32),
    /// The number is not readable.
    Unreadable,
}

/// A cache of the facts of types.
#[derive(Debug, Default)]
pub(crate) struct TypeFactsCache {
    read: FxHashMap<Type, TypeFacts>,
}

impl TypeFactsCache {
    /// Returns the facts that the type of a value states, and caches them.
    pub(crate) fn facts_of(&mut self, ir: &impl ProgramView, value: Value) -> TypeFacts {
        let ty = ir.ty(value);
        *self.read.entry(ty).or_insert_with(|| read_type_facts(ir.interner(), ty))
    }

    /// Returns the facts that a type states, without caching them.
    pub(crate) fn facts_of_type(&self, interner: &Interner, ty: Type) -> TypeFacts {
        self.read.get(&ty).copied().unwrap_or_else(|| read_type_facts(interner, ty))
    }
}

/// Returns true if the type of a value is that of a ciphertext, or of a container of ciphertexts.
pub fn has_ciphertext_type(ir: &impl ProgramView, value: Value) -> bool {
    read_type_facts(ir.interner(), ir.ty(value)).is_ciphertext
}

/// Returns true if the type of a value is one of a scheme or a library, which only lowered programs
/// have.
pub(crate) fn has_lowered_type(ir: &impl ProgramView, value: Value) -> bool {
    read_type_facts(ir.interner(), ir.ty(value)).is_lowered
}

/// Returns true if the type of a value allows encoding it as a plaintext: it is not an index, a key
/// or an evaluator.
pub(crate) fn has_encodable_type(ir: &Ir, value: Value) -> bool {
    let ty = ir.value(value).ty;
    if ty == Type::INDEX {
        return false;
    }
    let text = ir.interner.short_type_text(ty);
    !text.starts_with('!') || text.contains("plaintext")
}

/// Returns true if the type of a value is that of an encoded plaintext, or of a container of such
/// plaintexts.
pub(crate) fn has_plaintext_type(ir: &Ir, value: Value) -> bool {
    ir.interner.short_type_text(ir.value(value).ty).contains("plaintext")
}

/// The name of the type of a ciphertext of a scheme.
const CIPHERTEXT: &str = "!lwe.lwe_ciphertext";

fn read_type_facts(interner: &Interner, ty: Type) -> TypeFacts {
    let text = interner.bounded_type_text(ty, MAX_TYPE_TEXT);
    let text = text.unwrap_or_else(|| interner.short_type_text(ty));
    let of_scheme = text.find(CIPHERTEXT).map(|at| &text[at..]);
    let is_lowered = of_scheme.is_some()
        || ["!openfhe.ciphertext", "!lattigo.rlwe.ciphertext"].iter().any(|it| text.contains(it));
    TypeFacts {
        is_ciphertext: is_lowered || text.contains("!secret.secret<"),
        is_lowered,
        level: of_scheme.and_then(stated_level),
        size: of_scheme.map_or(StatedSize::Unstated, stated_size),
        scale: of_scheme.and_then(stated_scale),
    }
}

/// Returns the text of the value of a key of a type or an attribute.
fn entry_text<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    entries(text).find(|it| it.key == key).map(|it| &text[it.value_range])
}

/// Returns the integer under a key.
fn entry_number(text: &str, key: &str) -> Option<i64> {
    entries(text).find(|it| it.key == key)?.integer()
}

/// Returns the `current` of the `modulus_chain`.
fn stated_level(text: &str) -> Option<usize> {
    usize::try_from(entry_number(entry_text(text, "modulus_chain")?, "current")?).ok()
}

/// Returns the `scaling_factor` of an encoding of CKKS.
fn stated_scale(text: &str) -> Option<i64> {
    let encoding = entry_text(entry_text(text, "plaintext_space")?, "encoding")?;
    entry_number(encoding.strip_prefix("#lwe.inverse_canonical_encoding")?, "scaling_factor")
}

/// Returns the `size` of the `ciphertext_space`.
fn stated_size(text: &str) -> StatedSize {
    let Some(space) = entry_text(text, "ciphertext_space").filter(|it| it.contains('<')) else {
        return StatedSize::Unreadable;
    };
    if entry_text(space, "size").is_none() {
        return StatedSize::Known(2);
    }
    let written = entry_number(space, "size").and_then(|it| u32::try_from(it).ok());
    written.map_or(StatedSize::Unreadable, StatedSize::Known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_ciphertext_space_is_read() {
        let of = |space: &str| {
            stated_size(&format!(
                "!lwe.lwe_ciphertext<ciphertext_space = {space}, key = <size = 9>>"
            ))
        };
        assert_eq!(of("<ring = <a>, encryption_type = lsb>"), StatedSize::Known(2));
        assert_eq!(of("#lwe.ciphertext_space<ring = <a>, size = 3>"), StatedSize::Known(3));
        assert_eq!(of("<ring = <a>, size = many>"), StatedSize::Unreadable);
        assert_eq!(of("<ring = <a>, // size = 4\n size = 3>"), StatedSize::Known(3));
        assert_eq!(of("#c"), StatedSize::Unreadable);
        assert_eq!(stated_size("!lwe.lwe_ciphertext<"), StatedSize::Unreadable);
        let chain = "!lwe.lwe_ciphertext<a = <current = 4>, modulus_chain = #lwe.modulus_chain<elements = <7 : i64>, // current = 3\n current = 1>>";
        assert_eq!(stated_level(chain), Some(1));
    }
}
