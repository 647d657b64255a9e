//! Inserting `reduce_noise`: the solver proposes, the analysis disposes.
//!
//! [`insert_reduces`] takes the placement problem out of each function ([`crate::extract`]), has it solved
//! ([`crate::placement`]), writes the answer as minimal edits (`layout.rs`), applies them to a copy and analyzes that.
//!
//! *Law.* What is offered was analyzed: the edited text has no noise error in the functions that were mended, no other problem than
//! before, and exactly as many more ops as were promised. A function with any error besides noise, or with noise that is
//! not known, is left byte for byte as it is.

mod layout;

use std::fmt;
use std::time::Instant;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extract::extract;
use crate::placement::{Infeasible, Limits, Why, place};
use crate::{Applicability, Document, Fix, Severity, TextEdit};

/// What became of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is legal as it is; nothing is inserted.
    Legal,
    /// It becomes legal.
    Mended {
        /// How many ops are inserted.
        inserted: usize,
        /// No placement costs less than this.
        lower_bound: u64,
        /// The cost of this one; as many as are inserted when each is executed once.
        cost: u64,
    },
    /// It is left byte for byte as it is, for this reason.
    Refused(String),
}

impl Verdict {
    /// Whether no cheaper placement exists.
    pub fn is_optimal(&self) -> bool {
        match self {
            Verdict::Legal => true,
            Verdict::Mended { lower_bound, cost, .. } => lower_bound >= cost,
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
    /// How many ops the fix inserts.
    pub fn inserted(&self) -> usize {
        let counts = self.functions.iter().map(|it| match it.verdict {
            Verdict::Mended { inserted, .. } => inserted,
            Verdict::Legal | Verdict::Refused(_) => 0,
        });
        counts.sum()
    }

    /// Costs and lower bounds of all mended functions together.
    fn bounds(&self) -> (u64, u64) {
        self.functions.iter().fold((0_u64, 0_u64), |(cost, bound), it| match it.verdict {
            Verdict::Mended { cost: c, lower_bound: b, .. } => {
                (cost.saturating_add(c), bound.saturating_add(b))
            }
            Verdict::Legal | Verdict::Refused(_) => (cost, bound),
        })
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

/// Finds the cheapest places for `reduce_noise` in some functions and writes them as edits. The time limit is for all of them
/// together.
///
/// # Errors
///
/// When the edited text does not stand up to re-analysis: a defect of this crate, and nothing is offered.
pub fn insert_reduces(
    document: &Document,
    functions: &[Op],
    limits: &Limits,
) -> Result<Outcome, FixError> {
    let ir = document.ir();
    let start = Instant::now();
    let broken = broken_functions(document);
    let over = functions_over(document);
    let mut names: Option<FxHashSet<String>> = None;
    let mut edits: Vec<TextEdit> = Vec::new();
    let mut outcome = Outcome { functions: Vec::new(), fix: None };
    for &function in functions {
        let verdict = if let Some(reason) = broken.get(&function) {
            Verdict::Refused(reason.clone())
        } else {
            let mut limits = limits.clone();
            limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
            match mend(document, function, over.contains(&function), &limits) {
                Ok(None) => Verdict::Legal,
                Ok(Some(mended)) => {
                    let names = names.get_or_insert_with(|| layout::value_names(ir));
                    layout::write(document, &mended.values, names, &mut edits);
                    Verdict::Mended {
                        inserted: mended.values.len(),
                        lower_bound: mended.lower_bound,
                        cost: mended.cost,
                    }
                }
                Err(reason) => Verdict::Refused(reason),
            }
        };
        let name = document.function_name(function);
        outcome.functions.push(FunctionOutcome { function, name, verdict });
    }
    if outcome.inserted() > 0 {
        let edits = layout::merge(edits);
        let (cost, bound) = outcome.bounds();
        let n = outcome.inserted();
        let proof = if bound >= cost {
            "optimal".to_owned()
        } else if cost == n as u64 {
            format!("at least {bound} are needed")
        } else {
            format!("cost {cost}, at least {bound} is needed")
        };
        let name = document.model().reset_op.rsplit('.').next().unwrap_or_default();
        let title = format!("Insert {n} {name} ({proof})");
        let fix = Fix { title, applicability: Applicability::Safe, edits };
        verify(document, &outcome, &fix)?;
        outcome.fix = Some(fix);
    }
    Ok(outcome)
}

struct Mended {
    values: Vec<Value>,
    lower_bound: u64,
    cost: u64,
}

fn mend(
    document: &Document,
    function: Op,
    is_over: bool,
    limits: &Limits,
) -> Result<Option<Mended>, String> {
    if document.ir().op(function).regions.is_empty() {
        return Ok(None);
    }
    let extraction = extract(document, function)?;
    if !is_over {
        return Ok(None);
    }
    let placement = place(&extraction.instance, limits)
        .map_err(|it| infeasible(document, &extraction.nodes, it))?;
    let site = |it: &crate::placement::Site| extraction.values[it.0 as usize];
    Ok(Some(Mended {
        values: placement.sites.iter().map(site).collect(),
        lower_bound: placement.lower_bound,
        cost: placement.cost,
    }))
}

fn infeasible(document: &Document, nodes: &[Value], it: Infeasible) -> String {
    let name = nodes
        .get(it.node.0 as usize)
        .map_or_else(|| "a value".to_owned(), |&value| document.ir().value_text(value));
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
    let loops = analysis.growing(ir).into_iter().map(|(op, _)| op);
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
    let n_new = count(&after).saturating_sub(count(document));
    if n_new != outcome.inserted() {
        return unverified(format!("{} ops were promised, {n_new} found", outcome.inserted()));
    }
    // Functions keep their order.
    let (old, new) = (document.ir().functions(), after.ir().functions());
    if old.len() != new.len() {
        return unverified("functions came or went".to_owned());
    }
    let mended: FxHashSet<Op> = outcome
        .functions
        .iter()
        .filter(|it| matches!(it.verdict, Verdict::Mended { .. }))
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
    if n_after >= n_before {
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
