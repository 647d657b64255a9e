//! Flow of control and values through ops with regions and through branches. The solver, the
//! derivation and the optimizer follow this structure. It contains no facts.

use std::ops::Range;

use noisy_syntax::{AttrData, Block, Def, Form, Ir, Op, OpKind, Region, Sign, TypeData, Value};
use smallvec::SmallVec;

mod affine;
mod calls;
mod control;
mod feeding;
mod trips;

pub use calls::{
    callee, caller, callers_of, calls_of, function_body, functions, is_private, n_results,
};
pub use control::{Interval, case_position, case_values, loop_bounds, may_take, trip_count};
pub use feeding::{fed_values, feeding_operands, feeding_values};
pub use trips::TripCount;

/// The way in which an op runs its regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The op has no regions.
    Plain,
    /// The region is a function body: calls enter it and pass its arguments.
    Function,
    /// The regions only group other ops, as in modules and in the chunks of a split file.
    Group,
    /// The op runs one of its regions once; the yields of that region give the results.
    Choice,
    /// The op runs its region a number of times. The operands from `first` on initialize the last
    /// arguments of the region, yields are carried into the next iteration, and the last yields are
    /// the results.
    For {
        /// Index of the first carried operand.
        first: usize,
    },
    /// `scf.while`: all operands are carried.
    While,
    /// `scf.parallel`: the op runs its region for each point of an iteration space. Its results
    /// combine, in any order, the operands from `first` on with the operands of the
    /// [`Flow::Reduce`] at the end of each run.
    Parallel {
        /// Index of the first initial value.
        first: usize,
    },
    /// `scf.reduce` at the end of a [`Flow::Parallel`]: region number `i` combines two values for
    /// result number `i`.
    Reduce,
    /// `scf.forall`: the op runs its region for each point of an iteration space. The operands from
    /// `first` on are the last arguments of the region in each run. The results are these operands
    /// with the insertions of all runs.
    Forall {
        /// Index of the first shared output.
        first: usize,
    },
    /// The op runs its regions in an unknown way.
    Opaque,
}

impl Flow {
    /// Returns how an op uses its regions.
    pub fn of(ir: &Ir, op: Op) -> Flow {
        let data = ir.op(op);
        let n_regions = data.regions.len();
        if n_regions == 0 {
            return Flow::Plain;
        }
        match data.kind {
            OpKind::Chunk | OpKind::BuiltinModule => Flow::Group,
            OpKind::Unknown if is_secret_generic(ir, op) => Flow::Choice,
            _ if matches!(data.form, Form::Broken | Form::Opaque) => match data.kind {
                OpKind::FuncFunc => Flow::Function,
                _ => Flow::Opaque,
            },
            OpKind::FuncFunc => Flow::Function,
            OpKind::ScfIf | OpKind::AffineIf if n_regions <= 2 => Flow::Choice,
            OpKind::ScfIndexSwitch | OpKind::ScfExecuteRegion | OpKind::MemrefAllocaScope => {
                Flow::Choice
            }
            OpKind::ScfFor if n_regions == 1 && data.operands.len() >= 3 => Flow::For { first: 3 },
            OpKind::AffineFor if n_regions == 1 && data.operands.len() >= data.results.len() => {
                Flow::For { first: data.operands.len() - data.results.len() }
            }
            OpKind::ScfWhile if n_regions == 2 => Flow::While,
            OpKind::ScfParallel if data.operands.len() >= data.results.len() => {
                let first = data.operands.len() - data.results.len();
                match reduce_op(ir, op) {
                    Some(_) => Flow::Parallel { first },
                    None if data.results.is_empty() => Flow::Parallel { first },
                    None => Flow::Opaque,
                }
            }
            OpKind::ScfReduce => match ir.parent_op(op) {
                Some(it) if reduce_op(ir, it) == Some(op) => Flow::Reduce,
                _ => Flow::Opaque,
            },
            OpKind::ScfForall => match insertions(ir, op) {
                Some(_) => Flow::Forall { first: data.operands.len() - data.results.len() },
                None => Flow::Opaque,
            },
            _ => Flow::Opaque,
        }
    }

    /// Returns the number of operands, out of `n_operands`, that the op reads itself. It passes the
    /// others to its region.
    pub fn n_own_operands(self, n_operands: usize) -> usize {
        match self {
            Flow::For { first } | Flow::Parallel { first } | Flow::Forall { first } => first,
            _ => n_operands,
        }
    }

    /// Returns true if the op may run its regions more than once in a known way.
    pub fn is_loop(self) -> bool {
        matches!(
            self,
            Flow::For { .. }
                | Flow::While
                | Flow::Parallel { .. }
                | Flow::Reduce
                | Flow::Forall { .. }
        )
    }
}

/// Returns true if an op is HEIR's `secret.generic`, which runs its only block once, with its
/// operands as arguments. Source: HEIR, `lib/Dialect/Secret/IR/SecretOps.td`.
fn is_secret_generic(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    data.regions.len() == 1
        && ir.is_secret_generic(op)
        && ir.block(entry_block(ir, data.regions[0].1)).args.len() == data.operands.len()
}

/// Returns the index of the operand that a [`Flow::Choice`] passes to argument number `index` of
/// its region. `None` if the op passes no operands to its region.
pub fn forwarded_operand(ir: &Ir, op: Op, index: usize) -> Option<usize> {
    is_secret_generic(ir, op).then_some(index)
}

/// Returns the op that combines the runs of an `scf.parallel`. `None` unless that op has one region
/// with two arguments for each result.
pub fn reduce_op(ir: &Ir, parallel: Op) -> Option<Op> {
    let data = ir.op(parallel);
    let &[(_, region)] = data.regions.as_slice() else { return None };
    let end = ir.last_op(entry_block(ir, region)).filter(|&it| ir.next(it).is_none())?;
    let reduce = ir.op(end);
    let n = data.results.len();
    let is_whole = data.kind == OpKind::ScfParallel
        && !matches!(data.form, Form::Broken | Form::Opaque)
        && reduce.kind == OpKind::ScfReduce
        && !matches!(reduce.form, Form::Broken | Form::Opaque)
        && n > 0
        && data.operands.len() >= n
        && [reduce.operands.len(), reduce.regions.len()] == [n, n];
    let takes_two = |region: Region| ir.block(entry_block(ir, region)).args.len() == 2;
    (is_whole && reduce.regions.iter().all(|it| takes_two(it.1))).then_some(end)
}

/// Returns the ops that insert into the results of an `scf.forall`, each with the index of its
/// result. `None` if results are changed in another way.
pub(crate) fn insertions(ir: &Ir, forall: Op) -> Option<SmallVec<[(Op, usize); 2]>> {
    let data = ir.op(forall);
    let &[(_, region)] = data.regions.as_slice() else { return None };
    let entry = entry_block(ir, region);
    let n_points = ir.block(entry).args.len().checked_sub(data.results.len())?;
    if data.operands.len() < data.results.len() {
        return None;
    }
    let mut out = SmallVec::new();
    if data.results.is_empty() {
        return Some(out);
    }
    let end = ir.last_op(entry).filter(|&it| ir.op(it).kind == OpKind::ScfForallInParallel)?;
    for op in ir.op(end).regions.iter().flat_map(|it| ir.items(it.1)) {
        if ir.op(op).kind == OpKind::Label {
            continue;
        }
        let dest = ir.op(op).operands.get(1).filter(|_| is_insertion(ir, op))?.value?;
        let Def::Argument(block, index) = ir.value(dest).def else { return None };
        let at = (index as usize).checked_sub(n_points).filter(|_| block == entry)?;
        out.push((op, at));
    }
    Some(out)
}

/// Returns true if an op inserts its first operand into its second operand when the runs of an
/// `scf.forall` end.
fn is_insertion(ir: &Ir, op: Op) -> bool {
    ir.op_name(op) == "tensor.parallel_insert_slice"
        && !matches!(ir.op(op).form, Form::Broken)
        && ir.parent_op(op).is_some_and(|it| ir.op(it).kind == OpKind::ScfForallInParallel)
}

/// Returns the entry block of a region: the block of the first label if the region starts with a
/// label, and the implicit block otherwise.
pub fn entry_block(ir: &Ir, region: Region) -> Block {
    match ir.items(region).next() {
        Some(first) if ir.op(first).kind == OpKind::Label => ir.label_block(first),
        _ => ir.region(region).entry,
    }
}

/// Returns the last `n` arguments of a region: the values that a loop carries.
pub fn carried_args(ir: &Ir, region: Region, n: usize) -> &[Value] {
    let args = &ir.block(entry_block(ir, region)).args;
    &args[args.len().saturating_sub(n)..]
}

/// Returns the ops at the ends of blocks of a region that return control to the op around the
/// region.
pub fn yield_ops(ir: &Ir, region: Region) -> SmallVec<[Op; 1]> {
    let ends = |block: Block| ir.last_op(block).filter(|&op| is_yield(ir, op));
    // Most regions have one block, and looking for labels costs a search.
    let entry = ir.region(region).entry;
    match ends(entry) {
        Some(op) if ir.next(op).is_none() => SmallVec::from_slice(&[op]),
        _ => ir.blocks(region).into_iter().filter_map(ends).collect(),
    }
}

/// Returns true if an op returns control from a region to the op around the region.
pub fn is_yield(ir: &Ir, op: Op) -> bool {
    let kind = ir.op(op).kind;
    matches!(
        kind,
        OpKind::ScfYield
            | OpKind::AffineYield
            | OpKind::ScfCondition
            | OpKind::FuncReturn
            | OpKind::MemrefAllocaScopeReturn
            | OpKind::ScfReduceReturn
    ) || ir.is_secret_yield(op)
}

/// Returns the range of the operands that a yield passes to the op around: all except the condition
/// of `scf.condition`.
pub fn yielded_operands(ir: &Ir, op: Op) -> Range<usize> {
    let n = ir.op(op).operands.len();
    usize::from(ir.op(op).kind == OpKind::ScfCondition).min(n)..n
}

/// Returns the range of the operands that a branch passes to its successor number `index`; `None`
/// if they are unknown.
pub fn successor_operands(ir: &Ir, op: Op, index: usize) -> Option<Range<usize>> {
    let data = ir.op(op);
    let successor = ir.extra(op).successors.get(index)?;
    if data.form == Form::Broken {
        return None;
    }
    if data.form != Form::Generic {
        let known = matches!(data.kind, OpKind::CfBr | OpKind::CfCondBr | OpKind::CfSwitch);
        let range = successor.operands.start as usize..successor.operands.end as usize;
        return known.then_some(range);
    }
    let n = data.operands.len();
    let range = match data.kind {
        OpKind::CfBr => 0..n,
        OpKind::CfCondBr => {
            let sizes = dense_array_numbers(ir, op, "operandSegmentSizes")?;
            let &[condition, on_true, on_false] = sizes.as_slice() else { return None };
            let start = condition + if index == 0 { 0 } else { on_true };
            start..start + if index == 0 { on_true } else { on_false }
        }
        OpKind::CfSwitch => {
            let sizes = dense_array_numbers(ir, op, "operandSegmentSizes")?;
            let &[flag, default, _] = sizes.as_slice() else { return None };
            if index == 0 {
                flag..flag + default
            } else {
                let cases = dense_array_numbers(ir, op, "case_operand_segments")?;
                let start = flag + default + cases.iter().take(index - 1).sum::<usize>();
                start..start + cases.get(index - 1)?
            }
        }
        // A branch of an unknown dialect may pass any of its operands.
        _ if n == 0 => 0..0,
        _ => return None,
    };
    (range.end <= n).then_some(range)
}

/// Returns the numbers of a dense array attribute, if all of them are small.
fn dense_array_numbers(ir: &Ir, op: Op, name: &str) -> Option<SmallVec<[usize; 4]>> {
    let AttrData::DenseArray { values, .. } = ir.interner.attr_data(ir.attr(op, name)?) else {
        return None;
    };
    let number = |&it| match ir.interner.attr_data(it) {
        AttrData::Int { value, .. } => usize::try_from(*value).ok().filter(|&it| it < 1 << 24),
        _ => None,
    };
    values.iter().map(number).collect()
}

/// Returns the index of the operand that controls an op: it selects a successor or a region, or
/// decides if a loop goes on.
pub fn controlling_operand(ir: &Ir, op: Op) -> Option<usize> {
    let data = ir.op(op);
    if matches!(data.form, Form::Broken | Form::Opaque) || data.operands.is_empty() {
        return None;
    }
    let is_decided = matches!(
        data.kind,
        OpKind::CfCondBr
            | OpKind::CfSwitch
            | OpKind::ScfIf
            | OpKind::ScfIndexSwitch
            | OpKind::ScfCondition
    );
    is_decided.then_some(0)
}

/// Returns true if a [`Flow::Choice`] may run none of its regions.
pub fn may_skip(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::ScfIf | OpKind::AffineIf) && ir.op(op).regions.len() < 2
}

/// Returns true if a type is `i1` to `i5`, the types that the built-in scheme encodes.
pub fn is_encodable(ir: &Ir, ty: noisy_syntax::Type) -> bool {
    matches!(ir.interner.type_data(ty), TypeData::Int { width: 1..=5, sign: Sign::Signless })
}

/// Returns the yield of a loop and the index of its operand that is carried into the next iteration
/// at an index.
pub fn carried_operand(ir: &Ir, op: Op, index: usize) -> Option<(Op, usize)> {
    let data = ir.op(op);
    let (region, at) = match Flow::of(ir, op) {
        Flow::While => (data.regions.get(1), index),
        Flow::Reduce => (data.regions.get(index), 0),
        _ => (data.regions.first(), index),
    };
    let end = *yield_ops(ir, region?.1).first()?;
    Some((end, at))
}
