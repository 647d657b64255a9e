//! A cache model that chooses tile sizes.
//!
//! A tile has T iterations in each loop of the band. In each dimension of a memref, it accesses as
//! many elements as the subscript takes values in the tile. The model chooses the largest power of
//! two for which all elements that a tile accesses fit into the cache. Inner loops that are not
//! tiled count with their trip count, or as [`DEFAULT_TRIP_COUNT`].

use rustc_hash::FxHashMap;

use noisy_syntax::{Ir, TypeData};

use crate::body::FunctionBody;
use crate::form::{LinearForm, LinearTerm};

/// The exponents of the candidate sizes, which are powers of two.
const SIZE_EXPONENTS: std::ops::RangeInclusive<u32> = 2..=8;
/// The size of an element of a type with unknown size, in bytes.
const DEFAULT_ELEMENT_BYTES: i128 = 8;
/// The assumed trip count of a loop with bounds that are not constant.
const DEFAULT_TRIP_COUNT: i128 = 256;

/// Returns the tile size of the loops of a band for a cache of `cache` bytes.
pub(super) fn tile_size(ir: &Ir, body: &FunctionBody, band: &[u32], cache: i128) -> i64 {
    let fits =
        |it: &i64| accessed_bytes(ir, body, band, i128::from(*it)).is_some_and(|it| it <= cache);
    let sizes: Vec<i64> = SIZE_EXPONENTS.map(|it| 1 << it).collect();
    sizes.iter().rev().copied().find(fits).unwrap_or(sizes[0])
}

/// Returns the size of all elements that a tile accesses, in bytes. `None` on overflow.
fn accessed_bytes(ir: &Ir, body: &FunctionBody, band: &[u32], size: i128) -> Option<i128> {
    // Accesses that differ only by a constant share most elements, so only the largest counts.
    let mut seen: FxHashMap<_, i128> = FxHashMap::default();
    for it in &body.accesses {
        let path = body.loops_around(it.scope);
        let Ok(element) = &it.subscripts else { continue };
        if !band.iter().all(|loop_| path.contains(loop_)) {
            continue;
        }
        let trips = |loop_: u32| match band.contains(&loop_) {
            true => Some(size),
            false
                if path.iter().position(|it| *it == loop_)
                    < path.iter().position(|it| *it == band[0]) =>
            {
                Some(1)
            }
            false => Some(trip_count(body, loop_)),
        };
        let extent = |form: &LinearForm| {
            form.terms.iter().try_fold(1_i128, |sum, &(term, by)| match term {
                LinearTerm::Iv(at) => {
                    sum.checked_add(by.checked_abs()?.checked_mul(trips(at)? - 1)?)
                }
                _ => Some(sum),
            })
        };
        let bytes = element.iter().try_fold(element_bytes(ir, it.memref.base), |all, form| {
            all.checked_mul(extent(form)?)
        })?;
        let key: Vec<_> = element.iter().map(|it| it.terms.clone()).collect();
        let most = seen.entry((it.memref.base, key)).or_insert(0);
        *most = bytes.max(*most);
    }
    seen.values().try_fold(0_i128, |sum, it| sum.checked_add(*it))
}

fn trip_count(body: &FunctionBody, loop_: u32) -> i128 {
    let it = &body.loops[loop_ as usize];
    let only = |all: &Option<Vec<LinearForm>>| match all.as_deref() {
        Some([one]) => one.as_constant(),
        _ => None,
    };
    match (only(&it.lower), only(&it.upper), it.step) {
        (Some(low), Some(high), Some(step)) if step > 0 => ((high - low) / step).max(1),
        _ => DEFAULT_TRIP_COUNT,
    }
}

/// Returns the size of an element of a memref, in bytes.
fn element_bytes(ir: &Ir, memref: noisy_syntax::Value) -> i128 {
    let TypeData::MemRef { element, .. } = ir.interner.type_data(ir.value(memref).ty) else {
        return DEFAULT_ELEMENT_BYTES;
    };
    ir.interner
        .bit_width(*element)
        .map_or(DEFAULT_ELEMENT_BYTES, |bits| i128::from(bits.div_ceil(8)))
}
