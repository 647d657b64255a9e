//! Types that are the same but for blanks that say nothing.

use rustc_hash::FxHashSet;

use super::{AttrData, Interner, TypeData};
use crate::{Attr, Name, Type};

impl Interner {
    /// Whether two types are the same but for blanks in the bodies of types and attributes of other dialects, where blanks say nothing.
    /// Compares each pair of parts once.
    pub(crate) fn is_same_type(&self, a: Type, b: Type) -> bool {
        Comparison { interner: self, seen: FxHashSet::default() }.types(a, b)
    }
}

/// A comparison of two types that takes each pair of parts once, however often they are used.
struct Comparison<'a> {
    interner: &'a Interner,
    seen: FxHashSet<(bool, u32, u32)>,
}

impl Comparison<'_> {
    fn types(&mut self, a: Type, b: Type) -> bool {
        if a == b || !self.seen.insert((false, a.0, b.0)) {
            return true;
        }
        match (self.interner.type_data(a), self.interner.type_data(b)) {
            (TypeData::Dialect(a), TypeData::Dialect(b)) => self.texts(*a, *b),
            (TypeData::Complex(a), TypeData::Complex(b)) => self.types(*a, *b),
            (TypeData::Tuple(a), TypeData::Tuple(b)) => self.type_lists(a, b),
            (
                TypeData::Function { inputs, results },
                TypeData::Function { inputs: other_inputs, results: other_results },
            ) => self.type_lists(inputs, other_inputs) && self.type_lists(results, other_results),
            (
                TypeData::Vector { dims, element },
                TypeData::Vector { dims: other_dims, element: other },
            ) => dims == other_dims && self.types(*element, *other),
            (
                TypeData::Tensor { dims, element, encoding },
                TypeData::Tensor { dims: other_dims, element: other, encoding: other_encoding },
            ) => {
                let same_encoding = match (encoding, other_encoding) {
                    (Some(a), Some(b)) => self.attrs(*a, *b),
                    (a, b) => a == b,
                };
                same_encoding && dims == other_dims && self.types(*element, *other)
            }
            (
                TypeData::MemRef { dims, element, rest },
                TypeData::MemRef { dims: other_dims, element: other, rest: other_rest },
            ) => {
                dims == other_dims
                    && self.attr_lists(rest, other_rest)
                    && self.types(*element, *other)
            }
            _ => false,
        }
    }

    fn type_lists(&mut self, a: &[Type], b: &[Type]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.types(*a, *b))
    }

    fn attr_lists(&mut self, a: &[Attr], b: &[Attr]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.attrs(*a, *b))
    }

    fn attrs(&mut self, a: Attr, b: Attr) -> bool {
        if a == b || !self.seen.insert((true, a.0, b.0)) {
            return true;
        }
        let opt_types = |it: &mut Self, a: Option<Type>, b: Option<Type>| match (a, b) {
            (Some(a), Some(b)) => it.types(a, b),
            (a, b) => a == b,
        };
        match (self.interner.attr_data(a), self.interner.attr_data(b)) {
            (AttrData::Text(a, ty), AttrData::Text(b, other)) => {
                self.texts(*a, *b) && opt_types(self, *ty, *other)
            }
            (AttrData::Elements(a, ty), AttrData::Elements(b, other)) => {
                self.texts(*a, *b) && self.types(*ty, *other)
            }
            (AttrData::Int { value: a, ty }, AttrData::Int { value: b, ty: other }) => {
                a == b && self.types(*ty, *other)
            }
            (AttrData::Type(a), AttrData::Type(b)) => self.types(*a, *b),
            (AttrData::Array(a), AttrData::Array(b)) => self.attr_lists(a, b),
            (AttrData::Dict(a), AttrData::Dict(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && self.attrs(a.1, b.1))
            }
            _ => false,
        }
    }

    fn texts(&self, a: Name, b: Name) -> bool {
        let [a, b] = [a, b].map(|it| self.interner.str(it));
        a.split_whitespace().flat_map(str::bytes).eq(b.split_whitespace().flat_map(str::bytes))
    }
}
