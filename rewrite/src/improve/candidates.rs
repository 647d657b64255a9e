//! Candidates: equivalent forms of the arithmetic of a program.

use std::time::Duration;

use noisy_analyses::{Document, Objective, Program};
use noisy_syntax::{Op, OpKind};

use crate::bound;
use crate::extract::{ExtractedBlock, Extraction};
use crate::placing::clock::TimeLimit;
use crate::placing::{
    MAX_CODE_GROWTH, Placer, SMALL_CODE, apply_edits, costs_and_bounds, is_fully_parsed,
};
use crate::search::{ProgramVariant, RewriteEffort, search};
use crate::write::{self, BlockReplacement};

/// Maximum number of candidates of a function for which the optimizer computes a placement.
const MAX_CANDIDATES: usize = 4;

/// With more lines than this, the optimizer tries only one variant, because each placement takes
/// time.
const MAX_LINES_FOR_VARIANTS: usize = 3000;

/// Maximum number of operations per second of the time limit. With less time per operation, the
/// search would only take time from the placement of the original program.
const MAX_OPS_PER_SECOND: f64 = 10_000.0;

/// Maximum time for the lower bound of all rewritings.
const BOUND_TIME: Duration = Duration::from_millis(50);

/// Maximum number of operations of a block that is rewritten.
const MAX_OPS: usize = 50_000;

/// The variants of a block.
pub(super) struct BlockVariants {
    function: usize,
    /// True if loops are unrolled.
    opens_loops: bool,
    extracted: ExtractedBlock,
    variants: Vec<ProgramVariant>,
    /// Number of reductions of the original block in a greedy placement.
    n_before: u64,
}

/// A candidate of a function: true if loops are unrolled, and the index of the variant for all its
/// blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    opens_loops: bool,
    variant: usize,
}

/// The search for other forms of the arithmetic of a program.
pub(super) struct CandidateSearch<'a> {
    pub placer: &'a Placer<'a>,
    pub program: &'a Program,
    pub functions: &'a [Op],
}

impl CandidateSearch<'_> {
    /// Returns the variants of all blocks.
    pub(super) fn block_variants(&self, clock: &TimeLimit) -> Vec<BlockVariants> {
        let mut out: Vec<BlockVariants> = Vec::new();
        for (at, &function) in self.functions.iter().enumerate() {
            if !is_fully_parsed(self.program, function) {
                continue;
            }
            let clock = clock.part(1.0 / (self.functions.len() - at) as f64);
            let mut has_regions = false;
            let ir = self.program.ir();
            for &(_, region) in &ir.op(function).regions {
                ir.walk(region, &mut |op| has_regions |= !ir.op(op).regions.is_empty());
            }
            let part = if has_regions { clock.part(0.5) } else { clock.clone() };
            let opened = self.of_function(at, &part, true);
            let has_opened = opened.iter().any(|it| it.extracted.has_unrolled);
            out.extend(opened);
            if has_opened {
                out.extend(self.of_function(at, &clock, false));
            }
        }
        out
    }

    /// Places the candidates and returns the program with the cheapest candidate of each function;
    /// `None` if there is none. If `least` is given, a candidate must cost less than this cost of
    /// its function.
    pub(super) fn place_candidates(
        &self,
        choices: &[BlockVariants],
        least: Option<Vec<f64>>,
        clock: &TimeLimit,
    ) -> Option<Document> {
        // If a greedy placement saves nothing, a better one hardly does.
        let is_promising = |at: usize| {
            let mut its = choices.iter().filter(|it| it.function == at);
            its.any(|it| it.extracted.has_unrolled || it.variants[0].n_reductions < it.n_before)
        };
        let promising: Vec<bool> = (0..self.functions.len()).map(is_promising).collect();
        if !promising.contains(&true) {
            return None;
        }
        let most = choices.iter().map(|it| it.variants.len()).max()?.min(MAX_CANDIDATES);
        let mut candidates = Vec::new();
        for opens_loops in [true, false] {
            let variants = (0..most).map(|variant| Candidate { opens_loops, variant });
            if choices.iter().any(|it| it.opens_loops == opens_loops) {
                candidates.extend(variants);
            }
        }
        if choices.iter().map(|it| it.extracted.straight.lines.len()).sum::<usize>()
            > MAX_LINES_FOR_VARIANTS
        {
            candidates.retain(|it| it.variant == 0);
        }
        let least = least.unwrap_or_else(|| vec![f64::INFINITY; promising.len()]);
        let mut best: Vec<(f64, Option<Candidate>)> =
            least.into_iter().map(|it| (it, None)).collect();
        for (at, &candidate) in candidates.iter().enumerate() {
            // The first candidate is always tried.
            if at > 0 && clock.is_over() {
                break;
            }
            let choose = |at: usize| promising[at].then_some(candidate);
            // If the candidate cannot be applied, the next candidate is tried.
            let Some(after) = apply_candidates(self.program, choices, &choose) else { continue };
            let part = clock.part(1.0 / (candidates.len() - at) as f64);
            let Some((_, placed)) = self.placer.place(&after, &part) else { continue };
            for (at, cost) in costs_and_bounds(&placed).into_iter().enumerate() {
                if let Some((cost, _)) = cost.filter(|it| promising[at] && it.0 < best[at].0) {
                    best[at] = (cost, Some(candidate));
                }
            }
        }
        best.iter().any(|it| it.1.is_some()).then_some(())?;
        apply_candidates(self.program, choices, &|at| best[at].1)
    }

    /// Returns a lower bound of the executed reductions of all rewritings of a function; 0 if the
    /// function is not a single computation on its arguments and on encoded values.
    pub(super) fn least_reductions(&self, at: usize, choices: &[BlockVariants]) -> u64 {
        let (ir, function) = (self.program.ir(), self.functions[at]);
        let mut its = choices.iter().filter(|it| it.function == at && it.opens_loops);
        let (Some(BlockVariants { extracted, .. }), None) = (its.next(), its.next()) else {
            return 0;
        };
        let &[(_, region)] = ir.op(function).regions.as_slice() else { return 0 };
        let counts_executions = self.placer.options.placement.objective == Objective::Executed;
        if ir.only_block(region) != Some(extracted.block)
            || extracted.has_unrolled && !counts_executions
        {
            return 0;
        }
        let is_noisy = |op: Op| {
            let data = ir.op(op);
            let operands = data.operands.iter().filter_map(|it| it.value);
            operands.chain(data.results.iter().copied()).any(|it| self.program.is_noisy(it))
        };
        let mut is_whole = true;
        ir.walk(region, &mut |op| {
            let mut outer = std::iter::successors(Some(op), |&it| ir.parent_op(it));
            let is_taken = outer.any(|it| extracted.members.contains(&it));
            let is_edge = matches!(
                ir.op(op).kind,
                OpKind::NoisyEncode | OpKind::NoisyDecode | OpKind::FuncReturn
            );
            is_whole &= is_taken || is_edge || !is_noisy(op);
        });
        // The noise of arguments may depend on a caller.
        let mut has_calls = false;
        for it in ir.functions() {
            for &(_, region) in &ir.op(it).regions {
                ir.walk(region, &mut |op| has_calls |= ir.op(op).kind == OpKind::FuncCall);
            }
        }
        if !is_whole || has_calls {
            return 0;
        }
        let clock = TimeLimit::new(BOUND_TIME, self.placer.options.placement.limits.cancel.clone());
        bound::least_reductions(&extracted.straight, self.placer.noise_parameters, &|| {
            clock.is_over()
        })
    }

    fn of_function(&self, at: usize, clock: &TimeLimit, opens_loops: bool) -> Vec<BlockVariants> {
        let (program, options, scale) =
            (self.program, self.placer.options, self.placer.noise_parameters);
        let (ir, function) = (program.ir(), self.functions[at]);
        let drops_reductions = options.placement.replace;
        let extraction =
            Extraction { program, scale, drops_reductions, unrolls_loops: opens_loops };
        let mut out = Vec::new();
        let mut opened: Vec<Op> = Vec::new();
        for block in write::blocks(ir, function) {
            let holder = ir.region(ir.block(block).region).parent;
            if holder.is_some_and(|it| opened.iter().any(|&of| ir.is_within(it, of) || it == of)) {
                continue;
            }
            let Some(extracted) = extraction.block(block) else { continue };
            let n_ops = extracted.straight.lines.len() - extracted.straight.leaves.len();
            if n_ops > MAX_OPS || n_ops as f64 > MAX_OPS_PER_SECOND * self.placer.time_limit_seconds
            {
                continue;
            }
            let max_ops = (n_ops as f64 * options.max_growth) as usize;
            let effort = RewriteEffort { clock: clock.clone(), max_ops };
            let mut variants = search(&extracted.straight, scale, &effort);
            let loops: Vec<Op> = extracted
                .members
                .iter()
                .copied()
                .filter(|&it| !ir.op(it).regions.is_empty())
                .collect();
            if !loops.is_empty() {
                let mut n_written = extracted.members.len();
                for &it in &loops {
                    ir.op(it).regions.iter().for_each(|it| ir.walk(it.1, &mut |_| n_written += 1));
                }
                variants.retain(|it| it.n_ops <= MAX_CODE_GROWTH * n_written + SMALL_CODE);
            }
            if variants.is_empty() {
                continue;
            }
            opened.extend(loops);
            let n_before = extracted.straight.greedy_reductions(scale);
            out.push(BlockVariants { function: at, opens_loops, extracted, variants, n_before });
        }
        out
    }
}

/// Returns the program with the chosen candidate of each function.
fn apply_candidates(
    program: &Program,
    choices: &[BlockVariants],
    choose: &dyn Fn(usize) -> Option<Candidate>,
) -> Option<Document> {
    let has_closed = |at: usize| choices.iter().any(|it| it.function == at && !it.opens_loops);
    let changes: Vec<BlockReplacement<'_>> = choices
        .iter()
        .filter_map(|it| {
            let candidate = choose(it.function)?;
            let is_opened = candidate.opens_loops || !has_closed(it.function);
            let variant = candidate.variant.min(it.variants.len() - 1);
            (it.opens_loops == is_opened)
                .then(|| BlockReplacement { block: &it.extracted, variant: &it.variants[variant] })
        })
        .collect();
    let edits = write::edits(program, &changes)?;
    apply_edits(program, &edits)
}
