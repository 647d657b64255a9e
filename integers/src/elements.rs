//! Constants of vectors and tensors with different elements (`dense<...>`). A table holds the lists
//! of elements, so that a fact is only an index.
//!
//! If all elements are equal, the constant is that of one element, not a list.

use std::sync::{Mutex, PoisonError};

use noisy_syntax::{Attr, AttrData, Dim, Type, TypeData};
use rustc_hash::FxHashMap;

use super::constant::{Constant, float_keyword, sign_extended, width};
use super::floats;
use noisy_dataflow::view::HasInterner;

/// Maximum length of a list. Longer lists are not read.
const MAX_ELEMENTS: usize = 1 << 16;

/// Interned lists of elements.
#[derive(Debug, Default)]
pub struct ElementLists {
    all: Vec<Box<[Constant]>>,
    numbers: FxHashMap<Box<[Constant]>, u32>,
    n_elements: usize,
    /// Cache of the constants of attributes, for values of a type.
    constants_of_attrs: FxHashMap<(Attr, Type), Option<Constant>>,
    /// Cache of the attributes of constants, for values of a type.
    attrs_of_constants: Mutex<FxHashMap<(Constant, Type), Option<Attr>>>,
}

impl ElementLists {
    /// Returns the constant of a list of elements. Unknown if the list is empty or contains a
    /// constant that is not a number.
    pub(crate) fn constant(&mut self, elements: Vec<Constant>) -> Constant {
        let is_number = |it: &Constant| matches!(it, Constant::Int(_) | Constant::Float(_));
        let Some(&first) = elements.first().filter(|_| elements.iter().all(is_number)) else {
            return Constant::Unknown;
        };
        if elements.iter().all(|&it| it == first) {
            return first;
        }
        let elements = elements.into_boxed_slice();
        if let Some(&number) = self.numbers.get(&elements) {
            return Constant::Elements(number);
        }
        let number = self.all.len() as u32;
        self.n_elements += elements.len();
        self.all.push(elements.clone());
        self.numbers.insert(elements, number);
        Constant::Elements(number)
    }

    /// Returns the constant of an elements attribute, for a value of type `ty`. The result is
    /// cached.
    pub fn read(&mut self, ir: &impl HasInterner, attr: Attr, ty: Type) -> Option<Constant> {
        if !matches!(ir.interner().attr_data(attr), AttrData::Elements(..)) {
            return None;
        }
        if let Some(&known) = self.constants_of_attrs.get(&(attr, ty)) {
            return known;
        }
        let known = elements(ir, attr, ty).map(|it| self.constant(it));
        self.constants_of_attrs.insert((attr, ty), known);
        known
    }

    /// Returns the elements of a [`Constant::Elements`], in order.
    pub fn elements(&self, constant: Constant) -> Option<&[Constant]> {
        match constant {
            Constant::Elements(number) => self.all.get(number as usize).map(|it| &**it),
            _ => None,
        }
    }

    /// Returns the attribute of a [`Constant::Elements`] of type `ty`. `write` creates it at the
    /// first call.
    pub fn attr_of(
        &self,
        constant: Constant,
        ty: Type,
        write: impl FnOnce(&[Constant]) -> Option<Attr>,
    ) -> Option<Attr> {
        let elements = self.elements(constant)?;
        let mut written = self.attrs_of_constants.lock().unwrap_or_else(PoisonError::into_inner);
        *written.entry((constant, ty)).or_insert_with(|| write(elements))
    }

    /// Returns the number of elements in all lists.
    pub(crate) fn n_elements(&self) -> usize {
        self.n_elements
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Constant {
    /// Returns the constant of an attribute, for a value of type `ty`. Elements that are not all
    /// equal give [`Constant::Other`].
    pub fn of_attr(ir: &impl HasInterner, attr: Attr, ty: Type) -> Self {
        match ir.interner().attr_data(attr) {
            AttrData::Bool(it) => Constant::from_bool(*it),
            AttrData::Int { value, .. } => match width(ir, ty) {
                Some(width) => Constant::Int(sign_extended(*value, width)),
                None => Constant::Other(attr),
            },
            AttrData::Float { bits, .. } if float_keyword(ir, ty).is_some() => {
                Constant::Float(*bits)
            }
            AttrData::Elements(..) => splat(ir, attr, ty).unwrap_or(Constant::Other(attr)),
            AttrData::Unknown => Constant::Unknown,
            _ => Constant::Other(attr),
        }
    }
}

/// Returns the elements of an elements attribute, for a value of type `ty`, in order.
pub fn elements(ir: &impl HasInterner, attr: Attr, ty: Type) -> Option<Vec<Constant>> {
    let n = n_elements(ir, ty)?;
    let (inside, ty) = (dense_text(ir, attr)?, ir.interner().element_type(ty));
    let read = match hex_digits(inside) {
        Some(hex) => decode_bytes(ir, &bytes(hex)?, n, ty)?,
        None => words(inside).map(|it| parse_element(ir, it, ty)).collect::<Option<Vec<_>>>()?,
    };
    match *read {
        [one] => Some(vec![one; n]),
        _ => (read.len() == n).then_some(read),
    }
}

/// Returns the element of an elements attribute in which all elements are equal. Reads only up to
/// the first different element.
fn splat(ir: &impl HasInterner, attr: Attr, ty: Type) -> Option<Constant> {
    let n = n_elements(ir, ty)?;
    let (inside, element) = (dense_text(ir, attr)?, ir.interner().element_type(ty));
    if hex_digits(inside).is_some() {
        let elements = elements(ir, attr, ty)?;
        return elements.iter().all(|it| *it == elements[0]).then_some(elements[0]);
    }
    let mut words = words(inside);
    let first = words.next()?;
    let constant = parse_element(ir, first, element)?;
    let mut n_words = 1;
    for word in words {
        if word != first && parse_element(ir, word, element) != Some(constant) {
            return None;
        }
        n_words += 1;
    }
    (n_words == 1 || n_words == n).then_some(constant)
}

/// Returns the text in the brackets of `dense<...>`.
fn dense_text(ir: &impl HasInterner, attr: Attr) -> Option<&str> {
    let AttrData::Elements(text, _) = ir.interner().attr_data(attr) else { return None };
    Some(ir.interner().str(*text).strip_prefix("dense<")?.strip_suffix('>')?.trim())
}

fn hex_digits(inside: &str) -> Option<&str> {
    inside.strip_prefix("\"0x")?.strip_suffix('"')
}

fn words(inside: &str) -> impl Iterator<Item = &str> {
    inside.split(['[', ']', ',']).map(str::trim).filter(|it| !it.is_empty())
}

/// Returns the number of elements of a shaped type, if it is at most [`MAX_ELEMENTS`].
fn n_elements(ir: &impl HasInterner, ty: Type) -> Option<usize> {
    let dims = match ir.interner().type_data(ty) {
        TypeData::Vector { dims, .. } => dims,
        TypeData::Tensor { dims, .. } | TypeData::MemRef { dims, .. } => dims.as_ref()?,
        _ => return None,
    };
    let sizes = dims.iter().map(|it| match it {
        Dim::Fixed(size) => usize::try_from(*size).ok(),
        _ => None,
    });
    let n = sizes.into_iter().try_fold(1_usize, |all, it| all.checked_mul(it?))?;
    (1..=MAX_ELEMENTS).contains(&n).then_some(n)
}

/// Parses one element.
fn parse_element(ir: &impl HasInterner, text: &str, ty: Type) -> Option<Constant> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let hex = digits.strip_prefix("0x").map(|it| u128::from_str_radix(it, 16));
    if let Some(width) = width(ir, ty) {
        let number = match (digits, hex) {
            ("true", _) => 1,
            ("false", _) => 0,
            (_, Some(bits)) => bits.ok()?.cast_signed(),
            (digits, None) => digits.parse().ok()?,
        };
        return Some(Constant::Int(sign_extended(
            if is_negative { -number } else { number },
            width,
        )));
    }
    let kind = float_keyword(ir, ty)?;
    let value = match hex {
        Some(bits) => floats::float_from_bits(u64::try_from(bits.ok()?).ok()?, kind)?,
        None => floats::rounded(text.parse().ok()?, kind)?,
    };
    Some(Constant::Float(value.to_bits()))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2).map(|it| std::str::from_utf8(it).ok());
    digits.map(|it| u8::from_str_radix(it?, 16).ok()).collect()
}

/// Decodes the elements of a hexadecimal string: little-endian, and for `i1` eight elements per
/// byte, the lowest bit first. A single element means that all elements are equal.
fn decode_bytes(ir: &impl HasInterner, bytes: &[u8], n: usize, ty: Type) -> Option<Vec<Constant>> {
    let int_width = width(ir, ty);
    if int_width == Some(1) {
        if let [byte @ (0 | 0xff)] = *bytes {
            return Some(vec![Constant::from_bool(byte != 0)]);
        }
        let bit = |at: usize| Some(Constant::from_bool(bytes.get(at / 8)? >> (at % 8) & 1 == 1));
        return (0..n).map(bit).collect();
    }
    let bits = match (int_width, float_keyword(ir, ty)) {
        (Some(width), _) => width,
        (None, Some("f64")) => 64,
        (None, Some("f32")) => 32,
        (None, Some("f16" | "bf16")) => 16,
        _ => return None,
    };
    let size = bits.div_ceil(8).next_power_of_two() as usize;
    if !bytes.len().is_multiple_of(size) {
        return None;
    }
    let element = |it: &[u8]| {
        let bits = it.iter().rev().fold(0_u128, |all, &byte| all << 8 | u128::from(byte));
        match int_width {
            Some(width) => Some(Constant::Int(sign_extended(bits.cast_signed(), width))),
            None => Some(Constant::Float(
                floats::float_from_bits(bits as u64, float_keyword(ir, ty)?)?.to_bits(),
            )),
        }
    };
    bytes.chunks(size).map(element).collect()
}
