//! `strip-debuginfo`, and passes for tests of the pass manager, with the names of MLIR.

use noisy_syntax::Op;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};

use crate::pass::FUNCTION_ANCHOR;
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};

pub(crate) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "test-interface-pass",
        class: "TestInterfacePass",
        anchor: Some(FUNCTION_ANCHOR),
        summary: "Test an interface pass (running on FunctionOpInterface) in the pass manager",
        options: &[],
        run: |cx, op, _| {
            cx.analyses.preserve_all();
            cx.remark(op, "Executing interface pass on operation");
            Ok(())
        },
    },
    PassInfo {
        name: "strip-debuginfo",
        class: "StripDebugInfo",
        anchor: None,
        summary: "Strip debug info from all operations",
        options: &[],
        run: |cx, op, _| {
            if cx.ir.has_locations() {
                cx.ir.strip_locations(op);
            }
            cx.analyses.preserve_all();
            Ok(())
        },
    },
    PassInfo {
        name: "test-pass-failure",
        class: "TestFailurePass",
        anchor: None,
        summary: "Test a pass in the pass manager that always fails",
        options: &[],
        run: |_, _, _| Err(PassFailure(None)),
    },
    PassInfo {
        name: "test-pass-create-invalid-ir",
        class: "TestInvalidIRPass",
        anchor: Some(FUNCTION_ANCHOR),
        summary: "Test pass that adds an invalid operation in a function body",
        options: &[
            OptionInfo {
                name: "signal-pass-failure",
                default: "false",
                kind: OptionKind::Bool,
                summary: "Trigger a pass failure",
            },
            OptionInfo {
                name: "emit-invalid-ir",
                default: "true",
                kind: OptionKind::Bool,
                summary: "Emit invalid IR",
            },
        ],
        run: add_invalid_op,
    },
];

/// Adds an invalid op to a function, to test that the pass manager reports it.
fn add_invalid_op(
    cx: &mut PassContext<'_>,
    op: Op,
    options: &PassOptions,
) -> Result<(), PassFailure> {
    let region = cx.ir.op(op).regions.first().map(|it| it.1);
    let block = region.map(|it| cx.ir.entry_block(it));
    if let Some(block) = block.filter(|_| options.is_on("emit-invalid-ir")) {
        // A terminator is invalid if it is not the last op of its block.
        cx.ir.insert(NewOp::new("func.return"), InsertionPoint::Start(block));
        cx.ir.insert(NewOp::new("func.return"), InsertionPoint::Start(block));
    }
    if options.is_on("signal-pass-failure") { Err(PassFailure(None)) } else { Ok(()) }
}
