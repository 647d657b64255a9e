import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { sections } from "../src/settings.ts";

const folder = path.resolve(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");

interface Setting {
  type: string | string[];
  default: string | number | boolean | object;
  enum?: string[];
  enumDescriptions?: string[];
}
interface Manifest {
  repository: { url: string };
  bugs: { url: string };
  icon: string;
  contributes: {
    commands: { command: string; title: string; category: string }[];
    configuration: { properties: Record<string, Setting> };
    walkthroughs: { steps: { description: string; media: { markdown: string } }[] }[];
  };
}
const manifest = JSON.parse(read("package.json")) as Manifest;
const settings = manifest.contributes.configuration.properties;
const readme = read("README.md");

suite("the documentation says what is", () => {
  test("the README lists every setting with its default", () => {
    const rows = [...readme.matchAll(/^\| `(noisy\.[\w.]+)`\s*\| (.*?)\s*\|/gm)];
    const listed = rows.map(([, name, value]) => [name, value]);
    const inWords = (value: Setting["default"]): string =>
      value === "" ? "empty" : typeof value === "object" ? "none" : `\`${String(value)}\``;
    const real = Object.entries(settings).map(([name, it]) => [name, inWords(it.default)]);
    assert.deepEqual(listed, real);
  });

  test("the README names every command", () => {
    for (const { title, category } of manifest.contributes.commands) {
      assert.ok(readme.includes(`_${category}: ${title}_`), title);
    }
  });

  test("every setting can be edited in the Settings UI", () => {
    for (const [name, it] of Object.entries(settings)) {
      assert.ok(typeof it.type === "string", `${name} has one type`);
      assert.equal(it.enum?.length, it.enumDescriptions?.length, `${name} explains its values`);
    }
  });

  test("the server is given every setting but those of the extension itself", () => {
    const own = new Set(["budgetBars", "server", "trace"]);
    const named = new Set(Object.keys(settings).map((it) => it.split(".")[1] ?? ""));
    for (const section of named) {
      assert.equal(sections.includes(section), !own.has(section), section);
    }
  });

  test("commands and pages of the walkthrough exist", () => {
    const known = manifest.contributes.commands.map((it) => it.command);
    const steps = manifest.contributes.walkthroughs.flatMap((it) => it.steps);
    for (const { description, media } of steps) {
      assert.ok(existsSync(path.join(folder, media.markdown)), media.markdown);
      for (const [, command] of description.matchAll(/\(command:(noisy\.\w+)/g)) {
        assert.ok(known.includes(command ?? ""), command);
      }
    }
  });

  test("the address of the repository is one", () => {
    const base = manifest.repository.url.replace(/\.git$/, "");
    assert.ok(manifest.bugs.url.startsWith(base));
    assert.doesNotMatch(readme, /https:\/\/github\.com\//);
  });

  test("the icon is a PNG of at least 128 by 128 pixels", () => {
    const icon = readFileSync(path.join(folder, manifest.icon));
    assert.equal(icon.subarray(1, 4).toString(), "PNG");
    assert.ok(icon.readUInt32BE(16) >= 128 && icon.readUInt32BE(20) >= 128);
  });

  test("the VSIX is built as the repository's README says", () => {
    const text = readFileSync(path.join(folder, "../README.md"), "utf8");
    const install = text.indexOf("npm ci --prefix vscode-extension");
    const build = text.indexOf(
      "node vscode-extension/package.mjs --server target/release/noisy-lsp",
    );
    assert.ok(install >= 0 && install < build, "the packages are installed first");
    // Tasks and the graph run noisy-check, which is bundled only if it is there.
    const built = /^scripts\/build (?<what>.*)$/m.exec(text.slice(0, build))?.groups?.["what"];
    assert.equal(built, "-p noisy-lsp -p noisy-check");
  });
});
