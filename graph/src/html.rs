//! Writes a graph as a page with a legend, foldable regions, zoom, search and keyboard control,
//! with the light, dark or high-contrast theme of the reader's system. In a panel of an editor, a
//! click reports the line, and the line of the cursor selects a node.
//!
//! The page contains nodes, edges and rows as data. Its script positions the rows, again after each
//! fold, and paints the visible part on a canvas. With a DOM element for each of 5,000 nodes, a
//! browser would need over a second per frame.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::layout::{self, ITEM_GAP, NODE_HEIGHT, REGION_PADDING, REGION_TITLE_HEIGHT, ROW_GAP};
use super::{Graph, GraphItem, NodeLook, colors};
use noisy_page::{data_element, escape_xml, page};

const SCRIPT: &str = concat!(include_str!("scene.js"), include_str!("page.js"));
const STYLE: &str = include_str!("page.css");
/// Assumed width of a character, to order the rows; the page measures its own font.
const CHAR_WIDTH: f64 = 7.3;

/// Returns a page with the graphs side by side.
pub fn draw(name: &str, graphs: &[Graph]) -> String {
    let legend = [
        (NodeLook::Within(40), "within the budget; the darker, the less is left"),
        (NodeLook::FirstOverBudget, "first over the budget"),
        (NodeLook::OverBudget, "over the budget because of an earlier op"),
        (NodeLook::Reset, "reduces noise"),
        (NodeLook::Proposed, "proposed by the optimizer"),
        (NodeLook::Unknown, "noise unknown"),
    ];
    let mut items = String::new();
    for (look, what) in legend {
        let (fill, rim) = colors(look);
        let dashed = if look == NodeLook::Proposed { ";border-style:dashed" } else { "" };
        let _ = write!(
            items,
            "<li><span style=\"background:{fill};border-color:{rim}{dashed}\"></span>{what}</li>"
        );
    }
    let name = escape_xml(name);
    let data = data_element(&scene(graphs));
    let body = format!(
        "<h1>{name}</h1>\n\
         <ul>{items}<li>dashed line: carried by a loop, a branch or a block</li></ul>\n\
         <div class=\"bar\"><input type=\"search\" placeholder=\"Search ( / )\" aria-label=\"Search\"> <output></output>\
         <button type=\"button\" data-key=\"-\" aria-label=\"Zoom out\">\u{2212}</button><button type=\"button\" data-key=\"+\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" data-key=\"0\" title=\"Show the whole picture ( 0 )\">Fit</button>\
         <button type=\"button\" data-key=\"n\" title=\"Go to the next op over the budget ( n, back: N )\">Next over budget</button>\
         <button type=\"button\" data-key=\"f\" title=\"Fold all loops and other regions ( f ); Space folds one\">Fold all</button>\
         <button type=\"button\" data-key=\"u\" title=\"Unfold all loops and other regions ( u )\">Unfold all</button>\
         <span role=\"status\"></span></div>\n\
         <main tabindex=\"0\" role=\"application\" aria-activedescendant=\"selected\" aria-label=\"Noise graph. Arrow keys follow the edges, \
         Enter goes to the op, Space folds or unfolds a region, f folds all, u unfolds all, n goes to the next op over the budget, \
         plus and minus zoom, 0 fits, slash searches.\">\
         <canvas></canvas><div id=\"selected\" role=\"img\" hidden></div></main>\n\
         {data}"
    );
    page(&format!("{name}: noise"), STYLE, &body, SCRIPT)
}

fn scene(graphs: &[Graph]) -> Value {
    json!({
        "sizes": { "height": NODE_HEIGHT, "gap": ITEM_GAP, "drop": ROW_GAP, "pad": REGION_PADDING, "head": REGION_TITLE_HEIGHT },
        "graphs": graphs.iter().map(graph).collect::<Vec<_>>(),
    })
}

fn graph(graph: &Graph) -> Value {
    let chars = |text: &str| text.chars().count() as f64 * CHAR_WIDTH;
    let layout = layout::layout(graph, |item| match item {
        GraphItem::Node(it) => {
            chars(&graph.nodes[it].label).max(chars(&graph.nodes[it].detail)) + 20.0
        }
        GraphItem::Region(it) => chars(&graph.regions[it].label),
    });
    let nodes = graph.nodes.iter().map(|it| {
        let (fill, rim) = colors(it.look);
        json!({ "label": it.label, "detail": it.detail, "line": it.origin, "look": css_class(it.look), "fill": fill, "rim": rim })
    });
    let folded = folded(graph);
    let regions =
        graph.regions.iter().zip(&folded).zip(&layout.rows).map(|((it, folded), rows)| {
            let (fill, rim) = colors(folded.look);
            let rows: Vec<Vec<Value>> = rows
                .iter()
                .map(|row| {
                    let of = |it: &GraphItem| match it {
                        GraphItem::Node(it) => json!({ "node": it }),
                        GraphItem::Region(it) => json!({ "region": it }),
                    };
                    row.iter().map(of).collect()
                })
                .collect();
            json!({
                "label": it.label, "line": it.origin, "detail": folded.words(),
                "look": css_class(folded.look), "fill": fill, "rim": rim, "rows": rows,
            })
        });
    let edges = graph.edges.iter().map(|it| json!([it.from, it.to, u8::from(it.is_carried)]));
    json!({
        "title": graph.title,
        "nodes": nodes.collect::<Vec<_>>(),
        "regions": regions.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

/// Returns the CSS class of a look.
fn css_class(look: NodeLook) -> &'static str {
    match look {
        NodeLook::FirstOverBudget => "violation",
        NodeLook::Proposed => "proposed",
        NodeLook::Reset => "reset",
        _ => "",
    }
}

/// The summary of a folded region.
#[derive(Clone, Copy)]
struct FoldedRegion {
    nodes: usize,
    over: usize,
    /// The most severe look in the region.
    look: NodeLook,
}

impl FoldedRegion {
    fn words(self) -> String {
        let values = match self.nodes {
            1 => "1 value".to_owned(),
            n => format!("{n} values"),
        };
        match self.over {
            0 => values,
            over => format!("{values}, {over} over budget"),
        }
    }
}

fn folded(graph: &Graph) -> Vec<FoldedRegion> {
    let mut out =
        vec![FoldedRegion { nodes: 0, over: 0, look: NodeLook::Sink }; graph.regions.len()];
    for node in &graph.nodes {
        let region = &mut out[node.region];
        region.nodes += 1;
        region.over +=
            usize::from(matches!(node.look, NodeLook::FirstOverBudget | NodeLook::OverBudget));
        region.look = region.look.max(node.look);
    }
    for at in (1..out.len()).rev() {
        let inner = out[at];
        let outer = &mut out[graph.regions[at].parent];
        outer.nodes += inner.nodes;
        outer.over += inner.over;
        outer.look = outer.look.max(inner.look);
    }
    out
}
