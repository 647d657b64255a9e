//! Equality of types up to insignificant blanks and the spelling of floats.

use rustc_hash::FxHashSet;

use super::{AttrData, Interner, TypeData};
use crate::identifier::number_end;
use crate::string::string_len;
use crate::{Attr, Name, Type};

impl Interner {
    /// Returns true if two types differ only in blanks and the spelling of floats in the bodies of
    /// types and attributes of other dialects. Compares each pair of parts once, even if they are
    /// used repeatedly, and uses no recursion.
    pub(crate) fn is_same_type(&self, a: Type, b: Type) -> bool {
        let mut it =
            Comparison { interner: self, worklist: Vec::new(), seen: FxHashSet::default() };
        it.worklist.push(ComparedPair::Types(a, b));
        while let Some(pair) = it.worklist.pop() {
            let is_same = match pair {
                ComparedPair::Types(a, b) => {
                    a == b || !it.seen.insert(pair) || it.are_equal_types(a, b)
                }
                ComparedPair::Attrs(a, b) => {
                    a == b || !it.seen.insert(pair) || it.are_equal_attrs(a, b)
                }
            };
            if !is_same {
                return false;
            }
        }
        true
    }
}

/// Two corresponding parts of the compared types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ComparedPair {
    Types(Type, Type),
    Attrs(Attr, Attr),
}

/// A comparison of two types. Each method returns true if two parts are equal except for their
/// nested parts, which are added to `worklist`.
struct Comparison<'a> {
    interner: &'a Interner,
    worklist: Vec<ComparedPair>,
    seen: FxHashSet<ComparedPair>,
}

impl Comparison<'_> {
    fn are_equal_types(&mut self, a: Type, b: Type) -> bool {
        match (self.interner.type_data(a), self.interner.type_data(b)) {
            (TypeData::Dialect(a), TypeData::Dialect(b)) => self.are_equal_texts(*a, *b),
            (TypeData::Complex(a), TypeData::Complex(b)) => self.defer(ComparedPair::Types(*a, *b)),
            (TypeData::Tuple(a), TypeData::Tuple(b)) => self.are_equal_type_lists(a, b),
            (
                TypeData::Function { inputs, results },
                TypeData::Function { inputs: other_inputs, results: other_results },
            ) => {
                self.are_equal_type_lists(inputs, other_inputs)
                    && self.are_equal_type_lists(results, other_results)
            }
            (
                TypeData::Vector { dims, element },
                TypeData::Vector { dims: other_dims, element: other },
            ) => dims == other_dims && self.defer(ComparedPair::Types(*element, *other)),
            (
                TypeData::Tensor { dims, element, encoding },
                TypeData::Tensor { dims: other_dims, element: other, encoding: other_encoding },
            ) => {
                let same_encoding = match (encoding, other_encoding) {
                    (Some(a), Some(b)) => self.defer(ComparedPair::Attrs(*a, *b)),
                    (a, b) => a == b,
                };
                same_encoding
                    && dims == other_dims
                    && self.defer(ComparedPair::Types(*element, *other))
            }
            (
                TypeData::MemRef { dims, element, rest },
                TypeData::MemRef { dims: other_dims, element: other, rest: other_rest },
            ) => {
                dims == other_dims
                    && self.are_equal_attr_lists(rest, other_rest)
                    && self.defer(ComparedPair::Types(*element, *other))
            }
            _ => false,
        }
    }

    /// Adds two parts that must be compared later. Always returns true.
    fn defer(&mut self, pair: ComparedPair) -> bool {
        self.worklist.push(pair);
        true
    }

    fn are_equal_type_lists(&mut self, a: &[Type], b: &[Type]) -> bool {
        self.worklist.extend(a.iter().zip(b).map(|(a, b)| ComparedPair::Types(*a, *b)));
        a.len() == b.len()
    }

    fn are_equal_attr_lists(&mut self, a: &[Attr], b: &[Attr]) -> bool {
        self.worklist.extend(a.iter().zip(b).map(|(a, b)| ComparedPair::Attrs(*a, *b)));
        a.len() == b.len()
    }

    fn are_equal_attrs(&mut self, a: Attr, b: Attr) -> bool {
        match (self.interner.attr_data(a), self.interner.attr_data(b)) {
            (AttrData::Text(a, ty), AttrData::Text(b, other)) => {
                let same_type = match (*ty, *other) {
                    (Some(a), Some(b)) => self.defer(ComparedPair::Types(a, b)),
                    (a, b) => a == b,
                };
                same_type && self.are_equal_texts(*a, *b)
            }
            (AttrData::Elements(a, ty), AttrData::Elements(b, other)) => {
                self.are_equal_texts(*a, *b) && self.defer(ComparedPair::Types(*ty, *other))
            }
            (AttrData::Int { value: a, ty }, AttrData::Int { value: b, ty: other }) => {
                a == b && self.defer(ComparedPair::Types(*ty, *other))
            }
            (AttrData::Type(a), AttrData::Type(b)) => self.defer(ComparedPair::Types(*a, *b)),
            (AttrData::Array(a), AttrData::Array(b)) => self.are_equal_attr_lists(a, b),
            (AttrData::Dict(a), AttrData::Dict(b)) => {
                self.worklist.extend(a.iter().zip(b).map(|(a, b)| ComparedPair::Attrs(a.1, b.1)));
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0)
            }
            _ => false,
        }
    }

    fn are_equal_texts(&self, a: Name, b: Name) -> bool {
        let [a, b] =
            [a, b].map(|it| ComparableTokens { rest: self.interner.str(it), is_in_word: false });
        a.eq(b)
    }
}

/// The tokens of a text for comparison: its characters without blanks, and its floats by value,
/// because a dialect's printer may print `2.0` as `2.000000e+00`.
struct ComparableTokens<'a> {
    rest: &'a str,
    /// True if the next character may continue a word. The digits of a word are not a number.
    is_in_word: bool,
}

#[derive(PartialEq)]
enum ComparableToken<'a> {
    Character(char),
    String(&'a str),
    Float(f64),
}

impl<'a> Iterator for ComparableTokens<'a> {
    type Item = ComparableToken<'a>;

    fn next(&mut self) -> Option<ComparableToken<'a>> {
        let text = self.rest.trim_start();
        let first = text.chars().next()?;
        let in_word = self.is_in_word && text.len() == self.rest.len();
        let (len, piece) = match first {
            '"' => {
                let len = string_len(text);
                (len, ComparableToken::String(&text[..len]))
            }
            '0'..='9' if !in_word && let (len, true) = number_end(text.as_bytes(), 0) => {
                (len, ComparableToken::Float(text[..len].parse().unwrap_or(f64::NAN)))
            }
            it => (it.len_utf8(), ComparableToken::Character(it)),
        };
        self.is_in_word = first.is_alphanumeric() || first == '_';
        self.rest = &text[len..];
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use crate::Source;

    /// Checks the number of problems of a function that returns a value whose type is nested in one
    /// chain of tuples, where the other chain is expected.
    fn check(first: [&str; 2], expected: usize) {
        let n = 50_000;
        let mut text = format!("!b0 = {}\n!c0 = {}\n", first[0], first[1]);
        for i in 1..n {
            let before = i - 1;
            text += &format!("!b{i} = tuple<!b{before}>\n!c{i} = tuple<!c{before}>\n");
        }
        let last = n - 1;
        text += &format!("func.func @f(%x: !b{last}) -> !c{last} {{ return %x : !b{last} }}");
        assert_eq!(Source::read(&text, 0).problems().len(), expected, "{first:?}");
    }

    #[test]
    fn floats_are_compared_by_value() {
        let n_problems = |a: &str, b: &str| {
            let text = format!("func.func @f(%x: {a}) -> {b} {{ return %x : {b} }}");
            Source::read(&text, 0).problems().len()
        };
        let uniform = |scale: &str| format!("!quant.uniform<u8:f16, {scale}:128>");
        for (a, b) in [
            ("2.000000e+02", "2.000000e+2"),
            ("2.0e2", "200.0"),
            ("0.1", "1.000000E-01"),
            ("1.", "1.0"),
            ("-0.5", "- 5.0e-1"),
        ] {
            assert_eq!(n_problems(&uniform(a), &uniform(b)), 0, "{a} {b}");
        }
        for (a, b) in
            [("2.0e2", "2.0e3"), ("0.1", "0.2"), ("2", "2.0"), ("1.0e", "1.0"), ("02", "2")]
        {
            assert_ne!(n_problems(&uniform(a), &uniform(b)), 0, "{a} {b}");
        }
        assert_ne!(n_problems("!x.y<v1.0>", "!x.y<v1.00>"), 0, "a version is no number");
    }

    #[test]
    fn deep_types_are_compared_on_a_small_stack() {
        check(["!x.y< a>", "!x.y<a>"], 0);
        check(["!x.y<b>", "!x.y<a>"], 1);
    }
}
