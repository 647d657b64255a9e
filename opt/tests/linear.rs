//! Passes cost in proportion to the program: twice the blocks, twice the work, counted in bytes asked of the allocator.

use std::fmt::Write as _;

use noisy_opt::actions::Actions;
use noisy_opt::diagnostics::{Input, Sink};
use noisy_opt::driver::manager::{Manager, Settings};
use noisy_opt::driver::pipeline::Pipeline;
use noisy_opt::driver::wrap;
use noisy_opt::timing::Timing;
use noisy_syntax::Source;

/// Bytes that a pipeline asks of the allocator on a program.
fn work(text: &str, pipeline: &str) -> u64 {
    let mut ir = Source::new(text).into_ir();
    let top = wrap(&mut ir);
    let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
    let mut sink = Sink::new(Input::new("in.mlir", text.to_owned(), 0), false);
    let (settings, mut timing) = (Settings::default(), Timing::default());
    let mut actions = Actions::default();
    let count = allocation_counter::measure(|| {
        let mut manager = Manager::new(&settings, &mut sink, &mut timing, &mut actions);
        manager.run(&mut ir, top, &pipeline).expect("the passes run");
    });
    count.bytes_total
}

/// `n` blocks, of which block `i` branches to block `to(i)`.
fn blocks(n: usize, start: &str, to: &dyn Fn(usize) -> usize) -> String {
    let mut text = format!("func.func @f(%x: i32) {{\n  {start}\n");
    for i in 0..n {
        writeln!(text, "^b{i}:\n  cf.br ^b{}", to(i)).expect("a string");
    }
    writeln!(text, "^b{n}:\n  return\n}}").expect("a string");
    text
}

#[test]
fn branches_cost_in_proportion_to_the_blocks() {
    let start = "cf.br ^b0";
    let chain = |n: usize| blocks(n, start, &|it| it + 1);
    let ring = |n: usize| blocks(n, start, &|it| (it * 7 + 1) % n);
    let unreached = |n: usize| blocks(n, "return", &|it| (it + 1) % n);
    let programs: [&dyn Fn(usize) -> String; 3] = [&chain, &ring, &unreached];
    for program in programs {
        for pipeline in ["builtin.module(canonicalize)", "builtin.module(cse,sccp)"] {
            let (one, four) = (work(&program(1000), pipeline), work(&program(4000), pipeline));
            assert!(four < 6 * one, "{one} bytes, for four times the blocks {four}: {pipeline}");
        }
    }
}
