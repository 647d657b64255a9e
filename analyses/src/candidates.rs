//! Ops that some check must look at, found op by op as they come and go, so that no check walks the program.
//!
//! Each set holds at least the ops it is about. Whether there is something to say is decided when diagnostics are asked for: a value
//! that gained a use, for one, is not told of.

use noisy_syntax::{Def, Delta, Ir, Op, OpKind, Region, Traits};
use rustc_hash::FxHashSet;

use crate::contract;
use crate::flow::{self, Flow};

/// The candidates of a document.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Pure ops none of whose results is used.
    pub(crate) idle: FxHashSet<Op>,
    /// Functions that state a bound on noise, and those without a body.
    pub(crate) bound: FxHashSet<Op>,
    /// Where control may stop short: labels, and ops that choose whether to run a region.
    pub(crate) forks: FxHashSet<Op>,
    /// Ops that an operand tells where control goes.
    pub(crate) decided: FxHashSet<Op>,
}

impl Candidates {
    /// Those of a whole document.
    pub(crate) fn new(ir: &Ir) -> Self {
        let mut it = Self::default();
        it.add_all(ir, ir.root());
        it
    }

    /// Takes in an edit.
    pub(crate) fn update(&mut self, ir: &Ir, delta: &Delta) {
        for &op in &delta.removed {
            self.remove(op);
        }
        for &op in &delta.changed {
            self.remove(op);
            self.add(ir, op);
        }
        for &value in &delta.idle {
            if let Def::Result(op, _) = ir.value(value).def
                && ir.is_alive(op)
            {
                self.add(ir, op);
            }
        }
    }

    fn remove(&mut self, op: Op) {
        for set in [&mut self.idle, &mut self.bound, &mut self.forks, &mut self.decided] {
            if !set.is_empty() {
                set.remove(&op);
            }
        }
    }

    fn add_all(&mut self, ir: &Ir, region: Region) {
        for op in ir.items(region) {
            self.add(ir, op);
            for &(_, inner) in &ir.op(op).regions {
                self.add_all(ir, inner);
            }
        }
    }

    fn add(&mut self, ir: &Ir, op: Op) {
        let data = ir.op(op);
        if is_idle(ir, op) {
            self.idle.insert(op);
        }
        if flow::decider(ir, op).is_some() {
            self.decided.insert(op);
        }
        match data.kind {
            OpKind::Label => {
                self.forks.insert(op);
            }
            OpKind::FuncFunc => {
                if data.regions.is_empty() || contract::is_stated(ir, op) {
                    self.bound.insert(op);
                }
            }
            _ if data.regions.is_empty() => {}
            _ => {
                if Flow::of(ir, op) == Flow::Choice || Flow::of(ir, op).is_loop() {
                    self.forks.insert(op);
                }
            }
        }
    }
}

/// Whether an op does nothing besides giving results, and none of them is used.
pub(crate) fn is_idle(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    !data.results.is_empty()
        && data.kind.is_pure()
        && !data.kind.has(Traits::TERMINATOR)
        && data.regions.is_empty()
        && data.results.iter().all(|&it| ir.value(it).uses.is_empty())
}
