//! Expansion of affine expressions into ops of `arith` on `index`.

use noisy_syntax::affine::{AffineExpr, AffineOperator};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, AttrData, Ir, Type, Value};

use crate::passes::affine::for_loop::index_attr;
use crate::patterns::affine::maps::{AppliedMap, exprs};

/// Inserts ops at a point.
pub(super) struct ExprExpansion<'a> {
    pub(super) ir: &'a mut Ir,
    pub(super) at: InsertionPoint,
}

/// The predicates `slt` and `sle`.
const BELOW: i128 = 2;
const NOT_ABOVE: i128 = 3;

impl ExprExpansion<'_> {
    /// Returns the results of a map as values.
    pub(super) fn expand_map(&mut self, it: &AppliedMap) -> Result<Vec<Value>, &'static str> {
        let (dims, symbols) = it.operands.split_at(it.map.n_dims as usize);
        exprs(&it.map.body).iter().map(|expr| self.expand_expr(expr, dims, symbols)).collect()
    }

    fn insert(&mut self, new: NewOp) -> Value {
        let op = self.ir.insert(new, self.at);
        self.ir.op(op).results[0]
    }

    pub(super) fn number(&mut self, value: i64) -> Value {
        let attr: Attr = index_attr(self.ir, value);
        self.insert(NewOp::new("arith.constant").attr("value", attr).results(&[Type::INDEX]))
    }

    pub(super) fn binary(&mut self, name: &str, a: Value, b: Value) -> Value {
        let ty = self.ir.value(a).ty;
        self.insert(NewOp::new(name).operands(&[a, b]).results(&[ty]))
    }

    pub(super) fn compare(&mut self, predicate: i128, a: Value, b: Value) -> Value {
        let attr = self.ir.interner.intern_attr(AttrData::Int { value: predicate, ty: Type::I64 });
        let new = NewOp::new("arith.cmpi").operands(&[a, b]).attr("predicate", attr);
        self.insert(new.results(&[Type::I1]))
    }

    fn select(&mut self, which: Value, yes: Value, no: Value) -> Value {
        let new = NewOp::new("arith.select").operands(&[which, yes, no]);
        self.insert(new.results(&[Type::INDEX]))
    }

    fn expand_expr(
        &mut self,
        expr: &AffineExpr,
        dims: &[Value],
        symbols: &[Value],
    ) -> Result<Value, &'static str> {
        let (op, both) = match expr {
            AffineExpr::Const(value) => return Ok(self.number(*value)),
            AffineExpr::Dim(at) => return Ok(dims[*at as usize]),
            AffineExpr::Symbol(at) => return Ok(symbols[*at as usize]),
            AffineExpr::Binary(op, both) => (*op, both),
        };
        let is_division =
            matches!(op, AffineOperator::FloorDiv | AffineOperator::CeilDiv | AffineOperator::Mod);
        if is_division && matches!(both.1, AffineExpr::Const(by) if by <= 0) {
            return Err("division by a non-positive number");
        }
        let a = self.expand_expr(&both.0, dims, symbols)?;
        let b = self.expand_expr(&both.1, dims, symbols)?;
        Ok(match op {
            AffineOperator::Add => self.binary("arith.addi", a, b),
            AffineOperator::Mul => self.binary("arith.muli", a, b),
            AffineOperator::FloorDiv => {
                // If a < 0: -1 - (-1 - a) / b.
                let (zero, minus) = (self.number(0), self.number(-1));
                let is_negative = self.compare(BELOW, a, zero);
                let turned = self.binary("arith.subi", minus, a);
                let up = self.select(is_negative, turned, a);
                let quotient = self.binary("arith.divsi", up, b);
                let turned = self.binary("arith.subi", minus, quotient);
                self.select(is_negative, turned, quotient)
            }
            AffineOperator::CeilDiv => {
                // If a <= 0: -(-a / b), else (a - 1) / b + 1.
                let (zero, one) = (self.number(0), self.number(1));
                let is_low = self.compare(NOT_ABOVE, a, zero);
                let turned = self.binary("arith.subi", zero, a);
                let less = self.binary("arith.subi", a, one);
                let up = self.select(is_low, turned, less);
                let quotient = self.binary("arith.divsi", up, b);
                let turned = self.binary("arith.subi", zero, quotient);
                let more = self.binary("arith.addi", quotient, one);
                self.select(is_low, turned, more)
            }
            AffineOperator::Mod => {
                let rest = self.binary("arith.remsi", a, b);
                let zero = self.number(0);
                let is_negative = self.compare(BELOW, rest, zero);
                let more = self.binary("arith.addi", rest, b);
                self.select(is_negative, more, rest)
            }
        })
    }
}
