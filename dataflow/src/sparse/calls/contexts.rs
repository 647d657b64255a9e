//! The contexts of all functions, and the asks between them.
//!
//! # Invariants
//!
//! - `asks` and [`CallContext::askers`] are two views of one relation: an ask is in the list of the
//!   asker if and only if the asked context counts the call of the asker. (During a replay, only
//!   `asks` is maintained; [`Contexts::recount_askers`] then restores the other view.)
//! - Ids are never reused, so an ask never refers to a context that was created later.
//! - A context that lost its last asker is in `unused` until an edit removes it from there.

use noisy_syntax::Op;
use rustc_hash::FxHashMap;

use super::context::{Ask, CallContext, ContextKey};
use super::small_map::SmallMap;

/// The asks of one asker.
type Asks = SmallMap<Ask, ()>;

/// Contexts by function, and the asks between them.
#[derive(Debug)]
pub(super) struct Contexts<F> {
    of: FxHashMap<Op, Vec<CallContext<F>>>,
    /// Asks of each context since it was last evaluated.
    asks: FxHashMap<ContextKey, Asks>,
    unused: Vec<ContextKey>,
    last_id: u32,
}

impl<F> Default for Contexts<F> {
    fn default() -> Self {
        Self {
            of: FxHashMap::default(),
            asks: FxHashMap::default(),
            unused: Vec::new(),
            last_id: 0,
        }
    }
}

impl<F> Contexts<F> {
    pub(super) fn reserve(&mut self, n_functions: usize, n_units: usize) {
        self.of.reserve(n_functions);
        self.asks.reserve(n_units);
    }

    pub(super) fn of(&self, function: Op) -> &[CallContext<F>] {
        self.of.get(&function).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_mut(&mut self, function: Op) -> &mut [CallContext<F>] {
        self.of.get_mut(&function).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Returns true if a function has contexts.
    pub(super) fn has(&self, function: Op) -> bool {
        self.of.contains_key(&function)
    }

    pub(super) fn get(&self, (function, id): ContextKey) -> Option<&CallContext<F>> {
        self.of(function).iter().find(|it| it.id == id)
    }

    pub(super) fn get_mut(&mut self, (function, id): ContextKey) -> Option<&mut CallContext<F>> {
        self.of_mut(function).iter_mut().find(|it| it.id == id)
    }

    pub(super) fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn push(&mut self, function: Op, context: CallContext<F>) {
        let contexts = self.of.entry(function).or_default();
        if contexts.is_empty() {
            // Most functions have one context.
            contexts.reserve_exact(1);
        }
        contexts.push(context);
    }

    /// Keeps the contexts of a function that `keeps` accepts. The asks of the others stay.
    pub(super) fn retain(&mut self, function: Op, keeps: impl FnMut(&CallContext<F>) -> bool) {
        if let Some(contexts) = self.of.get_mut(&function) {
            contexts.retain(keeps);
            if contexts.is_empty() {
                self.of.remove(&function);
            }
        }
    }

    /// Removes the contexts of a function. Their asks stay.
    pub(super) fn take(&mut self, function: Op) -> Vec<CallContext<F>> {
        self.of.remove(&function).unwrap_or_default()
    }

    /// Removes the contexts of a unit with their asks.
    pub(super) fn remove_all(&mut self, unit: Op) {
        for context in self.take(unit) {
            self.withdraw((unit, context.id));
        }
        self.withdraw((unit, 0));
    }

    /// Records that a call of an asker asks for a context. Returns true if the ask is new.
    pub(super) fn ask(&mut self, asker: ContextKey, call: Op, of: ContextKey) -> bool {
        let ask = Ask { call, callee: of.0, context: of.1 };
        let is_new = self.asks.entry(asker).or_default().insert(ask, ());
        if is_new && let Some(context) = self.get_mut(of) {
            context.add_asker(call, asker.0);
        }
        is_new
    }

    pub(super) fn is_asking(&self, asker: ContextKey, call: Op, of: ContextKey) -> bool {
        let ask = Ask { call, callee: of.0, context: of.1 };
        self.asks.get(&asker).is_some_and(|it| it.contains(ask))
    }

    pub(super) fn asks_of(&self, asker: ContextKey) -> impl Iterator<Item = Ask> {
        self.asks.get(&asker).into_iter().flat_map(SmallMap::iter).map(|it| it.0)
    }

    /// Number of contexts that an asker asks for, each counted once per call.
    pub(super) fn n_asks(&self, asker: ContextKey) -> u32 {
        self.asks.get(&asker).map_or(0, |it| it.len() as u32)
    }

    /// Withdraws all asks of an asker.
    pub(super) fn withdraw(&mut self, asker: ContextKey) {
        let asks = self.take_asks(asker);
        self.drop_asks(asks);
    }

    /// Removes and returns the asks of an asker before it is evaluated again. They still count
    /// until [`Contexts::drop_asks`], so that a context that is used again is never marked as
    /// unused.
    pub(super) fn take_asks(&mut self, asker: ContextKey) -> Asks {
        self.asks.remove(&asker).unwrap_or_default()
    }

    pub(super) fn drop_asks(&mut self, asks: Asks) {
        for (Ask { call, callee, context }, ()) in asks.iter() {
            let key = (callee, context);
            if self.get_mut(key).is_some_and(|it| it.remove_asker(call)) {
                self.unused.push(key);
            }
        }
    }

    /// Removes the asks of all contexts of a unit without updating the counts of askers.
    pub(super) fn forget_asks(&mut self, unit: Op, contexts: &[CallContext<F>]) {
        self.asks.remove(&(unit, 0));
        for context in contexts {
            self.asks.remove(&(unit, context.id));
        }
    }

    /// Recomputes the askers of the contexts of some units from `asks`. All askers are in these
    /// units.
    pub(super) fn recount_askers(&mut self, units: &[Op]) {
        let mut askers: Vec<ContextKey> = Vec::new();
        for &unit in units {
            askers.push((unit, 0));
            for context in self.of_mut(unit) {
                context.askers.clear();
                askers.push((unit, context.id));
            }
        }
        askers.dedup();
        for asker in askers {
            let asks = self.asks.get(&asker).into_iter().flat_map(SmallMap::iter);
            for (Ask { call, callee, context }, ()) in asks {
                let contexts = self.of.get_mut(&callee).into_iter().flatten();
                for it in contexts.filter(|it| it.id == context) {
                    it.add_asker(call, asker.0);
                }
            }
        }
        self.unused.clear();
    }

    /// Makes all contexts of a function not assumed.
    pub(super) fn assume_none(&mut self, function: Op) {
        for context in self.of.get_mut(&function).into_iter().flatten() {
            if std::mem::replace(&mut context.is_assumed, false) {
                self.unused.push((function, context.id));
            }
        }
    }

    pub(super) fn unused(&self) -> &[ContextKey] {
        &self.unused
    }

    pub(super) fn pop_unused(&mut self) -> Option<ContextKey> {
        self.unused.pop()
    }
}
