//! The rules of ops for the level and the dimension of a ciphertext.
//!
//! *Level* counts the moduli that are used up: a fresh ciphertext has level 0. *Dimension* counts
//! the polynomials of a ciphertext: fresh ones have 2. The catalogue lists the ops that change
//! levels (`catalogue.rs`); other known ops pass both on, the largest of their ciphertext operands.
//! Sources: HEIR at ae757edc, `lib/Analysis/LevelAnalysis`, `lib/Analysis/DimensionAnalysis`,
//! `lib/Dialect/HEIRInterfaces.td` and the ops that implement those interfaces.

use noisy_syntax::{AttrData, Form, Ir, Op, Operand};

use crate::ops::catalogue::{self, LevelRule};
use crate::text::types;
use noisy_dataflow::view::View;

/// The effect of an op on a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DimensionRule {
    /// A product of ciphertexts `a` and `b` has `a + b - 1`.
    Product,
    /// Back to 2.
    Relinearize,
}

/// The innermost `secret.generic` around an op.
pub(crate) fn generic_around(ir: &Ir, op: Op) -> Option<Op> {
    let mut around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it));
    around.find(|&it| ir.is_secret_generic(it))
}

/// The integers of an attribute that is a dense array.
pub(crate) fn integers(ir: &Ir, op: Op, name: &str) -> Option<Vec<i128>> {
    let AttrData::DenseArray { values, .. } = ir.interner.attr_data(ir.attr(op, name)?) else {
        return None;
    };
    values.iter().map(|&it| ir.interner.int_value(it)).collect()
}

/// The rule for levels, by the full name of an op.
pub(crate) fn level(name: &str) -> Option<LevelRule> {
    catalogue::entry(name)?.level
}

/// The rule for dimensions, by the full name of an op.
pub(crate) fn dimension(name: &str) -> Option<DimensionRule> {
    let (dialect, op) = name.split_once('.')?;
    let op = op.rsplit('.').next().unwrap_or(op);
    match (dialect, op) {
        ("arith", "muli" | "mulf")
        | ("bgv" | "bfv" | "ckks", "mul")
        | ("lwe", "rmul")
        | ("openfhe", "mul_no_relin")
        | ("lattigo", "mul" | "mul_new") => Some(DimensionRule::Product),
        (
            _,
            "relinearize" | "relinearize_new" | "relinearize_inplace" | "relin" | "relin_inplace",
        )
        // OpenFHE relinearizes these itself.
        | ("openfhe", "mul" | "square") => Some(DimensionRule::Relinearize),
        _ => None,
    }
}

/// Returns true if an op has a level of its own, and not just that of its operands.
pub(crate) fn moves_level(name: &str) -> bool {
    level(name).is_some()
}

/// Returns true if the library that runs the program decides the level of an op.
pub(crate) fn is_by_library(name: &str) -> bool {
    matches!(level(name), Some(LevelRule::Bootstrap | LevelRule::Chebyshev))
}

/// Returns true if an op takes ciphertexts of two polynomials only.
pub(crate) fn takes_two(name: &str) -> bool {
    matches!(name, "tensor_ext.rotate" | "mgmt.modreduce" | "mgmt.bootstrap" | "secret.yield")
}

/// Returns true if HEIR places an op to manage ciphertexts; `mgmt.init` stands before that, too.
pub(crate) fn manages(name: &str) -> bool {
    name.strip_prefix("mgmt.").is_some_and(|it| it != "init")
}

/// Returns true if HEIR places an op to use levels. Bootstraps, and ops that drop levels for loops,
/// are placed before.
pub(crate) fn uses_levels(name: &str) -> bool {
    manages(name) && moves_level(name) && !matches!(name, "mgmt.bootstrap" | "mgmt.level_reduce")
}

/// Returns true if the scales of the operands of an op add up.
pub fn multiplies(name: &str) -> bool {
    dimension(name) == Some(DimensionRule::Product)
        || matches!(name, "openfhe.mul" | "openfhe.square")
        || contracts(name)
        || name
            .rsplit('.')
            .next()
            .is_some_and(|it| matches!(it, "mul_plain" | "rmul_plain" | "mul_const"))
}

/// Returns true if an op of `linalg` multiplies its first two operands, and nothing else.
pub(crate) fn contracts(name: &str) -> bool {
    name.starts_with("linalg.conv_")
        || matches!(name, "linalg.matmul" | "linalg.matvec" | "linalg.vecmat" | "linalg.dot")
        || matches!(name, "linalg.batch_matmul" | "linalg.batch_matvec" | "linalg.mmt4d")
}

/// Returns true if an op of `linalg` only adds, subtracts and moves elements.
pub(crate) fn is_linear(name: &str) -> bool {
    let op = name.strip_prefix("linalg.").unwrap_or_default();
    matches!(op, "add" | "sub" | "negf" | "copy" | "fill" | "transpose" | "broadcast")
}

/// Returns true if an op makes a ciphertext fresh.
pub fn is_bootstrap(name: &str) -> bool {
    level(name) == Some(LevelRule::Bootstrap)
}

/// Returns true if an op makes a ciphertext from a plaintext.
pub fn encrypts(name: &str) -> bool {
    name == "secret.conceal" || name.rsplit('.').next().is_some_and(|it| it.contains("encrypt"))
}

/// Returns true if an op makes a plaintext from a ciphertext.
pub fn decrypts(name: &str) -> bool {
    name == "secret.reveal" || name.rsplit('.').next().is_some_and(|it| it.contains("decrypt"))
}

/// Returns true if an operand of an op may be a plaintext, which is then encoded for the level of
/// the result. Keys, contexts and positions of insertions are none. Source: HEIR,
/// `PlaintextOperandInterface`.
pub(crate) fn takes_plaintext(ir: &Ir, op: Op, at: usize) -> bool {
    let name = ir.op_name(op);
    if catalogue::entry(name).is_none_or(|it| !it.takes_plaintexts) {
        return false;
    }
    match name.split_once('.').map_or("", |it| it.0) {
        "arith" => true,
        "tensor" => at < 2,
        "tensor_ext" => at == 1,
        _ => {
            let operand = ir.op(op).operands.get(at).and_then(|it| it.value);
            operand.is_some_and(|it| types::is_plaintext(ir, it))
        }
    }
}

/// The levels that the evaluation of a Chebyshev polynomial of some degree takes; `None` beyond the
/// table. Lattigo evaluates by a balanced tree, `OpenFHE` from degree 5 on in the manner of
/// Paterson and Stockmeyer, with a tabulated split of the degree into `k (2^m - 1)`. Source: HEIR,
/// `lib/Dialect/Kernel/IR/KernelOps.cpp`.
pub(crate) fn chebyshev(degree: u32, library: Library) -> Option<u32> {
    let log2_up = |n: u32| u32::BITS - n.saturating_sub(1).leading_zeros();
    match library {
        Library::Lattigo => Some(u32::BITS - degree.leading_zeros()),
        Library::OpenFhe => match degree {
            0 => Some(0),
            1..5 => Some(log2_up(degree) + 1),
            _ => {
                // Up to which degree which m is taken.
                const SPLITS: [(u32, u32); 16] = [
                    (2, 1),
                    (11, 2),
                    (13, 3),
                    (17, 2),
                    (55, 3),
                    (59, 4),
                    (76, 3),
                    (239, 4),
                    (247, 5),
                    (284, 4),
                    (991, 5),
                    (1007, 6),
                    (1083, 5),
                    (2015, 6),
                    (2031, 7),
                    (2204, 6),
                ];
                let &(_, m) = SPLITS.iter().find(|it| degree <= it.0)?;
                let k = degree / ((1 << m) - 1) + 1;
                Some(log2_up(k) + m)
            }
        },
    }
}

/// The library that evaluates polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// Lattigo, also where the module names no library.
    Lattigo,
    /// `OpenFHE`.
    OpenFhe,
}

/// The facts of the operands of an op without those that are names of arguments in the header of an
/// op whose form is not known.
pub fn known_operands<F: Copy>(ir: &impl View, op: Op, operands: &[F]) -> Vec<F> {
    let data = ir.op(op);
    let is_operand =
        |it: &Operand| it.value.is_some() || !(it.maybe_argument && data.form == Form::Opaque);
    data.operands.iter().zip(operands).filter(|it| is_operand(it.0)).map(|it| *it.1).collect()
}
