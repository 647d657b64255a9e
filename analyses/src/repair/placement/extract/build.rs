//! Construction of the nodes and sites of functions, op by op.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use num_integer::gcd;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::calls::LiveCalls;
use super::weight::{UNIT, Weights};
use super::{Extraction, ExtractionRequest, Objective, Refusal, SitePosition, UseGroup};
use crate::explain::{SaturationCache, derivation};
use crate::facts::noise::Noise;
use crate::facts::noise::contract::{self, Contract, ValueSide};
use crate::facts::noise::model::Growth;
use crate::program::Program;
use noisy_dataflow::flow::{self, Flow};
use noisy_dataflow::sparse::{MAX_CALL_DEPTH, with_growing_stack};
use noisy_placement::{Instance, Node, NodeRule, NoiseBits, Site};

/// Maximum number of nodes of an instance.
const MAX_NODES: usize = 4_000_000;
/// Maximum number of visited ops over all iterations and copies. It is larger than the number of
/// nodes, because many repeated ops may carry no noise.
const MAX_VISITED_OPS: usize = 2 * MAX_NODES;
/// The reason for refusing functions beyond these limits.
const TOO_LARGE: &str = "the function is too large to optimize";

/// The noise of an argument of a copy of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassedArgument {
    /// The argument carries no noise.
    Nothing,
    /// A fixed level, independent of the placement.
    Level(NoiseBits),
    /// The noise of a node.
    Node(Node),
}

/// The nodes of the results of a copy of a function.
pub(super) type Results = SmallVec<[Option<Node>; 2]>;

/// The copies of a function.
#[derive(Debug, Default)]
pub(super) struct Copies {
    pub separate: Vec<(Vec<PassedArgument>, Results)>,
    /// The arguments and the results of the joined copy.
    pub joined: Option<(Vec<Option<Node>>, Results)>,
    /// The pairs of an argument of the joined copy and a node that is passed to it.
    pub joined_operands: FxHashSet<(Node, Node)>,
}

/// A node under construction.
pub(super) struct NodeDraft {
    pub value: Value,
    pub rule: NodeRule,
    pub operands: SmallVec<[Node; 2]>,
    pub site: Option<Site>,
    /// The largest legal noise.
    pub limit: NoiseBits,
    pub is_defined: bool,
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
    pub calls: &'a LiveCalls,
    objective: Objective,
    replace: bool,
    /// The functions that may be changed.
    changeable: FxHashSet<Op>,
    /// The functions that are extracted, in textual order.
    members: Vec<Op>,
    pub is_member: FxHashSet<Op>,
    /// The function that is being built.
    pub function: Op,
    /// True if `function` may be changed.
    pub is_changeable: bool,
    /// The current nesting depth of calls and regions.
    pub depth: usize,
    n_visited: usize,
    pub copies: FxHashMap<Op, Copies>,
    /// Maximum number of separate copies of a function.
    pub max_copies: usize,
    /// The functions whose weights and groups of uses are computed.
    pub prepared: FxHashSet<Op>,
    pub nodes: Vec<NodeDraft>,
    /// The node of each key in the current copy and iteration.
    pub env: FxHashMap<NodeKey, Node>,
    sites: FxHashMap<NodeKey, Site>,
    costs: Vec<u64>,
    positions: Vec<SitePosition>,
    pub groups: Vec<UseGroup>,
    pub group_of: FxHashMap<(Op, u32), usize>,
    pub groups_of: FxHashMap<Value, SmallVec<[usize; 2]>>,
    pub weights: Weights,
    pub is_exact: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        program: &'a Program,
        calls: &'a LiveCalls,
        request: &ExtractionRequest,
    ) -> Self {
        let members = calls.connected(program.ir(), request.functions, request.excluded);
        Builder {
            program,
            ir: program.ir(),
            calls,
            objective: request.objective,
            replace: request.replace,
            changeable: request.functions.iter().copied().collect(),
            is_member: members.iter().copied().collect(),
            function: request.functions.first().copied().unwrap_or_else(|| Op::from_index(0)),
            members,
            is_changeable: true,
            depth: 0,
            n_visited: 0,
            copies: FxHashMap::default(),
            max_copies: request.max_copies,
            prepared: FxHashSet::default(),
            nodes: Vec::new(),
            env: FxHashMap::default(),
            sites: FxHashMap::default(),
            costs: Vec::new(),
            positions: Vec::new(),
            groups: Vec::new(),
            group_of: FxHashMap::default(),
            groups_of: FxHashMap::default(),
            weights: Weights::default(),
            is_exact: true,
        }
    }

    /// Builds all functions, in their assumed contexts and in the contexts of calls from functions
    /// outside of the problem.
    pub(super) fn build_functions(&mut self) -> Result<(), String> {
        for function in self.members.clone() {
            self.function = function;
            self.build_roots(function)?;
        }
        Ok(())
    }

    /// Makes a function the current one. Computes its weights and groups of uses at the first call.
    pub(super) fn enter(&mut self, function: Op, region: Region) {
        self.function = function;
        self.is_changeable = self.changeable.contains(&function);
        if self.is_changeable && self.prepared.insert(function) {
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
            is_defined: false,
        });
        self.env.insert(key, node);
        node
    }

    /// Returns the limit of a value. In a function that is not changed, the limit is at least the
    /// current noise.
    pub(super) fn limit(&self, bound: NoiseBits, value: Value) -> NoiseBits {
        let now = if self.is_changeable { None } else { self.program.noise(value).hi() };
        now.map_or(bound, |now| bound.max(now))
    }

    /// Returns the node of a value at its use by an operand.
    pub(super) fn node_at_use(&mut self, op: Op, index: usize, value: Value) -> Node {
        match self.group_of.get(&(op, index as u32)) {
            Some(&group) => self.group_node(group),
            None => self.draft(NodeKey::Value(value), value),
        }
    }

    /// Returns the node of an operand, if it carries noise and is reachable.
    pub(super) fn operand_node(&mut self, op: Op, index: usize) -> Option<Node> {
        let value = self.ir.op(op).operands.get(index)?.value?;
        (self.carries(value) && !self.is_bottom(value)).then(|| self.node_at_use(op, index, value))
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
        let has_site = self.is_changeable && !pointless && !is_reset;
        let site = has_site.then(|| self.site(key, spot, weight));
        let node = self.draft(key, value);
        let draft = &mut self.nodes[node.0 as usize];
        (draft.rule, draft.operands, draft.site, draft.is_defined) = (rule, operands, site, true);
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
            && self.is_changeable
            && self.ir.op_name(op) == self.program.model().reset_op
            && (data.operands.len(), data.results.len()) == (1, 1)
            && data.operands[0].value.is_some_and(|it| self.carries(it))
    }

    pub(super) fn site(&mut self, key: NodeKey, spot: SitePosition, weight: u64) -> Site {
        if let Some(&site) = self.sites.get(&key) {
            return site;
        }
        let site = Site(self.positions.len() as u32);
        self.positions.push(spot);
        self.costs.push(weight);
        self.sites.insert(key, site);
        site
    }

    pub(super) fn unknown(&self, value: Value) -> String {
        let chain = derivation(self.program, value, &mut SaturationCache::default());
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
                    && contract::of(self.ir, self.function, ValueSide::Argument, index as usize)
                        .is_none()
            }
        }
    }

    /// Defines a value as the maximum of its incoming values.
    pub(super) fn define_join(&mut self, value: Value) -> Result<(), String> {
        let fed = self.incoming_nodes(value);
        self.define(value, NodeRule::Max(0), fed)
    }

    pub(super) fn build_region(&mut self, region: Region) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_CALL_DEPTH {
            return Err("calls are nested too deeply to optimize".into());
        }
        let done = with_growing_stack(|| self.build_ops(region));
        self.depth -= 1;
        done
    }

    fn build_ops(&mut self, region: Region) -> Result<(), String> {
        let facts = self.program.noise_solver();
        let mut live = facts.is_block_live(flow::entry_block(self.ir, region));
        let mut is_first = true;
        for op in self.ir.items(region) {
            if self.ir.op(op).kind == OpKind::Label {
                let block = self.ir.label_block(op);
                live = facts.is_block_live(block);
                if !is_first && live {
                    for &arg in &self.ir.block(block).args {
                        self.define_join(arg)?;
                    }
                }
            } else if live {
                self.build_op(op)?;
            }
            is_first = false;
        }
        Ok(())
    }

    /// Returns the nodes of the values that flow into a block argument or a result of an op with
    /// regions, over live edges.
    fn incoming_nodes(&mut self, value: Value) -> SmallVec<[Node; 2]> {
        let mut out = SmallVec::new();
        if !self.carries(value) {
            return out;
        }
        for (op, index) in flow::feeding_operands(self.ir, value) {
            if self.program.noise_solver().is_live(self.ir, op)
                && let Some(node) = self.operand_node(op, index)
                && !out.contains(&node)
            {
                out.push(node);
            }
        }
        out
    }

    fn build_op(&mut self, op: Op) -> Result<(), String> {
        self.n_visited += 1;
        if self.n_visited > MAX_VISITED_OPS {
            return Err(TOO_LARGE.into());
        }
        let ir = self.ir;
        let data = ir.op(op);
        match Flow::of(ir, op) {
            Flow::Plain => {
                if !self.build_call(op)? {
                    self.build_plain_op(op)?;
                }
                self.limit_operands(op);
                Ok(())
            }
            Flow::Choice | Flow::While => {
                for &(_, region) in &data.regions {
                    for &arg in &ir.block(flow::entry_block(ir, region)).args {
                        self.define_join(arg)?;
                    }
                    self.build_region(region)?;
                }
                for &result in &data.results {
                    self.define_join(result)?;
                }
                Ok(())
            }
            Flow::For { first } => self.build_loop(op, first),
            // Sound over-approximation: any number of values may be combined in any order.
            Flow::Parallel { .. } | Flow::Reduce | Flow::Forall { .. } => {
                for &(_, region) in &data.regions {
                    for &arg in &ir.block(flow::entry_block(ir, region)).args {
                        self.is_exact &= !self.carries(arg);
                        self.define_join(arg)?;
                    }
                    self.build_region(region)?;
                }
                for &result in &data.results {
                    self.is_exact &= !self.carries(result);
                    self.define_join(result)?;
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
                    self.build_region(region)?;
                }
                for &result in &data.results {
                    self.define_source(result)?;
                }
                Ok(())
            }
        }
    }

    fn build_plain_op(&mut self, op: Op) -> Result<(), String> {
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
            if !model.is_noisy_result(rule, index as usize) {
                self.define(result, NodeRule::Source(0), SmallVec::new())?;
                continue;
            }
            let Some(growth) = model.growth(ir, op, rule) else {
                self.define_source(result)?;
                continue;
            };
            if self.is_replaceable(op) {
                // If it is removed, its operand replaces its result.
                let operands = self.operand_node(op, 0).into_iter().collect();
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
    fn limit_operands(&mut self, op: Op) {
        let ir = self.ir;
        let stated = move |function, side, index| match contract::of(ir, function, side, index)? {
            Contract::Bound(bound) => Some(bound),
            Contract::Invalid => None,
        };
        let allows: Box<dyn Fn(usize) -> Option<NoiseBits>> = match ir.op(op).kind {
            OpKind::FuncCall => {
                let Some(callee) = flow::callee(ir, op) else { return };
                Box::new(move |index| stated(callee, ValueSide::Argument, index))
            }
            OpKind::FuncReturn => {
                let Some(function) = ir.parent_op(op) else { return };
                Box::new(move |index| stated(function, ValueSide::Result, index))
            }
            _ => return,
        };
        for (index, operand) in ir.op(op).operands.iter().enumerate() {
            let (Some(value), Some(bound)) = (operand.value, allows(index)) else { continue };
            let Some(from) = self.operand_node(op, index) else { continue };
            let limit = self.limit(bound.min(self.program.model().budget), value);
            let operands = SmallVec::from_slice(&[from]);
            let rule = NodeRule::Max(0);
            self.nodes.push(NodeDraft {
                value,
                rule,
                operands,
                site: None,
                limit,
                is_defined: true,
            });
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
        carriers.filter_map(|it| self.operand_node(op, it)).collect()
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
            if !draft.is_defined {
                let name = self.ir.value_text(draft.value);
                let why = format!("{name} is used where it is not defined");
                let function =
                    self.ir.definition_site(draft.value).and_then(|it| self.ir.function_of(it));
                return Err(Refusal { function: function.unwrap_or(self.function), why });
            }
            instance.push(draft.rule, &draft.operands, draft.limit, draft.site);
            nodes.push(draft.value);
        }
        let Builder { positions: spots, groups, group_of, is_exact, .. } = self;
        let unit = UNIT / part;
        Ok(Extraction {
            instance,
            positions: spots,
            nodes,
            use_groups: groups,
            group_of,
            unit,
            is_exact,
        })
    }
}
