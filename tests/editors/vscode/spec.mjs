// VS Code with the packaged extension: an illegal program is opened, seen, fixed and seen clean.
//
//   node tests/editors/vscode/spec.mjs --vsix FILE [--screenshot FILE]
//
// The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  command,
  eventually,
  main,
  open,
  plain,
  project,
  quickFix,
  root,
  soon,
  step,
  writeSettings,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 240_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshot: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");
const file = path.join(project, "squarings.mlir");
const before = readFileSync(path.join(root, "examples/squarings.mlir"), "utf8");

/** The reduce_noise ops of `text`, and the rest of its lines. */
function split(text) {
  const lines = text.split("\n");
  const isReduce = (line) => /^\s*%\S+ = noisy\.reduce_noise /.test(line);
  return {
    reduces: lines.filter(isReduce),
    rest: lines.filter((line) => !isReduce(line)),
  };
}

async function run() {
  const { page, server } = await open(values.vsix);
  const squiggle = page.locator(".squiggly-error");
  const boxes = (locator) =>
    locator.evaluateAll((all) => all.map((element) => element.getBoundingClientRect().toJSON()));
  const editorText = () => page.locator(".view-lines").first().innerText();
  // The rendered line that defines a value; a hint may stand behind the name.
  const definition = (value) =>
    page.locator(".view-line", { hasText: new RegExp(`^\\s*${value}\\b.*=\\s`) }).first();

  try {
    await step("an illegal program gets one squiggle", async () => {
      await page.getByRole("treeitem", { name: "squarings.mlir" }).dblclick();
      await squiggle.first().waitFor();
      // The editor draws anew whenever it learns more, so what is drawn may be gone when it is measured.
      await eventually("one squiggle, on the first squaring", async () => {
        const [drawn, line] = await Promise.all([boxes(squiggle), boxes(definition("%5"))]);
        return drawn.length === 1 && Math.abs(drawn[0].y - line[0]?.y) < line[0]?.height;
      });
    });

    await step("hints show the noise ranges", async () => {
      await soon(async () => assert.match(plain(await definition("%4").innerText()), /\[0, 24\]/));
    });

    await step("ops are highlighted", async () => {
      const colour = (text) =>
        definition("%4")
          .locator("span", { hasText: text })
          .last()
          .evaluate((span) => getComputedStyle(span).color);
      await soon(async () =>
        assert.notEqual(await colour(/^noisy\.mul$/), await colour(/=/), "the same colour"),
      );
    });

    await step("the quick fix menu offers the placement", async () => {
      await definition("%5").click();
      await page.keyboard.press("F8"); // Go to the problem; its message opens below the line
      await page.locator(".marker-widget").waitFor();
      await soon(async () => {
        const message = plain(await page.locator(".marker-widget").innerText());
        assert.match(message, /48/);
        assert.match(message, /26/);
      });
      if (values.screenshot) {
        await screenshot(page, values.screenshot);
      }
      await page.keyboard.press("Escape");
      await page.locator(".marker-widget").waitFor({ state: "hidden" });
      await (await quickFix(page, /Insert.*reduce_noise/)).click();
    });

    await step("the fix leaves no squiggle and inserts exactly three", async () => {
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
      // The hints that other extensions and the server draw are not part of the text; the file is.
      await page.keyboard.press("Control+s");
      const after = await eventually("the saved file", () => {
        const text = readFileSync(file, "utf8");
        return text !== before && text;
      });
      const { reduces, rest } = split(after);
      assert.equal(reduces.length, 3, after);
      const withoutOperands = (lines) => lines.map((text) => text.replace(/(noisy\.\w+) .*/, "$1"));
      assert.deepEqual(withoutOperands(rest), withoutOperands(before.split("\n")));
      await soon(async () => assert.equal(await squiggle.count(), 0));
    });

    await step("undo brings the squiggle back, and the command fixes the file", async () => {
      await definition("%5").click();
      await page.keyboard.press("Control+z");
      await squiggle.first().waitFor();
      await command(page, "Noisy: Insert Optimal");
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
      await soon(async () => assert.match(plain(await editorText()), /noisy\.reduce_noise/));
    });

    await step("the settings reach the running server", async () => {
      writeSettings({ "noisy.inlayHints.noise": "off" });
      await eventually("no hints", async () => !/\[0, \d+\]/.test(plain(await editorText())));
    });

    await step("a server that is not there is an error that leads to the setting", async () => {
      writeSettings({ "noisy.server.path": "~/no-such-server" });
      const toast = page.locator(".notification-toast", { hasText: "noisy.server.path names" });
      await toast.waitFor();
      await soon(async () => {
        const told = plain(await toast.innerText());
        assert.doesNotMatch(told, /~/);
        assert.match(told, /Correct the setting, or clear it to use the bundled server\./);
      });
      await toast.getByRole("button", { name: "Open Settings" }).click();
      await page.locator(".settings-editor", { hasText: "Noisy" }).waitFor();
      await page.keyboard.press("Control+w");
    });

    await step("with the setting gone the bundled server is back", async () => {
      writeSettings({});
      await eventually("hints", async () => /\[0, 12\]/.test(plain(await editorText())));
    });
  } catch (error) {
    const shot = path.join(tmpdir(), "noisy-vscode-failure.png");
    await page.screenshot({ path: shot }).catch(() => {});
    console.log(`  the page as it was: ${shot}`);
    console.log(server.output().split("\n").slice(-12).join("\n").replaceAll(/^/gm, "  | "));
    throw error;
  }
}

async function screenshot(page, target) {
  mkdirSync(path.dirname(path.resolve(target)), { recursive: true });
  await page.keyboard.press("Control+b"); // the side bar goes
  await page.locator(".explorer-folders-view").waitFor({ state: "hidden" });
  await page.mouse.move(5, 5);
  await page.waitForTimeout(500); // what the pointer had brought up goes, too
  await page.screenshot({ path: target });
  console.log(`  screenshot: ${target}`);
}

await main(WHOLE, run);
