//! The elements of custom syntax: how they are parsed and printed, and their snippets.

use crate::grammar::reader::{ReadResult, Reader};
use crate::intern::NumberTypes;
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, TokenKind, Tool, Type};

/// A piece of syntax that few ops share: how it is parsed, printed and completed.
pub struct Syntax {
    /// Parses the text and adds operands, types, attributes and regions to the op.
    pub(crate) read: fn(&mut Reader<'_, '_>) -> ReadResult,
    /// Prints the text. Fails if the custom form cannot express the op, which is then printed in
    /// the generic form.
    pub(crate) write: fn(&mut Printer<'_>) -> PrintResult,
    /// The text that completion inserts, with placeholders in `«»`; `«%»` is the next operand. It
    /// starts with a blank if a blank precedes it in the text. Empty if the syntax is optional.
    pub(crate) snippet: &'static str,
    /// The attributes that the text expresses; the attribute dictionary of the op contains the
    /// others.
    pub(crate) attributes: &'static [&'static str],
    /// True if LLVM 19 has no such text and prints the attributes in the dictionary.
    pub(crate) is_newer_than_mlir19: bool,
}

impl Syntax {
    /// Syntax that parses and prints no text.
    pub(crate) const EMPTY: Syntax = Syntax {
        read: |_| Ok(()),
        write: |_| Ok(()),
        snippet: "",
        attributes: &[],
        is_newer_than_mlir19: false,
    };
}

impl std::fmt::Debug for Syntax {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Syntax").field("snippet", &self.snippet).finish_non_exhaustive()
    }
}

/// The operands and results to which a type in the text applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeBinding {
    /// The type of all operands and of the single result.
    All,
    /// The type of all operands.
    Operands,
    /// The type of all operands and of all `n` results.
    AllAnd(u8),
    /// The type of one operand.
    Operand(u8),
    /// The type of operand 0 and of the single result.
    FirstAndResult,
    /// The type of the single result.
    Result,
    /// The type of the next result.
    NextResult,
    /// A shaped type of one operand; the single result has its element type.
    ElementOf(u8),
    /// A shaped type of operand 1; operand 0 has its element type.
    StoreTo,
    /// The type of all operands; the single result is `i1`, with the same shape.
    Compared,
    /// The type of the operand and, if there is one, of the result.
    Assumed,
}

/// An element of custom syntax.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// A token.
    Token(TokenKind),
    /// A keyword.
    Word(&'static str),
    /// An optional keyword, and the unit attribute that it sets.
    OptWord(&'static str, &'static str),
    /// An operand of this type, or of any type if it is [`Type::UNKNOWN`].
    Operand(Type),
    /// This many operands, separated by commas.
    Operands(u8),
    /// Any number of operands in parentheses.
    ParenOperands,
    /// Any number of operands of type `index` in brackets.
    Indices,
    /// Optional operands with their types: `%a, %b : i32, i64`.
    OptOperandsTypes,
    /// An optional `{..}` with the attributes that no other element expresses.
    AttrDict,
    /// Like [`Self::AttrDict`], after the keyword `attributes`.
    AttrDictWithKeyword,
    /// A string attribute with this name.
    StrAttr(&'static str),
    /// `@name`: an attribute with this name that refers to a symbol.
    SymbolUse(&'static str),
    /// A type that applies to these values.
    TypeOf(TypeBinding),
    /// No text: the single result always has this type.
    ResultIs(Type),
    /// Types, one for each result.
    ResultTypes,
    /// Optional types of the results: `-> T` or `-> (T, U)`.
    OptArrowTypes,
    /// A function type: the types of the operands from this index on, and of the results.
    FunctionType(u8),
    /// `^bb` or `^bb(%a : i32)`.
    Successor,
    /// A region.
    Region,
    /// A region; a declaration has none.
    OptRegion,
    /// Syntax that few ops share.
    Custom(&'static Syntax),
}

/// `:`
pub const COLON: Element = Element::Token(TokenKind::Colon);
/// `,`
pub const COMMA: Element = Element::Token(TokenKind::Comma);
/// `->`
pub const ARROW: Element = Element::Token(TokenKind::Arrow);

impl Element {
    /// Returns the attributes that the text of the element expresses in the output of `tool`.
    pub(crate) fn attributes(&self, tool: Tool) -> &[&'static str] {
        match self {
            Element::Custom(syntax) if syntax.is_newer_than_mlir19 && tool == Tool::Mlir19 => &[],
            Element::Custom(syntax) => syntax.attributes,
            Element::OptWord(_, name) | Element::StrAttr(name) | Element::SymbolUse(name) => {
                std::slice::from_ref(name)
            }
            _ => &[],
        }
    }
}

impl Reader<'_, '_> {
    /// Parses the text of an op after its name.
    pub(crate) fn read_syntax(&mut self, syntax: &'static [Element]) -> ReadResult {
        syntax.iter().try_for_each(|it| self.read_element(*it))
    }

    fn read_element(&mut self, element: Element) -> ReadResult {
        match element {
            Element::Token(kind) => self.expect(kind).map(|_| ()),
            Element::Operands(n) => {
                self.operand(Type::UNKNOWN)?;
                for _ in 1..n {
                    self.expect(TokenKind::Comma)?;
                    self.operand(Type::UNKNOWN)?;
                }
                Ok(())
            }
            Element::AttrDict => self.attr_dict(),
            Element::TypeOf(bind) => self.bound_type(bind),
            Element::Operand(ty) => self.operand(ty).map(|_| ()),
            Element::Custom(syntax) => (syntax.read)(self),
            Element::Word(word) => self.expect_word(word),
            Element::OptWord(word, attr) => {
                if self.eat_word(word) {
                    self.set_attr(attr, Attr::UNIT);
                }
                Ok(())
            }
            Element::ParenOperands => {
                self.expect(TokenKind::LParen)?;
                self.list(TokenKind::RParen, |it| it.operand(Type::UNKNOWN).map(|_| ()))
            }
            Element::Indices => {
                self.expect(TokenKind::LSquare)?;
                self.list(TokenKind::RSquare, |it| it.operand(Type::INDEX).map(|_| ()))
            }
            Element::OptOperandsTypes => {
                if self.peek() == TokenKind::Percent {
                    self.uses_types()?;
                }
                Ok(())
            }
            Element::AttrDictWithKeyword => {
                if let Some(dict) = self.opt_dict_with_keyword()? {
                    self.add_dict(dict);
                }
                Ok(())
            }
            Element::StrAttr(name) => {
                if self.peek() != TokenKind::Str {
                    return Err(self.error_here(Code::ExpectedToken, "expected a string"));
                }
                let attr = self.attr()?;
                self.set_attr(name, attr);
                Ok(())
            }
            Element::SymbolUse(name) => self.symbol_use(name),
            Element::ResultIs(ty) => {
                self.out.result_types.push(ty);
                Ok(())
            }
            Element::ResultTypes => self.result_types(),
            Element::OptArrowTypes => self.opt_arrow_types(),
            Element::FunctionType(from) => self.function_type(from as usize),
            Element::Successor => self.successor(),
            Element::Region => self.region().map(|_| ()),
            Element::OptRegion => self.function_body(),
        }
    }
}

impl Printer<'_> {
    /// Prints an op after its name.
    pub(crate) fn write_syntax(&mut self, syntax: &'static [Element]) -> PrintResult {
        syntax.iter().try_for_each(|it| self.write_element(*it))
    }

    fn write_element(&mut self, element: Element) -> PrintResult {
        match element {
            Element::Token(kind) => self.write_token(kind),
            Element::Word(word) => {
                self.word(word);
                Ok(())
            }
            Element::OptWord(word, attr) => match self.op_attr(attr) {
                Some(Attr::UNIT) => {
                    self.word(word);
                    Ok(())
                }
                it => fits(it.is_none()),
            },
            Element::Operand(ty) => self.operand(ty),
            Element::Operands(n) => {
                let values = self.take_operands(n.into())?;
                self.blank();
                self.values(&values)
            }
            Element::ParenOperands => {
                let values = self.take_operands(self.n_left())?;
                self.text.push("(");
                self.values(&values)?;
                self.text.push(")");
                Ok(())
            }
            Element::Indices => {
                let values = self.take_operands(self.n_left())?;
                self.write_indices("[", &values, "]")
            }
            Element::OptOperandsTypes => {
                let values = self.take_operands(self.n_left())?;
                if values.is_empty() {
                    return Ok(());
                }
                self.blank();
                self.values_types(&values)
            }
            Element::AttrDict => {
                self.other_attrs("");
                Ok(())
            }
            Element::AttrDictWithKeyword => {
                self.other_attrs("attributes");
                Ok(())
            }
            Element::StrAttr(name) => {
                self.string(name).ok_or(Unfit)?;
                self.attr_word(self.op_attr(name).ok_or(Unfit)?, NumberTypes::All);
                Ok(())
            }
            Element::SymbolUse(name) => {
                let symbol = self.op_attr(name).ok_or(Unfit)?;
                fits(matches!(self.ir.interner.attr_data(symbol), AttrData::Symbol(_)))?;
                self.attr_word(symbol, NumberTypes::All);
                Ok(())
            }
            Element::TypeOf(bind) => self.write_bound_type(bind),
            Element::ResultIs(ty) => fits(self.take_result()? == ty),
            Element::ResultTypes => {
                let types = self.take_results()?;
                fits(!types.is_empty())?;
                self.blank();
                self.text.types(&types);
                Ok(())
            }
            Element::OptArrowTypes => self.write_arrow_types(),
            Element::FunctionType(from) => self.write_function_type(from.into()),
            Element::Successor => self.write_successor(),
            Element::Region => self.write_next_region(),
            Element::OptRegion => self.write_function_body(),
            Element::Custom(syntax) => (syntax.write)(self),
        }
    }

    fn write_token(&mut self, kind: TokenKind) -> PrintResult {
        match kind {
            TokenKind::Comma => self.text.push(","),
            TokenKind::LParen => self.text.push("("),
            TokenKind::RParen => self.text.push(")"),
            TokenKind::LSquare if self.text.out.ends_with(',') => self.text.push(" ["),
            TokenKind::LSquare => self.text.push("["),
            TokenKind::RSquare => self.text.push("]"),
            TokenKind::Colon => self.word(":"),
            TokenKind::Arrow => self.word("->"),
            _ => return Err(Unfit),
        }
        Ok(())
    }
}
