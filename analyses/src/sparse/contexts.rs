//! Calls, followed into their callees and kept apart by what they pass.
//!
//! # Notation
//!
//! A *context* of a function is a vector of argument facts with the results that its body gives for them. A function has the context
//! that is *assumed* when anybody may call it, and one for each vector that a live call passes; the facts of the values in its body
//! are the join over its contexts. Private functions that no live call reaches have none and are dead.
//!
//! # From scratch
//!
//! A call asks for the results of its callee in the context of its operands; a context that is not known is evaluated then and there, by
//! a pass over the body. A call that asks for a context that is being evaluated is *recursion*: it gets what is known so
//! far, at first bottom, and the outermost context of the recursion is evaluated again until no result in it changes. Results that
//! are saturated and still grow become unbounded, so this ends. Only what the last turn evaluated is solved then: a context that an earlier turn asked for, and the
//! last one did not, was evaluated from less and is new again.
//!
//! At most [`MAX_APART`] vectors per function are kept apart; the others are joined in one more context, in which saturated facts are
//! unbounded. A call in a cycle passes saturated facts as unbounded ones: only so many rounds differ.
//!
//! Calls that nest too deep to be evaluated one inside of the other are put off: the evaluations around are taken back, the context that was asked for
//! is solved, and then they are made again. In a recursion there is an end to that, [`MAX_DEPTH`], and what is beyond it is unknown.
//!
//! # From an edit
//!
//! A context keeps which calls ask for it. In a function that nothing calls, values have the facts of its one context, so an edit is followed op by op until it
//! comes to a call whose operands change; from there on function by function (`call_edit.rs`).

use noisy_syntax::{Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::call_edit::CallEdit;
use super::call_index::unit_of;
use super::{Calls, Domain, Input, Observer, Sparse, SparseForward};
use crate::flow::{self, Flow};
use crate::lattice::Lattice;

/// The most argument vectors of a function that are kept apart.
pub const MAX_APART: usize = 16;
/// How deep calls and regions may nest before a call is put off.
const PUT_OFF_DEPTH: usize = 2_000;
/// How deep calls and regions may nest in a recursion; the results of calls beyond that are unknown.
const MAX_DEPTH: usize = 20_000;
/// Bytes of stack that the evaluation of one body has at least, and how many are taken when there are fewer.
const STACK: (usize, usize) = (256 << 10, 8 << 20);

/// Where the solution of a context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be evaluated.
    New,
    /// Being evaluated, in this frame.
    Running(usize),
    /// Evaluated in this turn of a recursion whose outermost frame is the second number.
    Open(u32, usize),
    /// Solved.
    Done,
}

/// A function in a context.
#[derive(Clone, Debug)]
pub struct Context<F> {
    /// Names it within its function.
    pub id: u32,
    /// What is passed, by argument.
    pub args: Vec<F>,
    /// What is returned, by result.
    pub(super) results: Vec<F>,
    /// Whether it is assumed, because callers may not be in sight.
    pub is_assumed: bool,
    /// The calls that ask for this context, each with its unit and in how many contexts of that it asks.
    askers: FxHashMap<Op, (Op, u32)>,
    pub(super) is_joined: bool,
    state: State,
}

impl<F> Context<F> {
    fn new(id: u32, args: Vec<F>) -> Self {
        Self {
            id,
            args,
            results: Vec::new(),
            is_assumed: false,
            askers: FxHashMap::default(),
            is_joined: false,
            state: State::New,
        }
    }

    /// The calls in this context, in no particular order.
    pub fn calls(&self) -> impl Iterator<Item = Op> {
        self.askers.keys().copied()
    }

    /// Whether nobody asks for it.
    pub(super) fn is_unused(&self) -> bool {
        self.askers.is_empty() && !self.is_assumed
    }

    pub(super) fn is_solved(&self) -> bool {
        self.state == State::Done
    }

    /// It is to be evaluated again.
    pub(super) fn renew(&mut self) {
        self.state = State::New;
    }

    /// The units that these calls stand in, in no particular order, some perhaps repeatedly.
    pub(super) fn callers(&self) -> impl Iterator<Item = Op> {
        self.askers.values().map(|it| it.0)
    }
}

/// A function and its context, by its id; a unit that is no function, and 0.
pub(super) type Asker = (Op, u32);

/// A call, and the context of its callee that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ask {
    call: Op,
    callee: Op,
    context: u32,
}

#[derive(Debug)]
struct Frame {
    /// The outermost frame that was asked for from within.
    low: usize,
    is_head: bool,
}

/// The contexts of all functions.
#[derive(Debug)]
pub(super) struct Contexts<F> {
    pub(super) of: FxHashMap<Op, Vec<Context<F>>>,
    /// What each context asked for when it was evaluated.
    asks: FxHashMap<Asker, FxHashSet<Ask>>,
    /// Who is evaluated now.
    pub(super) asker: Option<Asker>,
    /// Contexts that some call asks for no more.
    pub(super) unused: Vec<Asker>,
    stack: Vec<Frame>,
    /// Contexts that were too deep to be evaluated where they were asked for.
    pub(super) put_off: Vec<Asker>,
    /// How many frames are of functions that may come to call themselves.
    n_recursive: usize,
    /// Whether a recursion was too deep to be followed.
    pub(super) is_cut: bool,
    /// What an edit has touched, while it is followed through calls.
    pub(super) edit: Option<CallEdit<F>>,
    /// Functions whose body was passed over since it was reset.
    pub(super) passed_over: FxHashSet<Op>,
    /// Functions that are being evaluated, in some context; and what their values had in other contexts meanwhile.
    pub(super) running: FxHashMap<Op, Vec<F>>,
    /// Contexts that are open.
    open: Vec<(Op, u32)>,
    /// The turn of a recursion.
    turn: u32,
    /// Whether a result of a recursion changed in this turn.
    has_moved: bool,
    /// How deep regions and calls are nested now.
    pub(super) depth: usize,
    next: u32,
}

impl<F> Default for Contexts<F> {
    fn default() -> Self {
        Self {
            of: FxHashMap::default(),
            asks: FxHashMap::default(),
            asker: None,
            unused: Vec::new(),
            stack: Vec::new(),
            put_off: Vec::new(),
            n_recursive: 0,
            is_cut: false,
            edit: None,
            passed_over: FxHashSet::default(),
            running: FxHashMap::default(),
            open: Vec::new(),
            turn: 0,
            has_moved: false,
            depth: 0,
            next: 0,
        }
    }
}

impl<F> Contexts<F> {
    /// A context, or a unit that is no function, asks for nothing any more.
    pub(super) fn withdraw(&mut self, asker: Asker) {
        let asks = self.take_asks(asker);
        self.drop_asks(asks);
    }

    /// What was asked for; it stands until it is dropped.
    pub(super) fn take_asks(&mut self, asker: Asker) -> FxHashSet<Ask> {
        self.asks.remove(&asker).unwrap_or_default()
    }

    /// Takes asks back.
    #[allow(clippy::iter_over_hash_type, reason = "counts commute")]
    pub(super) fn drop_asks(&mut self, asks: FxHashSet<Ask>) {
        for Ask { call, callee, context: id } in asks {
            let contexts = self.of.get_mut(&callee).into_iter().flatten();
            for context in contexts.filter(|it| it.id == id) {
                if let Some((_, n)) = context.askers.get_mut(&call) {
                    *n -= 1;
                    if *n == 0 {
                        context.askers.remove(&call);
                        self.unused.push((callee, id));
                    }
                }
            }
        }
    }
}

/// Whether a function stands where calls find it: in modules only, with a body that is understood.
pub(crate) fn is_callable(ir: &noisy_syntax::Ir, function: Op) -> bool {
    let mut at = function;
    while let Some(parent) = ir.parent_op(at) {
        if Flow::of(ir, parent) != Flow::Group {
            return false;
        }
        at = parent;
    }
    flow::body(ir, function).is_some() && ir.op(function).regions.len() == 1
}

/// Whether somebody may call a function that no call shows.
pub fn is_exposed(ir: &noisy_syntax::Ir, function: Op) -> bool {
    let Some((name, _)) = ir.extra(function).symbol else { return true };
    !flow::is_private(ir, function)
        || ir.symbol_users(name).iter().any(|&it| ir.op(it).kind != OpKind::FuncCall)
}

/// The function whose body a call runs.
pub(crate) fn followed(ir: &noisy_syntax::Ir, call: Op) -> Option<Op> {
    let data = ir.op(call);
    if data.kind != OpKind::FuncCall
        || matches!(data.form, noisy_syntax::Form::Broken | noisy_syntax::Form::Opaque)
    {
        return None;
    }
    let function = flow::callee(ir, call).filter(|&it| is_callable(ir, it))?;
    let args = ir.block(flow::entry_block(ir, flow::body(ir, function)?)).args.len();
    (args == data.operands.len() && flow::n_results(ir, function) == data.results.len())
        .then_some(function)
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// The contexts of a function, the assumed one first, then in the order of their first calls in the text.
    pub fn contexts(&self, ir: &noisy_syntax::Ir, function: Op) -> Vec<&Context<A::Fact>> {
        let mut out: Vec<_> = self.contexts.of.get(&function).into_iter().flatten().collect();
        if out.len() > 1 {
            let first = |it: &Context<A::Fact>| it.calls().map(|it| ir.start(it)).min();
            out.sort_by_cached_key(|it| {
                (!it.is_assumed, first(it), it.is_joined, format!("{:?}", it.args))
            });
        }
        out
    }

    /// Forgets all contexts.
    pub(super) fn clear_contexts(&mut self) {
        self.contexts = Contexts::default();
    }

    /// Forgets the contexts of what is to be solved anew or is gone.
    pub(super) fn forget_contexts(&mut self, function: Op) {
        if self.calls == Calls::Apart {
            for context in self.contexts.of.remove(&function).unwrap_or_default() {
                self.contexts.withdraw((function, context.id));
            }
            self.contexts.withdraw((function, 0));
            self.contexts.passed_over.remove(&function);
        }
    }

    /// Whether the facts of the values in a unit that is connected to others are those of its one context.
    pub(super) fn has_one_context(&self, unit: Op) -> bool {
        let contexts = self.contexts.of.get(&unit).map(Vec::as_slice);
        matches!(contexts, Some([it]) if it.is_assumed && it.askers.is_empty())
    }

    /// Whether a call runs the body of a function.
    pub(super) fn is_call_followed(&self, ir: &Input<'_, A::Base>, call: Op) -> bool {
        self.calls == Calls::Apart && followed(ir, call).is_some()
    }

    /// Whether an op is a function that is analyzed in contexts.
    pub(super) fn is_followed(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        self.calls == Calls::Apart && ir.op(op).kind == OpKind::FuncFunc && is_callable(ir, op)
    }

    /// Whether a function is entered at all.
    pub(super) fn is_called(&self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        self.calls != Calls::Apart
            || !is_callable(ir, function)
            || self.contexts.of.contains_key(&function)
    }

    /// A function that is not connected to others was read again: its assumed context is entered, or left.
    pub(super) fn assume(&mut self, ir: &Input<'_, A::Base>, function: Op) {
        if self.calls != Calls::Apart {
            return;
        }
        if !is_callable(ir, function) || !is_exposed(ir, function) {
            self.forget_contexts(function);
            return;
        }
        let args = self.assumed(ir, function);
        let contexts = self.contexts.of.entry(function).or_default();
        match contexts.first_mut() {
            Some(first) => first.args = args,
            None => contexts.push(Context { is_assumed: true, ..Context::new(0, args) }),
        }
    }

    pub(super) fn assumed(&mut self, ir: &Input<'_, A::Base>, function: Op) -> Vec<A::Fact> {
        let Some(body) = flow::body(ir, function) else { return Vec::new() };
        let args = ir.block(flow::entry_block(ir, body)).args.clone();
        let facts = args.iter().enumerate().map(|(index, &value)| {
            if self.carries(ir, value) {
                let fact = self.entry(ir, function, index, value);
                self.refined(ir, function, value, fact)
            } else {
                A::Fact::unknown()
            }
        });
        facts.collect()
    }

    /// Runs a function in a pass, if calls are followed: in the context that is assumed for it. Whether that was it.
    pub(super) fn run_function(&mut self, ir: &Input<'_, A::Base>, op: Op, live: bool) -> bool {
        if self.calls != Calls::Apart || !is_callable(ir, op) {
            return false;
        }
        if live && is_exposed(ir, op) {
            let args = self.assumed(ir, op);
            let _ = self.results_for(ir, op, args, None);
        }
        true
    }

    /// Runs a call, if it is followed. The results.
    pub(super) fn run_call(
        &mut self,
        ir: &Input<'_, A::Base>,
        call: Op,
        live: bool,
    ) -> Option<Vec<A::Fact>> {
        if self.calls != Calls::Apart || !live {
            return None;
        }
        let function = followed(ir, call)?;
        let body = flow::body(ir, function)?;
        let in_cycle = !self.rounds.is_empty() || !self.passes.is_empty();
        let mut args = Vec::new();
        for (at, &value) in ir.block(flow::entry_block(ir, body)).args.iter().enumerate() {
            if !self.carries(ir, value) {
                args.push(A::Fact::unknown());
                continue;
            }
            let fact = self.read(ir, call, at);
            if fact == A::Fact::bottom() {
                return Some(vec![A::Fact::bottom(); ir.op(call).results.len()]);
            }
            // What a body takes for granted of an argument keeps no contexts apart.
            let fact = self.refined(ir, function, value, fact);
            args.push(if in_cycle { self.unbounded(&fact) } else { fact });
        }
        Some(self.results_for(ir, function, args, Some(call)))
    }

    /// The results of a function in a context.
    fn results_for(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        args: Vec<A::Fact>,
        call: Option<Op>,
    ) -> Vec<A::Fact> {
        if !self.may_ask(ir, function, &args) {
            return vec![A::Fact::unknown(); flow::n_results(ir, function)];
        }
        let at = self.context_for(function, args);
        match call {
            Some(call) => self.note_ask(ir, call, function, at),
            None => {
                if let Some(context) = self.context(function, at) {
                    context.is_assumed = true;
                }
            }
        }
        self.results_of(ir, function, at)
    }

    /// The results of a context, which is solved if it is not.
    fn results_of(&mut self, ir: &Input<'_, A::Base>, function: Op, at: usize) -> Vec<A::Fact> {
        let turn = self.contexts.turn;
        let Some(context) = self.context(function, at) else { return Vec::new() };
        let (id, state) = (context.id, context.state);
        let low = match state {
            State::Done => None,
            State::Running(frame) => {
                self.contexts.stack[frame].is_head = true;
                Some(frame)
            }
            State::Open(then, low) if then == turn => Some(low),
            State::New | State::Open(..) if self.contexts.stack.is_empty() => {
                self.solve_from_here(ir, function, id);
                None
            }
            State::New if self.contexts.depth > PUT_OFF_DEPTH && self.contexts.n_recursive == 0 => {
                self.contexts.put_off.push((function, id));
                return vec![A::Fact::bottom(); flow::n_results(ir, function)];
            }
            // Calls nest deeper than a stack is.
            State::New | State::Open(..) => {
                stacker::maybe_grow(STACK.0, STACK.1, || self.solve_context(ir, function, at))
            }
        };
        if let (Some(low), Some(frame)) = (low, self.contexts.stack.last_mut()) {
            frame.low = frame.low.min(low);
        }
        self.context(function, at).map_or(Vec::new(), |it| it.results.clone())
    }

    /// Solves a context that is not asked for from within another one, and before it those that turn out to be too deep.
    pub(super) fn solve_from_here(&mut self, ir: &Input<'_, A::Base>, function: Op, id: u32) {
        let mut todo = vec![(function, id)];
        while let Some(&(function, id)) = todo.last() {
            let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
            let at = contexts.iter().position(|it| it.id == id);
            let Some(at) = at.filter(|&it| contexts[it].state != State::Done) else {
                todo.pop();
                continue;
            };
            let _ = self.solve_context(ir, function, at);
            todo.append(&mut self.contexts.put_off);
        }
    }

    /// Notes that a call asks for a context.
    fn note_ask(&mut self, ir: &Input<'_, A::Base>, call: Op, callee: Op, at: usize) {
        let Some(context) = self.context(callee, at).map(|it| it.id) else { return };
        let asker = self.contexts.asker.unwrap_or_else(|| (unit_of(ir, call), 0));
        let asks = self.contexts.asks.entry(asker).or_default();
        if asks.insert(Ask { call, callee, context })
            && let Some(context) = self.context(callee, at)
        {
            context.askers.entry(call).or_insert((asker.0, 0)).1 += 1;
        }
    }

    pub(super) fn context(&mut self, function: Op, at: usize) -> Option<&mut Context<A::Fact>> {
        self.contexts.of.get_mut(&function)?.get_mut(at)
    }

    /// Finds or makes the context for what is passed.
    pub(super) fn context_for(&mut self, function: Op, args: Vec<A::Fact>) -> usize {
        let may_join = self.may_join();
        let contexts = self.contexts.of.entry(function).or_default();
        if let Some(at) = contexts.iter().position(|it| !it.is_joined && it.args == args) {
            return at;
        }
        // What an edit leaves behind goes when it was followed to its end.
        let is_joined = may_join && contexts.iter().filter(|it| !it.is_joined).count() >= MAX_APART;
        let unbounded = |fact: A::Fact| self.analysis.unbounded(&fact).unwrap_or(fact);
        if is_joined && let Some(at) = contexts.iter().position(|it| it.is_joined) {
            let joined = &mut contexts[at];
            let mut has_moved = false;
            for (old, new) in joined.args.iter_mut().zip(args) {
                has_moved |= old.join(&unbounded(new)).is_yes();
            }
            if has_moved {
                self.contexts.has_moved = true;
                if !matches!(joined.state, State::Running(_)) {
                    joined.state = State::New;
                }
            }
            return at;
        }
        self.contexts.next += 1;
        let args = if is_joined { args.into_iter().map(unbounded).collect() } else { args };
        contexts.push(Context { is_joined, ..Context::new(self.contexts.next, args) });
        contexts.len() - 1
    }

    /// Solves a context. The outermost frame that it asks for, if it is part of a recursion that is not solved yet.
    fn solve_context(&mut self, ir: &Input<'_, A::Base>, function: Op, at: usize) -> Option<usize> {
        let n_results = flow::n_results(ir, function);
        let frame = self.contexts.stack.len();
        if self.contexts.depth > MAX_DEPTH {
            let unknown = A::Fact::unknown();
            let context = self.context(function, at)?;
            context.results = vec![unknown; n_results];
            context.state = State::Done;
            let calls: Vec<Op> = context.calls().collect();
            self.undecided.extend(calls);
            self.contexts.is_cut = true;
            return None;
        }
        self.contexts.stack.push(Frame { low: frame, is_head: false });
        let n_recursive = self.contexts.n_recursive;
        self.contexts.n_recursive += usize::from(self.call_graph.is_recursive(function));
        let n_open = self.contexts.open.len();
        if let Some(context) = self.context(function, at)
            && context.results.len() != n_results
        {
            context.results = vec![A::Fact::bottom(); n_results];
        }
        // What moved in the recursion around stays known while this one is iterated.
        let had_moved = self.contexts.has_moved;
        let mut number = 1;
        loop {
            if let Some(context) = self.context(function, at) {
                context.state = State::Running(frame);
            }
            self.contexts.has_moved = false;
            let Some(results) = self.evaluate(ir, function, at, number) else {
                // No frame around is part of a recursion.
                let context = self.context(function, at)?;
                context.state = State::New;
                let id = context.id;
                self.contexts.withdraw((function, id));
                self.contexts.stack.truncate(frame);
                self.contexts.n_recursive = n_recursive;
                return None;
            };
            let (low, is_head) = match self.contexts.stack.get(frame) {
                Some(it) => (it.low, it.is_head),
                None => (frame, false),
            };
            let is_recursive = is_head || low < frame;
            self.note_results(function, at, results, is_recursive);
            let turn = self.contexts.turn;
            if low < frame {
                self.contexts.has_moved |= had_moved;
                // What was opened in this frame depends on it, and so on what it depends on; another frame will have its number.
                for n in n_open..self.contexts.open.len() {
                    let (of, id) = self.contexts.open[n];
                    let contexts = self.contexts.of.get_mut(&of).into_iter().flatten();
                    for context in contexts.filter(|it| it.id == id) {
                        if let State::Open(_, its) = &mut context.state {
                            *its = low.min(*its);
                        }
                    }
                }
                let context = self.context(function, at)?;
                context.state = State::Open(turn, low);
                let id = context.id;
                self.contexts.open.push((function, id));
                self.contexts.stack.truncate(frame);
                self.contexts.n_recursive = n_recursive;
                return Some(low);
            }
            if is_head && self.contexts.has_moved {
                self.contexts.turn += 1;
                number += 1;
                continue;
            }
            break;
        }
        self.contexts.stack.truncate(frame);
        self.contexts.n_recursive = n_recursive;
        // Nothing moved in the last turn, so what was evaluated in it is solved. What only earlier turns asked for was evaluated from less.
        let turn = self.contexts.turn;
        for (of, id) in self.contexts.open.split_off(n_open) {
            let contexts = self.contexts.of.get_mut(&of).into_iter().flatten();
            for context in contexts.filter(|it| it.id == id) {
                context.state = match context.state {
                    State::Open(then, _) if then != turn => State::New,
                    _ => State::Done,
                };
            }
        }
        self.context(function, at)?.state = State::Done;
        // A turn of the recursion around in which this one moved is not its last.
        self.contexts.has_moved = had_moved || number > 1;
        None
    }

    /// Takes over what a body returns. In a recursion results only grow, and those that are saturated and would go on to grow are unbounded.
    fn note_results(&mut self, function: Op, at: usize, results: Vec<A::Fact>, joins: bool) {
        let mut has_moved = false;
        let analysis = &self.analysis;
        let contexts = self.contexts.of.get_mut(&function);
        let Some(context) = contexts.and_then(|it| it.get_mut(at)) else { return };
        for (old, new) in context.results.iter_mut().zip(results) {
            if !joins {
                *old = new;
                continue;
            }
            let was_saturated = analysis.unbounded(old).is_some();
            let before = old.clone();
            if old.join(&new).is_yes() {
                if was_saturated {
                    *old = analysis.unbounded(old).unwrap_or_else(|| old.clone());
                }
                has_moved |= *old != before;
            }
        }
        self.contexts.has_moved |= has_moved;
    }
}
