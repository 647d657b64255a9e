//! Printing types, attributes and ops in the generic form, as MLIR prints them.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of digits and exponents of floats"
)]

use std::fmt::Write as _;

use crate::{Attr, AttrData, Dim, Interner, Name, Sign, Type, TypeData};

mod generic;

pub use generic::{generic, generic_op};

pub(crate) fn write_type(interner: &Interner, out: &mut String, ty: Type) {
    match interner.type_data(ty) {
        TypeData::Unknown => out.push('?'),
        TypeData::Int { width, sign } => {
            let prefix = match sign {
                Sign::Signless => "i",
                Sign::Signed => "si",
                Sign::Unsigned => "ui",
            };
            let _ = write!(out, "{prefix}{width}");
        }
        TypeData::Float(keyword) => out.push_str(keyword),
        TypeData::Index => out.push_str("index"),
        TypeData::None => out.push_str("none"),
        TypeData::Token => out.push_str("token"),
        TypeData::Function { inputs, results } => {
            write_function_type(interner, out, inputs, results);
        }
        TypeData::Vector { dims, element } => {
            out.push_str("vector<");
            write_dims(out, Some(dims));
            write_type(interner, out, *element);
            out.push('>');
        }
        TypeData::Tensor { dims, element, encoding } => {
            out.push_str("tensor<");
            write_dims(out, dims.as_deref());
            write_type(interner, out, *element);
            if let Some(it) = encoding {
                out.push_str(", ");
                write_attr(interner, out, *it);
            }
            out.push('>');
        }
        TypeData::MemRef { dims, element, rest } => {
            out.push_str("memref<");
            write_dims(out, dims.as_deref());
            write_type(interner, out, *element);
            for it in rest {
                out.push_str(", ");
                write_attr_typed(interner, out, *it, Types::NotDefault);
            }
            out.push('>');
        }
        TypeData::Complex(element) => {
            out.push_str("complex<");
            write_type(interner, out, *element);
            out.push('>');
        }
        TypeData::Tuple(types) => {
            out.push_str("tuple<");
            write_types(interner, out, types);
            out.push('>');
        }
        TypeData::Dialect(name) => {
            out.push('!');
            out.push_str(interner.str(*name));
        }
    }
}

/// Types with commas between them.
pub(crate) fn write_types(interner: &Interner, out: &mut String, types: &[Type]) {
    for (i, ty) in types.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_type(interner, out, *ty);
    }
}

/// `(i32) -> i32`
pub(crate) fn write_function_type(
    interner: &Interner,
    out: &mut String,
    inputs: &[Type],
    results: &[Type],
) {
    out.push('(');
    write_types(interner, out, inputs);
    out.push_str(") -> ");
    match results {
        [one] if !matches!(interner.type_data(*one), TypeData::Function { .. }) => {
            write_type(interner, out, *one);
        }
        _ => {
            out.push('(');
            write_types(interner, out, results);
            out.push(')');
        }
    }
}

fn write_dims(out: &mut String, dims: Option<&[Dim]>) {
    let Some(dims) = dims else {
        out.push_str("*x");
        return;
    };
    for dim in dims {
        let _ = match dim {
            Dim::Fixed(size) => write!(out, "{size}x"),
            Dim::Dynamic => write!(out, "?x"),
            Dim::Scalable(size) => write!(out, "[{size}]x"),
        };
    }
}

pub(crate) fn write_attr(interner: &Interner, out: &mut String, attr: Attr) {
    write_attr_typed(interner, out, attr, Types::All);
}

/// Which numbers are printed with their types.
#[derive(Clone, Copy, PartialEq)]
enum Types {
    All,
    /// All but the default types `i64` and `f64`.
    NotDefault,
    None,
}

/// An attribute; the type of an integer or float is left out where the context gives it.
fn write_attr_typed(interner: &Interner, out: &mut String, attr: Attr, types: Types) {
    let typed = |out: &mut String, ty: Type| {
        let is_default = ty == Type::I64 || ty == Type::F64;
        if types == Types::All || types == Types::NotDefault && !is_default {
            out.push_str(" : ");
            write_type(interner, out, ty);
        }
    };
    match interner.attr_data(attr) {
        AttrData::Unit => out.push_str("unit"),
        AttrData::Bool(value) => {
            let _ = write!(out, "{value}");
        }
        AttrData::Int { value, ty } => {
            let _ = write!(out, "{value}");
            typed(out, *ty);
        }
        AttrData::Float { bits, ty } => {
            let kind = match interner.type_data(*ty) {
                TypeData::Float(kind) => kind,
                _ => "f64",
            };
            out.push_str(&float_text(f64::from_bits(*bits), kind));
            typed(out, *ty);
        }
        AttrData::String(text, ty) => {
            push_quoted(out, interner.str(*text));
            if let Some(ty) = ty {
                out.push_str(" : ");
                write_type(interner, out, *ty);
            }
        }
        AttrData::Array(list) => {
            out.push('[');
            for (i, it) in list.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_attr_typed(interner, out, *it, Types::NotDefault);
            }
            out.push(']');
        }
        AttrData::Dict(entries) => write_dict(interner, out, entries),
        AttrData::Symbol(path) => {
            for (i, it) in path.iter().enumerate() {
                out.push_str(if i > 0 { "::" } else { "" });
                push_symbol(out, interner.str(*it));
            }
        }
        AttrData::Type(ty) => write_type(interner, out, *ty),
        AttrData::DenseArray { element, values } => {
            out.push_str("array<");
            write_type(interner, out, *element);
            for (i, it) in values.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { ": " });
                write_attr_typed(interner, out, *it, Types::None);
            }
            out.push('>');
        }
        AttrData::Affine(map) => {
            let keyword = if map.is_set() { "affine_set" } else { "affine_map" };
            let _ = write!(out, "{keyword}<{map}>");
        }
        AttrData::Elements(text, ty) => {
            out.push_str(interner.str(*text));
            out.push_str(" : ");
            write_type(interner, out, *ty);
        }
        AttrData::Text(text, ty) => {
            out.push_str(interner.str(*text));
            if let Some(ty) = ty {
                out.push_str(" : ");
                write_type(interner, out, *ty);
            }
        }
        AttrData::Unknown => out.push_str("unknown"),
    }
}

/// `{a = 1, b}`
pub(crate) fn write_dict(interner: &Interner, out: &mut String, entries: &[(Name, Attr)]) {
    out.push('{');
    for (i, (name, attr)) in entries.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        let key = interner.str(*name);
        if is_bare(key) {
            out.push_str(key);
        } else {
            push_quoted(out, key);
        }
        if *attr != Attr::UNIT {
            out.push_str(" = ");
            write_attr(interner, out, *attr);
        }
    }
    out.push('}');
}

/// Whether a name needs no quotes.
fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$' | b'.'))
}

/// `@name` or `@"a name"`
pub(crate) fn push_symbol(out: &mut String, name: &str) {
    out.push('@');
    if is_bare(name) {
        out.push_str(name);
    } else {
        push_quoted(out, name);
    }
}

/// A string in quotes; what is not printable ASCII is escaped by the byte.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            0x20..=0x7e => out.push(byte as char),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
    out.push('"');
}

/// A string literal as written, its escapes in MLIR's own spelling.
pub(crate) fn push_quoted_raw(out: &mut String, literal: &str) {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    push_quoted(out, &crate::grammar::unescape(inner));
}

/// A float as MLIR prints it: six digits in scientific form if they are exact, else as many as are needed.
pub(crate) fn float_text(value: f64, kind: &str) -> String {
    if value.is_finite() {
        let rounded = format!("{value:.5e}");
        let same = |text: &str| {
            text.parse::<f64>()
                .is_ok_and(|it| crate::grammar::round_to(it, kind).to_bits() == value.to_bits())
        };
        let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        if same(&rounded) {
            let sign = if exponent < 0 { '-' } else { '+' };
            return format!("{digits}0e{sign}{:02}", exponent.unsigned_abs());
        }
        return long_float(value, kind);
    }
    match kind {
        "f32" => {
            #[allow(clippy::cast_possible_truncation, reason = "the value is an f32")]
            let bits = (value as f32).to_bits();
            format!("0x{bits:08X}")
        }
        "f16" | "bf16" => {
            let (exponent, nan) = if kind == "f16" { (0x7c00, 0x0200) } else { (0x7f80, 0x0040) };
            let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
            format!("0x{:04X}", sign | exponent | if value.is_nan() { nan } else { 0 })
        }
        _ => format!("0x{:016X}", value.to_bits()),
    }
}

/// All digits that tell the value from its neighbors; without an exponent where that is not much longer.
fn long_float(value: f64, kind: &str) -> String {
    let precision = match kind {
        "f16" | "tf32" => 5,
        "bf16" => 4,
        "f32" => 9,
        _ => 17,
    };
    let text = format!("{:.*e}", precision - 1, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|it| *it != '.').collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let n = digits.len() as i32;
    let last = exponent - (n - 1);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let is_scientific = if last >= 0 {
        last > 3 || n + last > precision as i32
    } else {
        exponent < 0 && -exponent > 3
    };
    if is_scientific {
        let fraction = if n == 1 { "0" } else { &digits[1..] };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!(
            "{sign}{}.{fraction}E{exponent_sign}{}",
            &digits[..1],
            exponent.unsigned_abs()
        );
    }
    if last >= 0 {
        return format!("{sign}{digits}{}.0", "0".repeat(last as usize));
    }
    if exponent >= 0 {
        let (whole, fraction) = digits.split_at(exponent as usize + 1);
        return format!("{sign}{whole}.{fraction}");
    }
    format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize))
}

#[cfg(test)]
mod tests {
    use super::float_text;

    fn check(value: f64, kind: &str, text: &str) {
        assert_eq!(float_text(value, kind), text);
    }

    #[test]
    fn floats_are_short_where_six_digits_are_exact() {
        check(1.0, "f32", "1.000000e+00");
        check(0.5, "f64", "5.000000e-01");
        check(-1.5e10, "f64", "-1.500000e+10");
        check(f64::from(0.1_f32), "f32", "1.000000e-01");
        check(f64::from(std::f32::consts::PI), "f32", "3.14159274");
        check(1.0 / 3.0, "f64", "0.33333333333333331");
        check(f64::INFINITY, "f32", "0x7F800000");
    }
}
