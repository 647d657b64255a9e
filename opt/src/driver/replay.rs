//! `--replay FILE`: writes a page that replays the steps of passes, or a line of JSON per step.
//!
//! A step is recorded as a list of changed lines. Each op is printed separately, with stable names
//! ([`StableOpPrinter`]), and printed again only if its fingerprint changed. *Law.* The lines after
//! the last step are the result of the pipeline, except that very long lines are truncated in the
//! middle.
//! *Cost.* A step visits the ops that it changed (`replay/edits.rs`), or the whole program
//! if it changed many. The last step always visits the whole program. If the total work exceeds a
//! limit, the remaining steps are counted, and recorded as a single step.

mod edits;

use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noisy_analyses::report::diff;
use noisy_page::recording::{Hunk, RecordedStep as Recorded, Recording, TextId};
use noisy_syntax::print::{OmittedRegion, StableOpPrinter};
use noisy_syntax::{Block, Ir, Op, Traits};
use rustc_hash::{FxHashMap, FxHasher};

use crate::actions::{ActionStep, Actions, StepObserver};
use crate::diagnostics::InputText;

/// Maximum number of visits of ops and blocks, about 2 seconds. Later steps are not recorded.
const MAX_VISITS: usize = 10_000_000;
/// Number of operands and results that count as one more visit.
const VALUES_PER_VISIT: usize = 8;

/// The name of a step with changes that no other step reported.
const REMAINING_CHANGES: &str = "the remaining changes of the pass";

/// A recording under construction, which shares its state with the observer.
#[derive(Debug)]
pub(super) struct Recorder(Arc<Mutex<ReplayState>>);

/// Starts to record all steps.
pub(super) fn start_recording(actions: &mut Actions) -> Recorder {
    let state = Arc::new(Mutex::new(ReplayState::default()));
    actions.watch_by(Box::new(ReplayObserver(Arc::clone(&state))));
    Recorder(state)
}

fn locked(state: &Mutex<ReplayState>) -> MutexGuard<'_, ReplayState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if the file is written as lines of JSON.
pub(super) fn is_json_lines(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|it| it == "jsonl")
}

impl Recorder {
    /// Starts a new part of the file.
    pub(super) fn open(&self, input: &InputText) {
        let mut state = locked(&self.0);
        let recording = std::mem::take(&mut state.recording);
        let has_begun = state.has_begun;
        let input = InputText::new(&input.file, input.text.clone(), input.first_line);
        let n_looked = state.n_visits;
        *state = ReplayState {
            recording,
            has_begun,
            input: Some(input),
            n_visits: n_looked,
            ..ReplayState::default()
        };
    }

    /// Returns the page or the lines of JSON, depending on the name of the file.
    pub(super) fn finish(self, file: &str, shown: &str) -> String {
        let state = locked(&self.0);
        if is_json_lines(file) {
            state.recording.rows()
        } else {
            state.recording.html(shown, "replay")
        }
    }
}

/// The observer of the steps.
struct ReplayObserver(Arc<Mutex<ReplayState>>);

impl StepObserver for ReplayObserver {
    fn program_shown(&mut self, ir: &Ir, is_before: bool) {
        let mut state = locked(&self.0);
        if is_before {
            state.begin(ir);
        } else {
            let hunks = state.changes(ir);
            state.record_unreported(hunks, REMAINING_CHANGES);
            // No other change should exist, but the law must hold even if a change was not
            // reported.
            let hunks = state.all_changes(ir);
            state.record_unreported(hunks, "(unrecorded change)");
        }
    }

    fn step(&mut self, ir: &Ir, step: &ActionStep) {
        locked(&self.0).step(ir, step);
    }
}

/// The last printed form of an op.
#[derive(Debug, Default)]
struct PrintedOp {
    fingerprint: u64,
    depth: usize,
    /// The lines before, between and after the regions.
    pieces: Vec<Vec<TextId>>,
    regions: Vec<OmittedRegion>,
}

/// The lines of the program.
#[derive(Debug, Default)]
struct ProgramLines {
    /// The op or label that owns each line.
    owners: Vec<Op>,
    lines: Vec<TextId>,
}

impl ProgramLines {
    fn push(&mut self, owner: Op, line: TextId) {
        self.owners.push(owner);
        self.lines.push(line);
    }
}

#[derive(Debug, Default)]
struct ReplayState {
    recording: Recording,
    /// True after the start of a part of the file.
    has_begun: bool,
    input: Option<InputText>,
    lines: StableOpPrinter,
    /// The printed forms, by index of the op.
    printed: Vec<PrintedOp>,
    labels: FxHashMap<Block, (u64, TextId)>,
    /// The owners of the recorded lines.
    owners: Vec<Op>,
    /// Number of changes of the program that are contained in the recorded lines.
    n_seen: usize,
    pass: TextId,
    /// Number of visits of ops and blocks so far.
    n_visits: usize,
}

impl ReplayState {
    fn begin(&mut self, ir: &Ir) {
        let now = self.program_lines(ir);
        self.owners = now.owners;
        self.n_seen = ir.changes().map_or(0, <[_]>::len);
        if !self.has_begun {
            self.recording.set_program(now.lines);
            self.has_begun = true;
            return;
        }
        let old = self.recording.current_program().to_vec();
        let what = self.recording.text("the next part of the file");
        let hunks = vec![Hunk { at: 0, old, new: now.lines }];
        self.recording.force_step(Recorded { action: what, hunks, ..Recorded::default() });
    }

    /// Records changes that no step reported, as a step of the last pass.
    fn record_unreported(&mut self, hunks: Vec<Hunk>, what: &str) {
        if !hunks.is_empty() {
            let what = self.recording.text(what);
            self.recording.force_step(Recorded {
                group: self.pass,
                action: what,
                hunks,
                ..Recorded::default()
            });
        }
    }

    fn step(&mut self, ir: &Ir, step: &ActionStep) {
        if self.recording.is_full() || self.n_visits > MAX_VISITS {
            // The rest is recorded as one step at the end.
            self.recording.leave_out(1);
            return;
        }
        let is_begin = step.change.is_empty();
        let mut hunks = self.changes(ir);
        if is_begin {
            self.record_unreported(std::mem::take(&mut hunks), REMAINING_CHANGES);
        }
        self.pass = self.recording.text(&step.pass);
        let what = self.recording.text(if is_begin { "begins" } else { &step.change });
        let mut place = step.op.clone();
        if let (Some(origin), Some(input)) = (&step.origin, &self.input) {
            let line =
                input.line_and_column(origin.start.min(input.text.len())).0 + input.first_line;
            place += &format!(" (line {line} of the file)");
        }
        let place = self.recording.text(&place);
        let waiting = step.waiting.iter().map(|&it| self.first_line(ir, it)).collect();
        self.recording.step(Recorded {
            group: self.pass,
            action: what,
            subject: place,
            hunks,
            waiting,
            n_waiting: step.n_waiting,
            ..Recorded::default()
        });
    }

    fn first_line(&mut self, ir: &Ir, op: Op) -> TextId {
        let printed = self.printed.get(op.index());
        let first = printed.and_then(|it| it.pieces.first()?.first().copied());
        first.unwrap_or_else(|| self.recording.text(ir.op_name(op)))
    }

    /// Returns the changes of lines since the last call, from the recorded changes.
    fn changes(&mut self, ir: &Ir) -> Vec<Hunk> {
        match self.changed_hunks(ir) {
            Some(hunks) => hunks,
            None => self.all_changes(ir),
        }
    }

    /// Returns the changes of lines since the last call, by comparing all lines.
    fn all_changes(&mut self, ir: &Ir) -> Vec<Hunk> {
        let now = self.program_lines(ir);
        self.owners = now.owners;
        hunks(&self.recording, 0, self.recording.current_program(), &now.lines)
    }

    /// Returns the lines of the program.
    fn program_lines(&mut self, ir: &Ir) -> ProgramLines {
        let mut out = ProgramLines::default();
        let region = ir.block(ir.top_block()).region;
        for op in ir.items(region).filter(|&it| ir.op(it).kind.is_op()) {
            self.append_op(ir, op, 0, op, &mut out);
        }
        out
    }

    /// Appends the lines of an op. `home` is the nearest enclosing op that is isolated from above.
    fn append_op(&mut self, ir: &Ir, op: Op, depth: usize, home: Op, out: &mut ProgramLines) {
        let n_values = ir.op(op).operands.len() + ir.op(op).results.len();
        self.n_visits += 1 + n_values / VALUES_PER_VISIT;
        let fingerprint = fingerprint(ir, op, home);
        if self.printed.len() <= op.index() {
            self.printed.resize_with(op.index() + 1, PrintedOp::default);
        }
        let mut printed = std::mem::take(&mut self.printed[op.index()]);
        let is_same = printed.fingerprint == fingerprint && printed.depth == depth;
        if !is_same || printed.pieces.is_empty() {
            printed = self.print(ir, op, depth, fingerprint);
        }
        let inner = if ir.op(op).kind.has(Traits::ISOLATED) { op } else { home };
        for (n, piece) in printed.pieces.iter().enumerate() {
            for &line in piece {
                out.push(op, line);
            }
            let Some(shown) = printed.regions.get(n) else { continue };
            for (at, block) in ir.blocks(shown.region).into_iter().enumerate() {
                self.n_visits += 1;
                if at > 0 || shown.has_label {
                    let line = self.label(ir, block, depth);
                    out.push(ir.block(block).label.unwrap_or(op), line);
                }
                for op in ir.block_ops(block).filter(|&it| Some(it) != shown.omitted_terminator) {
                    self.append_op(ir, op, depth + 1, inner, out);
                }
            }
        }
        self.printed[op.index()] = printed;
    }

    fn print(&mut self, ir: &Ir, op: Op, depth: usize, fingerprint: u64) -> PrintedOp {
        let shape = self.lines.op(ir, op);
        let n = shape.pieces.len();
        let indent = "  ".repeat(depth);
        let mut pieces = Vec::with_capacity(n);
        for piece in &shape.pieces {
            let mut lines = Vec::new();
            for line in piece.split('\n') {
                lines.push(self.recording.text(&format!("{indent}{line}")));
            }
            pieces.push(lines);
        }
        PrintedOp { fingerprint, depth, pieces, regions: shape.regions }
    }

    fn label(&mut self, ir: &Ir, block: Block, depth: usize) -> TextId {
        let mut state = FxHasher::default();
        depth.hash(&mut state);
        for &arg in &ir.block(block).args {
            (arg, ir.value(arg).ty).hash(&mut state);
        }
        let fingerprint = state.finish();
        if let Some(known) = self.labels.get(&block).filter(|it| it.0 == fingerprint) {
            return known.1;
        }
        let text = format!("{}{}", "  ".repeat(depth), self.lines.label(ir, block));
        let text = self.recording.text(&text);
        self.labels.insert(block, (fingerprint, text));
        text
    }
}

/// Returns a fingerprint of the printed form of an op without its regions.
fn fingerprint(ir: &Ir, op: Op, home: Op) -> u64 {
    let mut state = FxHasher::default();
    let (data, extra) = (ir.op(op), ir.extra(op));
    (data.name, home).hash(&mut state);
    for operand in &data.operands {
        (operand.value, operand.value.map(|it| ir.value(it).ty)).hash(&mut state);
    }
    for &result in &data.results {
        (result, ir.value(result).ty).hash(&mut state);
    }
    extra.attrs.hash(&mut state);
    for successor in &extra.successors {
        successor.block.hash(&mut state);
    }
    for &(_, region) in &data.regions {
        // The printed header has the region arguments, and may imply a terminator, a label, or an
        // empty region.
        let first = ir.entry_block(region);
        (region, ir.has_labels(region), ir.only_block(region)).hash(&mut state);
        for &arg in &ir.block(first).args {
            (arg, ir.value(arg).ty).hash(&mut state);
        }
        ir.block(first).preds.is_empty().hash(&mut state);
        // Only a terminator without operands and successors may be implicit.
        let says_nothing =
            |it: &Op| ir.op(*it).operands.is_empty() && ir.extra(*it).successors.is_empty();
        ir.last_op(first).filter(says_nothing).hash(&mut state);
    }
    state.finish()
}

/// Returns the differences between old and new lines. `start` is the index of the first line.
fn hunks(recording: &Recording, start: usize, old: &[TextId], new: &[TextId]) -> Vec<Hunk> {
    let same = old.iter().zip(new).take_while(|it| it.0 == it.1).count();
    let (a, b) = (&old[same..], &new[same..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|it| it.0 == it.1).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let texts = |of: &[TextId]| of.iter().map(|&it| recording.str(it)).collect::<Vec<_>>();
    let changes = diff::changes(&texts(a), &texts(b));
    let hunk = |it: diff::LineChange| Hunk {
        at: start + same + it.before.start,
        old: a[it.before].to_vec(),
        new: b[it.after].to_vec(),
    };
    changes.into_iter().map(hunk).collect()
}
