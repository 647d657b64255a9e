//! unequal-scales: operands at different scales
//!
//! A sum of CKKS ciphertexts takes one scale. HEIR's `--populate-scale-ckks` raises the smaller one
//! of two, unless it has raised the scale of an operand of the first op in the same block: then it
//! raises nothing behind that op, and refuses the program later (`requires all operands and results
//! to have the same plaintextSpace`). The first op is adjusted if it switches the modulus of an
//! argument, or is a product of arguments at level 0, whose modulus is larger than the others.
//! Reported at the first op that HEIR refuses.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %1 = mgmt.modreduce %a : tensor<8xf32>
//!       %2 = mgmt.level_reduce %b : tensor<8xf32>
//!       %3 = arith.mulf %1, %1 : tensor<8xf32>
//!       %4 = mgmt.relinearize %3 : tensor<8xf32>
//!       %5 = arith.addf %4, %2 : tensor<8xf32>     // 2^90 and 2^45
//!       secret.yield %5 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Adjust the operand of the first op by hand. The fix does so.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %c = mgmt.adjust_scale %a {id = 0 : i64, mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 90>} : tensor<8xf32>
//!       %1 = mgmt.modreduce %c : tensor<8xf32>
//!       %2 = mgmt.level_reduce %b : tensor<8xf32>
//!       %3 = arith.mulf %1, %1 : tensor<8xf32>
//!       %4 = mgmt.relinearize %3 : tensor<8xf32>
//!       %5 = arith.addf %4, %2 : tensor<8xf32>
//!       secret.yield %5 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use super::insertion::{NewNames, NewOp, inserted, n_adjusted};
use crate::checks::{Check, Fixing, Index};
use crate::explain::{core_range, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, Related};

pub(in crate::checks) const CHECK: Check = Check {
    code: "unequal-scales",
    header: header!("unequal_scales.rs"),
    run: check,
    fix: Some(Fixing::Together(fix)),
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.unequal_scales(ir, heir, program.model().heir) {
        let named =
            |&(value, bits): &(_, i64)| format!("{} has scale 2^{bits}", ir.value_text(value));
        let adjusted = ir.value_text(it.adjusted);
        let message = match it.values.as_slice() {
            [left, right, ..] => {
                let name = ir.op_name(it.op);
                format!("{} and {}, but {name} takes one scale", named(left), named(right))
            }
            _ => "HEIR makes one modulus switch of two whose scales it does not adjust".to_owned(),
        };
        let mut found = CHECK.at(core_range(ir, it.op), message);
        let message =
            format!("HEIR raises the scale of {adjusted} here, and no scale behind this op");
        found.related = vec![Related { range: core_range(ir, it.first), message }];
        found.related.extend(it.values.iter().map(|it| {
            let message = named(it);
            Related { range: value_range(ir, it.0), message }
        }));
        found.help = Some(format!("Adjust the scale of {adjusted} to 2^{} by hand", it.to));
        out.push(found);
    }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let (Some(heir), Some(sites)) = (program.heir(), program.sites()) else {
        return vec![None; diagnostics.len()];
    };
    let ir = program.ir();
    let all = sites.unequal_scales(ir, heir, program.model().heir);
    let mut names = NewNames::default();
    let mut number = n_adjusted(ir);
    let mut fix = |found: &&Diagnostic| {
        let op = ir.item_at(found.range.start).filter(|&it| !ir.is_broken(it))?;
        let it = all.iter().find(|it| it.op == op)?;
        let attributes = format!("mgmt.mgmt = #mgmt.mgmt<level = {}, scale = {}>", it.level, it.to);
        let new = [NewOp {
            name: "mgmt.adjust_scale",
            properties: Some(format!("id = {number} : i64")),
            attributes: Some(attributes),
        }];
        number += 1;
        let edits = inserted(program, (it.first, it.adjusted), &new, &mut names)?;
        let title = format!("Adjust the scale of {}", ir.value_text(it.adjusted));
        Some(Fix { title, applicability: Applicability::Safe, edits })
    };
    diagnostics.iter().map(&mut fix).collect()
}
