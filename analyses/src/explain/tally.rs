//! The run-time cost of a function or a `secret.generic`: depth, levels, operations of the scheme,
//! keys and time.
//!
//! *Law.* Each number is a sum or a maximum over the ops, so it does not depend on their order.
//! Unknown numbers are marked: a count without executions, incomplete keys and time, an absent
//! depth or level. Both branches of a condition count. The body of a callee is not counted; the
//! time is then incomplete. *Cost.* Constant for each op and each enclosing loop.

use std::collections::BTreeSet;

use noisy_syntax::{AttrData, Ir, Op, OpKind, Value};

use crate::program::depth::Depth;
use noisy_dataflow::flow::Flow;
use noisy_heir::{
    Ciphertext, CiphertextFacts, Level, OperationLatency, SchemeOperation, is_row_swap,
};
use noisy_integers::Integers;

/// The number of ops of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpCount {
    /// Number of ops in the text.
    pub n_written: u64,
    /// Maximum number of executions per execution of the holder; `None` if the trip count of an
    /// enclosing loop is unknown.
    pub n_executed: Option<u64>,
}

impl OpCount {
    const NONE: OpCount = OpCount { n_written: 0, n_executed: Some(0) };

    fn add(&mut self, times: Option<u64>) {
        self.n_written += 1;
        self.n_executed = self.n_executed.zip(times).map(|(a, b)| a.saturating_add(b));
    }
}

/// The evaluation keys that an execution needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvaluationKeys {
    /// True if a relinearization key is needed.
    pub needs_relinearization: bool,
    /// The distances for which rotation keys are needed, as in the text.
    pub rotation_steps: BTreeSet<i64>,
    /// True if a key to swap rows is needed.
    pub needs_row_swap: bool,
    /// True if further keys are needed, for rotations by unknown distances or distances that HEIR
    /// chooses later.
    pub needs_others: bool,
}

/// A sum of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencySum {
    /// The sum in microseconds.
    pub microseconds: u64,
    /// True if the sum covers all ops and all their executions.
    pub is_complete: bool,
}

/// The accumulated cost of the ops of a function or a generic, to which a caller adds ops and
/// values.
#[derive(Clone, Debug)]
pub struct CostTally {
    holder: Op,
    counts: [OpCount; SchemeOperation::ALL.len()],
    keys: EvaluationKeys,
    depth: Depth,
    levels: Option<u32>,
    /// The first ciphertext that was added.
    ciphertext: Option<Value>,
    /// True if an op without a latency was added.
    has_others: bool,
}

impl CostTally {
    /// Creates an empty tally of the regions of an op.
    pub fn new(holder: Op) -> Self {
        Self {
            holder,
            counts: [OpCount::NONE; SchemeOperation::ALL.len()],
            keys: EvaluationKeys::default(),
            depth: Depth::Bottom,
            levels: Some(0),
            ciphertext: None,
            has_others: false,
        }
    }

    /// The op whose regions are counted.
    pub fn holder(&self) -> Op {
        self.holder
    }

    /// Adds an argument of a block or a result of an op.
    pub fn add_value(&mut self, ir: &Ir, heir: &CiphertextFacts, depth: Depth, value: Value) {
        let level = match heir.ciphertext(value) {
            Ciphertext::Encrypted { level, .. } => Some(level),
            // The value may be a ciphertext of any level.
            Ciphertext::Unknown => None,
            Ciphertext::Plain | Ciphertext::Bottom => return,
        };
        if level.is_some() {
            self.ciphertext = self.ciphertext.or(Some(value));
        }
        self.depth = self.depth.max(depth);
        self.levels = match level {
            Some(Level::Used(_) | Level::All) => {
                self.levels.zip(heir.level(ir, value)).map(|(a, b)| a.max(b))
            }
            _ => None,
        };
    }

    /// Adds an op without its regions.
    pub fn add_op(&mut self, ir: &Ir, integers: &Integers, heir: &CiphertextFacts, op: Op) {
        let data = ir.op(op);
        let secret = |it: Value| {
            matches!(heir.ciphertext(it), Ciphertext::Encrypted { .. } | Ciphertext::Unknown)
        };
        if !data.kind.is_op() || !data.results.iter().any(|&it| secret(it)) {
            return;
        }
        if !data.regions.is_empty() {
            self.has_others |= Flow::of(ir, op) == Flow::Opaque;
            return;
        }
        if data.kind == OpKind::FuncCall {
            self.has_others = true;
            self.keys.needs_others = true;
            return;
        }
        let Some(work) = SchemeOperation::of(ir, heir, op) else {
            self.has_others = true;
            let name = ir.op_name(op);
            self.keys.needs_others |=
                ["linalg.", "kernel.", "tensor_ext."].iter().any(|it| name.starts_with(it));
            return;
        };
        let Some(at) = SchemeOperation::ALL.iter().position(|it| *it == work) else { return };
        self.counts[at].add(self.times(ir, integers, op));
        match work {
            SchemeOperation::Relinearize => self.keys.needs_relinearization = true,
            SchemeOperation::Rotate if is_row_swap(ir.op_name(op)) => {
                self.keys.needs_row_swap = true;
            }
            SchemeOperation::Rotate => match step(ir, integers, heir, op) {
                // A rotation by 0 needs no key.
                Some(0) => {}
                Some(step) => {
                    self.keys.rotation_steps.insert(step);
                }
                None => self.keys.needs_others = true,
            },
            _ => {}
        }
    }

    /// Returns the number of executions of an op per execution of the holder.
    fn times(&self, ir: &Ir, integers: &Integers, op: Op) -> Option<u64> {
        let mut times = 1_u64;
        let mut at = op;
        while let Some(around) = ir.parent_op(at).filter(|&it| it != self.holder) {
            if Flow::of(ir, around).is_loop() {
                times = times.saturating_mul(integers.trip_count(ir, around)?);
            }
            at = around;
        }
        Some(times)
    }

    /// The first ciphertext that was added.
    pub fn ciphertext(&self) -> Option<Value> {
        self.ciphertext
    }

    /// The largest number of products on a path to a value.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The largest number of levels that a ciphertext has used; `None` if the level of a ciphertext
    /// is unknown.
    pub fn levels(&self) -> Option<u32> {
        self.levels
    }

    /// Returns the number of ops of a kind.
    pub fn count(&self, work: SchemeOperation) -> OpCount {
        let at = SchemeOperation::ALL.iter().position(|it| *it == work);
        at.map_or(OpCount::NONE, |it| self.counts[it])
    }

    /// The keys that are needed.
    pub fn keys(&self) -> &EvaluationKeys {
        &self.keys
    }

    /// Returns the time of a sequential execution according to a table of latencies. A loop with an
    /// unknown trip count counts as one iteration.
    pub fn cost(&self, table: &OperationLatency) -> LatencySum {
        let mut out = LatencySum { microseconds: 0, is_complete: !self.has_others };
        for (work, count) in SchemeOperation::ALL.iter().zip(&self.counts) {
            out.is_complete &= count.n_executed.is_some();
            let n = count.n_executed.unwrap_or(count.n_written);
            let time = n.saturating_mul(work.latency(table).into());
            out.microseconds = out.microseconds.saturating_add(time);
        }
        out
    }
}

/// Returns the distance of a rotation, if it is a known constant.
fn step(ir: &Ir, integers: &Integers, heir: &CiphertextFacts, op: Op) -> Option<i64> {
    if let Some(attr) = ir.attr(op, "static_shift") {
        return match ir.interner.attr_data(attr) {
            AttrData::Int { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        };
    }
    // The distance is the last operand. It follows the ciphertext and, in the dialects of
    // libraries, other parameters.
    let value = ir.op(op).operands.last()?.value?;
    if heir.ciphertext(value) != Ciphertext::Plain || ir.op(op).operands.len() < 2 {
        return None;
    }
    i64::try_from(integers.constant(ir, value).int()?).ok()
}

#[cfg(test)]
mod tests;
