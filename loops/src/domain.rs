//! Queries about iteration domains.
//!
//! *Law.* The answer "true" holds for all values of the symbols. The answer is "false" if the
//! budget is spent, and may be "false" if a scope is unknown. *Cost.* An emptiness test for each
//! conjunction of the constraints and each form.

use noisy_polyhedra::{Budget, Conjunction};

use crate::body::joint::JointSystem;
use crate::body::{Constraint, FunctionBody};
use crate::form::{LinearForm, NotAffine};

/// Maximum work for one query, in machine words (see [`Budget`]).
const MAX_WORK: u64 = 2_000_000;

/// Returns true if a loop has at least one iteration whenever it is executed.
pub fn is_surely_run(body: &FunctionBody, loop_: u32) -> bool {
    let it = &body.loops[loop_ as usize];
    let (Some(lower), Some(upper)) = (&it.lower, &it.upper) else { return false };
    let Some(scope) = body.scope_of_loop(loop_) else { return false };
    let Some(pieces) = body.conjunctions(body.scopes[scope as usize].parent) else { return false };
    let mut never = lower.iter().flat_map(|low| upper.iter().map(move |high| (low, high)));
    it.step.is_some_and(|it| it > 0)
        && never.all(|(low, high)| {
            // The loop has no iteration if high <= low.
            low.plus(high, -1).is_ok_and(|form| is_negative(body, &pieces, &form))
        })
}

/// Returns true if the subscripts of an access are within the sizes, also without the constraints
/// of the loop `without`.
pub fn is_in_bounds_without(
    body: &FunctionBody,
    access: usize,
    without: u32,
    sizes: &[i128],
) -> bool {
    let it = &body.accesses[access];
    let Ok(element) = &it.subscripts else { return false };
    let Some(pieces) = body.conjunctions_without(it.scope, Some(without)) else { return false };
    element.len() == sizes.len()
        && element.iter().zip(sizes).all(|(form, &size)| {
            let below = form.times(-1).and_then(|it| it.offset(-1));
            let above = size.checked_neg().ok_or(NotAffine).and_then(|it| form.offset(it));
            [below, above]
                .iter()
                .all(|it| it.as_ref().is_ok_and(|form| is_negative(body, &pieces, form)))
        })
}

/// Returns true if a form is negative at all points; false also if the budget is spent first.
fn is_negative(body: &FunctionBody, pieces: &[Vec<&Constraint>], form: &LinearForm) -> bool {
    let mut budget = Budget::new(MAX_WORK);
    pieces.iter().all(|piece| {
        let points = points(body, piece, form);
        points.is_some_and(|it| matches!(it.is_empty(&mut budget), Ok(true)))
    })
}

/// Returns the points that satisfy all constraints and at which a form is at least 0.
fn points(body: &FunctionBody, piece: &[&Constraint], form: &LinearForm) -> Option<Conjunction> {
    let mut joint = JointSystem::new(body, &[]);
    joint.add_domain(0, piece)?;
    joint.add_constraint(&[(0, form, 1)], 0, false)?;
    joint.conjunction()
}

#[cfg(test)]
mod tests {
    use noisy_syntax::Source;

    use super::*;

    fn loops(text: &str) -> Vec<bool> {
        let text = format!("func.func @f(%A: memref<10xf32>, %n: index) {{\n{text}\nreturn\n}}\n");
        let source = Source::new(&text);
        let ir = source.ir();
        let body = FunctionBody::new(ir, ir.functions()[0]);
        (0..body.loops.len()).map(|it| is_surely_run(&body, it as u32)).collect()
    }

    #[test]
    fn loops_that_surely_run() {
        let min = "affine.for %i = 0 to 16 {
            affine.for %j = 0 to min affine_map<(d0) -> (64, d0 * -64 + 1020)>(%i) { } }";
        assert_eq!(loops(min), [true, true]);
        // In the last iteration 17 * -64 + 1020 is below 0.
        assert_eq!(loops(&min.replace("0 to 16", "0 to 18")), [true, false]);
        assert_eq!(loops("affine.for %i = 0 to %n { affine.for %j = 0 to 3 { } }"), [false, true]);
        // If the outer loop has an iteration, so has the inner loop.
        let inner = "affine.for %i = 3 to %n { affine.for %j = 2 to %n { } }";
        assert_eq!(loops(inner), [false, true]);
        let guarded = "affine.for %i = 0 to 9 { affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
            affine.for %j = 3 to affine_map<(d0) -> (d0)>(%i) { } } }";
        assert_eq!(loops(guarded), [true, true]);
        assert_eq!(loops(&guarded.replace("%j = 3", "%j = 4")), [true, false]);
        assert_eq!(loops("affine.for %i = 5 to 5 { }"), [false]);
    }

    #[test]
    fn finds_accesses_that_stay_inside_without_their_loop() {
        let inside = |subscript: &str| {
            let text = format!(
                "func.func @f(%A: memref<10xf32>, %n: index) {{
                affine.for %i = 2 to 8 {{ affine.for %j = 0 to %n {{
                    %x = affine.load %A[{subscript}] : memref<10xf32>
                }} }}
                return }}"
            );
            let source = Source::new(&text);
            let ir = source.ir();
            let body = FunctionBody::new(ir, ir.functions()[0]);
            is_in_bounds_without(&body, 0, 1, &[10])
        };
        assert!(inside("%i + 2") && inside("%i - 2") && inside("9") && inside("%i mod 4"));
        assert!(!inside("%i + 3") && !inside("%i - 3") && !inside("10") && !inside("-1"));
        // Without the constraints of the inner loop, its variable may be any integer.
        assert!(!inside("%j mod 11"));
        assert!(inside("%j mod 10"));
    }
}
