// Runs the program of this platform's package, with the same arguments and the same end.
"use strict";

const { spawnSync } = require("node:child_process");
const path = require("node:path");

const program = path.basename(process.argv[1]).replace(/\.c?js$/, "");
const platform = `${process.platform}-${process.arch}`;
const suffix = process.platform === "win32" ? ".exe" : "";

let file;
try {
  file = require.resolve(`noisy-check-${platform}/bin/${program}${suffix}`);
} catch {
  console.error(
    `${program}: there is no program for ${platform} in this installation: ` +
      `noisy-check-${platform} is missing. Were optional dependencies left out?`,
  );
  process.exit(2);
}
const run = spawnSync(file, process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`${program}: ${run.error.message}`);
  process.exit(2);
}
if (run.signal) {
  process.kill(process.pid, run.signal);
}
process.exit(run.status ?? 2);
