//! Passes that print information: `print-op-stats`, `print-ir`.

use std::collections::BTreeMap;
use std::io::Write as _;

use noisy_syntax::{MAX_PADDING, Op, print};

use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::nested_ops;

pub(crate) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "print-op-stats",
        class: "PrintOpStats",
        anchor: None,
        summary: "Print statistics of operations",
        options: &[OptionInfo {
            name: "json",
            default: "false",
            kind: OptionKind::Bool,
            summary: "print the stats as JSON",
        }],
        run: op_stats,
    },
    PassInfo {
        name: "print-ir",
        class: "PrintIRPass",
        anchor: None,
        summary: "Print IR on the debug stream",
        options: &[OptionInfo {
            name: "label",
            default: "",
            kind: OptionKind::Text,
            summary: "Label",
        }],
        run: print_ir,
    },
];

/// Writes the output of a pass to stderr.
pub(crate) fn print_to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn op_stats(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    cx.analyses.preserve_all();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |op: Op, cx: &PassContext<'_>| {
        *counts.entry(cx.ir.op_name(op).to_owned()).or_default() += 1;
    };
    count(op, cx);
    for op in nested_ops(cx.ir, op) {
        count(op, cx);
    }
    let mut out = String::new();
    if options.is_on("json") {
        let lines: Vec<String> =
            counts.iter().map(|(name, n)| format!("  \"{name}\" : {n}")).collect();
        out += &format!("{{\n{}\n}}\n", lines.join(",\n"));
    } else {
        let width = |it: &str| it.split('.').next().map_or(0, str::len);
        let has_dialect = |it: &str| it.contains('.');
        let longest_dialect =
            counts.keys().filter(|it| has_dialect(it)).map(|it| width(it)).max().unwrap_or(0);
        let longest_dialect = longest_dialect.min(MAX_PADDING);
        let longest = counts
            .keys()
            .map(|it| if has_dialect(it) { it.len() - width(it) } else { it.len() })
            .max()
            .unwrap_or(0)
            .min(MAX_PADDING);
        out += "Operations encountered:\n-----------------------\n";
        for (name, n) in &counts {
            let (dialect, rest) = match name.split_once('.') {
                Some((dialect, rest)) => (dialect, format!(".{rest}")),
                None => ("", name.clone()),
            };
            out += &format!("  {dialect:>longest_dialect$}{rest:longest$} , {n}\n");
        }
        out += "\n";
    }
    print_to_stderr(&out);
    Ok(())
}

fn print_ir(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    cx.analyses.preserve_all();
    let label = options.text("label");
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    let text = print::op_in_style(cx.ir, op, cx.style);
    print_to_stderr(&format!("// -----// IR Dump{label} //----- //\n{text}\n\n"));
    Ok(())
}
