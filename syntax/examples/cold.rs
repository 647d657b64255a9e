//! Parses one file to IR and exits: `cargo run --release -p noisy-syntax --example cold FILE`. With
//! a number instead of a file, prints a function with that many `arith` ops. `scripts/cold`
//! compares the time with that of mlir-opt.

use std::fmt::Write as _;
use std::io::Write as _;

use noisy_syntax::Source;

fn main() -> std::io::Result<()> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    if let Ok(n) = argument.parse::<usize>() {
        let mut text = String::from("func.func @f(%a: i32, %b: i32) -> i32 {\n");
        for i in 0..n {
            let (x, y) = (i.checked_sub(1), i.checked_sub(7));
            let name = |it: Option<usize>| it.map_or("a".to_owned(), |it| it.to_string());
            let _ = writeln!(text, "  %{i} = arith.addi %{}, %{} : i32", name(x), name(y));
        }
        let _ = writeln!(text, "  return %{} : i32\n}}", n.max(1) - 1);
        return out.write_all(text.as_bytes());
    }
    let source = Source::new(&std::fs::read_to_string(argument)?);
    writeln!(out, "{} items, {} problems", source.ir().n_slots().0, source.problems().len())
}
