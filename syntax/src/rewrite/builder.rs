//! Ops to be created, and the builder that inserts them.

use super::InsertionPoint;
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
    /// Creates an op with a full name (including the dialect), without operands, results,
    /// attributes and regions.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Appends operands.
    #[must_use]
    pub fn operands(mut self, operands: &[Value]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// Appends results of these types.
    #[must_use]
    pub fn results(mut self, types: &[Type]) -> Self {
        self.results.extend_from_slice(types);
        self
    }

    /// Adds an attribute, inherent or discardable.
    #[must_use]
    pub fn attr(mut self, name: &str, attr: Attr) -> Self {
        self.attrs.push((name.to_owned(), attr));
        self
    }

    /// Adds a successor that is passed these values. Passed values follow the own operands of the
    /// op. For the branches of `cf`, [`Ir::insert`] sets the attributes that contain the numbers of
    /// operands.
    #[must_use]
    pub fn successor(mut self, block: Block, passed: &[Value]) -> Self {
        self.successors.push((block, passed.to_vec()));
        self
    }

    /// Adds `n` regions without blocks.
    #[must_use]
    pub fn regions(mut self, n: usize) -> Self {
        self.n_regions += n;
        self
    }
}

/// Inserts consecutive ops.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The IR into which ops are inserted.
    pub ir: &'a mut Ir,
    at: InsertionPoint,
}

impl<'a> Builder<'a> {
    /// Creates a builder that inserts at `at`.
    pub fn new(ir: &'a mut Ir, at: InsertionPoint) -> Self {
        Self { ir, at }
    }

    /// Changes the position at which ops are inserted.
    pub fn set_insertion_point(&mut self, at: InsertionPoint) {
        self.at = at;
    }

    /// Inserts an op. The next op is inserted after it.
    pub fn insert(&mut self, op: NewOp) -> Op {
        let op = self.ir.insert(op, self.at);
        if let InsertionPoint::After(_) | InsertionPoint::Start(_) = self.at {
            self.at = InsertionPoint::After(op);
        }
        op
    }

    /// Inserts an op and returns its first result.
    ///
    /// # Panics
    /// If it has none.
    pub fn insert_value(&mut self, op: NewOp) -> Value {
        let op = self.insert(op);
        self.ir.op(op).results[0]
    }

    /// Inserts a function with a body of one block. Returns the op and the block.
    pub fn insert_func(&mut self, name: &str, inputs: &[Type], results: &[Type]) -> (Op, Block) {
        let interner = &mut self.ir.interner;
        let ty = TypeData::Function { inputs: inputs.into(), results: results.into() };
        let ty = interner.intern_type(ty);
        let ty = interner.intern_attr(AttrData::Type(ty));
        let name = interner.intern_name(name);
        let name = interner.intern_attr(AttrData::String(name, None));
        let op = NewOp::new("func.func").attr("sym_name", name).attr("function_type", ty);
        let op = self.insert(op.regions(1));
        let region = self.ir.op(op).regions[0].1;
        (op, self.ir.add_block(region, inputs))
    }
}
