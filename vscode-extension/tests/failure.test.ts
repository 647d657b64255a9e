import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  DiedStarting,
  StartTimeout,
  ending,
  notRunning,
  startFailure,
  stopsOften,
} from "../src/failure.ts";
import { ServerNotFound } from "../src/server.ts";

suite("what the user is told", () => {
  test("every failure has a button that helps, and no stack trace", () => {
    const failures = [
      startFailure(
        new ServerNotFound("noisy.server.path names /x, but no executable file is there."),
      ),
      startFailure(new StartTimeout(15, "/x/noisy-lsp")),
      startFailure(new DiedStarting("/x/noisy-lsp", ending(3, null))),
      startFailure(new Error("spawn EACCES")),
      startFailure("something"),
      stopsOften(5, 3),
      notRunning,
    ];
    for (const { message, buttons } of failures) {
      assert.ok(buttons.length > 0, message);
      assert.doesNotMatch(message, /\bat \S+:\d+|Error:|\n/);
      assert.match(message, /^[A-Z]|^noisy\./);
    }
    assert.equal(new Set(failures.map(({ message }) => message)).size, failures.length);
  });

  test("how a process ended", () => {
    assert.equal(ending(3, null), "exit code 3");
    assert.equal(ending(null, "SIGSEGV"), "signal SIGSEGV");
    assert.equal(ending(null, null), "no exit code");
  });
});
