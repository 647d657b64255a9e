//! Tests on derivations of ciphertexts.

use expect_test::expect;

use noisy_analyses::Document;
use noisy_heir::{CiphertextStep, derivation};

/// Returns the steps to a named value, one per line.
fn steps(text: &str, name: &str) -> String {
    let document = Document::new(text);
    let ir = document.ir();
    let (heir, known) = document.ciphertexts().expect("a program of HEIR's");
    let value = crate::values(ir).into_iter().find(|it| ir.value_text(*it) == name);
    let found = derivation(ir, heir, known, value.expect("there is such a value"));
    assert!(!found.is_cut);
    let line = |it: &CiphertextStep| {
        format!("{} {} {}\n", ir.value_text(it.value), it.quantity, it.effect)
    };
    found.steps.iter().map(line).collect()
}

const CKKS: &str = "module attributes {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193, 35184373006337], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
  func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
    %c1 = arith.constant 1 : index
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
    ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %1 = arith.addf %a, %b : tensor<8xf32>
      %2 = arith.mulf %b, %1 : tensor<8xf32>
      %3 = mgmt.relinearize %2 : tensor<8xf32>
      %4 = mgmt.modreduce %3 : tensor<8xf32>
      %5 = tensor_ext.rotate %4, %c1 : tensor<8xf32>, index
      %6 = arith.addf %5, %4 : tensor<8xf32>
      secret.yield %6 : tensor<8xf32>
    } -> !secret.secret<tensor<8xf32>>
    return %0 : !secret.secret<tensor<8xf32>>
  }
}
";

#[test]
fn lists_ops_that_change_a_number() {
    expect![[r#"
        %y L1 D2 s45 argument of @f, assumed fresh
        %2 L1 D3 s90 arith.mulf: product of 2 and 2 polynomials
        %3 L1 D2 s90 mgmt.relinearize: 2 polynomials after it
        %4 L0 D2 s45 mgmt.modreduce: uses 1 level
        %0 L0 D2 s45 result of secret.generic
    "#]]
    .assert_eq(&steps(CKKS, "%0"));
    expect![[r#"
        %x L1 D2 s45 argument of @f, assumed fresh
        %a L1 D2 s45 passed to secret.generic
    "#]]
    .assert_eq(&steps(CKKS, "%a"));
}

#[test]
fn shows_written_levels() {
    // The user has written a level that follows from parameters with 5 levels.
    let text = CKKS.replace(
        "%4 = mgmt.modreduce %3 :",
        "%4 = mgmt.modreduce %3 {mgmt.mgmt = #mgmt.mgmt<level = 4>} :",
    );
    expect![[r#"
        %y L5 D2 s45 argument of @f, assumed fresh
        %2 L5 D3 s90 arith.mulf: product of 2 and 2 polynomials
        %3 L5 D2 s90 mgmt.relinearize: 2 polynomials after it
        %4 L4 D2 s45 mgmt.modreduce: uses 1 level
    "#]]
    .assert_eq(&steps(&text, "%4"));
}

#[test]
fn follows_a_loop_once() {
    let text = "module attributes {scheme.ckks} {
  func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
    %0 = secret.generic(%x: !secret.secret<f32>) {
    ^body(%a: f32):
      %1 = affine.for %i = 0 to 4 iter_args(%b = %a) -> (f32) {
        %2 = arith.mulf %b, %a : f32
        %3 = mgmt.relinearize %2 : f32
        affine.yield %3 : f32
      }
      %4 = mgmt.level_reduce %1 {levelToDrop = 2 : i64} : f32
      secret.yield %4 : f32
    } -> !secret.secret<f32>
    return %0 : !secret.secret<f32>
  }
}
";
    expect![[r#"
        %x L2 D2 argument of @f, assumed fresh
        %4 L0 D2 mgmt.level_reduce: uses 2 levels
    "#]]
    .assert_eq(&steps(text, "%4"));
}
