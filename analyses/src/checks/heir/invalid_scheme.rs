//! invalid-scheme: unusable scheme attributes of a module
//!
//! The attributes of a module state the scheme, the library and the parameters of the program. The
//! diagnostic reports contradictions between them, unknown libraries, bootstrap levels that are not
//! numbers, and parameters that are missing, repeated, unreadable, or of another scheme or no
//! scheme. The message states the value that is used instead, or the facts that are then unknown.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761]>, scheme.bgv} {   // without a plaintext modulus
//!   func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!     return %x : !secret.secret<i16>
//!   }
//! }
//! ```
//!
//! Complete the parameters, or remove them.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761], plaintextModulus = 17>, scheme.bgv} {
//!   func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!     return %x : !secret.secret<i16>
//!   }
//! }
//! ```

use noisy_syntax::Op;

use noisy_dataflow::attributes;

use crate::checks::{Check, Index};
use crate::facts::misspelling;
use crate::program::Program;
use crate::report::diagnostic::Diagnostic;

pub(in crate::checks) const CHECK: Check = Check {
    code: "invalid-scheme",
    header: header!("invalid_scheme.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some(heir) = index.heir_of(program) else { return };
    // Cache: the attributes of the last module, with their ranges.
    let mut known = None;
    for (module, fault) in heir.scheme_faults() {
        // `misspelled-name` reports a key that is similar to a known one, and
        // `unreadable-attribute` a mistake in an entry.
        if misspelling::correction(&fault.key, true).is_some()
            || !noisy_heir::entry_faults(program.source(), module).is_empty()
        {
            continue;
        }
        if known.as_ref().is_none_or(|it: &(Op, _)| it.0 != module) {
            known = Some((module, attributes::own_attributes(program.source(), module)));
        }
        let own = known.as_ref().and_then(|it| it.1.get(fault.key.as_str()).cloned());
        // The key may be in a nested dictionary.
        let place = own.or_else(|| attributes::own_attribute(program.source(), module, &fault.key));
        let range = place.map_or_else(|| program.ir().head_range(module), |it| it.name);
        out.push(CHECK.diagnostic_at(range, fault.message.clone()));
    }
}
