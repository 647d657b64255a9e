// VS Code with the packaged extension, new on a machine: from its installation to a fixed program, by what the walkthrough says and by its buttons alone.
//
//   node tests/editors/vscode/walkthrough.mjs --vsix FILE [--screenshots FOLDER]
//
// The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import {
  appears,
  command,
  editorText,
  eventually,
  main,
  open,
  pictures,
  plain,
  quickFix,
  soon,
  step,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 240_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

/** The pages, and what each says. */
const PAGES = [
  ["Open a program", "Any .mlir file works"],
  ["See the noise", "A freshly encoded value"],
  ["Fix it", "lowers noise to 12 bits"],
  ["Show the graph", "a node for each value"],
  ["Change the settings", "applies to all editors and to CI"],
];

async function run() {
  const { page } = await open(values.vsix);
  const shot = pictures(page, values.screenshots);
  const text = () => editorText(page);
  const squiggle = page.locator(".squiggly-error");
  const isFixed = async () =>
    (await squiggle.count()) === 0 && /noisy\.reduce_noise/.test(await text());
  /** Unfolds a page of the walkthrough; a click is lost while the walkthrough is being drawn, and folds a page that is unfolded. */
  const to = async (title) => {
    const unfolded = page.locator(".getting-started-step.expanded", { hasText: title }).first();
    await eventually(`the page ${title}`, async () => {
      if (await unfolded.isVisible()) return true;
      await page.locator(".getting-started-step", { hasText: title }).first().click();
      return appears(unfolded);
    });
  };
  const press = (name) => page.getByRole("button", { name }).click();
  /** Back to a page of the walkthrough, which stays in its tab. */
  const back = async (title) => {
    await page.locator(".tab", { hasText: "Welcome" }).click();
    await page.getByText("Get started with Noisy").first().waitFor();
    await to(title);
  };

  await step("the walkthrough opens, and nothing on its pages is cut", async () => {
    await command(page, "View: Toggle Primary Side Bar Visibility");
    await command(page, "Noisy: Open Walkthrough");
    await page.getByText("Get started with Noisy").first().waitFor();
    // While a page is loaded the one before is there, too.
    const media = page.frameLocator("iframe.webview").frameLocator("iframe").last();
    // The first page is open from the start; a click would fold it.
    for (const [title, said] of [...PAGES.slice(1), PAGES[0]]) {
      await eventually(`what ${title} says`, async () => {
        await to(title);
        if (await appears(media.getByText(said), 5000)) return true;
        // On a slow machine VS Code may draw the page before it over this one, and leaves it so until another is chosen.
        await to(PAGES.find(([other]) => other !== title)[0]);
        return false;
      });
      await shot(`walkthrough-${title.replaceAll(" ", "-").toLowerCase()}`);
      await soon(async () => {
        const wide = await media
          .locator("pre")
          .evaluateAll((all) =>
            all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.innerText),
          );
        assert.deepEqual(wide, [], `${title}: cut`);
      });
    }
  });

  await step("an example opens, with its noise and one error", async () => {
    await press("Open the example");
    await eventually("hints", async () => /\[0, 24\]/.test(await text()));
    await eventually("one squiggle", async () => (await squiggle.count()) === 1);
    await shot("example");
  });

  await step("F8 goes to the error and tells of it", async () => {
    await page.keyboard.press("F8");
    const told = page.locator(".marker-widget");
    await told.waitFor();
    await soon(async () =>
      assert.match(plain(await told.innerText()), /may reach 48 bits, 22 over the 26-bit budget/),
    );
    await page.keyboard.press("Escape");
    await told.waitFor({ state: "hidden" });
  });

  await step("the quick fix fixes it, as the comment in the example says", async () => {
    await (await quickFix(page, /Insert.*reduce_noise/)).click();
    await eventually("a fixed program", isFixed);
    await page.keyboard.press("Control+z");
    await eventually("as before", async () => (await squiggle.count()) === 1);
  });

  await step("the button of the walkthrough fixes the program behind it", async () => {
    await back("Fix it");
    await press("Fix the file");
    await eventually("a fixed program", isFixed);
    await shot("example-fixed");
  });

  await step("the button of the walkthrough draws the graph of that program", async () => {
    await back("Show the graph");
    await press("Show the noise graph");
    await page.locator(".tab", { hasText: "Noise of @squarings" }).waitFor();
    const frame = page.frameLocator("iframe.webview").frameLocator("iframe");
    await frame.getByRole("application").waitFor();
    await shot("example-graph");
    await page.locator(".tab", { hasText: "Noise of @squarings" }).click();
    await page.keyboard.press("Control+w");
  });

  await step("the button of the walkthrough opens the settings", async () => {
    await back("Change the settings");
    await press("Open the settings");
    const settings = page.locator(".settings-editor");
    await settings.getByText("Extensions").first().waitFor();
    await soon(async () =>
      assert.doesNotMatch(await settings.innerText(), /Text Editor|Workbench/, "only ours"),
    );
    await shot("example-settings");
    await page.keyboard.press("Escape");
  });

  await step("without a program the button says so, and helps to one", async () => {
    await page.keyboard.press("Escape");
    await command(page, "View: Revert and Close Editor").catch(() => {});
    await command(page, "View: Close All Editors");
    const no = page.getByRole("button", { name: "Don't Save" });
    await no.click({ timeout: 5000 }).catch(() => {});
    await command(page, "Noisy: Open Walkthrough");
    await page.getByText("Get started with Noisy").first().waitFor();
    await to("Fix it");
    await press("Fix the file");
    const toast = page.locator(".notification-toast", { hasText: "No MLIR program is open" });
    await toast.getByRole("button", { name: "Open an Example" }).click();
    await eventually("hints", async () => /\[0, 24\]/.test(await text()));
  });
}

await main(WHOLE, run);
