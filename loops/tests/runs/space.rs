//! Compares iteration spaces with an enumeration of all pairs of accesses in a run of the program.

use std::collections::{BTreeMap, BTreeSet};

use noisy_loops::space::{DrawingSize, IterationSpace, PointPart, Reordering};
use noisy_loops::{AliasAssumptions, FunctionBody};
use noisy_syntax::Source;

use crate::program::{Instance, Node, Program};

/// Collects the accesses before a loop, which is given by the address of its node. Returns true if
/// the nodes contain this loop.
fn collect_accesses_before(nodes: &[Node], stop: usize, out: &mut BTreeSet<usize>) -> bool {
    nodes.iter().any(|node| match node {
        Node::For { body, .. } => {
            std::ptr::from_ref(node) as usize == stop || collect_accesses_before(body, stop, out)
        }
        Node::If { yes, no, .. } => {
            collect_accesses_before(yes, stop, out) || collect_accesses_before(no, stop, out)
        }
        Node::Access { id, .. } => {
            out.insert(*id);
            false
        }
    })
}

/// Collects the address of the node of each loop, in textual order.
fn loops(nodes: &[Node], out: &mut Vec<usize>) {
    for node in nodes {
        match node {
            Node::For { body, .. } => {
                out.push(std::ptr::from_ref(node) as usize);
                loops(body, out);
            }
            Node::If { yes, no, .. } => {
                loops(yes, out);
                loops(no, out);
            }
            Node::Access { .. } => {}
        }
    }
}

/// Returns the time at which a reordering executes a point. Tiles have size 2 and start at `first`.
fn time(change: Reordering, at: &[i64], first: &[i64], steps: &[i64]) -> Vec<i64> {
    match (change, at) {
        (Reordering::ReverseOuter, [i]) => vec![-i],
        (Reordering::Interchange, [i, j]) => vec![*j, *i],
        (Reordering::Skew, [i, j]) => vec![*i, i + j],
        (Reordering::Wavefront, [i, j]) => vec![i + j, *i],
        (Reordering::ReverseOuter, [i, j]) => vec![-i, *j],
        (Reordering::ReverseInner, [i, j]) => vec![*i, -j],
        (Reordering::Tile(2), [i, j]) => {
            let tile = |it: &i64, at: usize| (it - first[at]) / (2 * steps[at]);
            vec![tile(i, 0), tile(j, 1), *i, *j]
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn arrows_equal_the_dependences_of_a_run() {
    let (mut n_arrows, mut n_forbidden, mut n_allowed, mut n_parts) = (0, 0, 0, 0);
    for seed in 1..=120_u64 {
        let program = Program::new(seed, 4);
        let text = &program.text;
        let source = Source::new(text);
        let ir = source.ir();
        let body = FunctionBody::new(ir, ir.functions()[0]);
        let mut names = Vec::new();
        loops(&program.nodes, &mut names);
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let line_of_loop = |it: usize| line(ir.range(body.loops[it].op).start);
        let line_of_access = |id: usize| line(ir.range(body.accesses[id].op).start);
        for number in 0..body.loops.len() {
            let size = DrawingSize { points: 100, tile: 2 };
            let Ok(space) = IterationSpace::new(
                &source,
                body.loops[number].op,
                size,
                AliasAssumptions::default(),
            ) else {
                continue;
            };
            // Map each access of the run to a drawn point.
            let of_line =
                |line: usize| names[(0..names.len()).find(|&it| line_of_loop(it) == line).unwrap()];
            let drawn: Vec<usize> = space.lines.iter().map(|&it| of_line(it)).collect();
            let mut accesses_before = BTreeSet::new();
            collect_accesses_before(&program.nodes, *drawn.last().unwrap(), &mut accesses_before);
            let point = |it: &Instance| {
                let at = it.iteration.iter().position(|it| it.0 == drawn[0])?;
                let outer_ivs = it.iteration[..at].iter().map(|it| it.1);
                if !outer_ivs.eq(space.fixed_ivs.iter().map(|it| it.1)) {
                    return None;
                }
                let inner = drawn.get(1).map(|name| it.iteration.iter().find(|it| it.0 == *name));
                let outer = it.iteration[at].1;
                Some(match inner {
                    None => (vec![outer], PointPart::Whole),
                    Some(Some(inner)) => (vec![outer, inner.1], PointPart::Whole),
                    Some(None) if accesses_before.contains(&it.id) => {
                        (vec![outer], PointPart::Before)
                    }
                    Some(None) => (vec![outer], PointPart::After),
                })
            };
            let numbers: BTreeMap<(Vec<i64>, PointPart), usize> = space
                .points
                .iter()
                .enumerate()
                .map(|(at, it)| ((it.at.clone(), it.part), at))
                .collect();
            assert_eq!(numbers.len(), space.points.len());
            let met: Vec<(usize, &Instance)> = program
                .instances
                .iter()
                .filter_map(|it| Some((numbers[&point(it)?], it)))
                .collect();
            let used: BTreeSet<usize> = met.iter().map(|it| it.0).collect();
            for (at, it) in space.points.iter().enumerate() {
                assert_eq!(it.is_used, used.contains(&at), "seed {seed}, {it:?}\n{text}");
            }
            // Arrows connect dependent accesses only, and a path of arrows connects each dependent
            // pair.
            let mut pairs = BTreeSet::new();
            let mut by_lines = BTreeSet::new();
            for (at, (p, s)) in met.iter().enumerate() {
                for (q, t) in &met[at + 1..] {
                    if p != q && (s.is_store || t.is_store) && s.element == t.element {
                        pairs.insert((*p, *q));
                        by_lines.insert((*p, *q, line_of_access(s.id), line_of_access(t.id)));
                    }
                }
            }
            let mut next = vec![Vec::new(); space.points.len()];
            for it in &space.arrows {
                assert!(
                    by_lines.contains(&(it.from, it.to, it.source, it.target)),
                    "seed {seed}: {it:?} is no dependence\n{text}"
                );
                next[it.from].push(it.to);
            }
            let (mut reached, mut from) = (BTreeSet::new(), usize::MAX);
            for &(p, q) in &pairs {
                if p != from {
                    from = p;
                    reached.clear();
                    let mut open = vec![p];
                    while let Some(at) = open.pop() {
                        open.extend(next[at].iter().filter(|it| reached.insert(**it)));
                    }
                }
                assert!(reached.contains(&q), "seed {seed}: no way from {p} to {q}\n{text}");
            }
            n_arrows += space.arrows.len();
            n_parts += usize::from(space.points.iter().any(|it| it.part != PointPart::Whole));
            // A reordering is forbidden if it executes a dependent pair in the opposite order.
            let low = |at: usize| space.points.iter().map(|it| it.at[at]).min().unwrap();
            for it in &space.changes {
                let first: Vec<i64> = (0..drawn.len()).map(low).collect();
                let time = |at: usize| time(it.change, &space.points[at].at, &first, &space.steps);
                let is_violated = pairs.iter().any(|&(p, q)| time(q) < time(p));
                let what = format!("seed {seed}, {:?}: {:?}\n{text}", it.change, it.legality);
                assert_eq!(is_violated, !it.backward.is_empty(), "{what}");
                assert!(it.order.windows(2).all(|pair| time(pair[0]) < time(pair[1])), "{what}");
                // Legality covers all tile sizes and all points, so a forbidden order may be
                // correct for the drawn points.
                let covers_all_points =
                    space.fixed_ivs.is_empty() && !matches!(it.change, Reordering::Tile(_));
                assert!(!is_violated || it.legality.is_err(), "{what}");
                assert!(!covers_all_points || is_violated || it.legality.is_ok(), "{what}");
                n_forbidden += usize::from(is_violated);
                n_allowed += usize::from(it.legality.is_ok());
            }
        }
    }
    let seen = [n_arrows / 20, n_forbidden, n_allowed, n_parts];
    assert!(seen.iter().all(|it| *it > 100), "{seen:?}");
}
