//! Compares the verdict with HEIR's own lowering: HEIR refuses each program with an error, and
//! lowers each fixed program. Needs `heir-opt` of HEIR 2026.9.1 (`scripts/bootstrap oracles`
//! installs it).

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use noisy_analyses::Document;
use noisy_analyses::repair::placement::PlacementOptions;
use noisy_analyses::repair::{DefaultRules, RepairOptions, RepairScope, repair};

pub(crate) const CKKS: &str = "backend.openfhe, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193, 35184373006337, 35184373989377], P = [1152921504608747521, 1152921504609239041], logDefaultScale = 45>, scheme.ckks";
pub(crate) const BGV: &str = "backend.openfhe, bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [67239937, 17179967489, 17180262401, 17180295169, 17180393473], P = [17180688385, 34359754753, 34360754177], plaintextModulus = 65537>, scheme.bgv";

/// Returns the path of `heir-opt`, if it is installed.
pub(crate) fn heir_opt() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("HEIR_OPT") {
        return Some(path.into());
    }
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.tools/heir/lib");
    let pythons = std::fs::read_dir(tools).into_iter().flatten().flatten();
    let mut all = pythons.map(|it| it.path().join("site-packages/heir/heir-opt"));
    let found = all.find(|it| it.exists());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "heir-opt is missing: scripts/bootstrap oracles");
        eprintln!("skipped: heir-opt is not installed");
    }
    found
}

/// Returns the first error of HEIR's lowering of a program in CKKS or BGV; `None` if it succeeds.
pub(crate) fn refusal(heir_opt: &PathBuf, text: &str) -> Option<String> {
    let scheme = if text.contains("scheme.ckks") { "ckks" } else { "bgv" };
    let slots = if text.contains("tensor<8x") { "=min-slot-count=8" } else { "" };
    let passes = [
        "--annotate-mgmt",
        &format!("--populate-scale-{scheme}"),
        "--secret-distribute-generic",
        "--canonicalize",
        &format!("--secret-to-{scheme}{slots}"),
    ];
    refusal_by(heir_opt, &passes, text)
}

/// Returns the first error of some passes of HEIR; `None` if they report none.
pub(crate) fn refusal_by(heir_opt: &PathBuf, passes: &[&str], text: &str) -> Option<String> {
    let mut child = Command::new(heir_opt)
        .args(passes)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("heir-opt starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("heir-opt reads");
    drop(stdin);
    let out = child.wait_with_output().expect("heir-opt ends");
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    let first = errors.lines().find_map(|it| it.split_once("error: ")).map(|it| it.1.to_owned());
    // Some passes report an error but exit with success.
    first.or_else(|| (!out.status.success()).then_some(errors))
}

/// Returns the codes of the errors of a program.
pub(crate) fn errors(text: &str) -> Vec<&'static str> {
    let found = Document::new(text).diagnostics().into_iter();
    found.filter(|it| it.severity.name() == "error").map(|it| it.code).collect()
}

/// Returns a program after all fixes.
pub(crate) fn fixed(text: &str) -> String {
    let mut document = Document::new(text);
    let options = PlacementOptions::default();
    let wanted =
        RepairOptions { rules: &DefaultRules, unsafe_fixes: true, placement: Some(&options) };
    repair(&mut document, RepairScope::File, &wanted).expect("fixes that pass re-analysis");
    document.source().text().to_string()
}

/// Returns the two examples of a code in the documentation, each in a module with a scheme.
fn examples(code: &str) -> [String; 2] {
    let book = include_str!("../../../docs/diagnostics.md");
    let section = book.split(&format!("\n## {code}:")).nth(1).expect("a section");
    let mut all = section.split("```mlir\n").skip(1).filter_map(|it| it.split("```").next());
    let mut example = || {
        let text = all.next().expect("an example");
        // HEIR only lowers modules with a backend.
        if let Some(rest) = text.strip_prefix("module attributes {") {
            return format!("module attributes {{backend.openfhe, {rest}");
        }
        let params = if text.contains("xi16") { BGV } else { CKKS };
        format!("module attributes {{{params}}} {{\n{text}}}\n")
    };
    [example(), example()]
}

#[test]
fn heir_refuses_the_errors_in_the_documentation() {
    let Some(heir_opt) = heir_opt() else { return };
    for (code, message) in [
        ("missing-relinearize", "x.dim == 2 does not hold"),
        ("unequal-levels", "requires all operands and results to have the same rings"),
        ("unequal-scales", "requires all operands and results to have the same plaintextSpace"),
        ("unencoded-plaintext", "must be lwe-ciphertext-like"),
    ] {
        let [bad, good] = examples(code);
        assert_eq!(errors(&bad), [code], "{bad}");
        let said = refusal(&heir_opt, &bad).expect("a refusal");
        assert!(said.contains(message), "{code}: {said}");
        for text in [good, fixed(&bad)] {
            assert!(errors(&text).is_empty(), "{text}");
            assert_eq!(refusal(&heir_opt, &text), None, "{code}: {text}");
        }
    }
}

/// Returns a CKKS program whose generic has these ops and yields `%r`.
fn ckks_program(lines: &[&str]) -> String {
    let lines: Vec<String> =
        lines.iter().map(|it| format!("      {it} : tensor<8xf32>\n")).collect();
    let lines = lines.concat();
    format!(
        "module attributes {{{CKKS}}} {{
  func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {{
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {{
    ^body(%a: tensor<8xf32>):
{lines}      secret.yield %r : tensor<8xf32>
    }} -> (!secret.secret<tensor<8xf32>>)
    return %0 : !secret.secret<tensor<8xf32>>
  }}
}}
"
    )
}

/// The factors `%r1` and `%4` are results of modulus switches whose operands HEIR raises.
const RAISED: [&str; 10] = [
    "%1 = arith.mulf %a, %a",
    "%2 = mgmt.relinearize %1",
    "%s = mgmt.modreduce %2",
    "%3 = mgmt.modreduce %a",
    "%4 = mgmt.modreduce %s",
    "%r1 = mgmt.level_reduce %3",
    "%5 = arith.mulf %r1, %4",
    "%6 = mgmt.relinearize %5",
    "%r2 = mgmt.level_reduce %3",
    "%r = arith.addf %r2, %6",
];

#[test]
fn heir_refuses_scales_that_it_raises_too_far() {
    let text = ckks_program(&RAISED);
    assert_eq!(errors(&text), ["unequal-scales"], "{text}");
    let after = fixed(&text);
    assert!(errors(&after).is_empty(), "{after}");
    let Some(heir_opt) = heir_opt() else { return };
    let said = refusal(&heir_opt, &text).expect("a refusal");
    assert!(said.contains("to have the same plaintextSpace"), "{said}");
    assert_eq!(refusal(&heir_opt, &after), None, "{after}");
}

#[test]
fn heir_merges_modulus_switches() {
    let lines = [
        "%1 = arith.mulf %a, %a",
        "%2 = mgmt.relinearize %1",
        "%3 = arith.mulf %2, %2",
        "%4 = mgmt.relinearize %3",
        "%5 = mgmt.modreduce %4",
        "%r = mgmt.modreduce %5",
    ];
    let text = ckks_program(&lines);
    assert_eq!(errors(&text), ["unequal-scales"], "{text}");
    let Some(heir_opt) = heir_opt() else { return };
    let said = refusal(&heir_opt, &text).expect("a refusal");
    assert!(said.contains("output plaintext space does not match"), "{said}");
    assert_eq!(refusal(&heir_opt, &fixed(&text)), None);
}

#[test]
fn heir_refuses_the_example_until_it_is_fixed() {
    let Some(heir_opt) = heir_opt() else { return };
    let text = include_str!("../../../examples/heir.mlir");
    assert_eq!(errors(text), ["missing-relinearize"]);
    let said = refusal(&heir_opt, text).expect("a refusal");
    assert_eq!(said, "'ckks.rotate' op x.dim == 2 does not hold");
    assert_eq!(refusal(&heir_opt, &fixed(text)), None);
}

#[test]
fn heir_lowers_programs_without_errors() {
    let Some(heir_opt) = heir_opt() else { return };
    let of = |op: &str| {
        format!(
            "module attributes {{{CKKS}}} {{
  func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {{
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {{
    ^body(%a: tensor<8xf32>):
      %1 = arith.mulf %a, %a : tensor<8xf32>
      %2 = mgmt.relinearize %1 : tensor<8xf32>
      %3 = arith.mulf %1, %2 : tensor<8xf32>
      %4 = {op} %3 : tensor<8xf32>
      secret.yield %4 : tensor<8xf32>
    }} -> !secret.secret<tensor<8xf32>>
    return %0 : !secret.secret<tensor<8xf32>>
  }}
}}
"
        )
    };
    for (op, severity) in [("mgmt.modreduce", "hint"), ("mgmt.bootstrap", "warning")] {
        let text = of(op);
        let found = Document::new(&text).diagnostics();
        let found = found.iter().find(|it| it.code == "missing-relinearize").expect("a report");
        assert_eq!(found.severity.name(), severity, "{op}");
        assert_eq!(errors(&text), [""; 0], "{op}");
        assert_eq!(refusal(&heir_opt, &text), None, "{op}");
    }
}

#[test]
fn the_guide_lists_each_requirement() {
    let guide = include_str!("../../../docs/heir-reference.md");
    let rows = |it: &&str| it.starts_with("| ");
    let rows: Vec<&str> = guide.lines().filter(rows).collect();
    for it in noisy_heir::requirements::OP_REQUIREMENTS
        .iter()
        .chain(noisy_heir::requirements::TYPE_REQUIREMENTS)
    {
        for name in it.ops.iter().chain(it.ops.is_empty().then_some(&"")) {
            let parts: Vec<&str> = it.source.split(", ").chain([*name, it.message]).collect();
            let is_listed = rows.iter().any(|row| parts.iter().all(|part| row.contains(part)));
            assert!(is_listed, "{parts:?}");
        }
    }
    for (reason, message, source) in noisy_heir::UnloweredReason::ALL {
        for part in [message, source] {
            assert!(guide.contains(part), "{part} of {reason:?}");
        }
    }
}

/// Returns a CKKS program whose generic has two operands, these lines, and one or two results.
fn generic(lines: &str, yielded: &[&str]) -> String {
    let secret = "!secret.secret<tensor<8xf32>>";
    let types = vec!["tensor<8xf32>"; yielded.len()].join(", ");
    let secrets = vec![secret; yielded.len()].join(", ");
    let results: Vec<String> = (0..yielded.len()).map(|it| format!("%r#{it}")).collect();
    format!(
        "module attributes {{{CKKS}}} {{
  func.func @f(%x: {secret}, %y: {secret}, %p: tensor<8xf32>, %c: i1, %i: index) -> ({secrets}) {{
    %r:{n} = secret.generic(%x: {secret}, %y: {secret}) {{
    ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
{lines}
      secret.yield {yielded} : {types}
    }} -> ({secrets})
    return {results} : {secrets}
  }}
}}
",
        n = results.len(),
        results =
            results.join(", ").replace("%r#0", if results.len() == 1 { "%r" } else { "%r#0" }),
        yielded = yielded.join(", "),
    )
    .replace("%r:1 =", "%r =")
}

#[test]
fn heir_refuses_each_op_that_is_not_lowered() {
    let Some(heir_opt) = heir_opt() else { return };
    let loop_of = |start: &str| {
        format!(
            "      %0 = affine.for %k = 0 to 2 iter_args(%it = {start}) -> (tensor<8xf32>) {{
        %1 = arith.addf %it, %a : tensor<8xf32>
        affine.yield %1 : tensor<8xf32>
      }}"
        )
    };
    let branches = |second: &str| {
        format!(
            "      %m = arith.mulf %a, %b : tensor<8xf32>
      %n = mgmt.relinearize %m : tensor<8xf32>
      %d = mgmt.modreduce %n : tensor<8xf32>
      %0 = scf.if %c -> (tensor<8xf32>) {{
        %s = arith.addf %d, %d : tensor<8xf32>
        scf.yield %s : tensor<8xf32>
      }} else {{
        %s = arith.addf {second}, {second} : tensor<8xf32>
        scf.yield %s : tensor<8xf32>
      }}"
        )
    };
    let [bad, good] = examples("not-lowered");
    assert_eq!(errors(&bad), ["not-lowered"]);
    let said = refusal(&heir_opt, &bad).expect("a refusal");
    assert!(said.contains("explicitly marked illegal"), "{said}");
    assert_eq!((errors(&good), refusal(&heir_opt, &good)), (Vec::new(), None));
    let one = &["%0"][..];
    let sum = "      %0 = arith.addf %a, %b : tensor<8xf32>";
    let refused = [
        generic("      %0 = arith.maximumf %a, %b : tensor<8xf32>", one),
        generic("      %0 = arith.divf %a, %b : tensor<8xf32>", one),
        generic("      %0 = math.exp %a : tensor<8xf32>", one),
        generic("      %0 = arith.select %c, %a, %b : tensor<8xf32>", one),
        generic("      %0 = mgmt.init %a : tensor<8xf32>", one),
        generic(sum, &["%0", "%0"]),
        generic(&loop_of("%a"), one),
        generic(&branches("%a"), one),
    ];
    for text in refused {
        assert_eq!(errors(&text), ["not-lowered"], "{text}");
        assert!(refusal(&heir_opt, &text).is_some(), "{text}");
    }
    let lowered = [
        generic(sum, one),
        generic("      %0 = arith.negf %a : tensor<8xf32>", one),
        generic(
            "      %0 = arith.addf %a, %b : tensor<8xf32>\n      %1 = arith.addf %0, %b : tensor<8xf32>",
            &["%0", "%0", "%1"],
        ),
        generic(&loop_of("%b"), one),
        generic(&branches("%d"), one),
    ];
    for text in lowered {
        assert_eq!(errors(&text), [""; 0], "{text}");
        assert_eq!(refusal(&heir_opt, &text), None, "{text}");
    }
}

#[test]
fn drops_levels_after_adjusting_the_scale() {
    let text = |lines: &[&str]| {
        let lines: Vec<String> =
            lines.iter().map(|it| format!("      {it} : tensor<8xi16>\n")).collect();
        let secret = "!secret.secret<tensor<8xi16>>";
        format!(
            "module attributes {{{}}} {{
  func.func @f(%x: {secret}, %y: {secret}) -> {secret} {{
    %0 = secret.generic(%x: {secret}, %y: {secret}) {{
    ^body(%a: tensor<8xi16>, %b: tensor<8xi16>):
      %1 = arith.muli %a, %b : tensor<8xi16>
      %2 = mgmt.relinearize %1 : tensor<8xi16>
      %3 = mgmt.modreduce %2 : tensor<8xi16>
{}      secret.yield %r : tensor<8xi16>
    }} -> {secret}
    return %0 : {secret}
  }}
}}
",
            BGV.replace("openfhe", "lattigo"),
            lines.concat(),
        )
    };
    let adjust =
        "%4 = \"mgmt.adjust_scale\"(%a) <{id = 0 : i64}> : (tensor<8xi16>) -> tensor<8xi16>  //";
    let programs = [
        text(&[adjust, "%r = arith.muli %4, %3"]),
        text(&[
            "%m = arith.muli %3, %3",
            "%n = mgmt.relinearize %m",
            "%o = mgmt.modreduce %n",
            adjust,
            "%r = arith.addi %4, %o",
        ]),
        text(&[
            "%m = arith.muli %3, %3",
            "%n = mgmt.relinearize %m",
            "%o = mgmt.modreduce %n",
            adjust,
            "%5 = mgmt.modreduce %4",
            "%r = arith.addi %5, %o",
        ]),
        text(&["%r = arith.addi %a, %3"]),
        text(&[
            "%m = arith.muli %3, %3",
            "%n = mgmt.relinearize %m",
            "%o = mgmt.modreduce %n",
            "%p = arith.muli %o, %o",
            "%q = mgmt.relinearize %p",
            "%s = mgmt.modreduce %q",
            "%t = arith.muli %a, %b",
            "%u = mgmt.modreduce %t",
            "%r = arith.addi %s, %u",
        ]),
    ];
    for text in programs {
        assert_eq!(errors(&text), ["unequal-levels"], "{text}");
        let after = fixed(&text);
        assert!(errors(&after).is_empty(), "{after}");
        let Some(heir_opt) = heir_opt() else { continue };
        assert!(refusal(&heir_opt, &text).is_some(), "{text}");
        assert_eq!(refusal(&heir_opt, &after), None, "{after}");
    }
}
