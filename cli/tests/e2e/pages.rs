//! Pages and pictures: graphs of noise and nests of loops.

use crate::tool::{Folder, STENCIL, TUTORIAL};

#[test]
fn graphs() {
    let folder = Folder::with(&[("a.mlir", TUTORIAL)]);
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
    let folder = Folder::with(&[("a.mlir", STENCIL), ("b.mlir", TUTORIAL)]);
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
    // Two arguments: two memrefs, unless they may share elements.
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
