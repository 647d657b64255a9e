/** The program that a command is about, also where the command is given from a page that covers it, such as the walkthrough. */

import * as vscode from "vscode";

export class Programs implements vscode.Disposable {
  /** The program that was edited last. */
  private last: vscode.TextDocument | undefined;
  private readonly watch: vscode.Disposable;

  constructor(selector: vscode.DocumentSelector) {
    const isProgram = (document: vscode.TextDocument): boolean =>
      vscode.languages.match(selector, document) > 0;
    const note = (editor: vscode.TextEditor | undefined): void => {
      if (editor !== undefined && isProgram(editor.document)) {
        this.last = editor.document;
      }
    };
    note(vscode.window.activeTextEditor);
    this.watch = vscode.window.onDidChangeActiveTextEditor(note);
  }

  /** The editor of the program: the active one, or the last one, shown again. Without one the user is told, and helped to one. */
  async editor(): Promise<vscode.TextEditor | undefined> {
    const active = vscode.window.activeTextEditor;
    if (active !== undefined) {
      return active;
    }
    if (this.last !== undefined && !this.last.isClosed) {
      return vscode.window.showTextDocument(this.last);
    }
    const button = "Open an Example";
    const choice = await vscode.window.showInformationMessage(
      "No MLIR program is open. Open one first.",
      button,
    );
    if (choice === button) {
      await vscode.commands.executeCommand("noisy.openExample");
    }
    return undefined;
  }

  dispose(): void {
    this.watch.dispose();
  }
}
