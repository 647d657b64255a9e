//! What documents say, and that edits say the same as reading anew.

use super::*;

fn check(text: &str, expected: &[&str]) {
    let document = Document::new(text);
    let found: Vec<String> = document
        .diagnostics()
        .iter()
        .map(|it| format!("{} {:?}: {}", it.code, &text[it.range.clone()], it.message))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn one_chain_gives_one_error() {
    let text = "func.func @f(%x: i5, %y: i5) {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.encode %y : i5 -> !noisy.i32
  %2 = noisy.mul %0, %1 : !noisy.i32
  %3 = noisy.mul %2, %2 : !noisy.i32
  %4 = noisy.mul %3, %3 : !noisy.i32
  %5 = noisy.mul %4, %4 : !noisy.i32
  return
}
";
    check(
        text,
        &[
            "noise-overflow \"noisy.mul %2, %2\": %3: noise may reach 48 bits, 22 over the 26-bit budget",
            "unused-op \"noisy.mul %4, %4\": %5 is never used",
        ],
    );
    let document = Document::new(text);
    let it = &document.diagnostics()[0];
    let chain: Vec<&str> = it.related.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(chain, ["%0: freshly encoded: 12", "%2: 12 + 12 = 24", "%3: 24 + 24 = 48"]);
    assert!(
        it.help.as_ref().is_some_and(|it| it.ends_with("2 later values also exceed the budget"))
    );
}

#[test]
fn documents_read_together_are_those_read_one_by_one() {
    let loops = "func.func @f(%0: !noisy.i32, %n: index) -> !noisy.i32 {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %lo to %n step %one iter_args(%acc = %0) -> (!noisy.i32) {
    %s = noisy.add %acc, %0 : !noisy.i32
    scf.yield %s : !noisy.i32
  }
  return %r : !noisy.i32
}
";
    let broken = "func.func @f(%x: i5) {
  %0 = noisy.mul %x, : !noisy.i32
  %1 = arith.constant 3 : i32
  %2 = arith.addi %1, %1 : i32
";
    let texts = [loops, "", broken, "module {}", loops];
    let models = || vec![NoiseModel::tutorial().into(); texts.len()];
    let all = Document::all(&texts, models());
    assert_eq!(all.len(), texts.len());
    for ((together, text), model) in all.iter().zip(texts).zip(models()) {
        let alone = Document::with_model(text, model);
        assert_eq!(format!("{:?}", together.diagnostics()), format!("{:?}", alone.diagnostics()));
        assert_eq!(crate::dump::facts(together), crate::dump::facts(&alone), "{text}");
    }
}

#[test]
fn a_mul_and_two_adds_are_legal() {
    check(
        "func.func @f(%0: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.add %1, %0 : !noisy.i32
  %3 = noisy.sub %0, %2 : !noisy.i32
  return %3 : !noisy.i32
}
",
        &[],
    );
}

#[test]
fn loops_are_exact() {
    let program = |n: &str| {
        format!(
            "func.func @f(%0: !noisy.i32, %n: index) -> !noisy.i32 {{
  %lo = arith.constant 0 : index
  %hi = arith.constant {n} : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %lo to %hi step %one iter_args(%acc = %0) -> (!noisy.i32) {{
    %s = noisy.add %acc, %0 : !noisy.i32
    scf.yield %s : !noisy.i32
  }}
  return %r : !noisy.i32
}}
"
        )
    };
    check(&program("14"), &[]);
    check(
        &program("15"),
        &[
            "noise-overflow \"noisy.add %acc, %0\": %s: noise may reach 27 bits at iteration 15 of the loop, 1 over the 26-bit budget",
        ],
    );
    check(
        &program("1000000000"),
        &[
            "noise-overflow \"noisy.add %acc, %0\": %s: noise may reach 27 bits at iteration 15 of the loop, 1 over the 26-bit budget",
        ],
    );
    check(
        &program("10").replace("to %hi", "to %n"),
        &[
            "unused-op \"arith.constant\": %hi is never used",
            "noise-grows \"%s\": %s: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15",
        ],
    );
}

#[test]
fn shared_outputs_have_what_was_there_and_what_is_inserted() {
    let model: crate::ModelSpec = serde_json::from_value(serde_json::json!({
        "types": ["!noisy.i32", "tensor<*x!noisy.i32>"],
        "ops": {"tensor.extract_slice": {"growth": "max"}},
    }))
    .unwrap();
    let model = NoiseModel::new(&model).unwrap();
    let text = "func.func @f(%t: tensor<4x!noisy.i32>, %u: tensor<4x!noisy.i32> {noisy.bound = 20 : i64}) -> tensor<4x!noisy.i32> {
  %0:2 = scf.forall (%i) in (4) shared_outs(%o = %t, %p = %u) -> (tensor<4x!noisy.i32>, tensor<4x!noisy.i32>) {
    %1 = tensor.extract_slice %o[%i] [1] [1] : tensor<4x!noisy.i32> to tensor<1x!noisy.i32>
    %2 = noisy.add %1, %1 : tensor<1x!noisy.i32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %2 into %o[%i] [1] [1] : tensor<1x!noisy.i32> into tensor<4x!noisy.i32>
      tensor.parallel_insert_slice %1 into %p[%i] [1] [1] : tensor<1x!noisy.i32> into tensor<4x!noisy.i32>
    }
  }
  return %0#0 : tensor<4x!noisy.i32>
}
";
    let noises = |document: &Document| -> Vec<String> {
        let ir = document.ir();
        let mut out = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            for &value in ir.op(op).results.iter().filter(|&&it| document.is_noisy(it)) {
                out.push(format!("{}={}", ir.value_text(value), document.noise(value)));
            }
        });
        out
    };
    let mut document = Document::with_model(text, model.clone());
    // Each run starts from what was there before the first.
    let all = ["%0#0=[0, 13]", "%0#1=[0, 20]", "%1=[0, 12]", "%2=[0, 13]"];
    assert_eq!(noises(&document), all);
    let mut changed = text.to_owned();
    for (from, to) in [
        ("noisy.add", "noisy.mul"),
        ("slice %2 into %o", "slice %2 into %p"),
        // Something else than an insertion: nothing is known.
        ("      tensor.parallel_insert_slice %1", "      other.insert %1"),
        ("      other.insert %1", "      tensor.parallel_insert_slice %1"),
        ("%o = %t", "%o = %u"),
        ("in (4) shared", "in (4, 2) shared"),
    ] {
        let at = changed.find(from).unwrap();
        document.edit(at..at + from.len(), to);
        changed.replace_range(at..at + from.len(), to);
        let anew = Document::with_model(&changed, model.clone());
        assert_eq!(noises(&document), noises(&anew), "{changed}");
        let expected: &[&str] = match to {
            "noisy.mul" => &["%0#0=[0, 24]", "%0#1=[0, 20]", "%1=[0, 12]", "%2=[0, 24]"],
            "slice %2 into %p" => &["%0#0=[0, 12]", "%0#1=[0, 24]", "%1=[0, 12]", "%2=[0, 24]"],
            "      other.insert %1" => &["%0#0=unknown", "%0#1=unknown"],
            _ => continue,
        };
        assert_eq!(noises(&document)[..expected.len()], *expected, "{changed}");
    }
}

#[test]
fn comments_that_allow_are_found_after_edits_as_in_a_text_read_anew() {
    let pieces = [
        "// noisy: allow(noise-overflow)",
        " // noisy: allow(unused-op, noise-overflow)",
        "noisy: ",
        "allow(",
        "unused-op",
        ")",
        "\n",
        "// \u{e9}\n",
        "\"",
        "  %1 = noisy.mul %0, %0 : !noisy.i32\n",
        "  %2 = noisy.mul %1, %1 : !noisy.i32\n",
        "",
    ];
    let text = "func.func @f(%x: i5) {\n  %0 = noisy.encode %x : i5 -> !noisy.i32\n  return\n}\n";
    let mut n_marks = 0;
    for seed in 0..60_u64 {
        let mut state = seed * 2 + 1;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut document = Document::new(text);
        for _ in 0..25 {
            let now = document.source().text().to_string();
            let mut from = random(now.len() + 1);
            let mut to = (from + random(3) * random(20)).min(now.len());
            while !now.is_char_boundary(from) {
                from -= 1;
            }
            while !now.is_char_boundary(to) {
                to += 1;
            }
            document.edit(from..to, pieces[random(pieces.len())]);
            let now = document.source().text().to_string();
            let anew = Document::new(&now);
            assert_eq!(document.index.marks(), anew.index.marks(), "{now}");
            assert_eq!(document.diagnostics(), anew.diagnostics(), "{now}");
            n_marks += anew.index.marks().len();
        }
    }
    assert!(n_marks > 500, "{n_marks}");
}

#[test]
fn of_several_comments_above_an_op_each_is_about_it() {
    check(
        "func.func @f(%x: !noisy.i32) {
  // noisy: allow(unused-op)
  // Why that is.
  // noisy: allow(noise-overflow)
  // noisy: allow(dominance)
  %0 = noisy.mul %x, %x : !noisy.i32
  // noisy: allow(unused-op)

  return
}
",
        &[
            "unused-suppression \"noise-overflow\": unused suppression: noise-overflow is not reported on this line",
            "unused-suppression \"dominance\": dominance cannot be suppressed: it is an error of structure",
            "unused-suppression \"unused-op\": unused suppression of unused-op: no op follows this comment",
        ],
    );
}

/// A program with comments that allow its errors and warnings, and without those that allow nothing.
fn suppressed(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..4 {
        let document = Document::new(&text);
        let found = document.diagnostics();
        let found: Vec<_> = found.iter().filter(|it| it.severity <= Severity::Warning).collect();
        let unused = found.iter().filter(|it| it.code == "unused-suppression");
        let mut edits = document.fix_all(unused.copied(), false).0;
        if edits.is_empty() {
            edits = crate::checks::allow(&document, found);
        }
        text = crate::TextEdit::apply_all(&edits, &text);
    }
    text
}

/// What proves fixes is the program after them; where some do not hold, or only together, another one is. The document itself becomes
/// the same, or stays as it was where that is not kept.
#[test]
fn a_document_with_all_fixed_is_that_after_the_edits() {
    let n_errors =
        |it: &Document| it.diagnostics().iter().filter(|it| it.severity == Severity::Error).count();
    let long = "x".repeat(2000);
    let (mut n_fixed, mut n_edited) = ([0; 4], 0);
    for (n_unused, n_fixed) in n_fixed.iter_mut().enumerate() {
        for is_tied in [false, true] {
            let op = |n: usize| format!("  %d{n} = arith.constant {n} : i32\n");
            let unused = (0..n_unused).map(op).collect::<Vec<_>>().concat();
            // Either may go, and not both.
            let tied = "  %a = arith.constant 1 : i8\n  %a = arith.constant 2 : i8\n";
            let text = format!(
                "// {long}\nfunc.func @f() {{\n{unused}{}  return\n}}\n",
                if is_tied { tied } else { "" }
            );
            let document = Document::new(&text);
            let found = document.diagnostics();
            let (edits, n) = document.fix_all(&found, true);
            let after = document.with_all_fixed(&found, true);
            assert_eq!(after.is_some(), !edits.is_empty(), "{text}");
            let Some((after, n_after)) = after else { continue };
            *n_fixed += n_after;
            let anew = document.after(&edits);
            assert_eq!(n_after, n);
            assert_eq!(after.source().text(), anew.source().text());
            assert_eq!(after.diagnostics(), anew.diagnostics());
            let mut edited = Document::new(&text);
            let mut n_asked = 0;
            let mut is_kept = |after: &Document| {
                n_asked += 1;
                n_errors(after) <= n_errors(&document)
            };
            assert_eq!(edited.apply_fixes(&found, true, &mut is_kept), Some(n));
            assert_eq!(edited.source().text(), anew.source().text());
            assert_eq!(edited.diagnostics(), anew.diagnostics());
            n_edited += usize::from(n_asked == 1);
            let mut kept = Document::new(&text);
            assert_eq!(kept.apply_fixes(&found, true, &mut |_| false), None);
            assert_eq!(kept.source().text(), document.source().text());
            assert_eq!(kept.diagnostics(), found);
        }
    }
    assert!(n_edited >= 3);
    assert!(n_fixed[1] >= 1 && n_fixed[3] >= 3, "{n_fixed:?}");
}

#[test]
fn comments_that_allow_are_written_and_taken_out() {
    let over = "func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32 // noisy: allow(noise-overflow): why
  // noisy: allow(noise-overflow)
  %1 = noisy.mul %0, %0 : !noisy.i32 // noisy: allow(unused-op, noise-overflow, noise-overfow)
  %2 = noisy.mul %1, %1 : !noisy.i32
  %3 = noisy.add %1,
    %1 : !noisy.i32 // The second.
  %4 = noisy.mul %3, %3 : !noisy.i32 // The third.
  %5 = noisy.decode %4 : !noisy.i32 -> i5
  // noisy: allow(noise-overflow)
  return %5 : i5
}
";
    expect_test::expect![[r#"
        func.func @f(%x: i5) -> i5 {
          %0 = noisy.encode %x : i5 -> !noisy.i32
          %1 = noisy.mul %0, %0 : !noisy.i32 // noisy: allow(noise-overfow)
          %2 = noisy.mul %1, %1 : !noisy.i32  // noisy: allow(noise-overflow)
          %3 = noisy.add %1,
            %1 : !noisy.i32 // The second.
          // noisy: allow(noise-overflow)
          %4 = noisy.mul %3, %3 : !noisy.i32 // The third.
          %5 = noisy.decode %4 : !noisy.i32 -> i5  // noisy: allow(decode-over-budget)
          return %5 : i5
        }
    "#]]
    .assert_eq(&suppressed(over));
    let none = "// noisy: allow(noise-overflow)\r\nfunc.func @f() {\r\n  return\r\n}\r\n";
    assert_eq!(suppressed(none), "func.func @f() {\r\n  return\r\n}\r\n");
    // What cannot be allowed gets no comment.
    let wrong = "func.func @f() {\n  return %0 : i32\n}\n";
    assert_eq!(suppressed(wrong), wrong);
}

/// Blocks that follow each other against the order of the text are a cycle to the solver, of which each edit solves all: 35 edits would
/// cost 35 times what reading anew does. What is read anew has no numbers of ops that are gone.
#[test]
fn many_reduces_are_not_inserted_one_by_one() {
    use std::fmt::Write as _;
    let mut text = "func.func @f(%x: i5) {\n  %v = noisy.encode %x : i5 -> !noisy.i32\n  cf.br ^b499(%v : !noisy.i32)\n^b0(%a0: !noisy.i32):\n  return\n".to_owned();
    for it in 1..500 {
        let _ = write!(
            text,
            "^b{it}(%a{it}: !noisy.i32):\n  %s{it} = noisy.add %a{it}, %a{it} : !noisy.i32\n  cf.br ^b{}(%s{it} : !noisy.i32)\n",
            it - 1
        );
    }
    text.push_str("}\n");
    let mut document = Document::new(&text);
    let functions = document.ir().functions();
    let outcome = document.insert_reduces(&functions, &Options::default());
    assert!(outcome.is_ok_and(|it| it.inserted() > 30));
    let anew = Document::new(&document.source().text().to_string());
    assert_eq!(document.ir().bounds(), anew.ir().bounds());
    assert_eq!(document.diagnostics(), anew.diagnostics());
}
