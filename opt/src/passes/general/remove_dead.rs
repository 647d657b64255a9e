//! `remove-dead-values`: removes dead values, including arguments and results of private functions.
//!
//! *Law.* The signature of a function changes only if the function is private and all its uses are
//! known calls. *Cost.* Linear in the ops, per round that removed a value.

mod live;

use noisy_dataflow::flow;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, AttrData, Ir, Op, OpKind, Type, TypeData, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::passes::general::canonicalize::rewrite;
use crate::passes::general::symbols::{Visibility, visibility};
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns;
use crate::rewrite::greedy::{GreedyConfig, Patterns};
use crate::rewrite::{Rewriter, nested_ops, operands};
pub(crate) use live::LiveValues;
use live::region_terminators;

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "remove-dead-values",
    class: "RemoveDeadValues",
    anchor: None,
    summary: "Remove dead values",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let kept = Patterns::new(
        patterns::all().filter(|it| patterns::DEAD_VALUE_PATTERNS.contains(&it.name)),
    );
    let config = GreedyConfig { is_folding: false, ..GreedyConfig::default() };
    let mut n = 0;
    loop {
        let calls = known_calls(cx.ir, op);
        let live = LiveValues::new(cx.ir, op, calls.clone());
        let (mut losses, live) = removable_parts(cx.ir, &calls, live);
        yield_dead_values_unchanged(cx.ir, op, &live);
        rewrite(cx, op, &kept, config, false)?;
        if !cx.actions.is_within_limit() {
            return Ok(());
        }
        // The rewriting may have erased calls in unreachable blocks.
        let mut calls = known_calls(cx.ir, op);
        losses.retain_mut(|it| calls.remove(&it.function).map(|calls| it.calls = calls).is_some());
        let n_gone = remove_parts(cx.ir, losses)?;
        n += n_gone;
        if n_gone == 0 {
            break;
        }
        let what = "unneeded arguments and results are removed";
        let at = cx.actions.target(cx.ir, op);
        cx.actions.record_step(cx.ir, what, || at);
    }
    rewrite(cx, op, &kept, config, false)?;
    cx.add_statistic("num-removed - Number of arguments and results of functions removed", n);
    Ok(())
}

/// Returns the live values in an op.
pub(crate) fn live_values(ir: &Ir, op: Op) -> LiveValues {
    LiveValues::new(ir, op, known_calls(ir, op))
}

/// Returns the calls of each private function, if all of them are known.
fn known_calls(ir: &Ir, op: Op) -> FxHashMap<Op, Vec<Op>> {
    let mut out = FxHashMap::default();
    for function in nested_ops(ir, op) {
        if ir.op(function).kind != OpKind::FuncFunc
            || visibility(ir, function) != Visibility::Private
            || flow::function_body(ir, function).is_none()
        {
            continue;
        }
        let (calls, is_all) = flow::calls_of(ir, function);
        if is_all {
            out.insert(function, calls);
        }
    }
    out
}

/// The arguments and results to remove from a function.
#[derive(Debug)]
struct RemovedSignatureParts {
    function: Op,
    calls: Vec<Op>,
    args: Vec<usize>,
    results: Vec<usize>,
}

/// Returns the dead arguments and results of private functions, and the live values.
fn removable_parts(
    ir: &Ir,
    calls: &FxHashMap<Op, Vec<Op>>,
    live: LiveValues,
) -> (Vec<RemovedSignatureParts>, LiveValues) {
    let mut functions: Vec<Op> = calls.keys().copied().collect();
    functions.sort_unstable();
    let mut out = Vec::new();
    for function in functions {
        let (calls, Some(body)) = (&calls[&function], flow::function_body(ir, function)) else {
            continue;
        };
        let Some([inputs, results]) = signature(ir, function) else { continue };
        let own = &ir.block(ir.entry_block(body)).args;
        let fits = |&call: &Op| {
            let data = ir.op(call);
            data.operands.len() == inputs.len() && data.results.len() == results.len()
        };
        if own.len() != inputs.len() || !calls.iter().all(fits) {
            continue;
        }
        let args: Vec<usize> = (0..own.len()).filter(|&at| !live.is_live(own[at])).collect();
        let results: Vec<usize> = (0..results.len())
            .filter(|&at| calls.iter().all(|&call| !live.is_live(ir.op(call).results[at])))
            .collect();
        if !args.is_empty() || !results.is_empty() {
            out.push(RemovedSignatureParts { function, calls: calls.clone(), args, results });
        }
    }
    (out, live)
}

/// Makes loops yield dead carried values unchanged, so that patterns can remove them.
fn yield_dead_values_unchanged(ir: &mut Ir, op: Op, live: &LiveValues) {
    for it in nested_ops(ir, op) {
        let regions: Vec<_> = ir.op(it).regions.iter().map(|it| it.1).collect();
        let (entry, end) = match (ir.op(it).kind, &regions[..]) {
            (OpKind::ScfFor, &[body]) => (ir.only_block(body), region_terminators(ir, body)),
            (OpKind::ScfWhile, &[before, after]) => {
                (ir.only_block(before), region_terminators(ir, after))
            }
            _ => continue,
        };
        let (Some(entry), [end]) = (entry, &end[..]) else { continue };
        let is_for = ir.op(it).kind == OpKind::ScfFor;
        let args = ir.block(entry).args.to_vec();
        let inits = operands(ir, it);
        let carried = args.iter().skip(usize::from(is_for)).copied();
        for (at, arg) in carried.enumerate().take(ir.op(*end).operands.len()) {
            let is_needed = live.is_live(arg) || is_for && live.is_live(ir.op(it).results[at]);
            let same = if is_for { arg } else { inits[at] };
            if !is_needed && operands(ir, *end)[at] != same {
                ir.set_operand(*end, at, same);
            }
        }
    }
}

/// Returns the items whose indices are not in `gone`, which is in ascending order.
fn without_indices<T: Copy>(list: &[T], gone: &[usize]) -> Vec<T> {
    let stays = |at: usize| gone.binary_search(&at).is_err();
    list.iter().enumerate().filter(|it| stays(it.0)).map(|it| *it.1).collect()
}

/// Returns true if all uses of a value are operands that are removed.
fn has_only_removed_uses(ir: &Ir, value: Value, going: &FxHashSet<(Op, u32)>) -> bool {
    ir.value(value).uses.iter().all(|it| going.contains(it))
}

/// Removes dead arguments and results from private functions and their calls. Returns their number.
fn remove_parts(ir: &mut Ir, mut losses: Vec<RemovedSignatureParts>) -> Result<usize, PassFailure> {
    // Keep values with other users, and then the values that depend on their removal.
    loop {
        let mut going: FxHashSet<(Op, u32)> = FxHashSet::default();
        for loss in &losses {
            for &call in &loss.calls {
                going.extend(loss.args.iter().map(|&at| (call, at as u32)));
            }
            let body = flow::function_body(ir, loss.function)
                .map(|it| region_terminators(ir, it))
                .unwrap_or_default();
            for end in body.into_iter().filter(|&it| ir.op(it).kind == OpKind::FuncReturn) {
                going.extend(loss.results.iter().map(|&at| (end, at as u32)));
            }
        }
        let mut is_stable = true;
        for loss in &mut losses {
            let Some(body) = flow::function_body(ir, loss.function) else { continue };
            let own = ir.block(ir.entry_block(body)).args.clone();
            let n = loss.args.len() + loss.results.len();
            loss.args.retain(|&at| has_only_removed_uses(ir, own[at], &going));
            let calls = &loss.calls;
            loss.results.retain(|&at| {
                calls.iter().all(|&call| has_only_removed_uses(ir, ir.op(call).results[at], &going))
            });
            is_stable &= n == loss.args.len() + loss.results.len();
        }
        if is_stable {
            break;
        }
    }
    losses.retain(|it| !it.args.is_empty() || !it.results.is_empty());
    let mut old_calls = Vec::new();
    for loss in &losses {
        change_signature(ir, loss);
        for &call in &loss.calls {
            let inputs = without_indices(&operands(ir, call), &loss.args);
            let old = without_indices(&ir.op(call).results, &loss.results);
            let types: Vec<Type> = old.iter().map(|&it| ir.value(it).ty).collect();
            let mut new = NewOp::new("func.call").operands(&inputs).results(&types);
            for &(name, attr) in &ir.extra(call).attrs {
                new = new.attr(ir.interner.str(name), attr);
            }
            let mut rewriter = Rewriter::new(ir);
            let new = rewriter.insert(new, InsertionPoint::Before(call));
            let values = rewriter.ir.op(new).results.to_vec();
            for (&old, &new) in old.iter().zip(&values) {
                rewriter.replace_uses(old, new);
            }
            shrink_attrs(ir, new, loss);
            old_calls.push(call);
        }
    }
    ir.erase_ops(&old_calls).map_err(|it| PassFailure(Some(it.to_string())))?;
    for loss in &losses {
        let Some(body) = flow::function_body(ir, loss.function) else { continue };
        let entry = ir.entry_block(body);
        ir.erase_arguments(entry, &loss.args).map_err(|it| PassFailure(Some(it.to_string())))?;
    }
    Ok(losses.iter().map(|it| it.args.len() + it.results.len()).sum())
}

/// Updates the type, the returns and the attributes of a function. The block arguments are not
/// removed yet.
fn change_signature(ir: &mut Ir, loss: &RemovedSignatureParts) {
    let Some([inputs, results]) = signature(ir, loss.function) else { return };
    let data = TypeData::Function {
        inputs: without_indices(&inputs, &loss.args).into(),
        results: without_indices(&results, &loss.results).into(),
    };
    let ty = ir.interner.intern_type(data);
    let attr = ir.interner.intern_attr(AttrData::Type(ty));
    ir.set_attr(loss.function, "function_type", attr);
    shrink_attrs(ir, loss.function, loss);
    for end in flow::function_body(ir, loss.function)
        .map(|it| region_terminators(ir, it))
        .unwrap_or_default()
    {
        if ir.op(end).kind == OpKind::FuncReturn {
            let values = without_indices(&operands(ir, end), &loss.results);
            ir.set_operands(end, &values);
        }
    }
}

/// Removes the attributes of the removed arguments and results of a function or a call.
fn shrink_attrs(ir: &mut Ir, op: Op, loss: &RemovedSignatureParts) {
    for (name, gone) in [("arg_attrs", &loss.args), ("res_attrs", &loss.results)] {
        let list: Option<Box<[Attr]>> =
            ir.attr(op, name).and_then(|it| match ir.interner.attr_data(it) {
                AttrData::Array(list) => Some(list.clone()),
                _ => None,
            });
        let Some(list) = list.filter(|_| !gone.is_empty()) else { continue };
        let left = without_indices(&list, gone);
        if left.is_empty() {
            ir.remove_attr(op, name);
        } else {
            let attr = ir.interner.intern_attr(AttrData::Array(left.into()));
            ir.set_attr(op, name, attr);
        }
    }
}

fn signature(ir: &Ir, function: Op) -> Option<[Box<[Type]>; 2]> {
    match ir.interner.attr_data(ir.attr(function, "function_type")?) {
        AttrData::Type(ty) => match ir.interner.type_data(*ty) {
            TypeData::Function { inputs, results } => Some([inputs.clone(), results.clone()]),
            _ => None,
        },
        _ => None,
    }
}
