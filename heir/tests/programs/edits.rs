//! After edits, the facts and diagnostics of HEIR programs equal those from scratch.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::ops::Range;

use crate::Random;
use crate::values;
use noisy_analyses::{Document, NoiseModel};
use noisy_heir::CiphertextFacts;

const PARAMS: [&str; 5] = [
    "bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569, 1152921504606994433], P = [2147573761], plaintextModulus = 65537>, scheme.bgv",
    "bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [1152921504606994433, 1152921504598720513], P = [2147573761], plaintextModulus = 65537>, scheme.bfv",
    "backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953, 35184372121601, 35184372744193], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks",
    "backend.config_override = {bootstrapLevelsConsumed = 3 : i32}, backend.openfhe, scheme.ckks",
    "scheme.bgv",
];

/// Returns the text of an op after its `=`, with existing values as operands.
fn op(random: &mut Random, values: &[String], plain: &[String]) -> String {
    let name = match random.below(16) {
        0..4 => "arith.addi",
        4..6 => "arith.muli",
        6 => "arith.subi",
        7 | 8 => "mgmt.relinearize",
        9..11 => "mgmt.modreduce",
        11 => "mgmt.level_reduce",
        12 => "mgmt.bootstrap",
        13 => "tensor_ext.rotate",
        14 => "mgmt.adjust_scale",
        _ if random.one_in(3) => "mgmt.level_reduce_min",
        _ => "mgmt.init",
    };
    let mut near = || values[values.len() - 1 - random.below(values.len().min(4))].clone();
    let (a, b) = (near(), near());
    let dict = if random.one_in(3) {
        let (level, scale) = (random.below(3), 45 * (1 + random.below(2)));
        let drop = if random.one_in(3) { "levelToDrop = 2 : i64, " } else { "" };
        format!(
            " {{{drop}mgmt.mgmt = #mgmt.mgmt<level = {level}{}, scale = {scale}>}}",
            dimension(random)
        )
    } else {
        String::new()
    };
    match name {
        "mgmt.init" => format!("{name} {}{dict} : i16", random.pick(plain)),
        "tensor_ext.rotate" => format!("{name} {a}, %c{dict} : i16, index"),
        _ if !name.starts_with("arith.") => format!("{name} {a}{dict} : i16"),
        _ if random.one_in(4) => format!("{name} {a}, {}{dict} : i16", random.pick(plain)),
        _ => format!("{name} {a}, {b}{dict} : i16"),
    }
}

/// Returns a random entry for the number of polynomials, or none.
fn dimension(random: &mut Random) -> &'static str {
    const ALL: [&str; 4] = ["", "", ", dimension = 2", ", dimension = 3"];
    ALL[random.below(ALL.len())]
}

/// Returns a random annotation of an argument, or none.
fn annotation(random: &mut Random) -> String {
    if random.one_in(2) {
        return String::new();
    }
    let level = random.below(3);
    let dimension = dimension(random);
    format!(" {{mgmt.mgmt = #mgmt.mgmt<level = {level}{dimension}, scale = 45>}}")
}

/// Returns random lists of annotations for a loop, or none.
fn listed(random: &mut Random) -> String {
    if random.one_in(2) {
        return String::new();
    }
    let (taken, given) = (random.below(3), random.below(3));
    format!(
        " {{__argattrs = [{{mgmt.mgmt = #mgmt.mgmt<level = {taken}>}}], __resattrs = [{{mgmt.mgmt = #mgmt.mgmt<level = {given}>}}]}}"
    )
}

/// Returns a random HEIR program with one or two generics.
fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut out = format!("module attributes {{{}}} {{\n", random.pick(&PARAMS));
    out.push_str("  func.func @f(%x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 2>}, %p: i16) -> (!secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 1>}) {\n    %c = arith.constant 1 : index\n    %q = arith.constant 3 : i16\n    %b = arith.cmpi eq, %p, %q : i16\n");
    let mut input = "%x".to_owned();
    for at in 0..=random.below(2) {
        let _ = write!(
            out,
            "    %g{at} = secret.generic({input}: !secret.secret<i16>{}) {{\n    ^body(%a{at}: i16):\n",
            annotation(&mut random)
        );
        let mut values = vec![format!("%a{at}")];
        let mut plain = vec!["%p".to_owned(), "%q".to_owned()];
        for n in 0..2 + random.below(12) {
            let name = format!("%v{at}_{n}");
            let text = op(&mut random, &values, &plain);
            let is_plain = text.starts_with("mgmt.init");
            if random.one_in(14) && !is_plain {
                let (from, inner) = (values[values.len() - 1].clone(), format!("%i{at}_{n}"));
                let inside = op(&mut random, std::slice::from_ref(&inner), &plain);
                let _ = write!(
                    out,
                    "      {name} = affine.for %k{n} = 0 to 4 iter_args({inner} = {from}) -> (i16) {{\n        %w{n} = {inside}\n        affine.yield %w{n} : i16\n      }}{}\n",
                    listed(&mut random)
                );
            } else if random.one_in(10) {
                let (from, met) = (&values[values.len() - 1], random.pick(&plain));
                let _ = write!(
                    out,
                    "      {name} = scf.if %b -> (i16) {{\n        scf.yield {from} : i16\n      }} else {{\n        scf.yield {met} : i16\n      }}\n"
                );
                values.push(name);
                continue;
            } else {
                let _ = writeln!(out, "      {name} = {text}");
            }
            if is_plain { plain.push(name) } else { values.push(name) }
        }
        let last = &values[values.len() - 1];
        let _ = write!(
            out,
            "      secret.yield {last} : i16\n    }} -> (!secret.secret<i16>{})\n",
            annotation(&mut random)
        );
        input = format!("%g{at}");
    }
    let _ = write!(out, "    return {input} : !secret.secret<i16>\n  }}\n}}\n");
    out
}

/// Returns the range of a random line including its line break.
fn line(text: &str, random: &mut Random) -> Range<usize> {
    let starts: Vec<usize> = text.match_indices('\n').map(|it| it.0 + 1).collect();
    let at = random.below(starts.len().max(2) - 1);
    let end = starts.get(at + 1).copied().unwrap_or(text.len());
    starts.get(at).copied().unwrap_or(0)..end
}

/// Returns a random edit that a user might make, mostly of a name, a number, an op or a line.
fn edit(text: &str, random: &mut Random) -> (Range<usize>, String) {
    let line = line(text, random);
    let here = &text[line.clone()];
    let places =
        |of: &str| -> Vec<usize> { here.match_indices(of).map(|it| line.start + it.0).collect() };
    let words: Vec<&str> =
        text.split(|it: char| !(it.is_alphanumeric() || "%_.".contains(it))).collect();
    match random.below(10) {
        // Replaces a value.
        0..4 => {
            let names: Vec<&str> = words.iter().copied().filter(|it| it.starts_with('%')).collect();
            let places = places("%");
            if places.len() < 2 || names.is_empty() {
                return (line.start..line.start, " ".into());
            }
            let at = places[1 + random.below(places.len() - 1)];
            let len = text[at + 1..].find(|it: char| !it.is_alphanumeric() && it != '_');
            (at..at + 1 + len.unwrap_or(0), (*random.pick(&names)).to_owned())
        }
        // Replaces an op.
        4 | 5 => {
            const NAMES: [&str; 8] = [
                "arith.muli",
                "arith.addi",
                "mgmt.modreduce",
                "mgmt.relinearize",
                "mgmt.bootstrap",
                "mgmt.level_reduce",
                "linalg.other",
                "mgmt.unheard",
            ];
            match here.find("= ").map(|it| line.start + it + 2) {
                Some(at) => {
                    let len = text[at..].find([' ', '\n']).unwrap_or(0);
                    (at..at + len, (*random.pick(&NAMES)).to_owned())
                }
                None => (line.end..line.end, "\n".into()),
            }
        }
        // Replaces a number.
        6 => match here.find("level = ").map(|it| line.start + it + 8) {
            Some(at) => (at..at + 1, random.below(4).to_string()),
            None => (line.start..line.start, "// ".into()),
        },
        7 => (line, String::new()),
        8 => {
            let names: Vec<&str> =
                words.iter().copied().filter(|it| it.starts_with("%v")).collect();
            let name = if names.is_empty() { "%p" } else { names[random.below(names.len())] };
            let n = random.below(1000);
            (line.end..line.end, format!("      %n{n} = mgmt.modreduce {name} : i16\n"))
        }
        _ => {
            let at = line.start + random.below(line.len());
            let at = (0..=at).rev().find(|&it| text.is_char_boundary(it)).unwrap_or(0);
            (at..at, (*random.pick(&["?", " ", "%", "1", "}"])).to_owned())
        }
    }
}

/// Returns all facts and diagnostics of a program, as text.
fn facts_and_diagnostics(document: &Document) -> String {
    let ir = document.ir();
    let mut out = String::new();
    if let Some((heir, known)) = document.ciphertexts() {
        for value in values(ir) {
            let (level, written) = (heir.level(ir, value), heir.annotated_level(ir, value));
            let (size, written_size) =
                (heir.dimension(ir, value), heir.annotated_dimension(ir, value));
            let _ = writeln!(
                out,
                "{} {} {level:?} {written:?} {size:?} {written_size:?} {:?} {:?}",
                ir.value_text(value),
                heir.ciphertext(value),
                heir.remaining_levels(value),
                known.of(value),
            );
        }
    }
    for it in document.diagnostics() {
        let _ = writeln!(out, "{it:?}");
    }
    out
}

fn model() -> NoiseModel {
    let mut model = NoiseModel::tutorial();
    model.heir.level_budget = NonZeroU32::new(2);
    model
}

/// Returns true if the last edit updated levels incrementally: it visited fewer ops than a solution
/// from scratch.
fn is_incremental(edited: &Document, fresh: &Document) -> bool {
    let visits = |it: &Document| it.heir().map(CiphertextFacts::n_visits);
    visits(edited) < visits(fresh)
}

/// Edits a program and compares the results with those from scratch. Returns the number of edits
/// that were applied incrementally.
fn compare_after_edits(text: &str, random: &mut Random, n_edits: usize) -> usize {
    let mut document = Document::with_model(text, model());
    let mut n_kept = 0;
    let mut undo = None;
    for _ in 0..n_edits {
        let _ = facts_and_diagnostics(&document);
        let before = document.source().text().to_string();
        // Half of the edits are undone, as users do.
        let (range, new) = match undo.take() {
            Some(it) if random.one_in(2) => it,
            _ => edit(&before, random),
        };
        undo = Some((range.start..range.start + new.len(), before[range.clone()].to_owned()));
        document.edit(range, &new);
        let after = document.source().text().to_string();
        let fresh = Document::with_model(&after, model());
        n_kept += usize::from(is_incremental(&document, &fresh));
        let (found, expected) = (facts_and_diagnostics(&document), facts_and_diagnostics(&fresh));
        if found != expected {
            let lines = found.lines().zip(expected.lines()).filter(|it| it.0 != it.1);
            let wrong: Vec<_> = lines.map(|it| format!("found {}\n      {}", it.0, it.1)).collect();
            let wrong = wrong.join("\n");
            let (n, m) = (found.lines().count(), expected.lines().count());
            panic!("before:\n{before}\nafter:\n{after}\n{wrong}\n{n} lines for {m}");
        }
    }
    n_kept
}

#[test]
fn edits_of_random_programs_equal_fresh_documents() {
    let mut n_kept = 0;
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        n_kept += compare_after_edits(&program(seed), &mut random, 12);
    }
    assert!(n_kept > 900, "{n_kept} of 3600 edits were taken in");
}

#[test]
fn edits_of_headers_are_incremental() {
    let text = "module attributes {scheme.bgv} {
  func.func @f(%x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 1>}, %p: i16) -> !secret.secret<i16> {
    %g = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = affine.for %i = 0 to 4 iter_args(%b = %a) -> (i16) {
        %2 = arith.addi %b, %a : i16
        affine.yield %2 : i16
      }
      %3 = mgmt.modreduce %1 {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      secret.yield %3 : i16
    } -> (!secret.secret<i16>)
    return %g : !secret.secret<i16>
  }
  func.func @another(%x: !secret.secret<i16>) -> !secret.secret<i16> {
    %g = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = arith.addi %a, %a : i16
      secret.yield %1 : i16
    } -> (!secret.secret<i16>)
    return %g : !secret.secret<i16>
  }
}
";
    let edits = [
        ("level = 1>}, %p", "level = 2>}, %p"),
        ("(%x: !secret.secret<i16>) {\n", "(%x: !secret.secret<i16>) { // here\n"),
        ("^body(%a: i16)", "^body(%a : i16)"),
        ("^body", "^bod"),
        ("^body(%a: i16)", "^body(%a: i15)"),
        ("^body(%a: i16)", "^body(%c: i16)"),
        ("@f", "@ff"),
        ("0 to 4", "0 to 5"),
        ("iter_args(%b = %a)", "iter_args(%b = %p)"),
        ("-> !secret.secret<i16> {", "-> (!secret.secret<i16>) {"),
    ];
    for (old, new) in edits {
        let mut document = Document::with_model(text, model());
        let _ = facts_and_diagnostics(&document);
        let at = text.find(old).expect("it is there");
        document.edit(at..at + old.len(), new);
        let after = document.source().text().to_string();
        let fresh = Document::with_model(&after, model());
        assert!(is_incremental(&document, &fresh), "{new}");
        assert_eq!(facts_and_diagnostics(&document), facts_and_diagnostics(&fresh), "{after}");
    }
}

#[test]
fn edits_of_other_ops_update_not_lowered() {
    let params = "backend.openfhe, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks";
    let ty = "tensor<8xf32>";
    let text = format!(
        "module attributes {{{params}}} {{
  func.func @f(%x: !secret.secret<{ty}>, %y: !secret.secret<{ty}>, %p: {ty}, %c: i1) -> (!secret.secret<{ty}>, !secret.secret<{ty}>) {{
    %r:2 = secret.generic(%x: !secret.secret<{ty}>, %y: !secret.secret<{ty}>) {{
    ^body(%a: {ty}, %b: {ty}):
      %q = arith.addf %p, %p : {ty}
      %s = arith.addf %q, %p : {ty}
      %t = mgmt.init %s : {ty}
      %0 = arith.addf %a, %t : {ty}
      %1 = affine.for %k = 0 to 2 iter_args(%it = %b) -> ({ty}) {{
        %2 = arith.addf %it, %a : {ty}
        affine.yield %2 : {ty}
      }}
      %m = arith.mulf %a, %b : {ty}
      %n = mgmt.relinearize %m : {ty}
      %d = mgmt.modreduce %n : {ty}
      %3 = scf.if %c -> ({ty}) {{
        %4 = arith.addf %d, %d : {ty}
        scf.yield %4 : {ty}
      }} else {{
        %5 = arith.addf %d, %d : {ty}
        scf.yield %5 : {ty}
      }}
      %6 = arith.addf %0, %1 : {ty}
      secret.yield %3, %6 : {ty}, {ty}
    }} -> (!secret.secret<{ty}>, !secret.secret<{ty}>)
    return %r#0, %r#1 : !secret.secret<{ty}>, !secret.secret<{ty}>
  }}
}}
"
    );
    let mut document = Document::with_model(&text, model());
    assert!(
        !facts_and_diagnostics(&document).contains("not-lowered"),
        "{}",
        facts_and_diagnostics(&document)
    );
    // Each edit leaves the op whose verdict changes untouched.
    let edits = [
        ("%it = %b", "%it = %a", true),
        ("%it = %a", "%it = %b", false),
        ("%4 = arith.addf %d, %d", "%4 = arith.addf %a, %a", true),
        ("%4 = arith.addf %a, %a", "%4 = arith.addf %d, %d", false),
        ("secret.yield %3, %6", "secret.yield %6, %6", true),
        ("return %r#0, %r#1", "return %r#0, %r#0", false),
        ("return %r#0, %r#0", "return %r#0, %r#1", true),
        ("secret.yield %6, %6", "secret.yield %3, %6", false),
        ("arith.addf %a, %t", "arith.addf %a, %s", false),
        ("%q = arith.addf", "%q = arith.subf", false),
        ("%q = arith.subf", "%q = arith.mulf", false),
        ("scheme.ckks", "scheme.bgv", true),
    ];
    for (old, new, is_refused) in edits {
        let text = document.source().text().to_string();
        let at = text.find(old).expect("it is there");
        document.edit(at..at + old.len(), new);
        let after = document.source().text().to_string();
        let fresh = facts_and_diagnostics(&Document::with_model(&after, model()));
        assert_eq!(facts_and_diagnostics(&document), fresh, "{new}");
        assert_eq!(fresh.contains("not-lowered"), is_refused, "{new}: {fresh}");
    }
}

#[test]
fn facts_through_calls_shrink_after_edits() {
    // The facts that calls pass to @f are joined: its argument flows through %0 and %2 back into
    // the argument.
    let text = "module attributes {scheme.bgv} {
  func.func private @f(%x: i16) -> i16 {
    %1 = arith.addi %x, %x : i16
    return %1 : i16
  }
  func.func @main(%x: !secret.secret<i16>) -> !secret.secret<i16> {
    %g = secret.generic(%x: !secret.secret<i16>) {
    ^body(%b: i16):
      %0 = func.call @f(%b) : (i16) -> i16
      %1 = mgmt.modreduce %b : i16
      %2 = arith.addi %0, %1 : i16
      %3 = func.call @f(%2) : (i16) -> i16
      secret.yield %3 : i16
    } -> (!secret.secret<i16>)
    return %g : !secret.secret<i16>
  }
}
";
    for (old, new) in [
        ("mgmt.modreduce %b", "arith.addi %b, %b"),
        ("%0, %1", "%0, %b"),
        (
            "      %1 = mgmt.modreduce %b : i16\n      %2 = arith.addi %0, %1 : i16\n",
            "      %2 = arith.addi %0, %b : i16\n",
        ),
    ] {
        let mut document = Document::with_model(text, model());
        let before = facts_and_diagnostics(&document);
        let at = text.find(old).expect("it is there");
        document.edit(at..at + old.len(), new);
        let after = document.source().text().to_string();
        let fresh = facts_and_diagnostics(&Document::with_model(&after, model()));
        assert_ne!(fresh, before);
        assert_eq!(facts_and_diagnostics(&document), fresh, "{after}");
        document.edit(at..at + new.len(), old);
        assert_eq!(facts_and_diagnostics(&document), before);
    }
}

#[test]
fn broken_functions_are_not_declarations() {
    let text = "module attributes {scheme.bgv} {
  func.func private @f(%x: !secret.secret<i16>) -> (!secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 0>}) {
    %g = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      secret.yield %1 : i16
    } -> (!secret.secret<i16>)
    return %g : !secret.secret<i16>
  }
  func.func private @d(!secret.secret<i16>) -> !secret.secret<i16>
  func.func @main(%x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 1>}) -> (!secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 0>}, !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 1>}) {
    %0 = call @f(%x) {__resattrs = [{mgmt.mgmt = #mgmt.mgmt<level = 0>}]} : (!secret.secret<i16>) -> !secret.secret<i16>
    %1 = call @d(%x) {__resattrs = [{mgmt.mgmt = #mgmt.mgmt<level = 1>}]} : (!secret.secret<i16>) -> !secret.secret<i16>
    return %0, %1 : !secret.secret<i16>, !secret.secret<i16>
  }
}
";
    for (old, new) in [
        ("{mgmt.mgmt = #mgmt.mgmt<level = 0>}) {", "{ = #mgmt.mgmt<level = 0>}) {"),
        ("@d(!secret.secret<i16>)", "@d(!secret.secret<i16>"),
        ("@d(!secret", "@d(!!secret"),
    ] {
        let mut document = Document::with_model(text, model());
        let before = facts_and_diagnostics(&document);
        assert!(!before.contains("is written"), "{before}");
        let at = text.find(old).expect("it is there");
        document.edit(at..at + old.len(), new);
        let after = document.source().text().to_string();
        let fresh = facts_and_diagnostics(&Document::with_model(&after, model()));
        assert!(!fresh.contains("is written"), "{after}\n{fresh}");
        assert_eq!(facts_and_diagnostics(&document), fresh, "{after}");
        document.edit(at..at + new.len(), old);
        assert_eq!(facts_and_diagnostics(&document), before, "{new}");
    }
}

#[test]
fn edits_of_bounds_change_the_trip_count() {
    let text = "module attributes {scheme.bgv} {
  func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = arith.constant 1 : i32
    %n = arith.index_cast %k : i32 to index
    %g = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (i16) {
        %2 = mgmt.modreduce %b : i16
        scf.yield %2 : i16
      }
      secret.yield %1 : i16
    } -> (!secret.secret<i16>)
    return %g : !secret.secret<i16>
  }
}
";
    for text in [
        text.to_owned(),
        text.replace("to %n", "to %d")
            .replace("%k = arith.constant 1 : i32", "%d = arith.constant 1 : index")
            .replace("    %n = arith.index_cast %k : i32 to index\n", ""),
    ] {
        let mut document = Document::with_model(&text, model());
        let varies = |it: &Document| it.diagnostics().iter().any(|it| it.code == "varying-level");
        assert!(!varies(&document), "{text}");
        let name = if text.contains("%d") { "%d" } else { "%k" };
        let at = text.find(&format!("{name} = arith.constant 1")).expect("it is there");
        let at = at + "%k = arith.constant ".len();
        for (new, is_told) in [("3", true), ("1", false), ("3", true)] {
            document.edit(at..at + 1, new);
            let after = document.source().text().to_string();
            assert_eq!(varies(&document), is_told, "{after}");
            assert_eq!(
                facts_and_diagnostics(&document),
                facts_and_diagnostics(&Document::with_model(&after, model())),
                "{after}"
            );
        }
    }
}

#[test]
fn edits_of_callees_are_incremental() {
    let text = "module attributes {scheme.bgv} {
  func.func @f(%x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 2>}, %p: i16) -> !secret.secret<i16> {
    %g = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = arith.muli %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 2, dimension = 3>} : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = func.call @one(%2) : (i16) -> i16
      %4 = mgmt.modreduce %3 {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      %5 = func.call @one(%a) : (i16) -> i16
      %6 = func.call @two(%a) : (i16) -> i16
      secret.yield %4 : i16
    } -> (!secret.secret<i16>)
    return %g : !secret.secret<i16>
  }
  func.func private @one(%a: i16) -> i16 {
    %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 1>} : i16
    return %1 : i16
  }
  func.func private @two(%a: i16) -> i16 {
    %1 = arith.muli %a, %a : i16
    %2 = mgmt.level_reduce %1 {levelToDrop = 2 : i64} : i16
    return %2 : i16
  }
  func.func private @none(%a: i16) -> i16
}
";
    let mut document = Document::with_model(text, model());
    let _ = facts_and_diagnostics(&document);
    let at = text.find("@one(%2)").expect("it is there");
    let (mut len, mut n_kept) = ("@one".len(), 0);
    for callee in ["@two", "@none", "@on", "@one", "@none", "@two", "@f", "@one"] {
        document.edit(at..at + len, callee);
        len = callee.len();
        let after = document.source().text().to_string();
        let fresh = Document::with_model(&after, model());
        n_kept += usize::from(is_incremental(&document, &fresh));
        assert_eq!(facts_and_diagnostics(&document), facts_and_diagnostics(&fresh), "{after}");
    }
    assert!(n_kept > 3, "{n_kept} of 8 edits were taken in");
}

/// A plaintext with many encodings is visited once.
#[test]
fn visits_a_plaintext_with_many_encodings_once() {
    let n = 4000;
    let op = |at: usize| {
        let from = at.checked_sub(1).map_or("%a".to_owned(), |it| format!("%v{it}"));
        format!("  %p{at} = mgmt.init %q : i16\n  %v{at} = arith.addi {from}, %p{at} : i16\n")
    };
    let ops: String = (0..n).map(op).collect();
    let text = format!(
        "module attributes {{scheme.bgv}} {{\nfunc.func @f(%x: !secret.secret<i16>, %q: i16) {{\n%r = secret.generic(%x: !secret.secret<i16>) {{\n^b(%a: i16):\n{ops}  secret.yield %a : i16\n}} -> (!secret.secret<i16>)\nreturn\n}}\n}}\n"
    );
    assert!(compare_after_edits(&text, &mut Random::new(3), 3) > 0);
}

#[test]
fn edits_of_an_example_equal_fresh_documents() {
    let text = include_str!("../../../examples/heir.mlir");
    let n_kept: usize =
        (1..=10).map(|seed| compare_after_edits(text, &mut Random::new(seed), 12)).sum();
    assert!(n_kept > 30, "{n_kept} of 120 edits were taken in");
}
