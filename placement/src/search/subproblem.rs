//! A part of an instance with its graph, a legal choice, and bounds of its cost.

use std::sync::Arc;

use num_integer::gcd;

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::infeasible::{Infeasible, InfeasibleReason};
use crate::question::instance::Node;
use crate::question::limits::EffortBudget;
use crate::question::simplify::InstancePart;
use crate::search::compact::{self, AnyLegalResult};
use crate::search::greedy;
use crate::search::incumbent::Incumbent;
use crate::search::state::ChoiceState;

/// A part with a legal choice.
pub(crate) struct Subproblem {
    pub graph: Arc<NoiseGraph>,
    pub incumbent: Arc<Incumbent>,
    /// The index of each site in the whole instance.
    pub sites: Vec<u32>,
    /// The index of each node in the whole instance, or `NO_INDEX` for an added source.
    pub nodes: Vec<u32>,
    /// The greatest common divisor of the costs of the part. Costs and bounds of the part are in
    /// this unit.
    pub cost_unit: u64,
}

impl Subproblem {
    /// Creates a subproblem with a first legal choice, found greedily or with the solver.
    pub(crate) fn new(
        mut part: InstancePart,
        budget: &EffortBudget,
    ) -> Result<Subproblem, Infeasible> {
        let grain = part.instance.sites.iter().fold(0, |grain, site| gcd(grain, site.cost)).max(1);
        for site in &mut part.instance.sites {
            site.cost /= grain;
        }
        let graph = NoiseGraph::new(&part.instance);
        let first = match greedy::greedy(&graph) {
            Some(chosen) => chosen,
            None => find_legal_with_solver(&graph, &part, budget)?,
        };
        let mut state = ChoiceState::new(&graph, first);
        if budget.steps.prune {
            greedy::prune(&graph, &mut state, budget.stop);
        }
        let incumbent = Arc::new(Incumbent::new(state.cost, state.chosen));
        Ok(Subproblem {
            graph: Arc::new(graph),
            incumbent,
            sites: part.sites,
            nodes: part.nodes,
            cost_unit: grain,
        })
    }

    /// Sets the function that is called with each better bound, in units of `cost_unit`.
    pub(crate) fn with_listener(
        self,
        listener: impl Fn(u64) + Send + Sync + 'static,
    ) -> Subproblem {
        let fresh = Incumbent::new(self.incumbent.upper(), self.incumbent.best());
        Subproblem { incumbent: Arc::new(fresh.with_listener(listener)), ..self }
    }

    /// Returns the cost and the bound, in units of the whole instance.
    pub(crate) fn cost_and_bound(&self) -> (u64, u64) {
        let in_whole = |it: u64| it.saturating_mul(self.cost_unit);
        (in_whole(self.incumbent.upper()), in_whole(self.incumbent.lower()))
    }
}

/// Finds a legal choice with the solver. This is needed only if a reset can raise noise; otherwise
/// the greedy methods find one.
fn find_legal_with_solver(
    graph: &NoiseGraph,
    part: &InstancePart,
    budget: &EffortBudget,
) -> Result<Vec<bool>, Infeasible> {
    let node = part.nodes.iter().copied().find(|&v| v != NO_INDEX).unwrap_or(0);
    let err = |why| Err(Infeasible { node: Node(node), reason: why });
    match compact::find_any_legal(graph, budget) {
        AnyLegalResult::Choice(chosen) => Ok(chosen),
        AnyLegalResult::None => err(InfeasibleReason::Contradiction),
        AnyLegalResult::Unknown => err(InfeasibleReason::NotFound),
    }
}
