//! Analyses that are solved at the first query and then updated by edits.
//!
//! *Law.* After any edits the facts equal those from scratch. *Cost.* None before the first query;
//! then each edit updates the analysis. After [`MAX_UNQUERIED_EDITS`] edits without a query the
//! facts are dropped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use noisy_syntax::{Delta, Ir, Value};

use super::Program;
use crate::program::depth::DepthAnalysis;
use crate::program::secretness::SecretnessAnalysis;
use noisy_dataflow::sparse::{AnalysisInput, ChangedValues, SparseForward, SparseSolver};
use noisy_integers::Integers;

/// Takes a line for each analysis that reads integers and a noise model, with the name of its
/// method on [`Program`].
macro_rules! asked {
    ($($(#[$doc:meta])* $name:ident: $analysis:ty;)*) => {
        /// Analyses that are solved on request.
        #[derive(Debug, Default)]
        pub(super) struct OnDemandFacts {
            $($name: OnDemand<$analysis>,)*
        }

        impl OnDemandFacts {
            /// Updates the facts after an edit. The integers must be up to date.
            pub(super) fn update(&mut self, input: &AnalysisInput<'_, Integers>, delta: &Delta) {
                $(self.$name.update(input.ir, input.base, delta, input.base.changed_values());)*
            }
        }

        impl Program {
            $(
                $(#[$doc])*
                ///
                /// It is solved for the whole program at the first query. Edits update it as long
                /// as queries follow.
                pub fn $name(&self, value: Value) -> <$analysis as SparseForward>::Fact {
                    let analysis = || <$analysis>::new(self.model().clone());
                    let facts = self.on_demand.$name.get(self.ir(), self.integers(), analysis);
                    facts.fact(value).copied().unwrap_or_default()
                }
            )*
        }
    };
}

asked! {
    /// The largest number of multiplications on a path from a fresh ciphertext to a value.
    depth: DepthAnalysis;
    /// The secretness of a value: secret if it may depend on encrypted data.
    secretness: SecretnessAnalysis;
}

/// Maximum number of edits without a query, after which the facts are dropped.
const MAX_UNQUERIED_EDITS: u32 = 64;

/// The facts, if there are any now.
#[derive(Debug)]
pub(super) struct OnDemand<A: SparseForward> {
    facts: OnceLock<Box<SparseSolver<A>>>,
    /// Number of edits since the last query.
    n_unqueried_edits: AtomicU32,
}

impl<A: SparseForward> Default for OnDemand<A> {
    fn default() -> Self {
        Self { facts: OnceLock::new(), n_unqueried_edits: AtomicU32::new(0) }
    }
}

impl<A: SparseForward> OnDemand<A> {
    /// The facts of the current program.
    pub(super) fn get(
        &self,
        ir: &Ir,
        base: &A::Base,
        analysis: impl FnOnce() -> A,
    ) -> &SparseSolver<A> {
        self.n_unqueried_edits.store(0, Ordering::Relaxed);
        let solve = || Box::new(SparseSolver::new(&AnalysisInput { ir, base }, analysis()));
        self.facts.get_or_init(solve)
    }

    /// The facts, if there are any now.
    pub(super) fn current(&self) -> Option<&SparseSolver<A>> {
        self.n_unqueried_edits.store(0, Ordering::Relaxed);
        self.facts.get().map(Box::as_ref)
    }

    /// Updates the facts after an edit. The base is up to date; its update changed the facts of
    /// `moved`.
    pub(super) fn update(&mut self, ir: &Ir, base: &A::Base, delta: &Delta, moved: &ChangedValues) {
        let Some(facts) = self.facts.get_mut() else { return };
        let n_unasked = self.n_unqueried_edits.get_mut();
        *n_unasked += 1;
        if *n_unasked > MAX_UNQUERIED_EDITS {
            *self = Self::default();
        } else {
            facts.update(&AnalysisInput { ir, base }, delta, moved);
        }
    }

    /// The values whose facts the last update changed; all if the facts were solved since.
    pub(super) fn moved(&self) -> Option<&ChangedValues> {
        Some(self.facts.get()?.changed_values())
    }
}

#[cfg(test)]
mod tests {
    use noisy_syntax::{Region, Value};

    use super::MAX_UNQUERIED_EDITS;
    use crate::laws::{Random, program, random_edit};
    use crate::program::Program;

    fn values(ir: &noisy_syntax::Ir, region: Region, out: &mut Vec<Value>) {
        for block in ir.blocks(region) {
            out.extend_from_slice(&ir.block(block).args);
            for op in ir.block_ops(block) {
                out.extend_from_slice(&ir.op(op).results);
                ir.op(op).regions.iter().for_each(|it| values(ir, it.1, out));
            }
        }
    }

    /// The facts of all values of a program, by name.
    fn told(program: &Program) -> Vec<String> {
        let ir = program.ir();
        let mut all = Vec::new();
        for chunk in ir.items(ir.root()) {
            ir.op(chunk).regions.iter().for_each(|it| values(ir, it.1, &mut all));
        }
        let line = |&it: &Value| {
            format!("{} {} {}", ir.value_text(it), program.depth(it), program.secretness(it))
        };
        all.iter().map(line).collect()
    }

    #[test]
    fn queried_facts_after_edits_equal_those_from_scratch() {
        let mut n_told = 0;
        for seed in 1..=40 {
            let mut random = Random::new(seed);
            let mut edited = Program::new(&program(seed));
            for _ in 0..12 {
                let text = edited.source().text().to_string();
                let (range, new) = random_edit(&mut random, &text);
                edited.edit(range, &new);
                if random.one_in(2) {
                    let text = edited.source().text().to_string();
                    let (found, expected) = (told(&edited), told(&Program::new(&text)));
                    assert_eq!(found, expected, "seed {seed}\n{text}");
                    n_told += found.iter().filter(|it| it.contains("depth")).count();
                }
            }
        }
        assert!(n_told > 1000, "{n_told}");
    }

    #[test]
    fn facts_without_queries_are_dropped() {
        let mut program = Program::new(
            "func.func @f(%x: !noisy.i32) {\n  %0 = noisy.mul %x, %x : !noisy.i32\n  return\n}\n",
        );
        assert!(program.on_demand.depth.facts.get().is_none());
        let end = program.source().text().len_bytes();
        let function = program.ir().functions()[0];
        assert_eq!(program.max_depth(function).to_string(), "depth 1");
        for _ in 0..MAX_UNQUERIED_EDITS {
            program.edit(end..end, "\n");
            assert!(program.on_demand.depth.facts.get().is_some());
        }
        program.edit(end..end, "\n");
        assert!(program.on_demand.depth.facts.get().is_none());
    }
}
