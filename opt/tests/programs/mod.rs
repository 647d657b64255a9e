//! Random programs.

use std::fmt::Write as _;

/// Returns a random program with comments above and after ops.
pub(crate) fn program(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pick = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let mut out = "func.func @f(%a: i32, %b: i32, %c: i1, %m: memref<4xi32>) -> i32 {\n  %i0 = arith.constant 0 : index\n  %i1 = arith.constant 1 : index\n  %i4 = arith.constant 4 : index\n".to_owned();
    let mut scopes: Vec<Vec<String>> = vec![vec!["%a".to_owned(), "%b".to_owned()]];
    let mut ends: Vec<&str> = Vec::new();
    for n in 0..30 {
        let values: Vec<String> = scopes.concat();
        let (x, y) = (&values[pick(values.len())], &values[pick(values.len())]);
        let pad = "  ".repeat(scopes.len());
        let name = format!("%v{n}");
        match pick(12) {
            0 if scopes.len() < 4 => {
                let _ = writeln!(
                    out,
                    "{pad}// loop {n}\n{pad}scf.for %j{n} = %i0 to %i4 step %i1 {{ // for {n}"
                );
                scopes.push(Vec::new());
                ends.push("");
                continue;
            }
            1 if scopes.len() < 4 => {
                let _ = writeln!(out, "{pad}// choice {n}\n{pad}scf.if %c {{ // if {n}");
                scopes.push(Vec::new());
                ends.push("");
                continue;
            }
            2 if scopes.len() > 1 => {
                scopes.pop();
                let _ = writeln!(out, "{}}} // end {n}", "  ".repeat(scopes.len()));
                continue;
            }
            3 => {
                let value = pick(3);
                let _ = writeln!(
                    out,
                    "{pad}// above {n}\n{pad}{name} = arith.constant   {value} : i32 // n{n}"
                );
            }
            4 => {
                let _ = writeln!(out, "{pad}memref.store {x}, %m[%i0] : memref<4xi32> // n{n}");
                continue;
            }
            5 => {
                let _ = writeln!(out, "{pad}{name} = arith.select %c,  {x}, {y} : i32 // n{n}");
            }
            kind => {
                let op = ["addi", "muli", "subi", "xori", "andi"][kind % 5];
                let _ = writeln!(
                    out,
                    "{pad}// above {n}\n{pad}{name} = arith.{op}  {x}, {y} : i32 // n{n}"
                );
            }
        }
        scopes.last_mut().expect("the body").push(name);
    }
    while scopes.len() > 1 {
        scopes.pop();
        let _ = writeln!(out, "{}}}", "  ".repeat(scopes.len()));
    }
    let last = scopes[0].last().expect("a value").clone();
    let _ = writeln!(out, "  // the end\n  return {last} : i32 // returned\n}}");
    out
}
