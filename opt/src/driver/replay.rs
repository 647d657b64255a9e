//! `--replay FILE`: a page that steps through what passes did, or a line of JSON for each step.
//!
//! A step is recorded as the lines that it changed. The program is printed op by op under names that stay ([`Lines`]); an op is printed
//! anew where what it says has another fingerprint. *Law.* The lines after the last step are the program that the pipeline left, but that
//! of very long ones only start and end are kept. *Cost.* A step looks at what it changed (`replay/edits.rs`), or, where that is much, at
//! the whole program, as the last one does. Where that is too much, the steps that are left are counted, and told as one.

mod edits;

use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noisy_analyses::report::diff;
use noisy_page::recording::{Hunk, Recording, Step as Recorded, Text};
use noisy_syntax::print::{Lines, ShownRegion};
use noisy_syntax::{Block, Ir, Op, Traits};
use rustc_hash::{FxHashMap, FxHasher};

use crate::actions::{Actions, Step, Watch};
use crate::diagnostics::Input;

/// Ops and blocks looked at after which no step is recorded: some 2 seconds.
const MAX_LOOKED: usize = 10_000_000;
/// An op of so many operands and results more counts as one more.
const FEW_VALUES: usize = 8;

/// What a step is called that no pass told of.
const REST: &str = "the rest of what the pass did";

/// A recording under construction, as whoever started it holds it.
#[derive(Debug)]
pub(super) struct Recorder(Arc<Mutex<State>>);

/// Records what is done from now on.
pub(super) fn record(actions: &mut Actions) -> Recorder {
    let state = Arc::new(Mutex::new(State::default()));
    actions.watch_by(Box::new(Watcher(Arc::clone(&state))));
    Recorder(state)
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// Another part of the file follows.
    pub(super) fn open(&self, input: &Input) {
        let mut state = locked(&self.0);
        let recording = std::mem::take(&mut state.recording);
        let has_begun = state.has_begun;
        let input = Input::new(&input.file, input.text.clone(), input.first_line);
        let n_looked = state.n_looked;
        *state = State { recording, has_begun, input: Some(input), n_looked, ..State::default() };
    }

    /// The page, or lines of JSON if the name of the file says so.
    pub(super) fn finish(self, file: &str, shown: &str) -> String {
        let state = locked(&self.0);
        let is_rows = std::path::Path::new(file).extension().is_some_and(|it| it == "jsonl");
        if is_rows { state.recording.rows() } else { state.recording.html(shown, "replay") }
    }
}

/// As the passes know it.
struct Watcher(Arc<Mutex<State>>);

impl Watch for Watcher {
    fn shown(&mut self, ir: &Ir, is_before: bool) {
        let mut state = locked(&self.0);
        if is_before {
            state.begin(ir);
        } else {
            let hunks = state.changes(ir);
            state.settle(hunks, REST);
            // There is nothing of this, but the law shall not stand on that.
            let hunks = state.all_changes(ir);
            state.settle(hunks, "what nobody noted");
        }
    }

    fn step(&mut self, ir: &Ir, step: &Step) {
        locked(&self.0).step(ir, step);
    }
}

/// An op as it was last printed.
#[derive(Debug, Default)]
struct Printed {
    fingerprint: u64,
    depth: usize,
    /// Lines before, between and behind its regions.
    pieces: Vec<Vec<Text>>,
    regions: Vec<ShownRegion>,
}

/// Lines of the program.
#[derive(Debug, Default)]
struct Rows {
    /// The op that each is part of, or the label.
    owners: Vec<Op>,
    lines: Vec<Text>,
}

impl Rows {
    fn push(&mut self, owner: Op, line: Text) {
        self.owners.push(owner);
        self.lines.push(line);
    }
}

#[derive(Debug, Default)]
struct State {
    recording: Recording,
    /// Whether a part of the file was begun.
    has_begun: bool,
    input: Option<Input>,
    lines: Lines,
    /// By op.
    printed: Vec<Printed>,
    labels: FxHashMap<Block, (u64, Text)>,
    /// Whose the lines are that the recording has.
    owners: Vec<Op>,
    /// How many changes of the program the lines have.
    n_seen: usize,
    pass: Text,
    /// Ops and blocks looked at so far.
    n_looked: usize,
}

impl State {
    fn begin(&mut self, ir: &Ir) {
        let now = self.program(ir);
        self.owners = now.owners;
        self.n_seen = ir.changes().map_or(0, <[_]>::len);
        if !self.has_begun {
            self.recording.begin(now.lines);
            self.has_begun = true;
            return;
        }
        let old = self.recording.now().to_vec();
        let what = self.recording.text("the next part of the file");
        let hunks = vec![Hunk { at: 0, old, new: now.lines }];
        self.recording.end(Recorded { what, hunks, ..Recorded::default() });
    }

    /// Records what was done and not told of, by these hunks: as a step of the pass that ran last.
    fn settle(&mut self, hunks: Vec<Hunk>, what: &str) {
        if !hunks.is_empty() {
            let what = self.recording.text(what);
            self.recording.end(Recorded { group: self.pass, what, hunks, ..Recorded::default() });
        }
    }

    fn step(&mut self, ir: &Ir, step: &Step) {
        if self.recording.is_full() || self.n_looked > MAX_LOOKED {
            // What is left is one step, at the end.
            self.recording.leave_out(1);
            return;
        }
        let is_begin = step.what.is_empty();
        let mut hunks = self.changes(ir);
        if is_begin {
            self.settle(std::mem::take(&mut hunks), REST);
        }
        self.pass = self.recording.text(&step.pass);
        let what = self.recording.text(if is_begin { "begins" } else { &step.what });
        let mut place = step.op.clone();
        if let (Some(origin), Some(input)) = (&step.origin, &self.input) {
            let line = input.place(origin.start.min(input.text.len())).0 + input.first_line;
            place += &format!(" (line {line} of the file)");
        }
        let place = self.recording.text(&place);
        let waiting = step.waiting.iter().map(|&it| self.first_line(ir, it)).collect();
        self.recording.step(Recorded {
            group: self.pass,
            what,
            place,
            hunks,
            waiting,
            n_waiting: step.n_waiting,
            ..Recorded::default()
        });
    }

    fn first_line(&mut self, ir: &Ir, op: Op) -> Text {
        let printed = self.printed.get(op.index());
        let first = printed.and_then(|it| it.pieces.first()?.first().copied());
        first.unwrap_or_else(|| self.recording.text(ir.op_name(op)))
    }

    /// How the lines changed since the last time, by what is noted of changes.
    fn changes(&mut self, ir: &Ir) -> Vec<Hunk> {
        match self.edits(ir) {
            Some(hunks) => hunks,
            None => self.all_changes(ir),
        }
    }

    /// How the lines changed since the last time, by all of them.
    fn all_changes(&mut self, ir: &Ir) -> Vec<Hunk> {
        let now = self.program(ir);
        self.owners = now.owners;
        hunks(&self.recording, 0, self.recording.now(), &now.lines)
    }

    /// The lines of the program.
    fn program(&mut self, ir: &Ir) -> Rows {
        let mut out = Rows::default();
        let region = ir.block(ir.top()).region;
        for op in ir.items(region).filter(|&it| ir.op(it).kind.is_op()) {
            self.op(ir, op, 0, op, &mut out);
        }
        out
    }

    /// Appends the lines of an op. `home` is the isolated op around.
    fn op(&mut self, ir: &Ir, op: Op, depth: usize, home: Op, out: &mut Rows) {
        let n_values = ir.op(op).operands.len() + ir.op(op).results.len();
        self.n_looked += 1 + n_values / FEW_VALUES;
        let fingerprint = fingerprint(ir, op, home);
        if self.printed.len() <= op.index() {
            self.printed.resize_with(op.index() + 1, Printed::default);
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
                self.n_looked += 1;
                if at > 0 || shown.has_label {
                    let line = self.label(ir, block, depth);
                    out.push(ir.block(block).label.unwrap_or(op), line);
                }
                for op in ir.block_ops(block).filter(|&it| Some(it) != shown.hidden) {
                    self.op(ir, op, depth + 1, inner, out);
                }
            }
        }
        self.printed[op.index()] = printed;
    }

    fn print(&mut self, ir: &Ir, op: Op, depth: usize, fingerprint: u64) -> Printed {
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
        Printed { fingerprint, depth, pieces, regions: shape.regions }
    }

    fn label(&mut self, ir: &Ir, block: Block, depth: usize) -> Text {
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

/// A number that is another one where an op is printed otherwise, what stands in its regions left out.
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
        // Its header names arguments; it leaves out a terminator, a label, or an empty region.
        let first = ir.entry_block(region);
        (region, ir.has_labels(region), ir.only_block(region)).hash(&mut state);
        for &arg in &ir.block(first).args {
            (arg, ir.value(arg).ty).hash(&mut state);
        }
        ir.block(first).preds.is_empty().hash(&mut state);
        // Only one that says nothing is left out.
        let says_nothing =
            |it: &Op| ir.op(*it).operands.is_empty() && ir.extra(*it).successors.is_empty();
        ir.last_op(first).filter(says_nothing).hash(&mut state);
    }
    state.finish()
}

/// How lines from one on became others.
fn hunks(recording: &Recording, start: usize, old: &[Text], new: &[Text]) -> Vec<Hunk> {
    let same = old.iter().zip(new).take_while(|it| it.0 == it.1).count();
    let (a, b) = (&old[same..], &new[same..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|it| it.0 == it.1).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let texts = |of: &[Text]| of.iter().map(|&it| recording.str(it)).collect::<Vec<_>>();
    let changes = diff::changes(&texts(a), &texts(b));
    let hunk = |it: diff::Change| Hunk {
        at: start + same + it.before.start,
        old: a[it.before].to_vec(),
        new: b[it.after].to_vec(),
    };
    changes.into_iter().map(hunk).collect()
}
