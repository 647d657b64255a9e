//! What `memref` ops have of their own.

use super::reader::{Reader, Res};
use crate::affine::{Affine, Body, Expr};
use crate::dialect::format::{DYNAMIC, STATIC_LISTS};
use crate::{Attr, AttrData, Code, TokenKind, Type, TypeData};

impl Reader<'_, '_> {
    pub(super) fn opt_nontemporal(&mut self) -> Res {
        if self.eat_word("nontemporal") {
            self.expect(TokenKind::LParen)?;
            let value = self.attr()?;
            self.set_attr("nontemporal", value);
            self.expect(TokenKind::RParen)?;
        }
        Ok(())
    }

    pub(super) fn opt_int(&mut self, name: &str) -> Res {
        if self.eat_word(name) {
            self.expect(TokenKind::Equal)?;
            let value = self.integer()?;
            let attr = self.int_attr(value, Type::I64);
            self.set_attr(name, attr);
        }
        Ok(())
    }

    /// `(i, j) -> (j, i)`: a map that permutes its dimensions, without `affine_map`.
    pub(super) fn permutation(&mut self, attr: &str) -> Res {
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
            results.push(Expr::Dim(at as u32));
            Ok(())
        })?;
        let map = Affine { n_dims: dims.len() as u32, n_symbols: 0, body: Body::Map(results) };
        let map = self.env.interner.attr(AttrData::Affine(map));
        self.set_attr(attr, map);
        Ok(())
    }

    fn bare_word(&mut self) -> Res<String> {
        if self.peek() != TokenKind::Bare {
            return Err(self.expected("an identifier"));
        }
        let word = self.word().to_owned();
        self.at += 1;
        Ok(word)
    }

    pub(super) fn subview(&mut self) -> Res {
        self.static_lists(|it, _| it.expect(TokenKind::LSquare).map(|_| ()))
    }

    pub(super) fn reinterpret_cast(&mut self) -> Res {
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

    pub(super) fn output_shape(&mut self) -> Res {
        self.expect_word("output_shape")?;
        self.expect(TokenKind::LSquare)?;
        let sizes = self.mixed_list(TokenKind::RSquare)?;
        let attr = self.dense_array(Type::I64, &sizes);
        self.set_attr("static_output_shape", attr);
        Ok(())
    }

    pub(super) fn rmw_types(&mut self) -> Res {
        let span = self.token().span();
        let ty = self.ty()?;
        let TypeData::Function { inputs, results } = self.env.interner.type_data(ty).clone() else {
            return Err(self.expected("a function type"));
        };
        if inputs.len() != 2 || results.len() != 1 {
            let message = "expected the types of the value and of the memref, and one result";
            return Err(self.broken(Code::ExpectedToken, span, message.to_owned()));
        }
        for (operand, ty) in self.out.operands.iter_mut().zip(&inputs) {
            operand.ty = *ty;
        }
        self.out.result_types.extend_from_slice(&results);
        Ok(())
    }

    /// Index operands in brackets or parentheses; of `alloc` the symbols in brackets may be missing.
    pub(super) fn indices(&mut self, open: TokenKind) -> Res {
        let close = if open == TokenKind::LParen { TokenKind::RParen } else { TokenKind::RSquare };
        let is_alloc =
            matches!(self.out.kind, crate::OpKind::MemrefAlloc | crate::OpKind::MemrefAlloca);
        let first = self.out.operands.len() as i64;
        if is_alloc && open == TokenKind::LSquare && self.peek() != TokenKind::LSquare {
            self.segments(&[first, 0]);
            return Ok(());
        }
        self.expect(open)?;
        self.list(close, |it| it.operand(Type::INDEX).map(|_| ()))?;
        if is_alloc && open == TokenKind::LSquare {
            let n = self.out.operands.len() as i64;
            self.segments(&[first, n - first]);
        }
        Ok(())
    }

    /// Lists of operands and integers, each with its attribute, and the sizes of all.
    fn static_lists(&mut self, mut open: impl FnMut(&mut Self, usize) -> Res) -> Res {
        let mut segments = vec![self.out.operands.len() as i64];
        for (at, name) in STATIC_LISTS.into_iter().enumerate() {
            open(self, at)?;
            let list = self.mixed_list(TokenKind::RSquare)?;
            segments.push(list.iter().filter(|it| **it == DYNAMIC).count() as i64);
            let attr = self.dense_array(Type::I64, &list);
            self.set_attr(name, attr);
        }
        self.segments(&segments);
        Ok(())
    }

    /// `"private" constant @name : T = dense<..>`
    pub(super) fn global(&mut self) -> Res {
        if self.peek() == TokenKind::Str {
            let attr = self.attr()?;
            self.set_attr("sym_visibility", attr);
        }
        if self.eat_word("constant") {
            self.set_attr("constant", Attr::UNIT);
        }
        let token = self.expect(TokenKind::At)?;
        let name = self.symbol_text(token.span());
        self.out.symbol = Some(super::ParsedSymbol { name, root: name, span: token.span() });
        let attr = self.env.interner.attr(AttrData::String(name, None));
        self.set_attr("sym_name", attr);
        self.expect(TokenKind::Colon)?;
        let ty = self.ty()?;
        let attr = self.env.interner.attr(AttrData::Type(ty));
        self.set_attr("type", attr);
        if self.eat(TokenKind::Equal) {
            let value =
                if self.eat_word("uninitialized") { Attr::UNIT } else { self.initial_value(ty)? };
            self.set_attr("initial_value", value);
        }
        self.opt_int("alignment")
    }

    /// `dense<..>` or `dense_resource<..>` without its type, which is that of the global as a tensor.
    fn initial_value(&mut self, ty: Type) -> Res<Attr> {
        let start = self.at;
        let TypeData::MemRef { dims, element, .. } = self.env.interner.type_data(ty).clone() else {
            return Err(self.expected("a memref type"));
        };
        let tensor = self.env.interner.ty(TypeData::Tensor { dims, element, encoding: None });
        if self.eat_word("dense_resource") {
            self.expect(TokenKind::Less)?;
            if !matches!(self.peek(), TokenKind::Bare | TokenKind::Str) {
                return Err(self.expected("the key of a resource"));
            }
            let key = self.word().to_owned();
            self.at += 1;
            self.expect(TokenKind::Greater)?;
            let text = self.resource_text(&key);
            return Ok(self.env.interner.attr(AttrData::Elements(text, tensor)));
        }
        self.elements_of(tensor).inspect_err(|_| self.at = start)
    }
}
