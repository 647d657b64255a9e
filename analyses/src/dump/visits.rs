//! The visits of the solver when it solves each analysis from scratch: as text, and as a recording
//! for a page with steps.
//!
//! *Law.* The facts and live blocks after the last step of an analysis are its final facts and live
//! blocks. *Cost.* The text is linear in the number of printed facts. A recording compares all
//! facts at each visit, and ends after [`MAX_COMPARED`] comparisons.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use noisy_page::recording::{FactChange, MAX_STEPS, RecordedStep, Recording, TextId};
use noisy_syntax::{Block, Ir, Name, Op, OpKind, Region, Source, Value};
use rustc_hash::FxHashMap;

use super::block_name;
use crate::NoiseModel;
use crate::facts::noise::{Findings, Noise, NoiseAnalysis};
use noisy_dataflow::lattice::Lattice;
use noisy_dataflow::sparse::{AnalysisInput, SparseSolver, Visit, VisitPart, VisitRecorder};
use noisy_integers::Integers;

/// Maximum number of compared facts. Later visits are not recorded.
const MAX_COMPARED: usize = 500_000_000;

/// Prints every visit: the op, the facts of its operands, and the facts of its results before and
/// after.
pub fn trace(ir: &Ir, model: Arc<NoiseModel>) -> String {
    let (constants, ranges) =
        Integers::visited_by(ir, TextRecorder::default(), TextRecorder::default());
    let noise = visits_of_noise(ir, model, TextRecorder::default());
    let all = [("constants", constants), ("ranges", ranges), ("noise", noise)];
    all.map(|(name, it)| format!("// {name}\n{}", it.out)).concat()
}

/// Records every visit with the facts and blocks that it changed.
pub fn recording(source: &Source, model: Arc<NoiseModel>) -> Recording {
    let mut out = Recording::default();
    let text = source.text().to_string();
    let lines = text.lines().map(|it| out.text(it)).collect();
    out.set_program(lines);
    let ir = source.ir();
    let (constants, ranges) =
        Integers::visited_by(ir, StepRecorder::default(), StepRecorder::default());
    let noise = visits_of_noise(ir, model, StepRecorder::default());
    out.leave_out(constants.n_left_out + ranges.n_left_out + noise.n_left_out);
    let all = [("constants", constants.steps), ("ranges", ranges.steps), ("noise", noise.steps)];
    for (name, steps) in all {
        let group = out.text(name);
        StepWriter { source, group, values: FxHashMap::default(), blocks: FxHashMap::default() }
            .write(steps, &mut out);
    }
    out
}

/// Solves the integers and then the noise from scratch. `visitor` records the visits of the noise.
fn visits_of_noise<V: VisitRecorder<Noise>>(ir: &Ir, model: Arc<NoiseModel>, visitor: V) -> V {
    let integers = Integers::new(ir);
    let input = AnalysisInput { ir, base: &integers };
    SparseSolver::<_, Findings>::solve_recorded(&input, NoiseAnalysis::new(model), visitor)
}

/// Records visits as text.
#[derive(Debug, Default)]
struct TextRecorder {
    out: String,
    before: String,
}

fn facts_text<F: fmt::Display>(ir: &Ir, values: &[Value], facts: &[F]) -> String {
    let mut out = String::new();
    for &value in values {
        let _ = write!(out, " {}={}", ir.value_text(value), facts[value.index()]);
    }
    out
}

impl<F: fmt::Display> VisitRecorder<F> for TextRecorder {
    fn visits(&mut self, ir: &Ir, visit: Visit<'_, F>) {
        if visit.part == VisitPart::Op {
            self.before = facts_text(ir, &ir.op(visit.op).results, visit.facts);
        }
    }

    fn visited(&mut self, ir: &Ir, visit: Visit<'_, F>, reads: &[F]) {
        if visit.part != VisitPart::Op {
            return;
        }
        let depth = visit.rounds.len() * 2;
        let out = &mut self.out;
        let _ = write!(out, "{:depth$}visit {}", "", ir.op_name(visit.op));
        if let Some(round) = visit.rounds.last() {
            let _ = write!(out, " (iteration {})", round.number);
        }
        if !visit.is_live {
            out.push_str(" dead");
        }
        out.push_str(" operands:");
        for (operand, fact) in ir.op(visit.op).operands.iter().zip(reads) {
            if let Some(value) = operand.value {
                let _ = write!(out, " {}={fact}", ir.value_text(value));
            }
        }
        let after = facts_text(ir, &ir.op(visit.op).results, visit.facts);
        if !after.is_empty() {
            let _ = write!(out, " before:{} after:{after}", self.before);
        }
        out.push('\n');
    }
}

/// The changes of a visit, or between two visits.
#[derive(Debug, Default)]
struct VisitChanges {
    /// `None` for changes between two visits.
    visit: Option<(Op, VisitPart)>,
    is_live: bool,
    round: Option<(Op, u64)>,
    context: Option<u32>,
    reads: Vec<(Value, String)>,
    facts: Vec<(Value, String, String)>,
    blocks: Vec<(Block, bool)>,
}

/// Records visits as steps.
#[derive(Debug)]
struct StepRecorder<F> {
    facts: Vec<F>,
    live: Vec<bool>,
    contexts: Vec<Option<u32>>,
    steps: Vec<VisitChanges>,
    n_compared: usize,
    n_left_out: usize,
}

impl<F> Default for StepRecorder<F> {
    fn default() -> Self {
        let (facts, live, contexts, steps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { facts, live, contexts, steps, n_compared: 0, n_left_out: 0 }
    }
}

impl<F: Lattice + fmt::Display> StepRecorder<F> {
    /// Returns the changes since the last call.
    fn difference(&mut self, facts: &[F], live: &[bool]) -> VisitChanges {
        self.n_compared += facts.len() + live.len();
        self.facts.resize(facts.len(), F::bottom());
        self.live.resize(live.len(), false);
        let mut out = VisitChanges {
            context: self.contexts.last().copied().flatten(),
            ..VisitChanges::default()
        };
        for (n, (old, new)) in self.facts.iter_mut().zip(facts).enumerate() {
            if old != new {
                out.facts.push((Value::from_index(n), old.to_string(), new.to_string()));
                old.clone_from(new);
            }
        }
        for (n, (old, new)) in self.live.iter_mut().zip(live).enumerate() {
            if old != new {
                out.blocks.push((Block::from_index(n), *new));
                *old = *new;
            }
        }
        out
    }

    fn is_full(&self) -> bool {
        self.n_compared > MAX_COMPARED || self.steps.len() >= MAX_STEPS
    }
}

impl<F: Lattice + fmt::Debug + fmt::Display + Send + Sync + 'static> VisitRecorder<F>
    for StepRecorder<F>
{
    fn visits(&mut self, _ir: &Ir, visit: Visit<'_, F>) {
        if self.is_full() {
            return;
        }
        let between = self.difference(visit.facts, visit.live);
        if !between.facts.is_empty() || !between.blocks.is_empty() {
            let round = visit.rounds.last().map(|it| (it.op, it.number));
            self.steps.push(VisitChanges { round, ..between });
        }
    }

    fn visited(&mut self, ir: &Ir, visit: Visit<'_, F>, reads: &[F]) {
        if self.is_full() {
            self.n_left_out += 1;
            return;
        }
        let turn = self.difference(visit.facts, visit.live);
        let operands = ir.op(visit.op).operands.iter().zip(reads);
        let reads = operands.filter_map(|(it, fact)| Some((it.value?, fact.to_string())));
        self.steps.push(VisitChanges {
            visit: Some((visit.op, visit.part)),
            is_live: visit.is_live,
            round: visit.rounds.last().map(|it| (it.op, it.number)),
            reads: reads.collect(),
            ..turn
        });
    }

    fn solved(&mut self, facts: &[F], live: &[bool]) {
        let end = self.difference(facts, live);
        if !end.facts.is_empty() || !end.blocks.is_empty() {
            self.steps.push(end);
        }
    }

    fn enter(&mut self, context: Option<u32>) {
        self.contexts.push(context);
    }

    fn leave(&mut self) {
        self.contexts.pop();
    }
}

/// Writes the steps of an analysis into a recording.
struct StepWriter<'a> {
    source: &'a Source,
    group: TextId,
    values: FxHashMap<Value, usize>,
    blocks: FxHashMap<Block, usize>,
}

impl StepWriter<'_> {
    fn write(mut self, turns: Vec<VisitChanges>, out: &mut Recording) {
        let ir = self.source.ir();
        for chunk in ir.items(ir.root()) {
            for &(_, region) in &ir.op(chunk).regions {
                self.add_blocks(region, out);
            }
        }
        for turn in turns {
            let step = self.step(turn, out);
            out.step(step);
        }
    }

    /// Adds the blocks of a region; a block precedes its nested blocks.
    fn add_blocks(&mut self, region: Region, out: &mut Recording) {
        let ir = self.source.ir();
        for block in ir.blocks(region) {
            let ops: Vec<Op> = ir.block_ops(block).collect();
            let first = ir.block(block).label.or(ops.first().copied());
            if let Some(first) = first {
                let last = ops.last().copied().unwrap_or(first);
                let holder = ir.region(region).parent.map(|it| self.op_text(it));
                let name = match holder {
                    Some(holder) if holder.is_empty() => "the file".to_owned(),
                    Some(holder) => format!("{} of {holder}", block_name(ir, block)),
                    None => block_name(ir, block),
                };
                let name = out.text(&name);
                let lines = (self.line(ir.range(first).start), self.line(ir.range(last).end));
                self.blocks.insert(block, out.block(name, lines.0, lines.1, self.group));
            }
            for op in ops {
                for &(_, inner) in &ir.op(op).regions {
                    self.add_blocks(inner, out);
                }
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        self.source.text().byte_to_line(at)
    }

    /// Returns a short text of an op: `arith.addi %0`, `func.func @f`.
    fn op_text(&self, op: Op) -> String {
        let ir = self.source.ir();
        let mut out = ir.op_name(op).to_owned();
        if let Some((symbol, _)) = ir.extra(op).symbol {
            let _ = write!(out, " @{}", ir.interner.str(symbol));
        }
        if let Some(&first) = ir.op(op).results.first() {
            let _ = write!(out, " {}", ir.value_text(first));
        }
        out
    }

    fn step(&mut self, turn: VisitChanges, out: &mut Recording) -> RecordedStep {
        let ir = self.source.ir();
        let (what, mut place, line) = match turn.visit {
            None => ("between visits".to_owned(), String::new(), None),
            Some((op, part)) => {
                let what = match part {
                    VisitPart::Op if turn.is_live => "visit".to_owned(),
                    VisitPart::Op => "visit, dead".to_owned(),
                    VisitPart::Block => "join the incoming facts of".to_owned(),
                    VisitPart::Region(n) => format!("enter region {n} of"),
                    VisitPart::Results => "results of".to_owned(),
                };
                let place = if ir.op(op).kind == OpKind::Chunk {
                    "the file".to_owned()
                } else if part == VisitPart::Block {
                    block_name(ir, ir.label_block(op))
                } else {
                    self.op_text(op)
                };
                (what, place, Some(self.line(ir.range(op).start)))
            }
        };
        if let Some((op, number)) = turn.round {
            let line = self.line(ir.range(op).start) + 1;
            let _ = write!(place, " (iteration {number} of the cycle in line {line})");
        }
        if let Some(context) = turn.context {
            let _ = write!(place, " (context {context})");
        }
        let reads = turn.reads.iter().map(|(value, fact)| {
            let name = ir.value_text(*value);
            (out.text(&name), out.text(fact))
        });
        let reads = reads.collect();
        let mut facts = Vec::new();
        for (value, before, after) in turn.facts {
            let Some(value) = self.value(value, out) else { continue };
            facts.push(FactChange { value, before: out.text(&before), after: out.text(&after) });
        }
        let blocks = turn.blocks.iter();
        let blocks = blocks.filter_map(|it| Some((*self.blocks.get(&it.0)?, it.1))).collect();
        let (what, place) = (out.text(&what), out.text(place.trim()));
        RecordedStep {
            group: self.group,
            action: what,
            subject: place,
            line,
            facts,
            reads,
            blocks,
            ..RecordedStep::default()
        }
    }

    /// Returns the index of a value in the recording; `None` if the value is not defined in the
    /// text.
    fn value(&mut self, value: Value, out: &mut Recording) -> Option<usize> {
        if let Some(&known) = self.values.get(&value) {
            return Some(known);
        }
        let ir = self.source.ir();
        let site = ir.definition_site(value)?;
        let start = match ir.value(value).name {
            Name::EMPTY => ir.range(site).start,
            _ => ir.absolute(site, ir.value(value).span).start,
        };
        let name = out.text(&ir.value_text(value));
        let known = out.value(self.line(start), name, self.group);
        self.values.insert(value, known);
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    /// Returns the name and the last recorded fact of each value in an analysis.
    fn last_facts(text: &str, group: &str) -> Vec<(String, String)> {
        let recording = recording(&Source::new(text), NoiseModel::tutorial().into());
        let mut out: Vec<(String, String)> = Vec::new();
        for step in recording.steps().iter().filter(|it| recording.str(it.group) == group) {
            for change in &step.facts {
                let name = recording.value_name(change.value).to_owned();
                let (before, after) = (recording.str(change.before), recording.str(change.after));
                match out.iter_mut().find(|it| it.0 == name) {
                    Some(it) => {
                        assert_eq!(it.1, before, "what a step says was before was there");
                        after.clone_into(&mut it.1);
                    }
                    None => out.push((name, after.to_owned())),
                }
            }
        }
        out
    }

    const TEXT: &str = "func.func @main(%x: i5) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = noisy.encode %x : i5 -> !noisy.i32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a) -> (!noisy.i32) {
    %k = noisy.add %s, %a : !noisy.i32
    scf.yield %k : !noisy.i32
  }
  %q = func.call @sq(%r) : (!noisy.i32) -> !noisy.i32
  %p = func.call @sq(%a) : (!noisy.i32) -> !noisy.i32
  cf.br ^1(%p : !noisy.i32)
^1(%m: !noisy.i32):
  %n = noisy.add %m, %q : !noisy.i32
  return %n : !noisy.i32
}
func.func private @sq(%y: !noisy.i32) -> !noisy.i32 {
  %z = noisy.mul %y, %y : !noisy.i32
  return %z : !noisy.i32
}
";

    #[test]
    fn the_last_step_has_the_facts_of_the_analysis() {
        let document = Document::new(TEXT);
        let ir = document.ir();
        let noise: FxHashMap<String, String> = last_facts(TEXT, "noise").into_iter().collect();
        let constants: FxHashMap<String, String> =
            last_facts(TEXT, "constants").into_iter().collect();
        let mut values = Vec::new();
        noisy_dataflow::sparse::values_within(
            ir,
            ir.items(ir.root()).next().expect("a chunk"),
            &mut values,
        );
        assert!(values.len() > 12);
        for value in values {
            let name = ir.value_text(value);
            if document.is_noisy(value) {
                assert_eq!(noise[&name], document.noise(value).to_string(), "{name}");
            } else {
                let constant = document.integers().constant(ir, value).to_string();
                assert_eq!(constants[&name], constant, "{name}");
            }
        }
    }

    #[test]
    fn live_blocks_and_iterations_are_recorded() {
        let recording = recording(&Source::new(TEXT), NoiseModel::tutorial().into());
        let of_noise: Vec<&RecordedStep> =
            recording.steps().iter().filter(|it| recording.str(it.group) == "noise").collect();
        assert!(of_noise.iter().any(|it| !it.blocks.is_empty() && it.blocks.iter().all(|it| it.1)));
        let third = of_noise.iter().find(|it| {
            let place = recording.str(it.subject);
            place.starts_with("noisy.add") && place.contains("iteration 3")
        });
        assert_eq!(
            third.map(|it| recording.str(it.subject)),
            Some("noisy.add %k (iteration 3 of the cycle in line 6) (context 1)")
        );
    }
}
