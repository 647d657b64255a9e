//! What a finding is known by while lines move.

use sha2::{Digest, Sha256};

/// A number that stays the same while lines move: the first 64 bits, in hexadecimal digits, of the SHA-256 of the name of the file,
/// the code, the message, the text of the line without blanks at its ends, and how many findings before it in the file have the same;
/// each followed by a byte FF, which no UTF-8 has. The parts are given in this order, the line without its blanks; `seen` has those
/// before it in the file.
pub(crate) fn fingerprint(parts: [&str; 4], seen: &mut Vec<[u8; 32]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
        hash.update([0xff]);
    }
    let same: [u8; 32] = hash.clone().finalize().into();
    let n_before = seen.iter().filter(|it| **it == same).count();
    seen.push(same);
    hash.update(n_before.to_string());
    hash.update([0xff]);
    hash.finalize().iter().take(8).map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat()
}
