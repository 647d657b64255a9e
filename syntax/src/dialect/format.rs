//! The language in which the op table describes custom forms.
//!
//! A form is a list of [`Element`]s in the order of the text. The grammar walks the list to read an op, the printer walks the same list
//! to write it (`grammar/custom.rs`, `print/form.rs`). Elements say what is written, and the [`Bind`] of a type says whose
//! type it is. What one op alone has (the header of `scf.for`, the signature of `func.func`) is an element of its own, with a reader in
//! `grammar/` and a writer in the file of the same name in `print/`.

use crate::{TokenKind, Tool, Type};

/// Whose type a written type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Of all operands and of the single result.
    All,
    /// Of all operands.
    Operands,
    /// Of all operands and of all `n` results.
    AllAnd(u8),
    /// Of one operand.
    Operand(u8),
    /// Of operand 0 and of the single result.
    FirstAndResult,
    /// Of the single result.
    Result,
    /// Of the next result.
    NextResult,
    /// A shaped type of one operand; the single result is its element.
    ElementOf(u8),
    /// A shaped type of operand 1; operand 0 is its element.
    StoreTo,
    /// Of all operands; the single result is `i1`, shaped alike.
    Compared,
    /// Of the operand and, if there is one, of the result.
    Assumed,
}

/// A set of flags or an enumeration in angle brackets or bare, and the attribute it becomes.
#[derive(Debug)]
pub struct Flags {
    /// The keyword before `<`.
    pub word: &'static str,
    /// The attribute.
    pub attr: &'static str,
    /// `#dialect.name` of its text.
    pub prefix: &'static str,
    /// All flags, in the order of printing, with the bits of each; a flag of several bits comes first.
    pub cases: &'static [(&'static str, u32)],
    /// What stands between two flags when printed.
    pub separator: &'static str,
}

impl Flags {
    /// The attribute of these flags: `#arith.overflow<nsw, nuw>`.
    pub(crate) fn text(&self, bits: u32) -> String {
        let mut left = bits;
        let mut names = Vec::new();
        for (name, mask) in self.cases {
            if left & mask == *mask && (*mask != 0 || bits == 0) {
                names.push(*name);
                left &= !mask;
            }
        }
        format!("{}<{}>", self.prefix, names.join(self.separator))
    }
}

/// One element of a custom form.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// A token.
    Token(TokenKind),
    /// A keyword.
    Word(&'static str),
    /// A keyword that may be missing, and the unit attribute it stands for.
    OptWord(&'static str, &'static str),
    /// An operand; its type may be known beforehand.
    Operand(Type),
    /// This many operands, separated by commas.
    Operands(u8),
    /// Any number of operands in parentheses.
    ParenOperands(Type),
    /// Any number of operands of one known type in parentheses or brackets, counted for `operandSegmentSizes`.
    Indices(TokenKind),
    /// Operands with their types, `%a, %b : i32, i64`, or nothing.
    OptOperandsTypes,
    /// `{ ... }` or nothing.
    AttrDict,
    /// `attributes { ... }` or nothing.
    AttrDictWithKeyword,
    /// An attribute of this name; its type is that of the result.
    ConstantValue,
    /// A string attribute of this name.
    StrAttr(&'static str),
    /// A type.
    TypeOf(Bind),
    /// Nothing is written; the single result has this type.
    ResultIs(Type),
    /// Types, one for each result.
    ResultTypes,
    /// `-> T`, `-> (T, U)` or nothing: the types of the results.
    OptArrowTypes,
    /// `-> T`, `-> T, U` or nothing: the types of the results.
    OptArrowResultTypes,
    /// A function type: the types of the operands from this one on, and of the results.
    FunctionType(u8),
    /// A set of flags, or nothing.
    OptFlags(&'static Flags),
    /// `to_nearest_even` and the like, or nothing.
    OptRounding,
    /// The predicate of a comparison, a name of this list or the same as a string.
    Predicate(&'static [&'static str]),
    /// Condition, both values and types of `arith.select`.
    Select,
    /// `@name`, the symbol the op defines.
    SymbolName,
    /// `@name` or nothing.
    OptSymbolName,
    /// `@name`, a reference to a symbol, and its attribute.
    SymbolUse(&'static str),
    /// `^bb` or `^bb(%a : i32)`.
    Successor,
    /// `weights([1, 2])` or nothing.
    OptWeights,
    /// The rest of `cf.switch`.
    Switch,
    /// The operands passed to each successor, after those before them, become `operandSegmentSizes`.
    SuccessorSegments,
    /// A region.
    Region,
    /// A region, or none.
    OptRegion,
    /// `else` and a region, or an empty region.
    OptElse,
    /// `public`, `private`, `nested` or nothing.
    Visibility,
    /// Arguments and results of a function, and whether a body follows.
    FuncSignature,
    /// The header of `scf.for`, up to its region.
    ScfFor,
    /// The header of `scf.while`, up to its regions.
    ScfWhile,
    /// The header of `scf.parallel`.
    ScfParallel,
    /// The operands and regions of `scf.reduce`.
    ScfReduce,
    /// The header of `scf.forall`.
    ScfForall,
    /// The cases of `scf.index_switch`.
    IndexSwitch,
    /// The header of `affine.for`.
    AffineFor,
    /// The header of `affine.parallel`.
    AffineParallel,
    /// An affine map (or set), the attribute of this name, and its operands.
    AffineApply(&'static str),
    /// A memref and `[%i + 1, ...]`; the map is the attribute of this name.
    AffineAccess(&'static str),
    /// The types of the memrefs that are accessed through these maps, from the first operand on.
    AccessedTypes(&'static [&'static str]),
    /// `, %stride, %n` or nothing.
    OptStride,
    /// `read|write, locality<3>, data|instr`
    PrefetchKind,
    /// `nontemporal(true)` or nothing.
    OptNontemporal,
    /// `alignment = 8` or nothing: keyword, attribute.
    OptInt(&'static str),
    /// The rest of `affine.delinearize_index` after the operand.
    Delinearize,
    /// `affine.linearize_index`.
    Linearize,
    /// Offsets, sizes, strides of `memref.subview`.
    Subview,
    /// `offset: [..], sizes: [..], strides: [..]`
    ReinterpretCast,
    /// `[[0, 1], [2]]` as the attribute `reassociation`.
    Reassociation,
    /// `output_shape [..]`
    OutputShape,
    /// The rest of `memref.global`.
    Global,
    /// The kind of `memref.atomic_rmw`.
    RmwKind,
    /// `(T, M) -> T` of `memref.atomic_rmw`.
    RmwTypes,
    /// An integer attribute of this name, with the type `i32`.
    Int32(&'static str),
    /// `(i, j) -> (j, i)`, an affine map attribute of this name.
    Permutation(&'static str),
}

impl Element {
    /// The attributes that the element writes; the dictionary of the op has the others. LLVM 19 leaves to the dictionary what later
    /// versions write in clauses.
    pub(crate) fn attrs(&self, tool: Tool) -> &[&'static str] {
        match self {
            Element::OptFlags(flags) if flags.word.is_empty() && tool == Tool::Mlir19 => &[],
            Element::OptFlags(flags) => std::slice::from_ref(&flags.attr),
            Element::OptNontemporal | Element::OptInt(_) | Element::OptWeights
                if tool == Tool::Mlir19 =>
            {
                &[]
            }
            Element::OptNontemporal => &["nontemporal"],
            Element::OptWeights => &["branch_weights"],
            Element::OptWord(_, attr)
            | Element::StrAttr(attr)
            | Element::SymbolUse(attr)
            | Element::AffineApply(attr)
            | Element::AffineAccess(attr)
            | Element::OptInt(attr)
            | Element::Int32(attr)
            | Element::Permutation(attr) => std::slice::from_ref(attr),
            Element::ConstantValue => &["value"],
            Element::OptRounding => &["roundingmode"],
            Element::Predicate(_) => &["predicate"],
            Element::SymbolName | Element::OptSymbolName => &["sym_name"],
            Element::Visibility => &["sym_visibility"],
            Element::SuccessorSegments | Element::ScfParallel | Element::Indices(_) => {
                &["operandSegmentSizes"]
            }
            Element::Switch => &["case_operand_segments", "case_values", "operandSegmentSizes"],
            Element::FuncSignature => &["arg_attrs", "function_type", "res_attrs"],
            Element::ScfFor => &["unsignedCmp"],
            Element::ScfForall => {
                &["operandSegmentSizes", "staticLowerBound", "staticStep", "staticUpperBound"]
            }
            Element::IndexSwitch => &["cases"],
            Element::AffineFor => {
                &["lowerBoundMap", "operandSegmentSizes", "step", "upperBoundMap"]
            }
            Element::AffineParallel => &[
                "lowerBoundsGroups",
                "lowerBoundsMap",
                "reductions",
                "steps",
                "upperBoundsGroups",
                "upperBoundsMap",
            ],
            Element::PrefetchKind => &["isDataCache", "isWrite", "localityHint"],
            Element::Delinearize => &["static_basis"],
            Element::Linearize => &["disjoint", "operandSegmentSizes", "static_basis"],
            Element::Subview | Element::ReinterpretCast => {
                &["operandSegmentSizes", "static_offsets", "static_sizes", "static_strides"]
            }
            Element::Reassociation => &["reassociation"],
            Element::OutputShape => &["static_output_shape"],
            Element::Global => &["constant", "initial_value", "sym_name", "sym_visibility", "type"],
            Element::RmwKind => &["kind"],
            Element::Token(_)
            | Element::Word(_)
            | Element::Operand(_)
            | Element::Operands(_)
            | Element::ParenOperands(_)
            | Element::OptOperandsTypes
            | Element::AttrDict
            | Element::AttrDictWithKeyword
            | Element::TypeOf(_)
            | Element::ResultIs(_)
            | Element::ResultTypes
            | Element::OptArrowTypes
            | Element::OptArrowResultTypes
            | Element::FunctionType(_)
            | Element::Select
            | Element::Successor
            | Element::Region
            | Element::OptRegion
            | Element::OptElse
            | Element::ScfWhile
            | Element::ScfReduce
            | Element::RmwTypes
            | Element::AccessedTypes(_)
            | Element::OptStride => &[],
        }
    }
}

/// What stands for an operand in a list of integers some of which are operands (`static_offsets`, `staticStep`).
pub(crate) const DYNAMIC: i64 = i64::MIN;

/// The lists of `memref.subview` and `memref.reinterpret_cast` in which operands stand as [`DYNAMIC`].
pub(crate) const STATIC_LISTS: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// `arith.cmpi`, in the order of their numbers.
pub(crate) const CMPI_PREDICATES: &[&str] =
    &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// `arith.cmpf`, in the order of their numbers.
pub(crate) const CMPF_PREDICATES: &[&str] = &[
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
    "une", "uno", "true",
];

/// Rounding modes, in the order of their numbers.
pub(crate) const ROUNDING: &[&str] =
    &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"];

/// Kinds of `memref.atomic_rmw` and `affine.parallel` reductions, in the order of their numbers.
pub const RMW: &[&str] = &[
    "addf", "addi", "assign", "maximumf", "maxs", "maxu", "minimumf", "mins", "minu", "mulf",
    "muli", "ori", "andi", "maxnumf", "minnumf", "xori",
];

/// `overflow<nsw, nuw>`
pub(crate) const OVERFLOW: Flags = Flags {
    word: "overflow",
    attr: "overflowFlags",
    prefix: "#arith.overflow",
    cases: &[("none", 0), ("nsw", 1), ("nuw", 2)],
    separator: ", ",
};

/// `fastmath<nnan,ninf>`
pub(crate) const FASTMATH: Flags = Flags {
    word: "fastmath",
    attr: "fastmath",
    prefix: "#arith.fastmath",
    cases: &[
        ("none", 0),
        ("fast", 127),
        ("reassoc", 1),
        ("nnan", 2),
        ("ninf", 4),
        ("nsz", 8),
        ("arcp", 16),
        ("contract", 32),
        ("afn", 64),
    ],
    separator: ",",
};

/// `<no_inline>` of LLVM 24
pub(super) const NO_INLINE: Flags =
    Flags { word: "", attr: "no_inline", prefix: "", cases: &[("no_inline", 1)], separator: "" };

/// `:`
pub(super) const COLON: Element = Element::Token(TokenKind::Colon);
/// `,`
pub(super) const COMMA: Element = Element::Token(TokenKind::Comma);
/// `->`
pub(super) const ARROW: Element = Element::Token(TokenKind::Arrow);
