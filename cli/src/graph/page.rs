//! As a page: the picture with a legend, zoom, search and the keyboard, light, dark or in high contrast, as its reader has it. In the panel of an editor a click
//! tells the line, and the line of the cursor selects a node.
//!
//! All is in the page, and its policy lets nothing else run: the script is named by a hash of the picture, which nothing inside of the picture can know.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::{Graph, Look, colors, svg};
use crate::format::xml;

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
    let nonce: String =
        Sha256::digest(&picture).iter().map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'\">\n\
         <title>{name}: noise</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n\
         <ul>{items}<li>dashed line: carried by a loop, a branch or a block</li></ul>\n\
         <div class=\"bar\"><input type=\"search\" placeholder=\"Search ( / )\" aria-label=\"Search\"> <output></output>\
         <button type=\"button\" data-key=\"-\" aria-label=\"Zoom out\">\u{2212}</button><button type=\"button\" data-key=\"+\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" data-key=\"0\">Fit</button><span role=\"status\"></span></div>\n\
         <main tabindex=\"0\" aria-label=\"Noise graph. Arrow keys follow the edges, Enter goes to the op, plus and minus zoom, 0 fits, slash searches.\">\n{picture}</main>\n\
         <script nonce=\"{nonce}\">\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
