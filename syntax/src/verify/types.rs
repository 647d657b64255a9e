//! Operand and result types, op by op.

use super::{Verifier, clash};
use crate::{AttrData, Op, OpKind, Sign, Type, TypeData};

/// What a type must be.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Signless integer or index, or a shape of them.
    IntLike,
    /// Float, or a shape of it.
    FloatLike,
    Noisy,
    /// `i1` to `i5`.
    Plain,
    I1,
    Index,
}

impl Class {
    fn text(self) -> &'static str {
        match self {
            Class::IntLike => "signless-integer-like",
            Class::FloatLike => "floating-point-like",
            Class::Noisy => "`!noisy.i32`",
            Class::Plain => "an integer of 1 to 5 bits",
            Class::I1 => "`i1`",
            Class::Index => "`index`",
        }
    }
}

impl Verifier<'_> {
    pub(super) fn types(&mut self, op: Op) {
        use OpKind as K;
        let kind = self.ir.op(op).kind;
        match kind {
            K::NoisyAdd | K::NoisySub | K::NoisyMul => {
                self.signature(op, &[Class::Noisy; 2], &[Class::Noisy]);
            }
            K::NoisyReduceNoise => self.signature(op, &[Class::Noisy], &[Class::Noisy]),
            K::NoisyEncode => self.signature(op, &[Class::Plain], &[Class::Noisy]),
            K::NoisyDecode => self.signature(op, &[Class::Noisy], &[Class::Plain]),
            K::ArithConstant => self.constant(op),
            K::ArithCmpi => self.compare(op, Class::IntLike),
            K::ArithCmpf => self.compare(op, Class::FloatLike),
            K::ArithSelect => self.select(op),
            K::ArithAddi
            | K::ArithSubi
            | K::ArithMuli
            | K::ArithShli
            | K::ArithDivsi
            | K::ArithDivui
            | K::ArithShrsi
            | K::ArithShrui
            | K::ArithCeildivsi
            | K::ArithCeildivui
            | K::ArithFloordivsi
            | K::ArithRemsi
            | K::ArithRemui
            | K::ArithAndi
            | K::ArithOri
            | K::ArithXori
            | K::ArithMaxsi
            | K::ArithMaxui
            | K::ArithMinsi
            | K::ArithMinui => {
                self.same(op, Class::IntLike, 2);
            }
            K::ArithAddf
            | K::ArithSubf
            | K::ArithMulf
            | K::ArithDivf
            | K::ArithRemf
            | K::ArithMaximumf
            | K::ArithMinimumf
            | K::ArithMaxnumf
            | K::ArithMinnumf => {
                self.same(op, Class::FloatLike, 2);
            }
            K::ArithNegf => self.same(op, Class::FloatLike, 1),
            K::ArithExtsi | K::ArithExtui | K::ArithTrunci => self.resize(op, Class::IntLike),
            K::ArithExtf | K::ArithTruncf => self.resize(op, Class::FloatLike),
            K::ArithSitofp | K::ArithUitofp => {
                self.signature(op, &[Class::IntLike], &[Class::FloatLike]);
            }
            K::ArithFptosi | K::ArithFptoui => {
                self.signature(op, &[Class::FloatLike], &[Class::IntLike]);
            }
            K::CfCondBr | K::CfAssert | K::ScfIf | K::ScfCondition => {
                self.first_operand(op, Class::I1);
            }
            K::ScfIndexSwitch => self.first_operand(op, Class::Index),
            K::AffineApply => self.signature_all(op, Class::Index, 1),
            _ => {}
        }
    }

    fn is(&self, ty: Type, class: Class) -> bool {
        let interner = &self.ir.interner;
        let element = interner.element_type(ty);
        let is_memref = matches!(interner.type_data(ty), TypeData::MemRef { .. });
        match class {
            _ if ty == Type::UNKNOWN || element == Type::UNKNOWN => true,
            Class::IntLike => {
                !is_memref
                    && matches!(
                        interner.type_data(element),
                        TypeData::Int { sign: Sign::Signless, .. } | TypeData::Index
                    )
            }
            Class::FloatLike => {
                !is_memref && matches!(interner.type_data(element), TypeData::Float(_))
            }
            Class::Noisy => ty == Type::NOISY,
            Class::Plain => {
                matches!(
                    interner.type_data(ty),
                    TypeData::Int { width: 1..=5, sign: Sign::Signless }
                )
            }
            Class::I1 => ty == Type::I1,
            Class::Index => ty == Type::INDEX,
        }
    }

    fn counts(&mut self, op: Op, n_operands: usize, n_results: usize) -> bool {
        let data = self.ir.op(op);
        let (operands, results) = (data.operands.len(), data.results.len());
        if operands != n_operands {
            self.tell(
                op,
                "operand-count",
                format!("requires {n_operands} operands, found {operands}"),
            );
            return false;
        }
        results == n_results
    }

    fn expect_operand(&mut self, op: Op, at: usize, class: Class) -> bool {
        let ty = self.operand_type(op, at);
        let fits = self.is(ty, class);
        if !fits {
            let span = self.ir.op(op).operands[at].span;
            let message =
                format!("operand #{at} must be {}, but got '{}'", class.text(), self.show(ty));
            self.tell_at(span, "operand-type", message);
        }
        fits
    }

    fn expect_result(&mut self, op: Op, at: usize, class: Class) -> bool {
        let Some(&value) = self.ir.op(op).results.get(at) else { return true };
        let ty = self.value_type(value);
        let fits = self.is(ty, class);
        if !fits {
            let message =
                format!("result #{at} must be {}, but got '{}'", class.text(), self.show(ty));
            self.tell(op, "result-type", message);
        }
        fits
    }

    fn signature(&mut self, op: Op, operands: &[Class], results: &[Class]) {
        self.counts(op, operands.len(), results.len());
        if self.ir.op(op).operands.len() != operands.len() {
            return;
        }
        for (at, class) in operands.iter().enumerate() {
            if !self.expect_operand(op, at, *class) {
                return;
            }
        }
        for (at, class) in results.iter().enumerate() {
            if !self.expect_result(op, at, *class) {
                return;
            }
        }
    }

    fn signature_all(&mut self, op: Op, class: Class, n_results: usize) {
        for at in 0..self.ir.op(op).operands.len() {
            if !self.expect_operand(op, at, class) {
                return;
            }
        }
        for at in 0..n_results {
            self.expect_result(op, at, class);
        }
    }

    fn first_operand(&mut self, op: Op, class: Class) {
        if self.ir.op(op).operands.is_empty() {
            self.tell(op, "operand-count", "requires an operand");
        } else {
            self.expect_operand(op, 0, class);
        }
    }

    /// All operands and the result of one type, of this class.
    fn same(&mut self, op: Op, class: Class, n: usize) {
        if !self.counts(op, n, 1) && self.ir.op(op).operands.len() != n {
            return;
        }
        for at in 0..n {
            if !self.expect_operand(op, at, class) {
                return;
            }
        }
        let first = self.operand_type(op, 0);
        let result =
            self.ir.op(op).results.first().map_or(Type::UNKNOWN, |it| self.value_type(*it));
        let others = (1..n).map(|at| self.operand_type(op, at)).chain([result]);
        if let Some(other) = others.into_iter().find(|it| clash(first, *it)) {
            let message = format!(
                "requires the same type for all operands and results, found '{}' and '{}'",
                self.show(first),
                self.show(other)
            );
            self.tell(op, "types-differ", message);
        }
    }

    fn compare(&mut self, op: Op, class: Class) {
        if self.ir.op(op).operands.len() != 2 {
            self.counts(op, 2, 1);
            return;
        }
        if !self.expect_operand(op, 0, class) {
            return;
        }
        let (a, b) = (self.operand_type(op, 0), self.operand_type(op, 1));
        if clash(a, b) {
            let message = format!(
                "requires operands of one type, found '{}' and '{}'",
                self.show(a),
                self.show(b)
            );
            self.tell(op, "types-differ", message);
        }
    }

    fn select(&mut self, op: Op) {
        if self.ir.op(op).operands.len() != 3 {
            self.counts(op, 3, 1);
            return;
        }
        let condition = self.operand_type(op, 0);
        if condition != Type::UNKNOWN && self.ir.interner.element_type(condition) != Type::I1 {
            let span = self.ir.op(op).operands[0].span;
            let message = format!(
                "the condition must be `i1` or a shape of it, but got '{}'",
                self.show(condition)
            );
            self.tell_at(span, "operand-type", message);
            return;
        }
        let (a, b) = (self.operand_type(op, 1), self.operand_type(op, 2));
        if clash(a, b) {
            let message = format!(
                "requires both values of one type, found '{}' and '{}'",
                self.show(a),
                self.show(b)
            );
            self.tell(op, "types-differ", message);
        }
    }

    /// Widening or narrowing: the width of the element must change in the right direction.
    fn resize(&mut self, op: Op, class: Class) {
        if self.ir.op(op).operands.len() != 1 {
            self.counts(op, 1, 1);
            return;
        }
        if !self.expect_operand(op, 0, class) || !self.expect_result(op, 0, class) {
            return;
        }
        let Some(&result) = self.ir.op(op).results.first() else { return };
        let (from, to) = (self.operand_type(op, 0), self.value_type(result));
        let width = |ty| match self.ir.interner.type_data(self.ir.interner.element_type(ty)) {
            TypeData::Int { width, .. } => Some(*width),
            TypeData::Float("f64") => Some(64),
            TypeData::Float("f32") => Some(32),
            TypeData::Float("f16" | "bf16") => Some(16),
            _ => None,
        };
        let (Some(from_width), Some(to_width)) = (width(from), width(to)) else { return };
        let narrows = matches!(self.ir.op(op).kind, OpKind::ArithTrunci | OpKind::ArithTruncf);
        if (narrows && to_width >= from_width) || (!narrows && to_width <= from_width) {
            let direction = if narrows { "narrower" } else { "wider" };
            let message = format!(
                "the result must be {direction} than the operand, but '{}' becomes '{}'",
                self.show(from),
                self.show(to)
            );
            self.tell(op, "cast-width", message);
        }
    }

    fn constant(&mut self, op: Op) {
        let Some(value) = self.ir.attr(op, "value") else {
            self.tell(op, "missing-attribute", "requires an attribute `value`");
            return;
        };
        let Some(&result) = self.ir.op(op).results.first() else { return };
        let ty = match self.ir.interner.attr_data(value) {
            AttrData::Int { ty, .. } | AttrData::Float { ty, .. } | AttrData::Elements(_, ty) => {
                *ty
            }
            AttrData::Bool(_) => Type::I1,
            _ => return,
        };
        let result = self.value_type(result);
        if clash(ty, result) {
            let message = format!(
                "the value has type '{}', the result '{}'",
                self.show(ty),
                self.show(result)
            );
            self.tell(op, "types-differ", message);
        } else if let TypeData::Int { sign, .. } = self.ir.interner.type_data(ty)
            && *sign != Sign::Signless
        {
            self.tell(op, "result-type", "integer return type must be signless");
        }
    }
}
