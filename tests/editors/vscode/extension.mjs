// VS Code with the packaged extension: what the extension brings itself.
//
//   node tests/editors/vscode/extension.mjs --vsix FILE [--screenshots FOLDER] [--only PART-OF-A-NAME]
//
// Each step stands for itself. The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  AT_START,
  appears,
  command,
  eventually,
  handsOn,
  inOtherThemes,
  main,
  open,
  pictures,
  plain,
  pointAt,
  project,
  quickFix,
  soon,
  step,
  writeSettings,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 600_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" }, only: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

const README = `# A circuit

\`\`\`mlir
%1 = noisy.mul %0, %0 : !noisy.i32
\`\`\`
`;

const CHECKED = `func.func @f(%x: i5) -> !noisy.i32 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  return %2 : !noisy.i32
}
// one two
`;

const MESSY = `func.func @f(%x:!noisy.i32)->!noisy.i32{
      // Twice.
%twice=noisy.add %x,%x:!noisy.i32


return %twice:!noisy.i32}
`;

const FORMATTED = `func.func @f(%x: !noisy.i32) -> !noisy.i32 {
  // Twice.
  %twice = noisy.add %x, %x : !noisy.i32

  return %twice : !noisy.i32
}
`;

const STORES = `func.func @f(%a: i32, %b: i32, %m: memref<i32>) {
  memref.store %a, %m[] : memref<i32>
  memref.store %b, %m[] : memref<i32> // stays
  return
}
`;

const CONFIGURATION = `[hints]
noise = true

[placement]

[rules]
unused-op = "on"
`;

async function run() {
  const { page } = await open(values.vsix, {
    "notes.md": README,
    "checked.mlir": CHECKED,
    "messy.mlir": MESSY,
    "saved.mlir": CHECKED,
    "stores.mlir": STORES,
    "noisy.toml": CONFIGURATION,
    "program.mlirbc": "ML\u00efR\u0001\u0002",
  });
  const shot = pictures(page, values.screenshots);
  const hands = handsOn(page, shot, values.only);
  const { close, hints, mend, noHints, onward, shots, show, text } = hands;

  await step("the bundled server works", async () => {
    await show("squarings.mlir");
    await hints();
  });

  await onward("debug information is a text to read, not a file to save", async () => {
    await command(page, "Noisy: Show Debug Information");
    const tab = page.locator(".tab.active", { hasText: "Noisy Debug Information" });
    await tab.waitFor();
    await soon(async () =>
      assert.doesNotMatch((await tab.getAttribute("class")) ?? "", /dirty/, "saved"),
    );
    await close();
  });

  await onward("all settings can be set in the Settings UI", async () => {
    await command(page, "Preferences: Open Settings (UI)");
    await page.locator(".settings-editor .suggest-input-container").first().click();
    await page.keyboard.type("@ext:noisy.noisy");
    const items = page.locator(".settings-editor .setting-item-contents");
    await page.locator(".setting-item-category", { hasText: "Noisy" }).first().waitFor();
    const seen = new Set();
    const notHere = new Set();
    await items.first().hover();
    for (let turn = 0; turn < 40; turn += 1) {
      for (const item of await items.all()) {
        const label = plain(
          await item
            .locator(".setting-item-label")
            .innerText({ timeout: 1000 })
            .catch(() => ""),
        );
        if (label === "") continue;
        seen.add(label);
        if ((await item.locator(".edit-in-settings-button").count()) > 0) notHere.add(label);
      }
      await page.mouse.wheel(0, 250);
      await page.waitForTimeout(60);
    }
    for (let turn = 0; turn < 40; turn += 1) {
      await page.mouse.wheel(0, -1000);
      await page.waitForTimeout(10);
    }
    await shots("settings");
    assert.ok(seen.size >= 14, `${seen.size} settings: ${[...seen].join(", ")}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator(".settings-editor").waitFor({ state: "hidden" });
    assert.deepEqual([...notHere], [], "these can only be set in settings.json");
  });

  await onward("hints are switched off and on by words", async () => {
    await show("squarings.mlir");
    await hints();
    writeSettings({ "noisy.inlayHints.noise": "off" });
    await noHints();
    writeSettings({ "noisy.inlayHints.noise": "auto" });
    await hints();
    // As former versions had it.
    writeSettings({ "noisy.inlayHints.noise": false });
    await noHints();
    await mend();
  });

  await onward("the context menu has the fix and the graph", async () => {
    await page
      .locator(".view-line", { hasText: "noisy.mul" })
      .first()
      .click({ button: "right", ...AT_START });
    const menu = page.locator(".context-view .monaco-menu");
    await menu.getByText("Insert Optimal reduce_noise in This File").waitFor();
    await menu.getByText("Show Noise Graph").waitFor();
    await shot("context-menu");
    await page.keyboard.press("Escape");
  });

  await onward("the noise graph is drawn beside the text", async () => {
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click(AT_START);
    await command(page, "Noisy: Show Noise Graph");
    const frame = page.frameLocator("iframe.webview").frameLocator("iframe");
    const status = () => frame.locator("[role=status]").innerText();
    const says = (what) => eventually(`${what}`, async () => what.test(await status()));
    const cursor = () => page.getByRole("button", { name: /^Ln \d+/ }).innerText();
    const graph = frame.getByRole("application");
    const search = frame.getByRole("searchbox");

    // The cursor selects the node, at once and when it moves.
    await says(/^%4 = mul/);
    await soon(async () =>
      assert.equal(await frame.locator("h1").isVisible(), false, "the tab is the heading"),
    );
    await page.locator(".view-line", { hasText: "noisy.encode" }).first().click(AT_START);
    await says(/^%2 = encode/);

    // A click goes to the op.
    await search.fill("%3 = encode");
    await search.press("Enter");
    await says(/^%3 = encode/);
    const line = /line (\d+)/.exec(await status())[1];
    await frame.locator("#selected").click({ force: true });
    await eventually("the line", async () => (await cursor()).includes(`Ln ${line},`));
    await says(/^%3 = encode/);

    // The keyboard follows an edge and finds what is over, a search counts, and both pictures are there.
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click(AT_START);
    await says(/^%4 = mul/);
    await graph.press("ArrowDown");
    await says(/^%5 = mul/);
    await graph.press("ArrowUp");
    await graph.press("n");
    await says(/^%5 = mul.*\[0, 48\]/);
    await search.fill("encode");
    await soon(async () => assert.equal(await frame.locator("output").innerText(), "4 found"));
    await search.fill("proposed");
    await eventually("what would be inserted", async () =>
      /^[1-9]\d* found$/.test(await frame.locator("output").innerText()),
    );
    await search.fill("");

    // Zoom shows the selected node larger, and what fits shows it as before.
    await graph.press("0");
    const width = async () => (await frame.locator("#selected").boundingBox()).width;
    const whole = await width();
    await graph.press("+");
    await eventually("a larger node", async () => (await width()) > whole);
    await graph.press("0");
    await eventually("the whole", async () => (await width()) === whole);
    await shot("graph");

    const back = () => frame.locator("body").evaluate((it) => getComputedStyle(it).backgroundColor);
    await inOtherThemes(page, {}, async (name, colour) => {
      await eventually("the theme's colours", async () => (await back()) === colour);
      await shot(`graph-${name}`);
    });
    await close();
    await show("squarings.mlir");
    await hints();
  });

  await onward("a hover tells where the noise of an op comes from", async () => {
    await shots("text");
    const op = page.locator(".view-line", { hasText: "%5" }).first().getByText("noisy.mul");
    const hover = page.locator(".monaco-hover:visible", { hasText: "24 + 24 = 48" });
    await shots("hover", {}, async () => {
      await page.mouse.move(5, 5);
      await hover.waitFor({ state: "hidden" });
      await pointAt(page, op, hover);
    });
    await soon(async () => {
      const told = plain(await hover.first().innerText());
      assert.equal(told.split("24 + 24 = 48").length, 2, "once");
      assert.match(told, /22 over the 26-bit budget/);
    });
    await page.mouse.move(5, 5);
  });

  await onward("a program is formatted; its comments and names stay", async () => {
    await show("messy.mlir");
    // The command is about the editor that has the focus, which comes late.
    await eventually("blanks", async () => {
      await page.locator(".view-line", { hasText: "return" }).first().click(AT_START);
      await command(page, "Format Document");
      await page.waitForTimeout(1000);
      return /%x, %x : !noisy/.test(await text());
    });
    await shots("format");
    await page.keyboard.press("Control+s");
    const saved = () => readFileSync(path.join(project, "messy.mlir"), "utf8");
    await eventually("the file", () => saved() === FORMATTED);
    await close();
    await show("squarings.mlir");
    await hints();
  });

  await onward("the status bar has the most noise, and bars show what each op uses", async () => {
    await show("squarings.mlir");
    await hints();
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click(AT_START);
    const item = page.locator(".statusbar-item", { hasText: /max noise \d+ of 26 bits/ });
    await soon(async () =>
      assert.match((await item.getAttribute("class")) ?? "", /error/, "over the budget"),
    );
    // Whatever VS Code calls them, they are pictures in the margin.
    const bars = () =>
      page
        .locator(".monaco-editor .margin *")
        .evaluateAll(
          (all) =>
            all.filter((it) => /image\/svg/.test(getComputedStyle(it).backgroundImage)).length,
        );
    await soon(async () => assert.equal(await bars(), 0, "bars are off"));
    writeSettings({ "noisy.budgetBars.enable": true });
    const ops = page.locator(".view-line", { hasText: /noisy\.(encode|mul)/ });
    const wanted = await eventually("the ops", async () => {
      const count = await ops.count();
      return count > 3 && count;
    });
    await eventually("a bar beside each op", async () => (await bars()) >= wanted);
    await shot("budget-bars");
    await inOtherThemes(page, { "noisy.budgetBars.enable": true }, async (name) => {
      await eventually("its bars", async () => (await bars()) >= wanted);
      await shot(`budget-bars-${name}`);
    });
    writeSettings({});
    await eventually("no bars", async () => (await bars()) === 0);
  });

  await onward("ops are extracted into a function through the preview", async () => {
    await show("checked.mlir");
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click(AT_START);
    await page.keyboard.press("Home");
    await page.keyboard.press("Home");
    await page.keyboard.press("Shift+ArrowDown");
    await command(page, "Refactor...");
    const row = page.locator(".action-widget .monaco-list-row", {
      hasText: "Extract into a function",
    });
    await row.hover();
    await eventually("the row", async () =>
      /focused/.test((await row.getAttribute("class")) ?? ""),
    );
    await page.keyboard.press("Control+Enter");
    const apply = page.getByRole("button", { name: "Apply" });
    await apply.waitFor();
    await shot("refactor-preview");
    await apply.click();
    await eventually("a call", async () => /func\.call @f_part\(%0\)/.test(await text()));
    await page.keyboard.press("Control+z");
    await eventually("as before", async () => !/f_part/.test(await text()));
    await page.keyboard.press("Control+s");
    await close();
    await show("squarings.mlir");
  });

  await onward("a lint that the settings turn on is a hint with a fix", async () => {
    writeSettings({ "noisy.rules": { "dead-store": "on" } });
    await show("stores.mlir");
    await page.locator(".view-line", { hasText: "%a, %m" }).last().click();
    await page.keyboard.press("Home");
    const fix = await quickFix(page, /^Remove this store$/);
    await shot("lint-fix");
    await fix.click();
    await eventually("one store", async () => !/%a, %m/.test(await text()));
    await soon(async () => assert.match(await text(), /%b, %m.*stays/));
    await page.keyboard.press("Control+s");
    writeSettings({});
    await close();
    await show("squarings.mlir");
  });

  await onward("noisy.toml is checked, explained and completed", async () => {
    const to = async (place) => {
      await page.keyboard.press("Control+g");
      await page.keyboard.type(place);
      // The editor may still be busy with what was typed.
      const [line, column] = place.split(":");
      await page.getByText(`to line ${line} at column ${column}`).waitFor();
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    };
    await show("noisy.toml");
    await to("7:15");
    await page.keyboard.type("x");
    await page.locator(".squiggly-error").first().waitFor();
    await soon(async () => assert.equal(await page.locator(".squiggly-error").count(), 1));
    const key = page.locator(".view-line span span", { hasText: "noise" }).first();
    const hover = page.locator(".monaco-hover:visible", { hasText: "hints.noise" });
    await pointAt(page, key, hover, { position: { x: 15, y: 8 } });
    await shot("configuration-hover");
    await to("5:1");
    await page.keyboard.type("obj");
    const row = (hasText) => page.locator(".suggest-widget .monaco-list-row", { hasText }).first();
    await row("objective").waitFor();
    await shot("configuration-completion");
    await row("objective").click();
    await row("count").waitFor();
    await row("count").click();
    await eventually("the value", async () => /objective = "count"/.test(await text()));
    await page.keyboard.press("Escape");
    await to("7:15");
    await command(page, "Trigger Suggest");
    await row('"off"').click();
    await eventually("the level", async () => /unused-op = "off"/.test(await text()));
    await eventually(
      "no squiggle",
      async () => (await page.locator(".squiggly-error").count()) === 0,
    );
    await page.keyboard.press("Control+s");
    await close();
    await show("squarings.mlir");
    await hints();
  });

  await onward("bytecode is told of", async () => {
    await page.getByRole("treeitem", { name: "program.mlirbc" }).dblclick();
    const frame = page.frameLocator("iframe.webview").frameLocator("iframe");
    await frame.getByText("MLIR bytecode").waitFor();
    await frame.getByText("mlir-opt program.mlirbc").waitFor();
    await shot("bytecode");
    await close();
  });

  await onward("fences of Markdown are highlighted", async () => {
    await show("notes.md");
    const colour = (hasText) =>
      page
        .locator(".view-line span span", { hasText })
        .first()
        .evaluate((it) => getComputedStyle(it).color);
    await eventually(
      "a colour",
      async () => (await colour(/^noisy\.mul$/)) !== (await colour(/circuit/)),
    );
    const line = page.locator(".view-line", { hasText: "noisy.mul" });
    await soon(async () =>
      assert.ok((await line.locator("span span").count()) > 2, "several tokens"),
    );
    await close();
  });

  await onward("a comment goes on in the next line", async () => {
    await show("checked.mlir");
    await page.locator(".view-line", { hasText: /one.two/ }).click();
    await page.keyboard.press("Home");
    for (let n = 0; n < 7; n += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await eventually("two comments", async () => /\/\/ one *\n\s*\/\/ two/.test(await text()));
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+s");
  });

  await onward("fix on save fixes", async () => {
    await show("saved.mlir");
    await page.locator(".squiggly-error").first().waitFor();
    writeSettings({ "editor.codeActionsOnSave": { "source.fixAll.noisy": "explicit" } });
    await page.locator(".view-line", { hasText: /one.two/ }).click();
    await page.keyboard.press("End");
    await page.keyboard.type("!");
    const saved = () => readFileSync(path.join(project, "saved.mlir"), "utf8");
    // The setting reaches the editor some time later.
    await eventually("a fixed file", async () => {
      await page.keyboard.press("Control+s");
      await page.waitForTimeout(1500);
      if (/reduce_noise/.test(saved())) return true;
      await page.keyboard.type("!");
      return false;
    });
    await soon(async () => assert.equal(await page.locator(".squiggly-error").count(), 0));
    writeSettings({});
    await close();
  });

  await onward("a task finds problems, and leaves what is open to the server", async () => {
    const isOver = (name) => !/reduce_noise/.test(readFileSync(path.join(project, name), "utf8"));
    const closed = ["checked.mlir", "saved.mlir"].filter(isOver).length;
    await show("squarings.mlir");
    await page.locator(".squiggly-error").first().waitFor();
    const choose = async (hasText) => {
      const row = page.locator(".quick-input-list .monaco-list-row", { hasText }).first();
      const is = await appears(row, 5000);
      if (is) await row.click();
      return is;
    };
    // A list that comes up while the focus moves goes again.
    await eventually("the task", async () => {
      await command(page, "Tasks: Run Task");
      return (await choose("noisy")) && (await choose(/noisy:\s+check(?!\s+f)/));
    });
    await page.locator(".terminal-wrapper").first().waitFor();
    await command(page, "Problems: Focus on Problems View");
    const rows = page.locator(".markers-panel .monaco-list-row");
    const told = (name) =>
      rows.filter({ hasText: new RegExp(`${name}:\\snoise\\smay\\sreach\\s48`) });
    await told("%2").first().waitFor();
    await soon(async () =>
      assert.match(plain(await told("%2").first().innerText()), /noisy-check/, "a closed file"),
    );
    await eventually("all of them", async () => (await told("%2").count()) === closed);
    // Files are told of in the order of their names: the open one would be the next.
    await page.waitForTimeout(1500);
    const open = rows.filter({ hasText: "squarings.mlir" }).first();
    await soon(async () =>
      assert.equal(await open.locator(".monaco-count-badge").innerText(), "1", "told of once"),
    );
    await shot("task");
    await close();
    await command(page, "View: Hide Panel");
  });
}

await main(WHOLE, run);
