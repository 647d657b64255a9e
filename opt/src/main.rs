//! `noisy-opt`: reads MLIR, runs passes, prints MLIR.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Regions nest 200 deep, and printing recurs with them.
    let run = move || noisy_opt::driver::main(&args);
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    let code = thread.map(std::thread::JoinHandle::join);
    match code {
        Ok(Ok(code)) => ExitCode::from(code),
        _ => {
            let _ = writeln!(std::io::stderr(), "error: noisy-opt: internal error");
            ExitCode::from(2)
        }
    }
}
