//! Runs the commands that the documentation shows and compares their output with the documented
//! one.

use std::fs;

use crate::tool::{CLEAN, Folder, STENCIL, TUTORIAL};

/// The commands in the shell blocks and in the text between backquotes, with something in the place
/// of what a reader fills in.
fn commands() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut files = vec![format!("{root}/README.md"), format!("{root}/CHANGELOG.md")];
    for it in fs::read_dir(format!("{root}/docs")).expect("the documentation") {
        let path = it.expect("a file").path();
        // The lists of messages quote texts, not commands.
        let is_list =
            path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("messages"));
        if !is_list && path.extension().is_some_and(|it| it == "md") {
            files.push(path.display().to_string());
        }
    }
    files.sort();
    let mut out: Vec<String> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        let in_blocks = text.split("```sh\n").skip(1).flat_map(|it| {
            let block = it.split("```").next().unwrap_or_default();
            block.lines().map(|it| it.split(" #").next().unwrap_or_default().trim())
        });
        let in_prose = text.split('`').filter(|it| !it.contains('\n'));
        for command in in_blocks.chain(in_prose) {
            let Some(args) = command.strip_prefix("noisy-check") else { continue };
            let Some(args) = args.strip_prefix(' ').or(args.is_empty().then_some("")) else {
                continue;
            };
            let args = args.replace("CODE", "dominance").replace("SHELL", "bash");
            let args = args.replace("PATH...", "program.mlir");
            // One of several words.
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
    assert!(commands.len() > 12, "{commands:?}");
    for command in commands {
        let folder = Folder::with(&[
            ("src/a.mlir", TUTORIAL),
            ("circuits/a.mlir", TUTORIAL),
            ("program.mlir", TUTORIAL),
            ("a.mlir", TUTORIAL),
            ("examples/legal.mlir", CLEAN),
            ("stencil.mlir", STENCIL),
        ]);
        // The shell would run another command after it, or give it a file to read.
        let command = command.split(" && ").next().unwrap_or_default().to_owned();
        let (command, input) = match command.split_once(" < ") {
            Some((command, file)) => (command.to_owned(), folder.read(file)),
            None => (command, TUTORIAL.to_owned()),
        };
        let args: Vec<&str> = command.split(' ').filter(|it| !it.is_empty()).collect();
        // Alone it stands for the command, not for a call of it.
        let run = match args[..] {
            ["explain"] => continue,
            _ => folder.run_with(&args, &input, &[]),
        };
        let finds = args.is_empty() || args[0].ends_with('/') || args[0] == "--output-format";
        let wanted = i32::from(finds || args[0] == "--diff");
        assert_eq!(run.code, wanted, "noisy-check {command}\n{run:?}");
        // These write files or a program, and say beside it what they did.
        let is_beside =
            args == ["--fix", "-"] || (args.first() == Some(&"format") && run.out.is_empty());
        let told = if is_beside { &run.err } else { &run.out };
        let is_told = folder.path("noise.html").exists()
            || folder.path("a.html").exists()
            || folder.path("stencil.html").exists();
        // The program has no loops, and so no dependences.
        let is_silent = args[..args.len().min(2)] == ["--dump", "dependences"];
        assert!(is_told || is_silent || !told.is_empty(), "noisy-check {command}");
    }
}

/// The page of first steps is a session: its program, its commands one after the other, and what
/// each prints.
#[test]
fn the_first_steps_print_what_they_say() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/first-steps.md");
    let page = fs::read_to_string(page).expect("the page");
    let block = |kind: &str| {
        let start = format!("```{kind}\n");
        page.split(&start).skip(1).filter_map(|it| it.split("```").next()).collect::<Vec<_>>()
    };
    let [program] = block("mlir")[..] else { panic!("one program") };
    let folder = Folder::with(&[("src/a.mlir", program)]);
    let mut n = 0;
    for session in block("console").iter().flat_map(|it| it.split("$ noisy-check ").skip(1)) {
        let (command, said) = session.split_once('\n').expect("what it prints");
        let run = folder.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.err + &run.out, said, "noisy-check {command}");
        n += 1;
    }
    assert_eq!(n, 5);
    assert_eq!(folder.run(&["src"]).code, 0);
}
