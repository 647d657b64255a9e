//! The cost model of loop orders and tiles: costs of the innermost loop, and reuse in caches.
//!
//! The model has one thread with caches and vector units. In the innermost loop, an access to the
//! same or to the next element is cheap. A strided access costs a cache line: less with tiles,
//! which keep lines in the cache, more for a store to a line that is not loaded, because the store
//! stalls until the line is loaded. A store to the same element is a reduction, a chain of
//! dependent additions. Tiles are profitable if an outer loop accesses the same elements or cache
//! lines again, and the memref is larger than a cache.

use noisy_loops::{FunctionBody, LinearForm, LinearTerm};
use noisy_syntax::{Dim, Ir, Type, TypeData};

use super::farkas::orthogonal_complement;
use super::nest::StatementNest;

const NEXT_ELEMENT_COST: i64 = 1;
const REDUCTION_COST: i64 = 6;
const JUMP_COST: i64 = 20;
const TILED_JUMP_COST: i64 = 8;

/// An order is better if its cost is below the first fraction of the current cost, and worse if it
/// is above the second.
pub(super) const GAIN_RATIO: f64 = 0.9;
pub(super) const LOSS_RATIO: f64 = 1.1;

/// Returns the coefficients of a subscript for the variables of a statement. `None` if it has
/// quotients.
fn coefficients(form: &LinearForm, path: &[u32]) -> Option<Vec<i128>> {
    let mut out = vec![0; path.len()];
    for &(term, by) in &form.terms {
        match term {
            LinearTerm::Iv(at) => {
                if let Some(place) = path.iter().position(|it| *it == at) {
                    out[place] = by;
                }
            }
            LinearTerm::Quotient(_) | LinearTerm::Step(_) => return None,
            LinearTerm::Symbol(_) | LinearTerm::Local(_) => {}
        }
    }
    Some(out)
}

/// Returns the subscripts of an access as rows over the variables of its statement.
pub(super) fn subscripts(
    body: &FunctionBody,
    access: usize,
    n_outer: usize,
) -> Option<Vec<Vec<i128>>> {
    let it = &body.accesses[access];
    let path = &body.loops_around(it.scope)[n_outer..];
    it.subscripts.as_ref().ok()?.iter().map(|form| coefficients(form, path)).collect()
}

/// Returns the cost of the accesses of a statement per step in a direction, a vector over its
/// variables.
pub(super) fn step_cost(
    ir: &Ir,
    body: &FunctionBody,
    nest: &StatementNest,
    statement: usize,
    direction: &[i128],
    (is_tiled, cache): (bool, i128),
) -> i64 {
    let jump = if is_tiled { TILED_JUMP_COST } else { JUMP_COST };
    let mut out = 0;
    let all = &nest.statements[statement].accesses;
    // A load with subscripts that differ only by constants shares a cache line with the store.
    let is_near_load = |rows: &[Vec<i128>], store: usize| {
        let place = body.accesses[store].memref.base;
        let mut loads = all.iter().filter(|it| !body.accesses[**it].is_store);
        loads.any(|&it| {
            body.accesses[it].memref.base == place
                && subscripts(body, it, nest.n_outer).as_deref() == Some(rows)
        })
    };
    for (at, &access) in all.iter().enumerate() {
        let is_store = body.accesses[access].is_store;
        let is_same = |it: usize| {
            let (a, b) = (&body.accesses[it], &body.accesses[access]);
            a.memref == b.memref && a.subscripts.is_ok() && a.subscripts == b.subscripts
        };
        let is_again = all[..at].iter().any(|&it| is_same(it));
        let Some(rows) = subscripts(body, access, nest.n_outer) else {
            out += jump;
            continue;
        };
        let moves: Vec<i128> =
            rows.iter().map(|row| row.iter().zip(direction).map(|(a, b)| a * b).sum()).collect();
        let (last, outer) = match moves.split_last() {
            Some((last, outer)) => (*last, outer),
            None => (0, &[][..]),
        };
        out += match (outer.iter().all(|it| *it == 0), last) {
            (true, 0) if is_store => REDUCTION_COST,
            (true, 0) => 0,
            _ if is_again => 0,
            (true, 1 | -1) => NEXT_ELEMENT_COST,
            _ if is_store && size(ir, body, access) > cache && !is_near_load(&rows, access) => {
                jump + jump / 2
            }
            _ => jump,
        };
    }
    out
}

/// Returns true if an access of a statement uses the same element in each step in a direction.
pub(super) fn is_invariant_along(
    body: &FunctionBody,
    nest: &StatementNest,
    statement: usize,
    access: usize,
    direction: &[i128],
) -> bool {
    debug_assert!(nest.statements[statement].accesses.contains(&access), "an access of it");
    subscripts(body, access, nest.n_outer).is_some_and(|rows| {
        rows.iter().all(|row| row.iter().zip(direction).map(|(a, b)| a * b).sum::<i128>() == 0)
    })
}

/// Returns the number of accesses of a statement that use different elements in the steps in a
/// direction.
pub(super) fn n_moving(
    body: &FunctionBody,
    nest: &StatementNest,
    statement: usize,
    direction: &[i128],
) -> usize {
    let all = nest.statements[statement].accesses.iter();
    all.filter(|&&it| !is_invariant_along(body, nest, statement, it, direction)).count()
}

/// The kind of reuse that tiles make possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TileReuse {
    /// Reuse of cache lines: the access is strided in the innermost loop, and another loop accesses
    /// the same lines.
    Lines,
    Elements,
}

/// Returns the best reuse of an access of a statement, except between steps of the innermost loop.
/// Only memrefs that are larger than the cache count.
pub(super) fn reuse(
    ir: &Ir,
    body: &FunctionBody,
    nest: &StatementNest,
    statement: usize,
    innermost: &[i128],
    cache: i128,
) -> Option<TileReuse> {
    let n = nest.statements[statement].ivs.len();
    let of = |&access: &usize| {
        let rows = subscripts(body, access, nest.n_outer)?;
        // A single element is in a register or in a cache anyway.
        let is_one = rows.iter().all(|row| row[..n].iter().all(|it| *it == 0));
        if is_one || size(ir, body, access) <= cache {
            return None;
        }
        let is_parallel =
            |a: &[i128]| (0..n).all(|i| (0..n).all(|j| a[i] * innermost[j] == a[j] * innermost[i]));
        if orthogonal_complement(&rows, n)?.iter().any(|it| !is_parallel(it)) {
            return Some(TileReuse::Elements);
        }
        let (last, outer) = rows.split_last()?;
        let moves =
            |row: &Vec<i128>| row.iter().zip(innermost).map(|(a, b)| a * b).sum::<i128>() != 0;
        let jumps = outer.iter().any(moves) && last.iter().any(|it| *it != 0);
        let lines = orthogonal_complement(outer, n).filter(|_| jumps)?;
        lines.iter().any(|it| !is_parallel(it)).then_some(TileReuse::Lines)
    };
    nest.statements[statement].accesses.iter().filter_map(of).max()
}

/// Returns true if several statements access the same memref, and it is larger than the cache.
pub(super) fn is_shared(
    ir: &Ir,
    body: &FunctionBody,
    nest: &StatementNest,
    members: &[usize],
    cache: i128,
) -> bool {
    let of = |statement: usize| nest.statements[statement].accesses.iter().copied();
    members.iter().enumerate().any(|(at, &a)| {
        of(a).any(|access| {
            let view = body.accesses[access].memref.base;
            let mut others = members[at + 1..].iter().flat_map(|&b| of(b));
            others.any(|it| body.accesses[it].memref.base == view) && size(ir, body, access) > cache
        })
    })
}

/// Returns the size of the memref of an access in bytes; `i128::MAX` if it is unknown.
fn size(ir: &Ir, body: &FunctionBody, access: usize) -> i128 {
    let TypeData::MemRef { dims: Some(dims), element, .. } =
        ir.interner.type_data(ir.value(body.accesses[access].memref.base).ty)
    else {
        return i128::MAX;
    };
    let width = element_size(ir, *element);
    dims.iter().fold(width, |size, it| match it {
        Dim::Fixed(n) => size.saturating_mul(i128::from(*n)),
        _ => i128::MAX,
    })
}

/// Returns the size of an element in bytes; 8 if it is unknown.
pub(super) fn element_size(ir: &Ir, element: Type) -> i128 {
    match ir.interner.type_data(element) {
        TypeData::Int { width, .. } => i128::from(*width).max(8) / 8,
        TypeData::Float(name) => {
            let digits = name.trim_start_matches(char::is_alphabetic);
            let end = digits.find(char::is_alphabetic).unwrap_or(digits.len());
            digits[..end].parse::<i128>().map_or(8, |bits| bits.max(8) / 8)
        }
        _ => 8,
    }
}
