//! unequal-scales: operands at different scales
//!
//! The operands of a sum of CKKS ciphertexts must have the same scale. HEIR's
//! `--populate-scale-ckks` raises the smaller one of two scales, except in these cases. HEIR then
//! refuses the program later (`requires all operands and results to have the same plaintextSpace`,
//! or `output plaintext space does not match`). The error is reported at the first op that HEIR
//! refuses.
//!
//! - HEIR has raised the scale of an operand of the first op in the block: it then raises no scale
//!   after that op. The first op is adjusted if it switches the modulus of an argument, or if it is
//!   a product of arguments at level 0, where the modulus is larger than at other levels.
//! - HEIR has raised the operands of two modulus switches with a common product: it computes the
//!   scale of the product without these adjustments, and raises one of the factors too far.
//! - One modulus switch follows another: HEIR merges them.
//! - `mgmt.adjust_scale` has no scale, or one that is below that of its operand (`delta scale is
//!   negative`).
//! - HEIR raises the scale of integers by a product of floats (`must be floating-point-like`).
//!
//! In BGV, HEIR tracks scales unless `OpenFHE` runs the program. It chooses the scales of
//! `mgmt.adjust_scale` and changes no other scale, so it refuses a sum of two other, different
//! scales. It also refuses a modulus switch whose only use drops levels or switches again, because
//! HEIR moves the switch to another level and keeps its scale.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %1 = mgmt.modreduce %a : tensor<8xf32>
//!       %2 = mgmt.level_reduce %b : tensor<8xf32>
//!       %3 = arith.mulf %1, %1 : tensor<8xf32>
//!       %4 = mgmt.relinearize %3 : tensor<8xf32>
//!       %5 = arith.addf %4, %2 : tensor<8xf32>     // 2^90 and 2^45
//!       secret.yield %5 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Adjust by hand the scales that HEIR would raise, as the fix does.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %c = mgmt.adjust_scale %a {id = 0 : i64, mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 90>} : tensor<8xf32>
//!       %1 = mgmt.modreduce %c : tensor<8xf32>
//!       %2 = mgmt.level_reduce %b : tensor<8xf32>
//!       %3 = arith.mulf %1, %1 : tensor<8xf32>
//!       %4 = mgmt.relinearize %3 : tensor<8xf32>
//!       %5 = arith.addf %4, %2 : tensor<8xf32>
//!       secret.yield %5 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use noisy_heir::{RaisedOperand, ScaleCause};
use noisy_syntax::{Op, Value};

use super::insertion::{NewOpText, SharedFreshNames, insert_chain, unused_adjust_id};
use crate::checks::{Check, FixFunction, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, RelatedLocation, TextEdit};

pub(in crate::checks) const CHECK: Check = Check {
    code: "unequal-scales",
    header: header!("unequal_scales.rs"),
    run: check,
    fix: Some(FixFunction::Together(fix)),
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    let Some(at) = program.heir_facts() else { return };
    for it in sites.unequal_scales(&at) {
        let is_residue = matches!(it.cause, ScaleCause::Residues | ScaleCause::Moved);
        let named = |&(value, bits): &(_, i64)| {
            let power = if is_residue { "" } else { "2^" };
            format!("{} has scale {power}{bits}", ir.value_text(value))
        };
        let name = ir.op_name(it.op);
        let message = match (it.cause, it.values.as_slice()) {
            (ScaleCause::Unwritten, [operand, ..]) => {
                format!("HEIR finds no scale for {name} in CKKS, and {}", named(operand))
            }
            (ScaleCause::Lowered, [operand, result, ..]) => {
                format!("{name} can only raise a scale: {}, but {}", named(operand), named(result))
            }
            (ScaleCause::Integers, _) => {
                format!(
                    "HEIR raises a scale at {name} by a product of floats, but these are integers"
                )
            }
            (ScaleCause::Moved, _) => {
                format!(
                    "HEIR moves the modulus switch before {name} to another level, and keeps its scale"
                )
            }
            (_, [left, right, ..]) => {
                format!("{} and {}, but {name} takes one scale", named(left), named(right))
            }
            _ => "HEIR merges two modulus switches and does not adjust their scales".to_owned(),
        };
        let mut found = CHECK.diagnostic_at(core_range(ir, it.op), message);
        let but = if it.cause == ScaleCause::AfterFirstOp {
            "and no scale after this op"
        } else {
            "but adjusts later ops by the old scale"
        };
        for raised in &it.raised {
            let adjusted = ir.value_text(raised.value);
            let message = format!("HEIR raises the scale of {adjusted} here, {but}");
            found.related.push(RelatedLocation { range: core_range(ir, raised.op), message });
        }
        found.related.extend(it.values.iter().map(|it| {
            let message = named(it);
            RelatedLocation { range: value_range(ir, it.0), message }
        }));
        let mut all = it.raised.iter();
        let adjust =
            |it: &RaisedOperand| format!("{} to 2^{}", ir.value_text(it.value), it.raised_log2);
        found.help = Some(match all.next().map(adjust) {
            Some(first) => {
                let all = all.fold(first, |all, it| format!("{all}, that of {}", adjust(it)));
                format!("Adjust the scale of {all} by hand")
            }
            None => match it.cause {
                ScaleCause::Unwritten => {
                    "Write the scale in its mgmt.mgmt, or remove the op".into()
                }
                ScaleCause::Lowered => "Switch the modulus to lower a scale".into(),
                ScaleCause::Integers => {
                    "Compute on floats, or place the modulus switches so that all scales are equal"
                        .into()
                }
                ScaleCause::Residues => {
                    "Adjust the scale of one of them by mgmt.adjust_scale".into()
                }
                ScaleCause::Moved => "Drop levels before the first modulus switch".into(),
                _ => "Replace one of the two modulus switches by mgmt.level_reduce".into(),
            },
        });
        out.push(found);
    }
}

/// Returns the edit that replaces `from` in the name of an op.
fn renamed(program: &Program, op: Op, from: &str, to: &str) -> TextEdit {
    let range = program.ir().name_range(op);
    let text = program.source().slice(range.clone()).replace(from, to);
    TextEdit { range, text }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let (Some(at), Some(sites)) = (program.heir_facts(), program.sites()) else {
        return vec![None; diagnostics.len()];
    };
    let ir = program.ir();
    let all = sites.unequal_scales(&at);
    let mut names = SharedFreshNames::default();
    let mut number = unused_adjust_id(ir);
    let mut fix = |found: &&Diagnostic| {
        let op = ir.item_at(found.range.start).filter(|&it| !ir.is_broken(it))?;
        let it = all.iter().find(|it| it.op == op)?;
        let mut edits = Vec::new();
        for &RaisedOperand { op, value, raised_log2: to, level } in &it.raised {
            let attributes = format!("mgmt.mgmt = #mgmt.mgmt<level = {level}, scale = {to}>");
            let new = [NewOpText {
                name: "mgmt.adjust_scale",
                properties: Some(format!("id = {number} : i64")),
                attributes: Some(attributes),
            }];
            number += 1;
            edits.extend(insert_chain(program, (op, value), &new, &mut names)?);
        }
        let (switch, reduce) = ("mgmt.modreduce", "mgmt.level_reduce");
        // The scales of later values change too.
        let applicability = Applicability::Unsafe;
        match it.cause {
            ScaleCause::Merged => {
                let edits = vec![renamed(program, op, switch, reduce)];
                let title = format!("Replace by {reduce}");
                return Some(Fix { title, applicability, edits });
            }
            ScaleCause::Moved => {
                let first = ir.defining_op(it.values.first()?.0)?;
                let mut edits = vec![renamed(program, first, switch, reduce)];
                if ir.op_name(op) == reduce {
                    if ir.attr(op, "levelToDrop").is_some() {
                        return None;
                    }
                    edits.push(renamed(program, op, reduce, switch));
                }
                let title = "Drop the level before the modulus switch".to_owned();
                return Some(Fix { title, applicability, edits });
            }
            ScaleCause::Residues => {
                let is_plain = |&&(it, _): &&(Value, i64)| {
                    ir.defining_op(it).is_some_and(|it| ir.op_name(it) == "mgmt.init")
                };
                let &(value, _) = it.values.iter().rev().find(|it| !is_plain(it))?;
                let new = NewOpText {
                    properties: Some(format!("id = {number} : i64")),
                    ..NewOpText::plain("mgmt.adjust_scale")
                };
                number += 1;
                let edits = insert_chain(program, (op, value), &[new], &mut names)?;
                let title = format!("Adjust the scale of {}", ir.value_text(value));
                return Some(Fix { title, applicability: Applicability::Safe, edits });
            }
            ScaleCause::Lowered | ScaleCause::Unwritten | ScaleCause::Integers => return None,
            ScaleCause::Raised | ScaleCause::AfterFirstOp => {}
        }
        let title = match it.raised.as_slice() {
            [one] => format!("Adjust the scale of {}", ir.value_text(one.value)),
            all => format!("Adjust the scales of {} values", all.len()),
        };
        Some(Fix { title, applicability: Applicability::Safe, edits })
    };
    diagnostics.iter().map(&mut fix).collect()
}
