// What the licences of bundled packages ask to be passed on.

import * as fs from "node:fs";
import path from "node:path";

const read = (file) => fs.readFileSync(file, "utf8").trim();

/** Texts with a line between them. */
export function join(...texts) {
  return `${texts.join(`\n\n${"=".repeat(78)}\n\n`)}\n`;
}

/** The folders in node_modules that something in a bundle of esbuild comes from. */
export function bundledPackages(metafile) {
  const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;
  return Object.keys(metafile.inputs).flatMap((input) => folder.exec(input)?.[0] ?? []);
}

/** The licences of the packages in these folders, and the notices that they pass on themselves. */
export function notices(folders) {
  return join(...[...new Set(folders)].sort().map(notice));
}

function notice(folder) {
  const { name, version, license } = JSON.parse(read(path.join(folder, "package.json")));
  const files = fs.readdirSync(folder);
  const own = files.find((it) => /^licen[cs]e/i.test(it));
  if (own === undefined) {
    throw new Error(`${name} has no licence text`);
  }
  const passedOn = files.filter((it) => /^third-?party-?notices/i.test(it));
  const texts = [own, ...passedOn].map((it) => read(path.join(folder, it)));
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}
