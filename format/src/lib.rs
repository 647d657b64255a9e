//! The formatter: where blanks and line breaks of an MLIR file should be.
//!
//! Only what stands *between* tokens is ever changed, and of that only blanks and line breaks: tokens and comments, with all names, stay
//! as they are written and in their order. So the program cannot change, and what `mlir-opt` loses when it prints a program stays.
//!
//! *The form.* Regions are indented by two blanks, labels stand with the op that holds them. Each op is on lines of its own, on one
//! line if it fits into `WIDTH` columns; signatures that do not fit are wrapped, an argument a line; other ops that do not fit keep
//! their line breaks, and so do lists of lists that are written a row a line. Of empty lines in a row one is kept, at the
//! start and the end of a region none.
//!
//! *What stays as it is:* ops whose custom form is not known (they move as a whole; what is inside of their regions is
//! formatted, unless all of it stands
//! on one line), resources, what stands between `// noisy: format off` and `// noisy: format on`, and the lines that a comment
//! speaks of (`mark.rs`).
//!
//! *Laws* (tests): the tokens and the comments of the formatted text are those of the text; its generic print is the same; formatting it
//! changes nothing. A text that does not follow the grammar is refused. *Cost.* Linear in the text; recursion is as deep as regions nest,
//! which [`noisy_syntax::MAX_REGION_DEPTH`] bounds.

mod gap;
mod layout;
mod mark;
mod space;
#[cfg(test)]
mod tests;
mod typing;

use std::ops::Range;

use noisy_syntax::{Category, Form, Op, OpKind, Problem, Source};

pub use typing::format_on_type;

/// How wide a line may be that is put together or wrapped, in characters.
pub(crate) const WIDTH: usize = 100;

/// Blanks for each region around.
pub(crate) const INDENT: usize = 2;

/// A change of a text: the bytes of a range become others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes, in bytes of the text before any edit.
    pub range: Range<usize>,
    /// What comes.
    pub text: String,
}

/// Why a text is not formatted: it does not follow the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unparsed {
    /// The first place where it does not, in bytes.
    pub range: Range<usize>,
    /// What is wrong there; starts in lower case, no full stop.
    pub message: String,
}

/// The edits that format a whole text: in order, disjoint, and none where nothing changes.
///
/// # Errors
/// If the text does not follow the grammar.
pub fn format(source: &Source) -> Result<Vec<Edit>, Unparsed> {
    match unparsed(source, |_| true) {
        Some(why) => Err(why),
        None => Ok(layout::edits(source)),
    }
}

/// As [`format()`], only the edits that touch a range of bytes. The rest of the text does not need to follow the grammar, but each item of
/// the top level (in general a function) that the range touches does.
///
/// # Errors
/// If one of those does not.
pub fn format_range(source: &Source, range: Range<usize>) -> Result<Vec<Edit>, Unparsed> {
    let touches = |it: &Range<usize>| it.start <= range.end && range.start <= it.end;
    let touched: Vec<Range<usize>> = top_level(source).filter(touches).collect();
    let within = |it: &Range<usize>| {
        touched.iter().any(|item| item.start <= it.start && it.start <= item.end)
    };
    if let Some(why) = unparsed(source, |it| within(it)) {
        return Err(why);
    }
    let mut edits = layout::edits(source);
    edits.retain(|it| touches(&it.range));
    Ok(edits)
}

/// The text with edits that are in order and disjoint.
///
/// # Panics
/// If they are not edits of this text.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + edits.len() * 4);
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The ranges of the items of the top level, the blanks and comments before each included.
fn top_level(source: &Source) -> impl Iterator<Item = Range<usize>> + '_ {
    let ir = source.ir();
    ir.items(ir.root()).flat_map(move |chunk| {
        let (own, region) = ir.op(chunk).regions[0];
        let start = ir.start(chunk) + own as usize;
        ir.items(region).scan(start, |at, op| {
            let range = *at..*at + ir.len(op);
            *at = range.end;
            Some(range)
        })
    })
}

/// The first place that does not follow the grammar, of those wanted.
fn unparsed(source: &Source, is_wanted: impl Fn(&Range<usize>) -> bool) -> Option<Unparsed> {
    let problems = source.problems().into_iter();
    let is_syntax =
        |op: Op, it: &Problem| it.category() == Category::Syntax || source.ir().is_broken(op);
    let wrong = problems
        .filter(|(op, range, it)| is_syntax(*op, it) && is_wanted(range))
        .map(|(_, range, it)| Unparsed { range, message: it.message });
    wrong.min_by_key(|it| it.range.start)
}

/// Whether an item is one whose inside is known.
fn is_known(source: &Source, op: Op) -> bool {
    let data = source.ir().op(op);
    match data.kind {
        OpKind::Junk | OpKind::Resources => false,
        OpKind::Chunk | OpKind::Label | OpKind::TypeAlias | OpKind::AttrAlias => {
            !source.ir().is_broken(op)
        }
        _ => matches!(data.form, Form::Generic | Form::Custom) && !source.ir().is_followed(op),
    }
}
