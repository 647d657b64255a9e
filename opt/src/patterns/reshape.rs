//! Patterns of ops that change the shape or type of a buffer and not its elements: `expand_shape`,
//! `collapse_shape`, `transpose` and casts of memory spaces.
//!
//! *Groups.* A reassociation is a list of groups of adjacent dimensions of the longer shape, one
//! group for each dimension of the shorter shape. Groups are composed only for buffers with the
//! identity layout, in which the shape determines the address of each element.

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, AttrData, Def, Dim, Ir, Op, OpKind, Type, TypeData, Value};

use super::memref::{has_identity_layout, with_dims};
use super::patterns;
use crate::rewrite::Rewriter;
use crate::rewrite::greedy::Pattern;
use noisy_analyses::facts::effects::dims_of;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    MemrefExpandShape: shape_back, shape_of_shape, shape_of_opposite;
    MemrefCollapseShape: shape_back, shape_of_shape, shape_of_opposite, collapse_of_cast;
    MemrefTranspose: transpose_of_transpose, no_transpose;
    MemrefMemorySpaceCast: cast_of_cast;
    MemrefDim: size_of_reshape;
};

type Groups = Vec<Vec<i64>>;

fn groups(ir: &Ir, op: Op) -> Option<Groups> {
    let list = |it: Attr| match ir.interner.attr_data(it) {
        AttrData::Array(list) => Some(list.clone()),
        _ => None,
    };
    let number = |it: &Attr| ir.interner.int_value(*it).and_then(|it| i64::try_from(it).ok());
    let all = list(ir.attr(op, "reassociation")?)?;
    all.iter().map(|&it| list(it)?.iter().map(number).collect()).collect()
}

fn groups_attr(ir: &mut Ir, groups: &Groups) -> Attr {
    let int = |ir: &mut Ir, value: i64| {
        ir.interner.intern_attr(AttrData::Int { value: value.into(), ty: Type::I64 })
    };
    let mut all = Vec::new();
    for group in groups {
        let numbers: Vec<Attr> = group.iter().map(|&it| int(ir, it)).collect();
        all.push(ir.interner.intern_attr(AttrData::Array(numbers.into())));
    }
    ir.interner.intern_attr(AttrData::Array(all.into()))
}

fn is_dynamic(dim: &Dim) -> bool {
    !matches!(dim, Dim::Fixed(_))
}

fn shape(ir: &Ir, value: Value) -> Option<Vec<Dim>> {
    dims_of(ir, value).map(<[Dim]>::to_vec)
}

fn source_and_result(rewriter: &Rewriter<'_>, op: Op) -> (Value, Value) {
    (rewriter.operand(op, 0), rewriter.ir.op(op).results[0])
}

/// Removes a reshape that has no effect or is the inverse of another one.
fn shape_back(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (source, result) = source_and_result(rewriter, op);
    // With equal ranks, each group has one dimension.
    if rewriter.ty(source) == rewriter.ty(result) {
        rewriter.replace(op, &[source]);
        return true;
    }
    let is_collapse = rewriter.ir.op(op).kind == OpKind::MemrefCollapseShape;
    let Some(inner) = rewriter.defined_by(source, inverse_reshape(rewriter.ir.op(op).kind)) else {
        return false;
    };
    let from = rewriter.operand(inner, 0);
    let Some(dims) = shape(rewriter.ir, from) else { return false };
    if rewriter.ty(from) != rewriter.ty(result) {
        return false;
    }
    // One dynamic size is determined by the others. Several are determined if each is in its own
    // group, or if the op collapses an expanded shape.
    let is_known = dims.iter().filter(|it| is_dynamic(it)).count() <= 1;
    let (Some(ours), Some(theirs)) = (groups(rewriter.ir, op), groups(rewriter.ir, inner)) else {
        return false;
    };
    let is_alone = |group: &Vec<i64>| {
        group.iter().filter(|&&it| dims.get(it as usize).is_some_and(is_dynamic)).count() <= 1
    };
    if !is_known && (ours != theirs || !is_collapse && !ours.iter().all(is_alone)) {
        return false;
    }
    rewriter.replace(op, &[from]);
    true
}

fn inverse_reshape(kind: OpKind) -> OpKind {
    match kind {
        OpKind::MemrefExpandShape => OpKind::MemrefCollapseShape,
        _ => OpKind::MemrefExpandShape,
    }
}

/// Composes two reassociations: each outer group becomes the union of its inner groups.
fn compose_groups(outer: &Groups, inner: &Groups) -> Option<Groups> {
    let of = |group: &Vec<i64>| -> Option<Vec<i64>> {
        let parts: Option<Vec<&Vec<i64>>> =
            group.iter().map(|&it| inner.get(usize::try_from(it).ok()?)).collect();
        Some(parts?.into_iter().flatten().copied().collect())
    };
    outer.iter().map(of).collect()
}

/// A reshape of the result of another reshape. All buffers have the identity layout.
struct ReshapePair {
    /// The operand of the first reshape.
    source: Value,
    result: Value,
    /// The groups of the second reshape.
    outer_groups: Groups,
    inner_groups: Groups,
}

impl ReshapePair {
    /// Returns the pair of an op and the op of kind `before` that defines its operand.
    fn of(rewriter: &Rewriter<'_>, op: Op, before: OpKind) -> Option<Self> {
        let (middle, result) = source_and_result(rewriter, op);
        let inner = rewriter.defined_by(middle, before)?;
        let source = rewriter.operand(inner, 0);
        let is_plain = |it: Value| has_identity_layout(rewriter.ir, rewriter.ty(it));
        if ![source, middle, result].into_iter().all(is_plain) {
            return None;
        }
        let (ours, theirs) = (groups(rewriter.ir, op)?, groups(rewriter.ir, inner)?);
        Some(Self { source, result, outer_groups: ours, inner_groups: theirs })
    }
}

/// Merges two expansions or two collapses.
fn shape_of_shape(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let kind = rewriter.ir.op(op).kind;
    let Some(ReshapePair { source, result, outer_groups: ours, inner_groups: theirs }) =
        ReshapePair::of(rewriter, op, kind)
    else {
        return false;
    };
    // A shape without dimensions has no groups.
    let is_scalar = |it: Value| dims_of(rewriter.ir, it).is_some_and(<[Dim]>::is_empty);
    let joined = if is_scalar(source) || is_scalar(result) {
        Some(Vec::new())
    } else if kind == OpKind::MemrefCollapseShape {
        compose_groups(&ours, &theirs)
    } else {
        compose_groups(&theirs, &ours)
    };
    let Some(joined) = joined else { return false };
    let mut inputs = crate::rewrite::operands(rewriter.ir, op);
    inputs[0] = source;
    let attr = groups_attr(rewriter.ir, &joined);
    rewriter.set_operands(op, &inputs);
    rewriter.set_attr(op, "reassociation", attr);
    true
}

/// Merges an expansion and a collapse.
fn shape_of_opposite(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let kind = rewriter.ir.op(op).kind;
    let Some(ReshapePair { source, result, outer_groups: ours, inner_groups: theirs }) =
        ReshapePair::of(rewriter, op, inverse_reshape(kind))
    else {
        return false;
    };
    let (Some(from), Some(to)) = (shape(rewriter.ir, source), shape(rewriter.ir, result)) else {
        return false;
    };
    let is_shorter = from.len() > to.len();
    if from.len() == to.len() {
        return false;
    }
    let found = if kind == OpKind::MemrefCollapseShape {
        if is_shorter {
            group_finer_groups(&theirs, &ours)
        } else {
            group_finer_groups(&ours, &theirs)
        }
    } else if is_shorter {
        collapsing_groups(&theirs, &ours, &from, &to)
    } else {
        collapsing_groups(&ours, &theirs, &to, &from)
    };
    let Some(found) = found else { return false };
    let attr = groups_attr(rewriter.ir, &found);
    let ty = rewriter.ty(result);
    let new = if is_shorter {
        NewOp::new("memref.collapse_shape").operands(&[source])
    } else {
        // The sizes must be static, because no existing op has the dynamic ones as operands.
        let fixed: Option<Vec<i64>> = to
            .iter()
            .map(|it| match it {
                Dim::Fixed(size) => i64::try_from(*size).ok(),
                _ => None,
            })
            .collect();
        let Some(fixed) = fixed else { return false };
        let sizes = super::memref::i64_array_attr(rewriter.ir, &fixed);
        NewOp::new("memref.expand_shape").operands(&[source]).attr("static_output_shape", sizes)
    };
    rewriter.replace_with(op, new.attr("reassociation", attr).results(&[ty]));
    true
}

/// Returns the numbers of the finer groups in each of the coarser groups. Both partition the same
/// dimensions.
fn group_finer_groups(finer: &Groups, coarser: &Groups) -> Option<Groups> {
    let mut out = Vec::new();
    let mut at = 0;
    for group in coarser {
        let end = *group.last()?;
        let mut own = Vec::new();
        loop {
            let last = *finer.get(at)?.last()?;
            if last > end {
                return None;
            }
            own.push(at as i64);
            at += 1;
            if last == end {
                break;
            }
        }
        out.push(own);
    }
    (at == finer.len()).then_some(out)
}

/// Returns the groups that collapse the longer shape to the shorter one, if any, given the groups
/// that collapse both to the same shape.
fn collapsing_groups(
    long_groups: &Groups,
    short_groups: &Groups,
    long: &[Dim],
    short: &[Dim],
) -> Option<Groups> {
    if long_groups.is_empty() {
        return groups_by_size(long, short);
    }
    let mut out = Vec::new();
    for (a, b) in long_groups.iter().zip(short_groups) {
        let (first, start) =
            (usize::try_from(*a.first()?).ok()?, usize::try_from(*b.first()?).ok()?);
        let (own, other) = (long.get(first..first + a.len())?, short.get(start..start + b.len())?);
        if own.len() == other.len() {
            let n_unknown = own.iter().filter(|it| is_dynamic(it)).count();
            if own != other || n_unknown > 1 {
                return None;
            }
            out.extend(a.iter().map(|&it| vec![it]));
            continue;
        }
        let found = groups_by_size(own, other)?;
        out.extend(
            found
                .into_iter()
                .map(|group| group.into_iter().map(|it| it + first as i64).collect::<Vec<i64>>()),
        );
    }
    Some(out)
}

/// Returns the groups of a longer shape whose products are the sizes of a shorter shape. Trailing
/// sizes of one belong to the last group.
fn groups_by_size(long: &[Dim], short: &[Dim]) -> Option<Groups> {
    if long.len() <= short.len() {
        return None;
    }
    let size = |it: &Dim| match it {
        Dim::Fixed(size) => Some(*size),
        _ => None,
    };
    let mut out: Groups = Vec::new();
    let mut at = 0;
    for to in short {
        let mut group = Vec::new();
        let mut product = 1_u64;
        match size(to) {
            Some(goal) => loop {
                product = product.checked_mul(size(long.get(at)?)?)?;
                group.push(at as i64);
                at += 1;
                if product == goal {
                    break;
                }
                if product > goal || product == 0 {
                    return None;
                }
            },
            None => {
                if !is_dynamic(long.get(at)?) {
                    return None;
                }
                group.push(at as i64);
                at += 1;
            }
        }
        out.push(group);
    }
    while at < long.len() {
        if size(&long[at]) != Some(1) {
            return None;
        }
        if let Some(last) = out.last_mut() {
            last.push(at as i64);
        }
        at += 1;
    }
    Some(out)
}

/// Moves a cast to a less static shape after the collapse.
fn collapse_of_cast(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (middle, result) = source_and_result(rewriter, op);
    let Some(cast) = rewriter.defined_by(middle, OpKind::MemrefCast) else { return false };
    let source = rewriter.operand(cast, 0);
    let (from, to, ty) = (rewriter.ty(source), rewriter.ty(middle), rewriter.ty(result));
    if ![from, to, ty].iter().all(|&it| has_identity_layout(rewriter.ir, it)) {
        return false;
    }
    let (Some(dims), Some(groups)) = (shape(rewriter.ir, source), groups(rewriter.ir, op)) else {
        return false;
    };
    let wide = shape(rewriter.ir, middle).unwrap_or_default();
    let n_unknown = |it: &[Dim]| it.iter().filter(|it| is_dynamic(it)).count();
    if dims.len() != wide.len() || n_unknown(&dims) >= n_unknown(&wide) {
        return false;
    }
    let mut sizes = Vec::new();
    for group in &groups {
        let mut product = Some(1_u64);
        for &it in group {
            product = match (product, dims.get(it as usize)) {
                (Some(product), Some(Dim::Fixed(size))) => product.checked_mul(*size),
                _ => None,
            };
        }
        sizes.push(product.map_or(Dim::Dynamic, Dim::Fixed));
    }
    let Some(new_type) = with_dims(rewriter.ir, from, sizes) else { return false };
    if new_type == ty {
        rewriter.set_operand(op, 0, source);
        return true;
    }
    let new = rewriter.rebuild(op, &[source], &[new_type]);
    super::memref::cast_and_replace(rewriter, op, new, ty);
    true
}

/// Returns the source dimension of each dimension of a transposed buffer.
fn permutation(ir: &Ir, op: Op) -> Option<Vec<u32>> {
    let map = ir.interner.affine(ir.attr(op, "permutation")?)?;
    let AffineBody::Map(results) = &map.body else { return None };
    let dim = |it: &AffineExpr| match it {
        AffineExpr::Dim(at) => Some(*at),
        _ => None,
    };
    results.iter().map(dim).collect()
}

/// Merges two transposes.
fn transpose_of_transpose(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let middle = rewriter.operand(op, 0);
    let Some(inner) = rewriter.defined_by(middle, OpKind::MemrefTranspose) else { return false };
    let (Some(ours), Some(theirs)) =
        (permutation(rewriter.ir, op), permutation(rewriter.ir, inner))
    else {
        return false;
    };
    let exprs: Option<Vec<AffineExpr>> =
        ours.iter().map(|&it| theirs.get(it as usize).map(|&it| AffineExpr::Dim(it))).collect();
    let Some(exprs) = exprs else { return false };
    let map = Affine { n_dims: theirs.len() as u32, n_symbols: 0, body: AffineBody::Map(exprs) };
    let map = rewriter.ir.interner.intern_attr(AttrData::Affine(map));
    let source = rewriter.operand(inner, 0);
    rewriter.set_operand(op, 0, source);
    rewriter.set_attr(op, "permutation", map);
    true
}

/// Removes a transpose by the identity permutation.
fn no_transpose(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (source, result) = source_and_result(rewriter, op);
    let Some(order) = permutation(rewriter.ir, op) else { return false };
    let is_same = order.iter().enumerate().all(|(at, &it)| at as u32 == it);
    if !is_same || rewriter.ty(source) != rewriter.ty(result) {
        return false;
    }
    rewriter.replace(op, &[source]);
    true
}

/// Merges two casts of memory spaces.
fn cast_of_cast(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let middle = rewriter.operand(op, 0);
    let Some(inner) = rewriter.defined_by(middle, OpKind::MemrefMemorySpaceCast) else {
        return false;
    };
    let source = rewriter.operand(inner, 0);
    rewriter.set_operand(op, 0, source);
    true
}

/// Replaces the size of a `memref.reshape` result by a load from its shape operand.
fn size_of_reshape(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let buffer = rewriter.operand(op, 0);
    let Some(reshape) = rewriter.defined_by(buffer, OpKind::MemrefReshape) else { return false };
    let index = rewriter.operand(op, 1);
    // The load is inserted after the reshape, so the shape has the values that the reshape read.
    let is_near = rewriter.ir.op(op).parent == rewriter.ir.op(reshape).parent
        && rewriter.ir.block_of(op) == rewriter.ir.block_of(reshape);
    if !is_near || !is_available_at(rewriter.ir, index, reshape) {
        return false;
    }
    let sizes = rewriter.operand(reshape, 1);
    let TypeData::MemRef { element, .. } = *rewriter.ir.interner.type_data(rewriter.ty(sizes))
    else {
        return false;
    };
    let load = NewOp::new("memref.load").operands(&[sizes, index]).results(&[element]);
    let load = rewriter.insert(load, InsertionPoint::After(reshape));
    let mut size = rewriter.ir.op(load).results[0];
    if element != Type::INDEX {
        let cast = NewOp::new("arith.index_cast").operands(&[size]).results(&[Type::INDEX]);
        let cast = rewriter.insert(cast, InsertionPoint::After(load));
        size = rewriter.ir.op(cast).results[0];
    }
    rewriter.replace(op, &[size]);
    true
}

/// Returns true if a value that is available at a later op of the same block is also available at
/// `at`.
fn is_available_at(ir: &Ir, value: Value, at: Op) -> bool {
    let region = ir.op(at).parent;
    let (own, is_before) = match ir.value(value).def {
        Def::Argument(block, _) => {
            let own = ir.block(block).region;
            (own, block == ir.block_of(at) || block == ir.entry_block(own))
        }
        Def::Result(op, _) => {
            let own = ir.op(op).parent;
            (own, own == region && ir.block_of(op) == ir.block_of(at) && ir.is_before(op, at))
        }
    };
    if own == region { is_before } else { ir.encloses(own, at) }
}
