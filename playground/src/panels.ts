/** The side panel: problems, the noise graph, explanations, settings. */

import type * as monaco from "monaco-editor/editor/editor.api.js";
import { marked } from "marked";
import type * as lsp from "vscode-languageserver-types";
import { Refused, type Client } from "./client.ts";
import { range } from "./providers.ts";

type Name = "problems" | "graph" | "explain" | "settings";
const NAMES: Name[] = ["problems", "graph", "explain", "settings"];

const panel = (name: Name): HTMLElement => document.getElementById(name)!;
const tab = (name: Name): HTMLElement => document.getElementById(`tab-${name}`)!;

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  text = "",
  ...inner: Node[]
): HTMLElementTagNameMap[K] {
  const it = document.createElement(name);
  it.textContent = text;
  it.append(...inner);
  return it;
}

export class Panels {
  private shown: Name = "problems";
  private code: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private number = 0;

  constructor(
    private readonly client: Client,
    private readonly editor: monaco.editor.ICodeEditor,
    private readonly uri: string,
  ) {
    for (const [n, name] of NAMES.entries()) {
      tab(name).onclick = (): void => {
        this.open(name);
      };
      tab(name).onkeydown = (event): void => {
        const step = { ArrowRight: 1, ArrowLeft: NAMES.length - 1 }[event.key];
        if (step !== undefined) {
          this.open(NAMES[(n + step) % NAMES.length]!);
          tab(this.shown).focus();
        }
      };
    }
  }

  open(name: Name): void {
    this.shown = name;
    for (const it of NAMES) {
      panel(it).hidden = it !== name;
      tab(it).setAttribute("aria-selected", String(it === name));
      tab(it).tabIndex = it === name ? 0 : -1;
    }
    if (name === "graph") {
      void this.draw();
    } else if (name === "explain") {
      void this.explain(this.code ?? "noise-overflow");
    }
  }

  /** The program has changed: the graph follows once it is still. */
  changed(): void {
    clearTimeout(this.timer);
    if (this.shown === "graph") {
      this.timer = setTimeout(() => void this.draw(), 600);
    }
  }

  showProblems(all: lsp.Diagnostic[]): void {
    const words = ["", "error", "warning", "information", "hint"];
    const go = (to: lsp.Range, text: string): HTMLButtonElement => {
      const it = make("button", text);
      it.onclick = (): void => {
        this.editor.setSelection(range(to));
        this.editor.revealRangeInCenterIfOutsideViewport(range(to));
        this.editor.focus();
      };
      return it;
    };
    const items = all.map((it) => {
      const code = String(it.code ?? "");
      const item = make(
        "li",
        "",
        go(
          it.range,
          `${words[it.severity ?? 1]!}, line ${String(it.range.start.line + 1)}: ${typeof it.message === "string" ? it.message : it.message.value}`,
        ),
      );
      item.className = words[it.severity ?? 1]!;
      if (code !== "") {
        const why = make("button", `Explain ${code}`);
        why.onclick = (): void => {
          this.code = code;
          this.open("explain");
        };
        item.append(" ", why);
      }
      const chain = (it.relatedInformation ?? []).map((one) =>
        make(
          "li",
          "",
          go(
            one.location.range,
            `line ${String(one.location.range.start.line + 1)}: ${one.message}`,
          ),
        ),
      );
      if (chain.length > 0) {
        item.append(make("ul", "", ...chain));
      }
      return item;
    });
    const worst = all.find((it) => it.severity === 1 && it.code !== undefined);
    this.code = worst === undefined ? this.code : String(worst.code);
    const n = all.length;
    tab("problems").textContent = n === 0 ? "Problems" : `Problems (${String(n)})`;
    panel("problems").replaceChildren(
      n === 0 ? make("p", "Nothing is wrong with this program.") : make("ol", "", ...items),
    );
  }

  private async draw(): Promise<void> {
    const number = ++this.number;
    const at = this.editor.getPosition();
    const position = at && { line: at.lineNumber - 1, character: at.column - 1 };
    const params = { textDocument: { uri: this.uri }, position };
    const say = (page: string): void => {
      if (number !== this.number) {
        return;
      }
      const frame = make("iframe");
      frame.title = "Noise graph";
      frame.setAttribute("sandbox", "allow-scripts");
      frame.srcdoc = page;
      panel("graph").replaceChildren(frame);
    };
    try {
      // The picture before is there at once; that after the placement takes as long as the placement.
      say(await this.client.ask<string>("noisy/graph", params));
      say(await this.client.ask<string>("noisy/graph", { ...params, fix: true }));
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      if (number === this.number && panel("graph").childElementCount === 0) {
        panel("graph").replaceChildren(make("p", `There is no graph: ${error.message}.`));
      }
    }
  }

  private async explain(code: string): Promise<void> {
    try {
      const text = await this.client.ask<string>("noisy/explain", { code });
      panel("explain").innerHTML = await marked.parse(text);
    } catch (error) {
      panel("explain").replaceChildren(
        make("p", error instanceof Error ? error.message : String(error)),
      );
    }
  }
}
