//! A part with a graph, a legal choice and what is known of its cost.

use std::sync::Arc;

use num_integer::gcd;

use crate::answer::{Infeasible, Why};
use crate::compact::{self, AnyLegal};
use crate::graph::{Graph, NONE};
use crate::greedy;
use crate::incumbent::Incumbent;
use crate::instance::Node;
use crate::limits::Budget;
use crate::simplify::Part;
use crate::state::State;

/// A part that has a legal choice.
pub(crate) struct Piece {
    pub graph: Arc<Graph>,
    pub incumbent: Arc<Incumbent>,
    /// Its sites in the whole.
    pub sites: Vec<u32>,
    /// Its nodes in the whole.
    pub nodes: Vec<u32>,
    /// All costs of the part are multiples of this, and are counted in it.
    pub grain: u64,
}

impl Piece {
    /// Finds a first legal choice, by walking if that is possible and else by the solver.
    pub(crate) fn new(mut part: Part, budget: &Budget) -> Result<Piece, Infeasible> {
        let grain = part.instance.sites.iter().fold(0, |grain, site| gcd(grain, site.cost)).max(1);
        for site in &mut part.instance.sites {
            site.cost /= grain;
        }
        let graph = Graph::new(&part.instance);
        let first = match greedy::greedy(&graph) {
            Some(chosen) => chosen,
            None => ask_solver(&graph, &part, budget)?,
        };
        let mut state = State::new(&graph, first);
        if budget.steps.prune {
            greedy::prune(&graph, &mut state, budget.stop);
        }
        let incumbent = Arc::new(Incumbent::new(state.cost, state.chosen));
        Ok(Piece { graph: Arc::new(graph), incumbent, sites: part.sites, nodes: part.nodes, grain })
    }

    /// Has each better bound, in the unit of the part, told to somebody.
    pub(crate) fn with_listener(self, listener: impl Fn(u64) + Send + Sync + 'static) -> Piece {
        let fresh = Incumbent::new(self.incumbent.upper(), self.incumbent.best());
        Piece { incumbent: Arc::new(fresh.with_listener(listener)), ..self }
    }

    /// The cost and the bound, in units of the whole.
    pub(crate) fn cost_and_bound(&self) -> (u64, u64) {
        let in_whole = |it: u64| it.saturating_mul(self.grain);
        (in_whole(self.incumbent.upper()), in_whole(self.incumbent.lower()))
    }
}

/// A legal choice where the cheap ways find none, which takes sites that can raise noise.
fn ask_solver(graph: &Graph, part: &Part, budget: &Budget) -> Result<Vec<bool>, Infeasible> {
    let node = part.nodes.iter().copied().find(|&v| v != NONE).unwrap_or(0);
    let err = |why| Err(Infeasible { node: Node(node), why });
    match compact::any_legal(graph, budget) {
        AnyLegal::Choice(chosen) => Ok(chosen),
        AnyLegal::None => err(Why::Contradiction),
        AnyLegal::Unknown => err(Why::NotFound),
    }
}
