//! Emission of scheduled loops as ops.

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Def, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use super::nest::StatementNest;
use super::scan::{CarriedElement, LoopCode};
use crate::passes::affine::for_loop::{apply, make_for, map_attr};
use crate::patterns::affine::maps::{AppliedMap, applied_map};
use crate::rewrite::{Rewriter, nested_ops, operands};

/// Replaces a nest by scheduled loops.
pub(super) fn emit(
    ir: &mut Ir,
    nest: &StatementNest,
    code: &[LoopCode],
    of_accesses: &[Op],
    n_columns: usize,
) {
    let mut columns: Vec<Option<Value>> = vec![None; n_columns - nest.params.len()];
    columns.extend(nest.params.iter().map(|it| Some(*it)));
    let mut emit = Emitter { ir, nest, of_accesses, columns };
    emit.emit_all(code, InsertionPoint::Before(nest.root));
    Rewriter::new(ir).erase(nest.root);
}

struct Emitter<'a> {
    ir: &'a mut Ir,
    nest: &'a StatementNest,
    /// The op of each access of the body.
    of_accesses: &'a [Op],
    /// The value of each column; `None` if no enclosing loop defines it yet.
    columns: Vec<Option<Value>>,
}

impl Emitter<'_> {
    fn emit_all(&mut self, code: &[LoopCode], at: InsertionPoint) {
        for it in code {
            match it {
                LoopCode::Loop { column, low, high, body } => {
                    let low = self.bounds(low, *column, true);
                    let high = self.bounds(high, *column, false);
                    let (_, block) = make_for(self.ir, at, &low, &high, 1, &[]);
                    self.columns[*column] = Some(self.ir.block(block).args[0]);
                    let end = self
                        .ir
                        .last_op(block)
                        .map_or(InsertionPoint::End(block), InsertionPoint::Before);
                    self.emit_all(body, end);
                    self.columns[*column] = None;
                }
                LoopCode::Guard { rows, body, otherwise } => {
                    let exprs = rows.iter().map(|row| row_expr(row, None));
                    let set = self.map_over_columns(exprs.collect());
                    let AffineBody::Map(all) = set.map.body else { continue };
                    let body_of_set =
                        AffineBody::Set(all.into_iter().map(|it| (it, false)).collect());
                    let map = Affine { body: body_of_set, ..set.map };
                    let set = AppliedMap { map, operands: set.operands }.canonical(self.ir);
                    let map = map_attr(self.ir, &set.map);
                    let new = NewOp::new("affine.if").operands(&set.operands);
                    let op = self.ir.insert(new.attr("condition", map).regions(2), at);
                    for (which, body) in [body, otherwise].into_iter().enumerate() {
                        if which == 1 && body.is_empty() {
                            continue;
                        }
                        let region = self.ir.op(op).regions[which].1;
                        let block = self.ir.add_block(region, &[]);
                        let end =
                            self.ir.insert(NewOp::new("affine.yield"), InsertionPoint::End(block));
                        self.emit_all(body, InsertionPoint::Before(end));
                    }
                }
                LoopCode::Statement { statement, ivs } => {
                    self.emit_statement(*statement, ivs, &[], &mut Vec::new(), at);
                }
                LoopCode::CarryingLoop { column, low, high, statement, elements, copies } => {
                    self.emit_carrying_loop(*column, low, high, *statement, elements, copies, at);
                }
            }
        }
    }

    /// Returns a map with expressions over all columns, applied to the available values.
    fn map_over_columns(&self, exprs: Vec<AffineExpr>) -> AppliedMap {
        let mut places = Vec::new();
        let mut values = Vec::new();
        for it in &self.columns {
            places.push(AffineExpr::Dim(values.len() as u32));
            values.extend(*it);
        }
        let of = |it: &AffineExpr| match it {
            AffineExpr::Dim(at) => places[*at as usize].clone(),
            other => other.clone(),
        };
        let exprs = exprs.iter().map(|it| crate::patterns::affine::maps::replace_leaves(it, &of));
        let body = AffineBody::Map(exprs.collect());
        let map = Affine { n_dims: values.len() as u32, n_symbols: 0, body };
        AppliedMap { map, operands: values }
    }

    /// Returns the lower or the exclusive upper bounds of a loop over a column.
    fn bounds(&self, rows: &[Vec<i128>], column: usize, is_low: bool) -> AppliedMap {
        let bound = |row: &Vec<i128>| {
            let by = AffineExpr::Const(i64::try_from(row[column].abs()).unwrap_or(1));
            let rest = row_expr(row, Some(column));
            if is_low {
                AffineExpr::binary(AffineOperator::CeilDiv, rest.negated(), by)
            } else {
                let last = AffineExpr::binary(AffineOperator::FloorDiv, rest, by);
                AffineExpr::binary(AffineOperator::Add, last, AffineExpr::Const(1))
            }
        };
        self.map_over_columns(rows.iter().map(bound).collect()).canonical(self.ir)
    }

    /// Emits a loop that carries elements as `iter_args`: loads before the loop, and stores after
    /// it.
    #[allow(clippy::too_many_arguments, reason = "the fields of one variant")]
    fn emit_carrying_loop(
        &mut self,
        column: usize,
        low: &[Vec<i128>],
        high: &[Vec<i128>],
        statement: usize,
        elements: &[CarriedElement],
        copies: &[Vec<Vec<i128>>],
        at: InsertionPoint,
    ) {
        // The elements do not depend on the column.
        let mut still = copies.to_vec();
        for row in still.iter_mut().flatten() {
            row[column] = 0;
        }
        let mut inits = Vec::new();
        for ivs in &still {
            for element in elements {
                let load = self.of_accesses[element[0]];
                let copy = self.emit_op(statement, ivs, load, &[], at);
                inits.push(self.ir.op(copy).results[0]);
            }
        }
        let (low, high) = (self.bounds(low, column, true), self.bounds(high, column, false));
        let (op, block) = make_for(self.ir, at, &low, &high, 1, &inits);
        let mut values: Vec<Value> = self.ir.block(block).args[1..].to_vec();
        self.columns[column] = Some(self.ir.block(block).args[0]);
        for (ivs, values) in copies.iter().zip(values.chunks_mut(elements.len())) {
            self.emit_statement(statement, ivs, elements, values, InsertionPoint::End(block));
        }
        self.columns[column] = None;
        self.ir.insert(NewOp::new("affine.yield").operands(&values), InsertionPoint::End(block));
        let results = self.ir.op(op).results.clone();
        let mut last = op;
        for (ivs, results) in still.iter().zip(results.chunks(elements.len())) {
            for (element, &result) in elements.iter().zip(results) {
                let is_store =
                    |it: &&usize| self.ir.op(self.of_accesses[**it]).kind == OpKind::AffineStore;
                let Some(&store) = element.iter().find(is_store) else { continue };
                let store = self.of_accesses[store];
                let stored = operands(self.ir, store)[0];
                last = self.emit_op(
                    statement,
                    ivs,
                    store,
                    &[(stored, result)],
                    InsertionPoint::After(last),
                );
            }
        }
    }

    /// Creates the variables of a statement. Returns the map from old to new values, and the values
    /// that were created.
    fn create_ivs(
        &mut self,
        statement: usize,
        ivs: &[Vec<i128>],
        at: InsertionPoint,
    ) -> (FxHashMap<Value, Value>, Vec<Value>) {
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        let mut made = Vec::new();
        let mut at = at;
        for (&iv, row) in self.nest.statements[statement].ivs.iter().zip(ivs) {
            let sum = self.map_over_columns(vec![row_expr(row, None)]).canonical(self.ir);
            let value = match sum.map.body {
                AffineBody::Map(ref all) if matches!(all[..], [AffineExpr::Dim(0)]) => {
                    sum.operands[0]
                }
                _ => {
                    let value = apply(self.ir, &sum, at);
                    if let (InsertionPoint::After(_), Def::Result(op, _)) =
                        (at, self.ir.value(value).def)
                    {
                        at = InsertionPoint::After(op);
                    }
                    made.push(value);
                    value
                }
            };
            values.insert(iv, value);
        }
        (values, made)
    }

    /// Emits one op of a statement, with the operands in `others` replaced.
    fn emit_op(
        &mut self,
        statement: usize,
        ivs: &[Vec<i128>],
        op: Op,
        others: &[(Value, Value)],
        at: InsertionPoint,
    ) -> Op {
        let (mut values, made) = self.create_ivs(statement, ivs, at);
        let last = made.last().map(|it| self.ir.value(*it).def);
        let at = match (at, last) {
            (InsertionPoint::After(_), Some(Def::Result(op, _))) => InsertionPoint::After(op),
            _ => at,
        };
        values.extend(others.iter().copied());
        let copy = Rewriter::new(self.ir).clone_op(op, at, &mut values);
        self.compose(copy);
        self.erase_unused(made);
        copy
    }

    /// Emits one execution of a statement. `carried` has the current values of the carried
    /// elements.
    fn emit_statement(
        &mut self,
        statement: usize,
        ivs: &[Vec<i128>],
        elements: &[CarriedElement],
        carried: &mut [Value],
        at: InsertionPoint,
    ) {
        let (mut values, made) = self.create_ivs(statement, ivs, at);
        let ops = self.nest.statements[statement].ops.clone();
        for op in ops {
            let is_it = |it: &usize| self.of_accesses[*it] == op;
            if let Some(which) = elements.iter().position(|all| all.iter().any(is_it)) {
                match self.ir.op(op).results.first() {
                    Some(&result) => {
                        values.insert(result, carried[which]);
                    }
                    None => {
                        let stored = operands(self.ir, op)[0];
                        carried[which] = values.get(&stored).copied().unwrap_or(stored);
                    }
                }
                continue;
            }
            let copy = Rewriter::new(self.ir).clone_op(op, at, &mut values);
            for op in nested_ops(self.ir, copy) {
                self.compose(op);
            }
            self.compose(copy);
        }
        self.erase_unused(made);
    }

    /// Erases the given values if they are unused, because maps of accesses were composed with
    /// them.
    fn erase_unused(&mut self, made: Vec<Value>) {
        for value in made {
            if let Def::Result(op, _) = self.ir.value(value).def
                && self.ir.value(value).uses.is_empty()
            {
                Rewriter::new(self.ir).erase(op);
            }
        }
    }

    /// Composes the map of an access, so that it uses the variables of loops directly.
    fn compose(&mut self, op: Op) {
        let first = match self.ir.op(op).kind {
            OpKind::AffineLoad => 1,
            OpKind::AffineStore => 2,
            OpKind::AffineApply => 0,
            _ => return,
        };
        let Some(old) = applied_map(self.ir, op, "map", first) else { return };
        let new = old.canonical(self.ir);
        let mut inputs = operands(self.ir, op)[..first].to_vec();
        inputs.extend(&new.operands);
        let map = map_attr(self.ir, &new.map);
        self.ir.set_attr(op, "map", map);
        self.ir.set_operands(op, &inputs);
    }
}

/// Returns a row as an expression, with each column as a dimension, except the column `without`.
fn row_expr(row: &[i128], without: Option<usize>) -> AffineExpr {
    let number =
        |it: i128| AffineExpr::Const(i64::try_from(it).expect("bounds were held to 40 bits"));
    let mut out = AffineExpr::Const(0);
    for (at, &by) in row[..row.len() - 1].iter().enumerate() {
        if by != 0 && Some(at) != without {
            let term =
                AffineExpr::binary(AffineOperator::Mul, AffineExpr::Dim(at as u32), number(by));
            out = AffineExpr::binary(AffineOperator::Add, out, term);
        }
    }
    AffineExpr::binary(AffineOperator::Add, out, number(row[row.len() - 1]))
}
