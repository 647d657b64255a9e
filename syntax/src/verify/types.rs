//! Rules about types: operands, results and attributes of `arith`, `noisy` and `cf`, and operands
//! of the other dialects.

use smallvec::SmallVec;

use super::Verifier;
use crate::op_traits::{Agreement, TypeClass, TypeRule, WidthChange};
use crate::{AttrData, Code, Dim, Op, Sign, Type, TypeData};

impl TypeClass {
    /// Description of the class in messages.
    fn description(self) -> &'static str {
        match self {
            TypeClass::Any => "anything",
            TypeClass::IntLike => "signless-integer-like",
            TypeClass::FixedIntLike => "signless-fixed-width-integer-like",
            TypeClass::FloatLike => "floating-point-like",
            TypeClass::BoolLike => "bool-like",
            TypeClass::IndexCast => "signless-integer-like or memref of signless integers",
            TypeClass::Bits => "signless-integer-like, floating-point-like or memref of those",
            TypeClass::Noisy => "`!noisy.i32`",
            TypeClass::Plain => "an integer of 1 to 5 bits",
            TypeClass::I1 => "`i1`",
            TypeClass::Index => "`index`",
            TypeClass::SignlessOrIndex => "signless integer or index",
            TypeClass::Integer => "integer",
            TypeClass::Function => "a function type",
            TypeClass::MemRef => "a memref",
            TypeClass::RankedMemRef => "a memref of known rank",
            TypeClass::Vector => "a vector",
        }
    }
}

/// The shape of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeShape<'a> {
    Scalar,
    Ranked(&'a [Dim]),
    Unranked,
}

impl Verifier<'_> {
    pub(super) fn check_types(&mut self, op: Op) {
        let kind = self.ir.op(op).kind;
        let rule = &kind.spec().types;
        self.check_type_classes(op, rule);
        if self.problems.is_empty() {
            self.check_type_agreement(op, rule.agreement);
        }
        if !self.problems.is_empty() {
            return;
        }
        for rule in kind.spec().rules.types {
            rule(self, op);
            if !self.problems.is_empty() {
                return;
            }
        }
    }

    fn has_type_class(&self, ty: Type, class: TypeClass) -> bool {
        let interner = &self.ir.interner;
        let element = interner.element_type(ty);
        let is_memref = matches!(interner.type_data(ty), TypeData::MemRef { .. });
        let is_signless =
            |ty: Type| matches!(interner.type_data(ty), TypeData::Int { sign: Sign::Signless, .. });
        match class {
            _ if ty == Type::UNKNOWN || element == Type::UNKNOWN => true,
            TypeClass::Any => true,
            TypeClass::IntLike => !is_memref && (is_signless(element) || element == Type::INDEX),
            TypeClass::FixedIntLike => !is_memref && is_signless(element),
            TypeClass::FloatLike => {
                !is_memref && matches!(interner.type_data(element), TypeData::Float(_))
            }
            TypeClass::BoolLike => !is_memref && element == Type::I1,
            TypeClass::IndexCast => is_signless(element) || element == Type::INDEX,
            TypeClass::Bits => {
                is_signless(element) || matches!(interner.type_data(element), TypeData::Float(_))
            }
            TypeClass::Noisy => ty == Type::NOISY,
            TypeClass::Plain => {
                matches!(
                    interner.type_data(ty),
                    TypeData::Int { width: 1..=5, sign: Sign::Signless }
                )
            }
            TypeClass::I1 => ty == Type::I1,
            TypeClass::Index => ty == Type::INDEX,
            TypeClass::SignlessOrIndex => is_signless(ty) || ty == Type::INDEX,
            TypeClass::Integer => matches!(interner.type_data(ty), TypeData::Int { .. }),
            TypeClass::Function => matches!(interner.type_data(ty), TypeData::Function { .. }),
            TypeClass::MemRef => is_memref,
            TypeClass::RankedMemRef => {
                matches!(interner.type_data(ty), TypeData::MemRef { dims: Some(_), .. })
            }
            TypeClass::Vector => matches!(interner.type_data(ty), TypeData::Vector { .. }),
        }
    }

    fn check_type_classes(&mut self, op: Op, rule: &TypeRule) {
        let data = self.ir.op(op);
        // The last accepted type and class. Most ops have operands of one type and class.
        let mut fits = None;
        for at in 0..data.operands.len() {
            let last = rule.operands.last().copied().unwrap_or(TypeClass::Any);
            let class = rule.operands.get(at).copied().unwrap_or(last);
            let ty = self.operand_type(op, at);
            if fits == Some((ty, class)) {
                continue;
            }
            fits = Some((ty, class));
            if !self.has_type_class(ty, class) {
                let message = format!(
                    "operand #{at} must be {}, but got '{}'",
                    class.description(),
                    self.type_text(ty)
                );
                self.report_at(data.operands[at].span, Code::OperandType, message);
                return;
            }
        }
        for (at, (&value, &class)) in data.results.iter().zip(rule.results).enumerate() {
            let ty = self.value_type(value);
            if !self.has_type_class(ty, class) {
                let message = format!(
                    "result #{at} must be {}, but got '{}'",
                    class.description(),
                    self.type_text(ty)
                );
                self.report(op, Code::ResultType, message);
                return;
            }
        }
    }

    /// The types of all operands, then of all results.
    pub(super) fn all_types(&self, op: Op) -> (SmallVec<[Type; 4]>, SmallVec<[Type; 4]>) {
        let data = self.ir.op(op);
        let operands = (0..data.operands.len()).map(|at| self.operand_type(op, at)).collect();
        (operands, data.results.iter().map(|&it| self.value_type(it)).collect())
    }

    /// Returns true if the types of an op must agree and all its operands and results have the same
    /// type. This is a fast path.
    fn is_of_one_type(&self, op: Op, agree: Agreement) -> bool {
        let data = self.ir.op(op);
        if data.operands.is_empty() || !matches!(agree, Agreement::Same | Agreement::Exactly) {
            return false;
        }
        let first = self.operand_type(op, 0);
        (1..data.operands.len()).all(|at| self.operand_type(op, at) == first)
            && data.results.iter().all(|&it| self.value_type(it) == first)
    }

    fn check_type_agreement(&mut self, op: Op, agree: Agreement) {
        if agree == Agreement::Free || self.is_of_one_type(op, agree) {
            return;
        }
        let (operands, results) = self.all_types(op);
        let Some(&first) = operands.first() else { return };
        match agree {
            Agreement::Free => {}
            Agreement::Same | Agreement::Exactly => {
                let is_same = |it: Type| match agree {
                    Agreement::Same => self.is_compatible(first, it),
                    _ => !self.is_type_clash(first, it),
                };
                // Results are inferred: they have exactly the type of the first operand.
                let other = operands.iter().find(|&&it| !is_same(it));
                let other =
                    other.or_else(|| results.iter().find(|&&it| self.is_type_clash(first, it)));
                if let Some(&other) = other {
                    let message = format!(
                        "requires the same type for all operands and results, found '{}' and '{}'",
                        self.type_text(first),
                        self.type_text(other)
                    );
                    self.report(op, Code::TypesDiffer, message);
                }
            }
            Agreement::Compared => {
                let second = operands.get(1).copied().unwrap_or_default();
                if self.is_type_clash(first, second) {
                    let message = format!(
                        "requires operands of one type, found '{}' and '{}'",
                        self.type_text(first),
                        self.type_text(second)
                    );
                    self.report(op, Code::TypesDiffer, message);
                } else if let Some(&result) = results.first()
                    && !self.is_same_shape(first, result)
                {
                    let message = format!(
                        "the result must be `i1`, shaped as '{}', but is '{}'",
                        self.type_text(first),
                        self.type_text(result)
                    );
                    self.report(op, Code::ResultType, message);
                }
            }
            Agreement::Cast(width) => {
                if let Some(&result) = results.first() {
                    self.check_cast(op, first, result, width);
                }
            }
        }
    }

    fn check_cast(&mut self, op: Op, from: Type, to: Type, width: WidthChange) {
        if !self.is_same_shape(from, to) {
            let message = format!(
                "requires the same shape for all operands and results, found '{}' and '{}'",
                self.type_text(from),
                self.type_text(to)
            );
            self.report(op, Code::ShapesDiffer, message);
            return;
        }
        let (Some(from_width), Some(to_width)) = (self.width(from), self.width(to)) else {
            return;
        };
        let (is_right, what) = match width {
            WidthChange::Grows => (to_width > from_width, "wider than the operand"),
            WidthChange::Shrinks => (to_width < from_width, "narrower than the operand"),
            WidthChange::Stays => (to_width == from_width, "as wide as the operand"),
            WidthChange::Any => (true, ""),
        };
        if !is_right {
            let message = format!(
                "the result must be {what}, but '{}' becomes '{}'",
                self.type_text(from),
                self.type_text(to)
            );
            self.report(op, Code::CastWidth, message);
        }
    }

    /// Width of the element of a type, in bits.
    fn width(&self, ty: Type) -> Option<u32> {
        match self.ir.interner.type_data(self.ir.interner.element_type(ty)) {
            TypeData::Int { width, .. } => Some(*width),
            TypeData::Float(name) => match *name {
                "f128" => Some(128),
                "f80" => Some(80),
                "f64" => Some(64),
                "f32" => Some(32),
                "tf32" => Some(19),
                "f16" | "bf16" => Some(16),
                name if name.starts_with("f8") => Some(8),
                name if name.starts_with("f6") => Some(6),
                name if name.starts_with("f4") => Some(4),
                _ => None,
            },
            _ => None,
        }
    }

    fn shape(&self, ty: Type) -> TypeShape<'_> {
        match self.ir.interner.type_data(ty) {
            TypeData::Vector { dims, .. } => TypeShape::Ranked(dims),
            TypeData::Tensor { dims, .. } | TypeData::MemRef { dims, .. } => {
                dims.as_deref().map_or(TypeShape::Unranked, TypeShape::Ranked)
            }
            _ => TypeShape::Scalar,
        }
    }

    /// The dimensions of a shaped type, if its rank is known.
    pub(super) fn dims(&self, ty: Type) -> Option<&[Dim]> {
        match self.shape(ty) {
            TypeShape::Ranked(dims) => Some(dims),
            TypeShape::Unranked | TypeShape::Scalar => None,
        }
    }

    /// Returns true if both types are scalars, or shaped types with the same dimensions. An
    /// unranked type agrees with any rank.
    fn is_same_shape(&self, a: Type, b: Type) -> bool {
        if a == Type::UNKNOWN || b == Type::UNKNOWN {
            return true;
        }
        let kind = |ty: Type| std::mem::discriminant(self.ir.interner.type_data(ty));
        match (self.shape(a), self.shape(b)) {
            (TypeShape::Scalar, TypeShape::Scalar) => true,
            (TypeShape::Scalar, _) | (_, TypeShape::Scalar) => false,
            (TypeShape::Ranked(one), TypeShape::Ranked(other)) => {
                kind(a) == kind(b) && one == other
            }
            _ => kind(a) == kind(b),
        }
    }

    /// Returns true if two types are the same except for dynamic sizes.
    fn is_compatible(&self, a: Type, b: Type) -> bool {
        let interner = &self.ir.interner;
        if !self.is_type_clash(a, b) {
            return true;
        }
        let kind = |ty: Type| std::mem::discriminant(interner.type_data(ty));
        let encoding = |ty: Type| match interner.type_data(ty) {
            TypeData::Tensor { encoding, .. } => *encoding,
            _ => None,
        };
        let fits = |(a, b): (&Dim, &Dim)| a == b || *a == Dim::Dynamic || *b == Dim::Dynamic;
        let fit = match (self.shape(a), self.shape(b)) {
            (TypeShape::Scalar, _) | (_, TypeShape::Scalar) => false,
            (TypeShape::Ranked(a), TypeShape::Ranked(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(fits)
            }
            _ => true,
        };
        fit && !self.is_type_clash(interner.element_type(a), interner.element_type(b))
            && kind(a) == kind(b)
            && encoding(a) == encoding(b)
    }

    /// Checks that the second result of an addition with carry is `i1` with the shape of the sum.
    pub(crate) fn check_carry(&mut self, op: Op) {
        let (operands, results) = self.all_types(op);
        let ([first, ..], [sum, carry]) = (&operands[..], &results[..]) else { return };
        let (first, sum, carry) = (*first, *sum, *carry);
        if let Some(&other) =
            operands.iter().chain([&sum]).find(|it| self.is_type_clash(first, **it))
        {
            let message = format!(
                "requires one type for both operands and the sum, found '{}' and '{}'",
                self.type_text(first),
                self.type_text(other)
            );
            self.report(op, Code::TypesDiffer, message);
        } else if !self.is_same_shape(sum, carry) {
            let message = format!(
                "the carry must be `i1`, shaped as '{}', but is '{}'",
                self.type_text(sum),
                self.type_text(carry)
            );
            self.report(op, Code::ResultType, message);
        }
    }

    /// Checks that the result has the type of the first operand.
    pub(crate) fn check_first_and_result(&mut self, op: Op) {
        let (operands, results) = self.all_types(op);
        let ([first, ..], [result]) = (&operands[..], &results[..]) else { return };
        if self.is_type_clash(*first, *result) {
            let message = format!(
                "the result has the type of the first operand, '{}', not '{}'",
                self.type_text(*first),
                self.type_text(*result)
            );
            self.report(op, Code::TypesDiffer, message);
        }
    }

    pub(crate) fn check_index_cast(&mut self, op: Op) {
        let (operands, results) = self.all_types(op);
        let ([from], [to]) = (&operands[..], &results[..]) else { return };
        let element = |ty: Type| self.ir.interner.element_type(ty);
        let (a, b) = (element(*from), element(*to));
        let is_memref =
            |ty: Type| matches!(self.ir.interner.type_data(ty), TypeData::MemRef { .. });
        let known = a != Type::UNKNOWN && b != Type::UNKNOWN;
        if known && ((a == Type::INDEX) == (b == Type::INDEX) || is_memref(*from) != is_memref(*to))
        {
            let message = format!(
                "one of '{}' and '{}' must be of type index",
                self.type_text(*from),
                self.type_text(*to)
            );
            self.report(op, Code::CastTypes, message);
        }
    }

    pub(crate) fn check_select(&mut self, op: Op) {
        let (operands, results) = self.all_types(op);
        let ([condition, yes, no], [result]) = (&operands[..], &results[..]) else { return };
        if let Some(other) = [no, result].into_iter().find(|it| self.is_type_clash(*yes, **it)) {
            let message = format!(
                "requires both values and the result of one type, found '{}' and '{}'",
                self.type_text(*yes),
                self.type_text(*other)
            );
            self.report(op, Code::TypesDiffer, message);
        } else if *condition != Type::I1 && *condition != Type::UNKNOWN && *yes != Type::UNKNOWN {
            let is_shaped = self.ir.interner.element_type(*condition) == Type::I1
                && self.shape(*yes) != TypeShape::Scalar
                && self.is_same_shape(*condition, *yes)
                && match (self.ir.interner.type_data(*condition), self.ir.interner.type_data(*yes))
                {
                    (
                        TypeData::Tensor { encoding: a, .. },
                        TypeData::Tensor { encoding: b, .. },
                    ) => a == b,
                    _ => true,
                };
            if !is_shaped {
                let message = format!(
                    "the condition must be `i1`, or `i1` shaped as '{}', but got '{}'",
                    self.type_text(*yes),
                    self.type_text(*condition)
                );
                self.report_at(self.ir.op(op).operands[0].span, Code::OperandType, message);
            }
        }
    }

    pub(crate) fn check_constant(&mut self, op: Op) {
        let Some(value) = self.ir.attr(op, "value") else { return };
        let Some(&result) = self.ir.op(op).results.first() else { return };
        let interner = &self.ir.interner;
        let ty = match interner.attr_data(value) {
            AttrData::Int { ty, .. } | AttrData::Float { ty, .. } | AttrData::Elements(_, ty) => {
                *ty
            }
            AttrData::Bool(_) => Type::I1,
            AttrData::String(_, ty) => ty.unwrap_or(Type::NONE),
            _ => return,
        };
        let result = self.value_type(result);
        if self.is_type_clash(ty, result) {
            let message = format!(
                "the value has type '{}', but the result has type '{}'",
                self.type_text(ty),
                self.type_text(result)
            );
            self.report(op, Code::TypesDiffer, message);
            return;
        }
        if let AttrData::String(..) = interner.attr_data(value) {
            let message = "the value of a constant is an integer, a float or elements";
            self.report(op, Code::InvalidAttribute, message);
            return;
        }
        match interner.type_data(ty) {
            TypeData::Int { sign: Sign::Signed | Sign::Unsigned, .. } => {
                self.report(op, Code::ResultType, "integer return type must be signless");
            }
            TypeData::Vector { dims, .. }
                if dims.iter().any(|it| matches!(it, Dim::Scalable(_))) =>
            {
                let AttrData::Elements(text, _) = interner.attr_data(value) else { return };
                if interner.str(*text).contains(',') {
                    let message =
                        "the elements of a scalable vector must all be the same (`dense<0>`)";
                    self.report(op, Code::ScalableElements, message);
                }
            }
            _ => {}
        }
    }

    /// Checks that the bounds and the step of `scf.for` have one type.
    pub(crate) fn check_scf_for_bounds(&mut self, op: Op) {
        let types: Vec<Type> = (0..3).map(|at| self.operand_type(op, at)).collect();
        if let Some(other) = types.iter().find(|it| self.is_type_clash(types[0], **it)) {
            let message = format!(
                "requires bounds and step of one type, found '{}' and '{}'",
                self.type_text(types[0]),
                self.type_text(*other)
            );
            self.report(op, Code::TypesDiffer, message);
        }
    }

    /// Checks that an enum attribute is a number below `end`.
    pub(crate) fn check_enum_case(&mut self, op: Op, attr: &str, end: i128) {
        let value = self.ir.attr(op, attr).map(|it| self.ir.interner.attr_data(it));
        if let Some(AttrData::Int { value, .. }) = value
            && !(0..end).contains(value)
        {
            let message = format!("'{attr}' must be between 0 and {}, but is {value}", end - 1);
            self.report(op, Code::AttributeValue, message);
        }
    }

    /// Checks that there are as many case values as case destinations.
    pub(crate) fn check_case_count(&mut self, op: Op) {
        let n_cases = self.ir.extra(op).successors.len() - 1;
        let Some(values) = self.ir.attr(op, "case_values") else { return };
        let AttrData::Elements(_, ty) = self.ir.interner.attr_data(values) else { return };
        let Some([Dim::Fixed(n)]) = self.dims(*ty) else { return };
        if *n != n_cases as u64 {
            let message = format!(
                "number of case values ({n}) should match number of case destinations ({n_cases})"
            );
            self.report(op, Code::CaseCount, message);
        }
    }
}
