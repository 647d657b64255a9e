//! Execution times, as a tree of activities.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The execution times by activity.
#[derive(Debug)]
pub struct Timing {
    nodes: Vec<TimingNode>,
    open: Vec<(usize, Instant)>,
}

#[derive(Debug)]
struct TimingNode {
    name: String,
    slot: usize,
    time: Duration,
    children: Vec<usize>,
}

/// The format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingFormat {
    /// True for a list, longest first; false for a tree.
    pub is_list: bool,
    /// True for JSON; false for text.
    pub(crate) is_json: bool,
}

impl Default for Timing {
    fn default() -> Self {
        let root = TimingNode {
            name: "Total".to_owned(),
            slot: 0,
            time: Duration::ZERO,
            children: Vec::new(),
        };
        Self { nodes: vec![root], open: vec![(0, Instant::now())] }
    }
}

impl Timing {
    /// Starts an activity: the child of the current activity with this name.
    pub(crate) fn enter(&mut self, name: &str) {
        self.enter_slot(name, 0);
    }

    /// [`Timing::enter`] for one of several children with the same name, which a number
    /// distinguishes.
    pub(crate) fn enter_slot(&mut self, name: &str, slot: usize) {
        let around = self.open.last().map_or(0, |it| it.0);
        let mut same = self.nodes[around].children.iter().copied();
        let found = same.find(|&it| self.nodes[it].name == name && self.nodes[it].slot == slot);
        let node = found.unwrap_or_else(|| {
            let node = TimingNode {
                name: name.to_owned(),
                slot,
                time: Duration::ZERO,
                children: Vec::new(),
            };
            self.nodes.push(node);
            let number = self.nodes.len() - 1;
            self.nodes[around].children.push(number);
            number
        });
        self.open.push((node, Instant::now()));
    }

    /// Ends the current activity.
    pub fn leave(&mut self) {
        if self.open.len() > 1
            && let Some((node, start)) = self.open.pop()
        {
            self.nodes[node].time += start.elapsed();
        }
    }

    /// Returns the report of all times so far.
    pub fn report(&mut self, display: TimingFormat) -> String {
        while self.open.len() > 1 {
            self.leave();
        }
        let total = self.open[0].1.elapsed();
        self.nodes[0].time = total;
        let known: Duration = self.nodes[0].children.iter().map(|&it| self.nodes[it].time).sum();
        let rest = total.saturating_sub(known);
        let mut rows: Vec<(usize, String, Duration)> = Vec::new();
        let mut stack: Vec<(usize, usize)> =
            self.nodes[0].children.iter().rev().map(|&it| (0, it)).collect();
        while let Some((depth, node)) = stack.pop() {
            let it = &self.nodes[node];
            rows.push((depth, it.name.clone(), it.time));
            stack.extend(it.children.iter().rev().map(|&it| (depth + 1, it)));
        }
        if display.is_list {
            let mut by_name: Vec<(usize, String, Duration)> = Vec::new();
            for (_, name, time) in rows {
                match by_name.iter_mut().find(|it| it.1 == name) {
                    Some(it) => it.2 += time,
                    None => by_name.push((0, name, time)),
                }
            }
            by_name.sort_by_key(|it| std::cmp::Reverse(it.2));
            rows = by_name;
        }
        rows.push((0, "Rest".to_owned(), rest));
        rows.push((0, "Total".to_owned(), total));
        if display.is_json { json(&rows, display.is_list, total) } else { text(&rows, total) }
    }
}

fn percent(time: Duration, total: Duration) -> f64 {
    100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-12)
}

fn text(rows: &[(usize, String, Duration)], total: Duration) -> String {
    let line = format!("===-{}-===", "-".repeat(73));
    let mut out = format!("{line}\n{:^80}\n{line}\n", "... Execution time report ...");
    let _ = writeln!(out, "  Total Execution Time: {:.4} seconds\n", total.as_secs_f64());
    out += "  ----Wall Time----  ----Name----\n";
    for (depth, name, time) in rows {
        let (seconds, share) = (time.as_secs_f64(), percent(*time, total));
        let _ = writeln!(out, "  {seconds:8.4} ({share:5.1}%)  {}{name}", "  ".repeat(*depth));
    }
    out
}

fn json(rows: &[(usize, String, Duration)], is_list: bool, total: Duration) -> String {
    let mut out = String::from("[");
    let number = |time: Duration| {
        let (seconds, share) = (time.as_secs_f64(), percent(time, total));
        format!("{{\"wall\": {{\"duration\": {seconds:8.4}, \"percentage\": {share:5.1}}}, ")
    };
    for (at, (depth, name, time)) in rows.iter().enumerate() {
        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
        let is_leaf = is_list || name == "Rest" || name == "Total";
        out += &number(*time);
        if is_leaf {
            let _ = write!(out, "\"name\": \"{name}\"}}");
        } else {
            let _ = writeln!(out, "\"name\": \"{name}\", \"passes\": [");
            // As in MLIR, each list ends with an empty element.
            let next = rows.get(at + 1).map_or(0, |it| it.0);
            if next <= *depth {
                out += "{}]}";
                for _ in next..*depth {
                    out += ",\n{}]}";
                }
            } else {
                continue;
            }
        }
        out += if at + 1 < rows.len() { ",\n" } else { "\n" };
    }
    out + "]\n"
}
