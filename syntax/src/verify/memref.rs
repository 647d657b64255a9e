//! Rules about attributes of `memref` ops that state shapes: groups of dimensions, offsets, sizes,
//! alignments.
//!
//! *Law.* `mlir-opt` of LLVM 19 rejects everything that these rules reject (`verifyCollapsedShape`,
//! `verifyOffsetSizeAndStrideOp` in its sources). A dynamic size agrees with every dynamic size,
//! and layouts are compared only where both are known.

use super::Verifier;
use super::layouts::layout_difference;
use crate::op_traits::DYNAMIC;
use crate::{Attr, AttrData, Code, Dim, Form, Op, OpKind};

/// The size of a dimension in lists of static sizes; [`DYNAMIC`] if it is dynamic.
fn listed_size(dim: &Dim) -> i128 {
    if let Dim::Fixed(n) = dim { i128::from(*n) } else { i128::from(DYNAMIC) }
}

/// The text of a static size in messages.
fn size_text(size: i128) -> String {
    if size == i128::from(DYNAMIC) { "dynamic".to_owned() } else { size.to_string() }
}

/// Returns true if a shape consists of the sizes, possibly without some that are 1.
fn is_rank_reduction(sizes: &[i128], dims: &[Dim]) -> bool {
    let mut dims = dims.iter().peekable();
    for &size in sizes {
        if dims.peek().is_some_and(|it| listed_size(it) == size) {
            dims.next();
        } else if size != 1 {
            return false;
        }
    }
    dims.next().is_none()
}

/// Verifies that there is one operand for each dynamic element of a list.
fn verify_dynamic_operands(
    lists: &[(&Vec<i128>, &str)],
    n_given: &[usize],
) -> Result<(), (Code, String)> {
    for ((list, what), n_given) in lists.iter().zip(n_given) {
        let n_dynamic = list.iter().filter(|it| **it == i128::from(DYNAMIC)).count();
        if n_dynamic != *n_given {
            let message = format!("has {n_given} operands for {n_dynamic} dynamic {what}");
            return Err((Code::WrongCount, message));
        }
    }
    Ok(())
}

impl Verifier<'_> {
    /// Checks that an `scf.forall` has as many bounds and steps as loops, and an operand for each
    /// dynamic one. Otherwise reports the problem and returns false.
    pub(super) fn check_bounds_for_each_loop(&mut self, op: Op, n_given: &[usize]) -> bool {
        let lists = ["staticLowerBound", "staticUpperBound", "staticStep"]
            .map(|it| self.ir.attr(op, it).and_then(|it| self.int_list(it)));
        let [Some(lower), Some(upper), Some(step)] = lists else { return true };
        let lists = [(&lower, "lower bounds"), (&upper, "upper bounds"), (&step, "steps")];
        let rank = lower.len();
        let other = lists.iter().find(|it| it.0.len() != rank);
        let wrong = match other {
            Some((list, what)) => {
                Err((Code::WrongCount, format!("has {} {what} for {rank} loops", list.len())))
            }
            None => verify_dynamic_operands(&lists, n_given),
        };
        match wrong {
            // The parser checks the bounds of the custom form.
            Err((code, message)) if self.ir.op(op).form == Form::Generic => {
                self.report(op, code, message);
                false
            }
            _ => true,
        }
    }

    /// The integers of a list.
    fn int_list(&self, list: Attr) -> Option<Vec<i128>> {
        let interner = &self.ir.interner;
        let (AttrData::DenseArray { values, .. } | AttrData::Array(values)) =
            interner.attr_data(list)
        else {
            return None;
        };
        values.iter().map(|it| interner.int_value(*it)).collect()
    }

    /// Checks the offsets, sizes and strides of `memref.subview` and `memref.reinterpret_cast`.
    pub(crate) fn check_slice(&mut self, op: Op) {
        if self.ir.op(op).kind == OpKind::MemrefSubview {
            self.check_offsets_and_sizes(op);
        }
        if let Err((code, message)) = self.verify_slice(op) {
            self.report(op, code, message);
        }
    }

    /// Verifies the numbers of offsets, sizes and strides, and the sizes of the result.
    fn verify_slice(&self, op: Op) -> Result<(), (Code, String)> {
        let lists = ["static_offsets", "static_sizes", "static_strides"]
            .map(|it| self.ir.attr(op, it).and_then(|it| self.int_list(it)));
        let [Some(offsets), Some(sizes), Some(strides)] = lists else { return Ok(()) };
        let is_dynamic = |it: &&i128| **it == i128::from(DYNAMIC);
        let segments = self.segment_sizes(op).unwrap_or_default();
        let lists = [(&offsets, "offsets"), (&sizes, "sizes"), (&strides, "strides")];
        verify_dynamic_operands(&lists, segments.get(1..).unwrap_or_default())?;
        let of = self.dims(self.operand_type(op, 0)).map(<[Dim]>::len);
        let result = self.ir.op(op).results.first().map(|&it| self.value_type(it));
        let Some(dims) = result.and_then(|it| self.dims(it)) else { return Ok(()) };
        let is_subview = self.ir.op(op).kind == OpKind::MemrefSubview;
        let (n_offsets, rank) = if is_subview { (of, of) } else { (Some(1), Some(dims.len())) };
        let counts = [
            (offsets.len(), "offsets", n_offsets),
            (sizes.len(), "sizes", rank),
            (strides.len(), "strides", rank),
        ];
        for (n, what, wanted) in counts {
            if let Some(wanted) = wanted.filter(|it| *it != n) {
                return Err((Code::WrongCount, format!("has {n} {what}, but needs {wanted}")));
            }
        }
        // A subview may drop dimensions of size 1.
        if dims.len() == sizes.len() {
            let is_other = |(size, dim): (&i128, &Dim)| {
                let is_static = *size >= 0 && matches!(dim, Dim::Fixed(_));
                let counts = is_static || is_subview && (*size >= 0 || is_dynamic(&size));
                counts && *size != listed_size(dim)
            };
            if let Some(at) = sizes.iter().zip(dims).position(is_other) {
                let size = size_text(sizes[at]);
                let message = format!("size {at} is {size}, but the result has another size");
                return Err((Code::ResultType, message));
            }
        }
        if is_subview && dims.len() != sizes.len() && !is_rank_reduction(&sizes, dims) {
            let message = "the result must have the sizes that are not 1".to_owned();
            return Err((Code::ResultType, message));
        }
        if !is_subview && let Some(message) = self.cast_layout_problem(op, &offsets, &strides) {
            return Err((Code::ResultType, message));
        }
        if is_subview
            && let Some(message) = self.subview_layout_problem(op, &offsets, &sizes, &strides)
        {
            return Err((Code::ResultType, message));
        }
        Ok(())
    }

    /// Returns the problem with the layout in the result type of `memref.subview`. Strides are
    /// compared only if the dropped dimensions are known.
    fn subview_layout_problem(
        &self,
        op: Op,
        offsets: &[i128],
        sizes: &[i128],
        strides: &[i128],
    ) -> Option<String> {
        let known = |list: &[i128]| -> Vec<Option<i64>> {
            let number = |it: &i128| i64::try_from(*it).ok().filter(|it| *it != DYNAMIC);
            list.iter().map(number).collect()
        };
        let interner = &self.ir.interner;
        let mut part =
            interner.layout(self.operand_type(op, 0))?.subview(&known(offsets), &known(strides));
        let said = interner.layout(self.value_type(*self.ir.op(op).results.first()?))?;
        if part.strides.len() != said.strides.len() {
            let mut sizes = sizes.iter();
            part.strides.retain(|_| sizes.next() != Some(&1));
        }
        if part.strides.len() != said.strides.len() {
            part.strides.clear();
        }
        layout_difference(&part, &said, |a, b| a != b)
    }

    /// Returns the problem with the layout in the result type of `memref.reinterpret_cast`.
    fn cast_layout_problem(&self, op: Op, offsets: &[i128], strides: &[i128]) -> Option<String> {
        let said = self.ir.interner.layout(self.value_type(*self.ir.op(op).results.first()?))?;
        let differs = |is: i128, said: Option<i64>| {
            is != i128::from(DYNAMIC) && said.is_some_and(|it| i128::from(it) != is)
        };
        let offset = *offsets.first()?;
        if differs(offset, said.offset) {
            return Some(format!(
                "the result starts at offset {offset}, but its type says otherwise"
            ));
        }
        let at = strides.iter().zip(&said.strides).position(|it| differs(*it.0, *it.1))?;
        Some(format!("stride {at} of the result is {}, but its type says otherwise", strides[at]))
    }

    /// Checks that static offsets and sizes are not negative.
    fn check_offsets_and_sizes(&mut self, op: Op) {
        for (name, what) in [("static_offsets", "an offset"), ("static_sizes", "a size")] {
            let Some(list) = self.ir.attr(op, name).and_then(|it| self.int_list(it)) else {
                continue;
            };
            if let Some(it) = list.iter().find(|it| **it < 0 && **it != i128::from(DYNAMIC)) {
                let message = format!("{what} must not be negative, but is {it}");
                self.report(op, Code::AttributeValue, message);
                return;
            }
        }
    }

    /// Checks that `memref.load`, `vector.load` and similar ops have an index for each dimension of
    /// the buffer, which is operand `at`.
    pub(crate) fn check_index_count(&mut self, op: Op, at: usize) {
        let n_given = self.ir.op(op).operands.len() - at - 1;
        let Some(rank) = self.dims(self.operand_type(op, at)).map(<[Dim]>::len) else { return };
        if rank != n_given {
            let message = format!("has {n_given} indices for {rank} dimensions");
            self.report(op, Code::WrongCount, message);
        }
    }

    /// Checks that a `memref.alloc` or `memref.alloca` has a size for each dynamic dimension.
    pub(crate) fn check_dynamic_sizes(&mut self, op: Op) {
        let Some(&n_given) = self.segment_sizes(op).as_ref().and_then(|it| it.first()) else {
            return;
        };
        let result = self.ir.op(op).results.first().map(|&it| self.value_type(it));
        let Some(dims) = result.and_then(|it| self.dims(it)) else { return };
        let n_dynamic = dims.iter().filter(|it| **it == Dim::Dynamic).count();
        if n_dynamic != n_given {
            let message = format!("has {n_given} sizes for {n_dynamic} dynamic dimensions");
            self.report(op, Code::WrongCount, message);
        }
    }

    /// Checks the alignment of `memref.assume_alignment`.
    pub(crate) fn check_alignment(&mut self, op: Op) {
        let value = self.ir.attr(op, "alignment").and_then(|it| self.ir.interner.int_value(it));
        if let Some(it) =
            value.filter(|it| u128::try_from(*it).map_or(true, |it| !it.is_power_of_two()))
        {
            let message = format!("'alignment' must be a power of two, but is {it}");
            self.report(op, Code::AttributeValue, message);
        }
    }

    /// Checks the groups of dimensions of `memref.collapse_shape` and `memref.expand_shape`: each
    /// group of the longer shape must correspond to one dimension of the shorter shape.
    pub(crate) fn check_reassociation(&mut self, op: Op, expands: bool) {
        if let Err((code, message)) = self.verify_reassociation(op, expands) {
            self.report(op, code, message);
        }
    }

    fn verify_reassociation(&self, op: Op, expands: bool) -> Result<(), (Code, String)> {
        let data = self.ir.op(op);
        let result = data.results.first().map(|&it| self.value_type(it));
        let (Some(from), Some(to)) =
            (self.dims(self.operand_type(op, 0)), result.and_then(|it| self.dims(it)))
        else {
            return Ok(());
        };
        let (short, long) = if expands { (from, to) } else { (to, from) };
        let Some(groups) = self.reassociation(op) else { return Ok(()) };
        let wrong = |message: String| Err((Code::AttributeValue, message));
        let unlike = |message: String| Err((Code::ResultType, message));
        if short.len() > long.len() {
            return unlike(format!(
                "the rank goes from {} to {}, which is not {}",
                from.len(),
                to.len(),
                if expands { "an expansion" } else { "a collapse" }
            ));
        }
        if groups.len() != short.len() {
            return wrong(format!("has {} groups of dimensions for {}", groups.len(), short.len()));
        }
        let mut next = 0;
        for (group, dim) in groups.iter().zip(short) {
            let mut size = Some(1_u128);
            for &it in group {
                let Some(of) = usize::try_from(it).ok().filter(|it| *it == next) else {
                    return wrong(format!(
                        "the next dimension of a group must be {next}, not {it}"
                    ));
                };
                match long.get(of) {
                    None => return wrong(format!("there is no dimension {it}")),
                    Some(Dim::Fixed(n)) => size = size.map(|it| it.saturating_mul(u128::from(*n))),
                    Some(Dim::Dynamic | Dim::Scalable(_)) => size = None,
                }
                next += 1;
            }
            match (size, dim) {
                (Some(size), Dim::Fixed(n)) if size != u128::from(*n) => {
                    return unlike(format!(
                        "a group of dimensions has {size} elements, but its dimension has {n}"
                    ));
                }
                (Some(_), Dim::Fixed(_)) | (None, Dim::Dynamic) => {}
                _ => {
                    return unlike(
                        "a dimension must be dynamic if and only if one of its group is".to_owned(),
                    );
                }
            }
        }
        if short.is_empty() {
            if long.iter().any(|it| *it != Dim::Fixed(1)) {
                return unlike("a memref without dimensions has one element".to_owned());
            }
        } else if next != long.len() {
            return wrong(format!("the groups have {next} of {} dimensions", long.len()));
        }
        self.output_shape_problem(op, long).map_or(Ok(()), wrong)?;
        let ends = (self.operand_type(op, 0), result.unwrap_or_default());
        self.regrouped_layout_problem(ends.0, ends.1, &groups, expands).map_or(Ok(()), unlike)
    }

    /// The groups of dimensions in `reassociation`.
    fn reassociation(&self, op: Op) -> Option<Vec<Vec<i128>>> {
        let groups = self.ir.attr(op, "reassociation")?;
        let AttrData::Array(groups) = self.ir.interner.attr_data(groups) else { return None };
        groups.iter().map(|it| self.int_list(*it)).collect()
    }

    /// Returns the problem with the output shape that `memref.expand_shape` states in addition to
    /// its type.
    fn output_shape_problem(&self, op: Op, long: &[Dim]) -> Option<String> {
        let sizes = self.int_list(self.ir.attr(op, "static_output_shape")?)?;
        if sizes.len() != long.len() {
            return Some(format!("the output shape has {} of {} sizes", sizes.len(), long.len()));
        }
        let n_dynamic = sizes.iter().filter(|it| **it == i128::from(DYNAMIC)).count();
        let n_given = self.ir.op(op).operands.len() - 1;
        if n_dynamic != n_given {
            return Some(format!(
                "the output shape has {n_dynamic} dynamic sizes, but {n_given} are given"
            ));
        }
        let is_wrong =
            |(size, dim): (&i128, &Dim)| *dim != Dim::Dynamic && *size != listed_size(dim);
        let at = sizes.iter().zip(long).position(is_wrong)?;
        let size = size_text(sizes[at]);
        Some(format!("size {at} of the output shape is {size}, but the type has another size"))
    }
}
