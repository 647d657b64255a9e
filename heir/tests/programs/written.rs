//! Tests on HEIR's annotations of values without a level, and on branches and nested modules.

use super::{facts_of_values, generic, levels};

fn annotated_levels(text: &str) -> String {
    facts_of_values(text, &|_, heir, ir, value| {
        heir.annotated_level(ir, value).map(|it| it.to_string())
    })
}

#[test]
fn positions_are_not_plaintexts() {
    let text = "module attributes {scheme.ckks} {
  func.func @f(%x: tensor<8xf32> {secret.secret}, %s: f32 {secret.secret}) -> tensor<8xf32> {
    %c = arith.constant 0 : index
    %i = mgmt.init %c : index
    %0 = mgmt.modreduce %x : tensor<8xf32>
    %1 = mgmt.modreduce %s : f32
    %2 = tensor.insert %1 into %0[%i] : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}";
    assert_eq!(levels(text), "%x=0 %s=0 %c=- %i=- %0=1 %1=1 %2=1");
    assert_eq!(annotated_levels(text), "%x=0 %s=0 %c=- %i=0 %0=1 %1=1 %2=1");
}

#[test]
fn does_not_encode_values_of_other_types() {
    let text = "!cc = !openfhe.crypto_context
!ct = !openfhe.ciphertext
!pt = !openfhe.plaintext
module attributes {scheme.bgv} {
  func.func @f(%cc: !cc, %x: !ct, %p: !pt) -> !ct {
    %0 = openfhe.square %cc, %x : (!cc, !ct) -> !ct
    %1 = openfhe.mod_reduce %cc, %0 : (!cc, !ct) -> !ct
    %2 = openfhe.mul_plain %cc, %1, %p : (!cc, !ct, !pt) -> !ct
    %3 = openfhe.mod_reduce %cc, %2 : (!cc, !ct) -> !ct
    return %3 : !ct
  }
}";
    assert_eq!(levels(text), "%cc=- %x=0 %p=1 %0=0 %1=1 %2=1 %3=2");
}

#[test]
fn only_constants_decide_branches() {
    let body = "%c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %1 = scf.for %i = %c0 to %c9 step %c1 iter_args(%b = %a) -> (i16) {
        %d = arith.cmpi slt, %i, %c9 : index
        %2 = scf.if %d -> (i16) {
          %3 = arith.addi %b, %b : i16
          scf.yield %3 : i16
        } else {
          %4 = mgmt.init %q : i16
          scf.yield %4 : i16
        }
        scf.yield %2 : i16
      }
      secret.yield %1 : i16";
    let text = generic("scheme.bgv", body);
    // The branch never runs, but HEIR does not find that out.
    assert!(levels(&text).ends_with("%2=0 %3=0 %4=0"), "{}", levels(&text));
    let constant = text.replace("%d = arith.cmpi slt, %i, %c9 : index", "%d = arith.constant true");
    assert!(levels(&constant).ends_with("%2=0 %3=0 %4=-"), "{}", levels(&constant));
    assert!(
        annotated_levels(&constant).ends_with("%2=0 %3=0 %4=-"),
        "{}",
        annotated_levels(&constant)
    );
}

#[test]
fn the_innermost_module_names_the_library() {
    let module = |attributes: &str, name: &str| {
        format!(
            "  module attributes {{{attributes}}} {{
    func.func @f(%{name}: tensor<16xf32> {{secret.secret}}) -> tensor<16xf32> {{
      %{name}1 = kernel.eval_chebyshev %{name} {{coefficients = [1.0, 2.0, 3.0, 4.0]}} : tensor<16xf32> -> tensor<16xf32>
      return %{name}1 : tensor<16xf32>
    }}
  }}
"
        )
    };
    let text = format!(
        "module attributes {{scheme.ckks, backend.lattigo}} {{\n{}{}{}}}\n",
        module("backend.lattigo", "x"),
        module("backend.openfhe", "y"),
        module("a.b", "z"),
    );
    assert_eq!(levels(&text), "%x=0 %x1=2 %y=0 %y1=3 %z=0 %z1=2");
}

#[test]
fn does_not_check_the_level_that_a_varying_loop_yields() {
    let body = "%1 = affine.for %i = 0 to 4 iter_args(%b = %a) -> (i16) {
        %2 = mgmt.bootstrap %b : i16
        %3 = mgmt.modreduce %2 : i16
        %c = arith.addi %3, %3 : i16
        affine.yield %c : i16
      }
      %4 = mgmt.modreduce %1 : i16
      secret.yield %4 : i16";
    let text = generic("scheme.ckks", body);
    assert!(
        levels(&text).ends_with("%a=0 %1=0 %i=- %b=0 %2=0 %3=1 %c=- %4=1"),
        "{}",
        levels(&text)
    );
    assert!(
        annotated_levels(&text).ends_with("%a=0 %1=0 %i=- %b=0 %2=0 %3=1 %c=- %4=1"),
        "{}",
        annotated_levels(&text)
    );
}

#[test]
fn while_loops_carry_the_level_of_the_initial_value() {
    let body = "%1 = scf.while (%b = %a) : (i16) -> i16 {
        %d = arith.cmpi sgt, %b, %q : i16
        scf.condition(%d) %b : i16
      } do {
      ^bb0(%c: i16):
        %2 = mgmt.bootstrap %c : i16
        %3 = mgmt.modreduce %2 : i16
        %4 = mgmt.relinearize %3 : i16
        scf.yield %4 : i16
      }
      secret.yield %1 : i16";
    let text = generic("scheme.ckks", body);
    assert!(
        levels(&text).ends_with("%a=0 %1=0 %b=0 %d=0 %c=0 %2=0 %3=1 %4=-"),
        "{}",
        levels(&text)
    );
    assert!(annotated_levels(&text).ends_with("%3=1 %4=-"), "{}", annotated_levels(&text));
}

#[test]
fn loops_that_run_once_carry_nothing() {
    let text = |header: &str, end: &str| {
        let body = format!(
            "%c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %1 = {header} iter_args(%b = %a) -> (i16) {{
        %2 = mgmt.modreduce %b : i16
        {end} %2 : i16
      }}
      secret.yield %1 : i16"
        );
        generic("scheme.ckks", &body)
    };
    // As in HEIR 2026.9.1, which uses constants only, for an `affine.for` those in its text.
    for (header, end, is_repeated) in [
        ("affine.for %i = 0 to 1", "affine.yield", false),
        ("affine.for %i = 0 to 4 step 4", "affine.yield", false),
        ("affine.for %i = 0 to min affine_map<() -> (1, 7)>()", "affine.yield", true),
        ("affine.for %i = max affine_map<() -> (0, -4)>() to 1", "affine.yield", true),
        ("scf.for %i = %c0 to %k1 step %c1", "scf.yield", false),
        ("affine.for %i = 0 to 2", "affine.yield", true),
        ("affine.for %i = 0 to %c1", "affine.yield", true),
        ("scf.for %i = %c0 to %c1 step %c1", "scf.yield", false),
        ("scf.for %i = %c0 to %q2 step %c1", "scf.yield", true),
    ] {
        let text =
            text(header, end).replace("%c0 =", "%q2 = arith.constant 2 : index\n      %k = arith.constant 1 : i32\n      %k1 = arith.index_cast %k : i32 to index\n      %c0 =");
        let (one, two) = if is_repeated { ("%1=0", "%2=-") } else { ("%1=1", "%2=1") };
        let levels = levels(&text);
        assert!(
            levels.contains(&format!(" {one} ")) && levels.ends_with(two),
            "{header}: {levels}"
        );
        let is_told = noisy_analyses::Document::new(&text)
            .diagnostics()
            .iter()
            .any(|it| it.code == "varying-level");
        assert_eq!(is_told, is_repeated, "{header}");
    }
}

#[test]
fn plaintexts_of_unknown_sums_have_no_level() {
    let of = |body: &str| {
        let said = annotated_levels(&generic("scheme.bgv", body));
        said.split(' ').skip(2).collect::<Vec<_>>().join(" ")
    };
    // HEIR reports an error: the encoded plaintext of a product depends on the product itself.
    let feedback = "%1 = arith.muli %a, %p : i16
      %2 = mgmt.modreduce %1 : i16
      %3 = arith.muli %2, %p : i16
      secret.yield %3 : i16";
    assert_eq!(of(feedback), "%p=- %0=- %a=0 %1=- %2=- %3=-");
    let text = generic("scheme.bgv", feedback)
        .replace("init %q", "init %q {mgmt.mgmt = #mgmt.mgmt<level = 1>}")
        .replace("%a, %p", "%a, %p {mgmt.mgmt = #mgmt.mgmt<level = 7>}");
    assert_eq!(super::annotations::codes_by_line(&text), "");
    // If a sum is unknown, the level that it needs for its operand is unknown too, also if the
    // operand has another `mgmt.init`.
    let unknown = "%1 = mgmt.modreduce %a : i16
      %2 = other.op %1 : i16
      %3 = arith.addi %2, %p : i16
      %4 = mgmt.init %q : i16
      secret.yield %1 : i16";
    assert_eq!(of(unknown), "%p=- %0=1 %a=0 %1=1 %2=- %3=- %4=0");
    let source = unknown.replace("%2, %p", "%2, %q");
    assert_eq!(of(&source), "%p=- %0=1 %a=0 %1=1 %2=- %3=- %4=-");
}

#[test]
fn repeated_encodings_have_the_same_level() {
    let body = "%1 = mgmt.modreduce %a : i16
      %2 = arith.addi %1, %q : i16
      %3 = mgmt.init %p : i16
      %4 = mgmt.init %3 : i16
      secret.yield %2 : i16";
    let said = annotated_levels(&generic("scheme.ckks", body));
    assert!(said.ends_with("%p=1 %0=1 %a=0 %1=1 %2=1 %3=1 %4=1"), "{said}");
}

#[test]
fn initial_values_do_not_pass_a_loop_that_runs() {
    let of = |high: &str| {
        let body = format!(
            "%1 = affine.for %i = 0 to 1 iter_args(%b = %q) -> (i16) {{
        %2 = affine.for %j = 0 to {high} iter_args(%c = %q) -> (i16) {{
          %3 = mgmt.modreduce %a : i16
          affine.yield %3 : i16
        }}
        %4 = mgmt.init %q : i16
        affine.yield %a : i16
      }}
      secret.yield %a : i16"
        );
        annotated_levels(&generic("scheme.ckks", &body))
    };
    // The loop runs, so the plaintext becomes `%c`, at one used level, but not `%1`, at none. If
    // the loop did not run, it would become `%2`, which would then be `%q`.
    assert!(of("3").ends_with("%4=1"), "{}", of("3"));
}
