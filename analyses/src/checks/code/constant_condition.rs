//! constant-condition: a computed condition is always the same
//!
//! The condition is computed, but the known ranges of its operands leave only one result: one
//! branch is never taken, or a switch always takes the same case. A constant condition is not
//! reported.
//!
//! ```mlir
//! func.func @f(%a: i8, %m: memref<i8>) {
//!   %c15 = arith.constant 15 : i8
//!   %c16 = arith.constant 16 : i8
//!   %0 = arith.andi %a, %c15 : i8             // 0 to 15
//!   %1 = arith.cmpi ult, %0, %c16 : i8
//!   scf.if %1 {                               // always true
//!     memref.store %0, %m[] : memref<i8>
//!   }
//!   return
//! }
//! ```
//!
//! Fix the condition, or remove the branch. The unsafe fix does the latter: it keeps only the
//! branch that is taken.
//!
//! ```mlir
//! func.func @f(%a: i8, %m: memref<i8>) {
//!   %c15 = arith.constant 15 : i8
//!   %c8 = arith.constant 8 : i8
//!   %0 = arith.andi %a, %c15 : i8
//!   %1 = arith.cmpi ult, %0, %c8 : i8
//!   scf.if %1 {
//!     memref.store %0, %m[] : memref<i8>
//!   }
//!   return
//! }
//! ```

use noisy_syntax::{Def, OpKind, Value};

use super::one_way::keep_taken_branch;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::{integer_in_words, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, RelatedLocation};
use noisy_dataflow::flow;
use noisy_integers::constant::is_defined_by_constant_op;

pub(in crate::checks) const CHECK: Check = Check {
    code: "constant-condition",
    header: header!("constant_condition.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, integers) = (program.ir(), program.integers());
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &op in &index.conditional_ops {
        let Some(decision) = integers.decision(ir, op) else { continue };
        let operand = flow::controlling_operand(ir, op).and_then(|it| ir.op(op).operands.get(it));
        let Some((operand, value)) = operand.and_then(|it| Some((it, it.value?))) else { continue };
        if is_defined_by_constant_op(ir, value) || !integers.is_live(ir, op) {
            continue;
        }
        let message = match ir.op(op).kind {
            OpKind::CfSwitch | OpKind::ScfIndexSwitch => {
                format!("{} is always {decision}", ir.value_text(value))
            }
            _ => format!("condition {} is always {}", ir.value_text(value), decision != 0),
        };
        let mut it = CHECK.diagnostic_at(ir.absolute(op, operand.span), message);
        it.related = reasons(program, value);
        it.help = Some("Fix the condition, or remove the branch".to_owned());
        out.push(it);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    keep_taken_branch(program, program.ir().item_at(diagnostic.range.start)?)
}

/// Returns the known facts about the operands of a condition as related information.
fn reasons(program: &Program, value: Value) -> Vec<RelatedLocation> {
    let ir = program.ir();
    let Def::Result(op, _) = ir.value(value).def else { return Vec::new() };
    let values = ir.op(op).operands.iter().filter_map(|it| it.value);
    let known = values.filter_map(|it| {
        let said = integer_in_words(program, it)?;
        let message = format!("{} is {}", ir.value_text(it), said.trim_start_matches("= "));
        Some(RelatedLocation { range: value_range(ir, it), message })
    });
    known.collect()
}
