//! Constants, decisions and ranges compared with `mlir-opt --sccp` and `--int-range-optimizations`
//! of LLVM 19, on the programs of `tests/corpus` and on random ones.
//!
//! After every value of an integer or float type, the test inserts `"probe.use"(%value) {id = N}`.
//! If `mlir-opt` finds a constant, the operand of the probe becomes the result of an
//! `arith.constant`. Our constant must be equal: it is *missed* if ours is unknown, and
//! *contradicted* if ours differs. Constants that only our analysis finds are counted but are not
//! errors, because they may be correct. If `mlir-opt` removes a remainder, our ranges must imply
//! the removal.
//!
//! Without `mlir-opt` the tests print that they are skipped; with `CI` set they fail. `cargo test
//! --release -p noisy-tests --test oracle -- --nocapture` prints the figures.

mod programs;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use noisy_analyses::Document;
use noisy_dataflow::flow;
use noisy_integers::Integers;
use noisy_integers::constant::Constant;
use noisy_integers::elements::elements;
use noisy_integers::range::Bounds;
use noisy_syntax::{Def, Op, OpKind, Source, Value};

const DIALECTS: [&str; 7] = ["affine", "arith", "builtin", "cf", "func", "memref", "scf"];
const TOOLS: [&str; 3] = ["mlir-opt-19", "/usr/lib/llvm-19/bin/mlir-opt", "mlir-opt"];

/// The command `mlir-opt` of LLVM 19, if it is installed.
fn find_mlir_opt() -> Option<&'static str> {
    let found = TOOLS.into_iter().find(|it| {
        let version = Command::new(it).arg("--version").output();
        version.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("version 19."))
    });
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "mlir-opt of LLVM 19 is missing");
        println!("skipped: mlir-opt of LLVM 19 is missing");
    }
    found
}

/// Names and texts of the programs of `tests/corpus` whose ops all are of the analyzed dialects.
fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let entries = fs::read_dir(&folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("a readable folder").path()).collect();
    paths.retain(|it| {
        let name = it.to_string_lossy();
        name.ends_with(".mlir") && !name.ends_with(".generic.mlir")
    });
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        for (at, program) in text.split("// -----\n").enumerate() {
            let source = Source::new(program);
            let ir = source.ir();
            let mut is_analyzed = true;
            ir.walk(ir.root(), &mut |op| {
                let name = ir.op_name(op);
                let dialect = name.split('.').next().unwrap_or_default();
                is_analyzed &= dialect.is_empty() || DIALECTS.contains(&dialect);
            });
            if is_analyzed {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                out.push((format!("{stem} {}", at + 1), program.to_owned()));
            }
        }
    }
    out
}

/// A probed value with the facts of our analysis.
struct Probe {
    program: String,
    value: String,
    constant: Constant,
    text: String,
    /// The bounds of the dividend and of the divisor, for a remainder.
    operands: Option<(Bounds, Bounds)>,
}

/// Returns true if a function may be called from outside, or by a live call in a function that may
/// be called.
fn may_be_called(document: &Document, function: Op, through: &mut Vec<Op>) -> bool {
    let (ir, integers) = (document.ir(), document.integers());
    let (calls, is_all) = flow::calls_of(ir, function);
    if !is_all || !flow::is_private(ir, function) {
        return true;
    }
    through.push(function);
    let is_made = |call: &Op| {
        let operands = ir.op(*call).operands.iter().filter_map(|it| it.value);
        let mut operands = operands.filter(|&it| Integers::is_followed(ir, it));
        integers.is_live(ir, *call)
            && operands.all(|it| integers.constant(ir, it) != Constant::Bottom)
    };
    calls.into_iter().filter(is_made).any(|call| {
        let caller = flow::caller(ir, call);
        caller.is_some_and(|it| !through.contains(&it) && may_be_called(document, it, through))
    })
}

/// Returns a text with probes, and adds their facts to `probes`.
fn with_probes(name: &str, text: &str, probes: &mut Vec<Probe>) -> String {
    let document = Document::new(text);
    let (ir, integers) = (document.ir(), document.integers());
    let mut inserts: Vec<(usize, String)> = Vec::new();
    let functions = flow::functions(ir);
    let alone = functions.iter().filter(|it| !may_be_called(&document, **it, &mut Vec::new()));
    let alone: Vec<Op> = alone.copied().collect();
    let mut probe = |values: &[Value], at: usize, remainder: Option<Op>| {
        for &value in values {
            let data = ir.value(value);
            if !Integers::is_followed(ir, value) || data.name == noisy_syntax::Name::EMPTY {
                continue;
            }
            let ty = ir.interner.type_text(data.ty);
            let (shown, id) = (ir.value_text(value), probes.len());
            let line = format!("\n\"probe.use\"({shown}) {{id = {id}}} : ({ty}) -> ()\n");
            inserts.push((at, line));
            let operand =
                |op: Op, at: usize| integers.bounds(ir, ir.op(op).operands.get(at)?.value?);
            // In a private function without live calls, our analysis shows values as if it might be
            // called from outside.
            let function = ir.definition_site(value).and_then(|it| ir.function_of(it));
            let is_alone = function.is_some_and(|it| alone.contains(&it));
            let constant = if is_alone { Constant::Bottom } else { integers.constant(ir, value) };
            probes.push(Probe {
                program: name.to_owned(),
                value: shown,
                constant,
                text: constant_text(constant, integers.elements(constant)),
                operands: remainder.and_then(|it| Some((operand(it, 0)?, operand(it, 1)?))),
            });
        }
    };
    ir.walk(ir.root(), &mut |op| {
        let data = ir.op(op);
        // The body of a `memref.generic_atomic_rmw` must not have side effects.
        let is_closed =
            ir.parent_op(op).is_some_and(|it| ir.op(it).kind == OpKind::MemrefGenericAtomicRmw);
        if is_closed {
            return;
        }
        let remainder = matches!(data.kind, OpKind::ArithRemsi | OpKind::ArithRemui).then_some(op);
        probe(&data.results, ir.range(op).end, remainder);
        if data.kind == OpKind::MemrefGenericAtomicRmw {
            return;
        }
        for &(_, region) in &data.regions {
            for block in ir.blocks(region) {
                let first = ir.block_ops(block).next();
                if let Some(first) = first {
                    probe(&ir.block(block).args, ir.range(first).start, None);
                }
            }
        }
    });
    inserts.sort_by_key(|it| it.0);
    let mut out = String::new();
    let mut at = 0;
    for (place, line) in inserts {
        out.push_str(&text[at..place]);
        out.push_str(&line);
        at = place;
    }
    out.push_str(&text[at..]);
    out
}

/// The result of the tool at a probe.
enum ProbeResult {
    Constant(String),
    /// The operand is not a constant: the kind of its defining op, or `Label` for an argument.
    Other(OpKind),
}

/// Runs a pass of the tool and returns the operands of the probes, by id.
fn run_pass(tool: &str, pass: &str, path: &Path) -> HashMap<usize, ProbeResult> {
    let output = Command::new(tool)
        .args([pass, "--split-input-file", "--mlir-print-op-generic"])
        .arg("--allow-unregistered-dialect")
        .arg(path)
        .output()
        .unwrap_or_else(|it| panic!("{tool}: {it}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {pass}: {}", &said[..said.len().min(2_000)]);
    let source = Source::new(&String::from_utf8_lossy(&output.stdout));
    let ir = source.ir();
    let mut out = HashMap::new();
    ir.walk(ir.root(), &mut |op| {
        if ir.op_name(op) != "probe.use" {
            return;
        }
        let id = ir.attr(op, "id").map(|it| Constant::of_attr(ir, it, noisy_syntax::Type::I64));
        let id = id.and_then(Constant::int).and_then(|it| usize::try_from(it).ok());
        let value = ir.op(op).operands.first().and_then(|it| it.value);
        let (Some(id), Some(value)) = (id, value) else { return };
        let found = match ir.value(value).def {
            Def::Result(defining_op, _) if ir.op(defining_op).kind == OpKind::ArithConstant => {
                let attr = ir.attr(defining_op, "value");
                let ty = ir.value(value).ty;
                let constant = attr.map_or(Constant::Unknown, |it| Constant::of_attr(ir, it, ty));
                let elements = attr.and_then(|it| elements(ir, it, ty));
                let elements = elements.filter(|_| matches!(constant, Constant::Other(_)));
                ProbeResult::Constant(constant_text(constant, elements.as_deref()))
            }
            Def::Result(defining_op, _) => ProbeResult::Other(ir.op(defining_op).kind),
            Def::Argument(..) => ProbeResult::Other(OpKind::Label),
        };
        out.insert(id, found);
    });
    out
}

/// Returns a text for a constant that does not depend on the document. All other attributes have
/// the same text, because their ids differ between documents.
fn constant_text(constant: Constant, elements: Option<&[Constant]>) -> String {
    match elements {
        Some(it) => it.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        None => constant.to_string(),
    }
}

/// Compares the facts of both tools. Returns the statistics, and the errors line by line.
fn compare(pass: &str, probes: &[Probe], found: &HashMap<usize, ProbeResult>) -> (String, String) {
    let (mut n_known, mut n_more, mut n_dead, mut n_missed, mut n_wrong) = (0, 0, 0, 0, 0);
    let mut wrong = String::new();
    let mut n_removed = 0;
    for (id, probe) in probes.iter().enumerate() {
        let Some(found) = found.get(&id) else { continue };
        match found {
            ProbeResult::Constant(theirs) => {
                n_known += 1;
                let ours = probe.constant;
                if ours == Constant::Bottom {
                    n_dead += 1;
                } else if ours == Constant::Unknown {
                    n_missed += 1;
                    let _ = writeln!(
                        wrong,
                        "{pass} missed {theirs}: {} {}",
                        probe.program, probe.value
                    );
                } else if probe.text != *theirs {
                    n_wrong += 1;
                    let _ = writeln!(
                        wrong,
                        "contradicted {theirs} by {}: {} {}",
                        probe.text, probe.program, probe.value
                    );
                }
            }
            ProbeResult::Other(kind) => {
                n_more += usize::from(probe.constant.is_known());
                if let Some((a, b)) = probe.operands
                    && !matches!(*kind, OpKind::ArithRemsi | OpKind::ArithRemui)
                {
                    n_removed += 1;
                    if a.smin < 0 || b.smin <= a.smax {
                        n_missed += 1;
                        let _ = writeln!(
                            wrong,
                            "missed why {a} mod {b} is removed: {} {}",
                            probe.program, probe.value
                        );
                    }
                }
            }
        }
    }
    let figure = format!(
        "{pass}: {} values, {n_known} constants and {n_removed} removed remainders there: {n_missed} missed, {n_wrong} contradicted, {n_dead} unreached here; {n_more} more constants here",
        found.len()
    );
    (figure, wrong)
}

#[test]
fn constants_and_ranges_agree_with_mlir_opt_on_the_corpus() {
    let Some(tool) = find_mlir_opt() else { return };
    let programs = corpus();
    assert!(programs.len() > 25, "only {} programs", programs.len());
    assert_agreement(tool, &programs, "probed", 0);
}

#[test]
fn constants_and_ranges_agree_with_mlir_opt_on_random_programs() {
    let Some(tool) = find_mlir_opt() else { return };
    let programs: Vec<(String, String)> =
        (0..220).map(|seed| (format!("seed {seed}"), programs::program(seed))).collect();
    // The second pass also folds ops with equal operands, and its ranges flow through calls.
    assert_agreement(tool, &programs, "random", 500);
}

/// Runs the tool on programs, given with their names, and compares the facts. Fewer than one in
/// `one_in` facts of the second pass may be missed; if it is 0, none.
fn assert_agreement(tool: &str, chunks: &[(String, String)], file: &str, one_in: usize) {
    let mut probes = Vec::new();
    let texts: Vec<String> =
        chunks.iter().map(|(name, text)| with_probes(name, text, &mut probes)).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{file}.mlir"));
    fs::write(&path, texts.join("\n// -----\n")).unwrap_or_else(|it| panic!("{it}"));
    let mut wrong = String::new();
    println!("{} chunks, {} probes", chunks.len(), probes.len());
    for pass in ["--sccp", "--int-range-optimizations"] {
        let found = run_pass(tool, pass, &path);
        let (figure, mut of_pass) = compare(pass, &probes, &found);
        println!("{figure}");
        if one_in > 0 && pass != "--sccp" {
            let (missed, others): (Vec<&str>, Vec<&str>) =
                of_pass.lines().partition(|it| it.contains(" missed "));
            assert!(missed.len() * one_in < found.len(), "{missed:?}");
            of_pass = others.concat();
        }
        assert!(found.len() * 10 > probes.len() * 9, "most probes were not found again");
        wrong.push_str(&of_pass);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
