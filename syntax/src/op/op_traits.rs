//! The types in which rows of the op table state facts: traits, counts, types, attributes, effects.

use crate::Tool;

bitflags::bitflags! {
    /// Properties that an op either has or lacks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Traits: u16 {
        /// The op ends a block.
        const TERMINATOR = 1;
        /// Regions of the op use no values from outside.
        const ISOLATED = 1 << 1;
        /// The op defines a symbol.
        const SYMBOL = 1 << 2;
        /// Symbols in the region of the op are not visible outside.
        const SYMBOL_TABLE = 1 << 3;
        /// The order of ops in the region does not imply dominance.
        const GRAPH_REGION = 1 << 4;
        /// The operands may be swapped.
        const COMMUTATIVE = 1 << 5;
        /// Each region has at most one block.
        const SINGLE_BLOCK = 1 << 6;
        /// The blocks of the region need no terminator.
        const NO_TERMINATOR = 1 << 7;
        /// The result is the constant in the attribute `value`.
        const CONSTANT = 1 << 8;
        /// The first region, the default one, is the last in the custom form.
        const DEFAULT_REGION_LAST = 1 << 9;
        /// Ops in the regions must not access memory.
        const NO_ACCESS_INSIDE = 1 << 10;
        /// The custom form prints this terminator even where it could be omitted.
        const ALWAYS_PRINTED = 1 << 11;
    }
}

/// Lower and upper limit of a number of operands, results, regions or successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountRange {
    /// The least number.
    pub least: usize,
    /// The greatest number; [`usize::MAX`] if there is no limit.
    pub most: usize,
}

impl CountRange {
    /// Any number.
    pub const ANY: CountRange = CountRange::at_least(0);

    /// Exactly this many.
    pub const fn exactly(n: usize) -> Self {
        Self { least: n, most: n }
    }

    /// This many or more.
    pub const fn at_least(n: usize) -> Self {
        Self { least: n, most: usize::MAX }
    }

    /// Returns true if `n` is within the limits.
    pub const fn contains(self, n: usize) -> bool {
        self.least <= n && n <= self.most
    }
}

/// A class of types. A row states the class of each operand and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// Any type.
    Any,
    /// A signless integer or index, or a vector or tensor of them.
    IntLike,
    /// A signless integer, or a vector or tensor of them.
    FixedIntLike,
    /// A float, or a vector or tensor of them.
    FloatLike,
    /// `i1`, or a vector or tensor of it.
    BoolLike,
    /// The operand or result of a cast from or to `index`: as [`Self::IntLike`], or a memref of
    /// them.
    IndexCast,
    /// The operand or result of `arith.bitcast`.
    Bits,
    /// `!noisy.i32`.
    Noisy,
    /// `i1` to `i5`.
    Plain,
    /// `i1`.
    I1,
    /// `index`.
    Index,
    /// A signless integer or index.
    SignlessOrIndex,
    /// An integer of any signedness.
    Integer,
    /// A function type.
    Function,
    /// A memref, ranked or not.
    MemRef,
    /// A memref of a known rank.
    RankedMemRef,
    /// A vector.
    Vector,
}

/// The relation between the types of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// No relation, except for those that a verifier rule of the op checks.
    Free,
    /// All operands and results have the same type, except for unknown sizes.
    Same,
    /// All operands and results have exactly the same type.
    Exactly,
    /// The operands have the same type; the result is `i1`, or a vector or tensor of `i1` with
    /// their shape.
    Compared,
    /// A cast: operand and result have the same shape, and the width of the element changes as
    /// stated.
    Cast(WidthChange),
}

/// The change of the element width in a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidthChange {
    /// The result is wider.
    Grows,
    /// The result is narrower.
    Shrinks,
    /// The width does not change.
    Stays,
    /// Any change.
    Any,
}

/// The types of an op.
#[derive(Clone, Copy, Debug)]
pub struct TypeRule {
    /// The classes of the operands; the last one also applies to all further operands. Empty: any
    /// type.
    pub operands: &'static [TypeClass],
    /// The classes of the first results. Further results may have any type.
    pub results: &'static [TypeClass],
    /// The relation between the types.
    pub agreement: Agreement,
}

impl TypeRule {
    /// Allows any types.
    pub const ANY: TypeRule = TypeRule::new(&[], &[]);

    /// Types of these classes, without a relation between them.
    pub const fn new(operands: &'static [TypeClass], results: &'static [TypeClass]) -> Self {
        Self { operands, results, agreement: Agreement::Free }
    }

    /// Returns the same classes with this relation.
    #[must_use]
    pub const fn agree(self, agreement: Agreement) -> Self {
        Self { agreement, ..self }
    }
}

/// A class of attributes. A row states the class of each attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrClass {
    /// Any attribute.
    Any,
    /// An attribute that may have a type (`TypedAttrInterface`): a number, a string, elements, or
    /// an attribute of a dialect.
    Typed,
    /// `unit`.
    Unit,
    /// `true` or `false`.
    Bool,
    /// An integer of type `i32`.
    I32,
    /// An integer of type `i64`.
    I64,
    /// An integer of type `index`.
    Index,
    /// A string.
    Str,
    /// `@name`, without nested references.
    FlatSymbol,
    /// A type.
    Type,
    /// The type of a function.
    FunctionType,
    /// `array<i32: ...>`
    DenseI32,
    /// `array<i64: ...>`
    DenseI64,
    /// A list of attributes.
    Array,
    /// A list of integers of type `i64`.
    I64Array,
    /// A list of lists of integers of type `i64`.
    I64Arrays,
    /// A list of dictionaries.
    Dictionaries,
    /// An affine map.
    Map,
    /// An integer set.
    Set,
    /// `dense<...>` of integers.
    IntElements,
    /// `dense<...>` of `i32`.
    I32Elements,
    /// An attribute with a text that starts with this prefix, such as `#arith.overflow`.
    Dialect(&'static str),
}

/// The rule for the presence of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is required.
    Required,
    /// It is optional.
    Optional,
    /// It is optional and has this value if it is missing.
    Default(&'static str),
    /// It is optional. If it is missing, tools later than LLVM 19 print this value in the generic
    /// form.
    NewDefault(&'static str),
}

/// An attribute with a meaning for its op.
#[derive(Clone, Copy, Debug)]
pub struct AttrSpec {
    /// Its name.
    pub name: &'static str,
    /// Its class.
    pub class: AttrClass,
    /// The rule for its presence.
    pub presence: Presence,
    /// True for a property: the generic form prints it between `<{` and `}>`.
    pub is_inherent: bool,
}

impl AttrSpec {
    /// A required property.
    pub const fn required(name: &'static str, class: AttrClass) -> Self {
        Self { name, class, presence: Presence::Required, is_inherent: true }
    }

    /// An optional property.
    pub const fn optional(name: &'static str, class: AttrClass) -> Self {
        Self { name, class, presence: Presence::Optional, is_inherent: true }
    }

    /// A property with a default. An op with the default value does not store the attribute, so
    /// plain arithmetic has no attributes.
    pub const fn with_default(name: &'static str, class: AttrClass, default: &'static str) -> Self {
        Self { name, class, presence: Presence::Default(default), is_inherent: true }
    }

    /// A required attribute that is not a property.
    pub const fn discardable(name: &'static str, class: AttrClass) -> Self {
        Self { name, class, presence: Presence::Required, is_inherent: false }
    }

    /// An optional property that tools later than LLVM 19 print with this value if it is missing.
    pub const fn with_new_default(
        name: &'static str,
        class: AttrClass,
        default: &'static str,
    ) -> Self {
        Self { name, class, presence: Presence::NewDefault(default), is_inherent: true }
    }

    /// Returns the value that `tool` prints in the generic form if the attribute is missing.
    pub(crate) const fn printed_default(&self, tool: Tool) -> Option<&'static str> {
        match (self.presence, tool) {
            (Presence::Default(text), _) | (Presence::NewDefault(text), Tool::Heir24) => Some(text),
            _ => None,
        }
    }

    /// Returns its default value, if it has one.
    pub const fn default(&self) -> Option<&'static str> {
        match self.presence {
            Presence::Default(text) => Some(text),
            Presence::Required | Presence::Optional | Presence::NewDefault(_) => None,
        }
    }
}

/// The operands that a branch passes to its successors as block arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedOperands {
    /// None, or the op is not a branch.
    None,
    /// All operands, to the only successor.
    All,
    /// Each group of `operandSegmentSizes` after the first one, to its own successor.
    Segments,
    /// The second group to the first successor; the third group to the other successors, split by
    /// `case_operand_segments`.
    Cases,
}

/// An access of an op to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The op reads the buffer.
    Read,
    /// The op writes the buffer.
    Write,
    /// The op allocates the buffer.
    Allocate,
    /// The op frees the buffer.
    Free,
}

/// The operand or result that is the accessed buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The operand of this number.
    Operand(usize),
    /// The result of this number.
    Result(usize),
}

/// The effects of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Any effect is possible.
    Unknown,
    /// These accesses and no others. If the op has regions, the effects of the ops inside are
    /// added.
    Known(&'static [(Access, Buffer)]),
}

impl Effects {
    /// No effects of its own.
    pub const NONE: Effects = Effects::Known(&[]);
}

/// The condition under which an op may be executed speculatively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculation {
    /// Never: it may trap or not terminate, or is undefined for some operands.
    Never,
    /// Always: it is defined for all operands and terminates.
    Always,
    /// If all ops in its regions may be executed speculatively.
    Regions,
    /// As [`Self::Regions`], if the step of the loop (operand 2, or the attribute `step`) is the
    /// constant 1: otherwise the loop might not terminate.
    UnitStep,
    /// If operand 1, the divisor, is a constant other than 0.
    Divisor,
    /// If operand 1, the divisor, is a constant other than 0 and -1.
    SignedDivisor,
    /// If operand 1 is a constant below the rank of operand 0.
    Dimension,
    /// If its affine map divides by positive constants only.
    Map,
}

/// Placeholder for an operand in a list of constants and operands (`static_offsets`, `staticStep`).
pub(crate) const DYNAMIC: i64 = i64::MIN;

/// The lists of `memref.subview` and `memref.reinterpret_cast` in which [`DYNAMIC`] is a
/// placeholder for an operand.
pub(crate) const STATIC_LISTS: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// The kinds of `memref.atomic_rmw` and of reductions of `affine.parallel`, by their numbers.
pub const RMW_KINDS: &[&str] = &[
    "addf", "addi", "assign", "maximumf", "maxs", "maxu", "minimumf", "mins", "minu", "mulf",
    "muli", "ori", "andi", "maxnumf", "minnumf", "xori",
];
