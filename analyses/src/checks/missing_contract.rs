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

use super::Check;
use crate::contract::{self, Side};
use crate::derivation::core_range;
use crate::{Category, Diagnostic, Document, Severity};

pub(super) const CHECK: Check = Check {
    code: "missing-contract",
    category: Category::Noise,
    severity: Severity::Warning,
    tag: None,
    source: include_str!("missing_contract.rs"),
    run: check,
    fix: None,
};

fn check(document: &Document, out: &mut Vec<Diagnostic>) {
    let ir = document.ir();
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &function in &document.candidates().bound {
        if !ir.op(function).regions.is_empty() {
            continue;
        }
        let is_noisy = |ty| document.model().is_noisy(&ir.interner, ty);
        let noisy = contract::results_of_type(ir, function, &is_noisy);
        let mut lacking =
            noisy.into_iter().filter(|&it| contract::of(ir, function, Side::Result, it).is_none());
        if lacking.next().is_none() {
            continue;
        }
        let symbol = ir.extra(function).symbol.map(|it| ir.absolute(function, it.1));
        let name = document.function_name(function);
        let message = format!("the noise of what @{name} gives is not known");
        let mut it = CHECK.at(symbol.unwrap_or_else(|| core_range(ir, function)), message);
        it.help = Some(format!("state it: {{{} = N : i64}} on the result", contract::NAME));
        out.push(it);
    }
}
