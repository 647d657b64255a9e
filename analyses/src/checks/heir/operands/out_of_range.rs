//! out-of-range: numbers outside of the range that an op accepts
//!
//! A bootstrap is accurate for numbers in `[-1, 1]`. So is the evaluation of a Chebyshev polynomial
//! by `kernel.eval_chebyshev`. An op with `domain_lower` and `domain_upper` is approximated on this
//! domain only. Other numbers decrypt wrongly, and no tool reports an error.
//!
//! The ranges of all values follow from those of the inputs. `noisy.range` states the range of an
//! argument, and `heir.input-range` in `noisy.toml` that of all encrypted arguments. Without
//! either, nothing is reported. An argument that states a range is also compared with the values
//! that calls pass. The errors of noise and of approximations are not part of a range.
//!
//! ```mlir
//! module attributes {scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>> {noisy.range = [-2.0, 2.0]}) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>):
//!       %1 = arith.addf %a, %a : tensor<8xf32>
//!       %2 = mgmt.bootstrap %1 : tensor<8xf32>       // numbers up to 4
//!       secret.yield %2 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Multiply the value by a constant so that it fits, and the result by the inverse of the constant.
//! Choose a larger domain for an approximation. If inputs are in a smaller range, state that range.
//!
//! ```mlir
//! module attributes {scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>> {noisy.range = [-2.0, 2.0]}) -> !secret.secret<tensor<8xf32>> {
//!     %c = arith.constant dense<0.5> : tensor<8xf32>
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>):
//!       %1 = arith.mulf %a, %c : tensor<8xf32>
//!       %2 = mgmt.bootstrap %1 : tensor<8xf32>
//!       %3 = arith.addf %2, %2 : tensor<8xf32>
//!       %4 = arith.addf %3, %3 : tensor<8xf32>
//!       secret.yield %4 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use crate::checks::{Check, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation};
use noisy_heir::{RangeReason, range_chain};

pub(in crate::checks) const CHECK: Check = Check {
    code: "out-of-range",
    header: header!("out_of_range.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    let (Some(heir_facts), Some(ranges)) = (program.heir_facts(), program.ranges()) else { return };
    for it in sites.out_of_range(&heir_facts) {
        let (name, range, accepted) = (ir.value_text(it.value), it.range, it.accepted);
        let op = ir.op_name(it.op);
        let (accepts, help) = match it.reason {
            RangeReason::Bootstrap => (
                format!("{op} is accurate in {accepted} only"),
                "Multiply the value by a constant before the bootstrap, and by its inverse after it",
            ),
            RangeReason::Approximation => (
                format!("{op} is approximated on {accepted} only"),
                "Choose a larger domain, or multiply the value by a constant before the op",
            ),
            RangeReason::Argument => (
                format!("the called function states {accepted}"),
                "State a larger range at the function, or pass a smaller value",
            ),
        };
        let message = format!("{name} may be in {range}, but {accepts}");
        let mut found = CHECK.diagnostic_at(core_range(ir, it.op), message);
        let steps = range_chain(ir, ranges, it.value).into_iter();
        let related = |(value, message)| RelatedLocation { range: value_range(ir, value), message };
        found.related = steps.map(related).collect();
        found.help = Some(help.to_owned());
        out.push(found);
    }
}
