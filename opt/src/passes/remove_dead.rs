//! `remove-dead-values`: values that nothing needs, results of functions and arguments of private ones included.
//!
//! *Law.* A function changes its signature only if it is private and each mention of it is a call that is seen. *Cost.* Linear in the
//! ops, once for each round in which something went.

use noisy_analyses::flow;
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{AttrData, Ir, Op, OpKind, Type, TypeData, Value};

use super::canonicalize::rewrite;
use super::symbols::{Visibility, visibility};
use super::{Context, Failure, Options, PassInfo};
use crate::patterns;
use crate::rewrite::greedy::{Config, Patterns};
use crate::rewrite::{Rewriter, nested, operands};

pub(super) const PASSES: &[PassInfo] = &[PassInfo {
    name: "remove-dead-values",
    class: "RemoveDeadValues",
    anchor: None,
    summary: "Remove dead values",
    options: &[],
    run,
}];

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let kept = Patterns::new(patterns::all().filter(|it| patterns::DEAD_VALUES.contains(&it.name)));
    let mut n = 0;
    loop {
        rewrite(cx, op, &kept, Config { folds: false, ..Config::default() }, false)?;
        let mut functions = nested(cx.ir, op);
        functions.retain(|&it| cx.ir.op(it).kind == OpKind::FuncFunc);
        let mut n_gone = 0;
        for function in functions {
            n_gone += shrink(cx.ir, function);
        }
        n += n_gone;
        if n_gone == 0 {
            break;
        }
    }
    cx.count("num-removed - Number of arguments and results of functions removed", n);
    Ok(())
}

/// Takes dead arguments and results off a private function and its calls; how many there were.
fn shrink(ir: &mut Ir, function: Op) -> usize {
    let (calls, is_all) = flow::calls_of(ir, function);
    let Some(body) = flow::body(ir, function) else { return 0 };
    // Attributes of arguments and results would have to shrink, too.
    let has_attrs = ["arg_attrs", "res_attrs"].iter().any(|it| {
        ir.attr(function, it).is_some() || calls.iter().any(|&call| ir.attr(call, it).is_some())
    });
    if visibility(ir, function) != Visibility::Private || !is_all || has_attrs {
        return 0;
    }
    let entry = ir.entry_block(body);
    let args = ir.block(entry).args.to_vec();
    let is_unused = |ir: &Ir, it: Value| ir.value(it).uses.is_empty();
    let dead_args: Vec<usize> = (0..args.len()).filter(|&at| is_unused(ir, args[at])).collect();
    let Some([inputs, results]) = signature(ir, function) else { return 0 };
    if inputs.len() != args.len() {
        return 0;
    }
    let dead_results: Vec<usize> = (0..results.len())
        .filter(|&at| calls.iter().all(|&call| is_unused(ir, ir.op(call).results[at])))
        .collect();
    if dead_args.is_empty() && dead_results.is_empty() {
        return 0;
    }
    let without = |list: &[Type], dead: &[usize]| -> Box<[Type]> {
        list.iter().enumerate().filter(|it| !dead.contains(&it.0)).map(|it| *it.1).collect()
    };
    let data = TypeData::Function {
        inputs: without(&inputs, &dead_args),
        results: without(&results, &dead_results),
    };
    let ty = ir.interner.ty(data);
    let attr = ir.interner.attr(AttrData::Type(ty));
    ir.set_attr(function, "function_type", attr);
    let keep = |list: Vec<Value>, dead: &[usize]| -> Vec<Value> {
        list.into_iter().enumerate().filter(|it| !dead.contains(&it.0)).map(|it| it.1).collect()
    };
    for block in ir.blocks(body) {
        if let Some(end) = ir.last_op(block).filter(|&it| ir.op(it).kind == OpKind::FuncReturn) {
            let values = keep(operands(ir, end), &dead_results);
            ir.set_operands(end, &values);
        }
    }
    for &at in dead_args.iter().rev() {
        ir.erase_argument(entry, at).expect("nothing uses it");
    }
    let mut rewriter = Rewriter::new(ir);
    for call in calls {
        let inputs = keep(operands(rewriter.ir, call), &dead_args);
        let old = keep(rewriter.ir.op(call).results.to_vec(), &dead_results);
        let types: Vec<Type> = old.iter().map(|&it| rewriter.ty(it)).collect();
        let mut new = NewOp::new("func.call").operands(&inputs).results(&types);
        for &(name, attr) in &rewriter.ir.extra(call).attrs {
            new = new.attr(rewriter.ir.interner.str(name), attr);
        }
        let new = rewriter.insert(new, noisy_syntax::rewrite::Point::Before(call));
        let values = rewriter.ir.op(new).results.to_vec();
        for (&old, &new) in old.iter().zip(&values) {
            rewriter.replace_uses(old, new);
        }
        rewriter.erase(call);
    }
    dead_args.len() + dead_results.len()
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
