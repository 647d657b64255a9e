//! The observed ops of two programs, side by side.

use std::collections::BTreeMap;

use noisy_syntax::{Block, Form, Ir, Op, OpKind, Region, Source, Span, Value};

/// The ops that are not observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// Sums, differences, products and reductions.
    Ring,
    /// Reductions alone.
    Reductions,
}

impl Arithmetic {
    /// Returns true if an op is not observed.
    pub(super) fn has(self, ir: &Ir, op: Op) -> bool {
        let data = ir.op(op);
        let n_operands = match data.kind {
            OpKind::NoisyAdd | OpKind::NoisySub | OpKind::NoisyMul if self == Self::Ring => 2,
            OpKind::NoisyReduceNoise => 1,
            _ => return false,
        };
        is_read(data.form)
            && ir.extra(op).attrs.is_empty()
            && data.operands.len() == n_operands
            && data.results.len() == 1
            && is_noisy(ir, data.results[0])
            && data.operands.iter().all(|it| it.value.is_some_and(|it| is_noisy(ir, it)))
    }
}

fn is_read(form: Form) -> bool {
    matches!(form, Form::Generic | Form::Custom)
}

fn is_noisy(ir: &Ir, value: Value) -> bool {
    ir.interner.type_text(ir.value(value).ty) == "!noisy.i32"
}

/// Two programs with the same observed ops.
pub(super) struct Pairs<'a> {
    pub old: &'a Source,
    pub new: &'a Source,
    pub arithmetic: Arithmetic,
    /// Values that are the same unknown, with the ops that define them if these are encodings.
    pub unknowns: Vec<(Value, Value)>,
    /// Values that have to be equal.
    pub uses: Vec<(Value, Value)>,
    /// The loops that are missing in the second program, with their trip counts.
    pub loops: BTreeMap<Op, u64>,
    /// Arithmetic ops that are no reductions of each program, by their first bytes.
    pub old_ops: BTreeMap<usize, Value>,
    pub new_ops: BTreeMap<usize, Value>,
    /// The listed loops that were not found yet.
    left: BTreeMap<usize, u64>,
    regions: Vec<(Region, Region)>,
}

impl<'a> Pairs<'a> {
    /// Pairs the observed ops of two programs.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub(super) fn of(
        old: &'a Source,
        new: &'a Source,
        arithmetic: Arithmetic,
        loops: &[(usize, u64)],
    ) -> Result<Self, String> {
        let mut out = Self {
            old,
            new,
            arithmetic,
            unknowns: Vec::new(),
            uses: Vec::new(),
            loops: BTreeMap::new(),
            old_ops: BTreeMap::new(),
            new_ops: BTreeMap::new(),
            left: loops.iter().copied().collect(),
            regions: vec![(old.ir().root(), new.ir().root())],
        };
        if out.left.len() != loops.len() {
            return Err("a loop is listed twice".to_owned());
        }
        while let Some((old, new)) = out.regions.pop() {
            out.region(old, new)?;
        }
        match out.left.keys().next() {
            Some(at) => Err(format!("the program before has no loop at byte {at} to evaluate")),
            None => Ok(out),
        }
    }

    fn region(&mut self, old: Region, new: Region) -> Result<(), String> {
        let (old_blocks, new_blocks) = (self.old.ir().blocks(old), self.new.ir().blocks(new));
        if old_blocks.len() != new_blocks.len() {
            return Err("two regions have different numbers of blocks".to_owned());
        }
        for (old, new) in old_blocks.into_iter().zip(new_blocks) {
            self.block(old, new)?;
        }
        Ok(())
    }

    fn block(&mut self, old: Block, new: Block) -> Result<(), String> {
        let (a, b) = (self.old.ir().block(old), self.new.ir().block(new));
        match (a.label, b.label) {
            (None, None) => {}
            (Some(a), Some(b)) if text(self.old, a) == text(self.new, b) => {}
            _ => return Err("two blocks have different labels".to_owned()),
        }
        self.unknowns(&a.args, &b.args)?;
        let mut old_ops = Vec::new();
        for op in self.old.ir().block_ops(old) {
            let at = self.old.ir().range(op).start;
            if self.arithmetic.has(self.old.ir(), op) {
                self.old_ops.insert(at, self.old.ir().op(op).results[0]);
            } else if let Some(trips) = self.left.remove(&at) {
                self.loops.insert(op, trips);
            } else {
                old_ops.push(op);
            }
        }
        let mut new_ops = Vec::new();
        for op in self.new.ir().block_ops(new) {
            if self.arithmetic.has(self.new.ir(), op) {
                let at = self.new.ir().range(op).start;
                self.new_ops.insert(at, self.new.ir().op(op).results[0]);
            } else {
                new_ops.push(op);
            }
        }
        if old_ops.len() != new_ops.len() {
            let (a, b) = (old_ops.len(), new_ops.len());
            return Err(format!("two blocks have {a} and {b} ops other than arithmetic"));
        }
        old_ops.into_iter().zip(new_ops).try_for_each(|(old, new)| self.ops(old, new))
    }

    fn ops(&mut self, old: Op, new: Op) -> Result<(), String> {
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
            || text(self.old, old) != text(self.new, new)
        {
            return differ("is another op in the rewritten program");
        }
        let is_whole = |op: Op, ir: &Ir| !ir.op(op).kind.is_op() || is_read(ir.op(op).form);
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
            self.uses.push((a, b));
        }
        self.regions.extend(a.regions.iter().zip(&b.regions).map(|(a, b)| (a.1, b.1)));
        self.unknowns(&a.results, &b.results)
    }

    fn unknowns(&mut self, old: &[Value], new: &[Value]) -> Result<(), String> {
        let ty = |ir: &Ir, it: Value| ir.interner.type_text(ir.value(it).ty);
        if old.len() != new.len() {
            return Err("two ops have different numbers of results or arguments".to_owned());
        }
        for (&a, &b) in old.iter().zip(new) {
            if ty(self.old.ir(), a) != ty(self.new.ir(), b) {
                let name = self.old.ir().value_text(a);
                return Err(format!("{name} has another type in the rewritten program"));
            }
            self.unknowns.push((a, b));
        }
        Ok(())
    }
}

/// The text of an op or a label between its operands and regions.
fn text(source: &Source, op: Op) -> Vec<String> {
    let data = source.ir().op(op);
    let mut cuts: Vec<(u32, u32)> =
        data.operands.iter().map(|it| (it.span.start, it.span.end)).collect();
    cuts.extend(data.regions.iter().map(|it| (it.0, it.0)));
    cuts.sort_unstable();
    cuts.push((data.own_len, data.own_len));
    let mut out = Vec::new();
    let mut at = data.lead;
    for (start, end) in cuts {
        let is_text = at < start;
        out.push(if is_text { source.span_text(op, Span::new(at, start)) } else { String::new() });
        at = at.max(end);
    }
    out
}
