//! too-few-moduli: more levels are used than the parameters have moduli for
//!
//! Each modulus switch uses one level, and the parameters of the module have moduli for fewer
//! levels. The first op without a remaining modulus is reported, with the number of levels that the
//! whole program needs. HEIR keeps the written parameters, and refuses a modulus switch without a
//! modulus (`output ring basis size should be less than the input ring basis size`). Where
//! `mgmt.level_reduce` or a bootstrap uses the level, or after lowering, it is a warning.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953, 35184372121601], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!     %0 = secret.generic(%x: !secret.secret<f32>) {
//!     ^body(%a: f32):
//!       %1 = mgmt.modreduce %a : f32
//!       %2 = arith.mulf %1, %1 : f32
//!       %3 = mgmt.relinearize %2 : f32
//!       %4 = mgmt.modreduce %3 : f32       // the second of 1 level
//!       secret.yield %4 : f32
//!     } -> (!secret.secret<f32>)
//!     return %0 : !secret.secret<f32>
//!   }
//! }
//! ```
//!
//! Bootstrap before this op (`--fix` with the setting `heir.level-budget` places the cheapest
//! bootstraps), or use more moduli.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953, 35184372121601], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!     %0 = secret.generic(%x: !secret.secret<f32>) {
//!     ^body(%a: f32):
//!       %1 = mgmt.modreduce %a : f32
//!       secret.yield %1 : f32
//!     } -> (!secret.secret<f32>)
//!     return %0 : !secret.secret<f32>
//!   }
//! }
//! ```

use super::chain::chain_locations;
use crate::checks::{Check, Index};
use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Severity};

pub(in crate::checks) const CHECK: Check = Check {
    code: "too-few-moduli",
    header: header!("too_few_moduli.rs"),
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    let all = sites.over_moduli(ir, heir);
    let found = |it: &noisy_heir::LevelUnderflow| {
        Some((*it, it.used_levels?, heir.n_modulus_switches(ir, it.value)?))
    };
    let Some((first, used, moduli)) = all.iter().find_map(found) else { return };
    let most = heir.largest_level_around(ir, first.value);
    let name = ir.value_text(first.value);
    let message = format!(
        "{name}: uses {used} levels, but the parameters have moduli for {moduli}; the program needs {most}"
    );
    let mut found = CHECK.diagnostic_at(value_range(ir, first.value), message);
    // HEIR refuses only a modulus switch without a modulus; other ops get a warning.
    let site = ir.definition_site(first.value);
    if site.is_none_or(|it| ir.op_name(it) != "mgmt.modreduce") {
        found.severity = Severity::Warning;
    }
    found.related = chain_locations(program, heir, first.value, noisy_heir::NumberKind::Level);
    found.help = Some("Bootstrap before this op, or choose parameters with more moduli".into());
    out.push(found);
}
