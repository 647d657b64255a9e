/**
 * The entry of the worker with the server. Its first message says where its parts are; all others, and all answers, are messages of
 * JSON-RPC. A server that cannot go on says so by the notification `noisy/died`.
 */

import { Server, reason, type Message, type Searcher } from "./server.ts";
import type { SolverAnswer } from "./solver/solver.ts";

/** The first message: URLs. */
export interface Start {
  /** `noisy.wasm`. */
  module: string;
  /** `solver.js`. */
  solver: string;
  /** `highs.wasm`. */
  highs: string;
  /** The variables of the environment, as `NAME=value`. */
  environment: string[];
}

let start: Start | undefined;
let module: WebAssembly.Module | undefined;
/** Compiled when the first search is asked for. */
let highs: Promise<WebAssembly.Module> | undefined;
let script: Promise<string> | undefined;
const waiting: Message[] = [];
let isReady = false;

const post = (message: object): void => {
  postMessage(message);
};

const died = (message: string): void => {
  post({ jsonrpc: "2.0", method: "noisy/died", params: { message } });
};

const channel = new MessageChannel();
const queue: (() => void)[] = [];
channel.port1.onmessage = (): void => {
  queue.shift()?.();
};

const server = new Server({
  post,
  died,
  exited: () => {
    close();
  },
  searcher,
  later: (act) => {
    queue.push(act);
    channel.port2.postMessage(null);
  },
});

/** A worker for searches. Its script is loaded as text: the folder of an extension is of another origin than its workers. */
function searcher(): Searcher {
  let worker: Worker | undefined;
  let isEnded = false;
  let told: (answer: SolverAnswer) => void = () => undefined;
  script ??= text(start!.solver);
  highs ??= compiled(start!.highs);
  const started = Promise.all([script, highs]).then(([code, solver]) => {
    if (isEnded) {
      return;
    }
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.onmessage = (event: MessageEvent<SolverAnswer>): void => {
      told(event.data);
    };
    worker.onerror = (event): void => {
      told({ kind: "died", text: event.message });
    };
    worker.postMessage({ module, highs: solver });
  });
  return {
    search: (number, wanted, tell, died) => {
      told = ({ kind, text }): void => {
        if (kind === "died") {
          died(text);
        } else {
          tell(kind, text);
        }
      };
      started.then(
        () => worker?.postMessage({ number, wanted }),
        (error: unknown) => {
          // The next search tries again.
          script = undefined;
          highs = undefined;
          died(reason(error));
        },
      );
    },
    end: () => {
      isEnded = true;
      worker?.terminate();
    },
  };
}

async function fetched(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`${url}: ${String(response.status)}`);
  }
  return response;
}

async function text(url: string): Promise<string> {
  return (await fetched(url)).text();
}

async function compiled(url: string): Promise<WebAssembly.Module> {
  const response = await fetched(url);
  // Only with this type a module is compiled while it arrives.
  return response.headers.get("content-type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

async function begin(): Promise<void> {
  try {
    module = await compiled(start!.module);
    await server.start(module, start!.environment);
  } catch (error) {
    died(`the server did not start: ${reason(error)}`);
    return;
  }
  isReady = true;
  for (const message of waiting.splice(0)) {
    server.receive(message);
  }
}

self.onmessage = (event: MessageEvent<Start | Message>): void => {
  if (start === undefined) {
    start = event.data as Start;
    void begin();
  } else if (!isReady) {
    waiting.push(event.data as Message);
  } else {
    server.receive(event.data as Message);
  }
};
