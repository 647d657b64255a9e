// The server of the browser behind the standard input and output of Node, so that the tests of the native server run against it.
//
//   node tests/stdio.mjs [--disk]
//
// With --disk, the files named noisy.toml or .noisy.toml in the folders of the client are its files, as VS Code passes them.

import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Server } from "../dist/test/server.js";

const folder = new URL("../dist/", import.meta.url);
const read = (name) => new WebAssembly.Module(readFileSync(new URL(name, folder)));
const module = read("noisy.wasm");
let highs;

const server = new Server({
  post: (message) => {
    const body = Buffer.from(JSON.stringify(message));
    process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
    process.stdout.write(body);
  },
  died: (why) => {
    process.stderr.write(`the server ended: ${why}\n`);
    process.exit(101);
  },
  exited: (code) => {
    // Standard output to a pipe is written at once on Linux.
    process.exit(code);
  },
  searcher: () => {
    highs ??= read("highs.wasm");
    const worker = new Worker(new URL("test/solver-node.js", folder));
    worker.postMessage({ module, highs });
    return {
      search: (number, wanted, told, died) => {
        worker.removeAllListeners();
        worker.on("message", ({ kind, text }) => {
          if (kind === "died") died(text);
          else told(kind, text);
        });
        worker.on("error", (error) => died(error.message));
        worker.postMessage({ number, wanted });
      },
      end: () => {
        worker.removeAllListeners();
        void worker.terminate();
      },
    };
  },
  later: setImmediate,
});
console.log = console.error;
await server.start(module, []);

let waiting = Buffer.alloc(0);
let length;
process.stdin.on("data", (data) => {
  waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
  for (;;) {
    if (length === undefined) {
      const end = waiting.indexOf("\r\n\r\n");
      if (end < 0) return;
      length = Number(/content-length: *(\d+)/i.exec(waiting.subarray(0, end).toString())?.[1]);
      waiting = waiting.subarray(end + 4);
    }
    if (waiting.length < length) return;
    const body = waiting.subarray(0, length).toString();
    waiting = waiting.subarray(length);
    length = undefined;
    server.receive(body);
  }
});
process.stdin.on("end", () => process.exit(1));
