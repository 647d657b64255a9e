use noisy_syntax::Region;

use super::*;
use crate::Document;

/// Returns the tally of the first op with a name, accumulated as in an editor.
fn tally(text: &str, name: &str) -> CostTally {
    let document = Document::new(text);
    let (ir, integers) = (document.ir(), document.integers());
    let (heir, _) = document.ciphertexts().expect("a program of HEIR's");
    let mut holder = None;
    ir.walk(ir.root(), &mut |op| {
        if holder.is_none() && ir.op_name(op) == name {
            holder = Some(op);
        }
    });
    let mut out = CostTally::new(holder.expect("there is such an op"));
    fn within(ir: &Ir, region: Region, add: &mut dyn FnMut(Option<Op>, Option<Value>)) {
        for block in ir.blocks(region) {
            ir.block(block).args.iter().for_each(|it| add(None, Some(*it)));
            for op in ir.block_ops(block) {
                add(Some(op), None);
                ir.op(op).results.iter().for_each(|it| add(None, Some(*it)));
                ir.op(op).regions.iter().for_each(|it| within(ir, it.1, add));
            }
        }
    }
    for &(_, region) in &ir.op(out.holder()).regions {
        within(ir, region, &mut |op, value| {
            if let Some(op) = op {
                out.add_op(ir, integers, heir, op);
            }
            if let Some(value) = value {
                out.add_value(ir, heir, document.depth(value), value);
            }
        });
    }
    out
}

/// Returns a module with a `secret.generic` that has this body. `%a` is a ciphertext and `%p` a
/// plaintext.
fn generic(body: &str) -> String {
    format!(
        "module attributes {{backend.lattigo, scheme.ckks}} {{
  func.func @f(%x: !secret.secret<tensor<8xf32>>, %n: index) -> !secret.secret<tensor<8xf32>> {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %p = arith.constant dense<2.0> : tensor<8xf32>
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {{
    ^body(%a: tensor<8xf32>):
{body}
    }} -> !secret.secret<tensor<8xf32>>
    return %0 : !secret.secret<tensor<8xf32>>
  }}
}}"
    )
}

fn written(n: u64) -> OpCount {
    OpCount { n_written: n, n_executed: Some(n) }
}

#[test]
fn each_kind_of_op_is_counted_once() {
    let text = generic(
        "      %1 = arith.mulf %a, %a : tensor<8xf32>
      %2 = mgmt.relinearize %1 : tensor<8xf32>
      %3 = mgmt.modreduce %2 : tensor<8xf32>
      %4 = arith.mulf %3, %p : tensor<8xf32>
      %5 = tensor_ext.rotate %4, %c3 : tensor<8xf32>, index
      %6 = arith.addf %5, %4 : tensor<8xf32>
      %7 = mgmt.level_reduce %6 {levelToDrop = 2 : i64} : tensor<8xf32>
      %8 = mgmt.bootstrap %7 : tensor<8xf32>
      secret.yield %8 : tensor<8xf32>",
    );
    let it = tally(&text, "secret.generic");
    for work in SchemeOperation::ALL {
        assert_eq!(it.count(work), written(1), "{work:?}");
    }
    // Lattigo's bootstrap uses 16 levels; three levels were used before it.
    assert_eq!((it.depth(), it.levels()), (Depth::AtMost(2), Some(16)));
    let keys = EvaluationKeys {
        needs_relinearization: true,
        rotation_steps: [3].into(),
        ..EvaluationKeys::default()
    };
    assert_eq!(*it.keys(), keys);
    let table = OperationLatency {
        add: 1,
        multiply: 10,
        multiply_plain: 100,
        relinearize: 1_000,
        rotate: 10_000,
        switch_modulus: 100_000,
        bootstrap: 1_000_000,
    };
    assert_eq!(it.cost(&table), LatencySum { microseconds: 1_111_111, is_complete: true });
    // The function contains only the generic.
    let whole = tally(&text, "func.func");
    assert_eq!(whole.cost(&table), it.cost(&table));
    assert_eq!((whole.depth(), whole.levels(), whole.keys()), (it.depth(), it.levels(), it.keys()));
}

#[test]
fn loops_multiply_counts_by_known_trip_counts() {
    let body = |to: &str| {
        format!(
            "      %1 = scf.for %i = %c0 to {to} step %c1 iter_args(%b = %a) -> (tensor<8xf32>) {{
        %2 = tensor_ext.rotate %b, %c1 : tensor<8xf32>, index
        %3 = tensor_ext.rotate %2, %i : tensor<8xf32>, index
        scf.yield %3 : tensor<8xf32>
      }}
      secret.yield %1 : tensor<8xf32>"
        )
    };
    let known = tally(&generic(&body("%c3")), "secret.generic");
    assert_eq!(known.count(SchemeOperation::Rotate), OpCount { n_written: 2, n_executed: Some(6) });
    // The second rotation has another distance in each iteration.
    assert_eq!(
        *known.keys(),
        EvaluationKeys {
            rotation_steps: [1].into(),
            needs_others: true,
            ..EvaluationKeys::default()
        }
    );
    let table = OperationLatency { rotate: 5, ..OperationLatency::default() };
    assert_eq!(known.cost(&table), LatencySum { microseconds: 30, is_complete: true });
    let unknown = tally(&generic(&body("%n")), "secret.generic");
    assert_eq!(unknown.count(SchemeOperation::Rotate), OpCount { n_written: 2, n_executed: None });
    assert_eq!(unknown.cost(&table), LatencySum { microseconds: 10, is_complete: false });
}

#[test]
fn unknown_numbers_are_marked() {
    let it = tally(
        &generic(
            "      %1 = linalg.matvec ins(%p, %a : tensor<8x8xf32>, tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
      %2 = tensor_ext.convert_layout %a : tensor<8xf32>
      secret.yield %2 : tensor<8xf32>",
        ),
        "secret.generic",
    );
    assert!(it.keys().needs_others && !it.cost(&OperationLatency::default()).is_complete);
    assert_eq!(it.count(SchemeOperation::Rotate), written(0));
    // If a loop yields another level than that of its initial value, the level is unknown.
    let it = tally(
        &generic(
            "      %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<8xf32>) {
        %2 = mgmt.modreduce %b : tensor<8xf32>
        scf.yield %2 : tensor<8xf32>
      }
      secret.yield %1 : tensor<8xf32>",
        ),
        "secret.generic",
    );
    assert_eq!(it.levels(), None);
}

#[test]
fn scheme_ops_are_counted_as_those_of_the_generic() {
    let ct = "!lwe.lwe_ciphertext<x>";
    let text = format!(
        "module attributes {{scheme.bgv}} {{
  func.func @f(%x: {ct}, %y: {ct}) -> {ct} {{
    %0 = bgv.mul %x, %y : {ct}
    %1 = bgv.relinearize %0 {{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}} : {ct}
    %2 = bgv.rotate_cols %1 {{static_shift = 4 : i64}} : {ct}
    %3 = bgv.rotate_cols %2 {{static_shift = -1 : index}} : {ct}
    %4 = bgv.rotate_rows %3 : {ct}
    %5 = bgv.modulus_switch %4 : {ct}
    return %5 : {ct}
  }}
}}"
    );
    let it = tally(&text, "func.func");
    assert_eq!(it.count(SchemeOperation::Rotate), written(3));
    assert_eq!(it.count(SchemeOperation::Relinearize), written(1));
    assert_eq!(it.count(SchemeOperation::SwitchModulus), written(1));
    let keys = EvaluationKeys {
        needs_relinearization: true,
        rotation_steps: [-1, 4].into(),
        needs_row_swap: true,
        needs_others: false,
    };
    assert_eq!(*it.keys(), keys);
    assert_eq!(it.levels(), Some(1));
}
