//! What passes know of one op ([`Remark`]): it computes what another op has computed, its value is one constant, it does not change in the loop around.
//!
//! Offered at the op whether the lints that tell of it are on or off; the edits are their fixes. What a diagnostic tells of already has its fix there. *Cost.*
//! Offering looks at the function once between edits; unasked, only at one of at most [`UNASKED`] bytes, for editors ask after each edit and each step of
//! the cursor whether a light bulb is to be shown.

use noisy_analyses::{Document, Remark, TextEdit};
use noisy_integers::constant::Constant;
use noisy_syntax::{Op, Type};

use super::Kind;

/// The longest function, in bytes, that is looked through before the user asks: some 1,500 ops, which take half a millisecond.
const UNASKED: usize = 1 << 16;

/// What can be done to the op at an offset, and what that is called, but for what diagnostics of these codes offer. `is_asked` says that the user
/// opened the menu.
pub(super) fn offered(
    document: &Document,
    offset: usize,
    told: &[&str],
    is_asked: bool,
) -> Vec<(Kind, String)> {
    let ir = document.ir();
    let Some(op) = ir.item_at(offset) else { return Vec::new() };
    let is_short = |function: Op| ir.range(function).len() <= UNASKED;
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
        Remark::Same(same) => {
            let line = document.source().text().byte_to_line(ir.range(same).start) + 1;
            format!("Use {} of line {line}, which is the same value", name(same))
        }
        Remark::Folds(constant) => {
            let is_truth = ir.value(ir.op(op).results[0]).ty == Type::I1;
            let value = match constant {
                Constant::Int(it) if is_truth => (it != 0).to_string(),
                it => it.to_string(),
            };
            format!("Replace {} by its value, {value}", name(op))
        }
        Remark::Invariant(_) => "Move before the loop: it does not change in there".to_owned(),
        Remark::DeadStore(_) => "Remove this store, which nothing reads".to_owned(),
    }
}

fn kind(remark: Remark) -> Kind {
    match remark {
        Remark::Same(_) => Kind::Merge,
        Remark::Folds(_) => Kind::Fold,
        Remark::Invariant(_) => Kind::Hoist,
        Remark::DeadStore(_) => Kind::Drop,
    }
}

/// The edits; an error says why there are none.
pub(super) fn edits(
    document: &Document,
    wanted: Kind,
    offset: usize,
) -> Result<Vec<TextEdit>, String> {
    let op = document.ir().item_at(offset).ok_or("the op no longer exists")?;
    let mut remarks = document.remarks_on(op).into_iter();
    let remark = remarks.find(|it| kind(*it) == wanted).ok_or("the op is another one now")?;
    let fix = document.fix_of(op, remark).ok_or("the result would have an error")?;
    Ok(fix.edits)
}
