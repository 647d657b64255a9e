//! Documentation of diagnostic codes as files in the user's cache, written once for each version of
//! the server, so that the links of diagnostics work without a network.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use noisy_analyses::Rule;
use rustc_hash::FxHashMap;
use tower_lsp::ls_types as lsp;

use super::Connection;
use crate::log;

/// The URI of the page of each diagnostic code.
pub(crate) type CodePages = FxHashMap<&'static str, lsp::Uri>;

/// Writes the pages, if the client follows links of diagnostic codes. Runs before any document is
/// opened.
pub(crate) fn write_pages(connection: &Connection) {
    let Some(folder) = cache_folder().filter(|_| connection.capabilities().code_description) else {
        return;
    };
    match write_all(&folder) {
        Ok(links) => connection.set_code_pages(links),
        Err(error) => log::line(format_args!("{}: {error}", folder.display())),
    }
}

/// Returns the URI of the page of a code.
pub(crate) fn page_of_code(connection: &Connection, code: &str) -> Option<lsp::Uri> {
    connection.code_pages()?.get(code).cloned()
}

fn cache_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|it: &OsString| !it.is_empty());
    let home = || named("HOME").map(PathBuf::from);
    let cache = if cfg!(windows) {
        named("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|it| it.join("Library/Caches"))
    } else {
        named("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(home()?.join(".cache")))
    };
    Some(cache.filter(|it| it.is_absolute())?.join("noisy").join(env!("CARGO_PKG_VERSION")))
}

fn write_all(folder: &Path) -> std::io::Result<CodePages> {
    fs::create_dir_all(folder)?;
    let mut links = CodePages::default();
    for rule in Rule::all() {
        let (code, text) = (rule.code(), rule.page());
        let path = folder.join(format!("{code}.md"));
        links.extend(lsp::Uri::from_file_path(&path).map(|it| (code, it)));
        if fs::read_to_string(&path).is_ok_and(|it| it == text) {
            continue;
        }
        // Other servers may read and write the same file; each sees a complete one.
        let new = folder.join(format!("{code}.{}", std::process::id()));
        fs::write(&new, text)?;
        fs::rename(&new, &path)?;
    }
    Ok(links)
}
