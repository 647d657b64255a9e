//! The noise models of `examples/`: each folder has a `noisy.toml`, a program over its budget, and
//! the fixed program. `BLESS=1 cargo test -p noisy-tests --test models` writes the fixed program;
//! read the diff.

use std::fs;
use std::path::Path;

use noisy_analyses::{Document, PlacementOptions, Severity, insert_reduces};
use noisy_placement::PlacementLimits;
use noisy_settings::{Config, Overrides};

/// The noise of every noisy value, as `%name noise`.
fn noise_facts(document: &Document) -> Vec<String> {
    let ir = document.ir();
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        for &value in &ir.op(op).results {
            if document.is_noisy(value) {
                out.push(format!("{} {}", ir.value_text(value), document.noise(value)));
            }
        }
    });
    out
}

fn check_example(folder: &str, program: &str, n_inserted: usize, expected: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(folder);
    let read = |name: &str| fs::read_to_string(root.join(name)).expect(name);
    let config = Config::from_toml(&read("noisy.toml"), &root, &Overrides::default());
    let model = config.expect("a sound configuration").settings().model.noise().clone();
    let text = read(&format!("{program}.mlir"));
    let document = Document::with_model(&text, model.clone());
    let is_error = |it: &noisy_analyses::Diagnostic| it.severity == Severity::Error;
    let errors: Vec<_> = document.diagnostics().into_iter().filter(is_error).collect();
    assert!(
        errors.iter().all(|it| it.code == "noise-overflow") && !errors.is_empty(),
        "{errors:?}"
    );
    let limits =
        PlacementLimits { time: None, work: Some(10_000_000), ..PlacementLimits::default() };
    let options = PlacementOptions { limits, ..PlacementOptions::default() };
    let outcome =
        insert_reduces(&document, &document.ir().functions(), &options).expect("an answer");
    assert!(outcome.functions.iter().all(|it| it.verdict.is_optimal()), "{outcome:?}");
    assert_eq!(outcome.n_inserted(), n_inserted);
    let after = outcome.fix.expect("a fix").apply(&text);
    let golden = root.join(format!("{program}.fixed.mlir"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &after).expect("written");
    }
    assert_eq!(after, fs::read_to_string(&golden).expect("the fixed program"));
    let fixed = Document::with_model(&after, model);
    assert!(!fixed.diagnostics().iter().any(is_error), "{:?}", fixed.diagnostics());
    assert_eq!(noise_facts(&fixed), expected);
}

#[test]
fn levels() {
    let expected = [
        "%x2 [0, 1]",
        "%x4 [0, 2]",
        "%x8 [0, 3]",
        "%y [0, 3]",
        "%s [0, 3]",
        "%s_r [0, 0]",
        "%r [0, 0]",
        "%t [0, 0]",
        "%u [0, 1]",
    ];
    check_example("levels", "polynomial", 1, &expected);
}

#[test]
fn bits() {
    // 61 + 42 + 31 = 134 and so on; the seventh would have 2 * 673 + 31 = 1377.
    let expected = [
        "%0 [0, 61]",
        "%1 [0, 134]",
        "%2 [0, 299]",
        "%3 [0, 311]",
        "%4 [0, 653]",
        "%5 [0, 673]",
        "%r5 [0, 180]",
        "%6 [0, 391]",
        "%7 [0, 602]",
    ];
    check_example("bits", "product", 1, &expected);
}
