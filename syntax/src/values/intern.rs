//! Interned strings, types and attributes. Equal data have equal ids, so comparing them means
//! comparing integers.
//!
//! Nothing is ever removed: ids remain valid as long as the document exists.

use std::fmt::Write as _;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

mod compare;
mod data;
mod define;
mod foreign;
mod layout;
mod long;
mod text;

use crate::slack::{keep_slack, keep_slack_in_map, reserve_with_slack};
use crate::string::{symbols_in_body, unquoted};
use crate::{Attr, Name, OpKind, Type};
pub use data::{AttrData, Dim, LocationPart, Sign, TypeData};
pub use layout::StridedLayout;
pub(crate) use long::alias_name;
pub(crate) use text::{AliasNames, NumberTypes, TextPrinter};
pub use text::{MAX_PADDING, floor_char_boundary};

/// The interners of one document.
#[derive(Debug)]
pub struct Interner {
    /// All strings, concatenated; string `n` ends at `ends[n]`.
    text: String,
    ends: Vec<u32>,
    name_ids: HashTable<Name>,
    /// For each string, the op of which it is the full name.
    op_kinds: Vec<OpKind>,
    types: Vec<TypeData>,
    type_ids: FxHashMap<TypeData, Type>,
    attrs: Vec<AttrData>,
    attr_ids: FxHashMap<AttrData, Attr>,
    /// The integers of elements attributes, parsed on demand.
    integers: FxHashMap<Attr, OnceLock<Option<Box<[i128]>>>>,
    /// Cached types of texts without aliases; their meaning does not depend on the context.
    type_texts: FxHashMap<Box<str>, Type>,
    attr_texts: FxHashMap<Box<str>, Attr>,
    /// The type inside each secret type of HEIR.
    secret_elements: FxHashMap<Type, Type>,
}

/// Longer texts are not cached.
const MAX_CACHED_LEN: usize = 256;

/// Initial capacity of the tables. Most documents have fewer types and attributes.
const INITIAL_CAPACITY: usize = 56;

/// Creates a table with capacity for [`INITIAL_CAPACITY`] entries.
fn new_map<K, V>() -> FxHashMap<K, V> {
    FxHashMap::with_capacity_and_hasher(INITIAL_CAPACITY, FxBuildHasher)
}

/// Usual length of a name in bytes: `%123`, `arith.addi`.
const USUAL_NAME_LEN: usize = 8;

impl Default for Interner {
    fn default() -> Self {
        let mut it = Self {
            text: String::new(),
            ends: Vec::new(),
            name_ids: HashTable::new(),
            op_kinds: Vec::new(),
            types: Vec::with_capacity(INITIAL_CAPACITY),
            type_ids: new_map(),
            attrs: Vec::with_capacity(INITIAL_CAPACITY),
            attr_ids: new_map(),
            integers: FxHashMap::default(),
            type_texts: new_map(),
            attr_texts: new_map(),
            secret_elements: FxHashMap::default(),
        };
        it.intern_name("");
        let noisy = it.intern_name("noisy.i32");
        for data in [
            TypeData::Unknown,
            TypeData::Dialect(noisy),
            TypeData::Int { width: 1, sign: Sign::Signless },
            TypeData::Int { width: 64, sign: Sign::Signless },
            TypeData::Float("f64"),
            TypeData::Index,
            TypeData::None,
        ] {
            it.intern_type(data);
        }
        it.intern_attr(AttrData::Unknown);
        it.intern_attr(AttrData::Unit);
        it
    }
}

impl Interner {
    /// Interns a string and returns its id.
    pub fn intern_name(&mut self, text: &str) -> Name {
        let Self { text: all, ends, name_ids, op_kinds: kinds, .. } = self;
        let hash = hash(text);
        let found = name_ids.entry(
            hash,
            |it| is_str(all, ends, *it, text),
            |it| self::hash(str_of(all, ends, *it)),
        );
        match found {
            hashbrown::hash_table::Entry::Occupied(it) => *it.get(),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                let name = Name(ends.len() as u32);
                slot.insert(name);
                all.push_str(text);
                ends.push(all.len() as u32);
                let has_dialect = text.contains('.');
                kinds.push(if has_dialect { OpKind::of(text) } else { OpKind::Unknown });
                name
            }
        }
    }

    /// The id of a string; `None` if it was never interned.
    pub fn find_name(&self, text: &str) -> Option<Name> {
        let is_it = |it: &Name| is_str(&self.text, &self.ends, *it, text);
        let found = self.name_ids.find(hash(text), is_it);
        found.copied()
    }

    /// Reserves capacity for `n` more strings of the usual length.
    pub(crate) fn reserve(&mut self, n: usize) {
        let Self { text, ends, name_ids, op_kinds: kinds, .. } = self;
        text.reserve(n * USUAL_NAME_LEN);
        name_ids.reserve(n, |it| hash(str_of(text, ends, *it)));
        reserve_with_slack(ends, n);
        reserve_with_slack(kinds, n);
    }

    /// Reserves some capacity for later edits.
    pub(crate) fn keep_slack(&mut self) {
        let Self {
            text, ends, name_ids, op_kinds: kinds, types, type_ids, attrs, attr_ids, ..
        } = self;
        let n_bytes = text.len() / 8;
        if text.capacity() - text.len() < n_bytes / 2 {
            text.reserve_exact(n_bytes);
        }
        name_ids.reserve(ends.len() / 16, |it| hash(str_of(text, ends, *it)));
        keep_slack(ends);
        keep_slack(kinds);
        keep_slack(types);
        keep_slack(attrs);
        keep_slack_in_map(type_ids);
        keep_slack_in_map(attr_ids);
        keep_slack_in_map(&mut self.type_texts);
        keep_slack_in_map(&mut self.attr_texts);
    }

    /// The string of an id.
    pub fn str(&self, name: Name) -> &str {
        str_of(&self.text, &self.ends, name)
    }

    /// Number of strings; each id is less than it.
    pub(crate) fn n_names(&self) -> usize {
        self.ends.len()
    }

    /// The kind of the op with this full name.
    pub fn op_kind(&self, name: Name) -> OpKind {
        self.op_kinds[name.index()]
    }

    /// The cached result of parsing a text.
    pub(crate) fn cached_type(&self, text: &str) -> Option<Type> {
        self.type_texts.get(text).copied()
    }

    pub(crate) fn cache_type(&mut self, text: &str, ty: Type) {
        if text.len() <= MAX_CACHED_LEN {
            self.type_texts.insert(text.into(), ty);
        }
    }

    /// The cached result of parsing a text.
    pub(crate) fn cached_attr(&self, text: &str) -> Option<Attr> {
        if text.len() > MAX_CACHED_LEN {
            return None;
        }
        self.attr_texts.get(text).copied()
    }

    pub(crate) fn cache_attr(&mut self, text: &str, attr: Attr) {
        if text.len() <= MAX_CACHED_LEN {
            self.attr_texts.insert(text.into(), attr);
        }
    }

    /// The type inside a secret type of HEIR; [`Type::UNKNOWN`] if it is unknown, `None` for other
    /// types.
    pub fn secret_element(&self, ty: Type) -> Option<Type> {
        self.secret_elements.get(&ty).copied()
    }

    pub(crate) fn set_secret_element(&mut self, ty: Type, element: Type) {
        self.secret_elements.insert(ty, element);
    }

    /// Interns a type and returns its id.
    pub fn intern_type(&mut self, data: TypeData) -> Type {
        if let Some(&ty) = self.type_ids.get(&data) {
            return ty;
        }
        let ty = Type(self.types.len() as u32);
        self.types.push(data.clone());
        self.type_ids.insert(data, ty);
        ty
    }

    /// The data of a type.
    pub fn type_data(&self, ty: Type) -> &TypeData {
        &self.types[ty.index()]
    }

    /// Interns an attribute and returns its id.
    pub fn intern_attr(&mut self, data: AttrData) -> Attr {
        if let Some(&attr) = self.attr_ids.get(&data) {
            return attr;
        }
        let attr = Attr(self.attrs.len() as u32);
        if matches!(data, AttrData::Elements(..)) {
            self.integers.insert(attr, OnceLock::new());
        }
        self.attrs.push(data.clone());
        self.attr_ids.insert(data, attr);
        attr
    }

    /// The data of an attribute.
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        &self.attrs[attr.index()]
    }

    /// The symbol paths in some attributes, in order. A list that occurs repeatedly is visited
    /// once, so the cost is proportional to the number of distinct parts.
    pub fn symbol_paths_in(
        &self,
        attrs: impl DoubleEndedIterator<Item = Attr>,
    ) -> Vec<SmallVec<[Name; 2]>> {
        let mut out: Vec<SmallVec<[Name; 2]>> = Vec::new();
        let mut seen: FxHashSet<Attr> = FxHashSet::default();
        let mut stack: Vec<Attr> = attrs.rev().collect();
        while let Some(attr) = stack.pop() {
            match self.attr_data(attr) {
                AttrData::Symbol(path) => out.push(SmallVec::from_slice(path)),
                // A name that is not interned has no definition.
                AttrData::Text(text, _) => {
                    let text = self.str(*text);
                    let names = symbols_in_body(text)
                        .into_iter()
                        .filter_map(|it| self.find_name(&unquoted(&text[it.start + 1..it.end])));
                    out.extend(names.map(|it| SmallVec::from_slice(&[it])));
                }
                AttrData::Array(list) if seen.insert(attr) => stack.extend(list.iter().rev()),
                AttrData::Dict(entries) if seen.insert(attr) => {
                    stack.extend(entries.iter().rev().map(|it| it.1));
                }
                _ => {}
            }
        }
        out
    }

    /// The element type of a shaped type; any other type is returned unchanged.
    pub fn element_type(&self, ty: Type) -> Type {
        match self.type_data(ty) {
            TypeData::Vector { element, .. }
            | TypeData::Tensor { element, .. }
            | TypeData::MemRef { element, .. } => *element,
            _ => ty,
        }
    }

    /// The full text of a type as MLIR prints it: `!noisy.i32`, `tensor<4xf32>`.
    pub fn type_text(&self, ty: Type) -> String {
        let mut text = TextPrinter::new(self, None);
        text.ty(ty);
        text.out
    }

    /// The width in bits of a number, a complex number or a vector; `None` for types without a
    /// known width.
    pub fn bit_width(&self, ty: Type) -> Option<u64> {
        match self.type_data(ty) {
            TypeData::Int { width, .. } => Some(u64::from(*width)),
            // The first number in names such as `bf16`, `tf32`, `f8E4M3FN`.
            TypeData::Float(name) => {
                let digits = name.trim_start_matches(|it: char| !it.is_ascii_digit());
                let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
                // `tf32` has 19 bits but occupies 32.
                digits[..end].parse().ok()
            }
            TypeData::Index => Some(64),
            TypeData::Complex(element) => self.bit_width(*element)?.checked_mul(2),
            TypeData::Vector { dims, element } => {
                dims.iter().try_fold(self.bit_width(*element)?, |all, it| match it {
                    Dim::Fixed(n) => all.checked_mul(*n),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// The text of an attribute in MLIR's generic form.
    pub fn attr_text(&self, attr: Attr) -> String {
        let mut text = TextPrinter::new(self, None);
        text.attr(attr);
        text.out
    }

    /// The text of a type for messages. A long text is cut in the middle, so time and space are
    /// bounded even if aliases are nested in aliases.
    pub fn short_type_text(&self, ty: Type) -> String {
        let mut text = TextPrinter::short(self);
        text.ty(ty);
        text.finish_short()
    }

    /// The text of an attribute for messages, shortened like [`Self::short_type_text`].
    pub(crate) fn short_attr_text(&self, attr: Attr) -> String {
        let mut text = TextPrinter::short(self);
        text.attr(attr);
        text.finish_short()
    }

    /// The text of a type that is inserted into a program without an alias; `None` if it is too
    /// long (64 KiB).
    pub fn insertable_type_text(&self, ty: Type) -> Option<String> {
        self.bounded_type_text(ty, 1 << 16)
    }

    /// The text of a type if it has at most `most` bytes; otherwise `None`.
    pub fn bounded_type_text(&self, ty: Type, most: usize) -> Option<String> {
        let mut text = TextPrinter::bounded(self, most);
        text.ty(ty);
        text.finish_bounded()
    }

    /// The text of an attribute if it has at most `most` bytes; otherwise `None`.
    pub(crate) fn bounded_attr_text(&self, attr: Attr, most: usize) -> Option<String> {
        let mut text = TextPrinter::bounded(self, most);
        text.attr(attr);
        text.finish_bounded()
    }

    /// `i1` with the shape of `ty`; unknown for an unknown type.
    pub(crate) fn i1_like(&self, ty: Type) -> TypeData {
        match self.type_data(ty) {
            TypeData::Unknown => TypeData::Unknown,
            TypeData::Vector { dims, .. } => {
                TypeData::Vector { dims: dims.clone(), element: Type::I1 }
            }
            TypeData::Tensor { dims, encoding, .. } => {
                TypeData::Tensor { dims: dims.clone(), element: Type::I1, encoding: *encoding }
            }
            _ => self.type_data(Type::I1).clone(),
        }
    }

    /// The result type of `arith.cmpi` on a type, if it is interned.
    pub(crate) fn find_i1_like(&self, ty: Type) -> Option<Type> {
        self.type_ids.get(&self.i1_like(ty)).copied()
    }

    /// The type of an attribute that has one.
    pub fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Bool(_) => Some(Type::I1),
            AttrData::Int { ty, .. } | AttrData::Float { ty, .. } | AttrData::Elements(_, ty) => {
                Some(*ty)
            }
            AttrData::String(_, ty) => Some(ty.unwrap_or(Type::NONE)),
            AttrData::Text(_, ty) => *ty,
            AttrData::Unknown => Some(Type::UNKNOWN),
            _ => None,
        }
    }

    /// The value of an integer attribute.
    pub fn int_value(&self, attr: Attr) -> Option<i128> {
        match self.attr_data(attr) {
            AttrData::Int { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// The affine map or set of an attribute.
    pub fn affine(&self, attr: Attr) -> Option<&crate::affine::Affine> {
        match self.attr_data(attr) {
            AttrData::Affine(map) => Some(map),
            _ => None,
        }
    }

    /// The integers of an elements attribute with `n` elements: `dense<[1, 2]>`, `dense<1>` for `n`
    /// equal ones, or `dense<>`. `None` if the number of elements differs, or if an element is not
    /// a decimal `i64`.
    pub fn element_ints(&self, attr: Attr, n: usize) -> Option<Vec<i64>> {
        let AttrData::Elements(text, _) = self.attr_data(attr) else { return None };
        let inside = self.str(*text).strip_prefix("dense<")?.strip_suffix('>')?;
        match inside.strip_prefix('[') {
            Some(list) => {
                let list = list.strip_suffix(']')?.split(',').map(|it| it.trim().parse().ok());
                list.collect::<Option<Vec<i64>>>().filter(|it| it.len() == n)
            }
            None if inside.is_empty() => (n == 0).then(Vec::new),
            None => Some(vec![inside.trim().parse().ok()?; n]),
        }
    }

    /// The integers of an elements attribute, `dense<[1, 2]>` or `dense<1>` (then one),
    /// sign-extended from the width of their type: -1 for `true`, and for 255 in `i8`. `None` for
    /// other attributes, and if an element is not an integer. Parsed on first use.
    pub fn sign_extended_elements(&self, attr: Attr) -> Option<&[i128]> {
        let read = || {
            let AttrData::Elements(text, ty) = self.attr_data(attr) else { return None };
            let (TypeData::Vector { element, .. } | TypeData::Tensor { element, .. }) =
                self.type_data(*ty)
            else {
                return None;
            };
            let unused = match *self.type_data(*element) {
                TypeData::Int { width, .. } => 128_u32.checked_sub(width).filter(|&it| it < 128)?,
                TypeData::Index => 64,
                _ => return None,
            };
            let inside = self.str(*text).strip_prefix("dense<")?.strip_suffix('>')?;
            let list = inside.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            let number = |it: &str| match it.trim() {
                "true" => Some(-1),
                "false" => Some(0),
                it => it.parse::<i128>().ok().map(|it| it << unused >> unused),
            };
            list.unwrap_or(inside).split(',').map(number).collect()
        };
        self.integers.get(&attr)?.get_or_init(read).as_deref()
    }

    /// The numbers of names, types and attributes, for debugging.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let (n, t, a) = (self.ends.len(), self.types.len(), self.attrs.len());
        let _ = write!(out, "{n} names, {t} types, {a} attributes");
        out
    }
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

/// Returns the range of a string in the concatenated text.
fn range_of(ends: &[u32], name: Name) -> std::ops::Range<usize> {
    let from = if name.0 == 0 { 0 } else { ends[name.index() - 1] };
    from as usize..ends[name.index()] as usize
}

/// Returns true if an interned string equals `text`. Compares bytes, not characters.
fn is_str(all: &str, ends: &[u32], name: Name, text: &str) -> bool {
    let range = range_of(ends, name);
    range.len() == text.len() && all.as_bytes()[range] == *text.as_bytes()
}

fn str_of<'a>(all: &'a str, ends: &[u32], name: Name) -> &'a str {
    &all[range_of(ends, name)]
}
