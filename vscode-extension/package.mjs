// Builds the .vsix: the bundled extension and, with --server FILE, that noisy-lsp inside.
//
//   node package.mjs [--server FILE] [--web DIR] [--out FILE]
//
// With --web, the workers and modules in that folder (playground/dist) go along, which are the server in a browser.
// With a server, the noisy-check that stands beside it goes along: tasks and the noise graph run it.

import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundledPackages, join, notices } from "../playground/notices.mjs";

const { values } = parseArgs({
  options: { server: { type: "string" }, web: { type: "string" }, out: { type: "string" } },
});
const server = values.server && path.resolve(values.server);
const web = values.web && path.resolve(values.web);
const out = path.resolve(values.out ?? "noisy.vsix");
process.chdir(path.dirname(fileURLToPath(import.meta.url)));

for (const stale of ["server", "dist"]) {
  fs.rmSync(stale, { recursive: true, force: true });
}

const common = {
  absWorkingDir: process.cwd(), // esbuild remembers where it was loaded
  bundle: true,
  format: "cjs",
  external: ["vscode"],
  minify: true,
  metafile: true,
};
const { metafile } = await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  platform: "node",
  target: "node20",
});
const { metafile: ofWeb } = await build({
  ...common,
  entryPoints: ["src/web.ts"],
  // VS Code may append .js to another name, and takes it for an ES module, which it does not load here, if the manifest has the type of one.
  outfile: "dist/web.js",
  platform: "browser",
  target: "es2022",
});
fs.copyFileSync("../settings/noisy.schema.json", "dist/noisy.schema.json");

fs.writeFileSync(
  "LICENSE.txt",
  join(
    "Either of the two licences below, at your choice.",
    ...["../LICENSE-MIT", "../LICENSE-APACHE"].map(read),
  ),
);
const packages = [metafile, ofWeb].flatMap(bundledPackages);
if (web) {
  fs.mkdirSync("dist/web");
  for (const name of ["worker.js", "solver.js", "noisy.wasm", "highs.wasm"]) {
    fs.copyFileSync(path.join(web, name), `dist/web/${name}`);
  }
  for (const name of ["highs", "@bjorn3/browser_wasi_shim"]) {
    packages.push(path.join(web, "../node_modules", name));
  }
}
fs.writeFileSync("dist/ThirdPartyNotices.txt", notices(packages));

if (server) {
  const suffix = process.platform === "win32" ? ".exe" : "";
  fs.mkdirSync("server");
  bundle(server, `noisy-lsp${suffix}`);
  const check = path.join(path.dirname(server), `noisy-check${suffix}`);
  if (fs.existsSync(check)) {
    bundle(check, `noisy-check${suffix}`);
  }
}

execFileSync(
  process.execPath,
  [
    "node_modules/@vscode/vsce/vsce",
    "package",
    "--no-dependencies", // esbuild has bundled them
    ...(server ? ["--target", `${process.platform}-${process.arch}`] : []),
    ...["--out", out],
  ],
  { stdio: ["ignore", "inherit", "inherit"] },
);

function bundle(program, name) {
  const copy = path.join("server", name);
  fs.copyFileSync(program, copy);
  fs.chmodSync(copy, 0o755);
}

function read(file) {
  return fs.readFileSync(file, "utf8").trim();
}
