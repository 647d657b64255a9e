//! As a page: the picture with a legend, zoom, search and the keyboard, light, dark or in high contrast, as its reader has it. In the panel
//! of an editor a click tells the line, and the line of the cursor selects a node.

use std::fmt::Write as _;

use super::{Graph, Look, colors, svg};
use crate::format::xml;
use crate::page::page;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// One page, the graphs side by side.
pub(super) fn draw(name: &str, graphs: &[Graph]) -> String {
    let legend = [
        (Look::Within(40), "within the budget; darker: less left"),
        (Look::Violation, "first over the budget"),
        (Look::Spoilt, "over the budget because of an earlier op"),
        (Look::Reset, "reduces noise"),
        (Look::Proposed, "proposed by the optimizer"),
        (Look::Unknown, "noise unknown"),
    ];
    let mut items = String::new();
    for (look, what) in legend {
        let (fill, rim) = colors(look);
        let dashed = if look == Look::Proposed { ";border-style:dashed" } else { "" };
        let _ = write!(
            items,
            "<li><span style=\"background:{fill};border-color:{rim}{dashed}\"></span>{what}</li>"
        );
    }
    let (name, picture) = (xml(name), svg::draw(graphs));
    let body = format!(
        "<h1>{name}</h1>\n\
         <ul>{items}<li>dashed line: carried by a loop, a branch or a block</li></ul>\n\
         <div class=\"bar\"><input type=\"search\" placeholder=\"Search ( / )\" aria-label=\"Search\"> <output></output>\
         <button type=\"button\" data-key=\"-\" aria-label=\"Zoom out\">\u{2212}</button><button type=\"button\" data-key=\"+\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" data-key=\"0\">Fit</button><span role=\"status\"></span></div>\n\
         <main tabindex=\"0\" aria-label=\"Noise graph. Arrow keys follow the edges, Enter goes to the op, plus and minus zoom, 0 fits, slash searches.\">\n{picture}</main>\n"
    );
    page(&format!("{name}: noise"), STYLE, &body, SCRIPT)
}
