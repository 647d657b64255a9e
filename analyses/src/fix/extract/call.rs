//! Calls: copies of callees that share their sites, and how often functions are entered.
//!
//! # Notation
//!
//! A *copy* of a function is its nodes for what is passed to it: one node, or one level (a contract, or what is assumed where anybody may
//! call it), per argument. Calls that pass the same share a copy. The noise of the same value in two copies differs; a reduce there stands in
//! both. A choice of sites is legal when it is in all copies, which is what the analysis asks of all contexts of a function
//! ([`crate::sparse::Context`]): contexts are told apart by what is passed, copies by where it comes from, which is finer.
//!
//! # Together
//!
//! Two kinds of calls share one copy more, in which each argument is the largest of all that is passed: those of a recursion, unless contracts say what is
//! passed, and those beyond [`MAX_APART`] copies of a function. What is legal there is legal in each context, but not the other way round:
//! [`super::Extraction::is_exact`].
//!
//! # Frequency
//!
//! A function is entered once by whoever may call it from outside, and as often as its calls are executed. Functions that are recursive
//! through one another are entered [`UNKNOWN_TRIPS`] times as often as from outside of the recursion.

use noisy_syntax::{Ir, Op, OpKind, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::build::{Builder, Key, NodeDraft};
use super::weight::{UNIT, UNKNOWN_TRIPS, Weights};
use crate::contract::{self, Contract, Side};
use crate::fact::Noise;
use crate::flow;
use crate::placement::{Bits, Node, Rule};
use crate::program::Program;
use crate::sparse::{MAX_APART, followed, is_callable, is_exposed};

/// The live calls of a program that are followed into their callees.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// The function that each call runs.
    callee: FxHashMap<Op, Op>,
    /// The calls of each function, with the functions that they stand in.
    of: FxHashMap<Op, Vec<(Op, Op)>>,
    /// The calls that stand in each function, with the functions that they run.
    from: FxHashMap<Op, Vec<(Op, Op)>>,
    /// Functions that may come to call themselves.
    recursive: FxHashSet<Op>,
    /// How often each function that calls or is called is entered.
    entries: FxHashMap<Op, u64>,
}

impl Calls {
    /// Finds the calls. In time nearly linear in the program.
    pub fn new(program: &Program) -> Calls {
        let ir = program.ir();
        let mut it = Calls::default();
        let mut functions = Vec::new();
        ir.walk(ir.root(), &mut |op| match ir.op(op).kind {
            OpKind::FuncFunc => functions.push(op),
            OpKind::FuncCall => {
                let (Some(callee), Some(caller)) = (followed(ir, op), ir.function_of(op)) else {
                    return;
                };
                if program.facts().is_live(ir, op) {
                    it.callee.insert(op, callee);
                    it.of.entry(callee).or_default().push((op, caller));
                    it.from.entry(caller).or_default().push((op, callee));
                }
            }
            _ => {}
        });
        if !it.callee.is_empty() {
            functions
                .retain(|function| it.of.contains_key(function) || it.from.contains_key(function));
            it.count(program, &functions);
        }
        it
    }

    /// The function that a call runs, if it is followed.
    pub fn callee(&self, call: Op) -> Option<Op> {
        self.callee.get(&call).copied()
    }

    /// Whether a function is called.
    pub fn is_called(&self, function: Op) -> bool {
        self.of.contains_key(&function)
    }

    /// How often a function is entered, in units of 1 / [`UNIT`].
    pub(super) fn entries(&self, function: Op) -> u64 {
        self.entries.get(&function).copied().unwrap_or(UNIT)
    }

    /// The calls of a function, with the functions that they stand in.
    fn calls_of(&self, function: Op) -> Vec<(Op, Op)> {
        self.of.get(&function).cloned().unwrap_or_default()
    }

    /// Some functions and all that are connected with them by calls, but those that are closed; in textual order.
    pub fn connected(&self, ir: &Ir, functions: &[Op], closed: &FxHashSet<Op>) -> Vec<Op> {
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        let mut out: Vec<Op> = Vec::new();
        let mut stack: Vec<Op> = functions.to_vec();
        while let Some(function) = stack.pop() {
            if closed.contains(&function) || !seen.insert(function) {
                continue;
            }
            out.push(function);
            stack.extend(self.from.get(&function).into_iter().flatten().map(|it| it.1));
            stack.extend(self.of.get(&function).into_iter().flatten().map(|it| it.1));
        }
        if out.len() > 1 {
            out.sort_by_cached_key(|&it| ir.start(it));
        }
        out
    }

    /// Finds what is recursive and how often functions are entered.
    fn count(&mut self, program: &Program, functions: &[Op]) {
        let ir = program.ir();
        // By call, how often it is executed.
        let mut executed: FxHashMap<Op, u64> = FxHashMap::default();
        for group in self.callers_first(functions) {
            let mut entries = 0_u64;
            let mut is_recursive = false;
            for &function in &group {
                if is_exposed(ir, function) {
                    entries = entries.saturating_add(UNIT);
                }
                for (call, caller) in self.of.get(&function).into_iter().flatten() {
                    let is_inside = group.contains(caller);
                    is_recursive |= is_inside;
                    if let Some(&n) = executed.get(call).filter(|_| !is_inside) {
                        entries = entries.saturating_add(n);
                    }
                }
            }
            if is_recursive {
                entries = entries.saturating_mul(UNKNOWN_TRIPS);
                self.recursive.extend(&group);
            }
            for &function in &group {
                self.entries.insert(function, entries.max(1));
                let Some(calls) = self.from.get(&function) else { continue };
                let mut weights = Weights::default();
                for &(_, region) in &ir.op(function).regions {
                    weights.add(ir, program.integers(), region, entries.max(1), false);
                }
                executed.extend(calls.iter().map(|it| (it.0, weights.of(ir.block_of(it.0)))));
            }
        }
    }

    /// The functions in groups that call one another, each after the groups that call it: strongly connected components as Tarjan finds them.
    fn callers_first(&self, functions: &[Op]) -> Vec<SmallVec<[Op; 1]>> {
        const NEW: usize = usize::MAX;
        let index: FxHashMap<Op, usize> =
            functions.iter().enumerate().map(|(at, &it)| (it, at)).collect();
        let callees: Vec<Vec<usize>> = functions
            .iter()
            .map(|it| {
                let calls = self.from.get(it).into_iter().flatten();
                calls.filter_map(|it| index.get(&it.1).copied()).collect()
            })
            .collect();
        let n = functions.len();
        let (mut number, mut low) = (vec![NEW; n], vec![NEW; n]);
        let mut is_open = vec![false; n];
        let (mut open, mut out) = (Vec::new(), Vec::new());
        let mut next = 0;
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for root in 0..n {
            if number[root] == NEW {
                stack.push((root, 0));
            }
            while let Some((at, done)) = stack.last_mut() {
                let at = *at;
                if *done == 0 && number[at] == NEW {
                    (number[at], low[at]) = (next, next);
                    next += 1;
                    open.push(at);
                    is_open[at] = true;
                }
                if let Some(&to) = callees[at].get(*done) {
                    *done += 1;
                    if number[to] == NEW {
                        stack.push((to, 0));
                    } else if is_open[to] {
                        low[at] = low[at].min(number[to]);
                    }
                    continue;
                }
                stack.pop();
                if let Some(&(parent, _)) = stack.last() {
                    low[parent] = low[parent].min(low[at]);
                }
                if low[at] == number[at] {
                    let from = open.iter().rposition(|&it| it == at).unwrap_or(0);
                    let group: SmallVec<[Op; 1]> = open
                        .drain(from..)
                        .inspect(|&it| is_open[it] = false)
                        .map(|it| functions[it])
                        .collect();
                    out.push(group);
                }
            }
        }
        out.reverse();
        out
    }
}

/// What a copy of a function gets for an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// It carries no noise.
    Nothing,
    /// So much, whatever is placed.
    Level(Bits),
    /// The noise of a node.
    Node(Node),
}

/// The results of a copy of a function.
type Results = SmallVec<[Option<Node>; 2]>;

/// The copies of a function.
#[derive(Debug, Default)]
pub(super) struct Copies {
    apart: Vec<(Vec<Passed>, Results)>,
    /// The arguments and the results of the copy that calls share.
    joined: Option<(Vec<Option<Node>>, Results)>,
}

impl Builder<'_> {
    /// The copies of a function that nobody who is looked into asks for: by whoever may call it from outside, and by functions that are closed.
    pub(super) fn roots(&mut self, function: Op) -> Result<(), String> {
        let ir = self.ir;
        let &[(_, region)] = ir.op(function).regions.as_slice() else {
            return Err("it has no body".into());
        };
        let args = ir.block(flow::entry_block(ir, region)).args.clone();
        if is_exposed(ir, function) || !is_callable(ir, function) {
            let mut passed = Vec::with_capacity(args.len());
            for (index, &arg) in args.iter().enumerate() {
                passed.push(match self.stated(function, index, arg)? {
                    None => Passed::Level(self.program.model().fresh),
                    Some(it) => it,
                });
            }
            self.copy(function, passed)?;
        }
        for (call, caller) in self.calls.calls_of(function) {
            if self.is_member.contains(&caller) {
                continue;
            }
            let mut passed = Vec::with_capacity(args.len());
            for (index, &arg) in args.iter().enumerate() {
                let given = match self.stated(function, index, arg)? {
                    Some(it) => it,
                    None => match ir.op(call).operands.get(index).and_then(|it| it.value) {
                        None => return Err(self.unknown(arg)),
                        Some(value) => match *self.program.noise(value) {
                            Noise::Range { hi, .. } => Passed::Level(hi),
                            Noise::Unknown => return Err(self.unknown(arg)),
                            Noise::Bottom => break,
                        },
                    },
                };
                passed.push(given);
            }
            if passed.len() == args.len() {
                self.copy(function, passed)?;
            }
        }
        Ok(())
    }

    /// What is passed for an argument whatever a call passes.
    fn stated(&self, function: Op, index: usize, arg: Value) -> Result<Option<Passed>, String> {
        if !self.carries(arg) {
            return Ok(Some(Passed::Nothing));
        }
        match contract::of(self.ir, function, Side::Argument, index) {
            Some(Contract::Bound(bound)) => Ok(Some(Passed::Level(bound))),
            Some(Contract::Wrong) => Err(self.unknown(arg)),
            None => Ok(None),
        }
    }

    /// Builds the results of a call, if it is followed.
    pub(super) fn call(&mut self, op: Op) -> Result<bool, String> {
        let ir = self.ir;
        let Some(callee) = self.calls.callee(op).filter(|it| self.is_member.contains(it)) else {
            return Ok(false);
        };
        let &[(_, region)] = ir.op(callee).regions.as_slice() else { return Ok(false) };
        let args = ir.block(flow::entry_block(ir, region)).args.clone();
        let mut passed = Vec::with_capacity(args.len());
        for (index, &arg) in args.iter().enumerate() {
            passed.push(match self.stated(callee, index, arg)? {
                Some(it) => it,
                None => {
                    let value = ir.op(op).operands.get(index).and_then(|it| it.value);
                    // What is never computed is never passed.
                    if value.is_some_and(|it| self.is_bottom(it)) {
                        return Ok(true);
                    }
                    match self.operand(op, index) {
                        Some(node) => Passed::Node(node),
                        None => return Err(self.unknown(arg)),
                    }
                }
            });
        }
        let results = self.copy(callee, passed)?;
        for (index, &result) in ir.op(op).results.iter().enumerate() {
            let from = results.get(index).copied().flatten();
            self.define(result, Rule::Max(0), from.into_iter().collect())?;
        }
        Ok(true)
    }

    /// The results of a function for what is passed to it.
    fn copy(&mut self, function: Op, passed: Vec<Passed>) -> Result<Results, String> {
        let ir = self.ir;
        let copies = self.copies.entry(function).or_default();
        if let Some((_, results)) = copies.apart.iter().find(|it| it.0 == passed) {
            return Ok(results.clone());
        }
        let varies = passed.iter().any(|it| matches!(it, Passed::Node(_)));
        let is_joined =
            varies && (self.calls.recursive.contains(&function) || copies.apart.len() >= MAX_APART);
        if is_joined {
            self.is_exact = false;
            if let Some((args, results)) = copies.joined.clone() {
                for (arg, passed) in args.into_iter().zip(passed) {
                    if let (Some(arg), Passed::Node(node)) = (arg, passed)
                        && !self.nodes[arg.0 as usize].operands.contains(&node)
                    {
                        self.nodes[arg.0 as usize].operands.push(node);
                    }
                }
                return Ok(results);
            }
        }
        let Some(&(_, region)) = ir.op(function).regions.first() else {
            return Err("it has no body".into());
        };
        let (caller, was_open) = (self.function, self.is_open);
        let env = std::mem::take(&mut self.env);
        self.enter(function, region);
        let results = self.results(function, region);
        let args = ir.block(flow::entry_block(ir, region)).args.clone();
        for (&arg, passed) in args.iter().zip(&passed) {
            match *passed {
                Passed::Nothing => {}
                Passed::Level(level) => self.define(arg, Rule::Source(level), SmallVec::new())?,
                Passed::Node(node) => {
                    self.define(arg, Rule::Max(0), SmallVec::from_slice(&[node]))?;
                }
            }
        }
        let nodes = args.iter().map(|&it| self.env.get(&Key::Value(it)).copied()).collect();
        let copies = self.copies.entry(function).or_default();
        if is_joined {
            copies.joined = Some((nodes, results.clone()));
        } else {
            copies.apart.push((passed, results.clone()));
        }
        self.region(region)?;
        for (op, index) in self.returned(region) {
            if let Some(&Some(result)) = results.get(index)
                && !matches!(self.nodes[result.0 as usize].rule, Rule::Source(_))
                && let Some(node) = self.operand(op, index)
            {
                self.nodes[result.0 as usize].operands.push(node);
            }
        }
        self.env = env;
        (self.function, self.is_open) = (caller, was_open);
        Ok(results)
    }

    /// The operands of the live returns of a body.
    fn returned(&self, region: Region) -> Vec<(Op, usize)> {
        let ir = self.ir;
        let facts = self.program.facts();
        let mut out = Vec::new();
        for block in ir.blocks(region) {
            let end = ir.last_op(block).filter(|&it| ir.op(it).kind == OpKind::FuncReturn);
            if let Some(end) = end.filter(|_| facts.is_block_live(block)) {
                out.extend((0..ir.op(end).operands.len()).map(|index| (end, index)));
            }
        }
        out
    }

    /// Nodes for the results of a function, which the returns feed later. What is returned is limited where it is computed. A function that
    /// stays as it is may not keep its contract; its callers are told that it does.
    fn results(&mut self, function: Op, region: Region) -> Results {
        let mut out: Results = SmallVec::from_elem(None, flow::n_results(self.ir, function));
        for (op, index) in self.returned(region) {
            let value = self.ir.op(op).operands.get(index).and_then(|it| it.value);
            let Some(value) = value.filter(|&it| self.carries(it)) else { continue };
            if self.is_bottom(value) || index >= out.len() {
                continue;
            }
            let rule = match contract::of(self.ir, function, Side::Result, index) {
                Some(Contract::Bound(bound))
                    if !self.is_open && self.program.noise(value).is_over(bound) =>
                {
                    Rule::Source(bound)
                }
                _ => Rule::Max(0),
            };
            match out[index] {
                None => {
                    out[index] = Some(Node(self.nodes.len() as u32));
                    let (operands, limit) = (SmallVec::new(), Bits::MAX);
                    let (site, defined) = (None, true);
                    self.nodes.push(NodeDraft { value, rule, operands, site, limit, defined });
                }
                Some(node) if rule != Rule::Max(0) => self.nodes[node.0 as usize].rule = rule,
                Some(_) => {}
            }
        }
        out
    }
}
