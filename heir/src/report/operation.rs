//! What an op on ciphertexts is to the one who runs the program: which operation of the scheme, and how long that takes.
//!
//! *Law.* An op without a kind is one of which the time is not known; what takes no time worth counting has the kind [`Work::Free`].

use noisy_syntax::Ir;
use noisy_syntax::Op;

use crate::facts::ciphertext::Ciphertext;
use crate::facts::known::Heir;
use crate::ops::catalogue::LevelRule;
use crate::ops::rules::{self, DimensionRule};
use crate::options::Latency;

/// An operation of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
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
    /// Bookkeeping.
    Free,
}

impl Work {
    /// All that takes time.
    pub const ALL: [Work; 7] = [
        Work::Add,
        Work::Multiply,
        Work::MultiplyPlain,
        Work::Relinearize,
        Work::Rotate,
        Work::SwitchModulus,
        Work::Bootstrap,
    ];

    /// What an op is, if it computes on ciphertexts and has no regions; `None` if that is not known.
    pub fn of(ir: &Ir, heir: &Heir, op: Op) -> Option<Work> {
        let name = ir.op_name(op);
        let last = name.rsplit('.').next().unwrap_or(name);
        if rules::is_bootstrap(name) {
            return Some(Work::Bootstrap);
        }
        match rules::dimension(name) {
            Some(DimensionRule::Relinearize) => return Some(Work::Relinearize),
            Some(DimensionRule::Product) => {
                let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
                let is_secret = |it: &noisy_syntax::Value| {
                    matches!(heir.ciphertext(*it), Ciphertext::Encrypted { .. })
                };
                let n = operands.filter(is_secret).count();
                return Some(if n > 1 { Work::Multiply } else { Work::MultiplyPlain });
            }
            None => {}
        }
        if is_rotation(name) {
            return Some(Work::Rotate);
        }
        match rules::level(name) {
            Some(LevelRule::Drop(_, None)) if !computes_more(name) => {
                return Some(Work::SwitchModulus);
            }
            Some(LevelRule::Drop(_, Some(_)) | LevelRule::DropAll) => return Some(Work::Free),
            _ => {}
        }
        if name == "mgmt.adjust_scale" || is_plain_product(last) {
            return Some(Work::MultiplyPlain);
        }
        if name.starts_with("mgmt.") || name.starts_with("secret.") {
            return Some(Work::Free);
        }
        let adds = ["add", "sub", "neg", "radd", "rsub", "rneg"];
        let is_sum = adds.iter().any(|it| last.starts_with(it)) && !computes_more(name);
        is_sum.then_some(Work::Add)
    }

    /// Microseconds that it takes by a table.
    pub fn latency(self, table: &Latency) -> u32 {
        match self {
            Work::Add => table.add,
            Work::Multiply => table.multiply,
            Work::MultiplyPlain => table.multiply_plain,
            Work::Relinearize => table.relinearize,
            Work::Rotate => table.rotate,
            Work::SwitchModulus => table.switch_modulus,
            Work::Bootstrap => table.bootstrap,
            Work::Free => 0,
        }
    }
}

/// Whether an op stands for many operations of the scheme, which HEIR decides on later.
fn computes_more(name: &str) -> bool {
    ["linalg.", "kernel.", "tensor_ext.", "tensor.", "orion."].iter().any(|it| name.starts_with(it))
}

fn is_plain_product(last: &str) -> bool {
    ["mul_plain", "rmul_plain", "mul_const"].contains(&last)
}

/// Whether an op rotates slots by one distance.
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

/// Whether a rotation swaps the two rows of slots; it has a key of its own.
pub fn swaps_rows(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|it| it.starts_with("rotate_rows"))
}
