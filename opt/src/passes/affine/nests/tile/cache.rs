//! Tile sizes from the footprint of a nest. As in MLIR, the quotient of footprint and cache size is
//! distributed evenly over the loops.
//!
//! *Law.* All tile sizes are legal, so the model need not be exact.

use noisy_loops::{FunctionBody, LinearForm, LinearTerm};
use noisy_syntax::{Dim, Ir, TypeData, Value};
use rustc_hash::FxHashMap;

use crate::passes::affine::for_loop::AffineFor;
use noisy_analyses::facts::effects;

/// The least and the greatest subscript.
type Interval = (i128, i128);

/// Returns tile sizes with which a tile fits into a cache of `cache` bytes. `None` if the footprint
/// is unknown.
pub(super) fn sizes(
    ir: &Ir,
    body: &FunctionBody,
    nest: &[AffineFor],
    cache: i64,
) -> Option<Vec<i64>> {
    let excess = footprint(ir, body, nest)?.div_ceil(u128::try_from(cache).ok()?.max(1));
    let mut sizes = vec![1; nest.len()];
    if excess <= 1 {
        return Some(sizes);
    }
    let excess = i64::try_from(excess).unwrap_or(i64::MAX);
    let each = root(excess, nest.len());
    let mut product = 1_i64;
    let last = sizes.len() - 1;
    for size in &mut sizes[..last] {
        *size = each;
        product = product.saturating_mul(each);
    }
    sizes[last] = (excess / product).max(1);
    for (size, it) in sizes.iter_mut().zip(nest) {
        // If the size divides the trip count, the bounds need no minimum.
        if let Some(trips) = it.trip_count().filter(|it| *it > 0) {
            *size = if trips > 1 { (*size).min(trips / 2) } else { *size };
            while trips % *size != 0 {
                *size -= 1;
            }
        }
    }
    Some(sizes)
}

/// Returns the n-th root of a positive number, rounded down.
fn root(of: i64, n: usize) -> i64 {
    let fits =
        |it: i64| (0..n).try_fold(1_i64, |all, _| all.checked_mul(it)).is_some_and(|it| it <= of);
    let (mut low, mut high) = (1, of.max(2));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// Returns the size in bytes of all elements that the nest accesses, approximated by one box per
/// memref.
fn footprint(ir: &Ir, body: &FunctionBody, nest: &[AffineFor]) -> Option<u128> {
    let root = body.loop_of(nest.first()?.op)?;
    let mut boxes: FxHashMap<Value, Vec<Interval>> = FxHashMap::default();
    for it in &body.accesses {
        if !body.loops_around(it.scope).contains(&root) {
            continue;
        }
        let memref = it.memref.base;
        let shape = effects::dims_of(ir, memref)?;
        let forms = it.subscripts.as_ref().ok();
        let mut own = Vec::new();
        for (at, dim) in shape.iter().enumerate() {
            let all = match dim {
                Dim::Fixed(size) => Some((0, i128::from(*size) - 1)),
                _ => None,
            };
            let read = forms.and_then(|it| it.get(at)).and_then(|it| interval(body, it));
            own.push(match (read, all) {
                (Some(a), Some(b)) => (a.0.max(b.0), a.1.min(b.1)),
                (one, other) => one.or(other)?,
            });
        }
        let all = boxes.entry(memref).or_insert_with(|| own.clone());
        for (all, own) in all.iter_mut().zip(own) {
            *all = (all.0.min(own.0), all.1.max(own.1));
        }
    }
    boxes.iter().try_fold(0_u128, |sum, (&memref, extents)| {
        let TypeData::MemRef { element, .. } = ir.interner.type_data(ir.value(memref).ty) else {
            return None;
        };
        let bytes = u128::from(ir.interner.bit_width(*element)?.div_ceil(8));
        let size = |it: &Interval| u128::try_from((it.1 - it.0 + 1).max(0)).ok();
        let own = extents.iter().try_fold(bytes, |all, it| all.checked_mul(size(it)?))?;
        sum.checked_add(own)
    })
}

/// Returns the range of a form over loops with known bounds.
fn interval(body: &FunctionBody, form: &LinearForm) -> Option<Interval> {
    form.terms.iter().try_fold((form.constant, form.constant), |(low, high), &(term, by)| {
        let LinearTerm::Iv(at) = term else { return None };
        let it = &body.loops[at as usize];
        let only = |all: &Option<Vec<LinearForm>>| match all.as_deref() {
            Some([one]) => one.as_constant(),
            _ => None,
        };
        let (first, end) = (only(&it.lower)?, only(&it.upper)?);
        let ends = [first.checked_mul(by)?, end.checked_sub(1)?.max(first).checked_mul(by)?];
        Some((low.checked_add(ends[0].min(ends[1]))?, high.checked_add(ends[0].max(ends[1]))?))
    })
}
