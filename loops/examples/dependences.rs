//! Measures the time of the dependence analysis for each function of the files: `dependences
//! FILE...`. It prints the shortest of many runs.

use std::hint::black_box;
use std::time::Instant;

use noisy_loops::{DependenceLimits, FunctionBody, dependences};
use noisy_syntax::Source;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let source = Source::new(&std::fs::read_to_string(&path)?);
        let ir = source.ir();
        for function in ir.functions() {
            let (mut best, mut n) = (f64::INFINITY, (0, 0, 0));
            let start = Instant::now();
            while start.elapsed().as_millis() < 300 {
                let start = Instant::now();
                let body = FunctionBody::new(ir, function);
                let found = dependences(black_box(&body), &DependenceLimits::default());
                best = best.min(start.elapsed().as_secs_f64());
                n = (body.accesses.len(), found.known.len(), found.unknown.len());
            }
            let (accesses, known, unknown) = n;
            let best = best * 1e3;
            println!("{path}: {best:.3} ms, {accesses} accesses, {known} known, {unknown} unknown");
        }
    }
    Ok(())
}
