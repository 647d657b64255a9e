//! Pages of HTML of their own: light, dark or in high contrast, as their reader or the editor around has it; no file and no network.
//!
//! The policy of a page lets nothing else run: its script is named by a hash of the text around, which nothing inside of that text can
//! know.

pub mod recording;
mod replay;

use sha2::{Digest, Sha256};

const THEME: &str = include_str!("theme.css");

/// A page; title and body are HTML.
pub fn page(title: &str, style: &str, body: &str, script: &str) -> String {
    let nonce: String =
        Sha256::digest(body).iter().map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'\">\n\
         <title>{title}</title>\n<style>\n{THEME}{style}</style>\n</head>\n<body>\n{body}<script nonce=\"{nonce}\">\n{script}</script>\n</body>\n</html>\n"
    )
}

/// Data as an element that the script of a page reads.
pub fn data(value: &serde_json::Value) -> String {
    // In a script `<` could begin its end.
    let text = value.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\">{text}</script>\n")
}

/// Text in XML or HTML, in an attribute or not.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // XML 1.0 has no way to write these.
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
