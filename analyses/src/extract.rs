//! From IR and facts to the question that the optimizer answers: one [`Instance`] per function.
//!
//! *Nodes* are the values that carry noise, in program order; each has the rule of the op that defines it, and the
//! budget as its limit. Where values meet (block arguments, results of regions, carried arguments) the node is the largest of
//! what flows in; backward branches and loops with an unknown trip count make cycles. A loop that is known to run
//! few times is unrolled: one set of nodes per round, sharing their sites, so that the optimizer and the analysis agree on what is legal
//! (see `docs/noise.md`). With more rounds than noise levels per carried value the cycle says the same.
//!
//! *Sites* are right after the definition of any value, arguments included, unless the value is as fresh as a reset
//! would make it. An op that resets noise already is kept: its result is a source, and its operand is limited as any other.
//! The cost of a site is what is executed: times the trip counts of the loops around, [`UNKNOWN_TRIPS`] where the text does not
//! say; each branch counts as taken.
//!
//! *Refused* are functions in which anything is wrong but noise, or in which the noise of a live value is not known.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::Document;
use crate::fact::Noise;
use crate::flow::{self, Flow};
use crate::model::Growth;
use crate::placement::{Bits, Instance, Node, Rule, Site};

/// How often a loop is taken to run when the text does not say.
pub const UNKNOWN_TRIPS: u64 = 10;
/// The most nodes of an instance.
const MAX_NODES: usize = 4_000_000;

/// What the optimizer is asked about a function, and what its answer means.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The question.
    pub instance: Instance,
    /// For each site the value after whose definition it is.
    pub values: Vec<Value>,
    /// For each node the value that it stands for.
    pub nodes: Vec<Value>,
}

/// Takes the placement problem out of a function.
///
/// # Errors
///
/// Why there is none: the function has no body, or the noise of a live value in it is not known.
pub fn extract(document: &Document, function: Op) -> Result<Extraction, String> {
    let ir = document.ir();
    let &[(_, region)] = ir.op(function).regions.as_slice() else {
        return Err("it has no body".into());
    };
    let mut builder = Builder {
        document,
        ir,
        nodes: Vec::new(),
        env: FxHashMap::default(),
        sites: FxHashMap::default(),
        weights: Vec::new(),
        values: Vec::new(),
        weight: 1,
    };
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
    defined: bool,
}

struct Builder<'a> {
    document: &'a Document,
    ir: &'a Ir,
    nodes: Vec<NodeDraft>,
    /// The node that a value stands for now (in this round).
    env: FxHashMap<Value, Node>,
    sites: FxHashMap<Value, Site>,
    weights: Vec<u64>,
    values: Vec<Value>,
    /// Executions of what is being built.
    weight: u64,
}

impl Builder<'_> {
    fn carries(&self, value: Value) -> bool {
        self.document.is_noisy(value)
    }

    /// The node of a value; made if the value is defined further down.
    fn node(&mut self, value: Value) -> Node {
        if let Some(&node) = self.env.get(&value) {
            return node;
        }
        let node = Node(self.nodes.len() as u32);
        let operands = SmallVec::new();
        self.nodes.push(NodeDraft {
            value,
            rule: Rule::Max(0),
            operands,
            site: None,
            defined: false,
        });
        self.env.insert(value, node);
        node
    }

    /// Says what a value is. Values without noise are passed over.
    fn define(&mut self, value: Value, rule: Rule, operands: &[Value]) -> Result<(), String> {
        if !self.carries(value) {
            return Ok(());
        }
        let operands = operands.iter().map(|&it| self.node(it)).collect();
        self.define_from(value, rule, operands)
    }

    fn define_from(
        &mut self,
        value: Value,
        rule: Rule,
        operands: SmallVec<[Node; 2]>,
    ) -> Result<(), String> {
        match self.document.noise(value) {
            Noise::Bottom => return Ok(()),
            Noise::Unknown => return Err(self.unknown(value)),
            Noise::Range { .. } => {}
        }
        let model = self.document.model();
        let pointless = matches!(rule, Rule::Source(noise) if noise <= model.reset_level());
        let is_reset = match self.ir.value(value).def {
            Def::Result(op, _) => {
                let rule = model.rule(self.ir.op_name(op));
                rule.is_some_and(|it| it.is_reset())
            }
            Def::Argument(..) => false,
        };
        let site = (!pointless && !is_reset).then(|| self.site(value));
        let node = self.node(value);
        let draft = &mut self.nodes[node.0 as usize];
        (draft.rule, draft.operands, draft.site, draft.defined) = (rule, operands, site, true);
        if self.nodes.len() > MAX_NODES {
            return Err("it is too large".into());
        }
        Ok(())
    }

    fn site(&mut self, value: Value) -> Site {
        if let Some(&site) = self.sites.get(&value) {
            return site;
        }
        let site = Site(self.values.len() as u32);
        self.values.push(value);
        self.weights.push(self.weight.saturating_mul(self.document.model().reset_cost()));
        self.sites.insert(value, site);
        site
    }

    fn unknown(&self, value: Value) -> String {
        let derivation = self.document.derivation(value);
        let from = derivation.steps.first().map_or(value, |it| it.value);
        format!("the noise of {} is not known", self.ir.value_text(from))
    }

    /// A value whose noise does not follow from others.
    fn define_source(&mut self, value: Value) -> Result<(), String> {
        let hi = self.document.noise(value).hi().unwrap_or(0);
        self.define(value, Rule::Source(hi), &[])
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
                        let fed = self.feeders(arg);
                        self.define(arg, Rule::Max(0), &fed)?;
                    }
                }
            } else if live {
                self.op(op)?;
            }
            is_first = false;
        }
        Ok(())
    }

    /// The values that flow into an argument or a result of a region, over live edges.
    fn feeders(&self, value: Value) -> Vec<Value> {
        let facts = self.document.facts();
        let mut out: Vec<Value> = Vec::new();
        for (op, fed) in flow::feeders(self.ir, value) {
            if facts.is_live(self.ir, op) && self.carries(fed) && !out.contains(&fed) {
                out.push(fed);
            }
        }
        out
    }

    fn op(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        match Flow::of(ir, op) {
            Flow::Plain => self.plain(op),
            Flow::Choice => {
                for &(_, region) in &data.regions {
                    self.region(region)?;
                }
                for &result in &data.results {
                    let fed = self.feeders(result);
                    self.define(result, Rule::Max(0), &fed)?;
                }
                Ok(())
            }
            Flow::For { first } => self.loop_(op, first),
            Flow::While => self.while_(op),
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
                self.define(result, Rule::Source(0), &[])?;
                continue;
            }
            let Some(growth) = model.growth(ir, op, rule) else {
                self.define_source(result)?;
                continue;
            };
            let operands: SmallVec<[Value; 2]> = model.carriers(ir, op, rule).flatten().collect();
            let (rule, operands) = match growth {
                Growth::Fresh(level) | Growth::Reset(level) => (Rule::Source(level), &[][..]),
                Growth::Max(k) => (Rule::Max(k), &operands[..]),
                Growth::Sum(k) => (Rule::Sum(k), &operands[..]),
            };
            self.define(result, rule, operands)?;
        }
        Ok(())
    }

    fn loop_(&mut self, op: Op, first: usize) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        let region = data.regions[0].1;
        let n_carried = data.operands.len() - first;
        let args = flow::carried_args(ir, region, n_carried);
        let inits: SmallVec<[Option<Value>; 4]> =
            data.operands[first..].iter().map(|it| it.value).collect();
        let trips = flow::trip_count(ir, op);
        if trips == Some(0) {
            for (&result, init) in data.results.iter().zip(&inits) {
                let fed: SmallVec<[Value; 1]> = init.iter().copied().collect();
                self.define(result, Rule::Max(0), &fed)?;
            }
            return Ok(());
        }
        let weight = self.weight;
        self.weight = weight.saturating_mul(trips.unwrap_or(UNKNOWN_TRIPS));
        let model = self.document.model();
        let levels =
            u64::from(model.budget.saturating_sub(model.fresh.min(model.reset_level()))) + 2;
        let n_noisy = args.iter().filter(|&&it| self.carries(it)).count() as u64;
        if let Some(n) = trips.filter(|&it| it <= levels * n_noisy.max(1)) {
            self.unroll(op, n, &args, &inits)?;
        } else {
            for &arg in &args {
                let fed = self.feeders(arg);
                self.define(arg, Rule::Max(0), &fed)?;
            }
            self.region(region)?;
        }
        self.weight = weight;
        let yielded = self.yielded(region);
        for (index, &result) in data.results.iter().enumerate() {
            let mut fed: SmallVec<[Value; 2]> = SmallVec::new();
            fed.extend(yielded.get(index).copied().flatten());
            if trips.is_none() {
                fed.extend(inits.get(index).copied().flatten());
            }
            self.define(result, Rule::Max(0), &fed)?;
        }
        Ok(())
    }

    /// What the yield of a region of one block gives.
    fn yielded(&self, region: Region) -> Vec<Option<Value>> {
        let ir = self.ir;
        let end = flow::yields(ir, region).first().copied();
        end.map_or(Vec::new(), |end| {
            ir.op(end).operands[flow::yielded(ir, end)].iter().map(|it| it.value).collect()
        })
    }

    /// Builds a loop round by round.
    fn unroll(
        &mut self,
        op: Op,
        n: u64,
        args: &[Value],
        inits: &[Option<Value>],
    ) -> Result<(), String> {
        let region = self.ir.op(op).regions[0].1;
        let mut inside = Vec::new();
        crate::sparse::values_within(self.ir, op, &mut inside);
        let yielded = self.yielded(region);
        for round in 0..n {
            let from = if round == 0 { inits } else { &yielded[..] };
            // All nodes of the round before are looked up before any is replaced.
            let mut starts: Vec<Option<Node>> = Vec::new();
            for (&arg, from) in args.iter().zip(from) {
                let from = from.filter(|_| self.carries(arg));
                starts.push(from.map(|it| self.node(it)));
            }
            for value in &inside {
                self.env.remove(value);
            }
            for (&arg, start) in args.iter().zip(starts) {
                if let Some(start) = start {
                    self.define_from(arg, Rule::Max(0), SmallVec::from_slice(&[start]))?;
                }
            }
            self.region(region)?;
        }
        Ok(())
    }

    fn while_(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        let weight = self.weight;
        self.weight = weight.saturating_mul(UNKNOWN_TRIPS);
        for &(_, region) in &data.regions {
            for &arg in &ir.block(flow::entry_block(ir, region)).args {
                let fed = self.feeders(arg);
                self.define(arg, Rule::Max(0), &fed)?;
            }
            self.region(region)?;
        }
        self.weight = weight;
        for &result in &data.results {
            let fed = self.feeders(result);
            self.define(result, Rule::Max(0), &fed)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Extraction, String> {
        let budget: Bits = self.document.model().budget;
        let reset = self.document.model().reset_level();
        let mut instance = Instance::default();
        for &weight in &self.weights {
            instance.push_site(weight, reset);
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for draft in &self.nodes {
            if !draft.defined {
                let name = self.ir.value_text(draft.value);
                return Err(format!("{name} is used where it is not defined"));
            }
            instance.push(draft.rule, &draft.operands, budget, draft.site);
            nodes.push(draft.value);
        }
        Ok(Extraction { instance, values: self.values, nodes })
    }
}
