//! Printers of facts: the facts of all values, the control flow as a graph, and the visits of the
//! solver. The output is deterministic and in textual order.

pub mod rows;
mod visits;

use std::fmt::Write as _;

use noisy_syntax::{Block, Ir, Region, Value};

use crate::Document;
use noisy_dataflow::flow::{self, Flow};
use noisy_integers::constant::Constant;

pub use visits::{recording, trace};

/// Prints every op with the facts of its results, every block with its reachability and the facts
/// of its arguments, and every loop with its trip count.
pub fn facts(document: &Document) -> String {
    let mut out = String::new();
    let ir = document.ir();
    for chunk in ir.items(ir.root()) {
        for &(_, region) in &ir.op(chunk).regions {
            region_facts(document, region, 0, &mut out);
        }
    }
    out
}

fn region_facts(document: &Document, region: Region, depth: usize, out: &mut String) {
    let (ir, integers) = (document.ir(), document.integers());
    let indent = "  ".repeat(depth);
    for block in ir.blocks(region) {
        let is_named = ir.block(block).label.is_some();
        let is_dead = !integers.is_block_live(block);
        let holder = ir.region(region).parent;
        let is_body = holder.is_some_and(|it| !matches!(Flow::of(ir, it), Flow::Group));
        if is_body && (is_named || is_dead || !ir.block(block).args.is_empty()) {
            let dead = if is_dead { " unreached" } else { "" };
            let _ = writeln!(out, "{indent}{}{dead}", block_name(ir, block));
            for &value in &ir.block(block).args {
                value_facts(document, value, depth + 1, out);
            }
        }
        for op in ir.block_ops(block) {
            let data = ir.op(op);
            if !data.kind.is_op() {
                continue;
            }
            let _ = write!(out, "{indent}{}", ir.op_name(op));
            if let Some((name, _)) = ir.extra(op).symbol {
                let _ = write!(out, " @{}", ir.interner.str(name));
            }
            if matches!(Flow::of(ir, op), Flow::For { .. } | Flow::Parallel { .. }) {
                let trips = integers.trips(ir, op);
                let _ = match (trips.exact(), trips.most) {
                    (Some(n), _) => write!(out, " runs {n}"),
                    (None, Some(most)) => write!(out, " runs {} to {most}", trips.least),
                    (None, None) => write!(out, " runs {} or more", trips.least),
                };
            }
            let ways = ir.extra(op).successors.len().max(match Flow::of(ir, op) {
                Flow::Choice => data.regions.len(),
                _ => 0,
            });
            if let Some(at) = flow::controlling_operand(ir, op).filter(|_| integers.is_live(ir, op))
            {
                let live: Vec<String> = (0..ways)
                    .filter(|&it| integers.may_take(ir, op, it))
                    .map(|it| it.to_string())
                    .collect();
                if live.len() < ways && data.operands[at].value.is_some() {
                    let _ = write!(out, " goes {}", live.join(", "));
                }
            }
            out.push('\n');
            for &value in &data.results {
                value_facts(document, value, depth + 1, out);
            }
            for &(_, inner) in &data.regions {
                region_facts(document, inner, depth + 1, out);
            }
        }
    }
}

fn value_facts(document: &Document, value: Value, depth: usize, out: &mut String) {
    let (ir, integers) = (document.ir(), document.integers());
    let indent = "  ".repeat(depth);
    let _ = write!(out, "{indent}{}", ir.value_text(value));
    if document.is_noisy(value) {
        let _ = write!(out, " noise {}", document.noise(value));
    } else {
        let constant = integers.constant(ir, value);
        let _ = match (constant, integers.bounds(ir, value)) {
            (Constant::Unknown, Some(bounds)) if !bounds.is_full() => {
                write!(out, " range {bounds}")
            }
            (Constant::Unknown, _) => write!(out, " unknown"),
            (Constant::Bottom, _) => write!(out, " unreached"),
            (known, _) => write!(out, " constant {known}"),
        };
    }
    out.push('\n');
}

fn block_name(ir: &Ir, block: Block) -> String {
    match ir.block(block).label {
        Some(label) => format!("^{}", ir.interner.str(ir.op(label).name)),
        None => "^entry".to_owned(),
    }
}

/// Prints the blocks of every function as a graph in DOT; unreachable blocks are dashed.
pub fn cfg(document: &Document) -> String {
    let ir = document.ir();
    let mut out = String::from("digraph cfg {\n  node [shape=box, fontname=monospace];\n");
    for (n, function) in ir.functions().into_iter().enumerate() {
        let name = document.function_name(function);
        let _ = writeln!(out, "  subgraph cluster_{n} {{\n    label=\"@{}\";", quoted(&name));
        for &(_, region) in &ir.op(function).regions {
            region_graph(document, n, region, &mut out);
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn region_graph(document: &Document, n: usize, region: Region, out: &mut String) {
    let (ir, integers) = (document.ir(), document.integers());
    let blocks = ir.blocks(region);
    let numbers: std::collections::HashMap<Block, usize> =
        blocks.iter().enumerate().map(|(at, &block)| (block, at)).collect();
    let style = |is_live: bool| if is_live { "" } else { ", style=dashed, color=gray" };
    for (at, &block) in blocks.iter().enumerate() {
        let _ = writeln!(
            out,
            "    f{n}_{at} [label=\"{}\"{}];",
            quoted(&block_name(ir, block)),
            style(integers.is_block_live(block))
        );
    }
    for (at, &block) in blocks.iter().enumerate() {
        let Some(last) = ir.last_op(block) else { continue };
        for (index, successor) in ir.extra(last).successors.iter().enumerate() {
            let to = successor.block.and_then(|it| numbers.get(&it));
            if let Some(to) = to {
                let is_live = integers.is_edge_live(ir, last, index);
                let _ = writeln!(
                    out,
                    "    f{n}_{at} -> f{n}_{to} [label=\"{index}\"{}];",
                    style(is_live)
                );
            }
        }
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::NoiseModel;

    /// The loop of "Combining Analyses, Combining Optimizations" (Click and Cooper, 1995).
    const COMBINED: &str = r#"
func.func @f() -> i32 {
  %x0 = arith.constant 1 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  cf.br ^1(%x0 : i32)
^1(%x1: i32):
  %b = arith.cmpi ne, %x1, %one : i32
  cf.cond_br %b, ^2, ^3(%x1 : i32)
^2:
  %x2 = arith.addi %two, %x1 : i32
  cf.br ^3(%x2 : i32)
^3(%x3: i32):
  %pred = "any.pred"() : () -> i1
  cf.cond_br %pred, ^1(%x3 : i32), ^4
^4:
  return %x3 : i32
}
"#;

    #[test]
    fn analyses_are_combined() {
        expect![[r#"
            func.func @f
              arith.constant
                %x0 constant 1
              arith.constant
                %one constant 1
              arith.constant
                %two constant 2
              cf.br
              ^1
                %x1 constant 1
              arith.cmpi
                %b constant 0
              cf.cond_br goes 1
              ^2 unreached
              arith.addi
                %x2 unreached
              cf.br
              ^3
                %x3 constant 1
              any.pred
                %pred unknown
              cf.cond_br
              ^4
              func.return
        "#]]
        .assert_eq(&facts(&Document::new(COMBINED)));
    }

    /// The same program in the generic form.
    const GENERIC: &str = r#"
"func.func"() <{function_type = () -> i32, sym_name = "f"}> ({
  %x0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
  %one = "arith.constant"() <{value = 1 : i32}> : () -> i32
  %two = "arith.constant"() <{value = 2 : i32}> : () -> i32
  "cf.br"(%x0)[^1] : (i32) -> ()
^1(%x1: i32):
  %b = "arith.cmpi"(%x1, %one) <{predicate = 1 : i64}> : (i32, i32) -> i1
  "cf.cond_br"(%b, %x1)[^2, ^3] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, i32) -> ()
^2:
  %x2 = "arith.addi"(%two, %x1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
  "cf.br"(%x2)[^3] : (i32) -> ()
^3(%x3: i32):
  %pred = "any.pred"() : () -> i1
  "cf.cond_br"(%pred, %x3)[^1, ^4] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
^4:
  "func.return"(%x3) : (i32) -> ()
}) : () -> ()
"#;

    #[test]
    fn the_generic_form_has_the_same_facts() {
        let (custom, generic) = (Document::new(COMBINED), Document::new(GENERIC));
        assert!(
            custom
                .diagnostics()
                .iter()
                .chain(&generic.diagnostics())
                .all(|it| { !matches!(it.severity, crate::Severity::Error) })
        );
        assert_eq!(facts(&custom), facts(&generic));
        assert_eq!(cfg(&custom), cfg(&generic));
    }

    #[test]
    fn the_graph_marks_unreachable_blocks() {
        expect![[r#"
            digraph cfg {
              node [shape=box, fontname=monospace];
              subgraph cluster_0 {
                label="@f";
                f0_0 [label="^entry"];
                f0_1 [label="^1"];
                f0_2 [label="^2", style=dashed, color=gray];
                f0_3 [label="^3"];
                f0_4 [label="^4"];
                f0_0 -> f0_1 [label="0"];
                f0_1 -> f0_2 [label="0", style=dashed, color=gray];
                f0_1 -> f0_3 [label="1"];
                f0_2 -> f0_3 [label="0", style=dashed, color=gray];
                f0_3 -> f0_1 [label="0"];
                f0_3 -> f0_4 [label="1"];
              }
            }
        "#]]
        .assert_eq(&cfg(&Document::new(COMBINED)));
    }

    #[test]
    fn each_visit_is_printed() {
        let text = "func.func @f(%a: i8) {\n  %0 = arith.constant 3 : i8\n  %1 = arith.andi %a, %0 : i8\n  %2 = noisy.encode %1 : i8 -> !noisy.i32\n  return\n}\n";
        let document = Document::new(text);
        expect![[r#"
            // constants
            visit arith.constant operands: before: %0=unreached after: %0=3
            visit arith.andi operands: %a=unknown %0=3 before: %1=unreached after: %1=unknown
            visit noisy.encode operands: %1=unknown before: %2=unreached after: %2=unreached
            visit func.return operands:
            // ranges
            visit arith.constant operands: before: %0=unreached after: %0=3
            visit arith.andi operands: %a=unknown %0=3 before: %1=unreached after: %1=[0, 3]
            visit noisy.encode operands: %1=[0, 3] before: %2=unreached after: %2=unreached
            visit func.return operands:
            // noise
            visit arith.constant operands: before: %0=unreached after: %0=unreached
            visit arith.andi operands: %a=unknown %0=unknown before: %1=unreached after: %1=unreached
            visit noisy.encode operands: %1=unknown before: %2=unreached after: %2=[0, 12]
            visit func.return operands:
        "#]].assert_eq(&trace(document.ir(), NoiseModel::tutorial().into()));
    }
}
