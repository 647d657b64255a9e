//! Diagnostics of documents; after edits they equal those of a new document.

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
fn documents_solved_together_equal_separate_ones() {
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
fn noise_of_loops_is_exact() {
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
fn shared_outputs_join_initial_and_inserted_noise() {
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
    // Each edit is applied to the result of the previous ones.
    let all = ["%0#0=[0, 13]", "%0#1=[0, 20]", "%1=[0, 12]", "%2=[0, 13]"];
    assert_eq!(noises(&document), all);
    let mut changed = text.to_owned();
    for (from, to) in [
        ("noisy.add", "noisy.mul"),
        ("slice %2 into %o", "slice %2 into %p"),
        // The op is not an insertion any more, so the noise is unknown.
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
fn suppressions_after_edits_equal_those_from_scratch() {
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
fn each_comment_above_an_op_applies_to_it() {
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
