import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";

const folder = path.resolve(import.meta.dirname, "..");

test("in a browser the extension says why it cannot run, and every command answers", async () => {
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

  const commands = new Map<string, () => unknown>();
  const warnings: string[] = [];
  const opened: string[] = [];
  const status = { text: "", detail: "", severity: 0 };
  const vscode = {
    Disposable: { from: (...all: object[]) => ({ all }) },
    LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
    languages: { createLanguageStatusItem: () => status },
    commands: {
      registerCommand: (name: string, run: () => unknown) => {
        commands.set(name, run);
        return {};
      },
      executeCommand: (name: string) => {
        opened.push(name);
      },
    },
    window: {
      showWarningMessage: (message: string) => warnings.push(message),
      showTextDocument: (document: string) => opened.push(document),
    },
    workspace: {
      openTextDocument: ({ language }: { language: string }) => Promise.resolve(language),
    },
  };
  // Nothing else can be loaded: a module of Node would not be there in a browser either.
  const load = (name: string): object => {
    assert.equal(name, "vscode");
    return vscode;
  };
  const module = { exports: {} as { activate?: (context: object) => void } };
  // A context without anything of Node.
  const evaluate = runInNewContext(`(function (require, module, exports) {${code}\n})`) as (
    require: typeof load,
    it: typeof module,
    exports: object,
  ) => void;
  evaluate(load, module, module.exports);
  module.exports.activate?.({ subscriptions: [], extension: { id: "x.noisy" } });

  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /cannot run in a browser\. Open the folder in VS Code/);
  assert.equal(status.text, "Noisy: no server in a browser");
  assert.equal(status.severity, vscode.LanguageStatusSeverity.Warning);

  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
    contributes: { commands: { command: string }[] };
  };
  for (const { command } of manifest.contributes.commands) {
    const run = commands.get(command);
    assert.ok(run, `${command} is not there`);
    const before: number = warnings.length + opened.length;
    await run();
    assert.equal(warnings.length + opened.length, before + 1, `${command} does nothing`);
  }
});
