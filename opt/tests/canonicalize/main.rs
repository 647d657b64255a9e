//! What `canonicalize` makes of programs, as `mlir-opt` does; that it means the same is for `twin.rs`.

#[path = "../common/mod.rs"]
mod common;

mod blocks;
mod buffers;
mod floats;
mod integers;
mod loops;

use expect_test::Expect;
use noisy_syntax::print;

fn becomes(text: &str, expected: &Expect) {
    becomes_by("builtin.module(canonicalize)", text, expected);
}

fn becomes_by(pipeline: &str, text: &str, expected: &Expect) {
    let ir = common::run(pipeline, text).expect("the pass runs");
    expected.assert_eq(&print::custom(&ir));
}
