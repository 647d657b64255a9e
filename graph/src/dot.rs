//! Writes graphs for Graphviz.

use std::fmt::Write as _;

use super::{Graph, NodeLook, colors};

pub fn draw(graphs: &[Graph]) -> String {
    let mut out =
        "digraph noise {\n  node [shape=box, style=filled, fontname=monospace];\n".to_owned();
    for (n, graph) in graphs.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{n} {{\n    label={};", quoted(&graph.title));
        for (id, node) in graph.nodes.iter().enumerate() {
            let label = if node.detail.is_empty() {
                node.label.clone()
            } else {
                format!("{}\n{}", node.label, node.detail)
            };
            let (fill, rim) = colors(node.look);
            let width = if node.look == NodeLook::FirstOverBudget {
                ", penwidth=3, fontcolor=white"
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "    n{n}_{id} [label={}, fillcolor=\"{fill}\", color=\"{rim}\"{width}, tooltip=\"line {}\"];",
                quoted(&label),
                node.line
            );
        }
        for edge in &graph.edges {
            let style = if edge.is_carried { " [style=dashed]" } else { "" };
            let _ = writeln!(out, "    n{n}_{} -> n{n}_{}{style};", edge.from, edge.to);
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
