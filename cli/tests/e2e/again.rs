//! Repeated runs: the cache, `--watch`, and comments that suppress findings.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use expect_test::expect;

use crate::tool::{CLEAN, Folder, TUTORIAL, UNDEFINED};

/// The files of the cache.
fn packs(folder: &Folder) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder.path(".noisy_cache")).into_iter().flatten();
    let paths = files.map(|it| it.expect("a file").path());
    paths.filter(|it| it.extension().is_some_and(|it| it == "json")).collect()
}

#[test]
fn cached_files_are_not_checked_again() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("b.mlir", CLEAN)]);
    let check = || folder.run(&["--output-format", "concise"]);
    let first = check();
    assert_eq!(first.code, 1);
    assert_eq!(check(), first);
    assert_eq!(folder.read(".noisy_cache/.gitignore"), "*\n");
    let [pack] = packs(&folder).try_into().expect("one for the folder");
    // The cache is trusted: nothing is analyzed.
    let text = std::fs::read_to_string(&pack).expect("a text");
    assert!(text.contains("[noise-overflow]"), "{text}");
    std::fs::write(&pack, text.replace("[noise-overflow]", "[kept]")).expect("it can be written");
    assert!(check().out.contains("[kept]"));
    // The cache is not used for another text, other settings or other options.
    assert!(folder.run(&["--output-format", "pylint"]).out.contains("noise-overflow"));
    assert_eq!(folder.run(&["--output-format", "concise", "--ignore", "noise"]).code, 0);
    assert_eq!(folder.run(&["--output-format", "concise", "--no-cache"]), first);
    folder.write("noisy.toml", "rules.noise = \"warning\"");
    assert!(check().out.contains("warning[noise-overflow]"));
    std::fs::remove_file(folder.path("noisy.toml")).expect("there");
    folder.write("a.mlir", format!("{TUTORIAL}\n"));
    assert_eq!(check(), first);
    // An incomplete, empty or missing cache changes no result.
    for torn in ["", "{", "[]", "{\"a.mlir\":{}}", "\u{0}\u{0}"] {
        for it in packs(&folder) {
            std::fs::write(it, torn).expect("it can be written");
        }
        assert_eq!(check(), first, "{torn:?}");
    }
    std::fs::remove_dir_all(folder.path(".noisy_cache")).expect("there");
    assert_eq!(check(), first);
}

#[test]
fn finds_the_folder_of_the_cache() {
    let folder = Folder::with_files(&[("a.mlir", CLEAN), ("deep/er/b.mlir", CLEAN)]);
    assert_eq!(folder.run(&["--no-cache"]).code, 0);
    assert_eq!(folder.run(&["--diff"]).code, 0);
    assert_eq!(folder.run_with(&["-"], CLEAN, &[]).code, 0);
    assert!(!folder.path(".noisy_cache").exists());
    assert_eq!(folder.run(&["--cache-dir", "out/cache"]).code, 0);
    assert_eq!(folder.run_with(&[], "", &[("NOISY_CACHE_DIR", "other")]).code, 0);
    assert!(folder.path("out/cache/.gitignore").exists() && folder.path("other").exists());
    assert!(!folder.path(".noisy_cache").exists());
    // The cache is beside the configuration. Files in an existing folder are not changed.
    folder.write("noisy.toml", "");
    folder.write("mine/file", "");
    let run = folder.shell(&format!("cd deep/er && {}", env!("CARGO_BIN_EXE_noisy-check")));
    assert!(run.status.success());
    assert_eq!(packs(&folder).len(), 1);
    assert_eq!(folder.run(&["--cache-dir", "mine"]).code, 0);
    assert!(!folder.path("mine/.gitignore").exists());
    // A cache folder that cannot be created is reported, and changes no result.
    let run = folder.run(&["--cache-dir", "a.mlir"]);
    assert_eq!((run.code, run.out.as_str()), (0, "No problems in 2 files.\n"));
    assert!(run.err.starts_with("noisy-check: the cache a.mlir cannot be written: "), "{run:?}");
    assert_eq!(folder.read("a.mlir"), CLEAN);
}

#[cfg(unix)]
#[test]
fn ignores_caches_of_other_users() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("elsewhere/file", "")]);
    let check = |key: &str| {
        folder.run_with(&["--output-format", "concise"], "", &[("NOISY_CACHE_KEY", key)])
    };
    let theirs = check("theirs");
    for it in packs(&folder) {
        let text = std::fs::read_to_string(&it).expect("a text");
        std::fs::write(it, text.replace("[noise-overflow]", "[kept]")).expect("it can be written");
    }
    assert!(check("theirs").out.contains("[kept]"));
    assert_eq!(check("mine"), theirs);
    // The secret of a user is created once, and only the user can read it.
    let state = folder.path("state");
    let env = [("NOISY_CACHE_KEY", ""), ("XDG_STATE_HOME", state.to_str().expect("a text"))];
    assert_eq!(folder.run_with(&[], "", &env).code, 1);
    let n = packs(&folder).len();
    assert_eq!(folder.run_with(&[], "", &env).code, 1);
    assert_eq!(packs(&folder).len(), n, "the same secret");
    let key = std::fs::metadata(state.join("noisy/cache-key")).expect("it is kept");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&key.permissions()) & 0o777, 0o600);
    // An existing folder is excluded from git. A link is not followed, because writing to its
    // target needs permission.
    std::fs::remove_dir_all(folder.path(".noisy_cache")).expect("there");
    std::fs::create_dir(folder.path(".noisy_cache")).expect("a folder");
    check("mine");
    assert_eq!(folder.read(".noisy_cache/.gitignore"), "*\n");
    std::fs::remove_dir_all(folder.path(".noisy_cache")).expect("there");
    std::os::unix::fs::symlink("elsewhere", folder.path(".noisy_cache")).expect("a link");
    assert_eq!(check("mine"), theirs);
    assert_eq!(std::fs::read_dir(folder.path("elsewhere")).map(Iterator::count).ok(), Some(1));
}

/// With random texts, settings and options, the output with the cache equals the output without it.
#[test]
fn the_cache_changes_no_result() {
    let folder = Folder::new();
    let texts = [CLEAN, TUTORIAL, UNDEFINED, "// Nothing.\n", "func.func @f("];
    let settings = [
        "",
        "rules.noise = \"off\"",
        "model.budget = 12",
        "[[overrides]]\nfiles = [\"1.mlir\"]\nrules.noise = \"hint\"",
    ];
    let options: [&[&str]; 8] = [
        &[],
        &["--output-format", "json"],
        &["--output-format", "sarif"],
        &["--output-format", "grouped", "--max-diagnostics", "1"],
        &["--per-file-ignores", "2.mlir:all"],
        &["--baseline", "baseline.json"],
        &["--write-baseline", "written.json"],
        &["--error", "lint", "--statistics"],
    ];
    let mut state = 7_u64;
    let mut random = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    folder.write("baseline.json", "{\"version\":2,\"findings\":[]}");
    for _ in 0..40 {
        for _ in 0..random(3) {
            folder.write(&format!("{}.mlir", random(4)), texts[random(5)]);
        }
        folder.write("0.mlir", texts[random(5)]);
        folder.write("noisy.toml", settings[random(4)]);
        if random(4) == 0 {
            folder.run(&["--write-baseline", "baseline.json", "0.mlir"]);
        }
        let options = options[random(8)];
        let with = folder.run(options);
        let written = std::fs::read(folder.path("written.json")).ok();
        assert_eq!(with, folder.run(&[options, &["--no-cache"]].concat()), "{options:?}");
        assert_eq!(written, std::fs::read(folder.path("written.json")).ok());
    }
}

#[test]
fn runs_at_the_same_time_share_the_cache() {
    let folder = Folder::new();
    for n in 0..50 {
        folder.write(&format!("{n}.mlir"), [CLEAN, TUTORIAL][n % 2]);
    }
    let wanted = folder.run(&["--no-cache"]);
    std::thread::scope(|scope| {
        let run = |n: usize| {
            if n % 3 == 2 {
                // Another process removes the cache during the runs.
                let _ = std::fs::remove_dir_all(folder.path(".noisy_cache"));
            }
            folder.run(&[])
        };
        let runs: Vec<_> = (0..8).map(|n| scope.spawn(move || run(n))).collect();
        for it in runs {
            let run = it.join().expect("it ends");
            // A folder that disappears during a write is at most reported.
            assert_eq!((run.code, &run.out), (wanted.code, &wanted.out), "{}", run.err);
        }
    });
}

#[test]
fn files_are_watched() {
    let folder = Folder::with_files(&[("a.mlir", CLEAN)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_noisy-check"))
        .args(["--watch", "--output-format", "concise", "."])
        .current_dir(folder.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let (sender, lines) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let reader = std::thread::spawn(move || {
        // The end of the output closes the channel.
        out.lines().map_while(Result::ok).for_each(|it| drop(sender.send(it)));
    });
    let next = |wanted: &str| {
        // A long time limit, because the machine may be busy.
        let wait = Duration::from_secs(120);
        while let Ok(line) = lines.recv_timeout(wait) {
            if line.contains(wanted) {
                return;
            }
        }
        panic!("never said: {wanted}");
    };
    next("No problems in 1 file.");
    folder.write("b.mlir", TUTORIAL);
    next("1 error in 1 of 2 files.");
    folder.write("noisy.toml", "extends = \"base.toml\"");
    folder.write("base.toml", "rules.noise = \"off\"");
    next("No problems in 2 files.");
    folder.write("base.toml", "rules.noise = \"warning\"");
    next("1 warning in 1 of 2 files.");
    std::fs::remove_file(folder.path("a.mlir")).expect("there");
    next("1 warning in 1 file.");
    // The new text has the same length and modification time.
    let file = std::fs::File::options().write(true).open(folder.path("b.mlir")).expect("there");
    let time = file.metadata().and_then(|it| it.modified()).expect("a time");
    folder.write("b.mlir", TUTORIAL.replace(".mul", ".add"));
    file.set_modified(time).expect("it is ours");
    next("No problems in 1 file.");
    std::fs::remove_file(folder.path("b.mlir")).expect("there");
    folder.write("c.mlir", TUTORIAL);
    next("1 warning in 1 file.");
    folder.write("c.mlir", CLEAN);
    next("No problems in 1 file.");
    child.kill().expect("it runs until then");
    child.wait().expect("it ends");
    reader.join().expect("it ends");
    assert_eq!(folder.run_with(&["--watch", "-"], CLEAN, &[]).code, 2);
    assert_eq!(folder.run(&["--watch", "--fix"]).code, 2);
}

#[test]
fn suppresses_findings_by_comments() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("b.mlir", UNDEFINED)]);
    let diff = folder.run(&["--add-suppressions", "--diff", "a.mlir"]);
    assert_eq!((diff.code, folder.read("a.mlir").as_str()), (1, TUTORIAL));
    assert!(
        diff.out.contains("+  %5 = noisy.mul %4, %4 : !noisy.i32  // noisy: allow(noise-overflow)")
    );
    let run = folder.run(&["--add-suppressions", "a.mlir"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    expect![[r#"
        Suppressed 2 problems in 1 file. No problems left in 1 file.
    "#]]
    .assert_eq(&run.out);
    expect![[r#"
        func.func @tutorial() -> i5 {
          %0 = arith.constant 3 : i5
          %1 = arith.constant 4 : i5
          %2 = noisy.encode %0 : i5 -> !noisy.i32
          %3 = noisy.encode %1 : i5 -> !noisy.i32
          %4 = noisy.mul %2, %3 : !noisy.i32 // 24
          %5 = noisy.mul %4, %4 : !noisy.i32  // noisy: allow(noise-overflow)
          %6 = noisy.mul %5, %5 : !noisy.i32
          %7 = noisy.mul %6, %6 : !noisy.i32
          %8 = noisy.decode %7 : !noisy.i32 -> i5  // noisy: allow(decode-over-budget)
          return %8 : i5
        }
    "#]]
    .assert_eq(&folder.read("a.mlir"));
    assert_eq!(folder.run(&["a.mlir"]).code, 0);
    // A second run changes nothing. Errors that cannot be suppressed are still reported.
    let before = folder.read("a.mlir");
    let run = folder.run(&["--add-suppressions"]);
    assert_eq!((run.code, folder.read("a.mlir")), (1, before));
    assert_eq!(folder.read("b.mlir"), UNDEFINED);
    // With another budget, the comments suppress nothing and are removed.
    let run = folder.run(&["--fix", "a.mlir", "--config", "model.budget=1000"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "Fixed 2 problems in 1 file. No problems left in 1 file.\n")
    );
    assert_eq!(folder.read("a.mlir"), TUTORIAL);
    let through = folder.run_with(&["--add-suppressions", "-"], TUTORIAL, &[]);
    assert!(through.out.contains("// noisy: allow(decode-over-budget)"), "{through:?}");
}

#[test]
fn many_files_are_fixed_in_groups() {
    let folder = Folder::new();
    let n = 600_usize;
    for it in 0..n {
        folder.write(&format!("{it:03}.mlir"), if it % 7 == 3 { CLEAN } else { TUTORIAL });
    }
    let run = folder.run(&["--fix", "--no-cache", "--output-format", "concise"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.err.lines().count(), n - n.div_ceil(7), "{}", run.err);
    let fixed = folder.read("000.mlir");
    assert_eq!(fixed.matches("reduce_noise").count(), 3);
    for it in 0..n {
        let wanted = if it % 7 == 3 { CLEAN } else { fixed.as_str() };
        assert_eq!(folder.read(&format!("{it:03}.mlir")), wanted, "{it}");
    }
    assert_eq!(std::fs::read_dir(folder.path(".")).expect("there").count(), n);
}

#[test]
fn a_comment_may_allow_many_codes() {
    // Each code is checked once, not against all others.
    let text = format!(
        "{CLEAN}// noisy: allow({})\nfunc.func private @g()\n",
        "noise-overflow, ".repeat(50_000)
    );
    let folder = Folder::with_files(&[("a.mlir", &text)]);
    let run = folder.run(&["--diff", "--isolated", "a.mlir"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("-// noisy: allow("), "{}", run.out.len());
}

/// A line may be as long as a file, with a finding every few bytes.
#[test]
fn fingerprints_use_the_start_of_long_lines() {
    let names = |text: String| -> Vec<String> {
        let folder = Folder::with_files(&[("a.mlir", text.as_str())]);
        folder.run(&["--write-baseline", "baseline"]);
        let file = std::fs::read_to_string(folder.path("baseline")).expect("a baseline");
        let file: serde_json::Value = serde_json::from_str(&file).expect("JSON");
        let findings = file["findings"].as_array().expect("findings");
        findings.iter().map(|it| it["fingerprint"].to_string()).collect()
    };
    let line = |start: &str, end: &str| {
        format!("  {start}{} {end}\n", "%a = arith.constant 1 : i32 ".repeat(60))
    };
    let before = names(line("", ""));
    let unique: std::collections::HashSet<&String> = before.iter().collect();
    assert!(before.len() >= 50 && unique.len() == before.len(), "{before:?}");
    assert_eq!(names(line("", "// more")), before);
    assert_ne!(names(line("module @m {} ", "")), before);
}
