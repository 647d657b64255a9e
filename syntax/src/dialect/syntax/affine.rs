//! The syntax of `affine` ops: accesses, applied maps, copies, indices.

use super::element::{Element, Syntax};
use crate::affine::{Affine, AffineBody, AffineExpr};
use crate::grammar::reader::{ReadResult, Reader};
use crate::intern::NumberTypes;
use crate::op_traits::DYNAMIC;
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, TokenKind, Type, Value};

/// `affine_map<(d0) -> (d0)>(%i)`, the attribute `map` and its operands.
pub(in crate::dialect) const MAP: Element = Element::Custom(&Syntax {
    read: |it| it.affine_apply("map"),
    write: |it| it.write_affine_apply("map"),
    snippet: " «affine_map<(d0) -> (d0)>»(«%i»)",
    attributes: &["map"],
    ..Syntax::EMPTY
});

/// `affine_set<(d0) : (d0 >= 0)>(%i)`, the attribute `condition` and its operands.
pub(in crate::dialect) const CONDITION: Element = Element::Custom(&Syntax {
    read: |it| it.affine_apply("condition"),
    write: |it| it.write_affine_apply("condition"),
    snippet: " «affine_set<(d0) : (d0 >= 0)>»(«%i»)",
    attributes: &["condition"],
    ..Syntax::EMPTY
});

/// `%m[%i + 1]`, a memref and the attribute `map` with its operands.
pub(in crate::dialect) const ACCESS: Element = Element::Custom(&Syntax {
    read: |it| it.affine_access("map"),
    write: |it| it.write_affine_access("map"),
    snippet: " «%»[«%i»]",
    attributes: &["map"],
    ..Syntax::EMPTY
});

/// Like [`ACCESS`], for the source of a copy.
pub(in crate::dialect) const SOURCE_ACCESS: Element = Element::Custom(&Syntax {
    read: |it| it.affine_access("src_map"),
    write: |it| it.write_affine_access("src_map"),
    snippet: " «%»[«%i»]",
    attributes: &["src_map"],
    ..Syntax::EMPTY
});

/// Like [`ACCESS`], for the destination of a copy.
pub(in crate::dialect) const DESTINATION_ACCESS: Element = Element::Custom(&Syntax {
    read: |it| it.affine_access("dst_map"),
    write: |it| it.write_affine_access("dst_map"),
    snippet: " «%»[«%i»]",
    attributes: &["dst_map"],
    ..Syntax::EMPTY
});

/// Like [`ACCESS`], for the tag of a copy.
pub(in crate::dialect) const TAG_ACCESS: Element = Element::Custom(&Syntax {
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
pub(in crate::dialect) const COPIED_TYPES: Element = Element::Custom(&Syntax {
    read: |it| it.accessed_types(COPY_MAPS),
    write: |it| it.write_accessed_types(COPY_MAPS),
    snippet: " «memref<4xi32>», «memref<4xi32>», «memref<4xi32>»",
    ..Syntax::EMPTY
});

/// The type of the memref of `affine.dma_wait`.
pub(in crate::dialect) const WAITED_TYPE: Element = Element::Custom(&Syntax {
    read: |it| it.accessed_types(WAIT_MAPS),
    write: |it| it.write_accessed_types(WAIT_MAPS),
    snippet: " «memref<4xi32>»",
    ..Syntax::EMPTY
});

/// `, %stride, %n` or nothing.
pub(in crate::dialect) const OPT_STRIDE: Element = Element::Custom(&Syntax {
    read: |it| it.opt_stride(),
    write: |it| it.write_stride(),
    ..Syntax::EMPTY
});

/// `read, locality<3>, data`
pub(in crate::dialect) const PREFETCH_KIND: Element = Element::Custom(&Syntax {
    read: |it| it.prefetch_kind(),
    write: |it| it.write_prefetch_kind(),
    snippet: " «read», locality<«3»>, «data»",
    attributes: &["isDataCache", "isWrite", "localityHint"],
    ..Syntax::EMPTY
});

/// `into (%b, 16) {..} : index, index`
pub(in crate::dialect) const DELINEARIZE: Element = Element::Custom(&Syntax {
    read: |it| it.delinearize(),
    write: |it| it.write_delinearize(),
    snippet: " into («4», «8») : «index, index»",
    attributes: &["static_basis"],
    ..Syntax::EMPTY
});

/// `disjoint [%a, %b] by (2, %n) {..} : index`
pub(in crate::dialect) const LINEARIZE: Element = Element::Custom(&Syntax {
    read: |it| it.linearize(),
    write: |it| it.write_linearize(),
    snippet: " [«%i», «%j»] by («4», «8») : index",
    attributes: &["disjoint", "operandSegmentSizes", "static_basis"],
    ..Syntax::EMPTY
});

/// The numbers of dimensions, symbols and results of a map.
pub(super) type MapShape = (u32, u32, usize);

impl Reader<'_, '_> {
    pub(super) fn affine_attr(&mut self, map: Affine) -> Attr {
        self.env.interner.intern_attr(AttrData::Affine(map))
    }

    /// Parses a map or set as an attribute. The shape is `None` if it is an unknown alias.
    pub(super) fn map_or_set(&mut self, is_set: bool) -> ReadResult<(Attr, Option<MapShape>)> {
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
                Err(self.error_at(Code::InvalidAttribute, span, message))
            }
        }
    }

    /// Parses `(%d0, %d1)[%s0]`: the operands of a map.
    pub(super) fn dims_and_symbols(
        &mut self,
        shape: Option<MapShape>,
        is_applied: bool,
    ) -> ReadResult {
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
                self.report_structure(Code::WrongCount, span, message);
            } else {
                self.report_mismatch(Code::OperandCount, span, message);
            }
        }
        Ok(())
    }

    /// Parses a map with its operands, and stores the map as an attribute.
    pub(crate) fn affine_apply(&mut self, name: &str) -> ReadResult {
        let (attr, shape) = self.map_or_set(name == "condition")?;
        self.set_attr(name, attr);
        self.dims_and_symbols(shape, name == "map")
    }

    /// Parses `%m[%i + 1, symbol(%n)]`.
    pub(crate) fn affine_access(&mut self, name: &str) -> ReadResult {
        self.operand(Type::UNKNOWN)?;
        self.expect(TokenKind::LSquare)?;
        let (map, operands) = self.ssa_exprs()?;
        self.expect(TokenKind::RSquare)?;
        self.push_operands(operands);
        let attr = self.affine_attr(map);
        self.set_attr(name, attr);
        Ok(())
    }

    /// `memref<8xf32>, memref<8xf32, 2>`: the type of the memref before the operands of each map.
    pub(crate) fn accessed_types(&mut self, maps: &[&str]) -> ReadResult {
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

    /// Parses an optional `, %stride, %n`.
    pub(crate) fn opt_stride(&mut self) -> ReadResult {
        if self.eat(TokenKind::Comma) {
            self.operand(Type::INDEX)?;
            self.expect(TokenKind::Comma)?;
            self.operand(Type::INDEX)?;
        }
        Ok(())
    }

    /// Parses `read, locality<3>, data`.
    pub(crate) fn prefetch_kind(&mut self) -> ReadResult {
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
            let attr = self.env.interner.intern_attr(AttrData::Bool(value));
            self.set_attr(name, attr);
        }
        Ok(())
    }

    /// Parses `into (%b, 16) [dict] : index, index`.
    pub(crate) fn delinearize(&mut self) -> ReadResult {
        self.expect_word("into")?;
        self.expect(TokenKind::LParen)?;
        let basis = self.mixed_list(TokenKind::RParen)?;
        // LLVM 19 allows only operands here, and has no such attribute.
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

    /// Parses `[disjoint] [%a, %b] by (2, %n) [dict] : index`.
    pub(crate) fn linearize(&mut self) -> ReadResult {
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
        self.set_segment_sizes(&[n, n_basis]);
        let attr = self.dense_array(Type::I64, &basis);
        self.set_attr("static_basis", attr);
        self.attr_dict()?;
        self.expect(TokenKind::Colon)?;
        let ty = self.ty()?;
        self.out.result_types.push(ty);
        Ok(())
    }
}

impl Printer<'_> {
    /// Returns an attribute of the op that is an affine map or set.
    pub(super) fn map(&self, name: &str) -> PrintResult<(Attr, &Affine)> {
        let attr = self.op_attr(name).ok_or(Unfit)?;
        match self.ir.interner.attr_data(attr) {
            AttrData::Affine(map) => Ok((attr, map)),
            _ => Err(Unfit),
        }
    }

    /// Prints `(%d0, %d1)[%s0]`.
    pub(super) fn write_dims_and_symbols(&mut self, n_dims: u32, values: &[Value]) -> PrintResult {
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

    pub(crate) fn write_affine_apply(&mut self, name: &str) -> PrintResult {
        let (attr, map) = self.map(name)?;
        let (n_dims, n_inputs) = (map.n_dims, map.n_inputs());
        fits(map.is_set() == (name == "condition"))?;
        let values = self.take_operands(self.n_left())?;
        fits(values.len() == n_inputs)?;
        self.attr_word(attr, NumberTypes::All);
        self.write_dims_and_symbols(n_dims, &values)
    }

    /// Prints expressions over the operands of a map: `%i + 1, symbol(%n)`.
    pub(super) fn write_exprs(
        &mut self,
        n_dims: u32,
        exprs: &[AffineExpr],
        values: &[Value],
    ) -> PrintResult {
        let names: Vec<String> = values
            .iter()
            .map(|it| self.value_name(*it).map(ToOwned::to_owned))
            .collect::<PrintResult<_>>()?;
        let leaf = |out: &mut String, leaf: &AffineExpr| {
            let (at, is_symbol) = match leaf {
                AffineExpr::Dim(at) => (*at, false),
                AffineExpr::Symbol(at) => (n_dims + at, true),
                _ => return Ok(()),
            };
            // All indices of leaves are below the number of operands, which the callers compare.
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

    pub(crate) fn write_affine_access(&mut self, name: &str) -> PrintResult {
        self.operand(Type::UNKNOWN)?;
        let (_, map) = self.map(name)?;
        let AffineBody::Map(exprs) = &map.body else { return Err(Unfit) };
        let (n_dims, n_inputs, exprs) = (map.n_dims, map.n_inputs(), exprs.clone());
        let values = self.take_operands(n_inputs)?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.text.push("[");
        self.write_exprs(n_dims, &exprs, &values)?;
        self.text.push("]");
        Ok(())
    }

    pub(crate) fn write_accessed_types(&mut self, maps: &[&str]) -> PrintResult {
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

    pub(crate) fn write_stride(&mut self) -> PrintResult {
        if self.n_left() == 0 {
            return Ok(());
        }
        self.text.push(",");
        self.operand(Type::INDEX)?;
        self.text.push(",");
        self.operand(Type::INDEX)
    }

    pub(crate) fn write_prefetch_kind(&mut self) -> PrintResult {
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

    pub(crate) fn write_delinearize(&mut self) -> PrintResult {
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

    pub(crate) fn write_linearize(&mut self) -> PrintResult {
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
