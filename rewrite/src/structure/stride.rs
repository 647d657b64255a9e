//! Strided loops: loops with known trip counts in which several iterations are combined into one.
//!
//! A loop with `n` iterations becomes a loop with `n / k` iterations, whose body is repeated `k`
//! times, and a loop for the remaining iterations.

use noisy_analyses::{FreshNames, Program, TextEdit};
use noisy_dataflow::flow::{self, Flow};
use noisy_integers::constant::Constant;
use noisy_syntax::{Form, Op, OpKind, Region, Value};
use rustc_hash::FxHashMap;

use super::text::EditPass;
use crate::extract::arithmetic_kind;
use crate::placing::{MAX_CODE_GROWTH, SMALL_CODE};
use crate::scale::PLAINTEXT_BITS;
use crate::write::fresh_name;

/// A loop whose iterations can be combined.
pub(super) struct StridableLoop {
    op: Op,
    region: Region,
    end: Op,
    lower: i128,
    upper: i128,
    step: i128,
    trips: u64,
    inits: Vec<Value>,
    index: Value,
    args: Vec<Value>,
    /// Number of ops in the body; ops of inner loops count once per iteration.
    n_ops: usize,
    /// True if the body consists of arithmetic only.
    is_plain: bool,
}

impl StridableLoop {
    fn of(program: &Program, op: Op) -> Option<Self> {
        let ir = program.ir();
        let data = ir.op(op);
        let n = data.results.len();
        let Flow::For { first } = Flow::of(ir, op) else { return None };
        let &[(_, region)] = data.regions.as_slice() else { return None };
        let block = ir.only_block(region)?;
        let end = ir.last_op(block)?;
        let (&index, args) = ir.block(block).args.split_first()?;
        let number = |at: usize| {
            let value = data.operands.get(at)?.value?;
            let is_written =
                ir.defining_op(value).is_some_and(|it| ir.op(it).kind == OpKind::ArithConstant);
            match program.integers().constant(ir, value) {
                Constant::Int(it) if is_written => Some(it),
                _ => None,
            }
        };
        let (lower, upper, step) = match data.kind {
            OpKind::ScfFor => (number(0)?, number(1)?, number(2)?),
            OpKind::AffineFor if first == 0 => {
                let bound = |name| {
                    let map = ir.interner.affine(ir.attr(op, name)?)?;
                    map.evaluate(&|_| None).filter(|it| it.len() == 1).map(|it| i128::from(it[0]))
                };
                let step = ir.interner.int_value(ir.attr(op, "step")?)?;
                (bound("lowerBoundMap")?, bound("upperBoundMap")?, step)
            }
            _ => return None,
        };
        let inits: Option<Vec<Value>> = data.operands[first..].iter().map(|it| it.value).collect();
        let inits = inits?;
        let yielded = ir.op(end);
        let bounds = ["lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"];
        let is_plain = data.form == Form::Custom
            && !ir.has_problem(op)
            && program.integers().is_live(ir, op)
            && matches!(yielded.kind, OpKind::ScfYield | OpKind::AffineYield)
            && yielded.operands.iter().all(|it| it.value.is_some())
            && [inits.len(), args.len(), yielded.operands.len()] == [n; 3]
            && flow::carried_args(ir, region, n) == args
            && ir.interner.type_text(ir.value(index).ty) == "index"
            && ir.extra(op).attrs.iter().all(|it| bounds.contains(&ir.interner.str(it.0)))
            && data.results.iter().any(|&it| program.is_noisy(it))
            && step > 0;
        let trips = program.integers().trips(ir, op).exact().filter(|&it| is_plain && it > 1)?;
        // Only the closing brace may follow the body: no attributes and no location.
        let tail = program.source().slice(ir.region_start(region)..ir.range(op).end);
        let rest = tail.get(ir.region_len(region)..)?.trim_start();
        if rest.strip_prefix('}')?.trim() != "" {
            return None;
        }
        let mut is_copied = true;
        let mut is_plain = true;
        ir.walk(region, &mut |it| {
            // Bodies with encryption or decryption are not copied.
            let kind = ir.op(it).kind;
            is_copied &= !matches!(kind, OpKind::NoisyEncode | OpKind::NoisyDecode);
            is_plain &= arithmetic_kind(ir, it).is_some() || it == end;
            // Bodies with long inner loops are not copied either.
            if matches!(Flow::of(ir, it), Flow::For { .. }) {
                let trips = program.integers().trips(ir, it).exact();
                is_copied &= trips.is_some_and(|it| it < 16);
            }
        });
        let n_ops = n_unrolled(program, region);
        // A short loop of arithmetic is unrolled by the search.
        is_copied &= !is_plain || n_ops as u64 * trips > SMALL_CODE as u64;
        let args = args.to_vec();
        // If carried values are multiplied with each other, the degree grows exponentially, so
        // these loops are excluded.
        let mut degrees: FxHashMap<Value, u32> = args.iter().map(|&it| (it, 1)).collect();
        for it in ir.block_ops(block).filter(|&it| arithmetic_kind(ir, it).is_some()) {
            let of = ir.op(it).operands.iter().filter_map(|it| degrees.get(&it.value?).copied());
            let degree =
                if ir.op(it).kind == OpKind::NoisyMul { of.sum() } else { of.max().unwrap_or(0) };
            degrees.insert(ir.op(it).results[0], degree.min(2));
        }
        let degree = |it: Value| degrees.get(&it).copied().unwrap_or(0);
        is_copied &= yielded.operands.iter().filter_map(|it| it.value).all(|it| degree(it) < 2);
        is_copied.then_some(Self {
            op,
            region,
            end,
            lower,
            upper,
            step,
            trips,
            inits,
            index,
            args,
            n_ops,
            is_plain,
        })
    }

    /// Returns the number of iterations to combine, within the limit of code growth.
    fn n_at_once(&self, size: StrideSize) -> u64 {
        let n_ops = self.n_ops.max(1);
        let share = if let StrideSize::Share(it) = size { it } else { 1 };
        let most = (MAX_CODE_GROWTH * n_ops + SMALL_CODE) / n_ops / share;
        let most = self.trips.min(most as u64);
        match size {
            StrideSize::Again if !self.is_plain => 1,
            StrideSize::Share(_) | StrideSize::Again => {
                let n_runs = |it: &u64| self.trips / it + self.trips % it;
                (1..=most).min_by_key(n_runs).unwrap_or(1)
            }
            StrideSize::Period => most - most % (1 << PLAINTEXT_BITS),
        }
    }
}

/// The strategy for the number of combined iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrideSize {
    /// The number with the fewest resulting iterations, within the limit of code growth divided by
    /// this number.
    Share(usize),
    /// A multiple of the modulus of the plaintexts: so many additions of the same term cancel.
    Period,
    /// Like `Share(1)`, but only for loops of arithmetic.
    Again,
}

/// Number of ops in a region; ops of inner loops count once per iteration.
fn n_unrolled(program: &Program, region: Region) -> usize {
    let ir = program.ir();
    let mut n: usize = 0;
    let mut stack: Vec<(Op, usize)> = ir.items(region).map(|it| (it, 1)).collect();
    while let Some((op, by)) = stack.pop() {
        n = n.saturating_add(by);
        let trips = match Flow::of(ir, op) {
            Flow::For { .. } => program.integers().trips(ir, op).exact().unwrap_or(1),
            _ => 1,
        };
        let by = by.saturating_mul(usize::try_from(trips).unwrap_or(usize::MAX));
        let inner = ir.op(op).regions.iter().flat_map(|it| ir.items(it.1));
        stack.extend(inner.map(|it| (it, by)));
    }
    n
}

/// Returns edits that combine iterations of the innermost loops.
pub(super) fn stride_loops(
    program: &Program,
    functions: &[Op],
    size: StrideSize,
) -> Option<Vec<TextEdit>> {
    let mut pass = EditPass::new(program);
    for &function in functions {
        let mut done: Vec<Op> = Vec::new();
        for op in pass.nested_ops(function).into_iter().rev() {
            let is_inner = !done.iter().any(|&it| pass.ir.is_within(it, op));
            let Some(it) = StridableLoop::of(program, op).filter(|_| is_inner) else { continue };
            let n = it.n_at_once(size);
            if n > 1 {
                pass.stride(&it, n);
                done.push(op);
            }
        }
    }
    pass.finish()
}

impl EditPass<'_> {
    /// Replaces a loop with a strided loop and a loop for the remaining iterations.
    fn stride(&mut self, of: &StridableLoop, n: u64) {
        let data = self.ir.op(of.op);
        let mut constants = Constants { lines: Vec::new(), names: FxHashMap::default() };
        if data.kind == OpKind::ScfFor {
            // Reuses the names of the existing bounds, but the upper bound only if it is exact.
            let last = of.lower + of.step * i128::from(of.trips);
            let numbers = [Some(of.lower), (last == of.upper).then_some(last), Some(of.step)];
            for (number, it) in numbers.into_iter().zip(&data.operands) {
                if let (Some(number), Some(it)) = (number, it.value) {
                    constants.names.entry(number).or_insert_with(|| self.ir.value_text(it));
                }
            }
        }
        let range = self.ir.range(of.op);
        let is_affine = data.kind == OpKind::AffineFor;
        let n_first = of.trips / n;
        let mut inits: Vec<String> = of.inits.iter().map(|&it| self.ir.value_text(it)).collect();
        let mut text = String::new();
        let join = format!("\n{}", self.program.source().indentation(range.start));
        let parts = [(n, n_first), (1, of.trips % n)];
        let parts: Vec<(u64, u64)> = parts.into_iter().filter(|it| it.1 > 0).collect();
        let mut n_done = 0;
        for (at, &(n, trips)) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let number = |it: u64| of.lower + of.step * i128::from(it);
            let (lower, step) = (number(n_done), of.step * i128::from(n));
            n_done += n * trips;
            let upper = number(n_done);
            let (results, refer) = if is_last {
                let own = self.program.source().slice(range.clone());
                (own.split('=').next().unwrap_or_default().trim_end().to_owned(), Vec::new())
            } else {
                let base = fresh_name(&mut self.names, "strides");
                match of.inits.len() {
                    1 => (base.clone(), vec![base]),
                    n => (format!("{base}:{n}"), (0..n).map(|it| format!("{base}#{it}")).collect()),
                }
            };
            let bounds = if is_affine {
                let by = if step == 1 { String::new() } else { format!(" step {step}") };
                format!("{lower} to {upper}{by}")
            } else {
                let mut bound = |it| constants.name(it, &mut self.names);
                format!("{} to {} step {}", bound(lower), bound(upper), bound(step))
            };
            let args = of.args.iter().zip(&inits);
            let args: Vec<String> =
                args.map(|(&it, init)| format!("{} = {init}", self.ir.value_text(it))).collect();
            let types: Vec<String> = data
                .results
                .iter()
                .map(|&it| self.ir.interner.type_text(self.ir.value(it).ty))
                .collect();
            let (kind, index) =
                (if is_affine { "affine" } else { "scf" }, self.ir.value_text(of.index));
            let body = self.copies(of, n, is_affine, &mut constants);
            text += &format!(
                "{results} = {kind}.for {index} = {bounds} iter_args({}) -> ({}) {{{body}{join}}}",
                args.join(", "),
                types.join(", "),
            );
            if !is_last {
                text += &join;
                inits = refer;
            }
        }
        if !constants.lines.is_empty() {
            let lines = self.program.source().in_front_of(of.op, &constants.lines);
            text = lines.text + &text;
        }
        self.replace(range, text);
    }

    /// Returns the body of a loop, repeated `n` times.
    fn copies(
        &mut self,
        of: &StridableLoop,
        n: u64,
        is_affine: bool,
        constants: &mut Constants,
    ) -> String {
        let ir = self.ir;
        let source = self.program.source();
        let start = ir.region_start(of.region);
        let end = ir.range(of.end);
        let indent = source.indentation(end.start);
        let uses_index = !ir.value(of.index).uses.is_empty();
        let mut out = String::new();
        let mut now: FxHashMap<Value, String> = FxHashMap::default();
        for copy in 0..n {
            if copy > 0 {
                now.retain(|it, _| of.args.contains(it));
                if uses_index {
                    let (name, index) =
                        (fresh_name(&mut self.names, "index"), ir.value_text(of.index));
                    let by = of.step * i128::from(copy);
                    let line = if is_affine {
                        format!("{name} = affine.apply affine_map<(d0) -> (d0 + {by})>({index})")
                    } else {
                        let by = constants.name(by, &mut self.names);
                        format!("{name} = arith.addi {index}, {by} : index")
                    };
                    out += &format!("\n{indent}{line}");
                    now.insert(of.index, name);
                }
            }
            let mut edits: Vec<TextEdit> = Vec::new();
            let mut ops = self.nested_ops(of.op);
            ops.retain(|&it| it != of.end);
            for &op in &ops {
                let data = ir.op(op);
                let is_direct = ir.parent_op(op) == Some(of.op);
                if is_direct && copy > 0 {
                    for it in &data.result_names {
                        let name = fresh_name(&mut self.names, ir.interner.str(it.name));
                        for &value in &data.results {
                            if ir.value(value).name == it.name {
                                let own = ir.value_text(value);
                                let number = own.find('#').map_or("", |at| &own[at..]);
                                now.insert(value, format!("{name}{number}"));
                            }
                        }
                        edits.push(TextEdit { range: ir.absolute(op, it.span), text: name });
                    }
                }
            }
            for &op in &ops {
                for it in &ir.op(op).operands {
                    if let Some(text) = it.value.and_then(|it| now.get(&it)) {
                        let range = ir.absolute(op, it.span);
                        edits.push(TextEdit { range, text: text.clone() });
                    }
                }
            }
            edits.sort_by_key(|it| it.range.start);
            for it in &mut edits {
                it.range = it.range.start - start..it.range.end - start;
            }
            let text = TextEdit::apply_all(&edits, &source.slice(start..end.start));
            let text = text.trim_end();
            if copy == 0 && text.starts_with('\n') {
                out += text;
            } else if !text.is_empty() {
                out += &format!("\n{indent}{}", text.trim_start());
            }
            let text = |it: Value| now.get(&it).cloned().unwrap_or_else(|| ir.value_text(it));
            let yielded = ir.op(of.end).operands.iter().filter_map(|it| it.value);
            let carried: Vec<String> = yielded.map(text).collect();
            now.extend(of.args.iter().copied().zip(carried));
        }
        // The carried values are now the yields of the last copy.
        let mut edits: Vec<TextEdit> = Vec::new();
        for (it, arg) in ir.op(of.end).operands.iter().zip(&of.args) {
            if let Some(text) = now.get(arg) {
                let range = ir.absolute(of.end, it.span);
                let range = range.start - end.start..range.end - end.start;
                edits.push(TextEdit { range, text: text.clone() });
            }
        }
        edits.sort_by_key(|it| it.range.start);
        out + &format!("\n{indent}{}", TextEdit::apply_all(&edits, &source.slice(end)))
    }
}

/// Constants that are defined in front of a loop.
struct Constants {
    lines: Vec<String>,
    names: FxHashMap<i128, String>,
}

impl Constants {
    fn name(&mut self, number: i128, names: &mut FreshNames<'_>) -> String {
        let lines = &mut self.lines;
        let new = || {
            let name = fresh_name(names, "c");
            lines.push(format!("{name} = arith.constant {number} : index"));
            name
        };
        self.names.entry(number).or_insert_with(new).clone()
    }
}
