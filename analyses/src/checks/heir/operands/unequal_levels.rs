//! unequal-levels: operands at different levels
//!
//! When HEIR lowers a ciphertext, its level determines the ring in its type. The operands of a sum,
//! a difference or a product of ciphertexts must have the same ring. HEIR refuses to lower an op
//! with different rings (`requires all operands and results to have the same rings`), and its error
//! message does not contain the names of the program. This diagnostic is reported at the op, for
//! the operand with the fewest used levels. The module must have parameters, because HEIR chooses
//! them after it has placed its `mgmt` ops. After lowering to `OpenFHE` it is a warning: `OpenFHE`
//! refuses such operands at run time, and only with manual scaling.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>):
//!       %1 = arith.mulf %a, %a : tensor<8xf32>
//!       %2 = mgmt.relinearize %1 : tensor<8xf32>
//!       %3 = mgmt.modreduce %2 : tensor<8xf32>
//!       %4 = arith.addf %3, %a : tensor<8xf32>     // %3 has used a level, %a none
//!       secret.yield %4 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Drop levels of the operand with more levels left. The fix inserts the ops.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>):
//!       %1 = arith.mulf %a, %a : tensor<8xf32>
//!       %2 = mgmt.relinearize %1 : tensor<8xf32>
//!       %3 = mgmt.modreduce %2 : tensor<8xf32>
//!       %b = mgmt.level_reduce %a : tensor<8xf32>
//!       %4 = arith.addf %3, %b : tensor<8xf32>
//!       secret.yield %4 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use super::super::chain::chain_locations;
use super::insertion::{NewOpText, SharedFreshNames, insert_chain, unused_adjust_id};
use super::retyping;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, Severity, TextEdit};
use noisy_heir::{
    CiphertextFacts, Consequence, ModuleSetting, NumberKind, ReportSites, Scheme, UnequalLevels,
};
use noisy_syntax::{Ir, Op, Value};

pub(in crate::checks) const CHECK: Check = Check {
    code: "unequal-levels",
    header: header!("unequal_levels.rs"),
    run: check,
    fix: Some(FixFunction::Together(fix)),
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.unequal_levels(ir, heir) {
        let (value, other) = (ir.value_text(it.value), ir.value_text(it.other));
        let levels =
            if it.n_levels == 1 { "1 level".to_owned() } else { format!("{} levels", it.n_levels) };
        let name = ir.op_name(it.op);
        let message =
            format!("{other} has used {levels} more than {value}, but {name} takes one level");
        let mut found = CHECK.diagnostic_at(core_range(ir, it.op), message);
        found.related = chain_locations(program, heir, it.other, NumberKind::Level);
        found.related.extend(chain_locations(program, heir, it.value, NumberKind::Level));
        found.help = Some(format!("Drop {levels} of {value} before this op"));
        if it.requirement.consequence != Consequence::Refused {
            found.severity = Severity::Warning;
        }
        out.push(found);
    }
}

/// Returns the ops that bring an operand to the level of the other operand, as HEIR would. `number`
/// is the id of a new `mgmt.adjust_scale`.
fn leveling_ops(
    program: &Program,
    heir: &CiphertextFacts,
    it: &UnequalLevels,
    number: usize,
) -> Vec<NewOpText> {
    let switch = NewOpText::plain("mgmt.modreduce");
    let setting = heir.setting_of(it.op);
    let is_float = program.ir().op_name(it.op).ends_with('f');
    match setting.and_then(|it| it.scheme) {
        // HEIR does not track scales for OpenFHE.
        Some(Scheme::Bgv | Scheme::Bfv) if !setting.is_some_and(ModuleSetting::is_openfhe) => {
            let properties = Some(format!("id = {number} : i64"));
            let adjust = NewOpText { properties, ..NewOpText::plain("mgmt.adjust_scale") };
            level_reduce_op(it.n_levels - 1).into_iter().chain([adjust, switch]).collect()
        }
        Some(Scheme::Ckks) if !is_unscaled(program, it) => {
            level_reduce_op(it.n_levels).into_iter().collect()
        }
        None if is_float => level_reduce_op(it.n_levels).into_iter().collect(),
        _ => level_reduce_op(it.n_levels - 1).into_iter().chain([switch]).collect(),
    }
}

/// The position before a chain of management ops. The last op of the chain defines a value.
struct ManagementChain {
    /// The first op of the chain.
    op: Op,
    /// Its operand.
    value: Value,
    /// True if an op of the chain adjusts the scale: HEIR infers that scale from the use of the
    /// value.
    is_adjusted: bool,
}

/// Returns the chain of management ops that define a value and have one use each. New ops must
/// precede the chain: after it, HEIR's canonicalizer would move a drop of levels before a modulus
/// switch, which changes the scale in BGV, and HEIR infers no scale for the first of two
/// adjustments. Source: HEIR, `lib/Dialect/Mgmt/IR/MgmtOps.cpp`, and `isAdaptable` in
/// `lib/Analysis/ScaleAnalysis/ScaleAnalysis.cpp`.
fn management_chain(ir: &Ir, value: Value) -> Option<ManagementChain> {
    let mut found: Option<ManagementChain> = None;
    let mut value = value;
    while let Some(op) = ir.defining_op(value).filter(|_| ir.value(value).uses.len() == 1) {
        let name = ir.op_name(op);
        let adjusts = name == "mgmt.adjust_scale" && ir.attr(op, "mgmt.mgmt").is_none();
        let is_other = matches!(name, "mgmt.modreduce" | "mgmt.relinearize" | "mgmt.level_reduce");
        if !adjusts && !is_other {
            break;
        }
        value = ir.op(op).operands.first()?.value?;
        let is_adjusted = adjusts || found.is_some_and(|it| it.is_adjusted);
        found = Some(ManagementChain { op, value, is_adjusted });
    }
    found
}

/// Returns the edits that bring an operand to the level of the other operand.
fn leveling_edits(
    program: &Program,
    heir: &CiphertextFacts,
    it: &UnequalLevels,
    number: usize,
    names: &mut SharedFreshNames,
) -> Option<Vec<TextEdit>> {
    let new = leveling_ops(program, heir, it, number);
    let use_of = (it.op, it.value);
    let is_adjusted = |it: &NewOpText| it.name == "mgmt.adjust_scale";
    let chain = management_chain(program.ir(), it.value).filter(|_| new.iter().any(is_adjusted));
    let Some(ManagementChain { op, value, is_adjusted }) = chain else {
        return insert_chain(program, use_of, &new, names);
    };
    let place = (op, value);
    if is_adjusted {
        return insert_chain(program, place, &[level_reduce_op(it.n_levels)?], names);
    }
    let mut edits = match level_reduce_op(it.n_levels - 1) {
        Some(it) => insert_chain(program, place, &[it], names)?,
        None => Vec::new(),
    };
    let at = new.iter().position(|it| it.name == "mgmt.adjust_scale")?;
    edits.extend(insert_chain(program, use_of, new.get(at..)?, names)?);
    TextEdit::in_order(edits)
}

/// Returns the op that drops `by` levels; `None` for 0.
fn level_reduce_op(by: u32) -> Option<NewOpText> {
    // One level is the default.
    let properties = (by > 1).then(|| format!("levelToDrop = {by} : i64"));
    (by > 0).then_some(NewOpText { properties, ..NewOpText::plain("mgmt.level_reduce") })
}

/// Returns true if a modulus switch should lower the scale of the operand with fewer used levels:
/// the operand is a product without a modulus switch, and the switch would not directly follow
/// another one, because HEIR merges the two.
fn is_unscaled(program: &Program, it: &UnequalLevels) -> bool {
    let ir = program.ir();
    if it.n_levels == 1
        && ir.defining_op(it.value).is_some_and(|it| ir.op_name(it) == "mgmt.modreduce")
    {
        return false;
    }
    let default = || {
        let setting = program.heir()?.setting_of(it.op)?;
        setting.params.as_ref()?.as_ref().ok()?.log_default_scale
    };
    let Some((scales, default)) = program.scales().zip(default()) else { return false };
    match (scales.log2(it.value), scales.log2(it.other)) {
        (Some(value), Some(other)) => value > other && 2 * value > 3 * i64::from(default),
        _ => false,
    }
}

fn fix(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Option<Fix>> {
    let Some(heir) = program.heir() else { return vec![None; diagnostics.len()] };
    let ir = program.ir();
    let mut names = SharedFreshNames::default();
    let mut number = None;
    let mut fix = |it: &&Diagnostic| {
        let op = ir.item_at(it.range.start).filter(|&it| !ir.is_broken(it))?;
        let it = ReportSites::unequal_levels_of(ir, heir, op)?;
        if !ir.op_name(op).starts_with("arith.") {
            return retyping::fix(program, heir, op, &mut names);
        }
        let number = number.get_or_insert_with(|| unused_adjust_id(ir));
        let edits = leveling_edits(program, heir, &it, *number, &mut names)?;
        *number += 1;
        let title = format!("Drop levels of {}", ir.value_text(it.value));
        Some(Fix { title, applicability: Applicability::Safe, edits })
    };
    diagnostics.iter().map(&mut fix).collect()
}
