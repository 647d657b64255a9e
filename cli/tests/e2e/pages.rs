//! Pages and pictures: graphs of noise and nests of loops.

use expect_test::expect_file;

use crate::tool::{Folder, STENCIL, TUTORIAL};

#[test]
fn graphs() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    let dot = folder.run(&["graph", "a.mlir"]);
    assert!(
        dot.code == 0 && dot.out.starts_with("digraph") && dot.out.contains("%5 = mul\\n[0, 48]"),
        "{}",
        dot.out
    );
    let page =
        folder.run(&["graph", "a.mlir", "--fix", "--format", "html", "--function", "@tutorial"]);
    assert!(
        page.out.contains("before") && page.out.contains("Insert 3 reduce_noise (proven optimal)"),
        "{page:?}"
    );
    assert_eq!(
        folder.run_with(&["graph", "-", "-o", "x.svg", "--format", "svg"], TUTORIAL, &[]).code,
        0
    );
    assert!(folder.read("x.svg").starts_with("<svg"));
    assert_eq!(folder.run(&["graph", "none.mlir"]).code, 2);
    assert_eq!(folder.run(&["graph", "a.mlir", "--function", "x"]).code, 2);
}

/// Four products with a common factor, added one after another.
const PRODUCTS: &str = "func.func @f(%a: !noisy.i32, %b: !noisy.i32, %c: !noisy.i32, %d: !noisy.i32, %k: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.mul %a, %k : !noisy.i32
  %2 = noisy.mul %b, %k : !noisy.i32
  %3 = noisy.mul %c, %k : !noisy.i32
  %4 = noisy.mul %d, %k : !noisy.i32
  %5 = noisy.add %1, %2 : !noisy.i32
  %6 = noisy.add %5, %3 : !noisy.i32
  %7 = noisy.add %6, %4 : !noisy.i32
  return %7 : !noisy.i32
}
";

#[test]
fn pictures_of_rewriting_in_the_docs_are_current() {
    let folder = Folder::with_files(&[("placed.mlir", PRODUCTS), ("rewritten.mlir", PRODUCTS)]);
    assert_eq!(folder.run(&["placed.mlir", "--fix"]).code, 0);
    assert_eq!(folder.run(&["rewritten.mlir", "--fix", "--rewrite"]).code, 0);
    for (name, picture) in [
        ("placed.mlir", expect_file!["../../../docs/images/factor-placed.svg"]),
        ("rewritten.mlir", expect_file!["../../../docs/images/factor-rewritten.svg"]),
    ] {
        picture.assert_eq(&folder.run(&["graph", name, "--format", "svg"]).out);
    }
}

const COPY: &str = "func.func @f(%A: memref<8x8xf64>, %B: memref<8x8xf64>) {
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %x = affine.load %A[%i - 1, %j + 1] : memref<8x8xf64>
      affine.store %x, %B[%i, %j] : memref<8x8xf64>
    }
  }
  return
}
";

#[test]
fn nests() {
    let folder = Folder::with_files(&[("a.mlir", STENCIL), ("b.mlir", TUTORIAL)]);
    let page = folder.run(&["nest", "a.mlir"]);
    let refused = "Refused, forbidden by flow from line 12 to line 8, distance (1, -1)";
    assert!(page.code == 0 && page.out.contains(refused), "{page:?}");
    let args = ["nest", "-", "-o", "x.svg", "--format", "svg", "--after", "tile", "--tile", "2"];
    assert_eq!(folder.run_with(&args, STENCIL, &[]).code, 0);
    assert!(folder.read("x.svg").contains("Tile by 2: forbidden by flow from line 12"));
    let data = folder.run(&["nest", "a.mlir", "--line", "6", "--format", "json", "--size", "4"]);
    let data: serde_json::Value = serde_json::from_str(&data.out).expect("JSON");
    assert_eq!(data["points"].as_array().map(Vec::len), Some(12));
    assert_eq!(data["notes"][0], "Unknown values are assumed to be 4: %n.");
    // Two arguments are different memrefs, unless the settings allow aliasing.
    folder.write("copy.mlir", COPY);
    let args = ["nest", "copy.mlir", "--format", "svg", "--after", "interchange"];
    assert!(!folder.run(&args).out.contains("forbidden"));
    let config = ["--config", "loops.arguments-may-alias=true"];
    let run = folder.run(&[&args[..], &config].concat());
    assert!(run.code == 0 && run.out.contains("forbidden"), "{run:?}");
    for (args, why) in [
        (&["nest", "b.mlir"][..], "noisy-check: b.mlir: there is no loop\n"),
        (&["nest", "a.mlir", "--line", "3"], "noisy-check: a.mlir: line 3 is not in a loop\n"),
        (&["nest", "a.mlir", "--size", "0"], "error: invalid value '0'"),
        (&["nest", "none.mlir"], "noisy-check: none.mlir: "),
    ] {
        let run = folder.run(args);
        assert!(run.code == 2 && run.err.starts_with(why), "{run:?}");
    }
}
