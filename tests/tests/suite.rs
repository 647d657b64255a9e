//! The annotated programs of `suite/`: comments contain the noise of every noisy value, and every
//! diagnostic.
//!
//! ```text
//!   %0 = noisy.mul %a, %b : !noisy.i32  // noise: 24
//!   %1 = noisy.mul %0, %0 : !noisy.i32  // noise: over 48
//!      //^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 48 bits, 22 over the 26-bit budget
//! ```
//!
//! The comment after a line gives the noise of the values that the line defines, in order: the
//! upper bound, `over` and the bound, `unknown` or `unreached`. The carets below a line mark the
//! range of a diagnostic; `//@3-9` gives columns that carets cannot reach. A first line `// checks:
//! CODE, CODE` turns on rules that are off by default. A file passes if annotating the program
//! without annotations gives the same file, so a missing annotation is a failure. Lines in messages
//! are those of the program without annotations. `BLESS=1 cargo test -p noisy-tests --test suite`
//! writes the annotations; read the diff.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use noisy_analyses::{Diagnostic, Document, Noise, Severity};
use noisy_syntax::{Region, Value};

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|it| it == "mlir") {
            out.push(path);
        }
    }
}

/// The program without its annotations.
fn strip(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if let Some(comment) = trimmed.strip_prefix("//")
            && (comment.trim_start().starts_with('^') || comment.starts_with('@'))
        {
            continue;
        }
        match line.find("// noise: ") {
            Some(at) => {
                out.push_str(line[..at].trim_end());
                out.push_str(&line[line.trim_end_matches(['\r', '\n']).len()..]);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// All noisy values of a document, by the offset of their names.
fn noisy_values(document: &Document) -> BTreeMap<usize, Vec<Value>> {
    let ir = document.ir();
    let mut out: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    let mut add = |values: &[Value]| {
        for &value in values {
            if document.is_noisy(value)
                && let Some(op) = ir.definition_site(value)
            {
                let at = ir.absolute(op, ir.value(value).span).start;
                out.entry(at).or_default().push(value);
            }
        }
    };
    let mut stack: Vec<Region> = vec![ir.root()];
    while let Some(region) = stack.pop() {
        add(&ir.block(ir.region(region).entry).args);
        for op in ir.items(region) {
            add(&ir.op(op).results);
            stack.extend(ir.op(op).regions.iter().map(|it| it.1));
        }
    }
    out
}

fn noise_text(document: &Document, value: Value) -> String {
    let budget = document.model().budget;
    match *document.noise(value) {
        Noise::AtMost(u32::MAX) => "over".into(),
        Noise::AtMost(hi) if hi > budget => format!("over {hi}"),
        Noise::AtMost(hi) => hi.to_string(),
        Noise::Bottom => "unreached".into(),
        Noise::Unknown => "unknown".into(),
    }
}

fn diagnostic_marker(text: &str, line_start: usize, line_len: usize, it: &Diagnostic) -> String {
    let severity = match it.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    };
    let start = text[line_start..it.range.start].chars().count();
    let end = it.range.end.min(line_start + line_len);
    let width = text[it.range.start.min(end)..end].chars().count().max(1);
    let says = format!("{severity}[{}]: {}", it.code, it.message);
    if start < 2 {
        return format!("//@{}-{} {says}\n", start + 1, start + 1 + width);
    }
    let indent = text[line_start..].chars().take_while(|it| *it == ' ').count().min(start - 2);
    let gap = " ".repeat(start - 2 - indent);
    format!("{}//{gap}{} {says}\n", " ".repeat(indent), "^".repeat(width))
}

/// Returns a program with its annotations.
fn annotate(plain: &str) -> String {
    let document = Document::new(plain);
    let values = noisy_values(&document);
    let also = plain.lines().next().and_then(|it| it.strip_prefix("// checks: "));
    let also: Vec<&str> = also.map_or(Vec::new(), |it| it.split(", ").collect());
    let diagnostics = document.diagnostics_with(&also);
    let mut out = String::new();
    let mut start = 0;
    for line in plain.split_inclusive('\n') {
        let len = line.trim_end_matches(['\r', '\n']).len();
        let is_last = start + line.len() == plain.len();
        out.push_str(&line[..len]);
        let noises: Vec<String> = values
            .range(start..start + line.len())
            .flat_map(|(_, values)| values.iter().map(|&it| noise_text(&document, it)))
            .collect();
        if !noises.is_empty() {
            let _ = write!(out, "  // noise: {}", noises.join(", "));
        }
        out.push_str(&line[len..]);
        for it in &diagnostics {
            let at = it.range.start;
            if (start..start + line.len()).contains(&at) || (is_last && at == plain.len()) {
                if !out.ends_with('\n') {
                    out.push('\n');
                }
                out.push_str(&diagnostic_marker(plain, start, len, it));
            }
        }
        start += line.len();
    }
    out
}

#[test]
fn suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite");
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    assert!(!paths.is_empty(), "no programs in {}", folder.display());
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        let found = annotate(&strip(&text));
        if found == text {
            continue;
        }
        if bless {
            fs::write(path, &found).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
            continue;
        }
        let _ = writeln!(wrong, "{}:", path.strip_prefix(&folder).unwrap_or(path).display());
        let (mut old, mut new) = (text.lines(), found.lines());
        let (mut n, mut shown) = (0, 0);
        loop {
            n += 1;
            match (old.next(), new.next()) {
                (None, None) => break,
                (old, new) if old != new && shown < 5 => {
                    shown += 1;
                    let (old, new) = (old.unwrap_or("(end)"), new.unwrap_or("(end)"));
                    let _ = writeln!(wrong, "  {n} expected: {old}\n  {n} found:    {new}");
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn annotations_are_complete() {
    let plain =
        "func.func @f(%a: !noisy.i32) {\n  %0 = noisy.mul %a, %a : !noisy.i32\n  return\n}\n";
    let annotated = annotate(plain);
    assert_eq!(annotated.matches("// noise: ").count(), 2);
    assert_eq!(strip(&annotated), plain);
    assert_ne!(annotated, plain);
}
