//! same-value: an op that computes the same value as another op
//!
//! Another op computes the same value from the same operands, and it always runs before this op. No
//! op between them writes to the memory that both read. The pass `cse` merges such ops. Equal
//! constants are not reported.
//!
//! ```mlir
//! func.func @f(%a: i32, %b: i32) -> i32 {
//!   %0 = arith.muli %a, %b : i32
//!   %1 = arith.muli %b, %a : i32       // the same value as %0
//!   %2 = arith.addi %0, %1 : i32
//!   return %2 : i32
//! }
//! ```
//!
//! The fix uses the result of the other op and removes this one.
//!
//! ```mlir
//! func.func @f(%a: i32, %b: i32) -> i32 {
//!   %0 = arith.muli %a, %b : i32
//!   %2 = arith.addi %0, %0 : i32
//!   return %2 : i32
//! }
//! ```

use noisy_syntax::Op;

use super::removal::replacement_fix;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, RelatedLocation, Tag};
use crate::report::remarks::Remark;

pub(in crate::checks) const CHECK: Check = Check {
    code: "same-value",
    is_on: false,
    tag: Some(Tag::Unnecessary),
    header: header!("same_value.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, text) = (program.ir(), program.source().text());
    for (op, remark) in program.remarks() {
        let Remark::SameValue(same) = remark else { continue };
        let value = |op: Op| ir.value_text(ir.op(op).results[0]);
        let line = text.byte_to_line(ir.range(same).start) + 1;
        let (name, other) = (value(op), value(same));
        let message = format!("{name} is the same value as {other} in line {line}");
        let mut it = CHECK.diagnostic_at(core_range(ir, op), message);
        let message = format!("{other} is computed here");
        it.related.push(RelatedLocation { range: core_range(ir, same), message });
        it.help = Some(format!("Use {other} instead"));
        out.push(it);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let ir = program.ir();
    let op = ir.item_at(diagnostic.range.start)?;
    let same = program.remarks_on(op).into_iter().find_map(|it| match it {
        Remark::SameValue(same) => Some(same),
        _ => None,
    })?;
    let (results, others) = (&ir.op(op).results, &ir.op(same).results);
    // Before the other op, the name of its result may denote another value, defined in a region
    // that has ended.
    let from = ir.range(same).end;
    let uses = results.iter().flat_map(|&it| &ir.value(it).uses);
    if uses.into_iter().any(|it| ir.start(it.0) < from) {
        return None;
    }
    let names: Vec<String> = others.iter().map(|&it| ir.value_text(it)).collect();
    replacement_fix(program, op, &format!("Use {} instead", names[0]), &names)
}
