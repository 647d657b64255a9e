//! `canonicalize`, `test-patterns`, `test-constant-fold` and `trivial-dce`: the greedy driver with
//! folds and patterns, folds alone, and the erasure of trivially dead ops.

use noisy_syntax::{Op, Region, Traits};

use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns;
use crate::rewrite::constants::UniquedConstants;
use crate::rewrite::greedy::{self, GreedyConfig, NotConverged, Patterns};
use crate::rewrite::regions::SimplificationLevel;
use crate::rewrite::{Rewriter, preorder};

pub(crate) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "canonicalize",
        class: "Canonicalizer",
        anchor: None,
        summary: "Canonicalize operations",
        options: OPTIONS,
        run: canonicalize,
    },
    PassInfo {
        name: "test-patterns",
        class: "TestPatternDriver",
        anchor: None,
        summary: "Run test dialect patterns",
        options: TEST_OPTIONS,
        run: test_patterns,
    },
    PassInfo {
        name: "test-constant-fold",
        class: "TestConstantFold",
        anchor: None,
        summary: "Test operation constant folding",
        options: &[],
        run: fold_all,
    },
    PassInfo {
        name: "trivial-dce",
        class: "TrivialDce",
        anchor: None,
        summary: "Erase ops without effects and with unused results",
        options: &[],
        run: dce,
    },
];

const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "top-down",
        default: "true",
        kind: OptionKind::Bool,
        summary: "Seed the worklist in general top-down order",
    },
    OptionInfo {
        name: "region-simplify",
        default: "normal",
        kind: OptionKind::OneOf(&["disabled", "normal", "aggressive"]),
        summary: "Perform control flow optimizations to the region tree",
    },
    OptionInfo {
        name: "max-iterations",
        default: "10",
        kind: OptionKind::Int,
        summary: "Max. iterations between applying patterns / simplifying regions",
    },
    OptionInfo {
        name: "max-num-rewrites",
        default: "-1",
        kind: OptionKind::Int,
        summary: "Max. number of pattern rewrites within an iteration",
    },
    OptionInfo {
        name: "test-convergence",
        default: "false",
        kind: OptionKind::Bool,
        summary: "Test only: Fail pass on non-convergence to detect cyclic pattern",
    },
    OptionInfo {
        name: "filter-dialects",
        default: "",
        kind: OptionKind::Texts,
        summary: "Only apply canonicalization patterns from dialects in this list",
    },
    OptionInfo {
        name: "disable-patterns",
        default: "",
        kind: OptionKind::Texts,
        summary: "Labels of patterns that should be filtered out during application",
    },
    OptionInfo {
        name: "enable-patterns",
        default: "",
        kind: OptionKind::Texts,
        summary: "Labels of patterns that should be used during application, all other patterns are filtered out",
    },
];

const TEST_OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "max-iterations",
        default: "10",
        kind: OptionKind::Int,
        summary: "Max. iterations in the GreedyRewriteConfig",
    },
    OptionInfo {
        name: "top-down",
        default: "false",
        kind: OptionKind::Bool,
        summary: "Seed the worklist in general top-down order",
    },
];

fn canonicalize(
    cx: &mut PassContext<'_>,
    op: Op,
    options: &PassOptions,
) -> Result<(), PassFailure> {
    let config = GreedyConfig {
        is_top_down: options.is_on("top-down"),
        is_folding: true,
        simplify: match options.text("region-simplify") {
            "disabled" => SimplificationLevel::Disabled,
            "aggressive" => SimplificationLevel::Aggressive,
            _ => SimplificationLevel::Normal,
        },
        max_iterations: limit(options, "max-iterations"),
        max_rewrites: limit(options, "max-num-rewrites"),
    };
    let names = |name: &str| -> Vec<String> {
        let words = options.text(name).split(',').map(|it| it.trim().to_owned());
        words.filter(|it| !it.is_empty()).collect()
    };
    let (dialects, off, on) =
        (names("filter-dialects"), names("disable-patterns"), names("enable-patterns"));
    let patterns = Patterns::new(patterns::all().filter(|it| {
        let dialect = it.kind.spec().name.split('.').next().unwrap_or_default();
        (dialects.is_empty() || dialects.iter().any(|it| it == dialect))
            && !off.iter().any(|name| name == it.name)
            && (on.is_empty() || on.iter().any(|name| name == it.name))
    }));
    rewrite(cx, op, &patterns, config, options.is_on("test-convergence"))
}

/// Runs the greedy driver with folds alone. MLIR's patterns are for its test dialect, whose ops are
/// opaque here.
fn test_patterns(
    cx: &mut PassContext<'_>,
    op: Op,
    options: &PassOptions,
) -> Result<(), PassFailure> {
    let config = GreedyConfig {
        is_top_down: options.is_on("top-down"),
        is_folding: true,
        simplify: SimplificationLevel::Aggressive,
        max_iterations: limit(options, "max-iterations"),
        max_rewrites: None,
    };
    rewrite(cx, op, &Patterns::new([]), config, false)
}

/// Returns a numeric option; `None`, no limit, if it is negative.
fn limit(options: &PassOptions, name: &str) -> Option<usize> {
    options.int(name).and_then(|it| usize::try_from(it).ok())
}

/// Runs the greedy driver on each region of an op.
pub(crate) fn rewrite(
    cx: &mut PassContext<'_>,
    op: Op,
    patterns: &Patterns,
    config: GreedyConfig,
    must_converge: bool,
) -> Result<(), PassFailure> {
    let regions: Vec<Region> = cx.ir.op(op).regions.iter().map(|it| it.1).collect();
    for region in regions {
        match greedy::rewrite_region(cx.ir, region, patterns, config, cx.actions) {
            Err(NotConverged { patterns }) if !patterns.is_empty() => {
                return Err(PassFailure(Some(format!(
                    "greedy pattern rewrite did not converge: these patterns undo each other: {}",
                    patterns.join(", ")
                ))));
            }
            Err(_) if must_converge => {
                return Err(PassFailure(Some(
                    "greedy pattern rewrite did not converge within the maximum number of iterations"
                        .to_owned(),
                )));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Folds each op once, from the end, and merges equal constants.
fn fold_all(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let regions: Vec<Region> = cx.ir.op(op).regions.iter().map(|it| it.1).collect();
    for region in regions {
        let ops = preorder(cx.ir, region);
        let mut rewriter = Rewriter::new(cx.ir);
        let mut uniqued = UniquedConstants::default();
        for op in ops.into_iter().rev() {
            if rewriter.ir.op(op).kind.has(Traits::CONSTANT) {
                let result = rewriter.ir.op(op).results[0];
                let ty = rewriter.ty(result);
                let attr = rewriter.ir.attr(op, "value");
                let value = attr.and_then(|it| uniqued.get_or_create(&mut rewriter, it, ty, op));
                if let Some(value) = value.filter(|&it| it != result) {
                    rewriter.replace(op, &[value]);
                }
            } else if !rewriter.try_fold_uniqued(op, &mut uniqued) {
                rewriter.order_operands(op);
            }
        }
        for op in uniqued.ops() {
            if noisy_analyses::facts::effects::is_trivially_dead(rewriter.ir, op) {
                rewriter.erase(op);
            }
        }
    }
    Ok(())
}

fn dce(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let regions: Vec<Region> = cx.ir.op(op).regions.iter().map(|it| it.1).collect();
    let mut n = 0;
    for region in regions {
        let ops = preorder(cx.ir, region);
        for op in ops.into_iter().rev() {
            let is_dead =
                cx.ir.is_alive(op) && noisy_analyses::facts::effects::is_trivially_dead(cx.ir, op);
            if is_dead && cx.actions.is_within_limit() {
                let at = cx.actions.target(cx.ir, op);
                cx.ir.erase(op).map_err(|it| PassFailure(Some(it.to_string())))?;
                n += 1;
                cx.actions.record_step(cx.ir, "nothing uses it", || at);
            }
        }
    }
    if n == 0 {
        cx.analyses.preserve_all();
    }
    cx.add_statistic("num-erased - Number of ops erased", n);
    Ok(())
}
