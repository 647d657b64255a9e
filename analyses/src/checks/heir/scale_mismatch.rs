//! scale-mismatch: inconsistent scales
//!
//! The scales written on CKKS ciphertexts (logarithms to base 2, in `mgmt.mgmt`) follow from one
//! another: operands of a sum have equal scales, a product has the sum of the scales, a modulus
//! switch subtracts the bits of its modulus, an adjustment only raises a scale, and a bootstrap
//! gives the default scale. Each op is checked with the scales written on it and on its operands.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953, 35184372121601], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 45>}) -> !secret.secret<f32> {
//!     %0 = secret.generic(%x: !secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 45>}) {
//!     ^body(%a: f32):
//!       %1 = arith.mulf %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 1, dimension = 3, scale = 80>} : f32   // 90
//!       secret.yield %1 : f32
//!     } -> (!secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, dimension = 3, scale = 80>})
//!     return %0 : !secret.secret<f32>
//!   }
//! }
//! ```
//!
//! Write the inferred scale, or let HEIR populate scales again.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953, 35184372121601], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 45>}) -> !secret.secret<f32> {
//!     %0 = secret.generic(%x: !secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 45>}) {
//!     ^body(%a: f32):
//!       %1 = arith.mulf %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 1, dimension = 3, scale = 90>} : f32
//!       secret.yield %1 : f32
//!     } -> (!secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, dimension = 3, scale = 90>})
//!     return %0 : !secret.secret<f32>
//!   }
//! }
//! ```

use crate::checks::{Check, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation};
use noisy_heir::ScaleFault;

pub(in crate::checks) const CHECK: Check = Check {
    code: "scale-mismatch",
    header: header!("scale_mismatch.rs"),
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.scale_faults(program.ir(), heir) {
        let ScaleFault::Contradictory { op, message, values } = it else { continue };
        let mut found = CHECK.diagnostic_at(core_range(ir, op), message);
        let related = values.iter().map(|&(value, scale)| RelatedLocation {
            range: value_range(ir, value),
            message: format!("{} has scale 2^{scale}", ir.value_text(value)),
        });
        found.related = related.collect();
        found.help = Some("Write the inferred scale, or let HEIR populate scales again".into());
        out.push(found);
    }
}
