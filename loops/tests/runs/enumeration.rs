//! Compares dependences with an enumeration of all pairs of accesses in a run of the program.

use std::collections::BTreeMap;

use noisy_loops::{DependenceLimits, FormInterval, FunctionBody, dependences};
use noisy_syntax::Source;

use crate::program::{Instance, Program};

type Found = BTreeMap<(usize, usize, usize), Vec<(i128, i128)>>;

fn expected(instances: &[Instance]) -> Found {
    let mut out = Found::new();
    for (at, s) in instances.iter().enumerate() {
        for t in &instances[at + 1..] {
            if !(s.is_store || t.is_store) || s.element != t.element {
                continue;
            }
            let both = s.iteration.iter().zip(&t.iteration);
            let common: Vec<i64> =
                both.take_while(|(a, b)| a.0 == b.0).map(|(a, b)| b.1 - a.1).collect();
            let level = common.iter().position(|it| *it != 0).unwrap_or(common.len()) + 1;
            let range = out.entry((s.id, t.id, level)).or_insert_with(|| {
                common.iter().map(|&it| (i128::from(it), i128::from(it))).collect()
            });
            for (range, &it) in range.iter_mut().zip(&common) {
                *range = (range.0.min(it.into()), range.1.max(it.into()));
            }
        }
    }
    out
}

#[test]
fn dependences_equal_those_of_a_run() {
    let mut n_found = 0;
    for seed in 1..=600_u64 {
        let program = Program::new(seed, 4);
        let text = &program.text;
        let expected = expected(&program.instances);

        let source = Source::new(text);
        let ir = source.ir();
        let wrong = ir.verify();
        assert!(wrong.is_empty(), "{wrong:?}\n{text}");
        let body = FunctionBody::new(ir, ir.functions()[0]);
        let found = dependences(&body, &DependenceLimits::default());
        assert_eq!(found.unknown, [], "seed {seed}\n{text}");
        let mut got = Found::new();
        for it in &found.known {
            assert!(it.is_exact, "seed {seed}: {it:?}\n{text}");
            let end = |it: Option<i128>| it.expect("all loops are bounded");
            let range = |it: &FormInterval| (end(it.least), end(it.greatest));
            let distance = it.distance.iter().map(range).collect();
            got.insert((it.source, it.target, it.level), distance);
        }
        assert_eq!(got, expected, "seed {seed}\n{text}");
        n_found += got.len();
    }
    assert!(n_found > 2000, "only {n_found} dependences were compared");
}
