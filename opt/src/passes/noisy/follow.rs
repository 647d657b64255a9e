//! Transfers inserted `noisy.reduce_noise` ops from a copy of a program to the program.

use std::ops::Range;

use noisy_analyses::TextEdit;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Ir, Op, OpKind, Region, Value};
use rustc_hash::FxHashMap;

const OTHER_DIFFERENCE: &str = "the copy differs by more than inserted ops";

/// The comparison of a program with a copy that has additional ops.
struct CopyComparison<'a> {
    after: &'a Ir,
    /// The ranges of the text of the copy that edits inserted, in order.
    written: Vec<Range<usize>>,
    /// The value of the program for each value of the copy.
    values: FxHashMap<Value, Value>,
    /// The pairs of corresponding ops: of the program, and of the copy.
    common: Vec<(Op, Op)>,
    /// The inserted ops, each with the following op of the program.
    inserted: Vec<(Op, Op)>,
}

/// Inserts the ops that `edits` inserted into the copy `after` into the program, within pairs of
/// functions. Returns their number.
///
/// # Errors
/// If there is another difference.
pub(super) fn follow(
    ir: &mut Ir,
    after: &Ir,
    edits: &[TextEdit],
    functions: &[(Op, Op)],
) -> Result<usize, &'static str> {
    let mut shift = 0_isize;
    let written = edits.iter().map(|it| {
        let start = it.range.start.wrapping_add_signed(shift);
        shift += it.text.len() as isize - it.range.len() as isize;
        start..start + it.text.len()
    });
    let mut copy = CopyComparison {
        after,
        written: written.collect(),
        values: FxHashMap::default(),
        common: Vec::new(),
        inserted: Vec::new(),
    };
    for &(ours, theirs) in functions {
        copy.pair_ops(ir, ours, theirs)?;
    }
    let CopyComparison { mut values, common, inserted, .. } = copy;
    let n = inserted.len();
    // An operand may be the result of another inserted op, so repeat until all are inserted.
    let mut left = inserted;
    while !left.is_empty() {
        let n_left = left.len();
        let mut later = Vec::new();
        for (new, before) in left {
            let data = after.op(new);
            let operand = data.operands.first().and_then(|it| it.value);
            let Some(&value) = operand.and_then(|it| values.get(&it)) else {
                later.push((new, before));
                continue;
            };
            let ty = ir.value(value).ty;
            let made = NewOp::new("noisy.reduce_noise").operands(&[value]).results(&[ty]);
            let made = ir.insert(made, InsertionPoint::Before(before));
            values.extend(data.results.first().map(|&it| (it, ir.op(made).results[0])));
        }
        if later.len() == n_left {
            return Err(OTHER_DIFFERENCE);
        }
        left = later;
    }
    for (ours, theirs) in common {
        for (index, operand) in after.op(theirs).operands.iter().enumerate() {
            let &value = operand.value.and_then(|it| values.get(&it)).ok_or(OTHER_DIFFERENCE)?;
            if ir.op(ours).operands[index].value != Some(value) {
                ir.set_operand(ours, index, value);
            }
        }
    }
    Ok(n)
}

impl CopyComparison<'_> {
    /// Pairs an op with its copy, and the ops in their regions.
    fn pair_ops(&mut self, ir: &Ir, ours: Op, theirs: Op) -> Result<(), &'static str> {
        let mut work = vec![(ours, theirs)];
        while let Some((ours, theirs)) = work.pop() {
            let (mine, other) = (ir.op(ours), self.after.op(theirs));
            let is_same = mine.kind == other.kind
                && mine.results.len() == other.results.len()
                && mine.operands.len() == other.operands.len()
                && mine.regions.len() == other.regions.len();
            if !is_same {
                return Err(OTHER_DIFFERENCE);
            }
            self.values.extend(other.results.iter().copied().zip(mine.results.iter().copied()));
            self.common.push((ours, theirs));
            for (mine, other) in mine.regions.iter().zip(&other.regions) {
                work.extend(self.pair_regions(ir, mine.1, other.1)?);
            }
        }
        Ok(())
    }

    /// Pairs the ops of a region with those of its copy.
    fn pair_regions(
        &mut self,
        ir: &Ir,
        ours: Region,
        theirs: Region,
    ) -> Result<Vec<(Op, Op)>, &'static str> {
        let (mine, other) = (ir.blocks(ours), self.after.blocks(theirs));
        if mine.len() != other.len() {
            return Err(OTHER_DIFFERENCE);
        }
        let mut pairs = Vec::new();
        for (mine, other) in mine.into_iter().zip(other) {
            let (args, copies) = (&ir.block(mine).args, &self.after.block(other).args);
            self.values.extend(copies.iter().copied().zip(args.iter().copied()));
            let mut left = ir.block_ops(mine).peekable();
            for it in self.after.block_ops(other) {
                let next = *left.peek().ok_or(OTHER_DIFFERENCE)?;
                if self.is_inserted(it) {
                    self.inserted.push((it, next));
                } else {
                    pairs.push((next, it));
                    left.next();
                }
            }
            if left.next().is_some() {
                return Err(OTHER_DIFFERENCE);
            }
        }
        Ok(pairs)
    }

    fn is_inserted(&self, op: Op) -> bool {
        let start = self.after.range(op).start;
        let at = self.written.partition_point(|it| it.end <= start);
        self.after.op(op).kind == OpKind::NoisyReduceNoise
            && self.written.get(at).is_some_and(|it| it.contains(&start))
    }
}
