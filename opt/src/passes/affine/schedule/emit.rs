//! Loops as ops.

use noisy_syntax::affine::{Affine, Body, Expr, Operator};
use noisy_syntax::rewrite::{NewOp, Point};
use noisy_syntax::{Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use super::super::for_loop::{apply, make_for, map_attr};
use super::nest::Nest;
use super::scan::Code;
use crate::patterns::affine::maps::{Applied, applied};
use crate::rewrite::{Rewriter, operands};

/// Puts loops in place of a nest.
pub(super) fn emit(ir: &mut Ir, nest: &Nest, code: &[Code], n_columns: usize) {
    let mut columns: Vec<Option<Value>> = vec![None; n_columns - nest.params.len()];
    columns.extend(nest.params.iter().map(|it| Some(*it)));
    let mut emit = Emit { ir, nest, columns };
    emit.all(code, Point::Before(nest.root));
    Rewriter::new(ir).erase(nest.root);
}

struct Emit<'a> {
    ir: &'a mut Ir,
    nest: &'a Nest,
    /// The value of each column, if a loop around makes it.
    columns: Vec<Option<Value>>,
}

impl Emit<'_> {
    fn all(&mut self, code: &[Code], at: Point) {
        for it in code {
            match it {
                Code::Loop { column, low, high, body } => {
                    let low = self.bounds(low, *column, true);
                    let high = self.bounds(high, *column, false);
                    let (_, block) = make_for(self.ir, at, &low, &high, 1, &[]);
                    self.columns[*column] = Some(self.ir.block(block).args[0]);
                    let end = self.ir.last_op(block).map_or(Point::End(block), Point::Before);
                    self.all(body, end);
                    self.columns[*column] = None;
                }
                Code::Guard { rows, body } => {
                    let exprs = rows.iter().map(|row| sum(row, None));
                    let set = self.joined(exprs.collect());
                    let Body::Map(all) = set.map.body else { continue };
                    let body_of_set = Body::Set(all.into_iter().map(|it| (it, false)).collect());
                    let map = Affine { body: body_of_set, ..set.map };
                    let set = Applied { map, operands: set.operands }.canonical(self.ir);
                    let map = map_attr(self.ir, &set.map);
                    let new = NewOp::new("affine.if").operands(&set.operands);
                    let op = self.ir.insert(new.attr("condition", map).regions(2), at);
                    let region = self.ir.op(op).regions[0].1;
                    let block = self.ir.add_block(region, &[]);
                    let end = self.ir.insert(NewOp::new("affine.yield"), Point::End(block));
                    self.all(body, Point::Before(end));
                }
                Code::Run { statement, ivs } => self.run(*statement, ivs, at),
            }
        }
    }

    /// Expressions over all columns as a map of the values that there are.
    fn joined(&self, exprs: Vec<Expr>) -> Applied {
        let mut places = Vec::new();
        let mut values = Vec::new();
        for it in &self.columns {
            places.push(Expr::Dim(values.len() as u32));
            values.extend(*it);
        }
        let of = |it: &Expr| match it {
            Expr::Dim(at) => places[*at as usize].clone(),
            other => other.clone(),
        };
        let exprs = exprs.iter().map(|it| crate::patterns::affine::maps::replaced(it, &of));
        let body = Body::Map(exprs.collect());
        let map = Affine { n_dims: values.len() as u32, n_symbols: 0, body };
        Applied { map, operands: values }
    }

    /// The bounds of a loop over a column; the upper one is the first value that is not taken.
    fn bounds(&self, rows: &[Vec<i128>], column: usize, is_low: bool) -> Applied {
        let bound = |row: &Vec<i128>| {
            let by = Expr::Const(i64::try_from(row[column].abs()).unwrap_or(1));
            let rest = sum(row, Some(column));
            if is_low {
                Expr::binary(Operator::CeilDiv, rest.negated(), by)
            } else {
                let last = Expr::binary(Operator::FloorDiv, rest, by);
                Expr::binary(Operator::Add, last, Expr::Const(1))
            }
        };
        self.joined(rows.iter().map(bound).collect()).canonical(self.ir)
    }

    fn run(&mut self, statement: usize, ivs: &[Vec<i128>], at: Point) {
        let it = &self.nest.statements[statement];
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        let mut made = Vec::new();
        for (&iv, row) in it.ivs.iter().zip(ivs) {
            let sum = self.joined(vec![sum(row, None)]).canonical(self.ir);
            let value = match sum.map.body {
                Body::Map(ref all) if matches!(all[..], [Expr::Dim(0)]) => sum.operands[0],
                _ => {
                    let value = apply(self.ir, &sum, at);
                    made.push(value);
                    value
                }
            };
            values.insert(iv, value);
        }
        for &op in &it.ops {
            let copy = Rewriter::new(self.ir).clone_op(op, at, &mut values);
            self.compose(copy);
        }
        // Accesses read the variables of the loops now.
        for value in made {
            if let noisy_syntax::Def::Result(op, _) = self.ir.value(value).def
                && self.ir.value(value).uses.is_empty()
            {
                Rewriter::new(self.ir).erase(op);
            }
        }
    }

    /// Lets the map of an access read the variables of loops and not what is computed from them.
    fn compose(&mut self, op: Op) {
        let first = match self.ir.op(op).kind {
            OpKind::AffineLoad => 1,
            OpKind::AffineStore => 2,
            OpKind::AffineApply => 0,
            _ => return,
        };
        let Some(old) = applied(self.ir, op, "map", first) else { return };
        let new = old.canonical(self.ir);
        let mut inputs = operands(self.ir, op)[..first].to_vec();
        inputs.extend(&new.operands);
        let map = map_attr(self.ir, &new.map);
        self.ir.set_attr(op, "map", map);
        self.ir.set_operands(op, &inputs);
    }
}

/// A row as an expression over all columns as dimensions, without one of them.
fn sum(row: &[i128], without: Option<usize>) -> Expr {
    let number = |it: i128| Expr::Const(i64::try_from(it).expect("bounds were held to 40 bits"));
    let mut out = Expr::Const(0);
    for (at, &by) in row[..row.len() - 1].iter().enumerate() {
        if by != 0 && Some(at) != without {
            let term = Expr::binary(Operator::Mul, Expr::Dim(at as u32), number(by));
            out = Expr::binary(Operator::Add, out, term);
        }
    }
    Expr::binary(Operator::Add, out, number(row[row.len() - 1]))
}
