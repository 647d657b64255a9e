//! Verifies that two programs compute the same: the program before it was rewritten, and the one
//! after.
//!
//! The verifier shares no code with the search, with the writer of the file or with the analyses.
//! It reads both programs with `noisy-syntax`, and trusts that crate to say which ops there are,
//! what their operands are, and that every value is defined before it is used.
//!
//! # What is verified
//!
//! *Values.* A value of type `!noisy.i32` holds an integer modulo 32. An op is *arithmetic* if it
//! is `noisy.add`, `noisy.sub`, `noisy.mul` or `noisy.reduce_noise` on this type, without
//! attributes: the sum, the difference, the product, or the operand itself. Other ops are
//! *observed*, except for integers that are constants or sums with a constant.
//!
//! *Pairs* (`equality/pairs.rs`). The two programs have the same observed ops in the same order, in
//! the same blocks and regions and with the same text up to the names of operands. Only the loops
//! that the file lists are missing in the second program. The results of a pair of observed ops and
//! the arguments of a pair of blocks are *unknowns*, the same in both programs. If the operands of
//! every pair are equal too, then by induction over the steps of a run both programs take the same
//! branches, call the same functions and return the same values. A function whose text is the same
//! in both programs is not looked at.
//!
//! *Polynomials* (`equality/polynomial.rs`). Arithmetic computes polynomials in the unknowns, with
//! coefficients modulo 32. Two values with the same polynomial are equal. An encoded constant of
//! type `i5` is a number instead of an unknown. A value may be used in another block than that of
//! its operands: since definitions dominate uses, all of them belong to the same iteration.
//!
//! *Loops* (`equality/values.rs`). A listed loop has constant bounds and a body of arithmetic and
//! of such loops, also if nothing uses its results. It is evaluated iteration by iteration.
//!
//! *Strides* (`equality/pairs.rs`). A loop of the first program may be listed with loops of the
//! second one that run its iterations, some at once. Kinds, lower bounds, steps and trip counts are
//! constants that fit. The carried values and the induction variable of a new loop are unknowns.
//! The old body is followed for as many iterations as the new one takes the place of, each in a
//! *context* of its own: its observed ops are paired with those of the new body in this order, the
//! first iteration starts with the unknowns, and each further one with what the one before yields.
//! In the end both bodies have to yield the same. Then the claim follows by induction over the
//! iterations. An old carried value may be the new one plus the difference of the initial values.
//! Iterations that no loop runs are evaluated; then the body has nothing but arithmetic.
//!
//! *Branches* (`equality/values.rs`). The old result of a branch may be the new one times a factor
//! and plus a term, if this holds for what each case yields. Factor and term consist of unknowns
//! that are defined outside of the branch, so that they are the same in all cases. The factor is 1,
//! -1, or the quotient of what a case yields by a monomial.
//!
//! *Integers* (`equality/integers.rs`). Constants and their sums with another integer have no
//! effect and are compared by type and value.
//!
//! *Steps.* Polynomials of long programs are too long. So a file lists pairs of values, one of each
//! program, in order. The verifier shows that the two are equal, and then gives both the same new
//! unknown, whose *meaning* is their polynomial. To compare polynomials, unknowns with a meaning
//! are replaced by it, the latest first, until the difference is zero. A meaning has only earlier
//! unknowns, so this ends. A wrong step is refused, and a useless one does no harm.
//!
//! Cost: bounded by [`Limits`]; beyond them a file is refused.

mod integers;
mod loops;
mod pairs;
mod polynomial;
mod values;

use noisy_syntax::Source;
use serde::{Deserialize, Serialize};

use self::pairs::{Arithmetic, Pairs};
pub use self::polynomial::Limits;
use self::values::Proof;

/// The value of [`Equality::format`].
pub const FORMAT: &str = "noisy-equality";
/// The value of [`Equality::version`].
pub const VERSION: u32 = 2;

/// The claim that a program and another compute the same, with what it takes to check it. Ops are
/// given by the byte at which they start, in the text of their program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Equality {
    /// The string `noisy-equality`.
    pub format: String,
    /// The number 2.
    pub version: u32,
    /// The digest of the program before, SHA-256 in hexadecimal digits. The caller compares it.
    pub before: String,
    /// The digest of the program after.
    pub after: String,
    /// The program after, before `reduce_noise` is inserted into it.
    pub rewritten: String,
    /// Loops of the program before that the one after does not have, with their trip counts.
    pub loops: Vec<(usize, u64)>,
    /// Loops of the program before, each with the loops that run its iterations in the one after:
    /// how many an iteration of these takes the place of.
    pub strides: Vec<(usize, Vec<(usize, u64)>)>,
    /// Arithmetic ops of the program before and of the one after whose results are equal, in an
    /// order in which each can be shown from those before it.
    pub steps: Vec<(usize, usize)>,
}

/// The verified facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EqualPrograms {
    /// Number of loops that were evaluated, or compared in several iterations at once.
    pub n_loops: usize,
    /// Number of steps.
    pub n_steps: usize,
    /// Number of operands of observed ops that were shown equal.
    pub n_operands: usize,
}

/// Verifies that a program and the rewritten one of a file compute the same. The caller compares
/// the digests.
///
/// # Errors
///
/// The first claim that could not be verified.
pub fn verify(before: &str, file: &Equality, limits: Limits) -> Result<EqualPrograms, String> {
    if (&*file.format, file.version) != (FORMAT, VERSION) {
        return Err(format!("it is not a {FORMAT} of version {VERSION}"));
    }
    let (old, new) = (read(before)?, read(&file.rewritten)?);
    let pairs = Pairs::of(&old, &new, Arithmetic::Ring, &file.loops, &file.strides)?;
    let n_operands = pairs.uses.len();
    let mut proof = Proof::new(pairs, limits)?;
    for &(old, new) in &file.steps {
        proof.step(old, new)?;
    }
    proof.finish()?;
    Ok(EqualPrograms {
        n_loops: file.loops.len() + file.strides.len(),
        n_steps: file.steps.len(),
        n_operands,
    })
}

/// Verifies that a program is another in which `reduce_noise` ops were inserted or removed, and
/// nothing else was changed. Returns the number of operands that were compared.
///
/// # Errors
///
/// The first difference.
pub fn differ_in_reductions(before: &str, after: &str) -> Result<usize, String> {
    let (old, new) = (read(before)?, read(after)?);
    let pairs = Pairs::of(&old, &new, Arithmetic::Reductions, &[], &[])?;
    let n_operands = pairs.uses.len();
    let mut proof = Proof::new(pairs, Limits::default())?;
    proof.finish()?;
    Ok(n_operands)
}

/// Reads a program without errors.
fn read(text: &str) -> Result<Source, String> {
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
