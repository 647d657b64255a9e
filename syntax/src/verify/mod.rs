//! What a verifier rejects in well-formed text: structure and types of the seven core dialects, op by op.
//!
//! [`verify`] looks at one op, its operands, its parent and the blocks it names, and at nothing else, so that after an edit only
//! ops near the edit are verified again. It is silent wherever something is not understood: in and below ops of unknown
//! form (their regions may be graph regions with any rules), at types that are not known, and at ops with a syntax
//! error. What is verified:
//! - operand and result types and their number, noisy widths (`types.rs`);
//! - the terminator of each block, and that nothing follows one; that nobody branches to an entry block (`blocks.rs`);
//! - successor, return and yield operands against what receives them (`blocks.rs`);
//! - dominance and isolation of operands (`scopes.rs`);
//! - symbols: defined once, calls name functions of that type, public functions have bodies (`symbols.rs`).
//!
//! *Cost.* Within a block, dominance is a comparison of ranks. Between blocks, the dominators of the region are computed once
//! and kept in the [`Verifier`].

mod blocks;
mod scopes;
mod symbols;
mod types;

use rustc_hash::FxHashMap;

use crate::{Block, Category, Form, Ir, Op, OpKind, Problem, Region, Span, Type, Value};

/// What is wrong with one op.
pub fn verify(ir: &Ir, op: Op) -> Vec<Problem> {
    let mut verifier = Verifier::new(ir);
    verifier.verify(op);
    verifier.problems
}

/// What is wrong with the types of one op: an operand that is given another type than its value has, or operands, results and
/// attributes that do not go together. Depends on the op and the types of its operands' values alone.
pub(crate) fn type_problems(ir: &Ir, op: Op) -> Vec<Problem> {
    let data = ir.op(op);
    if !data.kind.is_op() || !is_understood(ir, op) {
        return Vec::new();
    }
    let mut verifier = Verifier::new(ir);
    for operand in &data.operands {
        let Some(value) = operand.value else { continue };
        let ty = verifier.value_type(value);
        if clash(ty, operand.ty) {
            let (expected, found) = (verifier.show(operand.ty), verifier.show(ty));
            verifier.problems.push(Problem {
                category: Category::Type,
                code: "type-clash",
                span: operand.span,
                message: format!("this value has type {found}, but {expected} is expected here"),
            });
        }
    }
    if verifier.problems.is_empty() {
        verifier.types(op);
    }
    verifier.problems
}

/// Verifies ops of one IR, keeping what several of them need.
#[derive(Debug)]
pub struct Verifier<'a> {
    ir: &'a Ir,
    /// What was found so far.
    pub problems: Vec<Problem>,
    dominators: FxHashMap<Region, FxHashMap<Block, Block>>,
    symbols: FxHashMap<Region, FxHashMap<crate::Name, Op>>,
}

impl<'a> Verifier<'a> {
    /// Nothing found yet.
    pub fn new(ir: &'a Ir) -> Self {
        Self {
            ir,
            problems: Vec::new(),
            dominators: FxHashMap::default(),
            symbols: FxHashMap::default(),
        }
    }

    /// Adds what is wrong with an op.
    pub fn verify(&mut self, op: Op) {
        let data = self.ir.op(op);
        if !data.kind.is_op() || !is_understood(self.ir, op) {
            return;
        }
        self.types(op);
        self.block_rules(op);
        self.scopes(op);
        self.symbol_rules(op);
    }

    fn tell(&mut self, op: Op, code: &'static str, message: impl Into<String>) {
        let span = self.ir.op(op).name_span;
        self.tell_at(span, code, message);
    }

    fn tell_at(&mut self, span: Span, code: &'static str, message: impl Into<String>) {
        let message = message.into();
        self.problems.push(Problem { category: Category::Structure, code, span, message });
    }

    /// The type of an operand; [`Type::UNKNOWN`] if it is a guess.
    fn operand_type(&self, op: Op, at: usize) -> Type {
        let operand = &self.ir.op(op).operands[at];
        match operand.value.map(|it| self.ir.value(it)) {
            Some(value) if !value.guessed && value.ty != Type::UNKNOWN => value.ty,
            _ => operand.ty,
        }
    }

    fn value_type(&self, value: Value) -> Type {
        let data = self.ir.value(value);
        if data.guessed { Type::UNKNOWN } else { data.ty }
    }

    fn show(&self, ty: Type) -> String {
        self.ir.interner.type_text(ty)
    }
}

/// Whether the op itself was read without a syntax problem, by a grammar that is known.
fn is_understood(ir: &Ir, op: Op) -> bool {
    let is_wrong = |it: &Problem| it.category != Category::Structure;
    matches!(ir.op(op).form, Form::Generic | Form::Custom)
        && !ir.rest(op).problems.iter().any(is_wrong)
}

/// Whether all ops around it are of known form and kind, so that its region has the rules of MLIR's own ops.
fn is_in_known_regions(ir: &Ir, op: Op) -> bool {
    let mut at = ir.parent_op(op);
    while let Some(parent) = at {
        let data = ir.op(parent);
        if data.kind == OpKind::Chunk {
            return true;
        }
        if data.kind == OpKind::Unknown || !is_understood(ir, parent) {
            return false;
        }
        at = ir.parent_op(parent);
    }
    true
}

/// `a` does not agree with `b`, and both are known.
fn clash(a: Type, b: Type) -> bool {
    a != b && a != Type::UNKNOWN && b != Type::UNKNOWN
}

#[cfg(test)]
mod tests;
