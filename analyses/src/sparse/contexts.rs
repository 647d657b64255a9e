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
//! # From an edit
//!
//! Which calls came first decides which vectors are kept apart, and what a recursion has found so far depends on the order of calls. So
//! the units that are connected (`call_index.rs`) are solved as a whole, in textual order, and only they. One exception: in a function
//! that nothing calls, values have the facts of its one context, so an edit is followed op by op until it comes to a call
//! whose operands change. *Cost.* What it changes; or what calls and is called around it, each function once per context.

use noisy_syntax::{Block, Def, Op, OpKind, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::{
    AnalysisContext, Calls, Domain, Observer, Pass, Round, Sparse, SparseForward, values_within,
};
use crate::flow::{self, Flow};
use crate::lattice::Lattice;

/// The most argument vectors of a function that are kept apart.
pub const MAX_APART: usize = 16;
/// How deep calls and regions may nest; the results of calls beyond that are unknown.
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
    results: Vec<F>,
    /// Whether it is assumed, because callers may not be in sight.
    pub is_assumed: bool,
    /// The calls in this context, in no particular order.
    pub calls: SmallVec<[Op; 2]>,
    is_joined: bool,
    state: State,
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
    of: FxHashMap<Op, Vec<Context<F>>>,
    stack: Vec<Frame>,
    /// Functions whose body was passed over since it was reset.
    passed_over: FxHashSet<Op>,
    /// Functions that are being evaluated, in some context; and what their values had in other contexts meanwhile.
    running: FxHashMap<Op, Vec<F>>,
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
            stack: Vec::new(),
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

/// What the pass around a call keeps for itself.
struct Outer {
    rounds: SmallVec<[Round; 2]>,
    passes: SmallVec<[Pass; 2]>,
    fuel: u64,
    cycle_start: u32,
    is_degraded: bool,
}

/// What an evaluation noted about ops and blocks.
#[derive(Default)]
struct Place {
    ops: Vec<(Op, bool, u32)>,
    blocks: Vec<(Block, bool)>,
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
            let first = |it: &Context<A::Fact>| it.calls.iter().map(|&it| ir.start(it)).min();
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
            self.contexts.of.remove(&function);
            self.contexts.passed_over.remove(&function);
        }
    }

    /// Whether the facts of the values in a unit that is connected to others are those of its one context.
    pub(super) fn has_one_context(&self, unit: Op) -> bool {
        let contexts = self.contexts.of.get(&unit).map(Vec::as_slice);
        matches!(contexts, Some([it]) if it.is_assumed && it.calls.is_empty())
    }

    /// Whether a call runs the body of a function.
    pub(super) fn is_call_followed(&self, ir: &AnalysisContext<'_, A::Base>, call: Op) -> bool {
        self.calls == Calls::Apart && followed(ir, call).is_some()
    }

    /// Whether an op is a function that is analyzed in contexts.
    pub(super) fn is_followed(&self, ir: &AnalysisContext<'_, A::Base>, op: Op) -> bool {
        self.calls == Calls::Apart && ir.op(op).kind == OpKind::FuncFunc && is_callable(ir, op)
    }

    /// Whether a function is entered at all.
    pub(super) fn is_called(&self, ir: &AnalysisContext<'_, A::Base>, function: Op) -> bool {
        self.calls != Calls::Apart
            || !is_callable(ir, function)
            || self.contexts.of.contains_key(&function)
    }

    /// A function that is not connected to others was read again: its assumed context is entered, or left.
    pub(super) fn assume(&mut self, ir: &AnalysisContext<'_, A::Base>, function: Op) {
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
            None => contexts.push(Context {
                id: 0,
                args,
                results: Vec::new(),
                is_assumed: true,
                calls: SmallVec::new(),
                is_joined: false,
                state: State::New,
            }),
        }
    }

    fn assumed(&mut self, ir: &AnalysisContext<'_, A::Base>, function: Op) -> Vec<A::Fact> {
        let Some(body) = flow::body(ir, function) else { return Vec::new() };
        let args = ir.block(flow::entry_block(ir, body)).args.clone();
        let facts = args.iter().enumerate().map(|(index, &value)| {
            if self.analysis.carries(ir, value) {
                let fact = self.analysis.entry(ir, function, index, value, &[]);
                self.analysis.refine(ir, value, fact)
            } else {
                A::Fact::unknown()
            }
        });
        facts.collect()
    }

    /// Runs a function in a pass, if calls are followed: in the context that is assumed for it. Whether that was it.
    pub(super) fn run_function(
        &mut self,
        ir: &AnalysisContext<'_, A::Base>,
        op: Op,
        live: bool,
    ) -> bool {
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
        ir: &AnalysisContext<'_, A::Base>,
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
            if !self.analysis.carries(ir, value) {
                args.push(A::Fact::unknown());
                continue;
            }
            let fact = self.read(ir, call, at);
            if fact == A::Fact::bottom() {
                return Some(vec![A::Fact::bottom(); ir.op(call).results.len()]);
            }
            // What a body takes for granted of an argument keeps no contexts apart.
            let fact = self.analysis.refine(ir, value, fact);
            args.push(if in_cycle { self.unbounded(&fact) } else { fact });
        }
        Some(self.results_for(ir, function, args, Some(call)))
    }

    /// The results of a function in a context.
    fn results_for(
        &mut self,
        ir: &AnalysisContext<'_, A::Base>,
        function: Op,
        args: Vec<A::Fact>,
        call: Option<Op>,
    ) -> Vec<A::Fact> {
        let at = self.context_for(function, args);
        let Some(context) = self.context(function, at) else { return Vec::new() };
        match call {
            Some(call) => {
                if !context.calls.contains(&call) {
                    context.calls.push(call);
                }
            }
            None => context.is_assumed = true,
        }
        let turn = self.contexts.turn;
        let state = self.context(function, at).map_or(State::Done, |it| it.state);
        let low = match state {
            State::Done => None,
            State::Running(frame) => {
                self.contexts.stack[frame].is_head = true;
                Some(frame)
            }
            State::Open(then, low) if then == turn => Some(low),
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

    fn context(&mut self, function: Op, at: usize) -> Option<&mut Context<A::Fact>> {
        self.contexts.of.get_mut(&function)?.get_mut(at)
    }

    /// Finds or makes the context for what is passed.
    fn context_for(&mut self, function: Op, args: Vec<A::Fact>) -> usize {
        let contexts = self.contexts.of.entry(function).or_default();
        if let Some(at) = contexts.iter().position(|it| !it.is_joined && it.args == args) {
            return at;
        }
        let is_joined = contexts.iter().filter(|it| !it.is_joined).count() >= MAX_APART;
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
        contexts.push(Context {
            id: self.contexts.next,
            args: if is_joined { args.into_iter().map(unbounded).collect() } else { args },
            results: Vec::new(),
            is_assumed: false,
            calls: SmallVec::new(),
            is_joined,
            state: State::New,
        });
        contexts.len() - 1
    }

    /// Solves a context. The outermost frame that it asks for, if it is part of a recursion that is not solved yet.
    fn solve_context(
        &mut self,
        ir: &AnalysisContext<'_, A::Base>,
        function: Op,
        at: usize,
    ) -> Option<usize> {
        let n_results = flow::n_results(ir, function);
        let frame = self.contexts.stack.len();
        if self.contexts.depth > MAX_DEPTH {
            let unknown = A::Fact::unknown();
            let context = self.context(function, at)?;
            context.results = vec![unknown; n_results];
            context.state = State::Done;
            let calls = context.calls.clone();
            self.undecided.extend(calls);
            return None;
        }
        self.contexts.stack.push(Frame { low: frame, is_head: false });
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
            let results = self.evaluate(ir, function, at, number);
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

    /// Passes over the body of a function in a context; what it returns. The facts of its values are joined with what they were.
    fn evaluate(
        &mut self,
        ir: &AnalysisContext<'_, A::Base>,
        function: Op,
        at: usize,
        number: u64,
    ) -> Vec<A::Fact> {
        let n_results = flow::n_results(ir, function);
        let Some(region) = flow::body(ir, function) else { return Vec::new() };
        let Some(context) = self.context(function, at) else { return Vec::new() };
        let (id, args) = (context.id, context.args.clone());
        let outer = Outer {
            rounds: std::mem::take(&mut self.rounds),
            passes: std::mem::take(&mut self.passes),
            fuel: self.fuel,
            cycle_start: self.cycle_start,
            is_degraded: std::mem::replace(&mut self.is_degraded, false),
        };
        self.contexts.depth += 1;
        self.observer.enter(function, id, number);
        let is_outermost = !self.contexts.running.contains_key(&function);
        let mut values: Vec<Value> = Vec::new();
        let mut place = None;
        if !self.contexts.passed_over.insert(function) {
            values_within(ir, function, &mut values);
            place = (!is_outermost).then(|| {
                let mut place = Place::default();
                self.place(ir, region, &mut place);
                place
            });
            self.unreach(ir, region);
        }
        if is_outermost {
            self.contexts.running.insert(function, Vec::new());
        }
        let mut before: Vec<A::Fact> = values
            .iter()
            .map(|it| std::mem::replace(&mut self.facts[it.index()], A::Fact::bottom()))
            .collect();
        let n_dirty = self.dirty.len();
        self.clock += 1;
        if self.checks_order {
            self.cycle_start = self.clock;
        }
        self.reached[function.index()] = true;
        self.stamp[function.index()] = self.clock;
        let entry = flow::entry_block(ir, region);
        let header = ir.region(region).entry;
        if header != entry {
            self.live[header.index()] = true;
            self.set_unknown(ir, header, true);
        }
        self.live[entry.index()] = true;
        for (&value, fact) in ir.block(entry).args.iter().zip(args) {
            if self.analysis.carries(ir, value) {
                let _ = self.set(ir, value, fact);
            }
        }
        self.run_region(ir, region, true);
        let results = self.returned_by(ir, region, n_results);
        self.join_contexts(ir, function, &values, &mut before, place);
        self.dirty.truncate(n_dirty);
        self.observer.leave();
        self.contexts.depth -= 1;
        self.rounds = outer.rounds;
        self.passes = outer.passes;
        self.fuel = outer.fuel;
        self.cycle_start = outer.cycle_start;
        self.is_degraded = outer.is_degraded;
        results
    }

    /// Joins what the values of a function have in a context with what they have in others; in the midst of the evaluation of another context,
    /// everything is left as that one had it.
    fn join_contexts(
        &mut self,
        ir: &AnalysisContext<'_, A::Base>,
        function: Op,
        values: &[Value],
        before: &mut [A::Fact],
        place: Option<Place>,
    ) {
        let Some(place) = place else {
            let meanwhile = self.contexts.running.remove(&function).unwrap_or_default();
            for (value, before) in values.iter().zip(before) {
                let _ = self.facts[value.index()].join(before);
            }
            if !meanwhile.is_empty() {
                let mut values = Vec::new();
                values_within(ir, function, &mut values);
                for (value, other) in values.iter().zip(&meanwhile) {
                    let _ = self.facts[value.index()].join(other);
                }
            }
            return;
        };
        let meanwhile = self.contexts.running.entry(function).or_default();
        meanwhile.resize(values.len(), A::Fact::bottom());
        for ((value, before), other) in values.iter().zip(before).zip(meanwhile) {
            let fact = &mut self.facts[value.index()];
            let _ = other.join(fact);
            std::mem::swap(fact, before);
        }
        self.restore(place);
    }

    /// How far the evaluation of a body has come.
    fn place(&self, ir: &AnalysisContext<'_, A::Base>, region: Region, out: &mut Place) {
        let entry = ir.region(region).entry;
        out.blocks.push((entry, self.live[entry.index()]));
        for op in ir.items(region) {
            out.ops.push((op, self.reached[op.index()], self.stamp[op.index()]));
            if ir.op(op).kind == OpKind::Label {
                let block = ir.label_block(op);
                out.blocks.push((block, self.live[block.index()]));
            }
            for &(_, inner) in &ir.op(op).regions {
                self.place(ir, inner, out);
            }
        }
    }

    fn restore(&mut self, place: Place) {
        for (op, reached, stamp) in place.ops {
            self.reached[op.index()] = reached;
            self.stamp[op.index()] = stamp;
        }
        for (block, live) in place.blocks {
            self.live[block.index()] = live;
        }
    }

    /// Forgets that ops of a region were reached and visited.
    fn unreach(&mut self, ir: &AnalysisContext<'_, A::Base>, region: Region) {
        for op in ir.items(region) {
            self.reached[op.index()] = false;
            self.stamp[op.index()] = 0;
            if ir.op(op).kind == OpKind::Label {
                self.live[ir.label_block(op).index()] = false;
            }
            for &(_, inner) in &ir.op(op).regions {
                self.live[ir.region(inner).entry.index()] = false;
                self.unreach(ir, inner);
            }
        }
    }

    /// What the live returns of a body give, joined; unknown if a live block ends otherwise.
    fn returned_by(
        &self,
        ir: &AnalysisContext<'_, A::Base>,
        region: Region,
        n: usize,
    ) -> Vec<A::Fact> {
        let mut out = vec![A::Fact::bottom(); n];
        let unknown = || vec![A::Fact::unknown(); n];
        if n == 0 {
            return out;
        }
        if !self.is_block_live(flow::entry_block(ir, region)) {
            return unknown();
        }
        for block in ir.blocks(region) {
            if !self.is_block_live(block) {
                continue;
            }
            let Some(end) = ir.last_op(block) else { return unknown() };
            if ir.op(end).kind == OpKind::FuncReturn && ir.op(end).operands.len() == n {
                for (index, fact) in out.iter_mut().enumerate() {
                    let _ = fact.join(&self.read_passed(ir, end, index));
                }
            } else if ir.extra(end).successors.is_empty() {
                return unknown();
            }
        }
        out
    }

    /// Whether what a value is computed from was reached: then bottom says that it is never computed.
    pub(super) fn is_computed(&self, ir: &AnalysisContext<'_, A::Base>, value: Value) -> bool {
        match ir.value(value).def {
            Def::Result(op, _) => self.reached[op.index()],
            Def::Argument(block, _) => self.live[block.index()],
        }
    }
}
