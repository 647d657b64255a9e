//! Random programs with calls, contracts, branches and loops, compared with an exhaustive search
//! that analyzes the text of each placement. Also laws for programs of any size.

use std::fmt::Write as _;

use super::*;
use crate::laws::Random;

const TY: &str = "!noisy.i32";
/// The cost of one execution.
const ONCE: u64 = 960;

/// The index of a value in its function; the arguments come first.
type Value = usize;

#[derive(Debug)]
enum Step {
    Op(&'static str, Value, Value, Value),
    Reduce(Value, Value),
    Call(Value, usize, Vec<Value>),
    /// The result, and the steps and the yielded value of each branch.
    If(Value, [(Vec<Step>, Value); 2]),
    /// The result, iteration argument, initial value, trip count if known, body, and yielded value.
    For(Value, Value, Value, Option<u64>, Vec<Step>, Value),
}

#[derive(Debug)]
struct Function {
    is_private: bool,
    /// The stated bound of each argument.
    args: Vec<Option<u32>>,
    bound: Option<u32>,
    steps: Vec<Step>,
    returned: Value,
}

/// A site of a reset: after a value, or at the start of a branch (of the `scf.if` with this result)
/// for the uses of a value in the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    After(usize, Value),
    Branch(usize, Value, Value, usize),
}

struct Shape {
    calls_back: bool,
    most_steps: usize,
    most_inner: usize,
}

struct Maker<'a> {
    random: &'a mut Random,
    shape: &'a Shape,
    /// The number of arguments of each function.
    arities: Vec<usize>,
    at: usize,
    next: Value,
}

impl Maker<'_> {
    fn fresh(&mut self) -> Value {
        self.next += 1;
        self.next - 1
    }

    fn steps(&mut self, n: usize, scope: &mut Vec<Value>, is_inner: bool) -> Vec<Step> {
        let mut out = Vec::new();
        for _ in 0..n {
            // Prefers the latest values.
            let pick = |random: &mut Random, scope: &[Value]| {
                let back = random.below(scope.len().min(3));
                scope[scope.len() - 1 - back]
            };
            let (x, y) = (pick(self.random, scope), pick(self.random, scope));
            let step = match self.random.below(if is_inner { 8 } else { 12 }) {
                0..=2 => Step::Op("mul", self.fresh(), x, y),
                3 => Step::Op("sub", self.fresh(), x, y),
                4 => Step::Op("add", self.fresh(), x, y),
                5 if self.random.below(3) == 0 => Step::Reduce(self.fresh(), x),
                8 | 9 => {
                    let branches = [0, 1].map(|_| {
                        let mut inner = scope.clone();
                        let n = self.random.below(self.shape.most_inner + 1);
                        let steps = self.steps(n, &mut inner, true);
                        (steps, pick(self.random, &inner))
                    });
                    Step::If(self.fresh(), branches)
                }
                10 | 11 => {
                    let arg = self.fresh();
                    let mut inner = scope.clone();
                    inner.push(arg);
                    let rounds = *self.random.pick(&[None, Some(1), Some(2), Some(3)]);
                    let n = 1 + self.random.below(self.shape.most_inner);
                    let steps = self.steps(n, &mut inner, true);
                    let last = pick(self.random, &inner);
                    Step::For(self.fresh(), arg, x, rounds, steps, last)
                }
                _ => {
                    let n = if self.shape.calls_back { self.arities.len() } else { self.at };
                    if n == 0 {
                        continue;
                    }
                    let callee = self.random.below(n);
                    let args =
                        (0..self.arities[callee]).map(|_| pick(self.random, scope)).collect();
                    Step::Call(self.fresh(), callee, args)
                }
            };
            let (Step::Op(_, result, ..)
            | Step::Reduce(result, _)
            | Step::Call(result, ..)
            | Step::If(result, _)
            | Step::For(result, ..)) = &step;
            scope.push(*result);
            out.push(step);
        }
        out
    }
}

fn make(random: &mut Random, shape: &Shape) -> Vec<Function> {
    let arities: Vec<usize> = (0..=random.below(3)).map(|_| 1 + random.below(2)).collect();
    let mut out: Vec<Function> = Vec::new();
    for at in 0..arities.len() {
        let next = arities[at];
        let arities = arities.clone();
        let mut maker = Maker { random, shape, arities, at, next };
        let mut scope: Vec<Value> = (0..next).collect();
        let n = 1 + maker.random.below(shape.most_steps);
        let steps = maker.steps(n, &mut scope, false);
        let bound = |random: &mut Random| match random.below(6) {
            0 => Some(10 + random.below(14) as u32),
            _ => None,
        };
        out.push(Function {
            is_private: false,
            args: (0..next).map(|_| bound(random)).collect(),
            bound: bound(random),
            steps,
            returned: *scope.last().unwrap(),
        });
    }
    // Functions without callers are analyzed only if they are public.
    let mut called = vec![false; out.len()];
    for function in &out {
        each_call(&function.steps, &mut |callee, _| called[callee] = true);
    }
    for (function, is_called) in out.iter_mut().zip(called) {
        function.is_private = is_called && random.below(3) > 0;
    }
    if shape.calls_back
        && let Some(last) = out.last_mut()
    {
        last.is_private = false;
    }
    out
}

/// Calls `f` with each callee and the number of executions of the call, if the function is entered
/// once.
fn each_call(steps: &[Step], f: &mut dyn FnMut(usize, u64)) {
    for step in steps {
        match step {
            Step::Op(..) | Step::Reduce(..) => {}
            Step::Call(_, callee, _) => f(*callee, ONCE),
            Step::If(_, branches) => {
                for (steps, _) in branches {
                    each_call(steps, &mut |callee, n| f(callee, n / 2));
                }
            }
            Step::For(_, _, _, rounds, steps, _) => {
                each_call(steps, &mut |callee, n| f(callee, n * rounds.unwrap_or(10)));
            }
        }
    }
}

/// Returns the number of entries of each function, without recursion.
fn entries(program: &[Function]) -> Vec<u64> {
    let mut out: Vec<u64> = program.iter().map(|it| if it.is_private { 0 } else { ONCE }).collect();
    for at in (0..program.len()).rev() {
        let entered = out[at];
        each_call(&program[at].steps, &mut |callee, n| out[callee] += entered * n / ONCE);
    }
    out
}

/// Writes a program with resets in the slots for which `is_chosen` holds, and records the cost of
/// each slot.
struct Writer<'a> {
    program: &'a [Function],
    is_chosen: &'a dyn Fn(Slot) -> bool,
    slots: Vec<(Slot, u64)>,
    text: String,
    at: usize,
    /// The current names of values.
    names: Vec<String>,
}

impl Writer<'_> {
    fn write(program: &[Function], is_chosen: &dyn Fn(Slot) -> bool) -> (String, Vec<(Slot, u64)>) {
        let (slots, text, names) = (Vec::new(), String::new(), Vec::new());
        let mut it = Writer { program, is_chosen, slots, text, at: 0, names };
        for (at, entries) in entries(program).into_iter().enumerate() {
            it.function(at, entries);
        }
        (it.text, it.slots)
    }

    fn function(&mut self, at: usize, weight: u64) {
        let function = &self.program[at];
        self.at = at;
        self.names = (0..200).map(|it| format!("%v{it}")).collect();
        let stated = |it: Option<u32>| {
            it.map_or(String::new(), |it| format!(" {{noisy.bound = {it} : i64}}"))
        };
        let visibility = if function.is_private { "private " } else { "" };
        let _ = write!(self.text, "func.func {visibility}@f{at}(%c: i1, %n: index");
        for (arg, bound) in function.args.iter().enumerate() {
            let _ = write!(self.text, ", %v{arg}: {TY}{}", stated(*bound));
        }
        let _ = writeln!(self.text, ") -> ({TY}{}) {{", stated(function.bound));
        for k in (0..4).chain([8, 9, 15, 16, 40]) {
            let _ = writeln!(self.text, "%k{k} = arith.constant {k} : index");
        }
        for arg in 0..function.args.len() {
            self.after(arg, weight);
        }
        self.steps(&function.steps, weight);
        let _ = writeln!(self.text, "return {} : {TY}\n}}", self.names[function.returned]);
    }

    fn slot(&mut self, slot: Slot, value: Value, weight: u64) {
        self.slots.push((slot, weight));
        if (self.is_chosen)(slot) {
            let new = format!("%r{}_{}", self.slots.len(), value);
            let _ = writeln!(self.text, "{new} = noisy.reduce_noise {} : {TY}", self.names[value]);
            self.names[value] = new;
        }
    }

    fn after(&mut self, value: Value, weight: u64) {
        self.slot(Slot::After(self.at, value), value, weight);
    }

    fn steps(&mut self, steps: &[Step], weight: u64) {
        for step in steps {
            match step {
                Step::Op(op, result, x, y) => {
                    let (x, y) = (&self.names[*x], &self.names[*y]);
                    let _ = writeln!(self.text, "%v{result} = noisy.{op} {x}, {y} : {TY}");
                    self.after(*result, weight);
                }
                Step::Reduce(result, x) => {
                    let x = &self.names[*x];
                    let _ = writeln!(self.text, "%v{result} = noisy.reduce_noise {x} : {TY}");
                }
                Step::Call(result, callee, args) => {
                    let names: Vec<&str> = args.iter().map(|it| &*self.names[*it]).collect();
                    let names = names.join(", ");
                    let types = format!(", {TY}").repeat(args.len());
                    let _ = writeln!(
                        self.text,
                        "%v{result} = func.call @f{callee}(%c, %n, {names}) : (i1, index{types}) -> {TY}"
                    );
                    self.after(*result, weight);
                }
                Step::If(result, branches) => {
                    let _ = writeln!(self.text, "%v{result} = scf.if %c -> ({TY}) {{");
                    for (side, (steps, last)) in branches.iter().enumerate() {
                        let outside = self.names.clone();
                        if side == 1 {
                            let _ = writeln!(self.text, "}} else {{");
                        }
                        let mut used = Vec::new();
                        uses(steps, &mut used);
                        used.push(*last);
                        used.sort_unstable();
                        used.dedup();
                        let mut inside = Vec::new();
                        defined(steps, &mut inside);
                        for value in used.into_iter().filter(|it| !inside.contains(it)) {
                            let slot = Slot::Branch(self.at, value, *result, side);
                            self.slot(slot, value, weight / 2);
                        }
                        self.steps(steps, weight / 2);
                        let _ = writeln!(self.text, "scf.yield {} : {TY}", self.names[*last]);
                        self.names = outside;
                    }
                    self.text += "}\n";
                    self.after(*result, weight);
                }
                Step::For(result, arg, start, rounds, steps, last) => {
                    let end = rounds.map_or("%n".to_owned(), |it| format!("%k{it}"));
                    let _ = writeln!(
                        self.text,
                        "%v{result} = scf.for %i{result} = %k0 to {end} step %k1 iter_args(%v{arg} = {}) -> ({TY}) {{",
                        self.names[*start]
                    );
                    let outside = self.names.clone();
                    let weight_inside = weight * rounds.unwrap_or(10);
                    self.after(*arg, weight_inside);
                    self.steps(steps, weight_inside);
                    let _ = writeln!(self.text, "scf.yield {} : {TY}\n}}", self.names[*last]);
                    self.names = outside;
                    self.after(*result, weight);
                }
            }
        }
    }
}

fn uses(steps: &[Step], out: &mut Vec<Value>) {
    for step in steps {
        match step {
            Step::Op(_, _, x, y) => out.extend([x, y]),
            Step::Reduce(_, x) => out.push(*x),
            Step::Call(_, _, args) => out.extend(args),
            Step::If(..) | Step::For(..) => {}
        }
    }
}

fn defined(steps: &[Step], out: &mut Vec<Value>) {
    out.extend(steps.iter().filter_map(|step| match step {
        Step::Op(_, it, ..) | Step::Reduce(it, _) | Step::Call(it, ..) => Some(*it),
        Step::If(..) | Step::For(..) => None,
    }));
}

/// Returns the least cost of a legal placement. Cheaper placements are tried first.
fn exhaustive(program: &[Function], slots: &[(Slot, u64)]) -> Option<u64> {
    let cost = |bits: u32| -> u64 {
        slots.iter().enumerate().filter(|it| bits >> it.0 & 1 == 1).map(|it| it.1.1).sum()
    };
    let mut all: Vec<(u64, u32)> = (0..1_u32 << slots.len()).map(|it| (cost(it), it)).collect();
    all.sort_unstable();
    let is_legal = |bits: u32| {
        let is_chosen = |slot: Slot| {
            slots.iter().position(|it| it.0 == slot).is_some_and(|it| bits >> it & 1 == 1)
        };
        errors(&Writer::write(program, &is_chosen).0).is_empty()
    };
    // If resets in all slots are not legal, no placement is.
    is_legal(u32::MAX).then(|| all.into_iter().find(|it| is_legal(it.1)).map(|it| it.0))?
}

#[test]
fn whole_programs_equal_exhaustive_search() {
    let shape = Shape { calls_back: false, most_steps: 4, most_inner: 2 };
    let mut random = Random::new(2026);
    let (mut n_tried, mut n_mended, mut n_refused, mut n_called) = (0, 0, 0, 0);
    while n_tried < 400 {
        let program = make(&mut random, &shape);
        let (text, slots) = Writer::write(&program, &|_| false);
        if errors(&text).is_empty() || slots.len() > 11 {
            continue;
        }
        n_tried += 1;
        let best = exhaustive(&program, &slots);
        let (outcome, after) = fixed_with(&text, &options());
        let refused =
            outcome.functions.iter().any(|it| matches!(it.verdict, PlacementVerdict::Refused(_)));
        let Some(best) = best else {
            assert!(refused, "{text}\n{outcome:?}");
            n_refused += 1;
            continue;
        };
        assert!(!refused && errors(&after).is_empty(), "{text}\n{outcome:?}\n{after}");
        let cost: u64 = outcome.groups.iter().map(|it| it.cost * ONCE / it.unit).sum();
        assert_eq!(cost, best, "{text}\n{outcome:?}\n{after}");
        assert!(outcome.groups.iter().all(FunctionGroup::is_optimal), "{text}\n{outcome:?}");
        n_mended += 1;
        n_called += usize::from(outcome.groups.iter().any(|it| it.functions.len() > 1));
    }
    assert!(
        n_mended > 250 && n_refused > 10 && n_called > 100,
        "{n_mended} {n_refused} {n_called}"
    );
}

#[test]
fn large_programs_are_legal_or_refused() {
    let shape = Shape { calls_back: true, most_steps: 10, most_inner: 4 };
    let mut random = Random::new(77);
    let (mut n_legal, mut n_optimal, mut n_alone, mut n_unverified) = (0, 0, 0, 0);
    for _ in 0..200 {
        let program = make(&mut random, &shape);
        let (text, _) = Writer::write(&program, &|_| false);
        let n_before = errors(&text).len();
        if n_before == 0 {
            continue;
        }
        let options = PlacementOptions { replace: random.below(3) == 0, ..options() };
        let (outcome, after) = fixed_with(&text, &options);
        let left = errors(&after);
        let refused =
            outcome.functions.iter().any(|it| matches!(it.verdict, PlacementVerdict::Refused(_)));
        assert!(left.is_empty() || refused, "{text}\n{outcome:?}\n{after}\n{left:?}");
        assert!(
            left.len() <= n_before && outcome.groups.iter().all(|it| it.lower_bound <= it.cost)
        );
        n_legal += usize::from(left.is_empty());
        n_unverified += usize::from(format!("{outcome:?}").contains("re-analysis"));
        n_optimal += usize::from(outcome.groups.iter().all(FunctionGroup::is_optimal));
        // Each function alone: the others are unchanged and have no additional errors.
        let document = Document::new(&text);
        for function in document.ir().functions() {
            let outcome = insert_reduces(&document, &[function], &options).unwrap();
            let Some(fix) = &outcome.fix else { continue };
            let left = errors(&fix.apply(&text));
            assert!(left.len() <= n_before, "{text}\n{outcome:?}\n{left:?}");
            let range = document.ir().range(function);
            let is_within =
                |it: &crate::TextEdit| range.start <= it.range.start && it.range.end <= range.end;
            assert!(fix.edits.iter().all(is_within));
            n_alone += 1;
        }
    }
    assert!(
        n_legal > 80 && n_optimal > 20 && n_alone > 50 && n_unverified < 10,
        "{n_legal} {n_optimal} {n_alone} {n_unverified}"
    );
}

const SQUARES: &str = "func.func private @square(%a: !noisy.i32) -> !noisy.i32 {
  %s = noisy.mul %a, %a : !noisy.i32
  return %s : !noisy.i32
}
func.func @main(%x: !noisy.i32) -> !noisy.i32 {
  %1 = call @square(%x) : (!noisy.i32) -> !noisy.i32
  %2 = call @square(%1) : (!noisy.i32) -> !noisy.i32
  %3 = call @square(%2) : (!noisy.i32) -> !noisy.i32
  return %3 : !noisy.i32
}
";

#[test]
fn callers_and_callees_are_placed_together() {
    // In executions, two resets in the caller are cheaper than one in the callee, which runs three
    // times.
    let (outcome, after) = fixed(SQUARES);
    assert_eq!(
        outcome.fix.as_ref().map(|it| &*it.title),
        Some("Insert 2 reduce_noise (proven optimal)")
    );
    assert!(
        after.contains("%r1 = noisy.reduce_noise %1") && after.contains("@square(%r2)"),
        "{after}"
    );
    assert_eq!(outcome.groups[0].functions.len(), 2);
    // In the number of ops, one reset in the callee is cheaper.
    let options = PlacementOptions { objective: Objective::Count, ..PlacementOptions::default() };
    let (outcome, after) = fixed_with(SQUARES, &options);
    assert_eq!(outcome.n_inserted(), 1, "{after}");
    assert!(errors(&after).is_empty() && after[..after.find("@main").unwrap()].contains("reduce"));
}

#[test]
fn a_single_function_is_fixed_for_its_callers() {
    let document = Document::new(SQUARES);
    let [square, main] = document.ir().functions()[..] else { panic!() };
    // Noise exceeds the budget in the callee, because of the second call; a reset in either
    // function helps.
    for (function, n) in [(square, 1), (main, 2)] {
        let outcome = insert_reduces(&document, &[function], &PlacementOptions::default()).unwrap();
        let after = outcome.fix.map_or(SQUARES.to_owned(), |it| it.apply(SQUARES));
        assert!(errors(&after).is_empty(), "{after}");
        assert_eq!(after.matches("reduce_noise").count(), n, "{after}");
    }
}

#[test]
fn arguments_over_the_budget_are_the_fault_of_the_caller() {
    let text = "func.func private @g(%a: !noisy.i32) -> !noisy.i32 {
  %s = noisy.mul %a, %a : !noisy.i32
  return %s : !noisy.i32
}
func.func @f(%x: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.mul %x, %x : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  %3 = call @g(%2) : (!noisy.i32) -> !noisy.i32
  return %3 : !noisy.i32
}
";
    // Both functions can be fixed together.
    let (outcome, after) = fixed(text);
    assert!(errors(&after).is_empty(), "{after}");
    assert_eq!(outcome.n_inserted(), 2, "{after}");
    // The callee alone cannot be fixed.
    let document = Document::new(text);
    let [g, f] = document.ir().functions()[..] else { panic!() };
    let outcome = insert_reduces(&document, &[g], &PlacementOptions::default()).unwrap();
    let why = "no placement is possible: %a on line 1 has at least 48 bits of noise, and at most 26 are allowed";
    assert_eq!(outcome.functions[0].verdict, PlacementVerdict::Refused(why.to_owned()));
    assert_eq!(outcome.fix, None);
    // The caller alone can be fixed.
    let outcome = insert_reduces(&document, &[f], &PlacementOptions::default()).unwrap();
    let after = outcome.fix.map_or(String::new(), |it| it.apply(text));
    assert!(errors(&after).is_empty(), "{after}");
    // A broken callee and the functions that depend on it are not changed.
    let broken = text.replace("return %s", "%t = noisy.add %s, %zero : !noisy.i32\n  return %t");
    let (outcome, _) = fixed(&broken);
    let verdicts: Vec<bool> = outcome
        .functions
        .iter()
        .map(|it| matches!(it.verdict, PlacementVerdict::Refused(_)))
        .collect();
    assert_eq!(verdicts, [true, true], "{outcome:?}");
}

/// Returns a loop that calls a function several times. The arguments are the iteration argument and
/// the initial value.
fn calls_in_a_loop(rounds: u64, n_calls: usize, op: &'static str) -> Vec<Function> {
    let step = Function {
        is_private: true,
        args: vec![None, None],
        bound: None,
        steps: vec![Step::Op(op, 2, 0, 1), Step::Op("add", 3, 2, 1)],
        returned: 3,
    };
    let mut body = Vec::new();
    for call in 0..n_calls {
        body.push(Step::Call(2 + call, 0, vec![1 + call, 0]));
    }
    let result = 2 + n_calls;
    let main = Function {
        is_private: false,
        args: vec![None],
        bound: None,
        steps: vec![Step::For(result, 1, 0, Some(rounds), body, result - 1)],
        returned: result,
    };
    vec![step, main]
}

#[test]
fn calls_in_loops_of_many_rounds_are_proven() {
    let mut n_mended = 0;
    for (rounds, n_calls) in [(3, 2), (9, 2), (8, 3), (15, 1), (16, 1), (16, 2), (15, 4), (40, 2)] {
        for op in ["add", "mul"] {
            let program = calls_in_a_loop(rounds, n_calls, op);
            let (text, slots) = Writer::write(&program, &|_| false);
            let best = exhaustive(&program, &slots);
            let (outcome, after) = fixed_with(&text, &options());
            let Some(best) = best.filter(|it| *it > 0) else { continue };
            assert!(errors(&after).is_empty(), "{text}\n{outcome:?}\n{after}");
            let cost: u64 = outcome.groups.iter().map(|it| it.cost * ONCE / it.unit).sum();
            assert_eq!(cost, best, "{text}\n{outcome:?}\n{after}");
            assert!(outcome.groups.iter().all(FunctionGroup::is_optimal), "{text}\n{outcome:?}");
            n_mended += 1;
        }
    }
    assert!(n_mended > 10, "{n_mended}");
}

#[test]
fn calls_that_the_analysis_merges_are_placed_merged() {
    // The noise of two iteration arguments grows at different rates, so there are more pairs of
    // noises than separate contexts.
    let text = "func.func private @step(%a: !noisy.i32, %b: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.add %a, %b : !noisy.i32
  return %1 : !noisy.i32
}
func.func @main(%x: !noisy.i32, %y: !noisy.i32) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 12 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (!noisy.i32, !noisy.i32) {
    %1 = func.call @step(%a, %x) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    %2 = func.call @step(%b, %1) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    %3 = func.call @step(%2, %1) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    scf.yield %1, %3 : !noisy.i32, !noisy.i32
  }
  %s = noisy.mul %r#0, %r#1 : !noisy.i32
  return %s : !noisy.i32
}
";
    let (outcome, after) = fixed_with(text, &options());
    assert!(errors(&after).is_empty() && !errors(text).is_empty(), "{outcome:?}\n{after}");
    assert!(outcome.groups.iter().all(|it| it.lower_bound <= it.cost));
}
