//! folds-to-constant: a computed value that is always one number
//!
//! With the known constants and ranges of its operands, the op has only one possible result. The
//! arguments of a private function are known from all its calls. The passes `sccp` and
//! `canonicalize` fold such ops.
//!
//! ```mlir
//! func.func @f(%a: i32) -> i32 {
//!   %c3 = arith.constant 3 : i32
//!   %c4 = arith.constant 4 : i32
//!   %0 = arith.addi %c3, %c4 : i32     // always 7
//!   %1 = arith.muli %a, %0 : i32
//!   return %1 : i32
//! }
//! ```
//!
//! The fix makes the op a constant.
//!
//! ```mlir
//! func.func @f(%a: i32) -> i32 {
//!   %0 = arith.constant 7 : i32
//!   %1 = arith.muli %a, %0 : i32
//!   return %1 : i32
//! }
//! ```

use noisy_syntax::{Op, Type, TypeData, float_text};

use super::removal::rewrite_op_text;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix};
use crate::report::remarks::Remark;
use noisy_integers::constant::Constant;

pub(in crate::checks) const CHECK: Check = Check {
    code: "folds-to-constant",
    is_on: false,
    header: header!("folds_to_constant.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    for (op, remark) in program.remarks() {
        let Remark::FoldsToConstant(constant) = remark else { continue };
        let Some(number) = number(program, op, constant) else { continue };
        let name = ir.value_text(ir.op(op).results[0]);
        let mut it = CHECK.diagnostic_at(core_range(ir, op), format!("{name} folds to {number}"));
        it.help = Some("Replace it by its value".to_owned());
        out.push(it);
    }
}

/// Returns the text of a constant in `arith.constant`; `None` for constants that are not numbers.
fn number(program: &Program, op: Op, constant: Constant) -> Option<String> {
    let ir = program.ir();
    let ty = ir.value(ir.op(op).results[0]).ty;
    match (constant, ir.interner.type_data(ty)) {
        (Constant::Int(it), _) if ty == Type::I1 => Some((it != 0).to_string()),
        (Constant::Int(it), TypeData::Int { .. } | TypeData::Index) => Some(it.to_string()),
        (Constant::Float(bits), TypeData::Float(kind)) => {
            Some(float_text(f64::from_bits(bits), kind))
        }
        _ => None,
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let ir = program.ir();
    let op = ir.item_at(diagnostic.range.start)?;
    let constant = program.remarks_on(op).into_iter().find_map(|it| match it {
        Remark::FoldsToConstant(constant) => Some(constant),
        _ => None,
    })?;
    let number = number(program, op, constant)?;
    let [value] = ir.op(op).results[..] else { return None };
    let ty = ir.value(value).ty;
    let text = match ty {
        Type::I1 => format!("arith.constant {number}"),
        _ => format!("arith.constant {number} : {}", ir.interner.type_text(ty)),
    };
    let title = format!("Replace {} by its value, {number}", ir.value_text(value));
    let edits = vec![rewrite_op_text(program, op, &text)?];
    Some(Fix { title, applicability: Applicability::Safe, edits })
}
