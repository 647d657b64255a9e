//! Ops with rows that are registered at run time, through the public API.

use std::ops::Range;

use expect_test::expect;
use noisy_syntax::dialect::{
    Access, Agreement, AttrClass, AttrSpec, Buffer, COLON, COMMA, CountRange, Effects, Element,
    N_BUILT_IN, OpSpec, RegisterError, Speculation, Traits, TypeBinding, TypeClass, TypeRule, ops,
    register,
};
use noisy_syntax::{Op, OpKind, Problem, Source, print};

/// `example.blend`, `example.scope` and `example.end`, registered at run time.
fn examples() -> [OpKind; 3] {
    static KINDS: std::sync::OnceLock<[OpKind; 3]> = std::sync::OnceLock::new();
    *KINDS.get_or_init(|| {
        let mut blend = OpSpec::PURE;
        blend.name = "example.blend";
        blend.doc = "Blends two integers by a weight.";
        blend.traits = Traits::COMMUTATIVE;
        blend.operands = CountRange::exactly(2);
        blend.results = CountRange::exactly(1);
        blend.types =
            TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike]).agree(Agreement::Same);
        // Rows live as long as the process, so a list that is allocated at run time is leaked.
        blend.attrs = Vec::leak(vec![
            AttrSpec::required("note", AttrClass::Str),
            AttrSpec::with_default("weight", AttrClass::I32, "1 : i32"),
        ]);
        blend.parents = &["func.func"];
        blend.syntax = &[
            Element::StrAttr("note"),
            COMMA,
            Element::Operands(2),
            Element::AttrDict,
            COLON,
            Element::TypeOf(TypeBinding::All),
        ];
        let mut end = OpSpec::TERMINATOR;
        end.name = "example.end";
        end.doc = "Ends `example.scope`.";
        end.operands = CountRange::exactly(0);
        end.parents = &["example.scope"];
        end.syntax = &[Element::AttrDict];
        let end = register(end).unwrap();
        let mut scope = OpSpec::NONE;
        scope.name = "example.scope";
        scope.doc = "Runs its region once and notes that in a buffer.";
        scope.traits = Traits::SINGLE_BLOCK;
        scope.operands = CountRange::exactly(1);
        scope.regions = CountRange::exactly(1);
        scope.types = TypeRule::new(&[TypeClass::MemRef], &[]);
        scope.implicit_terminator = Some(end);
        scope.effects = Effects::Known(&[(Access::Write, Buffer::Operand(0))]);
        scope.syntax = &[
            Element::Operands(1),
            COLON,
            Element::TypeOf(TypeBinding::Operands),
            Element::Region,
            Element::AttrDict,
        ];
        [register(blend).unwrap(), register(scope).unwrap(), end]
    })
}

#[test]
fn registered_ops_are_found_by_their_names() {
    for kind in examples() {
        assert_eq!(OpKind::of(kind.spec().name), kind);
        assert_eq!(format!("{kind:?}"), kind.spec().name);
        assert!(ops().any(|it| it == kind));
        assert!(kind.index() >= N_BUILT_IN);
    }
}

#[test]
fn rejects_rows_that_cannot_be_registered() {
    let [blend, ..] = examples();
    let row = |name: &'static str| {
        let mut row = OpSpec::NONE;
        row.name = name;
        row
    };
    let registered = |name| Err(RegisterError::Registered(name));
    assert_eq!(register(row("arith.addi")), registered(OpKind::ArithAddi));
    assert_eq!(register(row("example.blend")), registered(blend));
    for name in ["", "add", "toy.", ".add", "toy.1", "toy.a b"] {
        assert_eq!(register(row(name)), Err(RegisterError::Name(name.to_owned())));
    }
    let mut wrong = row("example.wrong");
    wrong.implicit_terminator = Some(OpKind::ScfYield);
    let message = "`scf.yield`, the terminator of `example.wrong`, is not allowed in it".to_owned();
    assert_eq!(register(wrong), Err(RegisterError::Contradiction(message)));
    assert_eq!(OpKind::of("example.wrong"), OpKind::Unknown);
}

/// The registry stores rows in segments of growing size. These rows fill several segments.
#[test]
fn registers_many_rows_from_several_threads() {
    let register_all = |thread: usize| {
        let add = |n: usize| {
            let mut row = OpSpec::NONE;
            row.name = format!("many.op_{thread}_{n}").leak();
            (row.name, register(row).unwrap())
        };
        (0..100).map(add).collect::<Vec<_>>()
    };
    let kinds: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || register_all(n))).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    for (name, kind) in kinds {
        assert_eq!((OpKind::of(name), kind.spec().name), (kind, name));
    }
}

/// Returns the problems of a text, one a line, each after the number of its line in the text.
fn problems(text: &str) -> String {
    let line = |(_, range, problem): (Op, Range<usize>, Problem)| {
        let row = text[..range.start].matches('\n').count() + 1;
        format!("{row} {} ({})\n", problem.message, problem.code)
    };
    Source::new(text).problems().into_iter().map(line).collect()
}

/// A single row is enough to parse an op, print it in both forms, parse the output, verify counts,
/// types, attributes and parents, and complete it.
#[test]
fn adds_an_op_by_a_row() {
    let [blend, ..] = examples();
    let text = r#"func.func @f(%a: i32, %b: i64) -> i32 {
  %0 = example.blend "half", %a, %a {weight = 2 : i32} : i32
  %1 = "example.blend"(%a, %0) <{note = "all"}> : (i32, i32) -> i32
  return %1 : i32
}
"#;
    let source = Source::new(text);
    assert_eq!(source.problems().len(), 0);
    let spec = blend.spec();
    assert_eq!(spec.template(), "«%r» = example.blend \"«text»\", «%a», «%b» : «i32»");
    assert_eq!(spec.doc, "Blends two integers by a weight.");
    assert!(spec.is_pure() && spec.speculation == Speculation::Always);
    let custom = print::custom(source.ir());
    expect![[r#"
        module {
          func.func @f(%arg0: i32, %arg1: i64) -> i32 {
            %0 = example.blend "half", %arg0, %arg0 {weight = 2 : i32} : i32
            %1 = example.blend "all", %arg0, %0 : i32
            return %1 : i32
          }
        }
    "#]]
    .assert_eq(&custom);
    let generic = print::generic(source.ir());
    assert!(generic.contains(r#""example.blend"(%arg0, %0) <{note = "all", weight = 1 : i32}>"#));
    for again in [&custom, &generic] {
        assert_eq!(print::generic(Source::new(again).ir()), generic);
    }
    let wrong = r#"func.func @f(%a: i32, %b: i64, %c: i1) {
  "example.blend"(%a) <{note = "x"}> : (i32) -> i32
  "example.blend"(%a, %a) : (i32, i32) -> i32
  example.blend "x", %a, %b : i32
  %0 = example.blend %a, %a with "x" : i32
  scf.if %c {
    %1 = example.blend "x", %a, %a : i32
  }
  return
}
"#;
    expect![[r#"
        2 expected 2 operands, but found 1 (wrong-count)
        3 requires attribute 'note' (missing-attribute)
        4 this value has type i64, but i32 is expected here (type-clash)
        5 expected a string (expected-token)
    "#]]
    .assert_eq(&problems(wrong));
}

/// Two rows define an op with a region, its terminator and its effects.
#[test]
fn adds_an_op_with_a_region_by_a_row() {
    let [_, scope, _] = examples();
    let text = r#"func.func @f(%m: memref<4xi32>) {
  example.scope %m : memref<4xi32> {
    %0 = arith.constant 1 : i32
  }
  "example.scope"(%m) ({
    "example.end"() : () -> ()
  }) : (memref<4xi32>) -> ()
  return
}
"#;
    let source = Source::new(text);
    assert_eq!(source.problems(), []);
    expect![[r#"
        module {
          func.func @f(%arg0: memref<4xi32>) {
            example.scope %arg0 : memref<4xi32> {
              %0 = arith.constant 1 : i32
            }
            example.scope %arg0 : memref<4xi32> {
            }
            return
          }
        }
    "#]]
    .assert_eq(&print::custom(source.ir()));
    // The generic form contains the implicit terminator.
    let generic = print::generic(source.ir());
    assert_eq!(generic.matches(r#""example.end"() : () -> ()"#).count(), 2);
    assert_eq!(print::generic(Source::new(&generic).ir()), generic);
    let spec = scope.spec();
    assert_eq!(spec.template(), "example.scope «%a» : «memref<4xi32>» {\n  $0\n}");
    assert_eq!(spec.effects, Effects::Known(&[(Access::Write, Buffer::Operand(0))]));
    assert!(!spec.is_pure());
    let wrong = r#"func.func @f(%m: memref<4xi32>, %i: i32) {
  "example.scope"(%m) : (memref<4xi32>) -> ()
  "example.scope"(%i) ({
    "example.end"() : () -> ()
  }) : (i32) -> ()
  example.scope %m : memref<4xi32> {
    scf.yield
  }
  example.end
}
"#;
    expect![[r#"
        2 expected 1 regions, but found 0 (wrong-count)
        3 operand #0 must be a memref, but got 'i32' (operand-type)
        7 expects parent op 'scf.execute_region', 'scf.for', 'scf.if', 'scf.index_switch', 'scf.while' (misplaced-op)
        9 expects parent op 'example.scope' (misplaced-op)
    "#]].assert_eq(&problems(wrong));
}
