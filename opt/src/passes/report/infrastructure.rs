//! Passes for tests of the pass manager, which do nothing or fail; named like upstream's.

use noisy_syntax::rewrite::{NewOp, Point};
use noisy_syntax::{AttrData, Op, Traits, print};

use crate::diagnostics::Severity;
use crate::pass::FUNCTIONS;
use crate::passes::report::printers::say;
use crate::passes::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};
use crate::rewrite::nested;

const fn nothing(
    name: &'static str,
    class: &'static str,
    anchor: Option<&'static str>,
    summary: &'static str,
) -> PassInfo {
    PassInfo { name, class, anchor, summary, options: &[], run: unchanged }
}

fn unchanged(cx: &mut Context<'_>, _: Op, _: &Options) -> Result<(), Failure> {
    cx.analyses.preserve_all();
    Ok(())
}

/// The options of `test-dynamic-pipeline`.
const DYNAMIC: &[OptionInfo] = &[
    OptionInfo {
        name: "op-name",
        default: "",
        kind: OptionKind::Texts,
        summary: "List of function name to apply the pipeline to",
    },
    OptionInfo {
        name: "run-on-nested-operations",
        default: "false",
        kind: OptionKind::Bool,
        summary: "This will apply the pipeline on nested operations under the visited operation.",
    },
    OptionInfo {
        name: "run-on-parent",
        default: "false",
        kind: OptionKind::Bool,
        summary: "This will apply the pipeline on the parent operation if it exist, this is expected to fail.",
    },
    OptionInfo {
        name: "dynamic-pipeline",
        default: "",
        kind: OptionKind::Text,
        summary: "The pipeline description that will run on the filtered function.",
    },
];

const LISTS: &[OptionInfo] = &[
    OptionInfo {
        name: "enum",
        default: "zero",
        kind: OptionKind::OneOf(&["zero", "one", "two"]),
        summary: "Example enum option",
    },
    OptionInfo {
        name: "list",
        default: "",
        kind: OptionKind::Ints,
        summary: "Example list option",
    },
    OptionInfo {
        name: "string-list",
        default: "",
        kind: OptionKind::Texts,
        summary: "Example string list option",
    },
    OptionInfo {
        name: "string",
        default: "",
        kind: OptionKind::Text,
        summary: "Example string option",
    },
];

pub(crate) const PASSES: &[PassInfo] = &[
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
    PassInfo {
        name: "test-interface-pass",
        class: "TestInterfacePass",
        anchor: Some(FUNCTIONS),
        summary: "Test an interface pass (running on FunctionOpInterface) in the pass manager",
        options: &[],
        run: |cx, op, _| {
            cx.analyses.preserve_all();
            cx.remark(op, "Executing interface pass on operation");
            Ok(())
        },
    },
    PassInfo {
        name: "test-pass-crash",
        class: "TestCrashRecoveryPass",
        anchor: None,
        summary: "Test a pass in the pass manager that always fails (upstream's crashes)",
        options: &[],
        run: |_, _, _| Err(Failure(None)),
    },
    PassInfo {
        name: "test-pass-invalid-parent",
        class: "TestInvalidParentPass",
        anchor: Some(FUNCTIONS),
        summary: "Test a pass in the pass manager that makes the parent operation invalid",
        options: &[],
        run: call_nobody,
    },
    PassInfo {
        name: "test-dynamic-pipeline",
        class: "TestDynamicPipelinePass",
        anchor: None,
        summary: "Tests the dynamic pipeline feature by applying a pipeline on a selected set of functions",
        options: DYNAMIC,
        run: dynamic,
    },
    PassInfo {
        name: "test-options-pass",
        class: "TestOptionsPass",
        anchor: Some("func.func"),
        summary: "Test options parsing capabilities",
        options: LISTS,
        run: unchanged,
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
        run: |_, _, _| Err(Failure(None)),
    },
    PassInfo {
        name: "test-pass-create-invalid-ir",
        class: "TestInvalidIRPass",
        anchor: Some(FUNCTIONS),
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

/// Adds an invalid op to a function, to test that the manager notices.
fn invalid(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let region = cx.ir.op(op).regions.first().map(|it| it.1);
    let block = region.map(|it| cx.ir.entry_block(it));
    if let Some(block) = block.filter(|_| options.is_on("emit-invalid-ir")) {
        // The op is a branch that is not the last op of its block.
        cx.ir.insert(NewOp::new("func.return"), Point::Start(block));
        cx.ir.insert(NewOp::new("func.return"), Point::Start(block));
    }
    if options.is_on("signal-pass-failure") { Err(Failure(None)) } else { Ok(()) }
}

/// Adds a call of an undefined function to a function, which makes the module invalid.
fn call_nobody(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let Some(region) = cx.ir.op(op).regions.first().map(|it| it.1) else { return Ok(()) };
    let name = cx.ir.interner.name("some_unknown_func");
    let callee = cx.ir.interner.attr(AttrData::Symbol([name].into()));
    let block = cx.ir.entry_block(region);
    cx.ir.insert(NewOp::new("func.call").attr("callee", callee), Point::Start(block));
    Ok(())
}

/// Runs the pipeline in an option on ops of the given names.
fn dynamic(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let pipeline = options.text("dynamic-pipeline");
    let kind = cx.ir.op_name(op).to_owned();
    say(&format!("Dynamic execute '{pipeline}' on {kind}\n"));
    if pipeline.is_empty() {
        say("Empty pipeline\n");
        return Ok(());
    }
    let Some((name, _)) = cx.ir.extra(op).symbol else {
        let text = "Ignoring because not implementing SymbolOpInterface\n";
        cx.sink.tell_op(Severity::Warning, cx.ir, op, text);
        return Ok(());
    };
    let name = cx.ir.interner.str(name).to_owned();
    let names = options.text("op-name");
    if !names.is_empty() && !names.split(',').any(|it| it == name) {
        say(&format!("dynamic-pipeline skip op name: {name}\n"));
        return Ok(());
    }
    if options.is_on("run-on-parent") {
        if let Some(parent) = cx.ir.parent_op(op).filter(|&it| cx.ir.op(it).kind.is_op()) {
            let text = format!(
                "'{}' op Trying to schedule a dynamic pipeline on an operation that isn't nested under the current operation the pass is processing",
                cx.ir.op_name(parent)
            );
            cx.sink.tell_op(Severity::Error, cx.ir, parent, &text);
        }
        return Ok(());
    }
    let run = (cx.nested)(&format!("{kind}({pipeline})"))?;
    if !options.is_on("run-on-nested-operations") {
        return run(cx, op);
    }
    say("Run on nested op\n");
    for inner in nested(cx.ir, op) {
        let is_meant = cx.ir.is_alive(inner)
            && cx.ir.op(inner).kind.has(Traits::ISOLATED)
            && cx.ir.op_name(inner) == kind;
        if is_meant {
            say(&format!("Run on {}\n", print::op_in(cx.ir, inner, cx.style)));
            run(cx, inner)?;
        }
    }
    Ok(())
}
