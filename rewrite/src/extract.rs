//! Extraction of straight-line programs from the IR: one for each block. Loops with known trip
//! counts are unrolled on request.
//!
//! Leaves are the values that are not defined by arithmetic of the block: arguments, encoded
//! values, results of calls and of unknown ops. Outputs are the values with users other than this
//! arithmetic.

use noisy_analyses::Program;
use noisy_dataflow::flow::{self, Flow};
use noisy_integers::constant::Constant;
use noisy_syntax::{Block, Def, Form, Ir, Op, OpKind, TypeData, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::scale::{NoiseParameters, PLAINTEXT_BITS};
use crate::straight::{ProgramInput, Reg, StraightLine, StraightProgram};

/// Maximum number of lines of an unrolled loop.
const MAX_UNROLLED_LINES: usize = 4000;

/// Attributes of loops that determine only the iteration space.
const LOOP_ATTRIBUTES: &[&str] = &["lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"];

/// The arithmetic of a block.
#[derive(Debug)]
pub(crate) struct ExtractedBlock {
    pub block: Block,
    pub straight: StraightProgram,
    /// The value of each leaf.
    pub leaves: Vec<Value>,
    /// The values that the arithmetic of the block defines, in order.
    pub values: Vec<(Value, Reg)>,
    /// The arithmetic ops, and the unrolled loops.
    pub members: FxHashSet<Op>,
    pub has_unrolled: bool,
}

/// Parameters of the extraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extraction<'a> {
    pub program: &'a Program,
    pub scale: NoiseParameters,
    /// True if existing reductions may be removed.
    pub drops_reductions: bool,
    /// True if loops with known trip counts are unrolled.
    pub unrolls_loops: bool,
}

/// Returns true if an op is a sum, a difference or a product of noisy values.
pub(crate) fn is_ring_op(ir: &Ir, op: Op) -> bool {
    arithmetic_kind(ir, op).is_some_and(|it| it != OpKind::NoisyReduceNoise)
}

/// Returns the kind of an op if it is arithmetic on noisy values without further attributes.
pub(crate) fn arithmetic_kind(ir: &Ir, op: Op) -> Option<OpKind> {
    let data = ir.op(op);
    let n = match data.kind {
        OpKind::NoisyAdd | OpKind::NoisySub | OpKind::NoisyMul => 2,
        OpKind::NoisyReduceNoise => 1,
        _ => return None,
    };
    let is_whole = !matches!(data.form, Form::Broken | Form::Opaque)
        && !ir.has_problem(op)
        && ir.extra(op).attrs.is_empty()
        && data.operands.len() == n
        && data.results.len() == 1
        && data.operands.iter().all(|it| it.value.is_some());
    is_whole.then_some(data.kind)
}

impl Extraction<'_> {
    /// Returns the arithmetic of a block, if there is any.
    pub(crate) fn block(&self, block: Block) -> Option<ExtractedBlock> {
        let ir = self.program.ir();
        let mut taken = BlockExtractor {
            of: self,
            ir,
            out: ExtractedBlock {
                block,
                straight: StraightProgram::default(),
                leaves: Vec::new(),
                values: Vec::new(),
                members: FxHashSet::default(),
                has_unrolled: false,
            },
            env: FxHashMap::default(),
            leaf_of: FxHashMap::default(),
        };
        for op in ir.block_ops(block) {
            if let Some(reg) = taken.arithmetic(op) {
                taken.out.members.insert(op);
                taken.out.values.push((ir.op(op).results[0], reg));
            } else if self.unrolls_loops && taken.n_lines(op).is_some() {
                taken.unroll(op)?;
                taken.out.members.insert(op);
                taken.out.has_unrolled = true;
                for &it in &ir.op(op).results {
                    taken.out.values.push((it, taken.env[&it]));
                }
            }
        }
        let mut out = taken.out;
        let opened: Vec<Op> =
            out.members.iter().copied().filter(|&it| !ir.op(it).regions.is_empty()).collect();
        let is_inside = |user: Op| {
            out.members.contains(&user) || opened.iter().any(|&it| ir.is_within(user, it))
        };
        for &(value, reg) in &out.values {
            let is_used = ir.value(value).uses.iter().any(|it| !is_inside(it.0));
            if is_used && !out.straight.outputs.contains(&reg) {
                out.straight.outputs.push(reg);
            }
        }
        (!out.members.is_empty()).then_some(out)
    }
}

struct BlockExtractor<'a> {
    of: &'a Extraction<'a>,
    ir: &'a Ir,
    out: ExtractedBlock,
    env: FxHashMap<Value, Reg>,
    leaf_of: FxHashMap<Value, Reg>,
}

impl BlockExtractor<'_> {
    fn kind(&self, op: Op) -> Option<OpKind> {
        let kind = arithmetic_kind(self.ir, op)?;
        (kind != OpKind::NoisyReduceNoise || self.of.drops_reductions).then_some(kind)
    }

    /// Adds the line of an arithmetic op.
    fn arithmetic(&mut self, op: Op) -> Option<Reg> {
        let kind = self.kind(op)?;
        let data = self.ir.op(op);
        let mut regs = Vec::with_capacity(2);
        for it in &data.operands {
            regs.push(self.reg(it.value?));
        }
        let reg = match (kind, regs.as_slice()) {
            (OpKind::NoisyAdd, &[a, b]) => self.out.straight.push(StraightLine::Add(a, b)),
            (OpKind::NoisySub, &[a, b]) => self.out.straight.push(StraightLine::Sub(a, b)),
            (OpKind::NoisyMul, &[a, b]) => self.out.straight.push(StraightLine::Mul(a, b)),
            (_, &[a, ..]) => a,
            (_, []) => return None,
        };
        self.env.insert(data.results[0], reg);
        Some(reg)
    }

    fn reg(&mut self, value: Value) -> Reg {
        if let Some(&it) = self.env.get(&value).or_else(|| self.leaf_of.get(&value)) {
            return it;
        }
        let scale = self.of.scale;
        let noise = self.of.program.noise(value).hi().filter(|&it| it <= scale.budget);
        let leaf =
            ProgramInput { noise: noise.unwrap_or(scale.reset), constant: self.constant(value) };
        let reg = self.out.straight.leaf(leaf);
        self.out.leaves.push(value);
        self.leaf_of.insert(value, reg);
        reg
    }

    /// Returns the plaintext of a value that encodes a constant of the full width.
    fn constant(&self, value: Value) -> Option<u64> {
        let Def::Result(op, _) = self.ir.value(value).def else { return None };
        let data = self.ir.op(op);
        if data.kind != OpKind::NoisyEncode || data.form == Form::Broken {
            return None;
        }
        let plain = data.operands.first()?.value?;
        let ty = self.ir.interner.type_data(self.ir.value(plain).ty);
        if !matches!(ty, TypeData::Int { width, .. } if u64::from(*width) == u64::from(PLAINTEXT_BITS))
        {
            return None;
        }
        match self.of.program.integers().constant(self.ir, plain) {
            Constant::Int(it) => Some(it as u64 & self.of.scale.mask),
            _ => None,
        }
    }

    /// Returns the number of lines of a loop after unrolling; `None` if the loop cannot be
    /// unrolled.
    fn n_lines(&self, op: Op) -> Option<usize> {
        let ir = self.ir;
        let data = ir.op(op);
        let Flow::For { first } = Flow::of(ir, op) else { return None };
        let integers = self.of.program.integers();
        let n = usize::try_from(integers.trips(ir, op).exact()?).ok()?;
        let is_ours =
            |it: &(noisy_syntax::Name, _)| LOOP_ATTRIBUTES.contains(&ir.interner.str(it.0));
        let is_plain = !data.results.is_empty()
            && !ir.has_problem(op)
            && integers.is_live(ir, op)
            && data.operands.len() == first + data.results.len()
            && data.operands.iter().all(|it| it.value.is_some())
            && data.results.iter().all(|&it| self.of.program.is_noisy(it))
            && ir.extra(op).attrs.iter().all(is_ours);
        let &[(_, region)] = data.regions.as_slice() else { return None };
        let block = ir.only_block(region)?;
        if !is_plain
            || flow::carried_args(ir, region, data.results.len()).len() != data.results.len()
        {
            return None;
        }
        let end = ir.last_op(block)?;
        let yielded = ir.op(end);
        let is_end = matches!(yielded.kind, OpKind::ScfYield | OpKind::AffineYield)
            && yielded.operands.len() == data.results.len()
            && yielded.operands.iter().all(|it| it.value.is_some())
            && !ir.has_problem(end);
        if !is_end {
            return None;
        }
        let mut n_body: usize = 1;
        for it in ir.block_ops(block).filter(|&it| it != end) {
            n_body = n_body.checked_add(match self.kind(it) {
                Some(_) => 1,
                None => self.n_lines(it)?,
            })?;
        }
        n_body.checked_mul(n).filter(|&it| it <= MAX_UNROLLED_LINES)
    }

    fn unroll(&mut self, op: Op) -> Option<()> {
        let ir = self.ir;
        let data = ir.op(op);
        let Flow::For { first } = Flow::of(ir, op) else { return None };
        let n = self.of.program.integers().trips(ir, op).exact()?;
        let region = data.regions.first()?.1;
        let block = ir.only_block(region)?;
        let args = flow::carried_args(ir, region, data.results.len());
        let end = ir.last_op(block)?;
        let mut carried = Vec::with_capacity(args.len());
        for it in &data.operands[first..] {
            carried.push(self.reg(it.value?));
        }
        for _ in 0..n {
            self.env.extend(args.iter().copied().zip(carried.iter().copied()));
            for it in ir.block_ops(block).filter(|&it| it != end) {
                if self.arithmetic(it).is_none() {
                    self.unroll(it)?;
                }
            }
            carried.clear();
            for it in &ir.op(end).operands {
                carried.push(self.reg(it.value?));
            }
            if self.out.straight.lines.len() > 4 * MAX_UNROLLED_LINES {
                return None;
            }
        }
        self.env.extend(data.results.iter().copied().zip(carried));
        Some(())
    }
}
