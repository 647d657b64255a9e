//! Parses the types of HEIR's `lwe` dialect: `!lwe.lwe_ciphertext<plaintext_space = .., ..>`.
//!
//! *Law.* Two types that are equal in HEIR have equal parts, however they are spelled: blanks,
//! comments, names of attributes that a printer omits, defaults and the order of entries and terms
//! are ignored. A type with an unknown part is unknown. *Cost.* Linear in the text.

use noisy_syntax::{Interner, Type, TypeData};

use crate::text::entries::{Entry, entries};
use crate::text::types::MOST;

/// A type of `lwe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SchemeType {
    /// `!lwe.lwe_ciphertext`
    Ciphertext(Box<Ciphertext>),
    /// `!lwe.lwe_plaintext`
    Plaintext(Space),
    /// `!lwe.lwe_secret_key`, `!lwe.lwe_public_key`
    Key(Ring),
}

/// The parts of the type of a ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ciphertext {
    pub(crate) space: Space,
    pub(crate) ring: Ring,
    /// `lsb`, `msb`, `mix`
    pub(crate) encryption: String,
    /// The number of polynomials.
    pub(crate) size: u32,
    /// The number of slots by which the key is rotated.
    pub(crate) slot: i64,
    pub(crate) chain: Option<Chain>,
}

/// `#lwe.plaintext_space`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) ring: Ring,
    pub(crate) encoding: Encoding,
}

/// `#lwe.inverse_canonical_encoding`, ..
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    /// The name, with its `#`.
    pub(crate) name: String,
    pub(crate) scale: i64,
}

/// `#polynomial.ring`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
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
pub(crate) struct Chain {
    /// The moduli with their types, `17:i64`.
    pub(crate) moduli: Vec<String>,
    /// The level.
    pub(crate) current: usize,
}

impl Ring {
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
            Coefficients::Other(it) => modulus(it),
            Coefficients::Residues(_) => None,
        }
    }

    /// Returns `n`, if the polynomial modulus is `1 + x**n`.
    pub(crate) fn cyclotomic(&self) -> Option<u64> {
        match self.modulus.as_slice() {
            [one, term] if one == "1" => term.strip_prefix("x**")?.parse().ok(),
            _ => None,
        }
    }
}

/// Returns the number 17 of `!mod_arith.int<17:i64>`.
pub(crate) fn modulus(ty: &str) -> Option<u64> {
    integer(ty.strip_prefix("!mod_arith.int<")?.strip_suffix('>')?)
}

/// Returns the number 17 of `17:i64`.
fn integer(text: &str) -> Option<u64> {
    text.split(':').next()?.parse().ok()
}

/// Parses a type of `lwe`, or the element type of a tensor or memref; `None` for other and for
/// unknown types.
pub(crate) fn read(interner: &Interner, ty: Type) -> Option<SchemeType> {
    let element = match interner.type_data(ty) {
        TypeData::Tensor { element, .. } | TypeData::MemRef { element, .. } => *element,
        _ => ty,
    };
    if !matches!(interner.type_data(element), TypeData::Dialect(_)) {
        return None;
    }
    parse(&interner.bounded_type_text(element, MOST)?)
}

fn parse(text: &str) -> Option<SchemeType> {
    match text.strip_prefix("!lwe.")?.split_once('<')?.0 {
        "lwe_ciphertext" => {
            let [plain, cipher, key, chain] =
                fields(text, ["plaintext_space", "ciphertext_space", "key", "modulus_chain"])?;
            let cipher = cipher?;
            let [ring, encryption, size] = fields(cipher, ["ring", "encryption_type", "size"])?;
            let [slot] = fields(key?, ["slot_index"])?;
            let chain = match chain {
                Some(it) => Some(self::chain(it)?),
                None => None,
            };
            Some(SchemeType::Ciphertext(Box::new(Ciphertext {
                space: space(plain?)?,
                ring: self::ring(ring?)?,
                encryption: canonical(encryption?)?,
                size: size.map_or(Some(2), |it| it.parse().ok())?,
                slot: slot.map_or(Some(0), |it| it.parse().ok())?,
                chain,
            })))
        }
        "lwe_plaintext" => {
            let [plain] = fields(text, ["plaintext_space"])?;
            Some(SchemeType::Plaintext(space(plain?)?))
        }
        "lwe_secret_key" | "lwe_public_key" => {
            let [_, ring] = fields(text, ["key", "ring"])?;
            Some(SchemeType::Key(self::ring(ring?)?))
        }
        _ => None,
    }
}

/// Returns the values of these entries; `None` if there is another entry, or the closing bracket is
/// missing.
fn fields<'a, const N: usize>(text: &'a str, keys: [&str; N]) -> Option<[Option<&'a str>; N]> {
    let mut out = [None; N];
    for Entry { key, value, .. } in entries(text) {
        let at = keys.iter().position(|it| *it == key)?;
        out[at] = Some(&text[value]);
    }
    text.trim_end().ends_with('>').then_some(out)
}

fn space(text: &str) -> Option<Space> {
    let [ring, encoding] = fields(text, ["ring", "encoding"])?;
    Some(Space { ring: self::ring(ring?)?, encoding: self::encoding(encoding?)? })
}

/// Parses an encoding.
pub(crate) fn encoding(text: &str) -> Option<Encoding> {
    let name = text.split('<').next()?.trim();
    let [scale] = fields(text, ["scaling_factor"])?;
    let scale = canonical(scale?)?.parse().ok()?;
    name.starts_with("#lwe.").then(|| Encoding { name: name.to_owned(), scale })
}

/// Parses a ring.
pub(crate) fn ring(text: &str) -> Option<Ring> {
    let [coefficients, modulus] = fields(text, ["coefficientType", "polynomialModulus"])?;
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
    Some(Ring { coefficients, modulus: terms })
}

fn chain(text: &str) -> Option<Chain> {
    let [elements, current] = fields(text, ["elements", "current"])?;
    let elements = canonical(elements?)?;
    let inside = elements.strip_prefix('<')?.strip_suffix('>')?;
    let moduli: Vec<String> = inside.split(',').map(str::to_owned).collect();
    Some(Chain { moduli, current: canonical(current?)?.parse().ok()? })
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
    fn the_spelling_of_a_type_does_not_count() {
        let long = parse(LONG).expect("a type");
        assert_eq!(parse(SHORT), Some(long.clone()));
        for (from, to) in [
            ("size = 2", "size = 3"),
            ("current = 1", "current = 0"),
            ("scaling_factor = 3", "scaling_factor = 4"),
            ("slot_index = 0", "slot_index = 1"),
            ("lsb", "msb"),
            ("<113 : i64>>", "<97 : i64>>"),
        ] {
            let other = parse(&LONG.replace(from, to));
            assert!(other.is_some() && other.as_ref() != Some(&long), "{from}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_known() {
        for (from, to) in [
            ("#lwe.key<slot_index = 0>", "#key"),
            ("!mod_arith.int<17 : i64>", "!z"),
            ("size = 2", "size = many"),
            ("size = 2", "width = 2"),
            ("current = 1>>", "current = 1"),
            ("lwe_ciphertext", "lwe_ring_elt"),
        ] {
            assert_eq!(parse(&LONG.replace(from, to)), None, "{from}");
        }
        let Some(SchemeType::Ciphertext(it)) = parse(LONG) else { panic!("a ciphertext") };
        assert_eq!(it.ring.residues().map(<[String]>::len), Some(2));
        assert_eq!(
            (it.space.ring.single_modulus(), it.space.ring.cyclotomic()),
            (Some(17), Some(8))
        );
        assert_eq!(modulus("!mod_arith.int<97:i64>"), Some(97));
    }
}
