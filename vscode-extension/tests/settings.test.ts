import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { besideServer, forServer, sectionForServer } from "../src/settings.ts";

suite("settings as the server knows them", () => {
  test("words become what they stand for, at any depth", () => {
    const settings = {
      inlayHints: { noise: "auto", budget: "on", ranges: "off" },
      placement: { timeLimit: 0, objective: "auto", replace: "auto", background: true },
      codeLens: { enable: false },
      configuration: "",
    };
    assert.deepEqual(sectionForServer("noisy", settings), {
      inlayHints: { noise: null, budget: true, ranges: false },
      placement: { timeLimit: null, objective: null, replace: null, background: true },
      codeLens: { enable: false },
      configuration: null,
    });
  });

  test("numbers that are not set are null", () => {
    const heir = { levelBudget: 0, noiseModel: "auto" };
    assert.deepEqual(forServer({ heir }), { heir: { levelBudget: null, noiseModel: null } });
    const set = { levelBudget: 3, noiseModel: "bgv-noise-mono" };
    assert.deepEqual(sectionForServer("noisy.heir", set), set);
  });

  test("another server is told of beside what is set", () => {
    const settings = { features: { onlyNoise: null }, rules: {} };
    assert.deepEqual(besideServer(settings, true), {
      features: { onlyNoise: null, otherServer: true },
      rules: {},
    });
    assert.deepEqual(besideServer({}, false), { features: { otherServer: false } });
  });

  test("values that say something stay", () => {
    assert.equal(sectionForServer("noisy.placement.objective", "count"), "count");
    assert.equal(sectionForServer("noisy.placement.timeLimit", 2.5), 2.5);
    assert.equal(sectionForServer("noisy.configuration", "ci/noisy.toml"), "ci/noisy.toml");
  });

  test("values of former versions stay", () => {
    const settings = { inlayHints: { noise: true, budget: false, ranges: null } };
    assert.deepEqual(forServer(settings), settings);
  });

  test("levels of rules are no switches", () => {
    const rules = { "redundant-reduce": "off", lint: "on" };
    assert.deepEqual(forServer({ rules }), { rules });
    assert.deepEqual(sectionForServer("noisy.rules", rules), rules);
  });

  test("sections of others are not touched", () => {
    assert.equal(sectionForServer("editor.wordWrap", "off"), "off");
    assert.equal(sectionForServer(undefined, "off"), "off");
  });
});
