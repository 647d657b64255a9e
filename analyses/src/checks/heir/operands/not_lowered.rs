//! not-lowered: HEIR has no lowering for an op
//!
//! In a module with parameters, HEIR has placed its `mgmt` ops, and lowers each op next. It refuses
//! the whole `secret.generic` for one op that it cannot lower, and does not name that op. Reported
//! are:
//!
//! - an op with a ciphertext that no pattern lowers, such as `arith.maximumf`, `arith.cmpi`,
//!   `tensor.expand_shape` or an op of `math` (`failed to legalize operation 'secret.generic'`);
//! - a slice of ciphertexts that is not one full row of a tensor of rank 2, or that mixes
//!   plaintexts and ciphertexts;
//! - a result of the last op of a generic or a loop that is yielded twice (`requires one result`),
//!   and a plaintext that a generic yields;
//! - a ciphertext that starts a loop and is used in its body;
//! - branches with a secret condition, branches that give two ciphertexts or only choose between
//!   two values from outside, and branches that yield ciphertexts of different levels or numbers of
//!   polynomials (`types mismatch between yield op and its parent`);
//! - in a generic, a call of a function with a body, or of a declaration that another call names;
//!   outside, a call with a ciphertext of another level or number of polynomials than the argument
//!   of the function has;
//! - secret floats in BGV or BFV (`Floating point types are not supported in BGV`);
//! - an approximation on an empty domain (`domain_lower must be strictly less than domain_upper`),
//!   and two `debug.validate` of one name, in modules without parameters, too.
//!
//! Two cases are warnings: secrets in BGV or BFV that are not tensors, with which `heir-opt`
//! crashes, and secrets of different last dimensions in BGV, which HEIR 2026.9.1 refuses and HEIR
//! 2026.10.1 accepts.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %1 = arith.maximumf %a, %b : tensor<8xf32>
//!       secret.yield %1 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```
//!
//! Replace the op by sums, products and rotations, for example by a polynomial approximation
//! (`--polynomial-approximation`), before HEIR places its `mgmt` ops.
//!
//! ```mlir
//! module attributes {ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601], P = [1152921504608747521], logDefaultScale = 45>, scheme.ckks} {
//!   func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
//!     %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
//!     ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
//!       %1 = arith.addf %a, %b : tensor<8xf32>
//!       secret.yield %1 : tensor<8xf32>
//!     } -> (!secret.secret<tensor<8xf32>>)
//!     return %0 : !secret.secret<tensor<8xf32>>
//!   }
//! }
//! ```

use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation, Severity};
use noisy_heir::{RelatedPlace, Scheme, UnloweredReason};
use noisy_syntax::Ir;

pub(in crate::checks) const CHECK: Check =
    Check { code: "not-lowered", header: header!("not_lowered.rs"), run: check, ..Check::ERROR };

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let Some((ir, heir, sites)) = index.sites_of(program) else { return };
    for it in sites.unlowered(ir, heir) {
        let Some(operand) = ir.op(it.op).operands.get(it.operand as usize) else { continue };
        let Some(value) = operand.value else { continue };
        let (name, op) = (ir.value_text(value), ir.op_name(it.op));
        let scheme = match it.scheme {
            Some(Scheme::Bgv) => "BGV",
            Some(Scheme::Bfv) => "BFV",
            Some(Scheme::Ckks) => "CKKS",
            None => "this scheme",
        };
        let (message, help) = message_and_help(it.reason, &name, op, scheme);
        let range = match it.reason {
            UnloweredReason::NoPattern
            | UnloweredReason::Layout
            | UnloweredReason::Slice
            | UnloweredReason::CalledBody
            | UnloweredReason::CalledTwice => core_range(ir, it.op),
            UnloweredReason::FloatsInIntegers
            | UnloweredReason::ScalarInIntegers
            | UnloweredReason::SlotsDiffer => ir.name_range(it.op),
            _ => ir.absolute(it.op, operand.span),
        };
        let mut found = CHECK.diagnostic_at(range, message);
        found.help = Some(help.to_owned());
        if it.is_warning() {
            found.severity = Severity::Warning;
        }
        if let Some(site) = ir.definition_site(value) {
            let range = ir.absolute(site, ir.value(value).span);
            found.related =
                vec![RelatedLocation { range, message: format!("{name} is defined here") }];
        }
        found.related.extend(it.related.and_then(|other| related(ir, it.reason, other)));
        out.push(found);
    }
}

/// Returns the message and the help for a reason.
fn message_and_help(
    reason: UnloweredReason,
    name: &str,
    op: &str,
    scheme: &str,
) -> (String, &'static str) {
    match reason {
        UnloweredReason::NoPattern => (
            format!("HEIR has no lowering of `{op}` for the ciphertext {name} in {scheme}"),
            "Compute with sums, products and rotations before HEIR places its mgmt ops",
        ),
        UnloweredReason::Layout => (
            format!("HEIR has no lowering of `{op}` for the ciphertext {name} in {scheme}"),
            "Convert layouts to slots (`--layout-propagation`, `--convert-to-ciphertext-semantics`) before HEIR places its mgmt ops",
        ),
        UnloweredReason::Slice => (
            format!(
                "HEIR lowers `{op}` of ciphertexts only for one full row of a tensor of rank 2"
            ),
            "Take one full row with unit strides, or mask the other elements with a product",
        ),
        UnloweredReason::MixedSlice => (
            format!("`{op}` mixes a plaintext with ciphertexts: HEIR refuses {name} here"),
            "Insert a ciphertext into a tensor of ciphertexts, or into an empty tensor",
        ),
        UnloweredReason::YieldedTwice => (
            format!("{name} is yielded twice, and is the result of the last op: HEIR refuses it"),
            "Yield it once, and use the result of the generic twice",
        ),
        UnloweredReason::YieldedPlain => (
            format!("{name} is a plaintext, but the results of a generic are ciphertexts"),
            "Use the plaintext outside of the generic, or add it to a ciphertext",
        ),
        UnloweredReason::InitialValueInBody => (
            format!("{name} starts the loop around `{op}` and is used in it: HEIR refuses that"),
            "Start the loop with another value, such as the result of an addition with zero",
        ),
        UnloweredReason::SecretCondition => (
            format!("{name} is secret, and decides about the branches of `{op}`"),
            "Compute both branches, and select with a product, before HEIR places its mgmt ops",
        ),
        UnloweredReason::FoldedToSelect => (
            format!(
                "the branches only choose between two values: HEIR makes an arith.select of {name}, and cannot lower it"
            ),
            "Compute the values in the branches",
        ),
        UnloweredReason::TwoCiphertextResults => (
            format!("{name} is the second ciphertext of these branches, and HEIR lowers only one"),
            "Write an op with branches for each of them",
        ),
        UnloweredReason::DifferentBranches => (
            format!(
                "{name} has another level or number of polynomials than the value of the other branch"
            ),
            "Switch the modulus, or relinearize, in one branch, so that both yield the same",
        ),
        UnloweredReason::FloatsInIntegers => (
            format!("{name} is a secret float, but {scheme} computes on integers"),
            "Choose CKKS, or compute on integers",
        ),
        UnloweredReason::ScalarInIntegers => (
            format!("{name} is no tensor: heir-opt crashes when it lowers this to {scheme}"),
            "Compute on tensors whose last dimension is the number of slots",
        ),
        UnloweredReason::SlotsDiffer => (
            format!(
                "{name} has another last dimension than other secrets, which HEIR 2026.9.1 refuses"
            ),
            "Give all secrets the number of slots as their last dimension",
        ),
        UnloweredReason::EmptyDomain => (
            format!(
                "`{op}` is approximated on a domain whose lower bound is not below the upper one"
            ),
            "Write domain_lower < domain_upper",
        ),
        UnloweredReason::DuplicateName => (
            format!("another `{op}` has the name of this one"),
            "Give each of them a name of its own",
        ),
        UnloweredReason::CalledBody => (
            format!(
                "HEIR lowers a call with the ciphertext {name} only if the function has no body"
            ),
            "Inline the function, or call it outside of the generic",
        ),
        UnloweredReason::CalledTwice => (
            format!("HEIR lowers one call of a declaration, and {name} is passed to another one"),
            "Declare the function a second time under another name",
        ),
        UnloweredReason::CallWithOtherNumbers => (
            format!(
                "{name} has another level or number of polynomials than the argument of the function"
            ),
            "Bring the operands of all calls of the function to one level, or copy the function",
        ),
    }
}

/// Returns the related location of a refusal.
fn related(ir: &Ir, reason: UnloweredReason, other: RelatedPlace) -> Option<RelatedLocation> {
    let (range, message) = match other {
        RelatedPlace::Value(value) => {
            let site = ir.definition_site(value)?;
            let name = ir.value_text(value);
            let message = match reason {
                UnloweredReason::CallWithOtherNumbers => format!("{name} is the argument"),
                UnloweredReason::SlotsDiffer => format!("{name} is the first secret"),
                _ => format!("{name} is the value of the other branch"),
            };
            (ir.absolute(site, ir.value(value).span), message)
        }
        RelatedPlace::Op(op) => {
            let message = match reason {
                UnloweredReason::CalledBody => "the function has a body",
                UnloweredReason::DuplicateName => "the first one",
                _ => "the other call",
            };
            (core_range(ir, op), message.to_owned())
        }
    };
    Some(RelatedLocation { range, message })
}
