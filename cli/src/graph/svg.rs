//! As a picture of its own: no script, no font and no file from elsewhere.
//!
//! *Layout.* A node stands one layer below the lowest of what feeds it; edges back to what comes earlier in the program do not count. In a layer nodes are
//! ordered by where their neighbours stand, a few times down and up. The cost is linear in nodes and edges but for the sorting.

use std::fmt::Write as _;

use super::{Graph, Look, colors};
use crate::format::xml;

const HEIGHT: f64 = 38.0;
const GAP: f64 = 18.0;
const LAYER: f64 = 74.0;
const MARGIN: f64 = 24.0;
const TITLE: f64 = 34.0;
/// Of a character of the monospaced font, at 12 pixels.
const CHAR: f64 = 7.3;

const STYLE: &str = "text{font:12px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle}\
.title{font-size:15px;font-weight:bold;text-anchor:start}\
.edge{fill:none;stroke:#607d8b;stroke-width:1.2}.carried{stroke-dasharray:5 3}\
.detail{fill-opacity:.75}.violation{stroke-width:3}.on-dark{fill:#fff}";

/// Where things stand.
struct Layout {
    /// The middle of each node's upper rim.
    places: Vec<(f64, f64)>,
    widths: Vec<f64>,
    width: f64,
    height: f64,
}

/// One picture, the graphs side by side.
pub(super) fn draw(graphs: &[Graph]) -> String {
    let layouts: Vec<Layout> = graphs.iter().map(layout).collect();
    let width: f64 = layouts.iter().map(|it| it.width).sum();
    let height = layouts.iter().map(|it| it.height).fold(0.0, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#607d8b\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut x = 0.0;
    for (graph, layout) in graphs.iter().zip(&layouts) {
        one(&mut out, graph, layout, x);
        x += layout.width;
    }
    out.push_str("</svg>\n");
    out
}

/// A page around the picture, with a legend.
pub(super) fn page(name: &str, graphs: &[Graph]) -> String {
    let legend = [
        (Look::Within(40), "noise within the budget; darker: less left"),
        (Look::Violation, "first over the budget"),
        (Look::Spoilt, "over the budget because of an earlier op"),
        (Look::Reset, "reduces noise"),
        (Look::Unknown, "noise unknown"),
    ];
    let mut items = String::new();
    for (look, what) in legend {
        let (fill, rim) = colors(look);
        let _ = write!(
            items,
            "<li><span style=\"background:{fill};border-color:{rim}\"></span>{what}</li>"
        );
    }
    let name = xml(name);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}: noise</title>\n<style>\n\
         body{{font:14px system-ui,sans-serif;margin:1.5em;color:#222;background:#fff}}\n\
         ul{{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.4em 1.6em}}\n\
         li span{{display:inline-block;width:1.4em;height:.9em;border:1.5px solid;border-radius:3px;margin-right:.5em;vertical-align:-1px}}\n\
         main{{overflow:auto;border:1px solid #ddd;border-radius:6px}}\n\
         </style>\n</head>\n<body>\n<h1>{name}</h1>\n<ul>{items}<li>dashed: carried by a loop, a branch or a block</li></ul>\n\
         <main>\n{}</main>\n</body>\n</html>\n",
        draw(graphs)
    )
}

fn one(out: &mut String, graph: &Graph, layout: &Layout, dx: f64) {
    let _ = writeln!(
        out,
        "<g transform=\"translate({dx:.1} 0)\">\n<text class=\"title\" x=\"{MARGIN}\" y=\"26\">{}</text>",
        xml(&graph.title)
    );
    for edge in &graph.edges {
        let ((x1, y1), (x2, y2)) = (layout.places[edge.from], layout.places[edge.to]);
        let class = if edge.carried { "edge carried" } else { "edge" };
        let (y1, y2) = (y1 + HEIGHT, y2 - 1.0);
        let _ = if y2 > y1 {
            let bend = (y2 - y1) / 2.0;
            writeln!(
                out,
                "<path class=\"{class}\" marker-end=\"url(#tip)\" d=\"M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}\"/>",
                y1 + bend,
                y2 - bend
            )
        } else {
            // Back to what comes earlier: around the side.
            let side =
                x1.max(x2) + layout.widths[edge.from].max(layout.widths[edge.to]) / 2.0 + GAP;
            writeln!(
                out,
                "<path class=\"{class}\" marker-end=\"url(#tip)\" d=\"M{x1:.1} {y1:.1}C{side:.1} {:.1} {side:.1} {:.1} {x2:.1} {y2:.1}\"/>",
                y1 + LAYER / 2.0,
                y2 - LAYER / 2.0
            )
        };
    }
    for (node, (&(x, y), &width)) in
        graph.nodes.iter().zip(layout.places.iter().zip(&layout.widths))
    {
        let (fill, rim) = colors(node.look);
        let is_violation = node.look == Look::Violation;
        let class = if is_violation { "node violation" } else { "node" };
        let dark = if is_violation { " on-dark" } else { "" };
        let radius = if node.look == Look::Reset { 16 } else { 5 };
        let _ = writeln!(
            out,
            "<g><title>line {}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" rx=\"{radius}\" \
             fill=\"{fill}\" stroke=\"{rim}\"/><text class=\"label{dark}\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"detail{dark}\" x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>",
            node.line,
            x - width / 2.0,
            y + if node.detail.is_empty() { 23.0 } else { 16.0 },
            xml(&node.label),
            y + 31.0,
            xml(&node.detail)
        );
    }
    out.push_str("</g>\n");
}

fn layout(graph: &Graph) -> Layout {
    let n = graph.nodes.len();
    let width_of = |text: &str| text.chars().count() as f64 * CHAR;
    let widths: Vec<f64> =
        graph.nodes.iter().map(|it| width_of(&it.label).max(width_of(&it.detail)) + 20.0).collect();
    // Nodes come in program order, so that one pass finds the layers.
    let (mut above, mut below) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for edge in graph.edges.iter().filter(|it| it.from < it.to) {
        above[edge.to].push(edge.from);
        below[edge.from].push(edge.to);
    }
    let mut layer = vec![0_usize; n];
    for node in 0..n {
        layer[node] = above[node].iter().map(|&it: &usize| layer[it] + 1).max().unwrap_or(0);
    }
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(0, |it| it + 1)];
    (0..n).for_each(|node| rows[layer[node]].push(node));
    let mut x = vec![0.0_f64; n];
    let place = |row: &[usize], x: &mut [f64]| {
        let total: f64 = row.iter().map(|&it| widths[it] + GAP).sum();
        let mut at = -total / 2.0;
        for &node in row {
            x[node] = at + widths[node] / 2.0;
            at += widths[node] + GAP;
        }
    };
    for row in &rows {
        place(row, &mut x);
    }
    for round in 0..6 {
        let down = round % 2 == 0;
        let order: Vec<usize> =
            if down { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for at in order {
            let neighbours = if down { &above } else { &below };
            let key = |node: usize| {
                let of = &neighbours[node];
                if of.is_empty() {
                    x[node]
                } else {
                    of.iter().map(|&it| x[it]).sum::<f64>() / of.len() as f64
                }
            };
            let mut row: Vec<(f64, usize)> = rows[at].iter().map(|&it| (key(it), it)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[at] = row.into_iter().map(|it| it.1).collect();
            place(&rows[at], &mut x);
        }
    }
    let left = (0..n).map(|it| x[it] - widths[it] / 2.0).fold(0.0, f64::min);
    let right = (0..n).map(|it| x[it] + widths[it] / 2.0).fold(0.0, f64::max);
    let back = graph.edges.iter().any(|it| it.from >= it.to);
    let title = width_of(&graph.title) * 1.3;
    let width = (right - left + if back { 90.0 } else { 0.0 }).max(title) + 2.0 * MARGIN;
    let places =
        (0..n).map(|it| (x[it] - left + MARGIN, layer[it] as f64 * LAYER + MARGIN + TITLE));
    Layout {
        places: places.collect(),
        widths,
        width,
        height: rows.len() as f64 * LAYER + 2.0 * MARGIN + TITLE,
    }
}
