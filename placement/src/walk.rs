//! A walk of annealing from the best choice that is known, offering what it finds.

use crate::anneal::{Walk, anneal};
use crate::graph::Graph;
use crate::incumbent::Incumbent;
use crate::limits::Budget;

/// Start and end temperature of a walk, in units of a typical cost.
const HEAT: (f64, f64) = (0.3, 0.12);

/// Walks until `progress`, which is told the work so far, says 1 or the best choice is as cheap as the bound. Temperatures fall with
/// the progress.
pub(crate) fn walk(
    graph: &Graph,
    incumbent: &Incumbent,
    seed: u64,
    progress: &mut dyn FnMut(u64) -> f64,
    budget: &mut Budget,
) {
    let (_, work) = anneal(
        graph,
        incumbent.best(),
        &mut Walk {
            heat: HEAT,
            progress,
            better: &mut |cost, chosen| incumbent.offer(cost, chosen),
            enough: incumbent.lower(),
            seed,
        },
    );
    budget.spend(work);
}

/// Walks for so many visits, or until the budget ends.
pub(crate) fn walk_for(
    graph: &Graph,
    incumbent: &Incumbent,
    seed: u64,
    visits: u64,
    budget: &mut Budget,
) {
    if !budget.steps.anneal || budget.is_spent() || incumbent.is_done() {
        return;
    }
    let stop = budget.stop;
    let mut progress = |work: u64| {
        if stop() || incumbent.is_done() { 1.0 } else { work as f64 / visits as f64 }
    };
    walk(graph, incumbent, seed, &mut progress, budget);
}
