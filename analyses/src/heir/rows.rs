//! What ops of HEIR's dialects do to the level and the dimension of a ciphertext.
//!
//! *Level* counts the moduli that are used up: a fresh ciphertext has level 0. *Dimension* counts the polynomials of a ciphertext: fresh
//! ones have 2. What no row names passes both on, the largest of its ciphertext operands. Sources: HEIR at ae757edc, `lib/Analysis/LevelAnalysis`,
//! `lib/Analysis/DimensionAnalysis`, `lib/Dialect/HEIRInterfaces.td` and the ops that implement those interfaces.

/// What an op does to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelRule {
    /// So many levels more; where the op has the attribute, as many as it says.
    Drop(u32, Option<&'static str>),
    /// All levels that there are.
    DropAll,
    /// The level after a bootstrap.
    Bootstrap,
    /// As many as a Chebyshev polynomial takes, by the number of its coefficients.
    Chebyshev,
}

/// What an op does to a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DimensionRule {
    /// A product of ciphertexts `a` and `b` has `a + b - 1`.
    Product,
    /// Back to 2.
    Relinearize,
}

/// The rule for levels, by the full name of an op.
pub(super) fn level(name: &str) -> Option<LevelRule> {
    Some(match name {
        "mgmt.level_reduce" | "bgv.level_reduce" | "ckks.level_reduce" => {
            LevelRule::Drop(1, Some("levelToDrop"))
        }
        "openfhe.level_reduce"
        | "openfhe.level_reduce_inplace"
        | "lattigo.rlwe.drop_level"
        | "lattigo.rlwe.drop_level_new" => LevelRule::Drop(1, Some("levelToDrop")),
        "mgmt.modreduce"
        | "bgv.modulus_switch"
        | "ckks.rescale"
        | "openfhe.mod_reduce"
        | "openfhe.mod_reduce_inplace"
        | "lattigo.bgv.rescale"
        | "lattigo.bgv.rescale_new"
        | "lattigo.ckks.rescale"
        | "lattigo.ckks.rescale_new"
        | "kernel.linear_transform"
        | "linalg.matmul"
        | "linalg.matvec"
        | "linalg.conv_1d_ncw_fcw"
        | "linalg.conv_2d_nchw_fchw" => LevelRule::Drop(1, None),
        "kernel.eval_chebyshev" => LevelRule::Chebyshev,
        "mgmt.level_reduce_min" => LevelRule::DropAll,
        "mgmt.bootstrap" | "ckks.bootstrap" | "openfhe.bootstrap" | "lattigo.ckks.bootstrap" => {
            LevelRule::Bootstrap
        }
        _ => return None,
    })
}

/// The rule for dimensions, by the full name of an op.
pub(super) fn dimension(name: &str) -> Option<DimensionRule> {
    let (dialect, op) = name.split_once('.')?;
    let op = op.rsplit('.').next().unwrap_or(op);
    match (dialect, op) {
        ("arith", "muli" | "mulf")
        | ("bgv" | "bfv" | "ckks", "mul")
        | ("lwe", "rmul")
        | ("openfhe", "mul" | "mul_no_relin" | "square")
        | ("lattigo", "mul" | "mul_new") => Some(DimensionRule::Product),
        (
            _,
            "relinearize" | "relinearize_new" | "relinearize_inplace" | "relin" | "relin_inplace",
        ) => Some(DimensionRule::Relinearize),
        _ => None,
    }
}

/// Whether an op has a level of its own, and not just that of its operands.
pub(super) fn moves_level(name: &str) -> bool {
    level(name).is_some()
}

/// Whether an op takes ciphertexts of two polynomials only.
pub(super) fn takes_two(name: &str) -> bool {
    matches!(name, "tensor_ext.rotate" | "mgmt.modreduce" | "mgmt.bootstrap" | "secret.yield")
}

/// Whether an op is one of those that HEIR places to manage ciphertexts; `mgmt.init` stands before that, too.
pub(super) fn manages(name: &str) -> bool {
    name.strip_prefix("mgmt.").is_some_and(|it| it != "init")
}

/// Whether the scales of the operands of an op add up.
pub(crate) fn multiplies(name: &str) -> bool {
    dimension(name) == Some(DimensionRule::Product)
        || name.starts_with("linalg.conv_")
        || matches!(name, "linalg.matmul" | "linalg.matvec" | "linalg.vecmat" | "linalg.dot")
        || name
            .rsplit('.')
            .next()
            .is_some_and(|it| matches!(it, "mul_plain" | "rmul_plain" | "mul_const"))
}

/// Whether an op makes a ciphertext fresh.
pub(crate) fn is_bootstrap(name: &str) -> bool {
    level(name) == Some(LevelRule::Bootstrap)
}

/// Whether an op makes a ciphertext from a plaintext.
pub(crate) fn encrypts(name: &str) -> bool {
    name == "secret.conceal" || name.rsplit('.').next().is_some_and(|it| it.contains("encrypt"))
}

/// Whether an op makes a plaintext from a ciphertext.
pub(crate) fn decrypts(name: &str) -> bool {
    name == "secret.reveal" || name.rsplit('.').next().is_some_and(|it| it.contains("decrypt"))
}

/// The levels that the evaluation of a Chebyshev polynomial of some degree takes. Source: HEIR, `lib/Dialect/Kernel/IR/KernelOps.cpp`; Lattigo evaluates
/// by a balanced tree, `OpenFHE` from degree 5 on in the manner of Paterson and Stockmeyer.
pub(super) fn chebyshev(degree: u32, is_lattigo: bool) -> Option<u32> {
    if is_lattigo {
        return Some(u32::BITS - degree.leading_zeros());
    }
    match degree {
        0 => Some(0),
        1..5 => Some(u32::BITS - (degree - 1).leading_zeros() + 1),
        // The split depends on a table of OpenFHE's.
        _ => None,
    }
}
