//! `affine-schedule` changes a nest only if its model of caches and latencies predicts a speedup.

mod common;

use common::read;
use noisy_syntax::print;

/// Returns a function with square memrefs `%A` and `%B` of size `n` before and after scheduling.
fn scheduled(n: u32, loops: &str) -> (String, String) {
    let ty = format!("memref<{n}x{n}xf64>");
    let loops = loops.replace("TY", &ty).replace('N', &n.to_string());
    let text = format!("func.func @f(%A: {ty}, %B: {ty}, %x: f64) {{\n{loops}\nreturn\n}}\n");
    let done = common::run("builtin.module(func.func(affine-schedule))", &text);
    let after = done.unwrap_or_else(|told| panic!("{told:?}\n{text}"));
    (print::custom(&read(&text)), print::custom(&after))
}

/// Returns a triangular loop nest over a matrix that computes each element from a row and a column
/// by the ops `sum`.
fn triangle(sum: &str) -> String {
    format!(
        "affine.for %d = 1 to N {{
          affine.for %i = 0 to affine_map<(d0) -> (N - d0)>(%d) {{
            affine.for %k = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0, d1) -> (d0 + d1)>(%i, %d) {{
              %o = affine.load %A[%i, %i + %d] : TY
              %a = affine.load %A[%i, %k] : TY
              %b = affine.load %A[%k + 1, %i + %d] : TY
              {sum}
              affine.store %s, %A[%i, %i + %d] : TY
            }}
          }}
        }}"
    )
}

#[test]
fn nests_with_long_dependence_chains_are_not_tiled() {
    let short = triangle("%p = arith.mulf %a, %b : f64\n%s = arith.addf %o, %p : f64");
    let long = triangle(
        "%h = arith.mulf %o, %x : f64\n%p = arith.addf %h, %a : f64\n%q = arith.addf %p, %b : f64
         %r = arith.addf %q, %x : f64\n%s = arith.addf %r, %x : f64",
    );
    let (before, after) = scheduled(900, &short);
    assert_ne!(before, after);
    let (before, after) = scheduled(900, &long);
    assert_eq!(before, after);
}

#[test]
fn nests_that_fit_in_the_cache_are_not_tiled() {
    let product = "affine.for %i = 0 to 20 { affine.for %k = 0 to 20 { affine.for %j = 0 to 20 {
        %a = affine.load %A[%i, %k] : TY
        %b = affine.load %A[%k, %j] : TY
        %o = affine.load %B[%i, %j] : TY
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %o, %p : f64
        affine.store %s, %B[%i, %j] : TY
    } } }";
    let (before, after) = scheduled(1000, product);
    assert_eq!(before, after, "20 rows of a larger memref");
    let (before, after) = scheduled(1000, &product.replace("20", "1000"));
    assert_ne!(before, after);
}

#[test]
fn stores_are_contiguous_if_one_access_must_be_strided() {
    let (_, after) = scheduled(
        3000,
        "affine.for %i = 0 to N { affine.for %j = affine_map<(d0) -> (d0)>(%i) to N {
            %a = affine.load %A[%i, %j] : TY
            %s = arith.addf %a, %x : f64
            affine.store %s, %A[%i, %j] : TY
            affine.store %s, %A[%j, %i] : TY
        } }",
    );
    let header = after.rfind("affine.for ").expect("a loop");
    let innermost = after[header..].split_whitespace().nth(1).expect("its variable");
    let jumps = format!("affine.load %arg0[{innermost}, ");
    assert!(after.contains(&jumps), "{after}");
}

#[test]
fn wavefronts_without_reuse_have_narrow_tiles() {
    let (_, after) = scheduled(
        3000,
        "affine.for %i = 1 to N { affine.for %j = 1 to N {
            %a = affine.load %A[%i - 1, %j] : TY
            %b = affine.load %A[%i, %j - 1] : TY
            %s = arith.addf %a, %b : f64
            affine.store %s, %A[%i, %j] : TY
        } }",
    );
    assert!(after.contains("= 0 to 375"), "3000 rows in tiles of 8: {after}");
}

#[test]
fn contiguous_loops_are_kept_if_tiles_would_be_strided() {
    // Dependences span several rows in both directions. Bands are skewed by such factors that no
    // row advances by one element.
    let (before, after) = scheduled(
        1800,
        "affine.for %t = 0 to 10 {
          affine.for %i = 3 to 1797 { affine.for %j = 2 to 1798 {
            %a = affine.load %A[%i - 3, %j + 1] : TY
            %b = affine.load %A[%i + 1, %j - 2] : TY
            %s = arith.addf %a, %b : f64
            affine.store %s, %B[%i, %j] : TY
          } }
          affine.for %i = 3 to 1797 { affine.for %j = 2 to 1798 {
            %a = affine.load %B[%i - 1, %j + 2] : TY
            %b = affine.load %B[%i + 3, %j] : TY
            %s = arith.addf %a, %b : f64
            affine.store %s, %A[%i, %j] : TY
          } }
        }",
    );
    assert_eq!(before, after);
}

#[test]
fn functions_with_too_many_accesses_are_not_scheduled() {
    let stores = "affine.store %x, %A[%i, 0] : TY\n".repeat(2001);
    let (before, after) = scheduled(8, &format!("affine.for %i = 0 to N {{\n{stores}}}"));
    assert_eq!(before, after);
    let printed = common::run("builtin.module(func.func(test-memref-dependence-check))", &before);
    let told = format!("{:?}", printed.expect_err("too many"));
    assert!(told.contains("2001 accesses"), "{told}");
}
