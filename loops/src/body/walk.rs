//! The walk over a function, which records the index values, loads, stores and effects of each op.
//!
//! *Law.* Each value of type `index` gets a form: an affine form, a new symbol, or a local of the
//! enclosing loops. An unknown op is recorded as an effect. *Cost.* One visit per op.

use noisy_syntax::affine::{Affine, AffineBody as Exprs};
use noisy_syntax::{
    AttrData, Block, Def, Interner, Ir, Op, OpKind, Region, Type, TypeData, Value, dialect,
};

use super::{Access, AnalysisFailure, Constraint, FunctionBody, LoopScope, NestLoop, ScopeKind};
use crate::form::{LinearForm, LinearTerm, NotAffine};
use crate::memory::MemrefView;

impl FunctionBody {
    /// Sets the form of a value that is defined outside a nest.
    pub(super) fn set_outer_form(&mut self, ir: &Ir, value: Value, outside: Region, left: usize) {
        if self.forms.contains_key(&value) || ir.value(value).ty != Type::INDEX {
            return;
        }
        // A region argument inside the nest is not an outer value.
        if !ir.region_encloses(ir.def_region(value), outside) {
            return;
        }
        if let (Def::Result(op, _), Some(left)) = (ir.value(value).def, left.checked_sub(1)) {
            let kind = ir.op(op).kind;
            if matches!(kind, OpKind::AffineApply | OpKind::ArithConstant) {
                for it in ir.op(op).operands.iter().filter_map(|it| it.value) {
                    self.set_outer_form(ir, it, outside, left);
                }
                if self.set_result_form(ir, op, kind) {
                    return;
                }
            }
        }
        self.add_symbol_or_local(ir, value, 0);
    }

    pub(super) fn n_loops(&self, scope: Option<u32>) -> u32 {
        let innermost =
            self.scopes_around(scope).find_map(|it| match self.scopes[it as usize].kind {
                ScopeKind::Loop(at) => Some(self.loops[at as usize].depth),
                _ => None,
            });
        innermost.unwrap_or(0)
    }

    pub(super) fn add_scope(
        &mut self,
        parent: Option<u32>,
        op: Op,
        kind: ScopeKind,
        when: Vec<Vec<Constraint>>,
        is_exact: bool,
    ) -> u32 {
        let depth = parent.map_or(0, |it| self.scopes[it as usize].depth + 1);
        self.scopes.push(LoopScope { parent, op, kind, depth, constraints: when, is_exact });
        self.scopes.len() as u32 - 1
    }

    /// Adds a loop with unknown bounds and step, and returns its scope.
    pub(super) fn add_unknown_loop(&mut self, op: Op, parent: Option<u32>) -> u32 {
        let at = self.loops.len() as u32;
        let depth = self.n_loops(parent) + 1;
        let it = NestLoop { op, index: 0, iv: None, depth, lower: None, upper: None, step: None };
        self.loops.push(it);
        self.add_scope(parent, op, ScopeKind::Loop(at), vec![Vec::new()], false)
    }

    pub(super) fn visit_region(&mut self, ir: &Ir, region: Region, scope: Option<u32>) {
        let blocks = ir.blocks(region);
        // Several blocks may run in any order, any number of times.
        let scope = match (blocks.len(), ir.region(region).parent) {
            (2.., Some(op)) => Some(self.add_unknown_loop(op, scope)),
            _ => scope,
        };
        for block in blocks {
            self.name_arguments(ir, block, scope);
            for op in ir.block_ops(block) {
                self.visit_op(ir, op, scope);
            }
        }
    }

    /// Adds forms for block arguments that are not induction variables.
    pub(super) fn name_arguments(&mut self, ir: &Ir, block: Block, scope: Option<u32>) {
        let depth = self.n_loops(scope);
        for &value in &ir.block(block).args {
            if !self.forms.contains_key(&value) {
                self.add_symbol_or_local(ir, value, depth);
            }
        }
    }

    /// Makes a value a symbol (at depth 0) or a local.
    pub(super) fn add_symbol_or_local(&mut self, ir: &Ir, value: Value, depth: u32) {
        if depth > 0 {
            self.depths.insert(value, depth);
        }
        if ir.value(value).ty == Type::INDEX {
            let term = if depth > 0 { LinearTerm::Local(value) } else { LinearTerm::Symbol(value) };
            self.forms.insert(value, LinearForm::term(term));
        }
    }

    /// Returns the form of an operand of type `index`.
    pub(super) fn operand_form(&self, ir: &Ir, op: Op, at: usize) -> Result<LinearForm, NotAffine> {
        let value = ir.op(op).operands.get(at).and_then(|it| it.value).ok_or(NotAffine)?;
        self.forms.get(&value).cloned().ok_or(NotAffine)
    }

    pub(super) fn operand_forms(
        &self,
        ir: &Ir,
        op: Op,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<LinearForm>, NotAffine> {
        range.map(|at| self.operand_form(ir, op, at)).collect()
    }

    /// Returns the forms of the results of a map, applied to the operands from index `at` on.
    pub(super) fn map_forms(
        &mut self,
        ir: &Ir,
        op: Op,
        map: &Affine,
        at: usize,
    ) -> Result<Vec<LinearForm>, NotAffine> {
        let (n_dims, n) = (map.n_dims as usize, map.n_inputs());
        let dims = self.operand_forms(ir, op, at..at + n_dims)?;
        let symbols = self.operand_forms(ir, op, at + n_dims..at + n)?;
        match &map.body {
            Exprs::Map(exprs) => {
                exprs.iter().map(|it| self.quotients.form(it, &dims, &symbols)).collect()
            }
            Exprs::Set(_) => Err(NotAffine),
        }
    }

    pub(super) fn visit_op(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let kind = ir.op(op).kind;
        match kind {
            OpKind::AffineFor => self.affine_for(ir, op, scope),
            OpKind::AffineParallel => self.affine_parallel(ir, op, scope),
            OpKind::AffineIf => self.affine_if(ir, op, scope),
            OpKind::ScfFor => self.scf_for(ir, op, scope),
            OpKind::AffineLoad | OpKind::MemrefLoad => self.add_access(ir, op, scope, 0, None),
            OpKind::AffineStore | OpKind::MemrefStore => self.add_access(ir, op, scope, 1, None),
            OpKind::AffineVectorLoad => {
                self.add_access(ir, op, scope, 0, Some(AnalysisFailure::Vector));
            }
            OpKind::AffineVectorStore => {
                self.add_access(ir, op, scope, 1, Some(AnalysisFailure::Vector));
            }
            OpKind::MemrefAtomicRmw => {
                self.add_access(ir, op, scope, 1, Some(AnalysisFailure::Atomic));
            }
            OpKind::AffinePrefetch | OpKind::MemrefPrefetch => {}
            _ => self.visit_other(ir, op, kind, scope),
        }
        if !matches!(kind, OpKind::AffineApply | OpKind::ArithConstant)
            || !self.set_result_form(ir, op, kind)
        {
            let depth = self.result_depth(ir, op, kind, scope);
            for &value in &ir.op(op).results {
                self.add_symbol_or_local(ir, value, depth);
            }
        }
    }

    /// Sets the form of the result of an `affine.apply` or a constant. Returns false if it is not
    /// affine.
    fn set_result_form(&mut self, ir: &Ir, op: Op, kind: OpKind) -> bool {
        let Some(&result) = ir.op(op).results.first() else { return false };
        if ir.value(result).ty != Type::INDEX {
            return false;
        }
        let attr = ir.attr(op, if kind == OpKind::AffineApply { "map" } else { "value" });
        let form = match attr.map(|it| ir.interner.attr_data(it)) {
            Some(AttrData::Int { value, .. }) => Ok(LinearForm::constant(*value)),
            Some(AttrData::Affine(map)) => {
                let map = map.clone();
                self.map_forms(ir, op, &map, 0).and_then(|mut it| it.pop().ok_or(NotAffine))
            }
            _ => Err(NotAffine),
        };
        let Ok(form) = form else { return false };
        let depth = self.operand_depth(ir, op);
        if depth > 0 {
            self.depths.insert(result, depth);
        }
        self.forms.insert(result, form);
        true
    }

    fn operand_depth(&self, ir: &Ir, op: Op) -> u32 {
        let values = ir.op(op).operands.iter();
        values.filter_map(|it| it.value).map(|it| self.depth_of(it)).max().unwrap_or(0)
    }

    fn result_depth(&self, ir: &Ir, op: Op, kind: OpKind, scope: Option<u32>) -> u32 {
        if memory_effects(kind).is_some_and(<[_]>::is_empty) && ir.op(op).regions.is_empty() {
            self.operand_depth(ir, op)
        } else {
            self.n_loops(scope)
        }
    }

    fn visit_other(&mut self, ir: &Ir, op: Op, kind: OpKind, scope: Option<u32>) {
        let regions = &ir.op(op).regions;
        let is_choice = matches!(kind, OpKind::ScfIf | OpKind::ScfIndexSwitch);
        for (at, &(_, region)) in regions.iter().enumerate() {
            let inner = if is_choice {
                self.add_scope(scope, op, ScopeKind::Choice(at as u32), vec![Vec::new()], false)
            } else {
                self.add_unknown_loop(op, scope)
            };
            self.visit_region(ir, region, Some(inner));
        }
        let is_quiet = memory_effects(kind)
            .is_some_and(|it| it.iter().all(|it| matches!(it.0, dialect::Access::Allocate)));
        if !is_quiet {
            self.effects.push((op, scope));
        }
    }

    pub(super) fn add_access(
        &mut self,
        ir: &Ir,
        op: Op,
        scope: Option<u32>,
        at: usize,
        why: Option<AnalysisFailure>,
    ) {
        let data = ir.op(op);
        let Some(memref) = data.operands.get(at).and_then(|it| it.value) else {
            self.effects.push((op, scope));
            return;
        };
        let element = match why {
            Some(why) => Err(why),
            None => {
                let map = ir.attr(op, "map").map(|it| ir.interner.attr_data(it));
                let found = match map {
                    Some(AttrData::Affine(map)) => {
                        let map = map.clone();
                        self.map_forms(ir, op, &map, at + 1)
                    }
                    _ => self.operand_forms(ir, op, at + 1..data.operands.len()),
                };
                found.map_err(|NotAffine| AnalysisFailure::NotAffine)
            }
        };
        let (has_rank, has_layout) = match ir.interner.type_data(ir.value(memref).ty) {
            TypeData::MemRef { dims: Some(dims), rest, .. } => (
                element.as_ref().is_ok_and(|it| it.len() == dims.len()),
                rest.iter().any(|it| changes_layout(ir.interner.attr_data(*it), &ir.interner)),
            ),
            _ => (false, false),
        };
        let element = match element {
            Ok(_) if !has_rank => Err(AnalysisFailure::NotAffine),
            // With a layout map, different indices may address the same element.
            Ok(_) if has_layout => Err(AnalysisFailure::Alias),
            it => it,
        };
        let is_bad = |it: u32| match self.scopes[it as usize].kind {
            ScopeKind::Loop(at) => self.loops[at as usize].step.is_some_and(|it| it <= 0),
            _ => false,
        };
        let element = if self.scopes_around(scope).any(is_bad) {
            Err(AnalysisFailure::Step)
        } else {
            element
        };
        let place = MemrefView::of(ir, memref, &|it| self.depth_of(it));
        let is_store = at == 1;
        self.accesses.push(Access { op, scope, memref: place, is_store, subscripts: element });
    }
}

/// Returns the memory effects of an op, without those of its regions. `None` if they are unknown.
fn memory_effects(kind: OpKind) -> Option<&'static [(dialect::Access, dialect::Buffer)]> {
    match kind {
        OpKind::Unknown => None,
        _ if !kind.is_op() => None,
        _ => match kind.spec().effects {
            dialect::Effects::Known(all) => Some(all),
            dialect::Effects::Unknown => None,
        },
    }
}

/// Returns true if an attribute of a memref type changes the layout of its elements.
fn changes_layout(attr: &AttrData, interner: &Interner) -> bool {
    match attr {
        AttrData::Affine(map) => *map != Affine::identity(map.n_dims),
        AttrData::Text(text, _) => interner.str(*text).starts_with("strided<"),
        _ => false,
    }
}
