//! Levels and polynomials of the arguments of client functions.
//!
//! A function with the attribute `client.dec_func = {func_name = "f", index = 0}` decrypts result 0
//! of `@f`, so its argument has the level and the polynomials of that result. Source: HEIR,
//! `lib/Dialect/Mgmt/Transforms/Utils.cpp`.

use noisy_syntax::{AttrData, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::CiphertextAnalysis;
use crate::facts::fact::{Ciphertext, CiphertextFact};
use crate::text::setting::DocumentSettings;
use noisy_dataflow::flow;
use noisy_dataflow::lattice::Lattice;
use noisy_dataflow::sparse::SparseSolver;

/// Returns the facts of the arguments that are not fresh, by function and index.
pub(crate) fn entry_facts(
    ir: &Ir,
    facts: &SparseSolver<CiphertextAnalysis>,
) -> FxHashMap<(Op, usize), CiphertextFact> {
    let mut out = FxHashMap::default();
    for (client, values) in decrypted_values(ir, &facts.analysis.settings) {
        let mut joined = CiphertextFact::bottom();
        for it in values.into_iter().filter_map(|it| facts.fact(it)) {
            if matches!(it.ciphertext, Ciphertext::Encrypted { .. }) {
                let _ = joined.join(it);
            }
        }
        if joined != CiphertextFact::bottom() {
            out.insert((client, 0), joined);
        }
    }
    out
}

/// Returns the client functions that decrypt a result of another function, each with the returned
/// values.
pub(crate) fn decrypted_values(ir: &Ir, settings: &DocumentSettings) -> Vec<(Op, Vec<Value>)> {
    let functions = top_level_functions(ir);
    let of = |&client: &Op| {
        let (name, index) = decrypted_result(ir, client)?;
        let is_it = |it: &&Op| {
            ir.extra(**it).symbol.is_some_and(|symbol| ir.interner.str(symbol.0) == name)
        };
        let is_here = |it: &&Op| settings.part_index(**it) == settings.part_index(client);
        let function = *functions.iter().filter(is_here).find(is_it)?;
        let ends = flow::yield_ops(ir, flow::function_body(ir, function)?);
        let values = ends.into_iter().filter_map(|end| ir.op(end).operands.get(index)?.value);
        Some((client, values.collect()))
    };
    functions.iter().filter_map(of).collect()
}

/// Returns the name of the function whose result a client function decrypts, and the index of the
/// result.
fn decrypted_result(ir: &Ir, function: Op) -> Option<(&str, usize)> {
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
fn top_level_functions(ir: &Ir) -> Vec<Op> {
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
