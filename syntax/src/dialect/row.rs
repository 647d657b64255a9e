//! What a row of the op table says of an op.
//!
//! *Law.* Everything that is known of an op by its name alone stands in its row and nowhere else; parser, printers, verifier,
//! completion and passes read it there. The facts are those of the op definitions of MLIR 19 (`*Ops.td`); where a later
//! version differs the row says so.

use crate::OpKind;
use crate::dialect::format::Element;

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
        /// The order of ops in its region says nothing about dominance.
        const GRAPH_REGION = 1 << 4;
        /// Its operands may be exchanged.
        const COMMUTATIVE = 1 << 5;
        /// Each of its regions has at most one block.
        const SINGLE_BLOCK = 1 << 6;
        /// The blocks of its region need no terminator.
        const NO_TERMINATOR = 1 << 7;
        /// Its result is the constant that its attribute `value` states.
        const CONSTANT = 1 << 8;
    }
}

/// How many there may be, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least.
    pub least: usize,
    /// At most; [`usize::MAX`] if there is no limit.
    pub most: usize,
}

impl Count {
    /// Any number.
    pub(crate) const ANY: Count = Count::at_least(0);

    /// Exactly so many.
    pub(crate) const fn exactly(n: usize) -> Self {
        Self { least: n, most: n }
    }

    /// So many or more.
    pub(crate) const fn at_least(n: usize) -> Self {
        Self { least: n, most: usize::MAX }
    }

    /// Whether `n` is such a number.
    pub(crate) const fn contains(self, n: usize) -> bool {
        self.least <= n && n <= self.most
    }
}

/// What a type must be.
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
    /// What is cast from and to `index`: as [`Self::IntLike`], or in memory.
    IndexCast,
    /// What `arith.bitcast` takes.
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

/// How the types of an op agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// In no way, or in a way that the verifier knows by the kind of the op.
    Free,
    /// All operands and results are of one type, but for unknown sizes.
    Same,
    /// All operands and results are of exactly one type.
    Exactly,
    /// The operands are of one type, the result is `i1`, shaped alike.
    Compared,
    /// A cast: operand and result have one shape, and the width of the element changes in this way.
    Cast(WidthChange),
}

/// How the width of an element changes in a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WidthChange {
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
pub(crate) struct TypeRule {
    /// The classes of the operands; the last one is that of all further operands. Empty: any.
    pub(crate) operands: &'static [TypeClass],
    /// The classes of the first results. Those that are not listed may have any type.
    pub(crate) results: &'static [TypeClass],
    /// How they agree.
    pub(crate) agreement: Agreement,
}

impl TypeRule {
    /// Any types.
    pub(crate) const ANY: TypeRule = TypeRule::new(&[], &[]);

    /// Types of these classes that agree in no way.
    pub(crate) const fn new(operands: &'static [TypeClass], results: &'static [TypeClass]) -> Self {
        Self { operands, results, agreement: Agreement::Free }
    }

    /// The same classes, agreeing in this way.
    #[must_use]
    pub(crate) const fn agree(self, agreement: Agreement) -> Self {
        Self { agreement, ..self }
    }
}

/// What an attribute must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttrClass {
    /// Any attribute.
    Any,
    /// What may have a type (`TypedAttrInterface`): a number, a string, elements, an attribute of a dialect.
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

/// Whether an attribute must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// If it is not there it is this text.
    Default(&'static str),
}

/// An attribute that means something to its op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttrSpec {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it must be.
    pub(crate) class: AttrClass,
    /// Whether it must be there.
    pub(crate) presence: Presence,
    /// Whether the generic form writes it between `<{` and `}>`: a property.
    pub(crate) is_inherent: bool,
}

impl AttrSpec {
    /// A property that must be there.
    pub(crate) const fn required(name: &'static str, class: AttrClass) -> Self {
        Self { name, class, presence: Presence::Required, is_inherent: true }
    }

    /// A property that may be missing.
    pub(crate) const fn optional(name: &'static str, class: AttrClass) -> Self {
        Self { name, class, presence: Presence::Optional, is_inherent: true }
    }

    /// A property with a default. It is left out of the attributes of an op when it has that value, so that plain arithmetic carries no
    /// attributes.
    pub(crate) const fn with_default(
        name: &'static str,
        class: AttrClass,
        default: &'static str,
    ) -> Self {
        Self { name, class, presence: Presence::Default(default), is_inherent: true }
    }

    /// An attribute that must be there and is no property.
    pub(crate) const fn discardable(name: &'static str, class: AttrClass) -> Self {
        Self { name, class, presence: Presence::Required, is_inherent: false }
    }

    /// The text of its default, if it has one.
    pub(crate) const fn default(&self) -> Option<&'static str> {
        match self.presence {
            Presence::Default(text) => Some(text),
            Presence::Required | Presence::Optional => None,
        }
    }
}

/// What an op does to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads it.
    Read,
    /// It writes it.
    Write,
    /// It makes it.
    Allocate,
    /// It ends it.
    Free,
}

/// Which value of an op is the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The operand of this number.
    Operand(usize),
    /// The result of this number.
    Result(usize),
}

/// What an op does besides giving results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Anything: calls, messages, memory.
    Unknown,
    /// These accesses and no others. If the op has regions, what the ops in them do comes on top.
    Known(&'static [(Access, Buffer)]),
}

impl Effects {
    /// Nothing by itself.
    pub const NONE: Effects = Effects::Known(&[]);
}

/// Whether an op may run where the program would not have run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculation {
    /// It may not: it may trap, not end, or is undefined for some operands.
    Never,
    /// It is defined for all operands, and always ends.
    Always,
    /// It is if all ops in its regions are.
    Regions,
    /// As [`Self::Regions`], if its step (operand 2, or the attribute `step`) is the constant 1: only then does the loop surely end.
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

/// A row of the table.
#[derive(Debug)]
pub struct OpSpec {
    /// Full name.
    pub name: &'static str,
    /// One paragraph of documentation for hover, Markdown.
    pub doc: &'static str,
    /// Its properties.
    pub traits: Traits,
    /// How many operands it has.
    pub operands: Count,
    /// The groups of its operands, whose sizes the attribute `operandSegmentSizes` states; empty if it has no such attribute.
    pub(crate) segments: &'static [Count],
    /// How many results it has.
    pub results: Count,
    /// How many regions it has.
    pub(crate) regions: Count,
    /// How many blocks it names.
    pub(crate) successors: Count,
    /// The types of its operands and results.
    pub(crate) types: TypeRule,
    /// Its attributes, sorted by name.
    pub(crate) attrs: &'static [AttrSpec],
    /// The op that ends a block of its regions where the text leaves the terminator out.
    pub(crate) implicit_terminator: Option<OpKind>,
    /// The ops one of which must hold it; empty: any.
    pub(crate) parents: &'static [OpKind],
    /// What it does besides giving results.
    pub effects: Effects,
    /// Whether it may run where it did not.
    pub speculation: Speculation,
    /// Its custom form, in the order of the text.
    pub(crate) form: &'static [Element],
}

impl OpSpec {
    /// What a row says that says nothing: no operands, results, regions, attributes; anything may happen.
    pub(crate) const NONE: OpSpec = OpSpec {
        name: "",
        doc: "",
        traits: Traits::empty(),
        operands: Count::exactly(0),
        segments: &[],
        results: Count::exactly(0),
        regions: Count::exactly(0),
        successors: Count::exactly(0),
        types: TypeRule::ANY,
        attrs: &[],
        implicit_terminator: None,
        parents: &[],
        effects: Effects::Unknown,
        speculation: Speculation::Never,
        form: &[],
    };

    /// An op without effects that is defined for all operands.
    pub(crate) const PURE: OpSpec =
        OpSpec { effects: Effects::NONE, speculation: Speculation::Always, ..OpSpec::NONE };

    /// A terminator that hands over its operands.
    pub(crate) const TERMINATOR: OpSpec =
        OpSpec { traits: Traits::TERMINATOR, operands: Count::ANY, ..OpSpec::PURE };

    /// Whether its row describes a custom form.
    pub fn has_custom_form(&self) -> bool {
        !self.form.is_empty()
    }

    /// An attribute by its name.
    pub(crate) fn attr(&self, name: &str) -> Option<&AttrSpec> {
        self.attrs.iter().find(|it| it.name == name)
    }

    /// Its properties: what the generic form writes between `<{` and `}>`.
    pub(crate) fn inherent(&self) -> impl Iterator<Item = &AttrSpec> {
        self.attrs.iter().filter(|it| it.is_inherent)
    }

    /// Whether a `{` outside brackets, and not after `attributes`, is a region whatever is inside: broken text at the start of a body
    /// must not cost the body. `is_first`: no region stands before it.
    pub(crate) fn brace_is_region(&self, is_first: bool) -> bool {
        let is_region = |it: &Element| matches!(it, Element::Region | Element::OptRegion);
        let Some(region) = self.form.iter().position(is_region) else { return false };
        let elements = if is_first { &self.form[..region] } else { self.form };
        !elements.iter().any(|it| matches!(it, Element::AttrDict))
    }

    /// Whether it has no effects of its own and no regions whose ops could have some.
    pub(crate) fn is_pure(&self) -> bool {
        self.effects == Effects::NONE && self.regions.most == 0
    }
}
