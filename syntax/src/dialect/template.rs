//! How an op is written, with places to fill in: derived from its row, for completion and signature help.
//!
//! *Law.* With what its places hold, the template of every op is read as its custom form without a syntax problem (names may be
//! undefined).

use super::format::{Bind, Element};
use super::row::OpSpec;
use crate::op_traits::{Agreement, TypeClass, WidthChange};
use crate::{TokenKind, Type};

/// A template under construction.
struct Template<'a> {
    spec: &'a OpSpec,
    out: String,
    n_operands: usize,
    n_results: usize,
    n_regions: usize,
}

impl OpSpec {
    /// How the op is written in its own form, without parts that may be missing. `«...»` is a place to fill in, and `$0` where the
    /// cursor stays in the end. If the op surely has a result, the text
    /// starts with the place `«%r»` (or `«%r»:2`) and ` = `.
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
        self.form.iter().for_each(|it| template.element(*it));
        template.out
    }

    /// What an operand must be; by the last class for those beyond the list.
    pub fn operand_class(&self, number: usize) -> TypeClass {
        let classes = self.types.operands;
        classes.get(number).or(classes.last()).copied().unwrap_or(TypeClass::Any)
    }

    fn result_class(&self, number: usize) -> TypeClass {
        self.types.results.get(number).copied().unwrap_or(TypeClass::Any)
    }
}

/// A type of a class, as a place unless there is one type only; `is_wide`: the wider one of a cast.
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

    /// What stands between blanks.
    fn word(&mut self, text: &str) {
        if !self.out.ends_with([' ', '(', '[', '<']) {
            self.push(" ");
        }
        self.push(text);
    }

    /// The name of the next operand: `%a`, `%b`, ...; that of a condition says so.
    fn operand(&mut self, ty: Type) {
        let at = self.n_operands;
        self.n_operands += 1;
        if ty == Type::I1 || self.spec.operand_class(at) == TypeClass::I1 {
            return self.word("«%condition»");
        }
        let letter = char::from(b'a' + (at % 26) as u8);
        self.word(&format!("«%{letter}»"));
    }

    fn operand_type(&self, at: usize) -> &'static str {
        let shrinks = self.spec.types.agreement == Agreement::Cast(WidthChange::Shrinks);
        sample(self.spec.operand_class(at), shrinks)
    }

    fn result_type(&self, at: usize) -> &'static str {
        let grows = self.spec.types.agreement == Agreement::Cast(WidthChange::Grows);
        sample(self.spec.result_class(at), grows)
    }

    /// A type whose owner is known.
    fn bound_type(&mut self, bind: Bind) {
        let text = match bind {
            Bind::All
            | Bind::Operands
            | Bind::Operand(0)
            | Bind::AllAnd(_)
            | Bind::Compared
            | Bind::Assumed
            | Bind::FirstAndResult => self.operand_type(0),
            Bind::Operand(at) => self.operand_type(at.into()),
            Bind::Result => self.result_type(0),
            Bind::NextResult => {
                self.n_results += 1;
                self.result_type(self.n_results)
            }
            Bind::ElementOf(_) | Bind::StoreTo => "«memref<4xi32>»",
        };
        self.word(text);
    }

    /// A region; the cursor stays in the first one.
    fn region(&mut self) {
        let is_first = self.n_regions == 0;
        self.n_regions += 1;
        self.word(if is_first { "{\n  $0\n}" } else { "{\n}" });
    }

    /// An arm for each element, so that one that nobody can complete does not compile.
    fn element(&mut self, element: Element) {
        match element {
            Element::Token(kind) => match kind {
                TokenKind::Comma => self.push(","),
                TokenKind::LParen => self.push("("),
                TokenKind::RParen => self.push(")"),
                TokenKind::LSquare if self.out.ends_with(',') => self.push(" ["),
                TokenKind::LSquare => self.push("["),
                TokenKind::RSquare => self.push("]"),
                TokenKind::Arrow => self.word("->"),
                _ => self.word(":"),
            },
            Element::Word(word) => self.word(word),
            Element::Operand(ty) => self.operand(ty),
            Element::Operands(n) => {
                for at in 0..n {
                    self.push(if at > 0 { "," } else { "" });
                    self.operand(Type::UNKNOWN);
                }
            }
            Element::ParenOperands(_) => self.push("(«»)"),
            Element::Indices(open) => {
                // Of an allocation both lists may be empty, and that in brackets missing.
                let is_of_result = self.spec.operands.least == 0;
                match open {
                    TokenKind::LParen => self.push("()"),
                    _ if is_of_result => {}
                    _ => self.push("[«%i»]"),
                }
            }
            Element::ConstantValue => self.word("«0» : «i32»"),
            Element::StrAttr(_) => self.word("\"«text»\""),
            Element::TypeOf(bind) => self.bound_type(bind),
            Element::ResultTypes => {
                let n = self.spec.results.least.max(1);
                let types: Vec<_> = (0..n).map(|at| self.result_type(at)).collect();
                self.word(&types.join(", "));
            }
            Element::FunctionType(from) if self.n_operands <= from.into() => {
                self.word("(«») -> «()»");
            }
            Element::FunctionType(from) => {
                let inputs: Vec<_> =
                    (from.into()..self.n_operands).map(|at| self.operand_type(at)).collect();
                let results: Vec<_> =
                    (0..self.spec.results.least).map(|at| self.result_type(at)).collect();
                self.word(&format!("({}) -> ({})", inputs.join(", "), results.join(", ")));
            }
            Element::Predicate(names) => self.word(&format!("«{}»", names[0])),
            Element::Select => self.word("«i32»"),
            Element::SymbolName | Element::SymbolUse(_) => self.word("@«name»"),
            Element::Successor => self.word("^«bb1»"),
            Element::Switch => self.word("default: ^«bb1»"),
            Element::Region | Element::OptRegion => self.region(),
            Element::FuncSignature => self.push("(«%a: !noisy.i32») -> «!noisy.i32»"),
            Element::ScfFor => self.word("«%i» = «%lb» to «%ub» step «%step»"),
            Element::ScfWhile => self.word("(«%x» = «%a») : («i32») -> «i32»"),
            Element::ScfParallel => self.word("(«%i») = («%lb») to («%ub») step («%step»)"),
            Element::ScfForall => self.word("(«%i») in («4»)"),
            Element::IndexSwitch => {
                self.word("case «0» {\n  $0\n}\ndefault {\n}");
                self.n_regions += 2;
            }
            Element::AffineFor => self.word("«%i» = «0» to «4»"),
            Element::AffineParallel => self.word("(«%i») = («0») to («4»)"),
            Element::AffineApply("condition") => self.word("«affine_set<(d0) : (d0 >= 0)>»(«%i»)"),
            Element::AffineApply(_) => self.word("«affine_map<(d0) -> (d0)>»(«%i»)"),
            Element::AffineAccess(_) => {
                self.operand(Type::UNKNOWN);
                self.push("[«%i»]");
            }
            Element::AccessedTypes(maps) => {
                self.word(&vec!["«memref<4xi32>»"; maps.len()].join(", "));
            }
            Element::PrefetchKind => self.word("«read», locality<«3»>, «data»"),
            Element::Delinearize => self.word("into («4», «8») : «index, index»"),
            Element::Linearize => self.word("[«%i», «%j»] by («4», «8») : index"),
            Element::Int32(_) => self.word("«16»"),
            Element::Permutation(_) => self.word("(«i, j») -> («j, i»)"),
            Element::Subview => self.push("[«0»] [«4»] [«1»]"),
            Element::ReinterpretCast => {
                self.word("to offset: [«0»], sizes: [«4»], strides: [«1»]");
            }
            Element::Reassociation => self.word("«[[0, 1]]»"),
            Element::OutputShape => self.word("output_shape [«4», «8»]"),
            Element::Global => self.word("@«name» : «memref<4xi32>»"),
            Element::RmwKind => self.word("«addi»"),
            Element::RmwTypes => self.word("(«i32», «memref<4xi32>») -> «i32»"),
            Element::OptWord(..)
            | Element::OptOperandsTypes
            | Element::AttrDict
            | Element::AttrDictWithKeyword
            | Element::ResultIs(_)
            | Element::OptArrowTypes
            | Element::OptArrowResultTypes
            | Element::OptFlags(_)
            | Element::OptRounding
            | Element::OptSymbolName
            | Element::OptWeights
            | Element::SuccessorSegments
            | Element::OptElse
            | Element::Visibility
            | Element::ScfReduce
            | Element::OptStride
            | Element::OptNontemporal
            | Element::OptInt(_) => {}
        }
    }
}
