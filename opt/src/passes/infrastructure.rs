//! Passes that do nothing, or fail, by which pass managers are tested; named as upstream's.

use noisy_syntax::Op;
use noisy_syntax::rewrite::{NewOp, Point};

use super::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};

const fn nothing(
    name: &'static str,
    class: &'static str,
    anchor: Option<&'static str>,
    summary: &'static str,
) -> PassInfo {
    PassInfo { name, class, anchor, summary, options: &[], run: |_, _, _| Ok(()) }
}

const LISTS: &[OptionInfo] = &[
    OptionInfo {
        name: "list",
        default: "",
        kind: OptionKind::Ints,
        summary: "Example list option",
    },
    OptionInfo {
        name: "string-list",
        default: "",
        kind: OptionKind::Text,
        summary: "Example string list option",
    },
    OptionInfo {
        name: "string",
        default: "",
        kind: OptionKind::Text,
        summary: "Example string option",
    },
];

pub(super) const PASSES: &[PassInfo] = &[
    nothing(
        "test-module-pass",
        "TestModulePass",
        Some("builtin.module"),
        "Test a module pass in the pass manager",
    ),
    nothing(
        "test-function-pass",
        "TestFunctionPass",
        Some("func.func"),
        "Test a function pass in the pass manager",
    ),
    nothing(
        "test-interface-pass",
        "TestInterfacePass",
        None,
        "Test an interface pass (running on FunctionOpInterface) in the pass manager",
    ),
    PassInfo {
        name: "test-options-pass",
        class: "TestOptionsPass",
        anchor: Some("func.func"),
        summary: "Test options parsing capabilities",
        options: LISTS,
        run: |_, _, _| Ok(()),
    },
    PassInfo {
        name: "test-pass-failure",
        class: "TestFailurePass",
        anchor: None,
        summary: "Test a pass in the pass manager that always fails",
        options: &[],
        run: |_, _, _| Err(Failure(None)),
    },
    PassInfo {
        name: "test-pass-create-invalid-ir",
        class: "TestInvalidIRPass",
        anchor: Some("func.func"),
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
        run: invalid,
    },
];

/// Puts an op that nobody may put there into a function, to see that the manager notices.
fn invalid(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let region = cx.ir.op(op).regions.first().map(|it| it.1);
    let block = region.map(|it| cx.ir.entry_block(it));
    if let Some(block) = block.filter(|_| options.is_on("emit-invalid-ir")) {
        // A branch that is not the last op of its block.
        cx.ir.insert(NewOp::new("func.return"), Point::Start(block));
        cx.ir.insert(NewOp::new("func.return"), Point::Start(block));
    }
    if options.is_on("signal-pass-failure") { Err(Failure(None)) } else { Ok(()) }
}
