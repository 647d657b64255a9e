//! level-mismatch: the level in `mgmt.mgmt` is wrong
//!
//! HEIR writes the remaining levels of a ciphertext into `mgmt.mgmt`. The used levels follow from
//! the ops, and the sum of used and remaining levels must be the same everywhere. The level later
//! becomes part of the type of the ciphertext. A `secret.generic` without `mgmt` ops has target
//! levels on its operands and results; they are not reported.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 2>} : tensor<8xf32>
//!     %2 = mgmt.modreduce %1 {mgmt.mgmt = #mgmt.mgmt<level = 3>} : tensor<8xf32>   // 1 is left
//!     %3 = arith.addf %2, %2 {mgmt.mgmt = #mgmt.mgmt<level = 1>} : tensor<8xf32>
//!     secret.yield %3 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```
//!
//! The fix writes the inferred level.
//!
//! ```mlir
//! func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!   %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!   ^body(%a: tensor<8xf32>):
//!     %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 2>} : tensor<8xf32>
//!     %2 = mgmt.modreduce %1 {mgmt.mgmt = #mgmt.mgmt<level = 1>} : tensor<8xf32>
//!     %3 = arith.addf %2, %2 {mgmt.mgmt = #mgmt.mgmt<level = 1>} : tensor<8xf32>
//!     secret.yield %3 : tensor<8xf32>
//!   } -> (!secret.secret<tensor<8xf32>>)
//!   return %0 : !secret.secret<tensor<8xf32>>
//! }
//! ```

use std::ops::Range;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::chain::chain_locations;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, TextEdit};
use noisy_heir::{AnnotationHolder, AnnotationPlaces, LevelMismatch, NumberKind, entry_faults};

pub(in crate::checks) const CHECK: Check = Check {
    code: "level-mismatch",
    header: header!("level_mismatch.rs"),
    run: check,
    fix: Some(FixFunction::Together(fix)),
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for op in sites.unreadable_levels(ir) {
        // Another check reports mistakes in the entries.
        if !noisy_heir::has_unreadable_level(ir, op)
            || !entry_faults(program.source(), op).is_empty()
        {
            continue;
        }
        let message = "`mgmt.mgmt` has no level that can be read";
        let mut found = CHECK.diagnostic_at(core_range(ir, op), message.to_owned());
        found.help = Some(
            "Write it as `#mgmt.mgmt<level = 2>`, or let HEIR annotate the program again".into(),
        );
        out.push(found);
    }
    let mut places = AnnotationPlaces::new(program.source());
    for it in sites.level_mismatches(ir, heir) {
        let LevelMismatch { value, holder, written, used, fresh_levels: all } = it;
        let name = ir.value_text(value);
        let message = match all.checked_sub(used) {
            Some(left) => {
                format!(
                    "{name}: level {written} is written, but {left} remain: {used} of {all} levels are used"
                )
            }
            None => format!("{name}: level {written} is written, but all {all} levels are used"),
        };
        let mut found =
            CHECK.diagnostic_at(annotated_range(&mut places, ir, holder, value), message);
        found.related = chain_locations(program, heir, value, NumberKind::Level);
        found.help =
            Some("Write the remaining level, or let HEIR annotate the program again".into());
        out.push(found);
    }
}

/// Returns the range at which a wrong annotation is reported: that of the value, or that of the
/// annotation if its op has several annotations or regions.
pub(in crate::checks) fn annotated_range(
    places: &mut AnnotationPlaces<'_>,
    ir: &Ir,
    holder: AnnotationHolder,
    value: Value,
) -> Range<usize> {
    places.separate_range(holder).unwrap_or_else(|| value_range(ir, value))
}

/// Wrong annotations by the range at which they are reported, computed on request.
pub(in crate::checks) struct WrongAnnotations<'a, T> {
    ir: &'a Ir,
    /// Finds the ranges of annotations.
    pub(in crate::checks) places: AnnotationPlaces<'a>,
    find_wrong: &'a dyn Fn(Op) -> Vec<T>,
    holder: fn(&T) -> (AnnotationHolder, Value),
    /// Cache: the annotations by the op that holds them and by range; `None` if several are
    /// reported at one range.
    known: FxHashMap<Op, FxHashMap<Range<usize>, Option<T>>>,
}

impl<'a, T: Copy> WrongAnnotations<'a, T> {
    /// Creates the table. `find_wrong` finds the wrong annotations of an op; `holder` returns the
    /// holder and the value of an annotation.
    pub(in crate::checks) fn new(
        program: &'a Program,
        find_wrong: &'a dyn Fn(Op) -> Vec<T>,
        holder: fn(&T) -> (AnnotationHolder, Value),
    ) -> Self {
        let places = AnnotationPlaces::new(program.source());
        Self { ir: program.ir(), places, find_wrong, holder, known: FxHashMap::default() }
    }

    /// Returns the wrong annotation that is reported at a range, if it is the only one.
    pub(in crate::checks) fn at(&mut self, range: &Range<usize>) -> Option<T> {
        let ir = self.ir;
        let op = ir.item_at(range.start);
        // The parent op of a label holds the annotations of its arguments.
        let holders = op.into_iter().chain(op.and_then(|it| ir.parent_op(it)));
        let mut found = holders.filter_map(|it| self.of(it).get(range).copied());
        found.next().filter(|_| found.next().is_none())?
    }

    fn of(&mut self, op: Op) -> &FxHashMap<Range<usize>, Option<T>> {
        let Self { ir, places, find_wrong, holder, known } = self;
        known.entry(op).or_insert_with(|| {
            let mut out: FxHashMap<Range<usize>, Option<T>> = FxHashMap::default();
            for it in find_wrong(op) {
                let (holder, value) = holder(&it);
                let range = annotated_range(places, ir, holder, value);
                out.entry(range).and_modify(|it| *it = None).or_insert(Some(it));
            }
            out
        })
    }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let (Some(heir), Some(sites)) = (program.heir(), program.sites()) else {
        return vec![None; diagnostics.len()];
    };
    let of = |op: Op| sites.level_mismatches_of(program.ir(), heir, op);
    let mut wrong = WrongAnnotations::new(program, &of, |it| (it.holder, it.value));
    let fix = |it: &&Diagnostic| {
        let it = wrong.at(&it.range)?;
        let left = it.fresh_levels.checked_sub(it.used)?;
        let range = wrong.places.place_of(it.holder)?.entry("level")?.value_range.clone();
        Some(Fix {
            title: format!("Write level {left}"),
            applicability: Applicability::Safe,
            edits: vec![TextEdit { range, text: left.to_string() }],
        })
    };
    diagnostics.iter().map(fix).collect()
}
