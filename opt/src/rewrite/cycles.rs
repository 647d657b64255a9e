//! Ops that depend on their own results.
//!
//! SSA dominance excludes cycles. They occur in unreachable blocks and in graph regions: those of
//! modules and of unknown ops. *Cost.* Linear in the ops. If no value is used before its
//! definition, one check per operand.

use noisy_syntax::{Def, Ir, Op, Region};
use rustc_hash::FxHashSet;

use super::preorder;

const NONE: u32 = u32::MAX;

/// Returns the ops in a region that are in a cycle, or depend on an op in a cycle. An op depends on
/// the ops that define its operands, and on the ops in its regions.
pub(super) fn in_cycles(ir: &Ir, region: Region) -> FxHashSet<Op> {
    let ops = preorder(ir, region);
    let mut number = vec![NONE; ir.n_slots().0];
    for (at, op) in ops.iter().enumerate() {
        number[op.index()] = at as u32;
    }
    if !has_early_use(ir, &ops, &number) {
        return FxHashSet::default();
    }
    let needs: Vec<Vec<u32>> = ops
        .iter()
        .map(|&op| {
            let inside = ir.op(op).regions.iter().flat_map(|it| ir.items(it.1));
            let all = defining_ops(ir, op).chain(inside).map(|it| number[it.index()]);
            all.filter(|&it| it != NONE).collect()
        })
        .collect();
    let mut is_held = nodes_in_cycles(&needs);
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); ops.len()];
    for (user, needs) in (0..).zip(&needs) {
        for &it in needs {
            users[it as usize].push(user);
        }
    }
    let mut stack: Vec<u32> =
        (0..).zip(&is_held).filter(|it| *it.1).map(|it: (u32, &bool)| it.0).collect();
    while let Some(it) = stack.pop() {
        for &user in &users[it as usize] {
            if !std::mem::replace(&mut is_held[user as usize], true) {
                stack.push(user);
            }
        }
    }
    ops.into_iter().zip(is_held).filter(|it| it.1).map(|it| it.0).collect()
}

fn defining_ops(ir: &Ir, op: Op) -> impl Iterator<Item = Op> + '_ {
    ir.op(op).operands.iter().filter_map(|it| match ir.value(it.value?).def {
        Def::Result(defining_op, _) => Some(defining_op),
        Def::Argument(..) => None,
    })
}

/// Returns true if an op uses a result of itself, of a later op, or of an enclosing op. Each cycle
/// has such a use.
fn has_early_use(ir: &Ir, ops: &[Op], number: &[u32]) -> bool {
    ops.iter().enumerate().any(|(at, &op)| {
        defining_ops(ir, op).any(|it| {
            let from = number[it.index()];
            let holds_user = || {
                !ir.op(it).regions.is_empty()
                    && std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it))
                        .any(|around| around == it)
            };
            from != NONE && (from as usize >= at || holds_user())
        })
    })
}

/// Marks the nodes of a graph that are in a cycle, with Tarjan's algorithm for strongly connected
/// components.
fn nodes_in_cycles(needs: &[Vec<u32>]) -> Vec<bool> {
    let n = needs.len();
    let mut out = vec![false; n];
    let (mut order, mut low) = (vec![NONE; n], vec![0u32; n]);
    let mut is_open = vec![false; n];
    let (mut component, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let mut next = 0;
    for root in 0..n as u32 {
        if order[root as usize] != NONE {
            continue;
        }
        path.push((root, 0));
        while let Some((node, at)) = path.last_mut() {
            let it = *node as usize;
            if *at == 0 && order[it] == NONE {
                (order[it], low[it], is_open[it]) = (next, next, true);
                next += 1;
                component.push(*node);
            }
            if let Some(&to) = needs[it].get(*at) {
                *at += 1;
                let to_index = to as usize;
                if order[to_index] == NONE {
                    path.push((to, 0));
                } else if is_open[to_index] {
                    low[it] = low[it].min(order[to_index]);
                    out[it] |= to_index == it;
                }
                continue;
            }
            path.pop();
            if let Some(&(up, _)) = path.last() {
                low[up as usize] = low[up as usize].min(low[it]);
            }
            if low[it] == order[it] {
                let first = component.iter().rposition(|&node| node as usize == it);
                let members = component.split_off(first.unwrap_or_default());
                let is_cycle = members.len() > 1;
                for node in members {
                    is_open[node as usize] = false;
                    out[node as usize] |= is_cycle;
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use noisy_syntax::Source;

    use super::*;

    /// Returns the names of the results of the ops that are in a cycle, or depend on one.
    fn held(text: &str) -> Vec<String> {
        let source = Source::new(text);
        let ir = source.ir();
        let found = in_cycles(ir, ir.root());
        let mut names: Vec<String> = found
            .iter()
            .flat_map(|&it| ir.op(it).results.iter())
            .map(|&it| ir.interner.str(ir.value(it).name).to_owned())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn finds_the_ops_that_depend_on_themselves() {
        let dead = |ops: &str| {
            format!("func.func @f(%x: i32) {{\n  return\n^bb1:\n{ops}\n  cf.br ^bb1\n}}\n")
        };
        assert_eq!(held(&dead("%a = arith.addi %a, %x : i32")), ["a"]);
        assert_eq!(held(&dead("%a = arith.addi %x, %x : i32")), [""; 0]);
        // A use before the definition alone is not a cycle.
        let text = "%a = arith.addi %b, %x : i32\n%b = arith.addi %x, %x : i32";
        assert_eq!(held(&dead(text)), [""; 0]);
        let text = "%a = arith.addi %b, %x : i32\n%b = arith.addi %c, %x : i32\n%c = arith.addi %a, %x : i32\n%d = arith.addi %c, %x : i32";
        assert_eq!(held(&dead(text)), ["a", "b", "c", "d"]);
        let text = "%a = \"t.x\"() ({\n  \"t.y\"(%a) : (i32) -> ()\n}) : () -> i32\n%b = arith.addi %x, %x : i32";
        assert_eq!(held(&dead(text)), ["a"]);
        // The region of a module is a graph region.
        assert_eq!(
            held("%a = \"t.x\"(%b) : (i32) -> i32\n%b = \"t.x\"(%a) : (i32) -> i32\n"),
            ["a", "b"]
        );
    }
}
