//! The values that a value is computed from.

use noisy_syntax::{Ir, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::ops::rules;
use noisy_dataflow::flow;

/// Returns the values that a value is computed from or fed by, each once.
pub fn source_values(ir: &Ir, value: Value) -> SmallVec<[Value; 4]> {
    let mut out: SmallVec<[Value; 4]> = SmallVec::new();
    match ir.defining_op(value) {
        Some(op) if ir.op(op).regions.is_empty() => {
            out.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
        }
        _ => {}
    }
    out.extend(flow::feeding_values(ir, value).into_iter().map(|it| it.1));
    out.sort_unstable();
    out.dedup();
    out
}

/// Returns true if the number of polynomials of a value depends on an op of `linalg`, whose results
/// have no polynomials in HEIR: it does not look into ops with regions. *Cost.* The values that the
/// value is computed from, up to a bound.
pub fn is_derived_from_linalg(ir: &Ir, value: Value) -> bool {
    const MOST: usize = 10_000;
    let mut seen = FxHashSet::default();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        let name = ir.defining_op(value).map_or("", |it| ir.op_name(it));
        if name.starts_with("linalg.") || seen.len() > MOST {
            return true;
        }
        if rules::dimension_rule(name) != Some(rules::DimensionRule::Relinearize) {
            stack.extend(source_values(ir, value));
        }
    }
    false
}
