//! The vocabulary in which rows of the op table state facts: traits, counts, types, attributes,
//! effects.

use crate::Tool;

bitflags::bitflags! {
    /// Properties that an op has or has not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Traits: u16 {
        /// It ends a block.
        const TERMINATOR = 1;
        /// Its regions use no values from outside.
        const ISOLATED = 1 << 1;
        /// It defines a symbol.
        const SYMBOL = 1 << 2;
        /// Symbols in its region are its own.
        const SYMBOL_TABLE = 1 << 3;
        /// The order of ops in its region does not imply dominance.
        const GRAPH_REGION = 1 << 4;
        /// Its operands may be exchanged.
        const COMMUTATIVE = 1 << 5;
        /// Each of its regions has at most one block.
        const SINGLE_BLOCK = 1 << 6;
        /// The blocks of its region need no terminator.
        const NO_TERMINATOR = 1 << 7;
        /// Its result is the constant that its attribute `value` states.
        const CONSTANT = 1 << 8;
        /// Its first region, the default one, stands last in the custom form.
        const DEFAULT_REGION_LAST = 1 << 9;
        /// Ops in its regions must not access memory.
        const NO_ACCESS_INSIDE = 1 << 10;
        /// A terminator that is printed even where its text may be left out.
        const ALWAYS_PRINTED = 1 << 11;
    }
}

/// Limits on a number of operands, results, regions or successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The least number.
    pub least: usize,
    /// The greatest number; [`usize::MAX`] if there is no limit.
    pub most: usize,
}

impl Count {
    /// Any number.
    pub const ANY: Count = Count::at_least(0);

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

/// A class of types, which a type of an op must be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// Any type.
    Any,
    /// A signless integer or index, or a shape of them.
    IntLike,
    /// A signless integer, or a shape of it.
    FixedIntLike,
    /// A float, or a shape of it.
    FloatLike,
    /// `i1`, or a shape of it.
    BoolLike,
    /// The operand or result of a cast from or to `index`: as [`Self::IntLike`], or in memory.
    IndexCast,
    /// The operand of `arith.bitcast`.
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

/// The way in which the types of an op agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// In no way, or as a verifier rule of the op demands.
    Free,
    /// All operands and results are of one type, except for unknown sizes.
    Same,
    /// All operands and results are of exactly one type.
    Exactly,
    /// The operands are of one type, the result is `i1`, shaped alike.
    Compared,
    /// A cast: operand and result have one shape, and the width of the element changes in this way.
    Cast(WidthChange),
}

/// The change of the width of an element in a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidthChange {
    /// The result is wider.
    Grows,
    /// The result is narrower.
    Shrinks,
    /// Both are of one width.
    Stays,
    /// In any way.
    Any,
}

/// The types of an op.
#[derive(Clone, Copy, Debug)]
pub struct TypeRule {
    /// The classes of the operands; the last one is that of all further operands. Empty: any.
    pub operands: &'static [TypeClass],
    /// The classes of the first results. Those that are not listed may have any type.
    pub results: &'static [TypeClass],
    /// The way in which they agree.
    pub agreement: Agreement,
}

impl TypeRule {
    /// Any types.
    pub const ANY: TypeRule = TypeRule::new(&[], &[]);

    /// Types of these classes that agree in no way.
    pub const fn new(operands: &'static [TypeClass], results: &'static [TypeClass]) -> Self {
        Self { operands, results, agreement: Agreement::Free }
    }

    /// The same classes, agreeing in this way.
    #[must_use]
    pub const fn agree(self, agreement: Agreement) -> Self {
        Self { agreement, ..self }
    }
}

/// A class of attributes, which an attribute of an op must be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrClass {
    /// Any attribute.
    Any,
    /// An attribute that may have a type (`TypedAttrInterface`): a number, a string, elements, an
    /// attribute of a dialect.
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
    /// `@name`, no path.
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
    /// An attribute whose text starts with this, such as `#arith.overflow`.
    Dialect(&'static str),
}

/// Says if an attribute must be present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is required.
    Required,
    /// It is optional.
    Optional,
    /// It is optional; if it is missing it has this value.
    Default(&'static str),
    /// It is optional; if it is missing, tools later than LLVM 19 print this value in the generic
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
    /// Says if it must be present.
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

    /// A property with a default. It is left out of the attributes of an op when it has that value,
    /// so that plain arithmetic carries no attributes.
    pub const fn with_default(name: &'static str, class: AttrClass, default: &'static str) -> Self {
        Self { name, class, presence: Presence::Default(default), is_inherent: true }
    }

    /// A required attribute that is no property.
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

    /// The value that a tool prints in the generic form if it is missing.
    pub(crate) const fn printed_default(&self, tool: Tool) -> Option<&'static str> {
        match (self.presence, tool) {
            (Presence::Default(text), _) | (Presence::NewDefault(text), Tool::Heir24) => Some(text),
            _ => None,
        }
    }

    /// Its default value, if it has one.
    pub const fn default(&self) -> Option<&'static str> {
        match self.presence {
            Presence::Default(text) => Some(text),
            Presence::Required | Presence::Optional | Presence::NewDefault(_) => None,
        }
    }
}

/// The operands that a branch passes to its successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedOperands {
    /// None, or the op is no branch.
    None,
    /// All, to the only successor.
    All,
    /// Each group of `operandSegmentSizes` after the first, to one successor.
    Segments,
    /// The second group, to the first successor; the third one to the others, as
    /// `case_operand_segments` splits it.
    Cases,
}

/// An access of an op to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Allocates it.
    Allocate,
    /// Frees it.
    Free,
}

/// The value of an op that is the buffer.
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
    /// Anything: calls, messages, memory.
    Unknown,
    /// These accesses and no others. If the op has regions, the effects of the ops inside are
    /// added.
    Known(&'static [(Access, Buffer)]),
}

impl Effects {
    /// No effects of its own.
    pub const NONE: Effects = Effects::Known(&[]);
}

/// The condition under which an op may run where the program would not have run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculation {
    /// Nowhere: it may trap, not end, or is undefined for some operands.
    Never,
    /// Everywhere: it is defined for all operands, and always ends.
    Always,
    /// Everywhere if that holds for all ops in its regions.
    Regions,
    /// As [`Self::Regions`], if its step (operand 2, or the attribute `step`) is the constant 1:
    /// only then does the loop surely end.
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

/// Stands for an operand in a list of integers some of which are operands (`static_offsets`,
/// `staticStep`).
pub(crate) const DYNAMIC: i64 = i64::MIN;

/// The lists of `memref.subview` and `memref.reinterpret_cast` in which operands stand as
/// [`DYNAMIC`].
pub(crate) const STATIC_LISTS: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// Kinds of `memref.atomic_rmw` and `affine.parallel` reductions, in the order of their numbers.
pub const RMW: &[&str] = &[
    "addf", "addi", "assign", "maximumf", "maxs", "maxu", "minimumf", "mins", "minu", "mulf",
    "muli", "ori", "andi", "maxnumf", "minnumf", "xori",
];
