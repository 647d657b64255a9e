//! Configuration and options.

use crate::tool::{CLEAN, Folder, TUTORIAL, UNDEFINED};

/// A program with a redundant reduction, which is a hint.
const HINT: &str = "\
func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.reduce_noise %a : !noisy.i32
  return %0 : !noisy.i32
}
";

#[test]
fn rules_and_exit_codes() {
    let folder = Folder::with_files(&[("hint.mlir", HINT), ("over.mlir", TUTORIAL)]);
    let code = |args: &[&str]| folder.run(args).code;
    assert_eq!(code(&["hint.mlir"]), 0);
    assert_eq!(code(&["hint.mlir", "--error", "lint"]), 1);
    assert_eq!(code(&["hint.mlir", "--warn", "redundant-reduce"]), 0);
    assert_eq!(code(&["hint.mlir", "--warn", "redundant-reduce", "--error-on-warning"]), 1);
    assert_eq!(
        code(&["hint.mlir", "--warn", "redundant-reduce", "--error-on-warning", "--exit-zero"]),
        0
    );
    assert_eq!(code(&["over.mlir", "--ignore", "noise-overflow"]), 0);
    assert_eq!(code(&["over.mlir", "--ignore", "all", "--error", "noise"]), 1);
    assert_eq!(code(&["over.mlir", "--config", "rules.noise=warning"]), 0);
    let run = folder.run(&["over.mlir", "--ignore", "noise-overflw"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.err,
        "noisy-check: --ignore noise-overflw: unknown key `noise-overflw` in `rules`; did you mean `noise-overflow`?\n"
    );
    for wrong in ["placement.time-limit=-1", "nothing=1", "missing.toml", "a=b=c"] {
        assert_eq!(code(&["over.mlir", "--config", wrong]), 2, "{wrong}");
    }
    assert_eq!(code(&["over.mlir", "--isolated", "--config", "x.toml"]), 2);
}

#[test]
fn uses_the_nearest_configuration() {
    let folder = Folder::with_files(&[
        ("noisy.toml", "rules.noise = \"warning\""),
        ("a.mlir", TUTORIAL),
        ("sub/noisy.toml", ""),
        ("sub/b.mlir", TUTORIAL),
        ("old/c.mlir", TUTORIAL),
    ]);
    folder.write(
        "noisy.toml",
        "rules.noise = \"warning\"\n[[overrides]]\nfiles = [\"old/\"]\nrules.noise = \"off\"\n",
    );
    let run = folder.run(&["--output-format", "concise"]);
    assert_eq!(run.out.lines().count(), 3, "{}", run.out);
    assert!(
        run.out.contains("a.mlir:7:8: warning[") && run.out.contains("b.mlir:7:8: error["),
        "{}",
        run.out
    );
    assert_eq!(folder.run(&["a.mlir"]).code, 0);
    assert_eq!(folder.run(&["a.mlir", "--isolated"]).code, 1);
    assert_eq!(folder.run(&["sub/b.mlir", "--config", "noisy.toml"]).code, 0);
    let input = folder.run_with(&["-", "--stdin-filename", "old/x.mlir"], TUTORIAL, &[]);
    assert_eq!(input.code, 0, "{input:?}");
    let shown = folder.run(&["--show-settings", "a.mlir"]);
    assert!(
        shown.out.contains("# from noisy.toml\n") && shown.out.contains("noise = \"warning\""),
        "{}",
        shown.out
    );
    // The printed settings are a valid configuration.
    folder.write("shown.toml", &shown.out);
    assert_eq!(folder.run(&["a.mlir", "--config", "shown.toml"]).code, 0);
}

#[test]
fn reports_an_invalid_configuration_once_and_checks_other_files() {
    let folder = Folder::with_files(&[
        ("bad/noisy.toml", "[placement]\ntime-limt = 3\nreplace = 1\n[rule]\n"),
        ("bad/a.mlir", TUTORIAL),
        ("bad/deep/b.mlir", TUTORIAL),
        ("good.mlir", UNDEFINED),
    ]);
    let run = folder.run(&["--output-format", "concise"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.err,
        "noisy-check: bad/noisy.toml:2:1: unknown key `time-limt` in `placement`; did you mean `time-limit`?\n\
         bad/noisy.toml:4:2: unknown key `rule`; did you mean `rules`?\n"
    );
    assert!(run.out.starts_with("good.mlir:1:7: error["), "{}", run.out);
    let run = folder.run(&["--output-format", "json-lines"]);
    assert_eq!(run.out.matches("invalid-configuration").count(), 1, "{}", run.out);
}

#[test]
fn excluded_files() {
    let folder = Folder::with_files(&[
        ("noisy.toml", "exclude = [\"gen/\"]"),
        ("gen/a.mlir", TUTORIAL),
        ("b.mlir", CLEAN),
    ]);
    assert_eq!(folder.run(&[]).code, 0);
    assert_eq!(folder.run(&["gen/a.mlir"]).code, 1, "named, so wanted");
    assert_eq!(folder.run(&["gen/a.mlir", "--force-exclude"]).code, 0);
    assert_eq!(folder.run(&["gen", "--isolated", "--exclude", "a.*"]).code, 0);
}

#[test]
fn copies_standard_input_with_an_excluded_name() {
    let folder =
        Folder::with_files(&[("noisy.toml", "exclude = [\"conf/\"]"), ("gen/a.mlir", TUTORIAL)]);
    let raw = "\u{feff}func.func @f( {\r\n";
    for name in ["gen/a.mlir", "./gen/a.mlir", "conf/b.mlir"] {
        let named = ["--exclude", "gen/*", "--force-exclude", "--stdin-filename", name, "-"];
        for (args, text, out) in [
            (&["--fix"][..], TUTORIAL, TUTORIAL),
            (&["--fix", "--unsafe-fixes"], TUTORIAL, TUTORIAL),
            (&["--fix-only"], TUTORIAL, TUTORIAL),
            (&["--fix"], raw, raw),
            (&["--diff"], TUTORIAL, ""),
            (&["--output-format", "json-lines"], TUTORIAL, ""),
            (&["format"], "func.func   @f()", "func.func   @f()"),
            (&["format"], raw, raw),
            (&["format", "--check"], "func.func   @f()", ""),
            (&["format", "--diff"], "func.func   @f()", ""),
        ] {
            let run = folder.run_with(&[args, &named[..]].concat(), text, &[]);
            assert_eq!((run.code, &*run.out), (0, out), "{args:?} {name}: {}", run.err);
        }
        // The result is the same as for the path.
        let run = folder.run_with(&named, TUTORIAL, &[]);
        let path = folder.run(&["--exclude", "gen/*", "--force-exclude", "gen/a.mlir"]);
        assert_eq!((run.code, run.out), (path.code, path.out), "{name}");
    }
    for args in [
        &["--exclude", "gen/*", "--stdin-filename", "gen/a.mlir"][..],
        &["--exclude", "gen/*", "--force-exclude", "--stdin-filename", "b.mlir"],
        &["--exclude", "*", "--force-exclude"],
    ] {
        let run = folder.run_with(&[args, &["--fix", "-"]].concat(), TUTORIAL, &[]);
        assert_ne!(run.out, TUTORIAL, "{args:?}");
    }
}

#[test]
fn limits_diagnostics_and_counts_the_rest() {
    let folder = Folder::with_files(&[
        ("a.mlir", &(0..5).map(|n| UNDEFINED.replace("%u", &format!("%u{n}"))).collect::<String>()),
        ("b.mlir", UNDEFINED),
    ]);
    let run = folder.run(&["--max-diagnostics", "2", "--output-format", "concise"]);
    assert_eq!((run.code, run.out.lines().count()), (1, 4), "{}", run.out);
    assert_eq!(run.err, "a.mlir: 3 more not shown\n");
    assert!(run.out.ends_with("6 errors in 2 files. 3 not shown.\n"), "{}", run.out);
    assert_eq!(folder.run(&["--max-diagnostics", "0"]).code, 1, "they count all the same");
    let flood: String = (0..1500).map(|n| UNDEFINED.replace("%u", &format!("%u{n}"))).collect();
    let run = Folder::with_files(&[("a.mlir", &flood)]).run(&["--output-format", "concise"]);
    assert_eq!((run.code, run.out.lines().count()), (1, 1001));
    assert_eq!(run.err, "a.mlir: 500 more not shown\n");
}

#[test]
fn fixes_and_placement_together() {
    let both = TUTORIAL
        .replace("  %4 = ", "  %r = noisy.reduce_noise %2 : !noisy.i32\n  %4 = ")
        .replace("mul %2", "mul %r");
    let folder = Folder::with_files(&[("a.mlir", &both)]);
    let run = folder.run(&["--diff", "--warn", "redundant-reduce"]);
    assert!(
        run.out.contains("-  %r = noisy.reduce_noise %2") && run.out.contains("+  %r4 ="),
        "{}",
        run.out
    );
    let run = folder.run(&["--fix", "--warn", "redundant-reduce"]);
    assert_eq!(run.code, 0);
    assert!(
        run.out.ends_with(
            "Fixed 1 problem, inserted 3 reduce_noise in 1 file. No problems left in 1 file.\n"
        ),
        "{}",
        run.out
    );
    assert_eq!(folder.read("a.mlir").matches("reduce_noise").count(), 3);
    folder.write("a.mlir", &both);
    assert_eq!(folder.run(&["--fix"]).code, 0);
    assert!(folder.read("a.mlir").contains("%r = noisy.reduce_noise %2"), "a hint, so left");
    folder.write("a.mlir", format!("{both}{UNDEFINED}"));
    let run = folder.run(&["--fix-only"]);
    assert_eq!(run.code, 0, "what is left does not count: {run:?}");
    assert!(!run.out.contains("undefined") && folder.read("a.mlir").contains("%r4"), "{}", run.out);
}

#[test]
fn a_broken_function_keeps_its_redundant_reduce() {
    let folder = Folder::with_files(&[("a.mlir", &HINT.replace("return %0", "return %u"))]);
    let before = folder.read("a.mlir");
    folder.run(&["--fix", "--error", "lint"]);
    assert_eq!(folder.read("a.mlir"), before);
}

#[test]
fn split_files_are_several_programs() {
    // The name is defined twice, and both programs exceed the budget. The option has no effect,
    // because files are always split.
    let text = format!("{TUTORIAL}// -----\n{TUTORIAL}");
    let folder = Folder::with_files(&[("a.mlir", &text)]);
    let run = folder.run(&["--output-format", "concise", "--split-input-file"]);
    assert_eq!(run.out, folder.run(&["--output-format", "concise"]).out);
    let places: Vec<_> =
        run.out.lines().filter_map(|it| it.split_once(": error").map(|it| it.0)).collect();
    assert_eq!(places, ["a.mlir:7:8", "a.mlir:20:8"], "{}", run.out);
    assert_eq!(folder.run(&["--fix", "--split-input-file"]).code, 0);
    let after = folder.read("a.mlir");
    let (one, two) = after.split_once("// -----\n").expect("still two");
    for half in [one, two] {
        assert_eq!(half.matches("noisy.reduce_noise").count(), 3, "{after}");
    }
}

#[test]
fn expectations() {
    let expected = TUTORIAL.replace(
        "  %5 =",
        "  // expected-error@below {{%5: noise may reach 48 bits, 22 over the 26-bit budget}}\n  %5 =",
    );
    let folder = Folder::with_files(&[
        ("good.mlir", expected.as_str()),
        ("bad.mlir", TUTORIAL),
        (
            "split.mlir",
            &format!("{expected}// -----\n// expected-warning-re {{{{x{{{{[0-9]}}}}}}}}\n"),
        ),
    ]);
    let run = folder.run(&["--verify-diagnostics", "good.mlir"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
    let run = folder.run(&["--verify-diagnostics", "bad.mlir", "good.mlir"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (
            1,
            "bad.mlir:7:8: error: unexpected error: %5: noise may reach 48 bits, 22 over the 26-bit budget\n"
        )
    );
    assert_eq!(folder.run(&["--verify-diagnostics=only-expected", "bad.mlir"]).code, 0);
    let run = folder.run(&["--verify-diagnostics", "--split-input-file", "split.mlir"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.out,
        "split.mlir:15:4: error: expected warning \"x{{[0-9]}}\" was not produced\n"
    );
}

#[test]
fn each_file_is_in_exactly_one_shard() {
    let folder = Folder::new();
    for n in 0..20_usize {
        folder.write(
            &format!("{n:02}.mlir"),
            format!("{UNDEFINED}{}", "// more\n".repeat(n * n % 7 * 200)),
        );
    }
    let all = folder.run(&["--output-format", "concise"]).out;
    let mut lines: Vec<String> = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let run =
            folder.run(&["--output-format", "concise", "--shard", shard, "missing.mlir", "."]);
        assert_eq!(run.err.contains("missing"), shard == "1/3", "said once");
        lines.extend(run.out.lines().filter(|it| it.contains(".mlir:")).map(str::to_owned));
    }
    lines.sort_unstable();
    let mut wanted: Vec<_> =
        all.lines().filter(|it| it.contains(".mlir:")).map(str::to_owned).collect();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);
    assert_eq!(folder.run(&["--shard", "4/3"]).code, 2);
    assert_eq!(folder.run(&["--shard", "21/21"]).code, 0, "nothing left for it");
}

#[test]
fn explanations() {
    let folder = Folder::new();
    let run = folder.run(&["explain", "noise-overflow"]);
    assert!(
        run.out.starts_with("# noise-overflow: ") && run.out.contains("```mlir"),
        "{}",
        run.out
    );
    let all = folder.run(&["explain", "--all"]);
    assert!(
        all.code == 0
            && all.out.contains("# noise-overflow: ")
            && all.out.contains("# redundant-reduce: ")
            && all.out.contains("\n# dominance: ")
    );
    let run = folder.run(&["explain", "noise-overfow"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean noise-overflow?"), "{}", run.err);
}

#[test]
fn completions_and_the_manual() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = folder.run(&["completions", shell]);
        assert!(run.code == 0 && run.out.contains("verify-diagnostics"), "{shell}");
    }
    let script = format!("{}\ncomplete -p noisy-check", folder.run(&["completions", "bash"]).out);
    let bash = std::process::Command::new("bash").args(["-c", &script]).output();
    // Not every machine has bash.
    if let Ok(bash) = bash {
        assert!(String::from_utf8_lossy(&bash.stdout).contains("noisy-check"), "{bash:?}");
    }
    let manual = folder.run(&["man"]);
    assert!(
        manual.out.contains(".TH noisy-check 1")
            && manual.out.contains("\\-\\-verify\\-diagnostics")
    );
    let schema: serde_json::Value =
        serde_json::from_str(&folder.run(&["schema"]).out).expect("JSON");
    assert!(schema["properties"]["rules"].is_object());
}

#[test]
fn ranges_are_comments() {
    let folder = Folder::with_files(&[("a.mlir", CLEAN)]);
    let run = folder.run(&["--show-ranges", "a.mlir"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("%2 = noisy.add %1, %0 : !noisy.i32  // [0, 25]\n"), "{}", run.out);
    folder.write("b.mlir", &run.out);
    assert_eq!(folder.run(&["b.mlir"]).code, 0, "still the same program");
}

#[test]
fn the_sample_repository() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/repository");
    let sample = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).expect(name);
    let folder = Folder::new();
    for name in ["noisy.toml", "circuits/polynomial.mlir", "legacy/power.mlir"] {
        folder.write(name, sample(name));
    }
    let run = folder.run(&["--output-format", "concise"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.ends_with("1 warning in 1 of 2 files.\n"), "{}", run.out);
    // The problem matcher reads the line.
    let matcher: serde_json::Value =
        serde_json::from_str(&sample(".github/noisy-matcher.json")).expect("JSON");
    let pattern = &matcher["problemMatcher"][0]["pattern"][0];
    let regexp =
        regex::Regex::new(pattern["regexp"].as_str().expect("a pattern")).expect("a pattern");
    let line = run.out.lines().next().expect("a line");
    let found = regexp.captures(line).expect(line);
    let group = |name: &str| found[pattern[name].as_u64().expect(name) as usize].to_owned();
    assert_eq!(
        ["file", "line", "column", "severity", "code", "message"].map(group),
        [
            "legacy/power.mlir",
            "5",
            "8",
            "warning",
            "noise-overflow",
            "%2: noise may reach 48 bits, 22 over the 26-bit budget"
        ]
    );
}

#[test]
fn dumps_use_the_noise_model_of_the_file() {
    let program = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {\n  %0 = noisy.add %a, %a : !noisy.i32\n  return %0 : !noisy.i32\n}\n";
    let folder = Folder::with_files(&[
        ("a.mlir", program),
        ("sub/a.mlir", program),
        ("sub/noisy.toml", "[model]\nfresh = 3\n"),
        ("bad/a.mlir", program),
        ("bad/noisy.toml", "[model]\nfrsh = 3\n"),
    ]);
    for stage in ["facts", "trace"] {
        let dump = |file: &str| folder.run(&[file, "--dump", stage]).out;
        assert!(dump("a.mlir").contains("[0, 13]"), "{}", dump("a.mlir"));
        assert!(dump("sub/a.mlir").contains("[0, 4]"), "{}", dump("sub/a.mlir"));
    }
    let run = folder.run(&["bad/a.mlir", "--dump", "facts"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("frsh"), "{}", run.err);
    // Stages that do not depend on the model are still printed.
    assert_eq!(folder.run(&["bad/a.mlir", "--dump", "ir"]).code, 0);
}

#[test]
fn colors_always_means_always() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    let always = |args: &[&str]| {
        let args: Vec<&str> = ["--color", "always"].iter().chain(args).copied().collect();
        folder.run_with(&args, "", &[("NO_COLOR", "1"), ("TERM", "dumb")]).out
    };
    let concise = always(&["--output-format", "concise"]);
    assert!(
        concise.starts_with(
            "\x1b[1ma.mlir:7:8:\x1b[0m \x1b[31merror[noise-overflow]\x1b[0m %5: noise may reach"
        ),
        "{concise}"
    );
    assert!(always(&[]).contains("\x1b[31m"));
    assert!(always(&["--help"]).contains('\x1b'));
    let diff = always(&["--diff"]);
    for part in ["\x1b[1m--- a.mlir\x1b[0m\n", "\x1b[36m@@", "\x1b[31m-  ", "\x1b[32m+  "] {
        assert!(diff.contains(part), "{part:?} in {diff}");
    }
    let never = folder.run_with(&["--color", "never"], "", &[("CLICOLOR_FORCE", "1")]).out;
    assert!(!never.contains('\x1b'), "{never}");
}

#[cfg(unix)]
#[test]
fn uses_configurations_in_folders_that_are_not_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let inner = folder.path(".").join(OsStr::from_bytes(b"\xff\xfe"));
    // Not every file system has such names.
    if std::fs::create_dir(&inner).is_err() {
        return;
    }
    for (name, text) in [("noisy.toml", "model.budget = 1000"), ("a.mlir", TUTORIAL)] {
        std::fs::write(inner.join(name), text).expect("a file");
    }
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    for args in [
        "*/a.mlir",
        "--config */noisy.toml */a.mlir",
        "--dump facts */a.mlir",
        "graph */a.mlir --format svg",
    ] {
        let run = folder.shell(&format!("{tool} {args}"));
        let out = String::from_utf8_lossy(&run.stdout);
        assert_eq!(run.status.code(), Some(0), "{args}: {run:?}");
        let drawn = out.contains("\"node violation") || out.contains("#d32f2f");
        assert!(!drawn, "{args}: {out}");
    }
    let facts = folder.shell(&format!("{tool} --dump facts --output-format json-lines */a.mlir"));
    let facts = String::from_utf8_lossy(&facts.stdout);
    assert!(facts.contains("\"hi\":192"), "{facts}");
}

#[cfg(target_os = "linux")]
#[test]
fn escapes_control_characters_on_a_terminal() {
    let program = TUTORIAL.replace("// 24", "// \x1b[2J\x07");
    let folder = Folder::with_files(&[
        ("a.mlir", &program),
        ("b.mlir", "func.func @f() {return} //\x1b[2J\n"),
    ]);
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    if !folder.shell("script --version").status.success() {
        return;
    }
    for args in ["--diff a.mlir", "--show-ranges a.mlir", "format --diff b.mlir"] {
        let on_terminal =
            folder.shell(&format!("script -qec '{tool} {args}' /dev/null </dev/null"));
        let out = String::from_utf8_lossy(&on_terminal.stdout);
        assert!(out.contains("\u{241b}[2J") && !out.contains("\x1b[2J"), "{args}: {out}");
        // Output to a program is exact.
        let piped = folder.shell(&format!("{tool} {args}"));
        assert!(String::from_utf8_lossy(&piped.stdout).contains("\x1b[2J"), "{args}");
    }
}

#[test]
fn which_files_are_checked() {
    let folder = Folder::with_files(&[
        (".gitignore", "gen/"),
        ("gen/a.mlir", TUTORIAL),
        ("b.mlir", CLEAN),
        ("sub/c.mlir", TUTORIAL),
    ]);
    let files = |args: &[&str]| {
        let args: Vec<&str> = ["--show-files"].iter().chain(args).copied().collect();
        let run = folder.run(&args);
        (run.code, run.out)
    };
    assert_eq!(files(&[]), (0, "b.mlir\nsub/c.mlir\n".to_owned()));
    assert_eq!(files(&["--exclude", "sub"]), (0, "b.mlir\n".to_owned()));
    let all = "b.mlir\ngen/a.mlir\nsub/c.mlir\n".to_owned();
    assert_eq!(files(&["--no-respect-gitignore"]), (0, all));
    assert_eq!(files(&["gone.mlir", "b.mlir"]), (2, "b.mlir\n".to_owned()));
    let run = folder.run(&["--no-respect-gitignore", "--output-format", "concise"]);
    assert!(run.out.contains("gen/a.mlir:7:8: error["), "{run:?}");
    let run = folder.run(&["format", "--check", "--no-respect-gitignore", "."]);
    assert!(run.err.contains("3 files"), "{run:?}");
}

#[test]
fn turns_off_rules_per_file() {
    let folder = Folder::with_files(&[
        ("noisy.toml", "rules.noise-overflow = \"warning\""),
        ("old/a.mlir", TUTORIAL),
        ("b.mlir", TUTORIAL),
        ("c.mlir", UNDEFINED),
    ]);
    let found = |args: &[&str]| {
        let args: Vec<&str> = ["--output-format", "pylint"].iter().chain(args).copied().collect();
        folder.run(&args).out
    };
    let run = found(&["--per-file-ignores", "old/:noise"]);
    assert!(
        run.contains("b.mlir:7: [noise-overflow] ") && run.contains("c.mlir:1: [undefined-value] "),
        "{run}"
    );
    assert!(!run.contains("old/a.mlir"), "{run}");
    assert_eq!(
        found(&["--per-file-ignores", "*.mlir:noise", "--per-file-ignores", "/c.mlir:all"]),
        ""
    );
    let here = folder.path("b.mlir");
    let here = here.to_str().expect("UTF-8");
    assert_eq!(found(&[here, "--per-file-ignores", "/b.mlir:noise-overflow"]), "");
    for (wrong, said) in [
        ("noise", "expected PATTERN:RULE"),
        ("a:noise-overflw", "unknown rule `noise-overflw`; did you mean `noise-overflow`?"),
    ] {
        let run = folder.run(&["--per-file-ignores", wrong]);
        let wanted = format!("noisy-check: --per-file-ignores '{wrong}': {said}\n");
        assert_eq!((run.code, run.err), (2, wanted));
    }
}

#[test]
fn quiet_prints_findings_only() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("b.mlir", CLEAN)]);
    let run = folder.run(&["-q", "--output-format", "concise", "--max-diagnostics", "1"]);
    assert_eq!((run.code, run.out.lines().count(), run.err.as_str()), (1, 1, ""), "{run:?}");
    let run = folder.run(&["--quiet", "b.mlir"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
}
