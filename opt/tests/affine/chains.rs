//! Scheduling of dependence chains.

use noisy_syntax::print;

use crate::common::read;
use crate::machine::result;
use crate::{function_with_loops, multiply_and_store, transformed};

#[test]
fn scheduling_runs_reduction_chains_in_parallel() {
    let nest = |k: &str, body: String| {
        function_with_loops(&format!(
            "affine.for %i = 0 to 19 {{ affine.for %j = 0 to 17 {{ affine.for %k0 = {k} {{ {body} }} }} }}"
        ))
    };
    let row = |body: String| {
        function_with_loops(&format!(
            "affine.for %i = 1 to 19 {{ affine.for %j = 1 to 37 {{ {body} }} }}"
        ))
    };
    let still = || multiply_and_store("%i, %j", "%i, %j", "%j, %k0");
    let to_i = "0 to affine_map<(d0) -> (d0 + 1)>(%i)";
    let from_i = "affine_map<(d0) -> (d0)>(%i) to 21";
    let both = "affine_map<(d0) -> (d0 - 5)>(%i) to affine_map<(d0) -> (d0 * 2 - 7)>(%i)";
    let cases = [
        (nest("0 to 23", still()), true),
        (nest(to_i, still()), true),
        (nest(from_i, still()), true),
        (nest("0 to %n", still()), true),
        (nest(both, still()), true),
        // Another access refers to the same element.
        (
            nest(to_i, multiply_and_store("%i, %j", "%i, %j", "%i, %k0").replace("%B[", "%A[")),
            false,
        ),
        (row(multiply_and_store("%i, %j", "%i, %j - 1", "%i, %j")), false),
        // A wavefront.
        (row(multiply_and_store("0, %j", "0, %j - 1", "0, %j + 1").replace("%B[", "%A[")), false),
    ];
    for (text, is_carried) in cases {
        let before = read(&text);
        for pass in [
            "affine-schedule",
            "affine-schedule{jam-size=2 cache-size=0 tile-size=4 inner-tile-size=6}",
            "affine-schedule{jam-size=3 cache-size=0 tile-size=5 inner-tile-size=4}",
        ] {
            let after = transformed(&text, pass);
            let printed = print::custom(&after);
            // Without parallel chains, tiles do not pay off for so few iterations.
            let is_asked = is_carried || pass != "affine-schedule" || !text.contains("%k0");
            assert_eq!(printed != print::custom(&before), is_asked, "{pass}");
            assert_eq!(printed.contains("iter_args"), is_carried, "{pass}\n{printed}");
            for n in [-2, 0, 3, 12] {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(expected, got, "{pass}, n = {n}\n{text}\n{printed}");
            }
        }
    }
}
