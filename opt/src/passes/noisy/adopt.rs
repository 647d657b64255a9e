//! Transfers changes of the arithmetic on noisy values from a rewritten copy to the program.

use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Block, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

const OTHER_DIFFERENCE: &str = "the copy differs by more than arithmetic";

/// Transfers the arithmetic of a rewritten copy to a function. `before` is the copy before the
/// rewriting, with the same ops as the function. Returns the number of inserted ops.
///
/// # Errors
/// If there is another difference.
pub(super) fn adopt(
    ir: &mut Ir,
    function: Op,
    before: (&Ir, Op),
    after: (&Ir, Op),
) -> Result<usize, &'static str> {
    let mut adoption = Adoption {
        before: before.0,
        after: after.0,
        values: FxHashMap::default(),
        gone: Vec::new(),
        n_new: 0,
    };
    let mut work = vec![(function, before.1, after.1)];
    // Nested regions are visited after the enclosing block, because they use its values.
    while let Some((ours, old, new)) = work.pop() {
        let regions = |ir: &Ir, op: Op| -> Vec<Vec<Block>> {
            ir.op(op).regions.iter().map(|it| ir.blocks(it.1)).collect()
        };
        let blocks = (regions(ir, ours), regions(before.0, old), regions(after.0, new));
        if blocks.0.len() != blocks.1.len() || blocks.0.len() != blocks.2.len() {
            return Err(OTHER_DIFFERENCE);
        }
        let mut inner = Vec::new();
        for ((ours, old), new) in blocks.0.into_iter().zip(blocks.1).zip(blocks.2) {
            if ours.len() != old.len() || ours.len() != new.len() {
                return Err(OTHER_DIFFERENCE);
            }
            for ((ours, old), new) in ours.into_iter().zip(old).zip(new) {
                inner.extend(adoption.adopt_block(ir, ours, old, new)?);
            }
        }
        work.extend(inner.into_iter().rev());
    }
    let gone = std::mem::take(&mut adoption.gone);
    ir.erase_ops(&gone).map_err(|_| "a removed op is still used")?;
    Ok(adoption.n_new)
}

struct Adoption<'a> {
    before: &'a Ir,
    after: &'a Ir,
    /// The value of the program for each value of the rewritten copy.
    values: FxHashMap<Value, Value>,
    /// The ops that the rewritten copy does not contain.
    gone: Vec<Op>,
    /// Number of ops that were inserted.
    n_new: usize,
}

impl Adoption<'_> {
    /// Rewrites a block. Returns its ops with regions, each with both copies.
    fn adopt_block(
        &mut self,
        ir: &mut Ir,
        ours: Block,
        old: Block,
        new: Block,
    ) -> Result<Vec<(Op, Op, Op)>, &'static str> {
        let (args, copies) = (ir.block(ours).args.clone(), &self.after.block(new).args);
        if args.len() != copies.len() {
            return Err(OTHER_DIFFERENCE);
        }
        self.values.extend(copies.iter().copied().zip(args));
        let mine: Vec<Op> = ir.block_ops(ours).collect();
        let copy: Vec<Op> = self.before.block_ops(old).collect();
        if mine.len() != copy.len() {
            return Err(OTHER_DIFFERENCE);
        }
        let mut old_ops = mine.into_iter().zip(copy);
        let mut inner = Vec::new();
        // New ops, which are inserted before the next op that both copies contain.
        let mut waiting: Vec<Op> = Vec::new();
        for op in self.after.block_ops(new) {
            if is_arithmetic(self.after, op) {
                waiting.push(op);
                continue;
            }
            let (mine, copy) = loop {
                let (mine, copy) = old_ops.next().ok_or(OTHER_DIFFERENCE)?;
                if self.is_same(copy, op) {
                    break (mine, copy);
                }
                self.gone.push(mine);
            };
            for it in waiting.drain(..) {
                let operands = self.operands(it)?;
                let &first = operands.first().ok_or(OTHER_DIFFERENCE)?;
                let ty = ir.value(first).ty;
                let made = NewOp::new(self.after.op_name(it)).operands(&operands).results(&[ty]);
                let made = ir.insert(made, InsertionPoint::Before(mine));
                self.values.extend(
                    self.after.op(it).results.first().map(|&of| (of, ir.op(made).results[0])),
                );
                self.n_new += 1;
            }
            let (results, copies) = (ir.op(mine).results.clone(), &self.after.op(op).results);
            self.values.extend(copies.iter().copied().zip(results));
            for (index, value) in self.operands(op)?.into_iter().enumerate() {
                if ir.op(mine).operands[index].value != Some(value) {
                    ir.set_operand(mine, index, value);
                }
            }
            if !ir.op(mine).regions.is_empty() {
                inner.push((mine, copy, op));
            }
        }
        self.gone.extend(old_ops.map(|it| it.0));
        if waiting.is_empty() { Ok(inner) } else { Err(OTHER_DIFFERENCE) }
    }

    fn operands(&self, op: Op) -> Result<Vec<Value>, &'static str> {
        let operands = self.after.op(op).operands.iter();
        operands
            .map(|it| self.values.get(&it.value?).copied())
            .collect::<Option<_>>()
            .ok_or(OTHER_DIFFERENCE)
    }

    /// Returns true if an op of the old copy corresponds to an op of the rewritten copy, in which
    /// values keep their names.
    fn is_same(&self, old: Op, new: Op) -> bool {
        let (a, b) = (self.before.op(old), self.after.op(new));
        let names = |ir: &Ir, op: Op| -> Vec<String> {
            ir.op(op).results.iter().map(|&it| ir.value_text(it)).collect()
        };
        self.before.op_name(old) == self.after.op_name(new)
            && a.operands.len() == b.operands.len()
            && a.regions.len() == b.regions.len()
            && names(self.before, old) == names(self.after, new)
    }
}

fn is_arithmetic(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::NoisyAdd | OpKind::NoisySub | OpKind::NoisyMul)
}
