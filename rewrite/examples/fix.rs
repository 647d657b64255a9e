//! Rewrites and places a file in place: `fix FILE [SECONDS]`.

use std::time::Duration;

use noisy_analyses::{Document, Limits, Options as Placing};
use noisy_rewrite::{Options, rewrite};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap_or_default();
    let seconds = args.get(2).and_then(|it| it.parse().ok()).unwrap_or(10.0);
    let mut document = Document::new(&text);
    let functions = document.ir().functions();
    let limits = Limits { time: Some(Duration::from_secs_f64(seconds)), ..Limits::default() };
    let placing = Placing { limits, ..Placing::default() };
    let options = Options { placing: placing.clone(), growth: 1.5 };
    let start = std::time::Instant::now();
    if args.get(3).is_none()
        && let Some(it) = rewrite(&document, &functions, &options)
    {
        eprintln!("{:?} {:?}", it.savings, start.elapsed());
        document = it.document;
    }
    let functions = document.ir().functions();
    let _ = document.insert_reduces(&functions, &placing);
    let _ = std::fs::write(&args[1], document.source().text().to_string());
}
