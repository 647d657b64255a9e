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

use self::balance::{Balance, Signed};
use self::dag::{Dag, Id, Node};
use self::factor::{Factoring, Way};
use self::rotate::rotate;
use crate::placing::clock::Clock;
use crate::scale::Scale;
use crate::straight::{Line, Reg, Straight};

/// Maximum number of monomials of a polynomial.
const MOST_MONOMIALS: usize = 400;

/// Maximum number of lines of a program whose shared values are opened in the whole program at
/// once.
const MOST_AT_ONCE: usize = 400;

/// Number of lines of each part of a longer program.
const PART: usize = 150;

/// Maximum number of passes over shared values.
const MOST_ROUNDS: usize = 4;

/// Sizes of blocks to try in Horner's scheme.
const BLOCKS: &[u32] = &[2, 3, 4, 5, 7, 11];

/// An equivalent program, with a mapping from the lines of the original program.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub program: Straight,
    pub same: Vec<Option<Reg>>,
    /// Number of reductions in a greedy placement.
    pub n_reductions: u64,
    pub n_ops: usize,
}

/// Limits of the search.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    /// The time limit.
    pub clock: Clock,
    /// Maximum number of operations of the result.
    pub most_ops: usize,
}

/// Returns equivalent programs that may need fewer reductions, the best first.
pub(crate) fn search(program: &Straight, scale: Scale, effort: &Effort) -> Vec<Variant> {
    let itself = Variant {
        same: (0..program.lines.len() as u32).map(|it| Some(Reg(it))).collect(),
        n_reductions: program.greedy_reductions(scale),
        n_ops: program.n_live_ops(),
        program: program.clone(),
    };
    let mut out: Vec<Variant> = written_anew(program, scale, effort).into_iter().collect();
    let bases = out.first().cloned().into_iter().chain([itself]);
    let rotated = bases.map(|base| {
        let most = effort.most_ops.saturating_sub(base.n_ops);
        let (program, moved) = rotate(&base.program, scale, most);
        let same = base.same.into_iter().map(|it| moved[it?.index()]).collect();
        let (n_reductions, n_ops) = (program.greedy_reductions(scale), program.n_live_ops());
        Variant { program, same, n_reductions, n_ops }
    });
    out.extend(rotated);
    out.retain(|it| it.n_ops <= effort.most_ops);
    out.sort_by_key(|it| (it.n_reductions, it.n_ops));
    out
}

/// Returns the program with each shared value in the best form found; `None` if the time is over
/// before the first version is complete.
fn written_anew(program: &Straight, scale: Scale, effort: &Effort) -> Option<Variant> {
    let clock = &effort.clock;
    let mut kept: Vec<bool> = dag::n_users(program).iter().map(|&it| it >= 2).collect();
    let before = clock.left();
    let mut best = build(program, &kept, scale, clock)?;
    if best.n_reductions == 0 {
        return Some(best);
    }
    if program.lines.len() <= MOST_AT_ONCE {
        open_shared(program, &mut kept, &mut best, scale, effort);
        return Some(best);
    }
    // Reserves time for the last build of the whole program.
    let last = before.saturating_sub(clock.left()).mul_f64(1.5);
    let parts_clock = clock.at_most(clock.left().saturating_sub(last));
    let (_, noise) = program.greedy(scale);
    let n_parts = program.lines.len().div_ceil(PART);
    for part in 0..n_parts {
        let clock = parts_clock.part(1.0 / (n_parts - part) as f64);
        if clock.is_over() {
            break;
        }
        let range = part * PART..program.lines.len().min((part + 1) * PART);
        let (inner, lines) = program.part(range.clone(), &noise);
        let users = dag::n_users(&inner);
        let mut opened: Vec<bool> = users.iter().map(|&it| it >= 2).collect();
        let start = opened.clone();
        let Some(mut found) = build(&inner, &opened, scale, &clock) else { break };
        let most_ops = inner.n_live_ops() * effort.most_ops / program.n_live_ops().max(1);
        open_shared(&inner, &mut opened, &mut found, scale, &Effort { clock, most_ops });
        for (at, reg) in range.zip(lines) {
            if start[reg.index()] && !opened[reg.index()] {
                kept[at] = false;
            }
        }
    }
    if let Some(found) = build(program, &kept, scale, clock)
        && found.n_ops <= effort.most_ops.max(best.n_ops)
        && (found.n_reductions, found.n_ops) < (best.n_reductions, best.n_ops)
    {
        best = found;
    }
    Some(best)
}

/// Opens shared values if this saves reductions.
fn open_shared(
    program: &Straight,
    kept: &mut [bool],
    best: &mut Variant,
    scale: Scale,
    effort: &Effort,
) {
    // Values with the fewest users come first.
    let n_users = dag::n_users(program);
    let live = program.live();
    let mut order: Vec<usize> = (0..program.lines.len())
        .filter(|&at| kept[at] && live[at] && !matches!(program.lines[at], Line::Leaf(_)))
        .collect();
    order.sort_by_key(|&at| (n_users[at], at));
    for _ in 0..MOST_ROUNDS {
        let before = best.n_reductions;
        for &at in &order {
            if best.n_reductions == 0 {
                return;
            }
            kept[at] = !kept[at];
            let Some(trial) = build(program, kept, scale, &effort.clock) else {
                kept[at] = !kept[at];
                return;
            };
            let fits = trial.n_ops <= effort.most_ops.max(best.n_ops);
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
/// expressions have the best form found. `None` if the time is over before.
fn build(program: &Straight, kept: &[bool], scale: Scale, clock: &Clock) -> Option<Variant> {
    let mut dag = Dag::new(scale.mask);
    let ids = dag::of(program, kept, &mut dag);
    let mut first: FxHashMap<Id, Reg> = FxHashMap::default();
    for (at, id) in ids.iter().enumerate() {
        if let Some(id) = id {
            first.entry(*id).or_insert(Reg(at as u32));
        }
    }
    let outputs: Vec<Id> = program.outputs.iter().filter_map(|it| ids[it.index()]).collect();
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
            let is_product = matches!(dag.nodes[at], Node::Product(_));
            for it in dag.operands(Id(at as u32)) {
                live[it.index()] = true;
                n_users[it.index()] += 1;
                in_product[it.index()] |= is_product;
            }
        }
    }
    let closed = (0..dag.nodes.len())
        .filter(|&at| live[at] && n_users[at] >= 2 && !matches!(dag.nodes[at], Node::Leaf(_)));
    let cones: Vec<Id> = closed.map(|at| Id(at as u32)).collect();
    dag.closed = cones.iter().copied().collect();
    let mut balance = Balance::new(program, scale);
    for index in 0..program.leaves.len() as u32 {
        let id = dag.leaf(index, program.leaves[index as usize].constant);
        let reg = balance.leaf(index);
        balance.set(id, Signed { reg, is_negative: false });
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
    Some(Variant { program: out, same, n_reductions, n_ops })
}

/// A shared value with the expression that computes it from other shared values and leaves.
struct Cone<'a> {
    program: &'a Straight,
    ids: &'a [Option<Id>],
    id: Id,
    root: Reg,
    is_factor: bool,
}

impl Cone<'_> {
    fn write(&self, dag: &mut Dag, balance: &mut Balance, scale: Scale) {
        let mut roots: Vec<Id> = vec![self.id];
        roots.extend(self.ways(dag, balance));
        let mut seen = FxHashSet::default();
        roots.retain(|it| seen.insert(*it));
        let mut best: Option<(f64, Option<Id>)> = None;
        let mark = balance.mark();
        for root in std::iter::once(None).chain(roots.into_iter().map(Some)) {
            let value = match root {
                None => self.as_written(balance),
                Some(it) => balance.node(dag, it),
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
            balance.go_back(mark);
        }
        let value = match best {
            Some((_, Some(root))) => balance.node(dag, root),
            _ => self.as_written(balance),
        };
        if let Some(value) = value {
            balance.set(self.id, value);
        }
    }

    /// Returns other forms of the expression than its own sums and products.
    fn ways(&self, dag: &mut Dag, balance: &Balance) -> Vec<Id> {
        let is_plain = dag.operands(self.id).iter().all(|&it| balance.value(it).is_some());
        if is_plain {
            return Vec::new();
        }
        let mut out = Vec::new();
        // First with sums inside products as variables, then with all sums expanded.
        for opens_sums in [false, true] {
            let cone = self.id;
            let is_variable = |it: Id, dag: &Dag| {
                it != cone
                    && (balance.value(it).is_some()
                        || !opens_sums && matches!(dag.node(it), Node::Sum(_)))
            };
            let polynomial =
                factor::expand(dag, cone, &mut |it| is_variable(it, dag), MOST_MONOMIALS);
            let Some(polynomial) = polynomial else { continue };
            let mut ways: Vec<Way> = [Factoring::None, Factoring::Groups, Factoring::All]
                .into_iter()
                .map(Way::Factors)
                .collect();
            for &(variable, degree) in factor::powers(&polynomial).iter().take(2) {
                ways.push(Way::Doubling(variable));
                let sizes = BLOCKS.iter().filter(|&&it| it < degree);
                ways.extend(sizes.map(|&it| Way::Blocks(variable, it)));
            }
            for way in ways {
                out.push(factor::write(dag, polynomial.clone(), way));
            }
        }
        out
    }

    /// Emits the operations of the original program.
    fn as_written(&self, balance: &mut Balance) -> Option<Signed> {
        let known =
            |reg: Reg, balance: &Balance| self.ids[reg.index()].and_then(|it| balance.value(it));
        let mut stack = vec![self.root];
        let mut inner: FxHashSet<Reg> = FxHashSet::default();
        while let Some(reg) = stack.pop() {
            if known(reg, balance).is_none() && inner.insert(reg) {
                stack.extend(self.program.lines[reg.index()].operands());
            }
        }
        let mut order: Vec<Reg> = inner.into_iter().collect();
        order.sort_unstable();
        let mut values: FxHashMap<Reg, Signed> = FxHashMap::default();
        for reg in order {
            let of = |it: Reg| values.get(&it).copied().or_else(|| known(it, balance));
            let value = match self.program.lines[reg.index()] {
                Line::Leaf(_) => None,
                Line::Add(a, b) => {
                    let (a, b) = (of(a)?, of(b)?);
                    Some(balance.add(a, b))
                }
                Line::Sub(a, b) => {
                    let (a, mut b) = (of(a)?, of(b)?);
                    b.is_negative = !b.is_negative;
                    Some(balance.add(a, b))
                }
                Line::Mul(a, b) => {
                    let (a, b) = (of(a)?, of(b)?);
                    Some(balance.multiply(a, b))
                }
            };
            values.insert(reg, value?);
        }
        values.get(&self.root).copied()
    }
}
