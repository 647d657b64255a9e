/** Pictures that `noisy-check` draws. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { findCheck } from "./check.ts";
import { functionAt, noiseOf, type Picture } from "./pictures.ts";
import type { Session } from "./session.ts";

export function checkPictures(session: Session): Picture[] {
  /** Draws by the arguments for an input. */
  const draw =
    (args: (document: vscode.TextDocument, line: number, input: string) => string[]) =>
    async (document: vscode.TextDocument, line: number): Promise<string> => {
      const file = await findCheck(session.serverFile, process.platform);
      // A file is named as such where its text is what is drawn.
      const { uri, isDirty } = document;
      const input = uri.scheme === "file" && !isDirty ? uri.fsPath : "-";
      const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
      return run(file, args(document, line, input), document.getText(), folder);
    };
  const graph = draw((document, line, input) => {
    const name = functionAt(document, line);
    return [
      ...["graph", input, "--fix", "--format", "html"],
      ...(name === undefined ? [] : ["--function", name]),
    ];
  });
  return [
    { ...noiseOf, page: graph },
    {
      command: "noisy.showNest",
      view: "noisy.nest",
      name: "Iterations",
      failure: "The iteration space cannot be drawn",
      title: (_, line) => `Iterations of Line ${String(line + 1)}`,
      page: draw((_, line, input) => ["nest", input, "--line", String(line + 1)]),
    },
  ];
}

/** Milliseconds for one picture. */
const PATIENCE = 30_000;

function run(
  file: string,
  args: string[],
  input: string,
  folder: string | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: PATIENCE, maxBuffer: 1 << 28, windowsHide: true, cwd: folder };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
      } else if (error.code === "ENOENT") {
        reject(new Error("noisy-check was not found beside the server or on PATH"));
      } else {
        reject(new Error(stderr.trim().replace(/^noisy-check: /, "") || error.message));
      }
    });
    child.stdin?.on("error", () => {
      // It ended without reading; how it ended says why.
    });
    child.stdin?.end(input);
  });
}
