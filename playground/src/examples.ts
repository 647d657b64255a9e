/** The programs to choose from: those of `examples/`, and a few more. */

import branches from "../../examples/branches.mlir";
import heir from "../../examples/heir.mlir";
import legal from "../../examples/legal.mlir";
import squarings from "../../examples/squarings.mlir";
import stencil from "../../examples/stencil.mlir";

export interface Example {
  id: string;
  name: string;
  program: string;
  settings?: string;
}

const LOOP = `// The loop adds noise in each of its iterations: the error is reported where a later one goes over the budget.
func.func @sum(%x: i5, %y: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.encode %y : i5 -> !noisy.i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %sum = scf.for %i = %c0 to %c20 step %c1 iter_args(%acc = %0) -> (!noisy.i32) {
    %2 = noisy.add %acc, %1 : !noisy.i32
    scf.yield %2 : !noisy.i32
  }
  %3 = noisy.decode %sum : !noisy.i32 -> i5
  return %3 : i5
}
`;

const MODEL = `# A scheme whose values begin with 10 bits of noise, and may have 40.
[model]
fresh = 10
budget = 40
`;

export const EXAMPLES: Example[] = [
  { id: "squarings", name: "The tutorial: squarings", program: squarings },
  { id: "branches", name: "One repair for two branches", program: branches },
  { id: "loop", name: "A loop", program: LOOP },
  { id: "model", name: "Another noise model", program: squarings, settings: MODEL },
  { id: "heir", name: "HEIR: a missing relinearization", program: heir },
  { id: "stencil", name: "Affine loops: a stencil", program: stencil },
  { id: "legal", name: "A legal program", program: legal },
];
