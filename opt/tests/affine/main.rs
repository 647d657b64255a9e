//! Random affine programs compute the same before and after the affine passes. The interpreter
//! shares no code with the passes.

#[path = "../common/mod.rs"]
mod common;
#[path = "../lints/mod.rs"]
mod lints;

mod carried;
mod chains;
mod edits;
mod fusion;
mod machine;
mod memory;
mod passes;
mod writer;

use noisy_syntax::{Ir, Op};

fn transformed(text: &str, pass: &str) -> Ir {
    let done = common::run(&format!("builtin.module(func.func({pass}))"), text);
    done.unwrap_or_else(|told| panic!("{told:?}\n{text}"))
}

/// Returns a function around loops, with the arguments of the random programs.
fn function_with_loops(loops: &str) -> String {
    let arguments = "%s0: index, %s1: index, %s2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64";
    format!("func.func @f({arguments}) {{\n{loops}\nreturn\n}}\n")
}

/// Returns ops that load two elements and store their product plus `%k`.
fn multiply_and_store(to: &str, from: &str, other: &str) -> String {
    let ty = "memref<?x?xi64>";
    format!(
        "%a = affine.load %A[{from}] : {ty}
        %b = affine.load %B[{other}] : {ty}
        %c = arith.muli %a, %b : i64
        %d = arith.addi %c, %k : i64
        affine.store %d, %A[{to}] : {ty}"
    )
}

/// Returns the ops of a program that satisfy a condition, in order.
fn ops(ir: &Ir, holds: impl Fn(Op) -> bool) -> Vec<Op> {
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        if holds(op) {
            out.push(op);
        }
    });
    out
}

/// Returns a function with a body that uses the bound `%n`, the number `%k`, and the memrefs `%A`
/// and `%B`.
fn function_with_body(body: &str) -> String {
    format!(
        "func.func @f(%t0: index, %t1: index, %t2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64) {{\n{body}  return\n}}\n"
    )
}
