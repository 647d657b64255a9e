//! The syntax of `memref` ops.

use super::element::{Element, Syntax};
use crate::affine::{Affine, AffineBody, AffineExpr};
use crate::grammar::ParsedSymbol;
use crate::grammar::reader::{ReadResult, Reader};
use crate::intern::NumberTypes;
use crate::op_traits::{DYNAMIC, RMW_KINDS, STATIC_LISTS};
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, TokenKind, Tool, Type, TypeData, Value};

/// `(%n)[%s]`: the dynamic sizes of an allocation, and the optional symbols of its layout.
pub(in crate::dialect) const ALLOCATED_SIZES: Element = Element::Custom(&Syntax {
    read: |it| it.allocated_sizes(),
    write: |it| it.write_allocated_sizes(),
    snippet: "()",
    attributes: &["operandSegmentSizes"],
    ..Syntax::EMPTY
});

/// `alignment = 8` or nothing.
pub(in crate::dialect) const OPT_ALIGNMENT: Element = Element::Custom(&Syntax {
    read: |it| it.opt_alignment(),
    write: |it| {
        if it.tool != Tool::Mlir19 && it.op_attr("alignment").is_some() {
            let text = format!("alignment = {}", it.int("alignment")?);
            it.word(&text);
        }
        Ok(())
    },
    attributes: &["alignment"],
    is_newer_than_mlir19: true,
    ..Syntax::EMPTY
});

/// `8`: the attribute `alignment`.
pub(in crate::dialect) const ALIGNMENT: Element = Element::Custom(&Syntax {
    read: |it| {
        let value = it.integer()?;
        let ty = it.i32_type();
        let attr = it.int_attr(value, ty);
        it.set_attr("alignment", attr);
        Ok(())
    },
    write: |it| {
        let value = it.int("alignment")?;
        it.word(&value.to_string());
        Ok(())
    },
    snippet: " «16»",
    attributes: &["alignment"],
    ..Syntax::EMPTY
});

/// `nontemporal(true)` or nothing.
pub(in crate::dialect) const OPT_NONTEMPORAL: Element = Element::Custom(&Syntax {
    read: |it| it.opt_nontemporal(),
    write: |it| {
        if it.tool != Tool::Mlir19
            && let Some(value) = it.op_attr("nontemporal")
        {
            it.word("nontemporal(");
            it.text.attr(value);
            it.text.push(")");
        }
        Ok(())
    },
    attributes: &["nontemporal"],
    is_newer_than_mlir19: true,
    ..Syntax::EMPTY
});

/// `(i, j) -> (j, i)`
pub(in crate::dialect) const PERMUTATION: Element = Element::Custom(&Syntax {
    read: |it| it.permutation("permutation"),
    write: |it| it.write_permutation("permutation"),
    snippet: " («i, j») -> («j, i»)",
    attributes: &["permutation"],
    ..Syntax::EMPTY
});

/// `[%o] [4] [1]`: offsets, sizes and strides.
pub(in crate::dialect) const SUBVIEW_LISTS: Element = Element::Custom(&Syntax {
    read: |it| it.subview(),
    write: |it| it.write_static_lists(["[", " [", " ["]),
    snippet: "[«0»] [«4»] [«1»]",
    attributes: &["operandSegmentSizes", "static_offsets", "static_sizes", "static_strides"],
    ..Syntax::EMPTY
});

/// `to offset: [%o], sizes: [4], strides: [1]`
pub(in crate::dialect) const REINTERPRET_CAST_LISTS: Element = Element::Custom(&Syntax {
    read: |it| it.reinterpret_cast(),
    write: |it| {
        it.word("to");
        it.write_static_lists([" offset: [", ", sizes: [", ", strides: ["])
    },
    snippet: " to offset: [«0»], sizes: [«4»], strides: [«1»]",
    attributes: &["operandSegmentSizes", "static_offsets", "static_sizes", "static_strides"],
    ..Syntax::EMPTY
});

/// `[[0, 1], [2]]`
pub(in crate::dialect) const REASSOCIATION: Element = Element::Custom(&Syntax {
    read: |it| {
        let attr = it.attr()?;
        it.set_attr("reassociation", attr);
        Ok(())
    },
    write: |it| {
        let attr = it.op_attr("reassociation").ok_or(Unfit)?;
        fits(matches!(it.ir.interner.attr_data(attr), AttrData::Array(_)))?;
        it.attr_word(attr, NumberTypes::All);
        Ok(())
    },
    snippet: " «[[0, 1]]»",
    attributes: &["reassociation"],
    ..Syntax::EMPTY
});

/// `output_shape [%n, 8]`
pub(in crate::dialect) const OUTPUT_SHAPE: Element = Element::Custom(&Syntax {
    read: |it| it.output_shape(),
    write: |it| {
        it.word("output_shape ");
        let sizes = it.ints("static_output_shape")?;
        it.write_mixed("[", &sizes, "]")
    },
    snippet: " output_shape [«4», «8»]",
    attributes: &["static_output_shape"],
    ..Syntax::EMPTY
});

/// `"private" constant @name : memref<4xi32> = dense<0>`
pub(in crate::dialect) const GLOBAL_HEADER: Element = Element::Custom(&Syntax {
    read: |it| it.global(),
    write: |it| it.write_global(),
    snippet: " @«name» : «memref<4xi32>»",
    attributes: &["constant", "initial_value", "sym_name", "sym_visibility", "type"],
    ..Syntax::EMPTY
});

/// `addi`: the kind of an atomic update.
pub(in crate::dialect) const RMW_KIND: Element = Element::Custom(&Syntax {
    read: |it| {
        let kind = it.enum_case(RMW_KINDS)?;
        let attr = it.int_attr(kind as i64, Type::I64);
        it.set_attr("kind", attr);
        Ok(())
    },
    write: |it| {
        let kind = usize::try_from(it.int("kind")?).map_err(|_| Unfit)?;
        it.word(RMW_KINDS.get(kind).ok_or(Unfit)?);
        Ok(())
    },
    snippet: " «addi»",
    attributes: &["kind"],
    ..Syntax::EMPTY
});

/// `(i32, memref<4xi32>) -> i32`
pub(in crate::dialect) const RMW_TYPES: Element = Element::Custom(&Syntax {
    read: |it| it.rmw_types(),
    write: |it| it.write_rmw_types(),
    snippet: " («i32», «memref<4xi32>») -> «i32»",
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    pub(crate) fn opt_nontemporal(&mut self) -> ReadResult {
        if self.eat_word("nontemporal") {
            self.expect(TokenKind::LParen)?;
            let value = self.attr()?;
            self.set_attr("nontemporal", value);
            self.expect(TokenKind::RParen)?;
        }
        Ok(())
    }

    fn opt_alignment(&mut self) -> ReadResult {
        if self.eat_word("alignment") {
            self.expect(TokenKind::Equal)?;
            let value = self.integer()?;
            let attr = self.int_attr(value, Type::I64);
            self.set_attr("alignment", attr);
        }
        Ok(())
    }

    /// Parses `(i, j) -> (j, i)`: a map that permutes its dimensions, without `affine_map`.
    pub(crate) fn permutation(&mut self, attr: &str) -> ReadResult {
        let mut dims = Vec::new();
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| {
            let dim = it.bare_word()?;
            dims.push(dim);
            Ok(())
        })?;
        self.expect(TokenKind::Arrow)?;
        let mut results = Vec::new();
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| {
            let dim = it.bare_word()?;
            let at = dims.iter().position(|it| *it == dim);
            let at = at.ok_or_else(|| it.expected("a dimension of the map"))?;
            results.push(AffineExpr::Dim(at as u32));
            Ok(())
        })?;
        let map =
            Affine { n_dims: dims.len() as u32, n_symbols: 0, body: AffineBody::Map(results) };
        let map = self.env.interner.intern_attr(AttrData::Affine(map));
        self.set_attr(attr, map);
        Ok(())
    }

    fn bare_word(&mut self) -> ReadResult<String> {
        if self.peek() != TokenKind::Bare {
            return Err(self.expected("an identifier"));
        }
        let word = self.word().to_owned();
        self.at += 1;
        Ok(word)
    }

    pub(crate) fn subview(&mut self) -> ReadResult {
        self.static_lists(|it, _| it.expect(TokenKind::LSquare).map(|_| ()))
    }

    pub(crate) fn reinterpret_cast(&mut self) -> ReadResult {
        self.expect_word("to")?;
        self.static_lists(|it, at| {
            if at > 0 {
                it.expect(TokenKind::Comma)?;
            }
            it.expect_word(["offset", "sizes", "strides"][at])?;
            it.expect(TokenKind::Colon)?;
            it.expect(TokenKind::LSquare).map(|_| ())
        })
    }

    pub(crate) fn output_shape(&mut self) -> ReadResult {
        self.expect_word("output_shape")?;
        self.expect(TokenKind::LSquare)?;
        let sizes = self.mixed_list(TokenKind::RSquare)?;
        let attr = self.dense_array(Type::I64, &sizes);
        self.set_attr("static_output_shape", attr);
        Ok(())
    }

    pub(crate) fn rmw_types(&mut self) -> ReadResult {
        let span = self.token().span();
        let ty = self.ty()?;
        let TypeData::Function { inputs, results } = self.env.interner.type_data(ty).clone() else {
            return Err(self.expected("a function type"));
        };
        if inputs.len() != 2 || results.len() != 1 {
            let message = "expected the types of the value and of the memref, and one result";
            return Err(self.error_at(Code::ExpectedToken, span, message.to_owned()));
        }
        for (operand, ty) in self.out.operands.iter_mut().zip(&inputs) {
            operand.ty = *ty;
        }
        self.out.result_types.extend_from_slice(&results);
        Ok(())
    }

    fn allocated_sizes(&mut self) -> ReadResult {
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| it.operand(Type::INDEX).map(|_| ()))?;
        let n_sizes = self.out.operands.len();
        if self.eat(TokenKind::LSquare) {
            self.list(TokenKind::RSquare, |it| it.operand(Type::INDEX).map(|_| ()))?;
        }
        let n_symbols = self.out.operands.len() - n_sizes;
        self.set_segment_sizes(&[n_sizes as i64, n_symbols as i64]);
        Ok(())
    }

    /// Parses lists of operands and integers, each with its attribute, and sets the segment sizes.
    fn static_lists(&mut self, mut open: impl FnMut(&mut Self, usize) -> ReadResult) -> ReadResult {
        let mut segments = vec![self.out.operands.len() as i64];
        for (at, name) in STATIC_LISTS.into_iter().enumerate() {
            open(self, at)?;
            let list = self.mixed_list(TokenKind::RSquare)?;
            segments.push(list.iter().filter(|it| **it == DYNAMIC).count() as i64);
            let attr = self.dense_array(Type::I64, &list);
            self.set_attr(name, attr);
        }
        self.set_segment_sizes(&segments);
        Ok(())
    }

    /// Parses `"private" constant @name : T = dense<..>`.
    pub(crate) fn global(&mut self) -> ReadResult {
        if self.peek() == TokenKind::Str {
            let attr = self.attr()?;
            self.set_attr("sym_visibility", attr);
        }
        if self.eat_word("constant") {
            self.set_attr("constant", Attr::UNIT);
        }
        let token = self.expect(TokenKind::At)?;
        let name = self.symbol_text(token.span());
        self.out.symbol = Some(ParsedSymbol { name, root: name, span: token.span() });
        let attr = self.env.interner.intern_attr(AttrData::String(name, None));
        self.set_attr("sym_name", attr);
        self.expect(TokenKind::Colon)?;
        let ty = self.ty()?;
        let attr = self.env.interner.intern_attr(AttrData::Type(ty));
        self.set_attr("type", attr);
        if self.eat(TokenKind::Equal) {
            let value =
                if self.eat_word("uninitialized") { Attr::UNIT } else { self.initial_value(ty)? };
            self.set_attr("initial_value", value);
        }
        self.opt_alignment()
    }

    /// Parses `dense<..>` or `dense_resource<..>` without a type: the type is that of the global,
    /// as a tensor.
    fn initial_value(&mut self, ty: Type) -> ReadResult<Attr> {
        let start = self.at;
        let TypeData::MemRef { dims, element, .. } = self.env.interner.type_data(ty).clone() else {
            return Err(self.expected("a memref type"));
        };
        let tensor =
            self.env.interner.intern_type(TypeData::Tensor { dims, element, encoding: None });
        if self.eat_word("dense_resource") {
            self.expect(TokenKind::Less)?;
            if !matches!(self.peek(), TokenKind::Bare | TokenKind::Str) {
                return Err(self.expected("the key of a resource"));
            }
            let key = self.word().to_owned();
            self.at += 1;
            self.expect(TokenKind::Greater)?;
            let text = self.resource_text(&key);
            return Ok(self.env.interner.intern_attr(AttrData::Elements(text, tensor)));
        }
        self.dense_elements(tensor).inspect_err(|_| self.at = start)
    }
}

impl Printer<'_> {
    pub(crate) fn write_permutation(&mut self, name: &str) -> PrintResult {
        let attr = self.op_attr(name).ok_or(Unfit)?;
        let ir = self.ir;
        let AttrData::Affine(map) = ir.interner.attr_data(attr) else { return Err(Unfit) };
        let AffineBody::Map(results) = &map.body else { return Err(Unfit) };
        fits(map.n_symbols == 0 && results.iter().all(|it| matches!(it, AffineExpr::Dim(_))))?;
        self.word(&map.to_string());
        Ok(())
    }

    pub(crate) fn write_rmw_types(&mut self) -> PrintResult {
        let inputs = [self.operand_type(0)?, self.operand_type(1)?];
        let results = self.take_results()?;
        self.blank();
        self.text.function_type(&inputs, &results);
        Ok(())
    }

    fn write_allocated_sizes(&mut self) -> PrintResult {
        let [n_sizes, n_symbols] = self.segment_sizes()?;
        let sizes = self.take_operands(n_sizes)?;
        self.write_indices("(", &sizes, ")")?;
        let symbols = self.take_operands(n_symbols)?;
        if symbols.is_empty() { Ok(()) } else { self.write_indices("[", &symbols, "]") }
    }

    /// Prints `[%i, %j]`.
    pub(crate) fn write_indices(
        &mut self,
        open: &str,
        values: &[Value],
        close: &str,
    ) -> PrintResult {
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.text.push(open);
        self.values(values)?;
        self.text.push(close);
        Ok(())
    }

    pub(crate) fn write_static_lists(&mut self, open: [&str; 3]) -> PrintResult {
        for (open, name) in open.into_iter().zip(STATIC_LISTS) {
            let list = self.ints(name)?;
            self.write_mixed(open, &list, "]")?;
        }
        Ok(())
    }

    pub(crate) fn write_global(&mut self) -> PrintResult {
        let ir = self.ir;
        if let Some(visibility) = self.op_attr("sym_visibility") {
            self.attr_word(visibility, NumberTypes::All);
        }
        if self.op_attr("constant").is_some() {
            self.word("constant");
        }
        let name = self.string("sym_name").ok_or(Unfit)?;
        self.blank();
        self.text.symbol(name);
        let ty = self.op_attr("type").ok_or(Unfit)?;
        self.word(": ");
        self.text.attr(ty);
        let Some(value) = self.op_attr("initial_value") else { return Ok(()) };
        self.word("= ");
        match ir.interner.attr_data(value) {
            AttrData::Unit => self.text.push("uninitialized"),
            AttrData::Elements(text, _) => self.text.push(ir.interner.str(*text)),
            _ => return Err(Unfit),
        }
        Ok(())
    }
}
