//! Levels of what functions of the client get and give.
//!
//! A function with the attribute `client.dec_func = {func_name = "f", index = 0}` decrypts result 0 of `@f`, so its argument has the
//! level of that result. Source: HEIR, `lib/Dialect/Mgmt/Transforms/Utils.cpp`.

use noisy_syntax::{AttrData, Ir, Op};
use rustc_hash::FxHashMap;

use super::ciphertext::{Ciphertexts, Level};
use crate::flow;
use crate::sparse::Sparse;

/// The levels of arguments that are not fresh, by function and number.
pub(super) fn entries(ir: &Ir, facts: &Sparse<Ciphertexts>) -> FxHashMap<(Op, usize), Level> {
    let functions = ir.functions();
    let mut out = FxHashMap::default();
    for &client in &functions {
        let Some((name, index)) = decrypted(ir, client) else { continue };
        let is_it = |it: &&Op| {
            ir.extra(**it).symbol.is_some_and(|symbol| ir.interner.str(symbol.0) == name)
        };
        let settings = &facts.analysis.settings;
        let is_here = |it: &&Op| settings.part(**it) == settings.part(client);
        let function = functions.iter().filter(is_here).find(is_it);
        let Some(&function) = function else { continue };
        let Some(body) = flow::body(ir, function) else { continue };
        let returned = flow::yields(ir, body)
            .into_iter()
            .filter_map(|end| facts.fact(ir.op(end).operands.get(index)?.value?)?.level());
        if let Some(level) = returned.max() {
            out.insert((client, 0), level);
        }
    }
    out
}

/// Which result of which function a function of the client decrypts.
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
