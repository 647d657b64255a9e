//! `dense<...>`: prints the elements of a shaped type as MLIR does.

use std::fmt::Write as _;

use crate::float::{float_bits, float_width_and_precision, rounded_float};
use crate::{Interner, Type, TypeData};

/// MLIR prints more than this number of different elements as a hexadecimal string (LLVM 19,
/// `AsmPrinter.cpp`).
pub(crate) const MAX_PRINTED_ELEMENTS: usize = 100;

/// Returns `dense<...>` for elements whose texts are given as MLIR prints them (`3`, `true`,
/// `1.000000e+00`), in order. A single text means that all elements are equal. Equal elements are
/// printed once, more than 100 different elements as bytes, and others in brackets that are nested
/// according to the sizes.
pub fn dense_text(interner: &Interner, element: Type, sizes: &[u64], texts: &[String]) -> String {
    let mut out = "dense<".to_owned();
    if let Some(first) = texts.first().filter(|first| texts.iter().all(|it| it == *first)) {
        out += first;
    } else if texts.len() > MAX_PRINTED_ELEMENTS
        && let Some(hex) = hex_text(interner, element, texts)
    {
        out += &hex;
    } else if !texts.is_empty() {
        write_nested(&mut out, sizes, &mut texts.iter());
    }
    out.push('>');
    out
}

/// Width of an element type in bits, for types whose byte representation is known: integers of up
/// to 128 bits, indices, floats of up to 64 bits.
pub(crate) fn element_bits(interner: &Interner, element: Type) -> Option<u32> {
    match interner.type_data(element) {
        TypeData::Int { width: width @ 1..=128, .. } => Some(*width),
        TypeData::Index => Some(64),
        TypeData::Float(kind) if matches!(*kind, "f16" | "bf16" | "f32" | "f64") => {
            Some(float_width_and_precision(kind).0)
        }
        _ => None,
    }
}

/// The bytes of elements in hexadecimal, in little-endian order. Each element occupies whole bytes.
/// For `i1`, a byte contains eight elements, the first one in the lowest bit.
fn hex_text(interner: &Interner, element: Type, texts: &[String]) -> Option<String> {
    let width = element_bits(interner, element)?;
    let bits = texts.iter().map(|it| printed_bits(interner, element, it));
    let bytes: Vec<u8> = if width == 1 {
        let mut bytes = vec![0; texts.len().div_ceil(8)];
        for (at, bit) in bits.enumerate() {
            bytes[at / 8] |= u8::from(bit? & 1 == 1) << (at % 8);
        }
        bytes
    } else {
        let n_bytes = width.div_ceil(8) as usize;
        let mut bytes = Vec::with_capacity(n_bytes * texts.len());
        for bits in bits {
            let kept = bits? << (128 - width) >> (128 - width);
            bytes.extend_from_slice(&kept.to_le_bytes()[..n_bytes]);
        }
        bytes
    };
    let mut out = String::with_capacity(2 * bytes.len() + 4);
    out.push_str("\"0x");
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
    out.push('"');
    Some(out)
}

/// The bits of a printed element.
fn printed_bits(interner: &Interner, element: Type, text: &str) -> Option<u128> {
    match (text, interner.type_data(element)) {
        ("true", _) => Some(1),
        ("false", _) => Some(0),
        (_, TypeData::Float(kind)) => match text.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16).ok(),
            // The printed digits are parsed and rounded to the type.
            None => Some(float_bits(rounded_float(text.parse().ok()?, kind), kind).into()),
        },
        _ => text.parse::<i128>().ok().map(|it| it as u128),
    }
}

/// Writes elements in nested brackets.
fn write_nested<'a>(out: &mut String, sizes: &[u64], texts: &mut impl Iterator<Item = &'a String>) {
    match sizes {
        [] => out.push_str(texts.next().map_or("", |it| it)),
        [size, inner @ ..] => {
            out.push('[');
            for i in 0..*size {
                if i > 0 {
                    out.push_str(", ");
                }
                write_nested(out, inner, texts);
            }
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sign;

    fn print(data: TypeData, texts: &[&str]) -> String {
        let mut interner = Interner::default();
        let element = interner.intern_type(data);
        let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
        dense_text(&interner, element, &[texts.len() as u64], &texts)
    }

    /// A literal of 101 elements; `other` is the text of the elements between the first and the
    /// last.
    fn many(data: TypeData, first: &str, other: &str, last: &str) -> String {
        let mut texts = vec![other; 101];
        (texts[0], texts[100]) = (first, last);
        print(data, &texts)
    }

    fn int(width: u32) -> TypeData {
        TypeData::Int { width, sign: Sign::Signless }
    }

    /// The expected texts are from mlir-opt 19.1.7.
    #[test]
    fn more_than_a_hundred_elements_are_bytes() {
        assert_eq!(print(int(8), &["1", "2"]), "dense<[1, 2]>");
        assert_eq!(print(int(8), &["1"; 101]), "dense<1>");
        let ends = |first: &str, other: &str, last: &str| {
            format!("dense<\"0x{first}{}{last}\">", other.repeat(99))
        };
        assert_eq!(many(int(8), "-1", "2", "127"), ends("FF", "02", "7F"));
        assert_eq!(many(int(5), "-1", "2", "1"), ends("1F", "02", "01"));
        assert_eq!(many(int(33), "-2", "2", "1"), ends("FEFFFFFF01", "0200000000", "0100000000"));
        assert_eq!(
            many(TypeData::Index, "-1", "0", "256"),
            ends("FFFFFFFFFFFFFFFF", "0000000000000000", "0001000000000000")
        );
        let float = |it: &'static str| TypeData::Float(it);
        assert_eq!(
            many(float("f32"), "1.0e+00", "-0.0e+00", "0x7F800000"),
            ends("0000803F", "00000080", "0000807F")
        );
        // The printed number is rounded when it is parsed.
        assert_eq!(
            many(float("f16"), "1.192090e-07", "6.5504e+04", "6.1035e-05"),
            ends("0200", "FF7B", "0004")
        );
        assert_eq!(
            many(float("bf16"), "1.001170e-07", "-2.5e+00", "1.0e+00"),
            ends("D733", "20C0", "803F")
        );
        let bools = format!("dense<\"0x01{}10\">", "00".repeat(11));
        assert_eq!(many(int(1), "true", "false", "true"), bools);
        // The byte representation of `f80` is unknown.
        let other = many(float("f80"), "1.0e+00", "2.0e+00", "1.0e+00");
        assert!(other.starts_with("dense<[1.0e+00, 2.0e+00, 2.0e+00"), "{other}");
    }
}
