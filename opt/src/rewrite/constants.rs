//! Creation of constants, and a table with one op for each constant of a scope.

use noisy_integers::constant::{self, Constant};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, Op, OpKind, Region, Type, Value};
use rustc_hash::FxHashMap;

use super::Rewriter;
pub use noisy_analyses::facts::values::{
    attr_of, constant_of, constant_op, constant_scope, element_type, int_of, is_constant, to_attr,
};

impl Rewriter<'_> {
    /// Creates a constant before an op. `None` if no op can represent it.
    pub(crate) fn constant(&mut self, constant: Constant, ty: Type, before: Op) -> Option<Value> {
        let attr = to_attr(self.ir, &self.lists, constant, ty)?;
        self.constant_attr(attr, ty, before)
    }

    /// Creates a constant with an attribute before an op. `None` if no op can represent it.
    pub(crate) fn constant_attr(&mut self, attr: Attr, ty: Type, before: Op) -> Option<Value> {
        let name = constant_op(self.ir, attr, ty)?;
        Some(self.insert_value(NewOp::new(name).attr("value", attr).results(&[ty]), before))
    }

    /// Creates an integer constant, or a splat for a shaped type, before an op.
    ///
    /// # Panics
    /// If the type is neither an integer type nor a shaped type of integers.
    pub(crate) fn int(&mut self, value: i128, ty: Type, before: Op) -> Value {
        let width = constant::width(self.ir, ty).expect("a type of integers");
        let value = Constant::Int(constant::sign_extended(value, width));
        self.constant(value, ty, before).expect("an integer is a constant")
    }

    /// Returns the constant of a value that a constant op defines.
    pub(crate) fn constant_of(&mut self, value: Value) -> Option<Constant> {
        constant_of(self.ir, value, &mut self.lists)
    }

    /// See [`int_of`].
    pub(crate) fn int_of(&self, value: Value) -> Option<i128> {
        int_of(self.ir, value)
    }
}

/// The uniqued constants at the start of each scope.
#[derive(Debug, Default)]
pub(crate) struct UniquedConstants {
    by_value: FxHashMap<(Region, OpKind, Attr, Type), Op>,
    owned: rustc_hash::FxHashSet<Op>,
}

impl UniquedConstants {
    /// Removes the location of a merged or moved constant.
    fn clear_location(rewriter: &mut Rewriter<'_>, op: Op) {
        if rewriter.ir.has_locations() {
            let unknown = rewriter.ir.unknown_location();
            rewriter.ir.set_location(op, unknown);
        }
    }

    /// Merges a constant op with an equal one of its scope, or moves it to the start of the scope.
    /// Returns true if the op still exists.
    pub(crate) fn merge_or_move(&mut self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        let ir = &*rewriter.ir;
        let block = ir.block_of(op);
        let result = ir.op(op).results[0];
        let Some(attr) = ir.attr(op, "value") else { return true };
        let scope = constant_scope(ir, ir.block(block).region);
        let key = (scope, ir.op(op).kind, attr, ir.value(result).ty);
        if let Some(&same) = self.by_value.get(&key) {
            if same == op {
                return true;
            }
            let value = ir.op(same).results[0];
            Self::clear_location(rewriter, same);
            rewriter.replace(op, &[value]);
            return false;
        }
        let target = ir.entry_block(scope);
        let previous = ir.prev(op).filter(|&it| ir.op(it).kind.is_op());
        let is_in_place = block == target && previous.is_none_or(|it| self.owned.contains(&it));
        if !is_in_place {
            rewriter.ir.move_op(op, InsertionPoint::Start(target));
            Self::clear_location(rewriter, op);
        }
        self.by_value.insert(key, op);
        self.owned.insert(op);
        true
    }
}

impl UniquedConstants {
    /// Returns the constant ops, sorted by id.
    pub(crate) fn ops(&self) -> Vec<Op> {
        let mut out: Vec<Op> = self.owned.iter().copied().collect();
        out.sort_unstable();
        out
    }

    /// Returns a constant in the scope of an op, created at the start of the scope if needed.
    pub(crate) fn get_or_create(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        attr: Attr,
        ty: Type,
        user: Op,
    ) -> Option<Value> {
        let name = constant_op(rewriter.ir, attr, ty)?;
        let scope = constant_scope(rewriter.ir, rewriter.ir.op(user).parent);
        let target = rewriter.ir.entry_block(scope);
        let key = (scope, OpKind::of(name), attr, ty);
        let known = self.by_value.get(&key).copied();
        let op = known.unwrap_or_else(|| {
            let new = NewOp::new(name).attr("value", attr).results(&[ty]);
            rewriter.insert(new, InsertionPoint::Start(target))
        });
        if known.is_some() && rewriter.ir.block_of(user) == target {
            rewriter.ir.move_op(op, InsertionPoint::Start(target));
        }
        Self::clear_location(rewriter, op);
        self.by_value.insert(key, op);
        self.owned.insert(op);
        Some(rewriter.ir.op(op).results[0])
    }
}
