//! Runs each pass on random programs.

use noisy_syntax::print;

use crate::common::read;
use crate::machine::result;
use crate::transformed;
use crate::writer::ProgramWriter;

/// The number of scheduling passes. Each of them runs on a third of the programs.
const N_SCHEDULES: usize = 3;

const PASSES: [&str; 20] = [
    "affine-schedule{cache-size=0 tile-size=2 inner-tile-size=3 small-loop=0}",
    "affine-schedule{cache-size=0 tile-size=4 inner-tile-size=8 jam-size=2 small-loop=0}",
    "affine-loop-normalize,affine-schedule{cache-size=0 tile-size=4 inner-tile-size=5 jam-size=3 small-loop=3}",
    "affine-loop-tile{tile-size=2}",
    "affine-loop-tile{tile-sizes=3,2}",
    "affine-loop-tile{tile-size=3 separate}",
    "affine-loop-tile{cache-size=1}",
    "affine-loop-unroll{unroll-factor=3}",
    "affine-loop-unroll{unroll-full=true}",
    "affine-loop-unroll-jam{unroll-jam-factor=2}",
    "affine-loop-normalize",
    "affine-simplify-structures",
    "test-loop-permutation{permutation-map=1,0}",
    "affine-loop-invariant-code-motion",
    "affine-loop-fusion",
    "affine-loop-fusion{fusion-maximal},affine-scalrep",
    "affine-scalrep",
    "affine-parallelize",
    "affine-loop-coalescing",
    "lower-affine",
];

#[test]
fn passes_preserve_results() {
    let mut n_changed = [0; PASSES.len()];
    for seed in 1..=120 {
        let text = ProgramWriter::program(seed);
        let before = read(&text);
        for (at, pass) in PASSES.iter().enumerate() {
            // Scheduling takes longer than all other passes.
            if at < N_SCHEDULES && seed % 3 != at as u64 {
                continue;
            }
            let after = transformed(&text, pass);
            n_changed[at] += usize::from(print::custom(&after) != print::custom(&before));
            for n in [-2, 0, 1, 4, 6] {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(
                    expected,
                    got,
                    "seed {seed}, {pass}, n = {n}\n{text}\n{}",
                    print::custom(&after)
                );
            }
        }
    }
    assert!(n_changed.iter().all(|it| *it >= 5), "{n_changed:?}");
}
