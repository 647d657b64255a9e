//! The formatter: changes blanks and line breaks of MLIR files.
//!
//! Only blanks and line breaks between tokens are changed. Tokens, names, comments and their order
//! are kept, so the program cannot change, and details are kept that `mlir-opt` would lose.
//!
//! *Style.* Regions are indented by two blanks, labels like the op that contains them. Each op
//! starts a line and is joined on one line if it fits into `MAX_WIDTH` columns. Signatures that do
//! not fit are wrapped, one argument per line. Other ops that do not fit keep their line breaks, as
//! do lists of lists with one row per line. Several empty lines become one; at the start and the
//! end of a region they are removed.
//!
//! *Unchanged:* ops of unknown custom form (they are shifted as a whole; the contents of their
//! regions are formatted unless they are on one line), resources, the text between `// noisy:
//! format off` and `// noisy: format on`, and the lines to which a comment refers (`mark.rs`).
//!
//! *Laws* (tests): the formatted text has the same tokens, comments and generic print, and
//! formatting it again changes nothing. A text that does not follow the grammar is an error.
//! *Cost.* Linear in the text. The depth of recursion is the nesting depth of regions, which is
//! bounded by [`noisy_syntax::MAX_REGION_DEPTH`].

mod gap;
mod layout;
mod mark;
mod space;
#[cfg(test)]
mod tests;
mod typing;

use std::ops::Range;

use noisy_syntax::{Category, Form, Op, OpKind, Problem, Source, TextEdit};

pub use typing::format_on_type;

/// The largest width of a line that is joined or wrapped, in characters.
pub(crate) const MAX_WIDTH: usize = 100;

/// Indentation per region, in blanks.
pub(crate) const INDENT: usize = 2;

/// The error of a text that does not follow the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The range of the first syntax problem, in bytes.
    pub range: Range<usize>,
    /// The message of the problem, in lower case and without a full stop.
    pub message: String,
}

/// Returns the edits that format a whole text: in textual order, disjoint, each with an actual
/// change.
///
/// # Errors
/// If the text does not follow the grammar.
pub fn format(source: &Source) -> Result<Vec<TextEdit>, FormatError> {
    match first_syntax_error(source, |_| true) {
        Some(why) => Err(why),
        None => Ok(layout::layout_edits(source)),
    }
}

/// Like [`format()`], but returns only the edits that touch a range of bytes. The rest of the text
/// may be malformed, but not the top-level items (usually functions) that the range touches.
///
/// # Errors
/// If one of those items does not follow the grammar.
pub fn format_range(source: &Source, range: Range<usize>) -> Result<Vec<TextEdit>, FormatError> {
    let touches = |it: &Range<usize>| it.start <= range.end && range.start <= it.end;
    let touched: Vec<Range<usize>> = top_level_ranges(source).filter(touches).collect();
    let within = |it: &Range<usize>| {
        touched.iter().any(|item| item.start <= it.start && it.start <= item.end)
    };
    if let Some(why) = first_syntax_error(source, |it| within(it)) {
        return Err(why);
    }
    let mut edits = layout::layout_edits(source);
    edits.retain(|it| touches(&it.range));
    Ok(edits)
}

/// Returns the ranges of the top-level items, including the blanks and comments before each.
fn top_level_ranges(source: &Source) -> impl Iterator<Item = Range<usize>> + '_ {
    let ir = source.ir();
    ir.items(ir.root()).flat_map(move |chunk| {
        let (own, region) = ir.op(chunk).regions[0];
        let start = ir.start(chunk) + own as usize;
        ir.items(region).scan(start, |at, op| {
            let range = *at..*at + ir.item_len(op);
            *at = range.end;
            Some(range)
        })
    })
}

/// Returns the first syntax problem whose range satisfies `is_wanted`.
fn first_syntax_error(
    source: &Source,
    is_wanted: impl Fn(&Range<usize>) -> bool,
) -> Option<FormatError> {
    let problems = source.problems().into_iter();
    let is_syntax =
        |op: Op, it: &Problem| it.category() == Category::Syntax || source.ir().is_broken(op);
    let wrong = problems
        .filter(|(op, range, it)| is_syntax(*op, it) && is_wanted(range))
        .map(|(_, range, it)| FormatError { range, message: it.message });
    wrong.min_by_key(|it| it.range.start)
}

/// Returns true if the syntax inside an item is known.
fn has_known_syntax(source: &Source, op: Op) -> bool {
    let data = source.ir().op(op);
    match data.kind {
        OpKind::Junk | OpKind::Resources => false,
        OpKind::Chunk | OpKind::Label | OpKind::TypeAlias | OpKind::AttrAlias => {
            !source.ir().is_broken(op)
        }
        _ => {
            matches!(data.form, Form::Generic | Form::Custom)
                && !source.ir().is_followed_by_junk(op)
        }
    }
}
