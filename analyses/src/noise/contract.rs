//! Contracts: `{noisy.bound = N : i64}` on an argument or a result of a function says that its noise is at most `N` bits.
//!
//! On an argument it is what the body may assume and what callers have to keep; on a result it is what the body has to keep and,
//! where there is no body, what callers may assume.

use std::ops::Range;

use noisy_syntax::lex::lex;
use noisy_syntax::{Attr, AttrData, Form, Ir, Op, OpKind, Source, Span, TokenKind, TypeData};

use crate::noise::model::Bits;
use crate::view::View;

/// The name of the attribute.
pub const NAME: &str = "noisy.bound";

/// Where on a function a contract stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On an argument.
    Argument,
    /// On a result.
    Result,
}

/// What a contract says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// At most so many bits.
    Bound(Bits),
    /// Something that is no number of bits.
    Wrong,
}

fn in_dict(ir: &impl View, dict: Attr) -> Option<Contract> {
    let AttrData::Dict(entries) = ir.interner().attr_data(dict) else { return None };
    let name = ir.interner().find_name(NAME)?;
    let (_, attr) = entries.iter().find(|(it, _)| *it == name)?;
    Some(match ir.interner().attr_data(*attr) {
        AttrData::Int { value, .. } => {
            Bits::try_from(*value).map_or(Contract::Wrong, Contract::Bound)
        }
        _ => Contract::Wrong,
    })
}

/// The attributes in which ops other than functions list the dictionaries of what they take and give.
pub(crate) const LISTS: [&str; 2] = ["__argattrs", "__resattrs"];

/// The attribute that holds the dictionaries of a side: of functions, and of other ops as HEIR has it (`OperandAndResultAttrInterface`).
fn list(side: Side, is_function: bool) -> &'static str {
    match (side, is_function) {
        (Side::Argument, true) => "arg_attrs",
        (Side::Result, true) => "res_attrs",
        (Side::Argument, false) => LISTS[0],
        (Side::Result, false) => LISTS[1],
    }
}

fn dicts(ir: &impl View, op: Op, side: Side) -> &[Attr] {
    let name = list(side, ir.op(op).kind == OpKind::FuncFunc);
    match ir.attr(op, name).map(|it| ir.interner().attr_data(it)) {
        Some(AttrData::Array(items)) => items,
        _ => &[],
    }
}

/// The contract on an argument or a result of a function.
pub fn of(ir: &impl View, function: Op, side: Side, index: usize) -> Option<Contract> {
    in_dict(ir, dictionary(ir, function, side, index)?)
}

/// The attributes of an argument or a result of a function, or of an operand or a result of another op.
pub(crate) fn dictionary(ir: &impl View, op: Op, side: Side, index: usize) -> Option<Attr> {
    let written = match side {
        Side::Argument => ir.extra(op).argument_attrs.get(index).copied().flatten(),
        Side::Result => None,
    };
    written.or_else(|| dicts(ir, op, side).get(index).copied())
}

/// The attributes of all arguments and results of a function, or operands and results of another op, that have any.
pub(crate) fn dictionaries(ir: &Ir, op: Op) -> Vec<Attr> {
    let written = ir.extra(op).argument_attrs.iter().copied().flatten();
    let listed = [Side::Argument, Side::Result].map(|it| dicts(ir, op, it));
    written.chain(listed.into_iter().flatten().copied()).collect()
}

/// All contracts of a function.
pub(crate) fn all(ir: &Ir, function: Op) -> Vec<(Side, usize, Contract)> {
    let mut out = Vec::new();
    for side in [Side::Argument, Side::Result] {
        let n = match side {
            Side::Argument => ir.extra(function).argument_attrs.len(),
            Side::Result => 0,
        };
        for index in 0..n.max(dicts(ir, function, side).len()) {
            out.extend(of(ir, function, side, index).map(|it| (side, index, it)));
        }
    }
    out
}

/// Whether a function states any.
pub(crate) fn is_stated(ir: &Ir, function: Op) -> bool {
    ir.interner.find_name(NAME).is_some() && !all(ir, function).is_empty()
}

/// The indices of the results of a function that are of a type for which `holds`.
pub(crate) fn results_of_type(
    ir: &Ir,
    function: Op,
    holds: &dyn Fn(noisy_syntax::Type) -> bool,
) -> Vec<usize> {
    let Some(attr) = ir.attr(function, "function_type") else { return Vec::new() };
    let AttrData::Type(ty) = ir.interner.attr_data(attr) else { return Vec::new() };
    let TypeData::Function { results, .. } = ir.interner.type_data(*ty) else { return Vec::new() };
    results.iter().enumerate().filter(|it| holds(*it.1)).map(|it| it.0).collect()
}

/// Where a contract stands: `noisy.bound = 20 : i64`; the head of the function if it is not to be found there.
pub fn range(source: &Source, function: Op, side: Side, index: usize) -> Range<usize> {
    let found = attribute_range(source, function, side, index, NAME);
    found.unwrap_or_else(|| source.ir().head_range(function))
}

/// Where an attribute of an argument or a result of a function, or of an operand or a result of another op, stands: `name = value`.
pub(crate) fn attribute_range(
    source: &Source,
    op: Op,
    side: Side,
    index: usize,
    name: &str,
) -> Option<Range<usize>> {
    let ir = source.ir();
    let data = ir.op(op);
    let is_function = data.kind == OpKind::FuncFunc;
    // Functions and generics have them behind types, unless they are in the generic form.
    let is_listed = data.form == Form::Generic || !is_function && data.form != Form::Opaque;
    let list = is_listed.then(|| list(side, is_function));
    let found = find(&own_text(source, op), list, side, index, name)?;
    Some(ir.absolute(op, found))
}

/// The text of an op without that of its regions.
pub(crate) fn own_text(source: &Source, op: Op) -> String {
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

/// Where an attribute stands in the text of an op, by the number of what has it: in the attribute `list`, or behind a type.
fn find(text: &str, list: Option<&str>, side: Side, index: usize, name: &str) -> Option<Span> {
    let tokens = lex(text).tokens;
    let word = |at: usize| tokens.get(at).map_or("", |it| &text[it.range()]);
    let kind = |at: usize| tokens.get(at).map_or(TokenKind::Eof, |it| it.kind);
    // The token that opens the list.
    let mut depth = 0_i32;
    let mut open = None;
    for at in 0..tokens.len() {
        let is_start = if let Some(list) = list {
            word(at).trim_matches('"') == list
                && kind(at + 1) == TokenKind::Equal
                && kind(at + 2) == TokenKind::LSquare
        } else {
            depth == 0
                && match side {
                    Side::Argument => kind(at) == TokenKind::LParen,
                    Side::Result => {
                        kind(at) == TokenKind::Arrow && kind(at + 1) == TokenKind::LParen
                    }
                }
        };
        if is_start {
            let skipped = if list.is_some() { 2 } else { usize::from(side == Side::Result) };
            open = Some(at + skipped);
            break;
        }
        depth += nesting(kind(at));
    }
    // From the comma before it to the comma after it.
    let (mut depth, mut n) = (0_i32, 0);
    let mut start = None;
    for at in open?..tokens.len() {
        let change = nesting(kind(at));
        let is_end = |depth: i32| kind(at) == TokenKind::Comma || depth + change < 2;
        match start {
            Some((_, inner)) if depth == inner && is_end(depth) => {
                let (first, _): (usize, i32) = start?;
                return Some(tokens[first].span().to(tokens[at - 1].span()));
            }
            None if n == index
                && word(at).trim_matches('"') == name
                && kind(at + 1) == TokenKind::Equal =>
            {
                start = Some((at, depth));
            }
            _ => {}
        }
        depth += change;
        if depth <= 0 {
            return None;
        }
        if depth == 1 && kind(at) == TokenKind::Comma {
            n += 1;
        }
    }
    None
}

fn nesting(kind: TokenKind) -> i32 {
    match kind {
        TokenKind::LParen | TokenKind::LBrace | TokenKind::LSquare | TokenKind::Less => 1,
        TokenKind::RParen | TokenKind::RBrace | TokenKind::RSquare | TokenKind::Greater => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_generic: bool, side: Side, index: usize, expected: Option<&str>) {
        let list = is_generic.then(|| list(side, true));
        let found = find(text, list, side, index, NAME).map(|it| &text[it.range()]);
        assert_eq!(found, expected, "{text} {side:?} {index}");
    }

    #[test]
    fn contracts_are_found_where_they_stand() {
        let text = "func.func private @f(%a: !noisy.i32 {x = [1, 2], noisy.bound = 5 : i64}, i32, !noisy.i32 {noisy.bound = -1}) -> (tensor<2x!noisy.i32>, !noisy.i32 {\"noisy.bound\" = 7 : i64, y})";
        check(text, false, Side::Argument, 0, Some("noisy.bound = 5 : i64"));
        check(text, false, Side::Argument, 1, None);
        check(text, false, Side::Argument, 2, Some("noisy.bound = -1"));
        check(text, false, Side::Result, 0, None);
        check(text, false, Side::Result, 1, Some("\"noisy.bound\" = 7 : i64"));
        let generic = "\"func.func\"() <{arg_attrs = [{}, {noisy.bound = 9 : i64}], function_type = (i32, i32) -> ()}> (";
        check(generic, true, Side::Argument, 1, Some("noisy.bound = 9 : i64"));
        check(generic, true, Side::Argument, 0, None);
        check(generic, true, Side::Result, 0, None);
    }
}
