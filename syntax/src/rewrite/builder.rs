//! Ops to be created, and the builder that inserts them.

use super::Point;
use crate::{Attr, AttrData, Block, Ir, Op, Type, TypeData, Value};

/// An op to be created.
#[derive(Clone, Debug, Default)]
pub struct NewOp {
    pub(super) name: String,
    pub(super) operands: Vec<Value>,
    pub(super) results: Vec<Type>,
    pub(super) attrs: Vec<(String, Attr)>,
    pub(super) successors: Vec<(Block, Vec<Value>)>,
    pub(super) n_regions: usize,
}

impl NewOp {
    /// An op of this full name, with nothing else.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// With these operands after those that it has.
    #[must_use]
    pub fn operands(mut self, operands: &[Value]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// With results of these types after those that it has.
    #[must_use]
    pub fn results(mut self, types: &[Type]) -> Self {
        self.results.extend_from_slice(types);
        self
    }

    /// With an attribute, inherent or not.
    #[must_use]
    pub fn attr(mut self, name: &str, attr: Attr) -> Self {
        self.attrs.push((name.to_owned(), attr));
        self
    }

    /// With one more successor, which is passed these values. They follow the op's own operands;
    /// for the branches of `cf`, the attributes that count them are set.
    #[must_use]
    pub fn successor(mut self, block: Block, passed: &[Value]) -> Self {
        self.successors.push((block, passed.to_vec()));
        self
    }

    /// With `n` more regions, which have no blocks.
    #[must_use]
    pub fn regions(mut self, n: usize) -> Self {
        self.n_regions += n;
        self
    }
}

/// Inserts ops one after the other.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The IR that the op is built in.
    pub ir: &'a mut Ir,
    at: Point,
}

impl<'a> Builder<'a> {
    /// Inserts at a place.
    pub fn new(ir: &'a mut Ir, at: Point) -> Self {
        Self { ir, at }
    }

    /// Inserts elsewhere from now on.
    pub fn go(&mut self, at: Point) {
        self.at = at;
    }

    /// Inserts an op; the next one will stand after it.
    pub fn insert(&mut self, op: NewOp) -> Op {
        let op = self.ir.insert(op, self.at);
        if let Point::After(_) | Point::Start(_) = self.at {
            self.at = Point::After(op);
        }
        op
    }

    /// Inserts an op and gives its first result.
    ///
    /// # Panics
    /// If it has none.
    pub fn value(&mut self, op: NewOp) -> Value {
        let op = self.insert(op);
        self.ir.op(op).results[0]
    }

    /// A function with a body of one block; the op and the block.
    pub fn func(&mut self, name: &str, inputs: &[Type], results: &[Type]) -> (Op, Block) {
        let interner = &mut self.ir.interner;
        let ty = TypeData::Function { inputs: inputs.into(), results: results.into() };
        let ty = interner.ty(ty);
        let ty = interner.attr(AttrData::Type(ty));
        let name = interner.name(name);
        let name = interner.attr(AttrData::String(name, None));
        let op = NewOp::new("func.func").attr("sym_name", name).attr("function_type", ty);
        let op = self.insert(op.regions(1));
        let region = self.ir.op(op).regions[0].1;
        (op, self.ir.add_block(region, inputs))
    }
}
