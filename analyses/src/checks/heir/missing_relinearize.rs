//! missing-relinearize: a ciphertext with too many polynomials
//!
//! A product of two ciphertexts has three polynomials, but a rotation takes a ciphertext with two
//! polynomials. HEIR refuses to lower other rotations (`x.dim == 2 does not hold`). A loop must
//! yield as many polynomials as it takes, because their types must match. Programs that HEIR lowers
//! get no error. A bootstrap of three polynomials, and a rotation that is already lowered to a
//! library, go wrong at run time and get a warning. A modulus switch of three polynomials, and a
//! result with three polynomials, only cost time and get a hint. A rotation gets a warning if HEIR
//! may still place relinearizations. A loop gets a warning, because HEIR may unroll it. The first
//! op of each severity is reported, in functions into which HEIR has placed its `mgmt` ops and in
//! modules with parameters.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = arith.mulf %a, %a : tensor<8xf32>
//!     %c = arith.constant 1 : index
//!     %2 = mgmt.relinearize %1 : tensor<8xf32>
//!     %3 = tensor_ext.rotate %1, %c : tensor<8xf32>, index     // gets 3 polynomials and takes 2
//!     %4 = arith.addf %2, %3 : tensor<8xf32>
//!     secret.yield %4 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```
//!
//! Relinearize the ciphertext before this op. `--fix` inserts the fewest relinearizations.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = arith.mulf %a, %a : tensor<8xf32>
//!     %c = arith.constant 1 : index
//!     %2 = mgmt.relinearize %1 : tensor<8xf32>
//!     %3 = tensor_ext.rotate %2, %c : tensor<8xf32>, index
//!     %4 = arith.addf %2, %3 : tensor<8xf32>
//!     secret.yield %4 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```

use super::chain::chain_locations;
use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RepairKind, Severity};
use noisy_dataflow::flow;
use noisy_heir::{Consequence, NumberKind};

pub(in crate::checks) const CHECK: Check = Check {
    code: "missing-relinearize",
    header: header!("missing_relinearize.rs"),
    repair: RepairKind::Management,
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.oversized_operands(ir, heir) {
        let (value, name) = (ir.value_text(it.value), ir.op_name(it.op));
        let (dimension, taken) = (it.dimension, it.n_accepted);
        let message = match it.is_carried {
            true if flow::is_yield(ir, it.op) => format!(
                "{value} has {dimension} polynomials, but the next iteration of the loop takes {taken}"
            ),
            true => format!(
                "{value} has {dimension} polynomials, but the next iteration of the loop gets {taken}"
            ),
            false => match it.consequence {
                Consequence::Refused => {
                    format!("{value} has {dimension} polynomials, but {name} takes {taken}")
                }
                Consequence::Wrong => format!(
                    "{value} has {dimension} polynomials, but {name} takes {taken} when the program runs"
                ),
                Consequence::Slow => {
                    format!("{value} has {dimension} polynomials; {name} is faster with {taken}")
                }
            },
        };
        let mut found = CHECK.diagnostic_at(core_range(ir, it.op), message);
        found.related = chain_locations(program, heir, it.value, NumberKind::Dimension);
        found.help = Some(format!(
            "Insert mgmt.relinearize on {value} before this op, or let the optimizer choose the places"
        ));
        found.severity = match it.consequence {
            // HEIR may unroll the loop.
            Consequence::Refused if it.is_lowered_next && !it.is_carried => Severity::Error,
            Consequence::Refused | Consequence::Wrong => Severity::Warning,
            Consequence::Slow => Severity::Hint,
        };
        out.push(found);
    }
}
