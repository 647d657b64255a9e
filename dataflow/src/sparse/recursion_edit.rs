//! From an edit outward, through a recursion: its component is solved again, and outside of it only callers for which it returns something
//! else.
//!
//! # Law
//!
//! A recursion that is the same wherever it is entered (`recursion.rs`) depends only on the texts of its functions, on the results of calls
//! that leave the component, and on the set of contexts that calls from outside ask for. So all other contexts are forgotten, and the
//! recursion is solved from these. A context that only members of the recursion asked for is dropped unless it is found again. If the
//! recursion turns out to depend on the order of calls, the asks of the connected units are replayed (`replay.rs`).
//!
//! *Cost.* That of solving the recursion from scratch, once, and once more if calls no longer ask for some of its contexts.

use noisy_syntax::Op;

use super::component::depth_of;
use super::{Input, Observer, Sparse, SparseForward};
use crate::flow;

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// A context of a function that is not solved is asked for, while an edit is followed: whether that solves its recursion again, with
    /// this context.
    #[inline(never)]
    pub(super) fn redo_recursion_of(&mut self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        let rank = self.call_graph.rank(function);
        let edit = self.contexts.edit.as_mut().filter(|it| it.is_followed);
        if edit.is_none_or(|it| it.gives_up || it.resolved.contains(&rank)) {
            return false;
        }
        let asker = self.contexts.asker.take();
        let callers = self.redo_recursion(ir, rank, false);
        self.contexts.asker = asker;
        if let Some(edit) = self.contexts.edit.as_mut() {
            edit.callers.extend(callers);
        }
        true
    }

    /// Solves the functions of a component again. The units outside of it that asked for a context which returns something else now.
    /// `is_last` as in [`Sparse::redo_unit`].
    pub(super) fn redo_recursion(
        &mut self,
        ir: &Input<'_, A::Base>,
        rank: u32,
        is_last: bool,
    ) -> Vec<Op> {
        let mut callers = Vec::new();
        let Some(edit) = self.contexts.edit.as_mut() else { return callers };
        if !edit.resolved.insert(rank) {
            return callers;
        }
        let mut members: Vec<Op> = self.call_graph.component(rank).to_vec();
        members.retain(|&it| ir.is_alive(it));
        members.sort_unstable();
        edit.redone.extend(&members);
        if !members.iter().all(|&it| self.is_followed(ir, it)) {
            self.give_up_edit();
            return callers;
        }
        let depth = self.contexts.depth;
        let (mut entries, mut asks) = (Vec::new(), Vec::new());
        for &member in &members {
            self.remember(ir, member);
            self.forget_transcript(member);
            self.contexts.uncalled.remove(&member);
            let is_assumed = self.is_live(ir, member) && self.is_open(ir, member);
            let args = if is_assumed { Some(self.assumed(ir, member)) } else { None };
            self.assume_only(member, args);
            let n_args = flow::body(ir, member)
                .map_or(0, |it| ir.block(flow::entry_block(ir, it)).args.len());
            for context in self.contexts.of.get_mut(&member).into_iter().flatten() {
                let former = context.renew();
                let is_outside = |unit| self.call_graph.rank(unit) != rank;
                if context.args.len() == n_args
                    && (context.is_assumed || context.callers().any(is_outside))
                {
                    entries.push((member, context.id, former));
                }
                asks.push((member, context.id));
            }
            self.reset_function(ir, member);
            self.begin_function(ir, member);
        }
        let asks: Vec<_> = asks.into_iter().map(|it| self.contexts.take_asks(it)).collect();
        for &(member, id, _) in &entries {
            self.contexts.depth = depth.max(depth_of(ir, member));
            self.solve_from_here(ir, member, id);
        }
        for it in asks {
            self.contexts.drop_asks(it);
        }
        for (member, id, former) in entries {
            let contexts = self.contexts.of.get(&member).into_iter().flatten();
            for context in contexts.filter(|it| it.id == id && it.results != former) {
                let outside = context.callers().filter(|&it| self.call_graph.rank(it) != rank);
                callers.extend(outside);
            }
        }
        for &member in &members {
            if let Some(contexts) = self.contexts.of.get_mut(&member) {
                contexts.retain(super::Context::is_solved);
                if contexts.is_empty() {
                    self.contexts.of.remove(&member);
                }
            }
            if self.contexts.ordered.contains(member) {
                self.give_up_edit();
            }
        }
        for member in members {
            if !self.shows_uncalled()
                || !self.is_live(ir, member)
                || self.contexts.of.contains_key(&member)
            {
                continue;
            }
            if !is_last {
                if let Some(edit) = &mut self.contexts.edit {
                    edit.stale.insert(member);
                }
                continue;
            }
            self.contexts.uncalled.insert(member);
            let args = self.assumed(ir, member);
            let at = self.context_for(member, args, true);
            let Some(id) = self.context(member, at).map(|it| it.id) else { continue };
            self.contexts.depth = depth_of(ir, member);
            self.solve_from_here(ir, member, id);
        }
        self.contexts.depth = depth;
        callers
    }
}
