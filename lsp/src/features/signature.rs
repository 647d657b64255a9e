//! Signature help: the parameters of the function that is called, or the operands of the op that is written.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::Document;
use noisy_syntax::OpKind;
use noisy_syntax::string::unquoted;

use super::{snippet, words};

/// A signature and where in it the cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The whole of it.
    pub label: String,
    /// The parameters, as bytes of the label.
    pub parameters: Vec<Range<usize>>,
    /// The one that is written now.
    pub active: usize,
    /// More about it.
    pub doc: String,
}

/// The signature that matters at an offset.
pub(crate) fn signature(document: &Document, offset: usize) -> Option<Signature> {
    let rope = document.source().text();
    let start = rope.line_to_byte(rope.byte_to_line(offset)).max(offset.saturating_sub(2000));
    let start = rope.char_to_byte(rope.byte_to_char(start));
    let before = document.source().slice(start..offset);
    called(document, &before, offset).or_else(|| written(&before))
}

/// The function in whose call `... @f(%a, ` the text ends.
fn called(document: &Document, before: &str, offset: usize) -> Option<Signature> {
    let open = before.rfind('(')?;
    let arguments = &before[open + 1..];
    if arguments.contains(')') {
        return None;
    }
    let name = before[..open].rsplit('@').next().filter(|_| before[..open].contains('@'))?;
    let ir = document.ir();
    let op = ir.item_at(offset).or_else(|| ir.item_at(offset.checked_sub(1)?))?;
    let function = ir.resolve_symbol(op, ir.interner.find_name(&unquoted(name))?)?;
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

/// The op whose operands are written.
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
