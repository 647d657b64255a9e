//! `--fix` and `--diff`.

use expect_test::expect;

use crate::tool::{CLEAN, Folder, TUTORIAL, examples};

#[test]
fn fixes_the_tutorial_with_three_reductions() {
    let folder = Folder::with_files(&[("clean.mlir", CLEAN), ("tutorial.mlir", TUTORIAL)]);
    let run = folder.run(&["--fix"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    expect![[r#"
        tutorial.mlir: @tutorial: inserted 3 reduce_noise (proven optimal)
        Inserted 3 reduce_noise in 1 file. No problems left in 2 files.
    "#]]
    .assert_eq(&run.out);
    expect![[r#"
        func.func @tutorial() -> i5 {
          %0 = arith.constant 3 : i5
          %1 = arith.constant 4 : i5
          %2 = noisy.encode %0 : i5 -> !noisy.i32
          %3 = noisy.encode %1 : i5 -> !noisy.i32
          %4 = noisy.mul %2, %3 : !noisy.i32 // 24
          %r4 = noisy.reduce_noise %4 : !noisy.i32
          %5 = noisy.mul %r4, %r4 : !noisy.i32
          %r5 = noisy.reduce_noise %5 : !noisy.i32
          %6 = noisy.mul %r5, %r5 : !noisy.i32
          %r6 = noisy.reduce_noise %6 : !noisy.i32
          %7 = noisy.mul %r6, %r6 : !noisy.i32
          %8 = noisy.decode %7 : !noisy.i32 -> i5
          return %8 : i5
        }
    "#]]
    .assert_eq(&folder.read("tutorial.mlir"));
    assert_eq!(folder.read("clean.mlir"), CLEAN);
    assert_eq!(folder.run(&[]).code, 0);
    let before = folder.read("tutorial.mlir");
    assert_eq!(folder.run(&["--fix"]).code, 0);
    assert_eq!(folder.read("tutorial.mlir"), before, "nothing is left to do");
}

#[test]
fn diff_shows_and_changes_nothing() {
    let folder = Folder::with_files(&[("tutorial.mlir", TUTORIAL)]);
    let run = folder.run(&["--diff"]);
    assert_eq!(run.code, 1);
    expect![[r#"
        --- tutorial.mlir
        +++ tutorial.mlir
        @@ -4,9 +4,12 @@
           %2 = noisy.encode %0 : i5 -> !noisy.i32
           %3 = noisy.encode %1 : i5 -> !noisy.i32
           %4 = noisy.mul %2, %3 : !noisy.i32 // 24
        -  %5 = noisy.mul %4, %4 : !noisy.i32
        -  %6 = noisy.mul %5, %5 : !noisy.i32
        -  %7 = noisy.mul %6, %6 : !noisy.i32
        +  %r4 = noisy.reduce_noise %4 : !noisy.i32
        +  %5 = noisy.mul %r4, %r4 : !noisy.i32
        +  %r5 = noisy.reduce_noise %5 : !noisy.i32
        +  %6 = noisy.mul %r5, %r5 : !noisy.i32
        +  %r6 = noisy.reduce_noise %6 : !noisy.i32
        +  %7 = noisy.mul %r6, %r6 : !noisy.i32
           %8 = noisy.decode %7 : !noisy.i32 -> i5
           return %8 : i5
         }
    "#]]
    .assert_eq(&run.out);
    assert_eq!(folder.read("tutorial.mlir"), TUTORIAL);
    folder.write("tutorial.mlir", CLEAN);
    assert_eq!(folder.run(&["--diff"]).code, 0);
}

#[test]
fn the_diff_can_be_applied() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("b.mlir", TUTORIAL)]);
    folder.write("a.diff", folder.run(&["--diff", "a.mlir"]).out);
    let patched = std::process::Command::new("patch")
        .args(["-p0", "-i", "a.diff"])
        .current_dir(folder.path("."))
        .output();
    // Not every machine has `patch`.
    if patched.is_ok() {
        folder.run(&["--fix", "b.mlir"]);
        assert_eq!(folder.read("a.mlir"), folder.read("b.mlir"));
    }
}

#[test]
fn a_function_with_an_error_is_left_byte_for_byte() {
    for (name, broken) in [
        ("name", TUTORIAL.replace("return %8", "return %undefined")),
        ("syntax", TUTORIAL.replace("arith.constant 3 : i5", "arith.constant = 3 : i5")),
        ("type", TUTORIAL.replace("return %8 : i5", "return %8 : i6")),
    ] {
        let text = format!("{broken}{}", TUTORIAL.replace("@tutorial", "@other"));
        let folder = Folder::with_files(&[("a.mlir", &text)]);
        let run = folder.run(&["--fix", "a.mlir", "--output-format", "concise"]);
        assert_eq!(run.code, 1, "{name}");
        assert!(run.err.contains("@tutorial: not changed: "), "{name}: {}", run.err);
        let after = folder.read("a.mlir");
        assert!(after.starts_with(&broken), "{name}: {after}");
        assert_eq!(after.matches("reduce_noise").count(), 3, "{name}: the other one is fixed");
    }
}

#[test]
fn standard_input_goes_through() {
    let folder = Folder::new();
    let run = folder.run_with(&["--fix", "-"], TUTORIAL, &[]);
    assert_eq!((run.code, run.out.matches("reduce_noise").count()), (0, 3));
    let run = folder.run_with(&["--fix", "-"], CLEAN, &[]);
    assert_eq!(run.out, CLEAN);
}

#[test]
fn line_endings_and_what_follows_the_last_line_are_kept() {
    let text = TUTORIAL.replace('\n', "\r\n").trim_end().to_owned();
    let folder = Folder::with_files(&[("a.mlir", &text)]);
    assert_eq!(folder.run(&["--fix"]).code, 0);
    let after = folder.read("a.mlir");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert!(after.ends_with('}'));
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_files(&[("real.mlir", TUTORIAL), ("locked.mlir", TUTORIAL)]);
    let mode = |name: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(name), permissions).expect("allowed");
    };
    mode("real.mlir", 0o640);
    mode("locked.mlir", 0o444);
    std::os::unix::fs::symlink("real.mlir", folder.path("link.mlir")).expect("a link");
    assert_eq!(folder.run(&["--fix", "link.mlir"]).code, 0);
    let metadata = std::fs::symlink_metadata(folder.path("link.mlir")).expect("there");
    assert!(metadata.file_type().is_symlink());
    let after = std::fs::metadata(folder.path("real.mlir")).expect("there").permissions().mode();
    assert_eq!(after & 0o777, 0o640);
    let run = folder.run(&["--fix", "locked.mlir"]);
    assert_eq!((run.code, folder.read("locked.mlir").as_str()), (2, TUTORIAL));
    assert!(run.err.contains("locked.mlir: not written: "), "{}", run.err);
    let names: Vec<_> = std::fs::read_dir(folder.path("."))
        .expect("there")
        .flatten()
        .map(|it| it.file_name())
        .collect();
    assert_eq!(names.len(), 3, "nothing is left behind: {names:?}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_every_file_whole() {
    // In this test no file may exceed 512 bytes, which the last file does not.
    let large = format!("{TUTORIAL}// {}\n", "x".repeat(2000));
    let folder = Folder::with_files(&[("a.mlir", large.as_str()), ("b.mlir", CLEAN)]);
    let small = "func.func @f(%a: !noisy.i32) { %0 = noisy.mul %a, %a : !noisy.i32 %1 = noisy.mul %0, %0 : !noisy.i32 return }\n";
    folder.write("c.mlir", small);
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} --fix --isolated --no-cache .",
        env!("CARGO_BIN_EXE_noisy-check")
    );
    let run = folder.shell(&script);
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    assert_eq!(said.matches("a.mlir: not written: ").count(), 1, "{said}");
    assert_eq!(folder.read("a.mlir"), large);
    assert!(folder.read("c.mlir").contains("reduce_noise"), "the others are done: {said}");
    let n = std::fs::read_dir(folder.path(".")).expect("there").count();
    assert_eq!(n, 3, "nothing is left behind");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    let run = folder.run(&["--output-file", "/dev/full", "--output-format", "json", "a.mlir"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "noisy-check: /dev/full: No space left on device\n")
    );
    assert_eq!(folder.run(&["--output-file", "no/such/folder", "a.mlir"]).code, 2);
}

#[test]
fn fixes_do_not_depend_on_severities() {
    for rule in ["noise-overflow", "noise", "all"] {
        for level in ["hint", "info", "warning"] {
            let folder = Folder::with_files(&[("tutorial.mlir", TUTORIAL)]);
            folder.write("noisy.toml", format!("rules.{rule} = \"{level}\"\n"));
            let run = folder.run(&["--fix"]);
            assert!(
                run.out.starts_with("tutorial.mlir: @tutorial: inserted 3"),
                "{rule} {level} {run:?}"
            );
        }
    }
}

#[test]
fn a_mistake_in_a_contract_asks_for_no_placement() {
    let text = "func.func private @f(%a: !noisy.i32 {noisy.bound = \"x\"}) -> !noisy.i32 {
  %0 = noisy.reduce_noise %a : !noisy.i32
  return %0 : !noisy.i32
}
func.func @g(%a: !noisy.i32) -> !noisy.i32 {
  %0 = func.call @f(%a) : (!noisy.i32) -> !noisy.i32
  return %0 : !noisy.i32
}
";
    let folder = Folder::with_files(&[("a.mlir", text)]);
    let run = folder.run(&["--fix", "--statistics"]);
    assert_eq!(run.code, 1);
    assert!(!run.out.contains("not changed"), "the optimizer was not asked: {run:?}");
    assert_eq!(folder.read("a.mlir"), text);
}

#[test]
fn removals_side_by_side_are_made_at_once() {
    let lines = (0..60).map(|it| format!("  %u{it} = noisy.mul %a, %a : !noisy.i32\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    let text = format!("func.func @f(%a: !noisy.i32) {{\n{lines}  return\n}}\n");
    let folder = Folder::with_files(&[("a.mlir", &text)]);
    let run = folder.run(&["--fix", "--warn", "unused-op"]);
    assert_eq!(folder.read("a.mlir"), "func.func @f(%a: !noisy.i32) {\n  return\n}\n", "{run:?}");
}

#[test]
fn removes_useless_suppressions_in_the_same_run() {
    let op = "  %5 = noisy.mul %4, %4 : !noisy.i32";
    let before = format!("  // noisy: allow(noise-overflow): above\n{op}");
    let folder = Folder::with_files(&[
        ("a.mlir", &TUTORIAL.replace(op, &format!("{op} // noisy: allow(noise-overflow)"))),
        ("b.mlir", &TUTORIAL.replace(op, &before)),
        ("c.mlir", TUTORIAL),
    ]);
    let run = folder.run(&["--fix", "--output-format", "concise"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.out,
        "Fixed 2 problems, inserted 9 reduce_noise in 3 files. No problems left in 3 files.\n"
    );
    let programs = folder.programs();
    assert!(programs.values().all(|it| *it == programs["c.mlir"]), "{programs:?}");
    assert_eq!(folder.run(&["--diff"]).code, 0);
}

#[test]
fn fixing_is_idempotent() {
    let (folder, options) = examples();
    let before = folder.programs();
    let fixed = |more: &[&str]| {
        let run = folder.run(&[&options[..], &["--fix-only", "--no-cache"], more].concat());
        assert_eq!(run.code, 0, "{run:?}");
        folder.programs()
    };
    let once = fixed(&[]);
    assert!(before.iter().filter(|it| once[it.0] != *it.1).count() > 10);
    assert_eq!(fixed(&[]), once);
    let once = fixed(&["--unsafe-fixes"]);
    assert_eq!(fixed(&["--unsafe-fixes"]), once);
}

#[test]
fn a_category_is_that_of_the_catalogue() {
    for rule in noisy_analyses::Rule::all() {
        let docs = rule.docs();
        let Some(bad) = docs.split("```mlir\n").nth(1).and_then(|it| it.split("```").next()) else {
            continue;
        };
        let folder = Folder::with_files(&[("a.mlir", bad)]);
        let category = rule.category().name();
        let shown = format!("[{}]", rule.code());
        let run = folder.run(&["--warn", rule.code(), "--output-format", "concise"]);
        assert!(run.out.contains(&shown), "its own example is told: {shown} {run:?}");
        let run = folder.run(&["--ignore", category, "--output-format", "concise"]);
        assert!(!run.out.contains(&shown), "{category} {run:?}");
    }
}

/// A program that parses but does not verify is in the category `structure`, whether the parser or
/// the verifier reports it.
#[test]
fn errors_of_the_verifier_are_in_the_category_structure() {
    let body = |op: &str| {
        format!("func.func @f(%i: index, %a: i32) -> i32 {{\n  {op}\n  return %a : i32\n}}\n")
    };
    for (text, code) in [
        ("func.func @f() -> i32 {\n  return\n}\n".to_owned(), "wrong-count"),
        (body("%0 = affine.apply affine_map<(d0) -> (d0)>(%i, %i)"), "wrong-count"),
        (
            body(
                "%0 = \"affine.apply\"(%i) <{map = affine_map<(d0) -> (d0, d0)>}> : (index) -> index",
            ),
            "wrong-count",
        ),
        (body("affine.parallel (%j, %k) = (0) to (8, 8) {\n  }"), "bound-count"),
        (body("\"arith.plus\"(%a) : (i32) -> ()"), "unregistered-op"),
    ] {
        let folder = Folder::with_files(&[("a.mlir", &text)]);
        for category in ["syntax", "name", "type", "structure"] {
            let run = folder.run(&["--ignore", category, "--output-format", "concise"]);
            let is_told = run.out.contains(&format!("[{code}]"));
            assert_eq!(is_told, category != "structure", "{code} {category} {run:?}");
        }
    }
}

#[test]
fn a_certificate_is_verified_against_the_program_before() {
    let folder = Folder::with_files(&[
        ("clean.mlir", CLEAN),
        ("after.mlir", TUTORIAL),
        ("before.mlir", TUTORIAL),
    ]);
    assert_eq!(folder.run(&["--fix", "--certificate", "proof.json", "after.mlir"]).code, 0);
    let run = folder.run(&["verify-certificate", "proof.json", "before.mlir"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    expect![[r#"
        {"bound":3,"cost":3,"function":"tutorial","verified":true}
    "#]]
    .assert_eq(&run.out);
    let refused = |text: &str, program: &str, why: &str| {
        folder.write("forged.json", text);
        let run = folder.run(&["verify-certificate", "forged.json", program]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.out.contains(r#""verified":false"#) && run.out.contains(why), "{why}: {run:?}");
    };
    let proof = folder.read("proof.json");
    // Certificates of other programs: the functions have other names or another instance.
    refused(&proof, "clean.mlir", "no such function");
    refused(
        &proof,
        "after.mlir",
        "the certificate was made for a different program or other settings",
    );
    folder.write("forged.json", &proof[..proof.len() / 2]);
    let run = folder.run(&["verify-certificate", "forged.json", "before.mlir"]);
    assert!(run.code == 2 && run.err.contains("this file is not a certificate"), "{run:?}");
    let forge = |from: &str, to: &str, why: &str| {
        assert!(proof.contains(from), "{from}: {proof}");
        refused(&proof.replacen(from, to, 1), "before.mlir", why);
    };
    forge(r#""version":1"#, r#""version":2"#, "not a noisy-certificate of version 1");
    forge(r#""objective":"executed""#, r#""objective":"count""#, "differs from the settings");
    forge(
        r#""limit":26"#,
        r#""limit":27"#,
        "the certificate was made for a different program or other settings: node",
    );
    forge(
        r#""cost":1,"#,
        r#""cost":2,"#,
        "the certificate was made for a different program or other settings: a site",
    );
    forge(r#""name":"tutorial""#, r#""name":"other""#, "no such function");
    forge(r#""cost":3"#, r#""cost":2"#, "the answer costs 3, not 2");
    forge(r#""chosen":[0,"#, r#""chosen":["#, "is not legal");
    forge(r#""core":["#, r#""core":[7,"#, "");
    forge(r#""multipliers":[[[0,4294967296]]]"#, r#""multipliers":[[[0,0]]]"#, "part 0");
    forge(r#""format":"noisy-certificate""#, r#""format":"noisy""#, "not a noisy-certificate");
    forge(r#""replace":false"#, r#""replace":true"#, "differs from the settings");
    forge(r#""index":0"#, r#""index":1"#, "no such function");
    forge(
        r#""unit":1}"#,
        r#""unit":2}"#,
        "the certificate was made for a different program or other settings",
    );
    forge(r#""bound":3"#, r#""bound":4"#, "prove 3, not 4");
    // A function in two systems, or also among those left out.
    let mut twice: serde_json::Value = serde_json::from_str(&proof).unwrap();
    let first = twice["systems"][0].clone();
    let function = first["functions"][0].clone();
    twice["systems"] = serde_json::json!([first, first]);
    refused(&twice.to_string(), "before.mlir", "listed twice");
    twice["systems"] = serde_json::json!([first]);
    twice["left"] = serde_json::json!([{ "function": function, "why": "" }]);
    refused(&twice.to_string(), "before.mlir", "listed twice");
    // Without systems, a function over the budget is not covered.
    let mut nothing: serde_json::Value = serde_json::from_str(&proof).unwrap();
    nothing["systems"] = serde_json::json!([]);
    refused(&nothing.to_string(), "before.mlir", "the certificate does not cover it");
    // Wrong usage.
    for args in [
        &["verify-certificate", "proof.json"][..],
        &["verify-certificate", "missing.json", "before.mlir"],
        &["verify-certificate", "proof.json", "missing.mlir"],
        &["--certificate", "proof.json", "before.mlir"],
        &["--diff", "--certificate", "proof.json", "before.mlir", "clean.mlir"],
    ] {
        assert_eq!(folder.run(args).code, 2, "{args:?}");
    }
}

/// A sum in a loop, and a function that is not changed.
const REWRITABLE: &str = "\
func.func @f(%x: !noisy.i32, %y: !noisy.i32) -> !noisy.i32 {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 40 : index
  %r = scf.for %i = %lo to %n step %one iter_args(%w = %x) -> (!noisy.i32) {
    %q = noisy.add %w, %y : !noisy.i32
    scf.yield %q : !noisy.i32
  }
  %s = noisy.mul %r, %y : !noisy.i32
  %t = noisy.mul %s, %y : !noisy.i32
  return %t : !noisy.i32
}
func.func @g(%x: !noisy.i32) -> !noisy.i32 {
  return %x : !noisy.i32
}
";

#[test]
fn a_rewritten_program_is_verified_against_the_program_before() {
    let folder = Folder::with_files(&[("before.mlir", REWRITABLE), ("after.mlir", REWRITABLE)]);
    let run = folder.run(&["--fix", "--rewrite", "--certificate", "proof.json", "after.mlir"]);
    assert_eq!(run.code, 0, "{run:?}");
    let verify = |proof: &str, equality: &[&str], program: &str| {
        let args = [&["verify-certificate"][..], equality, &[proof, program]].concat();
        folder.run(&args)
    };
    let both = &["--equality", "proof.equality.json", "--fixed", "after.mlir"][..];
    let run = verify("proof.json", both, "before.mlir");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert!(run.out.contains(r#""equal":true,"loops":1"#), "{run:?}");
    assert!(run.out.contains(r#""function":"f","verified":true"#), "{run:?}");
    assert!(run.out.contains(r#""fixed":true"#), "{run:?}");
    let refused = |proof: &str, equality: &[&str], program: &str, why: &str| {
        let run = verify(proof, equality, program);
        assert_eq!(run.code, 1, "{why}: {run:?}");
        assert!(run.out.contains(r#""verified":false"#) && run.out.contains(why), "{why}: {run:?}");
    };
    refused("proof.json", &[], "before.mlir", "with --equality");
    refused("proof.json", both, "after.mlir", "was made for a different program");
    let fixed = &["--equality", "proof.equality.json", "--fixed", "before.mlir"];
    refused("proof.json", fixed, "before.mlir", "the fixed program differs");
    // A placement of the program without a rewriting.
    folder.write("plain.mlir", REWRITABLE);
    let run = folder.run(&["--fix", "--certificate", "plain.json", "plain.mlir"]);
    assert_eq!(run.code, 0, "{run:?}");
    refused("plain.json", &both[..2], "before.mlir", "not rewritten like this");
    // A forged program with its own digest.
    let equality = folder.read("proof.equality.json");
    let mut forged: serde_json::Value = serde_json::from_str(&equality).unwrap();
    let text = forged["rewritten"].as_str().unwrap().replacen("noisy.mul", "noisy.sub", 1);
    assert_ne!(forged["rewritten"], text);
    forged["rewritten"] = serde_json::json!(text);
    folder.write("forged.json", forged.to_string());
    let other = &["--equality", "forged.json"][..];
    refused("proof.json", other, "before.mlir", "was made for a different program");
    for (from, to) in [(r#""version":2"#, r#""version":1"#), ("noisy-equality", "noisy")] {
        folder.write("forged.json", equality.replacen(from, to, 1));
        refused("proof.json", other, "before.mlir", "not a noisy-equality of version 2");
    }
    for text in ["", "[]", "{", &equality[..equality.len() / 2], &folder.read("proof.json")] {
        folder.write("forged.json", text);
        let run = verify("proof.json", other, "before.mlir");
        assert!(run.code == 2 && run.err.contains("this file is not a certificate"), "{run:?}");
    }
}

/// `x` to the power of 11, one product after another.
fn power(name: &str) -> String {
    let products = (1..11).fold(String::new(), |text, n| {
        let of = if n == 1 { "%x".to_owned() } else { format!("%{n}") };
        text + &format!("  %{} = noisy.mul {of}, %x : !noisy.i32\n", n + 1)
    });
    let head = format!("func.func @{name}(%x: !noisy.i32) -> !noisy.i32 {{\n");
    format!("{head}{products}  return %11 : !noisy.i32\n}}\n")
}

/// The sum of eight products, one after another.
fn dot_product() -> String {
    let args: Vec<String> = (0..16).map(|n| format!("%a{n}: !noisy.i32")).collect();
    let products = (0..8).fold(String::new(), |text, n| {
        text + &format!("  %p{n} = noisy.mul %a{}, %a{} : !noisy.i32\n", 2 * n, 2 * n + 1)
    });
    let sums = (1..8).fold(String::new(), |text, n| {
        let of = if n == 1 { "%p0".to_owned() } else { format!("%s{}", n - 1) };
        text + &format!("  %s{n} = noisy.add {of}, %p{n} : !noisy.i32\n")
    });
    let head = format!("func.func @f({}) -> !noisy.i32 {{\n", args.join(", "));
    format!("{head}{products}{sums}  return %s7 : !noisy.i32\n}}\n")
}

#[test]
fn a_rewriting_reports_its_lower_bound() {
    let caller = "\
func.func @g(%x: !noisy.i32) -> !noisy.i32 {
  %r = func.call @f(%x) : (!noisy.i32) -> !noisy.i32
  return %r : !noisy.i32
}
";
    for (text, said) in [
        (dot_product(), "to 2 (no rewriting by these laws needs fewer); shown equal"),
        (power("f"), "to 4 (proven optimal for this rewriting only, any needs at least 3); shown"),
        // The call determines the noise of the argument, and the executions of both functions
        // count.
        (power("f") + caller, "to 8 (proven optimal for this rewriting only); shown equal"),
    ] {
        let folder = Folder::with_files(&[("a.mlir", &text)]);
        let run = folder.run(&["--fix", "--rewrite", "--statistics", "a.mlir"]);
        assert!(run.err.contains(said) || run.out.contains(said), "{said}: {run:?}");
    }
}
