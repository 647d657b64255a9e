//! Patterns of `memref`.

use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{
    Attr, AttrData, Dim, Ir, Op, OpKind, Sign, StridedLayout, Type, TypeData, Value,
};

use super::patterns;
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operand, operands};
use noisy_analyses::facts::effects::dims_of;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    MemrefLoad: through_cast;
    MemrefStore: through_cast;
    MemrefDealloc: through_cast;
    MemrefAtomicRmw: through_cast;
    MemrefPrefetch: through_cast;
    AffineLoad: through_cast;
    AffineStore: through_cast;
    AffinePrefetch: through_cast;
    MemrefCast: through_cast;
    MemrefDim: through_cast, size_of_made;
    MemrefCopy: copy_to_itself, through_cast;
    MemrefAlloc: fixed_sizes, never_read;
    MemrefAlloca: fixed_sizes, never_read;
    MemrefSubview: fixed_subview, subview_of_cast, whole_subview_of_subview, whole_buffer;
    MemrefView: fixed_view, through_cast;
    MemrefExtractStridedMetadata: through_cast;
    MemrefExtractAlignedPointerAsIndex: through_cast;
};

/// Returns the attribute that lists the sizes of operand segments.
pub(crate) fn segments_attr(ir: &mut Ir, sizes: &[usize]) -> Attr {
    let element = ir.interner.intern_type(TypeData::Int { width: 32, sign: Sign::Signless });
    let int = |ir: &mut Ir, value: usize| {
        ir.interner.intern_attr(AttrData::Int { value: value as i128, ty: element })
    };
    let values = sizes.iter().map(|&it| int(ir, it)).collect();
    ir.interner.intern_attr(AttrData::DenseArray { element, values })
}

/// Returns the integers of a dense array attribute.
pub(super) fn int_array(ir: &Ir, op: Op, name: &str) -> Option<Vec<i64>> {
    match ir.interner.attr_data(ir.attr(op, name)?) {
        AttrData::DenseArray { values, .. } => {
            let number = |&it: &Attr| match ir.interner.attr_data(it) {
                AttrData::Int { value, .. } => i64::try_from(*value).ok(),
                _ => None,
            };
            values.iter().map(number).collect()
        }
        _ => None,
    }
}

pub(super) fn i64_array_attr(ir: &mut Ir, values: &[i64]) -> Attr {
    let int = |ir: &mut Ir, value: i64| {
        ir.interner.intern_attr(AttrData::Int { value: value.into(), ty: Type::I64 })
    };
    let values = values.iter().map(|&it| int(ir, it)).collect();
    ir.interner.intern_attr(AttrData::DenseArray { element: Type::I64, values })
}

fn is_ranked(ir: &Ir, value: Value) -> bool {
    matches!(ir.interner.type_data(ir.value(value).ty), TypeData::MemRef { dims: Some(_), .. })
}

/// Replaces an operand that is a cast by the source of the cast.
fn through_cast(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let mut is_changed = false;
    let result = rewriter.ir.op(op).results.first().map(|&it| rewriter.ty(it));
    for at in 0..rewriter.ir.op(op).operands.len() {
        // A memref that is the stored value must keep its type.
        let kind = rewriter.ir.op(op).kind;
        if matches!(kind, OpKind::MemrefStore | OpKind::AffineStore) && at == 0 {
            continue;
        }
        let value = rewriter.operand(op, at);
        let Some(cast) = rewriter.defined_by(value, OpKind::MemrefCast) else { continue };
        let from = rewriter.operand(cast, 0);
        if !is_ranked(rewriter.ir, from) {
            continue;
        }
        // The source of a view must have no layout.
        if kind == OpKind::MemrefView && !has_identity_layout(rewriter.ir, rewriter.ty(from)) {
            continue;
        }
        // The source and the target of a copy must have equal shapes.
        if kind == OpKind::MemrefCopy
            && !can_have_equal_shapes(rewriter.ir, from, rewriter.operand(op, 1 - at))
        {
            continue;
        }
        // The source of a cast to an unranked type may have any rank.
        if kind == OpKind::MemrefCast && !result_is_ranked(rewriter.ir, op) {
            rewriter.set_operand(op, at, from);
            return true;
        }
        // The cast from the source to the result type must be valid.
        if kind == OpKind::MemrefCast && !is_cast_valid(rewriter.ir, rewriter.ty(from), result) {
            continue;
        }
        rewriter.set_operand(op, at, from);
        is_changed = true;
    }
    is_changed
}

/// Returns true if a type has the identity layout.
pub(super) fn has_identity_layout(ir: &Ir, ty: Type) -> bool {
    matches!(ir.interner.type_data(ty), TypeData::MemRef { dims: Some(_), rest, .. }
        if rest.iter().all(|&it| !is_layout(ir, it)))
}

/// Returns true if a parameter of a buffer type is the layout and not the memory space.
fn is_layout(ir: &Ir, attr: Attr) -> bool {
    match ir.interner.attr_data(attr) {
        AttrData::Affine(_) => true,
        AttrData::Text(text, _) => ir.interner.str(*text).starts_with("strided<"),
        _ => false,
    }
}

/// Returns true if two buffers have equal ranks and equal static sizes, or the rank of one is
/// unknown.
fn can_have_equal_shapes(ir: &Ir, a: Value, b: Value) -> bool {
    let (Some(a), Some(b)) = (dims_of(ir, a), dims_of(ir, b)) else { return true };
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| x == y || *x == Dim::Dynamic || *y == Dim::Dynamic)
}

fn result_is_ranked(ir: &Ir, op: Op) -> bool {
    ir.op(op).results.first().is_some_and(|&it| is_ranked(ir, it))
}

/// Returns true if a cast from one ranked buffer type to another is valid: sizes, strides and
/// offsets that are static in both types are equal.
fn is_cast_valid(ir: &Ir, from: Type, to: Option<Type>) -> bool {
    let data = |it: Type| match ir.interner.type_data(it) {
        TypeData::MemRef { dims: Some(dims), element, rest } => Some((dims, *element, rest)),
        _ => None,
    };
    let (Some(a), Some(b)) = (data(from), to.and_then(data)) else { return false };
    let is_space = |it: &&Attr| match ir.interner.attr_data(**it) {
        AttrData::Text(text, _) => !ir.interner.str(*text).starts_with("strided<"),
        _ => true,
    };
    a.1 == b.1
        && a.0.len() == b.0.len()
        && a.0.iter().zip(b.0).all(|(x, y)| x == y || *x == Dim::Dynamic || *y == Dim::Dynamic)
        && (a.2 == b.2
            || a.2.iter().filter(is_space).eq(b.2.iter().filter(is_space))
                && have_compatible_layouts(ir, from, to))
}

/// Returns true if the strides and offsets that are static in both types are equal.
fn have_compatible_layouts(ir: &Ir, from: Type, to: Option<Type>) -> bool {
    let layout = |it: Type| ir.interner.layout(it);
    let (Some(a), Some(b)) = (layout(from), to.and_then(layout)) else { return false };
    let agree = |(x, y): (&Option<i64>, &Option<i64>)| x == y || x.is_none() || y.is_none();
    agree((&a.offset, &b.offset)) && a.strides.iter().zip(&b.strides).all(agree)
}

/// Removes a copy of a buffer to itself, and a copy of an empty buffer.
fn copy_to_itself(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let is_same = rewriter.operand(op, 0) == rewriter.operand(op, 1);
    let is_empty =
        |it: Value| dims_of(rewriter.ir, it).is_some_and(|it| it.contains(&Dim::Fixed(0)));
    let can_go = is_same || is_empty(rewriter.operand(op, 0)) || is_empty(rewriter.operand(op, 1));
    if can_go {
        rewriter.erase(op);
    }
    can_go
}

/// Returns a buffer type with other sizes.
pub(super) fn with_dims(ir: &mut Ir, ty: Type, dims: Vec<Dim>) -> Option<Type> {
    match ir.interner.type_data(ty).clone() {
        TypeData::MemRef { element, rest, .. } => Some(ir.interner.intern_type(TypeData::MemRef {
            dims: Some(dims.into()),
            element,
            rest,
        })),
        _ => None,
    }
}

/// Returns dimensions in which constant dynamic sizes are static, and the remaining operands.
/// `None` if no size is constant.
fn known_sizes(
    rewriter: &Rewriter<'_>,
    dims: &[Dim],
    sizes: &[Value],
) -> Option<(Vec<Dim>, Vec<Value>)> {
    let mut left = Vec::new();
    let mut next = sizes.iter();
    let mut out = Vec::new();
    for &dim in dims {
        out.push(match dim {
            Dim::Dynamic => {
                let &value = next.next()?;
                match rewriter.int_of(value).and_then(|it| u64::try_from(it).ok()) {
                    Some(size) => Dim::Fixed(size),
                    None => {
                        left.push(value);
                        Dim::Dynamic
                    }
                }
            }
            other => other,
        });
    }
    (left.len() < sizes.len() && next.next().is_none()).then_some((out, left))
}

/// Makes constant sizes of an allocation static.
fn fixed_sizes(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(counts) = int_array(rewriter.ir, op, "operandSegmentSizes") else { return false };
    let all = operands(rewriter.ir, op);
    let (Some(&n), 2) = (counts.first(), counts.len()) else { return false };
    let (sizes, symbols) = all.split_at((n as usize).min(all.len()));
    let result = rewriter.ir.op(op).results[0];
    let ty = rewriter.ty(result);
    let TypeData::MemRef { dims: Some(dims), .. } = rewriter.ir.interner.type_data(ty) else {
        return false;
    };
    let Some((dims, left)) = known_sizes(rewriter, dims, sizes) else { return false };
    let Some(new_type) = with_dims(rewriter.ir, ty, dims) else { return false };
    let counts = segments_attr(rewriter.ir, &[left.len(), symbols.len()]);
    let inputs: Vec<Value> = left.iter().chain(symbols).copied().collect();
    let new = rewriter.rebuild(op, &inputs, &[new_type]);
    rewriter.set_attr(new, "operandSegmentSizes", counts);
    cast_and_replace(rewriter, op, new, ty);
    true
}

/// Replaces the result of an op by the result of another op, cast to the old type.
pub(super) fn cast_and_replace(rewriter: &mut Rewriter<'_>, op: Op, new: Op, ty: Type) {
    let value = rewriter.ir.op(new).results[0];
    let cast = NewOp::new("memref.cast").operands(&[value]).results(&[ty]);
    rewriter.replace_with(op, cast);
}

/// Removes a buffer that is only written and deallocated.
fn never_read(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let value = rewriter.ir.op(op).results[0];
    let users: Vec<(Op, u32)> = rewriter.ir.value(value).uses.to_vec();
    let is_lost = |&(user, at): &(Op, u32)| match rewriter.ir.op(user).kind {
        OpKind::MemrefStore => at == 1,
        OpKind::MemrefDealloc => true,
        _ => false,
    };
    if !users.iter().all(is_lost) {
        return false;
    }
    for (user, _) in users {
        rewriter.erase(user);
    }
    rewriter.erase(op);
    true
}

/// Replaces the size of an allocation or a view by the operand that specifies it.
fn size_of_made(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let buffer = rewriter.operand(op, 0);
    let Some(index) = rewriter.int_of(rewriter.operand(op, 1)) else { return false };
    let Ok(index) = usize::try_from(index) else { return false };
    let Some(dims) = dims_of(rewriter.ir, buffer) else { return false };
    if dims.get(index) != Some(&Dim::Dynamic) {
        return false;
    }
    let before = dims[..index].iter().filter(|it| **it == Dim::Dynamic).count();
    let mut kinds = [OpKind::MemrefAlloc, OpKind::MemrefAlloca, OpKind::MemrefView].into_iter();
    let made = kinds.find_map(|it| rewriter.defined_by(buffer, it));
    let size = match made {
        Some(it) if rewriter.ir.op(it).kind == OpKind::MemrefView => {
            operand(rewriter.ir, it, 2 + before)
        }
        Some(it) => operand(rewriter.ir, it, before),
        None => {
            let mut kinds = [OpKind::MemrefSubview, OpKind::MemrefReinterpretCast].into_iter();
            let Some(view) = kinds.find_map(|it| rewriter.defined_by(buffer, it)) else {
                return false;
            };
            let Some((lists, values)) = subview_parts(rewriter.ir, view) else { return false };
            let is_subview = rewriter.ir.op(view).kind == OpKind::MemrefSubview;
            let dropped =
                if is_subview { dropped_dims(rewriter.ir, view) } else { Some(Vec::new()) };
            let Some(dropped) = dropped else { return false };
            // The index of the dimension among all dimensions, including dropped ones.
            let own = (0..lists[1].len()).filter(|it| !dropped.contains(it)).nth(index);
            let Some(own) = own.filter(|&it| lists[1][it] == DYNAMIC) else { return false };
            let place = lists[1][..own].iter().filter(|&&it| it == DYNAMIC).count();
            values[1].get(place).copied()
        }
    };
    let Some(size) = size else { return false };
    rewriter.replace(op, &[size]);
    true
}

/// Returns the offset and the strides of a subview.
fn subview_layout(ir: &Ir, from: Type, lists: &[Vec<i64>; 3]) -> Option<StridedLayout> {
    let known = |list: &[i64]| -> Vec<Option<i64>> {
        list.iter().map(|&it| (it != DYNAMIC).then_some(it)).collect()
    };
    let [offsets, _, steps] = lists;
    let part = ir.interner.layout(from)?.subview(&known(offsets), &known(steps));
    (part.strides.len() == offsets.len()).then_some(part)
}

/// Returns the type of a subview without some dimensions.
fn subview_type(ir: &mut Ir, from: Type, lists: &[Vec<i64>; 3], dropped: &[usize]) -> Option<Type> {
    let StridedLayout { offset: at, strides } = subview_layout(ir, from, lists)?;
    let TypeData::MemRef { element, rest, .. } = ir.interner.type_data(from).clone() else {
        return None;
    };
    let is_kept = |it: &usize| !dropped.contains(it);
    let kept: Vec<usize> = (0..strides.len()).filter(is_kept).collect();
    let strides: Vec<Option<i64>> = kept.iter().map(|&it| strides[it]).collect();
    let known = |it: i64| (it != DYNAMIC).then_some(it);
    let word = |it: &Option<i64>| it.map_or("?".to_owned(), |it| it.to_string());
    let mut text = format!("strided<[{}]", strides.iter().map(word).collect::<Vec<_>>().join(", "));
    if at != Some(0) {
        text += &format!(", offset: {}", word(&at));
    }
    text.push('>');
    let name = ir.interner.intern_name(&text);
    let strided = ir.interner.intern_attr(AttrData::Text(name, None));
    // Keeps the memory space.
    let spaces = rest.iter().copied().filter(|&it| {
        !matches!(ir.interner.attr_data(it), AttrData::Affine(_))
            && !matches!(ir.interner.attr_data(it), AttrData::Text(text, _)
                if ir.interner.str(*text).starts_with("strided<"))
    });
    let rest: Vec<Attr> = std::iter::once(strided).chain(spaces).collect();
    let dims: Vec<Dim> = kept
        .iter()
        .map(|&it| match known(lists[1][it]).and_then(|it| u64::try_from(it).ok()) {
            Some(size) => Dim::Fixed(size),
            None => Dim::Dynamic,
        })
        .collect();
    let data = TypeData::MemRef { dims: Some(dims.into()), element, rest: rest.into() };
    Some(ir.interner.intern_type(data))
}

/// The value in a static list for a number that is given by an operand.
pub(super) const DYNAMIC: i64 = i64::MIN;
pub(super) const STATIC_LISTS: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// Offsets, sizes and strides: the static lists, and the operands for entries that are [`DYNAMIC`].
pub(super) type SubviewParts = ([Vec<i64>; 3], [Vec<Value>; 3]);

/// Returns the static lists of a subview or cast, and the operands of each list.
pub(super) fn subview_parts(ir: &Ir, op: Op) -> Option<SubviewParts> {
    let counts = int_array(ir, op, "operandSegmentSizes")?;
    let all = operands(ir, op);
    let [1, a, b, c] = counts[..] else { return None };
    let (a, b, c) = (usize::try_from(a).ok()?, usize::try_from(b).ok()?, usize::try_from(c).ok()?);
    if all.len() != 1 + a + b + c {
        return None;
    }
    let lists = [
        int_array(ir, op, STATIC_LISTS[0])?,
        int_array(ir, op, STATIC_LISTS[1])?,
        int_array(ir, op, STATIC_LISTS[2])?,
    ];
    let values = [all[1..=a].to_vec(), all[1 + a..1 + a + b].to_vec(), all[1 + a + b..].to_vec()];
    let fits = lists
        .iter()
        .zip(&values)
        .all(|(list, values)| list.iter().filter(|it| **it == DYNAMIC).count() == values.len());
    fits.then_some((lists, values))
}

/// Makes constant offsets, sizes and strides static.
fn fixed_subview(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((mut lists, values)) = subview_parts(rewriter.ir, op) else { return false };
    let source = rewriter.operand(op, 0);
    let Some(dropped) = dropped_dims(rewriter.ir, op) else { return false };
    let mut left: [Vec<Value>; 3] = Default::default();
    let mut is_changed = false;
    for (part, (list, values)) in lists.iter_mut().zip(&values).enumerate() {
        let mut next = values.iter();
        for it in list.iter_mut().filter(|it| **it == DYNAMIC) {
            let Some(&value) = next.next() else { return false };
            match rewriter.int_of(value).and_then(|it| i64::try_from(it).ok()) {
                // Negative numbers remain dynamic, so that they fail at run time.
                Some(number) if number >= 0 && (part != 2 || number > 0) => {
                    *it = number;
                    is_changed = true;
                }
                _ => left[part].push(value),
            }
        }
    }
    if !is_changed {
        return false;
    }
    replace_subview(rewriter, op, source, (&lists, &left), &dropped)
}

/// Replaces a subview by one with another source and other lists, and casts it to the old type.
/// Does nothing if the new subview would not drop the same dimensions.
fn replace_subview(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    source: Value,
    (lists, left): (&[Vec<i64>; 3], &[Vec<Value>; 3]),
    dropped: &[usize],
) -> bool {
    let (from, ty) = (rewriter.ty(source), rewriter.ty(rewriter.ir.op(op).results[0]));
    let Some(new_type) = subview_type(rewriter.ir, from, lists, dropped) else { return false };
    let now_dropped = dims_dropped_for_type(rewriter.ir, from, lists, new_type);
    if now_dropped.as_deref() != Some(dropped) {
        return false;
    }
    let mut inputs = vec![source];
    inputs.extend(left.iter().flatten());
    let mut new = NewOp::new("memref.subview").operands(&inputs).results(&[new_type]);
    for (name, list) in STATIC_LISTS.iter().zip(lists) {
        new = new.attr(name, i64_array_attr(rewriter.ir, list));
    }
    let counts = [1, left[0].len(), left[1].len(), left[2].len()];
    new = new.attr("operandSegmentSizes", segments_attr(rewriter.ir, &counts));
    if new_type == ty {
        rewriter.replace_with(op, new);
    } else {
        let new = rewriter.insert(new, noisy_syntax::rewrite::InsertionPoint::Before(op));
        cast_and_replace(rewriter, op, new, ty);
    }
    true
}

/// Rewrites a subview of a cast to a cast of a subview.
fn subview_of_cast(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((lists, values)) = subview_parts(rewriter.ir, op) else { return false };
    let Some(cast) = rewriter.defined_by(rewriter.operand(op, 0), OpKind::MemrefCast) else {
        return false;
    };
    let source = rewriter.operand(cast, 0);
    let is_more_static = {
        let dims = |it: Value| dims_of(rewriter.ir, it).map(<[Dim]>::to_vec);
        let count = |it: &[Dim]| it.iter().filter(|it| **it == Dim::Dynamic).count();
        matches!((dims(source), dims(rewriter.operand(op, 0))), (Some(a), Some(b)) if count(&a) < count(&b))
    };
    let Some(dropped) = dropped_dims(rewriter.ir, op) else { return false };
    if !is_ranked(rewriter.ir, source) || !is_more_static {
        return false;
    }
    replace_subview(rewriter, op, source, (&lists, &values), &dropped)
}

/// Returns the dimensions of size one that the type of a subview drops (see
/// [`dims_dropped_for_type`]).
fn dropped_dims(ir: &Ir, op: Op) -> Option<Vec<usize>> {
    let (lists, _) = subview_parts(ir, op)?;
    let (from, ty) = (ir.value(operand(ir, op, 0)?).ty, ir.value(*ir.op(op).results.first()?).ty);
    dims_dropped_for_type(ir, from, &lists, ty)
}

/// Returns the dimensions of size one that a subview with a result type drops. If several choices
/// are possible, strides determine which. `None` if the strides of the subview and those of its
/// source, which MLIR compares, do not determine the same ones, or if the type has other sizes or
/// strides than the dimensions that are left.
fn dims_dropped_for_type(
    ir: &Ir,
    from: Type,
    lists: &[Vec<i64>; 3],
    ty: Type,
) -> Option<Vec<usize>> {
    let all = subview_layout(ir, from, lists)?.strides;
    let kept = ir.interner.layout(ty)?.strides;
    let n_dropped = all.len().checked_sub(kept.len())?;
    if n_dropped == 0 {
        return Some(Vec::new());
    }
    let mut dropped: Vec<usize> = (0..all.len()).filter(|&at| lists[1][at] == 1).collect();
    if dropped.len() > n_dropped {
        let of_source = ir.interner.layout(from)?.strides;
        let for_mlir = dims_with_dropped_strides(&dropped, &of_source, &kept);
        dropped = dims_with_dropped_strides(&dropped, &all, &kept);
        if dropped != for_mlir {
            return None;
        }
    }
    let TypeData::MemRef { dims: Some(dims), .. } = ir.interner.type_data(ty) else { return None };
    let left: Vec<usize> = (0..all.len()).filter(|it| !dropped.contains(it)).collect();
    let has_type = |((&at, dim), stride): ((&usize, &Dim), &Option<i64>)| {
        let has_size = match dim {
            Dim::Fixed(size) => i64::try_from(*size) == Ok(lists[1][at]),
            _ => lists[1][at] == DYNAMIC,
        };
        has_size && all[at] == *stride
    };
    let is_determined =
        dropped.len() == n_dropped && left.iter().zip(dims.iter()).zip(&kept).all(has_type);
    is_determined.then_some(dropped)
}

/// Returns the leading dimensions among `candidates` whose strides occur more often among all
/// strides than among the kept ones.
fn dims_with_dropped_strides(
    candidates: &[usize],
    all: &[Option<i64>],
    kept: &[Option<i64>],
) -> Vec<usize> {
    let count = |list: &[Option<i64>], it: Option<i64>| list.iter().filter(|x| **x == it).count();
    let mut gone: Vec<Option<i64>> = Vec::new();
    let goes = |&at: &usize| {
        let stride = all[at];
        let goes = count(all, stride) - count(&gone, stride) > count(kept, stride);
        if goes {
            gone.push(stride);
        }
        goes
    };
    candidates.iter().copied().filter(goes).collect()
}

/// Replaces a subview that covers another subview by that subview.
fn whole_subview_of_subview(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let source = rewriter.operand(op, 0);
    let result = rewriter.ir.op(op).results[0];
    let Some(inner) = rewriter.defined_by(source, OpKind::MemrefSubview) else { return false };
    let (Some((lists, values)), Some((own, own_values))) =
        (subview_parts(rewriter.ir, inner), subview_parts(rewriter.ir, op))
    else {
        return false;
    };
    let is_whole = rewriter.ty(source) == rewriter.ty(result)
        && own[0].iter().all(|&it| it == 0)
        && own[2].iter().all(|&it| it == 1)
        && (&own[1], &own_values[1]) == (&lists[1], &values[1]);
    if is_whole {
        rewriter.replace(op, &[source]);
    }
    is_whole
}

/// Replaces a subview that covers a buffer by a cast of the buffer.
fn whole_buffer(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(source) = source_if_covered(rewriter.ir, op) else { return false };
    let ty = rewriter.ty(rewriter.ir.op(op).results[0]);
    let n_dims = |it: &[Dim]| it.len();
    let result = rewriter.ir.op(op).results[0];
    if dims_of(rewriter.ir, source).map(n_dims) != dims_of(rewriter.ir, result).map(n_dims) {
        return false;
    }
    rewriter.replace_with(op, NewOp::new("memref.cast").operands(&[source]).results(&[ty]));
    true
}

/// Returns the source of a subview that covers it and has the same type.
pub(crate) fn source_of_identical_subview(ir: &Ir, op: Op) -> Option<Value> {
    let source = source_if_covered(ir, op)?;
    let result = *ir.op(op).results.first()?;
    (ir.value(source).ty == ir.value(result).ty).then_some(source)
}

/// Returns the source of a subview that covers it.
fn source_if_covered(ir: &Ir, op: Op) -> Option<Value> {
    let (lists, values) = subview_parts(ir, op)?;
    let source = operand(ir, op, 0)?;
    if values.iter().any(|it| !it.is_empty()) {
        return None;
    }
    let dims = dims_of(ir, source)?;
    let is_whole = lists[0].iter().all(|&it| it == 0)
        && lists[2].iter().all(|&it| it == 1)
        && dims.len() == lists[1].len()
        && dims
            .iter()
            .zip(&lists[1])
            .all(|(dim, &size)| matches!(dim, Dim::Fixed(it) if i64::try_from(*it) == Ok(size)));
    is_whole.then_some(source)
}

/// Makes constant sizes of a view static.
fn fixed_view(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let all = operands(rewriter.ir, op);
    let result = rewriter.ir.op(op).results[0];
    let ty = rewriter.ty(result);
    let TypeData::MemRef { dims: Some(dims), .. } = rewriter.ir.interner.type_data(ty) else {
        return false;
    };
    let Some((dims, left)) = known_sizes(rewriter, dims, &all[2..]) else { return false };
    let Some(new_type) = with_dims(rewriter.ir, ty, dims) else { return false };
    let inputs: Vec<Value> = all[..2].iter().chain(&left).copied().collect();
    let new = rewriter.rebuild(op, &inputs, &[new_type]);
    cast_and_replace(rewriter, op, new, ty);
    true
}
