//! The layout of the elements of a memref.

use super::Interner;
use crate::{AttrData, Dim, Type, TypeData};

/// The strided layout of a memref, in units of elements: the element with indices `i` is at
/// `offset + sum(i * stride)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedLayout {
    /// The position of the first element; `None` if it is dynamic.
    pub offset: Option<i64>,
    /// The stride of each dimension; `None` if it is dynamic or does not fit into 64 bits.
    pub strides: Vec<Option<i64>>,
}

impl Interner {
    /// The layout of a memref: the one stated as `strided<...>`, or the row-major layout without
    /// gaps. `None` for other types, for unranked memrefs, and if a map defines the layout.
    pub fn layout(&self, ty: Type) -> Option<StridedLayout> {
        let TypeData::MemRef { dims: Some(dims), rest, .. } = self.type_data(ty) else {
            return None;
        };
        for &it in rest {
            match self.attr_data(it) {
                AttrData::Text(text, _) => {
                    if let Some(inside) = self.str(*text).strip_prefix("strided<[") {
                        return strided(inside).filter(|it| it.strides.len() == dims.len());
                    }
                }
                AttrData::Affine(_) => return None,
                _ => {}
            }
        }
        let mut strides = vec![Some(1_i64); dims.len()];
        for at in (1..dims.len()).rev() {
            let size = match dims[at] {
                Dim::Fixed(size) => i64::try_from(size).ok(),
                Dim::Dynamic | Dim::Scalable(_) => None,
            };
            strides[at - 1] = strides[at].zip(size).and_then(|(a, b)| a.checked_mul(b));
        }
        Some(StridedLayout { offset: Some(0), strides })
    }
}

/// Parses the canonical text `4, ?], offset: 2>`.
fn strided(inside: &str) -> Option<StridedLayout> {
    let (strides, behind) = inside.split_once(']')?;
    let number = |it: &str| it.trim().parse().ok();
    let strides = strides.split(',').filter(|it| !it.trim().is_empty()).map(number).collect();
    let offset = match behind.split_once("offset:") {
        Some((_, it)) => number(it.trim_end_matches('>')),
        None => Some(0),
    };
    Some(StridedLayout { offset, strides })
}

impl StridedLayout {
    /// The layout of a subview with an offset and a step in each dimension. Zero times an unknown
    /// number is zero. Numbers that exceed 64 bits are unknown.
    #[must_use]
    pub fn subview(&self, offsets: &[Option<i64>], steps: &[Option<i64>]) -> StridedLayout {
        let times = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (Some(0), _) => Some(0),
            (a, b) => a.zip(b).and_then(|(a, b)| a.checked_mul(b)),
        };
        let plus = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
        let moved = offsets.iter().zip(&self.strides).map(|it| times(*it.0, *it.1));
        StridedLayout {
            offset: moved.fold(self.offset, plus),
            strides: self
                .strides
                .iter()
                .zip(steps)
                .map(|it| it.0.zip(*it.1).and_then(|(a, b)| a.checked_mul(b)))
                .collect(),
        }
    }
}
