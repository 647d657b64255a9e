//! invalid-contract: a bound that is no number of bits within the budget
//!
//! `noisy.bound` on an argument or a result of a function is an integer from 0 to the budget. Where it is no number at all, the noise is
//! taken as unknown; a larger number is taken at its word. Nothing further down is told because of either.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32 {noisy.bound = 40 : i64}) -> i5 { // more than the budget of 26
//!   %0 = noisy.decode %a : !noisy.i32 -> i5
//!   return %0 : i5
//! }
//! ```
//!
//! State what callers keep.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}) -> i5 {
//!   %0 = noisy.decode %a : !noisy.i32 -> i5
//!   return %0 : i5
//! }
//! ```

use super::{Check, Index};
use crate::contract::{self, Contract};
use crate::diagnostic::{Category, Diagnostic, Severity};
use crate::program::Program;

pub(super) const CHECK: Check = Check {
    code: "invalid-contract",
    category: Category::Noise,
    severity: Severity::Error,
    is_over_budget: false,
    tag: None,
    source: include_str!("invalid_contract.rs"),
    run: check,
    fix: None,
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, budget) = (program.ir(), program.model().budget);
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &function in &index.bound {
        for (side, index, stated) in contract::all(ir, function) {
            let message = match stated {
                Contract::Bound(bound) if bound <= budget => continue,
                Contract::Bound(bound) => {
                    format!("the bound {bound} exceeds the budget of {budget}")
                }
                Contract::Wrong => format!("expected a number of bits from 0 to {budget}"),
            };
            let mut it =
                CHECK.at(contract::range(program.source(), function, side, index), message);
            it.help = Some(format!("write {} = {budget} : i64, or less", contract::NAME));
            out.push(it);
        }
    }
}
