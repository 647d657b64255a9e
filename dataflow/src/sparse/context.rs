//! A function in a context, and which functions calls are followed into.

use noisy_syntax::{Ir, Op, OpKind};

use super::Domain;
use super::few::{Facts, FewMap};
use crate::flow::{self, Flow};

/// How often what a context takes or returns rises before it is widened.
pub(super) const MOST_RISES: u32 = 64;

/// How deep calls and regions may nest, each call counted with its body, before what a call gives is unknown: some 2 kB of stack each.
pub const MAX_DEPTH: usize = 400_000;
/// Bytes of stack that the work on one body has at least, and how many are taken when there are fewer.
const STACK: (usize, usize) = (256 << 10, 8 << 20);

/// Does work on one body, for calls nest deeper than a stack is: at most [`MAX_DEPTH`] deep, which the caller counts.
pub fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK.0, STACK.1, work)
}

/// A function and its context, by its id; a unit that is no function, and 0.
pub(super) type Asker = (Op, u32);

/// A call, and the context of its callee that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ask {
    pub(super) call: Op,
    pub(super) callee: Op,
    pub(super) context: u32,
}

/// Where the solution of a context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// To be evaluated.
    New,
    /// Being evaluated, or part of the recursion that is being solved: what it returns is provisional.
    Open,
    /// Solved.
    Done,
}

/// A function in a context.
#[derive(Clone, Debug)]
pub struct Context<F> {
    /// Names it within its function.
    pub id: u32,
    /// What is passed, by argument.
    pub args: Facts<F>,
    /// What is returned, by result.
    pub(super) results: Facts<F>,
    /// Whether it is assumed, because callers may not be in sight.
    pub is_assumed: bool,
    /// The calls that ask for this context, each with its unit and in how many contexts of that it asks.
    pub(super) askers: FewMap<Op, (Op, u32)>,
    pub(super) is_joined: bool,
    pub(super) state: State,
    /// Its number in the recursion that is being solved.
    pub(super) member: u32,
    /// How often it was evaluated.
    pub(super) n_evaluated: u32,
    /// How often what it takes or returns became more than it was.
    pub(super) n_rises: u32,
    /// For how much it asked when nothing in its recursion had returned.
    pub(super) n_asks_first: u32,
    /// The entry of its component in which it was first evaluated (`transcript.rs`).
    pub(super) entry: u32,
}

impl<F> Context<F> {
    pub(super) fn new(id: u32, args: Facts<F>) -> Self {
        Self {
            id,
            args,
            results: Facts::new(),
            is_assumed: false,
            askers: FewMap::default(),
            is_joined: false,
            state: State::New,
            member: 0,
            n_evaluated: 0,
            n_rises: 0,
            n_asks_first: 0,
            entry: 0,
        }
    }

    /// The calls in this context, in no particular order.
    pub fn calls(&self) -> impl Iterator<Item = Op> {
        self.askers.iter().map(|it| it.0)
    }

    /// A call in a unit asks for it, in one context more.
    pub(super) fn asked_by(&mut self, call: Op, unit: Op) {
        self.askers.insert(call, (unit, 0));
        if let Some((of, n)) = self.askers.get_mut(call) {
            (*of, *n) = (unit, *n + 1);
        }
    }

    pub(super) fn is_solved(&self) -> bool {
        self.state == State::Done
    }

    /// It is to be evaluated again, as if it never was. What it returned.
    pub(super) fn renew(&mut self) -> Facts<F> {
        self.state = State::New;
        (self.n_evaluated, self.n_rises) = (0, 0);
        std::mem::take(&mut self.results)
    }

    /// The calls, each with its unit.
    pub(super) fn asking(&self) -> impl Iterator<Item = (Op, Op)> {
        self.askers.iter().map(|(call, it)| (call, it.0))
    }

    /// The units that these calls stand in, in no particular order, some perhaps repeatedly.
    pub(super) fn callers(&self) -> impl Iterator<Item = Op> {
        self.askers.iter().map(|it| it.1.0)
    }
}

/// Takes over what became of facts that only rise, widened if that happens again and again. Whether it is more.
pub(super) fn rise<F: Domain>(
    n_rises: &mut u32,
    facts: &mut [F],
    by: impl Iterator<Item = F>,
    rising: impl Fn(&F, F) -> F,
) -> bool {
    let mut has_risen = false;
    for (fact, by) in facts.iter_mut().zip(by) {
        let mut next = fact.clone();
        if next.join(&by).is_yes() {
            let next = rising(fact, next);
            let next = if *n_rises < MOST_RISES { next } else { fact.widened(next) };
            has_risen |= next != *fact;
            *fact = next;
        }
    }
    *n_rises += u32::from(has_risen);
    has_risen
}

/// Whether a function stands where calls find it: in modules only, with a body that is understood.
pub fn is_callable(ir: &Ir, function: Op) -> bool {
    let mut at = function;
    while let Some(parent) = ir.parent_op(at) {
        if Flow::of(ir, parent) != Flow::Group {
            return false;
        }
        at = parent;
    }
    flow::body(ir, function).is_some() && ir.op(function).regions.len() == 1
}

/// Sorts functions by their names, and by those of the modules around; what has the same, by its place in the text.
pub(super) fn sort_by_name(ir: &Ir, functions: &mut [Op]) {
    let name = |op: Op| ir.extra(op).symbol.map_or("", |it| ir.interner.str(it.0));
    functions.sort_by_cached_key(|&it| name(it));
    for same in functions.chunk_by_mut(|&a, &b| name(a) == name(b)).filter(|it| it.len() > 1) {
        same.sort_by_cached_key(|&function| {
            let around = std::iter::successors(ir.parent_op(function), |&it| ir.parent_op(it));
            (around.map(name).collect::<Vec<_>>(), ir.start(function))
        });
    }
}

/// Whether somebody may call a function that no call shows.
pub fn is_exposed(ir: &Ir, function: Op) -> bool {
    let Some((name, _)) = ir.extra(function).symbol else { return true };
    !flow::is_private(ir, function)
        || ir.symbol_users(name).iter().any(|&it| ir.op(it).kind != OpKind::FuncCall)
}

/// The function whose body a call runs.
pub fn followed(ir: &Ir, call: Op) -> Option<Op> {
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
