//! The certificate that a program and its rewritten form compute the same.

use std::path::{Path, PathBuf};

use noisy_certificate::equality::{Equality, FORMAT, PolynomialLimits, VERSION, verify};
use noisy_rewrite::RewrittenProgram;
use sha2::{Digest, Sha256};

/// The path of this certificate, beside the certificate of the placement.
pub(crate) fn certificate_path(certificate: &Path) -> PathBuf {
    certificate.with_extension("equality.json")
}

/// The digest of a program, in hexadecimal digits.
pub(crate) fn digest(text: &str) -> String {
    let hex = |byte: &u8| [byte >> 4, byte & 15].map(|it| char::from_digit(it.into(), 16));
    Sha256::digest(text).iter().flat_map(hex).flatten().collect()
}

/// Returns the certificate of a rewriting after the verifier has accepted it.
///
/// # Errors
///
/// The reason why the verifier rejects it.
pub(crate) fn verified_certificate(
    before: &str,
    rewritten: &RewrittenProgram,
) -> Result<Equality, String> {
    let after = rewritten.document.source().text().to_string();
    let proofs = || rewritten.savings.iter().map(|it| &it.equality);
    let equality = Equality {
        format: FORMAT.to_owned(),
        version: VERSION,
        before: digest(before),
        after: digest(&after),
        rewritten: after,
        loops: proofs().flat_map(|it| it.loops.iter().copied()).collect(),
        strides: proofs().flat_map(|it| it.strides.iter().cloned()).collect(),
        steps: proofs().flat_map(|it| it.steps.iter().copied()).collect(),
    };
    verify(before, &equality, PolynomialLimits::default()).map(|_| equality)
}
