//! missing-relinearize: a ciphertext with too many polynomials
//!
//! A product of two ciphertexts has three polynomials. A rotation, a modulus switch, a bootstrap
//! and the end of a `secret.generic` take a ciphertext of two: it must be relinearized before. HEIR
//! lowers the program without a message. A loop must yield as many polynomials as it takes: HEIR
//! refuses to lower any other. Reported at the first wrong op, in functions into which HEIR has
//! placed its `mgmt` ops; a warning if none of these is a relinearization, because HEIR may still
//! place them, and at loops, which it may unroll.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = arith.mulf %a, %a : tensor<8xf32>
//!     %2 = mgmt.relinearize %1 : tensor<8xf32>
//!     %3 = mgmt.modreduce %1 : tensor<8xf32>     // gets 3 polynomials and takes 2
//!     %4 = arith.addf %2, %3 : tensor<8xf32>
//!     secret.yield %4 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```
//!
//! Relinearize before. `--fix` places the fewest.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = arith.mulf %a, %a : tensor<8xf32>
//!     %2 = mgmt.relinearize %1 : tensor<8xf32>
//!     %3 = mgmt.modreduce %2 : tensor<8xf32>
//!     secret.yield %3 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```

use super::chain::related;
use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Repair, Severity};
use noisy_dataflow::flow;
use noisy_heir::NumberKind;

pub(in crate::checks) const CHECK: Check = Check {
    code: "missing-relinearize",
    header: header!("missing_relinearize.rs"),
    repair: Repair::Management,
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.oversized_operands(ir, heir) {
        let (value, name) = (ir.value_text(it.value), ir.op_name(it.op));
        let (dimension, taken) = (it.dimension, it.taken);
        let message = match it.is_carried {
            true if flow::is_yield(ir, it.op) => format!(
                "{value} has {dimension} polynomials, but the next round of the loop takes {taken}"
            ),
            true => format!(
                "{value} has {dimension} polynomials, but the next round of the loop gets {taken}"
            ),
            false => format!("{value} has {dimension} polynomials, but {name} takes {taken}"),
        };
        let mut found = CHECK.at(core_range(ir, it.op), message);
        found.related = related(program, heir, it.value, NumberKind::Dimension);
        found.help = Some(format!(
            "Insert mgmt.relinearize on {value} before this op, or let the optimizer choose the places"
        ));
        // A loop may still be unrolled.
        if !it.is_relinearized || it.is_carried {
            found.severity = Severity::Warning;
        }
        out.push(found);
    }
}
