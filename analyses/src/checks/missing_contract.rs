//! missing-contract: a declaration does not say how noisy its results are
//!
//! The body of a function that is only declared is not there to look at. Without a bound on its results, what is computed from them is unknown,
//! and noise errors go unseen.
//!
//! ```mlir
//! func.func private @rotate(!noisy.i32) -> !noisy.i32
//! ```
//!
//! State a bound.
//!
//! ```mlir
//! func.func private @rotate(!noisy.i32) -> (!noisy.i32 {noisy.bound = 20 : i64})
//! ```

use super::{Check, Index};
use crate::contract::{self, Side};
use crate::diagnostic::{Category, Diagnostic, Severity};
use crate::explain::core_range;
use crate::program::Program;

pub(super) const CHECK: Check = Check {
    code: "missing-contract",
    category: Category::Noise,
    severity: Severity::Warning,
    is_over_budget: false,
    tag: None,
    source: include_str!("missing_contract.rs"),
    run: check,
    fix: None,
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &function in &index.bound {
        if !ir.op(function).regions.is_empty() {
            continue;
        }
        let is_noisy = |ty| program.model().is_noisy(&ir.interner, ty);
        let noisy = contract::results_of_type(ir, function, &is_noisy);
        let mut lacking =
            noisy.into_iter().filter(|&it| contract::of(ir, function, Side::Result, it).is_none());
        if lacking.next().is_none() {
            continue;
        }
        let symbol = ir.extra(function).symbol.map(|it| ir.absolute(function, it.1));
        let name = program.function_name(function);
        let message = format!("the noise of what @{name} gives is not known");
        let mut it = CHECK.at(symbol.unwrap_or_else(|| core_range(ir, function)), message);
        it.help = Some(format!("state it: {{{} = N : i64}} on the result", contract::NAME));
        out.push(it);
    }
}
