//! The syntax of `affine` ops: bounds, accesses, applications of maps.

use super::element::{Element, Syntax};
use crate::affine::{Affine, Body, Expr};
use crate::grammar::ParsedOperand;
use crate::grammar::reader::{Reader, Res};
use crate::grammar::resolve_types::MAX_TERMS;
use crate::intern::Types;
use crate::op_traits::{DYNAMIC, RMW};
use crate::print::printer::{Fits, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, Dim, TokenKind, Type, TypeData, Value};

/// `%i = 0 to 4 step 2 iter_args(%x = %y) -> (f32)`
pub(in crate::dialect) const AFFINE_FOR: Element = Element::Own(&Syntax {
    read: |it| it.affine_for(),
    write: |it| it.write_affine_for(),
    snippet: " «%i» = «0» to «4»",
    attributes: &["lowerBoundMap", "operandSegmentSizes", "step", "upperBoundMap"],
    ..Syntax::EMPTY
});

/// `(%i) = (0) to (4) step (2) reduce ("addf") -> f32`
pub(in crate::dialect) const AFFINE_PARALLEL: Element = Element::Own(&Syntax {
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

/// `affine_map<(d0) -> (d0)>(%i)`, the attribute `map` and its operands.
pub(in crate::dialect) const MAP: Element = Element::Own(&Syntax {
    read: |it| it.affine_apply("map"),
    write: |it| it.write_affine_apply("map"),
    snippet: " «affine_map<(d0) -> (d0)>»(«%i»)",
    attributes: &["map"],
    ..Syntax::EMPTY
});

/// `affine_set<(d0) : (d0 >= 0)>(%i)`, the attribute `condition` and its operands.
pub(in crate::dialect) const CONDITION: Element = Element::Own(&Syntax {
    read: |it| it.affine_apply("condition"),
    write: |it| it.write_affine_apply("condition"),
    snippet: " «affine_set<(d0) : (d0 >= 0)>»(«%i»)",
    attributes: &["condition"],
    ..Syntax::EMPTY
});

/// `%m[%i + 1]`, a memref and the attribute `map` with its operands.
pub(in crate::dialect) const ACCESS: Element = Element::Own(&Syntax {
    read: |it| it.affine_access("map"),
    write: |it| it.write_affine_access("map"),
    snippet: " «%»[«%i»]",
    attributes: &["map"],
    ..Syntax::EMPTY
});

/// As [`ACCESS`], for the source of a copy.
pub(in crate::dialect) const SOURCE_ACCESS: Element = Element::Own(&Syntax {
    read: |it| it.affine_access("src_map"),
    write: |it| it.write_affine_access("src_map"),
    snippet: " «%»[«%i»]",
    attributes: &["src_map"],
    ..Syntax::EMPTY
});

/// As [`ACCESS`], for the destination of a copy.
pub(in crate::dialect) const DESTINATION_ACCESS: Element = Element::Own(&Syntax {
    read: |it| it.affine_access("dst_map"),
    write: |it| it.write_affine_access("dst_map"),
    snippet: " «%»[«%i»]",
    attributes: &["dst_map"],
    ..Syntax::EMPTY
});

/// As [`ACCESS`], for the tag of a copy.
pub(in crate::dialect) const TAG_ACCESS: Element = Element::Own(&Syntax {
    read: |it| it.affine_access("tag_map"),
    write: |it| it.write_affine_access("tag_map"),
    snippet: " «%»[«%i»]",
    attributes: &["tag_map"],
    ..Syntax::EMPTY
});

/// The maps of `affine.dma_start`, in the order of their memrefs.
pub(in crate::dialect) const COPY_MAPS: &[&str] = &["src_map", "dst_map", "tag_map"];

/// The map of `affine.dma_wait`.
pub(in crate::dialect) const WAIT_MAPS: &[&str] = &["tag_map"];

/// The types of the memrefs of `affine.dma_start`.
pub(in crate::dialect) const COPIED_TYPES: Element = Element::Own(&Syntax {
    read: |it| it.accessed_types(COPY_MAPS),
    write: |it| it.write_accessed_types(COPY_MAPS),
    snippet: " «memref<4xi32>», «memref<4xi32>», «memref<4xi32>»",
    ..Syntax::EMPTY
});

/// The type of the memref of `affine.dma_wait`.
pub(in crate::dialect) const WAITED_TYPE: Element = Element::Own(&Syntax {
    read: |it| it.accessed_types(WAIT_MAPS),
    write: |it| it.write_accessed_types(WAIT_MAPS),
    snippet: " «memref<4xi32>»",
    ..Syntax::EMPTY
});

/// `, %stride, %n` or nothing.
pub(in crate::dialect) const OPT_STRIDE: Element = Element::Own(&Syntax {
    read: |it| it.opt_stride(),
    write: |it| it.write_stride(),
    ..Syntax::EMPTY
});

/// `read, locality<3>, data`
pub(in crate::dialect) const PREFETCH_KIND: Element = Element::Own(&Syntax {
    read: |it| it.prefetch_kind(),
    write: |it| it.write_prefetch_kind(),
    snippet: " «read», locality<«3»>, «data»",
    attributes: &["isDataCache", "isWrite", "localityHint"],
    ..Syntax::EMPTY
});

/// `into (%b, 16) {..} : index, index`
pub(in crate::dialect) const DELINEARIZE: Element = Element::Own(&Syntax {
    read: |it| it.delinearize(),
    write: |it| it.write_delinearize(),
    snippet: " into («4», «8») : «index, index»",
    attributes: &["static_basis"],
    ..Syntax::EMPTY
});

/// `disjoint [%a, %b] by (2, %n) {..} : index`
pub(in crate::dialect) const LINEARIZE: Element = Element::Own(&Syntax {
    read: |it| it.linearize(),
    write: |it| it.write_linearize(),
    snippet: " [«%i», «%j»] by («4», «8») : index",
    attributes: &["disjoint", "operandSegmentSizes", "static_basis"],
    ..Syntax::EMPTY
});

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
    fn dims_and_symbols(&mut self, shape: Option<Shape>, is_applied: bool) -> Res {
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
            if is_applied {
                self.structure(Code::WrongCount, span, message);
            } else {
                self.mismatch(Code::OperandCount, span, message);
            }
        }
        Ok(())
    }

    /// A map with its operands; the map becomes an attribute.
    pub(crate) fn affine_apply(&mut self, name: &str) -> Res {
        let (attr, shape) = self.map(name == "condition")?;
        self.set_attr(name, attr);
        self.dims_and_symbols(shape, name == "map")
    }

    /// `%m[%i + 1, symbol(%n)]`
    pub(crate) fn affine_access(&mut self, name: &str) -> Res {
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
    pub(crate) fn accessed_types(&mut self, maps: &[&str]) -> Res {
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
    pub(crate) fn opt_stride(&mut self) -> Res {
        if self.eat(TokenKind::Comma) {
            self.operand(Type::INDEX)?;
            self.expect(TokenKind::Comma)?;
            self.operand(Type::INDEX)?;
        }
        Ok(())
    }

    /// `read, locality<3>, data`
    pub(crate) fn prefetch_kind(&mut self) -> Res {
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

    /// Reads an integer that is an attribute of type `index`, for which MLIR rejects `-0`.
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
                self.dims_and_symbols(shape, false)?;
                Ok(attr)
            }
        }
    }

    /// `%i = B to B [step 2] [iter_args(..) -> ..]`
    pub(crate) fn affine_for(&mut self) -> Res {
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
    pub(crate) fn affine_parallel(&mut self) -> Res {
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
                reductions.push(it.enum_case(RMW)? as i64);
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
    pub(crate) fn delinearize(&mut self) -> Res {
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
    pub(crate) fn linearize(&mut self) -> Res {
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

/// The position of each of `new` in `all`, to which missing ones are added.
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

impl Printer<'_> {
    /// An attribute of the op that is an affine map or set.
    fn map(&self, name: &str) -> Fits<(Attr, &Affine)> {
        let attr = self.op_attr(name).ok_or(Unfit)?;
        match self.ir.interner.attr_data(attr) {
            AttrData::Affine(map) => Ok((attr, map)),
            _ => Err(Unfit),
        }
    }

    /// `(%d0, %d1)[%s0]`
    fn write_dims_and_symbols(&mut self, n_dims: u32, values: &[Value]) -> Fits {
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        let (dims, symbols) = values.split_at_checked(n_dims as usize).ok_or(Unfit)?;
        self.text.push("(");
        self.values(dims)?;
        self.text.push(")");
        if !symbols.is_empty() {
            self.text.push("[");
            self.values(symbols)?;
            self.text.push("]");
        }
        Ok(())
    }

    pub(crate) fn write_affine_apply(&mut self, name: &str) -> Fits {
        let (attr, map) = self.map(name)?;
        let (n_dims, n_inputs) = (map.n_dims, map.n_inputs());
        fits(map.is_set() == (name == "condition"))?;
        let values = self.take_operands(self.n_left())?;
        fits(values.len() == n_inputs)?;
        self.attr_word(attr, Types::All);
        self.write_dims_and_symbols(n_dims, &values)
    }

    /// Expressions over the operands of a map: `%i + 1, symbol(%n)`.
    fn write_exprs(&mut self, n_dims: u32, exprs: &[Expr], values: &[Value]) -> Fits {
        let names: Vec<String> = values
            .iter()
            .map(|it| self.value_name(*it).map(ToOwned::to_owned))
            .collect::<Fits<_>>()?;
        let leaf = |out: &mut String, leaf: &Expr| {
            let (at, is_symbol) = match leaf {
                Expr::Dim(at) => (*at, false),
                Expr::Symbol(at) => (n_dims + at, true),
                _ => return Ok(()),
            };
            // The numbers of leaves are below the number of operands, which was compared.
            let name = names.get(at as usize).ok_or(std::fmt::Error)?;
            out.push_str(&if is_symbol { format!("symbol({name})") } else { name.clone() });
            Ok(())
        };
        for (i, expr) in exprs.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            expr.write(&mut self.text.out, &leaf).map_err(|_| Unfit)?;
        }
        Ok(())
    }

    pub(crate) fn write_affine_access(&mut self, name: &str) -> Fits {
        self.operand(Type::UNKNOWN)?;
        let (_, map) = self.map(name)?;
        let Body::Map(exprs) = &map.body else { return Err(Unfit) };
        let (n_dims, n_inputs, exprs) = (map.n_dims, map.n_inputs(), exprs.clone());
        let values = self.take_operands(n_inputs)?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.text.push("[");
        self.write_exprs(n_dims, &exprs, &values)?;
        self.text.push("]");
        Ok(())
    }

    pub(crate) fn write_accessed_types(&mut self, maps: &[&str]) -> Fits {
        let mut at = 0;
        for (i, name) in maps.iter().enumerate() {
            if i > 0 {
                self.text.push(",");
            }
            self.blank();
            self.text.ty(self.operand_type(at)?);
            at += 1 + self.map(name)?.1.n_inputs();
        }
        Ok(())
    }

    pub(crate) fn write_stride(&mut self) -> Fits {
        if self.n_left() == 0 {
            return Ok(());
        }
        self.text.push(",");
        self.operand(Type::INDEX)?;
        self.text.push(",");
        self.operand(Type::INDEX)
    }

    pub(crate) fn write_prefetch_kind(&mut self) -> Fits {
        let is = |name: &str| match self.op_attr(name).map(|it| self.ir.interner.attr_data(it)) {
            Some(AttrData::Bool(value)) => Ok(*value),
            _ => Err(Unfit),
        };
        let kind = if is("isWrite")? { "write" } else { "read" };
        let cache = if is("isDataCache")? { "data" } else { "instr" };
        let text = format!("{kind}, locality<{}>, {cache}", self.int("localityHint")?);
        self.word(&text);
        Ok(())
    }

    fn write_bound(&mut self, name: &str, many: &str, n: usize) -> Fits {
        let values = self.take_operands(n)?;
        let (attr, map) = self.map(name)?;
        let map = map.clone();
        fits(!map.is_set() && map.n_inputs() == n)?;
        match &map.body {
            Body::Map(exprs) => match exprs.as_slice() {
                [] => return Err(Unfit),
                [Expr::Const(value)] if n == 0 => {
                    self.word(&value.to_string());
                    return Ok(());
                }
                [Expr::Symbol(0)] if map.n_dims == 0 && n == 1 => {
                    self.blank();
                    return self.values(&values);
                }
                [_] => {}
                _ => self.word(many),
            },
            Body::Set(_) => return Err(Unfit),
        }
        self.attr_word(attr, Types::All);
        self.write_dims_and_symbols(map.n_dims, &values)
    }

    pub(crate) fn write_affine_for(&mut self) -> Fits {
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

    /// `(a, max(b, c))`: the results of a map in groups.
    fn write_bounds(&mut self, map: &Affine, groups: &[i64], many: &str) -> Fits {
        let values = self.take_operands(map.n_inputs())?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        let Body::Map(exprs) = &map.body else { return Err(Unfit) };
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

    pub(crate) fn write_affine_parallel(&mut self) -> Fits {
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
                let kind = usize::try_from(*kind).ok().and_then(|it| RMW.get(it)).ok_or(Unfit)?;
                self.text.push(if i > 0 { ", " } else { "" });
                self.text.push(&format!("\"{kind}\""));
            }
            self.text.push(")");
        }
        self.write_arrow_types()
    }

    pub(crate) fn write_delinearize(&mut self) -> Fits {
        let basis = match self.op_attr("static_basis") {
            Some(_) => self.ints("static_basis")?,
            None => vec![DYNAMIC; self.n_left()],
        };
        self.word("into ");
        self.write_mixed("(", &basis, ")")?;
        self.other_attrs("");
        self.word(": ");
        let types = self.take_results()?;
        fits(!types.is_empty())?;
        self.text.types(&types);
        Ok(())
    }

    pub(crate) fn write_linearize(&mut self) -> Fits {
        if let Some(attr) = self.op_attr("disjoint") {
            fits(attr == Attr::UNIT)?;
            self.word("disjoint");
        }
        let [n, _] = self.segment_sizes()?;
        let indices = self.take_operands(n)?;
        fits(indices.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.word("[");
        self.values(&indices)?;
        self.text.push("]");
        self.word("by ");
        let basis = self.ints("static_basis")?;
        self.write_mixed("(", &basis, ")")?;
        self.other_attrs("");
        self.word(": ");
        let ty = self.take_result()?;
        self.text.ty(ty);
        Ok(())
    }
}
