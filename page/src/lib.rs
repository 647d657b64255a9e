//! Self-contained HTML pages, without other files and network. The reader or the editor chooses a
//! light, dark or high-contrast theme.
//!
//! The content security policy of a page allows only its own script, which it names by a hash. No
//! text inside the page can contain that hash.

pub mod recording;
mod replay;

use sha2::{Digest, Sha256};

const THEME: &str = include_str!("theme.css");

/// Returns a page; title and body are HTML.
pub fn page(title: &str, style: &str, body: &str, script: &str) -> String {
    let nonce: String =
        Sha256::digest(body).iter().map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'\">\n\
         <title>{title}</title>\n<style>\n{THEME}{style}</style>\n</head>\n<body>\n{body}<script nonce=\"{nonce}\">\n{script}</script>\n</body>\n</html>\n"
    )
}

/// Returns an element that contains data for the script of a page.
pub fn data_element(value: &serde_json::Value) -> String {
    // Inside a script, `<` could start its end tag.
    let text = value.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\">{text}</script>\n")
}

/// Escapes text for XML or HTML, including attribute values.
pub fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // XML 1.0 cannot represent these characters.
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
