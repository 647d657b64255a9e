//! The operation of a scheme that an op on ciphertexts performs, and its latency.
//!
//! *Law.* The latency of an op without an operation is unknown. An op that takes negligible time is
//! [`SchemeOperation::Free`].

use noisy_syntax::Ir;
use noisy_syntax::Op;

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::ops::catalogue::LevelRule;
use crate::ops::rules::{self, DimensionRule};
use crate::options::OperationLatency;

/// An operation of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemeOperation {
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

impl SchemeOperation {
    /// All operations that take time.
    pub const ALL: [SchemeOperation; 7] = [
        SchemeOperation::Add,
        SchemeOperation::Multiply,
        SchemeOperation::MultiplyPlain,
        SchemeOperation::Relinearize,
        SchemeOperation::Rotate,
        SchemeOperation::SwitchModulus,
        SchemeOperation::Bootstrap,
    ];

    /// Returns the operation of an op that computes on ciphertexts and has no regions; `None` if it
    /// is unknown.
    pub fn of(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<SchemeOperation> {
        let name = ir.op_name(op);
        let last = name.rsplit('.').next().unwrap_or(name);
        if rules::is_bootstrap(name) {
            return Some(SchemeOperation::Bootstrap);
        }
        match rules::dimension_rule(name) {
            Some(DimensionRule::Relinearize) => return Some(SchemeOperation::Relinearize),
            Some(DimensionRule::Product) => {
                let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
                let is_secret = |it: &noisy_syntax::Value| {
                    matches!(heir.ciphertext(*it), Ciphertext::Encrypted { .. })
                };
                let n = operands.filter(is_secret).count();
                return Some(if n > 1 {
                    SchemeOperation::Multiply
                } else {
                    SchemeOperation::MultiplyPlain
                });
            }
            None => {}
        }
        if is_rotation(name) {
            return Some(SchemeOperation::Rotate);
        }
        match rules::level_rule(name) {
            Some(LevelRule::Drop(_, None)) if !has_many_operations(name) => {
                return Some(SchemeOperation::SwitchModulus);
            }
            Some(LevelRule::Drop(_, Some(_)) | LevelRule::DropAll) => {
                return Some(SchemeOperation::Free);
            }
            _ => {}
        }
        if name == "mgmt.adjust_scale" || is_plain_product(last) {
            return Some(SchemeOperation::MultiplyPlain);
        }
        if name.starts_with("mgmt.") || name.starts_with("secret.") {
            return Some(SchemeOperation::Free);
        }
        let adds = ["add", "sub", "neg", "radd", "rsub", "rneg"];
        let is_sum = adds.iter().any(|it| last.starts_with(it)) && !has_many_operations(name);
        is_sum.then_some(SchemeOperation::Add)
    }

    /// Returns the latency of the operation in microseconds, from a table.
    pub fn latency(self, table: &OperationLatency) -> u32 {
        match self {
            SchemeOperation::Add => table.add,
            SchemeOperation::Multiply => table.multiply,
            SchemeOperation::MultiplyPlain => table.multiply_plain,
            SchemeOperation::Relinearize => table.relinearize,
            SchemeOperation::Rotate => table.rotate,
            SchemeOperation::SwitchModulus => table.switch_modulus,
            SchemeOperation::Bootstrap => table.bootstrap,
            SchemeOperation::Free => 0,
        }
    }
}

/// Returns true if an op performs many operations of the scheme, which HEIR chooses later.
fn has_many_operations(name: &str) -> bool {
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
pub fn is_row_swap(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|it| it.starts_with("rotate_rows"))
}
