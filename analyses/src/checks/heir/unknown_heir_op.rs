//! unknown-heir-op: a HEIR op that is not in the catalogue
//!
//! The effects of ops on levels and polynomials are in a catalogue made from one version of HEIR.
//! An op of a HEIR dialect that is not in the catalogue is misspelled or from another version. Its
//! results, and the values computed from them, are unknown. Only the first such op in a file is
//! reported.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!   %0 = secret.generic(%x: !secret.secret<f32>) {
//!   ^body(%a: f32):
//!     %1 = mgmt.modreduce_twice %a : f32      // not in HEIR 2026.9.1
//!     secret.yield %1 : f32
//!   } -> (!secret.secret<f32>)
//!   return %0 : !secret.secret<f32>
//! }
//! ```
//!
//! Check the spelling. For ops of another HEIR version, use a version of noisy that supports it.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
//!   %0 = secret.generic(%x: !secret.secret<f32>) {
//!   ^body(%a: f32):
//!     %1 = mgmt.level_reduce %a {levelToDrop = 2 : i64} : f32
//!     secret.yield %1 : f32
//!   } -> (!secret.secret<f32>)
//!   return %0 : !secret.secret<f32>
//! }
//! ```

use crate::checks::{Check, Index};
use crate::facts::misspelling;
use crate::program::Program;
use crate::report::diagnostic::{Category, Diagnostic};

pub(in crate::checks) const CHECK: Check = Check {
    code: "unknown-heir-op",
    category: Category::Noise,
    header: header!("unknown_heir_op.rs"),
    run: check,
    ..Check::HINT
};

/// Maximum number of ops of a dialect that are listed.
const MAX_LISTED: usize = 16;

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, _, sites)) = index.sites_of(program) else { return };
    // `misspelled-name` reports names that are similar to a known one.
    let mut found = sites.unknown_heir_ops(ir);
    found.retain(|&it| misspelling::correction(ir.op_name(it), false).is_none());
    let Some(&first) = found.first() else { return };
    let (name, version) = (ir.op_name(first), noisy_heir::heir_version());
    let mut message = format!("HEIR {version} has no `{name}`; its effect on levels is unknown");
    match found.len() - 1 {
        0 => {}
        1 => message.push_str(", as is that of one op below"),
        more => message.push_str(&format!(", as is that of {more} ops below")),
    }
    let mut it = CHECK.diagnostic_at(ir.name_range(first), message);
    let dialect = name.split_once('.').map_or("", |it| it.0);
    let own = noisy_heir::heir_op_names()
        .filter(|it| it.split_once('.').is_some_and(|it| it.0 == dialect));
    let own: Vec<&str> = own.collect();
    if (1..=MAX_LISTED).contains(&own.len()) {
        it.help = Some(format!("HEIR's ops of `{dialect}`: {}", own.join(", ")));
    }
    out.push(it);
}
