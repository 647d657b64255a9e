//! The data of interned types and attributes, and the ids that are equal in every document.

use crate::{Attr, Name, Type};

/// Signedness of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// `i32`
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

/// A dimension of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// `4`
    Fixed(u64),
    /// `?`
    Dynamic,
    /// `[4]`, in vectors.
    Scalable(u64),
}

/// A type. Printed by [`crate::Interner::type_text`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeData {
    /// Unknown: the text states no type, or is broken. Agrees with every type.
    Unknown,
    /// `i32`, `si8`, `ui4`
    Int {
        /// Bits.
        width: u32,
        /// Signedness.
        sign: Sign,
    },
    /// `f32`, `bf16`, `f8E4M3FN`: the keyword.
    Float(&'static str),
    /// `index`
    Index,
    /// `none`
    None,
    /// `token`
    Token,
    /// `(i32) -> i32`
    Function {
        /// Inputs.
        inputs: Box<[Type]>,
        /// Results.
        results: Box<[Type]>,
    },
    /// `vector<4x[8]xf32>`
    Vector {
        /// The shape.
        dims: Box<[Dim]>,
        /// The element type.
        element: Type,
    },
    /// `tensor<4x?xf32, #enc>`; without dims `tensor<*xf32>`.
    Tensor {
        /// The shape.
        dims: Option<Box<[Dim]>>,
        /// The element type.
        element: Type,
        /// The encoding.
        encoding: Option<Attr>,
    },
    /// `memref<4xf32, #map, 3>`; without dims `memref<*xf32>`.
    MemRef {
        /// The shape.
        dims: Option<Box<[Dim]>>,
        /// The element type.
        element: Type,
        /// Layout and memory space, as written.
        rest: Box<[Attr]>,
    },
    /// `complex<f32>`
    Complex(Type),
    /// `tuple<i32, f32>`
    Tuple(Box<[Type]>),
    /// `!dialect.name<body>` or `!dialect<body>`, without the `!`; `!noisy<i32>` and
    /// `!noisy.i32<1>` are `noisy.i32`.
    Dialect(Name),
}

/// An attribute. Printed by [`crate::Interner::attr_text`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttrData {
    /// `unit`; also the implicit value of a dictionary entry without `=`.
    Unit,
    /// `true`, `false`
    Bool(bool),
    /// An integer of a type, reduced to the width of the type and then sign-extended. Integers of
    /// types wider than 128 bits are [`AttrData::Text`].
    Int {
        /// The value; not sign-extended for unsigned types.
        value: i128,
        /// Its type.
        ty: Type,
    },
    /// A float of a type: the bits of the value as f64.
    Float {
        /// Bits of the f64.
        bits: u64,
        /// Its type.
        ty: Type,
    },
    /// The text of a string ([`crate::string`]), and its type if one is stated.
    String(Name, Option<Type>),
    /// `[a, b]`
    Array(Box<[Attr]>),
    /// `{a = 1, b}`, sorted by name.
    Dict(Box<[(Name, Attr)]>),
    /// `@a::@b`
    Symbol(Box<[Name]>),
    /// A type as an attribute.
    Type(Type),
    /// `array<i32: 1, 2>`
    DenseArray {
        /// Element type.
        element: Type,
        /// The elements, integers or floats as attributes.
        values: Box<[Attr]>,
    },
    /// `affine_map<...>` or `affine_set<...>`.
    Affine(crate::affine::Affine),
    /// `dense<...> : T`, `sparse<...>`, `dense_resource<...>`: the canonical text before the colon,
    /// and the type.
    Elements(Name, Type),
    /// `loc(...)`: its parts in textual order. Nested locations are attributes of their own, so a
    /// location with nested aliases needs space proportional to its text.
    Location(Box<[LocationPart]>),
    /// `#dialect.name<body>`, `strided<...>`, `distinct[0]<...>`: the canonical text, and the type
    /// if one follows.
    Text(Name, Option<Type>),
    /// Unknown, because the text is broken.
    Unknown,
}

/// A part of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocationPart {
    /// Text.
    Text(Name),
    /// A location, without `loc(` and `)`.
    Location(Attr),
    /// An attribute.
    Attr(Attr),
}

impl Type {
    /// See [`TypeData::Unknown`].
    pub const UNKNOWN: Type = Type(0);
    /// `!noisy.i32`
    pub const NOISY: Type = Type(1);
    /// `i1`
    pub const I1: Type = Type(2);
    /// `i64`, the type of integers without a stated type.
    pub const I64: Type = Type(3);
    /// `f64`, the type of floats without a stated type.
    pub(crate) const F64: Type = Type(4);
    /// `index`
    pub const INDEX: Type = Type(5);
    /// `none`
    pub const NONE: Type = Type(6);
}

impl Attr {
    /// See [`AttrData::Unknown`].
    pub const UNKNOWN: Attr = Attr(0);
    /// `unit`
    pub const UNIT: Attr = Attr(1);
}

impl Default for Type {
    fn default() -> Self {
        Type::UNKNOWN
    }
}

impl Default for Attr {
    fn default() -> Self {
        Attr::UNKNOWN
    }
}

impl Name {
    /// The empty string.
    pub const EMPTY: Name = Name(0);
}
