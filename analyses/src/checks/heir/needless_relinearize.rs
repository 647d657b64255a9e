//! needless-relinearize: a relinearization of two polynomials
//!
//! Relinearization reduces a ciphertext to two polynomials. If the ciphertext already has two, the
//! op has no benefit: it costs the time of a key switch and adds its noise.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!   %0 = secret.generic(%x: !secret.secret<i16>) {
//!   ^body(%a: i16):
//!     %1 = arith.addi %a, %a : i16
//!     %2 = mgmt.relinearize %1 : i16       // a sum has no more polynomials than its operands
//!     secret.yield %2 : i16
//!   } -> (!secret.secret<i16>)
//!   return %0 : !secret.secret<i16>
//! }
//! ```
//!
//! The fix uses the operand instead.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!   %0 = secret.generic(%x: !secret.secret<i16>) {
//!   ^body(%a: i16):
//!     %1 = arith.addi %a, %a : i16
//!     secret.yield %1 : i16
//!   } -> (!secret.secret<i16>)
//!   return %0 : !secret.secret<i16>
//! }
//! ```

use crate::checks::code::removal::removal_fix_by_name;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, Tag};

pub(in crate::checks) const CHECK: Check = Check {
    code: "needless-relinearize",
    tag: Some(Tag::Unnecessary),
    header: header!("needless_relinearize.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    for op in sites.needless_relinearizations(ir) {
        let Some(value) = ir.op(op).operands[0].value else { continue };
        let name = ir.value_text(value);
        let message = format!("needless relinearization: {name} has two polynomials");
        let mut found = CHECK.diagnostic_at(core_range(ir, op), message);
        found.help = Some(format!("Use {name} instead"));
        out.push(found);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let ir = program.ir();
    let op = ir.item_at(diagnostic.range.start).filter(|&it| !ir.is_broken(it))?;
    let ([_], [operand]) = (ir.op(op).results.as_slice(), ir.op(op).operands.as_slice()) else {
        return None;
    };
    let instead = program.source().span_text(op, operand.span);
    removal_fix_by_name(program, op, "Remove this relinearization", Some(&instead))
}
