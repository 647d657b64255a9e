/** Runs before the page is loaded: the server is compiled while Monaco arrives. */

import type { Start } from "./worker.ts";

/** The first worker, and why it ended if it has. */
export interface Early {
  start: Start;
  worker: Worker | undefined;
  failure: string | undefined;
}

const at = (name: string): string => new URL(name, location.href).href;
const early: Early = {
  start: {
    module: at("noisy.wasm"),
    solver: at("solver.js"),
    highs: at("highs.wasm"),
    environment: [],
  },
  worker: undefined,
  failure: undefined,
};
if (typeof WebAssembly === "object" && typeof Worker === "function") {
  const worker = new Worker("worker.js");
  worker.onerror = (event): void => {
    early.failure = event.message || "the worker did not start";
  };
  // It says nothing unasked, unless it ends.
  worker.onmessage = (event: MessageEvent<{ params: { message: string } }>): void => {
    early.failure = event.data.params.message;
  };
  worker.postMessage(early.start);
  early.worker = worker;
}
(globalThis as { noisyEarly?: Early }).noisyEarly = early;
