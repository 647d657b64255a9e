// VS Code with the packaged extension: what goes wrong with the server, and what the extension brings itself.
//
//   node tests/editors/vscode/extension.mjs --vsix FILE [--screenshots FOLDER] [--only PART-OF-A-NAME]
//
// Each step stands for itself. The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  command,
  editorText,
  eventually,
  inOtherThemes,
  isAlive,
  main,
  open,
  pictures,
  plain,
  project,
  quickFix,
  scratch,
  script,
  step as strict,
  writeSettings,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 600_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" }, only: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

const FIRST = "the bundled server works";

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
    "saved.mlir": CHECKED,
    "stores.mlir": STORES,
    "noisy.toml": CONFIGURATION,
    "program.mlirbc": "ML\u00efR\u0001\u0002",
  });
  const shot = pictures(page, values.screenshots);
  const text = () => editorText(page);
  const hints = () => eventually("hints", async () => /\[0, 24\]/.test(await text()));
  const noHints = () => eventually("no hints", async () => !/\[0, 24\]/.test(await text()));
  const toast = (hasText) => page.locator(".notification-toast", { hasText });
  const toasts = page.locator(".notification-toast");
  const show = async (name) => {
    await page.getByRole("treeitem", { name }).dblclick();
    await page.locator(".tab.active", { hasText: name }).waitFor();
  };
  const close = async () => {
    await command(page, "View: Close All Editors");
    await page.locator(".tab").first().waitFor({ state: "detached" });
  };
  const clear = async () => {
    await command(page, "Notifications: Clear All Notifications");
    await eventually("no message", async () => (await toasts.count()) === 0);
  };
  /** Back to the bundled server and a clean slate. */
  const mend = async () => {
    writeSettings({});
    await hints();
    await clear();
  };
  /** A step that leaves nothing behind, however it ends. */
  const step = async (name, body) => {
    // The first step opens what others work on.
    if (name !== FIRST && !name.includes(values.only ?? "")) return;
    let done = false;
    await strict(
      name,
      async () => {
        await body();
        done = true;
      },
      { onward: true },
    );
    if (!done) {
      const told = await toasts.allInnerTexts();
      if (told.length > 0) console.log(`  messages: ${told.map(plain).join(" | ")}`);
      await shot(`failed-${name.replaceAll(/\W+/g, "-")}`);
      writeSettings({});
      for (let n = 0; n < 3; n += 1) await page.keyboard.press("Escape");
      await command(page, "View: Close All Editors");
      await command(page, "Notifications: Clear All Notifications");
      await show("squarings.mlir").catch(() => {});
    }
  };
  const answers = `if [ "$1" = --version ]; then echo noisy-lsp 0.1.0; exit; fi\n`;

  await step(FIRST, async () => {
    await show("squarings.mlir");
    await hints();
  });

  await step(
    "a server that hangs is given up, told of once, and a corrected setting works",
    async () => {
      const pids = path.join(scratch, "hanging");
      const hangs = script("hangs", `${answers}echo $$ >> ${pids}\nexec sleep 1000\n`);
      writeSettings({ "noisy.server.path": hangs, "noisy.server.startTimeout": 2 });
      await toast("did not answer within 2 seconds").waitFor();
      await page.waitForTimeout(1000);
      assert.equal(await toasts.count(), 1, "one message");
      await shot("server-hangs");
      await toast("did not answer").getByRole("button", { name: "Restart" }).waitFor();
      const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
      assert.deepEqual(started.filter(isAlive), [], "no process is left");
      await mend();
      await page.waitForTimeout(3000);
      assert.equal(
        readFileSync(pids, "utf8").trim().split("\n").length,
        started.length,
        "it is not started again",
      );
    },
  );

  await step("a corrected setting does not wait for a server that hangs", async () => {
    const pids = path.join(scratch, "slow");
    const hangs = script("slow", `${answers}echo $$ >> ${pids}\nexec sleep 1000\n`);
    writeSettings({ "noisy.server.path": hangs, "noisy.server.startTimeout": 600 });
    await eventually("its start", () => existsSync(pids));
    await noHints();
    await mend();
    const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
    await eventually("its end", () => !started.some(isAlive));
  });

  await step("a server that dies while it starts is one message", async () => {
    writeSettings({ "noisy.server.path": script("dies", `${answers}exit 3\n`) });
    await toast("stopped while it was starting (exit code 3)").waitFor();
    await page.waitForTimeout(1500);
    assert.equal(await toasts.count(), 1, "one message");
    await shot("server-dies");
  });

  await step("a command without a server offers to start it", async () => {
    await clear();
    await command(page, "Noisy: Insert Optimal");
    await toast("The Noisy server is not running").waitFor();
    assert.equal(await toasts.count(), 1, "one message");
    await toast("is not running").getByRole("button", { name: "Restart" }).waitFor();
    await mend();
  });

  await step(
    "a file that is another program is one message that leads to the setting",
    async () => {
      writeSettings({ "noisy.server.path": script("other", "echo other 1.0\n") });
      await toast("this file is not noisy-lsp").waitFor();
      assert.equal(await toasts.count(), 1, "one message");
      assert.doesNotMatch(
        plain(await toasts.first().innerText()),
        /\bat .*:\d+:\d+/,
        "no stack trace",
      );
      await toast("this file is not noisy-lsp")
        .getByRole("button", { name: "Open Settings" })
        .waitFor();
      await shot("server-wrong");
      await mend();
    },
  );

  await step("a server that stops often is told of once, and Restart brings it back", async () => {
    const pids = path.join(scratch, "stopping");
    const bundled = path.join(scratch, "extensions");
    const real = script(
      "stops",
      `${answers}echo $$ >> ${pids}\nexec ${bundled}/noisy.noisy-*/server/noisy-lsp\n`,
    );
    writeSettings({ "noisy.server.path": real });
    let stopped = 0;
    // The file is there before its first line is: no number is no process, and 0 would be all of this group.
    const last = () =>
      existsSync(pids)
        ? readFileSync(pids, "utf8")
            .split("\n")
            .slice(0, -1)
            .map(Number)
            .filter((it) => it > 1)
        : [];
    while (stopped < 5) {
      const all = await eventually("the next start", () => last().length > stopped && last());
      await page.waitForTimeout(1500);
      await hints();
      process.kill(all.at(-1), "SIGKILL");
      stopped = all.length;
    }
    await toast("stopped 5 times within 3 minutes").waitFor();
    assert.equal(await toasts.count(), 1, "one message");
    await shot("server-stops-often");
    await toast("stopped 5 times").getByRole("button", { name: "Restart" }).click();
    await eventually("a new start", () => last().length > stopped);
    await hints();
    await mend();
  });

  await step("debug information is a text to read, not a file to save", async () => {
    await command(page, "Noisy: Show Debug Information");
    const tab = page.locator(".tab.active", { hasText: "Noisy Debug Information" });
    await tab.waitFor();
    assert.doesNotMatch((await tab.getAttribute("class")) ?? "", /dirty/);
    await close();
  });

  await step("all settings can be set in the Settings UI", async () => {
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
    await shot("settings");
    assert.ok(seen.size >= 14, `${seen.size} settings: ${[...seen].join(", ")}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator(".settings-editor").waitFor({ state: "hidden" });
    assert.deepEqual([...notHere], [], "these can only be set in settings.json");
  });

  await step("hints are switched off and on by words", async () => {
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

  await step("the context menu has the fix and the graph", async () => {
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click({ button: "right" });
    const menu = page.locator(".context-view .monaco-menu");
    await menu.getByText("Insert Optimal reduce_noise in This File").waitFor();
    await menu.getByText("Show Noise Graph").waitFor();
    await shot("context-menu");
    await page.keyboard.press("Escape");
  });

  await step("the noise graph is drawn beside the text", async () => {
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click();
    await command(page, "Noisy: Show Noise Graph");
    const frame = page.frameLocator("iframe.webview").frameLocator("iframe");
    const status = () => frame.locator("[role=status]").innerText();
    const says = (what) => eventually(`${what}`, async () => what.test(await status()));
    const cursor = () => page.getByRole("button", { name: /^Ln \d+/ }).innerText();
    const graph = frame.getByRole("application");
    const search = frame.getByRole("searchbox");

    // The cursor selects the node, at once and when it moves.
    await says(/^%4 = mul/);
    assert.equal(await frame.locator("h1").isVisible(), false, "the tab is the heading");
    await page.locator(".view-line", { hasText: "noisy.encode" }).first().click();
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
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click();
    await says(/^%4 = mul/);
    await graph.press("ArrowDown");
    await says(/^%5 = mul/);
    await graph.press("ArrowUp");
    await graph.press("n");
    await says(/^%5 = mul.*\[0, 48\]/);
    await search.fill("encode");
    assert.equal(await frame.locator("output").innerText(), "4 found");
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
    await inOtherThemes(page, {}, async (name) => {
      await page.locator(".view-line", { hasText: "noisy.mul" }).nth(1).hover();
      await shot(`text-${name}`);
    });
    await hints();
  });

  await step("the status bar has the most noise, and bars show what each op uses", async () => {
    await show("squarings.mlir");
    await hints();
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click();
    const item = page.locator(".statusbar-item", { hasText: /max noise \d+ of 26 bits/ });
    await item.waitFor();
    assert.match((await item.getAttribute("class")) ?? "", /error/, "over the budget");
    // Whatever VS Code calls them, they are pictures in the margin.
    const bars = () =>
      page
        .locator(".monaco-editor .margin *")
        .evaluateAll(
          (all) =>
            all.filter((it) => /image\/svg/.test(getComputedStyle(it).backgroundImage)).length,
        );
    assert.equal(await bars(), 0, "bars are off");
    writeSettings({ "noisy.budgetBars.enable": true });
    const ops = page.locator(".view-line", { hasText: /noisy\.(encode|mul)/ });
    const wanted = await ops.count();
    assert.ok(wanted > 3);
    await eventually("a bar beside each op", async () => (await bars()) >= wanted);
    await shot("budget-bars");
    await inOtherThemes(page, { "noisy.budgetBars.enable": true }, async (name) => {
      await eventually("its bars", async () => (await bars()) >= wanted);
      await shot(`budget-bars-${name}`);
    });
    await eventually("no bars", async () => (await bars()) === 0);
  });

  await step("ops are extracted into a function through the preview", async () => {
    await show("checked.mlir");
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click();
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

  await step("a lint that the settings turn on is a hint with a fix", async () => {
    writeSettings({ "noisy.rules": { "dead-store": "on" } });
    await show("stores.mlir");
    await page.locator(".view-line", { hasText: "%a, %m" }).last().click();
    await page.keyboard.press("Home");
    const fix = await quickFix(page, /^Remove this store$/);
    await shot("lint-fix");
    await fix.click();
    await eventually("one store", async () => !/%a, %m/.test(await text()));
    assert.match(await text(), /%b, %m.*stays/);
    await page.keyboard.press("Control+s");
    writeSettings({});
    await close();
    await show("squarings.mlir");
  });

  await step("noisy.toml is checked, explained and completed", async () => {
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
    assert.equal(await page.locator(".squiggly-error").count(), 1);
    await page
      .locator(".view-line span span", { hasText: "noise" })
      .first()
      .hover({ position: { x: 15, y: 8 } });
    const hover = page.locator(".monaco-hover:visible", { hasText: "hints.noise" });
    await hover.waitFor();
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

  await step("bytecode is told of", async () => {
    await page.getByRole("treeitem", { name: "program.mlirbc" }).dblclick();
    const frame = page.frameLocator("iframe.webview").frameLocator("iframe");
    await frame.getByText("MLIR bytecode").waitFor();
    await frame.getByText("mlir-opt program.mlirbc").waitFor();
    await shot("bytecode");
    await close();
  });

  await step("fences of Markdown are highlighted", async () => {
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
    assert.ok((await line.locator("span span").count()) > 2, "several tokens");
    await close();
  });

  await step("a comment goes on in the next line", async () => {
    await show("checked.mlir");
    await page.locator(".view-line", { hasText: /one.two/ }).click();
    await page.keyboard.press("Home");
    for (let n = 0; n < 7; n += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await eventually("two comments", async () => /\/\/ one *\n\s*\/\/ two/.test(await text()));
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+s");
  });

  await step("fix on save fixes", async () => {
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
    assert.equal(await page.locator(".squiggly-error").count(), 0);
    writeSettings({});
    await close();
  });

  await step("a task finds problems", async () => {
    await command(page, "Tasks: Run Task");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "noisy" }).first().click();
    const check = page.locator(".quick-input-list .monaco-list-row", {
      hasText: /noisy:\s+check(?!\s+f)/,
    });
    await check.first().click();
    await page.locator(".terminal-wrapper").first().waitFor();
    await command(page, "Problems: Focus on Problems View");
    await page
      .locator(".markers-panel .monaco-list-row", { hasText: "noisy-check" })
      .first()
      .waitFor();
    await shot("task");
    await close();
    await command(page, "View: Hide Panel");
  });

  await step("the walkthrough leads from an example to a fixed program", async () => {
    await command(page, "View: Toggle Primary Side Bar Visibility");
    await command(page, "Noisy: Open Walkthrough");
    await page.getByText("Get started with Noisy").first().waitFor();
    // While a page is loaded the one before is there, too.
    const media = page.frameLocator("iframe.webview").frameLocator("iframe").last();
    for (const [title, said] of [
      ["See the noise", "A freshly encoded value"],
      ["Fix it", "brings noise back to 12 bits"],
      ["Look at the graph", "a node for each value"],
      ["Make it yours", "counts for everyone and for CI"],
      ["Open a program", "Any .mlir file works"],
    ]) {
      await page.locator(".getting-started-step", { hasText: title }).first().click();
      await media.getByText(said).waitFor();
      await shot(`walkthrough-${title.replaceAll(" ", "-").toLowerCase()}`);
    }
    await page.getByRole("button", { name: "Open the example" }).click();
    await eventually("hints", async () => /\[0, 24\]/.test(await text()));
    await page.locator(".squiggly-error").first().waitFor();
    await shot("example");
    await page.locator(".view-line", { hasText: "noisy.mul" }).first().click();
    await command(page, "Noisy: Insert Optimal");
    await eventually("a fixed program", async () => /noisy\.reduce_noise/.test(await text()));
    await eventually(
      "no squiggle",
      async () => (await page.locator(".squiggly-error").count()) === 0,
    );
  });
}

await main(WHOLE, run);
