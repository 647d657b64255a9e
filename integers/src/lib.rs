//! Facts about integers, conditions and reachability: the analyses of constants and of ranges, and
//! queries for their facts.
//!
//! *Law.* After any edits the facts equal those from scratch. *Cost.* Each query is a look-up in
//! O(1), unless stated otherwise.

pub mod compare;
pub mod constant;
pub mod constants;
pub mod elements;
mod floats;
pub mod fold;
mod infer;
pub mod range;
pub mod ranges;

use noisy_syntax::{Block, Delta, Interner, Ir, Op, Type, Value};

use self::constant::Constant;
use self::constants::{ConstantFacts, Constants};
use self::range::{Bounds, Range};
use self::ranges::Ranges;
use noisy_dataflow::flow::{self, Flow, Interval, TripCount};
use noisy_dataflow::sparse::{
    AnalysisInput, BaseAnalyses, ChangedValues, SparseSolver, VisitRecorder,
};

/// Number of stale elements of constants that edits may leave behind. With more, constants are
/// solved from scratch.
const MAX_STALE_ELEMENTS: usize = 1 << 18;

/// The constants and the ranges of a program.
#[derive(Debug)]
pub struct Integers {
    constants: ConstantFacts,
    /// Number of elements of constants when they were last solved from scratch.
    n_elements: usize,
    ranges: SparseSolver<Ranges>,
    moved: ChangedValues,
}

impl Integers {
    /// Solves from scratch.
    pub fn new(ir: &Ir) -> Self {
        let constants = Self::solve_constants(ir);
        let ranges = SparseSolver::new(&AnalysisInput { ir, base: &constants }, Ranges);
        Self::of(constants, ranges)
    }

    /// Solves both analyses from scratch for several programs: first the constants of all programs,
    /// then the ranges of all.
    pub fn solve_all<'a>(irs: impl Iterator<Item = &'a Ir> + Clone) -> Vec<Self> {
        let constants: Vec<ConstantFacts> = irs.clone().map(Self::solve_constants).collect();
        let ranges = irs.zip(&constants);
        let ranges =
            ranges.map(|(ir, base)| SparseSolver::new(&AnalysisInput { ir, base }, Ranges));
        let ranges: Vec<_> = ranges.collect();
        constants
            .into_iter()
            .zip(ranges)
            .map(|(constants, ranges)| Self::of(constants, ranges))
            .collect()
    }

    fn solve_constants(ir: &Ir) -> ConstantFacts {
        ConstantFacts(SparseSolver::new(&AnalysisInput { ir, base: &() }, Constants::default()))
    }

    fn of(constants: ConstantFacts, ranges: SparseSolver<Ranges>) -> Self {
        let n_elements = constants.0.analysis.lists.n_elements();
        Self { constants, n_elements, ranges, moved: ChangedValues::All }
    }

    /// Solves both analyses for a single op that is isolated from above ([`SparseSolver::of_op`]).
    /// The arguments of its region and the results of calls are unknown.
    pub fn of_op(ir: &Ir, op: Op) -> Self {
        let constants =
            SparseSolver::of_op(&AnalysisInput { ir, base: &() }, Constants::without_calls(), op);
        let constants = ConstantFacts(constants);
        let ranges = SparseSolver::of_op(&AnalysisInput { ir, base: &constants }, Ranges, op);
        Self::of(constants, ranges)
    }

    /// Solves both analyses from scratch and records each visit of an op.
    pub fn visited_by<C, R>(ir: &Ir, constants: C, ranges: R) -> (C, R)
    where
        C: VisitRecorder<Constant>,
        R: VisitRecorder<Range>,
    {
        let input = AnalysisInput { ir, base: &() };
        let first = SparseSolver::<_>::solve_recorded(&input, Constants::default(), constants);
        let constants = ConstantFacts(SparseSolver::new(&input, Constants::default()));
        let second = SparseSolver::<_>::solve_recorded(
            &AnalysisInput { ir, base: &constants },
            Ranges,
            ranges,
        );
        (first, second)
    }

    /// Updates the facts after an edit.
    pub fn update(&mut self, ir: &Ir, delta: &Delta) {
        let nothing = ChangedValues::These(Vec::new());
        let input = AnalysisInput { ir, base: &() };
        let lists = &mut self.constants.0.analysis.lists;
        if lists.n_elements() > 2 * self.n_elements + MAX_STALE_ELEMENTS {
            // Most elements are of constants that are no longer in the program.
            lists.clear();
            self.constants.0.solve(&input);
            self.n_elements = self.constants.0.analysis.lists.n_elements();
        } else {
            self.constants.0.update(&input, delta, &nothing);
        }
        let input = AnalysisInput { ir, base: &self.constants };
        self.ranges.update(&input, delta, self.constants.0.changed_values());
        self.moved = self.constants.0.changed_values().union(self.ranges.changed_values());
    }

    pub fn constants(&self) -> &ConstantFacts {
        &self.constants
    }

    /// Returns the values with a constant (of up to 128 bits) or a range that the last update
    /// changed.
    pub fn changed_values(&self) -> &ChangedValues {
        &self.moved
    }

    /// Returns the ops at which either analysis exhausted its budget of visits; see
    /// [`SparseSolver::undecided`]. An op may occur twice.
    pub fn undecided(&self) -> impl Iterator<Item = Op> {
        self.constants.0.undecided().chain(self.ranges.undecided())
    }

    /// Returns the number of ops that the last update visited, in both analyses together.
    pub fn n_visits(&self) -> usize {
        self.constants.0.n_visits() + self.ranges.n_visits()
    }

    /// Returns the constant of a value. If the constant is unknown, a range of one number
    /// determines it.
    pub fn constant(&self, ir: &Ir, value: Value) -> Constant {
        self.facts_of(&ir.interner, ir.value(value).ty, value)
    }

    /// Returns the elements of a [`Constant::Elements`], in order; `None` for other constants.
    pub fn elements(&self, constant: Constant) -> Option<&[Constant]> {
        self.constants.0.analysis.lists.elements(constant)
    }

    /// Returns the range of an integer. Bottom for values of other types, for integers of more than
    /// 64 bits, and for unreachable values.
    pub fn range(&self, value: Value) -> Range {
        self.ranges.fact(value).copied().unwrap_or_default()
    }

    /// Returns the range of an integer, as bounds. `None` where [`Integers::range`] is bottom.
    pub fn bounds(&self, ir: &Ir, value: Value) -> Option<Bounds> {
        self.range(value).bounds(range::width(ir, value)?)
    }

    /// Returns true if a block is reachable.
    pub fn is_block_live(&self, block: Block) -> bool {
        self.ranges.is_block_live(block)
    }

    /// Returns true if an op is reachable. In O(log n).
    pub fn is_live(&self, ir: &Ir, op: Op) -> bool {
        self.ranges.is_live(ir, op)
    }

    /// Returns true if control may flow from a branch to the successor with number `index`, from a
    /// conditional op such as `scf.if` into the region with number `index`, or from an
    /// `scf.condition` out of the loop (0) or to the next iteration (1). Assumes that the op is
    /// reachable.
    pub fn may_take(&self, ir: &Ir, op: Op, index: usize) -> bool {
        let Some(at) = flow::controlling_operand(ir, op) else { return true };
        let decider = ir.op(op).operands[at].value;
        flow::may_take(ir, op, index, decider.map_or(Interval::Unknown, |it| self.interval(ir, it)))
    }

    /// Returns true if control may flow from a branch to the successor with number `index`. In
    /// O(log n).
    pub fn is_edge_live(&self, ir: &Ir, branch: Op, index: usize) -> bool {
        self.is_live(ir, branch) && self.may_take(ir, branch, index)
    }

    /// Returns the condition of a branch or a conditional op such as `scf.if`, if it is constant.
    pub fn decision(&self, ir: &Ir, op: Op) -> Option<i128> {
        let value = ir.op(op).operands.get(flow::controlling_operand(ir, op)?)?.value?;
        self.constant(ir, value).int()
    }

    /// Returns the bounds of the trip count of a loop; [`TripCount::ANY`] for ops that are not
    /// counted loops.
    pub fn trips(&self, ir: &Ir, op: Op) -> TripCount {
        if !matches!(Flow::of(ir, op), Flow::For { .. } | Flow::Parallel { .. }) {
            return TripCount::ANY;
        }
        flow::trip_count(ir, op, &|at| {
            self.interval(ir, ir.op(op).operands.get(at)?.value?).bounds()
        })
    }

    /// Returns the trip count of a loop, if it is always the same.
    pub fn trip_count(&self, ir: &Ir, op: Op) -> Option<u64> {
        self.trips(ir, op).exact()
    }

    /// Returns the signed range of an integer.
    pub(crate) fn interval(&self, ir: &Ir, value: Value) -> Interval {
        BaseAnalyses::interval(self, &ir.interner, ir.value(value).ty, value)
    }

    /// Returns true if the analysis tracks constants of the type of a value.
    pub fn is_followed(ir: &Ir, value: Value) -> bool {
        constant::width(ir, ir.value(value).ty).is_some()
            || constant::float_keyword(ir, ir.value(value).ty).is_some()
    }
}

impl BaseAnalyses for Integers {
    type Facts<'a> = Constant;

    fn facts_of(&self, interner: &Interner, ty: Type, value: Value) -> Constant {
        match (self.constants.0.fact(value).copied().unwrap_or_default(), self.range(value)) {
            (_, Range::Bottom) if range::type_width(interner, ty).is_some() => Constant::Bottom,
            (Constant::Unknown, Range::Within(it)) => {
                it.single().map_or(Constant::Unknown, |it| Constant::Int(i128::from(it)))
            }
            (known, _) => known,
        }
    }

    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval {
        match self.facts_of(interner, ty, value) {
            it @ (Constant::Bottom | Constant::Int(_)) => it.interval(interner, ty),
            _ => self.range(value).interval(interner, ty),
        }
    }
}
