//! Ops that wait for their turn: a stack without repetitions.
//!
//! *Law.* An op is in it at most once; what was taken out does not come back by itself. *Cost.* Each step is O(1).

use noisy_syntax::Op;

use crate::actions::WAITING;

const OUT: u32 = u32::MAX;

/// A stack of ops without repetitions.
#[derive(Debug, Default)]
pub(crate) struct Worklist {
    /// The waiting ops; holes are `None`.
    stack: Vec<Option<Op>>,
    /// By the index of the op: its place in the stack.
    places: Vec<u32>,
    /// How many ops wait.
    n: usize,
}

impl Worklist {
    /// Puts an op on top, unless it waits already.
    pub(crate) fn push(&mut self, op: Op) {
        if self.places.len() <= op.index() {
            self.places.resize(op.index() + 1, OUT);
        }
        let place = &mut self.places[op.index()];
        if *place == OUT {
            *place = self.stack.len() as u32;
            self.stack.push(Some(op));
            self.n += 1;
        }
    }

    /// Takes the op on top.
    pub(crate) fn pop(&mut self) -> Option<Op> {
        loop {
            if let Some(op) = self.stack.pop()? {
                self.places[op.index()] = OUT;
                self.n -= 1;
                return Some(op);
            }
        }
    }

    /// The next few ops, and how many wait.
    pub(crate) fn next(&self) -> (Vec<Op>, usize) {
        (self.stack.iter().rev().flatten().take(WAITING).copied().collect(), self.n)
    }

    /// Forgets an op.
    pub(crate) fn remove(&mut self, op: Op) {
        if let Some(place) = self.places.get_mut(op.index())
            && *place != OUT
        {
            self.stack[*place as usize] = None;
            *place = OUT;
            self.n -= 1;
        }
    }

    /// Forgets all ops.
    pub(crate) fn clear(&mut self) {
        for op in self.stack.drain(..).flatten() {
            self.places[op.index()] = OUT;
        }
        self.n = 0;
    }

    /// Turns the stack over.
    pub(crate) fn reverse(&mut self) {
        self.stack.reverse();
        for (place, op) in self.stack.iter().enumerate() {
            if let Some(op) = op {
                self.places[op.index()] = place as u32;
            }
        }
    }
}
