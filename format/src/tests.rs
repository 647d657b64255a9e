use expect_test::{Expect, expect};
use noisy_syntax::{Source, TextEdit};

use crate::{format, format_on_type, format_range};

fn check(text: &str, expected: Expect) {
    let edits = format(&Source::new(text)).expect("it follows the grammar");
    let once = TextEdit::apply_all(&edits, text);
    expected.assert_eq(&once);
    let again = format(&Source::new(&once)).expect("it still does");
    assert_eq!(again, [], "formatting what is formatted changes nothing");
}

fn check_unchanged(text: &str) {
    assert_eq!(format(&Source::new(text)), Ok(Vec::new()), "{text}");
}

#[test]
fn ops_are_indented_one_a_line() {
    check(
        "func.func @f(%a : i32)->i32{\n %0=arith.addi %a,%a:i32 \n\n\n   %1 = scf.if %c -> (i32) { scf.yield %0 :i32 } else {\nscf.yield %a : i32\n}  return %0:i32\n}\n\n\n",
        expect![[r#"
            func.func @f(%a: i32) -> i32 {
              %0 = arith.addi %a, %a : i32

              %1 = scf.if %c -> (i32) {
                scf.yield %0 : i32
              } else {
                scf.yield %a : i32
              }
              return %0 : i32
            }
        "#]],
    );
}

#[test]
fn blocks_and_nested_regions() {
    check(
        "module{\nfunc.func @f(%c:i1,%a : i32)->i32{\ncf.cond_br %c,^bb1(%a:i32),^bb2\n^bb1(%x : i32) :\nscf.for %i=%l to %u step %s iter_args( %v = %a )->(i32){scf.yield %v:i32}\nreturn %x:i32\n^bb2:\n// alone\ncf.br ^bb1 (%a : i32) } }",
        expect![[r#"
            module {
              func.func @f(%c: i1, %a: i32) -> i32 {
                cf.cond_br %c, ^bb1(%a : i32), ^bb2
              ^bb1(%x: i32):
                scf.for %i = %l to %u step %s iter_args(%v = %a) -> (i32) {
                  scf.yield %v : i32
                }
                return %x : i32
              ^bb2:
                // alone
                cf.br ^bb1(%a : i32)
              }
            }
        "#]],
    );
}

#[test]
fn generic_ops() {
    check(
        "\"builtin.module\" () ( { \"a.b\"()<{x=1:i32,y=\"s\"}>({^bb0(%a : i32):\n\"c.d\" (%a)[^bb0]{z} : (i32)->()},{}):()->() }):()->()",
        expect![[r#"
            "builtin.module"() ({
              "a.b"() <{x = 1 : i32, y = "s"}> ({
              ^bb0(%a: i32):
                "c.d"(%a)[^bb0] {z} : (i32) -> ()
              }, {}) : () -> ()
            }) : () -> ()
        "#]],
    );
}

#[test]
fn long_signatures_are_wrapped_and_short_ones_are_not() {
    check(
        "func.func @polynomial(%x: !noisy.i32, %y: !noisy.i32, %z: !noisy.i32 {noisy.bound = 20 : i64}, %w: !noisy.i32) -> !noisy.i32 {\n  return %x : !noisy.i32\n}\nfunc.func @short(\n  %x: !noisy.i32,\n  %y: !noisy.i32\n) -> !noisy.i32 {\n  return %x : !noisy.i32\n}\nfunc.func private @declared(tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>, tensor<4x4xf32>) -> i32\n",
        expect![[r#"
            func.func @polynomial(
                %x: !noisy.i32,
                %y: !noisy.i32,
                %z: !noisy.i32 {noisy.bound = 20 : i64},
                %w: !noisy.i32
            ) -> !noisy.i32 {
              return %x : !noisy.i32
            }
            func.func @short(%x: !noisy.i32, %y: !noisy.i32) -> !noisy.i32 {
              return %x : !noisy.i32
            }
            func.func private @declared(
                tensor<4x4x4x4xf32>,
                tensor<4x4x4x4xf32>,
                tensor<4x4x4x4xf32>,
                tensor<4x4xf32>
            ) -> i32
        "#]],
    );
}

#[test]
fn keeps_line_breaks_of_long_ops() {
    check(
        "%0 = arith.constant {first = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\n   second = \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\",\n third = array<i32: 1,\n2, 3, 4, 5, 6, 7>\n  } 1 : i32\n%1 = arith.constant dense<[[1,2],\n [3,4]]> : tensor<2x2xi32>\n%2 = arith.addi\n %0,\n   %0\n : i32\n",
        expect![[r#"
            %0 = arith.constant {first = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
              second = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
              third = array<i32: 1,
                2, 3, 4, 5, 6, 7>
            } 1 : i32
            %1 = arith.constant dense<[[1, 2],
              [3, 4]]> : tensor<2x2xi32>
            %2 = arith.addi %0, %0 : i32
        "#]],
    );
}

#[test]
fn keeps_comments() {
    check(
        "// top\n\n\n\n// second   \nfunc.func @f() {// behind\n\n\n// first\n  %0 = arith.constant // in an op\n1 : i32   // value\n\n\n// last\n}// end\n// tail\n\n\n",
        expect![[r#"
            // top

            // second
            func.func @f() { // behind

              // first
              %0 = arith.constant // in an op
                  1 : i32   // value

              // last
            } // end
            // tail
        "#]],
    );
}

#[test]
fn keeps_line_ends() {
    check(
        "func.func @f() {\r\nreturn\r\n\r\n\r\n}\r\n",
        expect![["func.func @f() {\r\n  return\r\n}\r\n"]],
    );
    check("", expect![[""]]);
    check(" \n\t\n", expect![[""]]);
    check("\n// only a comment", expect![["// only a comment\n"]]);
    check(
        "\u{FEFF}func.func @f() {  return }",
        expect![["\u{FEFF}func.func @f() {\n  return\n}\n"]],
    );
}

#[test]
fn keeps_programs_in_one_file_apart() {
    check(
        "func.func @f() {return}\n// -----\n\n\nfunc.func @g() { return } // -----\n  // note // -----\n",
        expect![[r#"
            func.func @f() {
              return
            }
            // -----

            func.func @g() {
              return
            }
            // -----
            // note
            // -----
        "#]],
    );
}

#[test]
fn keeps_text_with_formatting_off() {
    check(
        "func.func @f(%a :i32) {\n// noisy: format off\n   %0   = arith.addi   %a,%a:i32\n     // noisy: format on\n   %1   = arith.addi   %a,%a:i32\n// noisy: format off\n return }",
        expect![[r#"
            func.func @f(%a: i32) {
              // noisy: format off
               %0   = arith.addi   %a,%a:i32
                 // noisy: format on
              %1 = arith.addi %a, %a : i32
              // noisy: format off
             return }"#]],
    );
}

#[test]
fn ops_of_unknown_form_move_as_a_whole() {
    check(
        "func.func @f(%a : i32) {\n    %0 = foo.bar   %a,\n           %a  [ 1,2 ]\n  // between\n      baz :i32\n%1 = foo.region(%a) {\n%2 = arith.addi %a,%a : i32\n} -> i32\n %3 = foo.reduce { arith.addi {a} } ins( %a )\nreturn\n}\n",
        expect![[r#"
            func.func @f(%a: i32) {
              %0 = foo.bar   %a,
                     %a  [ 1,2 ]
            // between
                baz :i32
              %1 = foo.region(%a) {
                %2 = arith.addi %a, %a : i32
              } -> i32
              %3 = foo.reduce { arith.addi {a} } ins( %a )
              return
            }
        "#]],
    );
}

#[test]
fn finds_the_lines_that_a_comment_refers_to() {
    check(
        "func.func @f(%a: i32) {\n// expected-error @+3 {{x}}\n\n\n%0 = arith.addi %a, %a : i32 %1 = arith.addi %a, %a : i32\n%2 = arith.addi %a,\n  %a : i32  // noisy: allow(unused-op)\n\n\n  return\n}\n",
        expect![[r#"
            func.func @f(%a: i32) {
              // expected-error @+3 {{x}}


              %0 = arith.addi %a, %a : i32 %1 = arith.addi %a, %a : i32
              %2 = arith.addi %a,
                  %a : i32  // noisy: allow(unused-op)

              return
            }
        "#]],
    );
}

#[test]
fn keeps_formatted_text() {
    check_unchanged("module {\n}\n");
    check_unchanged("module {}\n");
    check_unchanged("module attributes {} {\n}\n");
    check_unchanged("#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 mod 2 - 1)>\n");
    check_unchanged("#set = affine_set<(d0) : (d0 >= 0, d0 - 1 == 0)>\n");
    check_unchanged(
        "%0:2 = \"a.b\"() : () -> (i32, i32)\n\"c.d\"(%0#1) : (i32) -> () loc(\"f\":1:2)\n",
    );
    check_unchanged("\"a.b\"() {x = @a::@b, y = #c.d<  raw >, z = -1 : i32} : () -> ()\n");
    check_unchanged("%0 = memref.load %m[%i] : memref<?x4xf32, strided<[4, 1], offset: ?>>\n");
    check_unchanged("{-#\n  dialect_resources: {\n      a: { b: \"0x00\" }\n  }\n#-}\n");
}

#[test]
fn refuses_text_that_does_not_parse() {
    let why = format(&Source::new("func.func @f() {\n  %0 = arith.addi %a %b : i32\n}\n"))
        .expect_err("a comma is missing");
    assert_eq!(why.range.start, 37);
    assert!(format(&Source::new("func.func @f() {\n  return\n")).is_err());
    assert!(format(&Source::new("}")).is_err());
}

#[test]
fn formats_a_range_if_its_items_parse() {
    let text = "func.func @f() {\nreturn\n}\nfunc.func @g() {\n foo foo )\n}\nfunc.func @h() {\nreturn\n}\n";
    let at = text.find("@h").expect("it is there");
    let edits = format_range(&Source::new(text), at..text.len()).expect("@h parses");
    assert_eq!(
        TextEdit::apply_all(&edits, text),
        text.replace("@h() {\nreturn", "@h() {\n  return")
    );
    let broken = text.find("@g").expect("it is there");
    assert!(format_range(&Source::new(text), broken..broken + 10).is_err());
    let first = text.find("return").expect("it is there");
    let edits = format_range(&Source::new(text), first..first).expect("@f parses");
    assert_eq!(edits.len(), 1);
}

/// `$` marks the cursor, after the typed character.
fn check_typing(before: &str, typed: char, after: &str) {
    let at = before.find('$').expect("there is a cursor");
    let text = before.replace('$', "");
    let edits = format_on_type(&Source::new(&text), at, typed);
    assert_eq!(TextEdit::apply_all(&edits, &text), after);
}

#[test]
fn indents_while_typing() {
    check_typing("func.func @f() {\n$\n}\n", '\n', "func.func @f() {\n  \n}\n");
    check_typing("func.func @f() {\n$", '\n', "func.func @f() {\n  ");
    check_typing(
        "func.func @f() {\n  %0 = foo.x {\n$  }\n}\n",
        '\n',
        "func.func @f() {\n  %0 = foo.x {\n  }\n}\n",
    );
    check_typing(
        "func.func @f() {\n  %0 = \n$\n  return\n}\n",
        '\n',
        "func.func @f() {\n  %0 = \n  \n  return\n}\n",
    );
    check_typing("func.func @f() {\n  return\n  }$\n", '}', "func.func @f() {\n  return\n}\n");
    check_typing("func.func @f() {\n  return\n}\n$", '\n', "func.func @f() {\n  return\n}\n");
    check_typing(
        "func.func @f() {\n  cf.br ^a\n$^a:\n  return\n}\n",
        '\n',
        "func.func @f() {\n  cf.br ^a\n^a:\n  return\n}\n",
    );
    check_typing(
        "module {\nfunc.func @f() {\n      return$\n}}",
        ';',
        "module {\nfunc.func @f() {\n      return\n}}",
    );
}
