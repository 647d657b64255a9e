//! The iteration space of two loops: iterations as points of a plane, and dependences as arrows.
//!
//! *Data.* Two nested loops (or a single loop) are executed symbolically: only their bounds, guards
//! and subscripts are evaluated (`run.rs`). Each enclosing loop is fixed to one iteration. All
//! iterations of inner loops are part of the same point. One number replaces all unknown values.
//!
//! *Law.* For each element, arrows lead from a store to the loads before the next store, from these
//! loads to the next store, and from store to store if there is no load between them. Each arrow is
//! a dependence, and each dependence between points is a path of arrows. So another order respects
//! all dependences between the points exactly if no arrow points backward. [`crate::Legality`] also
//! covers iterations that are not drawn.
//!
//! *Cost.* Linear in the number of instances, up to a budget, plus the time for sorting them.

mod change;
mod draw;
mod run;

use noisy_syntax::{Op, Source};

pub use self::change::Reordering;
use self::draw::{DrawingAttempt, iv_names};
use self::run::RunStopped;
use crate::body::{FunctionBody, ScopeKind};
use crate::dependence::DependenceKind;
use crate::memory::AliasAssumptions;
use crate::nest::{LoopNest, outermost_loop};

/// The part of the body of the outer loop that a point represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointPart {
    /// The ops before the inner loop.
    Before,
    /// One iteration of all drawn loops.
    Whole,
    /// The ops after the inner loop.
    After,
}

/// An iteration, or a part of an iteration of the outer loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationPoint {
    /// The values of the variables, outermost loop first. For a part, only that of the outer loop.
    pub at: Vec<i64>,
    pub part: PointPart,
    /// True if the point contains an access.
    pub is_used: bool,
}

/// A dependence between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DependenceArrow {
    /// The point that runs first.
    pub from: usize,
    /// The point that runs later.
    pub to: usize,
    /// The line of the op that runs first.
    pub source: usize,
    /// The line of the op that runs later.
    pub target: usize,
    /// The kind; `None` for a value that the loop carries.
    pub kind: Option<DependenceKind>,
}

/// Another order of the points, and its legality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReorderedPoints {
    pub change: Reordering,
    /// `Ok` if the order respects all dependences, including those of points that are not drawn;
    /// else the obstacle.
    pub legality: Result<(), String>,
    /// The arrows that point backward.
    pub backward: Vec<usize>,
    /// The points in their new order.
    pub order: Vec<usize>,
}

/// A drawing of an iteration space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IterationSpace {
    /// The names of the variables, outermost loop first.
    pub iv_names: Vec<String>,
    /// The lines of the loops.
    pub lines: Vec<usize>,
    /// The steps of the loops.
    pub steps: Vec<i64>,
    /// The names of the variables of the enclosing loops, outermost first, each with its fixed
    /// value.
    pub fixed_ivs: Vec<(String, i64)>,
    /// The points in execution order.
    pub points: Vec<IterationPoint>,
    /// The arrows, sorted by their points.
    pub arrows: Vec<DependenceArrow>,
    /// Other orders. Empty if there are ops outside the inner loop.
    pub changes: Vec<ReorderedPoints>,
    /// Notes for the reader: missing parts and assumptions.
    pub notes: Vec<String>,
}

/// Options of a drawing.
#[derive(Clone, Copy, Debug)]
pub struct DrawingSize {
    /// Maximum number of iterations of each loop that are drawn, and the value assumed for unknown
    /// values.
    pub points: i64,
    /// Number of iterations of a tile in each loop.
    pub tile: i64,
}

impl Default for DrawingSize {
    fn default() -> Self {
        Self { points: 8, tile: 3 }
    }
}

impl IterationSpace {
    /// Draws a loop together with the only loop inside it, or with the loop around it, or alone.
    ///
    /// # Errors
    /// The reason why the loops cannot be drawn.
    pub fn new(
        source: &Source,
        op: Op,
        size: DrawingSize,
        aliasing: AliasAssumptions,
    ) -> Result<Self, String> {
        let ir = source.ir();
        let root = outermost_loop(ir, op).ok_or("there is no loop")?;
        let nest = LoopNest::new(ir, root, aliasing);
        if !nest.is_analyzed() {
            return Err("the nest has too many accesses".to_owned());
        }
        let body = &nest.body;
        let at = body.loop_of(op).ok_or("there is no loop")?;
        let drawn = drawn_loops(body, at);
        let mut stop = RunStopped::BudgetSpent;
        // Uses the first attempt that fits into the budget. Later attempts have fewer iterations of
        // inner loops, and then fewer points.
        for (points, inner) in
            [(size.points, i64::MAX), (size.points, 64), (size.points, 8), (4, 8), (2, 2)]
        {
            let attempt = DrawingAttempt { source, ir, nest: &nest, drawn: &drawn, size, aliasing };
            match attempt.draw(points.min(size.points), inner) {
                Ok(it) => return Ok(it),
                Err(why) => stop = why,
            }
            if stop != RunStopped::BudgetSpent {
                break;
            }
        }
        let ivs = iv_names(ir, body, &drawn).join(" and ");
        Err(match stop {
            RunStopped::Unknown => format!(
                "the iterations of the loops over {ivs} are unknown: a bound is not affine or too large, or a step is not positive"
            ),
            RunStopped::BudgetSpent => format!(
                "the loops over {ivs} have too many iterations: at most {} iterations and accesses are examined",
                draw::MAX_VISITS
            ),
            RunStopped::StoppedByVisitor => format!(
                "the loops over {ivs} have no iterations if unknown values are {}",
                size.points
            ),
        })
    }
}

/// Returns the drawn loops: a loop with the only loop inside it or the loop around it, outermost
/// first.
fn drawn_loops(body: &FunctionBody, at: u32) -> Vec<u32> {
    let depth = body.loops[at as usize].depth;
    let around = |it: u32| {
        let scope = body.scopes.iter().position(|scope| scope.kind == ScopeKind::Loop(it));
        body.loops_around(scope.map(|it| it as u32))
    };
    let is_inner =
        |it: &u32| body.loops[*it as usize].depth == depth + 1 && around(*it).contains(&at);
    let inner: Vec<u32> = (0..body.loops.len() as u32).filter(is_inner).collect();
    if let [only] = inner[..] {
        return vec![at, only];
    }
    match around(at)[..] {
        [.., outer, _] if inner.is_empty() => vec![outer, at],
        _ => vec![at],
    }
}
