//! Rules about blocks: their terminators, their predecessors, and the values that are passed to
//! them.

use super::Verifier;
use super::verdicts::ends_block;
use crate::op_traits::{Effects, PassedOperands};
use crate::{Code, Form, Name, Op, OpKind, Problem, Region, Span, Traits, Type, TypeData};

impl Verifier<'_> {
    pub(super) fn check_block(&mut self, op: Op) {
        self.check_end_of_block(op);
        if !self.problems.is_empty() {
            // The following rules may read the signature of the enclosing op. If it changes, only
            // the last op of each block is verified again, so these rules must not run for other
            // ops ([`super::Verdicts`]).
            return;
        }
        self.check_parent(op);
        if !self.problems.is_empty() {
            return;
        }
        self.check_successors(op);
        if let Some(rule) = self.rules(op).blocks {
            rule(self, op);
        }
    }

    /// Reports the body of a function that has arguments but no op.
    pub(crate) fn check_empty_body(&mut self, function: Op) {
        let Some(&(_, body)) = self.ir.op(function).regions.first() else { return };
        let has_block = !self.ir.block(self.ir.region(body).entry).args.is_empty();
        if has_block && self.ir.items(body).next().is_none() {
            let message = "empty block: expected at least a terminator".to_owned();
            self.report(function, Code::EmptyBlock, message);
        }
    }

    /// Reports a label at the start of a region if the header of the enclosing op names the
    /// arguments of the first block.
    pub(super) fn check_named_entry_block(&mut self, label: Op) {
        let region = self.ir.op(label).parent;
        let mut args = self.ir.block(self.ir.region(region).entry).args.iter();
        let is_named = args.any(|&it| self.ir.value(it).name != Name::EMPTY);
        if is_named && self.ir.prev(label).is_none() {
            self.problems.push(Problem {
                code: Code::NamedBlock,
                span: self.ir.op(label).name_span,
                message: "invalid block name in region with named arguments".into(),
            });
        }
    }

    /// Reports a label without a following op.
    pub(super) fn check_label(&mut self, label: Op) {
        if ends_block(self.ir, label) && self.needs_terminator(self.ir.op(label).parent) {
            let name = self.ir.interner.str(self.ir.op(label).name);
            let message = format!("block ^{name} is empty: expected at least a terminator");
            self.report(label, Code::EmptyBlock, message);
        }
    }

    /// Returns true if the blocks of a region must end with a terminator.
    fn needs_terminator(&self, region: Region) -> bool {
        let Some(parent) = self.ir.region(region).parent else { return false };
        let data = self.ir.op(parent);
        match data.kind {
            OpKind::Chunk => false,
            // An unknown op with one block may need no terminator.
            OpKind::Unknown => self.dominators.contains_key(&region),
            kind => !kind.has(Traits::NO_TERMINATOR),
        }
    }

    fn check_end_of_block(&mut self, op: Op) {
        let data = self.ir.op(op);
        let is_last = ends_block(self.ir, op);
        let is_terminator = data.kind.has(Traits::TERMINATOR);
        if !is_last && is_terminator {
            self.report(
                op,
                Code::TerminatorNotLast,
                "must be the last operation in the parent block",
            );
        } else if !is_last && !self.ir.extra(op).successors.is_empty() {
            let message = "an operation with block successors must terminate its parent block";
            self.report(op, Code::TerminatorNotLast, message);
        } else if is_last
            && !is_terminator
            && data.kind != OpKind::Unknown
            && self.needs_terminator(data.parent)
            && !self.has_implicit_terminator(data.parent)
        {
            let message = format!("block with no terminator, has `{}`", self.ir.op_name(op));
            self.report(op, Code::MissingTerminator, message);
        }
    }

    /// Returns true if the enclosing op omits the terminators of this region in its text.
    fn has_implicit_terminator(&self, region: Region) -> bool {
        self.ir.region(region).parent.is_some_and(|parent| {
            let data = self.ir.op(parent);
            data.form != Form::Generic && data.kind.implicit_terminator().is_some()
        })
    }

    /// Verifies that the enclosing op may contain this op, and that the op may access memory there.
    fn check_parent(&mut self, op: Op) {
        let kind = self.ir.op(op).kind;
        let is_access = matches!(kind.spec().effects, Effects::Known([_, ..]));
        let around = self.ir.parent_op(op).filter(|_| is_access).map(|it| self.ir.op(it).kind);
        if let Some(around) = around.filter(|it| it.has(Traits::NO_ACCESS_INSIDE)) {
            let message = format!("the body of '{}' must not access memory", around.spec().name);
            self.report(op, Code::MisplacedOp, message);
        }
        let wanted = kind.spec().parents;
        let Some(parent) = self.ir.parent_op(op).filter(|_| !wanted.is_empty()) else { return };
        if !wanted.contains(&self.ir.op(parent).kind.spec().name) {
            let names: Vec<_> = wanted.iter().map(|it| format!("'{it}'")).collect();
            let message = format!("expects parent op {}", names.join(", "));
            self.report(op, Code::MisplacedOp, message);
        }
    }

    fn check_successors(&mut self, op: Op) {
        let data = self.ir.op(op);
        for successor in &self.ir.extra(op).successors {
            let Some(block) = successor.block else { continue };
            if data.kind.spec().successors.most == 0 {
                continue;
            }
            let label = self.ir.block(block).label;
            if label.is_some_and(|it| self.ir.is_broken(it)) {
                continue;
            }
            let args = &self.ir.block(block).args;
            let range = successor.operands.start as usize..successor.operands.end as usize;
            if range.end > data.operands.len() {
                continue;
            }
            // `mlir-opt` reports the problem at the op. It prints each case on a line of its own.
            let at_op = data.kind.spec().passed_operands == PassedOperands::Cases;
            if range.len() != args.len() {
                let message = format!(
                    "passes {} operands, but ^{} has {} arguments",
                    range.len(),
                    self.ir.interner.str(successor.name),
                    args.len()
                );
                let span = if at_op { data.name_span } else { successor.span };
                self.report_at(span, Code::SuccessorOperands, message);
                continue;
            }
            for (at, &arg) in range.zip(args) {
                let (given, wanted) = (self.operand_type(op, at), self.value_type(arg));
                if self.is_type_clash(given, wanted) {
                    let message = format!(
                        "passes '{}', but the argument of ^{} is '{}'",
                        self.type_text(given),
                        self.ir.interner.str(successor.name),
                        self.type_text(wanted)
                    );
                    let span = if at_op { data.name_span } else { data.operands[at].span };
                    self.report_at(span, Code::SuccessorOperands, message);
                }
            }
        }
    }

    pub(crate) fn check_return(&mut self, op: Op) {
        let Some(func) = self.ir.parent_op(op) else { return };
        let Some(ty) = self.function_type(func) else { return };
        let TypeData::Function { results, .. } = self.ir.interner.type_data(ty) else { return };
        let results = results.clone();
        self.check_operand_types(op, 0, &results, "the function returns");
    }

    /// Verifies that the operands of `affine.yield` have the types of the results of the enclosing
    /// op.
    pub(crate) fn check_affine_yield(&mut self, op: Op) {
        let Some(parent) = self.ir.parent_op(op) else { return };
        let results = &self.ir.op(parent).results;
        let wanted: Vec<Type> = results.iter().map(|&it| self.value_type(it)).collect();
        self.check_operand_types(op, 0, &wanted, "the enclosing op returns");
    }

    /// Verifies that the operands of `scf.reduce` have the types of the results of the enclosing
    /// loop.
    pub(crate) fn check_reduce_operands(&mut self, op: Op) {
        let Some(parent) = self.ir.parent_op(op) else { return };
        let results: Vec<Type> =
            self.ir.op(parent).results.iter().map(|&it| self.value_type(it)).collect();
        if results.len() != self.ir.op(op).operands.len() {
            return;
        }
        for (at, wanted) in results.into_iter().enumerate() {
            let given = self.operand_type(op, at);
            if self.is_type_clash(given, wanted) {
                let message = format!(
                    "operand #{at} has type '{}', but the result of the loop is '{}'",
                    self.type_text(given),
                    self.type_text(wanted)
                );
                self.report(op, Code::OperandType, message);
                return;
            }
        }
    }

    /// Verifies that the operand of `scf.reduce.return` has the type of the arguments of the
    /// reduction.
    pub(crate) fn check_reduce_return(&mut self, op: Op) {
        let args = &self.ir.block(self.block_of(op)).args;
        let (Some(&first), 1) = (args.first(), self.ir.op(op).operands.len()) else { return };
        let (given, wanted) = (self.operand_type(op, 0), self.value_type(first));
        if self.is_type_clash(given, wanted) {
            let message = format!(
                "must have type '{}' (the type of the reduction inputs), not '{}'",
                self.type_text(wanted),
                self.type_text(given)
            );
            self.report(op, Code::OperandType, message);
        }
    }

    /// Verifies that the operands from `first` on have these types. `what` describes their receiver
    /// in messages.
    fn check_operand_types(&mut self, op: Op, first: usize, wanted: &[Type], what: &str) {
        let n = self.ir.op(op).operands.len().saturating_sub(first);
        if n != wanted.len() {
            self.report(
                op,
                Code::WrongCount,
                format!("has {n} operands, but {what} {}", wanted.len()),
            );
            return;
        }
        for (at, &wanted) in wanted.iter().enumerate() {
            let given = self.operand_type(op, first + at);
            if self.is_type_clash(given, wanted) {
                let span: Span = self.ir.op(op).operands[first + at].span;
                let message = format!(
                    "operand #{at} has type '{}', but {what} '{}'",
                    self.type_text(given),
                    self.type_text(wanted)
                );
                self.report_at(span, Code::OperandType, message);
            }
        }
    }
}
