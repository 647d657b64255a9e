//! Writes a page with the original order and, beside it, another order that the reader chooses.

use std::fmt::Write as _;

use noisy_loops::space::IterationSpace;

use super::svg;
use noisy_page::{escape_xml, page};

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// The page; the order with index `after` is shown first.
pub(super) fn draw(name: &str, space: &IterationSpace, after: Option<usize>) -> String {
    let chosen = after.unwrap_or(0);
    let ivs = space.iv_names.join(" and ");
    let lines: Vec<String> = space.lines.iter().map(ToString::to_string).collect();
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let title = format!("{}: iterations over {}", escape_xml(file), escape_xml(&ivs));
    let before = svg::figure(space, None, "a").element(
        " tabindex=\"0\" role=\"img\" aria-label=\"The iterations as written. Arrow keys go from point to point, Enter goes to the line of a dependence.\"",
    );
    let at = if lines.len() > 1 {
        format!("lines {}", lines.join(" and "))
    } else {
        format!("line {}", lines.concat())
    };
    let mut body = format!("<h1>{title}, {at}</h1>\n");
    if !space.changes.is_empty() {
        body += "<fieldset><legend>Another order</legend>\n";
        for (n, it) in space.changes.iter().enumerate() {
            let checked = if n == chosen { " checked" } else { "" };
            let (class, sign) = if it.legality.is_ok() {
                ("yes", "\u{2713} allowed")
            } else {
                ("no", "\u{2717} refused")
            };
            let _ = writeln!(
                body,
                "<label><input type=\"radio\" name=\"order\" value=\"{n}\"{checked}>{} <span class=\"{class}\">{sign}</span></label>",
                escape_xml(&it.change.title(&space.iv_names))
            );
        }
        body += "</fieldset>\n";
    }
    let _ = write!(
        body,
        "<main>\n<figure id=\"before\"><p>As written: row by row, from left to right.</p>\n{before}</figure>\n"
    );
    if !space.changes.is_empty() {
        body += "<figure id=\"after\">\n";
        for (n, it) in space.changes.iter().enumerate() {
            let hidden = if n == chosen { "" } else { " hidden" };
            let words = match (&it.legality, it.backward.is_empty()) {
                (Ok(()), _) => "Allowed: every dependence still points forward.".to_owned(),
                (Err(why), false) => format!("Refused, {why}: red arrows point backward."),
                (Err(why), true) => {
                    format!("Refused, {why}; all drawn iterations are in the right order.")
                }
            };
            let figure = svg::figure(space, Some(it), &format!("b{n}"));
            let _ = writeln!(
                body,
                "<div class=\"order\" data-order=\"{n}\"{hidden}><p>{}</p>\n{}</div>",
                escape_xml(&words),
                figure.element(" role=\"img\" aria-label=\"The iterations in the other order\"")
            );
        }
        body += "</figure>\n";
    }
    body += "</main>\n<p role=\"status\"></p>\n<ul>\
             <li>number in a point: when it is executed</li><li>line: flow (a load after the store)</li><li>dashed: anti (a store after the load)</li>\
             <li>dotted: output (a store after a store)</li><li class=\"no\">red: points backward</li>\
             <li>An arrow leads to the next access of the element that must come after it; all others follow from these.</li></ul>\n";
    if !space.notes.is_empty() {
        body += "<ul class=\"notes\">";
        for it in &space.notes {
            let _ = write!(body, "<li>{}</li>", escape_xml(it));
        }
        body += "</ul>\n";
    }
    page(&title, &format!("{}\n{STYLE}", svg::STYLE), &body, SCRIPT)
}
