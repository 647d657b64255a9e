//! Checks of numbers against their types, and the literals of dense elements.

use super::ast::{Literal, Number};
use super::reader::{ReadResult, Reader};
use super::words::Word;
use crate::dense::{MAX_PRINTED_ELEMENTS, dense_text, element_bits};
use crate::float::{float_of_bits, float_text, float_width_and_precision, rounded_float};
use crate::string::{quoted, unquoted};
use crate::{Attr, AttrData, Code, Dim, Interner, Sign, TokenKind, Type, TypeData};

/// Returns a number as an attribute of a type, or a message if it is not valid for the type.
pub(super) fn number_attr(
    interner: &mut Interner,
    number: &Number<'_>,
    ty: Type,
) -> Result<Attr, String> {
    match *interner.type_data(ty) {
        TypeData::Unknown => Ok(Attr::UNKNOWN),
        TypeData::Int { width, sign } => {
            if width > 128 {
                let minus = if number.is_negative { "-" } else { "" };
                let text = interner.intern_name(&format!("{minus}{}", number.word.text));
                return Ok(interner.intern_attr(AttrData::Text(text, Some(ty))));
            }
            let value = int_value(number, width, sign)?;
            if width == 1 && sign == Sign::Signless {
                return Ok(interner.intern_attr(AttrData::Bool(value != 0)));
            }
            Ok(interner.intern_attr(AttrData::Int { value, ty }))
        }
        TypeData::Index => {
            // MLIR parses an index as a signed integer.
            let value = int_value(number, 64, Sign::Signed)?;
            Ok(interner.intern_attr(AttrData::Int { value, ty }))
        }
        TypeData::Float(kind) => {
            let bits = float_value(number, kind)?.to_bits();
            Ok(interner.intern_attr(AttrData::Float { bits, ty }))
        }
        _ if number.word.kind == TokenKind::Float => {
            Err("floating point value not valid for specified type".to_owned())
        }
        _ => Err("integer literal not valid for specified type".to_owned()),
    }
}

/// Returns the value of an integer literal in an integer type.
fn int_value(number: &Number<'_>, width: u32, sign: Sign) -> Result<i128, String> {
    let out_of_range = || "integer constant out of range for its type".to_owned();
    if number.word.kind == TokenKind::Float {
        return Err("floating point value for an integer type".to_owned());
    }
    let text = number.word.text;
    let magnitude = match text.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => text.parse::<u128>(),
    };
    let magnitude = magnitude.map_err(|_| out_of_range())?;
    let bits = 128 - magnitude.leading_zeros();
    if number.is_negative {
        if sign == Sign::Unsigned {
            return Err("negative integer literal not valid for unsigned integer type".to_owned());
        }
        let is_least = bits == width && magnitude.is_power_of_two();
        // Minus zero does not fit any width except 0.
        if bits >= width.max(1) && !is_least || magnitude == 0 && width > 0 {
            return Err(out_of_range());
        }
        return Ok((magnitude as i128).wrapping_neg());
    }
    let limit = if sign == Sign::Signed { width.saturating_sub(1) } else { width };
    if bits > limit {
        return Err(out_of_range());
    }
    if sign == Sign::Signless && bits == width && width > 0 && width < 128 {
        return Ok(magnitude as i128 - (1 << width));
    }
    Ok(magnitude as i128)
}

/// Returns a stride or an offset as MLIR prints it: `16` also for `0x10` and `016`.
pub(super) fn stride_text(reader: &mut Reader<'_, '_>, number: &Number<'_>) -> String {
    let Number { is_negative, word } = number;
    if word.kind == TokenKind::Question {
        return "?".to_owned();
    }
    let magnitude = Number { is_negative: false, word: *word };
    let value =
        int_value(&magnitude, 64, Sign::Signed).map(|it| if *is_negative { -it } else { it });
    if let Ok(value) = value {
        return value.to_string();
    }
    reader.report_mismatch(
        Code::InvalidType,
        word.span(),
        "expected a 64-bit signed integer or '?'",
    );
    format!("{}{}", if *is_negative { "-" } else { "" }, word.text)
}

fn float_value(number: &Number<'_>, kind: &str) -> Result<f64, String> {
    let text = number.word.text;
    if let Some(hex) = text.strip_prefix("0x") {
        if number.is_negative {
            return Err("hexadecimal float literal should not have a leading minus".to_owned());
        }
        let bits = u128::from_str_radix(hex, 16).ok();
        let width = float_width_and_precision(kind).0;
        return match bits.filter(|it| 128 - it.leading_zeros() <= width) {
            Some(bits) => Ok(float_of_bits(bits, kind)),
            None => Err("hexadecimal float constant out of range for type".to_owned()),
        };
    }
    if number.word.kind == TokenKind::Int {
        return Err("a floating point value needs a '.', such as 1.0".to_owned());
    }
    let value = text.parse::<f64>().unwrap_or(f64::NAN);
    // Rounding is needed because not every type has a negative zero.
    Ok(rounded_float(if number.is_negative { -value } else { value }, kind))
}

/// Parses `array<i32: 1, 2>`.
pub(super) fn dense_array(
    reader: &mut Reader<'_, '_>,
    ty: &super::ast::TypeTree<'_>,
    values: &[Literal<'_>],
) -> ReadResult<Attr> {
    let element = reader.lower_type(ty)?;
    let span = reader.span_of(ty);
    let data = reader.env.interner.type_data(element).clone();
    match data {
        TypeData::Unknown => return Ok(Attr::UNKNOWN),
        TypeData::Int { width, .. } if width <= 1 || width % 8 == 0 => {}
        TypeData::Float(_) | TypeData::Index => {}
        TypeData::Int { .. } => {
            reader.report_mismatch(
                Code::LiteralType,
                span,
                "element type bitwidth must be 1 or a multiple of 8",
            );
        }
        _ => {
            let message = "expected an integer or float type".into();
            return Err(reader.error_at(Code::ExpectedToken, span, message));
        }
    }
    let mut out = Vec::with_capacity(values.len());
    for value in values {
        let attr = match value {
            Literal::Number(it) => number_attr(reader.env.interner, it, element)
                .map_err(|message| (it.word.span(), message)),
            Literal::Word(word) if word.kind == TokenKind::Bare => {
                if matches!(data, TypeData::Int { width: 1, .. }) {
                    Ok(reader.env.interner.intern_attr(AttrData::Bool(word.text == "true")))
                } else {
                    Err((word.span(), "expected a number".to_owned()))
                }
            }
            Literal::Word(word) | Literal::List(word, _) | Literal::Complex(word, _) => {
                return Err(reader.error_at(
                    Code::ExpectedToken,
                    word.span(),
                    "expected a number".into(),
                ));
            }
        };
        out.push(attr.unwrap_or_else(|(span, message)| {
            reader.report_mismatch(Code::LiteralType, span, message);
            Attr::UNKNOWN
        }));
    }
    Ok(reader.env.interner.intern_attr(AttrData::DenseArray { element, values: out.into() }))
}

/// Returns the canonical text of `dense<literal>`, as MLIR prints it.
pub(super) fn dense_elements_text(
    reader: &mut Reader<'_, '_>,
    word: &Word<'_>,
    literal: Option<&Literal<'_>>,
    ty: Type,
) -> ReadResult<String> {
    let (dims, element) = match reader.env.interner.type_data(ty) {
        TypeData::Tensor { dims: Some(dims), element, .. } | TypeData::Vector { dims, element } => {
            (dims.clone(), *element)
        }
        TypeData::MemRef { dims: Some(dims), element, .. } => (dims.clone(), *element),
        TypeData::Unknown => (Box::default(), Type::UNKNOWN),
        _ => {
            let message = "an elements literal must have a shaped type with static shape".into();
            return Err(reader.error_at(Code::LiteralType, word.span(), message));
        }
    };
    if ty == Type::UNKNOWN {
        return Ok("dense<>".to_owned());
    }
    if dims.contains(&Dim::Dynamic) {
        let message = "elements literal type must have static shape";
        reader.report_mismatch(Code::LiteralType, word.span(), message);
        return Ok("dense<>".to_owned());
    }
    let sizes: Vec<u64> = dims
        .iter()
        .map(|it| match it {
            Dim::Fixed(it) | Dim::Scalable(it) => *it,
            Dim::Dynamic => 0,
        })
        .collect();
    let n_elements = sizes.iter().fold(1u64, |n, it| n.saturating_mul(*it));
    let Some(literal) = literal else {
        if n_elements != 0 {
            reader.report_mismatch(
                Code::LiteralType,
                word.span(),
                "expected elements: the type has at least one",
            );
        }
        return Ok("dense<>".to_owned());
    };
    // The text of a hexadecimal blob is kept.
    if let Literal::Word(it) = literal
        && it.text.starts_with("\"0x")
        && !matches!(reader.env.interner.type_data(element), TypeData::Dialect(_))
    {
        let digits = it.text[3..].trim_end_matches('"');
        if digits.len() % 2 == 1 || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            let message = "expected string containing hex digits starting with `0x`".into();
            return Err(reader.error_at(Code::LiteralType, it.span(), message));
        }
        return Ok(hex_elements_text(reader, it, digits, n_elements, &sizes, element));
    }
    let mut shape = Vec::new();
    if !infer_shape(literal, 0, &mut shape) {
        let message = "tensor literal is invalid; ranks are not consistent between elements".into();
        return Err(reader.error_at(Code::RaggedLiteral, word.span(), message));
    }
    let is_list = matches!(literal, Literal::List(..));
    let mut leaves = Vec::new();
    flatten(literal, &mut leaves);
    if is_list && shape != sizes {
        let message = format!(
            "inferred shape of elements literal ({shape:?}) does not match type ({sizes:?})"
        );
        reader.report_mismatch(Code::LiteralType, word.span(), message);
        return Ok("dense<>".to_owned());
    }
    let mut texts = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        match element_text(reader.env.interner, leaf, element) {
            Ok(text) => texts.push(text),
            Err(message) => {
                reader.report_mismatch(Code::LiteralType, word_of(leaf).span(), message);
                return Ok("dense<>".to_owned());
            }
        }
    }
    Ok(dense_text(reader.env.interner, element, &sizes, &texts))
}

/// `dense<"0x...">`: the bytes of each element, or of one element for all. Like MLIR, prints few
/// elements one by one, and many as hexadecimal digits.
fn hex_elements_text(
    reader: &mut Reader<'_, '_>,
    word: &Word<'_>,
    digits: &str,
    n_elements: u64,
    sizes: &[u64],
    element: Type,
) -> String {
    let width = element_bits(reader.env.interner, element).filter(|it| *it <= 64);
    let Some(width) = width else { return format!("dense<{}>", word.text) };
    let data = reader.env.interner.type_data(element);
    let is_unsigned = matches!(data, TypeData::Int { sign: Sign::Unsigned, .. });
    let kind = match data {
        TypeData::Float(kind) => Some(*kind),
        _ => None,
    };
    let bytes: Vec<u8> = (0..digits.len() / 2)
        .map(|it| u8::from_str_radix(&digits[2 * it..2 * it + 2], 16).unwrap_or(0))
        .collect();
    // Each element takes whole bytes, except that eight one-bit elements share a byte. There, a
    // single byte of equal bits is a splat.
    let n_bytes = width.div_ceil(8) as usize;
    let (is_splat, n_needed) = if width == 1 {
        (matches!(*bytes, [0 | 0xff]), Some(n_elements.div_ceil(8)))
    } else {
        (bytes.len() == n_bytes, n_elements.checked_mul(n_bytes as u64))
    };
    if !is_splat && Some(bytes.len() as u64) != n_needed {
        let message = "elements hex data size is invalid for the type";
        reader.report_mismatch(Code::LiteralType, word.span(), message);
        return "dense<>".to_owned();
    }
    let bits = |at: u64| {
        let at = at as usize;
        if width == 1 {
            return u64::from(bytes[at / 8] >> (at % 8) & 1);
        }
        // The bytes are little-endian.
        let chunk = bytes[at * n_bytes..][..n_bytes].iter();
        let bits = chunk.rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        bits << (64 - width) >> (64 - width)
    };
    let text = |bits: u64| match (kind, is_unsigned) {
        _ if width == 1 => (bits == 1).to_string(),
        (Some(kind), _) => float_text(float_of_bits(bits.into(), kind), kind),
        (None, true) => bits.to_string(),
        (None, false) => ((bits << (64 - width)) as i64 >> (64 - width)).to_string(),
    };
    let n_given = if is_splat { 1 } else { n_elements };
    let is_same = (1..n_given).all(|it| bits(it) == bits(0));
    if n_given > MAX_PRINTED_ELEMENTS as u64 && !is_same {
        return format!("dense<\"0x{}\">", digits.to_uppercase());
    }
    let n_printed = if is_same { n_given.min(1) } else { n_given };
    let texts: Vec<String> = (0..n_printed).map(|it| text(bits(it))).collect();
    dense_text(reader.env.interner, element, sizes, &texts)
}

/// Returns `sparse<indices, values>` as written, except for blanks.
pub(super) fn sparse_elements_text(both: Option<&(Literal<'_>, Literal<'_>)>) -> String {
    let mut out = "sparse<".to_owned();
    if let Some((indices, values)) = both {
        write_literal(&mut out, indices);
        out.push_str(", ");
        write_literal(&mut out, values);
    }
    out.push('>');
    out
}

fn write_literal(out: &mut String, literal: &Literal<'_>) {
    match literal {
        Literal::Number(it) => {
            out.push_str(if it.is_negative { "-" } else { "" });
            out.push_str(it.word.text);
        }
        Literal::Word(it) => out.push_str(it.text),
        Literal::Complex(_, both) => {
            out.push('(');
            write_literal(out, &both.0);
            out.push_str(", ");
            write_literal(out, &both.1);
            out.push(')');
        }
        Literal::List(_, list) => {
            out.push('[');
            for (i, it) in list.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_literal(out, it);
            }
            out.push(']');
        }
    }
}

/// Infers the sizes of nested lists; returns false if siblings have different sizes.
fn infer_shape(literal: &Literal<'_>, depth: usize, shape: &mut Vec<u64>) -> bool {
    let Literal::List(_, list) = literal else {
        // The first leaf has determined the rank.
        return shape.len() == depth;
    };
    let size = list.len() as u64;
    if shape.len() == depth {
        shape.push(size);
        let Some((first, rest)) = list.split_first() else { return true };
        return infer_shape(first, depth + 1, shape)
            && rest.iter().all(|it| has_shape(it, depth + 1, shape));
    }
    has_shape(literal, depth, shape)
}

fn has_shape(literal: &Literal<'_>, depth: usize, shape: &[u64]) -> bool {
    match literal {
        Literal::List(_, list) => {
            shape.get(depth) == Some(&(list.len() as u64))
                && list.iter().all(|it| has_shape(it, depth + 1, shape))
        }
        _ => shape.len() == depth,
    }
}

fn flatten<'a, 'b>(literal: &'b Literal<'a>, out: &mut Vec<&'b Literal<'a>>) {
    match literal {
        Literal::List(_, list) => list.iter().for_each(|it| flatten(it, out)),
        leaf => out.push(leaf),
    }
}

fn word_of<'b, 'a>(literal: &'b Literal<'a>) -> &'b Word<'a> {
    match literal {
        Literal::Number(it) => &it.word,
        Literal::Word(it) | Literal::Complex(it, _) | Literal::List(it, _) => it,
    }
}

fn element_text(interner: &Interner, leaf: &Literal<'_>, ty: Type) -> Result<String, String> {
    match (interner.type_data(ty), leaf) {
        (TypeData::Int { width: 1, .. }, Literal::Word(it)) if it.kind == TokenKind::Bare => {
            Ok(it.text.to_owned())
        }
        (TypeData::Int { width: 1, sign }, Literal::Number(it)) => {
            Ok(if int_value(it, 1, *sign)? == 0 { "false" } else { "true" }.to_owned())
        }
        (TypeData::Int { width, sign }, Literal::Number(it)) if *width <= 128 => {
            Ok(int_value(it, *width, *sign)?.to_string())
        }
        (TypeData::Index, Literal::Number(it)) => Ok(int_value(it, 64, Sign::Signed)?.to_string()),
        (TypeData::Float(kind), Literal::Number(it)) => {
            Ok(float_text(float_value(it, kind)?, kind))
        }
        (TypeData::Complex(inner), Literal::Complex(_, both)) => {
            let real = element_text(interner, &both.0, *inner)?;
            Ok(format!("({real},{})", element_text(interner, &both.1, *inner)?))
        }
        (TypeData::Int { .. } | TypeData::Index | TypeData::Float(_), Literal::Word(it))
            if it.kind == TokenKind::Bare =>
        {
            Err("expected i1 type for 'true' or 'false' values".to_owned())
        }
        (
            TypeData::Int { .. } | TypeData::Index | TypeData::Float(_) | TypeData::Complex(_),
            Literal::Word(_),
        ) => Err("expected a number, not a string".to_owned()),
        (TypeData::Int { .. } | TypeData::Index | TypeData::Float(_), Literal::Complex(..)) => {
            Err("a complex number needs a complex type".to_owned())
        }
        (TypeData::Complex(_), Literal::Number(_)) => {
            Err("expected a complex number, such as (1.0, 0.0)".to_owned())
        }
        (_, Literal::Word(it)) => Ok(quoted(&unquoted(it.text))),
        _ => {
            let mut out = String::new();
            write_literal(&mut out, leaf);
            Ok(out)
        }
    }
}
