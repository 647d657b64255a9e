//! Tests of the laws of the formatter: tokens, comments and the program are kept, and formatting
//! twice changes nothing. They are checked on the programs of this repository and on random
//! layouts.

use std::fs;
use std::path::{Path, PathBuf};

use noisy_format::format;
use noisy_syntax::lex::lex;
use noisy_syntax::{Category, Source, TextEdit, TokenKind, print};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Returns the tokens of a text as written.
fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
    lex(text).tokens.iter().map(|it| (it.kind, &text[it.range()])).collect()
}

/// Returns the comments of a text in order, without the blanks at their ends, found by scanning
/// between tokens.
fn comments(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut end = 0;
    for token in lex(text).tokens {
        let gap = &text[end..token.range().start];
        for line in gap.split(['\n', '\r']) {
            if let Some(at) = line.find("//") {
                out.push(line[at..].trim_end_matches([' ', '\t']));
            }
        }
        end = token.range().end;
    }
    out
}

fn generic(text: &str) -> String {
    print::generic(&Source::new(text).into_ir())
}

/// Checks all laws. Returns true if the text could be formatted.
fn check(name: &str, text: &str) -> Result<bool, String> {
    let source = Source::new(text);
    let edits = match format(&source) {
        Ok(it) => it,
        Err(why) => {
            // A syntax problem, or a problem of an op that could not be parsed to its end.
            let is_wrong = source.problems().iter().any(|(op, range, it)| {
                let is_broken = source.ir().is_broken(*op);
                (is_broken || it.category() == Category::Syntax) && *range == why.range
            });
            return if is_wrong { Ok(false) } else { Err(format!("{name}: refused: {why:?}")) };
        }
    };
    let after = TextEdit::apply_all(&edits, text);
    if edits.iter().any(|it| text[it.range.clone()] == it.text) {
        return Err(format!("{name}: an edit changes nothing"));
    }
    if tokens(text) != tokens(&after) {
        return Err(format!("{name}: other tokens\n{after}"));
    }
    if comments(text) != comments(&after) {
        return Err(format!("{name}: other comments\n{after}"));
    }
    if generic(text) != generic(&after) {
        return Err(format!("{name}: another program\n{after}"));
    }
    let again = format(&Source::new(&after))
        .map_err(|it| format!("{name}: then refused: {it:?}\n{after}"))?;
    if !again.is_empty() {
        return Err(format!(
            "{name}: then changed again: {:?}\n{after}",
            &again[..again.len().min(5)]
        ));
    }
    Ok(true)
}

/// The `.mlir` files of the repository: the corpus, the suite and the examples.
fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders =
        vec![root.join("tests/corpus"), root.join("tests/suite"), root.join("examples")];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "mlir") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

#[test]
fn formatting_keeps_the_programs_of_the_repository() {
    let files = corpus();
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<(usize, usize, Vec<String>)> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..n_threads)
            .map(|part| {
                let files = &files;
                scope.spawn(move || {
                    let (mut n, mut n_formatted, mut wrong) = (0, 0, Vec::new());
                    for path in files.iter().skip(part).step_by(n_threads) {
                        let Ok(text) = fs::read_to_string(path) else { continue };
                        n += 1;
                        match check(&path.display().to_string(), &text) {
                            Ok(formatted) => n_formatted += usize::from(formatted),
                            Err(why) => wrong.push(why),
                        }
                    }
                    (n, n_formatted, wrong)
                })
            })
            .collect();
        parts.into_iter().map(|it| it.join().expect("no panic")).collect()
    });
    let n: usize = found.iter().map(|it| it.0).sum();
    let n_formatted: usize = found.iter().map(|it| it.1).sum();
    let wrong: Vec<&String> = found.iter().flat_map(|it| &it.2).collect();
    println!("{n} files, {n_formatted} formatted, the others do not follow the grammar");
    assert!(wrong.is_empty(), "{} wrong, such as {:#?}", wrong.len(), &wrong[..wrong.len().min(3)]);
    assert!(n > 50 && n_formatted * 10 > n * 7, "{n_formatted} of {n} were formatted");
}

/// Programs that use most of the grammar.
const PROGRAMS: [&str; 4] = [
    "#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2 - 1)>\n!word = tensor<4x?xi32>\nmodule @m attributes {a = 1 : i32, b = [1, 2], c = @x::@y} {\n  \
     func.func private @g(i32, !word) -> (i32, i32)\n  func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}, %b: !noisy.i32, %c: i1, %n: index, %second_argument: i32) -> \
     (!noisy.i32, i32) attributes {x} {\n    %0 = noisy.mul %a, %b : !noisy.i32\n    %c0 = arith.constant 0 : index\n    %m = arith.constant dense<[[1, 2], [3, -4]]> : \
     tensor<2x2xi32>\n    %1:2 = scf.for %i = %c0 to %n step %n iter_args(%v = %0, %w = %a) -> (!noisy.i32, !noisy.i32) {\n      scf.yield %v, %w : !noisy.i32, \
     !noisy.i32\n    }\n    %2 = scf.if %c -> (i32) {\n      scf.yield %second_argument : i32\n    } else {\n      %3:2 = func.call @g(%second_argument, %second_argument) : (i32, i32) \
     -> (i32, i32)\n      scf.yield %3#1 : i32\n    }\n    cf.cond_br %c, ^bb1(%2 : i32), ^bb2\n  ^bb1(%x: i32):\n    return %1#0, %x : !noisy.i32, i32\n  ^bb2:\n    \
     return %1#1, %2 : !noisy.i32, i32\n  }\n}\n",
    "\"builtin.module\"() ({\n  \"a.b\"() <{p = #c.d<raw ( 1 )>}> ({\n  ^bb0(%a: i32, %b: vector<4xf32>):\n    %0 = \"c.d\"(%a)[^bb1] {z, s = \"t // no comment\"} : (i32) -> i32\n  \
     ^bb1:\n    \"c.e\"() : () -> () loc(\"f\":1:2)\n  }, {\n  }) : () -> ()\n}) : () -> ()\n",
    "func.func @f(%m: memref<?x4xf32, strided<[4, 1], offset: ?>>, %n: index) {\n  affine.for %i = 0 to min affine_map<(d0) -> (d0, 8)>(%n) step 2 {\n    %0 = affine.load \
     %m[%i + 1, 3] : memref<?x4xf32, strided<[4, 1], offset: ?>>\n    affine.if affine_set<(d0) : (d0 >= 0, d0 - 1 == 0)>(%i) {\n      affine.store %0, %m[%i, 0] : memref<?x4xf32, \
     strided<[4, 1], offset: ?>>\n    }\n  }\n  scf.while : () -> () {\n    %t = arith.constant true\n    scf.condition(%t)\n  } do {\n    scf.yield\n  }\n  return\n}\n",
    "func.func @f(%a: i32) {\n  %0 = foo.bar %a -> [1, 2] {x = 1} : i32\n  foo.region(%a) ({ foo.y }) {\n    %1 = arith.addi %a, %a : i32\n    foo.z\n  }\n  return\n}\n// -----\nfunc.func \
     @g() {\n  return\n}\n",
];

/// Returns a program with other blanks, line breaks and comments between its tokens, selected by
/// `choices` in turn.
fn with_random_blanks(text: &str, choices: &[u8]) -> String {
    let mut choices = choices.iter().copied().cycle();
    let mut out = String::new();
    let mut end = 0;
    let lexed = lex(text).tokens;
    for (n, token) in lexed.iter().enumerate() {
        let gap = &text[end..token.range().start];
        let prev = n.checked_sub(1).map(|it| lexed[it].kind);
        let is_separate = prev.is_none_or(|it| matches!(it, TokenKind::Comma))
            || matches!(
                token.kind,
                TokenKind::Comma | TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace
            );
        let choice = choices.next().unwrap_or_default();
        // A split line must remain one.
        let is_fixed = token.kind == TokenKind::Split || prev == Some(TokenKind::Split);
        let blanks = match choice {
            _ if is_fixed || gap.is_empty() && !is_separate => gap,
            0..90 => gap,
            90..130 => "  ",
            130..150 => "\n",
            150..165 => "\t \n\n\n ",
            165..180 => " // a comment %x = { \n",
            180..190 => "\n\n   // one\n\n\n// two  \n  ",
            190..200 => "\r\n",
            200..205 => "\n // noisy: allow(unused-op)\n",
            205..210 => " // expected-error @+2 {{x}}\n",
            210..213 => "// noisy: format off\n",
            213..216 => "\n  // noisy: format on\n",
            _ if gap.contains('\n') => " ",
            _ => gap,
        };
        out.push_str(blanks);
        out.push_str(&text[token.range()]);
        end = token.range().end;
    }
    out
}

#[test]
fn random_layouts_keep_the_laws() {
    let mut runner = TestRunner::deterministic();
    let strategy = (0..PROGRAMS.len(), prop::collection::vec(any::<u8>(), 400));
    let (mut n, mut n_formatted) = (0, 0);
    for _ in 0..2000 {
        let Ok(tree) = strategy.new_tree(&mut runner) else { continue };
        let (program, choices) = tree.current();
        let text = with_random_blanks(PROGRAMS[program], &choices);
        assert_eq!(tokens(&text), tokens(PROGRAMS[program]), "only the layout differs");
        match check("random", &text) {
            Ok(formatted) => n_formatted += usize::from(formatted),
            Err(why) => panic!("{why}\nof\n{text}"),
        }
        n += 1;
    }
    // Line starts determine the end of an op of unknown form, so some layouts are refused.
    assert!(n_formatted * 2 > n, "{n_formatted} of {n} were formatted");
}

/// Programs without comments have the same formatted text for all initial layouts.
#[test]
fn equal_programs_have_one_layout() {
    let mut runner = TestRunner::deterministic();
    // The last program has ops of unknown form.
    for program in &PROGRAMS[..3] {
        // Lists of lists and empty regions keep their line breaks.
        let program = &program
            .replace("[[1, 2], [3, -4]]", "[1, -2]")
            .replace("{\n  })", "{ \"c.f\"() : () -> () })");
        let form = format(&Source::new(program))
            .map(|it| TextEdit::apply_all(&it, program))
            .expect("it parses");
        let mut n = 0;
        for _ in 0..900 {
            let choices =
                prop::collection::vec(prop_oneof![0..150u8, 190..200u8, 216..=255u8], 400);
            let Ok(tree) = choices.new_tree(&mut runner) else { continue };
            let text = with_random_blanks(program, &tree.current()).replace("\r\n", "\n");
            if has_rows(&text) {
                continue;
            }
            let source = Source::new(&text);
            let Ok(edits) = format(&source) else { continue };
            // An empty line between ops is kept.
            let lines = |it: &str| {
                it.lines().filter(|it| !it.is_empty()).map(str::to_owned).collect::<Vec<_>>()
            };
            let (found, form) = (lines(&TextEdit::apply_all(&edits, &text)), lines(&form));
            let differs = found.iter().zip(&form).find(|(a, b)| a != b);
            assert_eq!(differs, None, "{text}");
            assert_eq!(found.len(), form.len(), "{text}");
            n += 1;
        }
        assert!(n > 60, "{n} of 900 layouts were formatted");
    }
}

/// Returns true if a text has a list of lists with one row per line; such lists keep their line
/// breaks.
fn has_rows(text: &str) -> bool {
    lex(text).tokens.windows(3).any(|it| {
        it[0].kind == TokenKind::RSquare
            && it[1].kind == TokenKind::Comma
            && it[2].kind == TokenKind::LSquare
            && it[2].is_at_line_start
    })
}
