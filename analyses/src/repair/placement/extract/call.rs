//! Calls: copies of callees that share their sites.
//!
//! # Notation
//!
//! A *copy* of a function is the set of its nodes for given arguments. Each argument is a node or a
//! level; a level is stated by a contract, or assumed if the function may be called from outside.
//! Calls with the same arguments share a copy. The noise of a value may differ between two copies,
//! but a reset after the value is in both. A placement is legal if it is legal in all copies, just
//! as a function is legal if it is legal in all contexts of the analysis
//! ([`noisy_dataflow::sparse::CallContext`]). Contexts are distinguished by the noise of their
//! arguments, copies by its origin, which is finer.
//!
//! # Joined copies
//!
//! Two kinds of calls share the *joined* copy, in which each argument is the maximum of all passed
//! values: recursive calls without contracts on the arguments, and calls beyond the maximum number
//! of copies of a function ([`super::ExtractionRequest::max_copies`]). A placement that is legal in
//! the joined copy is legal in each context, but not vice versa: [`super::Extraction::is_exact`].

use noisy_syntax::{Op, OpKind, Region, Value};
use smallvec::SmallVec;

use super::build::{Builder, NodeDraft, NodeKey, PassedArgument, Results};
use crate::facts::noise::Noise;
use crate::facts::noise::contract::{self, Contract, ValueSide};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{DEFAULT_MAX_CONTEXTS, is_callable, may_have_unknown_callers};
use noisy_placement::{Node, NodeRule, NoiseBits};

/// In an instance with more nodes, a function has at most as many separate copies as contexts in
/// the analysis.
const MAX_NODES_OF_SEPARATE_COPIES: usize = 250_000;

impl Builder<'_> {
    /// Builds the copies of a function for calls from outside and from functions that are not
    /// extracted. [`Builder::build_call`] does not build these copies.
    pub(super) fn build_roots(&mut self, function: Op) -> Result<(), String> {
        let ir = self.ir;
        let &[(_, region)] = ir.op(function).regions.as_slice() else {
            return Err("the function has no body".into());
        };
        let args = ir.block(flow::entry_block(ir, region)).args.clone();
        if may_have_unknown_callers(ir, function) || !is_callable(ir, function) {
            let mut passed = Vec::with_capacity(args.len());
            for (index, &arg) in args.iter().enumerate() {
                passed.push(match self.contract_argument(function, index, arg)? {
                    None => PassedArgument::Level(self.program.model().fresh),
                    Some(it) => it,
                });
            }
            self.build_copy(function, passed)?;
        }
        for (call, caller) in self.calls.calls_of(function) {
            if self.is_member.contains(&caller) {
                continue;
            }
            let mut passed = Vec::with_capacity(args.len());
            for (index, &arg) in args.iter().enumerate() {
                let given = match self.contract_argument(function, index, arg)? {
                    Some(it) => it,
                    None => match ir.op(call).operands.get(index).and_then(|it| it.value) {
                        None => return Err(self.unknown(arg)),
                        Some(value) => match *self.program.noise(value) {
                            Noise::AtMost(hi) => PassedArgument::Level(hi),
                            Noise::Unknown => return Err(self.unknown(arg)),
                            Noise::Bottom => break,
                        },
                    },
                };
                passed.push(given);
            }
            if passed.len() == args.len() {
                self.build_copy(function, passed)?;
            }
        }
        Ok(())
    }

    /// Returns the level of an argument from its contract; `Nothing` if the argument carries no
    /// noise, `None` if it depends on the call.
    fn contract_argument(
        &self,
        function: Op,
        index: usize,
        arg: Value,
    ) -> Result<Option<PassedArgument>, String> {
        if !self.carries(arg) {
            return Ok(Some(PassedArgument::Nothing));
        }
        match contract::of(self.ir, function, ValueSide::Argument, index) {
            Some(Contract::Bound(bound)) => Ok(Some(PassedArgument::Level(bound))),
            Some(Contract::Invalid) => Err(self.unknown(arg)),
            None => Ok(None),
        }
    }

    /// Defines the results of a call. Returns false if the call is not followed.
    pub(super) fn build_call(&mut self, op: Op) -> Result<bool, String> {
        let ir = self.ir;
        let Some(callee) = self.calls.callee(op).filter(|it| self.is_member.contains(it)) else {
            return Ok(false);
        };
        let &[(_, region)] = ir.op(callee).regions.as_slice() else { return Ok(false) };
        let args = ir.block(flow::entry_block(ir, region)).args.clone();
        let mut passed = Vec::with_capacity(args.len());
        for (index, &arg) in args.iter().enumerate() {
            passed.push(match self.contract_argument(callee, index, arg)? {
                Some(it) => it,
                None => {
                    let value = ir.op(op).operands.get(index).and_then(|it| it.value);
                    // An unreachable value is never passed.
                    if value.is_some_and(|it| self.is_bottom(it)) {
                        return Ok(true);
                    }
                    match self.operand_node(op, index) {
                        Some(node) => PassedArgument::Node(node),
                        None => return Err(self.unknown(arg)),
                    }
                }
            });
        }
        let results = self.build_copy(callee, passed)?;
        for (index, &result) in ir.op(op).results.iter().enumerate() {
            let from = results.get(index).copied().flatten();
            self.define(result, NodeRule::Max(0), from.into_iter().collect())?;
        }
        Ok(true)
    }

    /// Finds or builds the copy of a function for given arguments, and returns its results.
    fn build_copy(&mut self, function: Op, passed: Vec<PassedArgument>) -> Result<Results, String> {
        let ir = self.ir;
        let copies = self.copies.entry(function).or_default();
        if let Some((_, results)) = copies.separate.iter().find(|it| it.0 == passed) {
            return Ok(results.clone());
        }
        let varies = passed.iter().any(|it| matches!(it, PassedArgument::Node(_)));
        let is_large = self.nodes.len() > MAX_NODES_OF_SEPARATE_COPIES;
        let most =
            if is_large { self.max_copies.min(DEFAULT_MAX_CONTEXTS) } else { self.max_copies };
        let is_joined =
            varies && (self.calls.is_recursive(function) || copies.separate.len() >= most);
        if is_joined {
            self.is_exact = false;
            if let Some((args, results)) = copies.joined.clone() {
                for (arg, passed) in args.into_iter().zip(passed) {
                    if let (Some(arg), PassedArgument::Node(node)) = (arg, passed)
                        && copies.joined_operands.insert((arg, node))
                    {
                        self.nodes[arg.0 as usize].operands.push(node);
                    }
                }
                return Ok(results);
            }
        }
        let Some(&(_, region)) = ir.op(function).regions.first() else {
            return Err("the function has no body".into());
        };
        let (caller, was_open) = (self.function, self.is_changeable);
        let env = std::mem::take(&mut self.env);
        self.enter(function, region);
        let results = self.results(function, region);
        let args = ir.block(flow::entry_block(ir, region)).args.clone();
        for (&arg, passed) in args.iter().zip(&passed) {
            match *passed {
                PassedArgument::Nothing => {}
                PassedArgument::Level(level) => {
                    self.define(arg, NodeRule::Source(level), SmallVec::new())?;
                }
                PassedArgument::Node(node) => {
                    self.define(arg, NodeRule::Max(0), SmallVec::from_slice(&[node]))?;
                }
            }
        }
        let nodes: Vec<Option<Node>> =
            args.iter().map(|&it| self.env.get(&NodeKey::Value(it)).copied()).collect();
        let copies = self.copies.entry(function).or_default();
        if is_joined {
            for (arg, passed) in nodes.iter().zip(&passed) {
                if let (Some(arg), PassedArgument::Node(node)) = (arg, passed) {
                    copies.joined_operands.insert((*arg, *node));
                }
            }
            copies.joined = Some((nodes, results.clone()));
        } else {
            copies.separate.push((passed, results.clone()));
        }
        self.build_region(region)?;
        for (op, index) in self.returned(region) {
            if let Some(&Some(result)) = results.get(index)
                && !matches!(self.nodes[result.0 as usize].rule, NodeRule::Source(_))
                && let Some(node) = self.operand_node(op, index)
            {
                self.nodes[result.0 as usize].operands.push(node);
            }
        }
        self.env = env;
        (self.function, self.is_changeable) = (caller, was_open);
        Ok(results)
    }

    /// Returns the operands of the live returns of a body.
    fn returned(&self, region: Region) -> Vec<(Op, usize)> {
        let ir = self.ir;
        let facts = self.program.noise_solver();
        let mut out = Vec::new();
        for block in ir.blocks(region) {
            let end = ir.last_op(block).filter(|&it| ir.op(it).kind == OpKind::FuncReturn);
            if let Some(end) = end.filter(|_| facts.is_block_live(block)) {
                out.extend((0..ir.op(end).operands.len()).map(|index| (end, index)));
            }
        }
        out
    }

    /// Creates nodes for the results of a function; the operands of the returns are added later.
    /// The nodes have no limit, because the returned values have one. A function that is not
    /// changed may violate its contract, but its callers still assume the contract.
    fn results(&mut self, function: Op, region: Region) -> Results {
        let mut out: Results = SmallVec::from_elem(None, flow::n_results(self.ir, function));
        for (op, index) in self.returned(region) {
            let value = self.ir.op(op).operands.get(index).and_then(|it| it.value);
            let Some(value) = value.filter(|&it| self.carries(it)) else { continue };
            if self.is_bottom(value) || index >= out.len() {
                continue;
            }
            let rule = match contract::of(self.ir, function, ValueSide::Result, index) {
                Some(Contract::Bound(bound))
                    if !self.is_changeable && self.program.noise(value).is_over(bound) =>
                {
                    NodeRule::Source(bound)
                }
                _ => NodeRule::Max(0),
            };
            match out[index] {
                None => {
                    out[index] = Some(Node(self.nodes.len() as u32));
                    let (operands, limit) = (SmallVec::new(), NoiseBits::MAX);
                    let (site, defined) = (None, true);
                    self.nodes.push(NodeDraft {
                        value,
                        rule,
                        operands,
                        site,
                        limit,
                        is_defined: defined,
                    });
                }
                Some(node) if rule != NodeRule::Max(0) => self.nodes[node.0 as usize].rule = rule,
                Some(_) => {}
            }
        }
        out
    }
}
