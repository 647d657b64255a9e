//! Rules about the types of operands and results of `memref` ops.
//!
//! *Law.* `mlir-opt` of LLVM 19 rejects everything that these rules reject (`MemRefOps.cpp` in its
//! sources). A memory space that is neither a number nor a string may be a layout of another
//! dialect, so nothing is concluded from it.

use super::Verifier;
use crate::affine::{Affine, Body, Expr};
use crate::{Attr, AttrData, Code, Dim, Op, Sign, Type, TypeData};

type Wrong = Result<(), (Code, String)>;

/// The layout and memory space of a memref.
struct Surroundings {
    has_layout: bool,
    space: Option<Attr>,
}

impl Verifier<'_> {
    /// Applies a rule to the types of the operands and results.
    fn buffer(&mut self, op: Op, rule: impl Fn(&Self, &[Type], &[Type]) -> Wrong) {
        let (operands, results) = self.all_types(op);
        if let Err((code, message)) = rule(self, &operands, &results) {
            self.tell(op, code, message);
        }
    }

    /// Applies a rule to the types of the first operand and the first result.
    fn operand_to_result(&mut self, op: Op, rule: impl Fn(&Self, Type, Type) -> Wrong) {
        self.buffer(op, |it, operands, results| match (operands.first(), results.first()) {
            (Some(&from), Some(&to)) => rule(it, from, to),
            _ => Ok(()),
        });
    }

    pub(crate) fn cast_of_buffer(&mut self, op: Op) {
        self.operand_to_result(op, Self::cast_buffer);
    }

    pub(crate) fn other_space(&mut self, op: Op) {
        self.operand_to_result(op, Self::moved_space);
    }

    pub(crate) fn copied_buffers(&mut self, op: Op) {
        self.buffer(op, |it, operands, _| match *operands {
            [from, to] => it.copied_buffer(from, to),
            _ => Ok(()),
        });
    }

    pub(crate) fn transposed_buffer(&mut self, op: Op) {
        self.operand_to_result(op, |it, from, to| it.transposed(op, from, to));
    }

    pub(crate) fn viewed_buffer(&mut self, op: Op) {
        self.operand_to_result(op, |it, from, to| it.viewed(op, from, to));
    }

    pub(crate) fn reshaped_buffer(&mut self, op: Op) {
        self.buffer(op, |it, operands, results| match (operands, results) {
            (&[from, shape], &[to, ..]) => it.reshaped(from, shape, to),
            _ => Ok(()),
        });
    }

    pub(crate) fn strided_metadata(&mut self, op: Op) {
        self.buffer(op, |it, operands, results| match (operands, results) {
            (&[from, ..], [to, numbers @ ..]) => {
                it.same_elements(from, *to)?;
                it.metadata(from, numbers)
            }
            _ => Ok(()),
        });
    }

    pub(crate) fn same_elements_and_space(&mut self, op: Op) {
        self.operand_to_result(op, |it, from, to| {
            it.same_elements(from, to)?;
            it.same_space(from, to)
        });
    }

    pub(crate) fn combined_element(&mut self, op: Op) {
        self.buffer(op, |it, operands, results| match *operands {
            [value, memref, ..] => it.combined(op, value, memref, results.first().copied()),
            _ => Ok(()),
        });
    }

    pub(crate) fn loaded_element(&mut self, op: Op) {
        self.operand_to_result(op, |it, memref, element| it.element(element, memref));
    }

    pub(crate) fn stored_element(&mut self, op: Op) {
        self.buffer(op, |it, operands, _| match *operands {
            [value, memref, ..] => it.element(value, memref),
            _ => Ok(()),
        });
    }

    pub(crate) fn allocated_buffer(&mut self, op: Op) {
        self.buffer(op, |it, _, results| it.allocated(op, results.first().copied()));
    }

    pub(crate) fn global_value(&mut self, op: Op) {
        self.buffer(op, |it, _, _| it.global(op));
    }

    /// Checks that the body of `memref.generic_atomic_rmw` has one argument and one result of the
    /// element type.
    pub(crate) fn atomic_body(&mut self, op: Op) {
        let memref = self.operand_type(op, 0);
        if memref == Type::UNKNOWN {
            return;
        }
        let element = [self.ir.interner.element_type(memref)];
        let Some(block) = self.region(op, 0).and_then(|it| self.entry(it)) else { return };
        let taken = self.argument_types(block);
        if self.flows(op, &element, &taken, "the memref", "its body") {
            self.yields(op, 0, &element);
        }
    }

    /// Checks that the body of `memref.alloca_scope` yields its results.
    pub(crate) fn scope_body(&mut self, op: Op) {
        let results = self.result_types(op);
        self.yields_or_empty(op, 0, &results);
    }

    /// Returns the layout and memory space of a memref; `None` if unknown.
    fn surroundings(&self, ty: Type) -> Option<Surroundings> {
        let TypeData::MemRef { rest, .. } = self.ir.interner.type_data(ty) else { return None };
        let mut found = Surroundings { has_layout: false, space: None };
        for &attr in rest {
            match self.ir.interner.attr_data(attr) {
                AttrData::Affine(_) => found.has_layout = true,
                AttrData::Text(text, None)
                    if self.ir.interner.str(*text).starts_with("strided<") =>
                {
                    found.has_layout = true;
                }
                // The default memory space.
                AttrData::Int { value: 0, .. } => {}
                AttrData::Int { .. } | AttrData::String(..) => found.space = Some(attr),
                _ => return None,
            }
        }
        Some(found)
    }

    fn same_elements(&self, from: Type, to: Type) -> Wrong {
        let element = |ty: Type| self.ir.interner.element_type(ty);
        if from == Type::UNKNOWN || to == Type::UNKNOWN || !self.clash(element(from), element(to)) {
            return Ok(());
        }
        let (from, to) = (self.show(element(from)), self.show(element(to)));
        Err((Code::ElementType, format!("the element types '{from}' and '{to}' differ")))
    }

    fn same_space(&self, from: Type, to: Type) -> Wrong {
        match (self.surroundings(from), self.surroundings(to)) {
            (Some(a), Some(b)) if a.space != b.space => Err((
                Code::TypesDiffer,
                format!(
                    "'{}' and '{}' are in different memory spaces",
                    self.show(from),
                    self.show(to)
                ),
            )),
            _ => Ok(()),
        }
    }

    fn same_shape(&self, from: Type, to: Type) -> Wrong {
        let (Some(a), Some(b)) = (self.dims(from), self.dims(to)) else { return Ok(()) };
        let fits = |(a, b): (&Dim, &Dim)| a == b || *a == Dim::Dynamic || *b == Dim::Dynamic;
        if a.len() == b.len() && a.iter().zip(b).all(fits) {
            return Ok(());
        }
        let message =
            format!("'{}' and '{}' have different shapes", self.show(from), self.show(to));
        Err((Code::ShapesDiffer, message))
    }

    fn cast_buffer(&self, from: Type, to: Type) -> Wrong {
        self.same_elements(from, to)?;
        self.same_space(from, to)?;
        self.same_shape(from, to)?;
        let is_unranked = |ty: Type| {
            matches!(self.ir.interner.type_data(ty), TypeData::MemRef { dims: None, .. })
        };
        if is_unranked(from) && is_unranked(to) {
            return Err((Code::CastTypes, "both memrefs are unranked".to_owned()));
        }
        let layouts = self.ir.interner.layout(from).zip(self.ir.interner.layout(to));
        if let Some((a, b)) = layouts
            && (self.surroundings(from).is_some_and(|it| it.has_layout)
                || self.surroundings(to).is_some_and(|it| it.has_layout))
        {
            let differ = |a: Option<i64>, b: Option<i64>| a.zip(b).is_some_and(|it| it.0 != it.1);
            let mut strides = a.strides.iter().zip(&b.strides);
            if differ(a.offset, b.offset) || strides.any(|it| differ(*it.0, *it.1)) {
                let message =
                    format!("'{}' and '{}' have different layouts", self.show(from), self.show(to));
                return Err((Code::CastTypes, message));
            }
        }
        Ok(())
    }

    fn moved_space(&self, from: Type, to: Type) -> Wrong {
        self.same_elements(from, to)?;
        if let (Some(a), Some(b)) = (self.dims(from), self.dims(to))
            && a != b
        {
            let message =
                format!("'{}' and '{}' have different shapes", self.show(from), self.show(to));
            return Err((Code::ShapesDiffer, message));
        }
        Ok(())
    }

    fn copied_buffer(&self, from: Type, to: Type) -> Wrong {
        self.same_elements(from, to)?;
        self.same_shape(from, to)
    }

    fn transposed(&self, op: Op, from: Type, to: Type) -> Wrong {
        self.same_elements(from, to)?;
        self.same_space(from, to)?;
        let (Some(a), Some(b)) = (self.dims(from), self.dims(to)) else { return Ok(()) };
        let Some(AttrData::Affine(map)) =
            self.ir.attr(op, "permutation").map(|it| self.ir.interner.attr_data(it))
        else {
            return Ok(());
        };
        let Body::Map(exprs) = &map.body else { return Ok(()) };
        let order: Vec<usize> = exprs
            .iter()
            .filter_map(|it| if let Expr::Dim(at) = it { Some(*at as usize) } else { None })
            .collect();
        let is_permutation = map.n_symbols == 0
            && exprs.len() == a.len()
            && (0..a.len()).all(|it| order.contains(&it));
        if !is_permutation {
            return Err((
                Code::AttributeValue,
                "the map is not a permutation of the dimensions".to_owned(),
            ));
        }
        if b.len() != a.len() || order.iter().zip(b).any(|(at, dim)| a[*at] != *dim) {
            let message = format!("'{}' is not '{}' transposed", self.show(to), self.show(from));
            return Err((Code::ResultType, message));
        }
        match self.transposed_layout(from, to, &order) {
            Some(message) => Err((Code::ResultType, message)),
            None => Ok(()),
        }
    }

    /// Returns true if a memref has no layout, or its layout is the default one.
    fn is_plain(&self, ty: Type) -> bool {
        !self.surroundings(ty).is_some_and(|it| it.has_layout)
            || self.dims(ty).is_none_or(|dims| {
                let plain = self.ir.interner.layout(ty);
                dims.is_empty()
                    || dims.len() == 1
                        && plain.is_some_and(|it| it.offset == Some(0) && it.strides == [Some(1)])
            })
    }

    fn plain(&self, ty: Type) -> Wrong {
        if self.is_plain(ty) {
            return Ok(());
        }
        let message = format!("'{}' must not have a layout here", self.show(ty));
        Err((Code::TypesDiffer, message))
    }

    fn viewed(&self, op: Op, from: Type, to: Type) -> Wrong {
        let bytes = TypeData::Int { width: 8, sign: Sign::Signless };
        let element = self.ir.interner.element_type(from);
        let is_flat = self.dims(from).is_none_or(|it| it.len() == 1);
        if element != Type::UNKNOWN && (*self.ir.interner.type_data(element) != bytes || !is_flat) {
            let message = format!("views a memref of rank 1 of 'i8', not '{}'", self.show(from));
            return Err((Code::OperandType, message));
        }
        self.plain(from)?;
        self.plain(to)?;
        self.same_space(from, to)?;
        let n_given = self.ir.op(op).operands.len().saturating_sub(2);
        let Some(dims) = self.dims(to) else { return Ok(()) };
        let n_dynamic = dims.iter().filter(|it| **it == Dim::Dynamic).count();
        if n_dynamic != n_given {
            let message = format!("has {n_given} sizes for {n_dynamic} dynamic dimensions");
            return Err((Code::WrongCount, message));
        }
        Ok(())
    }

    fn reshaped(&self, from: Type, shape: Type, to: Type) -> Wrong {
        self.same_elements(from, to)?;
        self.plain(from)?;
        self.plain(to)?;
        let interner = &self.ir.interner;
        let Some(sizes) = self.dims(shape) else { return Ok(()) };
        let element = interner.element_type(shape);
        let is_number = matches!(
            interner.type_data(element),
            TypeData::Int { sign: Sign::Signless, .. } | TypeData::Index | TypeData::Unknown
        );
        let [size] = sizes else {
            let message = format!("the shape must have rank 1, but is '{}'", self.show(shape));
            return Err((Code::OperandType, message));
        };
        if !is_number {
            let message = format!("the shape must be of integers, but is '{}'", self.show(shape));
            return Err((Code::OperandType, message));
        }
        match (size, self.dims(to)) {
            (Dim::Fixed(n), Some(dims)) if *n != dims.len() as u64 => Err((
                Code::WrongCount,
                format!("the shape has {n} sizes for {} dimensions", dims.len()),
            )),
            (Dim::Dynamic, Some(_)) => Err((
                Code::ResultType,
                "a shape of unknown length gives an unranked memref".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Checks the results after the buffer: an offset, and a size and a stride for each dimension.
    fn metadata(&self, from: Type, numbers: &[Type]) -> Wrong {
        let Some(dims) = self.dims(from) else { return Ok(()) };
        let (n, wanted) = (numbers.len(), 1 + 2 * dims.len());
        if n != wanted {
            let message =
                format!("returns {n} numbers, but needs {wanted} for '{}'", self.show(from));
            return Err((Code::ResultCount, message));
        }
        match numbers.iter().find(|it| self.clash(**it, Type::INDEX)) {
            Some(it) => {
                let message =
                    format!("offset, sizes and strides are 'index', not '{}'", self.show(*it));
                Err((Code::ResultType, message))
            }
            None => Ok(()),
        }
    }

    /// Checks that the loaded or stored value has the element type. Only the generic form can
    /// violate this.
    fn element(&self, moved: Type, memref: Type) -> Wrong {
        let element = self.ir.interner.element_type(memref);
        if memref == Type::UNKNOWN || !self.clash(moved, element) {
            return Ok(());
        }
        let (moved, element) = (self.show(moved), self.show(element));
        Err((Code::ElementType, format!("accesses '{moved}', but the memref contains '{element}'")))
    }

    fn combined(&self, op: Op, value: Type, memref: Type, result: Option<Type>) -> Wrong {
        let interner = &self.ir.interner;
        let element = interner.element_type(memref);
        let other = [Some(value), result].into_iter().flatten().find(|it| self.clash(*it, element));
        if let Some(it) = other {
            let message = format!(
                "combines '{}', but the memref contains '{}'",
                self.show(it),
                self.show(element)
            );
            return Err((Code::ElementType, message));
        }
        let (is_int, is_float) = match interner.type_data(value) {
            TypeData::Int { sign: Sign::Signless, .. } => (true, false),
            TypeData::Float(_) => (false, true),
            TypeData::Unknown => return Ok(()),
            _ => (false, false),
        };
        let kind = self.ir.attr(op, "kind").and_then(|it| interner.int_value(it));
        // `addf`, `maximumf`, `minimumf` and `mulf`; `addi`, `maxs`, `maxu`, `mins`, `minu`,
        // `muli`, `ori` and `andi`.
        let (wants_float, wants_int) = (
            matches!(kind, Some(0 | 3 | 6 | 9)),
            matches!(kind, Some(1 | 4 | 5 | 7 | 8 | 10..=12)),
        );
        let combines = match (wants_float, wants_int) {
            (true, _) => is_float,
            (_, true) => is_int,
            _ => is_int || is_float,
        };
        if !combines {
            let message = format!("cannot combine '{}' in this way", self.show(value));
            return Err((Code::OperandType, message));
        }
        Ok(())
    }

    /// Checks that a `memref.alloc` or `memref.alloca` has as many symbol operands as its layout
    /// has symbols, and no negative alignment.
    fn allocated(&self, op: Op, ty: Option<Type>) -> Wrong {
        let n_given = self.segments(op).and_then(|it| it.get(1).copied()).unwrap_or(0);
        if let Some(n) = ty.and_then(|it| self.n_layout_symbols(it)).filter(|it| *it != n_given) {
            let wanted = if n == 0 { "without any".to_owned() } else { format!("of {n}") };
            let message = format!("has {n_given} symbols for a layout {wanted}");
            return Err((Code::WrongCount, message));
        }
        let alignment = self.ir.attr(op, "alignment").and_then(|it| self.ir.interner.int_value(it));
        match alignment {
            Some(it @ ..0) => {
                let message = format!("'alignment' must not be negative, but is {it}");
                Err((Code::AttributeValue, message))
            }
            _ => Ok(()),
        }
    }

    /// Number of symbols (or dynamic numbers) in the layout of a memref; `None` if unknown.
    fn n_layout_symbols(&self, ty: Type) -> Option<usize> {
        let interner = &self.ir.interner;
        let TypeData::MemRef { rest, .. } = interner.type_data(ty) else { return None };
        let mut n = 0;
        for &attr in rest {
            match interner.attr_data(attr) {
                AttrData::Affine(map) if map.body == Affine::identity(map.n_dims).body => {}
                AttrData::Affine(map) => n = map.n_symbols as usize,
                AttrData::Text(text, None) => {
                    let strides = interner.str(*text).strip_prefix("strided<")?;
                    n = strides.matches('?').count();
                }
                AttrData::Int { .. } | AttrData::String(..) => {}
                _ => return None,
            }
        }
        Some(n)
    }

    /// Checks that the type of a global is a memref of static sizes, and that its alignment is a
    /// power of two.
    fn global(&self, op: Op) -> Wrong {
        let interner = &self.ir.interner;
        let alignment = self.ir.attr(op, "alignment").and_then(|it| interner.int_value(it));
        if let Some(it) = alignment.filter(|it| (*it as u64).count_ones() != 1) {
            let message = format!("'alignment' must be a power of two, but is {it}");
            return Err((Code::AttributeValue, message));
        }
        let Some(AttrData::Type(ty)) = self.ir.attr(op, "type").map(|it| interner.attr_data(it))
        else {
            return Ok(());
        };
        let is_static = match interner.type_data(*ty) {
            TypeData::Unknown => true,
            TypeData::MemRef { dims: Some(dims), .. } => {
                dims.iter().all(|it| matches!(it, Dim::Fixed(_)))
            }
            _ => false,
        };
        if is_static {
            return Ok(());
        }
        let message = format!("a global is a memref of known sizes, not '{}'", self.show(*ty));
        Err((Code::AttributeValue, message))
    }
}
