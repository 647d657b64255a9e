// Builds noisy-PLATFORM.vsix: the bundled extension and, with --server FILE, that noisy-lsp inside.
//
//   node package.mjs [--server FILE] [--out FILE]

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { server: { type: "string" }, out: { type: "string" } } });
const server = values.server && path.resolve(values.server);
const out = path.resolve(values.out ?? "noisy.vsix");
const root = path.dirname(fileURLToPath(import.meta.url));
const npx = (...args) =>
  execFileSync(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

for (const stale of ["server", "dist"]) {
  rmSync(path.join(root, stale), { recursive: true, force: true });
}
const texts = ["LICENSE-MIT", "LICENSE-APACHE"].map((name) =>
  readFileSync(path.join(root, "..", name), "utf8"),
);
writeFileSync(
  path.join(root, "LICENSE.txt"),
  `Either of the two licences below, at your choice.\n\n${texts.join(`\n${"=".repeat(78)}\n\n`)}`,
);
if (server) {
  const binary = process.platform === "win32" ? "noisy-lsp.exe" : "noisy-lsp";
  mkdirSync(path.join(root, "server"));
  copyFileSync(server, path.join(root, "server", binary));
  chmodSync(path.join(root, "server", binary), 0o755);
}
npx("node_modules/esbuild/bin/esbuild", ...readBuildFlags());
npx(
  "node_modules/@vscode/vsce/vsce",
  "package",
  "--no-dependencies", // esbuild has bundled them
  "--allow-missing-repository",
  ...(server ? ["--target", `${process.platform}-${process.arch}`] : []),
  ...["--out", out],
);

/** The flags of `npm run build`, so that they stand in one place. */
function readBuildFlags() {
  const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  return scripts.build.split(" ").slice(1);
}
