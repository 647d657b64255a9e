// VS Code with the packaged extension: what goes wrong with the server. Each failure ends in one message with the button that helps.
//
//   node tests/editors/vscode/failures.mjs --vsix FILE [--screenshots FOLDER] [--only PART-OF-A-NAME]
//
// The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  command,
  eventually,
  handsOn,
  isAlive,
  main,
  open,
  pictures,
  plain,
  scratch,
  script,
  soon,
  step,
  writeSettings,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 400_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" }, only: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

async function run() {
  const { page } = await open(values.vsix);
  const shot = pictures(page, values.screenshots);
  const hands = handsOn(page, shot, values.only);
  const { clear, hints, mend, noHints, onward, shots, show, toast, toasts } = hands;
  const oneMessage = () => soon(async () => assert.equal(await toasts.count(), 1, "one message"));
  const answers = `if [ "$1" = --version ]; then echo noisy-lsp 0.1.0; exit; fi\n`;

  await step("the bundled server works", async () => {
    await show("squarings.mlir");
    await hints();
  });

  await onward(
    "a server that hangs is given up, told of once, and a corrected setting works",
    async () => {
      const pids = path.join(scratch, "hanging");
      const hangs = script("hangs", `${answers}echo $$ >> ${pids}\nexec sleep 1000\n`);
      const settings = { "noisy.server.path": hangs, "noisy.server.startTimeout": 2 };
      writeSettings(settings);
      await toast("did not answer within 2 seconds").waitFor();
      await page.waitForTimeout(1000);
      await oneMessage();
      await shots("server-hangs", settings);
      await toast("did not answer").getByRole("button", { name: "Restart" }).waitFor();
      const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
      await soon(() => assert.deepEqual(started.filter(isAlive), [], "no process is left"));
      await mend();
      await page.waitForTimeout(3000);
      assert.equal(
        readFileSync(pids, "utf8").trim().split("\n").length,
        started.length,
        "it is not started again",
      );
    },
  );

  await onward("a corrected setting does not wait for a server that hangs", async () => {
    const pids = path.join(scratch, "slow");
    const hangs = script("slow", `${answers}echo $$ >> ${pids}\nexec sleep 1000\n`);
    writeSettings({ "noisy.server.path": hangs, "noisy.server.startTimeout": 600 });
    await eventually("its start", () => existsSync(pids));
    await noHints();
    await mend();
    const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
    await eventually("its end", () => !started.some(isAlive));
  });

  await onward("a server that dies while it starts is one message", async () => {
    const settings = { "noisy.server.path": script("dies", `${answers}exit 3\n`) };
    writeSettings(settings);
    await toast("stopped while it was starting (exit code 3)").waitFor();
    await page.waitForTimeout(1500);
    await oneMessage();
    await shots("server-dies", settings);
  });

  await onward("a command without a server offers to start it", async () => {
    await clear();
    await command(page, "Noisy: Insert Optimal");
    await toast("The Noisy server is not running").waitFor();
    await oneMessage();
    await toast("is not running").getByRole("button", { name: "Restart" }).waitFor();
    await mend();
  });

  await onward(
    "a file that is another program is one message that leads to the setting",
    async () => {
      const settings = { "noisy.server.path": script("other", "echo other 1.0\n") };
      writeSettings(settings);
      await toast("this file is not noisy-lsp").waitFor();
      await oneMessage();
      await soon(async () => {
        const told = plain(await toasts.first().innerText());
        assert.doesNotMatch(told, /\bat .*:\d+:\d+/, "no stack trace");
        assert.match(told, /Correct noisy\.server\.path, or clear it/);
      });
      await toast("this file is not noisy-lsp")
        .getByRole("button", { name: "Open Settings" })
        .waitFor();
      await shots("server-wrong", settings);
      await mend();
    },
  );

  await onward(
    "a server that stops often is told of once, and Restart brings it back",
    async () => {
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
      await oneMessage();
      await shots("server-stops-often", { "noisy.server.path": real });
      await toast("stopped 5 times").getByRole("button", { name: "Restart" }).click();
      await eventually("a new start", () => last().length > stopped);
      await hints();
      await mend();
    },
  );
}

await main(WHOLE, run);
