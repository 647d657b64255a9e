//! Values of which HEIR does not know whether they are secret, and the ciphertexts that therefore have no level in it.
//!
//! HEIR's analysis of secrets gives no answer for what an op with a region makes of public operands (`linalg.broadcast`, `linalg.fill`, `tensor.generate`; `linalg` ops have
//! their region also where the text does not show it), nor for what follows from that alone. A ciphertext that is computed with such a plaintext is secret to HEIR, but gets no level,
//! and is written as if it were fresh. Nothing that is written there can be compared, so nothing is said of it.
//!
//! *Source.* HEIR 2026.9.1, measured: `--annotate-secretness=verbose` and `--annotate-level`. *Cost.* One walk over the program.

use noisy_syntax::{Ir, Op, Region, Value};
use rustc_hash::FxHashSet;

use super::Ciphertext;
use crate::flow::{self, Flow};

/// All such values of a program.
pub(super) fn unclear(ir: &Ir, of: &dyn Fn(Value) -> Ciphertext) -> FxHashSet<Value> {
    let mut finder = Finder { ir, of, found: FxHashSet::default() };
    finder.region(ir.root());
    finder.found
}

struct Finder<'a> {
    ir: &'a Ir,
    of: &'a dyn Fn(Value) -> Ciphertext,
    found: FxHashSet<Value>,
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
        let is_dark = ir.op_name(op).starts_with("linalg.") || !data.regions.is_empty();
        let operands = || data.operands.iter().filter_map(|it| it.value);
        for &result in &data.results {
            let is_unclear = match (self.of)(result) {
                Ciphertext::Plain => is_dark || operands().any(|it| self.found.contains(&it)),
                Ciphertext::Encrypted { .. } => {
                    let is_secret =
                        |it: &Value| matches!((self.of)(*it), Ciphertext::Encrypted { .. });
                    let mut secret = operands().filter(is_secret).peekable();
                    let is_fed = secret.peek().is_some();
                    let all = secret.all(|it| self.found.contains(&it));
                    let mut plain = operands().filter(|it| !is_secret(it));
                    is_fed && (all || plain.any(|it| self.found.contains(&it)))
                }
                _ => false,
            };
            if is_unclear {
                self.found.insert(result);
            }
        }
    }

    /// What takes the values of others is unclear if all of these are that are known so far.
    fn fed(&mut self, value: Value) {
        let feeders = flow::feeders(self.ir, value);
        if !feeders.is_empty() && feeders.iter().all(|it| self.found.contains(&it.1)) {
            self.found.insert(value);
        }
    }
}
