//! Parses the types of HEIR's `lwe` dialect: `!lwe.lwe_ciphertext<plaintext_space = .., ..>`.
//!
//! *Law.* Two types that are equal in HEIR have equal parts, however they are spelled: blanks,
//! comments, names of attributes that a printer omits, defaults and the order of entries and terms
//! are ignored. A type with an unknown part is unknown. *Cost.* Linear in the text.

use noisy_syntax::{Interner, Type, TypeData};

use crate::text::entries::{AttributeEntry, entries};
use crate::text::types::MAX_TYPE_TEXT;

/// A type of `lwe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SchemeType {
    /// `!lwe.lwe_ciphertext`
    Ciphertext(Box<CiphertextType>),
    /// `!lwe.lwe_plaintext`
    Plaintext(PlaintextSpace),
    /// `!lwe.lwe_secret_key`, `!lwe.lwe_public_key`
    Key(PolynomialRing),
}

/// The parts of the type of a ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CiphertextType {
    pub(crate) space: PlaintextSpace,
    pub(crate) ring: PolynomialRing,
    /// `lsb`, `msb`, `mix`
    pub(crate) encryption: String,
    /// The number of polynomials.
    pub(crate) n_polynomials: u32,
    /// The number of slots by which the key is rotated.
    pub(crate) n_rotated_slots: i64,
    pub(crate) chain: Option<ModulusChain>,
}

/// `#lwe.plaintext_space`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaintextSpace {
    pub(crate) ring: PolynomialRing,
    pub(crate) encoding: PlaintextEncoding,
}

/// `#lwe.inverse_canonical_encoding`, ..
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaintextEncoding {
    /// The name, with its `#`.
    pub(crate) name: String,
    pub(crate) scale: i64,
}

/// `#polynomial.ring`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolynomialRing {
    pub(crate) coefficients: Coefficients,
    /// The terms of the modulus, sorted.
    pub(crate) modulus: Vec<String>,
}

/// The type of the coefficients of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Coefficients {
    /// Integers modulo the product of the moduli of these types.
    Residues(Vec<String>),
    /// Any other type.
    Other(String),
}

/// `#lwe.modulus_chain`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModulusChain {
    /// The moduli with their types, `17:i64`.
    pub(crate) moduli: Vec<String>,
    /// The level.
    pub(crate) current: usize,
}

impl PolynomialRing {
    /// Returns the types of the residues.
    pub(crate) fn residues(&self) -> Option<&[String]> {
        match &self.coefficients {
            Coefficients::Residues(it) => Some(it),
            Coefficients::Other(_) => None,
        }
    }

    /// Returns the modulus, if the coefficients are integers modulo one number.
    pub(crate) fn single_modulus(&self) -> Option<u64> {
        match &self.coefficients {
            Coefficients::Other(it) => modulus_of_type(it),
            Coefficients::Residues(_) => None,
        }
    }

    /// Returns `n`, if the polynomial modulus is `1 + x**n`.
    pub(crate) fn cyclotomic_degree(&self) -> Option<u64> {
        match self.modulus.as_slice() {
            [one, term] if one == "1" => term.strip_prefix("x**")?.parse().ok(),
            _ => None,
        }
    }
}

/// Returns the number 17 of `!mod_arith.int<17:i64>`.
pub(crate) fn modulus_of_type(ty: &str) -> Option<u64> {
    integer(ty.strip_prefix("!mod_arith.int<")?.strip_suffix('>')?)
}

/// Returns the number 17 of `17:i64`.
fn integer(text: &str) -> Option<u64> {
    text.split(':').next()?.parse().ok()
}

/// Parses a type of `lwe`, or the element type of a tensor or memref; `None` for other and for
/// unknown types.
pub(crate) fn read_scheme_type(interner: &Interner, ty: Type) -> Option<SchemeType> {
    let element = match interner.type_data(ty) {
        TypeData::Tensor { element, .. } | TypeData::MemRef { element, .. } => *element,
        _ => ty,
    };
    if !matches!(interner.type_data(element), TypeData::Dialect(_)) {
        return None;
    }
    parse_scheme_type(&interner.bounded_type_text(element, MAX_TYPE_TEXT)?)
}

fn parse_scheme_type(text: &str) -> Option<SchemeType> {
    match text.strip_prefix("!lwe.")?.split_once('<')?.0 {
        "lwe_ciphertext" => {
            let [plain, cipher, key, chain] = entry_values(
                text,
                ["plaintext_space", "ciphertext_space", "key", "modulus_chain"],
            )?;
            let cipher = cipher?;
            let [ring, encryption, size] =
                entry_values(cipher, ["ring", "encryption_type", "size"])?;
            let [slot] = entry_values(key?, ["slot_index"])?;
            let chain = match chain {
                Some(it) => Some(self::parse_chain(it)?),
                None => None,
            };
            Some(SchemeType::Ciphertext(Box::new(CiphertextType {
                space: parse_space(plain?)?,
                ring: self::parse_ring(ring?)?,
                encryption: canonical(encryption?)?,
                n_polynomials: size.map_or(Some(2), |it| it.parse().ok())?,
                n_rotated_slots: slot.map_or(Some(0), |it| it.parse().ok())?,
                chain,
            })))
        }
        "lwe_plaintext" => {
            let [plain] = entry_values(text, ["plaintext_space"])?;
            Some(SchemeType::Plaintext(parse_space(plain?)?))
        }
        "lwe_secret_key" | "lwe_public_key" => {
            let [_, ring] = entry_values(text, ["key", "ring"])?;
            Some(SchemeType::Key(self::parse_ring(ring?)?))
        }
        _ => None,
    }
}

/// Returns the values of these entries; `None` if there is another entry, or the closing bracket is
/// missing.
fn entry_values<'a, const N: usize>(
    text: &'a str,
    keys: [&str; N],
) -> Option<[Option<&'a str>; N]> {
    let mut out = [None; N];
    for AttributeEntry { key, value_range: value, .. } in entries(text) {
        let at = keys.iter().position(|it| *it == key)?;
        out[at] = Some(&text[value]);
    }
    text.trim_end().ends_with('>').then_some(out)
}

fn parse_space(text: &str) -> Option<PlaintextSpace> {
    let [ring, encoding] = entry_values(text, ["ring", "encoding"])?;
    Some(PlaintextSpace {
        ring: self::parse_ring(ring?)?,
        encoding: self::parse_encoding(encoding?)?,
    })
}

/// Parses an encoding.
pub(crate) fn parse_encoding(text: &str) -> Option<PlaintextEncoding> {
    let name = text.split('<').next()?.trim();
    let [scale] = entry_values(text, ["scaling_factor"])?;
    let scale = canonical(scale?)?.parse().ok()?;
    name.starts_with("#lwe.").then(|| PlaintextEncoding { name: name.to_owned(), scale })
}

/// Parses a ring.
pub(crate) fn parse_ring(text: &str) -> Option<PolynomialRing> {
    let [coefficients, modulus] = entry_values(text, ["coefficientType", "polynomialModulus"])?;
    let coefficients = canonical(coefficients?)?;
    let coefficients = match coefficients.strip_prefix("!rns.rns<") {
        Some(rest) => {
            let inside = rest.strip_suffix('>')?;
            Coefficients::Residues(inside.split(',').map(str::to_owned).collect())
        }
        None => Coefficients::Other(coefficients),
    };
    let modulus = canonical(modulus?)?;
    let inside = modulus.strip_prefix('<')?.strip_suffix('>')?;
    let mut terms: Vec<String> = inside.split('+').map(str::to_owned).collect();
    terms.sort_unstable();
    Some(PolynomialRing { coefficients, modulus: terms })
}

fn parse_chain(text: &str) -> Option<ModulusChain> {
    let [elements, current] = entry_values(text, ["elements", "current"])?;
    let elements = canonical(elements?)?;
    let inside = elements.strip_prefix('<')?.strip_suffix('>')?;
    let moduli: Vec<String> = inside.split(',').map(str::to_owned).collect();
    Some(ModulusChain { moduli, current: canonical(current?)?.parse().ok()? })
}

/// Returns a text without blanks, comments and the names of attributes before `<`; `None` if it
/// contains an alias.
fn canonical(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '$' | '-');
        rest = match first {
            '/' if behind.starts_with('/') => behind.find('\n').map_or("", |it| &behind[it..]),
            '#' | '!' => {
                let end = behind.find(|it| !is_name(it)).unwrap_or(behind.len());
                let (name, tail) = behind.split_at(end);
                if !name.contains('.') {
                    return None;
                }
                if first == '!' {
                    out.push('!');
                    out.push_str(name);
                } else if !tail.starts_with('<') {
                    return None;
                }
                tail
            }
            it if it.is_whitespace() => behind,
            it => {
                out.push(it);
                behind
            }
        };
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "!lwe.lwe_ciphertext<plaintext_space = #lwe.plaintext_space<ring = #polynomial.ring<coefficientType = !mod_arith.int<17 : i64>, polynomialModulus = <1 + x**8>>, encoding = #lwe.full_crt_packing_encoding<scaling_factor = 3>>, ciphertext_space = #lwe.ciphertext_space<ring = #polynomial.ring<coefficientType = !rns.rns<!mod_arith.int<97 : i64>, !mod_arith.int<113 : i64>>, polynomialModulus = <1 + x**8>>, encryption_type = lsb, size = 2>, key = #lwe.key<slot_index = 0>, modulus_chain = #lwe.modulus_chain<elements = <97 : i64, 113 : i64>, current = 1>>";
    const SHORT: &str = "!lwe.lwe_ciphertext<ciphertext_space = <encryption_type = lsb, ring = <polynomialModulus = <x**8+1>, coefficientType = !rns.rns<!mod_arith.int<97:i64>,!mod_arith.int<113:i64>>>>, // the ring\n plaintext_space = <ring = <coefficientType = !mod_arith.int<17 : i64>, polynomialModulus = #polynomial.int_polynomial<1 + x**8>>, encoding = #lwe.full_crt_packing_encoding<scaling_factor = 3>>, key = <>, modulus_chain = <elements = <97 : i64, 113 : i64>, current = 1>>";

    #[test]
    fn ignores_the_spelling_of_types() {
        let long = parse_scheme_type(LONG).expect("a type");
        assert_eq!(parse_scheme_type(SHORT), Some(long.clone()));
        for (from, to) in [
            ("size = 2", "size = 3"),
            ("current = 1", "current = 0"),
            ("scaling_factor = 3", "scaling_factor = 4"),
            ("slot_index = 0", "slot_index = 1"),
            ("lsb", "msb"),
            ("<113 : i64>>", "<97 : i64>>"),
        ] {
            let other = parse_scheme_type(&LONG.replace(from, to));
            assert!(other.is_some() && other.as_ref() != Some(&long), "{from}");
        }
    }

    #[test]
    fn other_types_are_unknown() {
        for (from, to) in [
            ("#lwe.key<slot_index = 0>", "#key"),
            ("!mod_arith.int<17 : i64>", "!z"),
            ("size = 2", "size = many"),
            ("size = 2", "width = 2"),
            ("current = 1>>", "current = 1"),
            ("lwe_ciphertext", "lwe_ring_elt"),
        ] {
            assert_eq!(parse_scheme_type(&LONG.replace(from, to)), None, "{from}");
        }
        let Some(SchemeType::Ciphertext(it)) = parse_scheme_type(LONG) else {
            panic!("a ciphertext")
        };
        assert_eq!(it.ring.residues().map(<[String]>::len), Some(2));
        assert_eq!(
            (it.space.ring.single_modulus(), it.space.ring.cyclotomic_degree()),
            (Some(17), Some(8))
        );
        assert_eq!(modulus_of_type("!mod_arith.int<97:i64>"), Some(97));
    }
}
