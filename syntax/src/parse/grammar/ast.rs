//! The syntax trees of the grammar in `values.rs`: the structure of the text without its meaning.
//! They borrow the text.

use super::words::Word;

/// A type as written.
#[derive(Clone, Debug)]
pub(super) enum TypeTree<'a> {
    /// `i32`, `!alias`, `!dialect.name<body>`.
    Word(Word<'a>),
    /// `(i32) -> i32`
    Function(Vec<TypeTree<'a>>, Vec<TypeTree<'a>>),
    /// `vector<..>`, `tensor<..>`, `memref<..>`: keyword, dimensions (`None` for `*`), element
    /// type, and the parameters after commas.
    Shaped(Word<'a>, Option<Vec<DimTree<'a>>>, Box<TypeTree<'a>>, Vec<AttrTree<'a>>),
    /// `complex<f32>`
    Complex(Word<'a>, Box<TypeTree<'a>>),
    /// `tuple<i32, f32>`
    Tuple(Vec<TypeTree<'a>>),
}

/// A dimension: `4`, `?` or `[4]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct DimTree<'a> {
    pub(super) word: Word<'a>,
    pub(super) is_scalable: bool,
}

/// A number with its sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) is_negative: bool,
    pub(super) word: Word<'a>,
}

/// A literal between the brackets of `dense<...>`.
#[derive(Clone, Debug)]
pub(super) enum Literal<'a> {
    Number(Number<'a>),
    /// `true`, `false` or a string.
    Word(Word<'a>),
    Complex(Word<'a>, Box<(Literal<'a>, Literal<'a>)>),
    List(Word<'a>, Vec<Literal<'a>>),
}

/// An attribute as written.
#[derive(Clone, Debug)]
pub(super) enum AttrTree<'a> {
    Number(Number<'a>, Option<Box<TypeTree<'a>>>),
    Bool(bool),
    Unit,
    String(Word<'a>, Option<Box<TypeTree<'a>>>),
    Type(TypeTree<'a>),
    Array(Vec<AttrTree<'a>>),
    Dict(Vec<(Word<'a>, Option<AttrTree<'a>>)>),
    Symbol(Vec<Word<'a>>),
    Map(MapTree<'a>),
    Set(MapTree<'a>),
    Dense(Word<'a>, Option<Literal<'a>>, TypeTree<'a>),
    Sparse(Option<(Literal<'a>, Literal<'a>)>, TypeTree<'a>),
    Resource(Word<'a>, TypeTree<'a>),
    DenseArray(TypeTree<'a>, Vec<Literal<'a>>),
    Strided(Vec<StrideTree<'a>>, Option<StrideTree<'a>>),
    Distinct(Option<Word<'a>>, Option<Box<AttrTree<'a>>>),
    Location(LocTree<'a>),
    /// `#alias`, `#dialect.name<body>`, with an optional type.
    Hash(Word<'a>, Option<Box<TypeTree<'a>>>),
}

/// `4`, `-4` or `?` of `strided<[..]>`.
pub(super) type StrideTree<'a> = Number<'a>;

/// A location.
#[derive(Clone, Debug)]
pub(super) enum LocTree<'a> {
    /// `#alias`
    Alias(Word<'a>),
    /// `unknown`
    Unknown,
    /// `"name"`, with an optional nested location.
    Named(Word<'a>, Option<Box<LocTree<'a>>>),
    /// `"file":1:2` or `"file":1:2 to 3:4`: the file, and the words after it.
    FileLineCol(Word<'a>, Vec<Word<'a>>),
    /// `callsite(callee at caller)`
    CallSite(Box<(LocTree<'a>, LocTree<'a>)>),
    /// `fused<attr>[..]`
    Fused(Option<Box<AttrTree<'a>>>, Vec<LocTree<'a>>),
}

/// `(d0)[s0] -> (results)` or `(d0)[s0] : (constraints)`.
#[derive(Clone, Debug)]
pub(super) struct MapTree<'a> {
    pub(super) dims: Vec<Word<'a>>,
    pub(super) symbols: Vec<Word<'a>>,
    pub(super) results: Vec<ConstraintTree<'a>>,
}

/// An expression; in a set, with the expression that it is compared to.
pub(super) type ConstraintTree<'a> = (ExprTree<'a>, Option<(ComparisonOp, ExprTree<'a>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOp {
    Greater,
    Less,
    Equal,
}

/// An affine expression. Sums and products are flat lists, so that long ones are not deeply nested.
#[derive(Clone, Debug)]
pub(super) enum ExprTree<'a> {
    Word(Word<'a>),
    /// `%a` or `symbol(%a)` in a memory access, with its result number; true for a symbol.
    Use(Word<'a>, Option<Word<'a>>, bool),
    Negated(Box<ExprTree<'a>>),
    /// The first term, then pairs of an operator word and a term.
    Chain(Box<ExprTree<'a>>, Vec<(Word<'a>, ExprTree<'a>)>),
}

/// The keyword `dense` and the contents of its brackets.
pub(super) type ElementsTree<'a> = (Word<'a>, Option<Literal<'a>>);
