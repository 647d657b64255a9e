//! unreadable-attribute: an attribute that levels depend on cannot be read
//!
//! An attribute of an op has the wrong form. The attribute states the number of levels that the op
//! drops, the polynomial that it evaluates, or annotations of its operands and results: the number
//! of polynomials or the scale of a ciphertext. `noisy.range` states the range of an argument of a
//! function. Misspelled keys, `:` instead of `=`, and missing commas, in an annotation or in scheme
//! parameters, are reported with a fix. An op that evaluates a polynomial without coefficients is
//! reported too. The facts that follow from the attribute are unknown; no default is used instead.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!   %0 = secret.generic(%x: !secret.secret<i16>) {
//!   ^body(%a: i16):
//!     %1 = mgmt.level_reduce %a {levelToDrop = -3 : i64} : i16
//!     secret.yield %1 : i16
//!   } -> (!secret.secret<i16>)
//!   return %0 : !secret.secret<i16>
//! }
//! ```
//!
//! Write a number, or remove the attribute.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!   %0 = secret.generic(%x: !secret.secret<i16>) {
//!   ^body(%a: i16):
//!     %1 = mgmt.level_reduce %a {levelToDrop = 3 : i64} : i16
//!     secret.yield %1 : i16
//!   } -> (!secret.secret<i16>)
//!   return %0 : !secret.secret<i16>
//! }
//! ```

use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, TextEdit};
use noisy_heir::{EntryFault, entry_faults};
use noisy_syntax::Op;
use rustc_hash::FxHashMap;

pub(in crate::checks) const CHECK: Check = Check {
    code: "unreadable-attribute",
    header: header!("unreadable_attribute.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    let garbled = sites.unreadable_attributes(ir);
    let mut faulty = sites.unreadable_levels(ir);
    faulty.extend(garbled.iter().map(|it| it.0));
    if let Some(heir) = index.heir_of(program) {
        faulty.extend(heir.scheme_faults().iter().map(|it| it.0));
    }
    faulty.sort_unstable();
    faulty.dedup();
    let faults = |op: Op| (op, entry_faults(program.source(), op));
    let faults: FxHashMap<Op, Vec<EntryFault>> = faulty.iter().map(|&it| faults(it)).collect();
    for op in faulty {
        for it in faults[&op].clone() {
            let mut found = CHECK.diagnostic_at(it.range, it.message);
            found.help = Some(format!("Write `{}`", it.new_text.trim()));
            out.push(found);
        }
    }
    // Attributes with faulty entries were reported above, with corrections.
    for (op, it) in garbled.into_iter().filter(|it| faults[&it.0].is_empty()) {
        let place = it.key_range(program.source(), op);
        let range = place.unwrap_or_else(|| core_range(ir, op));
        out.push(CHECK.diagnostic_at(range, format!("`{}` {}", it.key, it.message)));
    }
}

/// Returns the correction of a faulty entry.
fn fix(program: &Program, it: &Diagnostic) -> Option<Fix> {
    let op = program.ir().item_at(it.range.start)?;
    let around = std::iter::successors(Some(op), |&it| program.ir().parent_op(it));
    let mut faults = around.flat_map(|op| entry_faults(program.source(), op));
    let fault = faults.find(|fault| fault.range == it.range)?;
    let title = match fault.new_text.trim() {
        "," => "Insert `,`".to_owned(),
        text => format!("Replace by {text}"),
    };
    Some(Fix {
        title,
        applicability: Applicability::Safe,
        edits: vec![TextEdit { range: fault.replaced_range, text: fault.new_text.to_owned() }],
    })
}
