//! Ignored, excluded and hidden files of a folder.

use crate::tool::{CLEAN, Folder, TUTORIAL};

const TOOL: &str = env!("CARGO_BIN_EXE_noisy-check");

/// Returns the checked files of a run in the subfolder `from`.
fn checked_files(folder: &Folder, from: &str, args: &str) -> String {
    let output = folder.shell(&format!("cd {from} && {TOOL} --no-cache --show-files {args}"));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn patterns_of_a_configuration_do_not_depend_on_the_current_folder() {
    let folder = Folder::with_files(&[
        (
            "q/noisy.toml",
            "exclude = [\"/top.mlir\", \"gen/v/\"]\n\
             [[overrides]]\nfiles = [\"/b.mlir\"]\nrules.all = \"off\"\n",
        ),
        ("q/top.mlir", TUTORIAL),
        ("q/b.mlir", TUTORIAL),
        ("q/v/top.mlir", TUTORIAL),
        ("q/gen/v/a.mlir", TUTORIAL),
    ]);
    assert_eq!(checked_files(&folder, "q", ""), "b.mlir\nv/top.mlir\n");
    assert_eq!(checked_files(&folder, ".", ""), "q/b.mlir\nq/v/top.mlir\n");
    assert_eq!(checked_files(&folder, ".", "q/../q"), "q/../q/b.mlir\nq/../q/v/top.mlir\n");
    assert_eq!(checked_files(&folder, "q/v", ""), "top.mlir\n");
    assert_eq!(checked_files(&folder, "q/v", ".."), "../b.mlir\n../v/top.mlir\n");
    assert_eq!(checked_files(&folder, "q/gen", ""), "");
    assert_eq!(checked_files(&folder, "q/gen/v", "\"$PWD\""), "");
    assert_eq!(
        checked_files(&folder, "/", &folder.path("q").display().to_string()).lines().count(),
        2
    );
    // A file on the command line is checked despite `exclude`.
    assert_eq!(checked_files(&folder, "q/gen", "v/a.mlir"), "v/a.mlir\n");
    for (from, path) in [
        ("q/gen", "v/a.mlir"),
        (".", "q/gen/v/a.mlir"),
        ("q/v", "../top.mlir"),
        (".", "q/top.mlir"),
    ] {
        assert_eq!(checked_files(&folder, from, &format!("--force-exclude {path}")), "", "{path}");
    }
    for (from, path, code) in
        [(".", "q/b.mlir", 0), ("q/v", "../b.mlir", 0), ("q/v", "top.mlir", 1)]
    {
        let output = folder.shell(&format!("cd {from} && {TOOL} --no-cache {path}"));
        assert_eq!(output.status.code(), Some(code), "{path}");
    }
    assert!(folder.shell(&format!("cd q/gen && {TOOL} --no-cache --fix-only -q")).status.success());
    assert_eq!(folder.read("q/gen/v/a.mlir"), TUTORIAL);
    // The patterns of a named configuration are relative to the current folder.
    assert_eq!(checked_files(&folder, "q", "--config noisy.toml"), "b.mlir\nv/top.mlir\n");
    assert_eq!(checked_files(&folder, "q/v", "--config ../noisy.toml"), "");
}

#[test]
fn command_line_patterns_are_relative_to_the_current_folder() {
    let names = ["q/v/a.mlir", "q/w/c.mlir", "q/{a,b}.mlir"];
    let folder = Folder::with_files(&names.map(|it| (it, CLEAN)));
    assert_eq!(checked_files(&folder, "q", "--exclude /v/"), "w/c.mlir\n{a,b}.mlir\n");
    assert_eq!(
        checked_files(&folder, "q", "--exclude /v/ ../q"),
        "../q/w/c.mlir\n../q/{a,b}.mlir\n"
    );
    assert_eq!(checked_files(&folder, "q", "--exclude '{a,b}.mlir'"), "v/a.mlir\nw/c.mlir\n");
    assert_eq!(checked_files(&folder, "q", "--exclude '{v,w}'").lines().count(), 3);
    // A file outside the current folder is matched by the names in its path.
    assert_eq!(checked_files(&folder, "q/w", "--exclude v/ .."), "../w/c.mlir\n../{a,b}.mlir\n");
    let run = folder.run(&["--exclude", "[a"]);
    assert_eq!(run.err, "noisy-check: --exclude '[a': no `]` closes the `[`\n");
    assert_eq!(run.code, 2);
}

#[test]
fn hidden_files_are_checked_but_not_those_of_other_tools() {
    let names = [".ci/x.mlir", ".h.mlir", "a.mlir", "sub/.venv/x.mlir"];
    let kept = [".git", ".hg", ".jj", ".svn", ".noisy_cache", "sub/.hg"];
    let folder = Folder::new();
    for it in kept.map(|it| format!("{it}/x.mlir")).iter().map(String::as_str).chain(names) {
        folder.write(it, CLEAN);
    }
    // Emacs creates such a link while a file is edited.
    std::os::unix::fs::symlink("somebody@host.1", folder.path(".#a.mlir")).expect("a link");
    let all = names.join("\n") + "\n";
    for args in [&["--show-files"][..], &["--show-files", "--no-respect-gitignore"]] {
        let run = folder.run(args);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, all.as_str(), ""));
    }
    assert_eq!(folder.run(&["--show-files", ".git"]).out, ".git/x.mlir\n", "named, so wanted");
    folder.write(".gitignore", ".*\n");
    assert_eq!(folder.run(&["--show-files"]).out, "a.mlir\n");
}

#[test]
fn ignore_files_work_as_in_git() {
    let folder = Folder::new();
    if !folder.shell("git init -q .").status.success() {
        return;
    }
    let texts = [
        "{a,b}\n",
        "{a}\na{\n",
        "[[:alpha:]]\n",
        "[![:alpha:]]\n",
        "[[:digit:]-]\n[[:alpha:][:digit:]]b\n",
        "[[:nothing:]a]\n",
        "a\t\n",
        "a\t/\n",
        "a \n",
        "a\\ b  \n",
        "*\n!\n",
        "*\n!/\n",
        "*\n!a\n!*.mlir\n",
        "[a\n",
        "[a]\n",
        "[\\]x]\n",
        "[]-]\n[\\!\\^]\n",
        "a\\\nb\\/\n",
        "a[/]x.mlir\n",
        "a[!b]x.mlir\n",
        "[/a]/x.mlir\n",
        "sub/[!a].mlir\n",
        "\u{feff}a\r\n!b\r\n",
        "x.mlir\n!/a/x.mlir\n",
        "/**/x.mlir\n!a/**\n",
        "?\n",
    ];
    let names =
        ["a", "b", "ab", "{a}", "{a,b}", "a{", "[a", "[a]", "]", "-", "!", "^", "1", "1b", "a b"];
    for (n, text) in texts.iter().enumerate() {
        folder.write(&format!("{n}/.gitignore"), text);
        for name in names {
            folder.write(&format!("{n}/{name}/x.mlir"), CLEAN);
            folder.write(&format!("{n}/sub/{name}.mlir"), CLEAN);
        }
    }
    let listed = folder.shell("git ls-files -z -o --exclude-standard '*.mlir'");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    let mut listed: Vec<&str> = listed.split_terminator('\0').collect();
    let run = folder.run(&["--show-files"]);
    let mut found: Vec<&str> = run.out.lines().collect();
    listed.sort_unstable();
    found.sort_unstable();
    for (n, text) in texts.iter().enumerate() {
        let of = |names: &[&str]| {
            let below = format!("{n}/");
            let names = names.iter().filter(|it| it.starts_with(&below));
            names.map(|it| (*it).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(&found), of(&listed), "{text:?}");
    }
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn ignore_files_do_not_apply_to_nested_repositories() {
    let folder = Folder::with_files(&[
        (".git/HEAD", ""),
        (".gitignore", "*\n!*/\n"),
        ("a.mlir", CLEAN),
        ("inner/.git", "gitdir: ../.git/modules/inner\n"),
        (".git/modules/inner/info/exclude", "b.mlir\n"),
        ("inner/a.mlir", CLEAN),
        ("inner/b.mlir", CLEAN),
        ("inner/sub/c.mlir", CLEAN),
    ]);
    let all = "inner/a.mlir\ninner/sub/c.mlir\n";
    for (args, wanted) in
        [(&[][..], all), (&["inner"], all), (&["inner/sub"], "inner/sub/c.mlir\n")]
    {
        let run = folder.run(&[&["--show-files"][..], args].concat());
        assert_eq!((run.code, run.out.as_str()), (0, wanted), "{run:?}");
    }
}

#[test]
fn global_ignore_patterns_apply_to_each_repository() {
    let folder = Folder::with_files(&[
        ("config/git/ignore", "/top.mlir\nold.mlir\n"),
        ("q/.git/HEAD", ""),
        ("q/top.mlir", CLEAN),
        ("q/v/top.mlir", CLEAN),
        ("q/v/old.mlir", CLEAN),
    ]);
    let config = folder.path("config").display().to_string();
    let env = [
        ("XDG_CONFIG_HOME", config.as_str()),
        ("HOME", config.as_str()),
        ("GIT_CONFIG_GLOBAL", ""),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ];
    for path in [".", "q", "q/v"] {
        let run = folder.run_with(&["--no-cache", "--show-files", path], "", &env);
        assert_eq!((run.code, run.out.as_str()), (0, "q/v/top.mlir\n"), "{path}: {run:?}");
    }
}

#[test]
fn a_fully_ignored_folder_is_reported_but_is_not_an_error() {
    let why = "git ignores all .mlir files in this folder (--no-respect-gitignore includes them)";
    for (ignore, folder) in [
        ("*.mlir\n", "p"),
        ("*\n", "p"),
        ("/v/\n", "p"),
        ("v\n", "p"),
        ("a.*\n", "p/v"),
        ("*\n", "p/v"),
    ] {
        let files = Folder::with_files(&[("p/.gitignore", ignore), ("p/v/a.mlir", TUTORIAL)]);
        for command in ["", "format --check", "format", "--fix", "--output-format json"] {
            let output = files.shell(&format!("{TOOL} {command} {folder}"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{ignore:?} {command}: {said}");
            assert!(said.contains(&format!("noisy-check: {folder}: {why}\n")), "{said}");
        }
        assert_eq!(files.read("p/v/a.mlir"), TUTORIAL);
        let output = files.shell(&format!("{TOOL} --no-respect-gitignore {folder}"));
        assert_eq!(output.status.code(), Some(1), "{ignore:?}");
    }
    let files = Folder::with_files(&[("p/a.mlir", TUTORIAL)]);
    let output = files.shell(&format!("{TOOL} --exclude '*.mlir' p"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said, "noisy-check: p: all .mlir files in this folder are excluded\n");
    // The folder contains no program, ignored or not.
    let files = Folder::with_files(&[("p/.gitignore", "v/\n"), ("p/v/a.txt", "")]);
    let output = files.shell(&format!("{TOOL} p"));
    assert_eq!(output.status.code(), Some(2));
}
