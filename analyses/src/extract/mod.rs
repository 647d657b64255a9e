//! From IR and facts to the question that the optimizer answers: one [`Instance`] per function.
//!
//! *Nodes* are the values that carry noise, in program order; each has the rule of the op that defines it, and the
//! budget as its limit. What is passed to a function or returned from one is also limited by the contract there. The result of a call is a
//! source: what the callee gives for the arguments as they are, so never too little. Where values meet (block arguments, results of regions, carried arguments) the node is the largest of
//! what flows in; backward branches and loops with an unknown trip count make cycles. A loop that is known to run
//! few times is unrolled: one set of nodes per round, sharing their sites, so that the optimizer and the analysis agree on what is legal
//! (see `docs/noise.md`). With more rounds than noise levels per carried value the cycle says the same.
//!
//! *Sites* are right after the definition of any value, arguments included, unless the value is as fresh as a reset
//! would make it; and at the uses of a value in a block that is executed less often than its definition, one site for all uses in
//! that block and inside of it ([`Group`]). Ops that reset noise already are kept: the result is a source, the operand limited as any other. Or,
//! to place them anew, each is a site like the others: chosen, it stays.
//!
//! The cost of a site is how often it is executed (`weight.rs`), or 1 for each, times the price of one.
//!
//! *Refused* are functions in which anything is wrong but noise, or in which the noise of a live value is not known.

mod weight;

use noisy_syntax::{Block, Def, Ir, Op, OpKind, Region, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::Document;
use crate::contract::{self, Contract, Side};
use crate::fact::Noise;
use crate::flow::{self, Flow};
use crate::model::Growth;
use crate::placement::{Bits, Instance, Node, Rule, Site};

pub use self::weight::UNKNOWN_TRIPS;
use self::weight::{UNIT, Weights};

/// The most nodes of an instance.
const MAX_NODES: usize = 4_000_000;

/// What is to be least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// How many reduces are executed: see [`UNKNOWN_TRIPS`] for what the text does not tell.
    #[default]
    Executed,
    /// How many reduces are written.
    Count,
}

/// Where a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Right after the definition of a value.
    After(Value),
    /// Before the uses of a value in a block: [`Extraction::groups`] at this index.
    Before(usize),
    /// An op that resets noise already.
    Existing(Op),
}

/// The uses of a value in a block that is executed less often than its definition, and in the blocks within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The value.
    pub value: Value,
    /// The op of the block that uses it first, itself or inside.
    pub anchor: Op,
    /// The group around it, if some block between is executed more often than this and less often than the definition.
    pub outer: Option<usize>,
}

/// What the optimizer is asked about a function, and what its answer means.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The question.
    pub instance: Instance,
    /// What each site is.
    pub spots: Vec<Spot>,
    /// For each node the value that it stands for.
    pub nodes: Vec<Value>,
    /// The groups of uses.
    pub groups: Vec<Group>,
    /// The innermost group of each use that is in one: by op and index of the operand.
    pub group_of: FxHashMap<(Op, u32), usize>,
    /// Costs are in units of this part of an execution.
    pub unit: u64,
    /// A value that comes from another function with too much noise: it is presumed that the other is mended.
    pub presumed: Option<Value>,
}

/// Takes the placement problem out of a function. With `replace` the ops that are there already may go.
///
/// # Errors
///
/// Why there is none: the function has no body, or the noise of a live value in it is not known.
pub fn extract(
    document: &Document,
    function: Op,
    objective: Objective,
    replace: bool,
) -> Result<Extraction, String> {
    let ir = document.ir();
    let &[(_, region)] = ir.op(function).regions.as_slice() else {
        return Err("it has no body".into());
    };
    let weights = Weights::new(ir, document.integers(), region, objective == Objective::Count);
    let mut builder = Builder {
        document,
        ir,
        replace,
        nodes: Vec::new(),
        env: FxHashMap::default(),
        sites: FxHashMap::default(),
        costs: Vec::new(),
        spots: Vec::new(),
        groups: Vec::new(),
        group_of: FxHashMap::default(),
        groups_of: FxHashMap::default(),
        weights,
        presumed: None,
    };
    if objective == Objective::Executed {
        builder.group_uses(region);
    }
    let entry = flow::entry_block(ir, region);
    for &arg in &ir.block(entry).args {
        builder.define_source(arg)?;
    }
    builder.region(region)?;
    builder.finish()
}

struct NodeDraft {
    value: Value,
    rule: Rule,
    operands: SmallVec<[Node; 2]>,
    site: Option<Site>,
    /// The largest legal noise.
    limit: Bits,
    defined: bool,
}

/// What a node stands for: a value at its definition, or in a group of its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Value(Value),
    Group(usize),
}

struct Builder<'a> {
    document: &'a Document,
    ir: &'a Ir,
    replace: bool,
    nodes: Vec<NodeDraft>,
    /// The node that something stands for now (in this round).
    env: FxHashMap<Key, Node>,
    sites: FxHashMap<Key, Site>,
    costs: Vec<u64>,
    spots: Vec<Spot>,
    groups: Vec<Group>,
    group_of: FxHashMap<(Op, u32), usize>,
    groups_of: FxHashMap<Value, SmallVec<[usize; 2]>>,
    weights: Weights,
    presumed: Option<Value>,
}

impl Builder<'_> {
    fn carries(&self, value: Value) -> bool {
        self.document.is_noisy(value)
    }

    /// Finds the groups of uses of all values defined in a region and inside.
    fn group_uses(&mut self, region: Region) {
        let ir = self.ir;
        let mut stack = vec![region];
        while let Some(region) = stack.pop() {
            for block in ir.blocks(region) {
                for &arg in &ir.block(block).args {
                    self.group_uses_of(arg, block);
                }
                for op in ir.block_ops(block) {
                    for &result in &ir.op(op).results {
                        self.group_uses_of(result, block);
                    }
                    stack.extend(ir.op(op).regions.iter().map(|it| it.1));
                }
            }
        }
    }

    fn group_uses_of(&mut self, value: Value, home: Block) {
        let ir = self.ir;
        let region = ir.block(home).region;
        let is_far = |op: Op| ir.op(op).parent != region || ir.block_of(op) != home;
        let uses = &ir.value(value).uses;
        if !self.carries(value) || uses.iter().all(|it| !is_far(it.0)) {
            return;
        }
        let mut far: Vec<(Op, u32)> = uses.iter().copied().filter(|it| is_far(it.0)).collect();
        far.sort_by_cached_key(|&(op, index)| (ir.start(op), index));
        let mut known: FxHashMap<Block, usize> = FxHashMap::default();
        for (op, index) in far {
            // The blocks around the use, from the inside, each with its op that holds the use.
            let mut around: SmallVec<[(Block, Op); 4]> = SmallVec::new();
            let mut at = op;
            loop {
                let block = ir.block_of(at);
                if block == home {
                    break;
                }
                around.push((block, at));
                if ir.block(block).region == region {
                    break;
                }
                let Some(parent) = ir.parent_op(at) else { break };
                at = parent;
            }
            let (mut least, mut outer) = (self.weights.of(home), None);
            for (block, anchor) in around.into_iter().rev() {
                let weight = self.weights.of(block);
                if weight < least {
                    least = weight;
                    let group = *known.entry(block).or_insert_with(|| {
                        self.groups.push(Group { value, anchor, outer });
                        self.groups_of.entry(value).or_default().push(self.groups.len() - 1);
                        self.groups.len() - 1
                    });
                    outer = Some(group);
                }
            }
            if let Some(group) = outer {
                self.group_of.insert((op, index), group);
            }
        }
    }

    /// The node of something; made if it is defined further down.
    fn draft(&mut self, key: Key, value: Value) -> Node {
        if let Some(&node) = self.env.get(&key) {
            return node;
        }
        let node = Node(self.nodes.len() as u32);
        let operands = SmallVec::new();
        self.nodes.push(NodeDraft {
            value,
            rule: Rule::Max(0),
            operands,
            site: None,
            limit: self.document.model().budget,
            defined: false,
        });
        self.env.insert(key, node);
        node
    }

    /// The node of a value as an op uses it.
    fn used(&mut self, op: Op, index: usize, value: Value) -> Node {
        match self.group_of.get(&(op, index as u32)) {
            Some(&group) => self.grouped(group),
            None => self.draft(Key::Value(value), value),
        }
    }

    fn grouped(&mut self, index: usize) -> Node {
        let group = self.groups[index];
        let key = Key::Group(index);
        if let Some(&node) = self.env.get(&key) {
            return node;
        }
        let from = match group.outer {
            Some(outer) => self.grouped(outer),
            None => self.draft(Key::Value(group.value), group.value),
        };
        let weight = self.weights.of(self.ir.block_of(group.anchor));
        let site = self.site(key, Spot::Before(index), weight);
        let node = self.draft(key, group.value);
        let draft = &mut self.nodes[node.0 as usize];
        (draft.operands, draft.site, draft.defined) =
            (SmallVec::from_slice(&[from]), Some(site), true);
        node
    }

    /// The node of an operand, if it is a value that carries noise.
    fn operand(&mut self, op: Op, index: usize) -> Option<Node> {
        let value = self.ir.op(op).operands.get(index)?.value?;
        self.carries(value).then(|| self.used(op, index, value))
    }

    /// Says what a value is. Values without noise are passed over.
    fn define(
        &mut self,
        value: Value,
        rule: Rule,
        operands: SmallVec<[Node; 2]>,
    ) -> Result<(), String> {
        if !self.carries(value) {
            return Ok(());
        }
        match *self.document.noise(value) {
            Noise::Bottom => return Ok(()),
            Noise::Unknown => return Err(self.unknown(value)),
            Noise::Range { .. } => {}
        }
        let model = self.document.model();
        let pointless = matches!(rule, Rule::Source(noise) if noise <= model.reset_level());
        let (ir, mut spot, home) = match self.ir.value(value).def {
            Def::Result(op, _) => (self.ir, Spot::After(value), self.ir.block_of(op)),
            Def::Argument(block, _) => (self.ir, Spot::After(value), block),
        };
        let mut is_reset = false;
        if let Def::Result(op, _) = ir.value(value).def {
            is_reset = model.rule(ir.op_name(op)).is_some_and(|it| it.is_reset());
            if self.replace && self.is_ours(op) {
                (spot, is_reset) = (Spot::Existing(op), false);
            }
        }
        let key = Key::Value(value);
        let weight = self.weights.of(home);
        let site = (!pointless && !is_reset).then(|| self.site(key, spot, weight));
        let node = self.draft(key, value);
        let draft = &mut self.nodes[node.0 as usize];
        (draft.rule, draft.operands, draft.site, draft.defined) = (rule, operands, site, true);
        if self.nodes.len() > MAX_NODES {
            return Err("it is too large".into());
        }
        Ok(())
    }

    /// Whether an op is one that could have been inserted: one value in, one out.
    fn is_ours(&self, op: Op) -> bool {
        let data = self.ir.op(op);
        self.ir.op_name(op) == self.document.model().reset_op
            && (data.operands.len(), data.results.len()) == (1, 1)
            && data.operands[0].value.is_some_and(|it| self.carries(it))
    }

    fn site(&mut self, key: Key, spot: Spot, weight: u64) -> Site {
        if let Some(&site) = self.sites.get(&key) {
            return site;
        }
        let site = Site(self.spots.len() as u32);
        self.spots.push(spot);
        self.costs.push(weight);
        self.sites.insert(key, site);
        site
    }

    fn unknown(&self, value: Value) -> String {
        let derivation = self.document.derivation(value);
        let from = derivation.steps.first().map_or(value, |it| it.value);
        format!("the noise of {} is not known", self.ir.value_text(from))
    }

    /// A value whose noise does not follow from others.
    fn define_source(&mut self, value: Value) -> Result<(), String> {
        let mut hi = self.document.noise(value).hi().unwrap_or(0);
        let budget = self.document.model().budget;
        if hi > budget && self.comes_from_elsewhere(value) {
            // Once the function that it comes from is mended it has at most this.
            hi = budget;
            self.presumed.get_or_insert(value);
        }
        self.define(value, Rule::Source(hi), SmallVec::new())
    }

    /// Whether the noise of a value is made in another function: the result of a call, or what the calls of a function pass.
    fn comes_from_elsewhere(&self, value: Value) -> bool {
        let ir = self.ir;
        match ir.value(value).def {
            Def::Result(op, _) => {
                ir.op(op).kind == OpKind::FuncCall && flow::callee(ir, op).is_some()
            }
            Def::Argument(block, index) => {
                let function = ir.region(ir.block(block).region).parent;
                let function = function.filter(|&it| ir.op(it).kind == OpKind::FuncFunc);
                function.is_some_and(|it| {
                    contract::of(ir, it, Side::Argument, index as usize).is_none()
                })
            }
        }
    }

    /// A value that is the largest of what flows into it.
    fn define_meet(&mut self, value: Value) -> Result<(), String> {
        let fed = self.feeders(value);
        self.define(value, Rule::Max(0), fed)
    }

    fn region(&mut self, region: Region) -> Result<(), String> {
        let facts = self.document.facts();
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

    /// What flows into an argument or a result of a region, over live edges.
    fn feeders(&mut self, value: Value) -> SmallVec<[Node; 2]> {
        let mut out = SmallVec::new();
        if !self.carries(value) {
            return out;
        }
        for (op, index) in flow::feeding_operands(self.ir, value) {
            if self.document.facts().is_live(self.ir, op)
                && let Some(node) = self.operand(op, index)
                && !out.contains(&node)
            {
                out.push(node);
            }
        }
        out
    }

    fn op(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        match Flow::of(ir, op) {
            Flow::Plain => {
                self.plain(op)?;
                self.keep_contracts(op);
                Ok(())
            }
            Flow::Choice => {
                for &(_, region) in &data.regions {
                    self.region(region)?;
                }
                for &result in &data.results {
                    self.define_meet(result)?;
                }
                Ok(())
            }
            Flow::For { first } => self.loop_(op, first),
            Flow::While => self.while_(op),
            // Any number of values combined in any order, which is more than happens: never too little.
            Flow::Parallel { .. } | Flow::Reduce | Flow::Forall { .. } => {
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
            Flow::Function => Err("a function stands inside it".into()),
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
            if !self.carries(result) {
                continue;
            }
            let model = self.document.model();
            let rule = model.rule(ir.op_name(op)).filter(|_| data.kind != OpKind::FuncCall);
            let Some(rule) = rule else {
                self.define_source(result)?;
                continue;
            };
            let Def::Result(_, index) = ir.value(result).def else { continue };
            if !model.is_carried(rule, index as usize) {
                self.define(result, Rule::Source(0), SmallVec::new())?;
                continue;
            }
            let Some(growth) = model.growth(ir, op, rule) else {
                self.define_source(result)?;
                continue;
            };
            if self.replace && self.is_ours(op) {
                // It may go; then its result is its operand.
                let operands = self.operand(op, 0).into_iter().collect();
                self.define(result, Rule::Max(0), operands)?;
                continue;
            }
            let (rule, operands) = match growth {
                Growth::Fresh(level) | Growth::Reset(level) => {
                    (Rule::Source(level), SmallVec::new())
                }
                Growth::Max(k) => (Rule::Max(k), self.carriers(op, rule)),
                Growth::Sum(k) => (Rule::Sum(k), self.carriers(op, rule)),
            };
            self.define(result, rule, operands)?;
        }
        Ok(())
    }

    /// What an op passes to another function may have no more noise than the contract there allows.
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
            let limit = bound.min(self.document.model().budget);
            let operands = SmallVec::from_slice(&[from]);
            let rule = Rule::Max(0);
            self.nodes.push(NodeDraft { value, rule, operands, site: None, limit, defined: true });
        }
    }

    fn carriers(&mut self, op: Op, rule: crate::model::Rule) -> SmallVec<[Node; 2]> {
        let (ir, model) = (self.ir, self.document.model());
        let n = ir.op(op).operands.len();
        let carriers = (0..n).filter(|&it| model.is_carrier(ir, op, rule, it));
        carriers.filter_map(|it| self.operand(op, it)).collect()
    }

    fn loop_(&mut self, op: Op, first: usize) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        let region = data.regions[0].1;
        let n_carried = data.operands.len() - first;
        let args = flow::carried_args(ir, region, n_carried);
        let trips = self.document.integers().trip_count(ir, op);
        let inits = |it: &mut Self| -> SmallVec<[Option<Node>; 4]> {
            (first..data.operands.len()).map(|index| it.operand(op, index)).collect()
        };
        if trips == Some(0) {
            let inits = inits(self);
            for (&result, init) in data.results.iter().zip(inits) {
                self.define(result, Rule::Max(0), init.into_iter().collect())?;
            }
            return Ok(());
        }
        let model = self.document.model();
        let levels =
            u64::from(model.budget.saturating_sub(model.fresh.min(model.reset_level()))) + 2;
        let n_noisy = args.iter().filter(|&&it| self.carries(it)).count() as u64;
        if let Some(n) = trips.filter(|&it| it <= levels * n_noisy.max(1)) {
            let inits = inits(self);
            self.unroll(op, n, &args, inits)?;
        } else {
            for &arg in &args {
                self.define_meet(arg)?;
            }
            self.region(region)?;
        }
        let yielded = self.yielded(region);
        let inits = inits(self);
        for (index, &result) in data.results.iter().enumerate() {
            let mut fed: SmallVec<[Node; 2]> = SmallVec::new();
            fed.extend(yielded.get(index).copied().flatten());
            if trips.is_none() {
                fed.extend(inits.get(index).copied().flatten());
            }
            self.define(result, Rule::Max(0), fed)?;
        }
        Ok(())
    }

    /// What the yield of a region of one block gives.
    fn yielded(&mut self, region: Region) -> SmallVec<[Option<Node>; 4]> {
        let ir = self.ir;
        let end = flow::yields(ir, region).first().copied();
        end.map_or(SmallVec::new(), |end| {
            flow::yielded(ir, end).map(|index| self.operand(end, index)).collect()
        })
    }

    /// Builds a loop round by round.
    fn unroll(
        &mut self,
        op: Op,
        n: u64,
        args: &[Value],
        inits: SmallVec<[Option<Node>; 4]>,
    ) -> Result<(), String> {
        let region = self.ir.op(op).regions[0].1;
        let mut inside = Vec::new();
        crate::sparse::values_within(self.ir, op, &mut inside);
        let mut starts = inits;
        for round in 0..n {
            if round > 0 {
                // All nodes of the round before are looked up before any is replaced.
                starts = self.yielded(region);
            }
            for value in &inside {
                self.env.remove(&Key::Value(*value));
                for &group in self.groups_of.get(value).into_iter().flatten() {
                    self.env.remove(&Key::Group(group));
                }
            }
            for (&arg, start) in args.iter().zip(&starts) {
                if let Some(start) = *start {
                    self.define(arg, Rule::Max(0), SmallVec::from_slice(&[start]))?;
                }
            }
            self.region(region)?;
        }
        Ok(())
    }

    fn while_(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
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

    fn finish(self) -> Result<Extraction, String> {
        let model = self.document.model();
        let reset = model.reset_level();
        // The largest unit in which all costs are whole.
        let part = self.costs.iter().fold(UNIT, |part, &cost| gcd(part, cost));
        let mut instance = Instance::default();
        for &weight in &self.costs {
            instance.push_site((weight / part).saturating_mul(model.reset_cost()), reset);
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for draft in &self.nodes {
            if !draft.defined {
                let name = self.ir.value_text(draft.value);
                return Err(format!("{name} is used where it is not defined"));
            }
            instance.push(draft.rule, &draft.operands, draft.limit, draft.site);
            nodes.push(draft.value);
        }
        let Builder { spots, groups, group_of, presumed, .. } = self;
        let unit = UNIT / part;
        Ok(Extraction { instance, spots, nodes, groups, group_of, unit, presumed })
    }
}

/// The greatest common divisor.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
