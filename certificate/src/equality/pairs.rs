//! Pairs the observed ops of two programs.

use std::collections::{BTreeMap, BTreeSet};

use noisy_syntax::{Block, Ir, Op, OpKind, Region, Source, Span, Value};

use super::integers::{self, is_fully_parsed};
use super::loops::{
    BranchPair, CarriedRelation, ConstantLoop, IterationContexts, ProgramValue,
    RemainingIterations, ValueRelation,
};

/// The largest number of iterations of loops that are compared one after the other.
const MAX_COPIES: u64 = 50_000;

/// The ops that are not observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithmeticOps {
    /// Sums, differences, products and reductions, constants of integers, and sums of an integer
    /// and a constant.
    Ring,
    /// Reductions only.
    Reductions,
}

impl ArithmeticOps {
    /// Returns true if an op is not observed.
    pub(super) fn contains(self, ir: &Ir, op: Op) -> bool {
        self == Self::Ring && integers::integer_definition(ir, op).is_some()
            || self.is_noisy_op(ir, op)
    }

    /// Returns true if an op is not observed and computes on noisy values.
    fn is_noisy_op(self, ir: &Ir, op: Op) -> bool {
        let data = ir.op(op);
        let n_operands = match data.kind {
            OpKind::NoisyAdd | OpKind::NoisySub | OpKind::NoisyMul if self == Self::Ring => 2,
            OpKind::NoisyReduceNoise => 1,
            _ => return false,
        };
        is_fully_parsed(data.form)
            && ir.extra(op).attrs.is_empty()
            && data.operands.len() == n_operands
            && data.results.len() == 1
            && is_noisy(ir, data.results[0])
            && data.operands.iter().all(|it| it.value.is_some_and(|it| is_noisy(ir, it)))
    }
}

pub(super) fn is_noisy(ir: &Ir, value: Value) -> bool {
    ir.interner.type_text(ir.value(value).ty) == "!noisy.i32"
}

/// Two programs with the same observed ops.
pub(super) struct PairedPrograms<'a> {
    pub old: &'a Source,
    pub new: &'a Source,
    pub arithmetic: ArithmeticOps,
    /// Pairs of values that are the same unknown.
    pub unknowns: Vec<(ProgramValue, Value)>,
    /// Values of the second program that are unknowns without a counterpart in the first program.
    pub new_unknowns: Vec<Value>,
    /// Definitions of values of the first program by loops and branches.
    pub meanings: BTreeMap<ProgramValue, ValueRelation>,
    /// Pairs of values that must be proven equal.
    pub uses: Vec<(ProgramValue, ProgramValue)>,
    /// Values of the first program after the iterations of a stride, each with the value that the
    /// new loop carries.
    pub carried_values: Vec<(ProgramValue, CarriedRelation)>,
    pub branches: Vec<BranchPair>,
    /// Loops whose last iterations are evaluated.
    pub remaining_iterations: Vec<RemainingIterations>,
    pub contexts: IterationContexts,
    /// The loops that are missing in the second program, with their trip counts.
    pub loops: BTreeMap<Op, u64>,
    /// The results of the arithmetic ops of each program, by the offset of the op.
    pub old_ops: BTreeMap<usize, Value>,
    pub new_ops: BTreeMap<usize, Value>,
    /// The listed loops by offset, with their trip counts.
    listed: BTreeMap<usize, u64>,
    /// The strides that are not compared yet, by the offset of the first loop of the second
    /// program.
    strides: BTreeMap<usize, (usize, Vec<(usize, u64)>)>,
    n_copies: u64,
    tasks: Vec<PendingComparison>,
}

/// Parts of the two programs that are not compared yet.
enum PendingComparison {
    /// Two regions. If they are cases of a branch with results, their terminators are skipped.
    Regions { context: u32, old: Region, new: Region, are_cases: bool },
    /// The bodies of two loops. The ops of the first program are listed with the contexts of their
    /// iterations.
    Bodies { old: Vec<(u32, Op)>, new: Vec<Op> },
}

/// A loop of the first program, with the loops of the second program that replace it.
type Stride = (usize, Vec<(usize, u64)>);

impl<'a> PairedPrograms<'a> {
    /// Pairs the observed ops of two programs.
    ///
    /// # Errors
    ///
    /// Returns the first difference.
    pub(super) fn of(
        old: &'a Source,
        new: &'a Source,
        arithmetic: ArithmeticOps,
        loops: &[(usize, u64)],
        strides: &[Stride],
    ) -> Result<Self, String> {
        let first = |it: &Stride| Some((it.1.first()?.0, it.clone()));
        let root = PendingComparison::Regions {
            context: 0,
            old: old.ir().root(),
            new: new.ir().root(),
            are_cases: false,
        };
        let mut out = Self {
            old,
            new,
            arithmetic,
            unknowns: Vec::new(),
            new_unknowns: Vec::new(),
            meanings: BTreeMap::new(),
            uses: Vec::new(),
            carried_values: Vec::new(),
            branches: Vec::new(),
            remaining_iterations: Vec::new(),
            contexts: IterationContexts::default(),
            loops: BTreeMap::new(),
            old_ops: BTreeMap::new(),
            new_ops: BTreeMap::new(),
            listed: loops.iter().copied().collect(),
            strides: strides.iter().filter_map(first).collect(),
            n_copies: 0,
            tasks: vec![root],
        };
        if out.listed.len() != loops.len() || out.strides.len() != strides.len() {
            return Err("a loop is listed twice".to_owned());
        }
        while let Some(task) = out.tasks.pop() {
            match task {
                PendingComparison::Regions { context, old, new, are_cases } => {
                    out.pair_regions(context, old, new, are_cases)?;
                }
                PendingComparison::Bodies { old, new } => out.pair_ops(old, &new)?,
            }
        }
        let starts = out.loops.keys().map(|&it| old.ir().range(it).start);
        let found: BTreeSet<usize> = starts.collect();
        if let Some(at) = out.listed.keys().find(|it| !found.contains(it)) {
            return Err(format!("the program before has no loop at byte {at} to evaluate"));
        }
        match out.strides.keys().next() {
            Some(at) => Err(format!("the rewritten program has no loop at byte {at} to compare")),
            None => Ok(out),
        }
    }

    /// Returns the key of a value of the first program in a context.
    fn key(&self, context: u32, value: Value) -> ProgramValue {
        self.contexts.key(self.old.ir(), context, value)
    }

    fn pair_regions(
        &mut self,
        context: u32,
        old: Region,
        new: Region,
        are_cases: bool,
    ) -> Result<(), String> {
        let (old_blocks, new_blocks) = (self.old.ir().blocks(old), self.new.ir().blocks(new));
        if old_blocks.len() != new_blocks.len() {
            return Err("two regions have different numbers of blocks".to_owned());
        }
        for (old, new) in old_blocks.into_iter().zip(new_blocks) {
            self.pair_blocks(context, old, new, are_cases)?;
        }
        Ok(())
    }

    fn pair_blocks(
        &mut self,
        context: u32,
        old: Block,
        new: Block,
        are_cases: bool,
    ) -> Result<(), String> {
        let (a, b) = (self.old.ir().block(old), self.new.ir().block(new));
        match (a.label, b.label) {
            (None, None) => {}
            (Some(a), Some(b)) if own_text(self.old, a) == own_text(self.new, b) => {}
            _ => return Err("two blocks have different labels".to_owned()),
        }
        self.add_unknowns(context, &a.args, &b.args)?;
        let old_ops: Vec<Op> = self.old.ir().block_ops(old).collect();
        let mut old_ops = self.observed_old_ops(context, old_ops);
        let mut new_ops = self.observed_new_ops(self.new.ir().block_ops(new).collect());
        if are_cases {
            old_ops.pop();
            new_ops.pop();
        }
        self.pair_ops(old_ops, &new_ops)
    }

    /// Returns the observed ops among some ops of the first program, and records the others.
    fn observed_old_ops(&mut self, context: u32, ops: Vec<Op>) -> Vec<(u32, Op)> {
        let ir = self.old.ir();
        let mut out = Vec::new();
        for op in ops {
            let at = ir.range(op).start;
            if self.arithmetic.contains(ir, op) {
                if context == 0 && self.arithmetic.is_noisy_op(ir, op) {
                    self.old_ops.insert(at, ir.op(op).results[0]);
                }
            } else if let Some(&trips) = self.listed.get(&at) {
                self.loops.insert(op, trips);
            } else {
                out.push((context, op));
            }
        }
        out
    }

    /// Returns the observed ops among some ops of the second program, and records the others.
    fn observed_new_ops(&mut self, ops: Vec<Op>) -> Vec<Op> {
        let ir = self.new.ir();
        let mut out = Vec::new();
        for op in ops {
            if !self.arithmetic.contains(ir, op) {
                out.push(op);
            } else if self.arithmetic.is_noisy_op(ir, op) {
                self.new_ops.insert(ir.range(op).start, ir.op(op).results[0]);
            }
        }
        out
    }

    fn pair_ops(&mut self, old_ops: Vec<(u32, Op)>, new_ops: &[Op]) -> Result<(), String> {
        let start = |it: &Op| self.new.ir().range(*it).start;
        let parts = new_ops.iter().filter_map(|it| self.strides.get(&start(it)));
        let n_more: usize = parts.map(|it| it.1.len() - 1).sum();
        if old_ops.len() + n_more != new_ops.len() {
            let (a, b) = (old_ops.len(), new_ops.len());
            return Err(format!("two blocks have {a} and {b} ops other than arithmetic"));
        }
        let mut new = new_ops.iter().copied();
        for (context, op) in old_ops {
            let first = new.next().ok_or("an op is missing in the rewritten program")?;
            let at = self.new.ir().range(first).start;
            let Some((before, parts)) = self.strides.remove(&at) else {
                self.pair_op(context, op, first)?;
                continue;
            };
            let mut loops = vec![(first, parts[0].1)];
            for &(at, n) in &parts[1..] {
                match new.next() {
                    Some(it) if self.new.ir().range(it).start == at => loops.push((it, n)),
                    _ => return Err(format!("there is no next loop at byte {at}")),
                }
            }
            if self.old.ir().range(op).start != before {
                return Err(format!("the loop at byte {at} takes the place of another op"));
            }
            self.pair_stride(context, op, &loops)?;
        }
        Ok(())
    }

    /// Pairs a loop with loops of the second program that run the same iterations, several at a
    /// time.
    fn pair_stride(&mut self, context: u32, op: Op, parts: &[(Op, u64)]) -> Result<(), String> {
        let (old_ir, new_ir) = (self.old.ir(), self.new.ir());
        let place = old_ir.range(op).start;
        let wrong = |why: &str| Err(format!("the loop at byte {place} {why}"));
        let counted = |ir: &Ir, op: Op| {
            ConstantLoop::of(ir, op).filter(|_| ConstantLoop::has_only_bounds(ir, op))
        };
        let Some(old) = counted(old_ir, op) else { return wrong("has no constant bounds") };
        let mut inits: Option<Vec<Value>> = None;
        let mut last: Vec<Value> = Vec::new();
        let mut n_done = 0_u64;
        for &(part, n) in parts {
            let Some(new) = counted(new_ir, part) else { return wrong("has no constant bounds") };
            let by = |n: u64| old.step.checked_mul(i128::from(n));
            let lower = by(n_done).and_then(|it| it.checked_add(old.lower));
            let fits = n > 0
                && old_ir.op(op).kind == new_ir.op(part).kind
                && (lower, by(n)) == (Some(new.lower), Some(new.step))
                && old.args.len() == new.args.len()
                && [
                    types(old_ir, &[old.induction_variable]),
                    types(new_ir, &[new.induction_variable]),
                ] == [["index"]; 2]
                && i64::try_from(new.step).is_ok()
                && i64::try_from(new.lower).is_ok()
                && types(old_ir, &old.args) == types(new_ir, &new.args)
                && types(old_ir, &old.inits) == types(new_ir, &new.inits);
            let Some(done) =
                n.checked_mul(new.n_trips).and_then(|it| it.checked_add(n_done)).filter(|_| fits)
            else {
                return wrong("has other iterations in the rewritten program");
            };
            n_done = done;
            self.n_copies = self.n_copies.saturating_add(n);
            if self.n_copies > MAX_COPIES {
                return Err("too many iterations of loops are compared".to_owned());
            }
            let results = new_ir.op(part).results.to_vec();
            match &inits {
                None => inits = Some(new.inits.clone()),
                // Each loop starts with the results of the preceding one.
                Some(_) => {
                    let pairs = last.iter().zip(&new.inits);
                    self.uses
                        .extend(pairs.map(|(&a, &b)| (ProgramValue::New(a), ProgramValue::New(b))));
                }
            }
            let firsts = inits.clone().unwrap_or_default();
            let carried: Vec<(ProgramValue, Value)> =
                old.inits.iter().map(|&it| self.key(context, it)).zip(firsts).collect();
            let carry = |value: Value, at: usize| {
                let is_noisy = is_noisy(old_ir, old.args[at]);
                CarriedRelation { value, initial_values: is_noisy.then_some(carried[at]) }
            };
            self.new_unknowns.push(new.induction_variable);
            self.new_unknowns.extend(new.args.iter().chain(&results));
            let mut ops = Vec::new();
            let mut before: Option<u32> = None;
            for copy in 0..n {
                let inner = self.contexts.add(context, op);
                for (at, &arg) in old.args.iter().enumerate() {
                    let meaning = match before {
                        None => ValueRelation::Carried(carry(new.args[at], at)),
                        Some(it) => ValueRelation::PreviousYield(self.key(it, old.yielded[at])),
                    };
                    self.meanings.insert(ProgramValue::Old(inner, arg), meaning);
                }
                let Some(by) = by(copy) else {
                    return wrong("has an induction variable too large");
                };
                self.meanings.insert(
                    ProgramValue::Old(inner, old.induction_variable),
                    ValueRelation::InductionVariable(new.induction_variable, by),
                );
                ops.extend(self.observed_old_ops(inner, old.body.clone()));
                before = Some(inner);
            }
            for (at, &value) in new.yielded.iter().enumerate() {
                let end = self.key(before.unwrap_or(context), old.yielded[at]);
                self.carried_values.push((end, carry(value, at)));
            }
            let new = self.observed_new_ops(new.body);
            self.tasks.push(PendingComparison::Bodies { old: ops, new });
            last = results;
        }
        let Some(n_left) = old.n_trips.checked_sub(n_done) else {
            return wrong("has more iterations in the rewritten program");
        };
        let firsts = inits.clone().unwrap_or_default();
        let starts = old.inits.iter().map(|&it| self.key(context, it)).zip(firsts);
        let starts: Vec<(ProgramValue, Value)> = starts.collect();
        let results: Vec<CarriedRelation> = last
            .iter()
            .zip(starts)
            .zip(&old.args)
            .map(|((&value, start), &arg)| CarriedRelation {
                value,
                initial_values: is_noisy(old_ir, arg).then_some(start),
            })
            .collect();
        self.check_same_types(&old_ir.op(op).results, &last)?;
        for (at, &it) in old_ir.op(op).results.iter().enumerate() {
            let meaning = match n_left {
                0 => ValueRelation::Carried(results[at]),
                _ => ValueRelation::LoopResult(self.remaining_iterations.len()),
            };
            self.meanings.insert(self.key(context, it), meaning);
        }
        self.remaining_iterations.push(RemainingIterations { op, n_left, carried: results });
        // Initial values that are not noisy must be equal.
        for (&a, b) in old.inits.iter().zip(inits.unwrap_or_default()) {
            if !is_noisy(old_ir, a) {
                self.uses.push((self.key(context, a), ProgramValue::New(b)));
            }
        }
        Ok(())
    }

    fn pair_op(&mut self, context: u32, old: Op, new: Op) -> Result<(), String> {
        let (a, b) = (self.old.ir().op(old), self.new.ir().op(new));
        let place = self.old.ir().range(old);
        let differ = |how: &str| {
            let name = self.old.ir().op_name(old);
            Err(format!("{name} at byte {} {how}", place.start))
        };
        let is_function = a.kind == OpKind::FuncFunc && b.kind == OpKind::FuncFunc;
        if is_function && self.old.slice(place.clone()) == self.new.slice(self.new.ir().range(new))
        {
            return Ok(());
        }
        if self.old.ir().op_name(old) != self.new.ir().op_name(new)
            || own_text(self.old, old) != own_text(self.new, new)
        {
            return differ("is another op in the rewritten program");
        }
        let is_whole = |op: Op, ir: &Ir| !ir.op(op).kind.is_op() || is_fully_parsed(ir.op(op).form);
        if !is_whole(old, self.old.ir()) || !is_whole(new, self.new.ir()) {
            return differ("has an unknown form");
        }
        if a.kind == OpKind::Unknown && !a.regions.is_empty() {
            return differ("has regions, and its meaning is unknown");
        }
        if a.operands.len() != b.operands.len() || a.regions.len() != b.regions.len() {
            return differ("has other operands or regions in the rewritten program");
        }
        for (a, b) in a.operands.iter().zip(&b.operands) {
            let (Some(a), Some(b)) = (a.value, b.value) else {
                return differ("has an operand that is not defined");
            };
            self.uses.push((self.key(context, a), ProgramValue::New(b)));
        }
        let cases = self.cases(context, old, new);
        for (a, b) in a.regions.iter().zip(&b.regions) {
            let (old, new) = (a.1, b.1);
            self.tasks.push(PendingComparison::Regions {
                context,
                old,
                new,
                are_cases: cases.is_some(),
            });
        }
        let Some(cases) = cases else { return self.add_unknowns(context, &a.results, &b.results) };
        self.check_same_types(&a.results, &b.results)?;
        for (at, &it) in a.results.iter().enumerate() {
            let meaning = ValueRelation::BranchResult(self.branches.len(), at, b.results[at]);
            self.meanings.insert(self.key(context, it), meaning);
        }
        self.new_unknowns.extend(&b.results);
        self.branches.push(BranchPair { old, new, cases });
        Ok(())
    }

    /// Returns the values that the cases of two branches yield, by result; `None` for other ops.
    fn cases(&self, context: u32, old: Op, new: Op) -> Option<Vec<Vec<(ProgramValue, Value)>>> {
        let (a, b) = (self.old.ir().op(old), self.new.ir().op(new));
        let is_branch = matches!(a.kind, OpKind::ScfIf | OpKind::AffineIf)
            && self.arithmetic == ArithmeticOps::Ring
            && !a.results.is_empty()
            && a.regions.len() == 2;
        let yielded = |ir: &Ir, region: Region| -> Option<Vec<Value>> {
            let end = ir.last_op(ir.only_block(region)?)?;
            let is_end = matches!(ir.op(end).kind, OpKind::ScfYield | OpKind::AffineYield)
                && ir.op(end).operands.len() == a.results.len();
            let values = ir.op(end).operands.iter().map(|it| it.value);
            values.collect::<Option<_>>().filter(|_| is_end && is_fully_parsed(ir.op(end).form))
        };
        let mut out = vec![Vec::new(); a.results.len()];
        for (a, b) in a.regions.iter().zip(&b.regions).filter(|_| is_branch) {
            let (a, b) = (yielded(self.old.ir(), a.1)?, yielded(self.new.ir(), b.1)?);
            for (it, (a, b)) in out.iter_mut().zip(a.into_iter().zip(b)) {
                it.push((self.key(context, a), b));
            }
        }
        is_branch.then_some(out)
    }

    fn check_same_types(&self, old: &[Value], new: &[Value]) -> Result<(), String> {
        if old.len() != new.len() {
            return Err("two ops have different numbers of results or arguments".to_owned());
        }
        let pairs = types(self.old.ir(), old).into_iter().zip(types(self.new.ir(), new));
        match pairs.zip(old).find(|it| it.0.0 != it.0.1) {
            None => Ok(()),
            Some((_, &it)) => {
                let name = self.old.ir().value_text(it);
                Err(format!("{name} has another type in the rewritten program"))
            }
        }
    }

    fn add_unknowns(&mut self, context: u32, old: &[Value], new: &[Value]) -> Result<(), String> {
        self.check_same_types(old, new)?;
        for (&a, &b) in old.iter().zip(new) {
            self.unknowns.push((self.key(context, a), b));
        }
        Ok(())
    }
}

fn types(ir: &Ir, values: &[Value]) -> Vec<String> {
    values.iter().map(|&it| ir.interner.type_text(ir.value(it).ty)).collect()
}

/// Returns the text of an op or a label, split at its results, operands and regions.
fn own_text(source: &Source, op: Op) -> Vec<String> {
    let data = source.ir().op(op);
    let mut cuts: Vec<(u32, u32)> =
        data.operands.iter().map(|it| (it.span.start, it.span.end)).collect();
    cuts.extend(data.result_names.iter().map(|it| (it.span.start, it.span.end)));
    cuts.extend(data.regions.iter().map(|it| (it.0, it.0)));
    cuts.sort_unstable();
    cuts.push((data.own_len, data.own_len));
    let mut out = Vec::new();
    let mut at = data.lead_len;
    for (start, end) in cuts {
        let is_text = at < start;
        out.push(if is_text { source.span_text(op, Span::new(at, start)) } else { String::new() });
        at = at.max(end);
    }
    out
}
