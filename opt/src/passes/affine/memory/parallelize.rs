//! `affine-parallelize`: converts loops with independent iterations to `affine.parallel`.
//!
//! *Law.* In a converted loop, no iteration writes an element that another iteration accesses, and
//! no op has other effects. A loop that carries values is not converted, unless all are reductions
//! and `parallel-reductions` allows to reorder them.

use noisy_loops::{FunctionBody, Legality};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{
    Attr, AttrData, Def, Dim, Ir, Op, OpKind, Sign, Type, TypeData, Value, dialect,
};

use crate::passes::affine::for_loop::{AffineFor, map_attr};
use crate::passes::affine::legal;
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::{operands, preorder};
use noisy_analyses::facts::effects;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-parallelize",
    class: "AffineParallelize",
    anchor: Some("func.func"),
    summary: "Convert affine.for ops into 1-D affine.parallel",
    options: &[
        OptionInfo {
            name: "max-nested",
            default: "4294967295",
            kind: OptionKind::Int,
            summary: "Maximum number of nested parallel loops to produce.",
        },
        OptionInfo {
            name: "parallel-reductions",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Whether to parallelize reduction loops.",
        },
    ],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let most = options.int("max-nested").unwrap_or(i64::MAX);
    // Unlike in other passes, unknown ops are assumed to have effects.
    let body = FunctionBody::new(cx.ir, op);
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    let mut all = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        all.extend(preorder(cx.ir, region));
    }
    for op in all {
        let Some(it) = AffineFor::of(cx.ir, op) else { continue };
        let reductions = reductions(cx.ir, &it)
            .filter(|found| found.is_empty() || options.is_on("parallel-reductions"));
        let Some(reductions) = reductions else { continue };
        if n_parallel_around(cx.ir, op) < most && is_parallel(cx.ir, &legality, &it) {
            to_parallel(cx.ir, &it, &reductions);
        }
    }
    Ok(())
}

fn n_parallel_around(ir: &Ir, op: Op) -> i64 {
    let around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it));
    around.filter(|&it| ir.op(it).kind == OpKind::AffineParallel).count() as i64
}

/// Returns true if the iterations may run in parallel, apart from carried values.
fn is_parallel(ir: &Ir, legality: &Legality<'_>, it: &AffineFor) -> bool {
    let inside = preorder(ir, ir.block(it.body).region);
    let is_known = inside.iter().all(|&op| match ir.op(op).kind {
        OpKind::AffineLoad
        | OpKind::AffineStore
        | OpKind::AffineVectorLoad
        | OpKind::AffineVectorStore => true,
        kind if !kind.is_op() => true,
        _ => effects::accesses(ir, op)
            .is_some_and(|it| it.iter().all(|it| it.0 == effects::Access::Allocate)),
    });
    let loop_ = legality.loop_of(it.op);
    is_known && loop_.is_some_and(|loop_| legality.check_parallel(loop_).is_ok())
}

/// A carried value that each iteration combines with another value, by `op`.
struct Reduction {
    op: Op,
    /// The value that the iteration contributes.
    value: Value,
    /// The kind of reduction, as an index into [`dialect::RMW_KINDS`].
    kind: usize,
}

/// Returns the reductions of the carried values. `None` if a value is not a reduction.
fn reductions(ir: &Ir, it: &AffineFor) -> Option<Vec<Reduction>> {
    let yielded = operands(ir, it.terminator(ir));
    let carried = it.iter_args(ir);
    carried.iter().zip(&yielded).map(|(&carried, &next)| reduction(ir, it, carried, next)).collect()
}

fn reduction(ir: &Ir, it: &AffineFor, carried: Value, next: Value) -> Option<Reduction> {
    let Def::Result(op, _) = ir.value(next).def else { return None };
    let is_float = matches!(ir.interner.type_data(ir.value(next).ty), TypeData::Float(_));
    let is_int = matches!(ir.interner.type_data(ir.value(next).ty), TypeData::Int { .. });
    let name = match ir.op(op).kind {
        OpKind::ArithAddf if is_float => "addf",
        OpKind::ArithMulf if is_float => "mulf",
        OpKind::ArithMaximumf if is_float => "maximumf",
        OpKind::ArithMinimumf if is_float => "minimumf",
        OpKind::ArithAddi if is_int => "addi",
        OpKind::ArithMuli if is_int => "muli",
        OpKind::ArithOri if is_int => "ori",
        OpKind::ArithAndi if is_int => "andi",
        _ => return None,
    };
    let both = operands(ir, op);
    let value = match both[..] {
        [a, b] if a == carried && b != carried => b,
        [a, b] if b == carried && a != carried => a,
        _ => return None,
    };
    let is_alone = ir.value(carried).uses.len() == 1 && ir.value(next).uses.len() == 1;
    (is_alone && ir.block_of(op) == it.body).then_some(())?;
    let kind = dialect::RMW_KINDS.iter().position(|it| *it == name)?;
    Some(Reduction { op, value, kind })
}

fn to_parallel(ir: &mut Ir, it: &AffineFor, reductions: &[Reduction]) {
    let types: Vec<Type> = it.inits.iter().map(|&it| ir.value(it).ty).collect();
    let n_bounds = |map: &noisy_syntax::affine::Affine| map.n_results();
    let (low, high) = (n_bounds(&it.lower.map), n_bounds(&it.upper.map));
    let kinds: Vec<i64> = reductions.iter().map(|it| it.kind as i64).collect();
    let new = NewOp::new("affine.parallel")
        .operands(&it.lower.operands)
        .operands(&it.upper.operands)
        .results(&types)
        .attr("lowerBoundsGroups", group_attr(ir, low))
        .attr("lowerBoundsMap", map_attr(ir, &it.lower.map))
        .attr("reductions", int_array_attr(ir, &kinds))
        .attr("steps", int_array_attr(ir, &[it.step]))
        .attr("upperBoundsGroups", group_attr(ir, high))
        .attr("upperBoundsMap", map_attr(ir, &it.upper.map));
    let parallel = ir.insert(new, InsertionPoint::Before(it.op));
    ir.move_regions(it.op, parallel);
    // Each iteration yields its contribution. The initial value is combined with the result after
    // the loop.
    let end = it.terminator(ir);
    let brought: Vec<Value> = reductions.iter().map(|it| it.value).collect();
    ir.set_operands(end, &brought);
    let results = ir.op(parallel).results.clone();
    let old = ir.op(it.op).results.clone();
    for (at, reduction) in reductions.iter().enumerate() {
        let new = NewOp::new(ir.op_name(reduction.op)).operands(&[it.inits[at], results[at]]);
        let mut new = new.results(&[types[at]]);
        for &(name, attr) in &ir.extra(reduction.op).attrs {
            new = new.attr(ir.interner.str(name), attr);
        }
        let sum = ir.insert(new, InsertionPoint::Before(it.op));
        let sum = ir.op(sum).results[0];
        ir.replace_uses(old[at], sum);
        ir.erase(reduction.op).expect("the end of the iteration was its only user");
    }
    for at in (1..=reductions.len()).rev() {
        ir.erase_argument(it.body, at).expect("the reduction was its only user");
    }
    ir.erase(it.op).expect("its results were replaced");
}

/// Returns `dense<n> : tensor<1xi32>`.
fn group_attr(ir: &mut Ir, n: usize) -> Attr {
    let element = ir.interner.intern_type(TypeData::Int { width: 32, sign: Sign::Signless });
    let dims = Some([Dim::Fixed(1)].into());
    let ty = ir.interner.intern_type(TypeData::Tensor { dims, element, encoding: None });
    let text = ir.interner.intern_name(&format!("dense<{n}>"));
    ir.interner.intern_attr(AttrData::Elements(text, ty))
}

/// Returns an array of 64-bit numbers.
fn int_array_attr(ir: &mut Ir, values: &[i64]) -> Attr {
    let int = |ir: &mut Ir, it: i64| {
        ir.interner.intern_attr(AttrData::Int { value: it.into(), ty: Type::I64 })
    };
    let all = values.iter().map(|&it| int(ir, it)).collect();
    ir.interner.intern_attr(AttrData::Array(all))
}
