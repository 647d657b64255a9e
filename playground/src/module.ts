/**
 * `noisy.wasm` with what it imports: WASI (clock, randomness, an empty disk with the files that the client sent), the events it
 * tells, and HiGHS, which only a worker that searches has.
 */

import {
  ConsoleStdout,
  Directory,
  File,
  type Inode,
  OpenFile,
  PreopenDirectory,
  WASI,
} from "@bjorn3/browser_wasi_shim";
import { Memory } from "./memory.ts";

export interface Exports {
  noisy_alloc(length: number): number;
  noisy_receive(at: number, length: number): void;
  noisy_turn(): number;
  noisy_searched(number: number, isReport: number, at: number, length: number): void;
  noisy_search(number: number, at: number, length: number): void;
  noisy_is_over(iterations: number): number;
}

/** What `noisy_turn` and `noisy_search` tell; the numbers are those in `worker/src/lib.rs`. */
export type Tell = (kind: number, number: number, text: string) => void;

export const enum Kind {
  Message = 0,
  Search = 1,
  End = 2,
  Exit = 3,
  Answer = 4,
  Report = 5,
}

/** Files by absolute path. */
export type Files = Record<string, string>;

export class Disk {
  readonly root = new PreopenDirectory("/", new Map<string, Inode>());

  /** Replaces a file; without a text, removes it. */
  set(path: string, text: string | null): void {
    const names = path.split("/").filter((it) => it !== "" && it !== "." && it !== "..");
    const last = names.pop();
    if (last === undefined) {
      return;
    }
    let folder = this.root.dir;
    for (const name of names) {
      let inner = folder.contents.get(name);
      if (!(inner instanceof Directory)) {
        inner = new Directory(new Map<string, Inode>());
        folder.contents.set(name, inner);
      }
      folder = inner as Directory;
    }
    if (text === null) {
      folder.contents.delete(last);
    } else {
      folder.contents.set(last, new File(new TextEncoder().encode(text)));
    }
  }

  /** The text of a file. */
  get(path: string): string | undefined {
    let at: Inode | undefined = this.root.dir;
    for (const name of path.split("/").filter((it) => it !== "")) {
      at = at instanceof Directory ? at.contents.get(name) : undefined;
    }
    return at instanceof File ? new TextDecoder().decode(at.data) : undefined;
  }
}

export class Instance {
  private constructor(
    readonly exports: Exports,
    private readonly memory: Memory,
  ) {}

  static async start(
    module: WebAssembly.Module,
    disk: Disk,
    environment: string[],
    tell: Tell,
    solver: (memory: Memory, isOver: (iterations: number) => boolean) => Promise<object>,
  ): Promise<Instance> {
    const memory = new Memory();
    const say = ConsoleStdout.lineBuffered((line) => {
      console.error(line);
    });
    const wasi = new WASI(
      ["noisy-lsp"],
      environment,
      [new OpenFile(new File([])), say, say, disk.root],
      { debug: false },
    );
    let exports: Exports | undefined;
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: wasi.wasiImport as WebAssembly.ModuleImports,
      noisy: {
        tell: (kind: number, number: number, at: number, length: number) => {
          tell(kind, number, memory.text(at, length));
        },
      },
      highs: (await solver(
        memory,
        (n) => exports!.noisy_is_over(n) !== 0,
      )) as WebAssembly.ModuleImports,
    });
    memory.attach(instance);
    exports = instance.exports as unknown as Exports;
    wasi.initialize(instance as Parameters<WASI["initialize"]>[0]);
    return new Instance(exports, memory);
  }

  /** Passes a text to an export that takes its memory. */
  pass(text: string, to: (at: number, length: number) => void): void {
    const bytes = new TextEncoder().encode(text);
    const at = this.exports.noisy_alloc(bytes.length);
    this.memory.writeBytes(at, bytes);
    to(at, bytes.length);
  }
}

/** A worker that does not search has no solver: whatever it asks for fails. */
export const noSolver = (): Promise<object> => {
  const fails = (): number => -1;
  // A promise would take what has a `then` for another promise.
  const get = (_: object, name: string | symbol) => (name === "then" ? undefined : fails);
  return Promise.resolve(new Proxy({}, { get }));
};
