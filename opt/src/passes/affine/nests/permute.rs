//! `test-loop-permutation`: permutes perfectly nested loops, if that is legal.

use noisy_syntax::{Ir, Op};

use crate::passes::affine::for_loop::{AffineFor, perfect_nest, set_bounds};
use crate::passes::affine::legal;
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns::affine::maps::AppliedMap;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "test-loop-permutation",
    class: "TestLoopPermutation",
    anchor: Some("func.func"),
    summary: "Tests affine loop permutation utility",
    options: &[OptionInfo {
        name: "permutation-map",
        default: "",
        kind: OptionKind::Ints,
        summary: "Specify the loop permutation",
    }],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    // The new position of each loop.
    let places = options.ints("permutation-map");
    let n = places.len();
    let mut order = vec![usize::MAX; n];
    for (at, &place) in places.iter().enumerate() {
        match usize::try_from(place).ok().filter(|it| *it < n && order[*it] == usize::MAX) {
            Some(place) => order[place] = at,
            None => {
                return Err(PassFailure(Some("permutation-map is not a permutation".to_owned())));
            }
        }
    }
    let body = legal::body_of(cx.ir, op);
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    for root in outermost(cx.ir, op) {
        let nest = perfect_nest(cx.ir, root);
        if nest.len() != n || n < 2 || !is_rectangular(cx.ir, &nest) {
            continue;
        }
        let band: Option<Vec<u32>> = nest.iter().map(|it| legality.loop_of(it.op)).collect();
        if band.is_some_and(|band| legality.check_permutation(&band, &order).is_ok()) {
            permute(cx.ir, &nest, &order);
        }
    }
    Ok(())
}

/// Returns the `affine.for` loops in the regions of an op, without nested ones.
pub(crate) fn outermost(ir: &Ir, op: Op) -> Vec<Op> {
    let mut out = Vec::new();
    for &(_, region) in &ir.op(op).regions {
        out.extend(ir.items(region).filter(|&it| AffineFor::of(ir, it).is_some()));
    }
    out
}

/// Returns true if no bound of a loop depends on the variable of another loop of the nest, and no
/// loop has `iter_args`.
pub(crate) fn is_rectangular(ir: &Ir, nest: &[AffineFor]) -> bool {
    nest.iter().all(|it| {
        let reads = |bound: &AppliedMap| {
            let tidy = bound.canonical(ir);
            let reads = nest.iter().any(|other| tidy.operands.contains(&other.iv));
            // Values that are computed in the nest may depend on its variables.
            reads
                || !nest.iter().all(|other| {
                    let region = ir.block(other.body).region;
                    bound
                        .operands
                        .iter()
                        .all(|&value| noisy_analyses::facts::effects::is_outside(ir, value, region))
                })
        };
        it.inits.is_empty() && !reads(&it.lower) && !reads(&it.upper)
    })
}

/// Permutes loops: position k gets the loop `order[k]`. The ops stay in place; their bounds, steps
/// and variables are exchanged.
pub(crate) fn permute(ir: &mut Ir, nest: &[AffineFor], order: &[usize]) {
    // Replace each use of a variable by the variable at the new position of its loop.
    let uses: Vec<Vec<(Op, u32)>> = nest.iter().map(|it| ir.value(it.iv).uses.to_vec()).collect();
    for (place, &from) in order.iter().enumerate() {
        for &(user, at) in &uses[from] {
            ir.set_operand(user, at as usize, nest[place].iv);
        }
    }
    for (place, &from) in order.iter().enumerate() {
        let it = &nest[from];
        set_bounds(ir, &nest[place], &it.lower, &it.upper, it.step);
    }
}
