//! The result of parsing an item, before it becomes part of the IR.
//!
//! All spans are measured in bytes of the lexed text, like the tokens.

use smallvec::SmallVec;

use super::Alias;
use crate::{Attr, Name, OpKind, Problem, Span, Type};

/// The form of an op in the text, and whether it was parsed completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// `"dialect.op"(...) : (...) -> ...`, parsed completely.
    Generic,
    /// The custom form of a known op, parsed completely.
    Custom,
    /// The custom form of an unknown op: operands and results are found by heuristics.
    #[default]
    Opaque,
    /// A known or generic op with a syntax error: the parts that were parsed are kept. Nothing is
    /// concluded from the rest.
    Broken,
}

/// `%a` or `%a:2` left of the `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedResult {
    /// The name without its `%`.
    pub name: Name,
    /// The range of `%name`.
    pub span: Span,
    /// Number of values that the name defines (`:2`), at least 1.
    pub count: u32,
}

/// `%a` or `%a#1` as an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedOperand {
    /// The name without its `%`.
    pub name: Name,
    /// The number after `#`, else 0.
    pub number: u32,
    /// The range of `%name#1`.
    pub span: Span,
    /// The type that the text of the op states; [`Type::UNKNOWN`] if it states none.
    pub ty: Type,
    /// True in the header of an opaque op with a region: the name may define an argument of the
    /// region (it does if it is not visible yet). Then an unresolved name is not an error.
    pub may_be_argument: bool,
}

/// An argument of a region (in the header of its op) or of a block label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedArgument {
    /// The name without its `%`; `None` if only a type is written (declarations).
    pub name: Option<Name>,
    /// The range of `%name`, or of the type if there is no name.
    pub span: Span,
    /// Its type.
    pub ty: Type,
    /// The dictionary after the type (`{noisy.bound = 20 : i64}`), as a dictionary attribute.
    pub attrs: Option<Attr>,
}

/// `^bb1` or `^bb1(%a, %b : i32, i32)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedSuccessor {
    /// The label without its `^`.
    pub name: Name,
    /// The range of `^label`.
    pub span: Span,
    /// The operands that are passed to the block, as indices into [`ParsedItem::operands`]. The
    /// generic form does not state them; the row of the op does
    /// ([`PassedOperands`](crate::dialect::PassedOperands)).
    pub operands: std::ops::Range<u32>,
}

/// A symbol definition or reference, `@f` or `@m::@f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedSymbol {
    /// The last name of the path.
    pub name: Name,
    /// The first name of the path (equal to `name` for a plain reference).
    pub root: Name,
    /// The range of the whole reference.
    pub span: Span,
}

/// A use of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasUse {
    /// The name with its sigil: `!ty`, `#map`.
    pub name: Name,
    /// The range of the name.
    pub span: Span,
    /// True if it is alone in `loc(..)`: such an alias may be defined anywhere, others only before
    /// their use.
    pub(crate) is_location: bool,
}

/// The result of parsing an op, label, alias or resource section.
#[derive(Debug, Default)]
pub(crate) struct ParsedItem {
    /// Its kind.
    pub kind: OpKind,
    /// The form in the text.
    pub form: Form,
    /// True if a different default dialect could change the result.
    pub(crate) depends_on_dialect: bool,
    /// The full name with its dialect (`func.return` for `return`); for a label its name.
    pub name: Option<Name>,
    /// The range of the name, including quotes; for a label of `^bb0`, for an alias of `#map`.
    pub name_span: Span,
    /// The names left of the `=`.
    pub results: SmallVec<[ParsedResult; 1]>,
    /// The types of the results, one per *value* (packs expanded), as far as known. A number that
    /// differs from that of `results` is a problem of its own.
    pub result_types: SmallVec<[Type; 2]>,
    /// True if the result types are guesses (opaque ops): they are shown, but cause no diagnostics.
    pub is_guessed: bool,
    /// The operands in the order of the generic form; those of opaque ops in the order of the text.
    pub operands: SmallVec<[ParsedOperand; 2]>,
    /// The successors.
    pub successors: Vec<ParsedSuccessor>,
    /// For each region, in the order of the text, the arguments that the header defines.
    pub region_arguments: Vec<Vec<ParsedArgument>>,
    /// The arguments of a block label, or the argument types of a function declaration.
    pub arguments: Vec<ParsedArgument>,
    /// All attributes, inherent and discardable, sorted by name. Inherent ones have their names in
    /// the generic form (`predicate`, `value`, `sym_name`, `function_type`, `callee`,
    /// `operandSegmentSizes`, ...).
    pub attrs: Vec<(Name, Attr)>,
    /// The symbol that the op defines.
    pub symbol: Option<ParsedSymbol>,
    /// The symbols that the op refers to.
    pub symbol_uses: Vec<ParsedSymbol>,
    /// The meaning of an alias.
    pub alias: Option<Alias>,
    /// The aliases that the item uses.
    pub alias_uses: Vec<AliasUse>,
    /// The aliases that were looked up, with the results, including those of failed attempts to
    /// parse; may contain duplicates.
    pub(crate) alias_reads: Vec<(Name, Option<Alias>)>,
    /// True if [`Self::problems`] contains the syntax problem that ended the parsing.
    pub(crate) has_reported_syntax_problem: bool,
    /// The problems; at most one of them is a syntax problem.
    pub problems: Vec<Problem>,
    /// True if the syntax problem is about the lines after the op, which are not an op; the op
    /// itself was parsed completely.
    pub is_followed_by_junk: bool,
}

impl ParsedItem {
    /// Clears everything but keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.kind = OpKind::Unknown;
        self.form = Form::Opaque;
        self.depends_on_dialect = false;
        self.name = None;
        self.name_span = Span::default();
        self.results.clear();
        self.result_types.clear();
        self.is_guessed = false;
        self.has_reported_syntax_problem = false;
        self.operands.clear();
        self.symbol = None;
        self.alias = None;
        self.successors.clear();
        self.region_arguments.clear();
        self.arguments.clear();
        self.attrs.clear();
        self.symbol_uses.clear();
        self.alias_uses.clear();
        self.alias_reads.clear();
        self.problems.clear();
        self.is_followed_by_junk = false;
    }
}
