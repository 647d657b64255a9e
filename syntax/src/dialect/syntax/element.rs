//! The elements of custom syntax, with their readers, printers and completion.

use crate::grammar::reader::{Reader, Res};
use crate::intern::Types;
use crate::print::printer::{Fits, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, TokenKind, Tool, Type};

/// Syntax that few ops have: reader, printer and completion of one piece of text.
pub struct Syntax {
    /// Reads the text and adds operands, types, attributes and regions to the op.
    pub(crate) read: fn(&mut Reader<'_, '_>) -> Res,
    /// Prints the text, or fails if the op does not fit: then it is printed in the generic form.
    pub(crate) write: fn(&mut Printer<'_>) -> Fits,
    /// The text as completion inserts it, with its places in `«»`; `«%»` is the next operand. It
    /// starts with a blank if it stands apart from the text before. Empty: it may be left out.
    pub(crate) snippet: &'static str,
    /// The attributes that the text states; the dictionary of the op has the others.
    pub(crate) attributes: &'static [&'static str],
    /// True if LLVM 19 does not print the text and leaves the attributes to the dictionary.
    pub(crate) is_new: bool,
}

impl Syntax {
    /// Syntax without text.
    pub(crate) const EMPTY: Syntax =
        Syntax { read: |_| Ok(()), write: |_| Ok(()), snippet: "", attributes: &[], is_new: false };
}

impl std::fmt::Debug for Syntax {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Syntax").field("snippet", &self.snippet).finish_non_exhaustive()
    }
}

/// The operands and results that a written type belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
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
    /// A shaped type of one operand; the single result is its element.
    ElementOf(u8),
    /// A shaped type of operand 1; operand 0 is its element.
    StoreTo,
    /// The type of all operands; the single result is `i1`, with the same shape.
    Compared,
    /// The type of the operand and, if there is one, of the result.
    Assumed,
}

/// One element of custom syntax.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// A token.
    Token(TokenKind),
    /// A keyword.
    Word(&'static str),
    /// A keyword or nothing, and the unit attribute that the keyword stands for.
    OptWord(&'static str, &'static str),
    /// An operand, of this type unless it is [`Type::UNKNOWN`].
    Operand(Type),
    /// This many operands, separated by commas.
    Operands(u8),
    /// Any number of operands in parentheses.
    ParenOperands,
    /// Any number of operands of type `index` in brackets.
    Indices,
    /// Operands with their types, `%a, %b : i32, i64`, or nothing.
    OptOperandsTypes,
    /// `{..}` or nothing: the attributes that no other element states.
    AttrDict,
    /// As [`Self::AttrDict`], after the keyword `attributes`.
    AttrDictWithKeyword,
    /// A string attribute of this name.
    StrAttr(&'static str),
    /// `@name`, an attribute of this name that refers to a symbol.
    SymbolUse(&'static str),
    /// A type.
    TypeOf(Bind),
    /// No text: the single result has this type.
    ResultIs(Type),
    /// Types, one for each result.
    ResultTypes,
    /// `-> T`, `-> (T, U)` or nothing: the types of the results.
    OptArrowTypes,
    /// A function type: the types of the operands from this one on, and of the results.
    FunctionType(u8),
    /// `^bb` or `^bb(%a : i32)`.
    Successor,
    /// A region.
    Region,
    /// A region, or nothing for a declaration.
    OptRegion,
    /// Syntax that few ops have.
    Own(&'static Syntax),
}

/// `:`
pub const COLON: Element = Element::Token(TokenKind::Colon);
/// `,`
pub const COMMA: Element = Element::Token(TokenKind::Comma);
/// `->`
pub const ARROW: Element = Element::Token(TokenKind::Arrow);

impl Element {
    /// The attributes that the text of the element states, as the tool prints it.
    pub(crate) fn attributes(&self, tool: Tool) -> &[&'static str] {
        match self {
            Element::Own(syntax) if syntax.is_new && tool == Tool::Mlir19 => &[],
            Element::Own(syntax) => syntax.attributes,
            Element::OptWord(_, name) | Element::StrAttr(name) | Element::SymbolUse(name) => {
                std::slice::from_ref(name)
            }
            _ => &[],
        }
    }
}

impl Reader<'_, '_> {
    /// Reads an op along its syntax, after its name.
    pub(crate) fn read_syntax(&mut self, syntax: &'static [Element]) -> Res {
        syntax.iter().try_for_each(|it| self.read_element(*it))
    }

    fn read_element(&mut self, element: Element) -> Res {
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
            Element::Own(syntax) => (syntax.read)(self),
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
                    return Err(self.wrong(Code::ExpectedToken, "expected a string"));
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
    /// Prints an op along its syntax, after its name.
    pub(crate) fn write_syntax(&mut self, syntax: &'static [Element]) -> Fits {
        syntax.iter().try_for_each(|it| self.write_element(*it))
    }

    fn write_element(&mut self, element: Element) -> Fits {
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
                self.attr_word(self.op_attr(name).ok_or(Unfit)?, Types::All);
                Ok(())
            }
            Element::SymbolUse(name) => {
                let symbol = self.op_attr(name).ok_or(Unfit)?;
                fits(matches!(self.ir.interner.attr_data(symbol), AttrData::Symbol(_)))?;
                self.attr_word(symbol, Types::All);
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
            Element::Region => self.next_region(),
            Element::OptRegion => self.write_function_body(),
            Element::Own(syntax) => (syntax.write)(self),
        }
    }

    fn write_token(&mut self, kind: TokenKind) -> Fits {
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
