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

use super::chain::related;
use crate::checks::{Check, Fixing, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, TextEdit};
use noisy_heir::{Holder, Mismatch, NumberKind, Places, entry_faults};

pub(in crate::checks) const CHECK: Check = Check {
    code: "level-mismatch",
    header: header!("level_mismatch.rs"),
    run: check,
    fix: Some(Fixing::Together(fix)),
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for op in sites.unreadable(ir) {
        // Another check reports mistakes in the entries.
        if !noisy_heir::lacks_level(ir, op) || !entry_faults(program.source(), op).is_empty() {
            continue;
        }
        let message = "`mgmt.mgmt` has no level that can be read";
        let mut found = CHECK.at(core_range(ir, op), message.to_owned());
        found.help = Some(
            "Write it as `#mgmt.mgmt<level = 2>`, or let HEIR annotate the program again".into(),
        );
        out.push(found);
    }
    let mut places = Places::new(program.source());
    for it in sites.mismatches(ir, heir) {
        let Mismatch { value, holder, written, used, all } = it;
        let name = ir.value_text(value);
        let message = match all.checked_sub(used) {
            Some(left) => {
                format!(
                    "{name}: level {written} is written, but {left} remain: {used} of {all} levels are used"
                )
            }
            None => format!("{name}: level {written} is written, but all {all} levels are used"),
        };
        let mut found = CHECK.at(annotated_range(&mut places, ir, holder, value), message);
        found.related = related(program, heir, value, NumberKind::Level);
        found.help =
            Some("Write the remaining level, or let HEIR annotate the program again".into());
        out.push(found);
    }
}

/// Returns the range at which a wrong annotation is reported: that of the value, or that of the
/// annotation if its op has several annotations or regions.
pub(in crate::checks) fn annotated_range(
    places: &mut Places<'_>,
    ir: &Ir,
    holder: Holder,
    value: Value,
) -> Range<usize> {
    places.apart(holder).unwrap_or_else(|| value_range(ir, value))
}

/// Wrong annotations by the range at which they are reported, computed on request.
pub(in crate::checks) struct WrongAnnotations<'a, T> {
    ir: &'a Ir,
    /// Finds the ranges of annotations.
    pub(in crate::checks) places: Places<'a>,
    of: &'a dyn Fn(Op) -> Vec<T>,
    holder: fn(&T) -> (Holder, Value),
    /// Cache: the annotations by the op that holds them and by range; `None` if several are
    /// reported at one range.
    known: FxHashMap<Op, FxHashMap<Range<usize>, Option<T>>>,
}

impl<'a, T: Copy> WrongAnnotations<'a, T> {
    /// Creates the table. `of` finds the wrong annotations of an op; `holder` returns the holder
    /// and the value of an annotation.
    pub(in crate::checks) fn new(
        program: &'a Program,
        of: &'a dyn Fn(Op) -> Vec<T>,
        holder: fn(&T) -> (Holder, Value),
    ) -> Self {
        let places = Places::new(program.source());
        Self { ir: program.ir(), places, of, holder, known: FxHashMap::default() }
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
        let Self { ir, places, of, holder, known } = self;
        known.entry(op).or_insert_with(|| {
            let mut out: FxHashMap<Range<usize>, Option<T>> = FxHashMap::default();
            for it in of(op) {
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
    let of = |op: Op| sites.mismatches_of(program.ir(), heir, op);
    let mut wrong = WrongAnnotations::new(program, &of, |it| (it.holder, it.value));
    let fix = |it: &&Diagnostic| {
        let it = wrong.at(&it.range)?;
        let left = it.all.checked_sub(it.used)?;
        let range = wrong.places.of(it.holder)?.entry("level")?.value.clone();
        Some(Fix {
            title: format!("Write level {left}"),
            applicability: Applicability::Safe,
            edits: vec![TextEdit { range, text: left.to_string() }],
        })
    };
    diagnostics.iter().map(fix).collect()
}
