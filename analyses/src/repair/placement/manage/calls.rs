//! Calls of functions that multiply: do they return two polynomials?
//!
//! *Law.* They do if the function returns two when it is given two, as it stands or after its own
//! placement. Functions in a cycle of calls are not analyzed. *Cost.* Each function once.

use noisy_syntax::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::extract::Objective;
use super::asked;
use crate::program::Program;
use noisy_dataflow::flow;
use noisy_heir::{Heir, Placed};

/// Known calls of a placement.
pub(super) struct Calls {
    placed: Placed,
    /// By function; why not, in words.
    known: FxHashMap<Op, Result<(), String>>,
}

impl Calls {
    pub(super) fn of(placed: Placed) -> Self {
        Self { placed, known: FxHashMap::default() }
    }

    /// The functions and the multiplying functions that they call, callees before callers outside
    /// of cycles.
    pub(super) fn called_first(&self, program: &Program, heir: &Heir, functions: &[Op]) -> Vec<Op> {
        let ir = program.ir();
        let changing_functions = heir.changing_functions(ir, self.placed);
        if changing_functions.is_empty() || self.placed != Placed::Relinearize {
            return functions.to_vec();
        }
        let mut out = Vec::new();
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        // With true if its callees are done.
        let mut stack: Vec<(Op, bool)> = functions.iter().rev().map(|&it| (it, false)).collect();
        while let Some((function, is_done)) = stack.pop() {
            if is_done {
                out.push(function);
            } else if seen.insert(function) {
                stack.push((function, true));
                let Some(body) = flow::body(ir, function) else { continue };
                ir.walk(body, &mut |op| {
                    let callee =
                        flow::callee(ir, op).filter(|it| changing_functions.contains_key(it));
                    stack.extend(callee.map(|it| (it, false)));
                });
            }
        }
        out
    }

    /// Notes the placement in a function, or the reason why it has none.
    pub(super) fn note(&mut self, program: &Program, function: Op, found: Result<(), String>) {
        let name = program.function_name(function);
        self.known.insert(function, found.map_err(|why| format!("@{name} {why}")));
    }

    /// Takes note of a function in which nothing is placed, and which may be broken.
    pub(super) fn note_as_it_stands(
        &mut self,
        program: &Program,
        heir: &Heir,
        function: Op,
        broken: Option<String>,
    ) {
        if heir.changing_functions(program.ir(), self.placed).contains_key(&function) {
            let stands = || self.stands(program, heir, function);
            let found = broken.map_or_else(stands, |why| Err(format!("is broken: {why}")));
            self.note(program, function, found);
        }
    }

    /// Returns an error unless a function returns two polynomials as it stands.
    fn stands(&self, program: &Program, heir: &Heir, function: Op) -> Result<(), String> {
        let crossing = |it: Op| self.crossing(program, heir, it);
        let question = asked(program, heir, function, self.placed, Objective::Count, &crossing);
        let question = question.map_err(|why| format!("cannot be analyzed: {why}"))?;
        let Some(value) = question.oversized() else { return Ok(()) };
        let name = program.ir().value_text(value);
        Err(format!(
            "computes {name} with more than 2 polynomials, and has no position to relinearize it"
        ))
    }

    /// Returns an error, in words, unless a call preserves the level or degree of its argument.
    pub(super) fn crossing(
        &self,
        program: &Program,
        heir: &Heir,
        callee: Op,
    ) -> Result<(), String> {
        let name = program.function_name(callee);
        if self.placed == Placed::Relinearize {
            let known = self.known.get(&callee).cloned();
            return known
                .unwrap_or_else(|| Err(format!("@{name} computes products and is recursive")));
        }
        let ir = program.ir();
        let by = heir.changing_functions(ir, self.placed).get(&callee).and_then(|&it| {
            let function = program.function_name(ir.function_of(it)?);
            let value = ir.value_text(*ir.op(it).results.first()?);
            Some(format!(" by {value} = {} in @{function}", ir.op_name(it)))
        });
        let by = by.unwrap_or_default();
        Err(format!("@{name} changes levels{by}, and bootstraps are not placed across such calls"))
    }
}
