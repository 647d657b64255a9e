//! From IR and facts to the question that the optimizer answers: one [`Instance`] for the functions that call each other.
//!
//! *Nodes* are the values that carry noise, in program order; each has the rule of the op that defines it, and the
//! budget as its limit. What is passed to a function or returned from one is also limited by the contract there. Where values meet
//! (block arguments, results of regions, carried arguments) the node is the largest of what flows in; backward branches and loops with
//! an unknown trip count make cycles (`build.rs`). A loop that is known to run few times is unrolled: one set of nodes per round,
//! sharing their sites, so that the optimizer and the analysis agree on what is legal (`cycle.rs`; see `docs/noise.md`). With more
//! rounds than noise levels per carried value the cycle says the same for one carried value.
//!
//! *Calls* (`calls.rs`, `call.rs`) are treated alike: one copy of the callee for each vector of nodes that is passed, sharing their
//! sites. A function that is not to be changed takes part without sites, so that what it passes and returns is what it will be.
//!
//! *Sites* are right after the definition of any value, arguments included, unless the value is as fresh as a reset
//! would make it; and at the uses of a value in a block that is executed less often than its definition, one site for all uses in
//! that block and inside of it ([`UseGroup`], `group.rs`). Ops that reset noise already are kept: the result is a source, the operand
//! limited as any other. Or, to place them anew, each is a site like the others: chosen, it stays.
//!
//! The cost of a site is how often it is executed (`weight.rs`), or 1 for each, times the price of one.
//!
//! *Refused* are functions in which anything is wrong but noise, or in which the noise of a live value is not known.

mod build;
mod call;
mod calls;
mod cycle;
mod group;
mod weight;

use std::fmt;

use noisy_syntax::{Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::placement::Instance;
use crate::program::Program;

use self::build::Builder;
pub use self::calls::Calls;
pub(super) use self::weight::{UNIT, Weights};

/// What a placement costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// What is executed: one in a loop costs its trip count, one in a branch its share.
    #[default]
    Executed,
    /// The number of ops.
    Count,
}

/// Where a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// Right after the definition of a value.
    After(Value),
    /// Before the uses of a value in a block: [`Extraction::groups`] at this index.
    Before(usize),
    /// An op that resets noise already.
    Existing(Op),
}

/// The uses of a value in a block that is executed less often than its definition, and in the blocks within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseGroup {
    /// The value.
    pub value: Value,
    /// The op of the block that uses it first, itself or inside.
    pub anchor: Op,
    /// The group around it, if some block between is executed more often than this and less often than the definition.
    pub outer: Option<usize>,
}

/// What is asked of [`extract`].
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The functions that may be changed. Those that are connected with them by calls take part.
    pub functions: &'a [Op],
    /// Functions that are not looked into: what they pass and return is what it is now.
    pub closed: &'a FxHashSet<Op>,
    /// What is to be least.
    pub objective: Objective,
    /// Whether ops that are there already may go.
    pub replace: bool,
    /// At most so many copies of a function are kept apart: [`MOST_COPIES`], or as many as the analysis keeps
    /// ([`crate::sparse::MAX_APART`]) where it does not bear the answer to that.
    pub copies: usize,
}

/// Copies of a function that are kept apart at most, as long as they are not too large together: a call in a loop that is unrolled has one
/// in each round.
pub const MOST_COPIES: usize = 1024;

/// What the optimizer is asked about functions, and what its answer means.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The question.
    pub instance: Instance,
    /// What each site is.
    pub(crate) spots: Vec<Spot>,
    /// For each node the value that it stands for.
    pub nodes: Vec<Value>,
    /// The groups of uses.
    pub groups: Vec<UseGroup>,
    /// The innermost group of each use that is in one: by op and index of the operand.
    pub group_of: FxHashMap<(Op, u32), usize>,
    /// Costs are in units of this part of an execution.
    pub unit: u64,
    /// Whether the choices that are legal in the question are all that the analysis finds legal. Otherwise some of those may be
    /// missing: calls were taken together, or rounds of a loop.
    pub is_exact: bool,
}

/// Why there is no question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The function at fault.
    pub function: Op,
    /// What is the matter with it.
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Refusal {}

/// Takes the placement problem out of functions. `calls` are those of the program.
///
/// # Errors
///
/// Why there is none: a function has no body, or the noise of a live value in it is not known.
pub fn extract(program: &Program, calls: &Calls, request: &Request) -> Result<Extraction, Refusal> {
    let mut builder = Builder::new(program, calls, request);
    match builder.functions() {
        Ok(()) => builder.finish(),
        Err(why) => Err(Refusal { function: builder.function, why }),
    }
}
