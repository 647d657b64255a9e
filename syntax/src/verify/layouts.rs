//! Rules about the layouts of the results of ops that return another view of a buffer.
//!
//! *Law.* `mlir-opt` of LLVM 19 rejects everything that these rules reject
//! (`inferTransposeResultType`, `computeCollapsedLayoutMap`, `computeExpandedLayoutMap` in its
//! sources). Nothing is concluded from layouts that are maps.

use super::Verifier;
use crate::{Dim, StridedLayout, Type};

/// The size of a dimension, if it is static.
fn static_size(dim: Dim) -> Option<i64> {
    if let Dim::Fixed(n) = dim { i64::try_from(n).ok() } else { None }
}

fn known_product(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.zip(b).and_then(|(a, b)| a.checked_mul(b))
}

/// Returns true if both numbers are known and differ.
fn are_known_to_differ(a: Option<i64>, b: Option<i64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a != b)
}

/// Returns the stride of the dimension into which a group of dimensions is collapsed. Fails with a
/// message if the group is not contiguous.
fn collapsed_stride(
    group: &[usize],
    dims: &[Dim],
    strides: &[Option<i64>],
) -> Result<Option<i64>, String> {
    // Dimensions of size 1 may have any stride.
    let mut last = group.len() - 1;
    while last > 0 && dims[group[last]] == Dim::Fixed(1) {
        last -= 1;
    }
    let is_known = last == 0 || static_size(dims[group[last]]).is_some();
    let joined = if is_known { strides[group[last]] } else { None };
    let mut stride = joined;
    for pair in group.windows(2).rev() {
        let (outer, inner) = (pair[0], pair[1]);
        stride = known_product(stride, static_size(dims[inner]));
        if dims[outer] != Dim::Fixed(1) && are_known_to_differ(stride, strides[outer]) {
            return Err(format!("dimensions {outer} and {inner} are not contiguous"));
        }
    }
    Ok(joined)
}

/// Computes the strides of the group of dimensions into which a dimension is expanded.
fn expand_strides(group: &[usize], dims: &[Dim], stride: Option<i64>, out: &mut [Option<i64>]) {
    let mut stride = stride;
    for &at in group.iter().rev() {
        out[at] = stride;
        stride = known_product(stride, static_size(dims[at]));
    }
}

/// Describes the first difference between the inferred layout `is` and the layout `said` of the
/// result type.
pub(super) fn layout_difference(
    is: &StridedLayout,
    said: &StridedLayout,
    differ: impl Fn(Option<i64>, Option<i64>) -> bool,
) -> Option<String> {
    let shown = |it: Option<i64>| it.map_or("?".to_owned(), |it| it.to_string());
    if differ(is.offset, said.offset) {
        return Some(format!(
            "the result starts at offset {}, but its type says {}",
            shown(is.offset),
            shown(said.offset)
        ));
    }
    let at = is.strides.iter().zip(&said.strides).position(|it| differ(*it.0, *it.1))?;
    Some(format!(
        "stride {at} of the result is {}, but its type says {}",
        shown(is.strides[at]),
        shown(said.strides[at])
    ))
}

impl Verifier<'_> {
    /// Returns the problem with the layout of the result of a transposition.
    pub(super) fn transposed_layout_problem(
        &self,
        from: Type,
        to: Type,
        order: &[usize],
    ) -> Option<String> {
        let of = self.ir.interner.layout(from)?;
        let said = self.ir.interner.layout(to)?;
        let strides = order.iter().map(|at| of.strides[*at]).collect();
        layout_difference(&StridedLayout { strides, ..of }, &said, |a, b| a != b)
    }

    /// Returns the problem with the layout of the result of a collapse or an expansion of groups of
    /// dimensions.
    pub(super) fn regrouped_layout_problem(
        &self,
        from: Type,
        to: Type,
        groups: &[Vec<i128>],
        expands: bool,
    ) -> Option<String> {
        let of = self.ir.interner.layout(from)?;
        let (from_dims, to_dims) = (self.dims(from)?, self.dims(to)?);
        let mut strides = vec![None; to_dims.len()];
        for (at, group) in groups.iter().enumerate() {
            let group: Vec<usize> = group.iter().filter_map(|it| (*it).try_into().ok()).collect();
            if group.is_empty() {
                return None;
            }
            if expands {
                expand_strides(&group, to_dims, of.strides[at], &mut strides);
            } else {
                match collapsed_stride(&group, from_dims, &of.strides) {
                    Ok(stride) => strides[at] = stride,
                    Err(message) => return Some(message),
                }
            }
        }
        if groups.is_empty() {
            return None;
        }
        let said = self.ir.interner.layout(to)?;
        layout_difference(&StridedLayout { strides, ..of }, &said, are_known_to_differ)
    }
}
