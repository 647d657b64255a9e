//! Signature help: the parameters of the called function, or the operands of the op being written.

use std::ops::Range;

use noisy_analyses::Document;
use noisy_syntax::lex::lex;
use noisy_syntax::string::unquoted;
use noisy_syntax::{AttrData, OpKind, TokenKind, TypeData, ValueData};

use crate::features::texts;
use crate::features::write::snippet;

/// A signature, with the parameter at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The whole signature.
    pub label: String,
    /// The parameters, as bytes of the label.
    pub parameters: Vec<Range<usize>>,
    /// Index of the current parameter.
    pub active_parameter: usize,
    pub doc: String,
}

/// The signature at an offset.
pub(crate) fn signature(document: &Document, offset: usize) -> Option<Signature> {
    let rope = document.source().text();
    let start = rope.line_to_byte(rope.byte_to_line(offset)).max(offset.saturating_sub(2000));
    let start = rope.char_to_byte(rope.byte_to_char(start));
    let before = document.source().slice(start..offset);
    signature_of_call(document, &before, offset).or_else(|| signature_of_op(&before))
}

/// The signature of the callee, if the text ends in a call such as `... @f(%a, `.
fn signature_of_call(document: &Document, before: &str, offset: usize) -> Option<Signature> {
    let (name, arguments) = unfinished_call(before)?;
    let ir = document.ir();
    let op = ir.item_at(offset).or_else(|| ir.item_at(offset.checked_sub(1)?))?;
    let function = ir.resolve_symbol(op, ir.interner.find_name(&unquoted(name))?)?;
    let AttrData::Type(ty) = ir.interner.attr_data(ir.attr(function, "function_type")?) else {
        return None;
    };
    let TypeData::Function { inputs, .. } = ir.interner.type_data(*ty) else { return None };
    let names = match ir.op(function).regions.first() {
        Some(&(_, region)) => {
            let args = ir.block(ir.region(region).entry).args.iter().map(|&it| ir.value(it));
            let name = |it: &ValueData| {
                let is_named = it.span.start < it.span.end;
                if is_named { format!("%{}: ", ir.interner.str(it.name)) } else { String::new() }
            };
            args.map(name).collect()
        }
        None => declared_names(&document.source().slice(ir.head_range(function))),
    };
    let mut label = format!("@{name}(");
    let mut parameters = Vec::new();
    for (at, &input) in inputs.iter().enumerate() {
        if !parameters.is_empty() {
            label.push_str(", ");
        }
        let from = label.len();
        if let Some(name) = names.get(at).filter(|_| names.len() == inputs.len()) {
            label.push_str(name);
        }
        label.push_str(&ir.interner.short_type_text(input));
        parameters.push(from..label.len());
    }
    label.push(')');
    Some(Signature {
        label,
        parameters,
        active_parameter: arguments.matches(',').count(),
        doc: String::new(),
    })
}

/// The names of the parameters in the text of a declaration, whose parameters are not values. Empty
/// if the parameters have no names.
fn declared_names(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut depth, mut is_first) = (0, false);
    let tokens = lex(text).tokens.into_iter().skip_while(|it| it.kind != TokenKind::At).skip(1);
    for token in tokens {
        if depth == 1 && is_first && token.kind == TokenKind::Percent {
            out.push(format!("{}: ", &text[token.range()]));
        }
        is_first = matches!(token.kind, TokenKind::LParen | TokenKind::Comma);
        match token.kind {
            TokenKind::LParen | TokenKind::LBrace | TokenKind::LSquare | TokenKind::Less => {
                depth += 1;
            }
            TokenKind::RParen | TokenKind::RBrace | TokenKind::RSquare | TokenKind::Greater => {
                depth -= 1;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    out
}

/// The callee and the arguments so far, if a text ends in the arguments of a call.
fn unfinished_call(before: &str) -> Option<(&str, &str)> {
    let tokens = lex(before).tokens;
    let open = tokens.iter().rposition(|it| it.kind == TokenKind::LParen)?;
    let (name, rest) = (tokens.get(open.checked_sub(1)?)?, &tokens[open + 1..]);
    if name.kind != TokenKind::At || rest.iter().any(|it| it.kind == TokenKind::RParen) {
        return None;
    }
    Some((&before[name.range()][1..], &before[tokens[open].range().end..]))
}

/// The signature of the op whose operands are being written.
fn signature_of_op(before: &str) -> Option<Signature> {
    let body = before.rsplit('=').next()?.trim_start();
    let name = body.split([' ', '\t']).next().filter(|it| it.len() < body.len())?;
    let (label, parameters) = snippet::first_line_with_placeholders(name)?;
    let active = body[name.len()..].matches([',', ':']).count();
    let doc = texts::join_lines(OpKind::of(name).spec().doc);
    (active < parameters.len()).then_some(Signature {
        label,
        parameters,
        active_parameter: active,
        doc,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The label and the active parameter at `~`.
    fn shown(text: &str) -> Option<(String, String)> {
        let at = text.find('~').expect("a cursor");
        let document = Document::new(&text.replacen('~', "", 1));
        let it = signature(&document, at)?;
        Some((
            it.label.clone(),
            it.label[it.parameters.get(it.active_parameter)?.clone()].to_owned(),
        ))
    }

    #[test]
    fn a_call_of_a_declared_function_shows_its_parameters() {
        for (declaration, label, active) in [
            ("func.func private @f(i32, i64) -> i32", "@f(i32, i64)", "i64"),
            ("func.func private @f(%a: i32, %b: i64)", "@f(%a: i32, %b: i64)", "%b: i64"),
            ("func.func private @f(%a: i32 {t.x}, %b: i64)", "@f(%a: i32, %b: i64)", "%b: i64"),
            ("func.func @f(i32, i64)", "@f(i32, i64)", "i64"),
            ("func.func nested @f(i32 {t.x = 1 : i32}, i64)", "@f(i32, i64)", "i64"),
            (
                "\"func.func\"() ({}) {function_type = (i32, i64) -> (), sym_name = \"f\", sym_visibility = \"private\"} : () -> ()",
                "@f(i32, i64)",
                "i64",
            ),
            ("func.func @f(%a: i32, %b: i64) { return }", "@f(%a: i32, %b: i64)", "%b: i64"),
        ] {
            for call in [
                "func.call @f(%x, ~",
                "call @f(%x, ~)",
                "%0 = func.call @f(%x, ~) : (i32, i64) -> i32",
            ] {
                for text in [
                    format!("{declaration}\nfunc.func @g(%x: i32) {{\n  {call}\n  return\n}}\n"),
                    format!("func.func @g(%x: i32) {{\n  {call}\n  return\n}}\n{declaration}\n"),
                ] {
                    let wanted = Some((label.to_owned(), active.to_owned()));
                    assert_eq!(shown(&text), wanted, "{text}");
                }
            }
        }
        let text = "func.func private @\"a (b\"(i32)\nfunc.func @g(%x: i32) {\n  call @\"a (b\"(~\n  return\n}\n";
        assert_eq!(shown(text), Some(("@\"a (b\"(i32)".to_owned(), "i32".to_owned())));
    }

    #[test]
    fn shows_the_operands_of_an_unfinished_op() {
        let found = signature_of_op("  %0 = noisy.add %a, ").map(|it| {
            (it.label.clone(), it.label[it.parameters[it.active_parameter].clone()].to_owned())
        });
        assert_eq!(found, Some(("noisy.add %a, %b : !noisy.i32".to_owned(), "%b".to_owned())));
        assert_eq!(signature_of_op("  %0 = noisy.add"), None);
        assert_eq!(signature_of_op("  %0 = noisy.add %a, %b, "), None);
    }
}
