//! Rules about ops with regions: the number and the arguments of their blocks, and the values that
//! are passed between the op and its regions.
//!
//! As in MLIR, all problems are reported at the name of the op that contains the regions.

use rustc_hash::FxHashSet;

use super::{END_OF_REGION, Verifier};
use crate::op_traits::RMW_KINDS;
use crate::{AttrData, Block, Code, Form, Op, OpKind, Sign, Traits, Type, TypeData};

/// The types of the operands of a terminator.
type YieldedTypes = Vec<Type>;

impl Verifier<'_> {
    pub(super) fn check_regions(&mut self, op: Op) {
        let data = self.ir.op(op);
        if data.regions.is_empty() {
            return;
        }
        self.check_entry_blocks(op);
        if !self.problems.is_empty() {
            return;
        }
        if data.kind.has(Traits::SINGLE_BLOCK) {
            for (n, &(_, region)) in data.regions.iter().enumerate() {
                if self.dominators.contains_key(&region) {
                    let message = format!("expects region #{n} to have 0 or 1 blocks");
                    self.report(op, Code::SeveralBlocks, message);
                    return;
                }
            }
        }
        if self.has_wrong_terminator(op) || data.form == Form::Generic && self.has_missing_block(op)
        {
            return;
        }
        if let Some(rule) = self.rules(op).regions {
            rule(self, op);
        }
    }

    /// Reports a branch to the first block of a region.
    fn check_entry_blocks(&mut self, op: Op) {
        for n in 0..self.ir.op(op).regions.len() {
            let Some(block) = self.region(op, n).and_then(|it| self.entry_block(it)) else {
                continue;
            };
            if !self.ir.block(block).preds.is_empty() {
                let message = "the entry block of a region may not have predecessors";
                self.report(op, Code::BranchToEntry, message);
                return;
            }
        }
    }

    /// Reports a block that ends with a terminator other than the implicit one of its op. Returns
    /// true if there is one.
    fn has_wrong_terminator(&mut self, op: Op) -> bool {
        let data = self.ir.op(op);
        let Some(end) = data.kind.implicit_terminator() else { return false };
        for n in 0..data.regions.len() {
            let block = self.region(op, n).and_then(|it| self.entry_block(it));
            let Some(last) = block.and_then(|it| self.ir.last_op(it)) else { continue };
            let kind = self.ir.op(last).kind;
            // An unknown op may be a terminator, but it is not the implicit one.
            let is_other = match kind {
                OpKind::Unknown => data.form == Form::Generic,
                // A terminator that requires another parent op is reported at the terminator.
                _ => kind.has(Traits::TERMINATOR) && kind.spec().parents.is_empty(),
            };
            if is_other && !self.ir.is_broken(last) {
                let message = format!(
                    "expects regions to end with '{}', found '{}'",
                    end.spec().name,
                    self.ir.op_name(last)
                );
                self.report(op, Code::WrongTerminator, message);
                return true;
            }
        }
        false
    }

    /// Reports a region without a block. This is possible in the generic form only. Returns true if
    /// there is one.
    fn has_missing_block(&mut self, op: Op) -> bool {
        let data = self.ir.op(op);
        if data.kind.implicit_terminator().is_none() {
            return false;
        }
        let n_required = data.regions.len().min(self.rules(op).n_required_blocks);
        let is_missing =
            |n: usize| self.region(op, n).is_some_and(|it| self.entry_block(it).is_none());
        let Some(n) = (0..n_required).find(|&n| is_missing(n)) else {
            return false;
        };
        self.report(op, Code::NoBlock, format!("region #{n} needs a block"));
        true
    }

    /// The types that the terminator of a block yields. Empty if the terminator is implicit; `None`
    /// if they are unknown.
    fn yielded_types(&self, op: Op, block: Block) -> Option<YieldedTypes> {
        let data = self.ir.op(op);
        let last = self.ir.last_op(block);
        let is_implicit = data.form == Form::Custom && data.kind.implicit_terminator().is_some();
        match last {
            Some(it) if self.ir.op(it).kind.has(Traits::TERMINATOR) => {
                super::is_understood(self.ir, it).then(|| self.operand_types(it))
            }
            // An unknown op may be the terminator unless the op has implicit terminators.
            Some(it) if self.ir.op(it).kind == OpKind::Unknown && !is_implicit => None,
            _ => is_implicit.then(Vec::new),
        }
    }

    /// Reports the first difference between two lists of types. Returns true if there is none.
    /// `from` and `to` describe the source and the receiver of the values in messages.
    pub(super) fn check_flow(
        &mut self,
        op: Op,
        given: &[Type],
        wanted: &[Type],
        from: &str,
        to: &str,
    ) -> bool {
        if given.len() != wanted.len() {
            let message =
                format!("{from} gives {} values, but {to} takes {}", given.len(), wanted.len());
            self.report(op, Code::RegionValues, message);
            return false;
        }
        for (n, (&a, &b)) in given.iter().zip(wanted).enumerate() {
            if self.is_type_clash(a, b) {
                let (a, b) = (self.type_text(a), self.type_text(b));
                let message = format!("{from} gives '{a}' as value #{n}, but {to} takes '{b}'");
                self.report(op, Code::RegionValues, message);
                return false;
            }
        }
        true
    }

    /// Verifies that the terminator of region `n`, which has one block, yields the types `wanted`.
    /// Returns true if so, or if another rule reports it.
    pub(super) fn check_yield(&mut self, op: Op, n: usize, wanted: &[Type]) -> bool {
        let Some(block) = self.region(op, n).and_then(|it| self.entry_block(it)) else {
            return true;
        };
        let Some(given) = self.yielded_types(op, block) else { return true };
        let last = self.ir.last_op(block);
        let name = self.ir.op(op).kind.spec().name;
        let has_rule = |it: Op| {
            self.rules(it).blocks.is_some() && self.ir.op(it).kind.spec().parents.contains(&name)
        };
        if last.is_some_and(has_rule) {
            // The rule of the terminator reports the problem.
            return true;
        }
        self.check_flow(op, &given, wanted, &format!("{END_OF_REGION}{n}"), "the op")
    }

    pub(crate) fn check_module(&mut self, op: Op) {
        let Some(region) = self.region(op, 0) else { return };
        let block = self.entry_block(region);
        if block.is_some_and(|it| !self.ir.block(it).args.is_empty()) {
            self.report(op, Code::RegionArguments, "region should have no arguments");
        } else if self.ir.op(op).form == Form::Generic && block.is_none() {
            self.report(op, Code::NoBlock, "region #0 ('bodyRegion') needs a block");
        } else {
            self.check_dialect_attributes(op);
        }
    }

    fn check_dialect_attributes(&mut self, op: Op) {
        for &(name, _) in &self.ir.extra(op).attrs {
            let name = self.ir.interner.str(name);
            if !name.contains('.') && !matches!(name, "sym_name" | "sym_visibility") {
                let message = format!(
                    "can only contain attributes with dialect-prefixed names, found: '{name}'"
                );
                self.report(op, Code::AttributeName, message);
                return;
            }
        }
    }

    /// Verifies that the arguments of the body of a function have the types of its inputs.
    pub(crate) fn check_entry_arguments(&mut self, op: Op) {
        let Some(ty) = self.function_type(op) else { return };
        let TypeData::Function { inputs, .. } = self.ir.interner.type_data(ty) else { return };
        let Some(block) = self.region(op, 0).and_then(|it| self.entry_block(it)) else { return };
        let given = self.argument_types(block);
        let inputs = inputs.to_vec();
        if given.len() != inputs.len() {
            let message = format!(
                "entry block must have {} arguments to match function signature",
                inputs.len()
            );
            self.report(op, Code::EntryArguments, message);
        } else if let Some(n) = (0..inputs.len()).find(|&n| self.is_type_clash(given[n], inputs[n]))
        {
            let message = format!(
                "entry block argument #{n} has type '{}', but the function takes '{}'",
                self.type_text(given[n]),
                self.type_text(inputs[n])
            );
            self.report(op, Code::EntryArguments, message);
        }
    }

    pub(crate) fn check_if_regions(&mut self, op: Op) {
        let results = self.result_types(op);
        let has_else = self.region(op, 1).and_then(|it| self.entry_block(it)).is_some()
            // `else {}` has a block with an implicit terminator.
            || self.ir.op(op).form == Form::Custom && self.ir.op(op).regions.len() > 1;
        if !results.is_empty() && !has_else {
            self.report(op, Code::MissingElse, "must have an else block if defining values");
            return;
        }
        for n in 0..self.ir.op(op).regions.len() {
            if !self.check_yield_or_empty(op, n, &results) {
                return;
            }
        }
    }

    /// Like [`Self::check_yield`]. An empty region in custom form ends with an implicit terminator.
    pub(super) fn check_yield_or_empty(&mut self, op: Op, n: usize, wanted: &[Type]) -> bool {
        let region = self.region(op, n);
        let is_empty = region.is_some_and(|it| self.entry_block(it).is_none());
        if is_empty && self.ir.op(op).form == Form::Custom {
            return self.check_flow(op, &[], wanted, &format!("{END_OF_REGION}{n}"), "the op");
        }
        self.check_yield(op, n, wanted)
    }

    /// Verifies a loop that carries its operands from number `first` on. The operands before them
    /// have the type of the induction variable.
    pub(crate) fn check_loop_values(&mut self, op: Op, first: usize) {
        let bound = self.operand_types(op).first().copied().filter(|_| first > 0);
        self.check_carried_values(op, first, bound.unwrap_or(Type::INDEX));
    }

    fn check_carried_values(&mut self, op: Op, first: usize, variable: Type) {
        let operands = self.operand_types(op);
        let results = self.result_types(op);
        let Some(inits) = operands.get(first..) else { return };
        if !self.check_flow(op, inits, &results, "the list of initial values", "the op") {
            return;
        }
        if let Some(block) = self.region(op, 0).and_then(|it| self.entry_block(it)) {
            let mut wanted = vec![variable];
            wanted.extend(&results);
            let given = self.argument_types(block);
            if !self.check_flow(op, &wanted, &given, "the loop", "its body") {
                return;
            }
        }
        self.check_yield_or_empty(op, 0, &results);
    }

    /// The segment sizes of the operands, if their sum is the number of operands.
    pub(super) fn segment_sizes(&self, op: Op) -> Option<Vec<usize>> {
        if self.ir.attr(op, "operandSegmentSizes").is_none() {
            let n_groups = self.ir.op(op).kind.spec().segments.len();
            return self.ir.op(op).operands.is_empty().then(|| vec![0; n_groups]);
        }
        self.ir.segment_sizes(op)
    }

    pub(crate) fn check_affine_for(&mut self, op: Op) {
        let Some(sizes) = self.segment_sizes(op) else { return };
        let [lower, upper, _] = sizes[..] else { return };
        self.check_carried_values(op, lower + upper, Type::INDEX);
    }

    pub(crate) fn check_scf_while(&mut self, op: Op) {
        let (Some(before), Some(after)) = (self.region(op, 0), self.region(op, 1)) else { return };
        let (Some(before), Some(after)) = (self.entry_block(before), self.entry_block(after))
        else {
            self.report(op, Code::NoBlock, "both regions need a block");
            return;
        };
        for (block, kind, text) in [
            (
                before,
                OpKind::ScfCondition,
                "expects the 'before' region to terminate with 'scf.condition'",
            ),
            (after, OpKind::ScfYield, "expects the 'after' region to terminate with 'scf.yield'"),
        ] {
            let last = self.ir.last_op(block);
            if last.is_none_or(|it| self.ir.op(it).kind != kind && !self.ir.is_broken(it)) {
                self.report(op, Code::WrongTerminator, text);
                return;
            }
        }
        let (inputs, outputs) = (self.argument_types(before), self.argument_types(after));
        let (operands, results) = (self.operand_types(op), self.result_types(op));
        if !self.check_flow(op, &operands, &inputs, "the op", "region #0") {
            return;
        }
        if let Some(given) = self.yielded_types(op, before)
            && let Some((_, given)) = given.split_first()
        {
            let ok = self.check_flow(op, given, &outputs, "the end of region #0", "region #1");
            if !ok || !self.check_flow(op, given, &results, "the end of region #0", "the op") {
                return;
            }
        }
        if let Some(given) = self.yielded_types(op, after) {
            self.check_flow(op, &given, &inputs, "the end of region #1", "region #0");
        }
    }

    pub(crate) fn check_scf_parallel(&mut self, op: Op) {
        let Some(sizes) = self.segment_sizes(op) else { return };
        let [lower, upper, step, inits] = sizes[..] else { return };
        let results = self.result_types(op);
        if lower == 0 {
            self.report(op, Code::NoBounds, "needs at least one loop: bounds and a step");
            return;
        }
        if lower != upper || lower != step {
            self.report(
                op,
                Code::BoundCount,
                "needs as many lower bounds as upper bounds and steps",
            );
            return;
        }
        let steps = self.ir.op(op).operands[2 * lower..3 * lower].iter();
        let mut steps = steps.filter_map(|it| it.value).filter(|&it| {
            let by = self.ir.defining_op(it);
            by.is_some_and(|by| self.ir.op(by).kind == OpKind::ArithConstant)
        });
        if steps.any(|it| self.constant_index(it).is_some_and(|it| it <= 0)) {
            self.report(op, Code::StepNotPositive, "a constant step must be positive");
            return;
        }
        let Some(block) = self.region(op, 0).and_then(|it| self.entry_block(it)) else { return };
        let arguments = self.argument_types(block);
        if arguments.len() != lower {
            let message = format!(
                "expects the same number of induction variables: {} as bound and step values: {lower}",
                arguments.len()
            );
            self.report(op, Code::EntryArguments, message);
            return;
        }
        if arguments.iter().any(|it| self.is_type_clash(*it, Type::INDEX)) {
            self.report(
                op,
                Code::EntryArguments,
                "expects arguments of type 'index' for its loops",
            );
            return;
        }
        let last = self.ir.last_op(block).filter(|&it| {
            let kind = self.ir.op(it).kind;
            kind.has(Traits::TERMINATOR) || self.ir.op(op).form == Form::Generic
        });
        let n_reduced = match last.map(|it| (it, self.ir.op(it))) {
            Some((last, _)) if self.ir.is_broken(last) => return,
            Some((_, it)) if it.kind == OpKind::ScfReduce => it.operands.len(),
            Some(_) => {
                self.report(
                    op,
                    Code::WrongTerminator,
                    "expects body to terminate with 'scf.reduce'",
                );
                return;
            }
            None => 0,
        };
        if results.len() != n_reduced {
            let message = format!(
                "expects number of results: {} to be the same as number of reductions: {n_reduced}",
                results.len()
            );
            self.report(op, Code::RegionValues, message);
        } else if results.len() != inits {
            let message = format!(
                "expects number of results: {} to be the same as number of initial values: {inits}",
                results.len()
            );
            self.report(op, Code::RegionValues, message);
        }
    }

    /// Verifies that each operand of `scf.reduce` has a region with two arguments of its type that
    /// ends with `scf.reduce.return`.
    pub(crate) fn check_scf_reduce(&mut self, op: Op) {
        let operands = self.operand_types(op);
        if operands.len() != self.ir.op(op).regions.len() {
            let message = format!(
                "expects number of operands: {} to be the same as number of regions: {}",
                operands.len(),
                self.ir.op(op).regions.len()
            );
            self.report(op, Code::RegionValues, message);
            return;
        }
        for (n, &ty) in operands.iter().enumerate() {
            let Some(block) = self.region(op, n).and_then(|it| self.entry_block(it)) else {
                self.report(op, Code::NoBlock, "the block inside reduce should not be empty");
                return;
            };
            let arguments = self.argument_types(block);
            if arguments.len() != 2 || arguments.iter().any(|it| self.is_type_clash(*it, ty)) {
                let message = format!(
                    "expected two block arguments with type '{}' in reduction region #{n}",
                    self.type_text(ty)
                );
                self.report(op, Code::EntryArguments, message);
                return;
            }
            let last = self.ir.last_op(block);
            let ends = OpKind::ScfReduceReturn;
            if last.is_none_or(|it| self.ir.op(it).kind != ends && !self.ir.is_broken(it)) {
                let message =
                    format!("the block of region #{n} should end with 'scf.reduce.return'");
                self.report(op, Code::WrongTerminator, message);
                return;
            }
        }
    }

    pub(crate) fn check_scf_forall(&mut self, op: Op) {
        let Some(sizes) = self.segment_sizes(op) else { return };
        let [lower, upper, step, outputs] = sizes[..] else { return };
        if !self.check_bounds_for_each_loop(op, &sizes) {
            return;
        }
        let operands = self.operand_types(op);
        let results = self.result_types(op);
        let from = lower + upper + step;
        if !self.check_flow(
            op,
            &operands[from..from + outputs],
            &results,
            "the list of outputs",
            "the op",
        ) {
            return;
        }
        let tensor = |it: &&Type| {
            let data = self.ir.interner.type_data(**it);
            !matches!(data, TypeData::Tensor { dims: Some(_), .. } | TypeData::Unknown)
        };
        if let Some(ty) = results.iter().find(tensor) {
            let message = format!("shares ranked tensors, not '{}'", self.type_text(*ty));
            self.report(op, Code::OperandType, message);
            return;
        }
        let Some(block) = self.region(op, 0).and_then(|it| self.entry_block(it)) else { return };
        let rank =
            match self.ir.attr(op, "staticUpperBound").map(|it| self.ir.interner.attr_data(it)) {
                Some(AttrData::DenseArray { values, .. }) => values.len(),
                _ => return,
            };
        if let Some(AttrData::Array(mapping)) =
            self.ir.attr(op, "mapping").map(|it| self.ir.interner.attr_data(it))
            && mapping.len() != rank
        {
            let message = format!("maps {} of {rank} loops", mapping.len());
            self.report(op, Code::WrongCount, message);
            return;
        }
        let mut wanted = vec![Type::INDEX; rank];
        wanted.extend(&results);
        let given = self.argument_types(block);
        self.check_flow(op, &wanted, &given, "the loop", "its body");
    }

    pub(crate) fn check_index_switch(&mut self, op: Op) {
        let results = self.result_types(op);
        let n_regions = self.ir.op(op).regions.len();
        if let Some(cases) = self.ir.attr(op, "cases")
            && let AttrData::DenseArray { values, .. } = self.ir.interner.attr_data(cases)
        {
            if values.len() + 1 != n_regions {
                let message =
                    format!("has {} case regions but {} case values", n_regions - 1, values.len());
                self.report(op, Code::CaseCount, message);
                return;
            }
            let mut seen = FxHashSet::default();
            let twice = (0..values.len()).find(|&n| !seen.insert(values[n]));
            if let Some(n) = twice {
                let value = self.ir.interner.short_attr_text(values[n]);
                let value = value.split(' ').next().unwrap_or_default();
                self.report(op, Code::DuplicateCase, format!("has duplicate case value: {value}"));
                return;
            }
        }
        for n in 0..n_regions {
            if self.region(op, n).is_some_and(|it| self.entry_block(it).is_none()) {
                // `default {}` has an implicit block.
                if self.ir.op(op).form == Form::Custom && n + 1 == n_regions {
                    self.check_yield_or_empty(op, n, &results);
                    return;
                }
                self.report(op, Code::NoBlock, format!("region #{n} needs a block"));
                return;
            }
            if !self.check_yield(op, n, &results) {
                return;
            }
        }
    }

    pub(crate) fn check_execute_region(&mut self, op: Op) {
        let results = self.result_types(op);
        let Some(region) = self.region(op, 0) else { return };
        let Some(entry) = self.entry_block(region) else {
            self.report(op, Code::NoBlock, "region needs to have at least one block");
            return;
        };
        if !self.ir.block(entry).args.is_empty() {
            self.report(op, Code::RegionArguments, "region cannot have any arguments");
            return;
        }
        for block in self.ir.blocks(region) {
            let is_yield =
                self.ir.last_op(block).is_some_and(|it| self.ir.op(it).kind == OpKind::ScfYield);
            if is_yield
                && let Some(given) = self.yielded_types(op, block)
                && !self.check_flow(op, &given, &results, "the end of region #0", "the op")
            {
                return;
            }
        }
    }

    pub(crate) fn check_affine_parallel(&mut self, op: Op) {
        if !self.check_bounds_for_each_index(op) {
            return;
        }
        let results = self.result_types(op);
        if let Some(attr) = self.ir.attr(op, "reductions")
            && let AttrData::Array(list) = self.ir.interner.attr_data(attr)
            && list.len() != results.len()
        {
            let message =
                format!("gives {} results, but names {} reductions", results.len(), list.len());
            self.report(op, Code::RegionValues, message);
            return;
        }
        for (at, ty) in results.iter().enumerate() {
            if !self.is_reducible(op, at, *ty) {
                let message = format!(
                    "a value of type '{}' cannot be reduced by this reduction",
                    self.type_text(*ty)
                );
                self.report(op, Code::OperandType, message);
                return;
            }
        }
        self.check_yield_or_empty(op, 0, &results);
    }

    /// Returns true if reduction `at` of `affine.parallel` accepts this type
    /// (`isResultTypeMatchAtomicRMWKind` of MLIR 19's `AffineOps.cpp`). Kinds of later versions are
    /// accepted.
    fn is_reducible(&self, op: Op, at: usize, ty: Type) -> bool {
        let interner = &self.ir.interner;
        let kind = self.ir.attr(op, "reductions").and_then(|it| match interner.attr_data(it) {
            AttrData::Array(list) => list.get(at).map(|it| interner.attr_data(*it)),
            _ => None,
        });
        let Some(AttrData::Int { value, .. }) = kind else { return true };
        let ty = interner.type_data(ty);
        let is_int = |wanted: Option<Sign>| matches!(ty, TypeData::Int { sign, .. } if wanted.is_none_or(|it| it == *sign));
        let name = usize::try_from(*value).ok().and_then(|it| RMW_KINDS.get(it)).copied();
        *ty == TypeData::Unknown
            || match name {
                Some("addf" | "mulf" | "maximumf" | "minimumf") => matches!(ty, TypeData::Float(_)),
                Some("addi" | "muli" | "ori" | "andi") => is_int(None),
                Some("maxs" | "mins") => is_int(Some(Sign::Signed)),
                Some("maxu" | "minu") => is_int(Some(Sign::Unsigned)),
                _ => true,
            }
    }
}
