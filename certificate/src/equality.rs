//! Verifies that a program before a rewriting and the program after it compute the same.
//!
//! The verifier shares no code with the search, with the writer of the file or with the analyses.
//! It reads both programs with `noisy-syntax`, and trusts that crate to identify ops and operands,
//! and to check that definitions dominate uses.
//!
//! # Verified claims
//!
//! *Values.* A value of type `!noisy.i32` holds an integer modulo 32. An op is *arithmetic* if it
//! is `noisy.add`, `noisy.sub`, `noisy.mul` or `noisy.reduce_noise` on this type, without
//! attributes: the sum, the difference, the product, or the operand itself. All other ops are
//! *observed*, except constants of integers and sums of an integer and a constant.
//!
//! *Pairs* (`equality/pairs.rs`). The two programs have the same observed ops in the same order, in
//! the same blocks and regions and with the same text except for the names of operands. Only the
//! loops that the file lists are missing in the second program. The results of a pair of observed
//! ops and the arguments of a pair of blocks are *unknowns*, the same in both programs. If the
//! operands of every pair are equal too, then by induction over the steps of a run both programs
//! take the same branches, call the same functions and return the same values. A function with the
//! same text in both programs is skipped.
//!
//! *Polynomials* (`equality/polynomial.rs`). Arithmetic computes polynomials in the unknowns, with
//! coefficients modulo 32. Two values with the same polynomial are equal. An encoded constant of
//! type `i5` is a number instead of an unknown. A value and its operands may be in different
//! blocks: since definitions dominate uses, they belong to the same iteration.
//!
//! *Loops* (`equality/values.rs`). A listed loop has constant bounds, and its body consists of
//! arithmetic and of such loops, even if its results have no uses. It is evaluated iteration by
//! iteration.
//!
//! *Strides* (`equality/pairs.rs`). The file may list a loop of the first program with loops of the
//! second program that together run its iterations, several at a time. The loops have the same
//! kind, and constant lower bounds, steps and trip counts that match. The carried values and the
//! induction variable of a new loop are unknowns. The old body is followed for as many iterations
//! as one iteration of the new loop replaces, each in a *context* of its own. Its observed ops are
//! paired in this order with those of the new body. The first iteration starts with the unknowns,
//! and each further iteration with the values that the preceding one yields. The last iteration and
//! the new body must yield the same. Then the claim follows by induction over the iterations. An
//! old carried value may be the new one plus the difference of the initial values. Iterations that
//! no new loop runs are evaluated; in this case the body consists of arithmetic only.
//!
//! *Branches* (`equality/values.rs`). The old result of a branch may be the new one times a factor
//! plus a term, if this holds for the values that each case yields. Factor and term consist of
//! unknowns that are defined outside of the branch, so that they are the same in all cases. The
//! factor is 1, -1, or the quotient of a value that a case yields by a monomial.
//!
//! *Integers* (`equality/integers.rs`). Constants and their sums with another integer have no
//! effect and are compared by type and value.
//!
//! *Steps.* Polynomials of long programs are too long. Therefore a file lists pairs of values, one
//! of each program, in order. The verifier proves that the two are equal, and then represents both
//! by one new unknown, whose *meaning* is their polynomial. To compare polynomials, it replaces
//! unknowns with a meaning by their meaning, the latest first, until the difference is zero. A
//! meaning contains only earlier unknowns, so this terminates. A wrong step is refused, and a
//! useless one does no harm.
//!
//! Cost: bounded by [`PolynomialLimits`]; beyond them a file is refused.

mod integers;
mod loops;
mod pairs;
mod polynomial;
mod values;

use noisy_syntax::Source;
use serde::{Deserialize, Serialize};

use self::pairs::{ArithmeticOps, PairedPrograms};
pub use self::polynomial::PolynomialLimits;
use self::values::EqualityProof;

/// The value of [`Equality::format`].
pub const FORMAT: &str = "noisy-equality";
/// The value of [`Equality::version`].
pub const VERSION: u32 = 2;

/// The claim that a program and the rewritten program compute the same, with the data that a
/// verifier needs. An op is identified by the offset of its first byte in the text of its program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Equality {
    /// The string `noisy-equality`.
    pub format: String,
    /// The number 2.
    pub version: u32,
    /// The digest of the program before the rewriting, SHA-256 in hexadecimal digits. The caller
    /// compares it.
    pub before: String,
    /// The digest of the program after the rewriting.
    pub after: String,
    /// The program after the rewriting, before `reduce_noise` is inserted into it.
    pub rewritten: String,
    /// Loops of the first program that the second program does not have, with their trip counts.
    pub loops: Vec<(usize, u64)>,
    /// Loops of the first program, each with the loops of the second program that run its
    /// iterations. The numbers count the iterations that one iteration of the second loop replaces.
    pub strides: Vec<(usize, Vec<(usize, u64)>)>,
    /// Pairs of arithmetic ops, of the first and of the second program, whose results are equal.
    /// Each pair can be proven from the preceding ones.
    pub steps: Vec<(usize, usize)>,
}

/// The verified facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EqualPrograms {
    /// Number of loops that were evaluated, or compared several iterations at a time.
    pub n_loops: usize,
    /// Number of steps.
    pub n_steps: usize,
    /// Number of operands of observed ops that were proven equal.
    pub n_operands: usize,
}

/// Verifies that a program and the rewritten program in a file compute the same. The caller
/// compares the digests.
///
/// # Errors
///
/// Returns the first claim that could not be verified.
pub fn verify(
    before: &str,
    file: &Equality,
    limits: PolynomialLimits,
) -> Result<EqualPrograms, String> {
    if (&*file.format, file.version) != (FORMAT, VERSION) {
        return Err(format!("it is not a {FORMAT} of version {VERSION}"));
    }
    let (old, new) = (parse(before)?, parse(&file.rewritten)?);
    let pairs = PairedPrograms::of(&old, &new, ArithmeticOps::Ring, &file.loops, &file.strides)?;
    let n_operands = pairs.uses.len();
    let mut proof = EqualityProof::new(pairs, limits)?;
    for &(old, new) in &file.steps {
        proof.prove_step(old, new)?;
    }
    proof.prove_pairs()?;
    Ok(EqualPrograms {
        n_loops: file.loops.len() + file.strides.len(),
        n_steps: file.steps.len(),
        n_operands,
    })
}

/// Verifies that the second program is the first one with `reduce_noise` ops inserted or removed,
/// and that nothing else differs. Returns the number of operands that were compared.
///
/// # Errors
///
/// Returns the first difference.
pub fn verify_reductions_only(before: &str, after: &str) -> Result<usize, String> {
    let (old, new) = (parse(before)?, parse(after)?);
    let pairs = PairedPrograms::of(&old, &new, ArithmeticOps::Reductions, &[], &[])?;
    let n_operands = pairs.uses.len();
    let mut proof = EqualityProof::new(pairs, PolynomialLimits::default())?;
    proof.prove_pairs()?;
    Ok(n_operands)
}

/// Parses a program.
///
/// # Errors
///
/// The first error in the program.
fn parse(text: &str) -> Result<Source, String> {
    if u32::try_from(text.len()).is_err() {
        return Err("a program is longer than 4 GiB".to_owned());
    }
    let source = Source::new(text);
    match source.problems().first() {
        None => Ok(source),
        Some((_, range, problem)) => {
            Err(format!("a program has an error at byte {}: {}", range.start, problem.message))
        }
    }
}
