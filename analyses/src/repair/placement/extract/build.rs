//! Construction of the nodes and sites of functions, op by op.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use num_integer::gcd;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::calls::Calls;
use super::weight::{UNIT, Weights};
use super::{Extraction, Objective, Refusal, Request, SitePosition, UseGroup};
use crate::explain::{Saturation, derivation};
use crate::facts::noise::Noise;
use crate::facts::noise::contract::{self, Contract, Side};
use crate::facts::noise::model::Growth;
use crate::program::Program;
use noisy_dataflow::flow::{self, Flow};
use noisy_dataflow::sparse::{MAX_DEPTH, with_stack};
use noisy_placement::{Bits, Instance, Node, NodeRule, Site};

/// Maximum number of nodes of an instance.
const MAX_NODES: usize = 4_000_000;
/// Maximum number of visited ops over all iterations and copies. It is larger than the number of
/// nodes, because many repeated ops may carry no noise.
const MAX_LOOKED: usize = 2 * MAX_NODES;
/// The reason for refusing functions beyond these limits.
const TOO_LARGE: &str = "the function is too large to optimize";

/// The noise of an argument of a copy of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassedArgument {
    /// The argument carries no noise.
    Nothing,
    /// A fixed level, independent of the placement.
    Level(Bits),
    /// The noise of a node.
    Node(Node),
}

/// The nodes of the results of a copy of a function.
pub(super) type Results = SmallVec<[Option<Node>; 2]>;

/// The copies of a function.
#[derive(Debug, Default)]
pub(super) struct Copies {
    pub apart: Vec<(Vec<PassedArgument>, Results)>,
    /// The arguments and the results of the joined copy.
    pub joined: Option<(Vec<Option<Node>>, Results)>,
    /// The pairs of an argument of the joined copy and a node that is passed to it.
    pub fed: FxHashSet<(Node, Node)>,
}

/// A node under construction.
pub(super) struct NodeDraft {
    pub value: Value,
    pub rule: NodeRule,
    pub operands: SmallVec<[Node; 2]>,
    pub site: Option<Site>,
    /// The largest legal noise.
    pub limit: Bits,
    pub defined: bool,
}

/// The key of a node: a value at its definition, or a group of its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NodeKey {
    Value(Value),
    Group(usize),
}

pub(super) struct Builder<'a> {
    pub program: &'a Program,
    pub ir: &'a Ir,
    pub calls: &'a Calls,
    objective: Objective,
    replace: bool,
    /// The functions that may be changed.
    open: FxHashSet<Op>,
    /// The functions that are extracted, in textual order.
    members: Vec<Op>,
    pub is_member: FxHashSet<Op>,
    /// The function that is being built.
    pub function: Op,
    /// True if `function` may be changed.
    pub is_open: bool,
    /// The current nesting depth of calls and regions.
    pub depth: usize,
    looked: usize,
    pub copies: FxHashMap<Op, Copies>,
    /// Maximum number of separate copies of a function.
    pub most_copies: usize,
    /// The functions whose weights and groups of uses are computed.
    pub prepared: FxHashSet<Op>,
    pub nodes: Vec<NodeDraft>,
    /// The node of each key in the current copy and iteration.
    pub env: FxHashMap<NodeKey, Node>,
    sites: FxHashMap<NodeKey, Site>,
    costs: Vec<u64>,
    spots: Vec<SitePosition>,
    pub groups: Vec<UseGroup>,
    pub group_of: FxHashMap<(Op, u32), usize>,
    pub groups_of: FxHashMap<Value, SmallVec<[usize; 2]>>,
    pub weights: Weights,
    pub is_exact: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(program: &'a Program, calls: &'a Calls, request: &Request) -> Self {
        let members = calls.connected(program.ir(), request.functions, request.closed);
        Builder {
            program,
            ir: program.ir(),
            calls,
            objective: request.objective,
            replace: request.replace,
            open: request.functions.iter().copied().collect(),
            is_member: members.iter().copied().collect(),
            function: request.functions.first().copied().unwrap_or_else(|| Op::from_index(0)),
            members,
            is_open: true,
            depth: 0,
            looked: 0,
            copies: FxHashMap::default(),
            most_copies: request.copies,
            prepared: FxHashSet::default(),
            nodes: Vec::new(),
            env: FxHashMap::default(),
            sites: FxHashMap::default(),
            costs: Vec::new(),
            spots: Vec::new(),
            groups: Vec::new(),
            group_of: FxHashMap::default(),
            groups_of: FxHashMap::default(),
            weights: Weights::default(),
            is_exact: true,
        }
    }

    /// Builds all functions, in their assumed contexts and in the contexts of calls from functions
    /// outside of the problem.
    pub(super) fn functions(&mut self) -> Result<(), String> {
        for function in self.members.clone() {
            self.function = function;
            self.roots(function)?;
        }
        Ok(())
    }

    /// Makes a function the current one. Computes its weights and groups of uses at the first call.
    pub(super) fn enter(&mut self, function: Op, region: Region) {
        self.function = function;
        self.is_open = self.open.contains(&function);
        if self.is_open && self.prepared.insert(function) {
            let (is_plain, entry) = match self.objective {
                Objective::Executed => (false, self.calls.entries(function)),
                Objective::Count => (true, UNIT),
            };
            self.weights.add(self.ir, self.program.integers(), region, entry, is_plain);
            if !is_plain {
                self.group_uses(region);
            }
        }
    }

    pub(super) fn carries(&self, value: Value) -> bool {
        self.program.is_noisy(value)
    }

    /// Returns the node of a key. Creates it if its definition has not been visited.
    pub(super) fn draft(&mut self, key: NodeKey, value: Value) -> Node {
        if let Some(&node) = self.env.get(&key) {
            return node;
        }
        let node = Node(self.nodes.len() as u32);
        let operands = SmallVec::new();
        self.nodes.push(NodeDraft {
            value,
            rule: NodeRule::Max(0),
            operands,
            site: None,
            limit: self.limit(self.program.model().budget, value),
            defined: false,
        });
        self.env.insert(key, node);
        node
    }

    /// Returns the limit of a value. In a function that is not changed, the limit is at least the
    /// current noise.
    pub(super) fn limit(&self, bound: Bits, value: Value) -> Bits {
        let now = if self.is_open { None } else { self.program.noise(value).hi() };
        now.map_or(bound, |now| bound.max(now))
    }

    /// Returns the node of a value at its use by an operand.
    pub(super) fn used(&mut self, op: Op, index: usize, value: Value) -> Node {
        match self.group_of.get(&(op, index as u32)) {
            Some(&group) => self.grouped(group),
            None => self.draft(NodeKey::Value(value), value),
        }
    }

    /// Returns the node of an operand, if it carries noise and is reachable.
    pub(super) fn operand(&mut self, op: Op, index: usize) -> Option<Node> {
        let value = self.ir.op(op).operands.get(index)?.value?;
        (self.carries(value) && !self.is_bottom(value)).then(|| self.used(op, index, value))
    }

    /// Returns true if a value is unreachable.
    pub(super) fn is_bottom(&self, value: Value) -> bool {
        *self.program.noise(value) == Noise::Bottom
    }

    /// Defines the node of a value. Values without noise are skipped.
    pub(super) fn define(
        &mut self,
        value: Value,
        rule: NodeRule,
        operands: SmallVec<[Node; 2]>,
    ) -> Result<(), String> {
        if !self.carries(value) {
            return Ok(());
        }
        match *self.program.noise(value) {
            Noise::Bottom => return Ok(()),
            Noise::Unknown => return Err(self.unknown(value)),
            Noise::AtMost(_) => {}
        }
        let model = self.program.model();
        // Arguments that calls pass may have more noise in another copy.
        let pointless = matches!(rule, NodeRule::Source(noise) if noise <= model.reset_level())
            && !self.is_passed(value);
        let (ir, mut spot, home) = match self.ir.value(value).def {
            Def::Result(op, _) => (self.ir, SitePosition::After(value), self.ir.block_of(op)),
            Def::Argument(block, _) => (self.ir, SitePosition::After(value), block),
        };
        let mut is_reset = false;
        if let Def::Result(op, _) = ir.value(value).def {
            is_reset = model.rule(ir.op_name(op)).is_some_and(|it| it.is_reset());
            if self.is_replaceable(op) {
                (spot, is_reset) = (SitePosition::Existing(op), false);
            }
        }
        let key = NodeKey::Value(value);
        let weight = self.weights.of(home);
        let has_site = self.is_open && !pointless && !is_reset;
        let site = has_site.then(|| self.site(key, spot, weight));
        let node = self.draft(key, value);
        let draft = &mut self.nodes[node.0 as usize];
        (draft.rule, draft.operands, draft.site, draft.defined) = (rule, operands, site, true);
        if self.nodes.len() > MAX_NODES {
            return Err(TOO_LARGE.into());
        }
        Ok(())
    }

    /// Returns true if an op is an existing reset that may be removed: it has one operand and one
    /// result.
    fn is_replaceable(&self, op: Op) -> bool {
        let data = self.ir.op(op);
        self.replace
            && self.is_open
            && self.ir.op_name(op) == self.program.model().reset_op
            && (data.operands.len(), data.results.len()) == (1, 1)
            && data.operands[0].value.is_some_and(|it| self.carries(it))
    }

    pub(super) fn site(&mut self, key: NodeKey, spot: SitePosition, weight: u64) -> Site {
        if let Some(&site) = self.sites.get(&key) {
            return site;
        }
        let site = Site(self.spots.len() as u32);
        self.spots.push(spot);
        self.costs.push(weight);
        self.sites.insert(key, site);
        site
    }

    pub(super) fn unknown(&self, value: Value) -> String {
        let chain = derivation(self.program, value, &mut Saturation::default());
        let from = chain.steps.first().map_or(value, |it| it.value);
        format!("the noise of {} is unknown", self.ir.value_text(from))
    }

    /// Defines a value whose noise does not depend on other nodes.
    pub(super) fn define_source(&mut self, value: Value) -> Result<(), String> {
        let hi = self.program.noise(value).hi().unwrap_or(0);
        self.define(value, NodeRule::Source(hi), SmallVec::new())
    }

    /// Returns true if a value is a function argument whose noise calls determine.
    fn is_passed(&self, value: Value) -> bool {
        match self.ir.value(value).def {
            Def::Result(..) => false,
            Def::Argument(block, index) => {
                self.ir.region(self.ir.block(block).region).parent == Some(self.function)
                    && self.calls.is_called(self.function)
                    && contract::of(self.ir, self.function, Side::Argument, index as usize)
                        .is_none()
            }
        }
    }

    /// Defines a value as the maximum of its incoming values.
    pub(super) fn define_meet(&mut self, value: Value) -> Result<(), String> {
        let fed = self.feeders(value);
        self.define(value, NodeRule::Max(0), fed)
    }

    pub(super) fn region(&mut self, region: Region) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("calls are nested too deeply to optimize".into());
        }
        let done = with_stack(|| self.ops(region));
        self.depth -= 1;
        done
    }

    fn ops(&mut self, region: Region) -> Result<(), String> {
        let facts = self.program.facts();
        let mut live = facts.is_block_live(flow::entry_block(self.ir, region));
        let mut is_first = true;
        for op in self.ir.items(region) {
            if self.ir.op(op).kind == OpKind::Label {
                let block = self.ir.label_block(op);
                live = facts.is_block_live(block);
                if !is_first && live {
                    for &arg in &self.ir.block(block).args {
                        self.define_meet(arg)?;
                    }
                }
            } else if live {
                self.op(op)?;
            }
            is_first = false;
        }
        Ok(())
    }

    /// Returns the nodes of the values that flow into a block argument or a result of an op with
    /// regions, over live edges.
    fn feeders(&mut self, value: Value) -> SmallVec<[Node; 2]> {
        let mut out = SmallVec::new();
        if !self.carries(value) {
            return out;
        }
        for (op, index) in flow::feeding_operands(self.ir, value) {
            if self.program.facts().is_live(self.ir, op)
                && let Some(node) = self.operand(op, index)
                && !out.contains(&node)
            {
                out.push(node);
            }
        }
        out
    }

    fn op(&mut self, op: Op) -> Result<(), String> {
        self.looked += 1;
        if self.looked > MAX_LOOKED {
            return Err(TOO_LARGE.into());
        }
        let ir = self.ir;
        let data = ir.op(op);
        match Flow::of(ir, op) {
            Flow::Plain => {
                if !self.call(op)? {
                    self.plain(op)?;
                }
                self.keep_contracts(op);
                Ok(())
            }
            Flow::Choice | Flow::While => {
                for &(_, region) in &data.regions {
                    for &arg in &ir.block(flow::entry_block(ir, region)).args {
                        self.define_meet(arg)?;
                    }
                    self.region(region)?;
                }
                for &result in &data.results {
                    self.define_meet(result)?;
                }
                Ok(())
            }
            Flow::For { first } => self.loop_(op, first),
            // Sound over-approximation: any number of values may be combined in any order.
            Flow::Parallel { .. } | Flow::Reduce | Flow::Forall { .. } => {
                for &(_, region) in &data.regions {
                    for &arg in &ir.block(flow::entry_block(ir, region)).args {
                        self.is_exact &= !self.carries(arg);
                        self.define_meet(arg)?;
                    }
                    self.region(region)?;
                }
                for &result in &data.results {
                    self.is_exact &= !self.carries(result);
                    self.define_meet(result)?;
                }
                Ok(())
            }
            Flow::Function => Err("it contains another function".into()),
            Flow::Group | Flow::Opaque => {
                let regions = data.regions.iter().map(|it| it.1);
                for region in regions {
                    for &arg in &ir.block(flow::entry_block(ir, region)).args {
                        self.define_source(arg)?;
                    }
                    self.region(region)?;
                }
                for &result in &data.results {
                    self.define_source(result)?;
                }
                Ok(())
            }
        }
    }

    fn plain(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        for &result in &data.results {
            if !self.carries(result) || self.is_bottom(result) {
                continue;
            }
            let model = self.program.model();
            let rule = model.rule(ir.op_name(op)).filter(|_| data.kind != OpKind::FuncCall);
            let Some(rule) = rule else {
                self.define_source(result)?;
                continue;
            };
            let Def::Result(_, index) = ir.value(result).def else { continue };
            if !model.is_carried(rule, index as usize) {
                self.define(result, NodeRule::Source(0), SmallVec::new())?;
                continue;
            }
            let Some(growth) = model.growth(ir, op, rule) else {
                self.define_source(result)?;
                continue;
            };
            if self.is_replaceable(op) {
                // If it is removed, its operand replaces its result.
                let operands = self.operand(op, 0).into_iter().collect();
                self.define(result, NodeRule::Max(0), operands)?;
                continue;
            }
            let (rule, operands) = match growth {
                Growth::Fresh(level) | Growth::Reset(level) => {
                    (NodeRule::Source(level), SmallVec::new())
                }
                Growth::Max(k) => (NodeRule::Max(k), self.carriers(op, rule)),
                Growth::Sum(k) => (NodeRule::Sum(k), self.carriers(op, rule)),
            };
            self.define(result, rule, operands)?;
        }
        Ok(())
    }

    /// Limits the operands of a call or a return by the contracts of the function.
    fn keep_contracts(&mut self, op: Op) {
        let ir = self.ir;
        let stated = move |function, side, index| match contract::of(ir, function, side, index)? {
            Contract::Bound(bound) => Some(bound),
            Contract::Wrong => None,
        };
        let allows: Box<dyn Fn(usize) -> Option<Bits>> = match ir.op(op).kind {
            OpKind::FuncCall => {
                let Some(callee) = flow::callee(ir, op) else { return };
                Box::new(move |index| stated(callee, Side::Argument, index))
            }
            OpKind::FuncReturn => {
                let Some(function) = ir.parent_op(op) else { return };
                Box::new(move |index| stated(function, Side::Result, index))
            }
            _ => return,
        };
        for (index, operand) in ir.op(op).operands.iter().enumerate() {
            let (Some(value), Some(bound)) = (operand.value, allows(index)) else { continue };
            let Some(from) = self.operand(op, index) else { continue };
            let limit = self.limit(bound.min(self.program.model().budget), value);
            let operands = SmallVec::from_slice(&[from]);
            let rule = NodeRule::Max(0);
            self.nodes.push(NodeDraft { value, rule, operands, site: None, limit, defined: true });
        }
    }

    fn carriers(
        &mut self,
        op: Op,
        rule: crate::facts::noise::model::GrowthRule,
    ) -> SmallVec<[Node; 2]> {
        let (ir, model) = (self.ir, self.program.model());
        let n = ir.op(op).operands.len();
        let carriers = (0..n).filter(|&it| model.is_carrier(ir, op, rule, it));
        carriers.filter_map(|it| self.operand(op, it)).collect()
    }

    pub(super) fn finish(self) -> Result<Extraction, Refusal> {
        let model = self.program.model();
        let reset = model.reset_level();
        // The largest unit in which all costs are integers.
        let part = self.costs.iter().fold(UNIT, |part, &cost| gcd(part, cost));
        let mut instance = Instance::default();
        instance.nodes.reserve_exact(self.nodes.len());
        instance.operands.reserve_exact(self.nodes.iter().map(|it| it.operands.len()).sum());
        for &weight in &self.costs {
            instance.push_site((weight / part).saturating_mul(model.reset_cost()), reset);
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for draft in &self.nodes {
            if !draft.defined {
                let name = self.ir.value_text(draft.value);
                let why = format!("{name} is used where it is not defined");
                let function =
                    self.ir.definition_site(draft.value).and_then(|it| self.ir.function_of(it));
                return Err(Refusal { function: function.unwrap_or(self.function), why });
            }
            instance.push(draft.rule, &draft.operands, draft.limit, draft.site);
            nodes.push(draft.value);
        }
        let Builder { spots, groups, group_of, is_exact, .. } = self;
        let unit = UNIT / part;
        Ok(Extraction { instance, spots, nodes, groups, group_of, unit, is_exact })
    }
}
