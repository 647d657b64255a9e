//! Passes have linear cost, measured in allocated bytes.

use std::fmt::Write as _;

use noisy_opt::actions::Actions;
use noisy_opt::diagnostics::{DiagnosticSink, InputText};
use noisy_opt::driver::manager::{ManagerSettings, PassManager};
use noisy_opt::driver::pipeline::Pipeline;
use noisy_opt::driver::wrap_in_module;
use noisy_opt::timing::Timing;
use noisy_syntax::Source;

/// Returns the number of bytes that a pipeline allocates for a program.
fn allocated_bytes(text: &str, pipeline: &str) -> u64 {
    let mut ir = Source::new(text).into_ir();
    let top = wrap_in_module(&mut ir);
    let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
    let mut sink = DiagnosticSink::new(InputText::new("in.mlir", text.to_owned(), 0), false);
    let (settings, mut timing) = (ManagerSettings::default(), Timing::default());
    let mut actions = Actions::default();
    let count = allocation_counter::measure(|| {
        let mut manager = PassManager::new(&settings, &mut sink, &mut timing, &mut actions);
        manager.run(&mut ir, top, &pipeline).expect("the passes run");
    });
    count.bytes_total
}

/// Returns a function with `n` blocks, where block `i` branches to block `to(i)`.
fn blocks(n: usize, start: &str, to: &dyn Fn(usize) -> usize) -> String {
    let mut text = format!("func.func @f(%x: i32) {{\n  {start}\n");
    for i in 0..n {
        writeln!(text, "^b{i}:\n  cf.br ^b{}", to(i)).expect("a string");
    }
    writeln!(text, "^b{n}:\n  return\n}}").expect("a string");
    text
}

#[test]
fn branch_patterns_are_linear_in_the_blocks() {
    let start = "cf.br ^b0";
    let chain = |n: usize| blocks(n, start, &|it| it + 1);
    let ring = |n: usize| blocks(n, start, &|it| (it * 7 + 1) % n);
    let unreached = |n: usize| blocks(n, "return", &|it| (it + 1) % n);
    let programs: [&dyn Fn(usize) -> String; 3] = [&chain, &ring, &unreached];
    for program in programs {
        for pipeline in ["builtin.module(canonicalize)", "builtin.module(cse,sccp)"] {
            let (one, four) = (
                allocated_bytes(&program(1000), pipeline),
                allocated_bytes(&program(4000), pipeline),
            );
            assert!(four < 6 * one, "{one} bytes, for four times the blocks {four}: {pipeline}");
        }
    }
}

/// Returns a function of about `n` ops in one block: arithmetic, partly repeated or constant,
/// loads, stores and conditionals.
fn straight_line_function(n: usize) -> String {
    let mut text =
        String::from("func.func @f(%a: i32, %c: i1, %m: memref<8xi32>, %i: index) -> i32 {\n");
    let mut last = "%a".to_owned();
    for at in 0..n {
        let line = match at % 8 {
            0 => format!("%v{at} = arith.constant {} : i32", at % 5),
            1 | 2 => format!("%v{at} = arith.addi {last}, %a : i32"),
            3 => format!("%v{at} = memref.load %m[%i] : memref<8xi32>"),
            4 => format!(
                "%v{at} = scf.if %c -> i32 {{ scf.yield {last} : i32 }} else {{ scf.yield %a : i32 }}"
            ),
            5 => format!(
                "memref.store {last}, %m[%i] : memref<8xi32>\n  %v{at} = arith.muli {last}, {last} : i32"
            ),
            6 => format!("%v{at} = arith.xori %a, {last} : i32"),
            _ => format!("%v{at} = arith.andi %v{}, %v{} : i32", at - 6, at - 1),
        };
        writeln!(text, "  {line}").expect("a string");
        last = format!("%v{at}");
    }
    writeln!(text, "  return {last} : i32\n}}").expect("a string");
    text
}

#[test]
fn passes_are_linear_in_the_ops_of_a_block() {
    let passes = [
        "canonicalize",
        "canonicalize{region-simplify=aggressive}",
        "cse",
        "sccp",
        "loop-invariant-code-motion",
        "control-flow-sink",
        "inline",
        "int-range-optimizations",
        "arith-unsigned-when-equivalent",
        "remove-dead-values",
        "symbol-dce",
        "trivial-dce",
        "test-constant-fold",
    ];
    let (small, large) = (straight_line_function(2000), straight_line_function(8000));
    for pass in passes {
        let pipeline = format!("builtin.module({pass})");
        let (one, four) = (allocated_bytes(&small, &pipeline), allocated_bytes(&large, &pipeline));
        assert!(four < 6 * one.max(1000), "{one} bytes, for four times the ops {four}: {pass}");
    }
}

/// Returns a switch whose `n` cases lead to blocks that contain only a branch: one block for each
/// case, or one for all.
fn switch(n: usize, is_one: bool) -> String {
    let to = |case: usize| if is_one { 0 } else { case };
    let mut text = "func.func @f(%x: i32) {\n  cf.switch %x : i32, [default: ^end".to_owned();
    for case in 0..n {
        write!(text, ", {case}: ^b{}", to(case)).expect("a string");
    }
    text += "]\n";
    for case in 0..if is_one { 1 } else { n } {
        writeln!(text, "^b{case}:\n  cf.br ^other").expect("a string");
    }
    text + "^other:\n  \"a.b\"() : () -> ()\n  cf.br ^end\n^end:\n  return\n}\n"
}

/// Returns a private function with `n` arguments, one of which is used, and a call of it.
fn arguments(n: usize) -> String {
    let list = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(", ");
    let args = list(&|it| format!("%a{it}: i32"));
    let (values, types) = (list(&|_| "%x".to_owned()), list(&|_| "i32".to_owned()));
    format!(
        "func.func private @f({args}) -> i32 {{\n  return %a3 : i32\n}}\nfunc.func @g(%x: i32) -> i32 {{\n  %r = call @f({values}) : ({types}) -> i32\n  return %r : i32\n}}\n"
    )
}

/// Adjacent `scf.if` ops with the same condition are merged, and the ops of the shorter one are
/// moved.
#[test]
fn merging_adjacent_ifs_is_linear() {
    let row = |n: usize| {
        let mut text = String::from("func.func @f(%c: i1, %v0: i32) -> i32 {\n");
        for at in 0..n {
            writeln!(
                text,
                "  %v{} = scf.if %c -> i32 {{\n    %t = arith.muli %v{at}, %v{at} : i32\n    scf.yield %t : i32\n  }} else {{\n    scf.yield %v{at} : i32\n  }}",
                at + 1
            )
            .expect("a string");
        }
        writeln!(text, "  return %v{n} : i32\n}}").expect("a string");
        text
    };
    let pipeline = "builtin.module(canonicalize)";
    let (one, four) = (allocated_bytes(&row(250), pipeline), allocated_bytes(&row(1000), pipeline));
    assert!(four < 6 * one, "{one} bytes, for four times the choices {four}");
}

#[test]
fn passes_are_linear_in_long_lists() {
    let programs: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("canonicalize", &|n| switch(n, true)),
        ("canonicalize", &|n| switch(n, false)),
        ("remove-dead-values", &arguments),
        ("inline", &arguments),
    ];
    for (pass, program) in programs {
        let pipeline = format!("builtin.module({pass})");
        let (one, four) = (
            allocated_bytes(&program(1000), &pipeline),
            allocated_bytes(&program(4000), &pipeline),
        );
        assert!(four < 6 * one, "{one} bytes, for four times the list {four}: {pass}");
    }
}

/// The operands of a branch are set once, not once for each slot.
#[test]
fn mem2reg_is_linear_in_the_slots_of_a_loop() {
    let program = |n: usize| {
        let mut text = "func.func @f(%c: i1, %a: i32) {\n".to_owned();
        for at in 0..n {
            writeln!(text, "  %s{at} = memref.alloca() : memref<i32>").expect("a string");
        }
        text += "  cf.br ^head\n^head:\n";
        for at in 0..n {
            writeln!(
                text,
                "  %l{at} = memref.load %s{at}[] : memref<i32>\n  %v{at} = arith.addi %l{at}, %a : i32\n  memref.store %v{at}, %s{at}[] : memref<i32>"
            )
            .expect("a string");
        }
        text + "  cf.cond_br %c, ^head, ^end\n^end:\n  return\n}\n"
    };
    let pipeline = "builtin.module(mem2reg)";
    let (one, four) =
        (allocated_bytes(&program(250), pipeline), allocated_bytes(&program(1000), pipeline));
    assert!(four < 6 * one, "{one} bytes, for four times the slots {four}");
}

#[test]
fn shared_attributes_are_searched_for_symbols_once() {
    let doubled = |n: usize| {
        let mut text = String::from("#a0 = [@f, @f]\n");
        for at in 1..=n {
            writeln!(text, "#a{at} = [#a{0}, {{x = #a{0}}}]", at - 1).expect("a string");
        }
        text + &format!(
            "func.func private @f()\nfunc.func private @g()\n\"t.op\"() {{t.a = #a{n}}} : () -> ()\n"
        )
    };
    for (n, most) in [(5, 1 << 20), (60, 1 << 22)] {
        let bytes = allocated_bytes(&doubled(n), "builtin.module(symbol-privatize,symbol-dce)");
        assert!(bytes < most, "{bytes} bytes for {n} doublings");
    }
}

#[test]
fn scheduling_is_linear_in_the_constraints_of_an_if() {
    let text = |n: usize| {
        let constraints: Vec<String> = (0..n).map(|i| format!("d0 - {i} >= 0")).collect();
        format!(
            "#s = affine_set<(d0) : ({})>\nfunc.func @f(%A: memref<9xi64>, %k: i64) {{\n  affine.for %i = 0 to 9 {{\n    affine.if #s(%i) {{\n      affine.store %k, %A[%i] : memref<9xi64>\n    }} else {{\n      affine.store %k, %A[0] : memref<9xi64>\n    }}\n  }}\n  return\n}}\n",
            constraints.join(", ")
        )
    };
    let work = |n| allocated_bytes(&text(n), "builtin.module(func.func(affine-schedule))");
    let (once, twice) = (work(1_000), work(2_000));
    assert!(twice < 3 * once, "{once} {twice}");
}
