//! The syntax of `affine.for` and `affine.parallel`: bounds, steps, reductions.

use super::element::{Element, Syntax};
use crate::affine::{Affine, AffineBody, AffineExpr};
use crate::grammar::ParsedOperand;
use crate::grammar::reader::{ReadResult, Reader};
use crate::grammar::resolve_types::MAX_TERMS;
use crate::intern::NumberTypes;
use crate::op_traits::RMW_KINDS;
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, Dim, TokenKind, Type, TypeData};

/// `%i = 0 to 4 step 2 iter_args(%x = %y) -> (f32)`
pub(in crate::dialect) const AFFINE_FOR: Element = Element::Custom(&Syntax {
    read: |it| it.affine_for(),
    write: |it| it.write_affine_for(),
    snippet: " «%i» = «0» to «4»",
    attributes: &["lowerBoundMap", "operandSegmentSizes", "step", "upperBoundMap"],
    ..Syntax::EMPTY
});

/// `(%i) = (0) to (4) step (2) reduce ("addf") -> f32`
pub(in crate::dialect) const AFFINE_PARALLEL: Element = Element::Custom(&Syntax {
    read: |it| it.affine_parallel(),
    write: |it| it.write_affine_parallel(),
    snippet: " («%i») = («0») to («4»)",
    attributes: &[
        "lowerBoundsGroups",
        "lowerBoundsMap",
        "reductions",
        "steps",
        "upperBoundsGroups",
        "upperBoundsMap",
    ],
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    /// Parses an integer for an attribute of type `index`. MLIR rejects `-0` here.
    fn index_attribute(&mut self) -> ReadResult<i64> {
        let start = self.at;
        let is_negative = self.peek() == TokenKind::Minus;
        let value = self.integer()?;
        if is_negative && value == 0 {
            self.at = start;
            return Err(
                self.error_here(Code::LiteralType, "integer constant out of range for its type")
            );
        }
        Ok(value)
    }

    /// Parses `%n`, `-4` or a map with operands, and returns it as a map.
    fn bound(&mut self, many: &str) -> ReadResult<Attr> {
        let may_be_many = self.eat_word(many);
        // MLIR parses these as one-bit integers.
        let is_bool = self.is_word("true") || self.is_word("false");
        match self.peek() {
            _ if is_bool && !may_be_many => {
                let value = self.integer()?;
                Ok(self.affine_attr(Affine::constant(value)))
            }
            TokenKind::Percent if !may_be_many => {
                self.operand(Type::INDEX)?;
                Ok(self.affine_attr(Affine::symbol()))
            }
            TokenKind::Int | TokenKind::Minus if !may_be_many => {
                let value = self.index_attribute()?;
                Ok(self.affine_attr(Affine::constant(value)))
            }
            _ => {
                let span = self.token().span();
                let (attr, shape) = self.map_or_set(false)?;
                if let Some((_, _, n)) = shape
                    && n > 1
                    && !may_be_many
                {
                    let message = format!("a bound with several results needs '{many}'");
                    return Err(self.error_at(Code::InvalidBound, span, message));
                }
                self.dims_and_symbols(shape, false)?;
                Ok(attr)
            }
        }
    }

    /// Parses `%i = B to B [step 2] [iter_args(..) -> ..]`.
    pub(crate) fn affine_for(&mut self) -> ReadResult {
        let variable = self.argument(Type::INDEX)?;
        self.header_arguments.push(variable);
        self.expect(TokenKind::Equal)?;
        let lower = self.bound("max")?;
        let n_lower = self.out.operands.len();
        self.expect_word("to")?;
        let upper = self.bound("min")?;
        let n_upper = self.out.operands.len() - n_lower;
        let mut step = 1;
        if self.eat_word("step") {
            let start = self.at;
            step = self.index_attribute()?;
            // MLIR accepts 0, although its message demands a positive step.
            if step < 0 {
                self.at = start;
                let message = "expected step to be representable as a positive signed integer";
                return Err(self.error_here(Code::InvalidStep, message));
            }
        }
        let first = self.opt_iter_args()?;
        let n_inits = self.out.operands.len() - first;
        self.set_attr("lowerBoundMap", lower);
        self.set_attr("upperBoundMap", upper);
        let step = self.int_attr(step, Type::INDEX);
        self.set_attr("step", step);
        self.set_segment_sizes(&[n_lower as i64, n_upper as i64, n_inits as i64]);
        Ok(())
    }

    /// Parses `(a, max(b, c))`. Returns one map for all bounds, and the number of results of each
    /// bound; adds the operands to the op.
    fn bounds(&mut self, many: &str) -> ReadResult<(Affine, Vec<i64>)> {
        self.expect(TokenKind::LParen)?;
        let mut groups = Vec::new();
        let (mut results, mut dims, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
        self.list(TokenKind::RParen, |it| {
            let is_many = it.is_word(many);
            if is_many {
                it.at += 1;
                it.expect(TokenKind::LParen)?;
            }
            let (map, operands) = if is_many { it.ssa_exprs()? } else { it.ssa_expr()? };
            let AffineBody::Map(list) = map.body else { return Ok(()) };
            if groups.len() >= MAX_TERMS {
                let message = format!("more than {MAX_TERMS} affine expressions");
                return Err(it.error_here(Code::TooMany, message));
            }
            groups.push(list.len() as i64);
            let (d, s) = operands.split_at(map.n_dims as usize);
            for expr in list {
                results.push(renumber(
                    &expr,
                    &merge_operands(&mut dims, d),
                    &merge_operands(&mut symbols, s),
                ));
            }
            if is_many {
                it.expect(TokenKind::RParen)?;
            }
            Ok(())
        })?;
        let map = Affine {
            n_dims: dims.len() as u32,
            n_symbols: symbols.len() as u32,
            body: AffineBody::Map(results),
        };
        self.push_operands(dims.into_iter().chain(symbols));
        Ok((map, groups))
    }

    /// Parses `(%i) = (..) to (..) [step (..)] [reduce ("addf")] [-> T]`.
    pub(crate) fn affine_parallel(&mut self) -> ReadResult {
        let n = self.loop_variables()?;
        self.expect(TokenKind::Equal)?;
        let (lower, lower_groups) = self.bounds("max")?;
        self.expect_word("to")?;
        let (upper, upper_groups) = self.bounds("min")?;
        for groups in [&lower_groups, &upper_groups] {
            if groups.len() != n {
                let message = format!("expected {n} bounds, found {}", groups.len());
                self.report_structure(Code::BoundCount, self.span_of_name(), message);
            }
        }
        let mut steps = Vec::new();
        if self.eat_word("step") {
            self.expect(TokenKind::LParen)?;
            self.list(TokenKind::RParen, |it| {
                steps.push(it.integer()?);
                Ok(())
            })?;
        } else {
            steps.resize(n, 1);
        }
        let mut reductions = Vec::new();
        if self.eat_word("reduce") {
            self.expect(TokenKind::LParen)?;
            self.list(TokenKind::RParen, |it| {
                if it.peek() != TokenKind::Str {
                    return Err(it.expected("a string"));
                }
                reductions.push(it.enum_case(RMW_KINDS)? as i64);
                Ok(())
            })?;
        }
        self.opt_arrow_types()?;
        for (name, map) in [("lowerBoundsMap", lower), ("upperBoundsMap", upper)] {
            let attr = self.affine_attr(map);
            self.set_attr(name, attr);
        }
        for (name, groups) in
            [("lowerBoundsGroups", lower_groups), ("upperBoundsGroups", upper_groups)]
        {
            let attr = self.groups_attr(&groups);
            self.set_attr(name, attr);
        }
        let steps = self.i64_array(&steps);
        self.set_attr("steps", steps);
        let reductions = self.i64_array(&reductions);
        self.set_attr("reductions", reductions);
        Ok(())
    }

    /// Returns the attribute `dense<[1, 2]> : tensor<2xi32>`.
    fn groups_attr(&mut self, groups: &[i64]) -> Attr {
        let is_splat = !groups.is_empty() && groups.iter().all(|it| *it == groups[0]);
        let all: Vec<_> = groups.iter().map(ToString::to_string).collect();
        let text = match (groups.is_empty(), is_splat) {
            (true, _) => "dense<>".to_owned(),
            (_, true) => format!("dense<{}>", groups[0]),
            _ => format!("dense<[{}]>", all.join(", ")),
        };
        let element = self.i32_type();
        let dims = Some([Dim::Fixed(groups.len() as u64)].into());
        let ty = self.env.interner.intern_type(TypeData::Tensor { dims, element, encoding: None });
        let text = self.name(&text);
        self.env.interner.intern_attr(AttrData::Elements(text, ty))
    }
}

/// Returns the index of each operand of `new` in `all`, and adds missing ones to `all`.
fn merge_operands(all: &mut Vec<ParsedOperand>, new: &[ParsedOperand]) -> Vec<u32> {
    new.iter()
        .map(|it| {
            let same = |other: &ParsedOperand| other.name == it.name && other.number == it.number;
            let at = all.iter().position(same).unwrap_or_else(|| {
                all.push(*it);
                all.len() - 1
            });
            at as u32
        })
        .collect()
}

fn renumber(expr: &AffineExpr, dims: &[u32], symbols: &[u32]) -> AffineExpr {
    match expr {
        AffineExpr::Const(_) => expr.clone(),
        AffineExpr::Dim(at) => AffineExpr::Dim(dims[*at as usize]),
        AffineExpr::Symbol(at) => AffineExpr::Symbol(symbols[*at as usize]),
        AffineExpr::Binary(op, both) => AffineExpr::binary(
            *op,
            renumber(&both.0, dims, symbols),
            renumber(&both.1, dims, symbols),
        ),
    }
}

impl Printer<'_> {
    fn write_bound(&mut self, name: &str, many: &str, n: usize) -> PrintResult {
        let values = self.take_operands(n)?;
        let (attr, map) = self.map(name)?;
        let map = map.clone();
        fits(!map.is_set() && map.n_inputs() == n)?;
        match &map.body {
            AffineBody::Map(exprs) => match exprs.as_slice() {
                [] => return Err(Unfit),
                [AffineExpr::Const(value)] if n == 0 => {
                    self.word(&value.to_string());
                    return Ok(());
                }
                [AffineExpr::Symbol(0)] if map.n_dims == 0 && n == 1 => {
                    self.blank();
                    return self.values(&values);
                }
                [_] => {}
                _ => self.word(many),
            },
            AffineBody::Set(_) => return Err(Unfit),
        }
        self.attr_word(attr, NumberTypes::All);
        self.write_dims_and_symbols(map.n_dims, &values)
    }

    pub(crate) fn write_affine_for(&mut self) -> PrintResult {
        let body = self.region_at(0)?;
        let arguments = self.header_arguments(body)?;
        let (variable, carried) = arguments.split_first().ok_or(Unfit)?;
        fits(self.type_of(*variable) == Type::INDEX)?;
        let [n_lower, n_upper, _] = self.segment_sizes()?;
        self.blank();
        self.value(*variable)?;
        self.word("=");
        self.write_bound("lowerBoundMap", "max", n_lower)?;
        self.word("to");
        self.write_bound("upperBoundMap", "min", n_upper)?;
        let step = self.int("step")?;
        fits(step > 0)?;
        if step != 1 {
            self.word(&format!("step {step}"));
        }
        self.write_carried("iter_args", carried)
    }

    /// `(a, max(b, c))`: prints the results of a map in groups.
    fn write_bounds(&mut self, map: &Affine, groups: &[i64], many: &str) -> PrintResult {
        let values = self.take_operands(map.n_inputs())?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        let AffineBody::Map(exprs) = &map.body else { return Err(Unfit) };
        let mut exprs = exprs.as_slice();
        self.word("(");
        for (i, &n) in groups.iter().enumerate() {
            let n = usize::try_from(n).map_err(|_| Unfit)?;
            let (group, rest) = exprs.split_at_checked(n).ok_or(Unfit)?;
            exprs = rest;
            self.text.push(if i > 0 { ", " } else { "" });
            if n != 1 {
                self.text.push(many);
                self.text.push("(");
            }
            self.write_exprs(map.n_dims, group, &values)?;
            self.text.push(if n == 1 { "" } else { ")" });
        }
        self.text.push(")");
        fits(exprs.is_empty())
    }

    pub(crate) fn write_affine_parallel(&mut self) -> PrintResult {
        let ir = self.ir;
        let body = self.region_at(0)?;
        let variables = self.header_arguments(body)?;
        self.write_list("", &variables)?;
        for (word, many, map, groups) in [
            ("=", "max", "lowerBoundsMap", "lowerBoundsGroups"),
            ("to", "min", "upperBoundsMap", "upperBoundsGroups"),
        ] {
            let groups = self.op_attr(groups).ok_or(Unfit)?;
            let groups = ir.interner.element_ints(groups, variables.len()).ok_or(Unfit)?;
            let map = self.map(map)?.1.clone();
            self.word(word);
            self.write_bounds(&map, &groups, many)?;
        }
        let steps = self.ints("steps")?;
        fits(steps.len() == variables.len())?;
        if steps.iter().any(|it| *it != 1) {
            self.word("step ");
            self.write_mixed("(", &steps, ")")?;
        }
        let reductions = self.ints("reductions")?;
        if !reductions.is_empty() {
            self.word("reduce (");
            for (i, kind) in reductions.iter().enumerate() {
                let kind =
                    usize::try_from(*kind).ok().and_then(|it| RMW_KINDS.get(it)).ok_or(Unfit)?;
                self.text.push(if i > 0 { ", " } else { "" });
                self.text.push(&format!("\"{kind}\""));
            }
            self.text.push(")");
        }
        self.write_arrow_types()
    }
}
