//! `test-memref-dependence-check`: says of each two accesses, at each level, how far apart the iterations are that depend on each other.
//!
//! The words are upstream's, the answers exact; of what is not known it says `unknown`.

use noisy_loops::{Body, Dependences, Interval, Limits, dependences};
use noisy_syntax::{Op, OpKind};

use crate::passes::{Context, Failure, Options, PassInfo};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "test-memref-dependence-check",
    class: "TestMemRefDependenceCheck",
    anchor: Some("func.func"),
    summary: "Checks dependences between all pairs of memref accesses.",
    options: &[],
    run,
}];

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let mut functions = vec![op];
    if cx.ir.op(op).kind != OpKind::FuncFunc {
        functions.clear();
        for &(_, region) in &cx.ir.op(op).regions {
            cx.ir.walk(region, &mut |it| {
                if cx.ir.op(it).kind == OpKind::FuncFunc {
                    functions.push(it);
                }
            });
        }
    }
    for function in functions {
        let body = Body::new(cx.ir, function);
        let found = dependences(&body, &Limits::default());
        let is_affine =
            |it: Op| matches!(cx.ir.op(it).kind, OpKind::AffineLoad | OpKind::AffineStore);
        let accesses: Vec<usize> =
            (0..body.accesses.len()).filter(|&it| is_affine(body.accesses[it].op)).collect();
        let paths: Vec<Vec<u32>> =
            body.accesses.iter().map(|it| body.loops_around(it.scope)).collect();
        let mut lines = Vec::new();
        for (i, &source) in accesses.iter().enumerate() {
            for (j, &target) in accesses.iter().enumerate() {
                let both = paths[source].iter().zip(&paths[target]);
                let n = both.take_while(|(a, b)| a == b).count();
                for level in 1..=n + 1 {
                    let answer = answer(&found, (source, target), level, n);
                    let text = format!("dependence from {i} to {j} at depth {level} = {answer}");
                    lines.push((body.accesses[source].op, text));
                }
            }
        }
        for (op, text) in lines {
            cx.remark(op, &text);
        }
    }
    Ok(())
}

fn answer(
    found: &Dependences,
    (source, target): (usize, usize),
    level: usize,
    n_common: usize,
) -> String {
    let pair = (source.min(target), source.max(target));
    if found.unknown.iter().any(|it| (it.source, it.target) == pair) {
        return "unknown".to_owned();
    }
    let known = found.known.iter();
    let mut known = known.filter(|it| (it.source, it.target, it.level) == (source, target, level));
    match known.next() {
        None => "false".to_owned(),
        Some(_) if level > n_common => "true".to_owned(),
        Some(it) => it.distance.iter().map(interval).collect(),
    }
}

fn interval(it: &Interval) -> String {
    let end = |it: Option<i128>, none: &str| it.map_or(none.to_owned(), |it| it.to_string());
    format!("[{}, {}]", end(it.least, "-inf"), end(it.greatest, "+inf"))
}
