//! The requirements of HEIR's lowering, and of the libraries, on the operands of ops.
//!
//! *Law.* A row says what happens to a program that does not meet it. Each row names HEIR's message
//! and the file that gives it; for a library, the reason. `docs/heir-reference.md` lists the
//! rows.

/// The demand on the ciphertexts that an op takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All are at one level: the level decides the ring in their types.
    OneLevel,
    /// Each has two polynomials.
    TwoPolynomials,
}

/// The consequence of a condition that does not hold, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// A lowering pass refuses the program.
    Refused,
    /// The program fails, or gives a wrong result, when it runs.
    Wrong,
    /// The program costs more time than it needs.
    Slow,
}

/// A requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The full names of the ops.
    pub ops: &'static [&'static str],
    /// The demand.
    pub condition: Condition,
    /// The consequence if it does not hold.
    pub outcome: Outcome,
    /// The message of HEIR or of the library, or the reason.
    pub message: &'static str,
    /// The file of HEIR, or the library, that it is from.
    pub source: &'static str,
}

const RINGS: &str = "requires all operands and results to have the same rings";
const TWO: &str = "x.dim == 2 does not hold";

/// All requirements.
pub const ALL: &[Requirement] = &[
    Requirement {
        ops: &["arith.addf", "arith.addi", "arith.subf", "arith.subi", "arith.mulf", "arith.muli"],
        condition: Condition::OneLevel,
        outcome: Outcome::Refused,
        message: RINGS,
        source: "lib/Dialect/LWE/IR/LWETraits.h",
    },
    Requirement {
        ops: &[
            "ckks.add", "ckks.sub", "ckks.mul", "bgv.add", "bgv.sub", "bgv.mul", "lwe.radd",
            "lwe.rsub", "lwe.rmul",
        ],
        condition: Condition::OneLevel,
        outcome: Outcome::Refused,
        message: RINGS,
        source: "lib/Dialect/LWE/IR/LWETraits.h",
    },
    Requirement {
        ops: &["tensor_ext.rotate"],
        condition: Condition::TwoPolynomials,
        outcome: Outcome::Refused,
        message: TWO,
        source: "lib/Dialect/LWE/IR/LWEOps.h",
    },
    Requirement {
        ops: &["ckks.rotate", "bgv.rotate_cols", "bgv.rotate_rows"],
        condition: Condition::TwoPolynomials,
        outcome: Outcome::Refused,
        message: TWO,
        source: "lib/Dialect/LWE/IR/LWEOps.h",
    },
    Requirement {
        ops: &["mgmt.bootstrap", "ckks.bootstrap"],
        condition: Condition::TwoPolynomials,
        outcome: Outcome::Wrong,
        message: "key switching takes two polynomials",
        source: "OpenFHE, Lattigo",
    },
    Requirement {
        ops: &["mgmt.modreduce", "secret.yield"],
        condition: Condition::TwoPolynomials,
        outcome: Outcome::Slow,
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
        outcome: Outcome::Wrong,
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
        outcome: Outcome::Wrong,
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
        outcome: Outcome::Wrong,
        message: "the numbers of towers differ, with manual scaling in OpenFHE",
        source: "OpenFHE",
    },
];

/// The requirement on an op.
pub(crate) fn of(name: &str, condition: Condition) -> Option<&'static Requirement> {
    ALL.iter().find(|it| it.condition == condition && it.ops.contains(&name))
}
