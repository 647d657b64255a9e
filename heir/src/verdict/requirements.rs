//! The requirements of HEIR's lowering, and of the libraries, on the operands of ops.
//!
//! *Law.* A row states the consequence for a program that does not meet it. Each row has HEIR's
//! message and the file that reports it; for a library, the reason. `docs/heir-reference.md` lists
//! the rows.

/// The condition on the ciphertext operands and results of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All ciphertexts are at one level: the level determines the ring in their types.
    OneLevel,
    /// Each ciphertext has two polynomials.
    TwoPolynomials,
    /// The type of the first operand states two polynomials.
    TwoPolynomialsByType,
    /// The types that an op states for its operands are those of the operands.
    StatedTypes,
    /// The operands and results are ciphertexts.
    Ciphertexts,
    /// One operand is a ciphertext, the other a plaintext.
    OnePlaintext,
    /// All ciphertexts have the same ring.
    OneRing,
    /// All ciphertexts and plaintexts have the same plaintext space.
    OneSpace,
    /// All ciphertexts have the same type.
    OneType,
    /// The result has the number of polynomials of the product of the operands.
    SizeOfProduct,
    /// The result has the plaintext space of the product of the operands.
    SpaceOfProduct,
    /// The result has the type that HEIR infers.
    InferredType,
    /// A rotation has exactly one shift, an operand or an attribute.
    OneShift,
    /// `from_basis` has an entry for each polynomial of the operand.
    FromBasis,
    /// `to_basis` has an entry for each polynomial of the result.
    ToBasis,
    /// The library relinearizes to the basis.
    LibraryBasis,
    /// `to_ring` is the ring of the result.
    ToRing,
    /// The moduli of the result are a proper prefix of those of the operand.
    FewerModuli,
    /// The plaintext space of the result is that after a modulus switch.
    SwitchedSpace,
    /// The level of the operand minus the number of dropped levels is the level of the result.
    DroppedLevels,
    /// The result is at the target level.
    TargetLevel,
    /// The encoding of a plaintext is that of the op, or of the ciphertext.
    Encoding,
    /// The ring of a key is that of the ciphertext.
    RingOfKey,
    /// A ciphertext under a rotated key has two polynomials.
    RotatedKey,
    /// The number of moduli in the ring corresponds to the level in the modulus chain.
    LevelOfRing,
    /// The plaintext modulus allows packing all slots.
    PackedModulus,
    /// HEIR lowers the op for the library of the module.
    NoLowering,
}

/// The consequence of a condition that does not hold, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consequence {
    /// A lowering pass refuses the program.
    Refused,
    /// The program fails, or gives a wrong result, when it runs.
    Wrong,
    /// The program is slower than necessary.
    Slow,
}

/// A requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The full names of the ops.
    pub ops: &'static [&'static str],
    /// The condition.
    pub condition: Condition,
    /// The consequence if it does not hold.
    pub consequence: Consequence,
    /// The message of HEIR, or the reason.
    pub message: &'static str,
    /// The file of HEIR or the library that the requirement is from.
    pub source: &'static str,
}

const RINGS: &str = "requires all operands and results to have the same rings";
const TWO: &str = "x.dim == 2 does not hold";

const STATED: &str = "expects different type than prior uses";
const PARSER: &str = "MLIR, mlir/lib/AsmParser/Parser.cpp";
const SPACES: &str = "requires all operands and results to have the same plaintextSpace";
const SPACE: &str = "output plaintext space does not match";
const PREFIX: &str = "output ring basis size should be less than the input ring basis size";
const TRAITS: &str = "lib/Dialect/LWE/IR/LWETraits.h";
const VERIFIERS: &str = "lib/Dialect/LWE/IR/LWEOps.h";

/// Sums and differences.
const SUMS: &[&str] = &["ckks.add", "ckks.sub", "bgv.add", "bgv.sub", "lwe.radd", "lwe.rsub"];
const PRODUCTS: &[&str] = &["ckks.mul", "bgv.mul", "lwe.rmul"];
/// Sums and differences with a plaintext.
const PLAIN_SUMS: &[&str] = &[
    "ckks.add_plain",
    "ckks.sub_plain",
    "bgv.add_plain",
    "bgv.sub_plain",
    "lwe.radd_plain",
    "lwe.rsub_plain",
];
const PLAIN_PRODUCTS: &[&str] = &["ckks.mul_plain", "bgv.mul_plain", "lwe.rmul_plain"];
const RELINEARIZATIONS: &[&str] = &["ckks.relinearize", "bgv.relinearize"];
const SWITCHES: &[&str] = &["ckks.rescale", "bgv.modulus_switch"];
const DROPS: &[&str] = &["ckks.level_reduce", "bgv.level_reduce"];
/// Encodings and encryptions.
const PLAINTEXTS: &[&str] = &[
    "lwe.rlwe_encode",
    "lwe.rlwe_decode",
    "lwe.rlwe_encrypt",
    "lwe.rlwe_decrypt",
    "lwe.trivial_encrypt",
];
/// Ops with one ciphertext operand.
const UNARY: &[&str] = &[
    "ckks.rotate",
    "bgv.rotate_cols",
    "bgv.rotate_rows",
    "ckks.negate",
    "bgv.negate",
    "lwe.rnegate",
    "ckks.bootstrap",
];

/// Creates a row about types.
const fn type_requirement(
    condition: Condition,
    ops: &'static [&'static str],
    message: &'static str,
    source: &'static str,
) -> Requirement {
    Requirement { ops, condition, consequence: Consequence::Refused, message, source }
}

/// All requirements.
pub const OP_REQUIREMENTS: &[Requirement] = &[
    Requirement {
        ops: &["arith.addf", "arith.addi", "arith.subf", "arith.subi", "arith.mulf", "arith.muli"],
        condition: Condition::OneLevel,
        consequence: Consequence::Refused,
        message: RINGS,
        source: "lib/Dialect/LWE/IR/LWETraits.h",
    },
    Requirement {
        ops: &[
            "ckks.add", "ckks.sub", "ckks.mul", "bgv.add", "bgv.sub", "bgv.mul", "lwe.radd",
            "lwe.rsub", "lwe.rmul",
        ],
        condition: Condition::OneLevel,
        consequence: Consequence::Refused,
        message: RINGS,
        source: "lib/Dialect/LWE/IR/LWETraits.h",
    },
    Requirement {
        ops: &["tensor_ext.rotate"],
        condition: Condition::TwoPolynomials,
        consequence: Consequence::Refused,
        message: TWO,
        source: "lib/Dialect/LWE/IR/LWEOps.h",
    },
    Requirement {
        ops: &["ckks.rotate", "bgv.rotate_cols", "bgv.rotate_rows"],
        condition: Condition::TwoPolynomials,
        consequence: Consequence::Refused,
        message: TWO,
        source: "lib/Dialect/LWE/IR/LWEOps.h",
    },
    Requirement {
        ops: &["mgmt.bootstrap", "ckks.bootstrap"],
        condition: Condition::TwoPolynomials,
        consequence: Consequence::Wrong,
        message: "key switching takes two polynomials",
        source: "OpenFHE, Lattigo",
    },
    Requirement {
        ops: &["mgmt.modreduce", "secret.yield"],
        condition: Condition::TwoPolynomials,
        consequence: Consequence::Slow,
        message: "each further polynomial costs time",
        source: "OpenFHE, Lattigo",
    },
    Requirement {
        ops: &[
            "openfhe.rot",
            "openfhe.automorph",
            "openfhe.fast_rotation",
            "openfhe.fast_rotation_ext",
            "openfhe.fast_rotation_precompute",
            "openfhe.bootstrap",
        ],
        condition: Condition::TwoPolynomials,
        consequence: Consequence::Wrong,
        message: "key switching takes two polynomials",
        source: "OpenFHE",
    },
    Requirement {
        ops: &[
            "lattigo.bgv.rotate_columns",
            "lattigo.bgv.rotate_columns_new",
            "lattigo.bgv.rotate_rows",
            "lattigo.bgv.rotate_rows_new",
            "lattigo.ckks.rotate",
            "lattigo.ckks.rotate_new",
            "lattigo.ckks.bootstrap",
        ],
        condition: Condition::TwoPolynomials,
        consequence: Consequence::Wrong,
        message: "key switching takes two polynomials",
        source: "Lattigo",
    },
    Requirement {
        ops: &[
            "openfhe.add",
            "openfhe.add_inplace",
            "openfhe.sub",
            "openfhe.sub_inplace",
            "openfhe.mul",
            "openfhe.mul_no_relin",
        ],
        condition: Condition::OneLevel,
        consequence: Consequence::Wrong,
        message: "the numbers of towers differ, with manual scaling in OpenFHE",
        source: "OpenFHE",
    },
];

/// The requirements on the types of ciphertexts after lowering, in the order of HEIR's verifiers.
/// Rows without ops apply to each type.
pub const TYPE_REQUIREMENTS: &[Requirement] = &[
    type_requirement(
        Condition::Ciphertexts,
        SUMS,
        "must be lwe-ciphertext-like",
        "lib/Dialect/LWE/IR/LWETypes.td",
    ),
    type_requirement(
        Condition::Ciphertexts,
        PRODUCTS,
        "must be lwe-ciphertext-like",
        "lib/Dialect/LWE/IR/LWETypes.td",
    ),
    type_requirement(
        Condition::Ciphertexts,
        RELINEARIZATIONS,
        "must be lwe-ciphertext-like",
        "lib/Dialect/LWE/IR/LWETypes.td",
    ),
    type_requirement(
        Condition::Ciphertexts,
        SWITCHES,
        "must be lwe-ciphertext-like",
        "lib/Dialect/LWE/IR/LWETypes.td",
    ),
    type_requirement(
        Condition::Ciphertexts,
        DROPS,
        "must be lwe-ciphertext-like",
        "lib/Dialect/LWE/IR/LWETypes.td",
    ),
    type_requirement(
        Condition::Ciphertexts,
        UNARY,
        "must be lwe-ciphertext-like",
        "lib/Dialect/LWE/IR/LWETypes.td",
    ),
    type_requirement(
        Condition::OnePlaintext,
        PLAIN_SUMS,
        "expected ciphertext, plaintext operand types",
        TRAITS,
    ),
    type_requirement(
        Condition::OnePlaintext,
        PLAIN_PRODUCTS,
        "expected ciphertext, plaintext operand types",
        TRAITS,
    ),
    type_requirement(Condition::OneRing, SUMS, RINGS, TRAITS),
    type_requirement(Condition::OneRing, PRODUCTS, RINGS, TRAITS),
    type_requirement(Condition::OneRing, &["bgv.relinearize"], RINGS, TRAITS),
    type_requirement(
        Condition::OneType,
        &["ckks.add_plain", "ckks.sub_plain", "bgv.add_plain", "bgv.sub_plain"],
        "requires all ciphertexts to have the same ciphertextType",
        TRAITS,
    ),
    type_requirement(Condition::OneSpace, SUMS, SPACES, TRAITS),
    type_requirement(Condition::OneSpace, PLAIN_SUMS, SPACES, TRAITS),
    type_requirement(Condition::OneSpace, DROPS, SPACES, TRAITS),
    type_requirement(Condition::OneSpace, &["bgv.relinearize"], SPACES, TRAITS),
    type_requirement(
        Condition::SizeOfProduct,
        PRODUCTS,
        "output.dim == x.dim + y.dim - 1 does not hold",
        VERIFIERS,
    ),
    type_requirement(
        Condition::SizeOfProduct,
        PLAIN_PRODUCTS,
        "output.dim == x.dim does not hold",
        VERIFIERS,
    ),
    type_requirement(Condition::SpaceOfProduct, PRODUCTS, SPACE, VERIFIERS),
    type_requirement(Condition::SpaceOfProduct, PLAIN_PRODUCTS, SPACE, VERIFIERS),
    type_requirement(
        Condition::DroppedLevels,
        DROPS,
        "output modulus chain size does not match",
        VERIFIERS,
    ),
    type_requirement(
        Condition::TwoPolynomialsByType,
        &["ckks.rotate", "bgv.rotate_cols", "bgv.rotate_rows"],
        TWO,
        VERIFIERS,
    ),
    type_requirement(
        Condition::OneShift,
        &["ckks.rotate", "bgv.rotate_cols", "bgv.rotate_rows"],
        "contains neither static nor dynamic operand",
        VERIFIERS,
    ),
    type_requirement(
        Condition::FromBasis,
        RELINEARIZATIONS,
        "input dimension does not match from_basis",
        VERIFIERS,
    ),
    type_requirement(
        Condition::ToBasis,
        RELINEARIZATIONS,
        "output dimension does not match to_basis",
        VERIFIERS,
    ),
    type_requirement(
        Condition::ToRing,
        SWITCHES,
        "output ciphertext_space ring should match to_ring",
        VERIFIERS,
    ),
    type_requirement(Condition::FewerModuli, SWITCHES, PREFIX, VERIFIERS),
    type_requirement(Condition::SwitchedSpace, SWITCHES, SPACE, VERIFIERS),
    type_requirement(
        Condition::TargetLevel,
        &["ckks.bootstrap"],
        "output ciphertext must have",
        "lib/Dialect/CKKS/IR/CKKSOps.cpp",
    ),
    type_requirement(
        Condition::Encoding,
        PLAINTEXTS,
        "the first arg's type's encoding matches the given encoding",
        "lib/Dialect/LWE/IR/LWEOps.td",
    ),
    type_requirement(
        Condition::RingOfKey,
        &["lwe.rlwe_encrypt", "lwe.rlwe_decrypt"],
        "rings do not match",
        "lib/Dialect/LWE/IR/LWEOps.cpp",
    ),
    type_requirement(
        Condition::InferredType,
        SUMS,
        "are incompatible with return type(s) of operation",
        VERIFIERS,
    ),
    type_requirement(
        Condition::InferredType,
        PRODUCTS,
        "are incompatible with return type(s) of operation",
        VERIFIERS,
    ),
    type_requirement(
        Condition::InferredType,
        PLAIN_SUMS,
        "are incompatible with return type(s) of operation",
        VERIFIERS,
    ),
    type_requirement(
        Condition::InferredType,
        PLAIN_PRODUCTS,
        "are incompatible with return type(s) of operation",
        VERIFIERS,
    ),
    type_requirement(
        Condition::InferredType,
        RELINEARIZATIONS,
        "are incompatible with return type(s) of operation",
        VERIFIERS,
    ),
    type_requirement(
        Condition::InferredType,
        &["ckks.level_reduce"],
        "are incompatible with return type(s) of operation",
        VERIFIERS,
    ),
    type_requirement(
        Condition::LibraryBasis,
        RELINEARIZATIONS,
        "toBasis must be [0, 1]",
        "lib/Dialect/LWE/Conversions/LWEToOpenfhe/LWEToOpenfhe.h",
    ),
    type_requirement(
        Condition::NoLowering,
        &["bgv.rotate_rows", "ckks.negate", "bgv.negate", "lwe.rnegate", "ckks.bootstrap"],
        "explicitly marked illegal",
        "lib/Dialect/LWE/Conversions/LWEToOpenfhe/LWEToOpenfhe.cpp, lib/Dialect/LWE/Conversions/LWEToLattigo/LWEToLattigo.cpp",
    ),
    type_requirement(Condition::StatedTypes, &[], STATED, PARSER),
    type_requirement(
        Condition::LevelOfRing,
        &[],
        "the level in the ciphertext ring must match the modulus chain's current",
        "lib/Dialect/LWE/IR/LWETypes.cpp",
    ),
    type_requirement(
        Condition::RotatedKey,
        &[],
        "a ciphertext with nontrivial slot rotation must have size 2",
        "lib/Dialect/LWE/IR/LWETypes.cpp",
    ),
    type_requirement(
        Condition::PackedModulus,
        &[],
        "modulus must be 1 mod n for full CRT packing",
        "lib/Dialect/LWE/IR/LWEAttributes.cpp",
    ),
];

/// Returns the requirement on an op with this condition.
pub(crate) fn requirement_on_op(name: &str, condition: Condition) -> Option<&'static Requirement> {
    OP_REQUIREMENTS.iter().find(|it| it.condition == condition && it.ops.contains(&name))
}

/// Returns true for a sum, a difference or a product of two ciphertexts.
pub(crate) fn is_binary(name: &str) -> bool {
    SUMS.contains(&name) || PRODUCTS.contains(&name)
}

/// Returns true for a modulus switch, which has a `to_ring`.
pub(crate) fn is_modulus_switch(name: &str) -> bool {
    SWITCHES.contains(&name)
}

/// Returns the requirements on the types of an op, in order.
pub(crate) fn type_requirements(name: &str) -> impl Iterator<Item = &'static Requirement> {
    TYPE_REQUIREMENTS.iter().filter(move |it| it.ops.contains(&name))
}

/// Returns the requirement on each type with this condition.
pub(crate) fn requirement_on_each_type(condition: Condition) -> Option<&'static Requirement> {
    TYPE_REQUIREMENTS.iter().find(|it| it.condition == condition && it.ops.is_empty())
}
