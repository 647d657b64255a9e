/** Tasks that run `noisy-check` on the workspace; what it finds becomes problems. */

import * as vscode from "vscode";
import { findCheck } from "./check.ts";
import type { Session } from "./session.ts";

/** What a task does, and the arguments for it. */
const kinds: Record<string, string[]> = {
  check: ["--output-format", "concise"],
  fix: ["--fix", "--output-format", "concise"],
  format: ["format"],
  "check formatting": ["format", "--check"],
};

interface Definition extends vscode.TaskDefinition {
  command: string;
  paths?: string[];
}

export function registerTasks(session: Session): vscode.Disposable {
  const task = async (
    definition: Definition,
    scope: vscode.WorkspaceFolder | vscode.TaskScope,
  ): Promise<vscode.Task | undefined> => {
    const args = kinds[definition.command];
    if (args === undefined) {
      return undefined;
    }
    const file = await findCheck(session.serverFile, process.platform);
    const execution = new vscode.ProcessExecution(file, [...args, ...(definition.paths ?? ["."])]);
    return new vscode.Task(
      definition,
      scope,
      definition.command,
      "noisy",
      execution,
      "$noisy-check",
    );
  };
  return vscode.tasks.registerTaskProvider("noisy", {
    provideTasks: async () => {
      const folders = vscode.workspace.workspaceFolders ?? [];
      const all = folders.flatMap((folder) =>
        Object.keys(kinds).map((command) => task({ type: "noisy", command }, folder)),
      );
      return (await Promise.all(all)).filter((it) => it !== undefined);
    },
    resolveTask: (it) => task(it.definition as Definition, it.scope ?? vscode.TaskScope.Workspace),
  });
}
