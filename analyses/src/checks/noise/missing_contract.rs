//! missing-contract: a declared function has no noise bound on a result
//!
//! A function that is only declared has no body to analyze. Without a declared bound the noise of
//! its result is unknown, and so is the noise of all values computed from it: noise errors are
//! missed.
//!
//! ```mlir
//! func.func private @rotate(!noisy.i32) -> !noisy.i32
//! ```
//!
//! Declare a bound on the result.
//!
//! ```mlir
//! func.func private @rotate(!noisy.i32) -> (!noisy.i32 {noisy.bound = 20 : i64})
//! ```

use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::facts::noise::contract::{self, ValueSide};
use crate::program::Program;
use crate::report::diagnostic::Diagnostic;

pub(in crate::checks) const CHECK: Check = Check {
    code: "missing-contract",
    header: header!("missing_contract.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &function in &index.contract_functions {
        if !ir.op(function).regions.is_empty() {
            continue;
        }
        let is_noisy = |ty| program.model().is_noisy(&ir.interner, ty);
        let results = contract::signature_types(ir, function, ValueSide::Result).iter().enumerate();
        let noisy = results.filter(|it| is_noisy(*it.1)).map(|it| it.0);
        let mut lacking =
            noisy.filter(|&it| contract::of(ir, function, ValueSide::Result, it).is_none());
        let Some(first) = lacking.next() else { continue };
        let symbol = ir.extra(function).symbol.map(|it| ir.absolute(function, it.1));
        let name = program.function_name(function);
        let message = format!(
            "noise of result {first} of @{name} is unknown: the function has no body and declares no bound"
        );
        let mut it =
            CHECK.diagnostic_at(symbol.unwrap_or_else(|| core_range(ir, function)), message);
        it.help = Some(format!("Declare a bound on the result: {{{} = N : i64}}", contract::NAME));
        out.push(it);
    }
}
