//! Attributes of arguments, operands and results, and their positions in the text.
//!
//! MLIR lists the attributes of the arguments and results of a function as dictionaries
//! (`arg_attrs`, `res_attrs`). HEIR does the same for the operands and results of other ops
//! (`__argattrs`, `__resattrs`, its `OperandAndResultAttrInterface`).

use std::ops::Range;

use noisy_syntax::lex::lex;
use noisy_syntax::string::unquoted;
use noisy_syntax::{Attr, AttrData, Form, Ir, Op, OpKind, Source, Span, Token, TokenKind};
use rustc_hash::FxHashMap;

use crate::view::ProgramView;

/// The kind of a value with attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueSide {
    /// An argument of a function, or an operand of another op.
    Argument,
    /// A result.
    Result,
}

/// Names of the attributes that list dictionaries for the operands and the results of ops other
/// than functions.
pub const DICTIONARY_LISTS: [&str; 2] = ["__argattrs", "__resattrs"];

/// Returns the name of the attribute that lists the dictionaries of a side.
fn list_attribute_name(side: ValueSide, is_function: bool) -> &'static str {
    match (side, is_function) {
        (ValueSide::Argument, true) => "arg_attrs",
        (ValueSide::Result, true) => "res_attrs",
        (ValueSide::Argument, false) => DICTIONARY_LISTS[0],
        (ValueSide::Result, false) => DICTIONARY_LISTS[1],
    }
}

fn listed_dictionaries(ir: &impl ProgramView, op: Op, side: ValueSide) -> &[Attr] {
    let name = list_attribute_name(side, ir.op(op).kind == OpKind::FuncFunc);
    match ir.attr(op, name).map(|it| ir.interner().attr_data(it)) {
        Some(AttrData::Array(items)) => items,
        _ => &[],
    }
}

/// Returns the attributes of an argument or a result of a function, or of an operand or a result of
/// another op.
pub fn dictionary(ir: &impl ProgramView, op: Op, side: ValueSide, index: usize) -> Option<Attr> {
    let written = attrs_after_types(ir, op, side).get(index).copied().flatten();
    written.or_else(|| listed_dictionaries(ir, op, side).get(index).copied())
}

/// Returns the attributes that are written after the types of arguments.
fn attrs_after_types(ir: &impl ProgramView, op: Op, side: ValueSide) -> &[Option<Attr>] {
    match side {
        ValueSide::Argument => &ir.extra(op).argument_attrs,
        ValueSide::Result => &[],
    }
}

/// Returns the attributes of all arguments and results of a function, or operands and results of
/// another op, each with its index. Values without attributes are left out.
pub fn dictionaries(ir: &Ir, op: Op) -> Vec<(ValueSide, usize, Attr)> {
    let of = |side: ValueSide| {
        let n = attrs_after_types(ir, op, side).len().max(listed_dictionaries(ir, op, side).len());
        (0..n).filter_map(move |at| Some((side, at, dictionary(ir, op, side, at)?)))
    };
    of(ValueSide::Argument).chain(of(ValueSide::Result)).collect()
}

/// The range of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeRange {
    /// The whole attribute, `name = value`.
    pub whole: Range<usize>,
    /// The name.
    pub name: Range<usize>,
    /// The value; empty if there is none.
    pub value: Range<usize>,
}

/// Returns the ranges of all attributes with a name on arguments, operands or results, each with
/// the index of its value.
pub fn listed_attributes(
    source: &Source,
    op: Op,
    name: &str,
) -> Vec<(ValueSide, usize, AttributeRange)> {
    let data = source.ir().op(op);
    let is_function = data.kind == OpKind::FuncFunc;
    // The custom forms of functions and `secret.generic` write the attributes after the types.
    let is_listed = data.form == Form::Generic || !is_function && data.form != Form::Opaque;
    let text = own_text(source, op);
    let words = OpTokens::new(&text);
    let of = |side: ValueSide| {
        let found = words.find_listed(
            is_listed.then(|| list_attribute_name(side, is_function)),
            side,
            name,
        );
        found.into_iter().map(move |(at, it)| (side, at, it.absolute(source, op)))
    };
    of(ValueSide::Argument).chain(of(ValueSide::Result)).collect()
}

/// Returns the range of an attribute of an op, or else of a key inside an attribute of the op.
pub fn own_attribute(source: &Source, op: Op, name: &str) -> Option<AttributeRange> {
    let text = own_text(source, op);
    let words = OpTokens::new(&text);
    let found =
        words.find_own(name, &|depth| depth == 1).or_else(|| words.find_own(name, &|_| true))?;
    Some(found.absolute(source, op))
}

/// Returns the ranges of all attributes of an op, by name. *Cost.* Linear in the text of the op.
pub fn own_attributes(source: &Source, op: Op) -> FxHashMap<String, AttributeRange> {
    let text = own_text(source, op);
    let words = OpTokens::new(&text);
    let mut out = FxHashMap::default();
    for found in words.all_own() {
        let name = unquoted(&text[found.name.range()]).to_string();
        out.entry(name).or_insert_with(|| found.absolute(source, op));
    }
    out
}

/// Returns the text of an op without its regions.
fn own_text(source: &Source, op: Op) -> String {
    let data = source.ir().op(op);
    let ends = data.regions.iter().map(|it| it.0).chain([data.own_len]);
    let mut from = 0;
    let mut out = String::new();
    for to in ends {
        out.push_str(&source.span_text(op, Span::new(from, to)));
        from = to;
    }
    out
}

/// The tokens of an attribute in the text of an op.
struct FoundAttribute {
    name: Span,
    value: Span,
}

impl FoundAttribute {
    fn absolute(&self, source: &Source, op: Op) -> AttributeRange {
        let of = |it: Span| source.ir().absolute(op, it);
        let whole = of(self.name.to(self.value));
        AttributeRange { whole, name: of(self.name), value: of(self.value) }
    }
}

/// The tokens of an op. A search in tokens does not match comments or the contents of strings.
struct OpTokens<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> OpTokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, tokens: lex(text).tokens }
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |it| &self.text[it.range()])
    }

    fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::Eof, |it| it.kind)
    }

    /// Returns the attributes with a name, each with the index of its value. They are in the
    /// attribute `list` of the op, or after types.
    fn find_listed(
        &self,
        list: Option<&str>,
        side: ValueSide,
        name: &str,
    ) -> Vec<(usize, FoundAttribute)> {
        let in_dict = |depth, n| (depth == 2).then_some(n);
        let is_it = |it: &str| it == name;
        if let Some(list) = list {
            let found = self.find_own(list, &|depth| depth == 1);
            let open = found.map(|it| self.tokens.partition_point(|t| t.start < it.value.start));
            let open = open.filter(|&it| self.kind(it) == TokenKind::LSquare);
            return open.map_or_else(Vec::new, |it| self.read_entries(it, &is_it, &in_dict));
        }
        let mut depth = 0_i32;
        for at in 0..self.tokens.len() {
            let open = match side {
                ValueSide::Argument => at,
                ValueSide::Result if self.kind(at) == TokenKind::Arrow => at + 1,
                ValueSide::Result => self.tokens.len(),
            };
            if depth == 0 && self.kind(open) == TokenKind::LParen {
                return self.read_entries(open, &is_it, &in_dict);
            }
            depth += self.nesting(at);
        }
        Vec::new()
    }

    /// Returns the opening braces of the dictionaries of the op itself.
    fn own_dicts(&self) -> impl Iterator<Item = usize> {
        let mut depth = 0_i32;
        (0..self.tokens.len()).filter_map(move |at| {
            // Properties are written `<{...}>`.
            let is_dict = |at: usize| self.kind(at) == TokenKind::LBrace;
            let open = match self.kind(at) {
                TokenKind::Less if is_dict(at + 1) => at + 1,
                _ => at,
            };
            let is_own = depth == 0 && is_dict(open);
            depth += self.nesting(at);
            is_own.then_some(open)
        })
    }

    /// Returns an attribute in a dictionary of the op itself, at a bracket depth for which `is_in`
    /// is true.
    fn find_own(&self, name: &str, is_in: &dyn Fn(i32) -> bool) -> Option<FoundAttribute> {
        self.own_dicts().find_map(|open| {
            let number = |depth, _| is_in(depth).then_some(0);
            self.read_entries(open, &|it| it == name, &number).into_iter().next().map(|it| it.1)
        })
    }

    /// Returns the attributes of the op itself.
    fn all_own(&self) -> impl Iterator<Item = FoundAttribute> {
        let all = |open| self.read_entries(open, &|_| true, &|depth, n| (depth == 1).then_some(n));
        self.own_dicts().flat_map(all).map(|it| it.1)
    }

    /// Returns the wanted attributes inside the bracket that opens at `open`, the first one for
    /// each number. `number` computes the number of an attribute from the bracket depth and from
    /// the number of preceding commas directly in this bracket; `None` skips the attribute.
    fn read_entries(
        &self,
        open: usize,
        is_wanted: &dyn Fn(&str) -> bool,
        number: &dyn Fn(i32, usize) -> Option<usize>,
    ) -> Vec<(usize, FoundAttribute)> {
        let (mut depth, mut n) = (0_i32, 0);
        let mut out: Vec<(usize, FoundAttribute)> = Vec::new();
        // Token of the name, bracket depth, and number of the current attribute.
        let mut start: Option<(usize, i32, usize)> = None;
        for at in open..self.tokens.len() {
            let kind = self.kind(at);
            let change = self.nesting(at);
            match start {
                Some((first, inner, number))
                    if depth == inner && (kind == TokenKind::Comma || depth + change < inner) =>
                {
                    let of = |at: usize| self.tokens[at].span();
                    let value = match at - 1 - first {
                        0 | 1 => Span::new(of(first).end, of(first).end),
                        _ => of(first + 2).to(of(at - 1)),
                    };
                    out.push((number, FoundAttribute { name: of(first), value }));
                    start = None;
                }
                None if self.is_wanted_name(at, is_wanted) => {
                    let number = number(depth, n);
                    let is_new = |number: &usize| out.last().is_none_or(|it| it.0 != *number);
                    start = number.filter(is_new).map(|it| (at, depth, it));
                }
                _ => {}
            }
            depth += change;
            if depth <= 0 {
                return out;
            }
            if depth == 1 && kind == TokenKind::Comma {
                n += 1;
            }
        }
        out
    }

    /// Returns the change of the bracket depth at a token. `<=` and `>=` are not brackets.
    fn nesting(&self, at: usize) -> i32 {
        let compares = |token: &Token| self.text.as_bytes().get(token.end as usize) == Some(&b'=');
        let is_bracket = !self.tokens.get(at).is_some_and(compares);
        match self.kind(at) {
            TokenKind::LParen | TokenKind::LBrace | TokenKind::LSquare => 1,
            TokenKind::RParen | TokenKind::RBrace | TokenKind::RSquare => -1,
            TokenKind::Less if is_bracket => 1,
            TokenKind::Greater if is_bracket => -1,
            _ => 0,
        }
    }

    /// Returns true if a token is the name of an attribute in a dictionary, and the name is wanted.
    fn is_wanted_name(&self, at: usize, is_wanted: &dyn Fn(&str) -> bool) -> bool {
        let before = at.checked_sub(1).map(|it| self.kind(it));
        let is_it = match self.kind(at) {
            TokenKind::Bare => is_wanted(self.word(at)),
            TokenKind::Str => is_wanted(&unquoted(self.word(at))),
            _ => false,
        };
        is_it
            && matches!(before, Some(TokenKind::LBrace | TokenKind::Comma))
            && matches!(self.kind(at + 1), TokenKind::Equal | TokenKind::Comma | TokenKind::RBrace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_generic: bool, side: ValueSide, index: usize, expected: Option<&str>) {
        let list = is_generic.then(|| list_attribute_name(side, true));
        let found = OpTokens::new(text).find_listed(list, side, "noisy.bound");
        let found = found.into_iter().find(|it| it.0 == index).map(|it| it.1);
        let found = found.map(|it| &text[it.name.to(it.value).range()]);
        assert_eq!(found, expected, "{text} {side:?} {index}");
    }

    #[test]
    fn finds_contracts_in_both_forms() {
        let text = "func.func private @f(%a: !noisy.i32 {x = [1, 2], noisy.bound = 5 : i64}, i32, !noisy.i32 {noisy.bound = -1}) -> (tensor<2x!noisy.i32>, !noisy.i32 {\"noisy.bound\" = 7 : i64, y})";
        check(text, false, ValueSide::Argument, 0, Some("noisy.bound = 5 : i64"));
        check(text, false, ValueSide::Argument, 1, None);
        check(text, false, ValueSide::Argument, 2, Some("noisy.bound = -1"));
        check(text, false, ValueSide::Result, 0, None);
        check(text, false, ValueSide::Result, 1, Some("\"noisy.bound\" = 7 : i64"));
        let generic = "\"func.func\"() <{arg_attrs = [{}, {noisy.bound = 9 : i64}], function_type = (i32, i32) -> ()}> (";
        check(generic, true, ValueSide::Argument, 1, Some("noisy.bound = 9 : i64"));
        check(generic, true, ValueSide::Argument, 0, None);
        check(generic, true, ValueSide::Result, 0, None);
        let nested = "\"x.y\"() {Z = {arg_attrs = [{noisy.bound = 1}]}, arg_attrs = [{noisy.bound = 2}]} : () -> ()";
        check(nested, true, ValueSide::Argument, 0, Some("noisy.bound = 2"));
    }
    #[test]
    fn finds_own_attributes() {
        let check = |text: &str, expected: Option<&str>| {
            let words = OpTokens::new(text);
            let found = words.find_own("a.b", &|depth| depth == 1);
            assert_eq!(found.map(|it| &text[it.name.to(it.value).range()]), expected, "{text}");
        };
        check(
            "%1 = x.y %0 {s = \"a.b = 1\", a.b = [1, // a.b = 2\n 3], c} : i1",
            Some("a.b = [1, // a.b = 2\n 3]"),
        );
        check("%1 = \"x.y\"(%0) <{c, a.b}> {d = {a.b = 3}} : i1", Some("a.b"));
        check("%1 = x.y(%0 : i1 {a.b = 1}) {} -> (i1 {a.b = 1}) // {a.b = 2}", None);
        check("%1 = x.y {} {\"a.b\" = #c.d<a.b = 3>}", Some("\"a.b\" = #c.d<a.b = 3>"));
        check("%1 = x.y {\"a\\2Eb\" = 3}", Some("\"a\\2Eb\" = 3"));
        check("%1 = x.y {d = {a.b = 3}, e = a.b}", None);
        let compared = "%1 = x.y {s = affine_set<(d0) : (d0 - 1 >= 0, 9 <= d0)>, a.b = 1} : i1";
        check(compared, Some("a.b = 1"));
    }
}
