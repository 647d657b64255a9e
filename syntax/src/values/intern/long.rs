//! Names for long types and attributes: `!type3` and `#attr`.
//!
//! A text with nested aliases is short even if its types are long: sixty aliases, each of which
//! uses the previous one twice, define a type of 2^60 parts. If a print without aliases would be
//! out of proportion to the program, long types and attributes get names, which are defined above
//! the program. *Cost.* Linear in the number of used types and attributes, because the parts of
//! each are short.

use rustc_hash::FxHashMap;

use super::{AttrData, Interner, TypeData};
use crate::{Attr, Type};

/// Types and attributes longer than this get a name.
pub(super) const MAX_INLINE_LEN: usize = 128;

/// A type or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TypeOrAttr {
    Type(Type),
    Attr(Attr),
}

/// The names that are used in a print, in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct LongNames {
    pub(super) order: Vec<TypeOrAttr>,
    /// For each visited type or attribute, the index in `order`; `None` if it is short.
    pub(super) indices: FxHashMap<TypeOrAttr, Option<usize>>,
    /// Number of named types, and of named attributes.
    n_named: [usize; 2],
    pub(super) names: Vec<String>,
    /// The indices of the names that were printed since this list was cleared.
    pub(super) used: Vec<usize>,
}

impl LongNames {
    /// Adds a type or attribute; it gets a name if it is long.
    pub(super) fn add(&mut self, what: TypeOrAttr, is_long: bool) -> Option<usize> {
        let place = is_long.then_some(self.order.len());
        self.indices.insert(what, place);
        if is_long {
            let (stem, n) = match what {
                TypeOrAttr::Type(_) => ("!type", &mut self.n_named[0]),
                TypeOrAttr::Attr(_) => ("#attr", &mut self.n_named[1]),
            };
            self.names.push(alias_name(stem, *n));
            self.order.push(what);
            *n += 1;
        }
        place
    }
}

/// The name of alias number `n`; the first one has no number.
pub(crate) fn alias_name(stem: &str, n: usize) -> String {
    if n == 0 { stem.to_owned() } else { format!("{stem}{n}") }
}

impl Interner {
    /// Approximate size of the types, attributes and strings of the document in bytes, without
    /// duplicates.
    pub(crate) fn n_bytes(&self) -> usize {
        let of_type = |it: &TypeData| match it {
            TypeData::Function { inputs, results } => inputs.len() + results.len(),
            TypeData::Tuple(types) => types.len(),
            TypeData::Vector { dims, .. } => dims.len(),
            TypeData::Tensor { dims, .. } | TypeData::MemRef { dims, .. } => {
                dims.as_ref().map_or(0, |it| it.len())
            }
            _ => 0,
        };
        let of_attr = |it: &AttrData| match it {
            AttrData::Array(list) | AttrData::DenseArray { values: list, .. } => list.len(),
            AttrData::Dict(entries) => entries.len(),
            AttrData::Symbol(path) => path.len(),
            AttrData::Location(parts) => parts.len(),
            AttrData::Affine(map) => map.n_parts(),
            _ => 0,
        };
        let types: usize = self.types.iter().map(|it| 1 + of_type(it)).sum();
        let attrs: usize = self.attrs.iter().map(|it| 1 + of_attr(it)).sum();
        self.text.len() + 4 * (types + attrs)
    }
}
