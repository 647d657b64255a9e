//! Values of which HEIR does not know whether they are secret, and the ciphertexts that therefore have no level in it.
//!
//! HEIR's analysis of secrets gives no answer for what an op with a region makes of public operands (`linalg.broadcast`,
//! `linalg.fill`, `tensor.generate`; `linalg` ops have their region also where the text does not show it), nor for what follows from
//! that alone. A ciphertext that is computed with such a plaintext is secret to HEIR, but gets no level, and is written as if it were
//! fresh. Nothing that is written there can be compared, so nothing is said of it.
//!
//! *Source.* HEIR 2026.9.1, measured: `--annotate-secretness=verbose` and `--annotate-level`. *Cost.* A walk over the program, and one more for each round of
//! functions that are called with such values.

use noisy_syntax::{Ir, Op, OpKind, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{self, Flow};
use crate::heir::facts::ciphertext::Ciphertext;
use crate::heir::ops::rules::{self, DimensionRule};
use crate::heir::text::types;

/// Such values of a program.
#[derive(Debug, Default)]
pub(crate) struct Unclear {
    /// Those without a level.
    pub(crate) levels: FxHashSet<Value>,
    /// Those without polynomials.
    pub(crate) dimensions: FxHashSet<Value>,
    /// Those of the former that calls pass, or that follow from these: what HEIR writes is not known.
    pub(crate) passed: FxHashSet<Value>,
}

/// All such values of a program.
pub(crate) fn unclear(ir: &Ir, of: &dyn Fn(Value) -> Ciphertext) -> Unclear {
    let mut finder = Finder {
        ir,
        of,
        found: FxHashSet::default(),
        dark: FxHashSet::default(),
        passed: FxHashSet::default(),
    };
    let taken = taken(ir);
    // What a function takes may stand before what it is called with.
    for _ in 0..MOST_ROUNDS {
        let n_passed = finder.passed.len();
        finder.region(ir.root());
        let is_new = |it: &(Value, Vec<Value>)| {
            !finder.found.contains(&it.0) && it.1.iter().all(|it| finder.found.contains(it))
        };
        let new: Vec<Value> = taken.iter().filter(|&it| is_new(it)).map(|it| it.0).collect();
        // So may what takes what is passed.
        if new.is_empty() && finder.passed.len() == n_passed {
            break;
        }
        finder.found.extend(new);
    }
    let Finder { found: levels, dark: dimensions, passed, .. } = finder;
    Unclear { levels, dimensions, passed }
}

/// Rounds through functions that call functions; deeper ones take what they are called with for known.
const MOST_ROUNDS: usize = 16;

/// The arguments of private functions that are called, with all that they are called with.
fn taken(ir: &Ir) -> Vec<(Value, Vec<Value>)> {
    let mut out: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    ir.walk(ir.root(), &mut |op| {
        if ir.op(op).kind != OpKind::FuncCall {
            return;
        }
        let callee = flow::callee(ir, op).filter(|&it| flow::is_private(ir, it));
        let Some(body) = callee.and_then(|it| flow::body(ir, it)) else { return };
        let args = &ir.block(flow::entry_block(ir, body)).args;
        let passed = ir.op(op).operands.iter().map(|it| it.value);
        for (arg, passed) in args.iter().zip(passed) {
            out.entry(*arg).or_default().extend(passed);
        }
    });
    out.into_iter().collect()
}

/// Whether an op is one that such values start from.
pub(crate) fn starts(ir: &Ir, of: &dyn Fn(Value) -> Ciphertext, op: Op) -> bool {
    let data = ir.op(op);
    if data.kind == OpKind::FuncCall {
        return !differing(ir, of, op).is_empty();
    }
    let is_branch = !data.regions.is_empty() && Flow::of(ir, op) != Flow::Opaque;
    !is_branch
        && makes_unclear(ir, op)
        && data.results.iter().any(|&it| of(it) == Ciphertext::Plain)
}

fn makes_unclear(ir: &Ir, op: Op) -> bool {
    ir.op_name(op).starts_with("linalg.") || !ir.op(op).regions.is_empty()
}

/// What a call passes with another level than its callee takes, by types that say that it is encrypted.
fn differing(ir: &Ir, of: &dyn Fn(Value) -> Ciphertext, call: Op) -> Vec<Value> {
    let Some(body) = flow::callee(ir, call).and_then(|it| flow::body(ir, it)) else {
        return Vec::new();
    };
    let args = &ir.block(flow::entry_block(ir, body)).args;
    let passed = ir.op(call).operands.iter().filter_map(|it| it.value);
    let differs = |it: &(Value, &Value)| {
        of(it.0).level() != of(*it.1).level() && types::is_ciphertext_type(ir, it.0)
    };
    passed.zip(args).filter(differs).map(|it| it.0).collect()
}

struct Finder<'a> {
    ir: &'a Ir,
    of: &'a dyn Fn(Value) -> Ciphertext,
    found: FxHashSet<Value>,
    /// A level follows from one operand that has one, the polynomials only from all.
    dark: FxHashSet<Value>,
    /// What calls pass, and what follows.
    passed: FxHashSet<Value>,
}

impl Finder<'_> {
    fn region(&mut self, region: Region) {
        let ir = self.ir;
        for op in ir.items(region) {
            for &(_, inner) in &ir.op(op).regions {
                for &value in &ir.block(flow::entry_block(ir, inner)).args {
                    self.fed(value);
                }
                self.region(inner);
            }
            self.op(op);
        }
    }

    fn op(&mut self, op: Op) {
        let ir = self.ir;
        let data = ir.op(op);
        let is_branch = !data.regions.is_empty() && Flow::of(ir, op) != Flow::Opaque;
        if is_branch {
            data.results.iter().for_each(|&it| self.fed(it));
            return;
        }
        if data.kind == OpKind::FuncCall {
            self.call(op);
            return;
        }
        let makes_dark = makes_unclear(ir, op);
        let operands = || data.operands.iter().filter_map(|it| it.value);
        for &result in &data.results {
            let is_unclear = match (self.of)(result) {
                Ciphertext::Plain => makes_dark || operands().any(|it| self.found.contains(&it)),
                Ciphertext::Encrypted { .. } => {
                    let is_secret =
                        |it: &Value| matches!((self.of)(*it), Ciphertext::Encrypted { .. });
                    let mut secret = operands().filter(is_secret).peekable();
                    let is_fed = secret.peek().is_some();
                    let all = secret.all(|it| self.found.contains(&it));
                    let mut plain = operands().filter(|it| !is_secret(it));
                    let is_mixed = plain.any(|it| self.found.contains(&it));
                    let is_sized = rules::dimension(ir.op_name(op))
                        == Some(DimensionRule::Relinearize)
                        || !operands().any(|it| self.dark.contains(&it));
                    if is_mixed || !is_sized {
                        self.dark.insert(result);
                    }
                    is_fed && (all || is_mixed)
                }
                _ => false,
            };
            if is_unclear {
                self.found.insert(result);
                if operands().any(|it| self.passed.contains(&it)) {
                    self.passed.insert(result);
                }
            }
        }
    }

    /// A call with another level than its callee takes: after lowering the level is part of the type, so neither what is passed nor
    /// what comes back has one. Of `!secret.secret` HEIR writes one or the other. Within a generic the function takes the largest, and what
    /// comes back is what it returns.
    fn call(&mut self, call: Op) {
        let ir = self.ir;
        let differing = differing(ir, self.of, call);
        self.found.extend(differing.iter().copied());
        self.passed.extend(differing);
        // What is passed without a level comes back without one.
        let passed = || ir.op(call).operands.iter().filter_map(|it| it.value);
        let results = ir.op(call).results.iter().copied();
        if passed().any(|it| self.found.contains(&it)) {
            self.found.extend(results.clone());
        }
        if passed().any(|it| self.passed.contains(&it)) {
            self.passed.extend(results);
        }
    }

    /// What takes the values of others is unclear if all of these are that are known so far.
    fn fed(&mut self, value: Value) {
        let feeders = flow::feeders(self.ir, value);
        if !feeders.is_empty() && feeders.iter().all(|it| self.found.contains(&it.1)) {
            self.found.insert(value);
            if feeders.iter().any(|it| self.passed.contains(&it.1)) {
                self.passed.insert(value);
            }
        }
        if !feeders.is_empty() && feeders.iter().all(|it| self.dark.contains(&it.1)) {
            self.dark.insert(value);
        }
    }
}
