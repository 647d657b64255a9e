//! The output of `canonicalize` equals that of `mlir-opt`; `twin.rs` checks equivalence.

#[path = "../common/mod.rs"]
mod common;

mod blocks;
mod buffers;
mod floats;
mod integers;
mod loops;

use expect_test::Expect;
use noisy_syntax::print;

fn assert_canonicalized(text: &str, expected: &Expect) {
    assert_transformed("builtin.module(canonicalize)", text, expected);
}

fn assert_transformed(pipeline: &str, text: &str, expected: &Expect) {
    let ir = common::run(pipeline, text).expect("the pass runs");
    expected.assert_eq(&print::custom(&ir));
}
