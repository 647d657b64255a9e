//! level-mismatch: the level in `mgmt.mgmt` is wrong
//!
//! HEIR writes the remaining levels of a ciphertext into `mgmt.mgmt`. The used levels follow from the ops, and used and remaining levels must have the same sum everywhere. The
//! level later becomes part of the type of the ciphertext. Levels of operands and results of a `secret.generic` that HEIR has yet to manage are what it is to reach, and not reported.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 2>} : tensor<8xf32>
//!     %2 = mgmt.modreduce %1 {mgmt.mgmt = #mgmt.mgmt<level = 3>} : tensor<8xf32>   // 1 is left
//!     %3 = arith.addf %2, %2 {mgmt.mgmt = #mgmt.mgmt<level = 1>} : tensor<8xf32>
//!     secret.yield %3 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```
//!
//! The fix writes the level that follows.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 2>} : tensor<8xf32>
//!     %2 = mgmt.modreduce %1 {mgmt.mgmt = #mgmt.mgmt<level = 1>} : tensor<8xf32>
//!     %3 = arith.addf %2, %2 {mgmt.mgmt = #mgmt.mgmt<level = 1>} : tensor<8xf32>
//!     secret.yield %3 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```

use std::ops::Range;

use noisy_syntax::{Ir, Op, Value};

use super::chain::related;
use super::{Check, Index};
use crate::diagnostic::{Applicability, Category, Diagnostic, Fix, Severity, TextEdit};
use crate::explain::{core_range, value_range};
use crate::heir::{self, Holder, Mismatch, Of, Places};
use crate::program::Program;

pub(super) const CHECK: Check = Check {
    code: "level-mismatch",
    category: Category::Noise,
    is_on: true,
    severity: Severity::Warning,
    is_over_budget: false,
    tag: None,
    header: header!("level_mismatch.rs"),
    run: check,
    fix: Some(fix),
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some(heir) = index.heir_of(program) else { return };
    let ir = program.ir();
    let Some(sites) = program.sites() else { return };
    for op in sites.unreadable(ir) {
        let message = "`mgmt.mgmt` has no level that can be read";
        let mut found = CHECK.at(core_range(ir, op), message.to_owned());
        found.help = Some(
            "Write it as `#mgmt.mgmt<level = 2>`, or let HEIR annotate the program again".into(),
        );
        out.push(found);
    }
    let mut places = Places::new(program.source());
    for it in sites.mismatches(ir, heir) {
        let Mismatch { value, holder, written, used, all } = it;
        let name = ir.value_text(value);
        let message = match all.checked_sub(used) {
            Some(left) => {
                format!(
                    "{name}: level {written} is written, but {left} remain: {used} of {all} levels are used"
                )
            }
            None => format!("{name}: level {written} is written, but all {all} levels are used"),
        };
        let mut found = CHECK.at(annotated_range(&mut places, ir, holder, value), message);
        found.related = related(program, heir, value, Of::Level);
        found.help =
            Some("Write the remaining level, or let HEIR annotate the program again".into());
        out.push(found);
    }
}

/// What is told of an annotation that is wrong: the op, or of one that holds several annotations or other ops the annotation.
pub(super) fn annotated_range(
    places: &mut Places<'_>,
    ir: &Ir,
    holder: Holder,
    value: Value,
) -> Range<usize> {
    places.apart(holder).unwrap_or_else(|| value_range(ir, value))
}

/// The ops that may hold the annotation that is told of at a place.
pub(super) fn holders(ir: &Ir, range: &Range<usize>) -> impl Iterator<Item = Op> {
    let op = ir.item_at(range.start);
    // What a label names is said by the op around.
    op.into_iter().chain(op.and_then(|it| ir.parent_op(it)))
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let (ir, heir, sites) = (program.ir(), program.heir()?, program.sites()?);
    let mut places = Places::new(program.source());
    let found = holders(ir, &diagnostic.range).flat_map(|it| sites.mismatches_of(ir, heir, it));
    let mut found = found
        .filter(|it| annotated_range(&mut places, ir, it.holder, it.value) == diagnostic.range);
    let it = found.next().filter(|_| found.next().is_none())?;
    let left = it.all.checked_sub(it.used)?;
    let range = heir::place(program.source(), it.holder)?.entry("level")?.value.clone();
    Some(Fix {
        title: format!("Write level {left}"),
        applicability: Applicability::Safe,
        edits: vec![TextEdit { range, text: left.to_string() }],
    })
}
