//! Rules of the style guide in `CONTRIBUTING.md` that a program can check: the start and the width
//! of comments, and the size of folders.

use std::fs;
use std::path::{Path, PathBuf};

const MAX_WIDTH: usize = 100;
const MAX_ENTRIES: usize = 16;

/// The comments of this file are the help texts of the command line, which clap wraps.
const HELP_TEXTS: &str = "cli/src/input/args.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Calls `visit` with each folder that contains Rust code of the workspace and with its entries.
fn folders(folder: &Path, visit: &mut dyn FnMut(&Path, &[PathBuf])) {
    let entries = fs::read_dir(folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let mut entries: Vec<PathBuf> =
        entries.map(|it| it.expect("a readable folder").path()).collect();
    entries.retain(|it| {
        let name = it.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && name != "target" && name != "node_modules"
    });
    entries.sort();
    visit(folder, &entries);
    for entry in entries.iter().filter(|it| it.is_dir()) {
        folders(entry, visit);
    }
}

/// The text of a comment line, without its slashes.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.strip_prefix(['/', '!']).unwrap_or(text).trim_start())
}

/// Mistakes in the comments of a file, each with its line.
fn mistakes(text: &str, is_help: bool) -> Vec<(usize, &'static str)> {
    let mut out = Vec::new();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        let Some(comment) = comment(line) else { continue };
        if comment.starts_with("```") {
            is_code = !is_code;
        }
        if ["What ", "Whether ", "Who "].iter().any(|it| comment.starts_with(it)) {
            out.push((at + 1, "starts with a question word"));
        }
        // Examples, tables and links cannot be wrapped.
        let is_fixed = is_code || comment.starts_with('|') || comment.contains("://");
        if line.chars().count() > MAX_WIDTH && !is_fixed && !is_help {
            out.push((at + 1, "is wider than 100 columns"));
        }
    }
    out
}

#[test]
fn comments_follow_the_style_guide() {
    let mut wrong = Vec::new();
    let mut n_files = 0;
    folders(&root(), &mut |_, entries| {
        for path in entries.iter().filter(|it| it.extension().is_some_and(|it| it == "rs")) {
            n_files += 1;
            let text = fs::read_to_string(path).expect("a readable file");
            let is_help = path.ends_with(HELP_TEXTS);
            for (line, what) in mistakes(&text, is_help) {
                wrong.push(format!("{}:{line} {what}", path.display()));
            }
        }
    });
    assert!(n_files > 500, "only {n_files} files");
    assert!(wrong.is_empty(), "{} comments:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn mistakes_in_comments_are_found() {
    let wide = format!("// {}", "word ".repeat(30));
    let text = format!("//! What it is.\nlet x = 1; // Whether\n/// Fine.\n{wide}\n");
    let lines: Vec<usize> = mistakes(&text, false).into_iter().map(|it| it.0).collect();
    assert_eq!(lines, [1, 4]);
}

#[test]
fn folders_of_the_product_are_small() {
    let mut wrong = Vec::new();
    folders(&root(), &mut |folder, entries| {
        let is_product = folder.components().any(|it| it.as_os_str() == "src");
        if is_product && entries.len() > MAX_ENTRIES {
            wrong.push(format!("{}: {} entries", folder.display(), entries.len()));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
