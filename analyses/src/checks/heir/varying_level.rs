//! varying-level: a loop-carried ciphertext changes its level
//!
//! The level becomes part of the type of a ciphertext. So a loop must pass the same level to every
//! iteration; otherwise the carried value has no level. The passed value is reported. A recursive
//! function must also take and return the same level in every call. The call within the recursion
//! is reported.
//!
//! The loop is an error if HEIR lowers it next: the module has parameters, and the function has
//! modulus switches. Before that it is a warning, because HEIR may still unroll the loop.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!   %0 = secret.generic(%x: !secret.secret<f32>) {
//!   ^body(%a: f32):
//!     %1 = affine.for %i = 0 to 8 iter_args(%b = %a) -> (f32) {
//!       %2 = mgmt.modreduce %b : f32      // one level less in each iteration
//!       affine.yield %2 : f32
//!     }
//!     secret.yield %1 : f32
//!   } -> (!secret.secret<f32>)
//!   return %0 : !secret.secret<f32>
//! }
//! ```
//!
//! Bootstrap the carried value at the start of each iteration, and bring the initial value to the
//! level at the end of an iteration. HEIR does both when it places its `mgmt` ops. Or unroll the
//! loop.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!   %0 = secret.generic(%x: !secret.secret<f32>) {
//!   ^body(%a: f32):
//!     %c = mgmt.modreduce %a : f32
//!     %1 = affine.for %i = 0 to 8 iter_args(%b = %c) -> (f32) {
//!       %2 = mgmt.bootstrap %b : f32
//!       %3 = mgmt.modreduce %2 : f32
//!       affine.yield %3 : f32
//!     }
//!     secret.yield %1 : f32
//!   } -> (!secret.secret<f32>)
//!   return %0 : !secret.secret<f32>
//! }
//! ```

use noisy_syntax::Op;
use rustc_hash::FxHashMap;

use super::chain::chain_locations;
use super::level_underflow::bootstrap_repair;
use crate::checks::{Check, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation, Severity};
use noisy_dataflow::flow;
use noisy_heir::{CiphertextFacts, NoLevelReason, PlacedOp, PlacementProblem, RecursiveCall};

pub(in crate::checks) const CHECK: Check = Check {
    code: "varying-level",
    header: header!("varying_level.rs"),
    run: check,
    ..Check::WARNING
};

/// Returns the placement problem of a function without modulus switches, from which the levels of
/// its values follow; `None` for other functions.
fn unmanaged_problem(
    program: &Program,
    heir: &CiphertextFacts,
    function: Op,
) -> Option<PlacementProblem> {
    let placed = PlacedOp::Bootstrap(u32::MAX);
    let options = program.model().heir;
    let ir = program.ir();
    let crossing = |_| Err(String::new());
    let question =
        noisy_heir::placement_problem(ir, heir, function, placed, options, &|_| 1, &crossing)
            .ok()?;
    (!question.is_managed).then_some(question)
}

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    let mut asked: FxHashMap<Op, Option<PlacementProblem>> = FxHashMap::default();
    for it in sites.varying_levels(ir, heir) {
        // If HEIR has not placed modulus switches yet, each product counts as the use of a level.
        let question = ir.function_of(it.op).and_then(|function| {
            let ask = || unmanaged_problem(program, heir, function);
            asked.entry(function).or_insert_with(ask).as_ref()
        });
        if question.is_some_and(|question| question.is_invariant(it.init, it.yielded)) {
            continue;
        }
        let (init, yielded) = (ir.value_text(it.init), ir.value_text(it.yielded));
        let message = format!(
            "{yielded}: passed to the next iteration at another level than {init}, which has used {}",
            it.initial_levels
        );
        let mut found = CHECK.diagnostic_at(value_range(ir, it.yielded), message);
        if it.is_refused {
            found.severity = Severity::Error;
        }
        found.related = chain_locations(program, heir, it.yielded, noisy_heir::NumberKind::Level);
        let message = format!("{init} enters the loop");
        found.related.push(RelatedLocation { range: value_range(ir, it.init), message });
        let carried = it.carried.map_or_else(|| "the carried value".into(), |it| ir.value_text(it));
        found.help =
            Some(format!("Bootstrap {carried} at the start of each iteration, or unroll the loop"));
        found.repair = bootstrap_repair(program);
        out.push(found);
    }
    out.extend(sites.recursions(ir, heir).into_iter().map(|it| recursive(program, it)));
}

/// Reports a recursive call.
fn recursive(program: &Program, it: RecursiveCall) -> Diagnostic {
    let ir = program.ir();
    let RecursiveCall { op, value, reason: why } = it;
    let called = flow::callee(ir, op).map_or(String::new(), |it| program.function_name(it));
    let name = ir.value_text(value);
    let (range, message) = match why {
        NoLevelReason::Passed => (
            core_range(ir, op),
            format!("{name}: each recursive call of @{called} gets a different level"),
        ),
        NoLevelReason::Returned => (
            value_range(ir, value),
            format!("{name}: each recursive call of @{called} returns a different level"),
        ),
        NoLevelReason::Endless => (
            value_range(ir, value),
            format!("{name}: @{called} calls itself before it returns, so its result has no level"),
        ),
    };
    let mut found = CHECK.diagnostic_at(range, message);
    found.repair = bootstrap_repair(program);
    found.help = Some(match why {
        NoLevelReason::Endless => "Return without a call in some case, or write a loop".into(),
        _ => "Bootstrap the passed values to one level, or write a loop".into(),
    });
    found
}
