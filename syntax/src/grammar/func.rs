//! The signature of `func.func`, and its body.

use super::ParsedArgument;
use super::reader::{Reader, Res};
use crate::{Attr, AttrData, Code, TokenKind, TypeData};

impl Reader<'_, '_> {
    /// `(%a: i32 {..}, %b: i64) -> (i32 {..})`, or types only.
    pub(super) fn func_signature(&mut self) -> Res {
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| {
            let named = it.header_arguments.first().map(|it| it.name.is_some());
            let argument = if it.peek() == TokenKind::Percent {
                if named == Some(false) {
                    return Err(
                        it.wrong(Code::MixedArguments, "expected type instead of SSA identifier")
                    );
                }
                let operand = it.value(crate::Type::UNKNOWN)?;
                if it.tokens[it.at - 1].kind == TokenKind::Hash {
                    it.at -= 1;
                    let message = "result number not allowed in argument list";
                    return Err(it.wrong(Code::InvalidResultNumber, message));
                }
                it.expect(TokenKind::Colon)?;
                let ty = it.ty()?;
                ParsedArgument { name: Some(operand.name), span: operand.span, ty, attrs: None }
            } else {
                if named == Some(true) {
                    return Err(it.wrong(Code::ExpectedToken, "expected an SSA identifier"));
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
        let ty = interner.ty(TypeData::Function { inputs, results: results.into() });
        let attr = interner.attr(AttrData::Type(ty));
        self.set_attr("function_type", attr);
        let argument_attrs: Vec<_> = self.header_arguments.iter().map(|it| it.attrs).collect();
        self.set_dicts("arg_attrs", &argument_attrs);
        self.set_dicts("res_attrs", &result_attrs);
        Ok(())
    }

    fn set_dicts(&mut self, name: &str, dicts: &[Option<Attr>]) {
        if dicts.iter().all(Option::is_none) {
            return;
        }
        let interner = &mut *self.env.interner;
        let empty = interner.attr(AttrData::Dict([].into()));
        let dicts = dicts.iter().map(|it| it.unwrap_or(empty)).collect();
        let attr = interner.attr(AttrData::Array(dicts));
        self.set_attr(name, attr);
    }

    /// The body, or nothing: then it is a declaration.
    pub(super) fn function_body(&mut self) -> Res {
        if self.peek() != TokenKind::Region {
            self.out.arguments = std::mem::take(&mut self.header_arguments);
            return Ok(());
        }
        // With arguments there is a block, and it is for the verifier to say that it is empty.
        if self.is_empty_region() && self.header_arguments.is_empty() {
            return Err(self.wrong(Code::EmptyBody, "expected a non-empty function body"));
        }
        if self.header_arguments.first().is_some_and(|it| it.name.is_none()) {
            // The label at the start of the body names them.
            self.header_arguments.clear();
        }
        self.region().map(|_| ())
    }
}
