//! Affine bounds, accesses and applications.

use super::ParsedOperand;
use super::reader::{Reader, Res};
use super::resolve_types::MAX_TERMS;
use crate::affine::{Affine, Body};
use crate::dialect::format::DYNAMIC;
use crate::{Attr, AttrData, Code, Dim, OpKind, TokenKind, Type, TypeData};

/// Dimensions, symbols and results of a map.
type Shape = (u32, u32, usize);

impl Reader<'_, '_> {
    fn affine_attr(&mut self, map: Affine) -> Attr {
        self.env.interner.attr(AttrData::Affine(map))
    }

    /// A map or set as an attribute; `None` where an alias is not known.
    fn map(&mut self, is_set: bool) -> Res<(Attr, Option<Shape>)> {
        let span = self.token().span();
        if !matches!(self.peek(), TokenKind::Bare | TokenKind::Hash | TokenKind::HashBody) {
            return Err(self.expected("an affine map or a bound"));
        }
        let attr = self.attr()?;
        match self.env.interner.attr_data(attr) {
            AttrData::Affine(map) if map.is_set() == is_set => {
                Ok((attr, Some((map.n_dims, map.n_symbols, map.n_results()))))
            }
            AttrData::Unknown => Ok((attr, None)),
            _ => {
                let message = format!("expected an affine {}", if is_set { "set" } else { "map" });
                Err(self.broken(Code::InvalidAttribute, span, message))
            }
        }
    }

    /// `(%d0, %d1)[%s0]`: the operands of a map.
    fn dims_and_symbols(&mut self, shape: Option<Shape>) -> Res {
        let first = self.out.operands.len();
        let span = self.token().span();
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| it.operand(Type::INDEX).map(|_| ()))?;
        let n_dims = self.out.operands.len() - first;
        if self.eat(TokenKind::LSquare) {
            self.list(TokenKind::RSquare, |it| it.operand(Type::INDEX).map(|_| ()))?;
        }
        let n_symbols = self.out.operands.len() - first - n_dims;
        if let Some((dims, symbols, _)) = shape
            && (dims as usize != n_dims || symbols as usize != n_symbols)
        {
            let message = format!(
                "{n_dims} dimension and {n_symbols} symbol operands for a map of {dims} and {symbols}"
            );
            if matches!(self.out.kind, OpKind::AffineApply | OpKind::AffineMax | OpKind::AffineMin)
            {
                self.structure(Code::WrongCount, span, message);
            } else {
                self.mismatch(Code::OperandCount, span, message);
            }
        }
        Ok(())
    }

    /// A map with its operands; the map becomes an attribute.
    pub(super) fn affine_apply(&mut self, name: &str) -> Res {
        let (attr, shape) = self.map(name == "condition")?;
        self.set_attr(name, attr);
        self.dims_and_symbols(shape)
    }

    /// `%m[%i + 1, symbol(%n)]`
    pub(super) fn affine_access(&mut self, name: &str) -> Res {
        self.operand(Type::UNKNOWN)?;
        self.expect(TokenKind::LSquare)?;
        let (map, operands) = self.ssa_exprs()?;
        self.expect(TokenKind::RSquare)?;
        self.push_operands(operands);
        let attr = self.affine_attr(map);
        self.set_attr(name, attr);
        Ok(())
    }

    /// `memref<8xf32>, memref<8xf32, 2>`: of the operand before those of each map.
    pub(super) fn accessed_types(&mut self, maps: &[&str]) -> Res {
        let mut at = 0;
        for (i, name) in maps.iter().enumerate() {
            if i > 0 {
                self.expect(TokenKind::Comma)?;
            }
            let ty = self.ty()?;
            self.set_operand_type(at, ty);
            let name = self.name(name);
            let attr = self.out.attrs.iter().find(|it| it.0 == name).map(|it| it.1);
            if let Some(AttrData::Affine(map)) = attr.map(|it| self.env.interner.attr_data(it)) {
                at += 1 + map.n_inputs();
            }
        }
        Ok(())
    }

    /// `, %stride, %n` or nothing.
    pub(super) fn opt_stride(&mut self) -> Res {
        if self.eat(TokenKind::Comma) {
            self.operand(Type::INDEX)?;
            self.expect(TokenKind::Comma)?;
            self.operand(Type::INDEX)?;
        }
        Ok(())
    }

    /// `read, locality<3>, data`
    pub(super) fn prefetch_kind(&mut self) -> Res {
        let is_write = self.enum_case(&["read", "write"])? == 1;
        self.expect(TokenKind::Comma)?;
        self.expect_word("locality")?;
        self.expect(TokenKind::Less)?;
        let locality = self.integer()?;
        self.expect(TokenKind::Greater)?;
        self.expect(TokenKind::Comma)?;
        let is_data = self.enum_case(&["instr", "data"])? == 1;
        let i32_type = self.i32_type();
        let locality = self.int_attr(locality, i32_type);
        self.set_attr("localityHint", locality);
        for (name, value) in [("isWrite", is_write), ("isDataCache", is_data)] {
            let attr = self.env.interner.attr(AttrData::Bool(value));
            self.set_attr(name, attr);
        }
        Ok(())
    }

    /// An integer that MLIR reads as an attribute of type `index`: of those `-0` is out of range.
    fn index_attribute(&mut self) -> Res<i64> {
        let start = self.at;
        let is_negative = self.peek() == TokenKind::Minus;
        let value = self.integer()?;
        if is_negative && value == 0 {
            self.at = start;
            return Err(self.wrong(Code::LiteralType, "integer constant out of range for its type"));
        }
        Ok(value)
    }

    /// `%n`, `-4` or a map with operands; as a map.
    fn bound(&mut self, many: &str) -> Res<Attr> {
        let may_be_many = self.eat_word(many);
        // MLIR takes these for integers of one bit.
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
                let (attr, shape) = self.map(false)?;
                if let Some((_, _, n)) = shape
                    && n > 1
                    && !may_be_many
                {
                    let message = format!("a bound with several results needs '{many}'");
                    return Err(self.broken(Code::InvalidBound, span, message));
                }
                self.dims_and_symbols(shape)?;
                Ok(attr)
            }
        }
    }

    /// `%i = B to B [step 2] [iter_args(..) -> ..]`
    pub(super) fn affine_for(&mut self) -> Res {
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
            // MLIR takes 0 in spite of its message.
            if step < 0 {
                self.at = start;
                let message = "expected step to be representable as a positive signed integer";
                return Err(self.wrong(Code::InvalidStep, message));
            }
        }
        let first = self.opt_iter_args()?;
        let n_inits = self.out.operands.len() - first;
        self.set_attr("lowerBoundMap", lower);
        self.set_attr("upperBoundMap", upper);
        let step = self.int_attr(step, Type::INDEX);
        self.set_attr("step", step);
        self.segments(&[n_lower as i64, n_upper as i64, n_inits as i64]);
        Ok(())
    }

    /// `(a, max(b, c))`: one map for all, the number of results of each bound, and the operands.
    fn bounds(&mut self, many: &str) -> Res<(Affine, Vec<i64>)> {
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
            let Body::Map(list) = map.body else { return Ok(()) };
            if groups.len() >= MAX_TERMS {
                let message = format!("more than {MAX_TERMS} affine expressions");
                return Err(it.wrong(Code::TooMany, message));
            }
            groups.push(list.len() as i64);
            let (d, s) = operands.split_at(map.n_dims as usize);
            for expr in list {
                results.push(renumber(&expr, &place(&mut dims, d), &place(&mut symbols, s)));
            }
            if is_many {
                it.expect(TokenKind::RParen)?;
            }
            Ok(())
        })?;
        let map = Affine {
            n_dims: dims.len() as u32,
            n_symbols: symbols.len() as u32,
            body: Body::Map(results),
        };
        self.push_operands(dims.into_iter().chain(symbols));
        Ok((map, groups))
    }

    /// `(%i) = (..) to (..) [step (..)] [reduce ("addf")] [-> T]`
    pub(super) fn affine_parallel(&mut self) -> Res {
        let n = self.variables()?;
        self.expect(TokenKind::Equal)?;
        let (lower, lower_groups) = self.bounds("max")?;
        self.expect_word("to")?;
        let (upper, upper_groups) = self.bounds("min")?;
        for groups in [&lower_groups, &upper_groups] {
            if groups.len() != n {
                let message = format!("expected {n} bounds, found {}", groups.len());
                self.structure(Code::BoundCount, self.span_of_name(), message);
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
                reductions.push(it.rmw_kind()? as i64);
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
            let attr = self.groups(&groups);
            self.set_attr(name, attr);
        }
        let steps = self.i64_array(&steps);
        self.set_attr("steps", steps);
        let reductions = self.i64_array(&reductions);
        self.set_attr("reductions", reductions);
        Ok(())
    }

    /// `dense<[1, 2]> : tensor<2xi32>`
    fn groups(&mut self, groups: &[i64]) -> Attr {
        let is_splat = !groups.is_empty() && groups.iter().all(|it| *it == groups[0]);
        let all: Vec<_> = groups.iter().map(ToString::to_string).collect();
        let text = match (groups.is_empty(), is_splat) {
            (true, _) => "dense<>".to_owned(),
            (_, true) => format!("dense<{}>", groups[0]),
            _ => format!("dense<[{}]>", all.join(", ")),
        };
        let element = self.i32_type();
        let dims = Some([Dim::Fixed(groups.len() as u64)].into());
        let ty = self.env.interner.ty(TypeData::Tensor { dims, element, encoding: None });
        let text = self.name(&text);
        self.env.interner.attr(AttrData::Elements(text, ty))
    }

    /// `into (%b, 16) [dict] : index, index`
    pub(super) fn delinearize(&mut self) -> Res {
        self.expect_word("into")?;
        self.expect(TokenKind::LParen)?;
        let basis = self.mixed_list(TokenKind::RParen)?;
        // LLVM 19 knows operands only, and then no attribute.
        if basis.iter().any(|it| *it != DYNAMIC) {
            let attr = self.dense_array(Type::I64, &basis);
            self.set_attr("static_basis", attr);
        }
        self.attr_dict()?;
        self.expect(TokenKind::Colon)?;
        loop {
            let ty = self.ty()?;
            self.out.result_types.push(ty);
            if !self.eat(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    /// `[disjoint] [%a, %b] by (2, %n) [dict] : index`
    pub(super) fn linearize(&mut self) -> Res {
        if self.eat_word("disjoint") {
            self.set_attr("disjoint", Attr::UNIT);
        }
        self.expect(TokenKind::LSquare)?;
        self.list(TokenKind::RSquare, |it| it.operand(Type::INDEX).map(|_| ()))?;
        let n = self.out.operands.len() as i64;
        self.expect_word("by")?;
        self.expect(TokenKind::LParen)?;
        let basis = self.mixed_list(TokenKind::RParen)?;
        let n_basis = self.out.operands.len() as i64 - n;
        self.segments(&[n, n_basis]);
        let attr = self.dense_array(Type::I64, &basis);
        self.set_attr("static_basis", attr);
        self.attr_dict()?;
        self.expect(TokenKind::Colon)?;
        let ty = self.ty()?;
        self.out.result_types.push(ty);
        Ok(())
    }
}

/// Where each of `new` stands in `all`, to which it is added if it is not yet there.
fn place(all: &mut Vec<ParsedOperand>, new: &[ParsedOperand]) -> Vec<u32> {
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

fn renumber(expr: &crate::affine::Expr, dims: &[u32], symbols: &[u32]) -> crate::affine::Expr {
    use crate::affine::Expr;
    match expr {
        Expr::Const(_) => expr.clone(),
        Expr::Dim(at) => Expr::Dim(dims[*at as usize]),
        Expr::Symbol(at) => Expr::Symbol(symbols[*at as usize]),
        Expr::Binary(op, both) => {
            Expr::binary(*op, renumber(&both.0, dims, symbols), renumber(&both.1, dims, symbols))
        }
    }
}
