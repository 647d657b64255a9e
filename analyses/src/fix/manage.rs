//! Inserting `mgmt.relinearize` and `mgmt.bootstrap` into HEIR's programs, at the least cost.
//!
//! The question is HEIR's ([`crate::heir::question`]), the optimizer that of `reduce_noise`, and so is the writing. Functions are
//! placed one by one: no ciphertext crosses a call at another level than that of a fresh one.
//!
//! *Law.* What is offered was read and asked about again: the edited text has no other problem than before, as many ops more as were
//! promised, and needs no further one. A function with any error of its own, or of which too little is known, is left byte for byte as
//! it is.

use std::time::Instant;

use noisy_syntax::{Def, Ir, Op, Type, Value};
use rustc_hash::FxHashSet;

use super::extract::{Objective, UNIT, Weights};
use super::layout::{self, value_names};
use super::verify::{count_ops, reread};
use super::{
    FixError, Fixed, FunctionGroup, FunctionOutcome, Options, Outcome, Price, Standing, Verdict,
    Watch,
};
use crate::diagnostic::{Applicability, Fix, TextEdit};
use crate::flow;
use crate::heir::{self, Heir, Placed, Question};
use crate::placement::{Infeasible, Limits, Placement, Progress, Site, Why, place_with};
use crate::program::Program;

/// The most times that loops are pinned, and the question is asked again.
const MOST_PINNINGS: usize = 64;

/// What is placed in a function.
struct Answer {
    function: Op,
    spots: Vec<Value>,
    cost: u64,
    lower_bound: u64,
    disjoint_cores: usize,
    certified: u64,
}

/// What finds places for an op in some functions, and writes them as edits.
pub type Insert = fn(&Program, &[Op], &Options) -> Result<Outcome, FixError>;

/// What HEIR's programs are given, in this order, each with the name of its op: a bootstrap takes two polynomials, so relinearizations
/// come after.
pub const STAGES: [(&str, Insert); 2] =
    [("bootstrap", insert_bootstraps), ("relinearize", insert_relinearizations)];

/// Inserts the fewest relinearizations into HEIR's programs, or the cheapest.
///
/// # Errors
/// When the edited text does not stand up to being read again: a defect of this crate, and nothing is offered.
fn insert_relinearizations(
    program: &Program,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    insert(program, functions, options, Placed::Relinearize)
}

/// Inserts the cheapest bootstraps into HEIR's programs, if the model says how many levels there are between two of them; else none.
///
/// # Errors
/// As [`insert_relinearizations`].
fn insert_bootstraps(
    program: &Program,
    functions: &[Op],
    options: &Options,
) -> Result<Outcome, FixError> {
    match program.model().heir.level_budget {
        Some(budget) => insert(program, functions, options, Placed::Bootstrap(budget.get())),
        None => Ok(Outcome::default()),
    }
}

fn insert(
    program: &Program,
    functions: &[Op],
    options: &Options,
    placed: Placed,
) -> Result<Outcome, FixError> {
    let mut outcome = Outcome::default();
    let Some(heir) = program.heir() else { return Ok(outcome) };
    let start = Instant::now();
    let broken = super::group::broken_functions(program);
    let mut answers: Vec<Answer> = Vec::new();
    for &function in functions {
        let name = program.function_name(function);
        if flow::body(program.ir(), function).is_none() || !has_generic(program, function) {
            continue;
        }
        let mut limits = options.limits.clone();
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let answer = match broken.get(&function) {
            Some(why) => Err(why.clone()),
            None => answer(program, heir, function, placed, options, limits),
        };
        let verdict = match answer {
            Ok(None) => Verdict::Legal,
            Ok(Some(it)) => {
                let (inserted, cost, lower_bound) = (it.spots.len(), it.cost, it.lower_bound);
                let group = answers.len();
                answers.push(it);
                Verdict::Fixed(Fixed { inserted, removed: 0, cost, lower_bound, unit: UNIT, group })
            }
            Err(why) => Verdict::Refused(why),
        };
        outcome.functions.push(FunctionOutcome { function, name, verdict });
    }
    outcome.groups = answers
        .iter()
        .map(|it| FunctionGroup {
            functions: vec![it.function],
            cost: it.cost,
            lower_bound: it.lower_bound,
            unit: UNIT,
            disjoint_cores: it.disjoint_cores,
            certified: it.certified,
            proof: None,
        })
        .collect();
    if answers.is_empty() {
        return Ok(outcome);
    }
    let edits = write(program, &answers, placed);
    outcome.after = Some(verify(program, &answers, &edits, placed)?);
    let name = placed.op().rsplit('.').next().unwrap_or_default();
    let title = outcome.title(name);
    outcome.fix = Some(Fix { title, applicability: Applicability::Safe, edits });
    Ok(outcome)
}

fn has_generic(program: &Program, function: Op) -> bool {
    let ir = program.ir();
    let mut found = false;
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut |op| found |= ir.op_name(op) == "secret.generic");
    }
    found
}

/// The question of a function.
fn asked(
    program: &Program,
    heir: &Heir,
    function: Op,
    placed: Placed,
    objective: Objective,
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
    heir::question(ir, heir, function, placed, &weight)
}

fn answer(
    program: &Program,
    heir: &Heir,
    function: Op,
    placed: Placed,
    options: &Options,
    limits: Limits,
) -> Result<Option<Answer>, String> {
    let start = Instant::now();
    let mut question = asked(program, heir, function, placed, options.objective)?;
    let nothing = vec![false; question.spots.len()];
    let is_legal = crate::placement::evaluate::legal(&question.instance, &nothing);
    if is_legal && question.varying(&nothing).is_empty() {
        return Ok(None);
    }
    let mut tell = |it: &Progress| {
        if let Some(Watch(tell)) = &options.watch {
            tell(Standing {
                function: program.function_name(function),
                phase: it.phase,
                price: Price { units: it.cost, unit: UNIT },
                least_price: Price { units: it.lower_bound, unit: UNIT },
            });
        }
    };
    // The bound of the first question holds for all that demand more.
    let mut least: Option<u64> = None;
    for _ in 0..MOST_PINNINGS {
        let mut limits = limits.clone();
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let placement = match &options.cache {
            Some(cache) => cache.place_with(&question.instance, &limits, &mut tell),
            None => place_with(&question.instance, &limits, &mut tell),
        };
        let placement = placement.map_err(|it| infeasible(program, &question, placed, it))?;
        let mut chosen = nothing.clone();
        for &Site(site) in &placement.sites {
            chosen[site as usize] = true;
        }
        let varying = question.varying(&chosen);
        let least = *least.get_or_insert(placement.lower_bound);
        if varying.is_empty() {
            return Ok(Some(Answer::new(function, &question, &placement, least)));
        }
        for it in varying {
            question.pin(it);
        }
    }
    Err("no placement was found in which the values carried by its loops keep one level".to_owned())
}

impl Answer {
    fn new(function: Op, question: &Question, placement: &Placement, lower_bound: u64) -> Self {
        Answer {
            function,
            spots: placement.sites.iter().map(|it| question.spots[it.0 as usize]).collect(),
            cost: placement.cost,
            lower_bound,
            disjoint_cores: placement.certificate.disjoint().len(),
            certified: placement.certificate.bound().min(lower_bound),
        }
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
            Placed::Bootstrap(_) => format!(
                "no placement is possible: {name} uses at least {least} levels, and at most {limit} are available"
            ),
            Placed::Relinearize => format!(
                "no placement is possible: {name} has at least {least} polynomials, and at most {limit} are allowed"
            ),
        },
        Why::Reset { .. } | Why::Contradiction => {
            format!("no placement is possible because of {name}")
        }
    }
}

/// The edits that insert the ops of some answers.
fn write(program: &Program, answers: &[Answer], placed: Placed) -> Vec<TextEdit> {
    let ir = program.ir();
    let mut names: FxHashSet<String> = value_names(ir);
    let mut spots: Vec<Value> = answers.iter().flat_map(|it| it.spots.iter().copied()).collect();
    // Several at one place stand in the order of their definitions.
    spots.sort_by_cached_key(|&value| {
        let at =
            ir.definition_site(value).map_or(0, |op| ir.absolute(op, ir.value(value).span).start);
        (at, ir.value(value).number)
    });
    let mut edits = Vec::new();
    for value in spots {
        let name = format!("%{}", layout::fresh_name(ir, value, &mut names));
        let (operand, ty) = (ir.value_text(value), ir.interner.type_text(type_of(ir, value)));
        let op = placed.op();
        let line = if layout::definition_is_generic(ir, value) {
            format!("{name} = \"{op}\"({operand}) : ({ty}) -> {ty}")
        } else {
            format!("{name} = {op} {operand} : {ty}")
        };
        edits.push(layout::insertion(program, value, &line));
        for &(user, index) in &ir.value(value).uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: name.clone() });
        }
    }
    layout::merge(edits)
}

/// The type of a value: of what an op of unknown form gives, which is a guess, what the ops say that use it.
fn type_of(ir: &Ir, value: Value) -> Type {
    let data = ir.value(value);
    let said = data.uses.iter().map(|it| ir.op(it.0).operands[it.1 as usize].ty);
    let mut said = said.filter(|&it| it != Type::UNKNOWN);
    if data.guessed { said.next().unwrap_or(data.ty) } else { data.ty }
}

/// Reads the edited text and asks again; the program that it is then.
fn verify(
    program: &Program,
    answers: &[Answer],
    edits: &[TextEdit],
    placed: Placed,
) -> Result<Program, FixError> {
    let unverified = |how: String| Err(FixError::Unverified(how));
    let inserted: usize = answers.iter().map(|it| it.spots.len()).sum();
    let n_promised = count_ops(program, placed.op()) + inserted;
    let after = reread(program, edits, placed.op(), n_promised)?;
    let (old, new) = (program.ir().functions(), after.ir().functions());
    let Some(heir) = after.heir() else {
        return unverified("the edited text is not a HEIR program".to_owned());
    };
    for (old, &new) in old.iter().zip(&new) {
        if !answers.iter().any(|it| it.function == *old) {
            continue;
        }
        let name = after.function_name(new);
        let question = match asked(&after, heir, new, placed, Objective::Count) {
            Ok(question) => question,
            Err(why) => return unverified(format!("@{name}: {why}")),
        };
        let nothing = vec![false; question.spots.len()];
        let is_legal = crate::placement::evaluate::legal(&question.instance, &nothing);
        if !is_legal || !question.varying(&nothing).is_empty() {
            return unverified(format!("@{name} needs more {} than were inserted", placed.op()));
        }
    }
    Ok(after)
}

#[cfg(test)]
mod tests;
