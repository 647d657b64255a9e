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

use super::chain::related;
use super::level_underflow::bootstrapping;
use crate::checks::{Check, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Related, Severity};
use noisy_dataflow::flow;
use noisy_heir::{Heir, Placed, Question, Recursion, Unsettled};

pub(in crate::checks) const CHECK: Check = Check {
    code: "varying-level",
    header: header!("varying_level.rs"),
    run: check,
    ..Check::WARNING
};

/// Returns the use of levels in a function without modulus switches; `None` for other functions.
fn unswitched(program: &Program, heir: &Heir, function: Op) -> Option<Question> {
    let placed = Placed::Bootstrap(u32::MAX);
    let options = program.model().heir;
    let ir = program.ir();
    let crossing = |_| Err(String::new());
    let question =
        noisy_heir::question(ir, heir, function, placed, options, &|_| 1, &crossing).ok()?;
    (!question.is_managed).then_some(question)
}

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    let mut asked: FxHashMap<Op, Option<Question>> = FxHashMap::default();
    for it in sites.varying(ir, heir) {
        // Before HEIR has placed modulus switches, the levels that products will use are counted.
        let question = ir.function_of(it.op).and_then(|function| {
            let ask = || unswitched(program, heir, function);
            asked.entry(function).or_insert_with(ask).as_ref()
        });
        if question.is_some_and(|question| question.keeps(it.init, it.yielded)) {
            continue;
        }
        let (init, yielded) = (ir.value_text(it.init), ir.value_text(it.yielded));
        let message = format!(
            "{yielded}: passed to the next iteration at another level than {init}, which has used {}",
            it.from
        );
        let mut found = CHECK.at(value_range(ir, it.yielded), message);
        if it.is_refused {
            found.severity = Severity::Error;
        }
        found.related = related(program, heir, it.yielded, noisy_heir::NumberKind::Level);
        let message = format!("{init} enters the loop");
        found.related.push(Related { range: value_range(ir, it.init), message });
        let carried = it.carried.map_or_else(|| "the carried value".into(), |it| ir.value_text(it));
        found.help =
            Some(format!("Bootstrap {carried} at the start of each iteration, or unroll the loop"));
        found.repair = bootstrapping(program);
        out.push(found);
    }
    out.extend(sites.recursions(ir, heir).into_iter().map(|it| recursive(program, it)));
}

/// Reports a recursive call.
fn recursive(program: &Program, it: Recursion) -> Diagnostic {
    let ir = program.ir();
    let Recursion { op, value, why } = it;
    let called = flow::callee(ir, op).map_or(String::new(), |it| program.function_name(it));
    let name = ir.value_text(value);
    let (range, message) = match why {
        Unsettled::Passed => (
            core_range(ir, op),
            format!("{name}: each recursive call of @{called} gets a different level"),
        ),
        Unsettled::Given => (
            value_range(ir, value),
            format!("{name}: each recursive call of @{called} returns a different level"),
        ),
        Unsettled::Endless => (
            value_range(ir, value),
            format!("{name}: @{called} calls itself before it returns, so its result has no level"),
        ),
    };
    let mut found = CHECK.at(range, message);
    found.repair = bootstrapping(program);
    found.help = Some(match why {
        Unsettled::Endless => "Return without a call in some case, or write a loop".into(),
        _ => "Bootstrap the passed values to one level, or write a loop".into(),
    });
    found
}
