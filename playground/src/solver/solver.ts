/** A worker that searches for placements, one at a time. It is ended to end a search. */

import { highsImports } from "./highs.ts";
import { Disk, Instance, Kind } from "../module.ts";
import { reason } from "../server.ts";

export interface SolverStart {
  module: WebAssembly.Module;
  highs: WebAssembly.Module;
}

export interface SolverTask {
  number: number;
  wanted: string;
}

export interface SolverAnswer {
  kind: Kind | "died";
  text: string;
}

export type Send = (answer: SolverAnswer) => void;

export class Solver {
  private instance: Promise<Instance> | undefined;

  constructor(private readonly send: Send) {}

  async receive(message: SolverStart | SolverTask): Promise<void> {
    try {
      if ("module" in message) {
        const tell = (kind: number, _: number, text: string): void => {
          this.send({ kind, text });
        };
        this.instance = Instance.start(message.module, new Disk(), [], tell, (memory, isOver) =>
          highsImports(message.highs, memory, isOver),
        );
        return;
      }
      const instance = await this.instance!;
      instance.pass(message.wanted, (at, length) => {
        instance.exports.noisy_search(message.number, at, length);
      });
    } catch (error) {
      this.send({ kind: "died", text: reason(error) });
    }
  }
}
