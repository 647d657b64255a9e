//! `affine-schedule`: reorders nests for better use of caches and vector units, if that is
//! profitable and provably equivalent.
//!
//! | step | file |
//! |---|---|
//! | statements of a nest, with domains and dependences | `nest.rs` |
//! | rows of a schedule, each from an integer program by Farkas' lemma | `farkas.rs` |
//! | bands and components; the exact check of each row against each dependence | `plan.rs` |
//! | estimates of the gain | `cost.rs`, `traffic.rs` |
//! | tiles, loops, bounds, guards | `scan.rs` |
//! | innermost loops in which each iteration depends on the previous one | `jam.rs` |
//! | output as ops, or as edits of the text | `emit.rs`, `text.rs` |
//!
//! *Law.* Dependent instances keep their order, so results are equal bit for bit. An unsupported
//! nest, or a nest without a better order, is not changed.

mod cost;
mod emit;
mod farkas;
mod jam;
mod nest;
mod plan;
mod scan;
mod text;
mod traffic;

use std::fmt::Write as _;

use noisy_loops::{FunctionBody, Legality, MAX_PAIRED_ACCESSES};
use noisy_syntax::{Ir, Op, OpKind};

use crate::diagnostics::offset_of;
use crate::passes::affine::legal;
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::nested_ops;
use nest::{StatementNest, read_nest};
use plan::{PlanNode, SchedulePlan};
use scan::ScheduleSizes;
pub use text::{best_schedule, is_nest_root};

const SMALL_LOOP: OptionInfo = OptionInfo {
    name: "small-loop",
    default: "8",
    kind: OptionKind::Int,
    summary: "Do not change innermost loops with up to N iterations",
};

pub(in crate::passes) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "affine-schedule",
        class: "AffineSchedule",
        anchor: Some("func.func"),
        summary: "Reorder, skew and tile affine loop nests by an integer program",
        options: &[
            OptionInfo {
                name: "cache-size",
                default: "256",
                kind: OptionKind::Int,
                summary: "Do not tile for memrefs up to this size in KiB; 0 always tiles",
            },
            OptionInfo {
                name: "tile-size",
                default: "32",
                kind: OptionKind::Int,
                summary: "Size of tiles of loops that do not become innermost",
            },
            OptionInfo {
                name: "inner-tile-size",
                default: "256",
                kind: OptionKind::Int,
                summary: "Size of tiles of loops that become innermost",
            },
            OptionInfo {
                name: "jam-size",
                default: "8",
                kind: OptionKind::Int,
                summary: "Number of outer iterations to interleave in an innermost loop that carries a dependence; 1 disables interleaving",
            },
            SMALL_LOOP,
        ],
        run,
    },
    PassInfo {
        name: "print-schedule",
        class: "PrintSchedule",
        anchor: Some("func.func"),
        summary: "Print the bands that affine-schedule finds, on stderr",
        options: &[SMALL_LOOP],
        run: print,
    },
];

/// The default of `small-loop`.
const DEFAULT_SMALL_LOOP: i64 = 8;

/// Returns the outermost loops of a function.
fn roots(ir: &Ir, function: Op) -> Vec<Op> {
    let all = nested_ops(ir, function);
    let is_outermost = |it: &Op| {
        let mut at = ir.parent_op(*it);
        while let Some(parent) = at {
            match ir.op(parent).kind {
                OpKind::AffineFor | OpKind::AffineIf | OpKind::AffineParallel => return false,
                _ => at = ir.parent_op(parent),
            }
        }
        true
    };
    all.into_iter().filter(|&it| ir.op(it).kind == OpKind::AffineFor).filter(is_outermost).collect()
}

/// Maximum number of dependences of a nest. The integer program of a row contains all of them.
const MAX_EDGES: usize = 4000;

/// Visits each nest of a function that has a schedule.
fn for_each_plan(
    ir: &Ir,
    function: Op,
    body: &FunctionBody,
    legality: &Legality<'_>,
    most_small: i64,
    mut visit: impl FnMut(&StatementNest, &SchedulePlan, &[nest::StatementDependence<'_>]),
) {
    for root in roots(ir, function) {
        let Some(nest) = read_nest(ir, body, legality, root, most_small) else { continue };
        let edges = nest.edges(legality.dependences());
        if edges.len() > MAX_EDGES {
            continue;
        }
        if let Some(plan) = plan::find_plan(&nest, &edges) {
            visit(&nest, &plan, &edges);
        }
    }
}

/// Returns the body of a function that contains loops. If it has too many accesses, reports a
/// remark and returns `None`.
fn body_to_schedule(cx: &mut PassContext<'_>, function: Op) -> Option<FunctionBody> {
    if roots(cx.ir, function).is_empty() {
        return None;
    }
    let body = FunctionBody::new(cx.ir, function);
    let n = body.accesses.len();
    if n > MAX_PAIRED_ACCESSES {
        let text =
            format!("{n} accesses: functions of more than {MAX_PAIRED_ACCESSES} are not scheduled");
        cx.remark(function, &text);
        return None;
    }
    Some(body)
}

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let size = |name: &str| {
        let size = options.int(name).unwrap_or(32);
        let size = i32::try_from(size).ok().filter(|it| *it > 0).map(i128::from);
        size.ok_or_else(|| {
            PassFailure(Some(format!("`{name}` is a number from 1 to {}", i32::MAX)))
        })
    };
    let (others, innermost) = (size("tile-size")?, size("inner-tile-size")?);
    let block = size("jam-size")?;
    let cache = i128::from(options.int("cache-size").unwrap_or(256).max(0)) * 1024;
    let sizes = ScheduleSizes { cache, innermost, others, block };
    let small = options.int("small-loop").unwrap_or(DEFAULT_SMALL_LOOP);
    let Some(body) = body_to_schedule(cx, op) else { return Ok(()) };
    let mut found = Vec::new();
    let of_accesses: Vec<Op>;
    {
        let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
        let ir = &*cx.ir;
        of_accesses = body.accesses.iter().map(|it| it.op).collect();
        for_each_plan(ir, op, &body, &legality, small, |nest, plan, edges| {
            let all = legality.dependences();
            let code = scan::generate_loops(ir, &body, nest, plan, edges, all, sizes);
            found.extend(code.map(|(code, n_columns)| (nest.clone(), code, n_columns)));
        });
    }
    cx.add_statistic("num-scheduled - Number of nests that were reordered", found.len());
    for (nest, code, n_columns) in found {
        emit::emit(cx.ir, &nest, &code, &of_accesses, n_columns);
    }
    Ok(())
}

fn print(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let Some(body) = body_to_schedule(cx, op) else { return Ok(()) };
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    let ir = &*cx.ir;
    let mut out = String::new();
    let small = options.int("small-loop").unwrap_or(DEFAULT_SMALL_LOOP);
    for_each_plan(ir, op, &body, &legality, small, |nest, plan, _| {
        let _ = writeln!(out, "nest{}:", position(cx, nest.root));
        for node in &plan.root {
            node_text(&mut out, nest, plan, node, 1);
        }
    });
    crate::passes::report::printers::print_to_stderr(&out);
    Ok(())
}

/// Returns the position of an op as text.
fn position(cx: &PassContext<'_>, op: Op) -> String {
    let input = cx.sink.input();
    let words = |at: usize| {
        let (line, column) = input.line_and_column(at.min(input.text.len()));
        format!(" at line {}, column {column}", line + input.first_line)
    };
    offset_of(cx.ir, op).map_or(String::new(), words)
}

fn node_text(
    out: &mut String,
    nest: &StatementNest,
    plan: &SchedulePlan,
    node: &PlanNode,
    depth: usize,
) {
    let pad = "  ".repeat(depth);
    let _ = writeln!(out, "{pad}band of {}:", node.end - node.start);
    for &it in &node.members {
        let rows = &plan.rows[it][node.start..node.end];
        let text: Vec<String> = rows.iter().map(|row| row_text(row)).collect();
        let n = nest.statements[it].ivs.len();
        let _ = writeln!(out, "{pad}  S{it} under {n} loops: ({})", text.join(", "));
    }
    for inner in &node.inner {
        node_text(out, nest, plan, inner, depth + 1);
    }
}

/// Returns a row as text, with the names i0, i1, ... for the variables of the loops, outermost
/// first.
fn row_text(row: &[i128]) -> String {
    let mut out = String::new();
    let (constant, coefficients) = row.split_last().map_or((0, &[][..]), |it| (*it.0, it.1));
    let terms = coefficients.iter().enumerate().filter(|it| *it.1 != 0);
    for (at, &by) in terms {
        let sign = if out.is_empty() { "" } else { " + " };
        let factor = if by == 1 { String::new() } else { format!("{by} ") };
        let _ = write!(out, "{sign}{factor}i{at}");
    }
    if constant != 0 || out.is_empty() {
        let sign = if out.is_empty() { "" } else { " + " };
        let _ = write!(out, "{sign}{constant}");
    }
    out
}
