//! Declares bounds (`noisy.bound`) for the noisy arguments of a function that have none: the
//! maximum that its calls in the file pass.

use noisy_analyses::{Document, Noise, TextEdit};
use noisy_syntax::lex::Lexer;
use noisy_syntax::{AttrData, Form, Ir, Op, OpKind, TokenKind, Value};

use crate::features::find::reference;

/// The arguments that get a bound; `None` if a call or the noise it passes is unknown, or the noise
/// is too high.
fn bounds(document: &Document, function: Op) -> Option<Vec<(Value, u32)>> {
    let ir = document.ir();
    let &[(_, region)] = &ir.op(function).regions[..] else { return None };
    let is_plain = ir.op(function).form != Form::Generic;
    let calls = reference::symbol_uses(ir, function);
    if !is_plain || calls.is_empty() || calls.iter().any(|it| ir.op(it.0).kind != OpKind::FuncCall)
    {
        return None;
    }
    let mut out = Vec::new();
    for (n, &value) in ir.block(ir.region(region).entry).args.iter().enumerate() {
        if !document.is_noisy(value) || has_bound(ir, function, n) {
            continue;
        }
        let mut most = 0;
        for (call, _) in &calls {
            let passed = ir.op(*call).operands.get(n)?.value?;
            match *document.noise(passed) {
                Noise::AtMost(hi) if hi <= document.model().budget => most = most.max(hi),
                // An unreachable call passes no noise.
                Noise::Bottom => {}
                _ => return None,
            }
        }
        out.push((value, most));
    }
    (!out.is_empty()).then_some(out)
}

fn has_bound(ir: &Ir, function: Op, n: usize) -> bool {
    let attr = ir.extra(function).argument_attrs.get(n).copied().flatten();
    let entries = match attr.map(|it| ir.interner.attr_data(it)) {
        Some(AttrData::Dict(entries)) => &entries[..],
        _ => &[],
    };
    entries.iter().any(|it| ir.interner.str(it.0) == "noisy.bound")
}

/// True if there is a bound to declare.
pub(super) fn is_possible(document: &Document, function: Op) -> bool {
    bounds(document, function).is_some()
}

pub(super) fn edits(document: &Document, function: Op) -> Result<Vec<TextEdit>, String> {
    let (ir, source) = (document.ir(), document.source());
    let bounds = bounds(document, function).ok_or("the noise that its calls pass is unknown")?;
    let head = ir.head_range(function);
    let mut edits = Vec::new();
    for (value, bound) in bounds {
        let name = ir.absolute(function, ir.value(value).span);
        let text = source.slice(name.end..head.end.max(name.end));
        let (end, is_dict) = end_of_type(&text).ok_or("the type of an argument is incomplete")?;
        let at = name.end + end;
        let bound = format!("noisy.bound = {bound} : i64");
        let next = Lexer::new(false).next(&text.as_bytes()[end..]).0;
        let is_empty = next.kind == TokenKind::RBrace;
        let text = match (is_dict, is_empty) {
            (true, false) => format!("{bound}, "),
            (true, true) => bound,
            (false, _) => format!(" {{{bound}}}"),
        };
        edits.push(TextEdit { range: at..at, text });
    }
    Ok(edits)
}

/// The end of the type after the name of an argument, and false; or the start of the attributes
/// after it, and true.
fn end_of_type(text: &str) -> Option<(usize, bool)> {
    let mut lexer = Lexer::new(false);
    let mut depth = 0_usize;
    let mut end = 0;
    loop {
        let (token, _) = lexer.next(text.as_bytes());
        match token.kind {
            TokenKind::LBrace if depth == 0 => return Some((token.range().end, true)),
            TokenKind::LParen | TokenKind::LSquare | TokenKind::Less | TokenKind::LBrace => {
                depth += 1;
            }
            TokenKind::RParen | TokenKind::Comma if depth == 0 => return Some((end, false)),
            TokenKind::Bare if depth == 0 && &text[token.range()] == "loc" => {
                return Some((end, false));
            }
            TokenKind::RParen | TokenKind::RSquare | TokenKind::Greater | TokenKind::RBrace => {
                depth = depth.checked_sub(1)?;
            }
            TokenKind::Eof => return None,
            _ => {}
        }
        end = token.range().end;
    }
}
