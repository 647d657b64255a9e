// Bundles the page; see build.mjs.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import * as fs from "node:fs";

/** Returns what the bundles were made from. */
export async function page(out, common) {
  const { metafile } = await build({
    ...common,
    metafile: true,
    format: "esm",
    platform: "browser",
    entryPoints: { page: "src/page.ts" },
    outdir: out,
    assetNames: "[name]",
    loader: { ".mlir": "text", ".ttf": "file" },
  });
  const { metafile: ofEditor } = await build({
    ...common,
    metafile: true,
    format: "iife",
    platform: "browser",
    entryPoints: { early: "src/early.ts", editor: "monaco-editor/editor/editor.worker.js" },
    outdir: out,
  });
  // The page's own style after Monaco's.
  fs.appendFileSync(`${out}/page.css`, fs.readFileSync("src/page.css"));
  fs.copyFileSync("src/index.html", `${out}/index.html`);
  const files = fs
    .readdirSync(out, { withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => it.name);
  const hash = createHash("sha256");
  for (const name of files) {
    hash.update(name).update(fs.readFileSync(`${out}/${name}`));
  }
  await build({
    ...common,
    format: "iife",
    platform: "browser",
    entryPoints: { offline: "src/offline.ts" },
    outdir: out,
    define: {
      FILES: JSON.stringify(["./", ...files.filter((it) => it !== "index.html")]),
      VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)),
    },
  });
  return [metafile, ofEditor];
}
