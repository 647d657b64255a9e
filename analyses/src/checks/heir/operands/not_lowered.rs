//! not-lowered: HEIR has no lowering for an op
//!
//! In a module with parameters, HEIR has placed its `mgmt` ops, and lowers each op next. It refuses
//! the whole `secret.generic` for one op that it cannot lower, and does not name that op. Reported
//! are:
//!
//! - an op with a ciphertext that no pattern lowers, such as `arith.maximumf`, `arith.cmpi` or an
//!   op of `math` (`failed to legalize operation 'secret.generic'`);
//! - a result of the last op of a generic that is yielded twice (`requires one result`);
//! - a ciphertext that starts a loop and is used in its body;
//! - branches that yield ciphertexts of different levels or numbers of polynomials (`types mismatch
//!   between yield op and its parent`);
//! - secret floats in BGV or BFV (`Floating point types are not supported in BGV`).
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %1 = arith.maximumf %a, %b : tensor<8xf32>
//!       secret.yield %1 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Replace the op by sums, products and rotations, for example by a polynomial approximation
//! (`--polynomial-approximation`), before HEIR places its `mgmt` ops.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %1 = arith.addf %a, %b : tensor<8xf32>
//!       secret.yield %1 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Related};
use noisy_heir::{Reason, Scheme};

pub(in crate::checks) const CHECK: Check =
    Check { code: "not-lowered", header: header!("not_lowered.rs"), run: check, ..Check::ERROR };

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.unlowered(ir, heir) {
        let Some(operand) = ir.op(it.op).operands.get(it.at as usize) else { continue };
        let Some(value) = operand.value else { continue };
        let (name, op) = (ir.value_text(value), ir.op_name(it.op));
        let scheme = match it.scheme {
            Scheme::Bgv => "BGV",
            Scheme::Bfv => "BFV",
            Scheme::Ckks => "CKKS",
        };
        let (message, help) = match it.reason {
            Reason::NoPattern => (
                format!("HEIR has no lowering of `{op}` for the ciphertext {name} in {scheme}"),
                "Compute with sums, products and rotations before HEIR places its mgmt ops",
            ),
            Reason::YieldedTwice => (
                format!(
                    "{name} is yielded twice, and is the result of the last op: HEIR refuses it"
                ),
                "Yield it once, and use the result of the generic twice",
            ),
            Reason::StartOfLoop => (
                format!(
                    "{name} starts the loop around `{op}` and is used in it: HEIR refuses that"
                ),
                "Start the loop with another value, such as the result of an addition with zero",
            ),
            Reason::Branches => (
                format!(
                    "{name} has another level or number of polynomials than the value of the other branch"
                ),
                "Switch the modulus, or relinearize, in one branch, so that both yield the same",
            ),
            Reason::FloatsInIntegers => (
                format!("{name} is a secret float, but {scheme} computes on integers"),
                "Choose CKKS, or compute on integers",
            ),
        };
        let range = match it.reason {
            Reason::NoPattern => core_range(ir, it.op),
            Reason::FloatsInIntegers => ir.name_range(it.op),
            _ => ir.absolute(it.op, operand.span),
        };
        let mut found = CHECK.at(range, message);
        found.help = Some(help.to_owned());
        if let Some(site) = ir.definition_site(value) {
            let range = ir.absolute(site, ir.value(value).span);
            found.related = vec![Related { range, message: format!("{name} is defined here") }];
        }
        out.push(found);
    }
}
