//! Placement for groups of functions that call each other.
//!
//! A *group* is a set of requested functions that are connected by calls. Functions between them
//! that were not requested are part of the problem, but are not changed. A function that cannot be
//! fixed (its noise is unknown, or no placement makes it legal) is refused and not changed; the
//! others are solved again without it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use noisy_syntax::{Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::extract::{Extraction, ExtractionRequest, LiveCalls, Refusal, SitePosition, extract};
use super::{FixedFunction, FunctionGroup, GroupProof, PlacementOptions, PlacementVerdict};
use crate::program::Program;
use noisy_placement::{Infeasible, InfeasibleReason, Placement, PlacementLimits, Site, evaluate};

const NOT_FOUND: &str = "no placement found within the time and memory limits";

/// The placement of a group.
pub(super) struct GroupPlacement {
    pub group: FunctionGroup,
    pub extraction: Extraction,
    /// For each site, true if it is chosen.
    pub chosen: Vec<bool>,
    /// True if a function of the group calls another or is called.
    pub has_calls: bool,
    /// The changes of each function that is changed or was over the budget.
    fixed: FxHashMap<Op, FunctionShare>,
}

/// The share of a function in the placement of its group.
#[derive(Clone, Copy, Debug, Default)]
struct FunctionShare {
    n_inserted: usize,
    n_removed: usize,
    cost: u64,
}

impl GroupPlacement {
    /// Returns true if the placement changes a function or makes it legal.
    pub(super) fn is_fixed(&self, function: Op) -> bool {
        self.fixed.contains_key(&function)
    }

    /// Returns the functions that the placement changes or makes legal, in no particular order.
    pub(super) fn fixed(&self) -> impl Iterator<Item = Op> {
        self.fixed.keys().copied()
    }

    pub(super) fn n_inserted(&self) -> usize {
        self.fixed.values().map(|it| it.n_inserted).sum()
    }

    pub(super) fn n_removed(&self) -> usize {
        self.fixed.values().map(|it| it.n_removed).sum()
    }
}

/// The results of all groups.
#[derive(Default)]
pub(super) struct GroupPlacements {
    /// The placements of the groups that are changed.
    pub fixed: Vec<GroupPlacement>,
    /// The refused functions, with the reason.
    pub refused: FxHashMap<Op, String>,
}

impl GroupPlacements {
    /// Returns the verdict on each function.
    pub(super) fn verdicts(&self, functions: &[Op]) -> Vec<PlacementVerdict> {
        let mut groups: FxHashMap<Op, usize> = FxHashMap::default();
        for (group, it) in self.fixed.iter().enumerate() {
            for function in it.fixed() {
                groups.entry(function).or_insert(group);
            }
        }
        let verdict = |function: &Op| match (self.refused.get(function), groups.get(function)) {
            (Some(why), _) => PlacementVerdict::Refused(why.clone()),
            (None, Some(&group)) => PlacementVerdict::Fixed(self.share(group, *function)),
            (None, None) => PlacementVerdict::Legal,
        };
        functions.iter().map(verdict).collect()
    }

    /// Returns the share of a fixed function in its group.
    fn share(&self, group: usize, function: Op) -> FixedFunction {
        let it = &self.fixed[group];
        let share = it.fixed[&function];
        let gap = it.group.cost.saturating_sub(it.group.lower_bound);
        FixedFunction {
            n_inserted: share.n_inserted,
            n_removed: share.n_removed,
            cost: share.cost,
            lower_bound: share.cost.saturating_sub(gap),
            unit: it.group.unit,
            group,
        }
    }
}

/// Computes the cheapest placement of each group, with at most `copies` separate copies of a
/// function.
pub(super) fn solve(
    program: &Program,
    functions: &[Op],
    options: &PlacementOptions,
    copies: usize,
) -> GroupPlacements {
    let start = Instant::now();
    let ir = program.ir();
    let mut answers = GroupPlacements::default();
    let broken = broken_functions(program);
    let mut closed: FxHashSet<Op> = broken.keys().copied().collect();
    let over = program.excesses();
    let calls = LiveCalls::new(program);
    let mut is_wanted: FxHashSet<Op> = FxHashSet::default();
    for &function in functions {
        if let Some(why) = broken.get(&function) {
            answers.refused.insert(function, why.clone());
        } else if !ir.op(function).regions.is_empty() {
            is_wanted.insert(function);
        }
    }
    for &function in functions {
        let mut is_tried = false;
        // Refuses one function at a time, until the rest of the group has a placement or the time
        // limit is reached.
        while is_wanted.contains(&function) {
            let members = calls.connected(ir, &[function], &closed);
            let open: Vec<Op> =
                members.iter().copied().filter(|it| is_wanted.contains(it)).collect();
            let mut limits = options.limits.clone();
            limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
            if std::mem::replace(&mut is_tried, true) && limits.time == Some(Duration::ZERO) {
                for it in open {
                    is_wanted.remove(&it);
                    answers.refused.insert(it, NOT_FOUND.to_owned());
                }
                break;
            }
            let request = ExtractionRequest {
                functions: &open,
                excluded: &closed,
                objective: options.objective,
                replace: options.replace,
                max_copies: copies,
            };
            let refusal = match fix_group(program, &calls, &request, &over, options, &limits) {
                Ok(answer) => {
                    answers.fixed.extend(answer.map(|mut it| {
                        it.has_calls = members.len() > 1 || calls.is_called(function);
                        it
                    }));
                    for it in &open {
                        is_wanted.remove(it);
                    }
                    continue;
                }
                Err(refusal) => refusal,
            };
            // Each attempt excludes a function, so the loop ends.
            let is_known =
                members.contains(&refusal.function) && !closed.contains(&refusal.function);
            let at_fault = if is_known { refusal.function } else { function };
            closed.insert(at_fault);
            if is_wanted.remove(&at_fault) {
                answers.refused.insert(at_fault, refusal.why);
            }
        }
    }
    answers
}

fn fix_group(
    program: &Program,
    calls: &LiveCalls,
    request: &ExtractionRequest,
    over: &FxHashMap<Op, usize>,
    options: &PlacementOptions,
    limits: &PlacementLimits,
) -> Result<Option<GroupPlacement>, Refusal> {
    let extraction = extract(program, calls, request)?;
    let instance = &extraction.instance;
    let is_existing: Vec<bool> =
        extraction.positions.iter().map(|it| matches!(it, SitePosition::Existing(_))).collect();
    let is_over = request.functions.iter().any(|it| over.contains_key(it));
    let is_legal = !is_over && evaluate::is_legal(instance, &is_existing);
    if is_legal && !is_existing.contains(&true) {
        return Ok(None);
    }
    let asked = request.functions[0];
    let problem = (instance, extraction.unit);
    let placed = options.place(program, asked, problem, extraction.is_exact, limits);
    let placement =
        placed.map_err(|it| explain_infeasible(program, asked, &extraction.nodes, it))?;
    let cost_of = |chosen: &[bool]| {
        let costs = instance.sites.iter().zip(chosen).filter(|it| *it.1);
        costs.fold(0_u64, |sum, (site, _)| sum.saturating_add(site.cost))
    };
    if is_legal && placement.cost >= cost_of(&is_existing) {
        return Ok(None);
    }
    Ok(Some(group_placement(
        program,
        request.functions,
        over,
        extraction,
        &placement,
        options.wants_proofs,
    )))
}

fn group_placement(
    program: &Program,
    functions: &[Op],
    over: &FxHashMap<Op, usize>,
    extraction: Extraction,
    placement: &Placement,
    wants_proof: bool,
) -> GroupPlacement {
    let ir = program.ir();
    let mut chosen = vec![false; extraction.instance.sites.len()];
    for &Site(site) in &placement.sites {
        chosen[site as usize] = true;
    }
    let mut fixed: FxHashMap<Op, FunctionShare> = FxHashMap::default();
    for &function in functions.iter().filter(|it| over.contains_key(it)) {
        fixed.insert(function, FunctionShare::default());
    }
    for ((&spot, &chosen), site) in
        extraction.positions.iter().zip(&chosen).zip(&extraction.instance.sites)
    {
        let (op, is_existing) = match spot {
            SitePosition::After(value) => (ir.definition_site(value), false),
            SitePosition::BeforeGroup(group) => (Some(extraction.use_groups[group].anchor), false),
            SitePosition::Existing(op) => (Some(op), true),
        };
        if !chosen && !is_existing {
            continue;
        }
        let Some(function) = op.and_then(|it| ir.function_of(it)) else { continue };
        let share = fixed.entry(function).or_default();
        share.n_inserted += usize::from(chosen && !is_existing);
        share.n_removed += usize::from(is_existing && !chosen);
        share.cost = share.cost.saturating_add(if chosen { site.cost } else { 0 });
    }
    fixed.retain(|it, share| share.n_inserted + share.n_removed > 0 || over.contains_key(it));
    let (lower_bound, certificate) = if extraction.is_exact {
        (placement.lower_bound, Some(&placement.certificate))
    } else {
        (0, None)
    };
    let group = FunctionGroup {
        functions: functions.to_vec(),
        cost: placement.cost,
        lower_bound,
        unit: extraction.unit,
        n_disjoint_cores: certificate.map_or(0, |it| it.disjoint_cores().len()),
        certified_bound: certificate.map_or(0, |it| it.bound().min(lower_bound)),
        proof: wants_proof.then(|| {
            Arc::new(GroupProof {
                instance: extraction.instance.clone(),
                sites: placement.sites.clone(),
                certificate: certificate.cloned().unwrap_or_default(),
            })
        }),
    };
    GroupPlacement { group, extraction, chosen, has_calls: false, fixed }
}

/// Explains why no placement exists, and in which function.
fn explain_infeasible(program: &Program, asked: Op, nodes: &[Value], it: Infeasible) -> Refusal {
    let ir = program.ir();
    let value = nodes.get(it.node.0 as usize).copied();
    let site = value.and_then(|it| ir.definition_site(it));
    let name = value.map_or_else(
        || "a value".to_owned(),
        |value| {
            let name = ir.value_text(value);
            let at = site.map(|op| ir.absolute(op, ir.value(value).span).start);
            let line = at.map(|at| program.source().text().byte_to_line(at) + 1);
            line.map_or(name.clone(), |line| format!("{name} on line {line}"))
        },
    );
    let why = match it.reason {
        InfeasibleReason::OverLimit { least, limit } => {
            format!(
                "no placement is possible: {name} has at least {least} bits of noise, and at most {limit} are allowed"
            )
        }
        InfeasibleReason::ResetOverLimit { reset, .. } => {
            format!(
                "no placement is possible: {name} must be reduced, but the {reset} bits that remain after it are still too many"
            )
        }
        InfeasibleReason::Contradiction => format!("no placement is possible because of {name}"),
        InfeasibleReason::NotFound => NOT_FOUND.to_owned(),
        InfeasibleReason::Malformed => "internal error: malformed placement problem".to_owned(),
    };
    let function = site.and_then(|it| ir.function_of(it)).unwrap_or(asked);
    Refusal { function, why }
}

/// Returns the functions with an error other than noise, and the error.
pub(super) fn broken_functions(program: &Program) -> FxHashMap<Op, String> {
    let ir = program.ir();
    let mut out = FxHashMap::default();
    let text = program.source().text();
    for (op, range, problem) in program.source().problems() {
        let mut at = Some(op);
        while let Some(it) = at {
            if ir.op(it).kind == OpKind::FuncFunc {
                out.entry(it).or_insert_with(|| {
                    let line = text.byte_to_line(range.start) + 1;
                    format!("error on line {line}: {}", problem.message)
                });
            }
            at = ir.parent_op(it);
        }
    }
    out
}
