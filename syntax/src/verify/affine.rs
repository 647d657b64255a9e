//! Checks the operands of affine maps and sets, and the accesses through maps.
//!
//! *Rule* (`isValidDim` and `isValidSymbol` of MLIR 19's `AffineOps.cpp`). A symbol is an `index`
//! that is constant where it is used: it is defined directly in the function (or module), it is a
//! constant or the size of a dimension, or it is computed from symbols. A dimension is a symbol, an
//! induction variable of an affine loop, or a value computed from dimensions. A result of an
//! unknown op may be either.
//!
//! *Cost.* The computation of an index is followed through at most [`MAX_STEPS`] ops. If it is
//! longer, the index is accepted.

use std::ops::Range;

use smallvec::SmallVec;

use super::Verifier;
use crate::{
    Attr, AttrData, Code, Def, Dim, Form, Op, OpKind, Region, Traits, Type, TypeData, Value,
};

/// Maximum number of ops that are followed from one operand.
pub(super) const MAX_STEPS: usize = 16;

impl Verifier<'_> {
    pub(crate) fn check_affine_for_bounds(&mut self, op: Op) {
        let Some(&[lower, upper, _]) = self.segment_sizes(op).as_deref() else { return };
        self.check_map_operands(op, 0, lower, "lowerBoundMap");
        self.check_map_operands(op, lower, upper, "upperBoundMap");
    }

    pub(crate) fn check_affine_parallel_bounds(&mut self, op: Op) {
        let n = self.map_input_counts(op, "lowerBoundsMap").map_or(0, |it| it.0 + it.1);
        let n_upper = self.ir.op(op).operands.len().saturating_sub(n);
        self.check_map_operands(op, 0, n, "lowerBoundsMap");
        self.check_map_operands(op, n, n_upper, "upperBoundsMap");
    }

    pub(crate) fn check_condition_operands(&mut self, op: Op) {
        let n = self.ir.op(op).operands.len();
        self.check_map_operands(op, 0, n, "condition");
    }

    /// Verifies that the operands from `first` on are valid indices, and that `map` has as many
    /// inputs.
    pub(crate) fn check_access_indices(&mut self, op: Op, first: usize) {
        self.check_map_operand_count(op, first);
        self.check_indices(op, first..self.ir.op(op).operands.len());
    }

    pub(crate) fn check_dma_indices(&mut self, op: Op) {
        for indices in self.dma_accesses(op).unwrap_or_default() {
            if self.problems.is_empty() {
                self.check_indices(op, indices);
            }
        }
    }

    /// Numbers of dimensions and symbols of a map or set.
    fn map_input_counts(&self, op: Op, attr: &str) -> Option<(usize, usize)> {
        match self.ir.interner.attr_data(self.ir.attr(op, attr)?) {
            AttrData::Affine(map) => Some((map.n_dims as usize, map.n_symbols as usize)),
            _ => None,
        }
    }

    /// Verifies that the `n` operands from `first` on are valid dimensions and symbols of the map.
    fn check_map_operands(&mut self, op: Op, first: usize, n: usize, attr: &str) {
        let Some((n_dims, n_symbols)) = self.map_input_counts(op, attr) else { return };
        if !self.problems.is_empty() || n != n_dims + n_symbols {
            return;
        }
        for at in 0..n {
            // If another map of the op is unknown, operands may be missing here. This is not
            // reported.
            let Some(operand) = self.ir.op(op).operands.get(first + at) else { return };
            let Some(value) = operand.value else { continue };
            let is_symbol = at >= n_dims;
            if !self.is_affine_operand(op, value, is_symbol) {
                let what = if is_symbol { "symbol" } else { "dimension id" };
                self.report(op, Code::AffineOperand, format!("operand cannot be used as a {what}"));
                return;
            }
        }
    }

    /// Verifies that `map` has as many inputs as there are operands from `first` on. Only for the
    /// generic form; the parser checks the custom form.
    pub(crate) fn check_map_operand_count(&mut self, op: Op, first: usize) {
        let n = self.ir.op(op).operands.len().saturating_sub(first);
        if self.ir.op(op).form == Form::Generic
            && let Some((n_dims, n_symbols)) = self.map_input_counts(op, "map")
            && n != n_dims + n_symbols
        {
            let message =
                format!("{n} operands for a map of {n_dims} dimensions and {n_symbols} symbols");
            self.report(op, Code::WrongCount, message);
        }
    }

    fn check_indices(&mut self, op: Op, at: Range<usize>) {
        for at in at {
            let Some(operand) = self.ir.op(op).operands.get(at) else { return };
            let Some(value) = operand.value else { continue };
            if !self.is_affine_operand(op, value, false) {
                let message = "index must be a valid dimension or symbol identifier";
                self.report(op, Code::AffineOperand, message);
                return;
            }
        }
    }

    fn is_affine_operand(&self, op: Op, value: Value, is_symbol: bool) -> bool {
        let Some(scope) = self.affine_scope(op) else { return true };
        let mut steps = MAX_STEPS;
        self.is_dim_or_symbol(scope, value, is_symbol, &mut steps)
    }

    /// The region whose direct values are symbols; `None` if it is unknown.
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

    fn is_dim_or_symbol(
        &self,
        scope: Region,
        value: Value,
        is_symbol: bool,
        steps: &mut usize,
    ) -> bool {
        let ir = self.ir;
        if *steps == 0 || self.value_type(value) != Type::INDEX {
            // Another rule reports a wrong type.
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
            Def::Result(defining_op, _) => {
                let data = ir.op(defining_op);
                data.parent == scope
                    || match data.kind {
                        OpKind::Unknown | OpKind::ArithConstant => true,
                        OpKind::MemrefDim => self.is_symbolic_size(scope, defining_op, steps),
                        OpKind::AffineApply => {
                            let mut values = data.operands.iter().filter_map(|it| it.value);
                            values.all(|it| self.is_dim_or_symbol(scope, it, is_symbol, steps))
                        }
                        // A rule of versions after LLVM 19: a value computed from symbols is a
                        // symbol.
                        kind if kind.is_pure() => {
                            let mut values = data.operands.iter().filter_map(|it| it.value);
                            values.all(|it| {
                                matches!(self.value_type(it), Type::INDEX | Type::UNKNOWN)
                                    && self.is_dim_or_symbol(scope, it, true, steps)
                            })
                        }
                        _ => false,
                    }
            }
        }
    }

    /// Returns true if the result of `memref.dim` is a symbol (`isDimOpValidSymbol`): the size of a
    /// memref that is defined outside of the loops, or a size that is passed as a symbol to
    /// `memref.alloc`.
    fn is_symbolic_size(&self, scope: Region, dim: Op, steps: &mut usize) -> bool {
        let ir = self.ir;
        let operand = |op: Op, at: usize| ir.op(op).operands.get(at).and_then(|it| it.value);
        let (Some(mut memref), Some(index)) = (operand(dim, 0), operand(dim, 1)) else {
            return true;
        };
        loop {
            let (region, defining_op) = match ir.value(memref).def {
                Def::Argument(block, _) => (ir.block(block).region, None),
                Def::Result(defining_op, _) => (ir.op(defining_op).parent, Some(defining_op)),
            };
            let parent = ir.region(region).parent.map(|it| ir.op(it).kind);
            let is_top = parent.is_none_or(|it| it == OpKind::Unknown || it.has(Traits::ISOLATED));
            if region == scope || is_top || *steps == 0 {
                return true;
            }
            *steps -= 1;
            let Some(defining_op) = defining_op else { return false };
            let data = ir.op(defining_op);
            match data.kind {
                OpKind::Unknown | OpKind::MemrefSubview | OpKind::MemrefView => return true,
                OpKind::MemrefCast => match operand(defining_op, 0) {
                    Some(source) => memref = source,
                    None => return true,
                },
                OpKind::MemrefAlloc => {
                    let Some(dims) = self.dims(self.value_type(memref)) else { return true };
                    let index = self.constant_index(index).and_then(|it| usize::try_from(it).ok());
                    let Some(index) = index else { return false };
                    let Some(Dim::Dynamic) = dims.get(index) else { return index < dims.len() };
                    let n = dims[..index].iter().filter(|it| **it == Dim::Dynamic).count();
                    return operand(defining_op, n)
                        .is_none_or(|it| self.is_dim_or_symbol(scope, it, true, steps));
                }
                _ => return false,
            }
        }
    }

    /// The integer in the attribute `value` of the op that defines a value.
    pub(super) fn constant_index(&self, value: Value) -> Option<i128> {
        let Def::Result(defining_op, _) = self.ir.value(value).def else { return None };
        match self.ir.interner.attr_data(self.ir.attr(defining_op, "value")?) {
            AttrData::Int { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// The number of results of the attribute `map` of an op.
    fn n_map_results(&self, op: Op) -> Option<usize> {
        self.n_results_of_map(op, "map")
    }

    fn n_results_of_map(&self, op: Op, attr: &str) -> Option<usize> {
        match self.ir.interner.attr_data(self.ir.attr(op, attr)?) {
            AttrData::Affine(map) => Some(map.n_results()),
            _ => None,
        }
    }

    pub(crate) fn check_affine_apply(&mut self, op: Op) {
        if let Some(n) = self.n_map_results(op).filter(|n| *n != 1) {
            let message = format!("the map of `affine.apply` has one result, not {n}");
            self.report(op, Code::WrongCount, message);
        }
    }

    /// Verifies that `map` has one result for each dimension of the memref (operand `at`), and that
    /// the loaded or stored value has the element type of the memref.
    pub(crate) fn check_affine_access(&mut self, op: Op, at: usize) {
        self.check_affine_access_type(op, at, false);
    }

    /// Like [`Self::check_affine_access`] for a vector of elements.
    pub(crate) fn check_affine_vector_access(&mut self, op: Op, at: usize) {
        self.check_affine_access_type(op, at, true);
    }

    fn check_affine_access_type(&mut self, op: Op, at: usize, is_vector: bool) {
        let memref = self.operand_type(op, at);
        let rank = self.dims(memref).map(<[Dim]>::len);
        if let (Some(n), Some(rank)) = (self.n_map_results(op), rank)
            && n != rank
        {
            let message = format!("gives {n} indices for a memref of rank {rank}");
            self.report(op, Code::IndexCount, message);
            return;
        }
        let (operands, results) = self.all_types(op);
        let moved = if at == 0 { results.first() } else { operands.first() };
        let Some(&moved) = moved else { return };
        let element = self.ir.interner.element_type(memref);
        let given = if is_vector { self.ir.interner.element_type(moved) } else { moved };
        if self.is_type_clash(given, element) {
            let message = format!(
                "accesses '{}', but the memref contains '{}'",
                self.type_text(given),
                self.type_text(element)
            );
            self.report(op, Code::ElementType, message);
        }
    }

    /// The operand ranges of the indices of each access of `affine.dma_start` or `affine.dma_wait`.
    /// Each range directly follows its memref. `None` if a map is missing.
    fn dma_accesses(&self, op: Op) -> Option<SmallVec<[Range<usize>; 3]>> {
        let maps: &[&str] = match self.ir.op(op).kind {
            OpKind::AffineDmaStart => &["src_map", "dst_map", "tag_map"],
            _ => &["tag_map"],
        };
        let mut at = 0;
        let access = |name: &&str| {
            let (n_dims, n_symbols) = self.map_input_counts(op, name)?;
            let indices = at + 1..at + 1 + n_dims + n_symbols;
            at = indices.end;
            Some(indices)
        };
        maps.iter().map(access).collect()
    }

    /// Checks the operands of `affine.dma_start` and `affine.dma_wait`: memrefs, each followed by
    /// the inputs of its map, then the number of elements, and optionally a stride and the number
    /// of elements per stride (`verifyInvariantsImpl` of MLIR 19's `AffineOps.cpp`).
    pub(crate) fn check_dma_operands(&mut self, op: Op) {
        let Some(accesses) = self.dma_accesses(op) else { return };
        let is_start = self.ir.op(op).kind == OpKind::AffineDmaStart;
        let n = self.ir.op(op).operands.len();
        let wanted = accesses.last().map_or(0, |it| it.end) + 1;
        if n != wanted && !(is_start && n == wanted + 2) {
            let message = format!("expected {wanted} operands for these maps, but found {n}");
            self.report(op, Code::WrongCount, message);
            return;
        }
        for indices in accesses {
            let ty = self.operand_type(op, indices.start - 1);
            if !matches!(
                self.ir.interner.type_data(ty),
                TypeData::MemRef { .. } | TypeData::Unknown
            ) {
                let message = format!("copies between memrefs, not '{}'", self.type_text(ty));
                self.report(op, Code::OperandType, message);
                return;
            }
            for at in indices {
                let ty = self.operand_type(op, at);
                if self.is_type_clash(ty, Type::INDEX) {
                    let message =
                        format!("an index must be of type 'index', not '{}'", self.type_text(ty));
                    self.report(op, Code::OperandType, message);
                    return;
                }
            }
        }
    }

    pub(crate) fn check_delinearize_index(&mut self, op: Op) {
        // In LLVM 19 the basis consists of operands only. Later versions may omit its first
        // element.
        let n_basis =
            match self.ir.attr(op, "static_basis").map(|it| self.ir.interner.attr_data(it)) {
                Some(AttrData::DenseArray { values, .. }) => values.len(),
                Some(_) => return,
                None => self.ir.op(op).operands.len() - 1,
            };
        let n = self.ir.op(op).results.len();
        if n != n_basis && n != n_basis + 1 {
            let message = format!("gives {n} indices for a basis of {n_basis}");
            self.report(op, Code::WrongCount, message);
            return;
        }
        let results = self.result_types(op);
        if let Some(it) = results.into_iter().find(|it| self.is_type_clash(*it, Type::INDEX)) {
            let message = format!("gives indices of type 'index', not '{}'", self.type_text(it));
            self.report(op, Code::ResultType, message);
        }
    }

    /// Checks that an `affine.parallel` has as many steps and groups of bounds as indices.
    /// Otherwise reports the difference and returns false.
    pub(super) fn check_bounds_for_each_index(&mut self, op: Op) -> bool {
        let Some(entry) = self.region(op, 0).and_then(|it| self.entry_block(it)) else {
            return true;
        };
        let n = self.ir.block(entry).args.len();
        let lists = [
            ("steps", "steps"),
            ("lowerBoundsGroups", "groups of lower bounds"),
            ("upperBoundsGroups", "groups of upper bounds"),
        ];
        // The parser checks the groups of the custom form.
        let n_lists = if self.ir.op(op).form == Form::Generic { lists.len() } else { 1 };
        for &(name, what) in &lists[..n_lists] {
            let list = self.ir.attr(op, name).map(|it| self.ir.interner.attr_data(it));
            let n_listed = match list {
                Some(AttrData::Array(list)) => list.len(),
                Some(AttrData::Elements(_, ty)) => match self.dims(*ty) {
                    Some([Dim::Fixed(n)]) => *n as usize,
                    _ => continue,
                },
                _ => continue,
            };
            if n_listed != n {
                let message = format!("has {n_listed} {what} for {n} indices");
                self.report(op, Code::WrongCount, message);
                return false;
            }
        }
        for (groups, map, what) in [
            ("lowerBoundsGroups", "lowerBoundsMap", "lower"),
            ("upperBoundsGroups", "upperBoundsMap", "upper"),
        ] {
            let n_bounds = self.n_results_of_map(op, map).map(|it| it as i128);
            let n_grouped = self.ir.attr(op, groups).and_then(|it| self.sum_of_elements(it, n));
            if let (Some(a), Some(b)) = (n_grouped, n_bounds)
                && a != b
            {
                let message = format!("has {b} {what} bounds, but groups of {a}");
                self.report(op, Code::WrongCount, message);
                return false;
            }
        }
        true
    }

    /// The sum of the `n` elements of `dense<..>`, if none is negative.
    fn sum_of_elements(&self, elements: Attr, n: usize) -> Option<i128> {
        let list = self.ir.interner.element_ints(elements, n)?;
        list.into_iter().map(|it| u64::try_from(it).ok().map(i128::from)).sum()
    }
}
