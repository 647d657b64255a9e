use super::*;
use crate::{Form, Source, print};

#[test]
fn every_op_is_found_by_its_name() {
    for &kind in ALL {
        assert_eq!(OpKind::of(kind.spec().name), kind);
        assert!(!kind.spec().doc.is_empty(), "{kind:?} has no documentation");
    }
    assert_eq!(OpKind::of("arith.nothing"), OpKind::Unknown);
}

#[test]
fn kinds_are_named_after_their_ops() {
    for &kind in ALL {
        let mut camel = String::new();
        for part in kind.spec().name.split(['.', '_']) {
            camel.push_str(&part[..1].to_uppercase());
            camel.push_str(&part[1..]);
        }
        assert_eq!(format!("{kind:?}"), camel);
    }
}

#[test]
fn rows_do_not_contradict_themselves() {
    for &kind in ALL {
        let spec = kind.spec();
        assert_eq!(spec.contradiction(), None);
        let is_segmented = spec.attr("operandSegmentSizes").is_some();
        // The operand groups of later versions of this op are not known.
        let is_open = kind == OpKind::AffineLinearizeIndex;
        assert_eq!(is_segmented && !is_open, !spec.segments.is_empty(), "{kind:?}");
        for parent in spec.parents {
            assert_ne!(OpKind::of(parent), OpKind::Unknown, "{kind:?}");
        }
        assert!(spec.has_custom_form(), "{kind:?} has no form");
    }
}

/// Returns a template with its placeholders filled in.
fn filled(template: &str) -> String {
    template.replace(['«', '»'], "").replace("$0", "")
}

#[test]
fn the_template_of_every_op_is_its_custom_form() {
    for &kind in ALL {
        let text = filled(&kind.spec().template());
        let source = Source::new(&text);
        let ir = source.ir();
        let mut ops = Vec::new();
        ir.walk(ir.root(), &mut |op| ops.push(op));
        let first = ops.first().map(|&op| (ir.op(op).kind, ir.op(op).form));
        assert_eq!(first, Some((kind, Form::Custom)), "{text}");
        let own = ir.extra(ops[0]).problems.iter().map(|it| (it.code, &it.message));
        assert_eq!(own.collect::<Vec<_>>(), [], "{text}");
    }
}

#[test]
fn templates_say_what_the_row_says() {
    let all = [
        (OpKind::NoisyEncode, "«%r» = noisy.encode «%a» : «i5» -> !noisy.i32"),
        (OpKind::NoisyMul, "«%r» = noisy.mul «%a», «%b» : !noisy.i32"),
        (OpKind::FuncFunc, "func.func @«name»(«%a: !noisy.i32») -> «!noisy.i32» {\n  $0\n}"),
        (OpKind::FuncCall, "func.call @«name»(«») : («») -> «()»"),
        (OpKind::ScfFor, "scf.for «%i» = «%lb» to «%ub» step «%step» {\n  $0\n}"),
        (OpKind::ScfIf, "scf.if «%condition» {\n  $0\n}"),
        (OpKind::ArithExtsi, "«%r» = arith.extsi «%a» : «i32» to «i64»"),
        (OpKind::ArithTruncf, "«%r» = arith.truncf «%a» : «f64» to «f32»"),
        (OpKind::CfCondBr, "cf.cond_br «%condition», ^«bb1», ^«bb1»"),
        (OpKind::MemrefStore, "memref.store «%a», «%b»[«%i»] : «memref<4xi32>»"),
    ];
    for (kind, text) in all {
        assert_eq!(kind.spec().template(), text);
    }
}

/// Asserts that the ops of a function body parse without a problem, are printed as they are
/// written, and survive the generic form.
fn keeps(signature: &str, body: &str) {
    let text = format!("module {{\n  func.func @f({signature}) {{\n{body}    return\n  }}\n}}\n");
    let source = Source::new(&text);
    assert_eq!(source.problems(), []);
    assert_eq!(print::custom(source.ir()), text);
    let generic = print::generic(source.ir());
    assert_eq!(print::custom(Source::new(&generic).ir()), text);
}

#[test]
fn keeps_flags_and_predicates() {
    keeps(
        "%arg0: i32, %arg1: f32",
        "    %0 = arith.addi %arg0, %arg0 overflow<nsw, nuw> : i32
    %1 = arith.cmpi slt, %arg0, %0 : i32
    %2 = arith.mulf %arg1, %arg1 fastmath<nnan,ninf> : f32
    %3 = arith.truncf %arg1 upward : f32 to f16
",
    );
}

#[test]
fn keeps_allocations_and_accesses() {
    keeps(
        "%arg0: index",
        "    %0 = memref.alloc(%arg0) : memref<?xf32>
    %1 = memref.load %0[%arg0] : memref<?xf32>
    affine.store %1, %0[%arg0 + 1] : memref<?xf32>
    %2 = memref.subview %0[0] [%arg0] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
",
    );
}

#[test]
fn keeps_regions() {
    keeps(
        "%arg0: i1, %arg1: index",
        "    %0 = scf.if %arg0 -> (i32) {
      %1 = arith.constant 1 : i32
      scf.yield %1 : i32
    } else {
      %1 = arith.constant 2 : i32
      scf.yield %1 : i32
    }
    scf.index_switch %arg1
    case 1 {
      scf.yield
    }
    default {
    }
",
    );
}
