//! Actions: the sequence of operations of the tool on a program: runs of passes, iterations of the
//! greedy driver, and attempts to apply patterns.
//!
//! Actions have the tags of MLIR. They can be logged (`--log-actions-to`), and counted and skipped
//! (`--mlir-debug-counter`). *Steps* are the rewrites that changed the program, and the runs of
//! passes. `--bisect-limit` limits the total number of steps, and a [`StepObserver`] observes the
//! program after each step. *Cost.* A few comparisons unless actions are logged, counted or
//! watched.

use std::io::Write as _;

use noisy_syntax::print::{self, Style};
use noisy_syntax::string::unquoted;
use noisy_syntax::{Attr, AttrData, Ir, LocationPart, Op};

/// The tag of a run of a pass on an op.
pub(crate) const PASS_TAG: &str = "pass-execution";
/// The tag of an iteration of the greedy driver.
pub(crate) const ITERATION_TAG: &str = "GreedyPatternRewriteIteration";
/// The tag of an attempt to apply a pattern to an op.
pub const PATTERN_TAG: &str = "apply-pattern";

/// A step: the start of a pass, or a rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionStep {
    /// The class of the pass, such as `Canonicalizer`.
    pub pass: String,
    /// The name of the pattern, or the kind of another change. Empty at the start of a pass.
    pub change: String,
    /// The name of the op that the step changes, followed by its symbol if it defines one.
    pub op: String,
    /// The byte range of that op in the source.
    pub origin: Option<std::ops::Range<usize>>,
    /// The first ops of the worklist, in the order in which they are processed.
    pub waiting: Vec<Op>,
    /// Number of ops in the worklist.
    pub n_waiting: usize,
}

/// Maximum length of [`ActionStep::waiting`].
pub(crate) const MAX_LISTED_OPS: usize = 10;

/// Observes the program after each step.
pub trait StepObserver {
    /// Called with the program before the first step, and after the last step.
    fn program_shown(&mut self, _ir: &Ir, _is_before: bool) {}

    /// Called with the program after a step.
    fn step(&mut self, ir: &Ir, step: &ActionStep);
}

/// A debug counter: admits a range of the actions with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DebugCounter {
    tag: String,
    /// Number of actions to skip first. Negative: admit all.
    skip: i64,
    /// Number of actions to admit after that. Negative: all.
    count: i64,
    /// Number of actions so far.
    n: i64,
}

/// A location filter: a file, optionally with line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LocationFilter {
    file: String,
    line: Option<u32>,
    column: Option<u32>,
}

impl LocationFilter {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let file = parts.next().filter(|it| !it.is_empty())?.to_owned();
        let mut number = || parts.next().map_or(Some(None), |it| it.parse().ok().map(Some));
        Some(Self { file, line: number()?, column: number()? })
    }

    /// Returns true if a location, or one of its nested locations, matches.
    fn matches(&self, ir: &Ir, location: Attr) -> bool {
        let AttrData::Location(parts) = ir.interner.attr_data(location) else { return false };
        parts.iter().any(|it| match it {
            LocationPart::Location(inner) => self.matches(ir, *inner),
            LocationPart::Attr(_) => false,
            LocationPart::Text(text) => {
                let text = ir.interner.str(*text);
                let Some((file, at)) = text.strip_prefix('"').and_then(|it| it.rsplit_once("\":"))
                else {
                    return false;
                };
                let mut numbers = at.split(':').map(|it| it.parse::<u32>().ok());
                let (line, column) = (numbers.next().flatten(), numbers.next().flatten());
                unquoted(file) == self.file
                    && (self.line.is_none() || self.line == line)
                    && (self.column.is_none() || self.column == column)
            }
        })
    }
}

/// Decides which actions are admitted, logged and watched.
#[derive(Default)]
pub struct Actions {
    log: Option<Log>,
    /// If this is not empty, only actions on ops with a matching location are logged.
    log_filters: Vec<LocationFilter>,
    /// For each unfinished action: true if its start was logged.
    open: Vec<bool>,
    counters: Vec<DebugCounter>,
    limit: Option<usize>,
    n_steps: usize,
    pass: String,
    last: Option<ActionStep>,
    watch: Option<Box<dyn StepObserver + Send>>,
}

impl std::fmt::Debug for Actions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counters = (&self.counters, self.limit, self.n_steps);
        let out = &mut f.debug_struct("Actions");
        out.field("log", &self.log).field("counters", &counters).finish_non_exhaustive()
    }
}

impl Actions {
    /// Logs actions to a new file, or to stdout (`-`).
    ///
    /// # Errors
    /// The reason why the file cannot be written.
    pub(crate) fn log_to(&mut self, file: &str) -> Result<(), String> {
        let open = |file| std::fs::File::create(file).map(Log::File);
        let log = if file == "-" { Ok(Log::Stdout) } else { open(file) };
        self.log = Some(log.map_err(|it| format!("cannot open output file '{file}': {it}"))?);
        Ok(())
    }

    /// Logs only actions on ops with these locations: `file:line:column`, separated by commas. Line
    /// and column are optional.
    ///
    /// # Errors
    /// A location with another format.
    pub(crate) fn filter_log(&mut self, places: &str) -> Result<(), String> {
        for text in places.split(',') {
            let place = LocationFilter::parse(text)
                .ok_or_else(|| format!("Invalid location filter: {text}"))?;
            self.log_filters.push(place);
        }
        Ok(())
    }

    /// Returns true if the filter of the log needs the locations of ops.
    pub(crate) fn needs_locations(&self) -> bool {
        !self.log_filters.is_empty()
    }

    /// Admits at most `n` steps.
    pub(crate) fn limit_to(&mut self, n: usize) {
        self.limit = Some(n);
    }

    /// Sets the observer of steps.
    pub(crate) fn watch_by(&mut self, watch: Box<dyn StepObserver + Send>) {
        self.watch = Some(watch);
    }

    /// Passes the program to the observer, before the pipeline (`is_before`) or after it. From then
    /// on, the program records its changes.
    pub fn show(&mut self, ir: &mut Ir, is_before: bool) {
        if let Some(watch) = &mut self.watch {
            watch.program_shown(ir, is_before);
            ir.record_changes();
        }
    }

    /// Returns the number of steps so far.
    pub fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// Returns the last step.
    pub(crate) fn last(&self) -> Option<&ActionStep> {
        self.last.as_ref()
    }

    /// Sets counters such as `tag-skip=2,tag-count=1`.
    ///
    /// # Errors
    /// A counter with another format. The message is that of MLIR.
    pub(crate) fn add_counters(&mut self, text: &str) -> Result<(), String> {
        for arg in text.split(',').filter(|it| !it.is_empty()) {
            let Some((name, value)) = arg.split_once('=') else {
                return Err(format!(
                    "expected DebugCounter argument to have an `=` separating the counter name and value, but the provided argument was: `{arg}`"
                ));
            };
            let Ok(value) = value.parse::<i64>() else {
                return Err(format!(
                    "expected DebugCounter counter value to be numeric, but got `{value}`"
                ));
            };
            let (tag, is_skip) = match (name.strip_suffix("-skip"), name.strip_suffix("-count")) {
                (Some(tag), _) => (tag, true),
                (_, Some(tag)) => (tag, false),
                _ => {
                    return Err(format!(
                        "expected DebugCounter counter name to end with either `-skip` or `-count`, but got `{name}`"
                    ));
                }
            };
            let at = self.counters.iter().position(|it| it.tag == tag).unwrap_or_else(|| {
                self.counters.push(DebugCounter { tag: tag.to_owned(), skip: 0, count: -1, n: 0 });
                self.counters.len() - 1
            });
            if is_skip {
                self.counters[at].skip = value;
            } else {
                self.counters[at].count = value;
            }
        }
        Ok(())
    }

    /// Returns the counters by tag, in the format of MLIR.
    pub fn counters(&self) -> String {
        let mut sorted: Vec<&DebugCounter> = self.counters.iter().collect();
        sorted.sort_by(|a, b| a.tag.cmp(&b.tag));
        let mut out = "DebugCounter counters:\n".to_owned();
        for it in sorted {
            out += &format!("{:<32}: {{{},{},{}}}\n", it.tag, it.n, it.skip, it.count);
        }
        out
    }

    /// Resets the counters for the next part of a split file. The number of steps is not reset.
    pub(crate) fn restart_counters(&mut self) {
        for it in &mut self.counters {
            it.n = 0;
        }
    }

    /// Returns true if more steps are admitted.
    #[inline]
    pub fn is_within_limit(&self) -> bool {
        self.limit.is_none_or(|it| self.n_steps < it)
    }

    /// Counts an action. Returns true if its counter admits it.
    fn admits(&mut self, tag: &str) -> bool {
        let Some(it) = self.counters.iter_mut().find(|it| it.tag == tag) else { return true };
        it.n += 1;
        it.skip < 0 || it.skip < it.n && (it.count < 0 || it.skip.saturating_add(it.count) >= it.n)
    }

    /// Starts the run of a pass on an op, which [`Actions::end_pass`] ends. Returns false if the
    /// run is not admitted.
    pub(crate) fn begin_pass(&mut self, class: &str, ir: &Ir, op: Op) -> bool {
        if !self.is_within_limit() || !self.admits(PASS_TAG) {
            return false;
        }
        if self.begin_log_entry(ir, Some(op)) {
            let (name, text) = (ir.op_name(op), first_line(ir, op));
            self.write(&format!(
                "[thread main] begins (no breakpoint) Action `{PASS_TAG}` running `{class}` on Operation `{name}` ({text})`\n"
            ));
        }
        class.clone_into(&mut self.pass);
        self.record_step(ir, "", || target_of(ir, op));
        true
    }

    /// Ends the run of a pass. `around` is the pass that ran it as a nested pass; it gets the
    /// following steps.
    pub(crate) fn end_pass(&mut self, around: &str) {
        self.end(PASS_TAG);
        around.clone_into(&mut self.pass);
    }

    /// Returns the class of the running pass.
    pub(crate) fn pass(&self) -> &str {
        &self.pass
    }

    /// Starts an iteration of the greedy driver. Returns false if it is not admitted.
    pub(crate) fn begin_iteration(&mut self, n: usize, ir: &Ir, holder: Option<Op>) -> bool {
        if !self.is_within_limit() || !self.admits(ITERATION_TAG) {
            return false;
        }
        if self.begin_log_entry(ir, holder) {
            let text = holder.map_or(String::new(), |it| first_line(ir, it));
            self.write(&format!(
                "[thread main] begins (no breakpoint) Action {ITERATION_TAG}({n}) (Region #0 for op {text})`\n"
            ));
        }
        true
    }

    /// Starts an attempt to apply a pattern. Returns false if it is not admitted.
    #[inline]
    pub(crate) fn begin_pattern(&mut self, pattern: &str, ir: &Ir, op: Op) -> bool {
        if self.counters.is_empty() && self.log.is_none() {
            return true;
        }
        if !self.admits(PATTERN_TAG) {
            return false;
        }
        if self.begin_log_entry(ir, Some(op)) {
            let text = first_line(ir, op);
            self.write(&format!(
                "[thread main] begins (no breakpoint) Action `{PATTERN_TAG} pattern: {pattern} ({text})`\n"
            ));
        }
        true
    }

    /// Ends an action, and logs its end.
    #[inline]
    pub fn end(&mut self, tag: &str) {
        if self.log.is_some() && self.open.pop() == Some(true) {
            self.write(&format!("[thread main] completed `{tag}`\n"));
        }
    }

    /// Returns true if actions are neither logged, counted nor watched.
    pub fn is_idle(&self) -> bool {
        self.log.is_none() && self.counters.is_empty() && !self.is_watched()
    }

    /// Returns true if steps are limited or observed, so that their details are needed.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.limit.is_some() || self.watch.is_some()
    }

    /// Returns the target of the next step, or an empty target if steps are not watched.
    pub fn target(&self, ir: &Ir, op: Op) -> StepTarget {
        if self.is_watched() && ir.op(op).kind.is_op() {
            target_of(ir, op)
        } else {
            StepTarget::default()
        }
    }

    /// Records a step. `place` returns its op as it was before the step.
    pub(crate) fn record_step(&mut self, ir: &Ir, what: &str, place: impl FnOnce() -> StepTarget) {
        self.record_step_with_worklist(ir, what, place, || (Vec::new(), 0));
    }

    /// [`Actions::record_step`] with a worklist. `waiting` returns up to [`MAX_LISTED_OPS`] ops of
    /// the worklist, and its length.
    pub(crate) fn record_step_with_worklist(
        &mut self,
        ir: &Ir,
        what: &str,
        place: impl FnOnce() -> StepTarget,
        waiting: impl FnOnce() -> (Vec<Op>, usize),
    ) {
        self.n_steps += 1;
        if !self.is_watched() {
            return;
        }
        let (op, origin) = place();
        let (waiting, n_waiting) = if self.watch.is_some() { waiting() } else { (Vec::new(), 0) };
        let (pass, what) = (self.pass.clone(), what.to_owned());
        let step = ActionStep { pass, change: what, op, origin, waiting, n_waiting };
        if let Some(watch) = &mut self.watch {
            watch.step(ir, &step);
        }
        self.last = Some(step);
    }

    /// Registers the start of an action in the log. Returns true if it is to be logged.
    fn begin_log_entry(&mut self, ir: &Ir, op: Option<Op>) -> bool {
        if self.log.is_none() {
            return false;
        }
        let is_meant = self.log_filters.is_empty()
            || op
                .and_then(|it| ir.location(it))
                .is_some_and(|location| self.log_filters.iter().any(|it| it.matches(ir, location)));
        self.open.push(is_meant);
        is_meant
    }

    /// Writes to the log. A write error closes the log.
    fn write(&mut self, line: &str) {
        let written = match &mut self.log {
            Some(Log::File(file)) => file.write_all(line.as_bytes()),
            Some(Log::Stdout) => std::io::stdout().write_all(line.as_bytes()),
            None => return,
        };
        if let Err(error) = written {
            self.log = None;
            eprintln!("error: the log of actions ends here: {error}");
        }
    }
}

/// The destination of the log.
#[derive(Debug)]
enum Log {
    Stdout,
    File(std::fs::File),
}

/// The op of a step: its name, followed by its symbol if it defines one, and its byte range in the
/// source.
pub type StepTarget = (String, Option<std::ops::Range<usize>>);

/// Returns the target for an op.
pub fn target_of(ir: &Ir, op: Op) -> StepTarget {
    let mut name = ir.op_name(op).to_owned();
    if let Some((symbol, _)) = ir.extra(op).symbol {
        name += &format!(" @{}", ir.interner.str(symbol));
    }
    (name, ir.origin(op))
}

/// Returns the first line of an op, followed by `...}` if it has more lines.
fn first_line(ir: &Ir, op: Op) -> String {
    let style = Style { is_custom: true, has_names: true, ..Style::default() };
    let text = print::op_in_style(ir, op, style);
    let mut lines = text.trim_end().lines();
    let first = lines.next().unwrap_or_default().trim_start().to_owned();
    if lines.next().is_some() { first + "...}" } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of the admitted actions, of seven actions.
    fn passed(text: &str) -> Vec<usize> {
        let mut actions = Actions::default();
        actions.add_counters(text).expect("counters");
        (1..8).filter(|_| actions.admits("a")).collect()
    }

    #[test]
    fn counters_skip_first_actions_and_admit_some() {
        assert_eq!(passed(""), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(passed("a-skip=2"), [3, 4, 5, 6, 7]);
        assert_eq!(passed("a-count=2"), [1, 2]);
        assert_eq!(passed("a-skip=3,a-count=2"), [4, 5]);
        assert_eq!(passed("a-skip=-1,a-count=0"), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(passed("b-count=0"), [1, 2, 3, 4, 5, 6, 7]);
        for (wrong, text) in [("a", "have an `=`"), ("a-skip=x", "numeric"), ("a=1", "end with")] {
            let said = Actions::default().add_counters(wrong).expect_err("it is wrong");
            assert!(said.contains(text), "{said}");
        }
    }
}
