//! Refactorings of a single op that follow from facts of passes ([`Remark`]): the op repeats
//! another one, its value is constant, it is invariant in the surrounding loop, or its store is
//! dead.
//!
//! They are offered even if the lints that report the remarks are off. Their edits are the fixes of
//! these lints. A reported remark is not offered, because its diagnostic already offers the fix.
//!
//! *Cost.* Linear in the function, at the first offer after an edit. Unless the user opened the
//! menu, only functions of at most [`MAX_AUTOMATIC_BYTES`] bytes are visited, because editors send
//! requests after each edit and each cursor movement.

use noisy_analyses::{Document, Remark, TextEdit};
use noisy_integers::constant::Constant;
use noisy_syntax::{Op, Type};

use super::RefactorKind;

/// Maximum size, in bytes, of a function that is visited for an automatic request: about 1,500 ops,
/// which take half a millisecond.
const MAX_AUTOMATIC_BYTES: usize = 1 << 16;

/// The available refactorings of the op at an offset, with their titles. Those that diagnostics
/// with the codes `told` offer are left out. `is_asked` is true if the user opened the menu.
pub(super) fn offered(
    document: &Document,
    offset: usize,
    told: &[&str],
    is_asked: bool,
) -> Vec<(RefactorKind, String)> {
    let ir = document.ir();
    let Some(op) = ir.item_at(offset) else { return Vec::new() };
    let is_short = |function: Op| ir.range(function).len() <= MAX_AUTOMATIC_BYTES;
    if !is_asked && !ir.function_of(op).is_some_and(is_short) {
        return Vec::new();
    }
    let remarks = document.remarks_on(op).into_iter().filter(|it| !told.contains(&it.code()));
    remarks.map(|it| (kind(it), title(document, op, it))).collect()
}

fn title(document: &Document, op: Op, remark: Remark) -> String {
    let ir = document.ir();
    let name = |op: Op| ir.op(op).results.first().map_or(String::new(), |&it| ir.value_text(it));
    match remark {
        Remark::SameValue(same) => {
            let line = document.source().text().byte_to_line(ir.range(same).start) + 1;
            format!("Use {} of line {line}, which is the same value", name(same))
        }
        Remark::FoldsToConstant(constant) => {
            let is_truth = ir.value(ir.op(op).results[0]).ty == Type::I1;
            let value = match constant {
                Constant::Int(it) if is_truth => (it != 0).to_string(),
                it => it.to_string(),
            };
            format!("Replace {} by its value, {value}", name(op))
        }
        Remark::LoopInvariant(_) => {
            "Move before the loop: it does not change in the loop".to_owned()
        }
        Remark::DeadStore(_) => "Remove this store: nothing reads it".to_owned(),
    }
}

fn kind(remark: Remark) -> RefactorKind {
    match remark {
        Remark::SameValue(_) => RefactorKind::Merge,
        Remark::FoldsToConstant(_) => RefactorKind::Fold,
        Remark::LoopInvariant(_) => RefactorKind::Hoist,
        Remark::DeadStore(_) => RefactorKind::Drop,
    }
}

/// The edits, or the reason why there are none.
pub(super) fn edits(
    document: &Document,
    wanted: RefactorKind,
    offset: usize,
) -> Result<Vec<TextEdit>, String> {
    let op = document.ir().item_at(offset).ok_or("the op no longer exists")?;
    let mut remarks = document.remarks_on(op).into_iter();
    let remark = remarks.find(|it| kind(*it) == wanted).ok_or("the op has changed")?;
    let fix = document.fix_of(op, remark).ok_or("the result would have an error")?;
    Ok(fix.edits)
}
