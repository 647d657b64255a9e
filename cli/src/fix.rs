//! Fixing one program: the fixes of its diagnostics, then `reduce_noise` where noise exceeds the budget, and in HEIR's programs
//! bootstraps and relinearizations; then the fixes of what is found after that.
//!
//! *Law.* A function with an error of its own in syntax, names or types is left byte for byte. No round makes more errors than there
//! were; one that would is not taken.

use std::fmt;

use noisy_analyses::{self as analyses, Diagnostic, Document, Options, Severity, Verdict};
use noisy_settings::Settings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;

/// One fix may make room for another; so often at most.
const ROUNDS: usize = 20;

/// What became of a program.
#[derive(Debug)]
pub(crate) struct Fixed {
    /// Function by function, where there is something to say.
    pub notes: Vec<Note>,
    /// What was placed together.
    pub placed: Vec<Placed>,
    /// How many diagnostics were fixed by themselves, without a placement.
    pub n_applied: usize,
    /// How many are allowed by comments that were added.
    pub n_suppressed: usize,
    /// Whether the program is another.
    pub is_changed: bool,
    /// What proves the placements, as JSON, where that was asked for.
    pub certificate: Option<Value>,
}

/// What became of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Its name.
    pub function: String,
    /// The op that was to be inserted, without its dialect.
    pub op: String,
    /// How many ops were inserted; nothing if it was left as it was.
    pub inserted: Option<usize>,
    /// In words.
    pub text: String,
}

/// Functions that were placed together, and what proves that it is cheap. Costs are in units of `1 / unit` of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Placed {
    /// The names of those that are changed.
    pub functions: Vec<String>,
    /// How many ops are inserted.
    pub inserted: usize,
    /// How many ops are removed.
    pub removed: usize,
    /// The cost.
    pub cost: u64,
    /// No placement costs less; 0 if nothing is known.
    pub lower_bound: u64,
    /// What conflict cores prove of the bound, without a solver.
    pub certified: u64,
    /// The parts of an execution that costs count.
    pub unit: u64,
    /// So many sets of places, none of which shares a place with another, must each have an op.
    pub disjoint_cores: usize,
    /// In words.
    #[serde(skip)]
    prices: [String; 3],
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.functions.iter().map(|it| format!("@{it}")).collect();
        let [cost, bound, certified] = &self.prices;
        write!(f, "{}: cost {cost}, proven lower bound {bound}; ", names.join(", "))?;
        write!(f, "conflict cores prove {certified} of it; disjoint cores: {}", self.disjoint_cores)
    }
}

/// What was placed together.
fn placed(outcome: &analyses::Outcome) -> Vec<Placed> {
    let groups = outcome.groups.iter().enumerate();
    let placed = groups.map(|(index, group)| {
        let fixed = outcome.functions.iter().filter_map(|it| match &it.verdict {
            Verdict::Fixed(of) if of.group == index => Some((it.name.clone(), of)),
            _ => None,
        });
        Placed {
            functions: fixed.clone().map(|it| it.0).collect(),
            inserted: fixed.clone().map(|it| it.1.inserted).sum(),
            removed: fixed.map(|it| it.1.removed).sum(),
            cost: group.cost,
            lower_bound: group.lower_bound,
            certified: group.certified,
            unit: group.unit,
            disjoint_cores: group.disjoint_cores,
            prices: [group.price(), group.least_price(), group.certified_price()]
                .map(|it| it.to_string()),
        }
    });
    placed.collect()
}

/// Whether there is anything that fixing would try.
pub(crate) fn is_wanted(document: &Document, settings: &Settings, unsafe_too: bool) -> bool {
    let found = settings.rules.diagnostics(document);
    settings.placement.replace
        || found.iter().any(is_over)
        || !document.fix_all(problems(&found), unsafe_too).0.is_empty()
}

/// Fixes a program, which becomes another.
///
/// # Errors
///
/// When a placement does not stand up to re-analysis: a defect. The program may be another all the same.
pub(crate) fn fix(
    document: &mut Document,
    settings: &Settings,
    unsafe_too: bool,
    options: &Options,
) -> Result<Fixed, Failure> {
    let mut fixed = unchanged();
    let found = settings.rules.found_in_brief(document);
    let found = apply_fixes(&mut fixed, document, settings, unsafe_too, found);
    let mut wants_reduces = settings.placement.replace || n_over(settings, &found) > 0;
    // A certificate tells of one placement.
    let n_rounds = if options.wants_proofs { 1 } else { ROUNDS };
    for _ in 0..n_rounds {
        if !place(&mut fixed, document, options, settings, wants_reduces)? {
            break;
        }
        // A comment may allow nothing any more, and levels and polynomials that are written may have changed.
        let found = settings.rules.found_in_brief(document);
        let n_left = n_over(settings, &found);
        let found = apply_fixes(&mut fixed, document, settings, unsafe_too, found);
        wants_reduces = n_over(settings, &found) > n_left;
        if !wants_reduces {
            break;
        }
        // What was not changed is asked about again.
        fixed.notes.retain(|it| it.inserted.is_some());
    }
    Ok(fixed)
}

/// Applies the fixes of the diagnostics of a program, and places nothing.
pub(crate) fn apply(document: &mut Document, settings: &Settings, unsafe_too: bool) {
    let found = settings.rules.found_in_brief(document);
    apply_fixes(&mut unchanged(), document, settings, unsafe_too, found);
}

/// Applies the fixes of diagnostics to a program of which some are found, in brief, again and again; what is found then.
fn apply_fixes(
    fixed: &mut Fixed,
    document: &mut Document,
    settings: &Settings,
    unsafe_too: bool,
    mut found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    for _ in 0..ROUNDS {
        let mut wanted = found.clone();
        settings.rules.apply(&mut wanted);
        let mut now = Vec::new();
        let mut is_kept = |after: &Document| {
            now = settings.rules.found_in_brief(after);
            n_errors(&now) <= n_errors(&found)
        };
        let Some(n) = document.apply_fixes(problems(&wanted), unsafe_too, &mut is_kept) else {
            break;
        };
        fixed.n_applied += n;
        fixed.is_changed = true;
        found = now;
    }
    found
}

fn unchanged() -> Fixed {
    Fixed {
        notes: Vec::new(),
        placed: Vec::new(),
        n_applied: 0,
        n_suppressed: 0,
        is_changed: false,
        certificate: None,
    }
}

/// Allows the errors and warnings of a program by comments, where that is possible, and takes out the comments that allow nothing.
pub(crate) fn suppress(document: &mut Document, settings: &Settings) -> Fixed {
    let mut fixed = unchanged();
    // What is allowed may let other things be told of.
    for _ in 0..ROUNDS {
        let mut found = settings.rules.diagnostics(document);
        found.retain(|it| it.severity <= Severity::Warning);
        let unused = found.iter().filter(|it| it.code == "unused-suppression");
        let (mut edits, n_removed) = document.fix_all(unused, false);
        let mut n_added = 0;
        if edits.is_empty() {
            found.retain(|it| analyses::checks::can_be_allowed(it.code));
            edits = analyses::checks::allow(document, &found);
            n_added = found.len();
        }
        drop(found);
        if edits.is_empty() {
            break;
        }
        let after = document.after(&edits);
        if after.source().problems().len() > document.source().problems().len() {
            break;
        }
        fixed.n_applied += n_removed;
        fixed.n_suppressed += n_added;
        fixed.is_changed = true;
        *document = after;
    }
    fixed
}

/// Inserts what is needed: `reduce_noise` if that is wanted, and what HEIR's programs need. Whether the program is another one then.
fn place(
    fixed: &mut Fixed,
    document: &mut Document,
    options: &Options,
    settings: &Settings,
    wants_reduces: bool,
) -> Result<bool, Failure> {
    let mut is_changed = false;
    if wants_reduces {
        is_changed = place_reduces(fixed, document, options, settings)?;
    } else if options.wants_proofs {
        fixed.certificate = Some(certificate(document, None, settings));
    }
    if document.is_of_heir() {
        for (op, insert) in analyses::STAGES {
            let functions = document.ir().functions();
            let outcome = insert(document, &functions, options).map_err(unverified)?;
            note_all(fixed, op, &outcome);
            let is_change = outcome.is_change();
            if let Some(after) = outcome.after.filter(|_| is_change) {
                is_changed = true;
                *document = Document::of(after);
            }
        }
    }
    fixed.is_changed |= is_changed;
    Ok(is_changed)
}

/// Inserts `reduce_noise` where it is needed; whether it was anywhere.
fn place_reduces(
    fixed: &mut Fixed,
    document: &mut Document,
    options: &Options,
    settings: &Settings,
) -> Result<bool, Failure> {
    let op = document.model().reset_name().to_owned();
    let functions = document.ir().functions();
    let outcome = if options.wants_proofs {
        // What proves it tells of the program before.
        let mut outcome =
            analyses::insert_reduces(document, &functions, options).map_err(unverified)?;
        fixed.certificate = Some(certificate(document, Some(&outcome), settings));
        if let Some(after) = outcome.after.take().filter(|_| outcome.is_change()) {
            *document = Document::of(after);
        }
        outcome
    } else {
        document.insert_reduces(&functions, options).map_err(unverified)?
    };
    note_all(fixed, &op, &outcome);
    Ok(outcome.is_change())
}

fn unverified(error: analyses::FixError) -> Failure {
    Failure::internal(&error.to_string())
}

/// Takes down what was placed.
fn note_all(fixed: &mut Fixed, op: &str, outcome: &analyses::Outcome) {
    fixed.placed.extend(placed(outcome));
    fixed.notes.extend(outcome.functions.iter().filter_map(|it| note(op, outcome, it)));
}

/// What proves the placements of a program, as `docs/placement.md` describes it.
fn certificate(
    document: &Document,
    outcome: Option<&analyses::Outcome>,
    settings: &Settings,
) -> Value {
    let all = document.ir().functions();
    let function = |op| {
        let index = all.iter().position(|it| *it == op);
        json!({ "index": index, "name": document.function_name(op) })
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
    let functions = outcome.iter().flat_map(|it| &it.functions);
    let left = functions.filter_map(|it| match &it.verdict {
        Verdict::Refused(why) => Some(json!({ "function": function(it.function), "why": why })),
        Verdict::Legal | Verdict::Fixed(_) => None,
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

/// What is mended if it can be. A hint is no problem: nothing is changed for it unless a rule makes it one.
fn problems(found: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> + Clone {
    found.iter().filter(|it| it.severity <= Severity::Warning)
}

fn n_errors(found: &[Diagnostic]) -> usize {
    found.iter().filter(|it| it.severity == Severity::Error).count()
}

/// How many of some diagnostics are reported and call for a placement.
fn n_over(settings: &Settings, found: &[Diagnostic]) -> usize {
    let mut over: Vec<Diagnostic> = found.iter().filter(|it| is_over(it)).cloned().collect();
    settings.rules.apply(&mut over);
    over.len()
}

/// Whether a placement is called for by what is reported, however severe.
fn is_over(it: &Diagnostic) -> bool {
    analyses::checks::is_over_budget(it.code)
}

fn note(op: &str, outcome: &analyses::Outcome, it: &analyses::FunctionOutcome) -> Option<Note> {
    let (inserted, text) = match &it.verdict {
        Verdict::Legal => return None,
        Verdict::Fixed(fixed) => {
            let removed = match fixed.removed {
                0 => String::new(),
                n => format!(", removed {n}"),
            };
            let proof = outcome.proof(fixed);
            let text = format!("inserted {} {op}{removed} ({proof})", fixed.inserted);
            (Some(fixed.inserted), text)
        }
        Verdict::Refused(why) => (None, format!("not changed: {why}")),
    };
    Some(Note { function: it.name.clone(), op: op.to_owned(), inserted, text })
}
