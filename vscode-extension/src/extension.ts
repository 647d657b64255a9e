/**
 * The rim between VS Code and `noisy-lsp`: commands, tasks and what is registered once. All knowledge of MLIR and noise is in the
 * server; the life of the server is in session.ts.
 */

import * as vscode from "vscode";
import { registerBudget } from "./budget.ts";
import { registerBytecode } from "./bytecode.ts";
import { checkPictures } from "./check-pictures.ts";
import { registerPictures } from "./pictures.ts";
import { Programs } from "./program.ts";
import { DebugInformation, selector } from "./common.ts";
import { Session } from "./session.ts";
import { registerStart } from "./start.ts";
import { registerTasks } from "./tasks.ts";

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Noisy", { log: true });
  const trace = vscode.window.createOutputChannel("Noisy Trace", { log: true });
  const status = vscode.languages.createLanguageStatusItem("noisy.server", selector);
  status.name = "Noisy";
  const current = new Session(context, log, trace, status);
  session = current;
  const debug = new DebugInformation();
  const programs = new Programs(selector);

  context.subscriptions.push(
    log,
    trace,
    status,
    programs,
    vscode.commands.registerCommand("noisy.restartServer", () => current.restart()),
    vscode.commands.registerCommand("noisy.showLogs", () => {
      log.show();
    }),
    vscode.workspace.registerTextDocumentContentProvider(DebugInformation.scheme, debug),
    vscode.commands.registerCommand("noisy.showDebugInformation", async () => {
      const text = await current.execute<string>("noisy.printDebugInformation");
      if (text !== undefined) {
        await debug.show(text);
      }
    }),
    vscode.commands.registerCommand("noisy.fixFile", () => fixFile(current, programs)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      // What the server offers is settled when it starts; it asks for the other settings by itself.
      const atStart = ["noisy.server", "noisy.features", "mlir.server_path"];
      if (atStart.some((setting) => event.affectsConfiguration(setting))) {
        await current.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart()),
    registerStart(context),
    registerBytecode(),
    registerTasks(current),
    registerBudget(current, selector),
    registerPictures(context, programs, log, checkPictures(current)),
  );
  await current.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

/**
 * Places in the program that is edited. The server sends the edit and says what it did; a source action would do the same, but
 * VS Code drops one whenever a change of the problems makes it look for a light bulb meanwhile.
 */
async function fixFile(current: Session, programs: Programs): Promise<void> {
  const editor = await programs.editor();
  if (editor !== undefined) {
    await current.execute("noisy.insertReduceNoise", { uri: editor.document.uri.toString() });
  }
}
