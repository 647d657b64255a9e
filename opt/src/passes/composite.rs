//! Passes that run other passes: `composite-fixed-point-pass`.

use noisy_syntax::{Op, print};

use super::{Context, Failure, OptionInfo, OptionKind, PassInfo};
use crate::driver::manager::log_action;
use crate::driver::pipeline::{Element, Pipeline};

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

pub(super) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "composite-fixed-point-pass",
        class: "CompositeFixedPointPass",
        anchor: None,
        summary: "Composite fixed point pass",
        options: OPTIONS,
        run: |cx, op, options| {
            let name = options.text("name").to_owned();
            let max = options.int("max-iterations").unwrap_or(10);
            if let Some(file) = cx.log_actions {
                log_action(file, &name, cx.ir.op_name(op), true);
                log_action(file, &name, cx.ir.op_name(op), false);
            }
            fixed_point(cx, op, &name, options.text("pipeline"), max)
        },
    },
    PassInfo {
        name: "test-composite-fixed-point-pass",
        class: "TestCompositePass",
        anchor: None,
        summary: "Test composite pass",
        options: &[],
        run: |cx, op, _| fixed_point(cx, op, "TestCompositePass", "any(canonicalize,cse)", 10),
    },
];

/// Runs a pipeline on an op until it changes nothing.
fn fixed_point(
    cx: &mut Context<'_>,
    op: Op,
    name: &str,
    pipeline: &str,
    max: i64,
) -> Result<(), Failure> {
    let pipeline = Pipeline::parse(pipeline).map_err(|it| Failure(Some(it.message)))?;
    for _ in 0..max {
        let before = print::op_in(cx.ir, op, cx.style);
        run(cx, op, &pipeline)?;
        if print::op_in(cx.ir, op, cx.style) == before {
            return Ok(());
        }
    }
    Err(Failure(Some(format!("Composite pass \"{name}\" did not converge in {max} iterations"))))
}

fn run(cx: &mut Context<'_>, op: Op, pipeline: &Pipeline) -> Result<(), Failure> {
    for element in &pipeline.elements {
        match element {
            Element::Pass(info, options) => {
                let at = cx.ir.op_name(op).to_owned();
                if let Some(file) = cx.log_actions {
                    log_action(file, info.class, &at, true);
                }
                (info.run)(cx, op, options)?;
                if let Some(file) = cx.log_actions {
                    log_action(file, info.class, &at, false);
                }
            }
            Element::Nested(nested) => {
                let mut children = Vec::new();
                for &(_, region) in &cx.ir.op(op).regions {
                    children.extend(cx.ir.items(region).filter(|&it| cx.ir.op(it).kind.is_op()));
                }
                for child in children {
                    let is_meant = cx.ir.op_name(child) == nested.anchor;
                    if is_meant && cx.ir.is_alive(child) {
                        run(cx, child, nested)?;
                    }
                }
            }
        }
    }
    Ok(())
}
