//! missing-scale: a ciphertext without a scale
//!
//! A secret argument, or a result of a `secret.generic`, has no scale in its `mgmt.mgmt`, although
//! the module has CKKS parameters. HEIR then cannot check scales. Only the first one is reported:
//! as a warning if other scales are written, else as a hint that scales have not been populated
//! yet.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953, 35184372121601], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 45>}) -> !secret.secret<f32> {
//!     %0 = secret.generic(%x: !secret.secret<f32> {mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 45>}) {
//!     ^body(%a: f32):
//!       %1 = arith.mulf %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 1, dimension = 3, scale = 90>} : f32
//!       secret.yield %1 : f32
//!     } -> (!secret.secret<f32>)
//!     return %0 : !secret.secret<f32>
//!   }
//! }
//! ```
//!
//! Write the scale, or let HEIR populate scales (`--populate-scale-ckks`).
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
use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Severity};
use noisy_heir::ScaleFault;

pub(in crate::checks) const CHECK: Check = Check {
    code: "missing-scale",
    header: header!("missing_scale.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.scale_faults(program.ir(), heir) {
        let ScaleFault::Missing { value, is_partial } = it else { continue };
        let message = format!("{} has no scale in mgmt.mgmt", ir.value_text(value));
        let mut found = CHECK.diagnostic_at(value_range(ir, value), message);
        if !is_partial {
            found.severity = Severity::Hint;
        }
        found.help = Some("Let HEIR populate scales: --populate-scale-ckks".into());
        out.push(found);
    }
}
