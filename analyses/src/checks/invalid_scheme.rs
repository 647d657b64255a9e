//! invalid-scheme: what a module says of its scheme cannot be used
//!
//! The attributes of a module say which scheme and which library run the program, and with which parameters. Reported where two of them contradict each other, where
//! parameters are missing, written twice, of another scheme or none, or unreadable, where a library is unheard of, and where the levels of a bootstrap are no number; with what counts instead, or what is not known for that.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761]>, scheme.bgv} {   // without a plaintext modulus
//!   func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!     return %x : !secret.secret<i16>
//!   }
//! }
//! ```
//!
//! Complete the parameters, or take them out.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761], plaintextModulus = 17>, scheme.bgv} {
//!   func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
//!     return %x : !secret.secret<i16>
//!   }
//! }
//! ```

use noisy_syntax::Op;

use super::{Check, Index};
use crate::diagnostic::Diagnostic;
use noisy_dataflow::attributes;
use crate::program::Program;

pub(super) const CHECK: Check = Check {
    code: "invalid-scheme",
    header: header!("invalid_scheme.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some(heir) = index.heir_of(program) else { return };
    // Of the module before.
    let mut known = None;
    for (module, fault) in heir.scheme_faults() {
        if known.as_ref().is_none_or(|it: &(Op, _)| it.0 != module) {
            known = Some((module, attributes::own_attributes(program.source(), module)));
        }
        let own = known.as_ref().and_then(|it| it.1.get(fault.key.as_str()).cloned());
        // It may be a key within one.
        let place = own.or_else(|| attributes::own_attribute(program.source(), module, &fault.key));
        let range = place.map_or_else(|| program.ir().head_range(module), |it| it.name);
        out.push(CHECK.at(range, fault.message.clone()));
    }
}
