//! Tests on ranges of values: the facts and the diagnostics, also after edits.

use std::collections::HashMap;
use std::fmt::Write as _;

use noisy_analyses::{Document, ModelSpec, NoiseModel};
use noisy_heir::RealRange;

use crate::{Random, values};

/// Creates a document whose encrypted arguments have a range.
fn with_input(text: &str, input: Option<RealRange>) -> Document {
    let mut model = NoiseModel::new(&ModelSpec::default()).expect("the built-in model");
    model.heir.input_range = input;
    Document::with_model(text, model)
}

/// Returns the known ranges by the name of the value.
fn ranges(document: &Document) -> HashMap<String, RealRange> {
    let (ir, known) = (document.ir(), document.ranges());
    let of = |it| Some((ir.value_text(it), known?.of(it)?));
    values(ir).into_iter().filter_map(of).collect()
}

/// Returns the known ranges of a program as text, in textual order.
fn ranges_as_text(document: &Document) -> String {
    let (ir, known) = (document.ir(), document.ranges());
    let of = |it| Some(format!("{} {}", ir.value_text(it), known?.of(it)?));
    values(ir).into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// Returns the lines and messages of the diagnostics with a code.
fn lines_and_messages(document: &Document, code: &str) -> Vec<String> {
    let text = document.source().text().to_string();
    let found = document.diagnostics().into_iter().filter(|it| it.code == code);
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    found.map(|it| format!("{} {}", line(it.range.start), it.message)).collect()
}

/// Returns a CKKS function with a generic with this body and one ciphertext `%a`.
fn generic(argument: &str, body: &str) -> String {
    format!(
        "module attributes {{scheme.ckks}} {{
  func.func @f(%x: !secret.secret<tensor<8xf32>>{argument}, %n: index) -> !secret.secret<tensor<8xf32>> {{
    %half = arith.constant dense<0.5> : tensor<8xf32>
    %many = arith.constant dense<[0.0, 1.0, -3.0, 2.0, 0.0, 0.0, 0.0, 0.0]> : tensor<8xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {{
    ^body(%a: tensor<8xf32>):
{body}
    }} -> (!secret.secret<tensor<8xf32>>)
    return %0 : !secret.secret<tensor<8xf32>>
  }}
}}"
    )
}

const STATED: &str = " {noisy.range = [-1.0, 2.0]}";

#[test]
fn ranges_follow_from_those_of_arguments() {
    let body = "      %1 = arith.mulf %a, %a : tensor<8xf32>
      %2 = mgmt.relinearize %1 : tensor<8xf32>
      %3 = arith.mulf %2, %half : tensor<8xf32>
      %4 = arith.subf %3, %many : tensor<8xf32>
      %5 = tensor_ext.rotate %4, %c1 : tensor<8xf32>, index
      %6 = \"t.op\"(%5) : (tensor<8xf32>) -> tensor<8xf32>
      secret.yield %5 : tensor<8xf32>";
    let expected = "%x [-1, 2], %half [0.5, 0.5], %many [-3, 2], %0 [-2, 5], %a [-1, 2], %1 [0, 4], %2 [0, 4], %3 [0, 2], %4 [-2, 5], %5 [-2, 5]";
    assert_eq!(ranges_as_text(&Document::new(&generic(STATED, body))), expected);
    // Without a stated range, the analysis does not run.
    let without = Document::new(&generic("", body));
    assert!(without.ranges().is_none());
    let input = RealRange::new(-1.0, 2.0);
    assert_eq!(ranges_as_text(&with_input(&generic("", body), input)), expected);
}

#[test]
fn iterates_or_widens_loops() {
    let body = "      %1 = affine.for %i = 0 to 3 iter_args(%b = %a) -> (tensor<8xf32>) {
        %2 = arith.addf %b, %b : tensor<8xf32>
        affine.yield %2 : tensor<8xf32>
      }
      %3 = scf.for %j = %c0 to %n step %c1 iter_args(%d = %a) -> (tensor<8xf32>) {
        %4 = arith.mulf %d, %half : tensor<8xf32>
        scf.yield %4 : tensor<8xf32>
      }
      %5 = scf.for %j = %c0 to %n step %c1 iter_args(%d = %a) -> (tensor<8xf32>) {
        %6 = arith.addf %d, %half : tensor<8xf32>
        scf.yield %6 : tensor<8xf32>
      }
      secret.yield %1 : tensor<8xf32>";
    let document = Document::new(&generic(STATED, body));
    let known = ranges(&document);
    let of = |name: &str| known.get(name).map(ToString::to_string);
    assert_eq!(of("%1").as_deref(), Some("[-8, 16]"));
    assert_eq!(of("%b").as_deref(), Some("[-4, 8]"));
    assert_eq!(of("%3").as_deref(), Some("[-1, 2]"));
    assert_eq!(of("%4").as_deref(), Some("[-0.5, 1]"));
    assert_eq!(of("%5"), None);
}

#[test]
fn analyzes_functions_for_each_call() {
    let text = "module attributes {scheme.ckks} {
func.func @f(%x: f32 {noisy.range = [0.0, 3.0], secret.secret}) -> f32 {
  %0 = func.call @g(%x) : (f32) -> f32
  %1 = func.call @g(%0) : (f32) -> f32
  %2 = func.call @h(%1) : (f32) -> f32
  return %2 : f32
}
func.func private @g(%y: f32) -> f32 {
  %3 = arith.negf %y : f32
  return %3 : f32
}
func.func @h(%z: f32 {noisy.range = [-1.0, 1.0], secret.secret}) -> f32 {
  return %z : f32
}
}
";
    let document = Document::new(text);
    let known = ranges(&document);
    let of = |name: &str| known.get(name).map(ToString::to_string);
    assert_eq!(of("%0").as_deref(), Some("[-3, 0]"));
    assert_eq!(of("%1").as_deref(), Some("[0, 3]"));
    assert_eq!(of("%2").as_deref(), Some("[0, 3]"));
    assert_eq!(of("%3").as_deref(), Some("[-3, 3]"));
    // A function may also have unknown callers.
    assert_eq!(of("%z").as_deref(), Some("[-1, 3]"));
    let message = "5 %1 may be in [0, 3], but the called function states [-1, 1]";
    assert_eq!(lines_and_messages(&document, "out-of-range"), [message]);
}

#[test]
fn reports_operands_outside_of_the_accepted_range() {
    let body = "      %1 = arith.addf %a, %a : tensor<8xf32>
      %2 = mgmt.bootstrap %1 : tensor<8xf32>
      %3 = arith.mulf %a, %half : tensor<8xf32>
      %4 = mgmt.bootstrap %3 : tensor<8xf32>
      %5 = kernel.eval_chebyshev %3 {coefficients = [1.0, -2.0]} : tensor<8xf32> -> tensor<8xf32>
      %6 = kernel.eval_chebyshev %5 {coefficients = [1.0, -2.0]} : tensor<8xf32> -> tensor<8xf32>
      %7 = math.exp %a {domain_lower = -1.0 : f64, domain_upper = 1.0 : f64} : tensor<8xf32>
      %8 = math.exp %a {domain_lower = -1.0 : f64, domain_upper = 2.0 : f64} : tensor<8xf32>
      %9 = arith.maximumf %half, %1 {domain_lower = -2.0 : f64, domain_upper = 3.0 : f64} : tensor<8xf32>
      secret.yield %2 : tensor<8xf32>";
    let document = Document::new(&generic(STATED, body));
    let expected = [
        "11 %1 may be in [-2, 4], but mgmt.bootstrap is accurate in [-1, 1] only",
        "15 %5 may be in [-3, 3], but kernel.eval_chebyshev is approximated on [-1, 1] only",
        "16 %a may be in [-1, 2], but math.exp is approximated on [-1, 1] only",
        "18 %1 may be in [-2, 4], but arith.maximumf is approximated on [-2, 3] only",
    ];
    assert_eq!(lines_and_messages(&document, "out-of-range"), expected);
    let mut found = document.diagnostics();
    found.retain(|it| it.code == "out-of-range");
    let related = |at: usize| {
        let related = found[at].related.iter();
        related.map(|it| it.message.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(related(0), ["%x: argument, in [-1, 2]", "%1: arith.addf, in [-2, 4]"]);
    // Without ranges nothing is reported.
    assert_eq!(lines_and_messages(&Document::new(&generic("", body)), "out-of-range"), [""; 0]);
}

#[test]
fn reports_unreadable_ranges() {
    for (written, is_range) in [
        ("[-1.0, 2.0]", true),
        ("[-1, 2]", true),
        ("[2.0, -1.0]", false),
        ("[1.0]", false),
        ("2.0", false),
        ("\"small\"", false),
        ("[0x7FF0000000000000 : f64, 1.0]", false),
    ] {
        let argument = format!(" {{noisy.range = {written}}}");
        let document = Document::new(&generic(&argument, "      secret.yield %a : tensor<8xf32>"));
        let found = lines_and_messages(&document, "unreadable-attribute");
        assert_eq!(found.is_empty(), is_range, "{written}: {found:?}");
        assert_eq!(ranges(&document).contains_key("%x"), is_range, "{written}");
        assert!(found.iter().all(|it| it.starts_with("2 `noisy.range`")), "{found:?}");
    }
}

#[test]
fn ranges_are_followed_after_lowering() {
    let text = |encoding: &str| {
        format!(
            "#e = {encoding}
#r = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**8>>
!ct = !lwe.lwe_ciphertext<plaintext_space = <ring = #r, encoding = #e>, ciphertext_space = <ring = #r, encryption_type = mix>, key = <>, modulus_chain = <elements = <36028797019389953 : i64, 35184372121601 : i64>, current = 1>>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #r, encoding = #e>>
module attributes {{scheme.ckks}} {{
  func.func @f(%x: !ct {{noisy.range = [-2.0, 2.0]}}, %p: !pt) -> !ct {{
    %0 = ckks.mul %x, %x : (!ct, !ct) -> !ct
    %1 = ckks.rotate %0 {{static_shift = 1 : index}} : !ct
    %2 = ckks.sub %1, %x : (!ct, !ct) -> !ct
    %3 = ckks.add_plain %2, %p : (!ct, !pt) -> !ct
    %4 = ckks.bootstrap %2 : !ct -> !ct
    return %4 : !ct
  }}
}}"
        )
    };
    let document = Document::new(&text("#lwe.inverse_canonical_encoding<scaling_factor = 45>"));
    assert_eq!(
        ranges_as_text(&document),
        "%x [-2, 2], %0 [0, 4], %1 [0, 4], %2 [-2, 6], %4 [-2, 6]"
    );
    let message = "11 %2 may be in [-2, 6], but ckks.bootstrap is accurate in [-1, 1] only";
    assert_eq!(lines_and_messages(&document, "out-of-range"), [message]);
    // The numbers of other schemes wrap around, so their ranges are unknown.
    let other = text("#lwe.coefficient_encoding<scaling_factor = 45>");
    assert_eq!(ranges_as_text(&Document::new(&other)), "");
}

/// An op of a random program.
enum Step {
    /// The names of the result, the op and the operands.
    Op {
        to: String,
        op: &'static str,
        a: String,
        b: String,
    },
    Loop {
        to: String,
        carried: String,
        from: String,
        n: usize,
        body: Vec<Step>,
        yielded: String,
    },
    Call {
        to: String,
        from: String,
    },
}

const OPS: [&str; 9] =
    ["addf", "subf", "mulf", "mulf", "divf", "maximumf", "minimumf", "negf", "tanh"];

struct Writer {
    random: Random,
    n: usize,
    text: String,
}

impl Writer {
    fn name(&mut self) -> String {
        self.n += 1;
        format!("%v{}", self.n)
    }

    fn steps(&mut self, n: usize, depth: usize, names: &mut Vec<String>) -> Vec<Step> {
        let mut out = Vec::new();
        for _ in 0..n {
            let (to, a) = (self.name(), self.random.pick(names).clone());
            let step = match self.random.below(10) {
                0 | 1 if depth < 2 => {
                    let (carried, n) = (self.name(), self.random.below(5));
                    let by = self.name();
                    // Half of the trip counts are known.
                    let upper =
                        if self.random.one_in(2) { format!("%c{n}") } else { "%n".to_owned() };
                    let n = if upper == "%n" { 3 } else { n };
                    let _ = writeln!(
                        self.text,
                        "{to} = scf.for {by} = %c0 to {upper} step %c1 iter_args({carried} = {a}) -> (f32) {{"
                    );
                    let mut inner = names.clone();
                    inner.push(carried.clone());
                    let body = self.steps(3, depth + 1, &mut inner);
                    let yielded = self.random.pick(&inner).clone();
                    let _ = writeln!(self.text, "scf.yield {yielded} : f32\n}}");
                    Step::Loop { to: to.clone(), carried, from: a, n, body, yielded }
                }
                2 if self.text.contains("@main") => {
                    let _ = writeln!(self.text, "{to} = func.call @g({a}) : (f32) -> f32");
                    Step::Call { to: to.clone(), from: a }
                }
                _ => {
                    let (op, b) = (*self.random.pick(&OPS), self.random.pick(names).clone());
                    let _ = match op {
                        "tanh" => writeln!(self.text, "{to} = math.tanh {a} : f32"),
                        "negf" => writeln!(self.text, "{to} = arith.negf {a} : f32"),
                        _ => writeln!(self.text, "{to} = arith.{op} {a}, {b} : f32"),
                    };
                    Step::Op { to: to.clone(), op, a, b }
                }
            };
            names.push(to);
            out.push(step);
        }
        out
    }
}

/// A run of a program: the numbers of all values, each time they are computed.
struct Run<'a> {
    callee: &'a [Step],
    of: HashMap<String, f32>,
    all: Vec<(String, f32)>,
}

impl Run<'_> {
    fn set(&mut self, name: &str, number: f32) {
        self.of.insert(name.to_owned(), number);
        self.all.push((name.to_owned(), number));
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Op { to, op, a, b } => {
                    let (a, b) = (self.of[a], self.of[b]);
                    let number = match *op {
                        "addf" => a + b,
                        "subf" => a - b,
                        "mulf" => a * b,
                        "divf" => a / b,
                        "maximumf" => a.max(b),
                        "minimumf" => a.min(b),
                        "negf" => -a,
                        _ => a.tanh(),
                    };
                    self.set(to, number);
                }
                Step::Loop { to, carried, from, n, body, yielded } => {
                    let mut number = self.of[from];
                    for _ in 0..*n {
                        self.set(carried, number);
                        self.run(body);
                        number = self.of[yielded];
                    }
                    self.set(to, number);
                }
                Step::Call { to, from } => {
                    let callee = self.callee;
                    self.set("%y", self.of[from]);
                    self.run(callee);
                    let Some(Step::Op { to: last, .. }) = callee.last() else { continue };
                    let number = self.of[last];
                    self.set(to, number);
                }
            }
        }
    }
}

/// Every number that a program computes is in the range of its value.
#[test]
fn runs_stay_within_ranges() {
    let (mut n_checked, mut n_tight) = (0, 0);
    for seed in 1..400 {
        let random = Random::new(seed);
        let mut it = Writer { random, n: 0, text: String::new() };
        it.text.push_str("func.func private @g(%y: f32) -> f32 {\n");
        let mut names = vec!["%y".to_owned()];
        let mut callee = it.steps(2, 2, &mut names);
        let (to, a) = (it.name(), names[names.len() - 1].clone());
        let _ = writeln!(it.text, "{to} = math.tanh {a} : f32\nreturn {to} : f32\n}}");
        callee.push(Step::Op { to, op: "tanh", a: a.clone(), b: a });
        let bounds = [(-1.0, 1.0), (0.1, 3.3), (-100.0, -0.3), (0.0, 0.0)];
        let bounds = [*it.random.pick(&bounds), *it.random.pick(&bounds)];
        let range =
            |at: usize| format!("f32 {{noisy.range = [{:?}, {:?}]}}", bounds[at].0, bounds[at].1);
        let _ = writeln!(
            it.text,
            "func.func @main(%x: {}, %z: {}, %n: index) {{\n%k = arith.constant 0.3 : f32",
            range(0),
            range(1)
        );
        for n in 0..5 {
            let _ = writeln!(it.text, "%c{n} = arith.constant {n} : index");
        }
        let mut names = ["%x", "%z", "%k"].map(str::to_owned).to_vec();
        let steps = it.steps(10, 0, &mut names);
        it.text.push_str("return\n}\n");
        let document = Document::new(&it.text);
        assert!(document.source().problems().is_empty(), "{}", it.text);
        let known = ranges(&document);
        for _ in 0..20 {
            let mut input = |at: usize| {
                let (lower, upper): (f64, f64) = bounds[at];
                let part = it.random.below(5) as f64 / 4.0;
                // Rounding may exceed the range, so the number is clamped.
                let number = (lower + part * (upper - lower)) as f32;
                number.clamp(
                    (lower as f32).next_up(),
                    (upper as f32).next_down().max((lower as f32).next_up()),
                )
            };
            let numbers = [input(0), input(1)];
            let is_given =
                |at: usize| (bounds[at].0..=bounds[at].1).contains(&f64::from(numbers[at]));
            if !is_given(0) || !is_given(1) {
                continue;
            }
            let mut run = Run { callee: &callee, of: HashMap::new(), all: Vec::new() };
            run.set("%x", numbers[0]);
            run.set("%z", numbers[1]);
            run.set("%k", 0.3);
            run.run(&steps);
            for (name, number) in run.all {
                let Some(range) = known.get(&name) else { continue };
                let (lower, upper) = range.bounds();
                assert!(
                    (lower..=upper).contains(&f64::from(number)),
                    "seed {seed}: {name} is {number}, not in [{lower:?}, {upper:?}]\n{}",
                    it.text
                );
                n_checked += 1;
                n_tight += usize::from(upper - lower < 10.0);
            }
        }
    }
    eprintln!("{n_checked} numbers, {n_tight} in a range narrower than 10");
    assert!(n_checked > 20_000 && n_tight > 5_000, "{n_checked}, {n_tight}");
}

/// After edits, ranges and reports equal those from scratch.
#[test]
fn edits_equal_fresh_documents() {
    let (mut n_told, mut n_edits) = (0, 0);
    for seed in 1..60 {
        let mut random = Random::new(seed);
        let mut body = String::new();
        let mut names = vec!["%a".to_owned()];
        for n in 0..3 + random.below(8) {
            let (a, b) = (random.pick(&names).clone(), random.pick(&names).clone());
            let text = match random.below(6) {
                0 | 1 => format!("arith.addf {a}, {b} : tensor<8xf32>"),
                2 => format!("arith.mulf {a}, {b} : tensor<8xf32>"),
                3 => format!("arith.mulf {a}, %half : tensor<8xf32>"),
                4 => format!("mgmt.bootstrap {a} : tensor<8xf32>"),
                _ => format!(
                    "math.exp {a} {{domain_lower = -1.0 : f64, domain_upper = 2.0 : f64}} : tensor<8xf32>"
                ),
            };
            let _ = writeln!(body, "      %v{n} = {text}");
            names.push(format!("%v{n}"));
        }
        let last = &names[names.len() - 1];
        let _ = write!(body, "      secret.yield {last} : tensor<8xf32>");
        let text = generic(STATED, &body);
        let mut document = Document::new(&text);
        for _ in 0..12 {
            let text = document.source().text().to_string();
            let edits = [
                ("-1.0, 2.0", "-0.25, 0.25"),
                ("-0.25, 0.25", "-1.0, 2.0"),
                ("noisy.range", "noisy.rang"),
                ("noisy.rang ", "noisy.range "),
                ("arith.addf", "arith.mulf"),
                ("arith.mulf", "arith.addf"),
                ("dense<0.5>", "dense<0.125>"),
                ("dense<0.125>", "dense<0.5>"),
                ("domain_upper = 2.0", "domain_upper = 4.0"),
                ("mgmt.bootstrap", "mgmt.relinearize"),
                ("scheme.ckks", "scheme.ckks, backend.lattigo"),
            ];
            let (from, to) = *random.pick(&edits);
            let places: Vec<usize> = text.match_indices(from).map(|it| it.0).collect();
            if places.is_empty() {
                continue;
            }
            let at = *random.pick(&places);
            document.edit(at..at + from.len(), to);
            n_edits += 1;
            if random.one_in(3) {
                continue;
            }
            let anew = Document::new(&document.source().text().to_string());
            let found = lines_and_messages(&document, "out-of-range");
            let text = document.source().text();
            assert_eq!(found, lines_and_messages(&anew, "out-of-range"), "seed {seed}\n{text}");
            assert_eq!(ranges_as_text(&document), ranges_as_text(&anew), "seed {seed}\n{text}");
            n_told += found.len();
        }
    }
    eprintln!("{n_edits} edits, {n_told} reports");
    assert!(n_edits > 200 && n_told > 100, "{n_edits}, {n_told}");
}
