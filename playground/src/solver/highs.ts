/**
 * HiGHS for `noisy-solver`: the functions that `solver/src/web.rs` imports, over the npm package `highs`.
 *
 * Programs have numbers. Arrays come as pointers into the memory of the caller. The status -1 is an error, also where the package
 * throws: the solver then answers "failed", as it does natively.
 */

import loadHighs from "highs";
import type { Memory } from "../memory.ts";

type Loaded = Awaited<ReturnType<typeof loadHighs>>;
type Program = ReturnType<Loaded["raw"]["createModel"]>;

const SIMPLEX = 1;
const INTERIOR = 2;
const MIP = 6;
const ERROR = -1;

export async function highsImports(
  module: WebAssembly.Module,
  memory: Memory,
  isOver: (iterations: number) => boolean,
): Promise<Record<string, (...args: number[]) => number | void>> {
  // Its option `wasmModule` is declared and not read.
  const options = {
    instantiateWasm: (
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) => {
      void WebAssembly.instantiate(module, imports).then((instance) => {
        done(instance, module);
      });
      return {};
    },
  };
  const highs = await loadHighs(options as Parameters<typeof loadHighs>[0]);
  const programs = new Map<number, Program>();
  let last = 0;

  const on = (program: number, act: (it: Program) => { status: number } | number): number => {
    const it = programs.get(program);
    if (it === undefined) {
      return ERROR;
    }
    try {
      const result = act(it);
      return typeof result === "number" ? result : result.status;
    } catch (error) {
      console.warn(`HiGHS: ${String(error)}`);
      return ERROR;
    }
  };
  const set = (indices: Int32Array) => ({ kind: "set", indices }) as const;

  return {
    create: (n, costs, lower, upper, isInteger) => {
      const number = ++last;
      const it = highs.raw.createModel();
      programs.set(number, it);
      const integrality = memory.ints(isInteger!, n!);
      const status = on(number, () => {
        it.setOptionValue("output_flag", false);
        return it.passModel({
          numCols: n!,
          numRows: 0,
          colCost: memory.numbers(costs!, n!),
          colLower: memory.numbers(lower!, n!),
          colUpper: memory.numbers(upper!, n!),
          rowLower: [],
          rowUpper: [],
          matrix: {
            format: "csr",
            numCols: n!,
            numRows: 0,
            starts: [0],
            indices: [],
            values: [],
          },
          ...(integrality.some((it) => it === 1) ? { integrality } : {}),
        });
      });
      if (status < 0) {
        programs.delete(number);
        it.dispose();
        return ERROR;
      }
      return number;
    },
    drop_program: (program) => {
      programs.get(program!)?.dispose();
      programs.delete(program!);
    },
    set_option: (program, name, length, value) =>
      on(program!, (it) => it.setOptionValue(memory.text(name!, length!), value!)),
    set_start: (program, values, n) =>
      on(program!, (it) => it.setSolution({ colValue: memory.numbers(values!, n!) })),
    add_rows: (program, nRows, lower, upper, nTerms, starts, index, value) =>
      on(program!, (it) =>
        it.addRows({
          lower: memory.numbers(lower!, nRows!),
          upper: memory.numbers(upper!, nRows!),
          matrix: {
            format: "csr",
            numRows: nRows!,
            numCols: it.getDimensions().numCols,
            starts: Int32Array.of(...memory.ints(starts!, nRows!), nTerms!),
            indices: memory.ints(index!, nTerms!),
            values: memory.numbers(value!, nTerms!),
          },
        }),
      ),
    remove_rows: (program, mask, n) =>
      on(program!, (it) => it.deleteRows({ kind: "mask", mask: memory.ints(mask!, n!) })),
    set_bounds: (program, n, index, lower, upper) =>
      on(program!, (it) =>
        n === 0
          ? 0
          : it.changeColsBounds(
              set(memory.ints(index!, n!)),
              memory.numbers(lower!, n!),
              memory.numbers(upper!, n!),
            ),
      ),
    set_costs: (program, n, index, costs) =>
      on(program!, (it) =>
        n === 0 ? 0 : it.changeColsCost(set(memory.ints(index!, n!)), memory.numbers(costs!, n!)),
      ),
    basis: (program, columns, nColumns, rows, nRows) =>
      on(program!, (it) => {
        const basis = it.getBasis();
        if (basis.status < 0 || basis.value === undefined) {
          return ERROR;
        }
        const { colStatus, rowStatus } = basis.value;
        if (colStatus.length !== nColumns || rowStatus.length !== nRows) {
          return ERROR;
        }
        memory.writeInts(columns!, colStatus);
        memory.writeInts(rows!, rowStatus);
        return basis.status;
      }),
    set_basis: (program, columns, nColumns, rows, nRows) =>
      on(program!, (it) =>
        it.setBasis({
          colStatus: memory.ints(columns!, nColumns!),
          rowStatus: memory.ints(rows!, nRows!),
        }),
      ),
    run: (program) =>
      on(program!, (it) => {
        it.setCallback((event) => {
          if (event.type !== SIMPLEX && event.type !== INTERIOR && event.type !== MIP) {
            return undefined;
          }
          const { simplex_iteration_count: simplex, mip_total_lp_iterations: mip } = event.data;
          const n =
            event.type === MIP ? Number(mip ?? 0) : event.type === SIMPLEX ? (simplex ?? 0) : 0;
          if (isOver(n)) {
            event.interrupt();
          }
          return undefined;
        });
        for (const kind of [SIMPLEX, INTERIOR, MIP] as const) {
          it.startCallback(kind);
        }
        const result = it.run();
        for (const kind of [SIMPLEX, INTERIOR, MIP] as const) {
          it.stopCallback(kind);
        }
        return result;
      }),
    status: (program) => on(program!, (it) => it.getModelStatus()),
    info: (program, name, length) => {
      const it = programs.get(program!);
      const wanted = memory.text(name!, length!);
      if (it === undefined) {
        return NaN;
      }
      const info = it.getInfoValue(wanted);
      return "value" in info ? Number(info.value) : NaN;
    },
    point: (program, columns, nColumns, multipliers, nRows) =>
      on(program!, (it) => {
        const solution = it.getSolution();
        if (solution.status < 0 || solution.value === undefined) {
          return ERROR;
        }
        const { colValue, rowDual } = solution.value;
        if (colValue.length !== nColumns) {
          return ERROR;
        }
        memory.writeNumbers(columns!, colValue);
        // Branch and bound has no multipliers.
        if (rowDual.length === nRows) {
          memory.writeNumbers(multipliers!, rowDual);
        }
        return solution.status;
      }),
  };
}
