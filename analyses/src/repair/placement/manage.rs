//! Placement of `mgmt.relinearize`, `mgmt.bootstrap` and `mgmt.level_reduce` in HEIR programs, at
//! the least cost.
//!
//! The level of a ciphertext is part of its type after lowering, so the initial and the yielded
//! value of a loop must have the same level. Bootstraps bring a value to that level, or level
//! reductions if more bootstraps would be needed. Level reductions need no optimization: each value
//! at another level needs one op for each level at which it is used.
//!
//! [`noisy_heir::placement_problem`] extracts the placement problem; the optimizer and the edits
//! are those of `reduce_noise`. Functions are solved one by one, callees first: a call preserves
//! the number of polynomials, or returns two polynomials if the callee does, before or after its
//! own placement. Levels are not tracked across calls: passed and returned ciphertexts must have
//! the level of a fresh ciphertext.
//!
//! *Law.* Every returned placement has been verified: the edited text has no new problem, the
//! promised number of additional ops, and needs no further op. A function with errors, or with
//! unknown facts that the problem needs, is not changed.

mod calls;

use std::num::NonZeroU32;
use std::time::Instant;

use noisy_syntax::{Def, Ir, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use self::calls::CalleeEffects;
use super::extract::{Objective, UNIT, Weights};
use super::layout;
use super::verify::{count_ops, reread};
use super::{
    FixedFunction, FunctionGroup, FunctionOutcome, PlacementError, PlacementOptions,
    PlacementOutcome, PlacementVerdict,
};
use crate::checks::heir::operands::insertion::NewOpText;
use crate::program::Program;
use crate::program::fresh_names::FreshNames;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};
use noisy_dataflow::flow;
use noisy_heir::{CallCheck, CiphertextFacts, LevelDrop, PlacedOp, PlacementProblem};
use noisy_placement::{Infeasible, InfeasibleReason, Placement, PlacementLimits, Site};

/// Maximum number of rounds in which loops are pinned to one level and the problem is solved again.
const MAX_PINNINGS: usize = 64;

/// Maximum number of sites for which relinearizations are placed by dynamic programming.
const MAX_DP_SITES: usize = 400;

/// The op that is inserted; for bootstraps and level reductions, with the number of levels between
/// two bootstraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ManagementStage {
    Bootstrap(u32),
    LevelReduce(u32),
    Relinearize,
}

impl ManagementStage {
    fn op(self) -> &'static str {
        match self {
            ManagementStage::LevelReduce(_) => "mgmt.level_reduce",
            _ => self.placed_op().name(),
        }
    }

    /// Returns the placed op of the placement problem.
    fn placed_op(self) -> PlacedOp {
        match self {
            ManagementStage::Bootstrap(budget) | ManagementStage::LevelReduce(budget) => {
                PlacedOp::Bootstrap(budget)
            }
            ManagementStage::Relinearize => PlacedOp::Relinearize,
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
struct ManagedPlacement {
    group: FunctionGroup,
    inserted_ops: Vec<InsertedOp>,
}

/// A function that computes the placement of an op in some functions as edits.
pub type InsertFunction =
    fn(&Program, &[Op], &PlacementOptions) -> Result<PlacementOutcome, PlacementError>;

/// The placements in HEIR programs, in order, with the names of the ops. Relinearizations are last:
/// a bootstrap takes two polynomials, so new bootstraps may need new relinearizations.
pub const MANAGEMENT_STAGES: [(&str, InsertFunction); 3] = [
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
    options: &PlacementOptions,
) -> Result<PlacementOutcome, PlacementError> {
    insert(program, functions, options, ManagementStage::Relinearize)
}

/// Inserts the cheapest bootstraps into HEIR programs if the settings state a level budget.
///
/// # Errors
///
/// Those of [`insert_relinearizations`].
fn insert_bootstraps(
    program: &Program,
    functions: &[Op],
    options: &PlacementOptions,
) -> Result<PlacementOutcome, PlacementError> {
    within_budget(program, functions, options, ManagementStage::Bootstrap)
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
    options: &PlacementOptions,
) -> Result<PlacementOutcome, PlacementError> {
    within_budget(program, functions, options, ManagementStage::LevelReduce)
}

/// Runs a stage that needs a level budget, if the settings state one.
fn within_budget(
    program: &Program,
    functions: &[Op],
    options: &PlacementOptions,
    stage: fn(u32) -> ManagementStage,
) -> Result<PlacementOutcome, PlacementError> {
    match level_limits(program) {
        (0, _) => Ok(PlacementOutcome::default()),
        (budget, waterline) => {
            insert(program, functions, options, stage(budget.saturating_sub(waterline)))
        }
    }
}

/// Returns the level budget, 0 if the settings do not state it, and the waterline: the number of
/// levels that are kept in reserve.
fn level_limits(program: &Program) -> (u32, u32) {
    let wanted = program.model().heir;
    (wanted.level_budget.map_or(0, NonZeroU32::get), wanted.bootstrap_waterline)
}

fn insert(
    program: &Program,
    functions: &[Op],
    options: &PlacementOptions,
    stage: ManagementStage,
) -> Result<PlacementOutcome, PlacementError> {
    let mut outcome = PlacementOutcome::default();
    let Some(heir) = program.heir() else { return Ok(outcome) };
    let start = Instant::now();
    let broken = super::group::broken_functions(program);
    let mut calls = CalleeEffects::of(stage.placed_op());
    let mut found: FxHashMap<Op, Result<Option<ManagedPlacement>, String>> = FxHashMap::default();
    let is_wanted =
        |it: Op| flow::function_body(program.ir(), it).is_some() && has_generic(program, it);
    let wanted: FxHashSet<Op> = functions.iter().copied().filter(|&it| is_wanted(it)).collect();
    for function in calls.callees_first(program, heir, functions) {
        let why = broken.get(&function).cloned();
        if !wanted.contains(&function) {
            calls.record_unchanged(program, heir, function, why);
            continue;
        }
        let mut limits = options.limits.clone();
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let placed = stage.placed_op();
        let crossing = |it: Op| calls.check_crossing(program, heir, it);
        let answer = match why {
            Some(why) => Err(why),
            None => match stage {
                ManagementStage::LevelReduce(_) => {
                    level_drops(program, heir, function, placed, &crossing)
                }
                _ => managed_placement(program, heir, function, placed, options, limits, &crossing),
            },
        };
        let settled = answer.as_ref().map(|_| ()).map_err(|why| format!("is not changed: {why}"));
        calls.record(program, function, settled);
        found.insert(function, answer);
    }
    let mut answers: Vec<ManagedPlacement> = Vec::new();
    for &function in functions {
        let Some(answer) = found.remove(&function) else { continue };
        let name = program.function_name(function);
        let verdict = match answer {
            Ok(None) => PlacementVerdict::Legal,
            Ok(Some(it)) => {
                let FunctionGroup { cost, lower_bound, .. } = it.group;
                let (inserted, group) = (it.inserted_ops.len(), answers.len());
                answers.push(it);
                PlacementVerdict::Fixed(FixedFunction {
                    n_inserted: inserted,
                    n_removed: 0,
                    cost,
                    lower_bound,
                    unit: UNIT,
                    group,
                })
            }
            Err(why) => PlacementVerdict::Refused(why),
        };
        outcome.functions.push(FunctionOutcome { function, name, verdict });
    }
    outcome.groups = answers.iter().map(|it| it.group.clone()).collect();
    if answers.is_empty() {
        return Ok(outcome);
    }
    let edits = insertion_edits(program, heir, &answers, stage);
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
fn placement_question(
    program: &Program,
    heir: &CiphertextFacts,
    function: Op,
    placed: PlacedOp,
    objective: Objective,
    crossing: CallCheck<'_>,
) -> Result<PlacementProblem, String> {
    let ir = program.ir();
    let mut weights = Weights::default();
    if let Some(body) = flow::function_body(ir, function) {
        let is_plain = objective == Objective::Count;
        weights.add(ir, program.integers(), body, UNIT, is_plain);
    }
    let weight = |value: Value| match ir.value(value).def {
        Def::Result(op, _) => weights.of(ir.block_of(op)),
        Def::Argument(block, _) => weights.of(block),
    };
    noisy_heir::placement_problem(
        ir,
        heir,
        function,
        placed,
        program.model().heir,
        &weight,
        crossing,
    )
}

fn managed_placement(
    program: &Program,
    heir: &CiphertextFacts,
    function: Op,
    placed: PlacedOp,
    options: &PlacementOptions,
    limits: PlacementLimits,
    crossing: CallCheck<'_>,
) -> Result<Option<ManagedPlacement>, String> {
    let start = Instant::now();
    let mut question =
        placement_question(program, heir, function, placed, options.objective, crossing)?;
    let nothing = vec![false; question.site_values.len()];
    let is_legal = noisy_placement::evaluate::is_legal(&question.instance, &nothing);
    if is_legal && question.varying_loops(&nothing).is_empty() {
        return Ok(None);
    }
    // The lower bound of the first problem also holds for the stricter later ones. Its placement is
    // legal if level reductions are added.
    let mut least: Option<u64> = None;
    let mut dropping: Option<ManagedPlacement> = None;
    for _ in 0..MAX_PINNINGS {
        let mut limits = limits.clone();
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        // The placement of relinearizations is a minimum cut, so that cuts prove the bound: with
        // many sites, dynamic programming only costs time.
        limits.steps.frontier_dp &=
            placed != PlacedOp::Relinearize || question.site_values.len() <= MAX_DP_SITES;
        let problem = (&question.instance, UNIT);
        let placement = match options.place(program, function, problem, true, &limits) {
            Ok(it) => it,
            Err(_) if dropping.is_some() => break,
            Err(it) => return Err(explain_infeasible(program, &question, placed, it)),
        };
        if dropping.as_ref().is_some_and(|it| placement.cost > it.group.cost) {
            break;
        }
        let mut chosen = nothing.clone();
        for &Site(site) in &placement.sites {
            chosen[site as usize] = true;
        }
        let varying = question.varying_loops(&chosen);
        let is_first = least.is_none();
        let least = *least.get_or_insert(placement.lower_bound);
        let answer = ManagedPlacement::new(program.ir(), function, &question, &placement, least);
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
    dropping.map(ManagedPlacement::non_empty).ok_or_else(|| {
        "no placement was found in which the values carried by its loops keep one level".to_owned()
    })
}

/// Returns the level reductions that the loops of a function need. Returns none for a function that
/// was refused in the stage of bootstraps.
fn level_drops(
    program: &Program,
    heir: &CiphertextFacts,
    function: Op,
    placed: PlacedOp,
    crossing: CallCheck<'_>,
) -> Result<Option<ManagedPlacement>, String> {
    let asked = placement_question(program, heir, function, placed, Objective::Count, crossing);
    let Ok(question) = asked else {
        return Ok(None);
    };
    let nothing = vec![false; question.site_values.len()];
    if !noisy_placement::evaluate::is_legal(&question.instance, &nothing) {
        return Ok(None);
    }
    let mut spots: Vec<InsertedOp> = Vec::new();
    let mut known: FxHashMap<(Value, u32), usize> = FxHashMap::default();
    for LevelDrop { value, n_levels: by, operand: at } in question.level_drops() {
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
    Ok(Some(ManagedPlacement { inserted_ops: spots, group: group_of(function, cost, cost) }))
}

impl ManagedPlacement {
    fn non_empty(self) -> Option<Self> {
        (!self.inserted_ops.is_empty()).then_some(self)
    }

    fn new(
        ir: &Ir,
        function: Op,
        question: &PlacementProblem,
        placement: &Placement,
        lower_bound: u64,
    ) -> Self {
        let spot = |it: &Site| {
            let value = question.site_values[it.0 as usize];
            InsertedOp { value, drops: None, uses: ir.value(value).uses.to_vec() }
        };
        let group = FunctionGroup {
            n_disjoint_cores: placement.certificate.disjoint_cores().len(),
            certified_bound: placement.certificate.bound().min(lower_bound),
            ..group_of(function, placement.cost, lower_bound)
        };
        ManagedPlacement { inserted_ops: placement.sites.iter().map(spot).collect(), group }
    }
}

/// The group of a function with a proven bound.
fn group_of(function: Op, cost: u64, lower_bound: u64) -> FunctionGroup {
    FunctionGroup {
        functions: vec![function],
        cost,
        lower_bound,
        unit: UNIT,
        n_disjoint_cores: 0,
        certified_bound: lower_bound,
        proof: None,
    }
}

fn explain_infeasible(
    program: &Program,
    question: &PlacementProblem,
    placed: PlacedOp,
    it: Infeasible,
) -> String {
    let ir = program.ir();
    let value = question.node_values.get(it.node.0 as usize);
    let name = value.map_or_else(|| "a value".to_owned(), |it| ir.value_text(*it));
    match it.reason {
        InfeasibleReason::NotFound => "no placement was found within the limits".to_owned(),
        InfeasibleReason::Malformed => "internal error: malformed placement problem".to_owned(),
        InfeasibleReason::OverLimit { least, limit } => match placed {
            PlacedOp::Bootstrap(_) => {
                let (budget, waterline) = level_limits(program);
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
            PlacedOp::Relinearize => format!(
                "no placement is possible: {name} has at least {least} polynomials, and at most {limit} are allowed"
            ),
        },
        InfeasibleReason::ResetOverLimit { .. } | InfeasibleReason::Contradiction => {
            format!("no placement is possible because of {name}")
        }
    }
}

/// Returns the edits that insert the ops of some placements. A new op is annotated if its operand
/// is.
fn insertion_edits(
    program: &Program,
    heir: &CiphertextFacts,
    answers: &[ManagedPlacement],
    stage: ManagementStage,
) -> Vec<TextEdit> {
    let ir = program.ir();
    let mut names = FreshNames::of(ir);
    let mut spots: Vec<&InsertedOp> = answers.iter().flat_map(|it| &it.inserted_ops).collect();
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
        let op = NewOpText {
            name: stage.op(),
            properties: drops.map(|it| format!("levelToDrop = {it} : i64")),
            attributes: annotation(program, heir, value, stage, drops),
        };
        let line = op.text(&name, &operand, &ty, layout::is_definition_generic(ir, value));
        edits.push(layout::insert_after_definition(program, value, &line));
        for &(user, index) in uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: name.clone() });
        }
    }
    layout::sort_and_merge(edits)
}

/// Returns the annotation that HEIR would write on an op that is inserted after an annotated value.
/// After all stages these results have two polynomials, so the dimension is omitted.
fn annotation(
    program: &Program,
    heir: &CiphertextFacts,
    value: Value,
    stage: ManagementStage,
    drops: Option<u32>,
) -> Option<String> {
    let ir = program.ir();
    let before = noisy_heir::annotation(ir, value)?;
    // If the level is a target for HEIR, an annotation would declare that it is reached.
    let sites = program.sites().filter(|it| !it.has_goals(ir, heir, value))?;
    let fresh = sites.fresh_levels(ir, heir, value);
    let setting = heir.setting_of(ir.definition_site(value)?);
    let used = match stage {
        ManagementStage::Bootstrap(_) => setting.map_or(0, |it| it.bootstrap_level),
        _ => heir.annotated_level(ir, value)? + drops.unwrap_or(0),
    };
    let default = || setting?.params.as_ref()?.as_ref().ok()?.log_default_scale;
    let scale = before.scale.map(|it| match stage {
        ManagementStage::Bootstrap(_) => default().unwrap_or(it),
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
    if data.is_guessed { said.next().unwrap_or(data.ty) } else { data.ty }
}

/// Analyzes the edited text, checks that it needs no further op, and returns its program.
fn verify(
    program: &Program,
    answers: &[ManagedPlacement],
    edits: &[TextEdit],
    stage: ManagementStage,
) -> Result<Program, PlacementError> {
    let unverified = |how: String| Err(PlacementError::Unverified(how));
    let inserted: usize = answers.iter().map(|it| it.inserted_ops.len()).sum();
    let n_promised = count_ops(program, stage.op()) + inserted;
    let after = reread(program, edits, stage.op(), n_promised)?;
    let (old, new) = (program.ir().functions(), after.ir().functions());
    let Some(heir) = after.heir() else {
        return unverified("the edited text is not a HEIR program".to_owned());
    };
    let fixed: FxHashSet<Op> = answers.iter().flat_map(|it| it.group.functions.clone()).collect();
    let answered = old.iter().zip(&new).filter(|it| fixed.contains(it.0));
    let answered: Vec<Op> = answered.map(|it| *it.1).collect();
    let placed = stage.placed_op();
    let mut calls = CalleeEffects::of(placed);
    for function in calls.callees_first(&after, heir, &answered) {
        calls.record_unchanged(&after, heir, function, None);
    }
    let crossing = |it: Op| calls.check_crossing(&after, heir, it);
    for new in answered {
        let name = after.function_name(new);
        let question =
            match placement_question(&after, heir, new, placed, Objective::Count, &crossing) {
                Ok(question) => question,
                Err(why) => return unverified(format!("@{name}: {why}")),
            };
        let nothing = vec![false; question.site_values.len()];
        let is_legal = noisy_placement::evaluate::is_legal(&question.instance, &nothing);
        let is_left = |it: &noisy_heir::CarriedNodes| {
            !(it.may_drop && matches!(stage, ManagementStage::Bootstrap(_)))
        };
        if !is_legal || question.varying_loops(&nothing).iter().any(is_left) {
            return unverified(format!("@{name} needs more {} than were inserted", stage.op()));
        }
    }
    Ok(after)
}

#[cfg(test)]
mod tests;
