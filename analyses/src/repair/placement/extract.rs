//! From IR and facts to the placement problem: one [`Instance`] for the functions that call each
//! other.
//!
//! *Nodes* are the values that carry noise, in program order; each has the rule of the op that
//! defines it, and the budget as its limit. A value passed to a function or returned from one is
//! also limited by the contract of that argument or result. Where values meet (block arguments,
//! results of regions, carried arguments) the node is the largest of the incoming values; backward
//! branches and loops with an unknown trip count make cycles (`build.rs`). A loop known to run few
//! times is unrolled: one set of nodes per iteration, sharing their sites, so that the optimizer
//! and the analysis agree on legality (`cycle.rs`; see `docs/noise.md`). With more iterations than
//! noise levels per carried value the cycle gives the same for one carried value.
//!
//! *Calls* (`calls.rs`, `call.rs`) are inlined: one copy of the callee for each vector of argument
//! nodes, sharing their sites. A function that must not change takes part without sites, so its
//! results are what they will be.
//!
//! *Sites* are right after the definition of any value, arguments included, unless the value is as
//! fresh as a reset would make it; and at the uses of a value in a block that is executed less
//! often than its definition, one site for all uses in that block and inside of it ([`UseGroup`],
//! `group.rs`). Existing resets are kept: the result is a source, the operand limited as any other.
//! With `replace`, each is a site like the others and stays if it is chosen.
//!
//! The cost of a site is its number of executions (`weight.rs`), or 1 for each, times the price of
//! a reset.
//!
//! *Refused* are functions with any error but noise, or with a live value of unknown noise.

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

use crate::program::Program;
use noisy_placement::Instance;

use self::build::Builder;
pub use self::calls::Calls;
pub(super) use self::weight::{UNIT, Weights};

/// The cost of a placement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Executions: a site in a loop costs its trip count, a site in a branch its share.
    #[default]
    Executed,
    /// The number of ops.
    Count,
}

/// The position of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SitePosition {
    /// Right after the definition of a value.
    After(Value),
    /// Before the uses of a value in a block: [`Extraction::groups`] at this index.
    Before(usize),
    /// An op that resets noise already.
    Existing(Op),
}

/// The uses of a value in a block that is executed less often than its definition, and in the
/// blocks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseGroup {
    pub value: Value,
    /// The op of the block that uses it first, itself or inside.
    pub anchor: Op,
    /// The group around it, if a block between is executed more often than this and less often than
    /// the definition.
    pub outer: Option<usize>,
}

/// The input of [`extract`].
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The functions that may be changed. Those that are connected with them by calls take part.
    pub functions: &'a [Op],
    /// Functions that are not changed: their arguments and results stay as they are now.
    pub closed: &'a FxHashSet<Op>,
    pub objective: Objective,
    /// Existing resets may be removed.
    pub replace: bool,
    /// Maximum number of copies of a function that are kept apart: [`MOST_COPIES`], or
    /// [`noisy_dataflow::sparse::MAX_APART`], as in the analysis, if the analysis rejected the
    /// answer for the former.
    pub copies: usize,
}

/// Maximum number of copies of a function that are kept apart while they are not too large
/// together: a call in an unrolled loop has one per iteration.
pub const MOST_COPIES: usize = 1024;

/// The placement problem of some functions.
#[derive(Clone, Debug)]
pub struct Extraction {
    pub instance: Instance,
    /// The position of each site.
    pub(crate) spots: Vec<SitePosition>,
    /// For each node the value that it stands for.
    pub nodes: Vec<Value>,
    pub groups: Vec<UseGroup>,
    /// The innermost group of each use that is in one: by op and index of the operand.
    pub group_of: FxHashMap<(Op, u32), usize>,
    /// Costs are in units of this part of an execution.
    pub unit: u64,
    /// True if the legal choices of the problem are all that the analysis finds legal. Otherwise
    /// some may be missing, because calls or iterations of a loop were merged.
    pub is_exact: bool,
}

/// The reason why there is no question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The function at fault.
    pub function: Op,
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
/// If a function has no body, or the noise of a live value in it is not known.
pub fn extract(program: &Program, calls: &Calls, request: &Request) -> Result<Extraction, Refusal> {
    let mut builder = Builder::new(program, calls, request);
    match builder.functions() {
        Ok(()) => builder.finish(),
        Err(why) => Err(Refusal { function: builder.function, why }),
    }
}
