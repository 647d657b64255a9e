//! The parts of an `affine.for`: bounds, step, body, carried values. Functions that create, change
//! and inline loops.
//!
//! *Law.* Created loops pass the verifier. [`AffineFor::of`] returns `None` for an invalid loop.

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, AttrData, Block, Ir, Op, OpKind, Sign, Type, TypeData, Value};

use crate::patterns::affine::maps::{AppliedMap, applied_map, exprs, renumbered, with_exprs};
use crate::rewrite::{Rewriter, operands, postorder_of_op};

/// The parts of an `affine.for`.
#[derive(Clone, Debug)]
pub(crate) struct AffineFor {
    pub(crate) op: Op,
    pub(crate) lower: AppliedMap,
    pub(crate) upper: AppliedMap,
    pub(crate) step: i64,
    pub(crate) iv: Value,
    pub(crate) body: Block,
    /// The initial values of `iter_args`.
    pub(crate) inits: Vec<Value>,
}

impl AffineFor {
    /// Returns the parts of an `affine.for` with a positive step.
    pub(crate) fn of(ir: &Ir, op: Op) -> Option<Self> {
        if ir.op(op).kind != OpKind::AffineFor {
            return None;
        }
        let low = applied_map(ir, op, "lowerBoundMap", 0)?;
        let high = applied_map(ir, op, "upperBoundMap", low.operands.len())?;
        let all = operands(ir, op);
        let inits = all.get(low.operands.len() + high.operands.len()..)?.to_vec();
        let step = match ir.interner.attr_data(ir.attr(op, "step")?) {
            AttrData::Int { value, .. } => i64::try_from(*value).ok().filter(|it| *it > 0)?,
            _ => return None,
        };
        let [(_, region)] = ir.op(op).regions[..] else { return None };
        let body = ir.only_block(region)?;
        let iv = *ir.block(body).args.first()?;
        Some(Self { op, lower: low, upper: high, step, iv, body, inits })
    }

    /// Returns the ops of the body except the terminator.
    pub(crate) fn body_ops(&self, ir: &Ir) -> Vec<Op> {
        let mut out: Vec<Op> = ir.block_ops(self.body).collect();
        out.pop();
        out
    }

    /// Returns the carried values as region arguments: all but the first.
    pub(crate) fn iter_args(&self, ir: &Ir) -> Vec<Value> {
        ir.block(self.body).args.iter().skip(1).copied().collect()
    }

    /// Returns the terminator of the body.
    ///
    /// # Panics
    /// If the body has none, which the verifier excludes.
    pub(crate) fn terminator(&self, ir: &Ir) -> Op {
        ir.last_op(self.body).expect("the body of a loop has a terminator")
    }

    /// Returns the trip count, if the bounds differ by a constant.
    pub(crate) fn trip_count(&self) -> Option<i64> {
        let low = self.lower.as_single()?;
        // All upper bounds must differ from the lower bound by a constant.
        let AffineBody::Map(all) = &self.upper.map.body else { return None };
        let mut least: Option<i64> = None;
        for expr in all {
            let high = AppliedMap {
                map: Affine { body: AffineBody::Map(vec![expr.clone()]), ..self.upper.map },
                operands: self.upper.operands.clone(),
            };
            let AffineExpr::Const(size) = difference(&high, &low).single_expr()?.clone() else {
                return None;
            };
            let size = size.max(0);
            let trips = size / self.step + i64::from(size % self.step != 0);
            least = Some(least.map_or(trips, |it| it.min(trips)));
        }
        least
    }
}

impl AppliedMap {
    /// Returns the map if it has a single result.
    pub(crate) fn as_single(&self) -> Option<AppliedMap> {
        self.single_expr().map(|_| self.clone())
    }

    /// Returns the expression of a map with a single result.
    pub(crate) fn single_expr(&self) -> Option<&AffineExpr> {
        match &self.map.body {
            AffineBody::Map(all) => match &all[..] {
                [only] => Some(only),
                _ => None,
            },
            AffineBody::Set(_) => None,
        }
    }

    /// Returns the constant of a map with a single constant result.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self.single_expr() {
            Some(AffineExpr::Const(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a constant map.
    pub(crate) fn constant_map(value: i64) -> Self {
        Self { map: Affine::constant(value), operands: Vec::new() }
    }

    /// Returns the identity map of a value, as a dimension.
    pub(crate) fn value(value: Value) -> Self {
        Self { map: Affine::identity(1), operands: vec![value] }
    }

    /// Applies a function to each result of the map.
    pub(crate) fn map_results(&self, of: impl Fn(AffineExpr) -> AffineExpr) -> Self {
        let all = exprs(&self.map.body).into_iter().map(of).collect();
        let body = with_exprs(&self.map.body, all);
        Self { map: Affine { body, ..self.map }, operands: self.operands.clone() }
    }

    /// Concatenates the dimensions, the symbols and the results of two maps.
    pub(crate) fn joined(&self, other: &AppliedMap) -> Self {
        let (dims, symbols) = (self.map.n_dims, self.map.n_symbols);
        let mut all = exprs(&self.map.body);
        all.extend(exprs(&other.map.body).iter().map(|it| renumbered(it, dims, symbols)));
        let (own_dims, own_symbols) = self.operands.split_at(dims as usize);
        let (more_dims, more_symbols) = other.operands.split_at(other.map.n_dims as usize);
        Self {
            map: Affine {
                n_dims: dims + other.map.n_dims,
                n_symbols: symbols + other.map.n_symbols,
                body: AffineBody::Map(all),
            },
            operands: [own_dims, more_dims, own_symbols, more_symbols].concat(),
        }
    }

    /// Merges equal operands, drops unused ones, and simplifies the expressions. Does not compose
    /// the map with the maps that compute its operands.
    pub(crate) fn merged_and_simplified(&self) -> Self {
        let mut out = self.clone();
        out.simplify();
        out.merge_operands(&|_| None);
        // Terms over merged operands may cancel.
        out.simplify();
        out
    }
}

/// Returns the differences of each result of `high` and the only result of `low`.
pub(crate) fn difference(high: &AppliedMap, low: &AppliedMap) -> AppliedMap {
    let both = high.joined(low);
    let mut all = exprs(&both.map.body);
    let Some(low) = all.pop() else { return both };
    let minus = low.negated();
    let all = all
        .into_iter()
        .map(|it| AffineExpr::binary(AffineOperator::Add, it, minus.clone()))
        .collect();
    let map = Affine { body: AffineBody::Map(all), ..both.map };
    AppliedMap { map, operands: both.operands }.merged_and_simplified()
}

/// Returns a map as an attribute.
pub(crate) fn map_attr(ir: &mut Ir, map: &Affine) -> Attr {
    ir.interner.intern_attr(AttrData::Affine(map.clone()))
}

/// Returns an integer as an attribute of type `index`.
pub(crate) fn index_attr(ir: &mut Ir, value: i64) -> Attr {
    ir.interner.intern_attr(AttrData::Int { value: value.into(), ty: Type::INDEX })
}

fn segments(ir: &mut Ir, sizes: [usize; 3]) -> Attr {
    let element = ir.interner.intern_type(TypeData::Int { width: 32, sign: Sign::Signless });
    let mut int =
        |it: usize| ir.interner.intern_attr(AttrData::Int { value: it as i128, ty: element });
    let values = sizes.iter().map(|&it| int(it)).collect();
    ir.interner.intern_attr(AttrData::DenseArray { element, values })
}

/// Creates a loop with an empty body. Adds the terminator only if the loop carries no values.
pub(crate) fn make_for(
    ir: &mut Ir,
    at: InsertionPoint,
    low: &AppliedMap,
    high: &AppliedMap,
    step: i64,
    inits: &[Value],
) -> (Op, Block) {
    let types: Vec<Type> = inits.iter().map(|&it| ir.value(it).ty).collect();
    let new = NewOp::new("affine.for")
        .operands(&low.operands)
        .operands(&high.operands)
        .operands(inits)
        .results(&types)
        .attr("lowerBoundMap", map_attr(ir, &low.map))
        .attr("upperBoundMap", map_attr(ir, &high.map))
        .attr("step", index_attr(ir, step))
        .attr(
            "operandSegmentSizes",
            segments(ir, [low.operands.len(), high.operands.len(), inits.len()]),
        )
        .regions(1);
    let op = ir.insert(new, at);
    let region = ir.op(op).regions[0].1;
    let body = ir.add_block(region, &[&[Type::INDEX], &types[..]].concat());
    if inits.is_empty() {
        ir.insert(NewOp::new("affine.yield"), InsertionPoint::End(body));
    }
    (op, body)
}

/// Replaces the bounds and the step of a loop.
pub(crate) fn set_bounds(
    ir: &mut Ir,
    it: &AffineFor,
    low: &AppliedMap,
    high: &AppliedMap,
    step: i64,
) {
    let (low_map, high_map) = (map_attr(ir, &low.map), map_attr(ir, &high.map));
    ir.set_attr(it.op, "lowerBoundMap", low_map);
    ir.set_attr(it.op, "upperBoundMap", high_map);
    let step = index_attr(ir, step);
    ir.set_attr(it.op, "step", step);
    let sizes = segments(ir, [low.operands.len(), high.operands.len(), it.inits.len()]);
    ir.set_attr(it.op, "operandSegmentSizes", sizes);
    let all = [&low.operands[..], &high.operands, &it.inits].concat();
    ir.set_operands(it.op, &all);
}

/// Creates an `affine.apply` of a map with one result.
pub(crate) fn apply(ir: &mut Ir, it: &AppliedMap, at: InsertionPoint) -> Value {
    let map = map_attr(ir, &it.map);
    let new = NewOp::new("affine.apply").operands(&it.operands).attr("map", map);
    let op = ir.insert(new.results(&[Type::INDEX]), at);
    ir.op(op).results[0]
}

/// Creates a constant of type `index` at the start of the function that encloses an op.
pub(crate) fn constant(ir: &mut Ir, value: i64, near: Op) -> Value {
    let mut at = near;
    let place = loop {
        match ir.parent_op(at) {
            Some(parent) if ir.op(parent).kind == OpKind::FuncFunc => {
                break InsertionPoint::Start(ir.block_of(at));
            }
            Some(parent) => at = parent,
            None => break InsertionPoint::Before(near),
        }
    };
    // The entry block dominates all other blocks of the function.
    let place = match place {
        InsertionPoint::Start(block) => {
            InsertionPoint::Start(ir.entry_block(ir.block(block).region))
        }
        other => other,
    };
    let attr = index_attr(ir, value);
    let new = NewOp::new("arith.constant").attr("value", attr).results(&[Type::INDEX]);
    let op = ir.insert(new, place);
    ir.op(op).results[0]
}

/// Returns the perfectly nested loops from a loop inwards, outermost first.
pub(crate) fn perfect_nest(ir: &Ir, op: Op) -> Vec<AffineFor> {
    let mut out = Vec::new();
    let mut at = AffineFor::of(ir, op);
    while let Some(it) = at {
        let only = match it.body_ops(ir)[..] {
            [only] => Some(only),
            _ => None,
        };
        out.push(it);
        at = only.and_then(|it| AffineFor::of(ir, it));
    }
    out
}

/// Inlines a loop that runs exactly once. Returns false if the trip count differs or is unknown.
pub(crate) fn inline_if_single_trip(ir: &mut Ir, op: Op) -> bool {
    let Some(it) = AffineFor::of(ir, op) else { return false };
    if it.trip_count() != Some(1) || it.lower.as_single().is_none() {
        return false;
    }
    inline_first_iteration(ir, &it);
    true
}

/// Replaces a loop by its first iteration: the body with the variable at its lower bound.
pub(crate) fn inline_first_iteration(ir: &mut Ir, it: &AffineFor) {
    if !ir.value(it.iv).uses.is_empty() {
        let start = match it.lower.single_expr() {
            Some(AffineExpr::Const(value)) => constant(ir, *value, it.op),
            Some(AffineExpr::Dim(0) | AffineExpr::Symbol(0)) if it.lower.operands.len() == 1 => {
                it.lower.operands[0]
            }
            _ => apply(ir, &it.lower, InsertionPoint::Before(it.op)),
        };
        ir.replace_uses(it.iv, start);
    }
    for (arg, init) in it.iter_args(ir).into_iter().zip(&it.inits) {
        ir.replace_uses(arg, *init);
    }
    let end = it.terminator(ir);
    let values = operands(ir, end);
    for op in it.body_ops(ir) {
        ir.move_op(op, InsertionPoint::Before(it.op));
    }
    let mut rewriter = Rewriter::new(ir);
    rewriter.replace(it.op, &values);
}

/// Returns the `affine.for` loops in an op, in postorder.
pub(crate) fn postorder(ir: &Ir, op: Op) -> Vec<Op> {
    let mut all = postorder_of_op(ir, op);
    all.retain(|&it| ir.op(it).kind == OpKind::AffineFor);
    all
}

/// Moves the innermost body of a nest to the end of a block, replaces the induction variables, and
/// erases the nest.
pub(crate) fn replace_nest(ir: &mut Ir, nest: &[AffineFor], variables: &[Value], inside: Block) {
    let (Some(root), Some(innermost)) = (nest.first(), nest.last()) else { return };
    for (it, &variable) in nest.iter().zip(variables) {
        ir.replace_uses(it.iv, variable);
    }
    for op in innermost.body_ops(ir) {
        let end = ir.last_op(inside).map_or(InsertionPoint::End(inside), InsertionPoint::Before);
        ir.move_op(op, end);
    }
    Rewriter::new(ir).erase(root.op);
}
