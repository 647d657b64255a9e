//! Inserting `reduce_noise`: the solver proposes, the analysis disposes.
//!
//! [`insert_reduces`] takes the placement problem out of each function ([`crate::extract`]), has it solved
//! ([`crate::placement`]), writes the answer as minimal edits (`layout.rs`), applies them to a copy and analyzes that.
//!
//! *Law.* What is offered was analyzed: the edited text has no noise error in the functions that were mended, no other problem than
//! before, and exactly as many more ops as were promised. A function with any error besides noise, or with noise that is
//! not known, is left byte for byte as it is. With [`Options::replace`] a function costs at most what it did before.

mod layout;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extract::{Extraction, Objective, Spot, extract, gcd};
use crate::placement::{
    Cache, Infeasible, Limits, Phase, Progress, Site, Why, evaluate, place_with,
};
use crate::{Applicability, Document, Fix, Severity, TextEdit};

/// What is wanted of [`insert_reduces`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How long the optimizer may work, on all functions together.
    pub limits: Limits,
    /// What is to be least.
    pub objective: Objective,
    /// Answers that are known already.
    pub cache: Option<Arc<Cache>>,
    /// Take the reduces that are there already for a proposal: keep, remove, add, so that the whole is cheapest. A legal function is then
    /// looked at, too.
    pub replace: bool,
    /// Who is told how far it is.
    pub watch: Option<Watch>,
}

/// Where the optimizer stands with a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The name of the function, without `@`.
    pub function: String,
    /// What the optimizer is doing.
    pub phase: Phase,
    /// The cost of the best legal answer so far.
    pub price: Price,
    /// No legal answer costs less.
    pub least_price: Price,
}

/// Is told where the optimizer stands, on the optimizer's thread and at most some twenty times a second for each part of a problem: it must be quick. What
/// was known already is not told.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(Standing) + Send + Sync>);

impl Watch {
    /// Tells a function.
    pub fn new(tell: impl Fn(Standing) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// What becomes of a function that is changed. Costs are in units of `1 / unit` of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mended {
    /// How many ops are inserted.
    pub inserted: usize,
    /// How many ops are removed.
    pub removed: usize,
    /// The cost of all inserted ops, and, when placed anew, of those that stay.
    pub cost: u64,
    /// No placement costs less than this.
    pub lower_bound: u64,
    /// How many units of cost are one op executed once.
    pub unit: u64,
    /// So many sets of places share no place with one another, and each must have an op, whatever else has one. Zero where such sets were
    /// not looked for.
    pub disjoint_cores: usize,
    /// How much of the lower bound such sets prove without a solver (see [`crate::placement::Certificate`]).
    pub certified: u64,
}

impl Mended {
    /// The cost in executions.
    pub fn price(&self) -> Price {
        Price { units: self.cost, unit: self.unit }
    }

    /// The lower bound in executions.
    pub fn least_price(&self) -> Price {
        Price { units: self.lower_bound, unit: self.unit }
    }
}

/// A number of executions, shown with at most two decimals: `3`, `2.5`, `0.33`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    units: u64,
    unit: u64,
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

/// What became of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is legal as it is (and, when placed anew, no cheaper placement was found); nothing is changed.
    Legal,
    /// It becomes legal, or cheaper.
    Mended(Mended),
    /// It is left byte for byte as it is, for this reason.
    Refused(String),
}

impl Verdict {
    /// Whether no cheaper placement exists.
    pub fn is_optimal(&self) -> bool {
        match self {
            Verdict::Legal => true,
            Verdict::Mended(it) => it.lower_bound >= it.cost,
            Verdict::Refused(_) => false,
        }
    }
}

/// What became of a function that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionOutcome {
    /// The function.
    pub function: Op,
    /// Its symbol name without `@`, or an empty string.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// The answer of [`insert_reduces`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One per function that was asked for, in that order.
    pub functions: Vec<FunctionOutcome>,
    /// The edits of all functions together, re-analyzed and found clean; `None` if there is nothing to insert.
    pub fix: Option<Fix>,
}

impl Outcome {
    fn mended(&self) -> impl Iterator<Item = &Mended> {
        self.functions.iter().filter_map(|it| match &it.verdict {
            Verdict::Mended(mended) => Some(mended),
            Verdict::Legal | Verdict::Refused(_) => None,
        })
    }

    /// How many ops the fix inserts.
    pub fn inserted(&self) -> usize {
        self.mended().map(|it| it.inserted).sum()
    }

    /// How many ops the fix removes.
    pub fn removed(&self) -> usize {
        self.mended().map(|it| it.removed).sum()
    }

    /// What the fix does, in a line.
    fn title(&self, op: &str) -> String {
        let op = op.rsplit('.').next().unwrap_or_default();
        let what = match (self.inserted(), self.removed()) {
            (n, 0) => format!("Insert {n} {op}"),
            (0, n) => format!("Remove {n} {op}"),
            (new, old) => format!("Replace {old} {op} by {new}"),
        };
        // Units differ from function to function, but each is a divisor of the same.
        let whole = self.mended().map(|it| it.unit).fold(1, |all, it| all / gcd(all, it) * it);
        let sum = |of: fn(&Mended) -> u64| {
            let units = self.mended().map(|it| of(it).saturating_mul(whole / it.unit));
            Price { units: units.fold(0, u64::saturating_add), unit: whole }
        };
        let (cost, bound) = (sum(|it| it.cost), sum(|it| it.lower_bound));
        if self.mended().all(|it| it.lower_bound >= it.cost) {
            format!("{what} (optimal)")
        } else if self.removed() == 0 && cost.to_string() == self.inserted().to_string() {
            format!("{what} (at least {bound} are needed)")
        } else {
            format!("{what} (cost {cost}, at least {bound} is needed)")
        }
    }
}

/// Why there is no answer at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixError {
    /// The edited text was analyzed and is not what was promised; it is not offered. The text says how.
    Unverified(String),
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixError::Unverified(how) => {
                write!(f, "the placement did not stand up to re-analysis: {how}")
            }
        }
    }
}

impl std::error::Error for FixError {}

/// Finds the cheapest places for `reduce_noise` in some functions and writes them as edits.
///
/// # Errors
///
/// When the edited text does not stand up to re-analysis: a defect of this crate, and nothing is offered.
pub fn insert_reduces(
    document: &Document,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    let ir = document.ir();
    let start = Instant::now();
    let broken = broken_functions(document);
    let over = functions_over(document);
    let mut answers: Vec<(usize, Extraction, Vec<bool>)> = Vec::new();
    let mut outcome = Outcome { functions: Vec::new(), fix: None };
    for &function in functions {
        let verdict = if let Some(reason) = broken.get(&function) {
            Verdict::Refused(reason.clone())
        } else {
            let mut limits = options.limits.clone();
            limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
            match mend(document, function, over.contains(&function), options, &limits) {
                Ok(None) => Verdict::Legal,
                Ok(Some((mended, extraction, chosen))) => {
                    answers.push((outcome.functions.len(), extraction, chosen));
                    Verdict::Mended(mended)
                }
                Err(reason) => Verdict::Refused(reason),
            }
        };
        let name = document.function_name(function);
        outcome.functions.push(FunctionOutcome { function, name, verdict });
    }
    // What a function presumes of another must come true.
    loop {
        let is_left = |it: &Op| {
            let known = outcome.functions.iter().find(|known| known.function == *it);
            known.is_none_or(|known| matches!(known.verdict, Verdict::Refused(_)))
        };
        if !over.iter().any(is_left) {
            break;
        }
        let Some(at) = answers.iter().position(|it| it.1.presumed.is_some()) else { break };
        let (index, extraction, _) = answers.remove(at);
        let name = extraction.presumed.map_or(String::new(), |it| ir.value_text(it));
        outcome.functions[index].verdict =
            Verdict::Refused(format!("{name} comes from another function with too much noise"));
    }
    if !answers.is_empty() {
        let mut names = layout::value_names(ir);
        let mut edits: Vec<TextEdit> = Vec::new();
        for (_, extraction, chosen) in &answers {
            layout::write(document, extraction, chosen, &mut names, &mut edits);
        }
        let edits = layout::merge(edits);
        let title = outcome.title(&document.model().reset_op);
        let fix = Fix { title, applicability: Applicability::Safe, edits };
        verify(document, &outcome, &fix)?;
        outcome.fix = Some(fix);
    }
    Ok(outcome)
}

fn mend(
    document: &Document,
    function: Op,
    is_over: bool,
    options: &Options,
    limits: &Limits,
) -> Result<Option<(Mended, Extraction, Vec<bool>)>, String> {
    if document.ir().op(function).regions.is_empty() {
        return Ok(None);
    }
    let extraction = extract(document, function, options.objective, options.replace)?;
    let instance = &extraction.instance;
    let is_existing: Vec<bool> =
        extraction.spots.iter().map(|it| matches!(it, Spot::Existing(_))).collect();
    // Not only noise over the budget: a contract may not be kept.
    let is_legal = !is_over && evaluate::legal(instance, &is_existing);
    if is_legal && !is_existing.contains(&true) {
        return Ok(None);
    }
    let unit = extraction.unit;
    let mut tell = |it: &Progress| {
        if let Some(Watch(tell)) = &options.watch {
            tell(Standing {
                function: document.function_name(function),
                phase: it.phase,
                price: Price { units: it.cost, unit },
                least_price: Price { units: it.lower_bound, unit },
            });
        }
    };
    let placed = match &options.cache {
        Some(cache) => cache.place_with(instance, limits, &mut tell),
        None => place_with(instance, limits, &mut tell),
    };
    let placement = placed.map_err(|it| infeasible(document, &extraction.nodes, it))?;
    let cost_of = |chosen: &[bool]| {
        let costs = instance.sites.iter().zip(chosen).filter(|it| *it.1);
        costs.fold(0_u64, |sum, (site, _)| sum.saturating_add(site.cost))
    };
    if is_legal && placement.cost >= cost_of(&is_existing) {
        return Ok(None);
    }
    let mut chosen = vec![false; instance.sites.len()];
    for &Site(site) in &placement.sites {
        chosen[site as usize] = true;
    }
    let n = |of: bool, to: bool| {
        is_existing.iter().zip(&chosen).filter(|&(&is, &will)| is == of && will == to).count()
    };
    let mended = Mended {
        inserted: n(false, true),
        removed: n(true, false),
        cost: placement.cost,
        lower_bound: placement.lower_bound,
        unit: extraction.unit,
        disjoint_cores: placement.certificate.disjoint(),
        certified: placement.certificate.bound().min(placement.lower_bound),
    };
    Ok(Some((mended, extraction, chosen)))
}

/// Why there is no placement, with the place.
fn infeasible(document: &Document, nodes: &[Value], it: Infeasible) -> String {
    let ir = document.ir();
    let name = nodes.get(it.node.0 as usize).map_or_else(
        || "a value".to_owned(),
        |&value| {
            let name = ir.value_text(value);
            let at = ir.definer(value).map(|op| ir.absolute(op, ir.value(value).span).start);
            let line = at.map(|at| document.source().text().byte_to_line(at) + 1);
            line.map_or(name.clone(), |line| format!("{name} on line {line}"))
        },
    );
    match it.why {
        Why::Over { least, limit } => {
            format!(
                "no placement makes it legal: the noise of {name} is at least {least}, and {limit} is borne"
            )
        }
        Why::Reset { reset, .. } => {
            format!(
                "no placement makes it legal: {name} must be reduced, and {reset} is still too much"
            )
        }
        Why::Contradiction => format!("no placement makes it legal, because of {name}"),
        Why::NotFound => "no placement was found within the limits".to_owned(),
        Why::Malformed => "its placement problem is malformed".to_owned(),
    }
}

/// The functions with anything wrong but noise, and what.
fn broken_functions(document: &Document) -> FxHashMap<Op, String> {
    let ir = document.ir();
    let mut out = FxHashMap::default();
    let text = document.source().text();
    for (op, range, problem) in document.source().problems() {
        let line = text.byte_to_line(range.start) + 1;
        let mut at = Some(op);
        while let Some(it) = at {
            out.entry(it)
                .or_insert_with(|| format!("it has an error on line {line}: {}", problem.message));
            at = ir.parent_op(it);
        }
    }
    out
}

/// The functions in which noise goes over the budget.
fn functions_over(document: &Document) -> FxHashSet<Op> {
    let (ir, analysis) = (document.ir(), &document.facts().analysis);
    let roots = analysis.roots(ir).into_iter().filter_map(|(value, _)| ir.definer(value));
    let loops = analysis.growing(ir).into_iter().map(|it| it.0);
    roots.chain(loops).filter_map(|op| ir.function_of(op)).collect()
}

/// Analyzes the text after the fix.
fn verify(document: &Document, outcome: &Outcome, fix: &Fix) -> Result<(), FixError> {
    let unverified = |how: String| Err(FixError::Unverified(how));
    let text = fix.apply(&document.source().text().to_string());
    let after = Document::with_model(&text, document.model().clone());
    let (n_before, n_after) = (document.source().problems().len(), after.source().problems().len());
    if n_before != n_after {
        return unverified(format!("{n_before} other problems became {n_after}"));
    }
    let count = |document: &Document| count_resets(document.ir(), &document.model().reset_op);
    let (n_promised, n_found) =
        (count(document) + outcome.inserted() - outcome.removed(), count(&after));
    if n_promised != n_found {
        return unverified(format!("{n_promised} ops were promised, {n_found} found"));
    }
    // Functions keep their order.
    let (old, new) = (document.ir().functions(), after.ir().functions());
    if old.len() != new.len() {
        return unverified("functions came or went".to_owned());
    }
    let mended: FxHashSet<Op> = outcome
        .functions
        .iter()
        .filter(|it| matches!(it.verdict, Verdict::Mended(_)))
        .map(|it| it.function)
        .collect();
    let over = functions_over(&after);
    for (old, new) in old.iter().zip(&new) {
        if mended.contains(old) && over.contains(new) {
            return unverified(format!("@{} is still over the budget", after.function_name(*new)));
        }
    }
    let errors = |document: &Document| {
        document.diagnostics().iter().filter(|it| it.severity == Severity::Error).count()
    };
    let (n_before, n_after) = (errors(document), errors(&after));
    let was_over = functions_over(document);
    let n_over = mended.iter().filter(|it| was_over.contains(it)).count();
    // One error at least is gone with each; but several may come of one chain, or of one contract.
    if n_after + n_over > n_before {
        return unverified(format!("{n_before} errors became {n_after}"));
    }
    Ok(())
}

fn count_resets(ir: &Ir, name: &str) -> usize {
    let mut n = 0;
    ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op) == name));
    n
}

#[cfg(test)]
mod tests;
