//! `test-memref-dependence-check`: reports the dependence distances of each pair of accesses at
//! each level.
//!
//! The messages are those of MLIR, the distances are exact. Pairs that cannot be analyzed are
//! `unknown`.

use noisy_loops::{
    Dependence, DependenceLimits, Dependences, FormInterval, FunctionBody, MAX_PAIRED_ACCESSES,
    dependences,
};
use noisy_syntax::{Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "test-memref-dependence-check",
    class: "TestMemRefDependenceCheck",
    anchor: Some("func.func"),
    summary: "Checks dependences between all pairs of memref accesses.",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
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
        let body = FunctionBody::new(cx.ir, function);
        let n = body.accesses.len();
        if n > MAX_PAIRED_ACCESSES {
            let text = format!(
                "{n} accesses: pairs are printed only up to {MAX_PAIRED_ACCESSES} accesses"
            );
            return Err(PassFailure(Some(text)));
        }
        let limits = DependenceLimits { aliasing: cx.aliasing, ..DependenceLimits::default() };
        let found = DependencesByLevel::new(dependences(&body, &limits));
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

/// The dependences by source, target and level, and the unknown pairs.
struct DependencesByLevel {
    known: FxHashMap<(usize, usize, usize), Dependence>,
    unknown: FxHashSet<(usize, usize)>,
}

impl DependencesByLevel {
    fn new(it: Dependences) -> Self {
        let mut known = FxHashMap::default();
        for it in it.known {
            known.entry((it.source, it.target, it.level)).or_insert(it);
        }
        let unknown = it.unknown.iter().map(|it| (it.source, it.target)).collect();
        Self { known, unknown }
    }
}

fn answer(
    found: &DependencesByLevel,
    (source, target): (usize, usize),
    level: usize,
    n_common: usize,
) -> String {
    if found.unknown.contains(&(source.min(target), source.max(target))) {
        return "unknown".to_owned();
    }
    match found.known.get(&(source, target, level)) {
        None => "false".to_owned(),
        Some(_) if level > n_common => "true".to_owned(),
        Some(it) => it.distance.iter().map(interval).collect(),
    }
}

fn interval(it: &FormInterval) -> String {
    let end = |it: Option<i128>, none: &str| it.map_or(none.to_owned(), |it| it.to_string());
    format!("[{}, {}]", end(it.least, "-inf"), end(it.greatest, "+inf"))
}
