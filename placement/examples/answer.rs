//! Solves an instance in JSON and prints the answer as JSON:
//!
//! ```text
//! cargo run --release -p noisy-placement --example answer -- \
//!     [--time SECONDS] INSTANCE.json > PLACEMENT.json
//! ```
//!
//! `noisy_placement::instance::json` describes the format of the instance, and
//! `docs/placement-reference.md` the answer and its certificate.

use std::process::ExitCode;
use std::time::Duration;

use noisy_placement::{Instance, PlacementLimits, place};

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("answer: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<String, String> {
    let mut limits = PlacementLimits::default();
    let mut file = None;
    while let Some(arg) = args.next() {
        if arg == "--time" {
            let seconds = args.next().and_then(|it| it.parse().ok());
            let time = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
            limits.time = Some(time.ok_or("--time needs seconds")?);
        } else {
            file = Some(arg);
        }
    }
    let file = file.ok_or("an instance is needed")?;
    let text = std::fs::read_to_string(&file).map_err(|it| format!("{file}: {it}"))?;
    let instance: Instance = serde_json::from_str(&text).map_err(|it| format!("{file}: {it}"))?;
    let placement = place(&instance, &limits).map_err(|it| format!("{file}: {it:?}"))?;
    serde_json::to_string(&placement).map_err(|it| it.to_string())
}
