//! Placement of `mgmt.relinearize`, `mgmt.bootstrap` and `mgmt.level_reduce` in HEIR programs, at
//! the least cost.
//!
//! The level of a ciphertext is part of its type after lowering, so the initial and the yielded
//! value of a loop must have the same level. Bootstraps bring a value to that level, or level
//! reductions if more bootstraps would be needed. Level reductions need no optimization: each value
//! at another level needs one op for each level at which it is used.
//!
//! [`noisy_heir::question`] extracts the placement problem; the optimizer and the edits are those
//! of `reduce_noise`. Functions are solved one by one, callees first: a call preserves the number
//! of polynomials, or returns two polynomials if the callee does, before or after its own
//! placement. Levels are not tracked across calls: passed and returned ciphertexts must have the
//! level of a fresh ciphertext.
//!
//! *Law.* Every returned placement has been verified: the edited text has no new problem, the
//! promised number of additional ops, and needs no further op. A function with errors, or with
//! unknown facts that the problem needs, is not changed.

mod calls;

use std::num::NonZeroU32;
use std::time::Instant;

use noisy_syntax::{Def, Ir, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use self::calls::Calls;
use super::extract::{Objective, UNIT, Weights};
use super::layout;
use super::verify::{count_ops, reread};
use super::{FixError, Fixed, FunctionGroup, FunctionOutcome, Options, Outcome, Verdict};
use crate::checks::heir::operands::insertion::NewOp;
use crate::program::Program;
use crate::program::fresh_names::FreshNames;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};
use noisy_dataflow::flow;
use noisy_heir::{Crossing, Drop, Heir, Placed, Question};
use noisy_placement::{Infeasible, Limits, Placement, Site, Why};

/// Maximum number of rounds in which loops are pinned to one level and the problem is solved again.
const MOST_PINNINGS: usize = 64;

/// Maximum number of sites for which relinearizations are placed by dynamic programming.
const SWEPT: usize = 400;

/// The op that is inserted; for bootstraps and level reductions, with the number of levels between
/// two bootstraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Bootstrap(u32),
    LevelReduce(u32),
    Relinearize,
}

impl Stage {
    fn op(self) -> &'static str {
        match self {
            Stage::LevelReduce(_) => "mgmt.level_reduce",
            _ => self.asked().op(),
        }
    }

    /// Returns the placed op of the placement problem.
    fn asked(self) -> Placed {
        match self {
            Stage::Bootstrap(budget) | Stage::LevelReduce(budget) => Placed::Bootstrap(budget),
            Stage::Relinearize => Placed::Relinearize,
        }
    }
}

/// An op that is inserted after the definition of a value.
struct InsertedOp {
    value: Value,
    /// The number of levels that a level reduction drops.
    drops: Option<u32>,
    /// The uses of the value that the result of the op replaces.
    uses: Vec<(Op, u32)>,
}

/// The placement in a function.
struct Answer {
    group: FunctionGroup,
    spots: Vec<InsertedOp>,
}

/// A function that computes the placement of an op in some functions as edits.
pub type Insert = fn(&Program, &[Op], &Options) -> Result<Outcome, FixError>;

/// The placements in HEIR programs, in order, with the names of the ops. Relinearizations are last:
/// a bootstrap takes two polynomials, so new bootstraps may need new relinearizations.
pub const STAGES: [(&str, Insert); 3] = [
    ("bootstrap", insert_bootstraps),
    ("level_reduce", insert_level_reduces),
    ("relinearize", insert_relinearizations),
];

/// Inserts the cheapest relinearizations into HEIR programs.
///
/// # Errors
///
/// The edited text does not pass re-analysis, which is a defect of this crate.
fn insert_relinearizations(
    program: &Program,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    insert(program, functions, options, Stage::Relinearize)
}

/// Inserts the cheapest bootstraps into HEIR programs if the settings state a level budget.
///
/// # Errors
///
/// Those of [`insert_relinearizations`].
fn insert_bootstraps(
    program: &Program,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    within_budget(program, functions, options, Stage::Bootstrap)
}

/// Inserts level reductions for initial and yielded values of loops that are not at the level of
/// the iteration argument, if the settings state a level budget.
///
/// # Errors
///
/// Those of [`insert_relinearizations`].
fn insert_level_reduces(
    program: &Program,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    within_budget(program, functions, options, Stage::LevelReduce)
}

/// Runs a stage that needs a level budget, if the settings state one.
fn within_budget(
    program: &Program,
    functions: &[Op],
    options: &Options,
    stage: fn(u32) -> Stage,
) -> Result<Outcome, FixError> {
    match levels(program) {
        (0, _) => Ok(Outcome::default()),
        (budget, waterline) => {
            insert(program, functions, options, stage(budget.saturating_sub(waterline)))
        }
    }
}

/// Returns the level budget, 0 if the settings do not state it, and the waterline: the number of
/// levels that are kept in reserve.
fn levels(program: &Program) -> (u32, u32) {
    let wanted = program.model().heir;
    (wanted.level_budget.map_or(0, NonZeroU32::get), wanted.bootstrap_waterline)
}

fn insert(
    program: &Program,
    functions: &[Op],
    options: &Options,
    stage: Stage,
) -> Result<Outcome, FixError> {
    let mut outcome = Outcome::default();
    let Some(heir) = program.heir() else { return Ok(outcome) };
    let start = Instant::now();
    let broken = super::group::broken_functions(program);
    let mut calls = Calls::of(stage.asked());
    let mut found: FxHashMap<Op, Result<Option<Answer>, String>> = FxHashMap::default();
    let is_wanted = |it: Op| flow::body(program.ir(), it).is_some() && has_generic(program, it);
    let wanted: FxHashSet<Op> = functions.iter().copied().filter(|&it| is_wanted(it)).collect();
    for function in calls.called_first(program, heir, functions) {
        let why = broken.get(&function).cloned();
        if !wanted.contains(&function) {
            calls.note_as_it_stands(program, heir, function, why);
            continue;
        }
        let mut limits = options.limits.clone();
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let placed = stage.asked();
        let crossing = |it: Op| calls.crossing(program, heir, it);
        let answer = match why {
            Some(why) => Err(why),
            None => match stage {
                Stage::LevelReduce(_) => drops(program, heir, function, placed, &crossing),
                _ => answer(program, heir, function, placed, options, limits, &crossing),
            },
        };
        let settled = answer.as_ref().map(|_| ()).map_err(|why| format!("is not changed: {why}"));
        calls.note(program, function, settled);
        found.insert(function, answer);
    }
    let mut answers: Vec<Answer> = Vec::new();
    for &function in functions {
        let Some(answer) = found.remove(&function) else { continue };
        let name = program.function_name(function);
        let verdict = match answer {
            Ok(None) => Verdict::Legal,
            Ok(Some(it)) => {
                let FunctionGroup { cost, lower_bound, .. } = it.group;
                let (inserted, group) = (it.spots.len(), answers.len());
                answers.push(it);
                Verdict::Fixed(Fixed { inserted, removed: 0, cost, lower_bound, unit: UNIT, group })
            }
            Err(why) => Verdict::Refused(why),
        };
        outcome.functions.push(FunctionOutcome { function, name, verdict });
    }
    outcome.groups = answers.iter().map(|it| it.group.clone()).collect();
    if answers.is_empty() {
        return Ok(outcome);
    }
    let edits = write(program, heir, &answers, stage);
    outcome.after = Some(verify(program, &answers, &edits, stage)?);
    let name = stage.op().rsplit('.').next().unwrap_or_default();
    let title = outcome.title(name);
    outcome.fix = Some(Fix { title, applicability: Applicability::Safe, edits });
    Ok(outcome)
}

fn has_generic(program: &Program, function: Op) -> bool {
    let ir = program.ir();
    let mut found = false;
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut |op| found |= ir.is_secret_generic(op));
    }
    found
}

/// Returns the placement problem of a function.
fn asked(
    program: &Program,
    heir: &Heir,
    function: Op,
    placed: Placed,
    objective: Objective,
    crossing: Crossing<'_>,
) -> Result<Question, String> {
    let ir = program.ir();
    let mut weights = Weights::default();
    if let Some(body) = flow::body(ir, function) {
        let is_plain = objective == Objective::Count;
        weights.add(ir, program.integers(), body, UNIT, is_plain);
    }
    let weight = |value: Value| match ir.value(value).def {
        Def::Result(op, _) => weights.of(ir.block_of(op)),
        Def::Argument(block, _) => weights.of(block),
    };
    noisy_heir::question(ir, heir, function, placed, program.model().heir, &weight, crossing)
}

fn answer(
    program: &Program,
    heir: &Heir,
    function: Op,
    placed: Placed,
    options: &Options,
    limits: Limits,
    crossing: Crossing<'_>,
) -> Result<Option<Answer>, String> {
    let start = Instant::now();
    let mut question = asked(program, heir, function, placed, options.objective, crossing)?;
    let nothing = vec![false; question.spots.len()];
    let is_legal = noisy_placement::evaluate::legal(&question.instance, &nothing);
    if is_legal && question.varying(&nothing).is_empty() {
        return Ok(None);
    }
    // The lower bound of the first problem also holds for the stricter later ones. Its placement is
    // legal if level reductions are added.
    let mut least: Option<u64> = None;
    let mut dropping: Option<Answer> = None;
    for _ in 0..MOST_PINNINGS {
        let mut limits = limits.clone();
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        // The placement of relinearizations is a minimum cut, so that cuts prove the bound: with
        // many sites, dynamic programming only costs time.
        limits.steps.frontier_dp &= placed != Placed::Relinearize || question.spots.len() <= SWEPT;
        let problem = (&question.instance, UNIT);
        let placement = match options.place(program, function, problem, true, &limits) {
            Ok(it) => it,
            Err(_) if dropping.is_some() => break,
            Err(it) => return Err(infeasible(program, &question, placed, it)),
        };
        if dropping.as_ref().is_some_and(|it| placement.cost > it.group.cost) {
            break;
        }
        let mut chosen = nothing.clone();
        for &Site(site) in &placement.sites {
            chosen[site as usize] = true;
        }
        let varying = question.varying(&chosen);
        let is_first = least.is_none();
        let least = *least.get_or_insert(placement.lower_bound);
        let answer = Answer::new(program.ir(), function, &question, &placement, least);
        if varying.is_empty() {
            return Ok(answer.non_empty());
        }
        if is_first && varying.iter().all(|it| it.may_drop) {
            dropping = Some(answer);
        }
        for it in varying {
            question.pin(it);
        }
    }
    dropping.map(Answer::non_empty).ok_or_else(|| {
        "no placement was found in which the values carried by its loops keep one level".to_owned()
    })
}

/// Returns the level reductions that the loops of a function need. Returns none for a function that
/// was refused in the stage of bootstraps.
fn drops(
    program: &Program,
    heir: &Heir,
    function: Op,
    placed: Placed,
    crossing: Crossing<'_>,
) -> Result<Option<Answer>, String> {
    let asked = asked(program, heir, function, placed, Objective::Count, crossing);
    let Ok(question) = asked else {
        return Ok(None);
    };
    let nothing = vec![false; question.spots.len()];
    if !noisy_placement::evaluate::legal(&question.instance, &nothing) {
        return Ok(None);
    }
    let mut spots: Vec<InsertedOp> = Vec::new();
    let mut known: FxHashMap<(Value, u32), usize> = FxHashMap::default();
    for Drop { value, by, at } in question.drops() {
        let spot = *known.entry((value, by)).or_insert(spots.len());
        if spot == spots.len() {
            spots.push(InsertedOp { value, drops: Some(by), uses: Vec::new() });
        }
        spots[spot].uses.push(at);
    }
    if spots.is_empty() {
        return Ok(None);
    }
    let cost = UNIT * spots.len() as u64;
    Ok(Some(Answer { spots, group: group_of(function, cost, cost) }))
}

impl Answer {
    fn non_empty(self) -> Option<Self> {
        (!self.spots.is_empty()).then_some(self)
    }

    fn new(
        ir: &Ir,
        function: Op,
        question: &Question,
        placement: &Placement,
        lower_bound: u64,
    ) -> Self {
        let spot = |it: &Site| {
            let value = question.spots[it.0 as usize];
            InsertedOp { value, drops: None, uses: ir.value(value).uses.to_vec() }
        };
        let group = FunctionGroup {
            disjoint_cores: placement.certificate.disjoint().len(),
            certified: placement.certificate.bound().min(lower_bound),
            ..group_of(function, placement.cost, lower_bound)
        };
        Answer { spots: placement.sites.iter().map(spot).collect(), group }
    }
}

/// The group of a function with a proven bound.
fn group_of(function: Op, cost: u64, lower_bound: u64) -> FunctionGroup {
    FunctionGroup {
        functions: vec![function],
        cost,
        lower_bound,
        unit: UNIT,
        disjoint_cores: 0,
        certified: lower_bound,
        proof: None,
    }
}

fn infeasible(program: &Program, question: &Question, placed: Placed, it: Infeasible) -> String {
    let ir = program.ir();
    let value = question.nodes.get(it.node.0 as usize);
    let name = value.map_or_else(|| "a value".to_owned(), |it| ir.value_text(*it));
    match it.why {
        Why::NotFound => "no placement was found within the limits".to_owned(),
        Why::Malformed => "internal error: malformed placement problem".to_owned(),
        Why::Over { least, limit } => match placed {
            Placed::Bootstrap(_) => {
                let (budget, waterline) = levels(program);
                let kept = match waterline {
                    _ if waterline >= budget => {
                        return format!(
                            "no placement is possible: `heir.bootstrap-waterline` keeps {waterline} of the {budget} levels of `heir.level-budget`, so no level is left for products; set a waterline below the budget"
                        );
                    }
                    0 => String::new(),
                    _ => format!(
                        "; `heir.bootstrap-waterline` keeps {waterline} of the {budget} of `heir.level-budget`"
                    ),
                };
                format!(
                    "no placement is possible: {name} uses at least {least} levels, and at most {limit} are available{kept}"
                )
            }
            Placed::Relinearize => format!(
                "no placement is possible: {name} has at least {least} polynomials, and at most {limit} are allowed"
            ),
        },
        Why::Reset { .. } | Why::Contradiction => {
            format!("no placement is possible because of {name}")
        }
    }
}

/// Returns the edits that insert the ops of some placements. A new op is annotated if its operand
/// is.
fn write(program: &Program, heir: &Heir, answers: &[Answer], stage: Stage) -> Vec<TextEdit> {
    let ir = program.ir();
    let mut names = FreshNames::of(ir);
    let mut spots: Vec<&InsertedOp> = answers.iter().flat_map(|it| &it.spots).collect();
    // Several ops at one position are in the order of the definitions of their operands.
    spots.sort_by_cached_key(|it| {
        let at = ir
            .definition_site(it.value)
            .map_or(0, |op| ir.absolute(op, ir.value(it.value).span).start);
        (at, ir.value(it.value).number, it.drops)
    });
    let mut edits = Vec::new();
    for &InsertedOp { value, drops, ref uses } in spots {
        let name = format!("%{}", layout::fresh_name(ir, value, &mut names));
        let (operand, ty) = (ir.value_text(value), ir.interner.type_text(type_of(ir, value)));
        let op = NewOp {
            name: stage.op(),
            properties: drops.map(|it| format!("levelToDrop = {it} : i64")),
            attributes: annotation(program, heir, value, stage, drops),
        };
        let line = op.text(&name, &operand, &ty, layout::definition_is_generic(ir, value));
        edits.push(layout::insertion(program, value, &line));
        for &(user, index) in uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: name.clone() });
        }
    }
    layout::merge(edits)
}

/// Returns the annotation that HEIR would write on an op that is inserted after an annotated value.
/// After all stages these results have two polynomials, so the dimension is omitted.
fn annotation(
    program: &Program,
    heir: &Heir,
    value: Value,
    stage: Stage,
    drops: Option<u32>,
) -> Option<String> {
    let ir = program.ir();
    let before = noisy_heir::annotation(ir, value)?;
    // If the level is a target for HEIR, an annotation would declare that it is reached.
    let sites = program.sites().filter(|it| !it.is_goal(ir, heir, value))?;
    let fresh = sites.fresh_levels(ir, heir, value);
    let setting = heir.setting_of(ir.definition_site(value)?);
    let used = match stage {
        Stage::Bootstrap(_) => setting.map_or(0, |it| it.bootstrap_level),
        _ => heir.written(ir, value)? + drops.unwrap_or(0),
    };
    let default = || setting?.params.as_ref()?.as_ref().ok()?.log_default_scale;
    let scale = before.scale.map(|it| match stage {
        Stage::Bootstrap(_) => default().unwrap_or(it),
        _ => it,
    });
    Some(noisy_heir::Annotation { level: fresh.saturating_sub(used), scale }.to_string())
}

/// Returns the type of a value. The type of a result of an unknown op is a guess, so the types in
/// its uses take precedence.
fn type_of(ir: &Ir, value: Value) -> Type {
    let data = ir.value(value);
    let said = data.uses.iter().map(|it| ir.op(it.0).operands[it.1 as usize].ty);
    let mut said = said.filter(|&it| it != Type::UNKNOWN);
    if data.guessed { said.next().unwrap_or(data.ty) } else { data.ty }
}

/// Analyzes the edited text, checks that it needs no further op, and returns its program.
fn verify(
    program: &Program,
    answers: &[Answer],
    edits: &[TextEdit],
    stage: Stage,
) -> Result<Program, FixError> {
    let unverified = |how: String| Err(FixError::Unverified(how));
    let inserted: usize = answers.iter().map(|it| it.spots.len()).sum();
    let n_promised = count_ops(program, stage.op()) + inserted;
    let after = reread(program, edits, stage.op(), n_promised)?;
    let (old, new) = (program.ir().functions(), after.ir().functions());
    let Some(heir) = after.heir() else {
        return unverified("the edited text is not a HEIR program".to_owned());
    };
    let fixed: FxHashSet<Op> = answers.iter().flat_map(|it| it.group.functions.clone()).collect();
    let answered = old.iter().zip(&new).filter(|it| fixed.contains(it.0));
    let answered: Vec<Op> = answered.map(|it| *it.1).collect();
    let placed = stage.asked();
    let mut calls = Calls::of(placed);
    for function in calls.called_first(&after, heir, &answered) {
        calls.note_as_it_stands(&after, heir, function, None);
    }
    let crossing = |it: Op| calls.crossing(&after, heir, it);
    for new in answered {
        let name = after.function_name(new);
        let question = match asked(&after, heir, new, placed, Objective::Count, &crossing) {
            Ok(question) => question,
            Err(why) => return unverified(format!("@{name}: {why}")),
        };
        let nothing = vec![false; question.spots.len()];
        let is_legal = noisy_placement::evaluate::legal(&question.instance, &nothing);
        let is_left =
            |it: &noisy_heir::Round| !(it.may_drop && matches!(stage, Stage::Bootstrap(_)));
        if !is_legal || question.varying(&nothing).iter().any(is_left) {
            return unverified(format!("@{name} needs more {} than were inserted", stage.op()));
        }
    }
    Ok(after)
}

#[cfg(test)]
mod tests;
