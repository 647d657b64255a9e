//! Ops that an edit affects, in the order of their visits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::FxHashSet;

/// Position of a visit in program order: the offset in the text; at equal offsets, ends precede
/// starts, and inner ends precede outer ones.
type Position = (usize, bool, Reverse<usize>);

/// Ops and ends of ops to visit, in program order, and values whose users are not queued yet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<(Position, Op)>>,
    /// The ops in the heap, each with true for its start or false for its end.
    queued: FxHashSet<(Op, bool)>,
    /// Values whose facts changed and whose users are not queued yet.
    pub(super) dirty: Vec<Value>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Queues the start of an op.
    pub(super) fn push_start(&mut self, ir: &Ir, op: Op) {
        if self.queued.insert((op, true)) {
            let position = (ir.start(op), true, Reverse(0));
            self.heap.push(Reverse((position, op)));
        }
    }

    /// Queues the end of an op with regions.
    pub(super) fn push_end(&mut self, ir: &Ir, op: Op) {
        if self.queued.insert((op, false)) {
            let start = ir.start(op);
            let position = (start + ir.item_len(op), false, Reverse(start));
            self.heap.push(Reverse((position, op)));
        }
    }

    /// Removes and returns the first op, with true for its start or false for its end.
    pub(super) fn pop(&mut self) -> Option<(Op, bool)> {
        let Reverse(((_, is_start, _), op)) = self.heap.pop()?;
        self.queued.remove(&(op, is_start));
        Some((op, is_start))
    }

    /// Removes the ops for which `keeps` returns false.
    pub(super) fn retain(&mut self, keeps: impl Fn(Op) -> bool) {
        let queued = &mut self.queued;
        self.heap.retain(|&Reverse(((_, is_start, _), op))| {
            let stays = keeps(op);
            if !stays {
                queued.remove(&(op, is_start));
            }
            stays
        });
    }
}
