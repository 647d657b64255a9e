//! The operation of a scheme that an op on ciphertexts performs, and its latency.
//!
//! *Law.* The latency of an op without an operation is unknown. An op that takes negligible time is
//! [`Operation::Free`].

use noisy_syntax::Ir;
use noisy_syntax::Op;

use crate::facts::fact::Ciphertext;
use crate::facts::known::Heir;
use crate::ops::catalogue::LevelRule;
use crate::ops::rules::{self, DimensionRule};
use crate::options::Latency;

/// An operation of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A sum, a difference, a negation.
    Add,
    /// A product of ciphertexts.
    Multiply,
    /// A product with a plaintext.
    MultiplyPlain,
    /// A relinearization.
    Relinearize,
    /// A rotation of slots.
    Rotate,
    /// A switch to a smaller modulus; in CKKS a rescale.
    SwitchModulus,
    /// A bootstrap.
    Bootstrap,
    /// No computation, only bookkeeping.
    Free,
}

impl Operation {
    /// All operations that take time.
    pub const ALL: [Operation; 7] = [
        Operation::Add,
        Operation::Multiply,
        Operation::MultiplyPlain,
        Operation::Relinearize,
        Operation::Rotate,
        Operation::SwitchModulus,
        Operation::Bootstrap,
    ];

    /// Returns the operation of an op that computes on ciphertexts and has no regions; `None` if it
    /// is unknown.
    pub fn of(ir: &Ir, heir: &Heir, op: Op) -> Option<Operation> {
        let name = ir.op_name(op);
        let last = name.rsplit('.').next().unwrap_or(name);
        if rules::is_bootstrap(name) {
            return Some(Operation::Bootstrap);
        }
        match rules::dimension(name) {
            Some(DimensionRule::Relinearize) => return Some(Operation::Relinearize),
            Some(DimensionRule::Product) => {
                let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
                let is_secret = |it: &noisy_syntax::Value| {
                    matches!(heir.ciphertext(*it), Ciphertext::Encrypted { .. })
                };
                let n = operands.filter(is_secret).count();
                return Some(if n > 1 { Operation::Multiply } else { Operation::MultiplyPlain });
            }
            None => {}
        }
        if is_rotation(name) {
            return Some(Operation::Rotate);
        }
        match rules::level(name) {
            Some(LevelRule::Drop(_, None)) if !computes_more(name) => {
                return Some(Operation::SwitchModulus);
            }
            Some(LevelRule::Drop(_, Some(_)) | LevelRule::DropAll) => return Some(Operation::Free),
            _ => {}
        }
        if name == "mgmt.adjust_scale" || is_plain_product(last) {
            return Some(Operation::MultiplyPlain);
        }
        if name.starts_with("mgmt.") || name.starts_with("secret.") {
            return Some(Operation::Free);
        }
        let adds = ["add", "sub", "neg", "radd", "rsub", "rneg"];
        let is_sum = adds.iter().any(|it| last.starts_with(it)) && !computes_more(name);
        is_sum.then_some(Operation::Add)
    }

    /// Returns the latency of the operation in microseconds, from a table.
    pub fn latency(self, table: &Latency) -> u32 {
        match self {
            Operation::Add => table.add,
            Operation::Multiply => table.multiply,
            Operation::MultiplyPlain => table.multiply_plain,
            Operation::Relinearize => table.relinearize,
            Operation::Rotate => table.rotate,
            Operation::SwitchModulus => table.switch_modulus,
            Operation::Bootstrap => table.bootstrap,
            Operation::Free => 0,
        }
    }
}

/// Returns true if an op performs many operations of the scheme, which HEIR chooses later.
fn computes_more(name: &str) -> bool {
    ["linalg.", "kernel.", "tensor_ext.", "tensor.", "orion."].iter().any(|it| name.starts_with(it))
}

fn is_plain_product(last: &str) -> bool {
    ["mul_plain", "rmul_plain", "mul_const"].contains(&last)
}

/// Returns true if an op rotates slots by one distance.
pub(crate) fn is_rotation(name: &str) -> bool {
    let Some((dialect, op)) = name.split_once('.') else { return false };
    let op = op.rsplit('.').next().unwrap_or(op);
    match dialect {
        "tensor_ext" | "ckks" => op == "rotate",
        "bgv" | "bfv" => matches!(op, "rotate" | "rotate_cols" | "rotate_rows"),
        "openfhe" => matches!(op, "rot" | "rot_inplace" | "fast_rotation"),
        "lattigo" => op.starts_with("rotate"),
        _ => false,
    }
}

/// Returns true if a rotation swaps the two rows of slots, which needs a separate key.
pub fn swaps_rows(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|it| it.starts_with("rotate_rows"))
}
