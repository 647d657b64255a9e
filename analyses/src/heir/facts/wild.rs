//! Ciphertexts of which HEIR may write other polynomials than they have.
//!
//! Where a loop gives more polynomials to its next round than it takes, those that HEIR writes depend on the order in which its analysis
//! happens to look at things, and so does all that is computed with them until it is relinearized. Where a plaintext that is encoded with
//! more polynomials becomes a ciphertext, HEIR takes that to have them. And HEIR counts none from arguments that an attribute
//! marks as secret (`secret.secret`) and not a type, as before `--secretize` has made types of it, until something is relinearized.
//! Nothing is said of what is written there.
//!
//! *Source.* HEIR 2026.9.1, measured with `--annotate-mgmt`. *Cost.* A walk over the program, and what follows from what is found.

use noisy_syntax::{Def, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow;
use crate::heir::facts::ciphertext::{Ciphertext, is_marked_argument};
use crate::heir::facts::{clients, plaintext};
use crate::heir::ops::rules::{self, DimensionRule};
use crate::heir::text::setting::Settings;

/// All that follow from loops that give more than they take, and from plaintexts.
pub(crate) fn wild(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
    loops: impl Iterator<Item = Value>,
    settings: &Settings,
) -> FxHashSet<Value> {
    let mut stack: Vec<Value> = loops.collect();
    let mut source = plaintext::direct_once(ir, of);
    ir.walk(ir.root(), &mut |op| stack.extend(plaintext::widened(ir, op, of, &mut source)));
    if stack.is_empty() {
        return FxHashSet::default();
    }
    let clients = clients::given(ir, settings);
    let mut out: FxHashSet<Value> = FxHashSet::default();
    while let Some(value) = stack.pop() {
        if !out.insert(value) {
            continue;
        }
        // What it is computed with is encoded for it.
        if let Def::Result(op, _) = ir.value(value).def {
            let taken = ir.op(op).operands.iter().filter_map(|it| it.value);
            stack.extend(taken.filter(|&it| of(it) == Ciphertext::Plain));
        }
        if of(value) == Ciphertext::Plain {
            continue;
        }
        for &(user, index) in &ir.value(value).uses {
            let data = ir.op(user);
            stack.extend(flow::feeds(ir, user, index as usize));
            if let Some(body) = flow::callee(ir, user).and_then(|it| flow::body(ir, it)) {
                let args = &ir.block(flow::entry_block(ir, body)).args;
                stack.extend(args.get(index as usize));
            }
            if data.kind == OpKind::FuncReturn
                && let Some(function) = ir.function_of(user)
            {
                let calls = flow::calls_of(ir, function).0.into_iter();
                stack.extend(calls.filter_map(|it| ir.op(it).results.get(index as usize)));
                let given = clients.iter().filter(|it| it.1.contains(&value));
                let bodies = given.filter_map(|it| flow::body(ir, it.0));
                stack.extend(
                    bodies.filter_map(|it| ir.block(flow::entry_block(ir, it)).args.first()),
                );
            }
            let is_sized = rules::dimension(ir.op_name(user)) == Some(DimensionRule::Relinearize);
            if data.regions.is_empty() && !is_sized {
                stack.extend(data.results.iter().copied());
            }
        }
    }
    out
}

/// Whether an attribute marks an argument of a function as secret, and its type does not.
pub(crate) fn is_uncounted(ir: &Ir, function: Op) -> bool {
    let Some(body) = flow::body(ir, function) else { return false };
    let args = &ir.block(flow::entry_block(ir, body)).args;
    args.iter().enumerate().any(|(at, &it)| is_marked_argument(ir, function, at, it))
}

/// The functions in which HEIR may count no polynomials: with such an argument, and all that these call or are called by.
pub(crate) fn uncounted(ir: &Ir) -> FxHashSet<Op> {
    let functions = ir.functions();
    let mut stack: Vec<Op> = functions.iter().copied().filter(|&it| is_uncounted(ir, it)).collect();
    let mut out = FxHashSet::default();
    if stack.is_empty() {
        return out;
    }
    let mut near: FxHashMap<Op, Vec<Op>> = FxHashMap::default();
    for callee in functions {
        for caller in flow::callers_of(ir, callee) {
            near.entry(callee).or_default().push(caller);
            near.entry(caller).or_default().push(callee);
        }
    }
    while let Some(function) = stack.pop() {
        if out.insert(function) {
            stack.extend(near.remove(&function).into_iter().flatten());
        }
    }
    out
}
