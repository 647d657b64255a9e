//! Functions whose facts depend on the order of calls.

use noisy_syntax::Op;
use rustc_hash::FxHashSet;

use super::graph::CallGraph;

/// Functions whose facts depend on the order of asks: functions with joined vectors, and functions
/// of a recursion whose results depend on its first context.
#[derive(Debug, Default)]
pub(super) struct OrderedFunctions {
    functions: FxHashSet<Op>,
    /// First functions of components that were inserted as a whole, so that a large component is
    /// not inserted again for each of its functions.
    components: FxHashSet<Op>,
}

impl OrderedFunctions {
    pub(super) fn contains(&self, function: Op) -> bool {
        self.functions.contains(&function)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Inserts a function with its component of the call graph.
    pub(super) fn insert(&mut self, graph: &CallGraph, function: Op) {
        if self.components.insert(graph.first(function)) {
            let component = graph.component(graph.rank(function));
            self.functions.extend(component.iter().copied().chain([function]));
        }
    }

    /// Removes a function, but not its component.
    pub(super) fn remove(&mut self, function: Op) {
        if self.functions.remove(&function) {
            self.components.clear();
        }
    }

    /// Called when the components of the call graph have changed.
    pub(super) fn clear_components(&mut self) {
        self.components.clear();
    }
}
