//! unreadable-attribute: an attribute that levels depend on cannot be read
//!
//! An attribute of an op has the wrong form. The attribute states the number of levels that the op
//! drops, the polynomial that it evaluates, or annotations of its operands and results: the number
//! of polynomials or the scale of a ciphertext. `noisy.range` states the range of an argument of a
//! function. An op that evaluates a polynomial without coefficients is reported too. The facts that
//! follow from the attribute are unknown; no default is used instead.
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

use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::Diagnostic;

pub(in crate::checks) const CHECK: Check = Check {
    code: "unreadable-attribute",
    header: header!("unreadable_attribute.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    for (op, it) in sites.garbled(ir) {
        let place = it.place(program.source(), op);
        let range = place.unwrap_or_else(|| core_range(ir, op));
        out.push(CHECK.at(range, format!("`{}` {}", it.key, it.message)));
    }
}
