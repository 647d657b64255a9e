//! Prints types and attributes in MLIR's syntax.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::long::{LongNames, MAX_INLINE_LEN, TypeOrAttr, alias_name};
use super::{AttrData, Dim, Interner, LocationPart, Sign, TypeData, foreign};
use crate::float::float_text;
use crate::identifier::is_bare_id;
use crate::string::push_quoted;
use crate::{Attr, Name, Tool, Type};

/// The aliases of affine maps and sets that are used in a print, in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct AliasNames {
    pub(crate) maps: Vec<Attr>,
    pub(crate) sets: Vec<Attr>,
    numbers: FxHashMap<Attr, u32>,
}

impl AliasNames {
    /// Returns the name of a map or set; creates it on first use.
    fn name_of(&mut self, attr: Attr, is_set: bool) -> String {
        let list = if is_set { &mut self.sets } else { &mut self.maps };
        let n = *self.numbers.entry(attr).or_insert_with(|| {
            list.push(attr);
            list.len() as u32 - 1
        });
        alias_name(if is_set { "set" } else { "map" }, n as usize)
    }
}

/// Approximate maximum length of a type or attribute in a message, in bytes.
const MAX_MESSAGE_TYPE_LEN: usize = 160;

/// Replaces the omitted part of a text.
const ELLIPSIS: &str = "...";

/// Shortens a text to approximately `most` bytes: its start and its end.
fn cut_in_the_middle(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let start = floor_char_boundary(&text, most * 2 / 3);
    let end = floor_char_boundary(&text, text.len() - most / 3);
    format!("{}{ELLIPSIS}{}", &text[..start], &text[end..])
}

/// The largest index up to `at` that is a character boundary. The standard library has the same
/// function since Rust 1.91.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Maximum width to which `format!` pads; it panics for larger widths.
pub const MAX_PADDING: usize = u16::MAX as usize;

/// A writer that fails once a limit is exceeded.
struct BoundedWriter<'a> {
    out: &'a mut String,
    limit: usize,
}

impl std::fmt::Write for BoundedWriter<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.out.push_str(text);
        if self.out.len() > self.limit { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// Prints types and attributes into a string, optionally with a limit on its length.
#[derive(Debug)]
pub(crate) struct TextPrinter<'a> {
    pub(crate) interner: &'a Interner,
    pub(crate) out: String,
    /// The tool whose spelling of types and attributes of other dialects is used; `None`: they are
    /// printed unchanged.
    pub(crate) tool: Option<Tool>,
    /// The aliases of affine maps and sets; `None`: they are printed in full.
    pub(crate) aliases: Option<AliasNames>,
    /// If the text is longer than this number of bytes, only open brackets are closed.
    limit: usize,
    /// If the limit is reached, it is raised once, in proportion to this number of printed items;
    /// `None`: the limit is final.
    n_printed: Option<usize>,
    /// True if strings, maps and sets may be cut in the middle when the limit is reached.
    may_cut_inside: bool,
    /// Number of types and attributes that enclose the current one.
    depth: usize,
    is_cut: bool,
    /// The names of long types and attributes; `None`: they are printed in full.
    pub(crate) long_names: Option<LongNames>,
}

/// A program of at most this number of bytes is never considered out of proportion.
const MIN_PROPORTIONAL_LIMIT: usize = 16 << 20;

/// Maximum nesting of types and attributes in a text without nested aliases. Deeper ones are
/// printed with names.
const MAX_DEPTH: usize = 512;

/// Selects the numbers that are printed with their types.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum NumberTypes {
    All,
    /// All but the default types `i64` and `f64`.
    NotDefault,
    None,
}

impl<'a> TextPrinter<'a> {
    pub(crate) fn new(interner: &'a Interner, tool: Option<Tool>) -> Self {
        Self {
            interner,
            out: String::new(),
            tool,
            aliases: None,
            limit: usize::MAX,
            n_printed: None,
            may_cut_inside: false,
            depth: 0,
            is_cut: false,
            long_names: None,
        }
    }

    /// Cuts the text if it gets out of proportion to the number of printed items.
    pub(crate) fn limit_in_proportion(&mut self, n_things: usize) {
        self.limit = MIN_PROPORTIONAL_LIMIT;
        self.n_printed = Some(n_things);
    }

    /// Cuts the text after `most` bytes, even in the middle of a string. The cost is then
    /// proportional to the limit.
    pub(crate) fn limit_to(&mut self, most: usize) {
        self.limit = most;
        self.n_printed = None;
        self.may_cut_inside = true;
    }

    /// Prints names for long types and attributes, without a limit.
    pub(crate) fn enable_long_names(&mut self) {
        self.limit = usize::MAX;
        self.n_printed = None;
        self.long_names = Some(LongNames::default());
    }

    /// Returns true if the text was cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Raises the limit in proportion to the number of printed items.
    #[cold]
    fn raise_limit(&mut self) {
        if let Some(n) = self.n_printed.take() {
            self.limit = MIN_PROPORTIONAL_LIMIT + 256 * n + 8 * self.interner.n_bytes();
        }
    }

    /// Creates a text for messages: see [`Self::finish_short`].
    pub(crate) fn short(interner: &'a Interner) -> Self {
        Self::bounded(interner, MAX_MESSAGE_TYPE_LEN)
    }

    /// Creates a text of approximately at most `limit` bytes: see [`Self::finish_bounded`].
    pub(crate) fn bounded(interner: &'a Interner, limit: usize) -> Self {
        Self { limit, ..Self::new(interner, None) }
    }

    /// Returns the text, cut in the middle if it is longer than the limit.
    pub(crate) fn finish_short(self) -> String {
        cut_in_the_middle(self.out, MAX_MESSAGE_TYPE_LEN + MAX_MESSAGE_TYPE_LEN / 2)
    }

    /// Returns the text if it is not longer than the limit.
    pub(crate) fn finish_bounded(self) -> Option<String> {
        (!self.is_cut && self.out.len() <= self.limit).then_some(self.out)
    }

    /// Returns true if the limit is reached. The first time, appends [`ELLIPSIS`].
    fn has_reached_limit(&mut self) -> bool {
        if self.is_cut {
            return true;
        }
        if self.out.len() > self.limit {
            self.raise_limit();
        }
        let stops = self.out.len() > self.limit || self.depth > MAX_DEPTH;
        if stops {
            self.cut();
        }
        stops
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Appends the part of a text that fits into the limit.
    fn push_bounded(&mut self, text: &str, write: impl FnOnce(&mut String, &str)) {
        let most = self.limit.saturating_sub(self.out.len());
        if !self.may_cut_inside || text.len() <= most {
            return write(&mut self.out, text);
        }
        write(&mut self.out, &text[..floor_char_boundary(text, most)]);
        self.cut();
    }

    /// Appends text, up to the limit.
    fn write_bounded(&mut self, what: std::fmt::Arguments<'_>) {
        if !self.may_cut_inside {
            let _ = self.out.write_fmt(what);
        } else if (BoundedWriter { out: &mut self.out, limit: self.limit }).write_fmt(what).is_err()
        {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.is_cut = true;
        self.push(ELLIPSIS);
    }

    /// Prints the name of a type or attribute instead of its text, if it is long and names are
    /// enabled. Returns true if so.
    fn write_long_name(&mut self, what: TypeOrAttr) -> bool {
        if self.long_names.is_none() {
            return false;
        }
        let Some(place) = self.long_name_index(what) else { return false };
        if let Some(long) = &mut self.long_names {
            long.used.push(place);
            self.out.push_str(&long.names[place]);
        }
        true
    }

    /// Returns true if an attribute is long and has a name.
    pub(crate) fn is_named(&mut self, attr: Attr) -> bool {
        self.long_names.is_some() && self.long_name_index(TypeOrAttr::Attr(attr)).is_some()
    }

    fn long_name_index(&mut self, what: TypeOrAttr) -> Option<usize> {
        if let Some(known) = self.long_names.as_ref()?.indices.get(&what) {
            return *known;
        }
        let is_long = match what {
            TypeOrAttr::Type(ty) => self.interner.bounded_type_text(ty, MAX_INLINE_LEN).is_none(),
            TypeOrAttr::Attr(attr) => {
                let has_names = match self.interner.attr_data(attr) {
                    // Maps and sets have aliases of their own.
                    AttrData::Affine(_) => self.aliases.is_none(),
                    // The text of numbers depends on the context. For a type, the type itself has
                    // the name.
                    AttrData::Int { .. } | AttrData::Float { .. } | AttrData::Type(_) => false,
                    _ => true,
                };
                has_names && self.interner.bounded_attr_text(attr, MAX_INLINE_LEN).is_none()
            }
        };
        self.long_names.as_mut()?.add(what, is_long)
    }

    /// Prints a list that is separated by commas.
    pub(crate) fn list<X>(
        &mut self,
        items: impl IntoIterator<Item = X>,
        mut item: impl FnMut(&mut Self, X),
    ) {
        for (i, it) in items.into_iter().enumerate() {
            if self.is_cut {
                return;
            }
            self.push(if i > 0 { ", " } else { "" });
            item(self, it);
        }
    }

    pub(crate) fn ty(&mut self, ty: Type) {
        if self.has_reached_limit() || self.write_long_name(TypeOrAttr::Type(ty)) {
            return;
        }
        self.depth += 1;
        self.type_without_name(ty);
        self.depth -= 1;
    }

    pub(super) fn type_without_name(&mut self, ty: Type) {
        match self.interner.type_data(ty) {
            TypeData::Unknown => self.out.push('?'),
            TypeData::Int { width, sign } => {
                let prefix = match sign {
                    Sign::Signless => "i",
                    Sign::Signed => "si",
                    Sign::Unsigned => "ui",
                };
                let _ = write!(self.out, "{prefix}{width}");
            }
            TypeData::Float(keyword) => self.push(keyword),
            TypeData::Index => self.push("index"),
            TypeData::None => self.push("none"),
            TypeData::Token => self.push("token"),
            TypeData::Function { inputs, results } => self.function_type(inputs, results),
            TypeData::Vector { dims, element } => {
                self.push("vector<");
                self.dims(Some(dims));
                self.ty(*element);
                self.push(">");
            }
            TypeData::Tensor { dims, element, encoding } => {
                self.push("tensor<");
                self.dims(dims.as_deref());
                self.ty(*element);
                if let Some(it) = encoding {
                    self.push(", ");
                    self.attr(*it);
                }
                self.push(">");
            }
            TypeData::MemRef { dims, element, rest } => {
                self.push("memref<");
                self.dims(dims.as_deref());
                self.ty(*element);
                for it in rest {
                    self.push(", ");
                    self.attr_typed(*it, NumberTypes::NotDefault);
                }
                self.push(">");
            }
            TypeData::Complex(element) => {
                self.push("complex<");
                self.ty(*element);
                self.push(">");
            }
            TypeData::Tuple(types) => {
                self.push("tuple<");
                self.types(types);
                self.push(">");
            }
            TypeData::Dialect(name) => {
                self.push("!");
                self.foreign(*name);
            }
        }
    }

    /// Prints types that are separated by commas.
    pub(crate) fn types(&mut self, types: &[Type]) {
        self.list(types, |it, ty| it.ty(*ty));
    }

    /// `(i32) -> i32`
    pub(crate) fn function_type(&mut self, inputs: &[Type], results: &[Type]) {
        self.push("(");
        self.types(inputs);
        self.push(") -> ");
        self.result_types(results);
    }

    /// `i32` or `(i32, i32)`, after an arrow.
    pub(crate) fn result_types(&mut self, types: &[Type]) {
        match types {
            [one] if !matches!(self.interner.type_data(*one), TypeData::Function { .. }) => {
                self.ty(*one);
            }
            _ => {
                self.push("(");
                self.types(types);
                self.push(")");
            }
        }
    }

    fn dims(&mut self, dims: Option<&[Dim]>) {
        let Some(dims) = dims else { return self.push("*x") };
        for dim in dims {
            let _ = match dim {
                Dim::Fixed(size) => write!(self.out, "{size}x"),
                Dim::Dynamic => write!(self.out, "?x"),
                Dim::Scalable(size) => write!(self.out, "[{size}]x"),
            };
        }
    }

    pub(crate) fn attr(&mut self, attr: Attr) {
        self.attr_typed(attr, NumberTypes::All);
    }

    /// Prints an attribute. `types` selects the numbers that are printed with their types.
    pub(crate) fn attr_typed(&mut self, attr: Attr, types: NumberTypes) {
        // The name of a location is printed inside `loc(..)`.
        let is_location = matches!(self.interner.attr_data(attr), AttrData::Location(_));
        if self.has_reached_limit() || !is_location && self.write_long_name(TypeOrAttr::Attr(attr))
        {
            return;
        }
        self.depth += 1;
        self.attr_without_name(attr, types);
        self.depth -= 1;
    }

    /// Like [`Self::attr_typed`], but in full even if the attribute has a name.
    pub(crate) fn attr_without_name(&mut self, attr: Attr, types: NumberTypes) {
        let suffix = |it: &mut Self, ty: Type| {
            let is_default = ty == Type::I64 || ty == Type::F64;
            if types == NumberTypes::All || types == NumberTypes::NotDefault && !is_default {
                it.push(" : ");
                it.ty(ty);
            }
        };
        match self.interner.attr_data(attr) {
            AttrData::Unit => self.push("unit"),
            AttrData::Bool(value) => {
                let _ = write!(self.out, "{value}");
            }
            AttrData::Int { value, ty } => {
                let _ = write!(self.out, "{value}");
                suffix(self, *ty);
            }
            AttrData::Float { bits, ty } => {
                let kind = match self.interner.type_data(*ty) {
                    TypeData::Float(kind) => kind,
                    _ => "f64",
                };
                let text = float_text(f64::from_bits(*bits), kind);
                self.push(&text);
                // Without its type it would be parsed as an integer.
                if types == NumberTypes::NotDefault && text.starts_with("0x") && *ty == Type::F64 {
                    self.push(" : f64");
                } else {
                    suffix(self, *ty);
                }
            }
            AttrData::String(text, ty) => {
                self.push_bounded(self.interner.str(*text), push_quoted);
                self.opt_type(*ty);
            }
            AttrData::Array(list) => {
                self.push("[");
                self.list(list, |it, attr| it.attr_typed(*attr, NumberTypes::NotDefault));
                self.push("]");
            }
            AttrData::Dict(entries) => self.dict(entries),
            AttrData::Symbol(path) => {
                for (i, it) in path.iter().enumerate() {
                    self.push(if i > 0 { "::" } else { "" });
                    self.symbol(*it);
                }
            }
            AttrData::Type(ty) => self.ty(*ty),
            AttrData::DenseArray { element, values } => {
                self.push("array<");
                self.ty(*element);
                self.push(if values.is_empty() { "" } else { ": " });
                self.list(values, |it, attr| it.attr_typed(*attr, NumberTypes::None));
                self.push(">");
            }
            AttrData::Affine(map) => {
                let keyword = if map.is_set() { "affine_set" } else { "affine_map" };
                let alias = self.aliases.as_mut().map(|it| it.name_of(attr, map.is_set()));
                match alias {
                    Some(name) => self.push(&format!("#{name}")),
                    None => self.write_bounded(format_args!("{keyword}<{map}>")),
                }
            }
            AttrData::Location(_) => {
                self.push("loc(");
                self.inner_location(attr);
                self.push(")");
            }
            AttrData::Elements(text, ty) => {
                self.push_bounded(self.interner.str(*text), String::push_str);
                self.opt_type(Some(*ty));
            }
            AttrData::Text(text, ty) => {
                if self.interner.str(*text).starts_with('#') {
                    self.foreign(*text);
                } else {
                    self.push_bounded(self.interner.str(*text), String::push_str);
                }
                self.opt_type(*ty);
            }
            AttrData::Unknown => self.push("unknown"),
        }
    }

    /// The text between the parentheses of `loc(..)`.
    pub(super) fn location(&mut self, parts: &[LocationPart]) {
        for part in parts {
            if self.is_cut {
                return;
            }
            match part {
                LocationPart::Text(text) => self.push(self.interner.str(*text)),
                LocationPart::Attr(attr) => self.attr(*attr),
                LocationPart::Location(attr) => self.inner_location(*attr),
            }
        }
    }

    /// Prints a nested location, or its name.
    fn inner_location(&mut self, location: Attr) {
        match self.interner.attr_data(location) {
            AttrData::Location(_)
                if self.has_reached_limit() || self.write_long_name(TypeOrAttr::Attr(location)) => {
            }
            AttrData::Location(parts) => {
                self.depth += 1;
                self.location(parts);
                self.depth -= 1;
            }
            _ => self.push("unknown"),
        }
    }

    fn opt_type(&mut self, ty: Option<Type>) {
        if let Some(ty) = ty.filter(|_| !self.is_cut) {
            self.push(" : ");
            self.ty(ty);
        }
    }

    /// A type or attribute of another dialect.
    fn foreign(&mut self, name: Name) {
        let text = self.interner.str(name);
        match self.tool {
            Some(tool) => foreign::write(&mut self.out, tool, text),
            None => self.push(text),
        }
    }

    /// `{a = 1, b}`
    pub(crate) fn dict(&mut self, entries: &[(Name, Attr)]) {
        self.push("{");
        self.list(entries, |it, (name, attr)| it.entry(it.interner.str(*name), *attr));
        self.push("}");
    }

    /// `a = 1`, or `b` for a unit attribute.
    pub(crate) fn entry(&mut self, key: &str, attr: Attr) {
        self.key(key);
        if attr != Attr::UNIT {
            self.push(" = ");
            self.attr(attr);
        }
    }

    /// `[1, 2]`
    pub(crate) fn ints(&mut self, values: &[i64]) {
        self.push("[");
        self.list(values, |it, value| it.push(&value.to_string()));
        self.push("]");
    }

    /// Prints a name, in quotes if necessary.
    pub(crate) fn key(&mut self, key: &str) {
        if is_bare_id(key) {
            self.push(key);
        } else {
            push_quoted(&mut self.out, key);
        }
    }

    /// `@name` or `@"a name"`
    pub(crate) fn symbol(&mut self, name: Name) {
        self.push("@");
        self.key(self.interner.str(name));
    }
}
