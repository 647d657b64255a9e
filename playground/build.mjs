// Bundles the playground into dist/: the page, its workers and the modules of WebAssembly.
//
//   node build.mjs NOISY.WASM

import { build } from "esbuild";
import * as fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync, constants, brotliCompressSync } from "node:zlib";
import { bundledPackages, notices } from "./notices.mjs";
import { page } from "./build-page.mjs";

const wasm = process.argv[2] && path.resolve(process.argv[2]);
process.chdir(path.dirname(fileURLToPath(import.meta.url)));
if (!wasm) {
  throw new Error("usage: node build.mjs NOISY.WASM");
}
const out = "dist";
fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(`${out}/test`, { recursive: true });

const common = {
  absWorkingDir: process.cwd(), // esbuild remembers where it was loaded
  bundle: true,
  minify: true,
  target: "es2022",
  logLevel: "warning",
};
// Workers that are started from a text are classic scripts.
const workers = await build({
  ...common,
  metafile: true,
  format: "iife",
  platform: "browser",
  // The package `highs` asks for these in Node only.
  external: ["node:*"],
  logOverride: { "empty-import-meta": "silent" },
  entryPoints: { worker: "src/worker.ts", solver: "src/solver/worker.ts" },
  outdir: out,
});
await build({
  ...common,
  format: "esm",
  platform: "node",
  entryPoints: { server: "src/server.ts", "solver-node": "src/solver/node.ts" },
  outdir: `${out}/test`,
});
fs.writeFileSync(`${out}/test/package.json`, '{ "type": "module" }\n');
fs.copyFileSync("node_modules/highs/build/highs.wasm", `${out}/highs.wasm`);
fs.copyFileSync(wasm, `${out}/noisy.wasm`);
const ofPage = await page(out, common);
const packages = [workers.metafile, ...ofPage].flatMap(bundledPackages);
fs.writeFileSync(`${out}/ThirdPartyNotices.txt`, notices(packages));

// The sizes, of which docs/performance.md speaks.
const kb = (n) => `${(n / 1e3).toFixed(0)} kB`.padStart(8);
for (const name of fs.readdirSync(out).filter((it) => /\.(js|css|wasm|html)$/.test(it))) {
  const text = fs.readFileSync(`${out}/${name}`);
  const small = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  console.log(
    `${name.padEnd(20)} ${kb(text.length)} gzip ${kb(gzipSync(text, { level: 9 }).length)} brotli ${kb(small.length)}`,
  );
}
