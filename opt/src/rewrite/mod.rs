//! The rewriter, through which all patterns and passes change a program, so that every change is
//! recorded.
//!
//! [`Rewriter`] wraps the changes of [`noisy_syntax::rewrite`]. As in MLIR's greedy driver, each
//! change pushes the ops that may now fold, match or be dead onto the worklist: the changed op, the
//! users of a replaced value, the defining ops of values that lost a use, and the enclosing ops.

pub mod constants;
mod cycles;
pub mod greedy;
pub mod regions;
mod worklist;

use noisy_integers::elements::ElementLists;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, Block, Def, Ir, Op, OpKind, Region, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use noisy_analyses::facts::values::{operand, operands};
use worklist::Worklist;

/// Changes a program and records the ops to visit again.
#[derive(Debug)]
pub struct Rewriter<'a> {
    /// The program, for reading. It is changed through the methods of the rewriter.
    pub ir: &'a mut Ir,
    /// The lists of elements of folded constants.
    pub lists: ElementLists,
    pub(crate) worklist: Worklist,
    /// The region that is rewritten. Ops outside of it are not visited.
    scope: Option<Region>,
    /// The blocks that were unreachable at the start of the iteration, if unreachable blocks are
    /// not erased.
    pub(crate) unreachable: FxHashSet<Block>,
    /// Number of changes.
    n_changes: usize,
    is_listening: bool,
}

impl<'a> Rewriter<'a> {
    /// Returns a rewriter without a worklist, for passes that walk the program themselves.
    pub fn new(ir: &'a mut Ir) -> Self {
        Self {
            ir,
            lists: ElementLists::default(),
            worklist: Worklist::default(),
            scope: None,
            unreachable: FxHashSet::default(),
            n_changes: 0,
            is_listening: false,
        }
    }

    /// Returns a rewriter with a worklist of the ops in a region.
    pub(crate) fn within(ir: &'a mut Ir, scope: Region) -> Self {
        Self { scope: Some(scope), is_listening: true, ..Self::new(ir) }
    }

    /// Returns the number of changes so far.
    pub fn n_changes(&self) -> usize {
        self.n_changes
    }

    /// Records that an op was changed by other means, or must be visited again.
    pub fn mark_changed(&mut self, op: Op) {
        self.n_changes += 1;
        self.enqueue(op);
    }

    /// Pushes an op and its enclosing ops, up to the scope, onto the worklist.
    fn enqueue(&mut self, op: Op) {
        if self.is_listening && self.ir.op(op).kind.is_op() {
            self.worklist.push(op);
            self.enqueue_around(op);
        }
    }

    /// Pushes the enclosing ops of an op, up to the scope, onto the worklist. Ops that are isolated
    /// from above are skipped, because a change inside of them cannot make them fold or match.
    fn enqueue_around(&mut self, op: Op) {
        let mut at = op;
        while Some(self.ir.op(at).parent) != self.scope
            && let Some(parent) = self.ir.parent_op(at)
        {
            let kind = self.ir.op(parent).kind;
            if !kind.is_op() {
                return;
            }
            if !kind.has(Traits::ISOLATED) {
                self.worklist.push(parent);
            }
            at = parent;
        }
    }

    /// Creates an op.
    pub fn insert(&mut self, new: NewOp, at: InsertionPoint) -> Op {
        let op = self.ir.insert(new, at);
        self.mark_changed(op);
        op
    }

    /// Creates an op with one result before another op.
    pub fn insert_value(&mut self, new: NewOp, before: Op) -> Value {
        let op = self.insert(new, InsertionPoint::Before(before));
        self.ir.op(op).results[0]
    }

    /// Creates an op with two operands and one result of the same type before another op.
    pub(crate) fn insert_binary(&mut self, name: &str, a: Value, b: Value, before: Op) -> Value {
        let ty = self.ir.value(a).ty;
        self.insert_value(NewOp::new(name).operands(&[a, b]).results(&[ty]), before)
    }

    /// Replaces the results of an op by the given values, and erases it.
    pub(crate) fn replace(&mut self, op: Op, values: &[Value]) {
        let results: SmallVec<[Value; 2]> = SmallVec::from_slice(&self.ir.op(op).results);
        for (&old, &new) in results.iter().zip(values) {
            self.replace_uses(old, new);
        }
        self.erase(op);
    }

    /// Replaces the results of an op by those of a new op, and erases it.
    pub(crate) fn replace_with(&mut self, op: Op, new: NewOp) -> Op {
        let new = self.insert(new, InsertionPoint::Before(op));
        let values = self.ir.op(new).results.clone();
        self.replace(op, &values);
        new
    }

    /// Replaces all uses of a value by another value.
    pub(crate) fn replace_uses(&mut self, old: Value, new: Value) {
        self.replace_uses_if(old, new, |_, _| true);
    }

    /// Replaces the uses of a value for which `is_meant` returns true (user, index of the operand).
    pub(crate) fn replace_uses_if(
        &mut self,
        old: Value,
        new: Value,
        mut is_meant: impl FnMut(Op, usize) -> bool,
    ) {
        if old == new {
            return;
        }
        let uses: SmallVec<[(Op, u32); 4]> = SmallVec::from_slice(&self.ir.value(old).uses);
        for (user, index) in uses {
            if is_meant(user, index as usize) {
                self.ir.set_operand(user, index as usize, new);
                self.mark_changed(user);
            }
        }
    }

    /// Erases an unused op with its regions.
    ///
    /// # Panics
    /// If an op outside uses a value that is defined by the op or in its regions.
    pub fn erase(&mut self, op: Op) {
        self.remove_from_worklist(op);
        self.ir.erase(op).expect("nothing uses what is erased");
    }

    /// Removes an op with its nested ops from the worklist. Pushes the defining ops of their
    /// operands, which may be dead now.
    fn remove_from_worklist(&mut self, op: Op) {
        self.n_changes += 1;
        if !self.is_listening {
            return;
        }
        let outermost = op;
        let mut going: SmallVec<[Op; 8]> = SmallVec::from_slice(&[op]);
        while let Some(op) = going.pop() {
            self.enqueue_operands(op);
            self.worklist.remove(op);
            for at in 0..self.ir.op(op).regions.len() {
                let region = self.ir.op(op).regions[at].1;
                going.extend(self.ir.items(region));
            }
        }
        self.enqueue_around(outermost);
    }

    fn is_in_scope(&self, op: Op) -> bool {
        self.scope.is_none_or(|scope| self.ir.encloses(scope, op))
    }

    /// Pushes the defining ops of the operands that have at most one other user.
    fn enqueue_operands(&mut self, op: Op) {
        for at in 0..self.ir.op(op).operands.len() {
            let Some(value) = self.ir.op(op).operands[at].value else { continue };
            let Def::Result(defining_op, _) = self.ir.value(value).def else { continue };
            let mut others = self.ir.value(value).uses.iter().filter(|it| it.0 != op);
            let first = others.next().map(|it| it.0);
            if others.all(|it| Some(it.0) == first) && self.is_in_scope(defining_op) {
                self.enqueue(defining_op);
            }
        }
    }

    /// Erases a block without predecessors and without outside uses of its values.
    ///
    /// # Panics
    /// If the block has predecessors, or its values are used outside.
    pub(crate) fn erase_block(&mut self, block: Block) {
        let ops: Vec<Op> = self.ir.block_ops(block).collect();
        for op in ops {
            self.remove_from_worklist(op);
        }
        self.ir.erase_block(block).expect("nothing uses a block that is erased");
    }

    /// Replaces one operand.
    pub(crate) fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let old = self.ir.op(op).operands[index].value;
        self.ir.set_operand(op, index, value);
        self.mark_changed(op);
        self.enqueue_unused(old);
    }

    /// Pushes the definition of a value that lost a use, which may be dead now.
    fn enqueue_unused(&mut self, value: Option<Value>) {
        if let Some(value) = value
            && let Def::Result(defining_op, _) = self.ir.value(value).def
            && self.ir.value(value).uses.len() <= 1
            && self.is_in_scope(defining_op)
        {
            self.enqueue(defining_op);
        }
    }

    /// Replaces the own operands of an op; those that are passed to successors are kept.
    pub(crate) fn set_operands(&mut self, op: Op, operands: &[Value]) {
        let old = self.ir.own_operands(op);
        self.ir.set_operands(op, operands);
        self.mark_changed(op);
        for value in old {
            self.enqueue_unused(Some(value));
        }
    }

    /// Replaces a successor and the values that are passed to it.
    pub(crate) fn set_successor(&mut self, op: Op, index: usize, block: Block, values: &[Value]) {
        let old = self.ir.passed_operands(op, index);
        self.ir.set_successor(op, index, block, values);
        self.mark_changed(op);
        for value in old {
            self.enqueue_unused(Some(value));
        }
    }

    /// Sets an attribute.
    pub(crate) fn set_attr(&mut self, op: Op, name: &str, attr: Attr) {
        self.ir.set_attr(op, name, attr);
        self.mark_changed(op);
    }

    /// Moves an op.
    pub(crate) fn move_op(&mut self, op: Op, to: InsertionPoint) {
        self.ir.move_op(op, to);
        self.mark_changed(op);
    }

    /// Moves the ops of a block before an op, replaces the arguments by `values`, and erases the
    /// block.
    ///
    /// # Panics
    /// If the block has predecessors.
    pub(crate) fn inline_block(&mut self, block: Block, before: Op, values: &[Value]) {
        let args = self.ir.block(block).args.clone();
        for (&arg, &value) in args.iter().zip(values) {
            self.replace_uses(arg, value);
        }
        let ops: Vec<Op> = self.ir.block_ops(block).collect();
        for op in ops {
            self.move_op(op, InsertionPoint::Before(before));
        }
        self.ir.erase_block(block).expect("nothing branches to what is inlined");
        self.n_changes += 1;
    }

    /// Moves the ops of a block, except its terminator, before an op, and replaces the arguments by
    /// `values`.
    pub(crate) fn inline_block_without_terminator(
        &mut self,
        block: Block,
        before: Op,
        values: &[Value],
    ) {
        let args = self.ir.block(block).args.clone();
        for (&arg, &value) in args.iter().zip(values) {
            self.replace_uses(arg, value);
        }
        let mut ops: Vec<Op> = self.ir.block_ops(block).collect();
        ops.pop();
        for op in ops {
            self.move_op(op, InsertionPoint::Before(before));
        }
    }

    /// Moves the ops of a block to the end of another block, replaces the arguments by `values`,
    /// and erases the block.
    ///
    /// # Panics
    /// If the block has predecessors.
    pub(crate) fn merge_blocks(&mut self, block: Block, into: Block, values: &[Value]) {
        let args = self.ir.block(block).args.clone();
        for (&arg, &value) in args.iter().zip(values) {
            self.replace_uses(arg, value);
        }
        let ops: Vec<Op> = self.ir.block_ops(block).collect();
        for op in ops {
            self.move_op(op, InsertionPoint::End(into));
        }
        self.ir.erase_block(block).expect("nothing branches to what is merged");
        self.n_changes += 1;
    }

    /// Creates an op with the name, the attributes and the regions of `op`, but other operands and
    /// result types, before `op`. Moves the regions. The caller replaces the results of `op` and
    /// erases it.
    pub(crate) fn rebuild(&mut self, op: Op, operands: &[Value], results: &[Type]) -> Op {
        let name = self.ir.op_name(op).to_owned();
        let mut new = NewOp::new(&name).operands(operands).results(results);
        for &(name, attr) in &self.ir.extra(op).attrs {
            new = new.attr(self.ir.interner.str(name), attr);
        }
        let new = self.insert(new, InsertionPoint::Before(op));
        self.ir.copy_location(op, new);
        self.ir.move_regions(op, new);
        new
    }

    /// Clones an op with its regions to a position. `values` maps operands to their replacements;
    /// the cloned results and arguments are added.
    ///
    /// # Panics
    /// If the op has successors, which only the caller can clone.
    pub(crate) fn clone_op(
        &mut self,
        op: Op,
        at: InsertionPoint,
        values: &mut FxHashMap<Value, Value>,
    ) -> Op {
        assert!(self.ir.extra(op).successors.is_empty(), "branches are copied with their blocks");
        let copy = self.clone_with(op, at, values, &mut FxHashMap::default());
        // Replace values that were used before their definition was cloned.
        for user in nested_ops(self.ir, copy) {
            for index in 0..self.ir.op(user).operands.len() {
                let Some(old) = self.ir.op(user).operands[index].value else { continue };
                let Some(&new) = values.get(&old).filter(|&&new| new != old) else { continue };
                let is_inside = match self.ir.value(old).def {
                    Def::Result(defining_op, _) => self.ir.is_within(defining_op, op),
                    Def::Argument(block, _) => {
                        let region = self.ir.block(block).region;
                        let own = self.ir.op(op).regions.iter();
                        own.clone().any(|it| self.ir.region_encloses(it.1, region))
                    }
                };
                if is_inside {
                    self.set_operand(user, index, new);
                }
            }
        }
        copy
    }

    fn clone_with(
        &mut self,
        op: Op,
        at: InsertionPoint,
        values: &mut FxHashMap<Value, Value>,
        blocks: &mut FxHashMap<Block, Block>,
    ) -> Op {
        let data = self.ir.op(op);
        let of =
            |it: Value, values: &FxHashMap<Value, Value>| values.get(&it).copied().unwrap_or(it);
        let types: Vec<Type> = data.results.iter().map(|&it| self.ir.value(it).ty).collect();
        let old_results = data.results.clone();
        let old_regions: Vec<Region> = data.regions.iter().map(|it| it.1).collect();
        let own: Vec<Value> =
            self.ir.own_operands(op).into_iter().map(|it| of(it, values)).collect();
        let mut new = NewOp::new(self.ir.op_name(op)).operands(&own).results(&types);
        for &(name, attr) in &self.ir.extra(op).attrs {
            new = new.attr(self.ir.interner.str(name), attr);
        }
        for (at, successor) in self.ir.extra(op).successors.iter().enumerate() {
            let Some(target) = successor.block else { continue };
            let passed: Vec<Value> =
                self.ir.passed_operands(op, at).into_iter().map(|it| of(it, values)).collect();
            new = new.successor(blocks.get(&target).copied().unwrap_or(target), &passed);
        }
        let copy = self.insert(new.regions(old_regions.len()), at);
        self.ir.copy_location(op, copy);
        for (&old, &new) in old_results.iter().zip(&self.ir.op(copy).results) {
            values.insert(old, new);
        }
        let new_regions: Vec<Region> = self.ir.op(copy).regions.iter().map(|it| it.1).collect();
        for (from, to) in old_regions.into_iter().zip(new_regions) {
            if self.ir.items(from).next().is_none() {
                continue;
            }
            let old_blocks = self.ir.blocks(from);
            for &block in &old_blocks {
                let args = self.ir.block(block).args.clone();
                let types: Vec<Type> = args.iter().map(|&it| self.ir.value(it).ty).collect();
                let copied = self.ir.add_block(to, &types);
                blocks.insert(block, copied);
                for (&old, &new) in args.iter().zip(&self.ir.block(copied).args) {
                    values.insert(old, new);
                }
            }
            for block in old_blocks {
                let ops: Vec<Op> = self.ir.block_ops(block).collect();
                for op in ops {
                    let to = InsertionPoint::End(blocks[&block]);
                    self.clone_with(op, to, values, blocks);
                }
            }
        }
        copy
    }

    /// Returns the op that defines a value, if it is of kind `kind`.
    pub(crate) fn defined_by(&self, value: Value, kind: OpKind) -> Option<Op> {
        self.ir.defining_op(value).filter(|&it| self.ir.op(it).kind == kind)
    }

    /// Returns the type of a value.
    pub(crate) fn ty(&self, value: Value) -> Type {
        self.ir.value(value).ty
    }

    /// Returns an operand of an op.
    ///
    /// # Panics
    /// If the op has fewer operands.
    pub(crate) fn operand(&self, op: Op, index: usize) -> Value {
        operand(self.ir, op, index).expect("a program without errors has resolved operands")
    }
}

/// Returns the outermost op that encloses an op.
pub fn outermost(ir: &Ir, op: Op) -> Op {
    let mut at = op;
    while let Some(parent) = ir.parent_op(at).filter(|&it| ir.op(it).kind.is_op()) {
        at = parent;
    }
    at
}

/// Returns all ops in the regions of an op, in preorder.
pub fn nested_ops(ir: &Ir, op: Op) -> Vec<Op> {
    ir.op(op).regions.iter().flat_map(|it| preorder(ir, it.1)).collect()
}

/// Returns all ops in a region, including nested ones, in preorder.
pub(crate) fn preorder(ir: &Ir, region: Region) -> Vec<Op> {
    let mut out = Vec::new();
    ir.walk(region, &mut |op| out.push(op));
    out
}

/// Returns all ops in a region, including nested ones, in postorder.
pub(crate) fn postorder(ir: &Ir, region: Region) -> Vec<Op> {
    let mut out = Vec::new();
    // Each op is on the stack twice: before and after (`true`) its regions.
    let inside = |region: Region| ir.items(region).map(|it| (it, false)).collect::<Vec<_>>();
    let mut open = inside(region);
    open.reverse();
    while let Some((op, is_done)) = open.pop() {
        if is_done {
            out.push(op);
            continue;
        }
        if ir.op(op).kind.is_op() {
            open.push((op, true));
        }
        for &(_, region) in ir.op(op).regions.iter().rev() {
            open.extend(inside(region).into_iter().rev());
        }
    }
    out
}

/// Returns an op and all ops in its regions, in postorder.
pub(crate) fn postorder_of_op(ir: &Ir, op: Op) -> Vec<Op> {
    let inside = ir.op(op).regions.iter().flat_map(|it| postorder(ir, it.1));
    inside.chain([op]).collect()
}
