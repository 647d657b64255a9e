//! The syntax of symbols, and of functions with signature and body.

use super::element::{Element, Syntax};
use crate::grammar::reader::{ReadResult, Reader};
use crate::grammar::{ParsedArgument, ParsedSymbol};
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, TokenKind, Type, TypeData};

/// `public`, `private`, `nested` or nothing.
pub(in crate::dialect) const VISIBILITY: Element = Element::Custom(&Syntax {
    read: |it| {
        if let Some(word) = ["public", "private", "nested"].iter().find(|word| it.is_word(word)) {
            it.at += 1;
            it.set_string_attr("sym_visibility", word);
        }
        Ok(())
    },
    write: |it| {
        let Some(attr) = it.op_attr("sym_visibility") else { return Ok(()) };
        let AttrData::String(name, None) = it.ir.interner.attr_data(attr) else {
            return Err(Unfit);
        };
        let visibility = it.ir.interner.str(*name);
        fits(matches!(visibility, "public" | "private" | "nested"))?;
        it.word(visibility);
        Ok(())
    },
    attributes: &["sym_visibility"],
    ..Syntax::EMPTY
});

/// `@name`: the symbol that the op defines.
pub(in crate::dialect) const SYMBOL_NAME: Element = Element::Custom(&Syntax {
    read: |it| {
        it.expect(TokenKind::At)?;
        it.define_symbol();
        Ok(())
    },
    write: |it| {
        let name = it.string("sym_name").ok_or(Unfit)?;
        it.blank();
        it.text.symbol(name);
        Ok(())
    },
    snippet: " @«name»",
    attributes: &["sym_name"],
    ..Syntax::EMPTY
});

/// `@name` or nothing.
pub(in crate::dialect) const OPT_SYMBOL_NAME: Element = Element::Custom(&Syntax {
    read: |it| {
        if it.eat(TokenKind::At) {
            it.define_symbol();
        }
        Ok(())
    },
    write: |it| {
        if let Some(name) = it.string("sym_name") {
            it.blank();
            it.text.symbol(name);
        }
        Ok(())
    },
    attributes: &["sym_name"],
    ..Syntax::EMPTY
});

/// `(%a: i32) -> i32 attributes {..}`: arguments, results and the other attributes.
pub(in crate::dialect) const SIGNATURE: Element = Element::Custom(&Syntax {
    read: |it| {
        it.func_signature()?;
        it.func_attributes()
    },
    write: |it| {
        it.write_func_signature()?;
        it.other_attrs("attributes");
        Ok(())
    },
    snippet: "(«%a: !noisy.i32») -> «!noisy.i32»",
    attributes: &["arg_attrs", "function_type", "res_attrs"],
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    /// Parses `(%a: i32 {..}, %b: i64) -> (i32 {..})`, or types without names.
    pub(crate) fn func_signature(&mut self) -> ReadResult {
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| {
            let named = it.header_arguments.first().map(|it| it.name.is_some());
            let argument = if it.peek() == TokenKind::Percent {
                if named == Some(false) {
                    return Err(it.error_here(
                        Code::MixedArguments,
                        "expected type instead of SSA identifier",
                    ));
                }
                let operand = it.value(crate::Type::UNKNOWN)?;
                if it.tokens[it.at - 1].kind == TokenKind::Hash {
                    it.at -= 1;
                    let message = "result number not allowed in argument list";
                    return Err(it.error_here(Code::InvalidResultNumber, message));
                }
                it.expect(TokenKind::Colon)?;
                let ty = it.ty()?;
                ParsedArgument { name: Some(operand.name), span: operand.span, ty, attrs: None }
            } else {
                if named == Some(true) {
                    return Err(it.error_here(Code::ExpectedToken, "expected an SSA identifier"));
                }
                let start = it.token().span();
                let ty = it.ty()?;
                let span = start.to(it.tokens[it.at - 1].span());
                ParsedArgument { name: None, span, ty, attrs: None }
            };
            let attrs = it.opt_dict()?;
            it.opt_location()?;
            it.header_arguments.push(ParsedArgument { attrs, ..argument });
            Ok(())
        })?;
        let mut results = Vec::new();
        let mut result_attrs = Vec::new();
        if self.eat(TokenKind::Arrow) {
            if self.eat(TokenKind::LParen) {
                self.list(TokenKind::RParen, |it| {
                    results.push(it.ty()?);
                    result_attrs.push(it.opt_dict()?);
                    Ok(())
                })?;
            } else {
                results.push(self.ty()?);
                result_attrs.push(None);
            }
        }
        let inputs = self.header_arguments.iter().map(|it| it.ty).collect();
        let interner = &mut *self.env.interner;
        let ty = interner.intern_type(TypeData::Function { inputs, results: results.into() });
        let attr = interner.intern_attr(AttrData::Type(ty));
        self.set_attr("function_type", attr);
        let argument_attrs: Vec<_> = self.header_arguments.iter().map(|it| it.attrs).collect();
        self.set_dicts("arg_attrs", &argument_attrs);
        self.set_dicts("res_attrs", &result_attrs);
        Ok(())
    }

    /// Parses an optional `attributes {..}`, which must not contain attributes of the signature.
    fn func_attributes(&mut self) -> ReadResult {
        let span = self.token().span();
        let Some(dict) = self.opt_dict_with_keyword()? else { return Ok(()) };
        if let AttrData::Dict(entries) = self.env.interner.attr_data(dict) {
            let stated = ["sym_visibility", "sym_name", "function_type"];
            let twice = stated.iter().find(|stated| {
                entries.iter().any(|(name, _)| self.env.interner.str(*name) == **stated)
            });
            if let Some(name) = twice {
                let message =
                    format!("'{name}' belongs before the attribute dictionary, not in it");
                return Err(self.error_at(Code::InvalidAttribute, span, message));
            }
        }
        self.add_dict(dict);
        Ok(())
    }

    fn define_symbol(&mut self) {
        let span = self.tokens[self.at - 1].span();
        let name = self.symbol_text(span);
        self.out.symbol = Some(ParsedSymbol { name, root: name, span });
        let attr = self.env.interner.intern_attr(AttrData::String(name, None));
        self.set_attr("sym_name", attr);
    }

    /// Parses `@name`, an attribute with the name `attr`.
    pub(crate) fn symbol_use(&mut self, attr: &str) -> ReadResult {
        let token = self.expect(TokenKind::At)?;
        let name = self.symbol_text(token.span());
        let mut path = vec![name];
        while self.peek() == TokenKind::Colon && self.peek_at(1) == TokenKind::Colon {
            self.at += 2;
            let token = self.expect(TokenKind::At)?;
            path.push(self.symbol_text(token.span()));
        }
        if path.len() > 1 {
            self.at -= 1;
            let message = "expected a symbol name, not a nested reference";
            return Err(self.error_here(Code::InvalidAttribute, message));
        }
        let symbol = self.env.interner.intern_attr(AttrData::Symbol(path.into()));
        self.set_attr(attr, symbol);
        Ok(())
    }

    fn set_dicts(&mut self, name: &str, dicts: &[Option<Attr>]) {
        if dicts.iter().all(Option::is_none) {
            return;
        }
        let interner = &mut *self.env.interner;
        let empty = interner.intern_attr(AttrData::Dict([].into()));
        let dicts = dicts.iter().map(|it| it.unwrap_or(empty)).collect();
        let attr = interner.intern_attr(AttrData::Array(dicts));
        self.set_attr(name, attr);
    }

    /// Parses the body; a declaration has none.
    pub(crate) fn function_body(&mut self) -> ReadResult {
        if self.peek() != TokenKind::Region {
            self.out.arguments = std::mem::take(&mut self.header_arguments);
            return Ok(());
        }
        // A body with arguments has a block, so the verifier reports that it is empty.
        if self.is_empty_region() && self.header_arguments.is_empty() {
            return Err(self.error_here(Code::EmptyBody, "expected a non-empty function body"));
        }
        if self.header_arguments.first().is_some_and(|it| it.name.is_none()) {
            // The label at the start of the body defines them.
            self.header_arguments.clear();
        }
        self.region().map(|_| ())
    }
}

impl Printer<'_> {
    pub(crate) fn write_func_signature(&mut self) -> PrintResult {
        let ir = self.ir;
        let ty = self.op_attr("function_type").ok_or(Unfit)?;
        let AttrData::Type(ty) = ir.interner.attr_data(ty) else { return Err(Unfit) };
        let TypeData::Function { inputs, results } = ir.interner.type_data(*ty) else {
            return Err(Unfit);
        };
        let dicts = self.dicts("arg_attrs", inputs.len())?;
        let arguments = match self.body() {
            Some(body) => Some(self.header_arguments(body)?),
            None => None,
        };
        if let Some(arguments) = &arguments {
            let types: Vec<Type> = arguments.iter().map(|it| self.type_of(*it)).collect();
            fits(types[..] == **inputs)?;
        }
        self.text.push("(");
        for (i, ty) in inputs.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            if let Some(arguments) = &arguments {
                self.value(arguments[i])?;
                self.text.push(": ");
            }
            self.text.ty(*ty);
            self.write_dict(dicts[i]);
            if let Some(arguments) = &arguments {
                self.argument_location(arguments[i]);
            }
        }
        self.text.push(")");
        let dicts = self.dicts("res_attrs", results.len())?;
        if results.is_empty() {
            return Ok(());
        }
        self.text.push(" -> ");
        if dicts.iter().all(Option::is_none) {
            self.text.result_types(results);
            return Ok(());
        }
        self.text.push("(");
        for (i, ty) in results.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            self.text.ty(*ty);
            self.write_dict(dicts[i]);
        }
        self.text.push(")");
        Ok(())
    }

    /// Returns the body of the function; `None` for a declaration.
    fn body(&self) -> Option<crate::Region> {
        let body = self.region_at(0).ok()?;
        let is_empty = self.ir.items(body).next().is_none()
            && self.ir.blocks(body).iter().all(|it| self.ir.block(*it).args.is_empty());
        (!is_empty).then_some(body)
    }

    /// Returns the `n` dictionaries of an array attribute of the op; `None` for empty ones.
    fn dicts(&self, name: &str, n: usize) -> PrintResult<Vec<Option<Attr>>> {
        let Some(attr) = self.op_attr(name) else { return Ok(vec![None; n]) };
        let AttrData::Array(dicts) = self.ir.interner.attr_data(attr) else { return Err(Unfit) };
        fits(dicts.len() == n)?;
        let dict = |it: &Attr| match self.ir.interner.attr_data(*it) {
            AttrData::Dict(entries) => Ok((!entries.is_empty()).then_some(*it)),
            _ => Err(Unfit),
        };
        dicts.iter().map(dict).collect()
    }

    fn write_dict(&mut self, dict: Option<Attr>) {
        if let Some(dict) = dict {
            self.text.push(" ");
            self.text.attr(dict);
        }
    }

    pub(crate) fn write_function_body(&mut self) -> PrintResult {
        match self.body() {
            Some(body) => self.write_region(body),
            None => {
                if self.region_at(0).is_ok() {
                    self.skip_region();
                }
                Ok(())
            }
        }
    }
}
