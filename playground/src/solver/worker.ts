/** The entry of the worker that searches. */

import { Solver, type SolverStart, type SolverTask } from "./solver.ts";

const solver = new Solver((answer) => {
  postMessage(answer);
});

self.onmessage = (event: MessageEvent<SolverStart | SolverTask>): void => {
  void solver.receive(event.data);
};
