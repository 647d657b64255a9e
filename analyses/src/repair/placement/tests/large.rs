//! Bounded work for code that is repeated often or nested deeply.

use super::*;

#[test]
fn equal_iterations_are_visited_once() {
    // 16^7 iterations without a noisy iteration argument.
    let mut open = String::new();
    for it in 0..7 {
        let _ = writeln!(open, "affine.for %i{it} = 0 to 16 {{");
    }
    let close = "}\n".repeat(7);
    let text = format!(
        "func.func @f(%x: i5) -> i5 {{
  %0 = noisy.encode %x : i5 -> !noisy.i32
  {open}%u = noisy.add %0, %0 : !noisy.i32\n{close}
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  %d = noisy.decode %2 : !noisy.i32 -> i5
  return %d : i5
}}
"
    );
    let (outcome, _) =
        fixed_with(&text, &PlacementOptions { wants_proofs: true, ..PlacementOptions::default() });
    assert_eq!(outcome.n_inserted(), 1);
    let proof = outcome.groups[0].proof.as_ref().expect("a proof");
    assert_eq!(proof.instance.nodes.len(), 4);
}

#[test]
fn deeply_nested_calls_do_not_overflow_the_stack() {
    // Each function adds once and calls the next one; 14 additions in a row reach the budget.
    let n: usize = 5000;
    let mut text = String::new();
    for it in 0..n {
        let (visibility, next) = (if it == 0 { "" } else { "private " }, it + 1);
        let _ = writeln!(text, "func.func {visibility}@f{it}(%a: !noisy.i32) -> !noisy.i32 {{");
        let _ = writeln!(text, "  %s = noisy.add %a, %a : !noisy.i32");
        if next < n {
            let _ = writeln!(text, "  %r = func.call @f{next}(%s) : (!noisy.i32) -> !noisy.i32");
        }
        let _ = writeln!(text, "  return {} : !noisy.i32\n}}", if next < n { "%r" } else { "%s" });
    }
    let (outcome, after) = fixed_with(&text, &options());
    assert!(errors(&after).is_empty());
    assert_eq!(outcome.n_inserted(), n.div_ceil(14) - 1);
    assert!(outcome.groups.iter().all(FunctionGroup::is_optimal), "{outcome:?}");
}
