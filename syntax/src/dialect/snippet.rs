//! Templates of ops with placeholders, for completion and signature help. They are derived from the
//! rows of the ops.
//!
//! *Law.* With its placeholders filled in, the template of every op parses as its custom form
//! without a syntax problem (names may be undefined).

use super::row::OpSpec;
use super::syntax::{Element, TypeBinding};
use crate::op_traits::{Agreement, TypeClass, WidthChange};
use crate::{TokenKind, Type};

struct Template<'a> {
    spec: &'a OpSpec,
    out: String,
    n_operands: usize,
    n_results: usize,
    n_regions: usize,
}

impl OpSpec {
    /// Returns the custom syntax of the op, without optional elements. `«...»` is a placeholder,
    /// and `$0` the final position of the cursor. If the op always has results, the text starts
    /// with the placeholder `«%r»` (or `«%r»:2`) and ` = `.
    pub fn template(&self) -> String {
        let result = match self.results.least {
            0 => String::new(),
            1 => "«%r» = ".to_owned(),
            n => format!("«%r»:{n} = "),
        };
        let mut template = Template {
            spec: self,
            out: format!("{result}{}", self.name),
            n_operands: 0,
            n_results: 0,
            n_regions: 0,
        };
        self.syntax.iter().for_each(|it| template.push_element(*it));
        template.out
    }

    /// Returns the class of an operand. The last class of the list applies to all further operands.
    pub fn operand_class(&self, number: usize) -> TypeClass {
        let classes = self.types.operands;
        classes.get(number).or(classes.last()).copied().unwrap_or(TypeClass::Any)
    }

    fn result_class(&self, number: usize) -> TypeClass {
        self.types.results.get(number).copied().unwrap_or(TypeClass::Any)
    }
}

/// Returns an example type of a class: a placeholder, unless the class has only one type. `is_wide`
/// selects the wider type of a cast.
fn sample(class: TypeClass, is_wide: bool) -> &'static str {
    match class {
        TypeClass::Noisy => "!noisy.i32",
        TypeClass::Plain => "«i5»",
        TypeClass::I1 => "i1",
        TypeClass::BoolLike => "«i1»",
        TypeClass::Index => "index",
        TypeClass::Function => "«() -> ()»",
        TypeClass::MemRef | TypeClass::RankedMemRef => "«memref<4xi32>»",
        TypeClass::Vector => "«vector<4xi32>»",
        TypeClass::FloatLike => {
            if is_wide {
                "«f64»"
            } else {
                "«f32»"
            }
        }
        TypeClass::Any
        | TypeClass::IntLike
        | TypeClass::FixedIntLike
        | TypeClass::IndexCast
        | TypeClass::Bits
        | TypeClass::SignlessOrIndex
        | TypeClass::Integer => {
            if is_wide {
                "«i64»"
            } else {
                "«i32»"
            }
        }
    }
}

impl Template<'_> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Adds text with a blank before it, unless it follows an opening bracket or a blank.
    fn push_word(&mut self, text: &str) {
        if !self.out.ends_with([' ', '(', '[', '<']) {
            self.push(" ");
        }
        self.push(text);
    }

    /// Adds the name of the next operand: `%a`, `%b`, ..., or `%condition`.
    fn push_operand(&mut self, ty: Type) {
        let at = self.n_operands;
        self.n_operands += 1;
        if ty == Type::I1 || self.spec.operand_class(at) == TypeClass::I1 {
            return self.push_word("«%condition»");
        }
        let letter = char::from(b'a' + (at % 26) as u8);
        self.push_word(&format!("«%{letter}»"));
    }

    fn operand_type(&self, at: usize) -> &'static str {
        let shrinks = self.spec.types.agreement == Agreement::Cast(WidthChange::Shrinks);
        sample(self.spec.operand_class(at), shrinks)
    }

    fn result_type(&self, at: usize) -> &'static str {
        let grows = self.spec.types.agreement == Agreement::Cast(WidthChange::Grows);
        sample(self.spec.result_class(at), grows)
    }

    /// Adds an example of the type that `bind` determines.
    fn push_bound_type(&mut self, bind: TypeBinding) {
        let text = match bind {
            TypeBinding::All
            | TypeBinding::Operands
            | TypeBinding::Operand(0)
            | TypeBinding::AllAnd(_)
            | TypeBinding::Compared
            | TypeBinding::Assumed
            | TypeBinding::FirstAndResult => self.operand_type(0),
            TypeBinding::Operand(at) => self.operand_type(at.into()),
            TypeBinding::Result => self.result_type(0),
            TypeBinding::NextResult => {
                self.n_results += 1;
                self.result_type(self.n_results)
            }
            TypeBinding::ElementOf(_) | TypeBinding::StoreTo => "«memref<4xi32>»",
        };
        self.push_word(text);
    }

    /// Adds a region. The final position of the cursor is in the first region.
    fn push_region(&mut self) {
        let is_first = self.n_regions == 0;
        self.n_regions += 1;
        self.push_word(if is_first { "{\n  $0\n}" } else { "{\n}" });
    }

    fn push_element(&mut self, element: Element) {
        match element {
            Element::Token(kind) => match kind {
                TokenKind::Comma => self.push(","),
                TokenKind::LParen => self.push("("),
                TokenKind::RParen => self.push(")"),
                TokenKind::LSquare if self.out.ends_with(',') => self.push(" ["),
                TokenKind::LSquare => self.push("["),
                TokenKind::RSquare => self.push("]"),
                TokenKind::Arrow => self.push_word("->"),
                _ => self.push_word(":"),
            },
            Element::Word(word) => self.push_word(word),
            Element::Operand(ty) => self.push_operand(ty),
            Element::Operands(n) => {
                for at in 0..n {
                    self.push(if at > 0 { "," } else { "" });
                    self.push_operand(Type::UNKNOWN);
                }
            }
            Element::ParenOperands => self.push("(«»)"),
            Element::Indices => self.push("[«%i»]"),
            Element::StrAttr(_) => self.push_word("\"«text»\""),
            Element::SymbolUse(_) => self.push_word("@«name»"),
            Element::TypeOf(bind) => self.push_bound_type(bind),
            Element::ResultTypes => {
                let n = self.spec.results.least.max(1);
                let types: Vec<_> = (0..n).map(|at| self.result_type(at)).collect();
                self.push_word(&types.join(", "));
            }
            Element::FunctionType(from) if self.n_operands <= from.into() => {
                self.push_word("(«») -> «()»");
            }
            Element::FunctionType(from) => {
                let inputs: Vec<_> =
                    (from.into()..self.n_operands).map(|at| self.operand_type(at)).collect();
                let results: Vec<_> =
                    (0..self.spec.results.least).map(|at| self.result_type(at)).collect();
                self.push_word(&format!("({}) -> ({})", inputs.join(", "), results.join(", ")));
            }
            Element::Successor => self.push_word("^«bb1»"),
            Element::Region | Element::OptRegion => self.push_region(),
            Element::Custom(syntax) => self.push_syntax(syntax.snippet),
            Element::OptWord(..)
            | Element::OptOperandsTypes
            | Element::AttrDict
            | Element::AttrDictWithKeyword
            | Element::ResultIs(_)
            | Element::OptArrowTypes => {}
        }
    }

    /// Adds the snippet of a [`Syntax`](super::syntax::Syntax).
    fn push_syntax(&mut self, snippet: &str) {
        let (snippet, is_apart) = match snippet.strip_prefix(' ') {
            Some(rest) => (rest, true),
            None => (snippet, false),
        };
        if let Some(rest) = snippet.strip_prefix("«%»") {
            self.push_operand(Type::UNKNOWN);
            self.push(rest);
        } else if is_apart {
            self.push_word(snippet);
        } else {
            self.push(snippet);
        }
    }
}
