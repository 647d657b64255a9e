//! The worklist of ops: a stack without duplicates.
//!
//! *Law.* An op is on the stack at most once. *Cost.* Each operation is O(1).

use noisy_syntax::Op;

use crate::actions::MAX_LISTED_OPS;

const NOT_WAITING: u32 = u32::MAX;

/// A stack of ops without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Worklist {
    /// The waiting ops; `None` for removed ops.
    stack: Vec<Option<Op>>,
    /// The position in the stack, by index of the op.
    positions: Vec<u32>,
    /// Number of waiting ops.
    n: usize,
}

impl Worklist {
    /// Pushes an op unless it is already waiting.
    pub(crate) fn push(&mut self, op: Op) {
        if self.positions.len() <= op.index() {
            self.positions.resize(op.index() + 1, NOT_WAITING);
        }
        let place = &mut self.positions[op.index()];
        if *place == NOT_WAITING {
            *place = self.stack.len() as u32;
            self.stack.push(Some(op));
            self.n += 1;
        }
    }

    /// Pops the op on top.
    pub(crate) fn pop(&mut self) -> Option<Op> {
        loop {
            if let Some(op) = self.stack.pop()? {
                self.positions[op.index()] = NOT_WAITING;
                self.n -= 1;
                return Some(op);
            }
        }
    }

    /// Returns the next few ops, and the number of waiting ops.
    pub(crate) fn waiting(&self) -> (Vec<Op>, usize) {
        (self.stack.iter().rev().flatten().take(MAX_LISTED_OPS).copied().collect(), self.n)
    }

    /// Removes an op.
    pub(crate) fn remove(&mut self, op: Op) {
        if let Some(place) = self.positions.get_mut(op.index())
            && *place != NOT_WAITING
        {
            self.stack[*place as usize] = None;
            *place = NOT_WAITING;
            self.n -= 1;
        }
    }

    /// Removes all ops.
    pub(crate) fn clear(&mut self) {
        for op in self.stack.drain(..).flatten() {
            self.positions[op.index()] = NOT_WAITING;
        }
        self.n = 0;
    }

    /// Reverses the stack.
    pub(crate) fn reverse(&mut self) {
        self.stack.reverse();
        for (place, op) in self.stack.iter().enumerate() {
            if let Some(op) = op {
                self.positions[op.index()] = place as u32;
            }
        }
    }
}
