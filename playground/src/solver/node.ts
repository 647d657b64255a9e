/** The worker that searches, in Node, for tests. */

import { parentPort } from "node:worker_threads";
import { Solver, type SolverStart, type SolverTask } from "./solver.ts";

const solver = new Solver((answer) => parentPort!.postMessage(answer));
parentPort!.on("message", (message: SolverStart | SolverTask) => void solver.receive(message));
