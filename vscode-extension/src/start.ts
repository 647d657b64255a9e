/** How to start, also in a browser: an example and the walkthrough. */

import * as vscode from "vscode";

/** What the walkthrough opens: a program that goes over the budget, and can be fixed. */
const EXAMPLE = `// Too noisy: %2 is over the budget.
// Put the cursor on it and press Ctrl+. (Cmd+. on a Mac).
func.func @squarings(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  %3 = noisy.mul %2, %2 : !noisy.i32
  %4 = noisy.decode %3 : !noisy.i32 -> i5
  return %4 : i5
}
`;

export function registerStart(context: vscode.ExtensionContext): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("noisy.openExample", async () => {
      const document = await vscode.workspace.openTextDocument({
        language: "mlir",
        content: EXAMPLE,
      });
      await vscode.window.showTextDocument(document);
    }),
    vscode.commands.registerCommand("noisy.openWalkthrough", () =>
      vscode.commands.executeCommand(
        "workbench.action.openWalkthrough",
        `${context.extension.id}#noisy.start`,
        false,
      ),
    ),
  );
}
