//! Which lines a step changes, by what is noted of changes ([`Ir::changes`]).
//!
//! An op whose operands or attributes changed is printed where it stood; one that was put somewhere, or taken out, goes with all of its lines,
//! and comes, if it is alive, behind the item before it. An op around whose own lines are others now, because of what stands in it, is
//! printed anew with all that is in it. *Cost.* The ops that are printed, and for each one pass over the list of whose lines there are. Where
//! many ops changed, or one is not where it is looked for, the whole program is looked at instead.

use noisy_page::recording::Hunk;
use noisy_syntax::{Ir, Op, OpKind, Region, Traits};
use rustc_hash::FxHashMap;

use super::{Rows, State, fingerprint, hunks};

/// Of more changed ops than this, the whole program is looked at.
const MOST: usize = 48;

/// A list is looked through in the time in which so few of its entries are looked at as ops.
const LISTED: usize = 128;

/// Lines, of the program before a step, in whose place others stand.
struct Edit {
    start: usize,
    end: usize,
    new: Rows,
}

/// What becomes of the lines of an op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// They are printed anew where they stand.
    Stays,
    /// They go, and come elsewhere if the op is alive.
    Moves,
}

impl State {
    /// How the lines changed since the last time; `None`: all have to be looked at.
    pub(super) fn edits(&mut self, ir: &Ir) -> Option<Vec<Hunk>> {
        let changes = ir.changes()?;
        let from = std::mem::replace(&mut self.n_seen, changes.len());
        let changes = changes.get(from..)?;
        if changes.is_empty() {
            return Some(Vec::new());
        }
        let mut fates: FxHashMap<Op, Fate> = FxHashMap::default();
        let mut around: Vec<Op> = Vec::new();
        for it in changes {
            let fate = fates.entry(it.op).or_insert(Fate::Stays);
            if it.is_placed {
                *fate = Fate::Moves;
            }
            around.extend(ir.region(it.region).parent);
            if fates.len() > MOST {
                return None;
            }
        }
        around.sort_unstable_by_key(|it| it.index());
        around.dedup();
        for op in around {
            if !ir.is_alive(op) || !ir.op(op).kind.is_op() || fates.contains_key(&op) {
                continue;
            }
            self.n_looked += 1;
            let printed = self.printed.get(op.index())?;
            if printed.fingerprint != fingerprint(ir, op, home(ir, op)) {
                fates.insert(op, Fate::Stays);
            }
        }
        let mut ops: Vec<(Op, Fate)> = fates.iter().map(|it| (*it.0, *it.1)).collect();
        // In each region in order: an op comes behind the one before it.
        ops.sort_by_cached_key(|&(op, _)| {
            let place = ir.is_alive(op).then(|| (ir.op(op).parent.index(), ir.rank(op)));
            (place, op.index())
        });
        let mut edits: Vec<Edit> = Vec::new();
        let mut put: FxHashMap<Op, usize> = FxHashMap::default();
        for (op, fate) in ops {
            let old = self.lines_of(op);
            let is_alive = ir.is_alive(op);
            let comes_with_another = is_alive && is_within(ir, op, &fates);
            if fate == Fate::Moves || !is_alive {
                edits.extend(old.map(|(start, end)| Edit { start, end, new: Rows::default() }));
            }
            if !is_alive || comes_with_another || self.goes_without_saying(ir, op) {
                continue;
            }
            let (start, end) = match fate {
                Fate::Stays => old?,
                Fate::Moves => {
                    let at = self.place(ir, op, &fates, &put)?;
                    put.insert(op, at);
                    (at, at)
                }
            };
            let mut new = Rows::default();
            self.item(ir, op, &mut new)?;
            edits.push(Edit { start, end, new });
        }
        Some(self.hunks_of(edits))
    }

    /// The hunks of edits; the owners of the lines are theirs from now on.
    fn hunks_of(&mut self, mut edits: Vec<Edit>) -> Vec<Hunk> {
        // What comes at a place stands before what is in the place of the lines there.
        edits.sort_by_key(|it| (it.start, it.end));
        let mut joined: Vec<Edit> = Vec::new();
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
            let old = &self.recording.now()[it.start..it.end];
            out.extend(hunks(&self.recording, it.start, old, &it.new.lines));
        }
        for it in joined.into_iter().rev() {
            self.owners.splice(it.start..it.end, it.new.owners);
        }
        out
    }

    /// The lines of an op, with all that is in it, or of a label, as they were.
    fn lines_of(&mut self, op: Op) -> Option<(usize, usize)> {
        self.n_looked += 1 + self.owners.len() / LISTED;
        let start = self.owners.iter().position(|&it| it == op)?;
        let end = self.owners.iter().rposition(|&it| it == op)? + 1;
        Some((start, end))
    }

    /// Where an item comes that has no lines: behind the one before it, or first in its region.
    fn place(
        &mut self,
        ir: &Ir,
        op: Op,
        fates: &FxHashMap<Op, Fate>,
        put: &FxHashMap<Op, usize>,
    ) -> Option<usize> {
        if let Some(prev) = ir.prev(op) {
            if let Some(&at) = put.get(&prev) {
                return Some(at);
            }
            let has_moved = fates.get(&prev) == Some(&Fate::Moves);
            match self.lines_of(prev).filter(|_| !has_moved) {
                Some((_, end)) => return Some(end),
                // The label of the first block.
                None if ir.op(prev).kind == OpKind::Label && ir.prev(prev).is_none() => {}
                None => return None,
            }
        }
        let region = ir.op(op).parent;
        let Some(parent) = holder(ir, region) else { return Some(0) };
        let printed = self.printed.get(parent.index())?;
        let at = printed.regions.iter().position(|it| it.region == region)?;
        let n = printed.pieces[..=at].iter().map(Vec::len).sum::<usize>();
        self.n_looked += 1 + self.owners.len() / LISTED;
        let mut own = self.owners.iter().enumerate().filter(|it| *it.1 == parent);
        own.nth(n.checked_sub(1)?).map(|it| it.0 + 1)
    }

    /// Whether an item has no line of its own where it stands: a terminator or a label that is left out.
    fn goes_without_saying(&self, ir: &Ir, op: Op) -> bool {
        let region = ir.op(op).parent;
        let printed = holder(ir, region).and_then(|it| self.printed.get(it.index()));
        let shown = printed.and_then(|it| it.regions.iter().find(|it| it.region == region));
        shown.is_some_and(|it| {
            it.hidden == Some(op)
                || !it.has_label && ir.op(op).kind == OpKind::Label && ir.prev(op).is_none()
        })
    }

    /// Appends the lines of an op, or of a label.
    fn item(&mut self, ir: &Ir, op: Op, out: &mut Rows) -> Option<()> {
        let depth = match holder(ir, ir.op(op).parent) {
            Some(around) => self.printed.get(around.index())?.depth + 1,
            None => 0,
        };
        if ir.op(op).kind == OpKind::Label {
            // It stands where the op around does.
            let line = self.label(ir, ir.label_block(op), depth.checked_sub(1)?);
            out.push(op, line);
        } else {
            self.op(ir, op, depth, home(ir, op), out);
        }
        Some(())
    }
}

/// The op that holds a region; `None` at the top.
fn holder(ir: &Ir, region: Region) -> Option<Op> {
    ir.region(region).parent.filter(|&it| ir.op(it).kind.is_op())
}

/// The isolated op around an op, or the outermost one.
fn home(ir: &Ir, op: Op) -> Op {
    let mut at = op;
    while let Some(around) = holder(ir, ir.op(at).parent) {
        at = around;
        if ir.op(at).kind.has(Traits::ISOLATED) {
            break;
        }
    }
    at
}

/// Whether an op stands in one of these.
fn is_within(ir: &Ir, op: Op, ops: &FxHashMap<Op, Fate>) -> bool {
    let mut at = op;
    while let Some(around) = holder(ir, ir.op(at).parent) {
        if ops.contains_key(&around) {
            return true;
        }
        at = around;
    }
    false
}
