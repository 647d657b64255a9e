//! noise-validation: a ciphertext of HEIR has more noise than its modulus allows
//!
//! HEIR's `--validate-noise` reports that a module fails, but not where. This diagnostic reports
//! the first value with more noise than the bits available at the level of the ciphertext, under
//! the model of the setting `heir.noise-model`. Without that setting it is a warning under
//! `bgv-noise-kpz21` or `bfv-noise-kpz21`. The module must have scheme parameters.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761], plaintextModulus = 65537>, scheme.bgv} {
//!   func.func @f(%x: !secret.secret<tensor<8xi16>>) -> !secret.secret<tensor<8xi16>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xi16>>) {
//!     ^body(%a: tensor<8xi16>):
//!       %1 = arith.muli %a, %a : tensor<8xi16>
//!       %2 = mgmt.relinearize %1 : tensor<8xi16>
//!       secret.yield %2 : tensor<8xi16>
//!     } -> (!secret.secret<tensor<8xi16>>)
//!     return %0 : !secret.secret<tensor<8xi16>>
//!   }
//! }
//! ```
//!
//! Use larger moduli, or use more moduli and switch the modulus before this op.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569, 1152921504606994433], P = [2147573761], plaintextModulus = 65537>, scheme.bgv} {
//!   func.func @f(%x: !secret.secret<tensor<8xi16>>) -> !secret.secret<tensor<8xi16>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xi16>>) {
//!     ^body(%a: tensor<8xi16>):
//!       %1 = arith.muli %a, %a : tensor<8xi16>
//!       %2 = mgmt.relinearize %1 : tensor<8xi16>
//!       secret.yield %2 : tensor<8xi16>
//!     } -> (!secret.secret<tensor<8xi16>>)
//!     return %0 : !secret.secret<tensor<8xi16>>
//!   }
//! }
//! ```

use noisy_syntax::Value;

use crate::checks::{Check, Index};
use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation, Severity};

pub(in crate::checks) const CHECK: Check = Check {
    code: "noise-validation",
    header: header!("noise_validation.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    let chosen = program.model().heir.noise_model;
    let Some(noise) = program.heir_noise() else { return };
    for value in sites.values_over_noise_budget(ir, noise) {
        let Some((bits, budget)) = noise.noise_over_budget(value) else { continue };
        let from = noisy_heir::source_values(ir, value);
        let (name, model) = (ir.value_text(value), noise.name());
        let message = if bits.is_finite() {
            let over = bits - budget;
            format!(
                "{name}: noise is {bits:.2} bits, {over:.2} over the {budget:.2} bits of its level ({model})"
            )
        } else {
            format!("{name}: noise grows without a bound; its level has {budget:.2} bits ({model})")
        };
        let mut found = CHECK.diagnostic_at(value_range(ir, value), message);
        if chosen.is_some() {
            found.severity = Severity::Error;
        }
        let operand = |it: Value| {
            let message = format!("{}: {:.2} bits", ir.value_text(it), noise.bits(it)?);
            Some(RelatedLocation { range: value_range(ir, it), message })
        };
        found.related = from.into_iter().filter_map(operand).collect();
        found.help =
            Some("Use larger moduli, or use more and switch the modulus before this op".into());
        out.push(found);
    }
}
