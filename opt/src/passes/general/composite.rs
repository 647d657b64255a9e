//! `composite-fixed-point-pass`: runs a nested pipeline until a fixpoint.

use noisy_syntax::{Op, print};

use crate::passes::{Context, Failure, OptionInfo, OptionKind, PassInfo};

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
        if cx.actions.begins_pass(&name, cx.ir, op) {
            cx.actions.ends_pass(&around);
        }
        fixed_point(cx, op, &name, options.text("pipeline"), max)
    },
}];

/// Runs a pipeline on an op until the op does not change.
fn fixed_point(
    cx: &mut Context<'_>,
    op: Op,
    name: &str,
    pipeline: &str,
    max: i64,
) -> Result<(), Failure> {
    let run = (cx.nested)(pipeline)?;
    for _ in 0..max {
        let before = print::op_in(cx.ir, op, cx.style);
        run(cx, op)?;
        if print::op_in(cx.ir, op, cx.style) == before {
            return Ok(());
        }
    }
    Err(Failure(Some(format!("Composite pass \"{name}\" did not converge in {max} iterations"))))
}
