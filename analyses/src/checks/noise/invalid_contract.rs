//! invalid-contract: `noisy.bound` is not a number of bits within the budget
//!
//! `noisy.bound` on an argument or a result of a function is an integer from 0 to the budget, in
//! bits. If it is not an integer, the noise is unknown. If it is over the budget, the analysis
//! still uses it. Later ops report no further errors because of this bound. A bound on a number
//! that carries no noise, such as an `i5`, has no effect and is reported as a hint.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32 {noisy.bound = 40 : i64}) -> i5 { // more than the budget of 26
//!   %0 = noisy.decode %a : !noisy.i32 -> i5
//!   return %0 : i5
//! }
//! ```
//!
//! Declare a bound that all callers satisfy.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}) -> i5 {
//!   %0 = noisy.decode %a : !noisy.i32 -> i5
//!   return %0 : i5
//! }
//! ```

use noisy_syntax::{Op, TypeData};

use crate::checks::{Check, Index};
use crate::facts::noise::contract::{self, Contract, ValueSide};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Severity};

pub(in crate::checks) const CHECK: Check = Check {
    code: "invalid-contract",
    header: header!("invalid_contract.rs"),
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, budget) = (program.ir(), program.model().budget);
    let mut ranges = contract::ContractRanges::new(program.source());
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &function in &index.contract_functions {
        for (side, index, stated) in contract::all(ir, function) {
            let message = match stated {
                Contract::Bound(_) if is_noiseless_number(program, function, side, index) => {
                    let ty = contract::signature_types(ir, function, side)[index];
                    let ty = ir.interner.type_text(ty);
                    let message =
                        format!("{} has no effect on a value of type {ty}", contract::NAME);
                    let mut it = CHECK.diagnostic_at(ranges.of(function, side, index), message);
                    it.severity = Severity::Hint;
                    it.help = Some("Remove it, or declare it for a ciphertext".into());
                    out.push(it);
                    continue;
                }
                Contract::Bound(bound) if bound <= budget => continue,
                Contract::Bound(bound) => {
                    let over = bound - budget;
                    format!(
                        "the declared bound of {bound} bits is {over} over the {budget}-bit budget"
                    )
                }
                Contract::Invalid => {
                    format!("{} is not an integer from 0 to {budget} (bits)", contract::NAME)
                }
            };
            let mut it = CHECK.diagnostic_at(ranges.of(function, side, index), message);
            it.help = Some(format!("Write {} = {budget} : i64, or less", contract::NAME));
            out.push(it);
        }
    }
}

/// Returns true for a built-in number type that carries no noise in the noise model.
fn is_noiseless_number(program: &Program, function: Op, side: ValueSide, index: usize) -> bool {
    let interner = &program.ir().interner;
    let Some(&ty) = contract::signature_types(program.ir(), function, side).get(index) else {
        return false;
    };
    let is_number = matches!(
        interner.type_data(ty),
        TypeData::Int { .. } | TypeData::Index | TypeData::Float(_)
    );
    is_number && !program.model().is_noisy(interner, ty)
}
