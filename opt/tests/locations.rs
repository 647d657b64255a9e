//! Locations are kept, printed like in mlir-opt, parsed, stripped, and used in filters of logs.

mod tool;

use tool::{file, run};

const TEXT: &str = r#"#loc3 = loc("late":1:1)
module @m {
  func.func @f(%a: i32 loc("arg")) -> i32 {
    %t = arith.constant true
    %0 = arith.addi %a, %a : i32 loc(callsite("c":1:2 at fused["d":3:4, "n"("e":5:6)]))
    %1 = arith.addi %0, %a : i32 loc(fused<"meta">["d":3:4])
    %3 = arith.addi %0, %a : i32 loc(#loc3)
    cf.br ^bb1(%0, %t : i32, i1)
  ^bb1(%x: i32 loc("blockarg"), %y: i1):
    %r = scf.if %y -> i32 {
      scf.yield %x : i32
    } else {
      scf.yield %3 : i32 loc("y")
    } loc("if")
    return %x : i32
  } loc(#fwd)
}
#fwd = loc("fwd":9:9)
"#;

/// The output of mlir-opt 19, with `FILE` in place of the file name.
const PRINTED: &str = r#"#loc2 = loc("arg")
#loc9 = loc("blockarg")
#loc10 = loc("FILE":9:33)
module @m {
  func.func @f(%arg0: i32 loc("arg")) -> i32 {
    %true = arith.constant true loc(#loc3)
    %0 = arith.addi %arg0, %arg0 : i32 loc(#loc18)
    %1 = arith.addi %0, %arg0 : i32 loc(#loc16)
    %2 = arith.addi %0, %arg0 : i32 loc(#loc7)
    cf.br ^bb1(%0, %true : i32, i1) loc(#loc8)
  ^bb1(%3: i32 loc("blockarg"), %4: i1 loc("FILE":9:33)):  // pred: ^bb0
    %5 = scf.if %4 -> (i32) {
      scf.yield %3 : i32 loc(#loc12)
    } else {
      scf.yield %2 : i32 loc(#loc13)
    } loc(#loc11)
    return %3 : i32 loc(#loc14)
  } loc(#loc1)
} loc(#loc)
#loc = loc("FILE":2:1)
#loc1 = loc("fwd":9:9)
#loc3 = loc("FILE":4:10)
#loc4 = loc("c":1:2)
#loc5 = loc("d":3:4)
#loc6 = loc("e":5:6)
#loc7 = loc("late":1:1)
#loc8 = loc("FILE":8:5)
#loc11 = loc("if")
#loc12 = loc("FILE":11:7)
#loc13 = loc("y")
#loc14 = loc("FILE":15:5)
#loc15 = loc("n"(#loc6))
#loc16 = loc(fused<"meta">[#loc5])
#loc17 = loc(fused[#loc5, #loc15])
#loc18 = loc(callsite(#loc4 at #loc17))

"#;

fn stdout(name: &str, args: &[&str], text: &str) -> String {
    let input = file(name, text);
    let output = run(args, &input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let shown = input.display().to_string();
    let _ = std::fs::remove_file(input);
    out.replace(&shown, "FILE")
}

#[test]
fn locations_are_printed_like_in_mlir_opt_and_parsed() {
    let printed = stdout("located.mlir", &["-mlir-print-debuginfo"], TEXT);
    assert_eq!(printed, PRINTED);
    // All locations are now explicit, so they do not depend on the name of the input file.
    assert_eq!(stdout("again.mlir", &["-mlir-print-debuginfo"], &printed), PRINTED);
    let generic = ["-mlir-print-debuginfo", "-mlir-print-op-generic"];
    let again = stdout("generic.mlir", &generic, TEXT);
    assert_eq!(stdout("again.mlir", &["-mlir-print-debuginfo"], &again), PRINTED);
    let inline = stdout("inline.mlir", &["-mlir-print-debuginfo", "-mlir-print-local-scope"], TEXT);
    let callsite = r#"loc(callsite("c":1:2 at fused["d":3:4, "n"("e":5:6)]))"#;
    assert!(inline.contains(callsite) && !inline.contains("#loc"), "{inline}");
    assert_eq!(stdout("again.mlir", &["-mlir-print-debuginfo"], &inline), PRINTED);
    // A location in an attribute is not the location of the op or argument.
    let text = TEXT.replace("%a: i32 loc(", "%a: i32 {x.l = loc(\"no\")} loc(");
    let text =
        text.replace("%0, %a : i32 loc(#loc3)", "%0, %a {x.l = loc(\"no\")} : i32 loc(#loc3)");
    let printed = stdout("attribute.mlir", &["-mlir-print-debuginfo"], &text);
    assert!(printed.starts_with(r#"#loc2 = loc("arg")"#), "{printed}");
    assert!(printed.contains(r#"#loc7 = loc("late":1:1)"#), "{printed}");
    assert_eq!(printed.matches(r#"{x.l = loc("no")}"#).count(), 2, "{printed}");
    // Lines of parts of a split file are counted from the start of the file.
    let parts = "func.func private @f()\n// -----\nfunc.func private @g()\n";
    let flags = ["-mlir-print-debuginfo", "-mlir-print-local-scope", "-split-input-file"];
    let printed = stdout("parts.mlir", &flags, parts);
    assert!(printed.contains("@g() loc(\"FILE\":3:1)"), "{printed}");
}

#[test]
fn created_ops_have_the_locations_of_replaced_ops() {
    let text = r#"func.func @f(%a: i32) -> i32 {
  %z = arith.addi %a, %a : i32
  %c5 = arith.constant 5 : i32 loc("five")
  %1 = arith.muli %a, %c5 : i32
  %2 = arith.muli %1, %c5 : i32 loc("product")
  %3 = arith.xori %2, %z : i32
  return %3 : i32
}
"#;
    let flags = ["-mlir-print-debuginfo", "-mlir-print-local-scope", "-canonicalize"];
    let printed = stdout("made.mlir", &flags, text);
    assert!(printed.contains(r#"arith.muli %arg0, %c25_i32 : i32 loc("product")"#), "{printed}");
    // A constant that moved to the start of the function has no location.
    assert!(printed.contains("arith.constant 25 : i32 loc(unknown)"), "{printed}");
    let stripped = stdout("stripped.mlir", &["-mlir-print-debuginfo", "-strip-debuginfo"], text);
    assert!(stripped.starts_with("#loc = loc(unknown)\n"), "{stripped}");
    assert_eq!(stripped.matches("loc(#loc)").count(), 8, "{stripped}");
    assert_eq!(stripped.matches("%arg0: i32 loc(unknown)").count(), 1, "{stripped}");
}

#[test]
fn location_filters_limit_logged_actions() {
    let text = r#"func.func @f(%a: i32) -> i32 {
  return %a : i32
}
func.func @g(%a: i32) -> i32 {
  return %a : i32
} loc("other.mlir":7:8)
"#;
    let input = file("logged.mlir", text);
    let pipeline = "--pass-pipeline=builtin.module(func.func(cse))";
    let logged = |filter: &str| {
        let filter = format!("--log-mlir-actions-filter={filter}");
        let output = run(&[pipeline, "--log-actions-to=-", &filter, "-o", "/dev/null"], &input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(out.matches("begins").count(), out.matches("completed").count(), "{out}");
        (out.matches("@f").count(), out.matches("@g").count())
    };
    let name = input.display().to_string();
    assert_eq!(logged(&name), (1, 0));
    assert_eq!(logged(&format!("{name}:1")), (1, 0));
    assert_eq!(logged(&format!("{name}:1:1")), (1, 0));
    assert_eq!(logged(&format!("{name}:1:2")), (0, 0));
    assert_eq!(logged(&format!("{name}:1:1,other.mlir:7")), (1, 1));
    assert_eq!(logged("other.mlir:7:8"), (0, 1));
    assert_eq!(logged("another.mlir"), (0, 0));
    for wrong in ["", "a.mlir,", "a.mlir:x", "a.mlir:1:x"] {
        let output = run(&[&format!("--log-mlir-actions-filter={wrong}")], &input);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(said.contains("Invalid location filter"), "{said}");
    }
    let _ = std::fs::remove_file(input);
}
