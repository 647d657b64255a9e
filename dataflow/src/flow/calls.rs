//! Functions and calls: callees, callers and signatures.

use noisy_syntax::{AttrData, Form, Ir, Op, OpKind, Region, TypeData};

use crate::view::ProgramView;

/// Returns the callee of a call.
pub fn callee(ir: &impl ProgramView, call: Op) -> Option<Op> {
    let AttrData::Symbol(path) = ir.interner().attr_data(ir.attr(call, "callee")?) else {
        return None;
    };
    let [name] = **path else { return None };
    ir.resolve_symbol(call, name).filter(|&it| ir.op(it).kind == OpKind::FuncFunc)
}

/// Returns the body of a function. `None` for a declaration, or if the function was not fully
/// parsed.
pub fn function_body(ir: &Ir, function: Op) -> Option<Region> {
    let data = ir.op(function);
    let &(_, region) = data.regions.first()?;
    let is_empty = ir.items(region).next().is_none();
    (data.kind == OpKind::FuncFunc
        && !matches!(data.form, Form::Broken | Form::Opaque)
        && !is_empty)
        .then_some(region)
}

/// Returns true if a function is not visible outside of the document.
pub fn is_private(ir: &Ir, function: Op) -> bool {
    let visibility = ir.attr(function, "sym_visibility").map(|it| ir.interner.attr_data(it));
    matches!(visibility, Some(AttrData::String(name, _))
        if matches!(ir.interner.str(*name), "private" | "nested"))
}

/// Returns the number of results of a function, by its type.
pub fn n_results(ir: &Ir, function: Op) -> usize {
    let ty = ir.attr(function, "function_type").map(|it| ir.interner.attr_data(it));
    match ty {
        Some(AttrData::Type(ty)) => match ir.interner.type_data(*ty) {
            TypeData::Function { results, .. } => results.len(),
            _ => 0,
        },
        _ => 0,
    }
}

/// Returns the calls of a function in textual order, and true if these are all its calls: no other
/// op mentions the function, and there are only modules around it (an enclosing op of an unknown
/// kind may call it).
pub fn calls_of(ir: &Ir, function: Op) -> (Vec<Op>, bool) {
    let Some((name, _)) = ir.extra(function).symbol else { return (Vec::new(), true) };
    if ir.symbol_defs(ir.op(function).parent, name).first() != Some(&function) {
        // The name resolves to another function, so none of its users calls `function`.
        return (Vec::new(), false);
    }
    let mut calls = Vec::new();
    let mut is_all = is_in_modules_only(ir, function);
    for &op in ir.symbol_users(name) {
        let data = ir.op(op);
        if data.kind == OpKind::FuncCall && !matches!(data.form, Form::Broken | Form::Opaque) {
            match callee(ir, op) {
                Some(it) if it == function && caller(ir, op).is_some() => calls.push(op),
                Some(it) if it == function => is_all = false,
                Some(_) => {}
                None => is_all = false,
            }
        } else {
            is_all = false;
        }
    }
    calls.sort_by_cached_key(|&it| ir.start(it));
    calls.dedup();
    (calls, is_all)
}

/// Returns the callers of a function, one for each call.
pub fn callers_of(ir: &Ir, function: Op) -> impl Iterator<Item = Op> {
    calls_of(ir, function).0.into_iter().filter_map(|it| caller(ir, it))
}

/// Returns the function around a call; `None` if [`functions`] does not list it.
pub fn caller(ir: &Ir, call: Op) -> Option<Op> {
    ir.function_of(call).filter(|&it| is_in_modules_only(ir, it))
}

/// Returns true if there are only modules around an op.
fn is_in_modules_only(ir: &Ir, op: Op) -> bool {
    let mut around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it));
    around.all(|it| matches!(ir.op(it).kind, OpKind::Chunk | OpKind::BuiltinModule))
}

/// Returns the functions of the document in textual order, except functions inside ops other than
/// modules.
pub fn functions(ir: &Ir) -> Vec<Op> {
    let mut out = Vec::new();
    let mut stack: Vec<_> = vec![ir.items(ir.root())];
    while let Some(items) = stack.last_mut() {
        let Some(op) = items.next() else {
            stack.pop();
            continue;
        };
        match ir.op(op).kind {
            OpKind::FuncFunc => out.push(op),
            OpKind::Chunk | OpKind::BuiltinModule => {
                stack.extend(ir.op(op).regions.iter().rev().map(|it| ir.items(it.1)));
            }
            _ => {}
        }
    }
    out
}
