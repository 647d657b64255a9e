//! Extraction of the placement problem from IR and facts: one [`Instance`] for functions that call
//! each other.
//!
//! *Nodes* are the values that carry noise, in program order. A node has the rule of the op that
//! defines the value, and the budget as its limit. A value that is passed to a function or returned
//! from it is also limited by the contract of that argument or result. A value that joins others (a
//! block argument, a result of a region, an iteration argument) has the maximum of the incoming
//! values; back edges and loops with an unknown trip count cause cycles (`build.rs`). A loop with a
//! small trip count is unrolled into one set of nodes per iteration with shared sites, so that the
//! optimizer and the analysis agree on legality (`cycle.rs`; see `docs/noise.md`). If there are
//! more iterations than noise levels for each iteration argument, a cycle is used; with one
//! iteration argument it gives the same result.
//!
//! *Calls* (`calls.rs`, `call.rs`) are inlined: one copy of the callee for each vector of argument
//! nodes, with shared sites. A function that must not change is included without sites, so that its
//! results depend on the placement in the other functions.
//!
//! *Sites* are of two kinds. The first is directly after the definition of a value or argument
//! whose noise may be larger than after a reset. The second is before the uses of a value in a
//! block that is executed less often than its definition: one site for all uses in that block and
//! its nested blocks ([`UseGroup`], `group.rs`). Existing resets are kept: the result is a source,
//! and the operand has the usual limit. With `replace`, an existing reset is a site like the others
//! and is kept if it is chosen.
//!
//! The cost of a site is its number of executions (`weight.rs`), or 1 if ops are counted, times the
//! cost of a reset.
//!
//! *Refused* are functions with an error other than noise, or with a live value of unknown noise.

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
pub use self::calls::LiveCalls;
pub(super) use self::weight::{UNIT, Weights};

/// The cost of a placement.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema,
)]
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
    /// Directly after the definition of a value.
    After(Value),
    /// Before a group of uses, given by its index in [`Extraction::use_groups`].
    BeforeGroup(usize),
    /// An existing op that resets noise.
    Existing(Op),
}

/// The uses of a value in a block that is executed less often than its definition, and in its
/// nested blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseGroup {
    pub value: Value,
    /// The first op of the block that uses the value, itself or in its regions.
    pub anchor: Op,
    /// The enclosing group: that of an enclosing block that is executed more often than this one
    /// and less often than the definition.
    pub outer: Option<usize>,
}

/// The input of [`extract`].
#[derive(Clone, Copy, Debug)]
pub struct ExtractionRequest<'a> {
    /// The functions that may be changed. Functions that are connected with them by calls are
    /// included in the problem.
    pub functions: &'a [Op],
    /// Functions outside of the problem: the noise of their arguments and results is fixed.
    pub excluded: &'a FxHashSet<Op>,
    pub objective: Objective,
    /// True if existing resets may be removed.
    pub replace: bool,
    /// Maximum number of separate copies of a function: [`MAX_COPIES`], or the number of contexts
    /// in the analysis, [`noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS`], if the analysis rejected
    /// the first solution.
    pub max_copies: usize,
}

/// Maximum number of separate copies of a function, within the limit of their total size: a call in
/// an unrolled loop has one copy per iteration.
pub const MAX_COPIES: usize = 1024;

/// The placement problem of some functions, with its relation to the IR.
#[derive(Clone, Debug)]
pub struct Extraction {
    pub instance: Instance,
    /// The position of each site.
    pub(crate) positions: Vec<SitePosition>,
    /// The value of each node.
    pub nodes: Vec<Value>,
    pub use_groups: Vec<UseGroup>,
    /// The innermost group of each grouped use, by op and index of the operand.
    pub group_of: FxHashMap<(Op, u32), usize>,
    /// Costs are in units of `1 / unit` executions.
    pub unit: u64,
    /// True if the problem has all placements that the analysis finds legal. Otherwise some may be
    /// missing, because calls or iterations of a loop were joined.
    pub is_exact: bool,
}

/// The reason why no problem is extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The refused function.
    pub function: Op,
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Refusal {}

/// Extracts the placement problem of functions. `calls` are the calls of the program.
///
/// # Errors
///
/// A function has no body, or the noise of a live value in it is unknown.
pub fn extract(
    program: &Program,
    calls: &LiveCalls,
    request: &ExtractionRequest,
) -> Result<Extraction, Refusal> {
    let mut builder = Builder::new(program, calls, request);
    match builder.build_functions() {
        Ok(()) => builder.finish(),
        Err(why) => Err(Refusal { function: builder.function, why }),
    }
}
