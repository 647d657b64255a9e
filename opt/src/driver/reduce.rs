//! `--reduce CMD`: finds a smaller program on which a command still fails.
//!
//! The search removes ops, at first many at once, and replaces their results by an operand or by
//! zero. It also makes branches unconditional, and tries passes that make programs smaller. *Law.*
//! The result is a valid program on which the command fails. *Cost.* One run of the command per
//! trial, and O(n log n) trials per round for n ops. The search ends after a round without
//! progress.

use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Attr, AttrData, Ir, Op, OpKind, Traits, Type, TypeData, Value, print};

use super::pipeline::Pipeline;
use super::script::Script;
use super::{AcceptedOps, OptRun, parse, wrap_in_module};
use crate::actions::Actions;
use crate::diagnostics::{DiagnosticSink, InputText};
use crate::driver::manager::PassManager;
use crate::rewrite::{Rewriter, nested_ops, operands};
use crate::timing::Timing;

/// Pipelines that may make a program smaller.
const PASSES: [&str; 4] = [
    "any(canonicalize)",
    "any(cse)",
    "builtin.module(symbol-dce)",
    "builtin.module(remove-dead-values)",
];

/// Finds a small program and returns its text.
pub(super) fn run(run: &OptRun, text: &str, command: &str) -> Result<String, String> {
    if run.split_at.is_some() {
        return Err("`--reduce` cannot be combined with `--split-input-file`".to_owned());
    }
    let mut script = Script::new(command);
    if !script.fails(text)? {
        return Err(format!("`{command}` does not fail on the program"));
    }
    let ir =
        read(run, text).ok_or("the program cannot be read; run without `--reduce` to see why")?;
    let mut reducer = Reducer { run, script, best: print::document(&ir, run.settings.style) };
    if !reducer.script.fails(&reducer.best.clone())? {
        return Err(format!("`{command}` does not fail on the program as `noisy-opt` prints it"));
    }
    loop {
        let before = reducer.best.len();
        reducer.remove_ops()?;
        reducer.remove_successors()?;
        for passes in PASSES {
            reducer.try_pipeline(passes)?;
        }
        if reducer.best.len() >= before {
            return Ok(reducer.best);
        }
    }
}

fn read(run: &OptRun, text: &str) -> Option<Ir> {
    let input = InputText::new(&run.shown_file(), text.to_owned(), 0);
    // The program is printed, so ops with unknown custom syntax are not accepted.
    let accepted =
        if run.allow_unregistered { AcceptedOps::Generic } else { AcceptedOps::Registered };
    parse(&mut DiagnosticSink::new(input, true), accepted, run.settings.n_threads, false).ok()
}

/// The state of the search.
#[derive(Debug)]
struct Reducer<'a> {
    run: &'a OptRun,
    script: Script,
    best: String,
}

impl Reducer<'_> {
    fn read(&self) -> Option<(Ir, Op)> {
        let mut ir = read(self.run, &self.best)?;
        let top = wrap_in_module(&mut ir);
        Some((ir, top))
    }

    /// Keeps a program if it is valid, smaller than the best one so far, and the command fails on
    /// it.
    fn keep_if_better(&mut self, ir: &Ir) -> Result<bool, String> {
        if !ir.verify().is_empty() {
            return Ok(false);
        }
        let text = print::document(ir, self.run.settings.style);
        let is_better = text.len() < self.best.len()
            && read(self.run, &text).is_some()
            && self.script.fails(&text)?;
        if is_better {
            self.best = text;
        }
        Ok(is_better)
    }

    /// Removes ops: first half of all ops at once, in the end single ops.
    fn remove_ops(&mut self) -> Result<(), String> {
        let mut size = usize::MAX;
        loop {
            let Some((ir, top)) = self.read() else { return Ok(()) };
            let n = removable(&ir, top).len();
            size = size.min(n.div_ceil(2));
            if size == 0 {
                return Ok(());
            }
            // From the end, so that users are removed before the definitions of their operands, and
            // the positions of earlier ops stay valid.
            let mut end = n;
            while end > 0 {
                let start = end.saturating_sub(size);
                let Some((mut ir, top)) = self.read() else { return Ok(()) };
                let ops = removable(&ir, top);
                let end_now = end.min(ops.len());
                if start < end_now && remove_ops_with_results(&mut ir, &ops[start..end_now]) {
                    self.keep_if_better(&ir)?;
                }
                end = start;
            }
            if size == 1 {
                return Ok(());
            }
            size = size.div_ceil(2);
        }
    }

    /// Replaces branches by an unconditional branch to one of their successors.
    fn remove_successors(&mut self) -> Result<(), String> {
        let mut at = 0;
        loop {
            let Some((ir, top)) = self.read() else { return Ok(()) };
            let branches: Vec<Op> = nested_ops(&ir, top)
                .into_iter()
                .filter(|&it| ir.extra(it).successors.len() > 1)
                .collect();
            let Some(&branch) = branches.get(at) else { return Ok(()) };
            let n_ways = ir.extra(branch).successors.len();
            let mut is_taken = false;
            // First try the program after the removal of unreachable blocks, then with these
            // blocks.
            for (is_cleaned, way) in
                [true, false].into_iter().flat_map(|it| (0..n_ways).map(move |way| (it, way)))
            {
                // Parsing the same text gives the same ids.
                let Some((mut ir, top)) = self.read() else { return Ok(()) };
                let Some(block) = ir.extra(branch).successors[way].block else { continue };
                let passed = ir.passed_operands(branch, way);
                let jump = NewOp::new("cf.br").successor(block, &passed);
                ir.insert(jump, InsertionPoint::Before(branch));
                let is_valid = ir.erase(branch).is_ok()
                    && (!is_cleaned || self.run_on(&mut ir, top, "any(canonicalize)"));
                if is_valid && self.keep_if_better(&ir)? {
                    is_taken = true;
                    break;
                }
            }
            at += usize::from(!is_taken);
        }
    }

    /// Tries a pipeline.
    fn try_pipeline(&mut self, passes: &str) -> Result<(), String> {
        let Some((mut ir, top)) = self.read() else { return Ok(()) };
        if self.run_on(&mut ir, top, passes) {
            self.keep_if_better(&ir)?;
        }
        Ok(())
    }

    /// Runs a pipeline on a program. Returns true if it succeeds.
    fn run_on(&self, ir: &mut Ir, top: Op, passes: &str) -> bool {
        let Ok(pipeline) = Pipeline::parse(passes) else { return false };
        let input = InputText::new("", String::new(), 0);
        let (mut sink, mut timing) = (DiagnosticSink::new(input, true), Timing::default());
        let mut actions = Actions::default();
        let mut manager =
            PassManager::new(&self.run.settings, &mut sink, &mut timing, &mut actions);
        manager.run(ir, top, &pipeline).is_ok()
    }
}

/// Returns the removable ops, in order.
fn removable(ir: &Ir, top: Op) -> Vec<Op> {
    let mut ops = nested_ops(ir, top);
    ops.retain(|&it| ir.op(it).kind.is_op() && !ir.op(it).kind.has(Traits::TERMINATOR));
    ops
}

/// Removes ops with their regions. Returns true if at least one was removed.
fn remove_ops_with_results(ir: &mut Ir, ops: &[Op]) -> bool {
    let mut n = 0;
    for &op in ops.iter().rev() {
        if !ir.is_alive(op) {
            continue;
        }
        let results = ir.op(op).results.to_vec();
        let values: Option<Vec<Value>> = results
            .iter()
            .map(|&it| {
                if ir.value(it).uses.is_empty() { Some(it) } else { replacement_value(ir, op, it) }
            })
            .collect();
        let Some(values) = values else { continue };
        let mut rewriter = Rewriter::new(ir);
        for (&old, &new) in results.iter().zip(&values) {
            rewriter.replace_uses(old, new);
        }
        n += usize::from(ir.erase(op).is_ok());
    }
    n > 0
}

/// Returns a value with the type of a result that dominates all users of the result: an operand, or
/// a new constant 0.
fn replacement_value(ir: &mut Ir, op: Op, result: Value) -> Option<Value> {
    let ty = ir.value(result).ty;
    let mut same = operands(ir, op).into_iter().filter(|&it| ir.value(it).ty == ty);
    if let Some(value) = same.next() {
        return Some(value);
    }
    if ir.op(op).kind == OpKind::ArithConstant {
        return None;
    }
    let zero = zero_attr(ir, ty)?;
    let new = NewOp::new("arith.constant").attr("value", zero).results(&[ty]);
    let new = ir.insert(new, InsertionPoint::Before(op));
    ir.op(new).results.first().copied()
}

fn zero_attr(ir: &mut Ir, ty: Type) -> Option<Attr> {
    let data = match ir.interner.type_data(ty) {
        TypeData::Int { sign: noisy_syntax::Sign::Signless, .. } if ty == Type::I1 => {
            AttrData::Bool(false)
        }
        TypeData::Int { sign: noisy_syntax::Sign::Signless, .. } | TypeData::Index => {
            AttrData::Int { value: 0.into(), ty }
        }
        _ => return None,
    };
    Some(ir.interner.intern_attr(data))
}
