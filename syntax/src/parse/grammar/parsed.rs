//! A parsed item, before it becomes part of the IR.
//!
//! All spans are in the coordinates of the tokens that were parsed (bytes of the lexed run).

use smallvec::SmallVec;

use super::Alias;
use crate::{Attr, Name, OpKind, Problem, Span, Type};

/// The form in which an op was written, and the extent to which it was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// `"dialect.op"(...) : (...) -> ...`, understood.
    Generic,
    /// The custom form of an op whose grammar is known, understood.
    Custom,
    /// The custom form of an op whose grammar is not known: operands and results by the rules of
    /// recovery.
    #[default]
    Opaque,
    /// A known or generic op with a syntax error: the parts that were understood are kept, nothing
    /// is concluded from the rest.
    Broken,
}

/// `%a` or `%a:2` left of the `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedResult {
    /// The name without its `%`.
    pub name: Name,
    /// The `%name`.
    pub span: Span,
    /// Number of values that it stands for (`:2`), at least 1.
    pub count: u32,
}

/// `%a` or `%a#1` as an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedOperand {
    /// The name without its `%`.
    pub name: Name,
    /// The number after `#`, else 0.
    pub number: u32,
    /// `%name#1`.
    pub span: Span,
    /// The type the op's text gives it; [`Type::UNKNOWN`] if it gives none.
    pub ty: Type,
    /// In the header of an opaque op with a region this may be the region's argument instead (it is
    /// one if the name is not visible yet); a name that stays unresolved is then no error.
    pub maybe_argument: bool,
}

/// An argument of a region (in the header of its op) or of a block label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedArgument {
    /// The name without its `%`; `None` where only a type is written (declarations).
    pub name: Option<Name>,
    /// The `%name`, or the type where there is no name.
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
    /// The `^label`.
    pub span: Span,
    /// The operands of the op that are passed, as indices into [`Parsed::operands`]. In generic
    /// form they are unknown: all are left to the op (`cf.br` passes all, `cf.cond_br` by
    /// `operandSegmentSizes`).
    pub operands: std::ops::Range<u32>,
}

/// A symbol definition or reference, `@f` or `@m::@f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedSymbol {
    /// The last name of the path.
    pub name: Name,
    /// The first name of the path (equal to `name` for a plain reference).
    pub root: Name,
    /// The whole reference.
    pub span: Span,
}

/// A use of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasUse {
    /// The name with its sigil: `!ty`, `#map`.
    pub name: Name,
    /// Its place.
    pub span: Span,
    /// True if it is alone in `loc(..)` and may be defined anywhere; other aliases are defined
    /// before they are used.
    pub(crate) is_location: bool,
}

/// One op, label, alias or resource section as its tokens say it.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Its kind.
    pub kind: OpKind,
    /// The form in which it was written.
    pub form: Form,
    /// True if another default dialect could change how it is read.
    pub(crate) depends_on_dialect: bool,
    /// The full name with its dialect (`func.return` for `return`); for a label its name.
    pub name: Option<Name>,
    /// The name as written, quotes included; for a label `^bb0`, for an alias `#map`.
    pub name_span: Span,
    /// The names on the left.
    pub results: SmallVec<[ParsedResult; 1]>,
    /// The types of the results, one per *value* (packs expanded) as far as known; may be longer or
    /// shorter than `results` says, which is a problem of its own.
    pub result_types: SmallVec<[Type; 2]>,
    /// The result types are guesses (opaque ops): shown, never diagnosed with.
    pub guessed: bool,
    /// The operands in textual order (generic form: in operand order; they agree for the known
    /// custom forms except where the op's description reorders them: then in operand order of the
    /// generic form).
    pub operands: SmallVec<[ParsedOperand; 2]>,
    /// The successors.
    pub successors: Vec<ParsedSuccessor>,
    /// For each region of the op, in textual order, the arguments that the header defines (empty
    /// for the others).
    pub region_arguments: Vec<Vec<ParsedArgument>>,
    /// For a block label: its arguments. For a function declaration: its argument types.
    pub arguments: Vec<ParsedArgument>,
    /// All attributes, inherent and discardable, sorted by name. Inherent ones carry the name they
    /// have in generic form (`predicate`, `value`, `sym_name`, `function_type`, `callee`,
    /// `operandSegmentSizes`, ...).
    pub attrs: Vec<(Name, Attr)>,
    /// The symbol that the op defines.
    pub symbol: Option<ParsedSymbol>,
    /// The symbols that it refers to.
    pub symbol_uses: Vec<ParsedSymbol>,
    /// The meaning of an alias.
    pub alias: Option<Alias>,
    /// The aliases that it uses.
    pub alias_uses: Vec<AliasUse>,
    /// The aliases that were looked up, with the results, even where another reading was chosen in
    /// the end; with repetitions.
    pub(crate) alias_reads: Vec<(Name, Option<Alias>)>,
    /// True if the problem that ended its reading is among [`Self::problems`].
    pub(crate) is_syntax_told: bool,
    /// The problems found; at most one of them is a syntax problem.
    pub problems: Vec<Problem>,
    /// The syntax problem is about lines after the op that are no op; the op itself was understood.
    pub followed: bool,
}

impl Parsed {
    /// Empties everything, keeping the allocations.
    pub(crate) fn clear(&mut self) {
        self.kind = OpKind::Unknown;
        self.form = Form::Opaque;
        self.depends_on_dialect = false;
        self.name = None;
        self.name_span = Span::default();
        self.results.clear();
        self.result_types.clear();
        self.guessed = false;
        self.is_syntax_told = false;
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
        self.followed = false;
    }
}
