//! The rewriting of a program by a fusion: copies the slice of the source into the target, and
//! replaces memrefs that only the target uses then by small private ones.

use noisy_loops::{FunctionBody, LinearForm, LinearTerm};
use noisy_syntax::affine::{Affine, AffineBody as Exprs, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{AttrData, Block, Dim, Ir, Op, OpKind, Sign, TypeData, Value};
use rustc_hash::FxHashMap;

use super::slice::{NestPair, Slice};
use crate::passes::affine::for_loop::{
    AffineFor, difference, inline_if_single_trip, map_attr, postorder, set_bounds,
};
use crate::patterns::affine::maps::{AppliedMap, applied_map};
use crate::rewrite::{Rewriter, nested_ops, operand};

/// A memref that only the target uses. The accessed box of elements moves with the iterations.
pub(super) struct PrivateMemref {
    pub(super) memref: Value,
    /// The first index and the size, per dimension.
    pub(super) region: Vec<(AppliedMap, i128)>,
}

/// Returns a form over induction variables and symbols as a map with one result.
pub(super) fn map_of_form(body: &FunctionBody, form: &LinearForm) -> Option<AppliedMap> {
    let mut operands = Vec::new();
    let expr = expr(body, form, &mut operands)?;
    let map = Affine { n_dims: operands.len() as u32, n_symbols: 0, body: Exprs::Map(vec![expr]) };
    Some(AppliedMap { map, operands })
}

fn expr(body: &FunctionBody, form: &LinearForm, operands: &mut Vec<Value>) -> Option<AffineExpr> {
    let number = |it: i128| i64::try_from(it).ok().map(AffineExpr::Const);
    let mut out: Option<AffineExpr> = None;
    for &(term, by) in &form.terms {
        let it = match term {
            LinearTerm::Iv(at) => leaf(body.loops[at as usize].iv?, operands),
            LinearTerm::Symbol(value) | LinearTerm::Local(value) => leaf(value, operands),
            LinearTerm::Quotient(at) => {
                let it = body.quotients.get(at);
                let inner = expr(body, &it.form, operands)?;
                AffineExpr::binary(AffineOperator::FloorDiv, inner, number(it.divisor)?)
            }
            LinearTerm::Step(_) => return None,
        };
        let it = AffineExpr::binary(AffineOperator::Mul, it, number(by)?);
        out = Some(match out {
            Some(sum) => AffineExpr::binary(AffineOperator::Add, sum, it),
            None => it,
        });
    }
    let constant = number(form.constant)?;
    Some(match out {
        Some(sum) => AffineExpr::binary(AffineOperator::Add, sum, constant),
        None => constant,
    })
}

fn leaf(value: Value, operands: &mut Vec<Value>) -> AffineExpr {
    let at = operands.iter().position(|it| *it == value).unwrap_or_else(|| {
        operands.push(value);
        operands.len() - 1
    });
    AffineExpr::Dim(at as u32)
}

/// Joins several maps into one with all of their results.
fn join_all(maps: Vec<AppliedMap>) -> Option<AppliedMap> {
    maps.into_iter().reduce(|a, b| a.joined(&b))
}

/// Copies the slice of the source to the start of the body of the loop of the target for which it
/// was computed. `None`, without a change, on overflow.
pub(super) fn copy_slice(ir: &mut Ir, pair: &NestPair, slice: &Slice, source: Op) -> Option<()> {
    let body = &pair.body;
    let mut bounds = Vec::new();
    for (at, it) in slice.bounds.iter().enumerate() {
        let forms = |all: &[LinearForm], more: i128| -> Option<AppliedMap> {
            let all = all.iter().map(|it| map_of_form(body, &it.offset(more).ok()?));
            Some(join_all(all.collect::<Option<_>>()?)?.canonical(ir))
        };
        let own = body.loops[it.loop_ as usize].iv?;
        bounds.push((
            own,
            forms(&it.low, 0)?,
            forms(&it.high, 1)?,
            pair.implies_loop_bounds(slice, at),
        ));
    }
    let last = body.loops[*slice.target.last()? as usize].op;
    let at = InsertionPoint::Start(AffineFor::of(ir, last)?.body);
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    let copy = Rewriter::new(ir).clone_op(source, at, &mut values);
    let mut loops = Vec::new();
    for (own, low, high, stands_alone) in bounds {
        let Some(it) = values.get(&own).and_then(|&iv| loop_of(ir, iv)) else { continue };
        let (low, high) = if stands_alone {
            (low, high)
        } else {
            (low.joined(&it.lower).canonical(ir), high.joined(&it.upper).canonical(ir))
        };
        set_bounds(ir, &it, &low, &high, it.step);
        loops.push(it.op);
    }
    for op in postorder(ir, copy) {
        if loops.contains(&op) {
            inline_if_single_trip(ir, op);
        }
    }
    Some(())
}

/// Returns the loop of an induction variable.
fn loop_of(ir: &Ir, iv: Value) -> Option<AffineFor> {
    let noisy_syntax::Def::Argument(block, _) = ir.value(iv).def else { return None };
    AffineFor::of(ir, ir.region(ir.block(block).region).parent?)
}

/// Replaces a memref in a nest by a private one, which is allocated at the start of the block
/// `top`.
pub(super) fn privatize(
    ir: &mut Ir,
    nest: Op,
    it: &PrivateMemref,
    top: Block,
    space: Option<i64>,
) -> Option<()> {
    let TypeData::MemRef { element, rest, .. } = ir.interner.type_data(ir.value(it.memref).ty)
    else {
        return None;
    };
    let (element, rest) = (*element, rest.clone());
    let dims: Option<Box<[Dim]>> =
        it.region.iter().map(|it| u64::try_from(it.1.max(1)).ok().map(Dim::Fixed)).collect();
    let is_space =
        |it: &noisy_syntax::Attr| !matches!(ir.interner.attr_data(*it), AttrData::Affine(_));
    let mut rest: Vec<noisy_syntax::Attr> = rest.iter().copied().filter(is_space).collect();
    if let Some(space) = space {
        let wide = ir.interner.intern_type(TypeData::Int { width: 64, sign: Sign::Signless });
        rest = vec![ir.interner.intern_attr(AttrData::Int { value: space.into(), ty: wide })];
    }
    let ty =
        ir.interner.intern_type(TypeData::MemRef { dims: Some(dims?), element, rest: rest.into() });
    let sizes = no_segments(ir);
    let new = NewOp::new("memref.alloc").results(&[ty]).attr("operandSegmentSizes", sizes);
    let alloc = ir.insert(new, InsertionPoint::Start(top));
    let own = ir.op(alloc).results[0];
    for op in nested_ops(ir, nest) {
        let at = match ir.op(op).kind {
            OpKind::AffineLoad => 0,
            OpKind::AffineStore => 1,
            _ => continue,
        };
        if operand(ir, op, at) != Some(it.memref) {
            continue;
        }
        let map = applied_map(ir, op, "map", at + 1)?;
        let Exprs::Map(results) = &map.map.body else { continue };
        let mut indices = Vec::new();
        for (expr, (start, _)) in results.iter().zip(&it.region) {
            let one = Affine { body: Exprs::Map(vec![expr.clone()]), ..map.map };
            let index = AppliedMap { map: one, operands: map.operands.clone() };
            indices.push(difference(&index, start).canonical(ir));
        }
        let empty = AppliedMap {
            map: Affine { n_dims: 0, n_symbols: 0, body: Exprs::Map(Vec::new()) },
            operands: Vec::new(),
        };
        let index = join_all(indices).map_or(empty, |it| it.canonical(ir));
        let attr = map_attr(ir, &index.map);
        ir.set_attr(op, "map", attr);
        let mut all: Vec<Value> = (0..at).filter_map(|it| operand(ir, op, it)).collect();
        all.push(own);
        all.extend(index.operands);
        ir.set_operands(op, &all);
    }
    Some(())
}

fn no_segments(ir: &mut Ir) -> noisy_syntax::Attr {
    let element = ir.interner.intern_type(TypeData::Int { width: 32, sign: Sign::Signless });
    let zero = ir.interner.intern_attr(AttrData::Int { value: 0, ty: element });
    ir.interner.intern_attr(AttrData::DenseArray { element, values: vec![zero, zero].into() })
}

/// Erases the unused allocations among the given memrefs, which must be distinct.
pub(super) fn erase_unused(ir: &mut Ir, memrefs: &[Value]) {
    for &memref in memrefs {
        if let Some(op) = ir.defining_op(memref)
            && ir.op(op).kind == OpKind::MemrefAlloc
            && ir.value(memref).uses.is_empty()
        {
            Rewriter::new(ir).erase(op);
        }
    }
}

/// Returns the size of an element of a memref, in bytes; 8 if it is unknown.
pub(super) fn element_bytes(ir: &Ir, memref: Value) -> i128 {
    let TypeData::MemRef { element, .. } = ir.interner.type_data(ir.value(memref).ty) else {
        return 8;
    };
    ir.interner.bit_width(*element).map_or(8, |it| i128::from(it.div_ceil(8)))
}
