// tests/messages.md: all texts of the extension, generated from its manifest and its source. BLESS=1 writes the file.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
const page = join(root, "tests/messages.md");

/** Keys of the manifest whose strings a user reads, wherever they stand. */
const READ = new Set([
  "displayName",
  "description",
  "title",
  "category",
  "label",
  "markdownDescription",
  "deprecationMessage",
  "enumDescriptions",
  "markdownEnumDescriptions",
  "contents",
]);

const isText = (it: string) => /[A-Za-z]{2}/.test(it) && it.includes(" ");

/** The strings of a manifest that a user reads, in order. */
function inManifest(value: unknown, isRead: boolean, found: string[]) {
  if (typeof value === "string") {
    if (isRead) found.push(value);
  } else if (Array.isArray(value)) {
    for (const it of value) inManifest(it, isRead, found);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, it] of Object.entries(value)) inManifest(it, READ.has(key), found);
  }
}

/** The strings and templates of a source that have a blank and a word, in order; placeholders as `{}`. */
function inSource(text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      if (isText(node.text)) found.push(node.text);
    } else if (ts.isTemplateExpression(node)) {
      const text = node.head.text + node.templateSpans.map((it) => `{}${it.literal.text}`).join("");
      if (isText(text)) found.push(text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest));
  return found;
}

const row = (text: string) => {
  const ticks = "`".repeat(1 + Math.max(0, ...(text.match(/`+/g) ?? []).map((it) => it.length)));
  const pad = /^`|`$/.test(text) ? " " : "";
  return `- ${ticks}${pad}${text.replaceAll("\n", "⏎")}${pad}${ticks}\n`;
};

function list(): string {
  const manifest: string[] = [];
  inManifest(JSON.parse(readFileSync(join(root, "package.json"), "utf8")), false, manifest);
  let out =
    "# Messages of the VS Code extension\n\n" +
    "All texts of its manifest and of its source, in their order; `{}` is filled in, `⏎` is a line break. Made by `vscode-extension/tests/messages.test.ts`: of the source, each string with a " +
    "blank and a word. What the server sends is in [messages.md](../../tests/messages.md).\n\n## package.json\n\n" +
    manifest.map(row).join("");
  for (const file of readdirSync(join(root, "src")).sort()) {
    const found = inSource(readFileSync(join(root, "src", file), "utf8"));
    if (found.length > 0) out += `\n## src/${file}\n\n${found.map(row).join("")}`;
  }
  return out;
}

test("the list of messages is current", () => {
  if (process.env.BLESS) writeFileSync(page, list());
  assert.equal(readFileSync(page, "utf8"), list(), "write it anew: BLESS=1 npm test");
});

test("texts are found wherever they stand", () => {
  const source =
    "import 'not here'; f(`a ${x} and ${g('in it')}`, ['in a list'], `plain one`); const y = { z: 'word' };";
  assert.deepEqual(inSource(source), ["a {} and {}", "in it", "in a list", "plain one"]);
  const found: string[] = [];
  inManifest(
    { name: "no", title: "Title", a: [{ enum: ["x"], enumDescriptions: ["One.", "Two."] }] },
    false,
    found,
  );
  assert.deepEqual(found, ["Title", "One.", "Two."]);
});
