//! Pictures as pages of their own: light, dark or in high contrast, as their reader or the editor around has it; no file and no network.
//!
//! The policy of a page lets nothing else run: its script is named by a hash of the text around, which nothing inside of that text can
//! know.

use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::write::Output;
use crate::{CLEAN, FAILED, complain};

const THEME: &str = include_str!("page.css");

/// A page; title and body are HTML.
pub(crate) fn page(title: &str, style: &str, body: &str, script: &str) -> String {
    let nonce: String =
        Sha256::digest(body).iter().map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'\">\n\
         <title>{title}</title>\n<style>\n{THEME}{style}</style>\n</head>\n<body>\n{body}<script nonce=\"{nonce}\">\n{script}</script>\n</body>\n</html>\n"
    )
}

/// Writes a picture to a file or to standard output, or says why there is none; the exit code.
///
/// # Errors
///
/// When the output cannot be written.
pub(crate) fn deliver(picture: Result<String, String>, file: Option<&Path>) -> io::Result<i32> {
    match (picture, file) {
        (Ok(text), Some(path)) => {
            let mut out = Output::to_file(path)?;
            out.write_all(text.as_bytes())?;
            out.finish()?;
            Ok(CLEAN)
        }
        (Ok(text), None) => {
            io::stdout().write_all(text.as_bytes())?;
            Ok(CLEAN)
        }
        (Err(why), _) => {
            complain(&format!("noisy-check: {why}"));
            Ok(FAILED)
        }
    }
}
