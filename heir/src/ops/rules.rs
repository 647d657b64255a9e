//! The rules of ops for the level and the dimension of a ciphertext.
//!
//! *Level* counts the moduli that are used up: a fresh ciphertext has level 0. *Dimension* counts
//! the polynomials of a ciphertext: a fresh one has 2. The catalogue lists the ops that change
//! levels (`catalogue.rs`). The result of any other known op has the largest level and dimension of
//! its ciphertext operands. Sources: HEIR at ae757edc, `lib/Analysis/LevelAnalysis`,
//! `lib/Analysis/DimensionAnalysis`, `lib/Dialect/HEIRInterfaces.td` and the ops that implement
//! those interfaces.

use noisy_syntax::{AttrData, Form, Ir, Op, Operand};

use crate::ops::catalogue::{self, LevelRule};
use crate::text::types;
use noisy_dataflow::view::ProgramView;

/// The effect of an op on a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DimensionRule {
    /// The product of ciphertexts of dimensions `a` and `b` has dimension `a + b - 1`.
    Product,
    /// The result has dimension 2.
    Relinearize,
}

/// Returns the innermost `secret.generic` around an op.
pub(crate) fn enclosing_generic(ir: &Ir, op: Op) -> Option<Op> {
    let mut around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it));
    around.find(|&it| ir.is_secret_generic(it))
}

/// Returns the integers of an attribute that is a dense array.
pub(crate) fn dense_array(ir: &Ir, op: Op, name: &str) -> Option<Vec<i128>> {
    let AttrData::DenseArray { values, .. } = ir.interner.attr_data(ir.attr(op, name)?) else {
        return None;
    };
    values.iter().map(|&it| ir.interner.int_value(it)).collect()
}

/// Returns the rule for levels, by the full name of an op.
pub(crate) fn level_rule(name: &str) -> Option<LevelRule> {
    catalogue::row(name)?.level_rule
}

/// Returns the rule for dimensions, by the full name of an op.
pub(crate) fn dimension_rule(name: &str) -> Option<DimensionRule> {
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
        // OpenFHE relinearizes the results of these ops.
        | ("openfhe", "mul" | "square") => Some(DimensionRule::Relinearize),
        _ => None,
    }
}

/// Returns true if an op has a rule for levels; the result of another op has the level of its
/// operands.
pub(crate) fn has_level_rule(name: &str) -> bool {
    level_rule(name).is_some()
}

/// Returns true if the level after an op depends on the library that runs the program.
pub(crate) fn has_library_level(name: &str) -> bool {
    matches!(level_rule(name), Some(LevelRule::Bootstrap | LevelRule::Chebyshev))
}

/// Returns true if the ciphertext operands of an op must have two polynomials.
pub(crate) fn is_limited_to_two_polynomials(name: &str) -> bool {
    matches!(name, "tensor_ext.rotate" | "mgmt.modreduce" | "mgmt.bootstrap" | "secret.yield")
}

/// Returns true for the `mgmt` ops that HEIR inserts to manage ciphertexts. `mgmt.init` is inserted
/// earlier.
pub(crate) fn is_management_op(name: &str) -> bool {
    name.strip_prefix("mgmt.").is_some_and(|it| it != "init")
}

/// Returns true for the `mgmt` ops that HEIR inserts to use levels. Bootstraps, and ops that drop
/// levels for loops, are inserted earlier.
pub(crate) fn is_level_use(name: &str) -> bool {
    is_management_op(name)
        && has_level_rule(name)
        && !matches!(name, "mgmt.bootstrap" | "mgmt.level_reduce")
}

/// Returns true if the scale of the result of an op is the product of the scales of its operands.
pub fn is_scale_product(name: &str) -> bool {
    dimension_rule(name) == Some(DimensionRule::Product)
        || matches!(name, "openfhe.mul" | "openfhe.square")
        || is_contraction(name)
        || name
            .rsplit('.')
            .next()
            .is_some_and(|it| matches!(it, "mul_plain" | "rmul_plain" | "mul_const"))
}

/// Returns true if an op of `linalg` multiplies only its first two operands.
pub(crate) fn is_contraction(name: &str) -> bool {
    name.starts_with("linalg.conv_")
        || matches!(name, "linalg.matmul" | "linalg.matvec" | "linalg.vecmat" | "linalg.dot")
        || matches!(name, "linalg.batch_matmul" | "linalg.batch_matvec" | "linalg.mmt4d")
}

/// Returns true if an op of `linalg` only adds, subtracts and moves elements.
pub(crate) fn is_linear_linalg_op(name: &str) -> bool {
    let op = name.strip_prefix("linalg.").unwrap_or_default();
    matches!(op, "add" | "sub" | "negf" | "copy" | "fill" | "transpose" | "broadcast")
}

/// Returns true if an op bootstraps a ciphertext.
pub fn is_bootstrap(name: &str) -> bool {
    level_rule(name) == Some(LevelRule::Bootstrap)
}

/// Returns true if an op encrypts a plaintext.
pub fn is_encryption(name: &str) -> bool {
    name == "secret.conceal" || name.rsplit('.').next().is_some_and(|it| it.contains("encrypt"))
}

/// Returns true if an op decrypts a ciphertext.
pub fn is_decryption(name: &str) -> bool {
    name == "secret.reveal" || name.rsplit('.').next().is_some_and(|it| it.contains("decrypt"))
}

/// Returns true if an operand of an op may be a plaintext, which is then encoded for the level of
/// the result. Keys, contexts and positions of insertions are not plaintexts. Source: HEIR,
/// `PlaintextOperandInterface`.
pub(crate) fn is_plaintext_operand(ir: &Ir, op: Op, at: usize) -> bool {
    let name = ir.op_name(op);
    if catalogue::row(name).is_none_or(|it| !it.takes_plaintexts) {
        return false;
    }
    match name.split_once('.').map_or("", |it| it.0) {
        "arith" => true,
        "tensor" => at < 2,
        "tensor_ext" => at == 1,
        _ => {
            let operand = ir.op(op).operands.get(at).and_then(|it| it.value);
            operand.is_some_and(|it| types::has_plaintext_type(ir, it))
        }
    }
}

/// Returns the levels that the evaluation of a Chebyshev polynomial uses, by its degree; `None`
/// beyond the table. Lattigo evaluates with a balanced tree, `OpenFHE` from degree 5 on with the
/// algorithm of Paterson and Stockmeyer, with a tabulated split of the degree into `k (2^m - 1)`.
/// Source: HEIR, `lib/Dialect/Kernel/IR/KernelOps.cpp`.
pub(crate) fn chebyshev_levels(degree: u32, library: PolynomialLibrary) -> Option<u32> {
    let log2_up = |n: u32| u32::BITS - n.saturating_sub(1).leading_zeros();
    match library {
        PolynomialLibrary::Lattigo => Some(u32::BITS - degree.leading_zeros()),
        PolynomialLibrary::OpenFhe => match degree {
            0 => Some(0),
            1..5 => Some(log2_up(degree) + 1),
            _ => {
                // The largest degree for each value of m.
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
pub(crate) enum PolynomialLibrary {
    /// Lattigo; also assumed if the module names no library.
    Lattigo,
    /// `OpenFHE`.
    OpenFhe,
}

/// Returns the facts of the operands of an op. In an op with an unknown form, names in its header
/// may be arguments of its region; these are left out.
pub fn facts_of_operands<F: Copy>(ir: &impl ProgramView, op: Op, operands: &[F]) -> Vec<F> {
    let data = ir.op(op);
    let is_operand =
        |it: &Operand| it.value.is_some() || !(it.may_be_argument && data.form == Form::Opaque);
    data.operands.iter().zip(operands).filter(|it| is_operand(it.0)).map(|it| *it.1).collect()
}
