//! Placement of `reduce_noise` ([`insert_reduces`]) and of the ops that HEIR's programs need
//! (`manage.rs`).
//!
//! The placement problem of functions that call each other is extracted ([`extract`]) and solved
//! for all of them together (`group.rs`, [`noisy_placement`]). The answer is written as minimal
//! edits (`layout.rs`), and the edited text is analyzed, calls included (`verify.rs`).
//!
//! *Law.* Every answer was analyzed: the edited text has no noise error in the functions that were
//! fixed, no more errors in any other, no other problem than before, and exactly as many more ops
//! as promised. A function with any error besides noise, or with unknown noise, is left byte for
//! byte as it is. With [`Options::replace`] a group costs at most as much as before.

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
pub use self::manage::{Insert, STAGES};
use self::verify::Promise;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};
use noisy_placement::{
    Cache, Certificate, Infeasible, Instance, Limits, Phase, Placement, Progress, Site, place_with,
};

/// Options of [`insert_reduces`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Limits of the optimizer, for all functions together.
    pub limits: Limits,
    /// The objective to minimise.
    pub objective: Objective,
    /// Answers that are known already.
    pub cache: Option<Arc<Cache>>,
    /// Existing reduces may be kept or removed, so that the whole is cheapest. Legal functions are
    /// then placed, too.
    pub replace: bool,
    /// Is told the progress.
    pub watch: Option<Watch>,
    /// Keep the proof of each answer: [`FunctionGroup::proof`].
    pub wants_proofs: bool,
}

impl Options {
    /// Returns true if another thread has asked for the end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.limits.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))
    }

    /// Solves the problem of a function, or of the group with it, unless the answer is known. The
    /// lower bound is told if it is one for the program.
    fn place(
        &self,
        program: &Program,
        function: Op,
        (instance, unit): (&Instance, u64),
        is_exact: bool,
        limits: &Limits,
    ) -> Result<Placement, Infeasible> {
        let mut tell = |it: &Progress| {
            if let Some(watch) = &self.watch {
                let bound = if is_exact { it.lower_bound } else { 0 };
                watch.tell(Standing {
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

/// The answers of placements in this process: some functions are in many files, and an editor asks
/// again and again. Answers that took no time are not kept: those of 10,000 small files would take
/// more memory than all the rest.
pub fn shared_cache() -> Arc<Cache> {
    const SLOW: Duration = Duration::from_millis(2);
    static KNOWN: LazyLock<Arc<Cache>> = LazyLock::new(|| Arc::new(Cache::of_at_least(SLOW)));
    KNOWN.clone()
}

/// Progress of the optimizer with the functions of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The name of the function, without `@`; of several, that of the first.
    pub function: String,
    pub phase: Phase,
    /// The cost of the best legal answer so far.
    pub price: Price,
    /// No legal answer costs less.
    pub least_price: Price,
}

/// `@f: searching, cost 12, lower bound 10`
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            Phase::Greedy => "first answer",
            Phase::Search => "searching",
            Phase::Done => "checking",
        };
        let Self { function, price, least_price, .. } = self;
        write!(f, "@{function}: {phase}, cost {price}, lower bound {least_price}")
    }
}

/// Is told the progress, on the optimizer's thread and at most about twenty times a second for each
/// part of a problem. It must be quick. Answers that were cached are not told.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(Standing) + Send + Sync>);

impl Watch {
    pub fn new(tell: impl Fn(Standing) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells the progress.
    pub fn tell(&self, standing: Standing) {
        (self.0)(standing);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// The change of a function. Costs are in units of `1 / unit` of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Number of inserted ops.
    pub inserted: usize,
    /// Number of removed ops.
    pub removed: usize,
    /// The cost of all inserted ops, and, when placed anew, of those that stay.
    pub cost: u64,
    /// With the other functions of its group as they will be, no placement costs less than this.
    pub lower_bound: u64,
    /// The cost of one op that is executed once.
    pub unit: u64,
    /// Its group, by index into [`Outcome::groups`].
    pub group: usize,
}

/// Functions that were placed together, because they call each other. Costs are in units of `1 /
/// unit` of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionGroup {
    /// The functions that might be changed. All others are as they were.
    pub functions: Vec<Op>,
    /// The cost of all inserted ops, and, when placed anew, of those that stay.
    pub cost: u64,
    /// No placement in these functions costs less than this. Nothing is claimed (0) where the
    /// problem was stricter than the analysis: see [`extract::Extraction::is_exact`].
    pub lower_bound: u64,
    /// The cost of one op that is executed once.
    pub unit: u64,
    /// Number of sets of sites that share no site and each of which must have an op. Zero where
    /// such sets were not searched for.
    pub disjoint_cores: usize,
    /// The part of the lower bound that a certificate proves (see
    /// [`noisy_placement::Certificate`]): all of it.
    pub certified: u64,
    /// The question, the answer and the proof, where they were asked for.
    pub proof: Option<Arc<GroupProof>>,
}

/// The placement problem of a group, its answer, and the proof. Nothing is proven where nothing is
/// claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupProof {
    /// The question.
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

    /// Returns the part of the lower bound that is proven without a solver, in executions.
    pub fn certified_price(&self) -> Price {
        Price { units: self.certified, unit: self.unit }
    }
}

impl Fixed {
    pub(crate) fn price(&self) -> Price {
        Price { units: self.cost, unit: self.unit }
    }

    /// The lower bound in executions.
    pub(crate) fn least_price(&self) -> Price {
        Price { units: self.lower_bound, unit: self.unit }
    }
}

/// A number of executions, shown with at most two decimals: `3`, `2.5`, `0.33`.
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

/// The result for one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The function is legal as it is and, with [`Options::replace`], no cheaper placement was
    /// found.
    Legal,
    /// It becomes legal, or cheaper.
    Fixed(Fixed),
    /// It is left byte for byte as it is, for this reason.
    Refused(String),
}

impl Verdict {
    /// Returns true if no cheaper placement exists.
    pub fn is_optimal(&self) -> bool {
        match self {
            Verdict::Legal => true,
            Verdict::Fixed(it) => it.lower_bound >= it.cost,
            Verdict::Refused(_) => false,
        }
    }
}

/// The result for a requested function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionOutcome {
    pub function: Op,
    /// Its symbol name without `@`, or an empty string.
    pub name: String,
    pub verdict: Verdict,
}

/// The answer of [`insert_reduces`].
#[derive(Debug, Default)]
pub struct Outcome {
    /// One per function that was asked for, in that order.
    pub functions: Vec<FunctionOutcome>,
    /// Functions that were placed together.
    pub groups: Vec<FunctionGroup>,
    /// The edits of all functions together, re-analyzed and found clean; `None` if there is nothing
    /// to insert.
    pub fix: Option<Fix>,
    /// The program with these edits, as it was analyzed.
    pub after: Option<Program>,
}

impl Outcome {
    fn fixed(&self) -> impl Iterator<Item = &Fixed> {
        self.functions.iter().filter_map(|it| match &it.verdict {
            Verdict::Fixed(fixed) => Some(fixed),
            Verdict::Legal | Verdict::Refused(_) => None,
        })
    }

    /// Returns true if the fix changes the text.
    pub fn is_change(&self) -> bool {
        self.fix.as_ref().is_some_and(|it| !it.edits.is_empty())
    }

    /// Number of ops that the fix inserts.
    pub fn inserted(&self) -> usize {
        self.fixed().map(|it| it.inserted).sum()
    }

    /// Number of ops that the fix removes.
    pub fn removed(&self) -> usize {
        self.fixed().map(|it| it.removed).sum()
    }

    /// Describes the known bound on the cost of a function, and the functions placed with it.
    pub fn proof(&self, fixed: &Fixed) -> String {
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
            Verdict::Fixed(of) => of.group == fixed.group,
            Verdict::Legal | Verdict::Refused(_) => false,
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
        let what = match (self.inserted(), self.removed()) {
            (n, 0) => format!("Insert {n} {op}"),
            (0, n) => format!("Remove {n} {op}"),
            (new, old) => format!("Replace {old} {op} with {new}"),
        };
        // Units differ from group to group, but each is a divisor of the same.
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
        } else if self.removed() == 0 && cost.to_string() == self.inserted().to_string() {
            format!("{what} (at least {bound} needed)")
        } else {
            format!("{what} (cost {cost}, proven lower bound {bound})")
        }
    }
}

/// The reason why there is no answer at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixError {
    /// The edited text was analyzed and breaks the promise, for this reason; it is not offered.
    Unverified(String),
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixError::Unverified(how) => {
                write!(f, "the placement failed the check by re-analysis: {how}")
            }
        }
    }
}

impl std::error::Error for FixError {}

/// Finds the cheapest places for `reduce_noise` in some functions and writes them as edits.
/// Functions that call each other are placed together; other functions stay as they are.
///
/// # Errors
///
/// When the edited text of a group without calls does not pass re-analysis: a defect of this crate,
/// and nothing is offered.
pub fn insert_reduces(
    program: &Program,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    let start = Instant::now();
    propose(program, functions, options).settled(program, functions, options, start)
}

/// The edits of a placement, and the promise that they must keep.
pub(crate) struct Proposal {
    answers: group::Answers,
    /// In order.
    pub edits: Vec<TextEdit>,
    promise: Promise,
}

impl Proposal {
    /// Returns true if an edited program keeps the promise.
    pub(crate) fn is_kept_by(&self, after: &Program) -> bool {
        self.promise.kept_by(after).is_ok()
    }

    /// Returns true if a changed function calls another or is called.
    pub(crate) fn has_calls(&self) -> bool {
        self.answers.fixed.iter().any(|it| it.has_calls)
    }

    /// Returns the outcome, read and analyzed again. Answers that the analysis rejects are asked
    /// for again, in the rest of the time limit that began at `start`.
    ///
    /// # Errors
    ///
    /// As [`insert_reduces`].
    pub(crate) fn settled(
        self,
        program: &Program,
        functions: &[Op],
        options: &Options,
        start: Instant,
    ) -> Result<Outcome, FixError> {
        let Self { mut answers, mut edits, promise } = self;
        let mut after = None;
        if !answers.fixed.is_empty() {
            let mut verified = verify::verify(program, &promise, &edits);
            if let Err(unverified) = verified {
                let refused = remove_rejected(program, &mut answers, Some(unverified.clone()));
                let is_defect = |it: &(group::Answer, String)| !it.0.has_calls;
                if refused.is_empty() || refused.iter().any(is_defect) {
                    return Err(unverified);
                }
                // The analysis merges calls with many different noises, so the next attempt merges
                // them, too.
                let mut again = options.clone();
                again.limits.time =
                    again.limits.time.map(|time| time.saturating_sub(start.elapsed()));
                let asked: Vec<Op> =
                    refused.iter().flat_map(|it| it.0.group.functions.clone()).collect();
                let mut later =
                    group::solve(program, &asked, &again, noisy_dataflow::sparse::MAX_APART);
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
                let all: Vec<&group::Answer> = answers.fixed.iter().collect();
                edits = layout::edits(program, &all);
                verified = verify::verify(program, &Promise::of(program, &all), &edits);
            }
            after = Some(verified?);
        }
        let mut outcome = outcome(program, functions, answers, edits);
        outcome.after = after.filter(|_| outcome.fix.is_some());
        Ok(outcome)
    }

    /// Returns the outcome for the requested functions of a program that keeps the promise.
    pub(crate) fn outcome(self, program: &Program, functions: &[Op]) -> Outcome {
        outcome(program, functions, self.answers, self.edits)
    }
}

/// The edits of the cheapest placement, not verified yet.
pub(crate) fn propose(program: &Program, functions: &[Op], options: &Options) -> Proposal {
    let answers = group::solve(program, functions, options, extract::MOST_COPIES);
    let all: Vec<&group::Answer> = answers.fixed.iter().collect();
    let (edits, promise) = if all.is_empty() {
        (Vec::new(), Promise::default())
    } else {
        (layout::edits(program, &all), Promise::of(program, &all))
    };
    Proposal { answers, edits, promise }
}

fn outcome(
    program: &Program,
    functions: &[Op],
    answers: group::Answers,
    edits: Vec<TextEdit>,
) -> Outcome {
    let mut outcome = Outcome::default();
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

/// Removes the answers that the analysis rejects by themselves, and returns them with the reason;
/// `known` is the verdict on all of them together, if it is known. A rejected answer without calls
/// is a defect.
///
/// *Cost.* Groups are independent, so they are bisected: 2 log n readings of the text for each
/// rejected answer.
fn remove_rejected(
    program: &Program,
    answers: &mut group::Answers,
    known: Option<FixError>,
) -> Vec<(group::Answer, String)> {
    let (mut sound, mut unsound) = (Vec::new(), Vec::new());
    let mut open = vec![(std::mem::take(&mut answers.fixed), known)];
    while let Some((mut these, known)) = open.pop() {
        if these.is_empty() {
            continue;
        }
        let why = known.or_else(|| {
            let all: Vec<&group::Answer> = these.iter().collect();
            let edits = layout::edits(program, &all);
            verify::verify(program, &Promise::of(program, &all), &edits).err()
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
