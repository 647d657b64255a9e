//! ciphertext-types: types of ciphertexts do not follow from one another
//!
//! After lowering to `ckks`, `bgv` and `lwe` the type of a ciphertext states its ring, level, scale
//! and polynomials. HEIR's verifiers compare the types of operands and results when a program is
//! read, and its lowerings to `OpenFHE` and Lattigo refuse some ops. This diagnostic reports the
//! first requirement that an op does not meet. The reference of HEIR's programs lists all of them.
//!
//! ```mlir
//! !q = !mod_arith.int<36028797019389953 : i64>
//! #plain = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**1024>>
//! #ring = #polynomial.ring<coefficientType = !rns.rns<!q>, polynomialModulus = <1 + x**1024>>
//! #e1 = #lwe.inverse_canonical_encoding<scaling_factor = 45>
//! #e2 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
//! #space = #lwe.ciphertext_space<ring = #ring, encryption_type = mix>
//! #chain = #lwe.modulus_chain<elements = <36028797019389953 : i64>, current = 0>
//! !ct1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #plain, encoding = #e1>, ciphertext_space = #space, key = <>, modulus_chain = #chain>
//! !ct2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #plain, encoding = #e2>, ciphertext_space = #space, key = <>, modulus_chain = #chain>
//! module attributes {backend.openfhe, scheme.ckks} {
//!   func.func @f(%x: !ct1, %y: !ct2) -> !ct1 {
//!     %0 = ckks.add %x, %y : (!ct1, !ct2) -> !ct1     // the scales are 2^45 and 2^90
//!     return %0 : !ct1
//!   }
//! }
//! ```
//!
//! Bring the operands to one type, or correct the type that is wrong. The fix does so if the op
//! then meets all requirements: it writes the type that all uses state, a basis, the op with or
//! without a plaintext, or inserts a relinearization, a modulus switch or a drop of levels.
//!
//! ```mlir
//! !q = !mod_arith.int<36028797019389953 : i64>
//! #plain = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**1024>>
//! #ring = #polynomial.ring<coefficientType = !rns.rns<!q>, polynomialModulus = <1 + x**1024>>
//! #e1 = #lwe.inverse_canonical_encoding<scaling_factor = 45>
//! #space = #lwe.ciphertext_space<ring = #ring, encryption_type = mix>
//! #chain = #lwe.modulus_chain<elements = <36028797019389953 : i64>, current = 0>
//! !ct1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #plain, encoding = #e1>, ciphertext_space = #space, key = <>, modulus_chain = #chain>
//! module attributes {backend.openfhe, scheme.ckks} {
//!   func.func @f(%x: !ct1, %y: !ct1) -> !ct1 {
//!     %0 = ckks.add %x, %y : (!ct1, !ct1) -> !ct1
//!     return %0 : !ct1
//!   }
//! }
//! ```

use super::insertion::SharedFreshNames;
use super::retyping;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, RelatedLocation};

pub(in crate::checks) const CHECK: Check = Check {
    code: "ciphertext-types",
    header: header!("ciphertext_types.rs"),
    run: check,
    fix: Some(FixFunction::Together(fix)),
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.type_contradictions(ir, heir) {
        let of_operand = it.operand.and_then(|at| ir.op(it.op).operands.get(at as usize));
        let range = match of_operand {
            Some(operand) => ir.absolute(it.op, operand.span),
            None if ir.op(it.op).regions.is_empty() => core_range(ir, it.op),
            None => ir.name_range(it.op),
        };
        let mut found = CHECK.diagnostic_at(range, it.message);
        for value in it.values {
            let Some(site) = ir.definition_site(value).filter(|&site| site != it.op) else {
                continue;
            };
            let range = ir.absolute(site, ir.value(value).span);
            let message = format!("{} is defined here", ir.value_text(value));
            found.related.push(RelatedLocation { range, message });
        }
        found.help = Some(format!("HEIR refuses this: `{}`", it.requirement.message));
        out.push(found);
    }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let Some(heir) = program.heir() else { return vec![None; diagnostics.len()] };
    let mut names = SharedFreshNames::default();
    let mut fix = |it: &&Diagnostic| {
        let op = program.ir().item_at(it.range.start)?;
        retyping::fix(program, heir, op, &mut names)
    };
    diagnostics.iter().map(&mut fix).collect()
}
