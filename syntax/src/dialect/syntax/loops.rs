//! The syntax of `scf` ops with regions.

use super::element::{Element, Syntax};
use crate::grammar::reader::{ReadResult, Reader};
use crate::grammar::{ParsedArgument, ParsedOperand};
use crate::op_traits::DYNAMIC;
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, Span, TokenKind, Type, TypeData, Value};

/// `%i = %l to %u step %s iter_args(%x = %y) -> (f32) : i32`
pub(in crate::dialect) const SCF_FOR: Element = Element::Custom(&Syntax {
    read: |it| it.scf_for(),
    write: |it| it.write_scf_for(),
    snippet: " «%i» = «%lb» to «%ub» step «%step»",
    attributes: &["unsignedCmp"],
    ..Syntax::EMPTY
});

/// `(%x = %y) : (i32) -> f32`
pub(in crate::dialect) const SCF_WHILE: Element = Element::Custom(&Syntax {
    read: |it| it.scf_while(),
    write: |it| it.write_scf_while(),
    snippet: " («%x» = «%a») : («i32») -> «i32»",
    ..Syntax::EMPTY
});

/// `(%i) = (%l) to (%u) step (%s) init (%v) -> f32`
pub(in crate::dialect) const SCF_PARALLEL: Element = Element::Custom(&Syntax {
    read: |it| it.scf_parallel(),
    write: |it| it.write_scf_parallel(),
    snippet: " («%i») = («%lb») to («%ub») step («%step»)",
    attributes: &["operandSegmentSizes"],
    ..Syntax::EMPTY
});

/// `(%a, %b : i32, f32) {..}, {..}`
pub(in crate::dialect) const SCF_REDUCE: Element = Element::Custom(&Syntax {
    read: |it| it.scf_reduce(),
    write: |it| it.write_scf_reduce(),
    ..Syntax::EMPTY
});

/// `(%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>)`
pub(in crate::dialect) const SCF_FORALL: Element = Element::Custom(&Syntax {
    read: |it| it.scf_forall(),
    write: |it| it.write_scf_forall(),
    snippet: " («%i») in («4»)",
    attributes: &["operandSegmentSizes", "staticLowerBound", "staticStep", "staticUpperBound"],
    ..Syntax::EMPTY
});

/// `-> i32 case 0 {..} default {..}`
pub(in crate::dialect) const INDEX_SWITCH_CASES: Element = Element::Custom(&Syntax {
    read: |it| it.index_switch(),
    write: |it| it.write_index_switch(),
    snippet: " case «0» {\n  $0\n}\ndefault {\n}",
    attributes: &["cases"],
    ..Syntax::EMPTY
});

/// Prints `else {..}`, or nothing for an empty region.
pub(in crate::dialect) const OPT_ELSE: Element = Element::Custom(&Syntax {
    read: |it| {
        if it.eat_word("else") {
            it.region()?;
        }
        Ok(())
    },
    write: |it| {
        let Ok(region) = it.region_at(1) else { return Ok(()) };
        if it.ir.items(region).next().is_none() {
            it.skip_region();
            return Ok(());
        }
        it.word("else");
        it.write_region(region)
    },
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    /// Parses the definition of a block argument, `%i`.
    pub(crate) fn argument(&mut self, ty: Type) -> ReadResult<ParsedArgument> {
        let operand = self.value(ty)?;
        if self.tokens[self.at - 1].kind == TokenKind::Hash {
            self.at -= 1;
            let message = "result number not allowed in argument list";
            return Err(self.error_here(Code::InvalidResultNumber, message));
        }
        self.opt_location()?;
        Ok(ParsedArgument { name: Some(operand.name), span: operand.span, ty, attrs: None })
    }

    /// Parses `(%x = %y, ...)` after the parenthesis: adds `%x` to the header arguments and `%y` to
    /// the operands. Returns the index of the first operand.
    pub(crate) fn assignments(&mut self) -> ReadResult<usize> {
        let first = self.out.operands.len();
        self.list(TokenKind::RParen, |it| {
            let argument = it.argument(Type::UNKNOWN)?;
            it.expect(TokenKind::Equal)?;
            it.operand(Type::UNKNOWN)?;
            it.header_arguments.push(argument);
            Ok(())
        })?;
        Ok(first)
    }

    /// Sets the types of the carried values (the operands from `first` on) and of their arguments
    /// (the last header arguments).
    pub(crate) fn set_carried_types(&mut self, first: usize, types: &[Type], what: &str) {
        let n = self.out.operands.len() - first;
        if n != types.len() {
            let message = format!("{n} {what} but {} types", types.len());
            self.report_mismatch(Code::OperandCount, self.out.name_span, message);
        }
        let n_before = self.header_arguments.len().saturating_sub(n);
        let arguments = self.header_arguments[n_before..].iter_mut();
        for ((operand, argument), ty) in
            self.out.operands[first..].iter_mut().zip(arguments).zip(types)
        {
            operand.ty = *ty;
            argument.ty = *ty;
        }
    }

    /// Parses an optional `iter_args(%x = %y) -> (T)`. Returns the index of the first carried
    /// operand.
    pub(crate) fn opt_iter_args(&mut self) -> ReadResult<usize> {
        let mut first = self.out.operands.len();
        if self.eat_word("iter_args") {
            self.expect(TokenKind::LParen)?;
            first = self.assignments()?;
            self.expect(TokenKind::Arrow)?;
            self.arrow_types()?;
            let types = self.out.result_types.clone();
            self.set_carried_types(first, &types, "loop-carried values");
        }
        Ok(first)
    }

    /// Parses `[unsigned] %i = %l to %u step %s [iter_args(..) -> (..)] [: T]`.
    pub(crate) fn scf_for(&mut self) -> ReadResult {
        if self.eat_word("unsigned") {
            self.set_attr("unsignedCmp", Attr::UNIT);
        }
        let variable = self.argument(Type::INDEX)?;
        self.header_arguments.push(variable);
        self.expect(TokenKind::Equal)?;
        self.operand(Type::INDEX)?;
        self.expect_word("to")?;
        self.operand(Type::INDEX)?;
        self.expect_word("step")?;
        self.operand(Type::INDEX)?;
        self.opt_iter_args()?;
        if self.eat(TokenKind::Colon) {
            let ty = self.ty()?;
            self.header_arguments[0].ty = ty;
            for it in &mut self.out.operands[..3] {
                it.ty = ty;
            }
        }
        Ok(())
    }

    /// Parses `(%x = %y, ...) : (A) -> B`.
    pub(crate) fn scf_while(&mut self) -> ReadResult {
        if self.eat(TokenKind::LParen) {
            self.assignments()?;
        }
        self.expect(TokenKind::Colon)?;
        let span = self.token().span();
        let ty = self.ty()?;
        match self.env.interner.type_data(ty).clone() {
            TypeData::Function { inputs, results } => {
                self.out.result_types.extend_from_slice(&results);
                self.set_carried_types(0, &inputs, "operands");
                Ok(())
            }
            TypeData::Unknown => {
                self.out.is_guessed = true;
                Ok(())
            }
            _ => Err(self.error_at(Code::InvalidType, span, "expected a function type".into())),
        }
    }

    /// Parses `(%i, %j)`: the arguments of the region of a loop. Returns their number.
    pub(crate) fn loop_variables(&mut self) -> ReadResult<usize> {
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| {
            let argument = it.argument(Type::INDEX)?;
            it.header_arguments.push(argument);
            Ok(())
        })?;
        Ok(self.header_arguments.len())
    }

    fn index_list(&mut self, n: usize) -> ReadResult {
        let span = self.token().span();
        self.expect(TokenKind::LParen)?;
        let first = self.out.operands.len();
        self.list(TokenKind::RParen, |it| it.operand(Type::INDEX).map(|_| ()))?;
        let found = self.out.operands.len() - first;
        if found != n {
            self.report_mismatch(
                Code::OperandCount,
                span,
                format!("expected {n} operands, found {found}"),
            );
        }
        Ok(())
    }

    /// Parses `(%i) = (%l) to (%u) step (%s) [init (%v)] [-> T]`.
    pub(crate) fn scf_parallel(&mut self) -> ReadResult {
        let n = self.loop_variables()?;
        self.expect(TokenKind::Equal)?;
        self.index_list(n)?;
        self.expect_word("to")?;
        self.index_list(n)?;
        self.expect_word("step")?;
        self.index_list(n)?;
        let first = self.out.operands.len();
        if self.eat_word("init") {
            self.expect(TokenKind::LParen)?;
            self.list(TokenKind::RParen, |it| it.operand(Type::UNKNOWN).map(|_| ()))?;
        }
        self.opt_arrow_types()?;
        let n_inits = self.out.operands.len() - first;
        if n_inits != self.out.result_types.len() {
            let message = format!(
                "{n_inits} initial values but {} result types",
                self.out.result_types.len()
            );
            self.report_mismatch(Code::OperandCount, self.out.name_span, message);
        }
        for (operand, ty) in self.out.operands[first..].iter_mut().zip(&self.out.result_types) {
            operand.ty = *ty;
        }
        let n = n as i64;
        self.set_segment_sizes(&[n, n, n, n_inits as i64]);
        Ok(())
    }

    /// Parses `(%a, %b : T, U) {..}, {..}`.
    pub(crate) fn scf_reduce(&mut self) -> ReadResult {
        if self.eat(TokenKind::LParen) {
            self.uses_types()?;
            self.expect(TokenKind::RParen)?;
        }
        if self.peek() == TokenKind::Region
            && !(self.out.operands.is_empty() && self.is_empty_region())
        {
            loop {
                self.region()?;
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Parses a list of operands and integers. The result has [`DYNAMIC`] for each operand.
    pub(crate) fn mixed_list(&mut self, close: TokenKind) -> ReadResult<Vec<i64>> {
        let mut out = Vec::new();
        self.list(close, |it| {
            if it.peek() == TokenKind::Percent {
                it.operand(Type::INDEX)?;
                out.push(DYNAMIC);
            } else if matches!(it.peek(), TokenKind::Int | TokenKind::Minus)
                || it.peek() == TokenKind::Bare && matches!(it.word(), "true" | "false")
            {
                out.push(it.integer()?);
            } else {
                return Err(it.expected("an SSA value or an integer"));
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Parses `(%i) in (..)` or `(%i) = (..) to (..) step (..)`, then `shared_outs(%o = %t) ->
    /// (T)`.
    pub(crate) fn scf_forall(&mut self) -> ReadResult {
        let n = self.loop_variables()?;
        let (lower, upper, step);
        if self.eat_word("in") {
            self.expect(TokenKind::LParen)?;
            upper = self.mixed_list(TokenKind::RParen)?;
            (lower, step) = (vec![0; upper.len()], vec![1; upper.len()]);
        } else {
            if !self.eat(TokenKind::Equal) {
                return Err(self.expected("'in' or '='"));
            }
            self.expect(TokenKind::LParen)?;
            lower = self.mixed_list(TokenKind::RParen)?;
            self.expect_word("to")?;
            self.expect(TokenKind::LParen)?;
            upper = self.mixed_list(TokenKind::RParen)?;
            self.expect_word("step")?;
            self.expect(TokenKind::LParen)?;
            step = self.mixed_list(TokenKind::RParen)?;
        }
        for it in [&lower, &upper, &step] {
            if it.len() != n {
                let message = format!("expected {n} bounds, found {}", it.len());
                self.report_mismatch(Code::OperandCount, self.out.name_span, message);
            }
        }
        let dynamic = |it: &[i64]| it.iter().filter(|it| **it == DYNAMIC).count() as i64;
        let mut sizes = [dynamic(&lower), dynamic(&upper), dynamic(&step), 0];
        let first = self.out.operands.len();
        if self.eat_word("shared_outs") {
            self.expect(TokenKind::LParen)?;
            self.assignments()?;
            self.expect(TokenKind::Arrow)?;
            self.arrow_types()?;
            let types = self.out.result_types.clone();
            self.set_carried_types(first, &types, "shared outputs");
        }
        sizes[3] = (self.out.operands.len() - first) as i64;
        self.set_segment_sizes(&sizes);
        for (name, values) in
            [("staticLowerBound", lower), ("staticUpperBound", upper), ("staticStep", step)]
        {
            let attr = self.dense_array(Type::I64, &values);
            self.set_attr(name, attr);
        }
        Ok(())
    }

    /// Parses `case 0 {..} case 1 {..} default {..}`.
    pub(crate) fn index_switch(&mut self) -> ReadResult {
        if self.eat(TokenKind::Arrow) {
            self.result_types()?;
        }
        let mut cases = Vec::new();
        while self.eat_word("case") {
            cases.push(self.integer_bits()?);
            self.region()?;
        }
        self.expect_word("default")?;
        self.region()?;
        let attr = self.dense_array(Type::I64, &cases);
        self.set_attr("cases", attr);
        Ok(())
    }

    /// Returns an array of integers of type `i64`: `[1, 2]`.
    pub(crate) fn i64_array(&mut self, values: &[i64]) -> Attr {
        let values = values.iter().map(|it| self.int_attr(*it, Type::I64)).collect();
        self.env.interner.intern_attr(AttrData::Array(values))
    }

    /// Adds operands at the end of the list.
    pub(crate) fn push_operands(&mut self, operands: impl IntoIterator<Item = ParsedOperand>) {
        self.out.operands.extend(operands);
    }

    /// Returns the span at which problems of the op's syntax are reported: that of its name.
    pub(crate) fn span_of_name(&self) -> Span {
        self.out.name_span
    }
}

impl Printer<'_> {
    /// Prints `%x = %y, %z = %w`: arguments and initial values, which have the same types.
    fn write_assignments(&mut self, arguments: &[Value], values: &[Value]) -> PrintResult {
        fits(arguments.len() == values.len())?;
        for (i, (argument, value)) in arguments.iter().zip(values).enumerate() {
            fits(self.type_of(*argument) == self.type_of(*value))?;
            self.text.push(if i > 0 { ", " } else { "" });
            self.value(*argument)?;
            self.text.push(" = ");
            self.value(*value)?;
        }
        Ok(())
    }

    /// Prints an optional ` iter_args(%x = %y) -> (T)`. The results have the types of the
    /// arguments.
    pub(crate) fn write_carried(&mut self, word: &str, arguments: &[Value]) -> PrintResult {
        let values = self.take_operands(self.n_left())?;
        let results = self.take_results()?;
        let types: Vec<Type> = arguments.iter().map(|it| self.type_of(*it)).collect();
        fits(types == results)?;
        if arguments.is_empty() {
            return fits(values.is_empty());
        }
        self.word(word);
        self.text.push("(");
        self.write_assignments(arguments, &values)?;
        self.text.push(") -> (");
        self.text.types(&types);
        self.text.push(")");
        Ok(())
    }

    pub(crate) fn write_scf_for(&mut self) -> PrintResult {
        if let Some(attr) = self.op_attr("unsignedCmp") {
            fits(attr == Attr::UNIT)?;
            self.word("unsigned");
        }
        let body = self.region_at(0)?;
        let arguments = self.header_arguments(body)?;
        let (variable, carried) = arguments.split_first().ok_or(Unfit)?;
        let ty = self.type_of(*variable);
        self.blank();
        self.value(*variable)?;
        for word in ["=", "to", "step"] {
            self.word(word);
            self.operand(ty)?;
        }
        self.write_carried("iter_args", carried)?;
        if ty != Type::INDEX {
            self.word(": ");
            self.text.ty(ty);
        }
        Ok(())
    }

    pub(crate) fn write_scf_while(&mut self) -> PrintResult {
        let before = self.region_at(0)?;
        let arguments = self.header_arguments(before)?;
        let values = self.take_operands(self.n_left())?;
        if arguments.is_empty() {
            fits(values.is_empty())?;
        } else {
            self.word("(");
            self.write_assignments(&arguments, &values)?;
            self.text.push(")");
        }
        self.word(": ");
        let inputs: Vec<Type> = values.iter().map(|it| self.type_of(*it)).collect();
        let results = self.take_results()?;
        self.text.function_type(&inputs, &results);
        Ok(())
    }

    /// Prints ` (%i, %j)`.
    pub(crate) fn write_list(&mut self, before: &str, values: &[Value]) -> PrintResult {
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.word(before);
        self.word("(");
        self.values(values)?;
        self.text.push(")");
        Ok(())
    }

    pub(crate) fn write_scf_parallel(&mut self) -> PrintResult {
        let body = self.region_at(0)?;
        let variables = self.header_arguments(body)?;
        let [lower, upper, step, inits] = self.segment_sizes()?;
        fits([lower, upper, step].iter().all(|it| *it == variables.len()))?;
        self.write_list("", &variables)?;
        for word in ["=", "to", "step"] {
            let values = self.take_operands(variables.len())?;
            self.write_list(word, &values)?;
        }
        let inits = self.take_operands(inits)?;
        let types: Vec<Type> = inits.iter().map(|it| self.type_of(*it)).collect();
        fits(types == self.take_results()?)?;
        if !inits.is_empty() {
            self.word("init (");
            self.values(&inits)?;
            self.text.push(") -> ");
            self.text.result_types(&types);
        }
        Ok(())
    }

    pub(crate) fn write_scf_reduce(&mut self) -> PrintResult {
        let values = self.take_operands(self.n_left())?;
        if !values.is_empty() {
            self.text.push("(");
            self.values_types(&values)?;
            self.text.push(")");
        }
        let mut at = 0;
        while let Ok(region) = self.region_at(at) {
            self.text.push(if at > 0 { "," } else { "" });
            self.write_region(region)?;
            at += 1;
        }
        Ok(())
    }

    /// Prints operands for [`DYNAMIC`] and integers for other values, in brackets.
    pub(crate) fn write_mixed(&mut self, open: &str, values: &[i64], close: &str) -> PrintResult {
        self.text.push(open);
        for (i, value) in values.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            if *value == DYNAMIC {
                let operand = self.take_operand()?;
                fits(self.type_of(operand) == Type::INDEX)?;
                self.value(operand)?;
            } else {
                self.text.push(&value.to_string());
            }
        }
        self.text.push(close);
        Ok(())
    }

    pub(crate) fn write_scf_forall(&mut self) -> PrintResult {
        let body = self.region_at(0)?;
        let arguments = self.header_arguments(body)?;
        let [lower, upper, step] =
            ["staticLowerBound", "staticUpperBound", "staticStep"].map(|it| self.ints(it));
        let (lower, upper, step) = (lower?, upper?, step?);
        let n = upper.len();
        fits(lower.len() == n && step.len() == n && arguments.len() >= n)?;
        let (variables, outputs) = arguments.split_at(n);
        self.write_list("", variables)?;
        if lower.iter().all(|it| *it == 0) && step.iter().all(|it| *it == 1) {
            self.word("in ");
            self.write_mixed("(", &upper, ")")?;
        } else {
            for (word, values) in [("= ", &lower), ("to ", &upper), ("step ", &step)] {
                self.word(word);
                self.write_mixed("(", values, ")")?;
            }
        }
        self.write_carried("shared_outs", outputs)
    }

    pub(crate) fn write_index_switch(&mut self) -> PrintResult {
        let types = self.take_results()?;
        if !types.is_empty() {
            self.word("-> ");
            self.text.types(&types);
        }
        for (at, case) in self.ints("cases")?.into_iter().enumerate() {
            self.text.push("\n");
            self.line_start(0);
            self.text.push(&format!("case {case}"));
            let region = self.region_at(at + 1)?;
            // Like `mlir-opt`, which omits only the implicit terminator of the default region.
            self.write_region_with_end(region, true)?;
        }
        self.text.push("\n");
        self.line_start(0);
        self.text.push("default");
        let default = self.region_at(0)?;
        self.write_region(default)
    }
}
