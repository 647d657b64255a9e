//! Measures the time of the analyses from scratch, and that of `mlir-opt --sccp` on the same file
//! (parser and pass) for comparison: `cargo run --release -p noisy-analyses --example solve -- FILE
//! [MLIR_OPT]`.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use noisy_analyses::NoiseModel;
use noisy_analyses::facts::noise::{Findings, NoiseAnalysis};
use noisy_dataflow::sparse::{AnalysisInput, SparseSolver};
use noisy_integers::Integers;
use noisy_syntax::Source;

const ROUNDS: usize = 7;

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: solve FILE [MLIR_OPT]");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(it) => it,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let source = Source::new(&text);
    let ir = source.ir();
    let mut n_visits = 0;
    let ours = best(|| {
        let integers = Integers::new(ir);
        let input = AnalysisInput { ir, base: &integers };
        let noise = SparseSolver::with_observer(
            &input,
            NoiseAnalysis::new(NoiseModel::tutorial()),
            Findings::default(),
        );
        n_visits = integers.n_visits() + noise.n_visits();
    });
    println!("analyses {ours:?}, {n_visits} visits");
    if let Some(tool) = args.next() {
        let mut works = true;
        let theirs = best(|| {
            let mut command = Command::new(&tool);
            command.args(["--sccp", &path, "-o", "/dev/null"]).stderr(Stdio::null());
            works &= command.status().is_ok_and(|it| it.success());
        });
        if !works {
            eprintln!("{tool} failed");
            return ExitCode::FAILURE;
        }
        println!(
            "{tool} --sccp {theirs:?}, ratio {:.3}",
            ours.as_secs_f64() / theirs.as_secs_f64()
        );
    }
    ExitCode::SUCCESS
}
