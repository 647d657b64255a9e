//! What may stand in affine maps and sets, and what is accessed through them.
//!
//! *Rule* (`isValidDim` and `isValidSymbol` of MLIR 19's `AffineOps.cpp`). A symbol is an `index` that does not change where it is used:
//! defined directly in the function (or module), a constant, the size of a dimension, or computed from such. A dimension is a symbol, an
//! index of an affine loop, or computed from such. What an op computes that nobody knows may be either.
//!
//! *Cost.* What computes an index is followed over [`MAX_STEPS`] ops; what lies beyond is taken for right.

use super::Verifier;
use crate::{AttrData, Code, Def, Dim, Op, OpKind, Region, Traits, Type, Value};

/// How many ops are looked at behind one operand.
pub(super) const MAX_STEPS: usize = 16;

impl Verifier<'_> {
    pub(super) fn affine_rules(&mut self, op: Op) {
        use OpKind as K;
        let kind = self.ir.op(op).kind;
        match kind {
            K::AffineFor => {
                let Some(&[lower, upper, _]) = self.segments(op).as_deref() else { return };
                self.map_operands(op, 0, lower, "lowerBoundMap");
                self.map_operands(op, lower, upper, "upperBoundMap");
            }
            K::AffineParallel => {
                let n = self.map_shape(op, "lowerBoundsMap").map_or(0, |it| it.0 + it.1);
                let rest = self.ir.op(op).operands.len().saturating_sub(n);
                self.map_operands(op, 0, n, "lowerBoundsMap");
                self.map_operands(op, n, rest, "upperBoundsMap");
            }
            K::AffineIf => {
                let n = self.ir.op(op).operands.len();
                self.map_operands(op, 0, n, "condition");
            }
            K::AffineLoad | K::AffineVectorLoad | K::AffinePrefetch => self.indices(op, 1),
            K::AffineStore | K::AffineVectorStore => self.indices(op, 2),
            _ => {}
        }
    }

    /// Dimensions and symbols of a map or set.
    fn map_shape(&self, op: Op, attr: &str) -> Option<(usize, usize)> {
        match self.ir.interner.attr_data(self.ir.attr(op, attr)?) {
            AttrData::Affine(map) => Some((map.n_dims as usize, map.n_symbols as usize)),
            _ => None,
        }
    }

    /// The `n` operands from `first` on are what the map takes.
    fn map_operands(&mut self, op: Op, first: usize, n: usize, attr: &str) {
        let Some((n_dims, n_symbols)) = self.map_shape(op, attr) else { return };
        if !self.problems.is_empty() || n != n_dims + n_symbols {
            return;
        }
        for at in 0..n {
            let operand = self.ir.op(op).operands[first + at];
            let Some(value) = operand.value else { continue };
            let is_symbol = at >= n_dims;
            if !self.is_affine(op, value, is_symbol) {
                let what = if is_symbol { "symbol" } else { "dimension id" };
                self.tell(op, Code::AffineOperand, format!("operand cannot be used as a {what}"));
                return;
            }
        }
    }

    fn indices(&mut self, op: Op, first: usize) {
        for at in first..self.ir.op(op).operands.len() {
            let Some(value) = self.ir.op(op).operands[at].value else { continue };
            if !self.is_affine(op, value, false) {
                let message = "index must be a valid dimension or symbol identifier";
                self.tell(op, Code::AffineOperand, message);
                return;
            }
        }
    }

    fn is_affine(&self, op: Op, value: Value, is_symbol: bool) -> bool {
        let Some(scope) = self.affine_scope(op) else { return true };
        let mut steps = MAX_STEPS;
        self.is_valid(scope, value, is_symbol, &mut steps)
    }

    /// The region whose own values are symbols; `None` if that is not known.
    fn affine_scope(&self, op: Op) -> Option<Region> {
        let mut region = self.ir.op(op).parent;
        loop {
            let parent = self.ir.region(region).parent?;
            let kind = self.ir.op(parent).kind;
            if kind == OpKind::Unknown {
                return None;
            }
            if kind == OpKind::Chunk || kind.has(Traits::ISOLATED) {
                return Some(region);
            }
            region = self.ir.op(parent).parent;
        }
    }

    fn is_valid(&self, scope: Region, value: Value, is_symbol: bool, steps: &mut usize) -> bool {
        let ir = self.ir;
        if *steps == 0 || self.value_type(value) != Type::INDEX {
            // A wrong type is told of elsewhere.
            return true;
        }
        *steps -= 1;
        match ir.value(value).def {
            Def::Argument(block, _) => {
                let region = ir.block(block).region;
                let Some(parent) = ir.region(region).parent else { return true };
                let is_loop = matches!(
                    ir.op(parent).kind,
                    OpKind::AffineFor | OpKind::AffineParallel | OpKind::Unknown
                );
                region == scope || !is_symbol && is_loop || ir.op(parent).kind == OpKind::Unknown
            }
            Def::Result(definer, _) => {
                let data = ir.op(definer);
                data.parent == scope
                    || match data.kind {
                        OpKind::Unknown | OpKind::ArithConstant | OpKind::MemrefDim => true,
                        OpKind::AffineApply => {
                            let mut values = data.operands.iter().filter_map(|it| it.value);
                            values.all(|it| self.is_valid(scope, it, is_symbol, steps))
                        }
                        // Newer than LLVM 19: what is computed from symbols is one.
                        kind if kind.has(Traits::PURE) && data.regions.is_empty() => {
                            let mut values = data.operands.iter().filter_map(|it| it.value);
                            values.all(|it| self.is_valid(scope, it, true, steps))
                        }
                        kind => kind.spec().name.starts_with("memref."),
                    }
            }
        }
    }

    /// The number of results of the map that an op has.
    fn n_map_results(&self, op: Op) -> Option<usize> {
        match self.ir.interner.attr_data(self.ir.attr(op, "map")?) {
            AttrData::Affine(map) => Some(map.n_results()),
            _ => None,
        }
    }

    pub(super) fn applied(&mut self, op: Op) {
        if let Some(n) = self.n_map_results(op).filter(|n| *n != 1) {
            let message = format!("the map of `affine.apply` has one result, not {n}");
            self.tell(op, Code::ResultCount, message);
        }
    }

    /// The map has an index for each dimension of the memref (operand `at`), and what is read or written is of its element type.
    pub(super) fn accessed(&mut self, op: Op, at: usize) {
        let memref = self.operand_type(op, at);
        let rank = self.dims(memref).map(<[Dim]>::len);
        if let (Some(n), Some(rank)) = (self.n_map_results(op), rank)
            && n != rank
        {
            let message = format!("gives {n} indices for a memref of rank {rank}");
            self.tell(op, Code::IndexCount, message);
            return;
        }
        let is_vector =
            matches!(self.ir.op(op).kind, OpKind::AffineVectorLoad | OpKind::AffineVectorStore);
        let (operands, results) = self.all_types(op);
        let moved = if at == 0 { results.first() } else { operands.first() };
        let Some(&moved) = moved else { return };
        let element = self.ir.interner.element_type(memref);
        let given = if is_vector { self.ir.interner.element_type(moved) } else { moved };
        if self.clash(given, element) {
            let message = format!(
                "moves '{}', but the memref holds '{}'",
                self.show(given),
                self.show(element)
            );
            self.tell(op, Code::ElementType, message);
        }
    }

    pub(super) fn delinearized(&mut self, op: Op) {
        // In LLVM 19 the basis is operands only; newer ones may leave the first out.
        let n_basis =
            match self.ir.attr(op, "static_basis").map(|it| self.ir.interner.attr_data(it)) {
                Some(AttrData::DenseArray { values, .. }) => values.len(),
                Some(_) => return,
                None => self.ir.op(op).operands.len() - 1,
            };
        let n = self.ir.op(op).results.len();
        if n != n_basis && n != n_basis + 1 {
            let message = format!("gives {n} indices for a basis of {n_basis}");
            self.tell(op, Code::ResultCount, message);
        }
    }
}
