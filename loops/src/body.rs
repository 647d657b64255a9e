//! What of a function matters to dependences: its loops and guards, and who reads and writes which element under them.
//!
//! *Scopes* form a tree: a loop, a guard, a region of which nothing is known. Each has the constraints under which its inside runs, a union of
//! conjunctions over the variables of the loops around. A loop that is not understood is one whose variable may take any value,
//! in growing order; what follows from it is then a bound and not the truth (`is_exact`).
//!
//! *Values* of indices are affine forms of induction variables, of symbols (the same in all iterations), and of locals (the same in each
//! iteration of the loops around their definition). A value that no form says and that was made under k loops is a local of depth k.
//!
//! *Cost.* One walk over the function, no recursion but into regions.

use noisy_syntax::affine::{Affine, Body as Exprs};
use noisy_syntax::{
    AttrData, Block, Def, Interner, Ir, Op, OpKind, Region, Type, TypeData, Value, dialect,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::form::{Form, NotAffine, Quotients, Term};
use crate::memory::Place;

/// A form that is 0, or not negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The form.
    pub form: Form,
    /// Whether it is 0.
    pub is_equality: bool,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The op; that of `affine.parallel` has several.
    pub op: Op,
    /// Which of its loops.
    pub index: u32,
    /// Its variable, if it has one.
    pub iv: Option<Value>,
    /// The loops around it, itself included.
    pub depth: u32,
    /// Lower bounds, of which the greatest counts; not there if they are not affine.
    pub lower: Option<Vec<Form>>,
    /// Upper bounds, of which the least counts: the first value that is not taken.
    pub upper: Option<Vec<Form>>,
    /// What its variable grows by, if that is known.
    pub step: Option<i128>,
}

/// What a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A loop of the body.
    Loop(u32),
    /// A region that runs or not, by constraints.
    Guard,
    /// One of the regions of an op of which one runs, nobody knows which.
    Choice(u32),
}

/// A region under constraints.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The scope around.
    pub parent: Option<u32>,
    /// The op.
    pub op: Op,
    /// What it is.
    pub kind: Kind,
    /// The number of scopes around.
    pub depth: u32,
    /// When its inside runs: a union of conjunctions.
    pub when: Vec<Vec<Constraint>>,
    /// Whether that is known exactly.
    pub is_exact: bool,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The op.
    pub op: Op,
    /// The scope that it stands in.
    pub scope: Option<u32>,
    /// The memref.
    pub place: Place,
    /// Whether it writes.
    pub is_store: bool,
    /// The element, or why it is not known.
    pub element: Result<Vec<Form>, Why>,
}

/// Why nothing is known of an access or of a pair of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// An index is not affine.
    NotAffine,
    /// It reads or writes several elements at once.
    Vector,
    /// It reads and writes at once.
    Atomic,
    /// A loop around has a step that is not positive.
    Step,
    /// The memrefs may be parts of one allocation.
    Alias,
    /// The constraints are too many, or the budget is spent.
    Budget,
}

impl Why {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Why::NotAffine => "an index is not affine",
            Why::Vector => "several elements at once",
            Why::Atomic => "reads and writes at once",
            Why::Step => "the step of a loop around is not positive",
            Why::Alias => "the memrefs may share elements",
            Why::Budget => "the search was ended by its budget",
        }
    }
}

/// What an op and all ops in it define as results, and what they use, in program order.
pub fn results_and_operands(ir: &Ir, root: Op) -> (FxHashSet<Value>, Vec<Value>) {
    let (mut results, mut operands) = (FxHashSet::default(), Vec::new());
    let mut look = |op: Op| {
        results.extend(ir.op(op).results.iter().copied());
        operands.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
    };
    look(root);
    for &(_, region) in &ir.op(root).regions {
        ir.walk(region, &mut look);
    }
    (results, operands)
}

/// A function, seen by its loops and accesses.
#[derive(Debug)]
pub struct Body {
    /// The scopes, each behind the one around it.
    pub scopes: Vec<Scope>,
    /// The loops, in program order.
    pub loops: Vec<Loop>,
    /// Loads and stores of single elements, in program order.
    pub accesses: Vec<Access>,
    /// Other ops with effects, with the scope that they stand in.
    pub effects: Vec<(Op, Option<u32>)>,
    /// The quotients of all forms.
    pub quotients: Quotients,
    /// How many loops must be in the same iteration for a value to be the same; not there for 0.
    depths: FxHashMap<Value, u32>,
    forms: FxHashMap<Value, Form>,
}

/// More alternatives than this are not told apart.
const MAX_PIECES: usize = 64;

/// Longer chains of `affine.apply` before a nest are symbols.
const MAX_OUTER: usize = 64;

impl Body {
    /// Reads a function, or any op with regions, whose operands and arguments count as symbols.
    pub fn new(ir: &Ir, function: Op) -> Self {
        let mut out = Self::empty();
        for &(_, region) in &ir.op(function).regions {
            out.region(ir, region, None);
        }
        out
    }

    /// Reads a loop with all that is in it; what is defined around it counts as symbols, constants and `affine.apply` apart.
    pub fn of_nest(ir: &Ir, root: Op) -> Self {
        let mut out = Self::empty();
        let (inside, used) = results_and_operands(ir, root);
        let outside = ir.op(root).parent;
        for value in used {
            if !inside.contains(&value) {
                out.outer(ir, value, outside, MAX_OUTER);
            }
        }
        out.op(ir, root, None);
        out
    }

    /// Lets a value that is defined outside of a nest have a form.
    fn outer(&mut self, ir: &Ir, value: Value, outside: Region, left: usize) {
        if self.forms.contains_key(&value) || ir.value(value).ty != Type::INDEX {
            return;
        }
        let region = match ir.value(value).def {
            Def::Result(op, _) => ir.op(op).parent,
            Def::Argument(block, _) => ir.block(block).region,
        };
        // An argument of a region of the nest is not outside.
        let mut around = std::iter::successors(Some(outside), |&it| {
            ir.region(it).parent.map(|op| ir.op(op).parent)
        });
        if !around.any(|it| it == region) {
            return;
        }
        if let (Def::Result(op, _), Some(left)) = (ir.value(value).def, left.checked_sub(1)) {
            let kind = ir.op(op).kind;
            if matches!(kind, OpKind::AffineApply | OpKind::ArithConstant) {
                for it in ir.op(op).operands.iter().filter_map(|it| it.value) {
                    self.outer(ir, it, outside, left);
                }
                if self.says(ir, op, kind) {
                    return;
                }
            }
        }
        self.name(ir, value, 0);
    }

    fn empty() -> Self {
        Self {
            scopes: Vec::new(),
            loops: Vec::new(),
            accesses: Vec::new(),
            effects: Vec::new(),
            quotients: Quotients::default(),
            depths: FxHashMap::default(),
            forms: FxHashMap::default(),
        }
    }

    /// The loops around a scope, outermost first.
    pub fn loops_around(&self, scope: Option<u32>) -> Vec<u32> {
        let mut out: Vec<u32> = self
            .scopes_around(scope)
            .filter_map(|it| match self.scopes[it as usize].kind {
                Kind::Loop(at) => Some(at),
                _ => None,
            })
            .collect();
        out.reverse();
        out
    }

    /// A scope and those around it, innermost first.
    pub fn scopes_around(&self, scope: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(scope, |&it| self.scopes[it as usize].parent)
    }

    /// The number of the loop that is this op, the first of several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.loops.iter().position(|it| it.op == op).map(|it| it as u32)
    }

    /// An op in a loop whose effects are not understood.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        let is_inside = |scope: Option<u32>| {
            let mut around = self.scopes_around(scope);
            around.any(|it| self.scopes[it as usize].kind == Kind::Loop(loop_))
        };
        self.effects.iter().find(|it| is_inside(it.1)).map(|it| it.0)
    }

    /// How many loops must be in the same iteration for a value to be the same.
    pub fn depth_of(&self, value: Value) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    fn n_loops(&self, scope: Option<u32>) -> u32 {
        let innermost =
            self.scopes_around(scope).find_map(|it| match self.scopes[it as usize].kind {
                Kind::Loop(at) => Some(self.loops[at as usize].depth),
                _ => None,
            });
        innermost.unwrap_or(0)
    }

    fn push(
        &mut self,
        parent: Option<u32>,
        op: Op,
        kind: Kind,
        when: Vec<Vec<Constraint>>,
        is_exact: bool,
    ) -> u32 {
        let depth = parent.map_or(0, |it| self.scopes[it as usize].depth + 1);
        self.scopes.push(Scope { parent, op, kind, depth, when, is_exact });
        self.scopes.len() as u32 - 1
    }

    /// A loop of which nothing is known.
    fn unknown_loop(&mut self, op: Op, parent: Option<u32>) -> u32 {
        let at = self.loops.len() as u32;
        let depth = self.n_loops(parent) + 1;
        let it = Loop { op, index: 0, iv: None, depth, lower: None, upper: None, step: None };
        self.loops.push(it);
        self.push(parent, op, Kind::Loop(at), vec![Vec::new()], false)
    }

    fn region(&mut self, ir: &Ir, region: Region, scope: Option<u32>) {
        let blocks = ir.blocks(region);
        // Blocks run in any order, any number of times.
        let scope = match (blocks.len(), ir.region(region).parent) {
            (2.., Some(op)) => Some(self.unknown_loop(op, scope)),
            _ => scope,
        };
        for block in blocks {
            self.arguments(ir, block, scope);
            for op in ir.block_ops(block) {
                self.op(ir, op, scope);
            }
        }
    }

    /// Arguments that are nobody's induction variable.
    fn arguments(&mut self, ir: &Ir, block: Block, scope: Option<u32>) {
        let depth = self.n_loops(scope);
        for &value in &ir.block(block).args {
            if !self.forms.contains_key(&value) {
                self.name(ir, value, depth);
            }
        }
    }

    /// Lets a value be a name of its own.
    fn name(&mut self, ir: &Ir, value: Value, depth: u32) {
        if depth > 0 {
            self.depths.insert(value, depth);
        }
        if ir.value(value).ty == Type::INDEX {
            let term = if depth > 0 { Term::Local(value) } else { Term::Symbol(value) };
            self.forms.insert(value, Form::term(term));
        }
    }

    /// The form of an operand of type `index`.
    fn operand(&self, ir: &Ir, op: Op, at: usize) -> Result<Form, NotAffine> {
        let value = ir.op(op).operands.get(at).and_then(|it| it.value).ok_or(NotAffine)?;
        self.forms.get(&value).cloned().ok_or(NotAffine)
    }

    fn operands(
        &self,
        ir: &Ir,
        op: Op,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<Form>, NotAffine> {
        range.map(|at| self.operand(ir, op, at)).collect()
    }

    /// The results of a map applied to operands from `at` on.
    fn applied(
        &mut self,
        ir: &Ir,
        op: Op,
        map: &Affine,
        at: usize,
    ) -> Result<Vec<Form>, NotAffine> {
        let (n_dims, n) = (map.n_dims as usize, map.n_inputs());
        let dims = self.operands(ir, op, at..at + n_dims)?;
        let symbols = self.operands(ir, op, at + n_dims..at + n)?;
        match &map.body {
            Exprs::Map(exprs) => {
                exprs.iter().map(|it| self.quotients.form(it, &dims, &symbols)).collect()
            }
            Exprs::Set(_) => Err(NotAffine),
        }
    }

    fn op(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let kind = ir.op(op).kind;
        match kind {
            OpKind::AffineFor => self.affine_for(ir, op, scope),
            OpKind::AffineParallel => self.affine_parallel(ir, op, scope),
            OpKind::AffineIf => self.affine_if(ir, op, scope),
            OpKind::ScfFor => self.scf_for(ir, op, scope),
            OpKind::AffineLoad | OpKind::MemrefLoad => self.access(ir, op, scope, 0, None),
            OpKind::AffineStore | OpKind::MemrefStore => self.access(ir, op, scope, 1, None),
            OpKind::AffineVectorLoad => self.access(ir, op, scope, 0, Some(Why::Vector)),
            OpKind::AffineVectorStore => self.access(ir, op, scope, 1, Some(Why::Vector)),
            OpKind::MemrefAtomicRmw => self.access(ir, op, scope, 1, Some(Why::Atomic)),
            OpKind::AffinePrefetch | OpKind::MemrefPrefetch => {}
            _ => self.other(ir, op, kind, scope),
        }
        // What the op defines.
        if !matches!(kind, OpKind::AffineApply | OpKind::ArithConstant) || !self.says(ir, op, kind)
        {
            let depth = self.result_depth(ir, op, kind, scope);
            for &value in &ir.op(op).results {
                self.name(ir, value, depth);
            }
        }
    }

    /// Whether the results of an op have a form that was found.
    fn says(&mut self, ir: &Ir, op: Op, kind: OpKind) -> bool {
        let Some(&result) = ir.op(op).results.first() else { return false };
        if ir.value(result).ty != Type::INDEX {
            return false;
        }
        let attr = ir.attr(op, if kind == OpKind::AffineApply { "map" } else { "value" });
        let form = match attr.map(|it| ir.interner.attr_data(it)) {
            Some(AttrData::Int { value, .. }) => Ok(Form::constant(*value)),
            Some(AttrData::Affine(map)) => {
                let map = map.clone();
                self.applied(ir, op, &map, 0).and_then(|mut it| it.pop().ok_or(NotAffine))
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
        if accesses(kind).is_some_and(<[_]>::is_empty) && ir.op(op).regions.is_empty() {
            self.operand_depth(ir, op)
        } else {
            self.n_loops(scope)
        }
    }

    fn other(&mut self, ir: &Ir, op: Op, kind: OpKind, scope: Option<u32>) {
        let regions = &ir.op(op).regions;
        let is_choice = matches!(kind, OpKind::ScfIf | OpKind::ScfIndexSwitch);
        for (at, &(_, region)) in regions.iter().enumerate() {
            let inner = if is_choice {
                self.push(scope, op, Kind::Choice(at as u32), vec![Vec::new()], false)
            } else {
                self.unknown_loop(op, scope)
            };
            self.region(ir, region, Some(inner));
        }
        let is_quiet = accesses(kind)
            .is_some_and(|it| it.iter().all(|it| matches!(it.0, dialect::Access::Allocate)));
        if !is_quiet {
            self.effects.push((op, scope));
        }
    }

    fn access(&mut self, ir: &Ir, op: Op, scope: Option<u32>, at: usize, why: Option<Why>) {
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
                        self.applied(ir, op, &map, at + 1)
                    }
                    _ => self.operands(ir, op, at + 1..data.operands.len()),
                };
                found.map_err(|NotAffine| Why::NotAffine)
            }
        };
        let (has_rank, has_layout) = match ir.interner.type_data(ir.value(memref).ty) {
            TypeData::MemRef { dims: Some(dims), rest, .. } => (
                element.as_ref().is_ok_and(|it| it.len() == dims.len()),
                rest.iter().any(|it| is_layout(ir.interner.attr_data(*it), &ir.interner)),
            ),
            _ => (false, false),
        };
        let element = match element {
            Ok(_) if !has_rank => Err(Why::NotAffine),
            // Different indices may be one element.
            Ok(_) if has_layout => Err(Why::Alias),
            it => it,
        };
        let is_bad = |it: u32| match self.scopes[it as usize].kind {
            Kind::Loop(at) => self.loops[at as usize].step.is_some_and(|it| it <= 0),
            _ => false,
        };
        let element = if self.scopes_around(scope).any(is_bad) { Err(Why::Step) } else { element };
        let place = Place::of(ir, memref, &|it| self.depth_of(it));
        let is_store = at == 1;
        self.accesses.push(Access { op, scope, place, is_store, element });
    }

    /// Enters a loop with these bounds; its scope.
    fn enter(
        &mut self,
        ir: &Ir,
        parent: Option<u32>,
        (op, index, iv): (Op, u32, Option<Value>),
        lower: Result<Vec<Form>, NotAffine>,
        upper: Result<Vec<Form>, NotAffine>,
        step: Option<i128>,
    ) -> u32 {
        let at = self.loops.len() as u32;
        let depth = self.n_loops(parent) + 1;
        if let Some(iv) = iv {
            self.depths.insert(iv, depth);
            if ir.value(iv).ty == Type::INDEX {
                self.forms.insert(iv, Form::term(Term::Iv(at)));
            }
        }
        let (lower, upper) = (lower.ok(), upper.ok());
        let when = running(at, lower.as_deref(), upper.as_deref(), step);
        let is_exact = when.is_ok() && lower.is_some() && upper.is_some() && step.is_some();
        self.loops.push(Loop { op, index, iv, depth, lower, upper, step });
        let when = when.unwrap_or_else(|NotAffine| vec![Vec::new()]);
        self.push(parent, op, Kind::Loop(at), when, is_exact)
    }

    fn affine_for(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let Some(&(_, region)) = ir.op(op).regions.first() else { return };
        let iv = ir.blocks(region).first().and_then(|it| ir.block(*it).args.first().copied());
        let (lower_map, upper_map) = (map(ir, op, "lowerBoundMap"), map(ir, op, "upperBoundMap"));
        let n_lower = lower_map.as_ref().map_or(0, Affine::n_inputs);
        let mut bounds = |map: Option<Affine>, at| match map {
            Some(map) => self.applied(ir, op, &map, at).and_then(some),
            None => Err(NotAffine),
        };
        let (lower, upper) = (bounds(lower_map, 0), bounds(upper_map, n_lower));
        let step = match ir.attr(op, "step").map(|it| ir.interner.attr_data(it)) {
            Some(AttrData::Int { value, .. }) => *value,
            _ => 1,
        };
        let inner = self.enter(ir, scope, (op, 0, iv), lower, upper, Some(step));
        self.region(ir, region, Some(inner));
    }

    fn affine_parallel(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let Some(&(_, region)) = ir.op(op).regions.first() else { return };
        let ivs = ir.blocks(region).first().map(|it| ir.block(*it).args.to_vec());
        let ivs = ivs.unwrap_or_default();
        let (lower_map, upper_map) = (map(ir, op, "lowerBoundsMap"), map(ir, op, "upperBoundsMap"));
        let n_lower = lower_map.as_ref().map_or(0, Affine::n_inputs);
        let mut bounds =
            |map: Option<Affine>, name: &str, at| -> Result<Vec<Vec<Form>>, NotAffine> {
                let all = self.applied(ir, op, &map.ok_or(NotAffine)?, at)?;
                let groups = groups(ir, op, name, ivs.len()).ok_or(NotAffine)?;
                let mut all = all.into_iter();
                let parts: Vec<Vec<Form>> =
                    groups.iter().map(|&n| all.by_ref().take(n).collect()).collect();
                Ok(parts)
            };
        let lower = bounds(lower_map, "lowerBoundsGroups", 0);
        let upper = bounds(upper_map, "upperBoundsGroups", n_lower);
        let steps = ints(ir, op, "steps").unwrap_or_default();
        let mut inner = scope;
        for (at, &iv) in ivs.iter().enumerate() {
            let part = |it: &Result<Vec<Vec<Form>>, NotAffine>| {
                it.as_ref()
                    .map_err(|it| *it)
                    .and_then(|it| it.get(at).cloned().ok_or(NotAffine))
                    .and_then(some)
            };
            let step = steps.get(at).copied();
            let loop_ = (op, at as u32, Some(iv));
            inner = Some(self.enter(ir, inner, loop_, part(&lower), part(&upper), step));
        }
        let inner = match inner {
            _ if ivs.is_empty() => Some(self.unknown_loop(op, scope)),
            it => it,
        };
        self.region(ir, region, inner);
    }

    fn scf_for(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let Some(&(_, region)) = ir.op(op).regions.first() else { return };
        let iv = ir.blocks(region).first().and_then(|it| ir.block(*it).args.first().copied());
        let is_signed = ir.attr(op, "unsignedCmp").is_none();
        let is_index = iv.is_some_and(|it| ir.value(it).ty == Type::INDEX);
        let bound = |at| match self.operand(ir, op, at) {
            Ok(it) if is_signed && is_index => Ok(vec![it]),
            _ => Err(NotAffine),
        };
        let (lower, upper) = (bound(0), bound(1));
        let step = self.operand(ir, op, 2).ok().and_then(|it| it.as_constant());
        let inner = self.enter(ir, scope, (op, 0, iv), lower, upper, step);
        self.region(ir, region, Some(inner));
    }

    fn affine_if(&mut self, ir: &Ir, op: Op, scope: Option<u32>) {
        let set = map(ir, op, "condition");
        let constraints = set.and_then(|set| {
            let (n_dims, n) = (set.n_dims as usize, set.n_inputs());
            let dims = self.operands(ir, op, 0..n_dims).ok()?;
            let symbols = self.operands(ir, op, n_dims..n).ok()?;
            let Exprs::Set(constraints) = &set.body else { return None };
            let constraint = |(expr, is_equality): &(_, bool)| {
                let form = self.quotients.form(expr, &dims, &symbols).ok()?;
                Some(Constraint { form, is_equality: *is_equality })
            };
            constraints.iter().map(constraint).collect::<Option<Vec<_>>>()
        });
        for (at, &(_, region)) in ir.op(op).regions.iter().enumerate() {
            let when = match (&constraints, at) {
                (Some(it), 0) => Some(vec![it.clone()]),
                (Some(it), _) => otherwise(it).ok(),
                (None, _) => None,
            };
            let inner = match when {
                Some(when) => self.push(scope, op, Kind::Guard, when, true),
                None => self.push(scope, op, Kind::Choice(at as u32), vec![Vec::new()], false),
            };
            self.region(ir, region, Some(inner));
        }
    }

    /// When the inside of a scope runs: a union of conjunctions, or too many of them.
    pub fn pieces(&self, scope: Option<u32>) -> Option<Vec<Vec<&Constraint>>> {
        self.pieces_without(scope, None)
    }

    /// The same without the constraints of a loop.
    pub(crate) fn pieces_without(
        &self,
        scope: Option<u32>,
        without: Option<u32>,
    ) -> Option<Vec<Vec<&Constraint>>> {
        let is_meant = |it: &u32| match self.scopes[*it as usize].kind {
            Kind::Loop(at) => Some(at) != without,
            _ => true,
        };
        let mut out: Vec<Vec<&Constraint>> = vec![Vec::new()];
        let mut around: Vec<u32> = self.scopes_around(scope).filter(is_meant).collect();
        around.reverse();
        for at in around {
            let when = &self.scopes[at as usize].when;
            if out.len() * when.len() > MAX_PIECES {
                return None;
            }
            if let [only] = when.as_slice() {
                for it in &mut out {
                    it.extend(only);
                }
            } else {
                let longer = out.iter().flat_map(|it| {
                    when.iter().map(move |more| it.iter().copied().chain(more).collect())
                });
                out = longer.collect();
            }
        }
        Some(out)
    }
}

/// What an op does to memory by itself, if that is known.
fn accesses(kind: OpKind) -> Option<&'static [(dialect::Access, dialect::Buffer)]> {
    match kind {
        OpKind::Unknown => None,
        _ if !kind.is_op() => None,
        _ => match kind.spec().effects {
            dialect::Effects::Known(all) => Some(all),
            dialect::Effects::Unknown => None,
        },
    }
}

/// Whether an attribute of a memref type puts elements elsewhere than where its shape says.
fn is_layout(attr: &AttrData, interner: &Interner) -> bool {
    match attr {
        AttrData::Affine(map) => *map != Affine::identity(map.n_dims),
        AttrData::Text(text, _) => interner.str(*text).starts_with("strided<"),
        _ => false,
    }
}

fn some(it: Vec<Form>) -> Result<Vec<Form>, NotAffine> {
    if it.is_empty() { Err(NotAffine) } else { Ok(it) }
}

fn map(ir: &Ir, op: Op, name: &str) -> Option<Affine> {
    ir.interner.affine(ir.attr(op, name)?).cloned()
}

/// The integers of an array attribute.
fn ints(ir: &Ir, op: Op, name: &str) -> Option<Vec<i128>> {
    let (AttrData::Array(list) | AttrData::DenseArray { values: list, .. }) =
        ir.interner.attr_data(ir.attr(op, name)?)
    else {
        return None;
    };
    list.iter().map(|&it| ir.interner.int_value(it)).collect()
}

/// How many results of a map belong to each loop of `affine.parallel`: `dense<[1, 2]>`, or `dense<1>` for all.
fn groups(ir: &Ir, op: Op, name: &str, n: usize) -> Option<Vec<usize>> {
    let all = ir.interner.element_ints(ir.attr(op, name)?, n)?;
    all.into_iter().map(|it| usize::try_from(it).ok()).collect()
}

/// When the body of a loop runs. With one lower bound or a step of one, that is one conjunction; else one for each lower bound that may be the
/// greatest, as steps count from there.
fn running(
    at: u32,
    lower: Option<&[Form]>,
    upper: Option<&[Form]>,
    step: Option<i128>,
) -> Result<Vec<Vec<Constraint>>, NotAffine> {
    let iv = Form::term(Term::Iv(at));
    let mut bounds = Vec::new();
    for it in upper.unwrap_or_default() {
        let form = it.plus(&iv, -1)?.offset(-1)?;
        bounds.push(Constraint { form, is_equality: false });
    }
    let step = step.filter(|it| *it > 1);
    let lower = lower.unwrap_or_default();
    let from = |it: &Form| iv.plus(it, -1).map(|form| Constraint { form, is_equality: false });
    let Some(step) = step.filter(|_| !lower.is_empty()) else {
        for it in lower {
            bounds.push(from(it)?);
        }
        return Ok(vec![bounds]);
    };
    // Of constants only the greatest may be meant.
    let greatest = lower.iter().filter_map(Form::as_constant).max();
    let mut candidates: Vec<&Form> = Vec::new();
    for it in lower {
        let is_weak = it.as_constant().is_some_and(|it| Some(it) != greatest);
        if !is_weak && !candidates.contains(&it) {
            candidates.push(it);
        }
    }
    let mut out = Vec::new();
    for (which, start) in candidates.iter().enumerate() {
        let mut piece = bounds.clone();
        piece.push(from(start)?);
        let counted = iv.plus(start, -1)?.plus(&Form::term(Term::Step(at)), -step)?;
        piece.push(Constraint { form: counted, is_equality: true });
        for (other, it) in candidates.iter().enumerate() {
            if other != which {
                let form = start.plus(it, -1)?.offset(-i128::from(other < which))?;
                piece.push(Constraint { form, is_equality: false });
            }
        }
        out.push(piece);
    }
    Ok(out)
}

/// When not all constraints hold: the first that does not is the first, or the second, and so on.
fn otherwise(constraints: &[Constraint]) -> Result<Vec<Vec<Constraint>>, NotAffine> {
    let mut out = Vec::new();
    for (at, it) in constraints.iter().enumerate() {
        let below = Constraint { form: it.form.times(-1)?.offset(-1)?, is_equality: false };
        let before = || constraints[..at].iter().cloned();
        out.push(before().chain([below]).collect());
        if it.is_equality {
            let above = Constraint { form: it.form.offset(-1)?, is_equality: false };
            out.push(before().chain([above]).collect());
        }
    }
    Ok(out)
}
