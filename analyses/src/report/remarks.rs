//! Remarks: ops that a pass would change, which lints report.
//!
//! *Law.* The remarks of a function depend only on its ops and their known constants; after any
//! edits they equal those from scratch. A function with an opaque op or an undefined name has no
//! remarks: its uses are unknown. *Cost.* None before the first query. Then linear in the size of
//! each function, times the depth of nested regions. An edit drops only the remarks of functions
//! that it touches or whose constants it changes.

mod buffers;
mod dead_store;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::OnceLock;

use noisy_syntax::{Delta, Form, Ir, Op, OpKind, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::effects;
use crate::facts::invariant;
use crate::facts::same::{DominanceWalk, WalkEvent};
use crate::facts::values;
use noisy_dataflow::sparse::ChangedValues;
use noisy_integers::Integers;
use noisy_integers::constant::Constant;

/// A remark on an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remark {
    /// The only result of the op is always this integer or float.
    FoldsToConstant(Constant),
    /// The op always computes the same value as this earlier op.
    SameValue(Op),
    /// The op computes the same value in each iteration of this enclosing loop, and may run before
    /// the loop.
    LoopInvariant(Op),
    /// The stored value is never read: this op overwrites it first, or (`None`) no op reads it.
    DeadStore(Option<Op>),
}

impl Remark {
    /// Returns the code of the lint that reports the remark.
    pub fn code(self) -> &'static str {
        match self {
            Remark::FoldsToConstant(_) => "folds-to-constant",
            Remark::SameValue(_) => "same-value",
            Remark::LoopInvariant(_) => "loop-invariant",
            Remark::DeadStore(_) => "dead-store",
        }
    }
}

/// The cached facts of a function.
#[derive(Debug, Default)]
struct FunctionRemarks {
    /// The remarks, sorted by op.
    remarks: OnceLock<Box<[(Op, Remark)]>>,
    /// Number of values of each name.
    names: OnceLock<FxHashMap<String, usize>>,
}

/// The remarks of a program.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// The facts of every function; empty until the first query.
    functions: OnceLock<FxHashMap<Op, FunctionRemarks>>,
}

impl Remarks {
    /// All remarks, in no particular order.
    pub(crate) fn all<'a>(
        &'a self,
        ir: &Ir,
        integers: &Integers,
    ) -> impl Iterator<Item = (Op, Remark)> + 'a {
        let functions = self.functions(ir);
        #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
        for (&function, its) in functions {
            its.remarks(ir, integers, function);
        }
        let made = functions.values().filter_map(|it| it.remarks.get());
        made.flat_map(|it| it.iter().copied())
    }

    /// Returns the remarks on an op.
    pub(crate) fn of(&self, ir: &Ir, integers: &Integers, op: Op) -> Vec<Remark> {
        let Some(function) = ir.function_of(op) else { return Vec::new() };
        let Some(its) = self.functions(ir).get(&function) else { return Vec::new() };
        let its = its.remarks(ir, integers, function);
        let first = its.partition_point(|it| it.0 < op);
        its[first..].iter().take_while(|it| it.0 == op).map(|it| it.1).collect()
    }

    /// Number of values of each name in a function.
    pub(crate) fn names(&self, ir: &Ir, function: Op) -> Option<&FxHashMap<String, usize>> {
        let its = self.functions(ir).get(&function)?;
        Some(its.names.get_or_init(|| names_in(ir, function)))
    }

    fn functions(&self, ir: &Ir) -> &FxHashMap<Op, FunctionRemarks> {
        let all =
            || ir.functions().into_iter().map(|it| (it, FunctionRemarks::default())).collect();
        self.functions.get_or_init(all)
    }

    /// Updates the remarks after an edit that replaced `range` by `len` bytes.
    pub(crate) fn update(
        &mut self,
        ir: &Ir,
        delta: &Delta,
        moved: &ChangedValues,
        range: &Range<usize>,
        len: usize,
    ) {
        let Some(functions) = self.functions.get_mut() else { return };
        let ChangedValues::These(moved) = moved else {
            self.functions = OnceLock::new();
            return;
        };
        for op in &delta.removed {
            functions.remove(op);
        }
        let sites =
            moved.iter().chain(&delta.unused_values).filter_map(|&it| ir.definition_site(it));
        let near = [range.start.saturating_sub(1), range.start, range.start + len];
        let near = near.into_iter().filter_map(|it| ir.item_at(it));
        let touched = delta.changed.iter().copied().chain(sites).chain(near);
        for op in touched.filter(|&it| ir.is_alive(it)) {
            if ir.op(op).kind != OpKind::FuncFunc {
                functions.remove(&op);
            }
            // A function with a nested function has no remarks; an edit may remove the nesting.
            let mut at = Some(op);
            while let Some(function) = at.and_then(|it| ir.function_of(it)) {
                functions.insert(function, FunctionRemarks::default());
                at = ir.parent_op(function);
            }
        }
    }
}

impl FunctionRemarks {
    /// Returns the remarks on a function, computed at the first call.
    fn remarks(&self, ir: &Ir, integers: &Integers, function: Op) -> &[(Op, Remark)] {
        self.remarks.get_or_init(|| {
            let mut made = RemarkBuilder::of(ir, integers, function);
            #[cfg(test)]
            VISITS.set(VISITS.get() + made.n_visits);
            made.remarks.sort_by_key(|it| it.0);
            made.remarks.into_boxed_slice()
        })
    }
}

#[cfg(test)]
thread_local! {
    /// Number of ops visited on this thread, for tests of work.
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The remarks computed so far.
#[derive(Debug, Default)]
struct RemarkBuilder {
    remarks: Vec<(Op, Remark)>,
    n_visits: usize,
}

impl RemarkBuilder {
    fn of(ir: &Ir, integers: &Integers, function: Op) -> Self {
        let mut it = Self::default();
        let mut ops = Vec::new();
        for &(_, region) in &ir.op(function).regions {
            ir.walk(region, &mut |op| ops.push(op));
        }
        it.n_visits += ops.len();
        if !ops.iter().all(|&it| is_understood(ir, it)) {
            return it;
        }
        let mut folded: FxHashSet<Op> = FxHashSet::default();
        for &op in &ops {
            if let Some(constant) = constant_of(ir, integers, op) {
                folded.insert(op);
                it.remarks.push((op, Remark::FoldsToConstant(constant)));
            }
        }
        it.add_invariant_ops(ir, &ops, &folded);
        it.add_equal_ops(ir, function, &folded);
        it.n_visits += dead_store::find(ir, function, &ops, &mut it.remarks);
        it
    }

    /// Adds the loop-invariant ops. An op that can leave an inner loop may then also leave an outer
    /// one.
    fn add_invariant_ops(&mut self, ir: &Ir, ops: &[Op], folded: &FxHashSet<Op>) {
        let mut moved: FxHashSet<Op> = FxHashSet::default();
        for &op in ops {
            let Some(of) = ir.parent_op(op).filter(|&it| invariant::is_loop(ir, it)) else {
                continue;
            };
            let leaves = ir.op(op).regions.is_empty()
                && !effects::is_trivially_dead(ir, op)
                && invariant::can_leave_loop(ir, op, of, &|it| moved.contains(&it));
            if leaves {
                moved.insert(op);
                if is_worth_remark(ir, op) && !folded.contains(&op) {
                    self.remarks.push((op, Remark::LoopInvariant(of)));
                }
            }
        }
    }

    /// Adds the ops that compute the same value as an earlier op.
    fn add_equal_ops(&mut self, ir: &Ir, function: Op, folded: &FxHashSet<Op>) {
        let mut numbers: FxHashMap<Value, Value> = FxHashMap::default();
        let mut walk = DominanceWalk::new(ir, function);
        while let Some(next) = walk.step() {
            let op = match next {
                WalkEvent::Op(op) => op,
                WalkEvent::Region(region) => {
                    walk.enter_region(ir, region);
                    continue;
                }
            };
            self.n_visits += 1;
            if ir.op(op).kind.has(Traits::TERMINATOR) {
                walk.enter_op(ir, op);
                continue;
            }
            if effects::is_trivially_dead(ir, op) {
                continue;
            }
            let number = |it: Value| numbers.get(&it).copied().unwrap_or(it);
            let Some(same) = walk.find_same(ir, op, &number) else {
                walk.enter_op(ir, op);
                continue;
            };
            for (&old, &new) in ir.op(op).results.iter().zip(&ir.op(same).results) {
                numbers.insert(old, new);
            }
            if is_worth_remark(ir, op) && !folded.contains(&op) {
                self.remarks.push((op, Remark::SameValue(same)));
            }
        }
    }
}

/// Number of values of each name in a function.
fn names_in(ir: &Ir, function: Op) -> FxHashMap<String, usize> {
    let mut out: FxHashMap<String, usize> = FxHashMap::default();
    let mut stack = vec![function];
    while let Some(op) = stack.pop() {
        let regions = ir.op(op).regions.iter().map(|it| it.1);
        let arguments = regions.clone().flat_map(|it| &ir.block(ir.region(it).entry).args);
        for &value in ir.op(op).results.iter().chain(arguments) {
            let name = ir.interner.str(ir.value(value).name);
            match out.get_mut(name) {
                Some(n) => *n += 1,
                None => {
                    out.insert(name.to_owned(), 1);
                }
            }
        }
        stack.extend(regions.flat_map(|it| ir.items(it)));
    }
    out
}

/// Returns true if an op is parsed without errors and all its operands are defined. Nested
/// functions are excluded.
fn is_understood(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    data.form != Form::Opaque
        && data.kind != OpKind::FuncFunc
        && !ir.is_broken(op)
        && data.operands.iter().all(|it| it.value.is_some())
}

/// Returns true if an unnecessary op is worth a remark. A constant is not: equal constants cost
/// nothing.
fn is_worth_remark(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    !data.kind.has(Traits::CONSTANT) && data.regions.is_empty()
}

/// Returns the constant integer or float that the only result of an op folds to; `None` for
/// constants and ops with effects.
fn constant_of(ir: &Ir, integers: &Integers, op: Op) -> Option<Constant> {
    let [value] = ir.op(op).results[..] else { return None };
    let constant = integers.constant(ir, value);
    let is_number = matches!(constant, Constant::Int(_) | Constant::Float(_));
    let is_scalar = values::element_type(ir, ir.value(value).ty).is_none();
    let is_plain = is_number
        && is_scalar
        && is_worth_remark(ir, op)
        && effects::is_free_of_effects(ir, op)
        && !effects::is_trivially_dead(ir, op);
    is_plain.then_some(constant)
}
