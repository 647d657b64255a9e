//! The lines that a step changes, computed from the recorded changes ([`Ir::changes`]).
//!
//! An op with changed operands or attributes is printed again in place. For an op that was
//! inserted, moved or erased, the old lines are removed; if it is alive, it is printed after the
//! previous item. An enclosing op is printed completely if its own lines changed. *Cost.* Linear in
//! the printed ops, plus a pass over the owners of all lines for each. If many ops changed, or an
//! op is not at its expected position, the whole program is compared.

use noisy_page::recording::Hunk;
use noisy_syntax::{Ir, Op, OpKind, Region, Traits};
use rustc_hash::FxHashMap;

use super::{ProgramLines, ReplayState, fingerprint, hunks};

/// Maximum number of changed ops. With more, the whole program is compared.
const MAX_CHANGED_OPS: usize = 48;

/// Number of list entries that are scanned in the time of one visit of an op.
const ENTRIES_PER_VISIT: usize = 128;

/// A range of lines of the program before a step, and its replacement.
struct LineEdit {
    start: usize,
    end: usize,
    new: ProgramLines,
}

/// The way in which the lines of an op change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineChange {
    /// The lines are printed again in place.
    Stays,
    /// The lines are removed, and printed elsewhere if the op is alive.
    Moves,
}

impl ReplayState {
    /// Returns the changes of lines since the last call. `None` if the whole program must be
    /// compared.
    pub(super) fn changed_hunks(&mut self, ir: &Ir) -> Option<Vec<Hunk>> {
        let changes = ir.changes()?;
        let from = std::mem::replace(&mut self.n_seen, changes.len());
        let changes = changes.get(from..)?;
        if changes.is_empty() {
            return Some(Vec::new());
        }
        let mut fates: FxHashMap<Op, LineChange> = FxHashMap::default();
        let mut around: Vec<Op> = Vec::new();
        for it in changes {
            let fate = fates.entry(it.op).or_insert(LineChange::Stays);
            if it.is_structural {
                *fate = LineChange::Moves;
            }
            around.extend(ir.region(it.region).parent);
            if fates.len() > MAX_CHANGED_OPS {
                return None;
            }
        }
        around.sort_unstable_by_key(|it| it.index());
        around.dedup();
        for op in around {
            if !ir.is_alive(op) || !ir.op(op).kind.is_op() || fates.contains_key(&op) {
                continue;
            }
            self.n_visits += 1;
            let printed = self.printed.get(op.index())?;
            if printed.fingerprint != fingerprint(ir, op, enclosing_isolated(ir, op)) {
                fates.insert(op, LineChange::Stays);
            }
        }
        let mut ops: Vec<(Op, LineChange)> = fates.iter().map(|it| (*it.0, *it.1)).collect();
        // In program order in each region, because an op is inserted after the previous one.
        ops.sort_by_cached_key(|&(op, _)| {
            let place = ir.is_alive(op).then(|| (ir.op(op).parent.index(), ir.rank(op)));
            (place, op.index())
        });
        let mut edits: Vec<LineEdit> = Vec::new();
        let mut put: FxHashMap<Op, usize> = FxHashMap::default();
        for (op, fate) in ops {
            let old = self.lines_of(op);
            let is_alive = ir.is_alive(op);
            let comes_with_another = is_alive && is_within(ir, op, &fates);
            if fate == LineChange::Moves || !is_alive {
                edits.extend(old.map(|(start, end)| LineEdit {
                    start,
                    end,
                    new: ProgramLines::default(),
                }));
            }
            if !is_alive || comes_with_another || self.is_implicit(ir, op) {
                continue;
            }
            let (start, end) = match fate {
                LineChange::Stays => old?,
                LineChange::Moves => {
                    let at = self.insertion_line(ir, op, &fates, &put)?;
                    put.insert(op, at);
                    (at, at)
                }
            };
            let mut new = ProgramLines::default();
            self.append_item(ir, op, &mut new)?;
            edits.push(LineEdit { start, end, new });
        }
        Some(self.hunks_of(edits))
    }

    /// Converts edits to hunks, and updates the owners of lines.
    fn hunks_of(&mut self, mut edits: Vec<LineEdit>) -> Vec<Hunk> {
        // Insertions at a position come before replacements at the same position.
        edits.sort_by_key(|it| (it.start, it.end));
        let mut joined: Vec<LineEdit> = Vec::new();
        for it in edits {
            match joined.last_mut().filter(|last| it.start <= last.end) {
                Some(last) => {
                    last.end = last.end.max(it.end);
                    last.new.owners.extend(it.new.owners);
                    last.new.lines.extend(it.new.lines);
                }
                None => joined.push(it),
            }
        }
        let mut out = Vec::new();
        for it in &joined {
            let old = &self.recording.current_program()[it.start..it.end];
            out.extend(hunks(&self.recording, it.start, old, &it.new.lines));
        }
        for it in joined.into_iter().rev() {
            self.owners.splice(it.start..it.end, it.new.owners);
        }
        out
    }

    /// Returns the range of the old lines of an op with its regions, or of a label.
    fn lines_of(&mut self, op: Op) -> Option<(usize, usize)> {
        self.n_visits += 1 + self.owners.len() / ENTRIES_PER_VISIT;
        let start = self.owners.iter().position(|&it| it == op)?;
        let end = self.owners.iter().rposition(|&it| it == op)? + 1;
        Some((start, end))
    }

    /// Returns the position at which an item without lines is inserted: after the previous item, or
    /// at the start of its region.
    fn insertion_line(
        &mut self,
        ir: &Ir,
        op: Op,
        fates: &FxHashMap<Op, LineChange>,
        put: &FxHashMap<Op, usize>,
    ) -> Option<usize> {
        if let Some(prev) = ir.prev(op) {
            if let Some(&at) = put.get(&prev) {
                return Some(at);
            }
            let has_moved = fates.get(&prev) == Some(&LineChange::Moves);
            match self.lines_of(prev).filter(|_| !has_moved) {
                Some((_, end)) => return Some(end),
                // The previous item is the label of the entry block.
                None if ir.op(prev).kind == OpKind::Label && ir.prev(prev).is_none() => {}
                None => return None,
            }
        }
        let region = ir.op(op).parent;
        let Some(parent) = owner_of(ir, region) else { return Some(0) };
        let printed = self.printed.get(parent.index())?;
        let at = printed.regions.iter().position(|it| it.region == region)?;
        let n = printed.pieces[..=at].iter().map(Vec::len).sum::<usize>();
        self.n_visits += 1 + self.owners.len() / ENTRIES_PER_VISIT;
        let mut own = self.owners.iter().enumerate().filter(|it| *it.1 == parent);
        own.nth(n.checked_sub(1)?).map(|it| it.0 + 1)
    }

    /// Returns true if an item has no line of its own: an implicit terminator or label.
    fn is_implicit(&self, ir: &Ir, op: Op) -> bool {
        let region = ir.op(op).parent;
        let printed = owner_of(ir, region).and_then(|it| self.printed.get(it.index()));
        let shown = printed.and_then(|it| it.regions.iter().find(|it| it.region == region));
        shown.is_some_and(|it| {
            it.omitted_terminator == Some(op)
                || !it.has_label && ir.op(op).kind == OpKind::Label && ir.prev(op).is_none()
        })
    }

    /// Appends the lines of an op, or of a label.
    fn append_item(&mut self, ir: &Ir, op: Op, out: &mut ProgramLines) -> Option<()> {
        let depth = match owner_of(ir, ir.op(op).parent) {
            Some(around) => self.printed.get(around.index())?.depth + 1,
            None => 0,
        };
        if ir.op(op).kind == OpKind::Label {
            // A label has the indentation of the enclosing op.
            let line = self.label(ir, ir.label_block(op), depth.checked_sub(1)?);
            out.push(op, line);
        } else {
            self.append_op(ir, op, depth, enclosing_isolated(ir, op), out);
        }
        Some(())
    }
}

/// Returns the op that has a region; `None` for the top region.
fn owner_of(ir: &Ir, region: Region) -> Option<Op> {
    ir.region(region).parent.filter(|&it| ir.op(it).kind.is_op())
}

/// Returns the nearest enclosing op that is isolated from above, or else the outermost op.
fn enclosing_isolated(ir: &Ir, op: Op) -> Op {
    let mut at = op;
    while let Some(around) = owner_of(ir, ir.op(at).parent) {
        at = around;
        if ir.op(at).kind.has(Traits::ISOLATED) {
            break;
        }
    }
    at
}

/// Returns true if an op is inside one of the given ops.
fn is_within(ir: &Ir, op: Op, ops: &FxHashMap<Op, LineChange>) -> bool {
    let mut at = op;
    while let Some(around) = owner_of(ir, ir.op(at).parent) {
        if ops.contains_key(&around) {
            return true;
        }
        at = around;
    }
    false
}
