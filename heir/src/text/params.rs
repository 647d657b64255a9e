//! Parameters of a scheme in an attribute of a module: `#bgv.scheme_param<logN = 12, Q = [..], P =
//! [..], plaintextModulus = 65537>` (for BGV and BFV) and `#ckks.scheme_param<logN = 16, Q = [..],
//! P = [..], logDefaultScale = 45>`. Source: HEIR, `lib/Dialect/{BGV,CKKS}/IR`.

use std::fmt;

use rustc_hash::FxHashSet;

use crate::text::entries::{self, entries};

/// The key that ciphertexts are encrypted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncryptionKey {
    /// The public key.
    #[default]
    PublicKey,
    /// The secret key.
    SecretKey,
}

/// Parameters of BGV, BFV or CKKS.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeParams {
    /// The logarithm to base 2 of the ring dimension.
    pub(crate) log_n: u32,
    /// The primes of the ciphertext modulus, from level 0 up.
    pub q: Vec<u64>,
    /// The special primes of key switching.
    pub p: Vec<u64>,
    /// The plaintext modulus of BGV and BFV.
    pub(crate) plaintext_modulus: Option<u64>,
    /// The logarithm to base 2 of the default scale of CKKS.
    pub log_default_scale: Option<u32>,
    /// The key that ciphertexts are encrypted with.
    pub encryption: EncryptionKey,
    /// True if a ciphertext is encrypted under a larger modulus and then switched down.
    pub(crate) has_extended_encryption: bool,
}

/// The reason why parameters are unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamsError {
    /// A required key is missing.
    Missing(&'static str),
    /// The value of a key is not readable.
    BadValue(&'static str, String),
    /// A key occurs twice.
    Repeated(String),
    /// No scheme has a key of this name.
    UnknownKey(String),
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamsError::Missing(key) => write!(f, "the scheme parameters have no `{key}`"),
            ParamsError::BadValue(key, value) => {
                write!(f, "the scheme parameter `{key}` cannot be read: `{value}`")
            }
            ParamsError::Repeated(key) => {
                write!(f, "the scheme parameter `{key}` is written more than once")
            }
            ParamsError::UnknownKey(key) => write!(f, "there is no scheme parameter `{key}`"),
        }
    }
}

impl std::error::Error for ParamsError {}

impl SchemeParams {
    /// Reads the text of a `#bgv.scheme_param<...>` or `#ckks.scheme_param<...>` attribute.
    ///
    /// # Errors
    /// If `logN` or `Q` is missing, a key is repeated or unknown, or a value has the wrong kind or
    /// is out of range: no modulus, a modulus below 2, a ring dimension above 2^32.
    pub fn parse(text: &str) -> Result<Self, ParamsError> {
        let mut params = SchemeParams {
            log_n: 0,
            q: Vec::new(),
            p: Vec::new(),
            plaintext_modulus: None,
            log_default_scale: None,
            encryption: EncryptionKey::default(),
            has_extended_encryption: false,
        };
        let (mut has_n, mut has_q) = (false, false);
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for entry in entries(text) {
            if !seen.insert(entry.key) {
                return Err(ParamsError::Repeated(entry.key.to_owned()));
            }
            let bad = |key| ParamsError::BadValue(key, text[entry.value_range.clone()].to_owned());
            match entry.key {
                "logN" => {
                    params.log_n = parse_integer(&entry.value_tokens)
                        .and_then(|it| u32::try_from(it).ok())
                        .filter(|it| (1..=32).contains(it))
                        .ok_or_else(|| bad("logN"))?;
                    has_n = true;
                }
                "Q" => {
                    params.q = parse_moduli(&entry.value_tokens).ok_or_else(|| bad("Q"))?;
                    has_q = true;
                }
                "P" => params.p = parse_moduli(&entry.value_tokens).ok_or_else(|| bad("P"))?,
                "plaintextModulus" => {
                    let modulus = parse_integer(&entry.value_tokens).filter(|&it| it >= 2);
                    let modulus = modulus.ok_or_else(|| bad("plaintextModulus"))?;
                    params.plaintext_modulus = Some(modulus);
                }
                "logDefaultScale" => {
                    let scale =
                        parse_integer(&entry.value_tokens).and_then(|it| u32::try_from(it).ok());
                    params.log_default_scale = Some(scale.ok_or_else(|| bad("logDefaultScale"))?);
                }
                "encryptionType" => {
                    params.encryption = match entry.value_tokens.as_slice() {
                        ["pk"] => EncryptionKey::PublicKey,
                        ["sk"] => EncryptionKey::SecretKey,
                        _ => return Err(bad("encryptionType")),
                    }
                }
                "encryptionTechnique" => {
                    params.has_extended_encryption = match entry.value_tokens.as_slice() {
                        ["standard"] => false,
                        ["extended"] => true,
                        _ => return Err(bad("encryptionTechnique")),
                    }
                }
                other => return Err(ParamsError::UnknownKey(other.to_owned())),
            }
        }
        if !has_n {
            return Err(ParamsError::Missing("logN"));
        }
        if !has_q || params.q.is_empty() {
            return Err(ParamsError::Missing("Q"));
        }
        Ok(params)
    }

    /// Returns the ring dimension.
    pub fn ring_dimension(&self) -> f64 {
        f64::from(self.log_n).exp2()
    }

    /// Returns the highest level.
    pub(crate) fn max_level(&self) -> usize {
        self.q.len() - 1
    }

    /// Returns the number of digits of key switching: the number of ciphertext primes divided by
    /// the number of special primes, rounded up.
    pub(crate) fn n_key_switch_digits(&self) -> usize {
        self.q.len().div_ceil(self.p.len().max(1))
    }
}

/// Parses an integer. Like HEIR, it accepts no type after the number.
fn parse_integer(words: &[&str]) -> Option<u64> {
    match words {
        [number] => entries::parse_number(number),
        _ => None,
    }
}

/// Parses `[3, 5, 7]`, where each number is at least 2.
fn parse_moduli(words: &[&str]) -> Option<Vec<u64>> {
    let ["[", inside @ .., "]"] = words else { return None };
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside.split(|&it| it == ",").map(|it| parse_integer(it).filter(|&it| it >= 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        let text = "#bgv.scheme_param<logN = 12, Q = [2147565569, 3], P = [2147573761], plaintextModulus = 65537, \
                    encryptionType = sk, encryptionTechnique = extended>";
        let params = SchemeParams::parse(text).unwrap();
        assert_eq!((params.log_n, params.max_level(), params.n_key_switch_digits()), (12, 1, 2));
        assert_eq!(params.plaintext_modulus, Some(65537));
        assert_eq!(
            (params.encryption, params.has_extended_encryption),
            (EncryptionKey::SecretKey, true)
        );
        let commented = text.replace(", ", ", // P = [4], logN = 3, plaintextModulus = 7\n ");
        assert_eq!(SchemeParams::parse(&commented), Ok(params.clone()));
        let hexadecimal = text.replace("= 12", "= 0xC").replace(", 3]", ", 0x3]");
        assert_eq!(SchemeParams::parse(&hexadecimal), Ok(params));
    }

    #[test]
    fn reports_unusable_parameters() {
        let error = |text: &str| SchemeParams::parse(text).unwrap_err();
        assert_eq!(error("#bgv.scheme_param<Q = [3]>"), ParamsError::Missing("logN"));
        assert_eq!(error("<logN = 12>"), ParamsError::Missing("Q"));
        assert_eq!(error("<logN = 12, Q = []>"), ParamsError::Missing("Q"));
        assert_eq!(error("<logN = 12, Q = [1]>"), ParamsError::BadValue("Q", "[1]".into()));
        assert_eq!(error("<logN = 99, Q = [3]>"), ParamsError::BadValue("logN", "99".into()));
        for (text, key, value) in [
            ("<logN = 13 : i32, Q = [3]>", "logN", "13 : i32"),
            ("<logN = 13, Q = [3 : i64]>", "Q", "[3 : i64]"),
            ("<logN = 13, Q = [3], plaintextModulus = 7 : i64>", "plaintextModulus", "7 : i64"),
        ] {
            assert_eq!(error(text), ParamsError::BadValue(key, value.into()));
        }
        let twice = error("<logN = 13, logN = 14, Q = [3]>");
        assert_eq!(twice, ParamsError::Repeated("logN".into()));
        assert_eq!(error("<logN = 13, Q = [3], foo = 3>"), ParamsError::UnknownKey("foo".into()));
        assert_eq!(error(""), ParamsError::Missing("logN"));
    }
}
