//! Compares legality with an enumeration: checks the new order of all pairs of instances that
//! access the same element in a run of the program.

use noisy_loops::{DependenceLimits, FunctionBody, Legality, Obstacle};
use noisy_syntax::Source;

use crate::program::{Instance, Node, Program};

/// Returns the loops of a program in order: the address of each, and those of the enclosing loops,
/// outermost first.
fn loops(nodes: &[Node], around: &mut Vec<usize>, out: &mut Vec<(usize, Vec<usize>)>) {
    for node in nodes {
        match node {
            Node::For { body, .. } => {
                let name = std::ptr::from_ref(node) as usize;
                out.push((name, around.clone()));
                around.push(name);
                loops(body, around, out);
                around.pop();
            }
            Node::If { yes, no, .. } => {
                loops(yes, around, out);
                loops(no, around, out);
            }
            Node::Access { .. } => {}
        }
    }
}

fn value(it: &Instance, name: usize) -> Option<i64> {
    it.iteration.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Returns the pairs of instances, in order, that access the same element in the same iteration of
/// the enclosing loops, if one of the two is a store.
fn pairs<'a>(all: &'a [Instance], around: &[usize]) -> Vec<(&'a Instance, &'a Instance)> {
    let mut out = Vec::new();
    for (at, s) in all.iter().enumerate() {
        for t in &all[at + 1..] {
            let meet = (s.is_store || t.is_store) && s.element == t.element;
            if meet && around.iter().all(|&it| value(s, it) == value(t, it)) {
                out.push((s, t));
            }
        }
    }
    out
}

/// Returns true if all pairs inside a loop keep their order under the given times. Pairs without
/// times do not.
fn keeps(
    pairs: &[(&Instance, &Instance)],
    root: usize,
    time: impl Fn(&Instance) -> Option<Vec<i64>>,
) -> bool {
    let inside = |it: &Instance| value(it, root).is_some();
    pairs.iter().filter(|it| inside(it.0) && inside(it.1)).all(|(s, t)| match (time(s), time(t)) {
        (Some(s), Some(t)) => s <= t,
        _ => false,
    })
}

const ORDERS: [&[usize]; 6] = [&[1, 0], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]];

#[test]
fn allows_exactly_what_a_run_allows() {
    let mut counts = [[0_usize; 2]; 4];
    for seed in 1..=500_u64 {
        let program = Program::new(seed, 4);
        let text = &program.text;
        let source = Source::new(text);
        let ir = source.ir();
        let body = FunctionBody::new(ir, ir.functions()[0]);
        let legality = Legality::new(&body, &DependenceLimits::default()).expect("few dependences");
        let mut all = Vec::new();
        loops(&program.nodes, &mut Vec::new(), &mut all);
        assert_eq!(all.len(), body.loops.len());
        let number = |name: usize| all.iter().position(|it| it.0 == name).unwrap() as u32;
        let mut check = |what: usize, got: Result<(), Obstacle>, expected: bool| {
            assert_eq!(got.is_ok(), expected, "seed {seed}: {got:?}\n{text}");
            counts[what][usize::from(expected)] += 1;
        };
        for (name, around) in &all {
            let met = pairs(&program.instances, around);
            let parallel = keeps(&met, *name, |it| Some(vec![value(it, *name)?, 0]))
                && keeps(&met, *name, |it| Some(vec![-value(it, *name)?, 0]));
            check(0, legality.check_parallel(number(*name)), parallel);
            // All bands that start at this loop.
            for (inner, path) in &all {
                let Some(start) = path.iter().position(|it| it == name) else { continue };
                let band: Vec<usize> = path[start..].iter().copied().chain([*inner]).collect();
                let numbers: Vec<u32> = band.iter().map(|it| number(*it)).collect();
                for order in ORDERS.iter().filter(|it| it.len() == band.len()) {
                    let time = |it: &Instance| {
                        order.iter().map(|&at| value(it, band[at])).collect::<Option<Vec<i64>>>()
                    };
                    check(1, legality.check_permutation(&numbers, order), keeps(&met, *name, time));
                }
                if band.len() <= 3 {
                    let sizes = [1, 2, 1000];
                    let n = sizes.len().pow(band.len() as u32);
                    let is_fine = (0..n).all(|mut which| {
                        let mut chosen = Vec::new();
                        for _ in &band {
                            chosen.push(sizes[which % sizes.len()]);
                            which /= sizes.len();
                        }
                        keeps(&met, *name, |it| {
                            // Loops start near 0, so with an offset of 500 all values are in one
                            // tile of size 1000.
                            let tile = |(loop_, size): (&usize, &i64)| {
                                Some((value(it, *loop_)? + 500).div_euclid(*size))
                            };
                            let tiles = band.iter().zip(&chosen).map(tile);
                            let points = band.iter().map(|loop_| value(it, *loop_));
                            tiles.chain(points).collect::<Option<Vec<i64>>>()
                        })
                    });
                    check(2, legality.check_tiling(&numbers), is_fine);
                }
            }
            // The later loops in the same enclosing loops.
            for (second, path) in all.iter().filter(|it| it.0 != *name && it.1 == *around) {
                if number(*second) < number(*name) {
                    continue;
                }
                let _ = path;
                let is_fine = met.iter().all(|(s, t)| match (value(s, *name), value(t, *second)) {
                    (Some(s), Some(t)) => s <= t,
                    _ => true,
                });
                check(3, legality.check_fusion(number(*name), number(*second)), is_fine);
            }
        }
    }
    // Each query often has either answer.
    assert!(counts.iter().flatten().all(|it| *it > 50), "{counts:?}");
}
