import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

const folder = path.resolve(import.meta.dirname, "..");

test("in a browser the extension needs nothing of Node, and registers every command", async () => {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ["src/web.ts"],
    bundle: true,
    format: "cjs",
    external: ["vscode"],
    platform: "browser",
    write: false,
  });
  const code = outputFiles[0]?.text ?? "";
  const loaded = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map((it) => it[1] ?? "");
  assert.deepEqual([...new Set(loaded)], ["vscode"]);
  const ofNode = loaded.filter((it) => it.startsWith("node:") || builtinModules.includes(it));
  assert.deepEqual(ofNode, []);

  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
    contributes: { commands: { command: string }[] };
  };
  for (const { command } of manifest.contributes.commands) {
    assert.ok(code.includes(`"${command}"`), `${command} is not there`);
  }
});
