//! The iterations of two loops as points of a plane, with the dependences between them as arrows.
//!
//! *Data.* Two loops, one in the other (or a single one), are run by their bounds, guards and
//! subscripts (`run.rs`). The enclosing loops stay in one iteration; inner loops belong to the
//! point. All unknown values are replaced by one number.
//!
//! *Law.* An arrow leads from an access of an element to the next one that must stay after it: from
//! a store to the loads before the next store, from these to that store, from store to store if
//! there is no load between. Each arrow is a dependence, and each dependence between the points is
//! a path of arrows. So another order keeps all dependences of the points exactly if no arrow
//! points backward. [`crate::Legality`] also covers iterations that are not drawn.
//!
//! *Cost.* Linear in the instances except for sorting them, up to a budget.

mod change;
mod draw;
mod run;

use noisy_syntax::{Op, Source};

pub use self::change::Change;
use self::draw::{Attempt, names};
use self::run::Stop;
use crate::body::{Body, ScopeKind};
use crate::dependence::DependenceKind;
use crate::memory::Aliasing;
use crate::nest::{Nest, root_of};

/// The part of a loop's body that a point stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointPart {
    /// The ops before the inner loop.
    Before,
    /// An iteration of all drawn loops.
    Whole,
    /// The ops after the inner loop.
    After,
}

/// An iteration, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The variables of the loops, outermost first; for a part only the outer one.
    pub at: Vec<i64>,
    pub part: PointPart,
    /// True if an access runs in it.
    pub is_used: bool,
}

/// A dependence between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
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

/// Another order of the points, and the verdict on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub change: Change,
    /// `Ok` if all dependences stay, also those of points that are not drawn; else the obstacle.
    pub verdict: Result<(), String>,
    /// The arrows that point backward.
    pub backward: Vec<usize>,
    /// The points in their new order.
    pub order: Vec<usize>,
}

/// A drawing of the iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The variables of the loops, outermost first.
    pub ivs: Vec<String>,
    /// The lines of the loops.
    pub lines: Vec<usize>,
    /// The steps of the loops.
    pub steps: Vec<i64>,
    /// The variables of the enclosing loops, outermost first, each with its value, which stays.
    pub around: Vec<(String, i64)>,
    /// The points in the order in which they run.
    pub points: Vec<Point>,
    /// The arrows, sorted by their points.
    pub arrows: Vec<Arrow>,
    /// Other orders; none if there are ops outside the inner loop.
    pub changes: Vec<Changed>,
    /// Notes for the reader: missing parts and assumptions.
    pub notes: Vec<String>,
}

/// Options of a drawing.
#[derive(Clone, Copy, Debug)]
pub struct DrawingSize {
    /// The value of unknown numbers, and the most iterations of each loop that are drawn.
    pub points: i64,
    /// Iterations of a tile, each way.
    pub tile: i64,
}

impl Default for DrawingSize {
    fn default() -> Self {
        Self { points: 8, tile: 3 }
    }
}

impl Space {
    /// Draws a loop with the loop in it, or the one around it, or alone.
    ///
    /// # Errors
    /// The reason why it cannot be drawn.
    pub fn new(
        source: &Source,
        op: Op,
        size: DrawingSize,
        aliasing: Aliasing,
    ) -> Result<Self, String> {
        let ir = source.ir();
        let root = root_of(ir, op).ok_or("there is no loop")?;
        let nest = Nest::new(ir, root, aliasing);
        if !nest.is_understood() {
            return Err("the nest has too many accesses".to_owned());
        }
        let body = &nest.body;
        let at = body.loop_of(op).ok_or("there is no loop")?;
        let drawn = drawn(body, at);
        let mut stop = Stop::Spent;
        // The first attempt that fits into the budget counts: fewer iterations of inner loops
        // first, then fewer points.
        for (points, inner) in
            [(size.points, i64::MAX), (size.points, 64), (size.points, 8), (4, 8), (2, 2)]
        {
            let attempt = Attempt { source, ir, nest: &nest, drawn: &drawn, size, aliasing };
            match attempt.draw(points.min(size.points), inner) {
                Ok(it) => return Ok(it),
                Err(why) => stop = why,
            }
            if stop != Stop::Spent {
                break;
            }
        }
        let ivs = names(ir, body, &drawn).join(" and ");
        Err(match stop {
            Stop::Unknown => format!(
                "the iterations of the loops over {ivs} are unknown: a bound is not affine or too large, or a step is not positive"
            ),
            Stop::Spent => format!(
                "the loops over {ivs} have too many iterations: at most {} iterations and accesses are examined",
                draw::MOST_LOOKED_AT
            ),
            Stop::Enough => format!(
                "the loops over {ivs} have no iterations if unknown values are {}",
                size.points
            ),
        })
    }
}

/// Returns the loop, and the only one in it or the one around it.
fn drawn(body: &Body, at: u32) -> Vec<u32> {
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
