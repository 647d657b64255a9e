//! Random affine programs compute the same before and after the affine passes. Their interpreter
//! shares nothing with the passes.

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

/// A function around loops, with memrefs as random programs have them.
fn function(loops: &str) -> String {
    let arguments = "%s0: index, %s1: index, %s2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64";
    format!("func.func @f({arguments}) {{\n{loops}\nreturn\n}}\n")
}

/// Loads two elements, and stores the first one plus the product of the other and itself.
fn sum(to: &str, from: &str, other: &str) -> String {
    let ty = "memref<?x?xi64>";
    format!(
        "%a = affine.load %A[{from}] : {ty}
        %b = affine.load %B[{other}] : {ty}
        %c = arith.muli %a, %b : i64
        %d = arith.addi %c, %k : i64
        affine.store %d, %A[{to}] : {ty}"
    )
}

/// The ops of a program of which something holds, in order.
fn ops(ir: &Ir, holds: impl Fn(Op) -> bool) -> Vec<Op> {
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        if holds(op) {
            out.push(op);
        }
    });
    out
}

/// A function of the bound `%n` and the number `%k` over `%A`, as [`result`] runs it.
fn with_body(body: &str) -> String {
    format!(
        "func.func @f(%t0: index, %t1: index, %t2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64) {{\n{body}  return\n}}\n"
    )
}
