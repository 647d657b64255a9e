//! Measures the placement optimizer on straight-line programs. Prints one line per file:
//!
//! ```text
//! cargo run --release -p noisy-placement --example place -- [OPTIONS] FILE.mlir...
//!   --time SECONDS     time limit per file (10)
//!   --work STEPS       work limit instead: the same figures on every machine
//!   --off STEP         a step to leave out: force split prune anneal prove cores partition fix
//!                      frontier-dp sweep-first cuts branch
//!   --progress         print changes of cost and bound, at most once per 20th of the time passed
//!   --live             leave out ops whose results are never used
//! ```
//!
//! The ops are `noisy.encode/add/sub/mul/decode` (fresh 12, budget 26) and, with levels instead of
//! noise, `arith.mulf/addf` (fresh 0, budget 3, reset to 0). Other lines are ignored. An operand
//! without a definition is fresh.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;
use std::time::Duration;

use noisy_placement::{
    EnabledSteps, Instance, Node, NodeRule, Placement, PlacementLimits, PlacementProgress,
    place_with,
};

/// Noise models: fresh noise and budget.
const NOISY: (u32, u32) = (12, 26);
const LEVELS: (u32, u32) = (0, 3);

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("place: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let mut limits = PlacementLimits::default();
    let (mut progress, mut live) = (false, false);
    let mut files = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--time" => {
                let seconds: f64 = value()?.parse().map_err(|_| "--time needs seconds")?;
                let time = Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?;
                limits.time = Some(time);
            }
            "--work" => {
                limits.work = Some(value()?.parse().map_err(|_| "--work needs a number")?);
                limits.time = None;
            }
            "--off" => switch_off(&mut limits.steps, &value()?)?,
            "--progress" => progress = true,
            "--live" => live = true,
            _ => files.push(arg),
        }
    }
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
        let instance = read(&text, live);
        let mut next = 0.0;
        let mut tell = |now: &PlacementProgress| {
            let second = now.elapsed.as_secs_f64();
            if progress && second >= next {
                next = second * 1.05;
                println!("  {second:>7.3} s  cost {}  bound {}", now.cost, now.lower_bound);
            }
        };
        match place_with(&instance, &limits, &mut tell) {
            Ok(placement) => println!("{}", line(&file, &placement)),
            Err(why) => println!("{file}: {why:?}"),
        }
    }
    Ok(())
}

fn line(file: &str, placement: &Placement) -> String {
    let Placement { cost, lower_bound, proof, stats, .. } = placement;
    format!(
        "{file}: cost {cost}, bound {lower_bound}, {proof:?}, {:.3} s; first legal {} after {:.1} ms; \
         {} sites, {} forced, {} idle, {} parts, largest {}",
        stats.time.as_secs_f64(),
        stats.greedy_cost,
        stats.greedy_time.as_secs_f64() * 1e3,
        stats.n_sites,
        stats.n_forced,
        stats.n_idle,
        stats.n_parts,
        stats.n_largest_part_sites,
    )
}

fn switch_off(steps: &mut EnabledSteps, name: &str) -> Result<(), String> {
    let step = match name {
        "force" => &mut steps.force,
        "split" => &mut steps.split,
        "prune" => &mut steps.prune,
        "anneal" => &mut steps.anneal,
        "prove" => &mut steps.prove,
        "cores" => &mut steps.cores,
        "partition" => &mut steps.partition,
        "fix" => &mut steps.fix,
        "frontier-dp" => &mut steps.frontier_dp,
        "sweep-first" => &mut steps.sweep_first,
        "cuts" => &mut steps.cuts,
        "branch" => &mut steps.branch,
        _ => return Err(format!("no step is called {name}")),
    };
    *step = false;
    Ok(())
}

/// A line of a program.
struct Line<'a> {
    result: &'a str,
    op: &'a str,
    operands: Vec<&'a str>,
}

fn parse(line: &str) -> Option<Line<'_>> {
    let line = line.split("//").next()?.trim();
    let (result, rest) = line.split_once(" = ")?;
    let (op, rest) = rest.split_once(' ')?;
    let operands = rest.split(" : ").next()?.split(',').map(str::trim);
    result.starts_with('%').then(|| Line { result, op, operands: operands.collect() })
}

fn read(text: &str, live: bool) -> Instance {
    let mut lines: Vec<Line> = text.lines().filter_map(parse).collect();
    if live {
        let mut used: HashSet<&str> = HashSet::new();
        let returned = text.lines().filter(|line| line.trim().starts_with("return"));
        for name in returned.flat_map(|line| line.split([' ', ','])) {
            used.insert(name);
        }
        lines.reverse();
        lines.retain(|line| {
            let keep = used.contains(line.result);
            if keep {
                used.extend(&line.operands);
            }
            keep
        });
        lines.reverse();
    }
    let mut instance = Instance::default();
    let mut nodes: HashMap<&str, Node> = HashMap::new();
    for Line { result, op, operands } in lines {
        let (fresh, budget) = if op.starts_with("noisy.") { NOISY } else { LEVELS };
        let rule = match op {
            "noisy.encode" => {
                nodes.insert(result, instance.push(NodeRule::Source(fresh), &[], budget, None));
                continue;
            }
            "noisy.add" | "noisy.sub" | "arith.mulf" => NodeRule::Max(1),
            "arith.addf" => NodeRule::Max(0),
            "noisy.mul" => NodeRule::Sum(0),
            _ => continue,
        };
        let mut known = |name| {
            *nodes
                .entry(name)
                .or_insert_with(|| instance.push(NodeRule::Source(fresh), &[], budget, None))
        };
        let operands: Vec<Node> = operands.into_iter().map(&mut known).collect();
        let site = instance.push_site(1, fresh);
        nodes.insert(result, instance.push(rule, &operands, budget, Some(site)));
    }
    instance
}
