// The server of the browser against the native one, on the programs of the tests: diagnostics, hints, fixes, formatting and placements
// with their costs and proofs are the same.
//
//   node tests/same.mjs --server NOISY-LSP [--programs DIR]... [--most N]

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../..");
const { values } = parseArgs({
  options: {
    server: { type: "string" },
    programs: {
      type: "string",
      multiple: true,
      default: ["examples", "tests/corpus", "tests/suite"].map((it) => path.join(root, it)),
    },
    most: { type: "string", default: "300" },
  },
});

/** A server with the answers that it gives. */
class Server {
  constructor(command, args) {
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.waiting = new Map();
    this.last = 0;
    this.heard = [];
    this.listeners = new Set();
    let rest = Buffer.alloc(0);
    this.child.stdout.on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (;;) {
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = Number(/Content-Length: (\d+)/.exec(rest.subarray(0, end).toString())[1]);
        if (rest.length < end + 4 + length) return;
        const message = JSON.parse(rest.subarray(end + 4, end + 4 + length).toString());
        rest = rest.subarray(end + 4 + length);
        this.take(message);
      }
    });
    this.child.on("exit", (code) => {
      if (!this.isOver) {
        for (const it of this.waiting.values())
          it.reject(new Error(`the server ended with ${code}`));
        this.ended = true;
      }
    });
  }

  take(message) {
    if (message.method === undefined) {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) waiting.resolve({ error: message.error.message });
      else waiting.resolve(message.result);
      return;
    }
    if (message.id !== undefined) {
      const result = message.method === "workspace/applyEdit" ? { applied: true } : null;
      this.send({ id: message.id, result });
    }
    this.heard.push(message);
    for (const it of this.listeners) it();
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.child.stdin.write(body);
  }

  ask(method, params) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      if (this.ended) reject(new Error("the server has stopped"));
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  /** The first message for which `is` holds, heard or to come. */
  hear(what, is, patience = 60_000) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.listeners.delete(look);
        reject(new Error(`${what}: not within ${patience} ms`));
      }, patience);
      const look = () => {
        const found = this.heard.find(is);
        if (found === undefined) return;
        clearTimeout(timer);
        this.listeners.delete(look);
        resolve(found);
      };
      this.listeners.add(look);
      look();
    });
  }

  async start() {
    const capabilities = {
      workspace: { applyEdit: true, workspaceEdit: { documentChanges: true } },
      textDocument: {
        publishDiagnostics: { relatedInformation: true, versionSupport: true, dataSupport: true },
        codeAction: {
          codeActionLiteralSupport: {
            codeActionKind: { valueSet: ["quickfix", "refactor", "source"] },
          },
          resolveSupport: { properties: ["edit"] },
          dataSupport: true,
          disabledSupport: true,
        },
      },
    };
    const initializationOptions = { placement: { background: false, timeLimit: 20 } };
    await this.ask("initialize", {
      processId: null,
      rootUri: null,
      capabilities,
      initializationOptions,
    });
    this.send({ method: "initialized", params: {} });
  }

  end() {
    this.isOver = true;
    this.child.kill();
  }
}

/** All that is asked about a program. */
async function answers(server, name, text) {
  const uri = `file:///same/${name}`;
  const textDocument = { uri };
  server.heard.length = 0;
  server.send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "mlir", version: 1, text } },
  });
  const published = await server.hear(
    `diagnostics of ${name}`,
    (it) =>
      it.method === "textDocument/publishDiagnostics" &&
      it.params.uri === uri &&
      it.params.version === 1,
  );
  const { diagnostics } = published.params;
  const range = {
    start: { line: 0, character: 0 },
    end: { line: text.split("\n").length, character: 0 },
  };
  const out = { diagnostics };
  out.hints = await server.ask("textDocument/inlayHint", { textDocument, range });
  out.lenses = await server.ask("textDocument/codeLens", { textDocument });
  out.tokens = await server.ask("textDocument/semanticTokens/full", { textDocument });
  out.symbols = await server.ask("textDocument/documentSymbol", { textDocument });
  out.formatting = await server.ask("textDocument/formatting", {
    textDocument,
    options: { tabSize: 2, insertSpaces: true },
  });
  out.actions = await server.ask("textDocument/codeAction", {
    textDocument,
    range,
    context: { diagnostics, triggerKind: 1 },
  });
  server.heard.length = 0;
  await server
    .ask("workspace/executeCommand", { command: "noisy.insertReduceNoise", arguments: [{ uri }] })
    .then((it) => {
      out.refusal = it?.error;
    });
  if (out.refusal === undefined) {
    const said = await server.hear(
      `the report about ${name}`,
      (it) => it.method === "window/showMessage",
    );
    out.report = said.params.message;
    out.n =
      JSON.stringify(server.heard.filter((it) => it.method === "workspace/applyEdit")).split(
        "reduce_noise",
      ).length - 1;
  }
  server.send({ method: "textDocument/didClose", params: { textDocument } });
  return out;
}

/** Numbers that look random, the same each time. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A program with loops and branches; every fourth has a mistake in it. */
function generated(seed) {
  const next = random(seed);
  const noisy = ["%x", "%y"];
  const lines = [];
  let n = 0;
  const op = (indent, known) => {
    const [a, b] = [known[next(known.length)], known[next(known.length)]];
    const name = ["add", "sub", "mul", "mul", "add"][next(5)];
    const value = `%v${n++}`;
    lines.push(`${indent}${value} = noisy.${name} ${a}, ${b} : !noisy.i32`);
    return value;
  };
  for (let left = 3 + next(25); left > 0; left -= 1) {
    const kind = next(10);
    if (kind === 0) {
      const [value, of] = [`%v${n++}`, noisy[next(noisy.length)]];
      lines.push(
        `  ${value} = scf.for %i${n} = %c0 to %c5 step %c1 iter_args(%a${n} = ${of}) -> (!noisy.i32) {`,
      );
      const inner = op("    ", [`%a${n}`, ...noisy]);
      lines.push(`    scf.yield ${inner} : !noisy.i32`, "  }");
      noisy.push(value);
    } else if (kind === 1) {
      const value = `%v${n++}`;
      lines.push(`  ${value} = scf.if %c -> (!noisy.i32) {`);
      lines.push(`    scf.yield ${op("    ", noisy)} : !noisy.i32`, "  } else {");
      lines.push(`    scf.yield ${op("    ", noisy)} : !noisy.i32`, "  }");
      noisy.push(value);
    } else {
      noisy.push(op("  ", noisy.slice(-6)));
    }
  }
  const text = `func.func @f(%x: !noisy.i32, %y: !noisy.i32, %c: i1) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
${lines.join("\n")}
  return ${noisy.at(-1)} : !noisy.i32
}
`;
  if (seed % 4 !== 0) return text;
  const at = next(text.length - 10);
  return text.slice(0, at) + text.slice(at + 1 + next(4));
}

const most = Number(values.most);
const files = values.programs
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((it) => it.endsWith(".mlir"))
      .map((it) => path.join(folder, it)),
  )
  .slice(0, most)
  .map((file) => ({ name: path.relative(root, file), text: readFileSync(file, "utf8") }));
const chosen = [
  ...files,
  ...Array.from({ length: most - files.length }, (_, n) => ({
    name: `generated ${n + 1}`,
    text: generated(n + 1),
  })),
];

const native = new Server(path.resolve(values.server), []);
const browser = new Server(process.execPath, ["--stack-size=984", path.join(here, "stdio.mjs")]);
await Promise.all([native.start(), browser.start()]);
let passed = 0;
let failed = 0;
let placed = 0;
for (const [n, { name, text }] of chosen.entries()) {
  try {
    const [a, b] = await Promise.all([native, browser].map((it) => answers(it, `${n}.mlir`, text)));
    assert.deepEqual(b, a);
    passed += 1;
    placed += a.report?.includes("inserted") ? 1 : 0;
  } catch (error) {
    failed += 1;
    console.log(`not ok - ${name}: ${String(error.message).split("\n").slice(0, 40).join("\n  ")}`);
    if (native.ended || browser.ended) break;
  }
}
native.end();
browser.end();
console.log(
  `${placed} placements; the answers about ${passed} of ${chosen.length} programs are the same`,
);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
