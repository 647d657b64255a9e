//! Tests that random programs compute the same after rewriting, and need fewer reductions. Both are
//! run by an interpreter that shares nothing with the search or the proof.

use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{Document, PlacementOptions as Placing, Program};
use noisy_certificate::equality::{self, Equality, FORMAT, VERSION, verify};
use noisy_placement::PlacementLimits;
use noisy_rewrite::{RewriteOptions, RewrittenProgram, rewrite};
use noisy_syntax::{Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Returns a program with shared values, differences, constants, loops and branches.
fn program(random: &mut Random) -> String {
    let mut out = String::from(
        "func.func @f(%a: !noisy.i32, %b: !noisy.i32, %c: !noisy.i32, %p: i1) -> (!noisy.i32, !noisy.i32) {\n",
    );
    out += "  %lo = arith.constant 0 : index\n  %step = arith.constant 1 : index\n";
    out += "  %two = arith.constant 2 : index\n";
    out += &format!("  %n = arith.constant {} : index\n", random.below(20));
    out += &format!("  %many = arith.constant {} : index\n", [40, 61][random.below(2)]);
    out += &format!("  %k = arith.constant {} : i5\n", random.below(16));
    out += "  %e = noisy.encode %k : i5 -> !noisy.i32\n";
    let mut values: Vec<String> = ["%a", "%b", "%c", "%e"].map(str::to_owned).to_vec();
    let n = 4 + random.below(30);
    for at in 0..n {
        let name = format!("%v{at}");
        match random.below(14) {
            0 => {
                let init = pick(random, &values);
                let mut body = values.clone();
                body.push(format!("%w{at}"));
                let mut lines = side_effect(random, &body, at);
                lines += &arithmetic(random, &mut body, &format!("l{at}_"), "    ");
                let last = body.last().cloned().unwrap_or_default();
                let (line, last) =
                    combined_with_carried(random, &format!("%w{at}"), &last, &format!("%j{at}"));
                let carried = format!("iter_args(%w{at} = {init}) -> (!noisy.i32)");
                let (head, end) = match random.below(4) {
                    0 => {
                        (format!("affine.for %i{at} = 1 to {} step 2", random.below(50)), "affine")
                    }
                    1 => (format!("scf.for %i{at} = %step to %many step %two"), "scf"),
                    2 => (format!("scf.for %i{at} = %lo to %many step %step"), "scf"),
                    _ => (format!("scf.for %i{at} = %lo to %n step %step"), "scf"),
                };
                out += &format!(
                    "  {name} = {head} {carried} {{\n{lines}{line}    {end}.yield {last} : !noisy.i32\n  }}\n"
                );
            }
            1 => {
                let mut sides = Vec::new();
                let common = pick(random, &values);
                let is_product = random.below(2);
                for side in ["t", "f"] {
                    let mut body = values.clone();
                    let lines = arithmetic(random, &mut body, &format!("{side}{at}_"), "    ");
                    let last = body.last().cloned().unwrap_or_default();
                    let joined = format!("%{side}{at}");
                    let kinds = [["add", "add", "sub"], ["mul"; 3]];
                    let op = kinds[is_product][random.below(3)];
                    sides.push(format!(
                        "{lines}    {joined} = noisy.{op} {common}, {last} : !noisy.i32\n    scf.yield {joined} : !noisy.i32\n"
                    ));
                }
                out += &format!(
                    "  {name} = scf.if %p -> (!noisy.i32) {{\n{}  }} else {{\n{}  }}\n",
                    sides[0], sides[1]
                );
            }
            _ => {
                let (op, x, y) = (kind(random), pick(random, &values), pick(random, &values));
                out += &format!("  {name} = noisy.{op} {x}, {y} : !noisy.i32\n");
            }
        }
        values.push(name);
    }
    let (x, y) = (pick(random, &values), values.last().cloned().unwrap_or_default());
    out + &format!("  return {x}, {y} : !noisy.i32, !noisy.i32\n}}\n")
}

/// Sometimes returns an op with side effects for a loop body.
fn side_effect(random: &mut Random, values: &[String], at: usize) -> String {
    match random.below(6) {
        0 => format!("    \"test.note\"({}) : (!noisy.i32) -> ()\n", pick(random, values)),
        1 => format!("    \"test.note\"(%i{at}) : (index) -> ()\n"),
        2 => format!(
            "    %k{at} = arith.addi %i{at}, %two : index\n    \"test.note\"(%k{at}, %i{at}) : (index, index) -> ()\n"
        ),
        _ => String::new(),
    }
}

/// Sometimes returns an operation on a carried value.
fn combined_with_carried(
    random: &mut Random,
    carried: &str,
    value: &str,
    name: &str,
) -> (String, String) {
    let op = kind(random);
    match random.below(2) {
        0 => (String::new(), value.to_owned()),
        _ => {
            (format!("    {name} = noisy.{op} {carried}, {value} : !noisy.i32\n"), name.to_owned())
        }
    }
}

fn kind(random: &mut Random) -> &'static str {
    ["add", "add", "sub", "mul"][random.below(4)]
}

/// Returns one of the last values.
fn pick(random: &mut Random, values: &[String]) -> String {
    let n = values.len().min(7);
    values[values.len() - 1 - random.below(n)].clone()
}

fn arithmetic(random: &mut Random, values: &mut Vec<String>, prefix: &str, indent: &str) -> String {
    let mut out = String::new();
    for at in 0..=random.below(4) {
        let (op, x, y) = (kind(random), pick(random, values), pick(random, values));
        out += &format!("{indent}%{prefix}{at} = noisy.{op} {x}, {y} : !noisy.i32\n");
        values.push(format!("%{prefix}{at}"));
    }
    out
}

/// Returns the operands of all side effects and the results of the first function.
fn run(program: &Program, arguments: &[i64]) -> Vec<i64> {
    let ir = program.ir();
    let mut notes = Vec::new();
    let function = ir.functions()[0];
    let mut env: FxHashMap<Value, i64> = FxHashMap::default();
    let block = ir.entry_block(ir.op(function).regions[0].1);
    env.extend(ir.block(block).args.iter().copied().zip(arguments.iter().copied()));
    let results = run_block(program, ir.op(function).regions[0].1, &mut env, &mut notes);
    notes.into_iter().chain(results).collect()
}

fn run_block(
    program: &Program,
    region: noisy_syntax::Region,
    env: &mut FxHashMap<Value, i64>,
    notes: &mut Vec<i64>,
) -> Vec<i64> {
    let ir = program.ir();
    for op in ir.items(region) {
        let of = |at: usize, env: &FxHashMap<Value, i64>| env[&operand(ir, op, at)];
        let data = ir.op(op);
        let all =
            |env: &FxHashMap<Value, i64>| (0..data.operands.len()).map(|it| of(it, env)).collect();
        let results = match data.kind {
            OpKind::NoisyAdd | OpKind::ArithAddi => vec![of(0, env) + of(1, env)],
            OpKind::NoisySub => vec![of(0, env) - of(1, env)],
            OpKind::NoisyMul => vec![of(0, env) * of(1, env)],
            OpKind::NoisyEncode | OpKind::NoisyReduceNoise => vec![of(0, env)],
            OpKind::ArithConstant => {
                let attr = ir.attr(op, "value").expect("a constant has a value");
                vec![ir.interner.int_value(attr).expect("of an integer") as i64]
            }
            OpKind::AffineApply => {
                let map = ir.interner.affine(ir.attr(op, "map").expect("it has a map"));
                let input = |_| Some(i128::from(of(0, env)));
                map.and_then(|it| it.evaluate(&input)).expect("it is defined").to_vec()
            }
            OpKind::Unknown if ir.op_name(op) == "test.note" => {
                notes.extend::<Vec<i64>>(all(env));
                Vec::new()
            }
            OpKind::ScfFor | OpKind::AffineFor => {
                let bound = |name| {
                    let map = ir.interner.affine(ir.attr(op, name).expect("it has bounds"));
                    map.and_then(|it| it.evaluate(&|_| None)).expect("they are constants")[0]
                };
                let (first, lower, upper, step) = if data.kind == OpKind::ScfFor {
                    (3, of(0, env), of(1, env), of(2, env))
                } else {
                    let step = ir.interner.int_value(ir.attr(op, "step").expect("it has a step"));
                    let step = step.expect("it is a number") as i64;
                    (0, bound("lowerBoundMap"), bound("upperBoundMap"), step)
                };
                let mut carried: Vec<i64> =
                    (first..data.operands.len()).map(|it| of(it, env)).collect();
                let inner = data.regions[0].1;
                let args = ir.block(ir.entry_block(inner)).args.clone();
                let mut index = lower;
                while index < upper {
                    env.insert(args[0], index);
                    env.extend(args[1..].iter().copied().zip(carried.iter().copied()));
                    carried = run_block(program, inner, env, notes);
                    index += step.max(1);
                }
                carried
            }
            OpKind::ScfIf => {
                let side = usize::from(of(0, env) == 0);
                run_block(program, data.regions[side].1, env, notes)
            }
            OpKind::ScfYield | OpKind::AffineYield | OpKind::FuncReturn => return all(env),
            other => {
                panic!("{other:?} is not run: {}\n{}", ir.op_name(op), program.source().text())
            }
        };
        let is_index = !ir.op_name(op).starts_with("noisy.") && data.regions.is_empty();
        let modulo = |it: i64| if is_index { it } else { it.rem_euclid(32) };
        env.extend(data.results.iter().copied().zip(results.into_iter().map(modulo)));
    }
    Vec::new()
}

fn operand(ir: &Ir, op: Op, at: usize) -> Value {
    ir.op(op).operands[at].value.expect("operands are defined")
}

fn options() -> RewriteOptions {
    let time = Duration::from_millis(100);
    let limits = PlacementLimits { time: Some(time), ..PlacementLimits::default() };
    let cache = Some(Arc::default());
    let placing = Placing { limits, cache, ..Placing::default() };
    RewriteOptions {
        placement: placing,
        search_time: time,
        max_growth: 1.5,
        keeps_structure: false,
    }
}

#[test]
fn rewritten_programs_compute_the_same() {
    let mut random = Random(7);
    let mut n_rewritten = 0;
    for _ in 0..200 {
        let text = program(&mut random);
        let before = Document::new(&text);
        assert!(before.source().problems().is_empty(), "{text}");
        let functions = before.ir().functions();
        let Some(after) = rewrite(&before, &functions, &options()) else { continue };
        n_rewritten += 1;
        let written = after.document.source().text().to_string();
        assert!(after.savings.iter().all(|it| it.after < it.before), "{text}{written}");
        for _ in 0..6 {
            let arguments: Vec<i64> =
                (0..4).map(|it| random.below(if it == 3 { 2 } else { 32 }) as i64).collect();
            assert_eq!(
                run(&before, &arguments),
                run(&after.document, &arguments),
                "{text}\nbecame\n{written}"
            );
        }
        assert!(written.matches("noisy.encode").count() <= text.matches("noisy.encode").count());
    }
    assert!(n_rewritten > 40, "only {n_rewritten} programs were rewritten");
}

fn certificate(rewritten: &RewrittenProgram) -> Equality {
    let proofs = || rewritten.savings.iter().map(|it| &it.equality);
    Equality {
        format: FORMAT.to_owned(),
        version: VERSION,
        before: String::new(),
        after: String::new(),
        rewritten: rewritten.document.source().text().to_string(),
        loops: proofs().flat_map(|it| it.loops.iter().copied()).collect(),
        strides: proofs().flat_map(|it| it.strides.iter().cloned()).collect(),
        steps: proofs().flat_map(|it| it.steps.iter().copied()).collect(),
    }
}

/// Returns the offset of a random occurrence of a pattern.
fn place(random: &mut Random, text: &str, pattern: &str) -> Option<usize> {
    let places: Vec<usize> = text.match_indices(pattern).map(|it| it.0).collect();
    (!places.is_empty()).then(|| places[random.below(places.len())])
}

/// Returns a program with a small random change.
fn changed(random: &mut Random, text: &str) -> String {
    let mut out = text.to_owned();
    let words: Vec<&str> = text.split([' ', ',', '(', ')', '\n']).collect();
    let names: Vec<&str> = words.into_iter().filter(|it| it.starts_with('%')).collect();
    match random.below(6) {
        // Replaces an operand.
        0 | 1 => {
            let (from, to) = (names[random.below(names.len())], names[random.below(names.len())]);
            if let Some(at) = place(random, text, &format!("{from},")) {
                out.replace_range(at..at + from.len(), to);
            }
        }
        // Replaces an op.
        2 => {
            let kinds = ["noisy.add", "noisy.sub", "noisy.mul"];
            let (from, to) = (kinds[random.below(3)], kinds[random.below(3)]);
            if let Some(at) = place(random, text, from) {
                out.replace_range(at..at + from.len(), to);
            }
        }
        // Removes or moves a line.
        3 | 4 => {
            let mut lines: Vec<&str> = text.lines().collect();
            let at = 1 + random.below(lines.len() - 1);
            let line = lines.remove(at);
            if random.below(2) == 0 {
                let to = 1 + random.below(lines.len());
                lines.insert(to, line);
            }
            out = lines.join("\n") + "\n";
        }
        // Replaces a character.
        _ => {
            let at = random.below(text.len());
            let with = ["0", "1", "7", "%", " ", "a", ","][random.below(7)];
            out.replace_range(at..=at, with);
        }
    }
    out
}

#[test]
fn the_verifier_accepts_rewritten_programs_and_no_forged_ones() {
    let mut random = Random(11);
    // Small limits, because polynomials of forged programs may be long.
    let few = equality::PolynomialLimits { work: 100_000, monomials: 1000, kept: 100_000 };
    let (mut n_verified, mut n_refused, mut n_accepted, mut n_strided) = (0, 0, 0, 0);
    for _ in 0..120 {
        let text = program(&mut random);
        let before = Document::new(&text);
        let functions = before.ir().functions();
        let Some(after) = rewrite(&before, &functions, &options()) else { continue };
        let file = certificate(&after);
        let verified = verify(&text, &file, equality::PolynomialLimits::default());
        assert!(verified.is_ok(), "{verified:?}\n{text}\nbecame\n{}", file.rewritten);
        n_verified += 1;
        n_strided += usize::from(!file.strides.is_empty());
        for _ in 0..30 {
            let mut forged = file.clone();
            let mut old = text.clone();
            match random.below(7) {
                0 => old = changed(&mut random, &text),
                1 if !forged.steps.is_empty() => {
                    let n = forged.steps.len();
                    let (at, of) = (random.below(n), random.below(n));
                    forged.steps[at].1 = file.steps[of].1;
                }
                2 if !forged.loops.is_empty() => {
                    let at = random.below(forged.loops.len());
                    forged.loops[at].1 = random.below(20) as u64;
                }
                3 if !forged.strides.is_empty() => {
                    let n = forged.strides.len();
                    let (at, of) = (random.below(n), random.below(n));
                    let parts = &mut forged.strides[at].1;
                    match random.below(3) {
                        0 => parts[0].1 = random.below(20) as u64,
                        1 => parts.truncate(1),
                        _ => parts[0].0 = file.strides[of].1[0].0,
                    }
                }
                _ => forged.rewritten = changed(&mut random, &file.rewritten),
            }
            if verify(&old, &forged, few).is_err() {
                n_refused += 1;
                continue;
            }
            n_accepted += 1;
            let (old, new) = (Program::new(&old), Program::new(&forged.rewritten));
            for _ in 0..20 {
                let arguments: Vec<i64> =
                    (0..4).map(|it| random.below(if it == 3 { 2 } else { 32 }) as i64).collect();
                assert_eq!(
                    run(&old, &arguments),
                    run(&new, &arguments),
                    "{text}\nand the forged\n{}",
                    forged.rewritten
                );
            }
        }
    }
    assert!(n_verified > 20, "only {n_verified} programs were rewritten");
    assert!(n_strided > 5, "only {n_strided} programs have loops that take several iterations");
    assert!(n_refused > 500 && n_accepted > 50, "{n_refused} refused, {n_accepted} accepted");
}
