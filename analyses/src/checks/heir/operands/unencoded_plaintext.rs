//! unencoded-plaintext: a plaintext without an encoding
//!
//! HEIR encodes only plaintexts that are operands of `mgmt.init`. It refuses a sum, a difference or
//! a product of a ciphertext and any other plaintext (`must be lwe-ciphertext-like`). In modules
//! with parameters, the diagnostic reports constants, arguments of functions, and results of ops on
//! these and on encoded plaintexts.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [67239937, 17179967489], P = [17180688385], plaintextModulus = 65537>, scheme.bgv} {
//!   func.func @f(%x: !secret.secret<tensor<8xi16>>, %p: tensor<8xi16>) -> !secret.secret<tensor<8xi16>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xi16>>) {
//!     ^body(%a: tensor<8xi16>):
//!       %1 = arith.addi %a, %a : tensor<8xi16>
//!       %2 = arith.addi %1, %p : tensor<8xi16>     // %p is not encoded
//!       secret.yield %2 : tensor<8xi16>
//!     } -> (!secret.secret<tensor<8xi16>>)
//!     return %0 : !secret.secret<tensor<8xi16>>
//!   }
//! }
//! ```
//!
//! Insert `mgmt.init`, as the fix does.
//!
//! ```mlir
//! module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [67239937, 17179967489], P = [17180688385], plaintextModulus = 65537>, scheme.bgv} {
//!   func.func @f(%x: !secret.secret<tensor<8xi16>>, %p: tensor<8xi16>) -> !secret.secret<tensor<8xi16>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xi16>>) {
//!     ^body(%a: tensor<8xi16>):
//!       %1 = arith.addi %a, %a : tensor<8xi16>
//!       %q = mgmt.init %p : tensor<8xi16>
//!       %2 = arith.addi %1, %q : tensor<8xi16>
//!       secret.yield %2 : tensor<8xi16>
//!     } -> (!secret.secret<tensor<8xi16>>)
//!     return %0 : !secret.secret<tensor<8xi16>>
//!   }
//! }
//! ```

use super::insertion::{NewOpText, SharedFreshNames, insert_chain};
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix};
use noisy_heir::ReportSites;

pub(in crate::checks) const CHECK: Check = Check {
    code: "unencoded-plaintext",
    header: header!("unencoded_plaintext.rs"),
    run: check,
    fix: Some(FixFunction::Together(fix)),
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.unencoded_plaintexts(ir, heir) {
        let (value, name) = (ir.value_text(it.value), ir.op_name(it.op));
        let message = format!("{value} is a plaintext that mgmt.init does not encode for {name}");
        let mut found = CHECK.diagnostic_at(core_range(ir, it.op), message);
        found.help = Some(format!("Insert mgmt.init on {value} before this op"));
        out.push(found);
    }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let Some(heir) = program.heir() else { return vec![None; diagnostics.len()] };
    let ir = program.ir();
    let mut names = SharedFreshNames::default();
    let mut fix = |found: &&Diagnostic| {
        let op = ir.item_at(found.range.start).filter(|&it| !ir.is_broken(it))?;
        let it = ReportSites::unencoded_plaintext_of(ir, heir, op)?;
        let new = [NewOpText::plain("mgmt.init")];
        let edits = insert_chain(program, (it.op, it.value), &new, &mut names)?;
        let title = format!("Encode {}", ir.value_text(it.value));
        Some(Fix { title, applicability: Applicability::Safe, edits })
    };
    diagnostics.iter().map(&mut fix).collect()
}
