//! Renames the values of a function: all of them in the way of `mlir-opt`, arguments to `%arg0`,
//! `%arg1`, ..., results to `%0`, `%1`, ..., in textual order; or the numbered ones to descriptive
//! names.
//!
//! The new names are distinct throughout the function, so none shadows another.

use std::ops::Range;

use noisy_analyses::{Document, TextEdit};
use noisy_syntax::{AttrData, Def, Ir, Op, OpKind, TypeData, Value};

use super::names::{self, TakenNames};
use crate::features::write::rename;

/// Maximum number of values in a function. With more of them, a rename would take too long.
const MAX_VALUES: usize = 20_000;

/// The values of a function that have names, if all of them can be renamed.
pub(super) fn renamable_values(ir: &Ir, function: Op) -> Result<Vec<Value>, String> {
    let items = names::items_of(ir, &[function]);
    if !names::have_clear_names(ir, &items) {
        return Err("it contains an unknown op, so the meaning of its names is unknown".to_owned());
    }
    names::named_values(ir, &items, MAX_VALUES)
        .ok_or_else(|| "the function has too many values".to_owned())
}

/// The edits that number all values.
pub(super) fn numbering_edits(document: &Document, function: Op) -> Result<Vec<TextEdit>, String> {
    let ir = document.ir();
    let all = renamable_values(ir, function)?;
    let (mut n_arguments, mut n_results) = (0, 0);
    let mut edits = Vec::new();
    for value in all {
        let (prefix, n) = match ir.value(value).def {
            Def::Argument(..) => ("arg", &mut n_arguments),
            Def::Result(..) => ("", &mut n_results),
        };
        edits.extend(rename_edits(document, value, &format!("{prefix}{n}")));
        *n += 1;
    }
    Ok(edits)
}

/// True if [`naming_edits`] renames any value.
pub(super) fn has_numbered_values(document: &Document, all: &[Value]) -> bool {
    let ir = document.ir();
    all.iter().any(|&it| is_numbered(ir, it) && descriptive_name(document, it).is_some())
}

fn is_numbered(ir: &Ir, value: Value) -> bool {
    let name = names::bare_name(ir, value);
    let digits = name.strip_prefix("arg").unwrap_or(&name);
    !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// The edits that give each numbered value a descriptive name, taken from its location, the callee,
/// the constant, or else the op. Arguments without a location keep their names.
pub(super) fn naming_edits(document: &Document, function: Op) -> Result<Vec<TextEdit>, String> {
    let ir = document.ir();
    let all = renamable_values(ir, function)?;
    let mut wanted = Vec::new();
    let mut taken = TakenNames::default();
    for value in all {
        let meant = if is_numbered(ir, value) { descriptive_name(document, value) } else { None };
        match meant {
            Some(name) => wanted.push((value, name)),
            None => _ = taken.reserve(&names::bare_name(ir, value)),
        }
    }
    let edits = wanted.into_iter().flat_map(|(value, name)| {
        let name = taken.reserve(&name);
        rename_edits(document, value, &name)
    });
    Ok(edits.collect())
}

/// A descriptive name for a value.
fn descriptive_name(document: &Document, value: Value) -> Option<String> {
    let ir = document.ir();
    let Def::Result(op, _) = ir.value(value).def else {
        let span = ir.value(value).span;
        let site = ir.definition_site(value)?;
        let (start, end) = (ir.absolute(site, span).end, ir.head_range(site).end);
        // A name behind the regions of an unknown op has no location.
        let rest = document.source().text().byte_slice(start..end.max(start));
        // The text up to the next argument.
        return location_name(&rest.chars().take_while(|it| *it != '%').collect::<String>());
    };
    let text = document.source().slice(ir.range(op));
    let own = if ir.op(op).regions.is_empty() { &*text } else { text.rsplit('}').next()? };
    location_name(own).or_else(|| name_from_op(ir, op))
}

/// The name of the location at the end of a text: `loc("x")`.
fn location_name(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("loc(\"")?;
    let (name, after) = rest.split_once('"')?;
    // `loc("file":1:2)` is not a name.
    let is_name = after.trim_start().starts_with([')', '(']);
    is_name.then(|| to_identifier(name)).flatten()
}

/// A word for the result of an op.
fn name_from_op(ir: &Ir, op: Op) -> Option<String> {
    let name = ir.op_name(op);
    match ir.op(op).kind {
        OpKind::FuncCall => {
            let &(callee, ..) = ir.extra(op).symbol_uses.first()?;
            to_identifier(ir.interner.str(callee))
        }
        OpKind::ArithConstant => {
            let value = ir.attr(op, "value").map(|it| ir.interner.attr_data(it));
            Some(match value {
                Some(AttrData::Bool(it)) => it.to_string(),
                Some(AttrData::Int { value, ty }) => match ir.interner.type_data(*ty) {
                    TypeData::Index => format!("c{value}"),
                    _ => format!("c{value}_{}", ir.interner.type_text(*ty)),
                }
                .replace('-', "m"),
                _ => "cst".to_owned(),
            })
        }
        _ => to_identifier(name.rsplit('.').next().unwrap_or(name)),
    }
}

/// Converts a text to the name of a value; `None` if it has no usable characters.
fn to_identifier(text: &str) -> Option<String> {
    let word = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    let name: String = text.chars().map(word).collect();
    let name = name.trim_matches('_').to_owned();
    let is_digit = name.starts_with(|it: char| it.is_ascii_digit());
    (!name.is_empty()).then(|| if is_digit { format!("_{name}") } else { name })
}

/// The edits that give a value a name, without `%`.
fn rename_edits(document: &Document, value: Value, name: &str) -> Vec<TextEdit> {
    let source = document.source();
    let text = format!("%{name}");
    let edit = |range: Range<usize>| {
        (source.slice(range.clone()) != text).then(|| TextEdit { range, text: text.clone() })
    };
    rename::value_mentions(source, value).into_iter().filter_map(edit).collect()
}
