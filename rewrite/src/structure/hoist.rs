//! Moves invariant arithmetic out of loops.

use std::collections::BTreeMap;

use noisy_analyses::{Program, TextEdit};
use noisy_dataflow::flow::Flow;
use noisy_syntax::{Name, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::text::{EditPass, LineStyle};
use crate::extract::is_ring_op;
use crate::write::fresh_name;

/// Returns edits that move invariant arithmetic out of the innermost loop around it. Outer loops
/// are handled in the next pass.
pub(super) fn hoist_invariants(program: &Program, functions: &[Op]) -> Option<Vec<TextEdit>> {
    let mut pass = EditPass::new(program);
    let ir = pass.ir;
    let mut n_defs: FxHashMap<Name, usize> = FxHashMap::default();
    let mut loops = Vec::new();
    for &function in functions {
        for op in pass.nested_ops(function) {
            let data = ir.op(op);
            data.results.iter().for_each(|&it| *n_defs.entry(ir.value(it).name).or_default() += 1);
            if matches!(Flow::of(ir, op), Flow::For { .. })
                && program.integers().trips(ir, op).least > 1
            {
                loops.push(op);
            }
        }
    }
    let mut moved: FxHashSet<Op> = FxHashSet::default();
    let mut renamed: BTreeMap<Value, String> = BTreeMap::new();
    for of in loops {
        let Some(block) = ir.op(of).regions.first().and_then(|it| ir.only_block(it.1)) else {
            continue;
        };
        let mut lines = Vec::new();
        let mut here: FxHashSet<Op> = FxHashSet::default();
        for op in ir.block_ops(block) {
            let is_fixed = |it: Value| {
                pass.is_outside(it, of) || ir.defining_op(it).is_some_and(|it| here.contains(&it))
            };
            let operands: Option<Vec<Value>> =
                ir.op(op).operands.iter().map(|it| it.value).collect();
            let Some(operands) = operands.filter(|_| is_ring_op(ir, op)) else { continue };
            if !operands.iter().all(|&it| is_fixed(it)) || ir.op(op).result_names.len() != 1 {
                continue;
            }
            let result = ir.op(op).results[0];
            let text = |it: Value| renamed.get(&it).cloned().unwrap_or_else(|| ir.value_text(it));
            let (a, b) = (text(operands[0]), text(operands[1]));
            let name = match ir.op(op).kind {
                OpKind::NoisyAdd => "add",
                OpKind::NoisySub => "sub",
                _ => "mul",
            };
            if n_defs.get(&ir.value(result).name) != Some(&1) {
                renamed.insert(result, fresh_name(&mut pass.names, "invariant"));
            }
            let to = renamed.get(&result).cloned().unwrap_or_else(|| ir.value_text(result));
            lines.push(LineStyle::of(ir, op).line(&to, name, &a, &b));
            pass.replace(program.source().lines_of(op, true), String::new());
            here.insert(op);
        }
        if !lines.is_empty() {
            pass.edits.push(program.source().in_front_of(of, &lines));
        }
        moved.extend(here);
    }
    for (&value, text) in &renamed {
        for &(user, index) in &ir.value(value).uses {
            if !moved.contains(&user) {
                let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
                pass.edits.push(TextEdit { range, text: text.clone() });
            }
        }
    }
    pass.finish()
}
