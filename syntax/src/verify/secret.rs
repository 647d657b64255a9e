//! Rules about HEIR's `secret.generic` and `secret.yield`, which are partly known even in their
//! custom form: the numbers and types of the operands, block arguments and results. A block
//! argument has the type inside the secret of its operand. Results are secrets.
//!
//! *Source.* HEIR, `GenericOp::verify` and `YieldOp::verify` in
//! `lib/Dialect/Secret/IR/SecretOps.cpp`.

use super::Verifier;
use crate::{Code, Form, Op, OpKind, Region, Traits, Type, TypeData};

impl Verifier<'_> {
    /// Checks a `secret.generic` or `secret.yield`. They have no row in the table of ops.
    pub(super) fn check_secret(&mut self, op: Op) {
        let data = self.ir.op(op);
        if data.form == Form::Broken {
            return;
        }
        let (is_generic, is_yield) = (self.ir.is_secret_generic(op), self.ir.is_secret_yield(op));
        if !is_generic && !is_yield {
            return;
        }
        // In a known form, the types are already compared.
        if data.form == Form::Opaque {
            self.check_stated_types(op);
        }
        if is_generic {
            self.check_secret_generic(op);
        } else {
            self.check_secret_yield(op);
        }
    }

    /// Checks that the block has an argument for each operand.
    fn check_secret_generic(&mut self, op: Op) {
        let data = self.ir.op(op);
        let &[(_, region)] = data.regions.as_slice() else { return };
        let first = self.ir.items(region).next();
        let Some(first) = first.filter(|&it| self.ir.op(it).kind == OpKind::Label) else {
            // Without a label there are no arguments. In an empty region the label may not be
            // written yet.
            if first.is_some() && !data.operands.is_empty() {
                self.report_argument_count(op, 0);
            }
            return;
        };
        if self.ir.is_broken(first) {
            return;
        }
        let given = self.argument_types(self.ir.label_block(first));
        if given.len() != data.operands.len() {
            self.report_argument_count(op, given.len());
            return;
        }
        for (at, found) in given.into_iter().enumerate() {
            let operand = self.operand_type(op, at);
            let wanted = self.secret_content_type(operand);
            if self.is_type_clash(wanted, found) {
                let (found, wanted) = (self.type_text(found), self.type_text(wanted));
                let operand = self.type_text(operand);
                let message = format!(
                    "argument {at} of the block has type {found}, but the operand of type {operand} gives {wanted}"
                );
                self.report(op, Code::EntryArguments, message);
            }
        }
        self.check_secret_results(op);
        self.check_secret_terminator(op, region);
    }

    /// Checks that the results are secrets.
    fn check_secret_results(&mut self, op: Op) {
        for (at, ty) in self.result_types(op).into_iter().enumerate() {
            if ty != Type::UNKNOWN && self.secret_content_type(ty) == ty {
                let message = format!(
                    "result {at} has type {}, but the results of 'secret.generic' are secrets",
                    self.type_text(ty)
                );
                self.report(op, Code::ResultType, message);
            }
        }
    }

    /// Checks that the block ends with `secret.yield`. A broken or misspelled op may be one.
    fn check_secret_terminator(&mut self, op: Op, region: Region) {
        let Some(last) = self.ir.items(region).last() else { return };
        let may_be = self.ir.is_broken(last)
            || self.ir.is_secret_yield(last)
            || !self.ir.op(last).kind.is_op()
            || self.ir.op(last).kind.has(Traits::TERMINATOR);
        if !may_be {
            let message = "the block of 'secret.generic' must end with 'secret.yield'";
            self.report(op, Code::MissingTerminator, message);
        }
    }

    /// The type inside a secret; any other type is returned unchanged.
    fn secret_content_type(&self, ty: Type) -> Type {
        let interner = &self.ir.interner;
        match interner.type_data(ty) {
            TypeData::Dialect(name) if interner.str(*name).starts_with("secret.secret") => {
                interner.secret_element(ty).unwrap_or(Type::UNKNOWN)
            }
            _ => ty,
        }
    }

    fn report_argument_count(&mut self, op: Op, n: usize) {
        let wanted = self.ir.op(op).operands.len();
        let message =
            format!("the block needs an argument for each of {wanted} operands, but has {n}");
        self.report(op, Code::EntryArguments, message);
    }

    /// Checks that `secret.yield` yields a value for each result of the generic. The text may omit
    /// the names of all results.
    fn check_secret_yield(&mut self, op: Op) {
        let Some(parent) = self.ir.parent_op(op) else { return };
        if self.ir.op(parent).kind == OpKind::FuncFunc && self.ir.op(parent).form != Form::Broken {
            self.report(op, Code::MisplacedOp, "expects parent op 'secret.generic'");
        }
        let Some(around) = Some(parent).filter(|&it| self.ir.is_secret_generic(it)) else {
            return;
        };
        let results = self.result_types(around);
        let (given, around) = (self.ir.op(op).operands.len(), self.ir.op(around));
        let wanted = around.results.len();
        let is_named = wanted > 0 || around.form == Form::Generic;
        if given != wanted && is_named && around.form != Form::Broken {
            let message = format!(
                "gives {given} values, but the 'secret.generic' around it has {wanted} results"
            );
            self.report(op, Code::RegionValues, message);
            return;
        }
        for (at, result) in results.into_iter().enumerate().take(given) {
            let found = self.operand_type(op, at);
            let wanted = self.secret_content_type(result);
            // A result that is not a secret is reported at the generic.
            if wanted != result && self.is_type_clash(wanted, found) {
                let (found, result) = (self.type_text(found), self.type_text(result));
                let message = format!(
                    "gives {found}, but result {at} of the 'secret.generic' around it has type {result}"
                );
                let span = self.ir.op(op).operands[at].span;
                self.report_at(span, Code::RegionValues, message);
            }
        }
    }
}
