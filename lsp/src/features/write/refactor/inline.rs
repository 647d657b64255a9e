//! Inlines a call of a function with one block: the text of the function replaces the call,
//! including comments. A name that is taken gets a number. A result keeps the name of the call's
//! result if possible.

use noisy_analyses::{Document, TextEdit};
use noisy_syntax::{Def, Ir, Op, OpKind, Traits, Value};
use rustc_hash::FxHashMap;

use super::names::{self, TakenNames};
use super::text;
use crate::features::find::cursor;
use crate::features::write::rename;

/// The call at an offset, its callee, and the ops of the callee's only block, if the call can be
/// inlined.
fn call_at(document: &Document, offset: usize) -> Option<(Op, Op, Vec<Op>)> {
    let ir = document.ir();
    let call = ir.item_at(offset).filter(|it| ir.range(*it).contains(&offset))?;
    if ir.op(call).kind != OpKind::FuncCall {
        return None;
    }
    let &(last, first, _) = ir.extra(call).symbol_uses.first()?;
    let callee = cursor::resolve_symbol(ir, call, first, last)?;
    let &[(_, region)] = &ir.op(callee).regions[..] else { return None };
    let is_around = ir.function_of(call) == Some(callee);
    if ir.op(callee).kind != OpKind::FuncFunc || is_around || ir.is_broken(callee) {
        return None;
    }
    // Otherwise a symbol in the body could refer to another op at the call.
    if ir.symbol_table_around(call) != ir.parent_op(callee) {
        return None;
    }
    let block = ir.only_block(region)?;
    if !names::have_clear_names(ir, &names::items_of(ir, &[callee])) {
        return None;
    }
    let ops: Vec<Op> = ir.block_ops(block).filter(|it| ir.op(*it).kind.is_op()).collect();
    let end = ops.last()?;
    let has_all = ir.block(block).args.len() == ir.op(call).operands.len()
        && ir.op(*end).operands.len() == ir.op(call).results.len();
    (ir.op(*end).kind.has(Traits::TERMINATOR) && has_all).then_some((call, callee, ops))
}

/// The callee of an inlinable call at an offset.
pub(super) fn callee(document: &Document, offset: usize) -> Option<Op> {
    Some(call_at(document, offset)?.1)
}

/// The name of a result of a call, unless the result is part of a pack.
fn own_name(ir: &Ir, value: Value) -> Option<String> {
    let is_alone = cursor::values_with_same_name(ir, value).len() == 1;
    let Def::Result(op, _) = ir.value(value).def else { return None };
    let is_plain = ir.op(op).result_names.iter().any(|it| it.name == ir.value(value).name);
    (is_alone && is_plain && !ir.value_text(value).contains('#'))
        .then(|| names::bare_name(ir, value))
}

pub(super) fn edits(document: &Document, offset: usize) -> Result<Vec<TextEdit>, String> {
    let (ir, source) = (document.ir(), document.source());
    let (call, callee, ops) = call_at(document, offset).ok_or("there is no call to inline")?;
    let function = ir.function_of(call).ok_or("the call is not in a function")?;
    let &(_, region) = ir.op(callee).regions.first().ok_or("the function has no body")?;
    let end = ops[ops.len() - 1];
    let argument_of = |value: Value| match ir.value(value).def {
        Def::Argument(block, n) if ir.block(block).region == region => Some(n as usize),
        _ => None,
    };
    let passed = |n: usize| ir.op(call).operands.get(n).and_then(|it| it.value);

    // A value that is returned once takes the name of the call's result.
    let returned: Vec<Value> = ir.op(end).operands.iter().filter_map(|it| it.value).collect();
    let mut named: FxHashMap<Value, String> = FxHashMap::default();
    for (&inner, &outer) in returned.iter().zip(&ir.op(call).results) {
        let is_once = returned.iter().filter(|it| **it == inner).count() == 1;
        if argument_of(inner).is_none() && is_once && own_name(ir, inner).is_some() {
            named.extend(own_name(ir, outer).map(|name| (inner, name)));
        }
    }

    // The values in the callee, and their new names.
    let mut taken = TakenNames::of(ir, function);
    let items = names::items_of(ir, &[callee]);
    let inside = names::named_values(ir, &items, usize::MAX).unwrap_or_default();
    let mut new_name: FxHashMap<Value, String> = FxHashMap::default();
    let mut renames = Vec::new();
    for value in inside {
        let name = match (argument_of(value), named.get(&value)) {
            (Some(n), _) => {
                let value = passed(n).ok_or("an operand of the call is unknown")?;
                ir.value_text(value)
            }
            (None, Some(name)) => format!("%{name}"),
            (None, None) => format!("%{}", taken.reserve(&names::bare_name(ir, value))),
        };
        let mentions = rename::value_mentions(source, value).into_iter();
        renames.extend(mentions.map(|range| TextEdit { range, text: name.clone() }));
        new_name.insert(value, name);
    }
    let new_text = |value: Value| {
        let first = cursor::values_with_same_name(ir, value).first().copied().unwrap_or(value);
        let name = new_name.get(&first)?;
        let is_pack = ir.value_text(value).contains('#') && argument_of(value).is_none();
        Some(if is_pack { format!("{name}#{}", ir.value(value).number) } else { name.clone() })
    };

    // Uses of results whose names change.
    let mut edits = Vec::new();
    for (&inner, &outer) in returned.iter().zip(&ir.op(call).results) {
        if named.contains_key(&inner) {
            continue;
        }
        let text = new_text(inner).ok_or("a returned value has no name")?;
        for &(op, n) in &ir.value(outer).uses {
            let range = ir.absolute(op, ir.op(op).operands[n as usize].span);
            edits.push(TextEdit { range, text: text.clone() });
        }
    }

    let label = ir.items(region).next().filter(|it| ir.op(*it).kind == OpKind::Label);
    let start = label.map_or_else(|| ir.region_start(region), |it| ir.range(it).end);
    let body = start..ir.range(end).start;
    let text = text::apply_edits(
        &source.slice(body.clone()),
        body.start,
        &text::edits_within(renames, &body),
    )
    .ok_or("two names overlap")?;
    let old = source.indentation(ir.range(ops[0]).start);
    let whole = ir.range(call);
    let new = source.indentation(whole.start);
    let text = text.trim_end();
    // A comment after the opening brace stays on its line.
    let first_line = text.split('\n').next().unwrap_or_default();
    let text = if first_line.trim().is_empty() {
        text.trim_start_matches([' ', '\t', '\r', '\n'])
    } else {
        text.trim_start()
    };
    let indented = text::reindent(text, &old, &new);
    let text = indented.strip_prefix(&*new).unwrap_or(&indented);
    // If no text replaces the call, its line is removed too, unless there is other text on it.
    let range = if text.is_empty() { source.lines_of(call, false) } else { whole };
    edits.push(source.keep_code_after(TextEdit { range, text: text.to_owned() }));
    Ok(edits)
}
