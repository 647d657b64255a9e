//! redundant-reduce: a `reduce_noise` that lowers nothing
//!
//! The operand of the `reduce_noise` has at most as much noise as the result. The op costs a
//! bootstrapping and has no effect.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32       // noise 12
//!   %1 = noisy.reduce_noise %0 : !noisy.i32       // noise 12
//!   return %1 : !noisy.i32
//! }
//! ```
//!
//! The fix replaces the result by the operand and removes the op. The fix does not increase any
//! noise bound.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32       // noise 12
//!   return %0 : !noisy.i32
//! }
//! ```

use crate::checks::code::removal::removal_fix;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::{core_range, short_name};
use crate::facts::noise::model::Growth;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, Tag};

pub(in crate::checks) const CHECK: Check = Check {
    code: "redundant-reduce",
    tag: Some(Tag::Unnecessary),
    header: header!("redundant_reduce.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    for op in program.noise_solver().observer.idle_resets(ir) {
        let Some(rule) = program.model().rule(ir.op_name(op)) else { continue };
        let Some(Growth::Reset(level)) = program.model().growth(ir, op, rule) else { continue };
        let operand = program.model().carriers(ir, op, rule).next().flatten();
        let Some(operand) = operand else { continue };
        let Some(noise) = program.noise(operand).hi().filter(|&it| it <= level) else { continue };
        let (short, name) = (short_name(ir.op_name(op)), ir.value_text(operand));
        let message = format!(
            "redundant {short}: noise of {name} is at most {noise} bits before and {level} after"
        );
        let mut it = CHECK.diagnostic_at(core_range(ir, op), message);
        it.help = Some(format!("Use {name} instead"));
        out.push(it);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let ir = program.ir();
    let op = ir.item_at(diagnostic.range.start)?;
    let ([_], [operand]) = (ir.op(op).results.as_slice(), ir.op(op).operands.as_slice()) else {
        return None;
    };
    let instead = program.source().span_text(op, operand.span);
    let name = short_name(ir.op_name(op));
    removal_fix(program, op, &format!("Remove this {name}"), Some(&instead))
}
