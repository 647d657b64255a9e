//! `--bisect CMD`: finds the first step of a pipeline after which a command fails.
//!
//! Steps are those of [`Actions`]: runs of passes, and rewrites in them. *Law.* The command
//! succeeds on the program before the found step, and fails on the program after it. The step need
//! not be the first one if the command succeeds again on a later program. *Cost.* The pipeline and
//! the command run O(log n) times for n steps.

use super::files::split_into_parts;
use super::script::Script;
use super::{OptRun, RunGoal};
use crate::actions::Actions;
use crate::diagnostics::InputText;
use crate::timing::Timing;

/// Returns the text after `limit` steps of a pipeline, and the actions with the last step. The text
/// is `None` if the pipeline fails.
fn after_steps(run: &OptRun, text: &str, limit: usize) -> (Option<String>, Actions) {
    let mut actions = Actions::default();
    actions.limit_to(limit);
    let mut timing = Timing::default();
    let mut out = Some(String::new());
    for (n, part) in
        split_into_parts(text.to_owned(), run.split_at.as_deref()).into_iter().enumerate()
    {
        let input = InputText::new(&run.shown_file(), part.text, part.first_line);
        let printed = run.process_quietly(input, &mut timing, &mut actions);
        let (Some(all), Ok(printed)) = (&mut out, printed) else {
            out = None;
            continue;
        };
        if n > 0 {
            all.push_str("// -----\n");
        }
        all.push_str(&printed);
    }
    (out, actions)
}

/// Finds the step and returns a report.
pub(super) fn run(run: &OptRun, text: &str, command: &str) -> Result<String, String> {
    debug_assert!(matches!(run.goal, RunGoal::Bisect(_)), "asked for");
    let mut script = Script::new(command);
    let (start, _) = after_steps(run, text, 0);
    let start = start.ok_or("the program cannot be read; run without `--bisect` to see why")?;
    if script.fails(&start)? {
        return Err(format!("`{command}` fails before any pass has run"));
    }
    let (end, all) = after_steps(run, text, usize::MAX);
    let n_steps = all.n_steps();
    // A failure of a pass counts as a failure of the command, because there is no program to test.
    let mut is_bad = |out: Option<String>| out.map_or(Ok(true), |it| script.fails(&it));
    if !is_bad(end)? {
        return Err(format!("`{command}` does not fail after all {n_steps} steps"));
    }
    let (mut good, mut bad) = (0, n_steps);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if is_bad(after_steps(run, text, middle).0)? {
            bad = middle;
        } else {
            good = middle;
        }
    }
    let (_, actions) = after_steps(run, text, bad);
    let mut out = format!("`{command}` fails after step {bad} of {n_steps}\n");
    if let Some(step) = actions.last() {
        out += &format!("pass: {}\n", step.pass);
        if !step.change.is_empty() {
            out += &format!("rewrite: {}\n", step.change);
        }
        out += &format!("op: {}\n", step.op);
        if let Some(origin) = &step.origin {
            let start = origin.start.min(text.len());
            let line = text[..start].matches('\n').count() + 1;
            let column = start - text[..start].rfind('\n').map_or(0, |it| it + 1) + 1;
            if run.split_at.is_none() {
                out += &format!("place: {}:{line}:{column}\n", run.shown_file());
            }
        }
    }
    out += &format!("before: --bisect-limit={good}\nafter: --bisect-limit={bad}\n");
    Ok(out)
}
