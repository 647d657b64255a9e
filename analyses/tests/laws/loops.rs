//! Loops equal their unrolling, and reductions equal loops that combine the same values.

use std::fmt::Write as _;

use noisy_syntax::OpKind;

use crate::Document;
use crate::laws::{Random, noise_errors};

/// The ops of a loop body: name, op, and the indices of two earlier values. Two iteration arguments
/// and a value from outside come first.
type Lines = Vec<(String, &'static str, usize, usize)>;

/// Returns a random loop body over two iteration arguments, and the indices of the yielded values.
fn body(random: &mut Random) -> (Lines, usize, usize) {
    let n = 1 + random.below(5);
    let mut lines = Vec::new();
    for at in 0..n {
        let op = *random.pick(&["add", "add", "sub", "mul", "reduce_noise"]);
        lines.push((format!("s{at}"), op, random.below(at + 3), random.below(at + 3)));
    }
    (lines, random.below(n + 3), random.below(n + 3))
}

/// Returns the text of a loop body. `prefix` is added to the names of results, which are appended
/// to `names`.
fn written(lines: &Lines, prefix: &str, names: &mut Vec<String>) -> String {
    let mut text = String::new();
    for (name, op, x, y) in lines {
        let name = format!("%{prefix}{name}");
        let (x, y) = (&names[*x], &names[*y]);
        let _ = match *op {
            "reduce_noise" => writeln!(text, "{name} = noisy.{op} {x} : !noisy.i32"),
            _ => writeln!(text, "{name} = noisy.{op} {x}, {y} : !noisy.i32"),
        };
        names.push(name);
    }
    text
}

#[test]
fn loops_with_known_trip_counts_equal_their_unrolling() {
    let n = if cfg!(debug_assertions) { 500 } else { 3_000 };
    let mut n_legal = 0;
    for seed in 1..=n {
        let mut random = Random::new(seed * 7919 + 1);
        let (lines, out_a, out_b) = body(&mut random);
        let trips = random.below(20);
        let render = |prefix: &str, names: &mut Vec<String>| written(&lines, prefix, names);
        let head = "func.func @f(%k: !noisy.i32) -> (!noisy.i32, !noisy.i32) {\n";
        let mut names = vec!["%p".to_owned(), "%q".to_owned(), "%k".to_owned()];
        let inside = render("", &mut names);
        let looped = format!(
            "{head}%lo = arith.constant 0 : index
%hi = arith.constant {trips} : index
%st = arith.constant 1 : index
%m = noisy.add %k, %k : !noisy.i32
%r:2 = scf.for %i = %lo to %hi step %st iter_args(%p = %m, %q = %k) -> (!noisy.i32, !noisy.i32) {{
{inside}scf.yield {}, {} : !noisy.i32, !noisy.i32
}}
return %r#0, %r#1 : !noisy.i32, !noisy.i32
}}
",
            names[out_a], names[out_b]
        );
        let mut unrolled = format!("{head}%m = noisy.add %k, %k : !noisy.i32\n");
        let (mut p, mut q) = ("%m".to_owned(), "%k".to_owned());
        for round in 0..trips {
            let mut names = vec![p, q, "%k".to_owned()];
            unrolled += &render(&format!("u{round}_"), &mut names);
            (p, q) = (names[out_a].clone(), names[out_b].clone());
        }
        let _ = writeln!(unrolled, "return {p}, {q} : !noisy.i32, !noisy.i32\n}}");
        let ends = |text: &str| {
            let document = Document::new(text);
            let ir = document.ir();
            let mut out = Vec::new();
            ir.walk(ir.root(), &mut |op| {
                if ir.op(op).kind == OpKind::FuncReturn {
                    let values = ir.op(op).operands.iter().filter_map(|it| it.value);
                    out.extend(values.map(|it| document.noise(it).hi().map(|it| it.min(27))));
                }
            });
            let legal = !document.diagnostics().iter().any(|it| it.code.starts_with("noise"));
            (legal, if legal { out } else { Vec::new() })
        };
        let found = ends(&looped);
        assert_eq!(found, ends(&unrolled), "{looped}\n{unrolled}");
        n_legal += usize::from(found.0);
    }
    assert!(n_legal > n as usize / 5 && n_legal < n as usize, "{n_legal} of {n}");
}

/// Permuted iteration arguments have long periods, so the possible last iterations are neither only
/// the first nor all iterations.
#[test]
fn loops_with_a_range_of_trip_counts_join_all_of_them() {
    let n = if cfg!(debug_assertions) { 300 } else { 3_000 };
    let (mut n_legal, mut n_partial) = (0, 0);
    for seed in 1..=n {
        let mut random = Random::new(seed * 6131 + 1);
        let n_carried = 1 + random.below(9);
        let inits: Vec<u64> = (0..n_carried).map(|_| 5 + random.below(20) as u64).collect();
        let (least, more) = (random.below(70), random.below(12));
        // The next value of each iteration argument: mostly another argument, sometimes with more
        // noise or reduced.
        let mut places: Vec<usize> = (0..n_carried).collect();
        for at in 0..n_carried {
            places.swap(at, random.below(n_carried));
        }
        let ops: Vec<usize> = (0..n_carried).map(|_| random.below(30)).collect();
        let next = |before: &[u64]| -> Vec<u64> {
            let moved = places.iter().zip(&ops).map(|(&from, op)| match op {
                0 => before[from] + 1,
                1 => 12,
                _ => before[from],
            });
            moved.collect()
        };
        let (mut state, mut expected, mut is_legal) = (inits.clone(), vec![0; n_carried], true);
        let mut seen = vec![0; n_carried];
        for round in 0..=least + more {
            if round > 0 {
                state = next(&state);
            }
            is_legal &= state.iter().all(|&it| it <= 26);
            for at in 0..n_carried {
                seen[at] = state[at].max(seen[at]);
                expected[at] = if round < least { 0 } else { state[at].max(expected[at]) };
            }
        }
        let (mut args, mut types, mut carried) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lines, mut yielded) = (String::new(), Vec::new());
        for at in 0..n_carried {
            args.push(format!("%x{at}: !noisy.i32 {{noisy.bound = {} : i64}}", inits[at]));
            types.push("!noisy.i32");
            carried.push(format!("%p{at} = %x{at}"));
            let from = format!("%p{}", places[at]);
            let _ = match ops[at] {
                0 => writeln!(lines, "%y{at} = noisy.add {from}, {from} : !noisy.i32"),
                1 => writeln!(lines, "%y{at} = noisy.reduce_noise {from} : !noisy.i32"),
                _ => Ok(()),
            };
            yielded.push(if ops[at] < 2 { format!("%y{at}") } else { from });
        }
        let (args, types) = (args.join(", "), types.join(", "));
        let text = format!(
            "func.func @f(%n: index, {args}) {{
%lo = arith.constant 0 : index
%st = arith.constant 1 : index
%least = arith.constant {least} : index
%most = arith.constant {} : index
%from = arith.maxsi %n, %least : index
%hi = arith.minsi %from, %most : index
%r:{n_carried} = scf.for %i = %lo to %hi step %st iter_args({}) -> ({types}) {{
{lines}scf.yield {} : {types}
}}
return
}}
",
            least + more,
            carried.join(", "),
            yielded.join(", ")
        );
        let document = Document::new(&text);
        assert_eq!(noise_errors(&document) == 0, is_legal, "{text}");
        if !is_legal {
            continue;
        }
        n_legal += 1;
        n_partial += usize::from(expected != seen);
        let ir = document.ir();
        let is_loop = |op: &noisy_syntax::Op| ir.op(*op).kind == OpKind::ScfFor;
        let mut found = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            if is_loop(&op) {
                found = ir.op(op).results.iter().map(|&it| document.noise(it).hi()).collect();
            }
        });
        let expected: Vec<_> = expected.iter().map(|&it| u32::try_from(it).ok()).collect();
        assert_eq!(found, expected, "{text}");
    }
    assert!(n_legal > n as usize / 3 && n_legal < n as usize, "{n_legal} of {n}");
    assert!(n_partial > n as usize / 10, "{n_partial} of {n}");
}

#[test]
fn reductions_equal_loops_that_combine_either_way() {
    let n = if cfg!(debug_assertions) { 300 } else { 2_000 };
    let mut n_legal = 0;
    for seed in 1..=n {
        let mut random = Random::new(seed * 5077 + 1);
        let (lines, out, _) = body(&mut random);
        let trips = random.below(7);
        let upper = if random.one_in(5) { "%n" } else { "%hi" };
        let combine = |prefix: &str, a: &str, b: &str| {
            let mut names = vec![a.to_owned(), b.to_owned(), "%k".to_owned()];
            let text = written(&lines, prefix, &mut names);
            (text, names[out].clone())
        };
        let head = format!(
            "func.func @f(%k: !noisy.i32, %i: !noisy.i32 {{noisy.bound = {} : i64}}, %c: i1, %n: index) -> !noisy.i32 {{
%lo = arith.constant 0 : index
%hi = arith.constant {trips} : index
%st = arith.constant 1 : index
",
            8 + random.below(10)
        );
        let (text, last) = combine("", "%l", "%r");
        let parallel = format!(
            "{head}%0 = scf.parallel (%x) = (%lo) to ({upper}) step (%st) init (%i) -> !noisy.i32 {{
%v = noisy.add %k, %k : !noisy.i32
scf.reduce(%v : !noisy.i32) {{
^bb0(%l: !noisy.i32, %r: !noisy.i32):
{text}scf.reduce.return {last} : !noisy.i32
}}
}}
return %0 : !noisy.i32
}}
"
        );
        let (one, first) = combine("a", "%l", "%v");
        let (other, second) = combine("b", "%v", "%l");
        let looped = format!(
            "{head}%v = noisy.add %k, %k : !noisy.i32
%0 = scf.for %x = %lo to {upper} step %st iter_args(%l = %i) -> (!noisy.i32) {{
%1 = scf.if %c -> (!noisy.i32) {{
{one}scf.yield {first} : !noisy.i32
}} else {{
{other}scf.yield {second} : !noisy.i32
}}
scf.yield %1 : !noisy.i32
}}
return %0 : !noisy.i32
}}
"
        );
        let end = |text: &str| {
            let document = Document::new(text);
            let errors = document.diagnostics();
            assert!(
                errors.iter().all(|it| it.severity != crate::Severity::Error
                    || it.code.starts_with("noise")),
                "{text}\n{errors:?}"
            );
            let ir = document.ir();
            let body = ir.op(ir.functions()[0]).regions[0].1;
            let last = ir.last_op(ir.region(body).entry);
            let value = last.and_then(|it| ir.op(it).operands[0].value);
            let noise = value.map(|it| *document.noise(it));
            (noise_errors(&document) > 0, noise.filter(|_| noise_errors(&document) == 0))
        };
        let (found, expected) = (end(&parallel), end(&looped));
        assert_eq!(found, expected, "{parallel}\n{looped}");
        n_legal += usize::from(!found.0);
    }
    assert!(n_legal > n as usize / 5 && n_legal < n as usize, "{n_legal} of {n}");
}

/// Returns the noise of a value of a body according to the growth rules, from the noise of its two
/// arguments and of `%k`.
fn given(lines: &Lines, out: usize, args: [u64; 2]) -> u64 {
    let mut values = vec![args[0], args[1], 12];
    for (_, op, x, y) in lines {
        let (x, y) = (values[*x], values[*y]);
        values.push(match *op {
            "reduce_noise" => 12,
            "mul" => x + y,
            _ => x.max(y) + 1,
        });
    }
    values[out]
}

/// Returns the largest noise of all ways to combine an initial value and `n` values with noise 13:
/// sequentially, starting with the initial value, and as any tree.
fn combined(n: usize, initial: u64, give: &dyn Fn(u64, u64) -> u64) -> [u64; 2] {
    let either = |a: u64, b: u64| give(a, b).max(give(b, a));
    let chain = (0..n).fold(initial, |so_far, _| either(so_far, 13));
    // For each size: trees without the initial value, and trees that contain it.
    let (mut without, mut with) = (vec![0, 13], vec![initial]);
    for size in 1..=n {
        if size > 1 {
            let ways = (1..size).map(|at| either(without[at], without[size - at]));
            without.push(ways.max().unwrap_or(0));
        }
        let ways = (1..=size).map(|at| either(with[size - at], without[at]));
        with.push(ways.max().unwrap_or(0));
    }
    [chain, with[n]]
}

#[test]
fn no_order_of_a_reduction_exceeds_the_found_noise() {
    let mut n_legal = 0;
    for op in ["add", "sub", "mul"] {
        for initial in 0..20_u64 {
            for n in 0..8 {
                let text = format!(
                    "func.func @f(%k: !noisy.i32, %i: !noisy.i32 {{noisy.bound = {initial} : i64}}) -> !noisy.i32 {{
%lo = arith.constant 0 : index
%hi = arith.constant {n} : index
%st = arith.constant 1 : index
%0 = scf.parallel (%x) = (%lo) to (%hi) step (%st) init (%i) -> !noisy.i32 {{
%v = noisy.add %k, %k : !noisy.i32
scf.reduce(%v : !noisy.i32) {{
^bb0(%l: !noisy.i32, %r: !noisy.i32):
%q = noisy.{op} %l, %r : !noisy.i32
scf.reduce.return %q : !noisy.i32
}}
}}
return %0 : !noisy.i32
}}
"
                );
                let lines: Lines = vec![("q".to_owned(), op, 0, 1)];
                let [chain, tree] = combined(n, initial, &|a, b| given(&lines, 3, [a, b]));
                assert_eq!(chain, tree);
                let document = Document::new(&text);
                assert_eq!(noise_errors(&document) == 0, tree <= 26, "{text}");
                n_legal += usize::from(tree <= 26);
            }
        }
    }
    assert!(n_legal > 100);
}

#[test]
fn a_cycle_of_blocks_starts_anew_in_each_iteration() {
    let document = crate::Document::new(
        "func.func @f(%x: !noisy.i32, %k: i1) -> !noisy.i32 {
  %lo = arith.constant 0 : index
  %hi = arith.constant 5 : index
  %st = arith.constant 1 : index
  %p = noisy.mul %x, %x : !noisy.i32
  %r:2 = scf.for %i = %lo to %hi step %st iter_args(%b = %p, %c = %x) -> (!noisy.i32, !noisy.i32) {
    %e = scf.execute_region -> !noisy.i32 {
      cf.br ^l(%b : !noisy.i32)
    ^l(%y: !noisy.i32):
      %1 = noisy.add %y, %y : !noisy.i32
      cf.cond_br %k, ^l(%b : !noisy.i32), ^m
    ^m:
      scf.yield %1 : !noisy.i32
    }
    %f = noisy.reduce_noise %e : !noisy.i32
    scf.yield %f, %e : !noisy.i32, !noisy.i32
  }
  return %r#1 : !noisy.i32
}
",
    );
    // The first iteration adds to a product, all others to a reduced value.
    let ir = document.ir();
    let end =
        ir.last_op(noisy_dataflow::flow::entry_block(ir, ir.op(ir.functions()[0]).regions[0].1));
    let given = end.and_then(|it| ir.op(it).operands[0].value);
    assert_eq!(given.map(|it| *document.noise(it)), Some(crate::Noise::AtMost(13)));
}
