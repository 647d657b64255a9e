//! Which functions have facts that depend on the order of calls.

use noisy_syntax::Op;
use rustc_hash::FxHashSet;

use super::call_graph::CallGraph;

/// Functions whose facts depend on the order in which they are asked for what they return: with joined vectors, or of a recursion that is
/// not the same wherever it is entered.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    functions: FxHashSet<Op>,
    /// The first functions of components that are noted whole: each function of a large one is told of again and again.
    whole: FxHashSet<Op>,
}

impl Ordered {
    pub(super) fn contains(&self, function: Op) -> bool {
        self.functions.contains(&function)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Notes a function, and those that it may come to call itself through.
    pub(super) fn note(&mut self, graph: &CallGraph, function: Op) {
        if self.whole.insert(graph.first(function)) {
            let component = graph.component(graph.rank(function));
            self.functions.extend(component.iter().copied().chain([function]));
        }
    }

    /// Forgets a function, but none of its component.
    pub(super) fn remove(&mut self, function: Op) {
        if self.functions.remove(&function) {
            self.whole.clear();
        }
    }

    /// There is another graph of calls, with other components.
    pub(super) fn regroup(&mut self) {
        self.whole.clear();
    }
}
