//! What `memref` ops have of their own.

use super::loops::DYNAMIC;
use super::reader::{Reader, Res};
use crate::dialect::format::E;
use crate::{Attr, AttrData, T, Type, TypeData};

impl Reader<'_, '_> {
    pub(super) fn memref_element(&mut self, element: E) -> Res {
        match element {
            E::OptNontemporal => {
                if self.eat_word("nontemporal") {
                    self.expect(T::LParen)?;
                    let value = self.attr()?;
                    self.set_attr("nontemporal", value);
                    self.expect(T::RParen)?;
                }
                Ok(())
            }
            E::OptInt(name) => {
                if self.eat_word(name) {
                    self.expect(T::Equal)?;
                    let value = self.integer()?;
                    let attr = self.int_attr(value, Type::I64);
                    self.set_attr(name, attr);
                }
                Ok(())
            }
            E::Int32(name) => {
                let value = self.integer()?;
                let ty = self.i32_type();
                let attr = self.int_attr(value, ty);
                self.set_attr(name, attr);
                Ok(())
            }
            E::MapAttr(name) => {
                // The form writes the map without `affine_map`; what it looks like is left to the generic form.
                let _ = name;
                Err(super::reader::Broken)
            }
            E::Subview => {
                let source = self.out.operands.len() as i64;
                self.static_lists(
                    source,
                    &["static_offsets", "static_sizes", "static_strides"],
                    |it, _| it.expect(T::LSquare).map(|_| ()),
                )
            }
            E::ReinterpretCast => {
                self.expect_word("to")?;
                let names = ["offset", "sizes", "strides"];
                let source = self.out.operands.len() as i64;
                self.static_lists(
                    source,
                    &["static_offsets", "static_sizes", "static_strides"],
                    |it, at| {
                        if at > 0 {
                            it.expect(T::Comma)?;
                        }
                        it.expect_word(names[at])?;
                        it.expect(T::Colon)?;
                        it.expect(T::LSquare).map(|_| ())
                    },
                )
            }
            E::Reassociation => {
                let attr = self.attr()?;
                self.set_attr("reassociation", attr);
                Ok(())
            }
            E::OutputShape => {
                self.expect_word("output_shape")?;
                self.expect(T::LSquare)?;
                let sizes = self.mixed_list(T::RSquare)?;
                let attr = self.dense_array(Type::I64, &sizes);
                self.set_attr("static_output_shape", attr);
                Ok(())
            }
            E::Global => self.global(),
            E::RmwKind => {
                let kind = self.rmw_kind()?;
                let attr = self.int_attr(kind as i64, Type::I64);
                self.set_attr("kind", attr);
                Ok(())
            }
            E::RmwTypes => {
                let ty = self.ty()?;
                let TypeData::Function { inputs, results } =
                    self.env.interner.type_data(ty).clone()
                else {
                    return Err(self.expected("a function type"));
                };
                for (operand, ty) in self.out.operands.iter_mut().zip(&inputs) {
                    operand.ty = *ty;
                }
                self.out.result_types.extend_from_slice(&results);
                Ok(())
            }
            _ => Err(super::reader::Broken),
        }
    }

    /// Index operands in brackets or parentheses; of `alloc` the symbols in brackets may be missing.
    pub(super) fn indices(&mut self, open: T) -> Res {
        let close = if open == T::LParen { T::RParen } else { T::RSquare };
        let is_alloc =
            matches!(self.out.kind, crate::OpKind::MemrefAlloc | crate::OpKind::MemrefAlloca);
        let first = self.out.operands.len() as i64;
        if is_alloc && open == T::LSquare && self.peek() != T::LSquare {
            self.segments(&[first, 0]);
            return Ok(());
        }
        self.expect(open)?;
        self.list(close, |it| it.operand(Type::INDEX).map(|_| ()))?;
        if is_alloc && open == T::LSquare {
            let n = self.out.operands.len() as i64;
            self.segments(&[first, n - first]);
        }
        Ok(())
    }

    /// Lists of operands and integers, each with its attribute, and the sizes of all.
    fn static_lists(
        &mut self,
        source: i64,
        names: &[&str; 3],
        mut open: impl FnMut(&mut Self, usize) -> Res,
    ) -> Res {
        let mut segments = vec![source];
        for (at, name) in names.iter().enumerate() {
            open(self, at)?;
            let list = self.mixed_list(T::RSquare)?;
            segments.push(list.iter().filter(|it| **it == DYNAMIC).count() as i64);
            let attr = self.dense_array(Type::I64, &list);
            self.set_attr(name, attr);
        }
        self.segments(&segments);
        Ok(())
    }

    /// `"private" constant @name : T = dense<..>`
    fn global(&mut self) -> Res {
        if self.peek() == T::Str {
            let attr = self.attr()?;
            self.set_attr("sym_visibility", attr);
        }
        if self.eat_word("constant") {
            self.set_attr("constant", Attr::UNIT);
        }
        let token = self.expect(T::At)?;
        let name = self.symbol_text(token.span());
        self.out.symbol = Some(super::ParsedSymbol { name, root: name, span: token.span() });
        let attr = self.env.interner.attr(AttrData::String(name, None));
        self.set_attr("sym_name", attr);
        self.expect(T::Colon)?;
        let ty = self.ty()?;
        let attr = self.env.interner.attr(AttrData::Type(ty));
        self.set_attr("type", attr);
        if self.eat(T::Equal) {
            let value =
                if self.eat_word("uninitialized") { Attr::UNIT } else { self.initial_value(ty)? };
            self.set_attr("initial_value", value);
        }
        self.memref_element(E::OptInt("alignment"))
    }

    /// `dense<..>` without its type, which is that of the global as a tensor.
    fn initial_value(&mut self, ty: Type) -> Res<Attr> {
        let start = self.at;
        let TypeData::MemRef { dims, element, .. } = self.env.interner.type_data(ty).clone() else {
            return Err(self.expected("a memref type"));
        };
        let tensor = self.env.interner.ty(TypeData::Tensor { dims, element, encoding: None });
        self.elements_of(tensor).inspect_err(|_| self.at = start)
    }
}
