//! scale-over-modulus: a scale larger than the modulus
//!
//! A CKKS ciphertext carries its message times its scale, modulo the product of the moduli at its
//! level. If the scale is larger than this product, the message wraps around and decrypts to
//! garbage. HEIR lowers such a program, and no library reports an error. The first such value is
//! reported with the number of missing bits, after HEIR has placed its `mgmt` ops and after
//! lowering.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184372121601], P = [1152921504607338497], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>):
//!       %1 = arith.mulf %a, %a : tensor<8xf32>
//!       %2 = mgmt.relinearize %1 : tensor<8xf32>
//!       %3 = mgmt.modreduce %2 : tensor<8xf32>
//!       %4 = arith.mulf %3, %3 : tensor<8xf32>       // 2^90, and the modulus has 55 bits
//!       %5 = mgmt.relinearize %4 : tensor<8xf32>
//!       secret.yield %5 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Choose parameters with one more modulus for each consecutive product, and switch the modulus
//! after each product.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184372121601, 35184372744193], P = [1152921504607338497], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>):
//!       %1 = arith.mulf %a, %a : tensor<8xf32>
//!       %2 = mgmt.relinearize %1 : tensor<8xf32>
//!       %3 = mgmt.modreduce %2 : tensor<8xf32>
//!       %4 = arith.mulf %3, %3 : tensor<8xf32>
//!       %5 = mgmt.relinearize %4 : tensor<8xf32>
//!       %6 = mgmt.modreduce %5 : tensor<8xf32>
//!       secret.yield %6 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use super::super::chain::chain_locations;
use crate::checks::{Check, Index};
use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::Diagnostic;
use noisy_heir::NumberKind;

pub(in crate::checks) const CHECK: Check = Check {
    code: "scale-over-modulus",
    header: header!("scale_over_modulus.rs"),
    run: check,
    ..Check::WARNING
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    let Some(sight) = program.heir_facts() else { return };
    for it in sites.over_modulus(&sight) {
        let name = ir.value_text(it.value);
        let missing = it.scale - it.bits;
        let (scale, level, bits) = (it.scale, it.level, it.bits);
        let message = format!(
            "{name}: scale 2^{scale}, but the modulus at level {level} has {bits} bits: {missing} are missing, so it decrypts to garbage"
        );
        let mut found = CHECK.diagnostic_at(value_range(ir, it.value), message);
        found.related = chain_locations(program, heir, it.value, NumberKind::Level);
        found.help = Some(
            "Switch the modulus before this op, or choose parameters with more moduli".to_owned(),
        );
        out.push(found);
    }
}
