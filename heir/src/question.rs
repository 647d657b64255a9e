//! The placement of relinearizations and bootstraps as a problem for the optimizer.
//!
//! Both are instances of one problem: a number is propagated from op to op, an inserted op resets
//! it, and some ops limit it.
//!
//! | | relinearizations | bootstraps |
//! |---|---|---|
//! | number | the degree, which is the number of polynomials minus one: 1 or 2 | levels used |
//! | fresh | 1 | 0 |
//! | product of ciphertexts | takes degree 1, gives degree 2 | uses one level, if no `mgmt` op uses levels |
//! | other ops | the largest operand | the largest operand, changed by the rule of the op (`rules.rs`) |
//! | inserted op | 1 | the levels that a bootstrap uses |
//! | limit | 1 (see below) | for all values, the budget plus the levels that a bootstrap uses |
//!
//! Rotations, modulus switches, bootstraps, ops that also take a plaintext, ends of regions and
//! loops need operands of degree 1.
//!
//! The result of a bootstrap has the default scale. If modulus switches are already placed, a
//! bootstrap is inserted only where the scale is the default: not between a product and its modulus
//! switch.
//!
//! Ops only pass on or reset degrees, so the placement of relinearizations is a minimum cut. A loop
//! carries one level. This is the level of a bootstrapped ciphertext, for which the caller pins
//! loops one by one ([`PlacementProblem::pin`]), or the larger of the levels of the initial and
//! the yielded value; levels of the other value are then dropped
//! ([`PlacementProblem::level_drops`]).
//!
//! A question covers one function. Its arguments are assumed to be fresh, and the result of a call
//! to have the number of its operands. If this may be wrong, the caller decides: for
//! relinearizations, it checks that the callee returns degree 1.
//!
//! *Cost.* Linear in the function. *Source.* HEIR, `lib/Analysis/OptimizeRelinearizationAnalysis`,
//! issue 3149, `lib/Transforms/SecretInsertMgmt`, which calls positions with the default scale
//! "scale safe"; the levels of bootstraps were measured.

use noisy_placement::{Instance, Node, NodeRule, NoiseBits};
use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::LevelChange;
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::facts::loops;
use crate::ops::placed::PlacedOp;
use crate::ops::rules::{self, DimensionRule};
use crate::options::HeirOptions;
use noisy_dataflow::flow::{self, Flow};

/// The nodes of the initial value and of the yielded value of a carried value of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedNodes {
    /// The initial value.
    pub(crate) init: Node,
    /// The value that the loop yields to its next iteration.
    pub(crate) yielded: Node,
    /// The operand of the loop and the operand of its terminator that are these values.
    uses: [(Op, u32); 2],
    /// True if levels of these values may be dropped: both are inside of a generic.
    pub may_drop: bool,
}

/// A value whose levels must be dropped for a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelDrop {
    /// The value.
    pub value: Value,
    /// Number of levels to drop.
    pub n_levels: u32,
    /// The operand of the loop or of its terminator.
    pub operand: (Op, u32),
}

/// The placement problem of one function.
#[derive(Clone, Debug)]
pub struct PlacementProblem {
    /// The instance for the optimizer.
    pub instance: Instance,
    /// For each site, the value after whose definition it is.
    pub site_values: Vec<Value>,
    /// The values of the first nodes, in the order of the nodes.
    pub node_values: Vec<Value>,
    /// The values that loops carry, if loops must carry one level.
    pub(crate) carried: Vec<CarriedNodes>,
    /// True if `mgmt` ops use levels; otherwise each product uses one.
    pub is_managed: bool,
    /// The number after an inserted op.
    reset: NoiseBits,
    /// The nodes that must have degree 1.
    needs: Vec<Node>,
}

/// Returns `Ok` if the result of a call of the function has the number of its operands, else the
/// reason in words.
pub type CallCheck<'a> = &'a dyn Fn(Op) -> Result<(), String>;

impl PlacementProblem {
    /// Returns the first value that must be relinearized, if nothing is inserted.
    pub fn first_oversized(&self) -> Option<Value> {
        let number = self.numbers_without_sites();
        let node = self.needs.iter().find(|&&it| number(it) > 1)?;
        self.node_values.get(node.0 as usize).copied()
    }

    /// Returns the loops whose initial and yielded values have different numbers under a choice of
    /// sites.
    pub fn varying_loops(&self, chosen: &[bool]) -> Vec<CarriedNodes> {
        let after = self.numbers(chosen);
        let varies = |it: &&CarriedNodes| after(it.init) != after(it.yielded);
        self.carried.iter().filter(varies).copied().collect()
    }

    /// Returns true if the initial and the yielded value of a loop have the same number, if nothing
    /// is inserted.
    pub fn is_invariant(&self, init: Value, yielded: Value) -> bool {
        let number = self.numbers_without_sites();
        let of = |it: Node| self.node_values.get(it.0 as usize).copied();
        let is_it =
            |it: &&CarriedNodes| of(it.init) == Some(init) && of(it.yielded) == Some(yielded);
        self.carried.iter().find(is_it).is_some_and(|it| number(it.init) == number(it.yielded))
    }

    /// Returns the numbers of nodes, if nothing is inserted.
    fn numbers_without_sites(&self) -> impl Fn(Node) -> NoiseBits {
        let before =
            noisy_placement::evaluate::noise(&self.instance, &vec![false; self.site_values.len()]);
        move |node: Node| before[node.0 as usize]
    }

    /// Returns the numbers after the sites of nodes, under a choice of sites.
    fn numbers(&self, chosen: &[bool]) -> impl Fn(Node) -> NoiseBits {
        let before = noisy_placement::evaluate::noise(&self.instance, chosen);
        move |node: Node| match self.instance.nodes[node.0 as usize].site {
            Some(site) if chosen[site.0 as usize] => self.instance.sites[site.0 as usize].reset,
            _ => before[node.0 as usize],
        }
    }

    /// Returns the values whose levels must be dropped to the level that their loop carries, if
    /// nothing else is inserted.
    pub fn level_drops(&self) -> Vec<LevelDrop> {
        let number = self.numbers_without_sites();
        let mut out = Vec::new();
        for round in self.carried.iter().filter(|it| it.may_drop) {
            let nodes = [round.init, round.yielded];
            let carried = nodes.map(&number).into_iter().max().unwrap_or(0);
            for (node, at) in nodes.into_iter().zip(round.uses) {
                let by = carried - number(node);
                if by > 0 {
                    out.push(LevelDrop {
                        value: self.node_values[node.0 as usize],
                        n_levels: by,
                        operand: at,
                    });
                }
            }
        }
        out
    }

    /// Requires that the initial and the yielded value of a loop have the number of an inserted op.
    pub fn pin(&mut self, round: CarriedNodes) {
        for node in [round.init, round.yielded] {
            let data = self.instance.nodes[node.0 as usize];
            match data.site {
                // Only an inserted op gives exactly this number.
                Some(site) if self.reset > 0 => {
                    let high = self.instance.push(
                        NodeRule::Source(self.reset.saturating_add(1)),
                        &[],
                        NoiseBits::MAX,
                        Some(site),
                    );
                    self.instance.push(NodeRule::Max(0), &[high], self.reset, None);
                }
                _ => {
                    self.instance.push(NodeRule::Max(0), &[node], self.reset, None);
                }
            }
        }
    }
}

/// Builds the question of a function. `weight` is the number of times that code after the
/// definition of a value runs. `crossing` is called for functions that change the number.
///
/// # Errors
/// If a fact about a value of the function is unknown: the reason in words.
pub fn placement_problem(
    ir: &Ir,
    heir: &CiphertextFacts,
    function: Op,
    placed: PlacedOp,
    options: HeirOptions,
    weight: &dyn Fn(Value) -> u64,
    crossing: CallCheck<'_>,
) -> Result<PlacementProblem, String> {
    let body = flow::function_body(ir, function).ok_or("it has no body")?;
    let bootstrap_level = heir.setting_of(function).map_or(0, |it| it.bootstrap_level);
    let mut builder = QuestionBuilder {
        ir,
        heir,
        placed,
        crossing,
        is_managed: false,
        is_relinearized: false,
        n_fresh_products: u32::from(options.before_mul_include_first_mul),
        n_products: Vec::new(),
        values: Vec::new(),
        node_of: FxHashMap::default(),
        reset: match placed {
            PlacedOp::Relinearize => 1,
            PlacedOp::Bootstrap(_) => bootstrap_level,
        },
        limit: match placed {
            PlacedOp::Relinearize => NoiseBits::MAX,
            PlacedOp::Bootstrap(budget) => {
                budget.saturating_add(bootstrap_level).min(NoiseBits::MAX - 1)
            }
        },
        instance: Instance::default(),
        spots: Vec::new(),
        needs: Vec::new(),
    };
    builder.collect_ciphertexts(body, false)?;
    ir.walk(body, &mut |op| {
        let name = ir.op_name(op);
        builder.is_managed |= rules::is_level_use(name);
        builder.is_relinearized |= name == "mgmt.relinearize";
    });
    builder.add_nodes(weight)?;
    let mut rounds = Vec::new();
    loops::visit_carried(ir, body, &mut |it| {
        let of = |it: Value| builder.node_of.get(&it).map(|&at| Node(at));
        if let (Some(init), Some(yielded)) = (of(it.init), of(it.yielded)) {
            let is_inside = |it: Node| builder.values[it.0 as usize].1;
            let may_drop = is_inside(init) && is_inside(yielded);
            rounds.push(CarriedNodes { init, yielded, uses: it.uses, may_drop });
        }
    });
    if placed == PlacedOp::Relinearize {
        for it in rounds.drain(..) {
            builder.needs.extend([it.init, it.yielded]);
        }
        builder.needs.sort_unstable();
        builder.needs.dedup();
        for &node in &builder.needs {
            builder.instance.push(NodeRule::Max(0), &[node], 1, None);
        }
    }
    let QuestionBuilder { instance, spots, values, reset, is_managed, needs, .. } = builder;
    let nodes = values.into_iter().map(|it| it.0).collect();
    Ok(PlacementProblem {
        instance,
        site_values: spots,
        node_values: nodes,
        carried: rounds,
        is_managed,
        reset,
        needs,
    })
}

struct QuestionBuilder<'a> {
    ir: &'a Ir,
    heir: &'a CiphertextFacts,
    placed: PlacedOp,
    crossing: CallCheck<'a>,
    /// True if `mgmt` ops use levels.
    is_managed: bool,
    /// True if the function already contains relinearizations.
    is_relinearized: bool,
    /// Number of products that the scale of a fresh ciphertext corresponds to.
    n_fresh_products: u32,
    /// For each node, the number of products in its scale that no modulus switch has divided out.
    n_products: Vec<u32>,
    /// The ciphertexts in textual order, each with true if it is inside of a generic.
    values: Vec<(Value, bool)>,
    node_of: FxHashMap<Value, u32>,
    reset: NoiseBits,
    limit: NoiseBits,
    instance: Instance,
    spots: Vec<Value>,
    /// Nodes that must have degree 1.
    needs: Vec<Node>,
}

impl QuestionBuilder<'_> {
    /// Collects the ciphertexts of a region.
    fn collect_ciphertexts(&mut self, region: Region, is_inside: bool) -> Result<(), String> {
        let ir = self.ir;
        for block in ir.blocks(region) {
            for &value in &ir.block(block).args {
                self.add(value, is_inside)?;
            }
            for op in ir.block_ops(block) {
                let data = ir.op(op);
                let is_generic = ir.is_secret_generic(op);
                for &(_, inner) in &data.regions {
                    self.collect_ciphertexts(inner, is_inside || is_generic)?;
                }
                for &value in &data.results {
                    self.add(value, is_inside)?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, value: Value, is_inside: bool) -> Result<(), String> {
        match self.heir.ciphertext(value) {
            Ciphertext::Encrypted { .. } => {
                self.node_of.insert(value, self.values.len() as u32);
                self.values.push((value, is_inside));
                Ok(())
            }
            Ciphertext::Unknown if is_inside => {
                let name = self.ir.value_text(value);
                Err(format!("{name} is of unknown kind: it may be a ciphertext or a plaintext"))
            }
            _ => Ok(()),
        }
    }

    fn node(&self, value: Value) -> Option<Node> {
        self.node_of.get(&value).map(|&it| Node(it))
    }

    fn add_nodes(&mut self, weight: &dyn Fn(Value) -> u64) -> Result<(), String> {
        let ir = self.ir;
        for at in 0..self.values.len() {
            let (value, is_inside) = self.values[at];
            let feeders = flow::feeding_values(ir, value);
            let (rule, operands) = match ir.value(value).def {
                _ if !feeders.is_empty() => {
                    (NodeRule::Max(0), feeders.iter().filter_map(|it| self.node(it.1)).collect())
                }
                Def::Result(op, _) if ir.op(op).regions.is_empty() => self.rule(op, value)?,
                Def::Result(op, _) => {
                    let name = ir.op_name(op);
                    return Err(format!(
                        "the effect of {name} on levels is unknown, because it has regions"
                    ));
                }
                Def::Argument(..) => (NodeRule::Source(self.fresh_number()), Vec::new()),
            };
            let pending = self.n_products_of(value);
            self.n_products.push(pending);
            let is_reset = matches!(rule, NodeRule::Source(it) if it == self.reset);
            let may_stand = match (self.placed, ir.value(value).def) {
                (PlacedOp::Relinearize, Def::Result(op, _)) => ir.op(op).regions.is_empty(),
                (PlacedOp::Relinearize, Def::Argument(..)) => false,
                // The operand of a bootstrap must have two polynomials.
                (PlacedOp::Bootstrap(_), _) => {
                    let is_narrow = self.heir.dimension(ir, value).is_none_or(|it| it == 2);
                    let keeps_scale = !self.is_managed || pending == self.n_fresh_products;
                    (!self.is_relinearized || is_narrow) && keeps_scale
                }
            };
            let site = (is_inside && may_stand && !is_reset).then(|| {
                self.spots.push(value);
                self.instance.push_site(weight(value).max(1), self.reset)
            });
            self.instance.push(rule, &operands, self.limit, site);
        }
        // Terminators pass their operands on; the other ops limit them.
        for at in 0..self.values.len() {
            self.record_limit(self.values[at].0);
        }
        Ok(())
    }

    /// Returns the number of products in the scale of a value that no modulus switch has divided
    /// out. For a loop, the initial value counts.
    fn n_products_of(&self, value: Value) -> u32 {
        let ir = self.ir;
        let of = |it: Value| self.n_products.get(self.node(it)?.0 as usize).copied();
        let feeders = flow::feeding_values(ir, value);
        if !feeders.is_empty() {
            return feeders.iter().filter_map(|it| of(it.1)).max().unwrap_or(self.n_fresh_products);
        }
        let Def::Result(op, _) = ir.value(value).def else { return self.n_fresh_products };
        let name = ir.op_name(op);
        if rules::is_encryption(name) || rules::is_bootstrap(name) {
            return self.n_fresh_products;
        }
        let taken = ir.op(op).operands.iter().filter_map(|it| of(it.value?));
        let largest = taken.clone().max().unwrap_or(0);
        match name {
            "mgmt.modreduce" => largest.saturating_sub(1),
            "mgmt.adjust_scale" => largest.saturating_add(1),
            _ if rules::is_scale_product(name) => taken.fold(1, u32::saturating_add),
            _ => largest,
        }
    }

    fn fresh_number(&self) -> NoiseBits {
        match self.placed {
            PlacedOp::Relinearize => 1,
            PlacedOp::Bootstrap(_) => 0,
        }
    }

    /// Returns the rule for the number of the result of an op without regions, and the nodes that
    /// the rule reads.
    fn rule(&mut self, op: Op, value: Value) -> Result<(NodeRule, Vec<Node>), String> {
        let ir = self.ir;
        let name = ir.op_name(op);
        let operands: Vec<Node> =
            ir.op(op).operands.iter().filter_map(|it| self.node(it.value?)).collect();
        if rules::is_encryption(name) {
            return Ok((NodeRule::Source(self.fresh_number()), Vec::new()));
        }
        if let Some(callee) = flow::callee(ir, op)
            && self.heir.changing_functions(ir, self.placed).contains_key(&callee)
            && let Err(why) = (self.crossing)(callee)
        {
            return Err(format!("{} is returned by a call: {why}", ir.value_text(value)));
        }
        let dimension = rules::dimension_rule(name);
        Ok(match self.placed {
            PlacedOp::Relinearize => match dimension {
                Some(DimensionRule::Relinearize) => (NodeRule::Source(1), Vec::new()),
                Some(DimensionRule::Product) if operands.len() > 1 => {
                    (NodeRule::Source(2), Vec::new())
                }
                _ => (NodeRule::Max(0), operands),
            },
            PlacedOp::Bootstrap(_) => {
                let product =
                    u32::from(!self.is_managed && matches!(name, "arith.muli" | "arith.mulf"));
                match self.heir.level_change(ir, op) {
                    Some(LevelChange::Uses(n)) => {
                        (NodeRule::Max(n.saturating_add(product)), operands)
                    }
                    Some(LevelChange::UsesAll) => (NodeRule::Source(self.limit), Vec::new()),
                    Some(LevelChange::Bootstrapped) => (NodeRule::Source(self.reset), Vec::new()),
                    None => {
                        let value = ir.value_text(value);
                        return Err(format!("the number of levels that {value} uses is unknown"));
                    }
                }
            }
        })
    }

    /// Records a value as needing degree 1 if one of its uses does.
    fn record_limit(&mut self, value: Value) {
        if self.placed != PlacedOp::Relinearize {
            return;
        }
        let ir = self.ir;
        let takes_one = |&(op, at): &(Op, u32)| {
            let data = ir.op(op);
            let name = ir.op_name(op);
            if flow::is_yield(ir, op) {
                return name != "secret.yield" || is_used_outside_generics(ir, op, at as usize);
            }
            if !data.regions.is_empty() {
                // Loops limit their operands separately, generics pass them on, and the effect of
                // other ops is unknown.
                return Flow::of(ir, op) == Flow::Opaque;
            }
            let is_encrypted = |it: Value| self.node_of.contains_key(&it);
            let encrypted = data.operands.iter().filter(|it| it.value.is_some_and(is_encrypted));
            let (n, all) = (encrypted.count(), data.operands.len());
            match rules::dimension_rule(name) {
                Some(DimensionRule::Relinearize) => false,
                Some(DimensionRule::Product) => true,
                None => {
                    rules::is_limited_to_two_polynomials(name)
                        || n < all
                        || data.kind == OpKind::FuncCall
                        || ["linalg.", "kernel.", "tensor_ext."]
                            .iter()
                            .any(|it| name.starts_with(it))
                }
            }
        };
        if ir.value(value).uses.iter().any(takes_one)
            && let Some(node) = self.node(value)
        {
            self.needs.push(node);
        }
    }
}

/// True if operand number `at` of the terminator of a generic becomes a result with a use outside
/// of generics, or without a use. Another generic may relinearize it.
pub(crate) fn is_used_outside_generics(ir: &Ir, end: Op, at: usize) -> bool {
    let result = ir.parent_op(end).and_then(|it| ir.op(it).results.get(at).copied());
    result.is_none_or(|it| {
        let uses = &ir.value(it).uses;
        uses.is_empty() || uses.iter().any(|it| ir.op_name(it.0) != "secret.generic")
    })
}
