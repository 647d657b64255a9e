//! `--fix` of one program: [`noisy_analyses::repair`] repairs it, and this module reports the
//! result.

use std::fmt;
use std::time::Instant;

use noisy_analyses::repair::{self, PlacedOps, RepairOptions, RepairResult, RepairScope};
use noisy_analyses::{self as analyses, Document, PlacementOptions, PlacementVerdict};
use noisy_certificate::equality::Equality;
use noisy_rewrite::Saving;
use noisy_settings::Settings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::file::equality;
use crate::input::failure::Failure;

/// The repairs of a program, in the form in which they are reported.
#[derive(Debug)]
pub(crate) struct ProgramFix {
    /// One note per function and op that is inserted or missing.
    pub notes: Vec<FunctionNote>,
    pub placed: Vec<PlacedGroup>,
    /// Number of diagnostics that their own edits fixed.
    pub n_applied: usize,
    /// Number of diagnostics that new comments suppress.
    pub n_suppressed: usize,
    pub is_changed: bool,
    /// The proof of the placement of `reduce_noise`, as JSON, if it was requested.
    pub certificate: Option<Value>,
    /// The proof that the program computes the same, if it was rewritten and a proof was requested.
    pub equality: Option<Equality>,
}

/// The ops inserted in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FunctionNote {
    /// The name of the function.
    pub function: String,
    /// The op, without its dialect.
    pub op: String,
    /// Number of inserted ops; `None` if the function was not changed.
    pub inserted: Option<usize>,
    /// The text of the note.
    pub text: String,
}

/// Functions that were placed together, with the proof of their cost. Costs are in units of
/// `1 / unit` of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PlacedGroup {
    /// Names of the functions that are changed.
    pub functions: Vec<String>,
    pub inserted: usize,
    pub removed: usize,
    pub cost: u64,
    /// Lower bound of the cost of any placement; 0 if unknown.
    pub lower_bound: u64,
    /// The part of the bound that conflict cores prove, without a solver.
    pub certified: u64,
    pub unit: u64,
    /// Number of disjoint cores. A core is a set of sites, one of which needs an op.
    pub disjoint_cores: usize,
    /// Cost, bound and certified bound as text.
    #[serde(skip)]
    prices: [String; 3],
}

impl fmt::Display for PlacedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.functions.iter().map(|it| format!("@{it}")).collect();
        let [cost, bound, certified] = &self.prices;
        write!(f, "{}: cost {cost}, proven lower bound {bound}; ", names.join(", "))?;
        write!(f, "conflict cores prove {certified} of it; disjoint cores: {}", self.disjoint_cores)
    }
}

fn placed_groups(outcome: &analyses::PlacementOutcome) -> Vec<PlacedGroup> {
    let groups = outcome.groups.iter().enumerate();
    let placed = groups.map(|(index, group)| {
        let fixed = outcome.functions.iter().filter_map(|it| match &it.verdict {
            PlacementVerdict::Fixed(of) if of.group == index => Some((it.name.clone(), of)),
            _ => None,
        });
        PlacedGroup {
            functions: fixed.clone().map(|it| it.0).collect(),
            inserted: fixed.clone().map(|it| it.1.n_inserted).sum(),
            removed: fixed.map(|it| it.1.n_removed).sum(),
            cost: group.cost,
            lower_bound: group.lower_bound,
            certified: group.certified_bound,
            unit: group.unit,
            disjoint_cores: group.n_disjoint_cores,
            prices: [group.price(), group.least_price(), group.certified_price()]
                .map(|it| it.to_string()),
        }
    });
    placed.collect()
}

/// True if `--fix` would try to change the program.
pub(crate) fn would_fix(
    document: &Document,
    settings: &Settings,
    unsafe_fixes: bool,
    options: &PlacementOptions,
) -> bool {
    let wanted = RepairOptions { rules: &settings.rules, unsafe_fixes, placement: Some(options) };
    repair::has_repairs(document, RepairScope::File, &wanted)
}

/// Fixes a program in place.
///
/// # Errors
///
/// If the result of a placement fails its re-analysis, which is a defect. The program may be
/// changed nevertheless.
pub(crate) fn fix(
    document: &mut Document,
    settings: &Settings,
    unsafe_fixes: bool,
    options: &PlacementOptions,
) -> Result<ProgramFix, Failure> {
    let start = Instant::now();
    let rewriting = rewrite(document, settings, options);
    let mut options = options.clone();
    options.limits.time = options.limits.time.map(|it| noisy_rewrite::time_left(it, start));
    let options = &options;
    let wanted = RepairOptions { rules: &settings.rules, unsafe_fixes, placement: Some(options) };
    let repaired = repair::repair(document, RepairScope::File, &wanted);
    let repaired = repaired.map_err(|error| Failure::internal(&error.to_string()))?;
    let mut fixed = ProgramFix::of(&repaired);
    fixed.is_changed |= rewriting.is_changed;
    fixed.notes.splice(0..0, rewriting.notes);
    if options.wants_proofs {
        let outcome = repaired.placed.iter().find(|it| it.resets_noise).map(|it| &it.outcome);
        let mut certificate = certificate(outcome, settings);
        if let Some(equality) = &rewriting.equality {
            certificate["rewritten"] = json!(equality.after);
        }
        fixed.certificate = Some(certificate);
        fixed.equality = rewriting.equality;
    }
    Ok(fixed)
}

/// The result of rewriting.
#[derive(Debug, Default)]
struct Rewriting {
    is_changed: bool,
    notes: Vec<FunctionNote>,
    equality: Option<Equality>,
}

/// Rewrites a program so that it needs fewer `reduce_noise`, if the settings enable this. If proofs
/// are wanted, a program is rewritten only if the verifier accepts the proof of equality.
fn rewrite(document: &mut Document, settings: &Settings, options: &PlacementOptions) -> Rewriting {
    let mut out = Rewriting::default();
    if !settings.rewrite.enabled {
        return out;
    }
    let (time, growth) = (settings.rewrite.time_limit.duration(), settings.rewrite.growth.factor());
    let placing = options.clone();
    let wanted = noisy_rewrite::RewriteOptions {
        placement: placing,
        search_time: time,
        max_growth: growth,
        keeps_structure: false,
    };
    let functions = document.ir().functions();
    let Some(rewritten) = noisy_rewrite::rewrite(document, &functions, &wanted) else {
        return out;
    };
    if options.wants_proofs {
        match equality::verified_certificate(&document.source().text().to_string(), &rewritten) {
            Ok(it) => out.equality = Some(it),
            Err(why) => {
                let text = format!("not rewritten: the proof of equality is not verified: {why}");
                let note = |it: &Saving| FunctionNote::of_rewriting(it, text.clone());
                out.notes = rewritten.savings.iter().map(note).collect();
                return out;
            }
        }
    }
    out.is_changed = true;
    out.notes = rewritten.savings.iter().map(rewriting_note).collect();
    *document = rewritten.document;
    out
}

fn rewriting_note(saving: &Saving) -> FunctionNote {
    let Saving {
        before,
        lower_bound_before: least_before,
        after,
        lower_bound_after: least_after,
        lower_bound: least,
        equality,
        ..
    } = saving;
    let proven = |cost: &f64, bound: &f64| {
        if bound < cost {
            format!("proven lower bound {bound}")
        } else {
            "proven optimal".to_owned()
        }
    };
    let bound = if saving.is_optimal() {
        "no rewriting by these laws needs fewer".to_owned()
    } else {
        let this = format!("{} for this rewriting only", proven(after, least_after));
        if *least > 0.0 { format!("{this}, any needs at least {least}") } else { this }
    };
    let text = format!(
        "rewritten: cost {before} ({}) to {after} ({bound}); shown equal: {} steps, {} uses",
        proven(before, least_before),
        equality.steps.len(),
        equality.n_compared_operands
    );
    FunctionNote::of_rewriting(saving, text)
}

impl FunctionNote {
    fn of_rewriting(saving: &Saving, text: String) -> Self {
        Self { function: saving.function.clone(), op: "rewrite".to_owned(), inserted: None, text }
    }
}

/// Suppresses the errors and warnings of a program by comments.
pub(crate) fn suppress(document: &mut Document, settings: &Settings) -> ProgramFix {
    ProgramFix::of(&repair::suppress(document, &settings.rules))
}

/// Applies the fixes of the diagnostics of a program, and places nothing.
///
/// # Errors
///
/// Never, because nothing is placed.
pub(crate) fn apply_fixes(
    document: &mut Document,
    settings: &Settings,
    unsafe_fixes: bool,
) -> Result<(), String> {
    let wanted = RepairOptions { rules: &settings.rules, unsafe_fixes, placement: None };
    repair::repair(document, RepairScope::File, &wanted).map(|_| ()).map_err(|it| it.to_string())
}

impl ProgramFix {
    fn of(repaired: &RepairResult) -> Self {
        let notes = |PlacedOps { op, outcome, .. }: &PlacedOps| -> Vec<FunctionNote> {
            outcome.functions.iter().filter_map(|it| function_note(op, outcome, it)).collect()
        };
        Self {
            notes: repaired.placed.iter().flat_map(notes).collect(),
            placed: repaired.placed.iter().flat_map(|it| placed_groups(&it.outcome)).collect(),
            n_applied: repaired.n_fixed,
            n_suppressed: repaired.n_suppressed,
            is_changed: repaired.is_changed(),
            certificate: None,
            equality: None,
        }
    }
}

/// Returns the proof of a placement in all functions of a program, in the format of
/// `docs/placement-reference.md`. `None` means that the program needs no placement.
fn certificate(outcome: Option<&analyses::PlacementOutcome>, settings: &Settings) -> Value {
    let all = outcome.map(|it| &it.functions[..]).unwrap_or_default();
    let function = |op| {
        let index = all.iter().position(|it| it.function == op);
        json!({ "index": index, "name": index.map_or("", |it| &all[it].name) })
    };
    let groups = outcome.iter().flat_map(|it| &it.groups);
    let systems = groups.filter_map(|group| {
        let proof = group.proof.as_ref()?;
        Some(json!({
            "functions": group.functions.iter().map(|&it| function(it)).collect::<Vec<_>>(),
            "unit": group.unit,
            "instance": proof.instance,
            "chosen": proof.sites,
            "cost": group.cost,
            "bound": group.lower_bound,
            "parts": proof.certificate.parts,
        }))
    });
    let left = all.iter().filter_map(|it| match &it.verdict {
        PlacementVerdict::Refused(why) => {
            Some(json!({ "function": function(it.function), "why": why }))
        }
        PlacementVerdict::Legal | PlacementVerdict::Fixed(_) => None,
    });
    json!({
        "format": noisy_certificate::FORMAT,
        "version": noisy_certificate::VERSION,
        "objective": settings.placement.objective,
        "replace": settings.placement.replace,
        "systems": systems.collect::<Vec<_>>(),
        "left": left.collect::<Vec<_>>(),
    })
}

fn function_note(
    op: &str,
    outcome: &analyses::PlacementOutcome,
    it: &analyses::FunctionOutcome,
) -> Option<FunctionNote> {
    let (inserted, text) = match &it.verdict {
        PlacementVerdict::Legal => return None,
        PlacementVerdict::Fixed(fixed) => {
            let removed = match fixed.n_removed {
                0 => String::new(),
                n => format!(", removed {n}"),
            };
            let proof = outcome.proof(fixed);
            let text = format!("inserted {} {op}{removed} ({proof})", fixed.n_inserted);
            (Some(fixed.n_inserted), text)
        }
        PlacementVerdict::Refused(why) => (None, format!("not changed: {why}")),
    };
    Some(FunctionNote { function: it.name.clone(), op: op.to_owned(), inserted, text })
}
