//! `noisy-opt`: reads MLIR, runs passes, prints MLIR.

use std::io::Write as _;
use std::panic::catch_unwind;
use std::process::ExitCode;

use noisy_syntax::parallel::with_deep_stack;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Printing recurs into regions, which may be nested 200 levels deep.
    match catch_unwind(|| with_deep_stack(|| noisy_opt::driver::main(&args))) {
        Ok(code) => ExitCode::from(code),
        Err(_) => {
            let _ = writeln!(std::io::stderr(), "error: noisy-opt: internal error");
            ExitCode::from(2)
        }
    }
}
