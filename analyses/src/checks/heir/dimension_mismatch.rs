//! dimension-mismatch: the number of polynomials in `mgmt.mgmt` is wrong
//!
//! HEIR writes the number of polynomials of a ciphertext into `mgmt.mgmt`, unless it is two. The
//! number follows from the ops: a product of two ciphertexts with `m` and `n` polynomials has
//! `m + n - 1`, and the result of `mgmt.relinearize` has two. The number later becomes part of the
//! type of the ciphertext. The number two is not reported in functions that HEIR has not
//! relinearized yet.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!   %0 = secret.generic(%x: !secret.secret<i16>) {
//!   ^body(%a: i16):
//!     %1 = arith.muli %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16   // has 3
//!     %2 = mgmt.relinearize %1 {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
//!     secret.yield %2 : i16
//!   } -> (!secret.secret<i16>)
//!   return %0 : !secret.secret<i16>
//! }
//! ```
//!
//! The fix writes the inferred number.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!   %0 = secret.generic(%x: !secret.secret<i16>) {
//!   ^body(%a: i16):
//!     %1 = arith.muli %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = 3>} : i16
//!     %2 = mgmt.relinearize %1 {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
//!     secret.yield %2 : i16
//!   } -> (!secret.secret<i16>)
//!   return %0 : !secret.secret<i16>
//! }
//! ```

use noisy_syntax::Op;

use super::chain::chain_locations;
use super::level_mismatch::{WrongAnnotations, annotated_range};
use crate::checks::{Check, FixFunction, Index};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, TextEdit};
use noisy_heir::{AnnotationPlaces, DimensionMismatch, NumberKind};

pub(in crate::checks) const CHECK: Check = Check {
    code: "dimension-mismatch",
    header: header!("dimension_mismatch.rs"),
    run: check,
    fix: Some(FixFunction::Together(fix)),
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    let mut places = AnnotationPlaces::new(program.source());
    for DimensionMismatch { value, holder, written, dimension } in
        sites.dimension_mismatches(ir, heir)
    {
        if noisy_heir::is_derived_from_linalg(ir, value) {
            continue;
        }
        let name = ir.value_text(value);
        let message = match written {
            Some(written) => {
                format!(
                    "{name}: dimension {written} is written, but it has {dimension} polynomials"
                )
            }
            None => format!(
                "{name}: no dimension is written, which means 2, but it has {dimension} polynomials"
            ),
        };
        let mut found =
            CHECK.diagnostic_at(annotated_range(&mut places, ir, holder, value), message);
        found.related = chain_locations(program, heir, value, NumberKind::Dimension);
        found.help =
            Some("Write the number of polynomials, or let HEIR annotate the program again".into());
        out.push(found);
    }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let Some(sites) = program.sites() else { return vec![None; diagnostics.len()] };
    let of = |op: Op| sites.dimension_mismatches_of(op).to_vec();
    let mut wrong = WrongAnnotations::new(program, &of, |it| (it.holder, it.value));
    let fix = |it: &&Diagnostic| {
        let it = wrong.at(&it.range)?;
        let place = wrong.places.place_of(it.holder)?;
        let number = it.dimension.to_string();
        let (range, text) = match place.entry("dimension") {
            // HEIR omits the dimension 2.
            Some(entry) if it.dimension == 2 => (entry.with_comma.clone()?, String::new()),
            Some(entry) => (entry.value_range.clone(), number),
            None => {
                let at = place.entry("level")?.value_range.end;
                (at..at, format!(", dimension = {number}"))
            }
        };
        Some(Fix {
            title: format!("Write dimension {}", it.dimension),
            applicability: Applicability::Safe,
            edits: vec![TextEdit { range, text }],
        })
    };
    diagnostics.iter().map(fix).collect()
}
