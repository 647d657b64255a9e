//! Rules about the types of operands and results of `memref` ops.
//!
//! *Law.* `mlir-opt` of LLVM 19 rejects everything that these rules reject (`MemRefOps.cpp` in its
//! sources). A memory space that is neither a number nor a string may be a layout of another
//! dialect, so nothing is concluded from it.

use super::Verifier;
use crate::affine::{Affine, AffineBody, AffineExpr};
use crate::{Attr, AttrData, Code, Dim, Op, Sign, Type, TypeData};

type RuleResult = Result<(), (Code, String)>;

/// The layout and memory space of a memref.
struct LayoutAndSpace {
    has_layout: bool,
    space: Option<Attr>,
}

impl Verifier<'_> {
    /// Applies a rule to the types of the operands and results.
    fn apply_to_types(&mut self, op: Op, rule: impl Fn(&Self, &[Type], &[Type]) -> RuleResult) {
        let (operands, results) = self.all_types(op);
        if let Err((code, message)) = rule(self, &operands, &results) {
            self.report(op, code, message);
        }
    }

    /// Applies a rule to the types of the first operand and the first result.
    fn apply_to_operand_and_result(
        &mut self,
        op: Op,
        rule: impl Fn(&Self, Type, Type) -> RuleResult,
    ) {
        self.apply_to_types(op, |it, operands, results| {
            match (operands.first(), results.first()) {
                (Some(&from), Some(&to)) => rule(it, from, to),
                _ => Ok(()),
            }
        });
    }

    pub(crate) fn check_memref_cast(&mut self, op: Op) {
        self.apply_to_operand_and_result(op, Self::verify_cast);
    }

    pub(crate) fn check_memory_space_cast(&mut self, op: Op) {
        self.apply_to_operand_and_result(op, Self::verify_space_cast);
    }

    pub(crate) fn check_memref_copy(&mut self, op: Op) {
        self.apply_to_types(op, |it, operands, _| match *operands {
            [from, to] => it.verify_copy(from, to),
            _ => Ok(()),
        });
    }

    pub(crate) fn check_memref_transpose(&mut self, op: Op) {
        self.apply_to_operand_and_result(op, |it, from, to| it.verify_transpose(op, from, to));
    }

    pub(crate) fn check_memref_view(&mut self, op: Op) {
        self.apply_to_operand_and_result(op, |it, from, to| it.verify_view(op, from, to));
    }

    pub(crate) fn check_memref_reshape(&mut self, op: Op) {
        self.apply_to_types(op, |it, operands, results| match (operands, results) {
            (&[from, shape], &[to, ..]) => it.verify_reshape(from, shape, to),
            _ => Ok(()),
        });
    }

    pub(crate) fn check_strided_metadata(&mut self, op: Op) {
        self.apply_to_types(op, |it, operands, results| match (operands, results) {
            (&[from, ..], [to, numbers @ ..]) => {
                it.verify_same_elements(from, *to)?;
                it.verify_metadata(from, numbers)
            }
            _ => Ok(()),
        });
    }

    pub(crate) fn check_elements_and_space(&mut self, op: Op) {
        self.apply_to_operand_and_result(op, |it, from, to| {
            it.verify_same_elements(from, to)?;
            it.verify_same_space(from, to)
        });
    }

    pub(crate) fn check_atomic_rmw(&mut self, op: Op) {
        self.apply_to_types(op, |it, operands, results| match *operands {
            [value, memref, ..] => {
                it.verify_atomic_rmw(op, value, memref, results.first().copied())
            }
            _ => Ok(()),
        });
    }

    pub(crate) fn check_loaded_element(&mut self, op: Op) {
        self.apply_to_operand_and_result(op, |it, memref, element| {
            it.verify_element(element, memref)
        });
    }

    pub(crate) fn check_stored_element(&mut self, op: Op) {
        self.apply_to_types(op, |it, operands, _| match *operands {
            [value, memref, ..] => it.verify_element(value, memref),
            _ => Ok(()),
        });
    }

    pub(crate) fn check_alloc(&mut self, op: Op) {
        self.apply_to_types(op, |it, _, results| it.verify_alloc(op, results.first().copied()));
    }

    pub(crate) fn check_global(&mut self, op: Op) {
        self.apply_to_types(op, |it, _, _| it.verify_global(op));
    }

    /// Checks that the body of `memref.generic_atomic_rmw` has one argument and one result of the
    /// element type.
    pub(crate) fn check_atomic_body(&mut self, op: Op) {
        let memref = self.operand_type(op, 0);
        if memref == Type::UNKNOWN {
            return;
        }
        let element = [self.ir.interner.element_type(memref)];
        let Some(block) = self.region(op, 0).and_then(|it| self.entry_block(it)) else { return };
        let taken = self.argument_types(block);
        if self.check_flow(op, &element, &taken, "the memref", "its body") {
            self.check_yield(op, 0, &element);
        }
    }

    /// Checks that the body of `memref.alloca_scope` yields its results.
    pub(crate) fn check_alloca_scope(&mut self, op: Op) {
        let results = self.result_types(op);
        self.check_yield_or_empty(op, 0, &results);
    }

    /// Returns the layout and memory space of a memref; `None` if unknown.
    fn layout_and_space(&self, ty: Type) -> Option<LayoutAndSpace> {
        let TypeData::MemRef { rest, .. } = self.ir.interner.type_data(ty) else { return None };
        let mut found = LayoutAndSpace { has_layout: false, space: None };
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

    fn verify_same_elements(&self, from: Type, to: Type) -> RuleResult {
        let element = |ty: Type| self.ir.interner.element_type(ty);
        if from == Type::UNKNOWN
            || to == Type::UNKNOWN
            || !self.is_type_clash(element(from), element(to))
        {
            return Ok(());
        }
        let (from, to) = (self.type_text(element(from)), self.type_text(element(to)));
        Err((Code::ElementType, format!("the element types '{from}' and '{to}' differ")))
    }

    fn verify_same_space(&self, from: Type, to: Type) -> RuleResult {
        match (self.layout_and_space(from), self.layout_and_space(to)) {
            (Some(a), Some(b)) if a.space != b.space => Err((
                Code::TypesDiffer,
                format!(
                    "'{}' and '{}' are in different memory spaces",
                    self.type_text(from),
                    self.type_text(to)
                ),
            )),
            _ => Ok(()),
        }
    }

    fn verify_same_shape(&self, from: Type, to: Type) -> RuleResult {
        let (Some(a), Some(b)) = (self.dims(from), self.dims(to)) else { return Ok(()) };
        let fits = |(a, b): (&Dim, &Dim)| a == b || *a == Dim::Dynamic || *b == Dim::Dynamic;
        if a.len() == b.len() && a.iter().zip(b).all(fits) {
            return Ok(());
        }
        let message = format!(
            "'{}' and '{}' have different shapes",
            self.type_text(from),
            self.type_text(to)
        );
        Err((Code::ShapesDiffer, message))
    }

    fn verify_cast(&self, from: Type, to: Type) -> RuleResult {
        self.verify_same_elements(from, to)?;
        self.verify_same_space(from, to)?;
        self.verify_same_shape(from, to)?;
        let is_unranked = |ty: Type| {
            matches!(self.ir.interner.type_data(ty), TypeData::MemRef { dims: None, .. })
        };
        if is_unranked(from) && is_unranked(to) {
            return Err((Code::CastTypes, "both memrefs are unranked".to_owned()));
        }
        let layouts = self.ir.interner.layout(from).zip(self.ir.interner.layout(to));
        if let Some((a, b)) = layouts
            && (self.layout_and_space(from).is_some_and(|it| it.has_layout)
                || self.layout_and_space(to).is_some_and(|it| it.has_layout))
        {
            let differ = |a: Option<i64>, b: Option<i64>| a.zip(b).is_some_and(|it| it.0 != it.1);
            let mut strides = a.strides.iter().zip(&b.strides);
            if differ(a.offset, b.offset) || strides.any(|it| differ(*it.0, *it.1)) {
                let message = format!(
                    "'{}' and '{}' have different layouts",
                    self.type_text(from),
                    self.type_text(to)
                );
                return Err((Code::CastTypes, message));
            }
        }
        Ok(())
    }

    fn verify_space_cast(&self, from: Type, to: Type) -> RuleResult {
        self.verify_same_elements(from, to)?;
        if let (Some(a), Some(b)) = (self.dims(from), self.dims(to))
            && a != b
        {
            let message = format!(
                "'{}' and '{}' have different shapes",
                self.type_text(from),
                self.type_text(to)
            );
            return Err((Code::ShapesDiffer, message));
        }
        Ok(())
    }

    fn verify_copy(&self, from: Type, to: Type) -> RuleResult {
        self.verify_same_elements(from, to)?;
        self.verify_same_shape(from, to)
    }

    fn verify_transpose(&self, op: Op, from: Type, to: Type) -> RuleResult {
        self.verify_same_elements(from, to)?;
        self.verify_same_space(from, to)?;
        let (Some(a), Some(b)) = (self.dims(from), self.dims(to)) else { return Ok(()) };
        let Some(AttrData::Affine(map)) =
            self.ir.attr(op, "permutation").map(|it| self.ir.interner.attr_data(it))
        else {
            return Ok(());
        };
        let AffineBody::Map(exprs) = &map.body else { return Ok(()) };
        let order: Vec<usize> = exprs
            .iter()
            .filter_map(|it| if let AffineExpr::Dim(at) = it { Some(*at as usize) } else { None })
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
            let message =
                format!("'{}' is not '{}' transposed", self.type_text(to), self.type_text(from));
            return Err((Code::ResultType, message));
        }
        match self.transposed_layout_problem(from, to, &order) {
            Some(message) => Err((Code::ResultType, message)),
            None => Ok(()),
        }
    }

    /// Returns true if a memref has no layout, or its layout is the default one.
    fn has_default_layout(&self, ty: Type) -> bool {
        !self.layout_and_space(ty).is_some_and(|it| it.has_layout)
            || self.dims(ty).is_none_or(|dims| {
                let plain = self.ir.interner.layout(ty);
                dims.is_empty()
                    || dims.len() == 1
                        && plain.is_some_and(|it| it.offset == Some(0) && it.strides == [Some(1)])
            })
    }

    fn verify_default_layout(&self, ty: Type) -> RuleResult {
        if self.has_default_layout(ty) {
            return Ok(());
        }
        let message = format!("'{}' must not have a layout here", self.type_text(ty));
        Err((Code::TypesDiffer, message))
    }

    fn verify_view(&self, op: Op, from: Type, to: Type) -> RuleResult {
        let bytes = TypeData::Int { width: 8, sign: Sign::Signless };
        let element = self.ir.interner.element_type(from);
        let is_flat = self.dims(from).is_none_or(|it| it.len() == 1);
        if element != Type::UNKNOWN && (*self.ir.interner.type_data(element) != bytes || !is_flat) {
            let message =
                format!("views a memref of rank 1 of 'i8', not '{}'", self.type_text(from));
            return Err((Code::OperandType, message));
        }
        self.verify_default_layout(from)?;
        self.verify_default_layout(to)?;
        self.verify_same_space(from, to)?;
        let n_given = self.ir.op(op).operands.len().saturating_sub(2);
        let Some(dims) = self.dims(to) else { return Ok(()) };
        let n_dynamic = dims.iter().filter(|it| **it == Dim::Dynamic).count();
        if n_dynamic != n_given {
            let message = format!("has {n_given} sizes for {n_dynamic} dynamic dimensions");
            return Err((Code::WrongCount, message));
        }
        Ok(())
    }

    fn verify_reshape(&self, from: Type, shape: Type, to: Type) -> RuleResult {
        self.verify_same_elements(from, to)?;
        self.verify_default_layout(from)?;
        self.verify_default_layout(to)?;
        let interner = &self.ir.interner;
        let Some(sizes) = self.dims(shape) else { return Ok(()) };
        let element = interner.element_type(shape);
        let is_number = matches!(
            interner.type_data(element),
            TypeData::Int { sign: Sign::Signless, .. } | TypeData::Index | TypeData::Unknown
        );
        let [size] = sizes else {
            let message = format!("the shape must have rank 1, but is '{}'", self.type_text(shape));
            return Err((Code::OperandType, message));
        };
        if !is_number {
            let message =
                format!("the shape must be of integers, but is '{}'", self.type_text(shape));
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
    fn verify_metadata(&self, from: Type, numbers: &[Type]) -> RuleResult {
        let Some(dims) = self.dims(from) else { return Ok(()) };
        let (n, wanted) = (numbers.len(), 1 + 2 * dims.len());
        if n != wanted {
            let message =
                format!("returns {n} numbers, but needs {wanted} for '{}'", self.type_text(from));
            return Err((Code::ResultCount, message));
        }
        match numbers.iter().find(|it| self.is_type_clash(**it, Type::INDEX)) {
            Some(it) => {
                let message =
                    format!("offset, sizes and strides are 'index', not '{}'", self.type_text(*it));
                Err((Code::ResultType, message))
            }
            None => Ok(()),
        }
    }

    /// Checks that the loaded or stored value has the element type. Only the generic form can
    /// violate this.
    fn verify_element(&self, moved: Type, memref: Type) -> RuleResult {
        let element = self.ir.interner.element_type(memref);
        if memref == Type::UNKNOWN || !self.is_type_clash(moved, element) {
            return Ok(());
        }
        let (moved, element) = (self.type_text(moved), self.type_text(element));
        Err((Code::ElementType, format!("accesses '{moved}', but the memref contains '{element}'")))
    }

    fn verify_atomic_rmw(
        &self,
        op: Op,
        value: Type,
        memref: Type,
        result: Option<Type>,
    ) -> RuleResult {
        let interner = &self.ir.interner;
        let element = interner.element_type(memref);
        let other =
            [Some(value), result].into_iter().flatten().find(|it| self.is_type_clash(*it, element));
        if let Some(it) = other {
            let message = format!(
                "combines '{}', but the memref contains '{}'",
                self.type_text(it),
                self.type_text(element)
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
            let message = format!("cannot combine '{}' in this way", self.type_text(value));
            return Err((Code::OperandType, message));
        }
        Ok(())
    }

    /// Checks that a `memref.alloc` or `memref.alloca` has as many symbol operands as its layout
    /// has symbols, and no negative alignment.
    fn verify_alloc(&self, op: Op, ty: Option<Type>) -> RuleResult {
        let n_given = self.segment_sizes(op).and_then(|it| it.get(1).copied()).unwrap_or(0);
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
    fn verify_global(&self, op: Op) -> RuleResult {
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
        let message = format!("a global is a memref of known sizes, not '{}'", self.type_text(*ty));
        Err((Code::AttributeValue, message))
    }
}
