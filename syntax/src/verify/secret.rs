//! HEIR's `secret.generic` and its end, whose form is known so far also where it is custom: how many values go in and come out.
//!
//! *Source.* HEIR, `GenericOp::verify` and `YieldOp::verify` in `lib/Dialect/Secret/IR/SecretOps.cpp`.

use super::Verifier;
use crate::{Code, Form, Op, OpKind};

impl Verifier<'_> {
    /// A generic and its end, which no table of ops knows.
    pub(super) fn secret(&mut self, op: Op) {
        let data = self.ir.op(op);
        if data.form == Form::Broken {
            return;
        }
        if self.ir.is_secret_generic(op) {
            self.secret_generic(op);
        } else if self.ir.is_secret_yield(op) {
            self.secret_yield(op);
        }
    }

    /// The block takes an argument for each operand.
    fn secret_generic(&mut self, op: Op) {
        let data = self.ir.op(op);
        let &[(_, region)] = data.regions.as_slice() else { return };
        let first = self.ir.items(region).next();
        let Some(first) = first.filter(|&it| self.ir.op(it).kind == OpKind::Label) else {
            // Without a label there is no argument; where nothing stands, it may be to come.
            if first.is_some() && !data.operands.is_empty() {
                self.tell_arguments(op, 0);
            }
            return;
        };
        let n = self.ir.block(self.ir.label_block(first)).args.len();
        if n != data.operands.len() && !self.ir.is_broken(first) {
            self.tell_arguments(op, n);
        }
    }

    fn tell_arguments(&mut self, op: Op, n: usize) {
        let wanted = self.ir.op(op).operands.len();
        let message =
            format!("the block needs an argument for each of {wanted} operands, but has {n}");
        self.tell(op, Code::EntryArguments, message);
    }

    /// The end gives a value for each result of the generic. A text may leave out the names of all results.
    fn secret_yield(&mut self, op: Op) {
        let Some(around) = self.ir.parent_op(op).filter(|&it| self.ir.is_secret_generic(it)) else {
            return;
        };
        let (given, around) = (self.ir.op(op).operands.len(), self.ir.op(around));
        let wanted = around.results.len();
        let is_named = wanted > 0 || around.form == Form::Generic;
        if given != wanted && is_named && around.form != Form::Broken {
            let message = format!(
                "gives {given} values, but the 'secret.generic' around it has {wanted} results"
            );
            self.tell(op, Code::RegionValues, message);
        }
    }
}
