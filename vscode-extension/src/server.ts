/**
 * Which `noisy-lsp` to start. Knows nothing of VS Code, so that it can be tested as it is.
 *
 * The order is: the user's setting, the server bundled with the extension, PATH. A setting that
 * does not work is an error and not a reason to start another server than the one asked for.
 */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";

/** What the lookup depends on, as plain data. */
export interface Surroundings {
  /** The setting `noisy.server.path`; empty when unset. */
  setting: string;
  /** The folder of the extension, which holds `server/` when a server is bundled. */
  extensionFolder: string;
  /** The home folder, which `~` stands for. */
  home: string;
  /** The environment variable PATH. */
  searchPath: string;
  /** Whether the workspace is trusted; PATH is not searched when it is not. */
  trusted: boolean;
  platform: NodeJS.Platform;
}

export type Origin = "setting" | "bundled" | "PATH";

export interface Candidate {
  file: string;
  origin: Origin;
}

/** A server that answered `--version`. */
export interface Server extends Candidate {
  version: string;
}

/** Nothing usable was found; `message` says what was tried and what to do. */
export class ServerNotFound extends Error {
  override name = "ServerNotFound";
}

/** `~` and `~/x` with the home folder in place of the tilde; anything else as it is. */
export function expandHome(file: string, home: string): string {
  return /^~(?=$|[/\\])/.test(file) ? home + file.slice(1) : file;
}

/** The files to try, in order. They need not exist. */
export function candidates(around: Surroundings): Candidate[] {
  const setting = around.setting.trim();
  if (setting !== "") {
    return [{ file: expandHome(setting, around.home), origin: "setting" }];
  }
  const paths = around.platform === "win32" ? path.win32 : path.posix;
  const binary = around.platform === "win32" ? "noisy-lsp.exe" : "noisy-lsp";
  const found: Candidate[] = [
    { file: paths.join(around.extensionFolder, "server", binary), origin: "bundled" },
  ];
  if (around.trusted) {
    for (const folder of around.searchPath.split(paths.delimiter)) {
      // A relative entry would name a file of whatever folder is open.
      if (paths.isAbsolute(folder)) {
        found.push({ file: paths.join(folder, binary), origin: "PATH" });
      }
    }
  }
  return found;
}

/** What to do about a setting that names no server. */
const correct = (what: string): string => `Correct ${what}, or clear it to use the bundled server.`;

/** The first candidate that exists and answers `--version` as noisy-lsp does. */
export async function findServer(
  around: Surroundings,
  log: (line: string) => void,
): Promise<Server> {
  const refusals: string[] = [];
  for (const candidate of candidates(around)) {
    if (!(await isFile(candidate.file))) {
      if (candidate.origin === "setting") {
        throw new ServerNotFound(
          `noisy.server.path names ${candidate.file}, but no executable file is there. ` +
            correct("the setting"),
        );
      }
      continue;
    }
    try {
      const version = await askVersion(candidate.file);
      log(`using ${candidate.file} (${candidate.origin}), version ${version}`);
      return { ...candidate, version };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`not using ${candidate.file} (${candidate.origin}): ${reason}`);
      refusals.push(`${candidate.file}: ${reason}`);
    }
  }
  if (refusals.length > 0) {
    const help =
      around.setting === ""
        ? "Name another noisy-lsp in the setting noisy.server.path."
        : correct("noisy.server.path");
    throw new ServerNotFound(`No Noisy server can be started. ${refusals.join("; ")}. ${help}`);
  }
  const places = around.trusted
    ? "bundled with the extension or on PATH"
    : "bundled with the extension (PATH is not searched in a workspace that is not trusted)";
  throw new ServerNotFound(
    `The Noisy server, noisy-lsp, was not found ${places}. Build it with \`cargo build --release -p noisy-lsp\` ` +
      `and name it in the setting noisy.server.path.`,
  );
}

async function isFile(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The version `file` gives of itself; an error when it gives none within five seconds. */
export async function askVersion(file: string): Promise<string> {
  const output = await new Promise<string>((resolve, reject) => {
    execFile(file, ["--version"], { timeout: 5000, windowsHide: true }, (error, stdout) => {
      if (error === null) {
        resolve(stdout);
      } else if (error.killed === true) {
        reject(new Error("no answer to --version within 5 seconds"));
      } else {
        reject(
          new Error(`--version failed (${String(error.code ?? error.signal ?? error.message)})`),
        );
      }
    });
  });
  const version = /^noisy-lsp (\S+)/.exec(output)?.[1];
  if (version === undefined) {
    throw new Error("this file is not noisy-lsp");
  }
  return version;
}
