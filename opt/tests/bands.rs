//! `print-schedule`: bands are as deep as the dependences allow. Statements in few loops are
//! aligned with deeper ones, and loops are shifted by sizes, reversed, or skewed by large factors.
//! The depths equal those of isl's scheduler.

mod tool;

use tool::{file, run};

/// Returns the depth and the nesting level of each band.
fn bands(name: &str, text: &str) -> Vec<(usize, usize)> {
    let path = file(name, text);
    let done = run(&["--print-schedule"], &path);
    let _ = std::fs::remove_file(path);
    let said = String::from_utf8(done.stderr).expect("text");
    assert!(done.status.success(), "{said}");
    let band = |line: &str| {
        let depth = line.trim_start().strip_prefix("band of ")?.strip_suffix(':')?;
        Some((depth.parse().ok()?, (line.len() - line.trim_start().len()) / 2))
    };
    said.lines().filter_map(band).collect()
}

#[test]
fn statements_in_few_loops_are_aligned_with_deeper_ones() {
    // The Gram-Schmidt process: all statements share k and j.
    let text = "func.func @f(%A: memref<600x600xf64>, %R: memref<600x600xf64>, %Q: memref<600x600xf64>, %x: f64) {
      affine.for %k = 0 to 600 {
        affine.store %x, %R[%k, %k] : memref<600x600xf64>
        affine.for %i = 0 to 600 {
          %a = affine.load %A[%i, %k] : memref<600x600xf64>
          %r = affine.load %R[%k, %k] : memref<600x600xf64>
          %q = arith.divf %a, %r : f64
          affine.store %q, %Q[%i, %k] : memref<600x600xf64>
        }
        affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to 600 {
          affine.for %i = 0 to 600 {
            %r = affine.load %R[%k, %j] : memref<600x600xf64>
            %q = affine.load %Q[%i, %k] : memref<600x600xf64>
            %a = affine.load %A[%i, %j] : memref<600x600xf64>
            %p = arith.mulf %q, %a : f64
            %s = arith.addf %r, %p : f64
            affine.store %s, %R[%k, %j] : memref<600x600xf64>
          }
          affine.for %i = 0 to 600 {
            %a = affine.load %A[%i, %j] : memref<600x600xf64>
            %q = affine.load %Q[%i, %k] : memref<600x600xf64>
            %r = affine.load %R[%k, %j] : memref<600x600xf64>
            %p = arith.mulf %q, %r : f64
            %s = arith.subf %a, %p : f64
            affine.store %s, %A[%i, %j] : memref<600x600xf64>
          }
        }
      }
      return
    }";
    assert_eq!(bands("gram.mlir", text), [(2, 1), (1, 2)]);
}

#[test]
fn statements_share_an_inner_band_if_one_is_shifted_by_a_size() {
    let text = "func.func @f(%A: memref<90x90x90xf64>, %C: memref<90x90xf64>, %S: memref<90xf64>, %x: f64) {
      affine.for %r = 0 to 90 { affine.for %q = 0 to 90 {
        affine.for %p = 0 to 90 {
          affine.store %x, %S[%p] : memref<90xf64>
          affine.for %s = 0 to 90 {
            %a = affine.load %A[%r, %q, %s] : memref<90x90x90xf64>
            %c = affine.load %C[%s, %p] : memref<90x90xf64>
            %o = affine.load %S[%p] : memref<90xf64>
            %m = arith.mulf %a, %c : f64
            %n = arith.addf %o, %m : f64
            affine.store %n, %S[%p] : memref<90xf64>
          }
        }
        affine.for %p = 0 to 90 {
          %o = affine.load %S[%p] : memref<90xf64>
          affine.store %o, %A[%r, %q, %p] : memref<90x90x90xf64>
        }
      } }
      return
    }";
    assert_eq!(bands("doitgen.mlir", text), [(1, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_loop_is_reversed_in_a_band_with_a_shallower_statement() {
    // Back substitution solves for the last unknown first.
    let text = "func.func @f(%U: memref<900x900xf64>, %x: memref<900xf64>, %b: memref<900xf64>) {
      affine.for %j = 0 to 900 {
        %o = affine.load %b[899 - %j] : memref<900xf64>
        %d = affine.load %U[899 - %j, 899 - %j] : memref<900x900xf64>
        %q = arith.divf %o, %d : f64
        affine.store %q, %x[899 - %j] : memref<900xf64>
        affine.for %i = 0 to affine_map<(d0) -> (899 - d0)>(%j) {
          %r = affine.load %b[%i] : memref<900xf64>
          %u = affine.load %U[%i, 899 - %j] : memref<900x900xf64>
          %v = affine.load %x[899 - %j] : memref<900xf64>
          %p = arith.mulf %u, %v : f64
          %s = arith.subf %r, %p : f64
          affine.store %s, %b[%i] : memref<900xf64>
        }
      }
      return
    }";
    assert_eq!(bands("backwards.mlir", text), [(2, 1)]);
}

#[test]
fn the_time_loop_is_in_the_band_of_a_wide_stencil() {
    let text = "func.func @f(%A: memref<90000xf64>) {
      affine.for %t = 0 to 50 { affine.for %i = 7 to 89993 {
        %a = affine.load %A[%i - 7] : memref<90000xf64>
        %b = affine.load %A[%i + 7] : memref<90000xf64>
        %s = arith.addf %a, %b : f64
        affine.store %s, %A[%i] : memref<90000xf64>
      } }
      return
    }";
    assert_eq!(bands("wide.mlir", text), [(2, 1)]);
}
