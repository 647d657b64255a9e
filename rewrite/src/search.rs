//! The search for an equivalent program that needs fewer reductions.
//!
//! Shared values (with several users) are computed once. The expressions between them are
//! polynomials in these values, and different forms of each polynomial are tried (`factor.rs`,
//! `balance.rs`). Then shared values are opened (substituted into their users) if this saves
//! reductions.

mod balance;
mod dag;
mod factor;
mod rotate;

use rustc_hash::{FxHashMap, FxHashSet};

use self::balance::{ProgramBuilder, SignedValue};
use self::dag::{DagNode, ExpressionDag, NodeId};
use self::factor::{Factoring, PolynomialForm};
use self::rotate::rotate;
use crate::placing::clock::TimeLimit;
use crate::scale::NoiseParameters;
use crate::straight::{Reg, StraightLine, StraightProgram};

/// Maximum number of monomials of a polynomial.
const MAX_MONOMIALS: usize = 400;

/// Maximum number of lines of a program whose shared values are opened in the whole program at
/// once.
const MAX_WHOLE_LINES: usize = 400;

/// Number of lines of each part of a longer program.
const PART_LINES: usize = 150;

/// Maximum number of passes over shared values.
const MAX_ROUNDS: usize = 4;

/// Sizes of blocks to try in Horner's scheme.
const BLOCK_SIZES: &[u32] = &[2, 3, 4, 5, 7, 11];

/// An equivalent program, with a mapping from the lines of the original program.
#[derive(Clone, Debug)]
pub(crate) struct ProgramVariant {
    pub program: StraightProgram,
    pub new_lines: Vec<Option<Reg>>,
    /// Number of reductions in a greedy placement.
    pub n_reductions: u64,
    pub n_ops: usize,
}

/// Limits of the search.
#[derive(Clone, Debug)]
pub(crate) struct RewriteEffort {
    /// The time limit.
    pub clock: TimeLimit,
    /// Maximum number of operations of the result.
    pub max_ops: usize,
}

/// Returns equivalent programs that may need fewer reductions, the best first.
pub(crate) fn search(
    program: &StraightProgram,
    scale: NoiseParameters,
    effort: &RewriteEffort,
) -> Vec<ProgramVariant> {
    let itself = ProgramVariant {
        new_lines: (0..program.lines.len() as u32).map(|it| Some(Reg(it))).collect(),
        n_reductions: program.greedy_reductions(scale),
        n_ops: program.n_live_ops(),
        program: program.clone(),
    };
    let mut out: Vec<ProgramVariant> =
        rewritten_variant(program, scale, effort).into_iter().collect();
    let bases = out.first().cloned().into_iter().chain([itself]);
    let rotated = bases.map(|base| {
        let most = effort.max_ops.saturating_sub(base.n_ops);
        let (program, moved) = rotate(&base.program, scale, most);
        let same = base.new_lines.into_iter().map(|it| moved[it?.index()]).collect();
        let (n_reductions, n_ops) = (program.greedy_reductions(scale), program.n_live_ops());
        ProgramVariant { program, new_lines: same, n_reductions, n_ops }
    });
    out.extend(rotated);
    out.retain(|it| it.n_ops <= effort.max_ops);
    out.sort_by_key(|it| (it.n_reductions, it.n_ops));
    out
}

/// Returns the program with each shared value in the best form found; `None` if the time is over
/// before the first version is complete.
fn rewritten_variant(
    program: &StraightProgram,
    scale: NoiseParameters,
    effort: &RewriteEffort,
) -> Option<ProgramVariant> {
    let clock = &effort.clock;
    let mut kept: Vec<bool> = dag::n_users(program).iter().map(|&it| it >= 2).collect();
    let before = clock.remaining();
    let mut best = build_variant(program, &kept, scale, clock)?;
    if best.n_reductions == 0 {
        return Some(best);
    }
    if program.lines.len() <= MAX_WHOLE_LINES {
        open_shared(program, &mut kept, &mut best, scale, effort);
        return Some(best);
    }
    // Reserves time for the last build of the whole program.
    let last = before.saturating_sub(clock.remaining()).mul_f64(1.5);
    let parts_clock = clock.at_most(clock.remaining().saturating_sub(last));
    let (_, noise) = program.greedy_placement(scale);
    let n_parts = program.lines.len().div_ceil(PART_LINES);
    for part in 0..n_parts {
        let clock = parts_clock.part(1.0 / (n_parts - part) as f64);
        if clock.is_over() {
            break;
        }
        let range = part * PART_LINES..program.lines.len().min((part + 1) * PART_LINES);
        let (inner, lines) = program.extract_range(range.clone(), &noise);
        let users = dag::n_users(&inner);
        let mut opened: Vec<bool> = users.iter().map(|&it| it >= 2).collect();
        let start = opened.clone();
        let Some(mut found) = build_variant(&inner, &opened, scale, &clock) else { break };
        let max_ops = inner.n_live_ops() * effort.max_ops / program.n_live_ops().max(1);
        open_shared(&inner, &mut opened, &mut found, scale, &RewriteEffort { clock, max_ops });
        for (at, reg) in range.zip(lines) {
            if start[reg.index()] && !opened[reg.index()] {
                kept[at] = false;
            }
        }
    }
    if let Some(found) = build_variant(program, &kept, scale, clock)
        && found.n_ops <= effort.max_ops.max(best.n_ops)
        && (found.n_reductions, found.n_ops) < (best.n_reductions, best.n_ops)
    {
        best = found;
    }
    Some(best)
}

/// Opens shared values if this saves reductions.
fn open_shared(
    program: &StraightProgram,
    kept: &mut [bool],
    best: &mut ProgramVariant,
    scale: NoiseParameters,
    effort: &RewriteEffort,
) {
    // Values with the fewest users come first.
    let n_users = dag::n_users(program);
    let live = program.live_lines();
    let mut order: Vec<usize> = (0..program.lines.len())
        .filter(|&at| kept[at] && live[at] && !matches!(program.lines[at], StraightLine::Leaf(_)))
        .collect();
    order.sort_by_key(|&at| (n_users[at], at));
    for _ in 0..MAX_ROUNDS {
        let before = best.n_reductions;
        for &at in &order {
            if best.n_reductions == 0 {
                return;
            }
            kept[at] = !kept[at];
            let Some(trial) = build_variant(program, kept, scale, &effort.clock) else {
                kept[at] = !kept[at];
                return;
            };
            let fits = trial.n_ops <= effort.max_ops.max(best.n_ops);
            if fits && (trial.n_reductions, trial.n_ops) < (best.n_reductions, best.n_ops) {
                *best = trial;
            } else {
                kept[at] = !kept[at];
            }
        }
        if best.n_reductions == before {
            return;
        }
    }
}

/// Builds a program in which the values of `kept` are computed once for all users, and all other
/// expressions have the best form found. `None` if the time is over first.
fn build_variant(
    program: &StraightProgram,
    kept: &[bool],
    scale: NoiseParameters,
    clock: &TimeLimit,
) -> Option<ProgramVariant> {
    let mut dag = ExpressionDag::new(scale.mask);
    let ids = dag::build_dag(program, kept, &mut dag);
    let mut first: FxHashMap<NodeId, Reg> = FxHashMap::default();
    for (at, id) in ids.iter().enumerate() {
        if let Some(id) = id {
            first.entry(*id).or_insert(Reg(at as u32));
        }
    }
    let outputs: Vec<NodeId> = program.outputs.iter().filter_map(|it| ids[it.index()]).collect();
    // Number of users of each node, and true if one of them is a product.
    let mut n_users = vec![0_u32; dag.nodes.len()];
    let mut in_product = vec![false; dag.nodes.len()];
    let mut live = vec![false; dag.nodes.len()];
    for it in &outputs {
        live[it.index()] = true;
        n_users[it.index()] += 2;
    }
    for at in (0..dag.nodes.len()).rev() {
        if live[at] {
            let is_product = matches!(dag.nodes[at], DagNode::Product(_));
            for it in dag.operands(NodeId(at as u32)) {
                live[it.index()] = true;
                n_users[it.index()] += 1;
                in_product[it.index()] |= is_product;
            }
        }
    }
    let closed = (0..dag.nodes.len())
        .filter(|&at| live[at] && n_users[at] >= 2 && !matches!(dag.nodes[at], DagNode::Leaf(_)));
    let cones: Vec<NodeId> = closed.map(|at| NodeId(at as u32)).collect();
    dag.closed = cones.iter().copied().collect();
    let mut balance = ProgramBuilder::new(program, scale);
    for index in 0..program.leaves.len() as u32 {
        let id = dag.leaf(index, program.leaves[index as usize].constant);
        let reg = balance.leaf(index);
        balance.set_value(id, SignedValue { reg, is_negative: false });
    }
    for &cone in &cones {
        if clock.is_over() {
            return None;
        }
        let Some(&root) = first.get(&cone) else { continue };
        let context =
            Cone { program, ids: &ids, id: cone, root, is_factor: in_product[cone.index()] };
        context.write(&mut dag, &mut balance, scale);
    }
    let mut same: Vec<Option<Reg>> = vec![None; program.lines.len()];
    for (at, id) in ids.iter().enumerate() {
        let value = id.and_then(|it| balance.value(it));
        same[at] = value.filter(|it| !it.is_negative).map(|it| it.reg);
    }
    let mut regs = Vec::new();
    for (output, id) in program.outputs.iter().zip(&outputs) {
        // Each output is the root of a cone or a leaf.
        let Some(value) = balance.value(*id) else { continue };
        let reg = balance.positive(value);
        same[output.index()] = Some(reg);
        regs.push(reg);
    }
    let out = balance.finish(regs);
    let (n_reductions, n_ops) = (out.greedy_reductions(scale), out.n_live_ops());
    Some(ProgramVariant { program: out, new_lines: same, n_reductions, n_ops })
}

/// A shared value with the expression that computes it from other shared values and leaves.
struct Cone<'a> {
    program: &'a StraightProgram,
    ids: &'a [Option<NodeId>],
    id: NodeId,
    root: Reg,
    is_factor: bool,
}

impl Cone<'_> {
    fn write(&self, dag: &mut ExpressionDag, balance: &mut ProgramBuilder, scale: NoiseParameters) {
        let mut roots: Vec<NodeId> = vec![self.id];
        roots.extend(self.other_forms(dag, balance));
        let mut seen = FxHashSet::default();
        roots.retain(|it| seen.insert(*it));
        let mut best: Option<(f64, Option<NodeId>)> = None;
        let mark = balance.mark();
        for root in std::iter::once(None).chain(roots.into_iter().map(Some)) {
            let value = match root {
                None => self.original_form(balance),
                Some(it) => balance.build_node(dag, it),
            };
            if let Some(value) = value {
                let noise = balance.noise(value.reg);
                let rest = if self.is_factor {
                    f64::from(u8::from(noise > scale.budget - scale.reset))
                } else {
                    2_f64.powi(noise as i32 - scale.budget as i32)
                };
                let sign = if value.is_negative { 0.02 } else { 0.0 };
                let n_reductions = balance.n_reductions - mark.n_reductions();
                let n_ops = balance.n_ops - mark.n_ops();
                let cost = n_reductions as f64 + rest + sign + 0.004 * n_ops as f64;
                if best.is_none_or(|it| cost < it.0 - 1e-9) {
                    best = Some((cost, root));
                }
            }
            balance.roll_back(mark);
        }
        let value = match best {
            Some((_, Some(root))) => balance.build_node(dag, root),
            _ => self.original_form(balance),
        };
        if let Some(value) = value {
            balance.set_value(self.id, value);
        }
    }

    /// Returns other forms of the expression than its own sums and products.
    fn other_forms(&self, dag: &mut ExpressionDag, balance: &ProgramBuilder) -> Vec<NodeId> {
        let is_plain = dag.operands(self.id).iter().all(|&it| balance.value(it).is_some());
        if is_plain {
            return Vec::new();
        }
        let mut out = Vec::new();
        // First with sums inside products as variables, then with all sums expanded.
        for opens_sums in [false, true] {
            let cone = self.id;
            let is_variable = |it: NodeId, dag: &ExpressionDag| {
                it != cone
                    && (balance.value(it).is_some()
                        || !opens_sums && matches!(dag.node(it), DagNode::Sum(_)))
            };
            let polynomial =
                factor::expand(dag, cone, &mut |it| is_variable(it, dag), MAX_MONOMIALS);
            let Some(polynomial) = polynomial else { continue };
            let mut ways: Vec<PolynomialForm> =
                [Factoring::None, Factoring::Groups, Factoring::All]
                    .into_iter()
                    .map(PolynomialForm::Factored)
                    .collect();
            for &(variable, degree) in factor::high_degree_variables(&polynomial).iter().take(2) {
                ways.push(PolynomialForm::Doubling(variable));
                let sizes = BLOCK_SIZES.iter().filter(|&&it| it < degree);
                ways.extend(sizes.map(|&it| PolynomialForm::HornerBlocks(variable, it)));
            }
            for way in ways {
                out.push(factor::build_form(dag, polynomial.clone(), way));
            }
        }
        out
    }

    /// Emits the operations of the original program.
    fn original_form(&self, balance: &mut ProgramBuilder) -> Option<SignedValue> {
        let known = |reg: Reg, balance: &ProgramBuilder| {
            self.ids[reg.index()].and_then(|it| balance.value(it))
        };
        let mut stack = vec![self.root];
        let mut inner: FxHashSet<Reg> = FxHashSet::default();
        while let Some(reg) = stack.pop() {
            if known(reg, balance).is_none() && inner.insert(reg) {
                stack.extend(self.program.lines[reg.index()].operands());
            }
        }
        let mut order: Vec<Reg> = inner.into_iter().collect();
        order.sort_unstable();
        let mut values: FxHashMap<Reg, SignedValue> = FxHashMap::default();
        for reg in order {
            let of = |it: Reg| values.get(&it).copied().or_else(|| known(it, balance));
            let value = match self.program.lines[reg.index()] {
                StraightLine::Leaf(_) => None,
                StraightLine::Add(a, b) => {
                    let (a, b) = (of(a)?, of(b)?);
                    Some(balance.add(a, b))
                }
                StraightLine::Sub(a, b) => {
                    let (a, mut b) = (of(a)?, of(b)?);
                    b.is_negative = !b.is_negative;
                    Some(balance.add(a, b))
                }
                StraightLine::Mul(a, b) => {
                    let (a, b) = (of(a)?, of(b)?);
                    Some(balance.multiply(a, b))
                }
            };
            values.insert(reg, value?);
        }
        values.get(&self.root).copied()
    }
}
