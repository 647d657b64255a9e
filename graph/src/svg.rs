//! Writes a graph as an SVG picture without scripts, fonts or other files. No region is folded.

use std::fmt::Write as _;

use super::layout::{
    ITEM_GAP, Layout, NODE_HEIGHT, NodeBox, REGION_PADDING, REGION_TITLE_HEIGHT, ROW_GAP, layout,
};
use super::{Graph, GraphItem, NodeLook, colors};
use noisy_page::escape_xml;

const MARGIN: f64 = 24.0;
const TITLE: f64 = 34.0;
/// Width of a character of the 12-pixel monospaced font.
const CHAR: f64 = 7.3;

const STYLE: &str = "text{font:12px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle}\
.title{font-size:15px;font-weight:bold;text-anchor:start}\
.edge{fill:none;stroke:#607d8b;stroke-width:1.2}.carried{stroke-dasharray:5 3}\
.region rect{fill:#607d8b;fill-opacity:.07;stroke:#90a4ae}.region text{text-anchor:start;fill:#455a64}\
.detail{fill-opacity:.75}.violation rect{stroke-width:3}.violation text{fill:#fff}.proposed rect{stroke-width:3;stroke-dasharray:6 3}";

/// Returns a picture with the graphs side by side.
pub fn draw(graphs: &[Graph]) -> String {
    let layouts: Vec<(Layout, f64)> = graphs.iter().map(layout_with_width).collect();
    let width: f64 = layouts.iter().map(|it| it.1).sum();
    let height = layouts.iter().map(|it| it.0.regions[0].height).fold(0.0, f64::max);
    let height = height + 2.0 * MARGIN + TITLE;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#607d8b\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut x = 0.0;
    for (graph, (layout, width)) in graphs.iter().zip(&layouts) {
        draw_graph(&mut out, graph, layout, x);
        x += width;
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the layout of a graph, and its width including the title.
fn layout_with_width(graph: &Graph) -> (Layout, f64) {
    let width_of = |text: &str| text.chars().count() as f64 * CHAR;
    let layout = layout(graph, |item| match item {
        GraphItem::Node(it) => {
            let node = &graph.nodes[it];
            width_of(&node.label).max(width_of(&node.detail)) + 20.0
        }
        GraphItem::Region(it) => width_of(&heading(graph, it)),
    });
    let back = layout.back_edge_ends(graph).fold(0.0, f64::max);
    let width = layout.regions[0].width.max(back).max(width_of(&graph.title) * 1.3);
    (layout, width + 2.0 * MARGIN)
}

fn heading(graph: &Graph, region: usize) -> String {
    let region = &graph.regions[region];
    format!("{}, line {}", region.label, region.line)
}

impl Layout {
    /// Returns the right ends of the edges that go back to earlier nodes.
    fn back_edge_ends<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = f64> + 'a {
        graph.edges.iter().filter_map(|it| {
            let (from, to) = (self.nodes[it.from], self.nodes[it.to]);
            (to.y <= from.y + NODE_HEIGHT).then(|| back_edge_x(from, to) + ITEM_GAP)
        })
    }
}

/// Returns the x position of an edge that goes back.
fn back_edge_x(from: NodeBox, to: NodeBox) -> f64 {
    (from.x + from.width).max(to.x + to.width) + ITEM_GAP
}

/// Draws a graph, moved to the right by `dx`.
fn draw_graph(out: &mut String, graph: &Graph, layout: &Layout, dx: f64) {
    let _ = writeln!(
        out,
        "<g transform=\"translate({dx:.1} 0)\">\n<text class=\"title\" x=\"{MARGIN}\" y=\"26\">{}</text>\n\
         <g transform=\"translate({MARGIN} {:.1})\">",
        escape_xml(&graph.title),
        MARGIN + TITLE
    );
    for (at, place) in layout.regions.iter().enumerate().skip(1) {
        let NodeBox { x, y, width, height } = place;
        let _ = writeln!(
            out,
            "<g class=\"region\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            x + REGION_PADDING,
            y + REGION_TITLE_HEIGHT - 6.0,
            escape_xml(&heading(graph, at))
        );
    }
    for edge in &graph.edges {
        let (from, to) = (layout.nodes[edge.from], layout.nodes[edge.to]);
        let (x1, y1) = (from.x + from.width / 2.0, from.y + NODE_HEIGHT);
        let (x2, y2) = (to.x + to.width / 2.0, to.y - 1.0);
        let class = if edge.is_carried { "edge carried" } else { "edge" };
        let (c1, c2, bend) = if y2 > y1 {
            (x1, x2, (y2 - y1) / 2.0)
        } else {
            // An edge that goes back is drawn around the side.
            (back_edge_x(from, to), back_edge_x(from, to), ROW_GAP)
        };
        let _ = writeln!(
            out,
            "<path class=\"{class}\" marker-end=\"url(#tip)\" d=\"M{x1:.1} {y1:.1}C{c1:.1} {:.1} {c2:.1} {:.1} {x2:.1} {y2:.1}\"/>",
            y1 + bend,
            y2 - bend
        );
    }
    for (node, &NodeBox { x, y, width, .. }) in graph.nodes.iter().zip(&layout.nodes) {
        let (fill, rim) = colors(node.look);
        let class = match node.look {
            NodeLook::FirstOverBudget => "node violation",
            NodeLook::Proposed => "node proposed",
            _ => "node",
        };
        let radius = if matches!(node.look, NodeLook::Reset | NodeLook::Proposed) { 16 } else { 5 };
        let title = node.origin.map_or("proposed".to_owned(), |line| format!("line {line}"));
        let middle = x + width / 2.0;
        let _ = writeln!(
            out,
            "<g class=\"{class}\"><title>{title}</title>\
             <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{NODE_HEIGHT}\" rx=\"{radius}\" fill=\"{fill}\" stroke=\"{rim}\"/>\
             <text class=\"label\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text> <text class=\"detail\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text></g>",
            y + if node.detail.is_empty() { 23.0 } else { 16.0 },
            escape_xml(&node.label),
            y + 31.0,
            escape_xml(&node.detail)
        );
    }
    out.push_str("</g>\n</g>\n");
}
