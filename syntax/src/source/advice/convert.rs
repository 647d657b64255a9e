//! Proposes conversions between types, and the equivalent ops for other types.

use std::ops::Range;

use super::Adviser;
use crate::{TokenKind, Type, TypeData, Value};

/// The kind of a scalar type, or of the elements of a shaped one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int(u32),
    Float(u32),
    Index,
    Noisy,
    Other,
}

/// Equivalent ops for noisy values, integers and floats.
const FAMILIES: [[&str; 3]; 10] = [
    ["noisy.add", "arith.addi", "arith.addf"],
    ["noisy.sub", "arith.subi", "arith.subf"],
    ["noisy.mul", "arith.muli", "arith.mulf"],
    ["", "arith.cmpi", "arith.cmpf"],
    ["", "arith.divsi", "arith.divf"],
    ["", "arith.remsi", "arith.remf"],
    ["", "arith.maxsi", "arith.maximumf"],
    ["", "arith.minsi", "arith.minimumf"],
    ["", "math.absi", "math.absf"],
    ["", "math.ipowi", "math.powf"],
];

/// Equivalent predicates of `arith.cmpi` and `arith.cmpf`.
const PREDICATES: [(&str, &str); 10] = [
    ("eq", "oeq"),
    ("ne", "one"),
    ("slt", "olt"),
    ("sle", "ole"),
    ("sgt", "ogt"),
    ("sge", "oge"),
    ("ult", "ult"),
    ("ule", "ule"),
    ("ugt", "ugt"),
    ("uge", "uge"),
];

impl Adviser<'_> {
    pub(super) fn kind(&self, ty: Type) -> Kind {
        match self.ir.interner.type_data(ty) {
            TypeData::Int { width, .. } => Kind::Int(*width),
            TypeData::Float(name) => {
                let width = name.trim_start_matches(|it: char| !it.is_ascii_digit());
                Kind::Float(
                    width
                        .split(|it: char| !it.is_ascii_digit())
                        .next()
                        .and_then(|it| it.parse().ok())
                        .unwrap_or(8),
                )
            }
            TypeData::Index => Kind::Index,
            TypeData::Vector { element, .. } | TypeData::Tensor { element, .. } => {
                self.kind(*element)
            }
            _ if self.show(ty) == "!noisy.i32" => Kind::Noisy,
            _ => Kind::Other,
        }
    }

    /// The ops that convert a value of one type to another, each with the word between the types:
    /// `arith.extsi` and `to` in `arith.extsi %x : i8 to i32`.
    pub(super) fn conversions(&self, from: Type, to: Type) -> Vec<(&'static str, &'static str)> {
        match (self.kind(from), self.kind(to)) {
            (Kind::Int(n), Kind::Noisy) if n <= 5 => vec![("noisy.encode", "->")],
            (Kind::Noisy, Kind::Int(n)) if n <= 5 => vec![("noisy.decode", "->")],
            (Kind::Int(_), Kind::Index) | (Kind::Index, Kind::Int(_)) => {
                vec![("arith.index_cast", "to"), ("arith.index_castui", "to")]
            }
            (Kind::Int(a), Kind::Int(b)) if a < b => {
                vec![("arith.extsi", "to"), ("arith.extui", "to")]
            }
            (Kind::Int(a), Kind::Int(b)) if a > b => vec![("arith.trunci", "to")],
            (Kind::Int(_), Kind::Float(_)) => vec![("arith.sitofp", "to"), ("arith.uitofp", "to")],
            (Kind::Float(_), Kind::Int(_)) => vec![("arith.fptosi", "to"), ("arith.fptoui", "to")],
            (Kind::Float(a), Kind::Float(b)) if a < b => vec![("arith.extf", "to")],
            (Kind::Float(a), Kind::Float(b)) if a > b => vec![("arith.truncf", "to")],
            _ => match (self.ir.interner.type_data(from), self.ir.interner.type_data(to)) {
                (TypeData::MemRef { .. }, TypeData::MemRef { .. }) => vec![("memref.cast", "to")],
                (TypeData::Tensor { .. }, TypeData::Tensor { .. }) => vec![("tensor.cast", "to")],
                _ => Vec::new(),
            },
        }
    }

    /// Proposes to insert a conversion before the op for the operand at `place`.
    pub(super) fn propose_conversion(
        &mut self,
        place: &Range<usize>,
        value: Value,
        to: Type,
        text: &str,
    ) {
        let from = self.type_of(value);
        let found = self.conversions(from, to);
        for (op, word) in found {
            self.convert_by(place, value, text, op, word);
        }
    }

    fn convert_by(&mut self, place: &Range<usize>, value: Value, text: &str, op: &str, word: &str) {
        let from = self.type_of(value);
        let Some(own) = self.ir.interner.written_type_text(from) else { return };
        let start = self.ir.range(self.op).start;
        if !self.source.is_first_on_line(start) {
            return;
        }
        let name = self.ir.value_text(value);
        let fresh = self.fresh(self.bare_name(value).to_owned().as_str());
        let indentation = self.source.indentation(start);
        let line = format!("%{fresh} = {op} {name} : {own} {word} {text}\n{indentation}");
        let mut edits = vec![(start..start, line), (place.clone(), format!("%{fresh}"))];
        self.propose(format!("Convert {name} to {text} by {op}"), edits.clone());
        // The text of the op may contain the old type.
        for it in self.type_places(&own).into_iter().take(1) {
            edits.push((it, text.to_owned()));
        }
        edits.sort_by_key(|it| it.0.start);
        if edits.len() > 2 {
            self.propose(
                format!("Convert {name} to {text} by {op}, and change its type here"),
                edits,
            );
        }
    }

    /// The ranges in the header of the op that contain the text of a type.
    pub(super) fn type_places(&self, text: &str) -> Vec<Range<usize>> {
        let window = self.window();
        let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '!');
        let from = self.ir.name_range(self.op).end;
        let found = window.text.match_indices(text).filter(|(at, _)| {
            let before = window.text[..*at].chars().next_back();
            let after = window.text[at + text.len()..].chars().next();
            window.start + at >= from
                && before.is_none_or(|it| !is_word(it) && it != '%')
                && after.is_none_or(|it| !is_word(it))
        });
        found.map(|(at, _)| window.start + at..window.start + at + text.len()).collect()
    }

    /// Proposes the equivalent op for the types of the operands.
    pub(super) fn counterpart(&mut self, ty: Type) -> Option<&'static str> {
        let own = self.ir.op_name(self.op);
        let column = match self.kind(ty) {
            Kind::Noisy => 0,
            Kind::Int(_) | Kind::Index => 1,
            Kind::Float(_) => 2,
            Kind::Other => return None,
        };
        let family = FAMILIES.iter().find(|it| it.contains(&own))?;
        let other = family[column];
        if other.is_empty() || other == own {
            return None;
        }
        let range = self.ir.name_range(self.op);
        let mut edits = vec![(range.clone(), other.to_owned())];
        if matches!(other, "arith.cmpi" | "arith.cmpf") {
            let window = self.window();
            let at = window.after(range.end);
            let token = window.get(at).filter(|it| it.kind == TokenKind::Bare)?;
            let word = window.str(token);
            let new = PREDICATES.iter().find_map(|&(int, float)| match other {
                "arith.cmpf" => (int == word).then_some(float),
                _ => (float == word).then_some(int),
            })?;
            edits.push((window.range(token), new.to_owned()));
        }
        self.propose(format!("Replace by {other}"), edits);
        Some(other)
    }
}
