//! `--verify-diagnostics` compared with that of `mlir-opt` 19: the same differences at the same
//! places, in the same order, and the same exit code.
//!
//! The programs have errors that both tools report at the same line, in messages with words in
//! common. Without `mlir-opt` the test prints this and passes.

use std::process::Command;

use crate::tool::Folder;

const TOOLS: [&str; 3] = ["mlir-opt-19", "/usr/lib/llvm-19/bin/mlir-opt", "mlir-opt"];

/// An error in one line. Both tools print `use of und...`.
const USE: &str = "func.func @f() -> i32 { return %u : i32 }";
/// Both tools print `redefinition of symbol named 'a'`, and `mlir-opt` also the position of the
/// first one.
const TWICE: &str = "func.func @a() { return }\nfunc.func @a() { return }";
/// Both tools print `expected ','`.
const COMMA: &str = "func.func @f(%a: i32) -> i32 { %0 = arith.addi %a %a : i32 return %0 : i32 }";
/// Both tools print `'g' does not reference a valid function`.
const CALL: &str = "func.func @f(%a: i32) { call @g(%a) : (i32) -> () return }";

fn programs() -> Vec<String> {
    let mut out = Vec::new();
    for text in [
        // Expectations that are met.
        "USE // expected-error {{use of und}}",
        "USE // expected-error{{use of und}}",
        "USE // expected-error {{}}",
        "USE // expected-error {{use of und}}   ",
        "USE // expected-error@+0 {{use of und}}",
        "USE // expected-error@above {{use of und}}",
        "USE\n// expected-error@above {{use of und}}",
        "USE\n// expected-error @-1 {{use of und}}",
        "// expected-error@+1 {{use of und}}\r\nUSE\r\n",
        "// expected-error   @below {{use of und}}\nUSE",
        "\n\n// expected-error@+2   {{use}}\n\n   USE",
        "COMMA // expected-error {{expected ','}}",
        "CALL // expected-error {{'g' does not reference a valid function}}",
        "func.func @f() { return } // an expected-error {{x}} in prose.",
        // Expectations that are not met, or invalid.
        "USE",
        "USE // expected-error {{another}}",
        "USE // expected-error {{use of und}} and more",
        "USE // expected-error {{use}} expected-error {{of}}",
        "USE // expected-error {{use}} // expected-error@-1 {{x}}",
        "USE // expected-error@0 {{use of und}}",
        "USE // expected-error@1 {{use of und}}",
        "USE // expected-error@ +1 {{use of und}}",
        "USE // expected-error@bellow {{use of und}}",
        "USE // expected-errors {{use of und}}",
        "USE // expected-fatal {{use of und}}",
        "USE // expected-error 1 {{use of und}}",
        "USE // unexpected-error {{use of und}}",
        "// expected-error\n// @below {{use of und}}\nUSE",
        "// expected-error@below {{use of und}}\n\nUSE",
        "// expected-error@below {{use of und}}\n// more\nUSE",
        "// expected-error@-5 {{use of und}}\n// expected-error@+99 {{use}}\n// expected-error@below {{x}}\n// expected-error@above {{y}}",
        "// expected-remark {{use of und}}\n// expected-warning@above {{z}}",
        // Another kind.
        "USE // expected-warning {{use of und}}",
        "USE // expected-note {{use of und}}",
        "// expected-warning@below {{use of und}}\n// expected-remark@below {{use of und}}\nUSE",
        "// expected-warning@below {{use of und}}\n// expected-error@below {{use of und}}\nUSE",
        // Only the first matching expectation is met, also by several errors.
        "USE\n// expected-error@above {{use of und}}\n// expected-error@above {{use}}",
        "USE\n// expected-error@-1 {{use of und}}\n// expected-error@-2 {{use}}",
        "CALL CALL2 // expected-error {{does not reference a valid function}}",
        // Regular expressions.
        "USE // expected-error-re {{use of {{un[a-z]+}}}}",
        "USE // expected-error-re {{us{{[[:alpha:]]}} {{o(f|n)}} und}}",
        "USE // expected-error-re {{{{^use}} of}}",
        "USE // expected-error-re {{^use of}}",
        "USE // expected-error-re {{use of u{{x|y}}}}",
        "USE // expected-error-re@+0 {{u.e of}}",
        "USE // expected-error-re @+0 {{u{{.}}e of}}",
        "USE // expected-error-re {{use}} {{of}}",
        "USE // expected-error-re {{use {{of}}",
        "// expected-error-re@below {{use {{of}}\n// expected-error@below {{use of}}\nUSE",
        // Several programs in a file are compared separately.
        "USE // expected-error {{}} // -----\nUSE // expected-error {{}}",
        "USE\n// -----\nUSE\n  // -----\n\nUSE // -----   \nUSE // expected-warning {{use}}\n",
        "// expected-error@+2 {{use of und}}\n// -----\nUSE",
        "// expected-error@below {{use of und}}\n// -----\nUSE",
        "USE\n// -----\n// expected-error@above {{use of und}}",
        "USE\n// -----\n// expected-error@-2 {{use of und}}\n// -----\r\nUSE // expected-error {{use}}\r\n// -----",
        "func.func @a() { return }\n// -----\nfunc.func @a() { return } // -----\nfunc.func @a() { return }\n// // -----\nfunc.func @a() { return }",
        "!t = i32\n// -----\n!t = i64\n// CHECK: // -----\n!t = i1\n",
        "\n// -----\n// -----\nUSE\n// -----\n",
        "TWICE // expected-error {{redefinition of symbol named 'a'}}\n// -----\nTWICE // expected-warning {{redefinition}}",
    ] {
        out.push(
            text.replace("CALL2", &CALL.replace("@f", "@h"))
                .replace("USE", USE)
                .replace("TWICE", TWICE)
                .replace("COMMA", COMMA)
                .replace("CALL", CALL),
        );
    }
    out
}

/// The positions and kinds of differences. The wording of unexpected errors is left out, because it
/// differs between the tools.
fn differences(said: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in said.lines() {
        let place = line.find(": error: ");
        let Some((place, message)) = place.map(|at| (&line[..at], &line[at + ": error: ".len()..]))
        else {
            continue;
        };
        // `noisy-check` requires no expectations for notes.
        if message.starts_with("unexpected note: ") {
            continue;
        }
        let number = |text: Option<&str>| text.and_then(|it| it.parse::<usize>().ok()).expect(line);
        let mut parts = place.rsplit(':');
        let (column, row) = (number(parts.next()), number(parts.next()));
        // `within split at FILE:LINE offset :ROW:COLUMN`.
        let first = place.split_once(" offset :").map_or(1, |it| number(it.0.rsplit(':').next()));
        let row = first + row - 1;
        out.push(match message.split_once("unexpected error: ") {
            // The tools mark different columns.
            Some(("", _)) => format!("{row}: unexpected error"),
            _ => format!("{row}:{column}: {message}"),
        });
    }
    out
}

#[test]
fn agrees_with_mlir_opt() {
    let tool = TOOLS.into_iter().find(|it| {
        let said = Command::new(it).arg("--version").output();
        said.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("version 19."))
    });
    let Some(tool) = tool else {
        println!("skipped: there is no mlir-opt of LLVM 19");
        return;
    };
    let folder = Folder::new();
    let mut n_wrong = 0;
    for text in programs() {
        folder.write("a.mlir", &text);
        let options = ["--verify-diagnostics", "--split-input-file", "a.mlir"];
        let theirs = Command::new(tool)
            .args(options)
            .current_dir(folder.path("."))
            .output()
            .expect("it starts");
        let ours = folder.run(&options);
        let said = String::from_utf8_lossy(&theirs.stderr);
        let (a, b) = (differences(&said), differences(&ours.out));
        n_wrong += usize::from(ours.code != 0);
        assert_eq!((Some(ours.code), &b), (theirs.status.code(), &a), "{text}\n{said}\n{ours:?}");
    }
    assert!(n_wrong > 30 && n_wrong < programs().len() - 15, "{n_wrong}");
}
