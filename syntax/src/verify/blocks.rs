//! Blocks: how they end, who branches to them and with what.

use super::{Verifier, clash, is_in_known_regions, is_understood};
use crate::{Form, Op, OpKind, Span, Traits, Type, TypeData};

impl Verifier<'_> {
    pub(super) fn block_rules(&mut self, op: Op) {
        if !is_in_known_regions(self.ir, op) {
            return;
        }
        self.terminator_is_last(op);
        self.successors(op);
        self.ends(op);
        match self.ir.op(op).kind {
            OpKind::FuncReturn => self.returned(op),
            OpKind::ScfYield | OpKind::AffineYield => self.yielded(op),
            _ => {}
        }
    }

    fn terminator_is_last(&mut self, op: Op) {
        let data = self.ir.op(op);
        if !data.kind.has(Traits::TERMINATOR) {
            return;
        }
        if self.ir.next(op).is_some_and(|it| self.ir.op(it).kind.is_op()) {
            self.tell(op, "terminator-not-last", "must be the last op of its block");
        }
    }

    /// Each block of its regions ends with a terminator.
    fn ends(&mut self, op: Op) {
        let data = self.ir.op(op);
        let is_checked = match data.kind {
            OpKind::FuncFunc | OpKind::ScfExecuteRegion | OpKind::ScfWhile => true,
            kind => data.form == Form::Generic && kind.implicit_terminator().is_some(),
        };
        if !is_checked {
            // Blocks may be implicit or unended, but a block that is not the last needs an end in any case.
            return;
        }
        for &(_, region) in &data.regions {
            if !self.ir.region(region).closed {
                continue;
            }
            for block in self.ir.blocks(region) {
                let Some(last) = self.ir.last_op(block) else {
                    let is_body = self.ir.block(block).label.is_some() || data.form == Form::Custom;
                    if is_body {
                        self.tell(
                            op,
                            "missing-terminator",
                            "has an empty block: it needs a terminator",
                        );
                    }
                    continue;
                };
                let it = self.ir.op(last);
                let is_known = it.kind != OpKind::Unknown && is_understood(self.ir, last);
                if is_known && !it.kind.has(Traits::TERMINATOR) {
                    let name = self.ir.op_name(last).to_owned();
                    let message =
                        format!("has a block without a terminator at its end, after `{name}`");
                    self.tell(op, "missing-terminator", message);
                }
            }
        }
    }

    fn successors(&mut self, op: Op) {
        let data = self.ir.op(op);
        for successor in &self.ir.rest(op).successors {
            let Some(block) = successor.block else { continue };
            let region = self.ir.block(block).region;
            let is_entry = self.ir.blocks(region).first() == Some(&block);
            if is_entry {
                let message = "the entry block of a region may not have predecessors";
                self.tell_at(successor.span, "branch-to-entry", message);
                continue;
            }
            if !data.kind.has(Traits::BRANCH) {
                continue;
            }
            let label = self.ir.block(block).label;
            if label.is_some_and(|it| self.ir.op(it).form == Form::Broken) {
                continue;
            }
            let args = &self.ir.block(block).args;
            let range = successor.operands.start as usize..successor.operands.end as usize;
            if range.end > data.operands.len() {
                continue;
            }
            if range.len() != args.len() {
                let message = format!(
                    "passes {} operands, but ^{} has {} arguments",
                    range.len(),
                    self.ir.interner.str(successor.name),
                    args.len()
                );
                self.tell_at(successor.span, "successor-operands", message);
                continue;
            }
            for (at, &arg) in range.zip(args) {
                let (given, wanted) = (self.operand_type(op, at), self.value_type(arg));
                if clash(given, wanted) {
                    let message = format!(
                        "passes '{}', but the argument of ^{} is '{}'",
                        self.show(given),
                        self.ir.interner.str(successor.name),
                        self.show(wanted)
                    );
                    self.tell_at(data.operands[at].span, "successor-operands", message);
                }
            }
        }
    }

    fn returned(&mut self, op: Op) {
        let Some(func) = self.ir.parent_op(op) else { return };
        if self.ir.op(func).kind != OpKind::FuncFunc {
            self.tell(op, "misplaced-terminator", "must stand in a `func.func`");
            return;
        }
        let Some(ty) = self.function_type(func) else { return };
        let TypeData::Function { results, .. } = self.ir.interner.type_data(ty) else { return };
        let results = results.clone();
        self.agree(op, 0, &results, "the function returns");
    }

    fn yielded(&mut self, op: Op) {
        let Some(parent) = self.ir.parent_op(op) else { return };
        let data = self.ir.op(parent);
        let is_same = matches!(
            data.kind,
            OpKind::ScfIf
                | OpKind::ScfFor
                | OpKind::ScfExecuteRegion
                | OpKind::ScfIndexSwitch
                | OpKind::AffineFor
                | OpKind::AffineIf
        );
        // Results without names are not known here.
        if !is_same || !is_understood(self.ir, parent) || data.results.is_empty() {
            return;
        }
        let results: Vec<Type> = data.results.iter().map(|it| self.value_type(*it)).collect();
        self.agree(op, 0, &results, "the op around it has");
    }

    /// Operands from `first` on agree with these types.
    fn agree(&mut self, op: Op, first: usize, wanted: &[Type], what: &str) {
        let n = self.ir.op(op).operands.len().saturating_sub(first);
        if n != wanted.len() {
            self.tell(
                op,
                "operand-count",
                format!("has {n} operands, but {what} {}", wanted.len()),
            );
            return;
        }
        for (at, &wanted) in wanted.iter().enumerate() {
            let given = self.operand_type(op, first + at);
            if clash(given, wanted) {
                let span: Span = self.ir.op(op).operands[first + at].span;
                let message = format!(
                    "operand #{at} has type '{}', but {what} '{}'",
                    self.show(given),
                    self.show(wanted)
                );
                self.tell_at(span, "operand-type", message);
            }
        }
    }
}
