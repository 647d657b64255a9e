//! `composite-fixed-point-pass`: runs a nested pipeline until a fixpoint.

use noisy_syntax::{Op, print};

use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo};

const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "name",
        default: "CompositeFixedPointPass",
        kind: OptionKind::Text,
        summary: "Composite pass display name",
    },
    OptionInfo {
        name: "pipeline",
        default: "",
        kind: OptionKind::Text,
        summary: "Composite pass inner pipeline",
    },
    OptionInfo {
        name: "max-iterations",
        default: "10",
        kind: OptionKind::Int,
        summary: "Maximum number of iterations if inner pipeline",
    },
];

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "composite-fixed-point-pass",
    class: "CompositeFixedPointPass",
    anchor: None,
    summary: "Composite fixed point pass",
    options: OPTIONS,
    run: |cx, op, options| {
        let name = options.text("name").to_owned();
        let max = options.int("max-iterations").unwrap_or(10);
        let around = cx.actions.pass().to_owned();
        if cx.actions.begin_pass(&name, cx.ir, op) {
            cx.actions.end_pass(&around);
        }
        fixed_point(cx, op, &name, options.text("pipeline"), max)
    },
}];

/// Runs a pipeline on an op until the op does not change.
fn fixed_point(
    cx: &mut PassContext<'_>,
    op: Op,
    name: &str,
    pipeline: &str,
    max: i64,
) -> Result<(), PassFailure> {
    let run = (cx.parse_nested)(pipeline)?;
    for _ in 0..max {
        let before = print::op_in_style(cx.ir, op, cx.style);
        run(cx, op)?;
        if print::op_in_style(cx.ir, op, cx.style) == before {
            return Ok(());
        }
    }
    Err(PassFailure(Some(format!(
        "Composite pass \"{name}\" did not converge in {max} iterations"
    ))))
}
