//! Extracts consecutive, completely selected ops of a block into a function. Outer values that the
//! ops use become arguments, and values that are used after them become results. The text of the
//! ops moves unchanged, including comments.

use std::ops::Range;

use noisy_analyses::{Document, TextEdit};
use noisy_loops::edit::names::fresh_stem;
use noisy_syntax::{Def, Form, Ir, Op, OpKind, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{self, TakenNames};
use super::text;
use crate::features::find::cursor;

/// The ops of one block that a range contains completely; `None` if there are none, if the range
/// ends inside another op, or if it contains a terminator.
pub(super) fn selected_ops(document: &Document, range: &Range<usize>) -> Option<Vec<Op>> {
    let (ir, source) = (document.ir(), document.source());
    let whole = source.text().len_bytes();
    if range.is_empty() || range.end > whole {
        return None;
    }
    let selected = source.slice(range.clone());
    let start = range.start + (selected.len() - selected.trim_start().len());
    // The item at the start of the selection, or its outermost ancestor within the selection.
    let mut first = ir.item_at(start)?;
    if ir.range(first).start < range.start {
        return None;
    }
    while let Some(parent) = ir.parent_op(first) {
        let whole = ir.range(parent);
        if whole.start < range.start || range.end < whole.end || !ir.op(parent).kind.is_op() {
            break;
        }
        first = parent;
    }
    let mut out = Vec::new();
    for op in ir.items_from(first) {
        let own = ir.range(op);
        if own.start >= range.end {
            break;
        }
        if own.end > range.end || !ir.op(op).kind.is_op() {
            return None;
        }
        out.push(op);
    }
    let is_terminator = |op: &Op| ir.op(*op).kind.has(Traits::TERMINATOR);
    if out.last().is_some_and(is_terminator) {
        out.pop();
    }
    let is_inside =
        |op: Op| cursor::function_at(document.ir(), ir.range(op).start).is_some_and(|it| it != op);
    let (first, last) = (*out.first()?, *out.last()?);
    let is_free = !forbids_calls(ir, first)
        // An index is valid only directly in its op of `linalg`, which is not selected.
        && !out.iter().any(|it| ir.op_name(*it) == "linalg.index")
        && !out.iter().any(is_terminator)
        && !may_be_terminator(ir, last);
    (is_inside(first) && is_free).then_some(out)
}

/// True if a call is invalid at an op: directly in `scf.forall.in_parallel`, or anywhere in
/// `memref.generic_atomic_rmw`, whose ops must not have side effects.
fn forbids_calls(ir: &Ir, op: Op) -> bool {
    let parent = ir.parent_op(op);
    let mut around = std::iter::successors(parent, |it| ir.parent_op(*it));
    parent.is_some_and(|it| ir.op(it).kind == OpKind::ScfForallInParallel)
        || around.any(|it| ir.op(it).kind == OpKind::MemrefGenericAtomicRmw)
}

/// True if an op may be the terminator of its block: an unknown op at the end of a block that may
/// end with any op.
fn may_be_terminator(ir: &Ir, op: Op) -> bool {
    let is_last = ir.next(op).is_none_or(|it| ir.op(it).kind == OpKind::Label);
    let ends_with_its_own = |it: Op| {
        matches!(
            ir.op(it).kind,
            OpKind::AffineFor
                | OpKind::AffineIf
                | OpKind::AffineParallel
                | OpKind::ScfFor
                | OpKind::ScfForall
                | OpKind::ScfIf
                | OpKind::ScfParallel
        )
    };
    is_last && ir.op(op).kind == OpKind::Unknown && !ir.parent_op(op).is_some_and(ends_with_its_own)
}

/// The type of a value as written. If the defining op is unknown, the type at one of the uses.
fn type_of(ir: &Ir, value: Value) -> Type {
    let data = ir.value(value);
    if !data.is_guessed {
        return data.ty;
    }
    let said = data.uses.iter().filter_map(|&(op, at)| {
        let is_read = !matches!(ir.op(op).form, Form::Opaque | Form::Broken);
        is_read.then(|| ir.op(op).operands[at as usize].ty)
    });
    said.into_iter().find(|it| *it != Type::UNKNOWN).unwrap_or(Type::UNKNOWN)
}

/// The operands of items in textual order: op, operand number and value.
fn operands_of(ir: &Ir, items: &[Op]) -> Vec<(Op, usize, Value)> {
    let mut out = Vec::new();
    for &op in items {
        let operands = ir.op(op).operands.iter().enumerate();
        out.extend(operands.filter_map(|(n, it)| Some((op, n, it.value?))));
    }
    out.sort_by_key(|&(op, n, _)| ir.absolute(op, ir.op(op).operands[n].span).start);
    out
}

pub(super) fn edits(document: &Document, range: &Range<usize>) -> Result<Vec<TextEdit>, String> {
    let (ir, source) = (document.ir(), document.source());
    let ops = selected_ops(document, range).ok_or("no whole ops are selected")?;
    let (first, last) = (ops[0], ops[ops.len() - 1]);
    let function = ir.function_of(first).ok_or("these ops are not in a function")?;
    let inside = names::items_of(ir, &ops);
    if let Some(&op) = inside.iter().find(|it| ir.op_name(**it).ends_with(".alloca")) {
        return Err(format!(
            "{} allocates memory that lives until its function ends",
            ir.op_name(op)
        ));
    }
    let set: FxHashSet<Op> = inside.iter().copied().collect();
    let is_inside = |value: Value| match ir.value(value).def {
        Def::Result(op, _) => set.contains(&op),
        Def::Argument(..) => ir.definition_site(value).is_some_and(|it| set.contains(&it)),
    };
    let type_of = |value: Value| match type_of(ir, value) {
        Type::UNKNOWN => Err(format!("the type of {} is unknown", ir.value_text(value))),
        ty => ir.interner.insertable_type_text(ty).ok_or_else(|| {
            format!("the type of {} is too long to be written out", ir.value_text(value))
        }),
    };

    // Inputs. A single value of a pack gets its own name.
    let mut taken = TakenNames::of(ir, function);
    let mut arguments: Vec<(Value, String)> = Vec::new();
    let mut number: FxHashMap<Value, usize> = FxHashMap::default();
    let mut renames = Vec::new();
    for (op, n, value) in operands_of(ir, &inside) {
        if is_inside(value) {
            continue;
        }
        let at = *number.entry(value).or_insert_with(|| {
            let text = ir.value_text(value);
            let name = match text.split_once('#') {
                Some((pack, n)) => {
                    format!("%{}", taken.reserve(&format!("{}_{n}", &fresh_stem(pack)[1..])))
                }
                None => text,
            };
            arguments.push((value, name));
            arguments.len() - 1
        });
        let range = ir.absolute(op, ir.op(op).operands[n].span);
        renames.push(TextEdit { range, text: arguments[at].1.clone() });
    }

    // Outputs. If a value of a pack is used outside, the whole pack becomes results.
    let is_used_outside =
        |value: &Value| ir.value(*value).uses.iter().any(|it| !set.contains(&it.0));
    let (mut left, mut results): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    for &op in &ops {
        let data = ir.op(op);
        let mut at = 0;
        for name in &data.result_names {
            let end = (at + name.count as usize).min(data.results.len());
            let all = &data.results[at..end];
            if all.iter().any(is_used_outside) {
                left.push(
                    source.span_text(op, name.span)
                        + &match name.count {
                            1 => String::new(),
                            n => format!(":{n}"),
                        },
                );
                results.extend(all);
            }
            at = end;
        }
    }

    let name = names::free_symbol_name(
        ir,
        ir.op(function).parent,
        &format!("{}_part", document.function_name(function)),
    );
    if !noisy_syntax::identifier::is_bare_id(&name) {
        return Err("the function has no plain name".to_owned());
    }
    let types = |values: &mut dyn Iterator<Item = Value>| {
        values.map(type_of).collect::<Result<Vec<_>, _>>()
    };
    let inputs = types(&mut arguments.iter().map(|it| it.0))?;
    let outputs = types(&mut results.iter().copied())?.join(", ");
    let passed: Vec<String> = arguments.iter().map(|it| ir.value_text(it.0)).collect();
    let declared: Vec<String> =
        arguments.iter().zip(&inputs).map(|(it, ty)| format!("{}: {ty}", it.1)).collect();
    let returned: Vec<String> = results.iter().map(|it| ir.value_text(*it)).collect();

    let whole = ir.range(first).start..ir.range(last).end;
    let body = text::apply_edits(
        &source.slice(whole.clone()),
        whole.start,
        &text::edits_within(renames, &whole),
    )
    .ok_or("two names overlap")?;
    let around = source.indentation(ir.range(function).start);
    let inner = format!("{around}  ");
    let body = text::reindent(&body, &source.indentation(whole.start), &inner);
    let given = match results.len() {
        1 if !outputs.starts_with('(') => outputs.clone(),
        _ => format!("({outputs})"),
    };
    let arrow = if results.is_empty() { String::new() } else { format!(" -> {given}") };
    let end = if results.is_empty() {
        "func.return".to_owned()
    } else {
        format!("func.return {} : {outputs}", returned.join(", "))
    };
    let new = format!(
        "\n\n{around}func.func private @{name}({}){arrow} {{\n{body}\n{inner}{end}\n{around}}}",
        declared.join(", ")
    );
    let equals = if left.is_empty() { String::new() } else { format!("{} = ", left.join(", ")) };
    let call = format!(
        "{equals}func.call @{name}({}) : ({}) -> {given}",
        passed.join(", "),
        inputs.join(", ")
    );
    let after = text::end_of_line(source, ir.range(function).end);
    // The ops are in a function, so the call that replaces them is too.
    debug_assert!(ir.op(first).kind != OpKind::FuncFunc);
    Ok(vec![TextEdit { range: whole, text: call }, TextEdit { range: after..after, text: new }])
}
