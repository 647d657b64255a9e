//! Runs the commands that the documentation shows and compares their output with the documented
//! one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tool::{CLEAN, Folder, STENCIL, TUTORIAL};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages that users read, with their paths from the root.
fn pages() -> Vec<(String, String)> {
    let named = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(str::to_owned);
    let mut paths = named.to_vec();
    paths
        .extend(["vscode-extension/README.md", "examples/repository/README.md"].map(str::to_owned));
    for folder in ["docs", "vscode-extension/walkthrough"] {
        for it in fs::read_dir(root().join(folder)).expect("a folder") {
            let name = it.expect("a file").file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|it| it == "md") {
                paths.push(format!("{folder}/{name}"));
            }
        }
    }
    paths.sort();
    let read = |it: String| {
        let text = fs::read_to_string(root().join(&it)).expect("a text");
        (it, text)
    };
    paths.into_iter().map(read).collect()
}

/// A fenced block of commands.
struct Block<'a> {
    page: &'a str,
    /// The commands; lines that end in `\\` are joined. In `console` these are the lines after `$`.
    commands: Vec<String>,
    /// The reason why it does not run in a test, from a comment above it.
    not_run: Option<&'a str>,
}

fn blocks<'a>(page: &'a str, text: &'a str) -> Vec<Block<'a>> {
    let mut out = Vec::new();
    let mut above = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !matches!(line, "```sh" | "```console") {
            above = line;
            continue;
        }
        let inside: Vec<&str> = lines.by_ref().take_while(|it| *it != "```").collect();
        let inside = inside.join("\n").replace("\\\n", " ");
        let of = |it: &str| {
            let command = if line == "```sh" { Some(it) } else { it.strip_prefix("$ ") };
            let command = command?.split(" #").next().unwrap_or_default().trim();
            (!command.is_empty()).then(|| command.to_owned())
        };
        let commands = inside.lines().filter_map(of).collect();
        let not_run = above.strip_prefix("<!-- not run: ").and_then(|it| it.strip_suffix(" -->"));
        out.push(Block { page, commands, not_run });
    }
    out
}

#[test]
fn every_block_of_commands_runs_or_says_why_not() {
    let pages = pages();
    let blocks: Vec<Block<'_>> = pages.iter().flat_map(|it| blocks(&it.0, &it.1)).collect();
    assert!(blocks.len() > 20, "{}", blocks.len());
    for block in blocks {
        let is_ours = |it: &String| it.starts_with("noisy-check") || it.starts_with("noisy-opt ");
        match block.not_run {
            Some(why) => assert!(why.len() > 10, "{}: {:?}", block.page, block.commands),
            None => assert!(
                !block.commands.is_empty() && block.commands.iter().all(is_ours),
                "{}: no test runs this; mark it with `<!-- not run: REASON -->`: {:?}",
                block.page,
                block.commands
            ),
        }
    }
}

/// The commands in shell blocks and in backquotes, with values for their placeholders.
fn commands() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (page, text) in pages() {
        let in_blocks = blocks(&page, &text).into_iter().filter(|it| it.not_run.is_none());
        let in_blocks = in_blocks.flat_map(|it| it.commands);
        let in_prose = text.split('`').filter(|it| !it.contains('\n')).map(str::to_owned);
        for command in in_blocks.chain(in_prose) {
            let Some(args) = command.strip_prefix("noisy-check") else { continue };
            let Some(args) = args.strip_prefix(' ').or(args.is_empty().then_some("")) else {
                continue;
            };
            let args = args.replace("CODE", "dominance").replace("SHELL", "bash");
            let args = args.replace("PATH...", "program.mlir").replace("PATH", "program.mlir");
            // The first of several alternatives.
            let args: Vec<_> = args
                .replace("FILE", "program.mlir")
                .split_whitespace()
                .map(|it| {
                    it.split('|').next().unwrap_or_default().trim_matches(['[', ']']).to_owned()
                })
                .collect();
            out.push(args.join(" "));
        }
    }
    out.sort();
    out.dedup();
    out
}

#[test]
fn every_command_runs() {
    let commands = commands();
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let folder = Folder::with_files(&[
            ("src/a.mlir", TUTORIAL),
            ("circuits/a.mlir", TUTORIAL),
            ("program.mlir", TUTORIAL),
            ("power.mlir", TUTORIAL),
            ("a.mlir", TUTORIAL),
            ("examples/legal.mlir", CLEAN),
            ("stencil.mlir", STENCIL),
        ]);
        // Only the first of several commands is run, and an input file becomes the input.
        let command = command.split(" && ").next().unwrap_or_default().to_owned();
        let (command, input) = match command.split_once(" < ") {
            Some((command, file)) => (command.to_owned(), folder.read(file)),
            None => (command, TUTORIAL.to_owned()),
        };
        let args: Vec<&str> = command.split(' ').filter(|it| !it.is_empty()).collect();
        let run = folder.run_with(&args, &input, &[]);
        let is_path = |it: &&str| {
            Path::new(it).extension().is_some_and(|it| it == "mlir")
                || it.ends_with('/')
                || *it == "src"
        };
        // The programs have errors, and these commands report them.
        let checks = match args[..] {
            []
            | [
                "check" | "--output-format" | "--diff" | "--warn" | "--verify-diagnostics" | "-",
                ..,
            ] => true,
            [first, ..] => is_path(&first) && first != "examples/legal.mlir",
        };
        let fixes = args.contains(&"--fix");
        let wanted = i32::from(checks && !fixes);
        assert_eq!(run.code, wanted, "noisy-check {command}\n{run:?}");
        // These commands write files or a program, and report on standard error.
        let is_beside = args == ["--fix", "-"]
            || (matches!(args.first(), Some(&("format" | "fmt"))) && run.out.is_empty());
        let told = if is_beside { &run.err } else { &run.out };
        let is_told = folder.path("noise.html").exists()
            || folder.path("a.html").exists()
            || folder.path("stencil.html").exists();
        // The program has no loops, and so no dependences.
        let is_silent = args[..args.len().min(2)] == ["--dump", "dependences"];
        assert!(is_told || is_silent || !told.is_empty(), "noisy-check {command}");
    }
}

/// Runs the session of a page: its program, and its commands with their output.
fn session(page: &str, file: &str, wanted: usize) -> Folder {
    let page = fs::read_to_string(root().join(page)).expect("the page");
    let block = |kind: &str| {
        let start = format!("```{kind}\n");
        page.split(&start).skip(1).filter_map(|it| it.split("```").next()).collect::<Vec<_>>()
    };
    let [program] = block("mlir")[..] else { panic!("one program") };
    let folder = Folder::with_files(&[(file, program)]);
    let mut n = 0;
    for session in block("console").iter().flat_map(|it| it.split("$ noisy-check ").skip(1)) {
        let (command, said) = session.split_once('\n').expect("what it prints");
        let run = folder.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.err + &run.out, said, "noisy-check {command}");
        n += 1;
    }
    assert_eq!(n, wanted);
    folder
}

#[test]
fn the_first_steps_print_the_documented_output() {
    assert_eq!(session("docs/first-steps.md", "src/a.mlir", 5).run(&["src"]).code, 0);
}

#[test]
fn the_readme_session_prints_the_documented_output() {
    assert_eq!(session("README.md", "power.mlir", 2).run(&["power.mlir"]).code, 0);
}

/// Paths in backquotes that look like files of the repository.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    let tokens = text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    tokens.filter(|it| {
        let extension = Path::new(it).extension().and_then(|it| it.to_str()).unwrap_or_default();
        let is_source = matches!(extension, "py" | "rs" | "mjs" | "ts");
        let is_place = ["scripts/", "tests/", "docs/", "examples/", "lsp/", "cli/", "opt/"]
            .iter()
            .any(|folder| it.starts_with(folder));
        // Modules of a crate are cited without `src/`.
        let is_place =
            is_place && (!extension.is_empty() || it.ends_with('/') || it.starts_with("scripts/"));
        (is_source || is_place) && !it.contains(['*', '{', '<', ':', '='])
    })
}

#[test]
fn pages_cite_only_files_of_the_repository() {
    let mut n = 0;
    for (page, text) in pages() {
        // Blocks show files of users.
        let prose: String = text.split("```").step_by(2).collect();
        for path in cited(&prose) {
            let path = path.trim_matches([',', '.', ';', '(', ')']);
            // A table may contain the folder only once.
            let is_there = root().join(path).exists() || is_somewhere(&root(), path);
            assert!(is_there, "{page} cites {path}, which does not exist");
            n += 1;
        }
    }
    assert!(n > 50, "{n}");
}

/// True if the path of a file below a folder ends with a path.
fn is_somewhere(folder: &Path, end: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|it| {
        let (path, name) = (it.path(), it.file_name());
        let name = name.to_string_lossy();
        let is_ours = !name.starts_with('.') && name != "target" && name != "node_modules";
        path.ends_with(end) || (is_ours && path.is_dir() && is_somewhere(&path, end))
    })
}

/// The address of the repository is defined once. Files that cannot read `Cargo.toml` repeat it,
/// and no page or sample that users copy contains the placeholder.
#[test]
fn the_address_of_the_repository_is_one_constant() {
    let read = |it: &str| fs::read_to_string(root().join(it)).expect("a file");
    let manifest = read("Cargo.toml");
    let address = manifest.split("repository = \"").nth(1).and_then(|it| it.split('"').next());
    let address = address.expect("an address");
    for file in ["vscode-extension/package.json", "packaging/noisy.rb"] {
        for it in read(file).split("https://github.com/").skip(1) {
            let name = it.split(['"', '\n']).next().unwrap_or_default();
            let owned: Vec<&str> = name.split('/').take(2).collect();
            let found = format!("https://github.com/{}", owned.join("/").trim_end_matches(".git"));
            assert_eq!(found, address, "{file}");
        }
    }
    let samples = [
        "examples/repository/.pre-commit-config.yaml",
        "examples/repository/.gitlab-ci.yml",
        "examples/repository/.github/workflows/noisy.yml",
        "scripts/package",
        "scripts/site",
        "flake.nix",
    ];
    let samples = samples.iter().map(|it| ((*it).to_owned(), read(it)));
    for (name, text) in pages().into_iter().chain(samples) {
        assert!(!text.contains("OWNER/") && !text.contains(": REPOSITORY"), "{name}");
    }
}

/// pre-commit installs the hooks with `pip install .` in a clone.
#[test]
fn the_hooks_have_a_project_to_install() {
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("the hooks");
    assert_eq!(hooks.matches("language: ").count(), hooks.matches("language: python").count());
    let project = fs::read_to_string(root().join("pyproject.toml")).expect("the project");
    let path = project.split("manifest-path = \"").nth(1).and_then(|it| it.split('"').next());
    assert!(root().join(path.expect("a manifest")).exists());
}
