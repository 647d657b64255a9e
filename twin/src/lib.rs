//! A slow twin of the solver of `noisy-dataflow`. It iterates the same equations to their least
//! solution, in no particular order, without increments and without memory.
//!
//! It shares only the transfer functions and the IR with the solver, and reads the structure of ops
//! itself. Functions are evaluated in all requested contexts until no result changes. A body is
//! visited until no fact in it changes. A replayed loop runs for its number of iterations, any
//! other loop until its carried facts are stable.
//!
//! *Laws* of an analysis, on random programs:
//! - The solver is never below the twin.
//! - The solver equals the twin if nothing was widened and no budget was exhausted (saturated facts
//!   count as equal).
//! - After every edit of a random script, the solver equals a solver from scratch.

use std::collections::{HashMap, HashSet};

use noisy_dataflow::flow::{self, Interval, TripCount};
use noisy_dataflow::lattice::Lattice;
use noisy_dataflow::sparse::{
    AnalysisInput, BaseAnalyses, CallPolicy, Domain, LoopPolicy, SparseForward,
};
use noisy_syntax::{AttrData, Block, Op, OpKind, Region, Value};

/// Limit on the iterations of a loop, the passes over a region and the sweeps over all contexts. If
/// the twin reaches a limit, its facts are below the least solution.
const MAX_ROUNDS: usize = 80;
/// Limit on the visits of ops and on the facts that are carried between iterations: nested loops
/// take as many iterations as the product of theirs.
const MAX_WORK: usize = 2_000_000;
/// Limit on contexts of a function.
const MAX_CONTEXTS: usize = 40;

/// A function in a context.
#[derive(Debug)]
struct TwinContext<F> {
    function: Op,
    args: Vec<F>,
    results: Vec<F>,
}

/// The facts of an analysis, computed by the slow twin.
#[derive(Debug)]
pub struct Twin<'a, A: SparseForward> {
    input: &'a AnalysisInput<'a, A::Base>,
    analysis: A,
    calls: CallPolicy,
    /// True if saturated facts count as equal.
    collapses: bool,
    functions: HashMap<String, Op>,
    known: Vec<TwinContext<A::Fact>>,
    /// True if calls of the evaluated function are opaque.
    is_by_itself: bool,
    /// Facts in the evaluated context.
    facts: HashMap<Value, A::Fact>,
    /// The join of the facts of all contexts.
    all: HashMap<Value, A::Fact>,
    reached: HashSet<Op>,
    has_changed: bool,
    work: usize,
    /// True if an iteration reached a limit.
    is_cut: bool,
}

impl<'a, A: SparseForward> Twin<'a, A> {
    /// Iterates an analysis to its least solution. If `collapses`, saturated facts count as equal,
    /// so that unbounded growth ends.
    pub fn solve(on: &'a AnalysisInput<'a, A::Base>, analysis: A, collapses: bool) -> Self {
        let ir = on.ir;
        let symbol = |it: Op| ir.extra(it).symbol.map(|it| ir.interner.str(it.0).to_owned());
        let functions = ir.functions().into_iter().filter_map(|it| Some((symbol(it)?, it)));
        let mut it = Self {
            input: on,
            calls: analysis.calls(),
            analysis,
            collapses,
            functions: functions.collect(),
            known: Vec::new(),
            is_by_itself: false,
            facts: HashMap::new(),
            all: HashMap::new(),
            reached: HashSet::new(),
            has_changed: false,
            work: 0,
            is_cut: false,
        };
        for function in ir.functions() {
            if !it.follows() || it.is_exposed(function) {
                let args = it.assumed_arguments(function);
                it.known.push(TwinContext { function, args, results: it.bottoms(function) });
            }
        }
        it.sweep(0);
        if matches!(it.calls, CallPolicy::Followed { analyzes_uncalled: true, .. }) {
            // Uncalled functions are solved separately, with assumed arguments.
            let first = it.known.len();
            it.is_by_itself = true;
            for function in ir.functions() {
                if !it.known.iter().any(|it| it.function == function) {
                    let args = it.assumed_arguments(function);
                    it.known.push(TwinContext { function, args, results: it.bottoms(function) });
                }
            }
            it.sweep(first);
        }
        it
    }

    /// Returns the least fact of a value, over all contexts.
    pub fn fact(&self, value: Value) -> A::Fact {
        self.all.get(&value).cloned().unwrap_or_else(A::Fact::bottom)
    }

    /// Returns the analysis.
    pub fn analysis(&self) -> &A {
        &self.analysis
    }

    /// Returns the number of contexts of a function.
    pub fn n_contexts(&self, function: Op) -> usize {
        self.known.iter().filter(|it| it.function == function).count()
    }

    /// Returns true if an iteration reached a limit: then facts may be below the least solution.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn follows(&self) -> bool {
        self.calls != CallPolicy::Opaque
    }

    /// Evaluates the contexts from index `first` on until nothing changes.
    fn sweep(&mut self, first: usize) {
        for number in 0.. {
            self.has_changed = false;
            let mut at = first;
            while at < self.known.len() {
                self.evaluate(at);
                at += 1;
            }
            if !self.has_changed {
                return;
            }
            if number == MAX_ROUNDS || self.is_spent() {
                self.is_cut = true;
                return;
            }
        }
    }

    fn is_spent(&self) -> bool {
        self.work > MAX_WORK
    }

    fn bottoms(&self, function: Op) -> Vec<A::Fact> {
        let ir = self.input.ir;
        let returns = self.ends(ir.op(function).regions[0].1, OpKind::FuncReturn);
        let n = returns.first().map_or(0, |&it| ir.op(it).operands.len());
        vec![A::Fact::bottom(); n]
    }

    /// Returns true if a function may have unknown callers.
    fn is_exposed(&self, function: Op) -> bool {
        let ir = self.input.ir;
        let visibility = ir.attr(function, "sym_visibility").map(|it| ir.interner.attr_data(it));
        let is_private = matches!(visibility, Some(AttrData::String(name, _)) if ir.interner.str(*name) == "private");
        let mut is_taken = false;
        ir.walk(ir.root(), &mut |op| {
            is_taken |= ir.op(op).kind == OpKind::FuncConstant
                && self.function_named_by(op, "value") == Some(function);
        });
        !is_private || is_taken
    }

    /// Returns the function that an attribute names.
    fn function_named_by(&self, op: Op, attribute: &str) -> Option<Op> {
        let ir = self.input.ir;
        let AttrData::Symbol(path) = ir.interner.attr_data(ir.attr(op, attribute)?) else {
            return None;
        };
        self.functions.get(ir.interner.str(path[0])).copied()
    }

    fn args_of(&self, function: Op) -> Vec<Value> {
        self.input.ir.block(self.entry(self.input.ir.op(function).regions[0].1)).args.to_vec()
    }

    fn assumed_arguments(&mut self, function: Op) -> Vec<A::Fact> {
        let mut out = Vec::new();
        for (at, value) in self.args_of(function).into_iter().enumerate() {
            out.push(
                if self.analysis.has_fact(&self.input.ir.interner, self.input.ir.value(value).ty) {
                    let fact = self.input.query_unrecorded(|cx| {
                        self.analysis.entry_argument_fact(cx, function, at, value, &[])
                    });
                    self.input.query_unrecorded(|cx| self.analysis.refine(cx, value, fact))
                } else {
                    A::Fact::unknown()
                },
            );
        }
        out
    }

    fn entry(&self, region: Region) -> Block {
        let ir = self.input.ir;
        match ir.items(region).next() {
            Some(first) if ir.op(first).kind == OpKind::Label => ir.label_block(first),
            _ => ir.region(region).entry,
        }
    }

    /// Returns the ops of a kind that end blocks of a region.
    fn ends(&self, region: Region, kind: OpKind) -> Vec<Op> {
        let ir = self.input.ir;
        let last = ir.blocks(region).into_iter().filter_map(|it| ir.last_op(it));
        last.filter(|&it| ir.op(it).kind == kind).collect()
    }

    fn evaluate(&mut self, at: usize) {
        let (function, args) = (self.known[at].function, self.known[at].args.clone());
        let region = self.input.ir.op(function).regions[0].1;
        self.facts.clear();
        self.reached.clear();
        for (value, fact) in self.args_of(function).into_iter().zip(args) {
            self.set(value, fact);
        }
        self.region(region);
        let n = self.known[at].results.len();
        let given = self.joined(&self.ends(region, OpKind::FuncReturn), 0, n, None);
        for (index, fact) in given.into_iter().enumerate() {
            let fact = self.collapsed(fact);
            self.has_changed |= self.known[at].results[index].join(&fact).is_yes();
        }
        #[allow(clippy::iter_over_hash_type, reason = "joins commute")]
        for (value, fact) in &self.facts {
            let all = self.all.entry(*value).or_insert_with(A::Fact::bottom);
            self.has_changed |= all.join(fact).is_yes();
        }
    }

    fn collapsed(&self, fact: A::Fact) -> A::Fact {
        let unbounded = if self.collapses { self.analysis.unbounded(&fact) } else { None };
        unbounded.unwrap_or(fact)
    }

    fn set(&mut self, value: Value, fact: A::Fact) {
        if self.analysis.has_fact(&self.input.ir.interner, self.input.ir.value(value).ty) {
            let is_bottom = fact == A::Fact::bottom();
            let fact = if is_bottom {
                fact
            } else {
                self.input.query_unrecorded(|cx| self.analysis.refine(cx, value, fact))
            };
            self.facts.insert(value, fact);
        }
    }

    fn read(&self, op: Op, index: usize) -> A::Fact {
        let value = self.input.ir.op(op).operands[index].value;
        match value.filter(|&it| {
            self.analysis.has_fact(&self.input.ir.interner, self.input.ir.value(it).ty)
        }) {
            Some(value) => self.facts.get(&value).cloned().unwrap_or_else(A::Fact::bottom),
            None => A::Fact::unknown(),
        }
    }

    fn reads(&self, op: Op, from: usize) -> Vec<A::Fact> {
        (from..self.input.ir.op(op).operands.len()).map(|at| self.read(op, at)).collect()
    }

    fn interval(&self, op: Op, index: usize) -> Interval {
        let value = self.input.ir.op(op).operands[index].value;
        value.map_or(Interval::Unknown, |it| {
            let (ir, fact) = (self.input.ir, self.read(op, index));
            let ty = ir.value(it).ty;
            let known = self.analysis.interval(&ir.interner, ty, &fact);
            known.unwrap_or_else(|| self.input.base.interval(&ir.interner, ty, it))
        })
    }

    fn may_take(&self, op: Op, index: usize) -> bool {
        let on_true = match self.input.ir.op(op).kind {
            OpKind::CfCondBr | OpKind::ScfIf => index == 0,
            OpKind::ScfCondition => index == 1,
            _ => return true,
        };
        match self.interval(op, 0) {
            Interval::Empty => false,
            Interval::Bounded { lo, hi } => lo != hi || on_true == (lo != 0),
            Interval::Unknown => true,
        }
    }

    fn trips(&self, op: Op) -> TripCount {
        if self.input.ir.op(op).kind == OpKind::AffineFor {
            return flow::trip_count(self.input.ir, op, &|at| self.interval(op, at).bounds());
        }
        let bounds: Vec<_> = (0..3).filter_map(|at| self.interval(op, at).bounds()).collect();
        let &[from, to, (step, most_step)] = bounds.as_slice() else { return TripCount::ANY };
        if step <= 0 {
            return TripCount::ANY;
        }
        let n =
            |from: i128, to: i128, step: i128| u64::try_from((to - from + step - 1).max(0) / step);
        let (Ok(least), Ok(most)) = (n(from.1, to.0, most_step), n(from.0, to.1, step)) else {
            return TripCount::ANY;
        };
        TripCount { least, most: Some(most) }
    }

    /// Returns the join of the operands, from index `from` on, of the terminators that are reached
    /// and may branch to successor `way`.
    fn joined(&self, ends: &[Op], from: usize, n: usize, way: Option<usize>) -> Vec<A::Fact> {
        let mut out = vec![A::Fact::bottom(); n];
        for &end in ends {
            if self.reached.contains(&end) && way.is_none_or(|it| self.may_take(end, it)) {
                for (index, fact) in out.iter_mut().enumerate() {
                    let _ = fact.join(&self.read(end, from + index));
                }
            }
        }
        out
    }

    /// Removes all facts within a region.
    fn forget(&mut self, region: Region) {
        let ir = self.input.ir;
        let mut inside = ir.block(ir.region(region).entry).args.to_vec();
        ir.walk(region, &mut |op| {
            self.reached.remove(&op);
            inside.extend(&ir.op(op).results);
            if ir.op(op).kind == OpKind::Label {
                inside.extend(&ir.block(ir.label_block(op)).args);
            }
            for &(_, inner) in &ir.op(op).regions {
                inside.extend(&ir.block(ir.region(inner).entry).args);
            }
        });
        for value in inside {
            self.facts.remove(&value);
        }
    }

    /// Visits the live blocks of a region until nothing changes. The facts of its entry are set.
    fn region(&mut self, region: Region) {
        let ir = self.input.ir;
        let mut live = HashSet::from([self.entry(region)]);
        for number in 0.. {
            self.work += self.facts.len();
            let before = (self.facts.clone(), live.len());
            for block in ir.blocks(region) {
                if !live.contains(&block) {
                    continue;
                }
                for op in ir.block_ops(block).collect::<Vec<_>>() {
                    self.op(op);
                    for (index, successor) in ir.extra(op).successors.iter().enumerate() {
                        let Some(to) = successor.block.filter(|_| self.may_take(op, index)) else {
                            continue;
                        };
                        live.insert(to);
                        for (at, &value) in ir.block(to).args.iter().enumerate() {
                            let mut fact =
                                self.facts.get(&value).cloned().unwrap_or_else(A::Fact::bottom);
                            let _ =
                                fact.join(&self.read(op, successor.operands.start as usize + at));
                            let fact = self.collapsed(fact);
                            self.set(value, fact);
                        }
                    }
                }
            }
            if before == (self.facts.clone(), live.len()) {
                return;
            }
            if number == MAX_ROUNDS || self.is_spent() {
                self.is_cut = true;
                return;
            }
        }
    }

    fn op(&mut self, op: Op) {
        self.work += 1;
        if self.is_spent() {
            // The facts of other iterations are below the least solution.
            self.is_cut = true;
            return;
        }
        let ir = self.input.ir;
        let data = ir.op(op);
        self.reached.insert(op);
        let regions: Vec<Region> = data.regions.iter().map(|it| it.1).collect();
        let n = data.results.len();
        let given = match data.kind {
            OpKind::ScfIf => {
                let mut given = vec![A::Fact::bottom(); n];
                for (index, &region) in regions.iter().enumerate() {
                    self.forget(region);
                    if self.may_take(op, index) {
                        self.region(region);
                        let yielded = self.joined(&self.ends(region, OpKind::ScfYield), 0, n, None);
                        join_all(&mut given, &yielded);
                    }
                }
                given
            }
            OpKind::ScfFor | OpKind::AffineFor => {
                let end = if data.kind == OpKind::ScfFor {
                    OpKind::ScfYield
                } else {
                    OpKind::AffineYield
                };
                let inits = self.reads(op, data.operands.len() - n);
                let (trips, mut operands) = (self.trips(op), self.reads(op, 0));
                operands.truncate(data.operands.len() - n);
                self.forget(regions[0]);
                self.repeat(op, inits, trips, |it, start| {
                    it.forget(regions[0]);
                    let args = ir.block(it.entry(regions[0])).args.to_vec();
                    let fact = it.input.query_unrecorded(|cx| {
                        it.analysis.entry_argument_fact(cx, op, 0, args[0], &operands)
                    });
                    it.set(args[0], fact);
                    args[1..]
                        .iter()
                        .zip(start)
                        .for_each(|(&value, fact)| it.set(value, fact.clone()));
                    it.region(regions[0]);
                    it.joined(&it.ends(regions[0], end), 0, n, None)
                })
            }
            OpKind::ScfWhile => {
                let inits = self.reads(op, 0);
                let mut out = Vec::new();
                let _ = self.repeat(op, inits, TripCount::ANY, |it, start| {
                    for &region in &regions {
                        it.forget(region);
                    }
                    let bind = |it: &mut Self, region: Region, facts: &[A::Fact]| {
                        let args = ir.block(it.entry(region)).args.to_vec();
                        args.into_iter().zip(facts).for_each(|(to, fact)| it.set(to, fact.clone()));
                    };
                    bind(it, regions[0], start);
                    it.region(regions[0]);
                    let ends = it.ends(regions[0], OpKind::ScfCondition);
                    out = it.joined(&ends, 1, n, Some(0));
                    if !ends.iter().any(|&end| it.reached.contains(&end) && it.may_take(end, 1)) {
                        return vec![A::Fact::bottom(); start.len()];
                    }
                    let passed = it.joined(&ends, 1, n, Some(1));
                    bind(it, regions[1], &passed);
                    it.region(regions[1]);
                    it.joined(&it.ends(regions[1], OpKind::ScfYield), 0, start.len(), None)
                });
                out
            }
            OpKind::FuncCall if self.follows() && !self.is_by_itself => self.call(op),
            _ => {
                let operands = self.reads(op, 0);
                let carried = data.results.iter().enumerate();
                carried
                    .map(|(at, &value)| {
                        if self.analysis.has_fact(&ir.interner, ir.value(value).ty) {
                            self.input.query_unrecorded(|cx| {
                                self.analysis.transfer(cx, op, at, &operands)
                            })
                        } else {
                            A::Fact::bottom()
                        }
                    })
                    .collect()
            }
        };
        data.results.iter().zip(given).for_each(|(&value, fact)| self.set(value, fact));
    }

    /// Iterates a loop. The facts of values inside are joined over all iterations.
    fn repeat(
        &mut self,
        op: Op,
        inits: Vec<A::Fact>,
        trips: TripCount,
        mut round: impl FnMut(&mut Self, &[A::Fact]) -> Vec<A::Fact>,
    ) -> Vec<A::Fact> {
        if trips.most == Some(0) {
            return inits;
        }
        let replays = A::LOOPS == LoopPolicy::Replayed;
        // The minimum number of iterations, and the number after which the loop ends.
        let least = trips.least;
        let most = trips.for_replay().most.filter(|_| replays);
        let mut ends: Vec<Vec<A::Fact>> = Vec::new();
        if least == 0 && most.is_some() {
            ends.push(inits.clone());
        }
        let mut joined: HashMap<Value, A::Fact> = HashMap::new();
        let mut start = inits.clone();
        let mut number = 0;
        let result = loop {
            let yielded = round(self, &start);
            number += 1;
            self.work += self.facts.len();
            #[allow(clippy::iter_over_hash_type, reason = "joins commute")]
            for (value, fact) in &self.facts {
                let _ = joined.entry(*value).or_insert_with(A::Fact::bottom).join(fact);
            }
            let mut next = yielded.clone();
            if most.is_none() {
                join_all(&mut next, &start);
                if !replays {
                    next = self.carried(op, &inits, next);
                }
                next = next.into_iter().map(|it| self.collapsed(it)).collect();
            }
            if number >= least && most.is_some() {
                ends.push(next.clone());
            }
            if next == start || most == Some(number) || !replays && trips.most == Some(1) {
                let mut result = if replays { next } else { yielded };
                for end in &ends {
                    join_all(&mut result, end);
                }
                if !replays {
                    if trips.least == 0 {
                        join_all(&mut result, &inits);
                    }
                    result = self.carried(op, &inits, result);
                }
                break result;
            }
            if number == MAX_ROUNDS as u64 || self.is_spent() {
                self.is_cut = true;
                // After too many iterations the yields of the last one are not known. Bottom is
                // below any join.
                break vec![A::Fact::bottom(); inits.len()];
            }
            start = next;
        };
        self.facts = joined;
        result
    }

    /// Lets the analysis choose the fact that a loop carries.
    fn carried(&self, op: Op, inits: &[A::Fact], joined: Vec<A::Fact>) -> Vec<A::Fact> {
        let pairs = inits.iter().zip(joined);
        pairs
            .map(|(taken, it)| {
                self.input.query_unrecorded(|cx| self.analysis.carried_fact(cx, op, taken, it))
            })
            .collect()
    }

    fn call(&mut self, call: Op) -> Vec<A::Fact> {
        let ir = self.input.ir;
        let n = ir.op(call).results.len();
        let nothing = vec![A::Fact::bottom(); n];
        let Some(function) = self.function_named_by(call, "callee") else {
            return vec![A::Fact::unknown(); n];
        };
        let mut args = Vec::new();
        for (at, value) in self.args_of(function).into_iter().enumerate() {
            if !self.analysis.has_fact(&ir.interner, ir.value(value).ty) {
                args.push(A::Fact::unknown());
                continue;
            }
            let fact = self.read(call, at);
            if fact == A::Fact::bottom() {
                return nothing;
            }
            let fact = self.input.query_unrecorded(|cx| self.analysis.refine(cx, value, fact));
            args.push(self.collapsed(fact));
        }
        if !matches!(self.calls, CallPolicy::Followed { max_contexts: 0, .. }) {
            return self.in_context(function, args);
        }
        if !self.is_exposed(function) {
            match self.known.iter_mut().find(|it| it.function == function) {
                Some(known) => {
                    for (old, new) in known.args.iter_mut().zip(&args) {
                        self.has_changed |= old.join(new).is_yes();
                    }
                }
                None => {
                    let results = self.bottoms(function);
                    self.known.push(TwinContext { function, args, results });
                    self.has_changed = true;
                }
            }
        }
        self.returned(function, n)
    }

    fn returned(&self, function: Op, n: usize) -> Vec<A::Fact> {
        let known = self.known.iter().find(|it| it.function == function);
        known.map_or_else(|| vec![A::Fact::bottom(); n], |it| it.results.clone())
    }

    fn in_context(&mut self, function: Op, args: Vec<A::Fact>) -> Vec<A::Fact> {
        let of = |it: &&TwinContext<A::Fact>| it.function == function;
        if let Some(known) = self.known.iter().filter(of).find(|it| it.args == args) {
            return known.results.clone();
        }
        let results = self.bottoms(function);
        if self.known.iter().filter(of).count() >= MAX_CONTEXTS {
            self.is_cut = true;
            return results;
        }
        self.known.push(TwinContext { function, args, results: results.clone() });
        self.has_changed = true;
        results
    }
}

fn join_all<F: Lattice>(to: &mut [F], from: &[F]) {
    for (to, from) in to.iter_mut().zip(from) {
        let _ = to.join(from);
    }
}
