//! Proposes conversions between types, and the equivalent ops for other types.

use std::ops::Range;

use super::Adviser;
use crate::{TokenKind, Type, TypeData, Value};

/// The kind of a scalar type, or of the elements of a shaped one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarKind {
    Int(u32),
    Float(u32),
    Index,
    Noisy,
    Other,
}

/// Equivalent ops for noisy values, integers and floats.
const EQUIVALENT_OPS: [[&str; 3]; 10] = [
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
    pub(super) fn scalar_kind(&self, ty: Type) -> ScalarKind {
        match self.ir.interner.type_data(ty) {
            TypeData::Int { width, .. } => ScalarKind::Int(*width),
            TypeData::Float(name) => {
                let width = name.trim_start_matches(|it: char| !it.is_ascii_digit());
                ScalarKind::Float(
                    width
                        .split(|it: char| !it.is_ascii_digit())
                        .next()
                        .and_then(|it| it.parse().ok())
                        .unwrap_or(8),
                )
            }
            TypeData::Index => ScalarKind::Index,
            TypeData::Vector { element, .. } | TypeData::Tensor { element, .. } => {
                self.scalar_kind(*element)
            }
            _ if self.type_text(ty) == "!noisy.i32" => ScalarKind::Noisy,
            _ => ScalarKind::Other,
        }
    }

    /// The ops that convert a value of one type to another, each with the word between the types:
    /// `arith.extsi` and `to` in `arith.extsi %x : i8 to i32`.
    pub(super) fn conversion_ops(&self, from: Type, to: Type) -> Vec<(&'static str, &'static str)> {
        match (self.scalar_kind(from), self.scalar_kind(to)) {
            (ScalarKind::Int(n), ScalarKind::Noisy) if n <= 5 => vec![("noisy.encode", "->")],
            (ScalarKind::Noisy, ScalarKind::Int(n)) if n <= 5 => vec![("noisy.decode", "->")],
            (ScalarKind::Int(_), ScalarKind::Index) | (ScalarKind::Index, ScalarKind::Int(_)) => {
                vec![("arith.index_cast", "to"), ("arith.index_castui", "to")]
            }
            (ScalarKind::Int(a), ScalarKind::Int(b)) if a < b => {
                vec![("arith.extsi", "to"), ("arith.extui", "to")]
            }
            (ScalarKind::Int(a), ScalarKind::Int(b)) if a > b => vec![("arith.trunci", "to")],
            (ScalarKind::Int(_), ScalarKind::Float(_)) => {
                vec![("arith.sitofp", "to"), ("arith.uitofp", "to")]
            }
            (ScalarKind::Float(_), ScalarKind::Int(_)) => {
                vec![("arith.fptosi", "to"), ("arith.fptoui", "to")]
            }
            (ScalarKind::Float(a), ScalarKind::Float(b)) if a < b => vec![("arith.extf", "to")],
            (ScalarKind::Float(a), ScalarKind::Float(b)) if a > b => vec![("arith.truncf", "to")],
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
        let found = self.conversion_ops(from, to);
        for (op, word) in found {
            self.propose_conversion_by(place, value, text, op, word);
        }
    }

    fn propose_conversion_by(
        &mut self,
        place: &Range<usize>,
        value: Value,
        text: &str,
        op: &str,
        word: &str,
    ) {
        let from = self.type_of(value);
        let Some(own) = self.ir.interner.insertable_type_text(from) else { return };
        let start = self.ir.range(self.op).start;
        if !self.source.is_first_on_line(start) {
            return;
        }
        let name = self.ir.value_text(value);
        let fresh = self.unused_name(self.bare_name(value).to_owned().as_str());
        let indentation = self.source.indentation(start);
        let line = format!("%{fresh} = {op} {name} : {own} {word} {text}\n{indentation}");
        let mut edits = vec![(start..start, line), (place.clone(), format!("%{fresh}"))];
        self.propose(format!("Convert {name} to {text} by {op}"), edits.clone());
        // The text of the op may contain the old type.
        for it in self.type_ranges_in_header(&own).into_iter().take(1) {
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
    pub(super) fn type_ranges_in_header(&self, text: &str) -> Vec<Range<usize>> {
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
    pub(super) fn propose_equivalent_op(&mut self, ty: Type) -> Option<&'static str> {
        let own = self.ir.op_name(self.op);
        let column = match self.scalar_kind(ty) {
            ScalarKind::Noisy => 0,
            ScalarKind::Int(_) | ScalarKind::Index => 1,
            ScalarKind::Float(_) => 2,
            ScalarKind::Other => return None,
        };
        let family = EQUIVALENT_OPS.iter().find(|it| it.contains(&own))?;
        let other = family[column];
        if other.is_empty() || other == own {
            return None;
        }
        let range = self.ir.name_range(self.op);
        let mut edits = vec![(range.clone(), other.to_owned())];
        if matches!(other, "arith.cmpi" | "arith.cmpf") {
            let window = self.window();
            let at = window.token_index_after(range.end);
            let token = window.token(at).filter(|it| it.kind == TokenKind::Bare)?;
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
