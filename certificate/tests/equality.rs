//! The verifier of rewritings accepts programs that compute the same, and refuses everything else.

use noisy_certificate::equality::{
    EqualPrograms, Equality, FORMAT, PolynomialLimits, VERSION, verify_reductions_only,
};

const HEADER: &str = "func.func @f(%a: !noisy.i32, %b: !noisy.i32, %c: !noisy.i32, %p: i1, %n: index) -> !noisy.i32 {\n";

fn program(lines: &[&str]) -> String {
    let body = lines.iter().fold(String::new(), |text, it| text + "  " + it + "\n");
    format!("{HEADER}{body}}}\n")
}

fn file(rewritten: &str) -> Equality {
    Equality {
        format: FORMAT.to_owned(),
        version: VERSION,
        before: String::new(),
        after: String::new(),
        rewritten: rewritten.to_owned(),
        strides: Vec::new(),
        loops: Vec::new(),
        steps: Vec::new(),
    }
}

fn verify(before: &str, file: &Equality) -> Result<EqualPrograms, String> {
    noisy_certificate::equality::verify(before, file, PolynomialLimits::default())
}

fn compare(old: &[&str], new: &[&str]) -> Result<EqualPrograms, String> {
    verify(&program(old), &file(&program(new)))
}

fn refused(old: &[&str], new: &[&str], why: &str) {
    let is = compare(old, new).expect_err("it is refused");
    assert!(is.contains(why), "{is} instead of {why}");
}

fn op(name: &str, result: &str, a: &str, b: &str) -> String {
    format!("%{result} = noisy.{name} %{a}, %{b} : !noisy.i32")
}

/// Lines of arithmetic ops, and a return of the last result.
fn ops(list: &[(&str, &str, &str, &str)]) -> Vec<String> {
    let lines = list.iter().map(|&(name, to, a, b)| op(name, to, a, b));
    let last = list.last().map_or("a", |it| it.1);
    lines.chain([format!("return %{last} : !noisy.i32")]).collect()
}

fn texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

const RETURN: &str = "return %a : !noisy.i32";

#[test]
fn accepts_the_laws_of_a_ring() {
    let pairs = [
        (
            ops(&[("mul", "0", "a", "c"), ("mul", "1", "b", "c"), ("sub", "2", "0", "1")]),
            ops(&[("sub", "0", "a", "b"), ("mul", "1", "0", "c")]),
        ),
        (
            ops(&[("add", "0", "a", "b"), ("sub", "1", "0", "b"), ("mul", "2", "1", "c")]),
            ops(&[("mul", "0", "c", "a")]),
        ),
    ];
    for (old, new) in pairs {
        assert!(compare(&texts(&old), &texts(&new)).is_ok(), "{old:?} {new:?}");
        assert!(compare(&texts(&new), &texts(&old)).is_ok(), "{new:?} {old:?}");
    }
    let double = ["%0 = noisy.add %a, %a : !noisy.i32", "return %0 : !noisy.i32"];
    let two = "%t = arith.constant 2 : i5";
    let encoded = "%e = noisy.encode %t : i5 -> !noisy.i32";
    let product = "%0 = noisy.mul %e, %a : !noisy.i32";
    let old = [two, encoded, product, double[1]];
    let new = [two, encoded, double[0], double[1]];
    assert!(compare(&old, &new).is_ok(), "twice a value is its sum with itself");
}

#[test]
fn refuses_other_values() {
    let old = ops(&[("sub", "0", "a", "b"), ("mul", "1", "0", "c")]);
    for new in [
        ops(&[("sub", "0", "b", "a"), ("mul", "1", "0", "c")]),
        ops(&[("sub", "0", "a", "b"), ("mul", "1", "0", "0")]),
        ops(&[("sub", "0", "a", "b")]),
        ops(&[("add", "0", "a", "b"), ("mul", "1", "0", "c")]),
    ] {
        refused(&texts(&old), &texts(&new), "is not equal to");
    }
}

#[test]
fn computes_modulo_32() {
    let with = |n: usize| {
        let mut lines = vec![op("add", "d0", "a", "a")];
        for it in 1..n {
            let (to, of) = (format!("d{it}"), format!("d{}", it - 1));
            lines.push(op("add", &to, &of, &of));
        }
        lines.push(op("add", "r", "b", &format!("d{}", n - 1)));
        lines.push("return %r : !noisy.i32".to_owned());
        lines
    };
    let nothing = ["return %b : !noisy.i32"];
    assert!(compare(&texts(&with(5)), &nothing).is_ok(), "32 a is zero");
    refused(&texts(&with(4)), &nothing, "is not equal to");
}

#[test]
fn refuses_observed_ops_that_come_go_move_or_change() {
    let decode = "%x = noisy.decode %a : !noisy.i32 -> i5";
    let encode = "%e = noisy.encode %x : i5 -> !noisy.i32";
    let other = "%o = noisy.decode %b : !noisy.i32 -> i5";
    let end = "return %e : !noisy.i32";
    assert!(compare(&[decode, encode, end], &[decode, encode, end]).is_ok());
    refused(&[decode, encode, end], &[RETURN], "ops other than arithmetic");
    refused(&[RETURN], &[decode, RETURN], "ops other than arithmetic");
    refused(&[decode, other, RETURN], &[other, decode, RETURN], "is not equal to");
    let wrong = "%x = noisy.decode %b : !noisy.i32 -> i5";
    refused(&[decode, encode, end], &[wrong, encode, end], "is not equal to");
    // A constant matters where it is used.
    let constant = |n: u32| format!("%x = arith.constant {n} : i5");
    let with = |n: u32| [constant(n), encode.to_owned(), end.to_owned()];
    refused(&texts(&with(3)), &texts(&with(4)), "is not equal to");
    assert!(compare(&[&constant(3), RETURN], &[&constant(4), RETURN]).is_ok());
}

#[test]
fn refuses_programs_with_errors() {
    refused(&["%0 = noisy.add %zzz, %a : !noisy.i32", RETURN], &[RETURN], "has an error");
    // A use before its definition.
    let early =
        ["%1 = noisy.add %0, %a : !noisy.i32", "%0 = noisy.add %a, %b : !noisy.i32", RETURN];
    refused(&early, &[RETURN], "has an error");
    refused(&[RETURN], &["return %a : !noisy."], "has an error");
    assert!(verify("func.func @f() {", &file("func.func @f() {")).is_err());
}

#[test]
fn refuses_regions_of_unknown_ops() {
    let op = |body: &str| format!("\"x.y\"() ({{\n {body}\n }}) : () -> ()");
    let sum = "%0 = noisy.add %a, %b : !noisy.i32 \"x.end\"(%0) : (!noisy.i32) -> ()";
    let swapped = "%0 = noisy.add %b, %a : !noisy.i32 \"x.end\"(%0) : (!noisy.i32) -> ()";
    refused(&[&op(sum), RETURN], &[&op(swapped), RETURN], "its meaning is unknown");
}

fn counted(head: &str, end: &str) -> Vec<String> {
    vec![
        "%lo = arith.constant 1 : index".to_owned(),
        "%two = arith.constant 2 : index".to_owned(),
        "%hi = arith.constant 4 : index".to_owned(),
        format!(
            "%r = {head} iter_args(%w = %a) -> (!noisy.i32) {{\n%q = noisy.add %w, %b : !noisy.i32\n{end} %q : !noisy.i32\n}}"
        ),
        "return %r : !noisy.i32".to_owned(),
    ]
}

#[test]
fn evaluates_the_loops_that_are_listed() {
    let heads = [
        ("scf.for %i = %lo to %hi step %two", "scf.yield", true),
        ("affine.for %i = 1 to 4 step 2", "affine.yield", true),
        ("scf.for %i = %lo to %n step %two", "scf.yield", false),
        ("affine.for %i = 1 to %n step 2", "affine.yield", false),
        ("affine.for %i = 1 to min affine_map<() -> (4, 9)>() step 2", "affine.yield", false),
    ];
    for (head, end, is_constant) in heads {
        let old = counted(head, end);
        let mut new: Vec<String> = old[..3].to_vec();
        new.extend(ops(&[("add", "t", "b", "b"), ("add", "s", "a", "t")]));
        let before = program(&texts(&old));
        let mut it = file(&program(&texts(&new)));
        assert!(verify(&before, &it).is_err(), "{head}: a loop that is not listed");
        let at = before.find("%r =").unwrap();
        it.loops = vec![(at, 2)];
        assert_eq!(verify(&before, &it).is_ok(), is_constant, "{head}");
        for loops in
            [vec![(at, 3)], vec![(at, 2), (at, 2)], vec![(at + 1, 2)], vec![(at, 2), (0, 2)]]
        {
            it.loops = loops;
            assert!(verify(&before, &it).is_err(), "{head}: {:?}", it.loops);
        }
        // Another number of terms.
        new.splice(3.., ops(&[("add", "s", "a", "b")]));
        it = file(&program(&texts(&new)));
        it.loops = vec![(at, 2)];
        assert!(verify(&before, &it).is_err(), "{head}");
    }
}

#[test]
fn compares_bodies_of_loops_that_stay() {
    let with = |x: &str, y: &str, from: &str| {
        let mut out = counted(&format!("scf.for %i = {from} to %n step %two"), "scf.yield");
        out[3] = out[3].replace("%w, %b", &format!("%{x}, %{y}"));
        out
    };
    let old = with("w", "b", "%lo");
    assert!(compare(&texts(&old), &texts(&with("b", "w", "%lo"))).is_ok());
    refused(&texts(&old), &texts(&with("b", "b", "%lo")), "is not equal to");
    refused(&texts(&old), &texts(&with("w", "b", "%two")), "is not equal to");
}

#[test]
fn steps_keep_polynomials_short() {
    // The square of a sum of two, forty times over, has 2^40 factors.
    let squares = |a: &str, b: &str| -> String {
        let mut lines = vec![op("add", "s0", a, b)];
        for it in 1..40 {
            let (to, of) = (format!("s{it}"), format!("s{}", it - 1));
            lines.push(op("mul", &to, &of, &of));
        }
        lines.push("return %s39 : !noisy.i32".to_owned());
        program(&texts(&lines))
    };
    let before = squares("a", "b");
    let mut it = file(&squares("b", "a"));
    assert!(verify(&before, &it).unwrap_err().contains("too"));
    let at = |name: &str| before.find(&format!("%{name} =")).unwrap();
    it.steps = vec![(at("s0"), at("s0")), (at("s1"), at("s1"))];
    assert!(verify(&before, &it).unwrap_err().contains("too"));
    it.steps = (0..40).map(|n| format!("s{n}")).map(|it| (at(&it), at(&it))).collect();
    assert_eq!(verify(&before, &it).map(|it| (it.n_steps, it.n_operands)), Ok((40, 1)));
    // A wrong step, and one that names no op.
    for step in [(at("s0"), at("s1")), (at("s0") + 1, at("s0")), (at("s0"), usize::MAX)] {
        it.steps[3] = step;
        assert!(verify(&before, &it).is_err(), "{step:?}");
    }
}

#[test]
fn follows_values_into_other_blocks() {
    let with = |first: &str, last: &str| {
        program(&[
            first,
            "cf.cond_br %p, ^one, ^two",
            "^one:",
            "cf.br ^two",
            "^two:",
            last,
            "return %1 : !noisy.i32",
        ])
    };
    let old = with("%0 = noisy.add %a, %b : !noisy.i32", "%1 = noisy.mul %0, %c : !noisy.i32");
    let new = with("%0 = noisy.add %b, %a : !noisy.i32", "%1 = noisy.mul %c, %0 : !noisy.i32");
    assert!(verify(&old, &file(&new)).is_ok());
    for (from, to) in [("^one, ^two", "^two, ^one"), ("br ^two", "br ^one"), ("%c", "%a")] {
        assert!(verify(&old, &file(&new.replacen(from, to, 1))).is_err(), "{from}");
    }
}

#[test]
fn compares_every_function() {
    let two = |name: &str, x: &str| {
        let first = program(&[RETURN]);
        let second = program(&[&op("sub", "0", x, "b"), "return %0 : !noisy.i32"]);
        format!("{first}{}", second.replace("@f", name))
    };
    assert!(verify(&two("@g", "a"), &file(&two("@g", "a"))).is_ok());
    assert!(verify(&two("@g", "a"), &file(&two("@g", "c"))).is_err());
    assert!(verify(&two("@g", "a"), &file(&two("@h", "a"))).is_err());
    assert!(verify(&two("@g", "a"), &file(&program(&[RETURN]))).is_err());
}

#[test]
fn accepts_differences_in_reductions_only() {
    let before = program(&texts(&ops(&[("mul", "0", "a", "b"), ("mul", "1", "0", "c")])));
    let reduced = before.replace(
        "  %1 = noisy.mul %0, %c",
        "  %r = noisy.reduce_noise %0 : !noisy.i32\n  %1 = noisy.mul %r, %c",
    );
    assert!(verify_reductions_only(&before, &reduced).is_ok());
    assert!(verify_reductions_only(&reduced, &before).is_ok());
    // Equal, but rewritten.
    let swapped = reduced.replace("%r, %c", "%c, %r");
    assert!(verify(&before, &file(&swapped)).is_ok());
    assert!(verify_reductions_only(&before, &swapped).is_err());
}

#[test]
fn refuses_other_formats() {
    let before = program(&[RETURN]);
    let mut it = file(&before);
    assert!(verify(&before, &it).is_ok());
    it.version = 1;
    assert!(verify(&before, &it).unwrap_err().contains("version 2"));
    it.version = VERSION;
    it.format = "noisy-certificate".to_owned();
    assert!(verify(&before, &it).unwrap_err().contains("noisy-equality"));
}
