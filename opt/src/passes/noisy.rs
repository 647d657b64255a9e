//! `noisy-reduce-noise`: inserts the cheapest `noisy.reduce_noise` ops that keep all values within
//! the noise budget. `noisy-rewrite`: finds an equal program that needs fewer of these ops.
//!
//! *Law.* The resulting program equals the copy that was analyzed again and is legal: both are
//! printed and compared. *Cost.* The cost of the placement. Parsing, transferring the changes, and
//! comparing are linear.

mod adopt;
mod follow;

use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{PlacementOptions as Placing, PlacementVerdict, Program, insert_reduces};
use noisy_placement::PlacementLimits;
use noisy_syntax::{Op, print};
use regex::Regex;

use crate::diagnostics::DiagnosticSeverity;
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};

/// The placement pass has two names: its own, and that in the MLIR tutorial (j2kun/mlir-tutorial).
pub(super) const PASSES: &[PassInfo] = &[
    placement_pass("noisy-reduce-noise"),
    placement_pass("noisy-reduce-noise-optimizer"),
    REWRITE,
];

const REWRITE: PassInfo = PassInfo {
    name: "noisy-rewrite",
    class: "RewriteNoisy",
    anchor: None,
    summary: "Rewrite sums, differences and products into equal ones that need fewer noisy.reduce_noise ops",
    options: &[
        OptionInfo {
            name: "time-limit",
            default: "10",
            kind: OptionKind::Int,
            summary: "Time limit in seconds for the search and the placement; the best result found by then is used",
        },
        OptionInfo {
            name: "growth",
            default: "150",
            kind: OptionKind::Int,
            summary: "Limit on the executed operations of the result, in percent of the original program",
        },
    ],
    run: run_rewrite,
};

const fn placement_pass(name: &'static str) -> PassInfo {
    PassInfo {
        name,
        class: "ReduceNoiseOptimizer",
        anchor: None,
        summary: "Insert the cheapest noisy.reduce_noise ops that keep noise within the budget",
        options: &[OptionInfo {
            name: "time-limit",
            default: "10",
            kind: OptionKind::Int,
            summary: "Time limit of the search in seconds; the best placement found by then is used",
        }],
        run,
    }
}

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let seconds = options.int("time-limit").and_then(|it| u64::try_from(it).ok());
    let Some(seconds) = seconds else {
        return Err(PassFailure(Some("time-limit is a number of seconds, 0 or more".to_owned())));
    };
    let limits =
        PlacementLimits { time: Some(Duration::from_secs(seconds)), ..PlacementLimits::default() };
    let placing = Placing { limits, ..Placing::default() };
    let program = Program::new(&print::generic(cx.ir));
    let (ours, theirs) = (cx.ir.functions(), program.ir().functions());
    if ours.len() != theirs.len() {
        return Err(internal_error("the printed program has different functions"));
    }
    let meant = ours.iter().zip(&theirs).filter(|it| cx.ir.is_within(*it.0, op));
    let (meant, asked): (Vec<Op>, Vec<Op>) = meant.unzip();
    let outcome = insert_reduces(&program, &asked, &placing)
        .map_err(|why| PassFailure(Some(why.to_string())))?;
    // Remove line numbers, which refer to the printed program and not to the file.
    let line = Regex::new(r" on line \d+").map_err(|_| internal_error("a pattern"))?;
    let mut is_refused = false;
    for (function, of) in meant.iter().zip(&outcome.functions) {
        if let PlacementVerdict::Refused(why) = &of.verdict {
            is_refused = true;
            let text = line.replace_all(why, "");
            cx.sink.report_at_op(DiagnosticSeverity::Error, cx.ir, *function, &text);
        }
    }
    if is_refused {
        return Err(PassFailure(None));
    }
    let (Some(fix), Some(after)) = (&outcome.fix, &outcome.after) else { return Ok(()) };
    let after = after.ir();
    let pairs: Vec<(Op, Op)> = ours.into_iter().zip(after.functions()).collect();
    let n = follow::follow(cx.ir, after, &fix.edits, &pairs).map_err(internal_error)?;
    if print::generic(cx.ir) != print::generic(after) {
        return Err(internal_error("the program is not the one that was analyzed"));
    }
    cx.add_statistic("noisy.reduce_noise ops inserted", n);
    Ok(())
}

fn run_rewrite(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let number = |name: &str| options.int(name).and_then(|it| u32::try_from(it).ok());
    let (Some(seconds), Some(growth)) = (number("time-limit"), number("growth")) else {
        return Err(PassFailure(Some("time-limit and growth are numbers, 0 or more".to_owned())));
    };
    let time = Duration::from_secs(u64::from(seconds));
    let limits = PlacementLimits { time: Some(time), ..PlacementLimits::default() };
    let cache = Some(Arc::default());
    let placing = Placing { limits, cache, ..Placing::default() };
    // `adopt.rs` can only transfer changes of arithmetic, so the structure must be kept.
    let growth = f64::from(growth) / 100.0;
    let wanted = noisy_rewrite::RewriteOptions {
        placement: placing,
        search_time: time,
        max_growth: growth,
        keeps_structure: true,
    };
    let program = Program::new(&print::generic(cx.ir));
    let (ours, theirs) = (cx.ir.functions(), program.ir().functions());
    if ours.len() != theirs.len() {
        return Err(internal_error("the printed program has different functions"));
    }
    let meant = (0..ours.len()).filter(|&it| cx.ir.is_within(ours[it], op));
    let meant: Vec<usize> = meant.collect();
    let asked: Vec<Op> = meant.iter().map(|&it| theirs[it]).collect();
    let Some(rewritten) = noisy_rewrite::rewrite(&program, &asked, &wanted) else { return Ok(()) };
    let after = rewritten.document.ir();
    let copies = after.functions();
    let mut n = 0;
    for it in &rewritten.savings {
        let at = meant[it.function_index];
        let pair = ((program.ir(), theirs[at]), (after, copies[at]));
        n += adopt::adopt(cx.ir, ours[at], pair.0, pair.1).map_err(internal_error)?;
    }
    if print::generic(cx.ir) != print::generic(after) {
        return Err(internal_error("the program is not the one that was shown equal"));
    }
    cx.add_statistic("operations of rewritten functions", n);
    Ok(())
}

fn internal_error(what: &str) -> PassFailure {
    PassFailure(Some(format!("internal error of a pass over noisy values: {what}")))
}
