//! level-underflow: more levels are used than available
//!
//! Each modulus switch uses one level. `heir.level-budget` states the number of levels, and after
//! `mgmt.level_reduce_min` none is left. The first op without a remaining level is reported.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!   %0 = secret.generic(%x: !secret.secret<f32>) {
//!   ^body(%a: f32):
//!     %1 = mgmt.level_reduce_min %a : f32
//!     %2 = mgmt.modreduce %1 : f32         // no level is left
//!     secret.yield %2 : f32
//!   } -> (!secret.secret<f32>)
//!   return %0 : !secret.secret<f32>
//! }
//! ```
//!
//! Bootstrap before this op; `--fix` with the setting `heir.level-budget` places the cheapest
//! bootstraps.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!   %0 = secret.generic(%x: !secret.secret<f32>) {
//!   ^body(%a: f32):
//!     %1 = mgmt.level_reduce_min %a : f32
//!     %2 = mgmt.bootstrap %1 : f32
//!     %3 = mgmt.modreduce %2 : f32
//!     secret.yield %3 : f32
//!   } -> (!secret.secret<f32>)
//!   return %0 : !secret.secret<f32>
//! }
//! ```

use super::chain::chain_locations;
use crate::checks::{Check, Index};
use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RepairKind};
use noisy_heir::NumberKind;

pub(in crate::checks) const CHECK: Check = Check {
    code: "level-underflow",
    header: header!("level_underflow.rs"),
    run: check,
    ..Check::ERROR
};

/// Returns the repair of a missing level: bootstraps, if the settings state the number of levels.
pub(in crate::checks) fn bootstrap_repair(program: &Program) -> RepairKind {
    match program.model().heir.level_budget {
        Some(_) => RepairKind::Management,
        None => RepairKind::None,
    }
}

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.over_budget(ir, heir, program.model().heir) {
        let name = ir.value_text(it.value);
        let message = match it.used_levels {
            Some(used) => {
                format!("{name}: uses {used} levels, but only {} are available", it.n_available)
            }
            None => format!("{name}: uses a level, but none is left"),
        };
        let mut found = CHECK.diagnostic_at(value_range(ir, it.value), message);
        found.related = chain_locations(program, heir, it.value, NumberKind::Level);
        found.help = Some("Bootstrap before this op".into());
        found.repair = bootstrap_repair(program);
        out.push(found);
    }
}
