//! Levels and polynomials of the arguments of client functions.
//!
//! A function with the attribute `client.dec_func = {func_name = "f", index = 0}` decrypts result 0
//! of `@f`, so its argument has the level and the polynomials of that result. Source: HEIR,
//! `lib/Dialect/Mgmt/Transforms/Utils.cpp`.

use noisy_syntax::{AttrData, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::Ciphertexts;
use crate::facts::fact::{Ciphertext, Fact};
use crate::text::setting::Settings;
use noisy_dataflow::flow;
use noisy_dataflow::lattice::Lattice;
use noisy_dataflow::sparse::Sparse;

/// Returns the facts of the arguments that are not fresh, by function and index.
pub(crate) fn entries(ir: &Ir, facts: &Sparse<Ciphertexts>) -> FxHashMap<(Op, usize), Fact> {
    let mut out = FxHashMap::default();
    for (client, values) in given(ir, &facts.analysis.settings) {
        let mut joined = Fact::bottom();
        for it in values.into_iter().filter_map(|it| facts.fact(it)) {
            if matches!(it.ciphertext, Ciphertext::Encrypted { .. }) {
                let _ = joined.join(it);
            }
        }
        if joined != Fact::bottom() {
            out.insert((client, 0), joined);
        }
    }
    out
}

/// Returns the client functions that decrypt a result of another function, each with the returned
/// values.
pub(crate) fn given(ir: &Ir, settings: &Settings) -> Vec<(Op, Vec<Value>)> {
    let functions = functions(ir);
    let of = |&client: &Op| {
        let (name, index) = decrypted(ir, client)?;
        let is_it = |it: &&Op| {
            ir.extra(**it).symbol.is_some_and(|symbol| ir.interner.str(symbol.0) == name)
        };
        let is_here = |it: &&Op| settings.part(**it) == settings.part(client);
        let function = *functions.iter().filter(is_here).find(is_it)?;
        let ends = flow::yields(ir, flow::body(ir, function)?);
        let values = ends.into_iter().filter_map(|end| ir.op(end).operands.get(index)?.value);
        Some((client, values.collect()))
    };
    functions.iter().filter_map(of).collect()
}

/// Returns the name of the function whose result a client function decrypts, and the index of the
/// result.
fn decrypted(ir: &Ir, function: Op) -> Option<(&str, usize)> {
    let AttrData::Dict(entries) = ir.interner.attr_data(ir.attr(function, "client.dec_func")?)
    else {
        return None;
    };
    let entry = |key: &str| {
        let found = entries.iter().find(|it| ir.interner.str(it.0) == key)?;
        Some(ir.interner.attr_data(found.1))
    };
    match (entry("func_name")?, entry("index")?) {
        (AttrData::String(name, _), AttrData::Int { value, .. }) => {
            Some((ir.interner.str(*name), usize::try_from(*value).ok()?))
        }
        _ => None,
    }
}

/// Returns the functions outside of other functions, in program order. *Cost.* Bodies are not
/// visited, because this runs after each edit.
fn functions(ir: &Ir) -> Vec<Op> {
    let mut out = Vec::new();
    let mut stack: Vec<Op> = ir.items(ir.root()).collect();
    stack.reverse();
    while let Some(op) = stack.pop() {
        if ir.op(op).kind == OpKind::FuncFunc {
            out.push(op);
            continue;
        }
        let from = stack.len();
        stack.extend(ir.op(op).regions.iter().flat_map(|it| ir.items(it.1)));
        stack[from..].reverse();
    }
    out
}
