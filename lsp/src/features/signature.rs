//! Signature help: the parameters of the called function, or the operands of the op being written.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::Document;
use noisy_syntax::OpKind;

use super::{snippet, words};

/// A signature with the cursor's position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The whole signature.
    pub label: String,
    /// The parameters, as bytes of the label.
    pub parameters: Vec<Range<usize>>,
    /// Index of the current parameter.
    pub active: usize,
    pub doc: String,
}

/// The signature at an offset.
pub(crate) fn signature(document: &Document, offset: usize) -> Option<Signature> {
    let rope = document.source().text();
    let start = rope.line_to_byte(rope.byte_to_line(offset)).max(offset.saturating_sub(2000));
    let start = rope.char_to_byte(rope.byte_to_char(start));
    let before = document.source().slice(start..offset);
    called(document, &before, offset).or_else(|| written(&before))
}

/// The callee of the call `... @f(%a, ` at the end of the text.
fn called(document: &Document, before: &str, offset: usize) -> Option<Signature> {
    let open = before.rfind('(')?;
    let arguments = &before[open + 1..];
    if arguments.contains(')') {
        return None;
    }
    let name = before[..open].rsplit('@').next().filter(|_| before[..open].contains('@'))?;
    let ir = document.ir();
    let op = ir.item_at(offset).or_else(|| ir.item_at(offset.checked_sub(1)?))?;
    let function = ir.resolve_symbol(op, ir.interner.find_name(name.trim_matches('"'))?)?;
    let &(_, region) = ir.op(function).regions.first()?;
    let mut label = format!("@{name}(");
    let mut parameters = Vec::new();
    for &value in &ir.block(ir.region(region).entry).args {
        if !parameters.is_empty() {
            label.push_str(", ");
        }
        let from = label.len();
        let data = ir.value(value);
        if data.span.start < data.span.end {
            let _ = write!(label, "%{}: ", ir.interner.str(data.name));
        }
        label.push_str(&ir.interner.short_type_text(data.ty));
        parameters.push(from..label.len());
    }
    label.push(')');
    Some(Signature {
        label,
        parameters,
        active: arguments.matches(',').count(),
        doc: String::new(),
    })
}

/// The op whose operands are being written.
fn written(before: &str) -> Option<Signature> {
    let body = before.rsplit('=').next()?.trim_start();
    let name = body.split([' ', '\t']).next().filter(|it| it.len() < body.len())?;
    let (label, parameters) = snippet::shown(name)?;
    let active = body[name.len()..].matches([',', ':']).count();
    let doc = words::unwrapped(OpKind::of(name).spec().doc);
    (active < parameters.len()).then_some(Signature { label, parameters, active, doc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_op_being_written() {
        let found = written("  %0 = noisy.add %a, ")
            .map(|it| (it.label.clone(), it.label[it.parameters[it.active].clone()].to_owned()));
        assert_eq!(found, Some(("noisy.add %a, %b : !noisy.i32".to_owned(), "%b".to_owned())));
        assert_eq!(written("  %0 = noisy.add"), None);
        assert_eq!(written("  %0 = noisy.add %a, %b, "), None);
    }
}
