/**
 * The language server without a worker around it: messages in, messages out. `worker.ts` puts it into a web worker, and
 * `tests/stdio.mjs` behind the standard input and output of Node.
 */

import { Disk, Instance, Kind, noSolver } from "./module.ts";

/** A message of JSON-RPC. */
export interface Message {
  jsonrpc: "2.0";
  id?: number | string;
  method?: string;
  params?: unknown;
}

/** A worker that searches for a placement; see `solver/solver.ts`. */
export interface Searcher {
  /** Starts a search; its worker is the caller's until it is idle or ended. */
  search(
    number: number,
    wanted: string,
    told: (kind: Kind, text: string) => void,
    died: (why: string) => void,
  ): void;
  end(): void;
}

export interface Surroundings {
  post(message: Message): void;
  /** The server cannot go on; the text of the client is not lost, and another server may be started. */
  died(why: string): void;
  exited(code: number): void;
  searcher(): Searcher;
  /** Runs something after the events that wait. */
  later(act: () => void): void;
}

/** How the client changes files: `noisy.toml` of a workspace that is no folder of a disk. */
interface FilesParams {
  files: Record<string, string | null>;
}

export class Server {
  private instance: Instance | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isTurnDue = false;
  private isDead = false;
  private readonly idle: Searcher[] = [];
  private readonly searches = new Map<number, Searcher>();
  readonly disk = new Disk();

  constructor(private readonly around: Surroundings) {}

  async start(module: WebAssembly.Module, environment: string[]): Promise<void> {
    this.instance = await Instance.start(module, this.disk, environment, this.tell, noSolver);
  }

  /** Takes a message of the client, as text or as an object. */
  receive(message: string | Message): void {
    if (typeof message !== "string" && message.method === "noisy/files") {
      const { files } = message.params as FilesParams;
      for (const [path, text] of Object.entries(files)) {
        this.disk.set(path, text);
      }
      message = {
        jsonrpc: "2.0",
        method: "workspace/didChangeWatchedFiles",
        params: { changes: [] },
      };
    } else if (typeof message !== "string" && message.method === "noisy/file") {
      const { path } = message.params as { path: string };
      const result = this.disk.get(path) ?? null;
      this.around.post({ jsonrpc: "2.0", id: message.id!, result } as Message);
      return;
    }
    const text = typeof message === "string" ? message : JSON.stringify(message);
    this.run((instance) => {
      instance.pass(text, (at, length) => {
        instance.exports.noisy_receive(at, length);
      });
    });
    // Messages that have arrived are taken first: what is cancelled is not begun.
    this.soon();
  }

  private run(act: (instance: Instance) => void): void {
    if (this.isDead || this.instance === undefined) {
      return;
    }
    try {
      act(this.instance);
    } catch (error) {
      this.isDead = true;
      clearTimeout(this.timer);
      this.endSearches();
      this.around.died(reason(error));
    }
  }

  private turn(): void {
    clearTimeout(this.timer);
    this.run((instance) => {
      const wait = instance.exports.noisy_turn();
      if (wait === 0) {
        this.soon();
      } else if (wait > 0) {
        this.timer = setTimeout(() => {
          this.turn();
        }, wait);
      }
    });
  }

  private soon(): void {
    if (!this.isTurnDue) {
      this.isTurnDue = true;
      this.around.later(() => {
        this.isTurnDue = false;
        this.turn();
      });
    }
  }

  private readonly tell = (kind: number, number: number, text: string): void => {
    switch (kind as Kind) {
      case Kind.Message:
        this.around.post(JSON.parse(text) as Message);
        break;
      case Kind.Search:
        this.search(number, text);
        break;
      case Kind.End:
        // A search cannot be told to stop: its worker has one thread.
        this.searches.get(number)?.end();
        this.searches.delete(number);
        break;
      case Kind.Exit:
        this.endSearches();
        this.around.exited(number);
        break;
    }
  };

  private search(number: number, wanted: string): void {
    const searcher = this.idle.pop() ?? this.around.searcher();
    this.searches.set(number, searcher);
    const answered = (isReport: boolean, text: string): void => {
      this.run((instance) => {
        instance.pass(text, (at, length) => {
          instance.exports.noisy_searched(number, isReport ? 1 : 0, at, length);
        });
      });
      this.turn();
    };
    searcher.search(
      number,
      wanted,
      (kind, text) => {
        if (!this.searches.has(number)) {
          return;
        }
        if (kind === Kind.Answer) {
          this.searches.delete(number);
          this.idle.push(searcher);
        }
        answered(kind === Kind.Report, text);
      },
      (why) => {
        console.error(`the search ended: ${why}`);
        this.searches.delete(number);
        answered(false, "");
      },
    );
  }

  private endSearches(): void {
    for (const it of [...this.searches.values(), ...this.idle]) {
      it.end();
    }
    this.searches.clear();
    this.idle.length = 0;
  }
}

/** Says why a module ended. */
export function reason(error: unknown): string {
  if (error instanceof RangeError) {
    return "the program is nested too deeply for a browser";
  }
  return error instanceof Error ? error.message : String(error);
}
