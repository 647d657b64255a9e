//! Placement of `reduce_noise` ([`insert_reduces`]) and of HEIR's management ops (`manage.rs`).
//!
//! The placement problem of functions that call each other is extracted ([`extract`]) and solved
//! for all of them together (`group.rs`, [`noisy_placement`]). The placement becomes minimal edits
//! (`layout.rs`), and the edited text is analyzed with all calls (`verify.rs`).
//!
//! *Law.* Every returned placement has been verified. The edited text has no noise error in the
//! fixed functions, no additional noise error in other functions, no new problem of other kinds,
//! and exactly the promised number of additional ops. A function with an error other than noise, or
//! with unknown noise, is not changed. With [`PlacementOptions::replace`] the cost of a group does
//! not increase.

pub mod extract;
mod group;
mod layout;
mod manage;
mod verify;

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use noisy_syntax::Op;
use num_integer::gcd;

use self::extract::Objective;
pub use self::manage::{InsertFunction, MANAGEMENT_STAGES};
use self::verify::ExpectedCounts;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};
use noisy_placement::{
    Certificate, Infeasible, Instance, Placement, PlacementCache, PlacementLimits, PlacementPhase,
    PlacementProgress, Site, place_with,
};

/// Options of [`insert_reduces`].
#[derive(Clone, Debug, Default)]
pub struct PlacementOptions {
    /// Limits of the optimizer, for all functions together.
    pub limits: PlacementLimits,
    /// The objective to minimize.
    pub objective: Objective,
    /// A cache of solved instances.
    pub cache: Option<Arc<PlacementCache>>,
    /// True if existing resets may be removed to reduce the cost. Legal functions are then
    /// optimized too.
    pub replace: bool,
    /// The observer of the progress.
    pub watch: Option<ProgressCallback>,
    /// True if the proof of each group is kept: [`FunctionGroup::proof`].
    pub wants_proofs: bool,
}

impl PlacementOptions {
    /// Returns true if another thread has cancelled the search.
    pub(super) fn is_cancelled(&self) -> bool {
        self.limits.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))
    }

    /// Solves the problem of a function, or of its group, unless the answer is cached. If
    /// `is_exact`, a lower bound for the problem is one for the program, and the progress contains
    /// it.
    fn place(
        &self,
        program: &Program,
        function: Op,
        (instance, unit): (&Instance, u64),
        is_exact: bool,
        limits: &PlacementLimits,
    ) -> Result<Placement, Infeasible> {
        let mut tell = |it: &PlacementProgress| {
            if let Some(watch) = &self.watch {
                let bound = if is_exact { it.lower_bound } else { 0 };
                watch.report(GroupProgress {
                    function: program.function_name(function),
                    phase: it.phase,
                    price: Price { units: it.cost, unit },
                    least_price: Price { units: bound, unit },
                });
            }
        };
        match &self.cache {
            Some(cache) => cache.place_with(instance, limits, &mut tell),
            None => place_with(instance, limits, &mut tell),
        }
    }
}

/// Returns the cache of solved instances of this process: the same function may be in many files,
/// and an editor repeats its requests. Fast solutions are not cached: for 10,000 small files they
/// would need more memory than all other data.
pub fn shared_cache() -> Arc<PlacementCache> {
    const SLOW: Duration = Duration::from_millis(2);
    static KNOWN: LazyLock<Arc<PlacementCache>> =
        LazyLock::new(|| Arc::new(PlacementCache::for_slow_answers(SLOW)));
    KNOWN.clone()
}

/// The progress of the optimizer for a group of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupProgress {
    /// The name of the first function of the group, without `@`.
    pub function: String,
    pub phase: PlacementPhase,
    /// The cost of the best legal placement so far.
    pub price: Price,
    /// A lower bound of the cost of any legal placement.
    pub least_price: Price,
}

/// `@f: searching, cost 12, lower bound 10`
impl fmt::Display for GroupProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            PlacementPhase::Greedy => "first answer",
            PlacementPhase::Search => "searching",
            PlacementPhase::Done => "checking",
        };
        let Self { function, price, least_price, .. } = self;
        write!(f, "@{function}: {phase}, cost {price}, lower bound {least_price}")
    }
}

/// A callback for the progress. It is called on the optimizer's thread, about twenty times a second
/// at most for each part of a problem, and must return quickly. It is not called for cached
/// solutions.
#[derive(Clone)]
pub struct ProgressCallback(Arc<dyn Fn(GroupProgress) + Send + Sync>);

impl ProgressCallback {
    pub fn new(tell: impl Fn(GroupProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Calls the callback.
    pub fn report(&self, standing: GroupProgress) {
        (self.0)(standing);
    }
}

impl fmt::Debug for ProgressCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressCallback")
    }
}

/// The changes of a fixed function. Costs are in units of `1 / unit` executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedFunction {
    /// Number of inserted ops.
    pub n_inserted: usize,
    /// Number of removed ops.
    pub n_removed: usize,
    /// The cost of all inserted ops and, with [`PlacementOptions::replace`], of the kept ones.
    pub cost: u64,
    /// A lower bound of the cost of any placement, with the final placement in the other functions
    /// of the group.
    pub lower_bound: u64,
    /// The cost of an op that is executed once.
    pub unit: u64,
    /// Index of its group in [`PlacementOutcome::groups`].
    pub group: usize,
}

/// Functions that are optimized together because they call each other. Costs are in units of `1 /
/// unit` executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionGroup {
    /// The functions that may be changed.
    pub functions: Vec<Op>,
    /// The cost of all inserted ops and, with [`PlacementOptions::replace`], of the kept ones.
    pub cost: u64,
    /// A lower bound of the cost of any placement in these functions. It is 0 if the problem is
    /// stricter than the analysis: see [`extract::Extraction::is_exact`].
    pub lower_bound: u64,
    /// The cost of an op that is executed once.
    pub unit: u64,
    /// Number of disjoint cores: each core is a set of sites, at least one of which needs an op. 0
    /// if cores were not searched.
    pub n_disjoint_cores: usize,
    /// The lower bound that the certificate proves (see [`noisy_placement::Certificate`]).
    pub certified_bound: u64,
    /// The problem, the solution and the proof, if [`PlacementOptions::wants_proofs`].
    pub proof: Option<Arc<GroupProof>>,
}

/// The placement problem of a group, its solution, and the proof of its lower bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupProof {
    /// The placement problem.
    pub instance: Instance,
    pub sites: Vec<Site>,
    /// The proof of [`FunctionGroup::lower_bound`].
    pub certificate: Certificate,
}

impl FunctionGroup {
    /// Returns true if no cheaper placement exists.
    pub(crate) fn is_optimal(&self) -> bool {
        self.lower_bound >= self.cost
    }

    pub fn price(&self) -> Price {
        Price { units: self.cost, unit: self.unit }
    }

    /// The lower bound in executions.
    pub fn least_price(&self) -> Price {
        Price { units: self.lower_bound, unit: self.unit }
    }

    /// The lower bound that the certificate proves, in executions.
    pub fn certified_price(&self) -> Price {
        Price { units: self.certified_bound, unit: self.unit }
    }
}

impl FixedFunction {
    pub(crate) fn price(&self) -> Price {
        Price { units: self.cost, unit: self.unit }
    }

    /// The lower bound in executions.
    pub(crate) fn least_price(&self) -> Price {
        Price { units: self.lower_bound, unit: self.unit }
    }
}

/// A cost in executions, printed with at most two decimals: `3`, `2.5`, `0.33`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    units: u64,
    unit: u64,
}

impl Price {
    /// The number of executions.
    pub fn executions(self) -> f64 {
        self.units as f64 / self.unit.max(1) as f64
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = u128::from(self.unit.max(1));
        let hundredths = (u128::from(self.units) * 100 + unit / 2) / unit;
        match (hundredths / 100, hundredths % 100) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, part) if part % 10 == 0 => write!(f, "{whole}.{}", part / 10),
            (whole, part) => write!(f, "{whole}.{part:02}"),
        }
    }
}

/// The result for a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementVerdict {
    /// The function is already legal and, with [`PlacementOptions::replace`], no cheaper placement
    /// was found.
    Legal,
    /// The function becomes legal or cheaper.
    Fixed(FixedFunction),
    /// The function is not changed, for this reason.
    Refused(String),
}

impl PlacementVerdict {
    /// Returns true if no cheaper placement exists.
    pub fn is_optimal(&self) -> bool {
        match self {
            PlacementVerdict::Legal => true,
            PlacementVerdict::Fixed(it) => it.lower_bound >= it.cost,
            PlacementVerdict::Refused(_) => false,
        }
    }
}

/// A requested function and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionOutcome {
    pub function: Op,
    /// Its symbol name without `@`, or an empty string.
    pub name: String,
    pub verdict: PlacementVerdict,
}

/// The result of [`insert_reduces`].
#[derive(Debug, Default)]
pub struct PlacementOutcome {
    /// The requested functions, in the order of the request.
    pub functions: Vec<FunctionOutcome>,
    /// The groups of functions that were optimized together.
    pub groups: Vec<FunctionGroup>,
    /// The verified edits of all functions; `None` if there are none.
    pub fix: Option<Fix>,
    /// The analyzed program after these edits.
    pub after: Option<Program>,
}

impl PlacementOutcome {
    fn fixed(&self) -> impl Iterator<Item = &FixedFunction> {
        self.functions.iter().filter_map(|it| match &it.verdict {
            PlacementVerdict::Fixed(fixed) => Some(fixed),
            PlacementVerdict::Legal | PlacementVerdict::Refused(_) => None,
        })
    }

    /// Returns true if the fix changes the text.
    pub fn has_edits(&self) -> bool {
        self.fix.as_ref().is_some_and(|it| !it.edits.is_empty())
    }

    /// Returns the number of ops that the fix inserts.
    pub fn n_inserted(&self) -> usize {
        self.fixed().map(|it| it.n_inserted).sum()
    }

    /// Returns the number of ops that the fix removes.
    pub fn n_removed(&self) -> usize {
        self.fixed().map(|it| it.n_removed).sum()
    }

    /// Describes the proven bound of the cost of a function, and the functions of its group.
    pub fn proof(&self, fixed: &FixedFunction) -> String {
        let Some(group) = self.groups.get(fixed.group) else { return String::new() };
        let (cost, least) = (fixed.price(), fixed.least_price());
        let proof = if group.is_optimal() {
            "proven optimal".to_owned()
        } else if group.lower_bound == 0 {
            format!("cost {cost}, not proven optimal")
        } else {
            format!("cost {cost}, proven lower bound {least}")
        };
        let mut with = self.functions.iter().filter(|it| match it.verdict {
            PlacementVerdict::Fixed(of) => of.group == fixed.group,
            PlacementVerdict::Legal | PlacementVerdict::Refused(_) => false,
        });
        match with.clone().count() {
            0 | 1 => proof,
            2..=4 => {
                let names: Vec<String> = with.map(|it| format!("@{}", it.name)).collect();
                format!("{proof}; {} placed together", names.join(", "))
            }
            n => {
                let first = with.next().map_or("", |it| &it.name);
                format!("{proof}; @{first} and {} others placed together", n - 1)
            }
        }
    }

    /// Describes the fix in a line.
    fn title(&self, op: &str) -> String {
        let what = match (self.n_inserted(), self.n_removed()) {
            (n, 0) => format!("Insert {n} {op}"),
            (0, n) => format!("Remove {n} {op}"),
            (new, old) => format!("Replace {old} {op} with {new}"),
        };
        // The units of groups differ; this is their least common multiple.
        let whole = self.groups.iter().map(|it| it.unit).fold(1, |all, it| all / gcd(all, it) * it);
        let sum = |of: fn(&FunctionGroup) -> u64| {
            let units = self.groups.iter().map(|it| of(it).saturating_mul(whole / it.unit));
            Price { units: units.fold(0, u64::saturating_add), unit: whole }
        };
        let (cost, bound) = (sum(|it| it.cost), sum(|it| it.lower_bound));
        if self.groups.iter().all(FunctionGroup::is_optimal) {
            format!("{what} (proven optimal)")
        } else if bound.units == 0 {
            what
        } else if self.n_removed() == 0 && cost.to_string() == self.n_inserted().to_string() {
            format!("{what} (at least {bound} needed)")
        } else {
            format!("{what} (cost {cost}, proven lower bound {bound})")
        }
    }
}

/// An error of a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// The edited text failed the verification, for this reason; it is not offered.
    Unverified(String),
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlacementError::Unverified(how) => {
                write!(f, "the placement failed the check by re-analysis: {how}")
            }
        }
    }
}

impl std::error::Error for PlacementError {}

/// Computes the cheapest placement of `reduce_noise` in some functions as edits. Functions that
/// call each other are optimized together; functions outside of `functions` are not changed.
///
/// # Errors
///
/// The edited text of a group without calls does not pass re-analysis, which is a defect of this
/// crate.
pub fn insert_reduces(
    program: &Program,
    functions: &[Op],
    options: &PlacementOptions,
) -> Result<PlacementOutcome, PlacementError> {
    let start = Instant::now();
    propose(program, functions, options).verified(program, functions, options, start)
}

/// The edits of a placement before verification, and the expected result of the verification.
pub(crate) struct Proposal {
    answers: group::GroupPlacements,
    /// The edits, sorted by position.
    pub edits: Vec<TextEdit>,
    promise: ExpectedCounts,
}

impl Proposal {
    /// Returns true if an edited program passes the verification.
    pub(crate) fn is_verified_by(&self, after: &Program) -> bool {
        self.promise.check_program(after).is_ok()
    }

    /// Returns true if a changed function calls another function or is called.
    pub(crate) fn has_calls(&self) -> bool {
        self.answers.fixed.iter().any(|it| it.has_calls)
    }

    /// Verifies the edits by a new analysis and returns the outcome. Groups that the analysis
    /// rejects are solved once more, in the rest of the time limit that began at `start`.
    ///
    /// # Errors
    ///
    /// Those of [`insert_reduces`].
    pub(crate) fn verified(
        self,
        program: &Program,
        functions: &[Op],
        options: &PlacementOptions,
        start: Instant,
    ) -> Result<PlacementOutcome, PlacementError> {
        let Self { mut answers, mut edits, promise } = self;
        let mut after = None;
        if !answers.fixed.is_empty() {
            let mut verified = verify::verify(program, &promise, &edits);
            if let Err(unverified) = verified {
                let refused = remove_rejected(program, &mut answers, Some(unverified.clone()));
                let is_defect = |it: &(group::GroupPlacement, String)| !it.0.has_calls;
                if refused.is_empty() || refused.iter().any(is_defect) {
                    return Err(unverified);
                }
                // The analysis joins calls with many different noises; the second attempt joins
                // them too.
                let mut again = options.clone();
                again.limits.time =
                    again.limits.time.map(|time| time.saturating_sub(start.elapsed()));
                let asked: Vec<Op> =
                    refused.iter().flat_map(|it| it.0.group.functions.clone()).collect();
                let mut later = group::solve(
                    program,
                    &asked,
                    &again,
                    noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS,
                );
                let refused = remove_rejected(program, &mut later, None);
                if refused.iter().any(is_defect) {
                    return Err(unverified);
                }
                for (it, why) in refused {
                    for &function in it.group.functions.iter().filter(|of| it.is_fixed(**of)) {
                        answers.refused.insert(function, why.clone());
                    }
                }
                answers.fixed.append(&mut later.fixed);
                answers.refused.extend(later.refused);
                let all: Vec<&group::GroupPlacement> = answers.fixed.iter().collect();
                edits = layout::edits(program, &all);
                verified = verify::verify(program, &ExpectedCounts::of(program, &all), &edits);
            }
            after = Some(verified?);
        }
        let mut outcome = outcome(program, functions, answers, edits);
        outcome.after = after.filter(|_| outcome.fix.is_some());
        Ok(outcome)
    }

    /// Returns the outcome for the requested functions; the edits must have been verified.
    pub(crate) fn outcome(self, program: &Program, functions: &[Op]) -> PlacementOutcome {
        outcome(program, functions, self.answers, self.edits)
    }
}

/// Returns the edits of the cheapest placement, before verification.
pub(crate) fn propose(program: &Program, functions: &[Op], options: &PlacementOptions) -> Proposal {
    let answers = group::solve(program, functions, options, extract::MAX_COPIES);
    let all: Vec<&group::GroupPlacement> = answers.fixed.iter().collect();
    let (edits, promise) = if all.is_empty() {
        (Vec::new(), ExpectedCounts::default())
    } else {
        (layout::edits(program, &all), ExpectedCounts::of(program, &all))
    };
    Proposal { answers, edits, promise }
}

fn outcome(
    program: &Program,
    functions: &[Op],
    answers: group::GroupPlacements,
    edits: Vec<TextEdit>,
) -> PlacementOutcome {
    let mut outcome = PlacementOutcome::default();
    for (&function, verdict) in functions.iter().zip(answers.verdicts(functions)) {
        let name = program.function_name(function);
        outcome.functions.push(FunctionOutcome { function, name, verdict });
    }
    let is_any = !answers.fixed.is_empty();
    outcome.groups = answers.fixed.into_iter().map(|it| it.group).collect();
    outcome.fix = is_any.then(|| Fix {
        title: outcome.title(program.model().reset_name()),
        applicability: Applicability::Safe,
        edits,
    });
    outcome
}

/// Removes the groups whose edits fail the verification, and returns them with the reason. `known`
/// is the error of all edits together, if it is known. A rejected group without calls is a defect.
///
/// *Cost.* Groups are independent, so they are bisected: the text is analyzed 2 log n times for
/// each rejected group.
fn remove_rejected(
    program: &Program,
    answers: &mut group::GroupPlacements,
    known: Option<PlacementError>,
) -> Vec<(group::GroupPlacement, String)> {
    let (mut sound, mut unsound) = (Vec::new(), Vec::new());
    let mut open = vec![(std::mem::take(&mut answers.fixed), known)];
    while let Some((mut these, known)) = open.pop() {
        if these.is_empty() {
            continue;
        }
        let why = known.or_else(|| {
            let all: Vec<&group::GroupPlacement> = these.iter().collect();
            let edits = layout::edits(program, &all);
            verify::verify(program, &ExpectedCounts::of(program, &all), &edits).err()
        });
        match why {
            None => sound.append(&mut these),
            Some(why) if these.len() == 1 => {
                unsound.extend(these.pop().map(|it| (it, why.to_string())));
            }
            Some(_) => {
                let second = these.split_off(these.len() / 2);
                open.extend([(second, None), (these, None)]);
            }
        }
    }
    answers.fixed = sound;
    unsound
}

#[cfg(test)]
mod tests;
