/** Where `noisy-check` is: beside the server, as it is built and bundled, else on PATH. */

import { access } from "node:fs/promises";
import { constants } from "node:fs";
import path from "node:path";

/** The file beside the server if there is one, else the bare name, which the system looks up. */
export async function findCheck(
  serverFile: string | undefined,
  platform: NodeJS.Platform,
): Promise<string> {
  const name = platform === "win32" ? "noisy-check.exe" : "noisy-check";
  if (serverFile !== undefined) {
    const file = path.join(path.dirname(serverFile), name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not there: PATH may have it.
    }
  }
  return name;
}
