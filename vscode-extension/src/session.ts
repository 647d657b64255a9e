/**
 * One server at a time: found, started, watched, stopped. Every failure ends in one message with the button that helps.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { homedir } from "node:os";
import * as vscode from "vscode";
import {
  CloseAction,
  LanguageClient,
  State,
  type CloseHandlerResult,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import {
  asksForStatus,
  middleware,
  selector,
  serverSettings,
  type ServerStatus,
} from "./common.ts";
import {
  DiedStarting,
  StartTimeout,
  ending,
  notRunning,
  startFailure,
  stopsOften,
  type Failure,
  type Help,
} from "./failure.ts";
import { findServer, type Server } from "./server.ts";

/** A server that stops more often than this within so many minutes is not started again by itself. */
const MOST_STOPS = 4;
const MINUTES = 3;

/** A client whose own errors go to the log: what the user is to know is said here, once. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** A client with the process that it talks to. */
interface Running {
  client: QuietClient;
  server: Server;
  process: ChildProcess | undefined;
  /** Given up: whatever becomes of it is of no interest. */
  abandoned: boolean;
  /** Ended from here. */
  killed: boolean;
}

/** Starts and stops are queued, so that two restarts cannot overlap. */
export class Session {
  private readonly context: vscode.ExtensionContext;
  private readonly log: vscode.LogOutputChannel;
  private readonly trace: vscode.LogOutputChannel;
  private readonly status: vscode.LanguageStatusItem;
  private running: Running | undefined;
  private queue: Promise<void> = Promise.resolve();
  /** When the server stopped by itself, in milliseconds; the last few minutes of it. */
  private stops: number[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  /** The server has started or stopped, or has begun or ended a search. */
  readonly onDidChange = this.changed.event;
  /** Ends a start that is under way. */
  private giveUp: (() => void) | undefined;

  constructor(
    context: vscode.ExtensionContext,
    log: vscode.LogOutputChannel,
    trace: vscode.LogOutputChannel,
    status: vscode.LanguageStatusItem,
  ) {
    this.context = context;
    this.log = log;
    this.trace = trace;
    this.status = status;
  }

  restart(): Promise<void> {
    // A start that hangs does not hold up the next one.
    this.giveUp?.();
    this.stops = [];
    return this.enqueue(async () => {
      await this.stopClient();
      await this.startClient();
    });
  }

  stop(): Promise<void> {
    this.giveUp?.();
    return this.enqueue(() => this.stopClient());
  }

  private enqueue(step: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(step).catch((error: unknown) => {
      if (error !== superseded) {
        this.fail(startFailure(error));
      }
    });
    return this.queue;
  }

  private async startClient(): Promise<void> {
    this.show(vscode.LanguageStatusSeverity.Information, "Noisy: starting", true);
    const settings = vscode.workspace.getConfiguration("noisy");
    const server = await findServer(
      {
        setting: settings.get("server.path", ""),
        extensionFolder: this.context.extensionPath,
        home: homedir(),
        searchPath: process.env["PATH"] ?? "",
        trusted: vscode.workspace.isTrusted,
        platform: process.platform,
      },
      (line) => {
        this.log.info(line);
      },
    );
    const seconds = Math.max(1, settings.get("server.startTimeout", 15));
    const current = this.newClient(server);
    this.running = current;

    const interrupted = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        reject(new StartTimeout(seconds, server.file));
      }, seconds * 1000);
      this.giveUp = () => {
        reject(superseded);
      };
      current.client.onDidChangeState(({ newState }) => {
        if (newState === State.Running) {
          clearTimeout(timer);
        }
      });
    });
    try {
      await Promise.race([current.client.start(), interrupted]);
    } catch (error) {
      await this.abandon(current);
      const known = error instanceof StartTimeout || error === superseded;
      throw known ? error : await this.startError(current, error);
    } finally {
      this.giveUp = undefined;
    }
  }

  /** Why a start failed: the end of the process tells more than the broken connection does. */
  private async startError(current: Running, error: unknown): Promise<unknown> {
    const child = current.process;
    if (child === undefined) {
      return error;
    }
    // The connection may break a little before the process is seen to end.
    await Promise.race([ended(child), new Promise((wake) => setTimeout(wake, 500))]);
    this.log.error(String(error));
    const how = ending(child.exitCode, current.killed ? null : child.signalCode);
    return new DiedStarting(current.server.file, how);
  }

  private newClient(server: Server): Running {
    // The library would start it again without a time limit, and say itself what failed.
    const closed = (): CloseHandlerResult => {
      if (!current.abandoned && current.client.state === State.Running) {
        this.stopped(current);
      }
      return { action: CloseAction.DoNotRestart, handled: true };
    };
    const options: LanguageClientOptions = {
      documentSelector: selector,
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      initializationOptions: serverSettings,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (error, message, count) =>
          current.client.createDefaultErrorHandler().error(error, message, count),
        closed,
      },
      middleware: middleware(() => current.client),
    };
    const start = (): Promise<ChildProcess> => {
      const child = spawn(server.file, [], { windowsHide: true });
      current.process = child;
      return new Promise((resolve, reject) => {
        child.once("spawn", () => {
          resolve(child);
        });
        child.once("error", reject);
      });
    };
    const client = new QuietClient("noisy", "Noisy", start, options);
    const current: Running = {
      client,
      server,
      process: undefined,
      abandoned: false,
      killed: false,
    };
    client.registerFeature(asksForStatus);
    client.onNotification("experimental/serverStatus", (status: ServerStatus) => {
      this.follow(current, status);
    });
    client.onDidChangeState(() => {
      this.follow(current);
    });
    return current;
  }

  /** A server that ran has stopped by itself: it is started again, unless that happens often. */
  private stopped(current: Running): void {
    const child = current.process;
    const how = ending(child?.exitCode ?? null, child?.signalCode ?? null);
    this.log.error(`${current.server.file} stopped (${how})`);
    current.abandoned = true;
    const now = Date.now();
    this.stops = [...this.stops, now].filter((it) => now - it <= MINUTES * 60_000);
    if (this.stops.length > MOST_STOPS) {
      this.fail(stopsOften(this.stops.length, MINUTES));
      return;
    }
    void this.enqueue(async () => {
      // Another restart may have come first.
      if (this.running === current) {
        await this.abandon(current);
        await this.startClient();
      }
    });
  }

  /** Lets go of a client that does not run: its process ends, and it starts no other. */
  private async abandon(current: Running): Promise<void> {
    current.abandoned = true;
    if (this.running === current) {
      this.running = undefined;
    }
    const child = current.process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      current.killed = true;
      child.kill("SIGKILL");
      await ended(child);
    }
  }

  private async stopClient(): Promise<void> {
    const current = this.running;
    if (current === undefined) {
      return;
    }
    if (current.client.state === State.Running) {
      current.abandoned = true;
      await current.client.dispose().catch((error: unknown) => {
        this.log.warn(`the server did not stop by itself: ${String(error)}`);
      });
    }
    await this.abandon(current);
  }

  /** Has the server execute one of its commands; without a server the user is told, and the answer is undefined. */
  async execute<T>(command: string, ...args: object[]): Promise<T | undefined> {
    const client = this.running?.client;
    if (client?.state !== State.Running) {
      this.fail(notRunning);
      return undefined;
    }
    return client.sendRequest<T>("workspace/executeCommand", { command, arguments: args });
  }

  /** Asks the server; without one, or without an answer, undefined. */
  async ask<T>(method: string, params: object): Promise<T | undefined> {
    const client = this.running?.client;
    if (client?.state !== State.Running) {
      return undefined;
    }
    try {
      return await client.sendRequest<T>(method, params);
    } catch (error) {
      // The text changed meanwhile, or an older server runs.
      this.log.debug(`${method}: ${String(error)}`);
      return undefined;
    }
  }

  /** The folder of the server that runs or was last tried. */
  get serverFile(): string | undefined {
    return this.running?.server.file;
  }

  private follow(current: Running, status?: ServerStatus): void {
    if (current.abandoned || this.running !== current) {
      return;
    }
    this.changed.fire();
    const { client, server } = current;
    if (client.state === State.Starting) {
      this.show(vscode.LanguageStatusSeverity.Information, "Noisy: starting", true);
    } else if (client.state === State.Running) {
      const { Information, Warning } = vscode.LanguageStatusSeverity;
      const severity = status?.health === "warning" ? Warning : Information;
      const text = `noisy-lsp ${server.version}`;
      this.show(severity, text, status?.quiescent === false, status?.message ?? server.file);
    }
  }

  private fail(failure: Failure): void {
    this.log.error(failure.message);
    this.show(vscode.LanguageStatusSeverity.Error, "Noisy: no server", false, failure.message);
    this.status.command = { command: "noisy.restartServer", title: "Restart" };
    void vscode.window
      .showErrorMessage(failure.message, ...failure.buttons)
      .then((choice) => (choice === undefined ? undefined : this.help(choice)));
  }

  private help(choice: Help): Thenable<unknown> {
    switch (choice) {
      case "Open Settings":
        return vscode.commands.executeCommand("workbench.action.openSettings", "noisy.server");
      case "Restart":
        return this.restart();
      case "Show Logs":
        this.log.show();
        return Promise.resolve();
    }
  }

  private show(
    severity: vscode.LanguageStatusSeverity,
    text: string,
    busy: boolean,
    detail = "",
  ): void {
    this.status.severity = severity;
    this.status.text = text;
    this.status.busy = busy;
    this.status.detail = detail;
    this.status.command = { command: "noisy.showLogs", title: "Show Logs" };
  }
}

/** A start that another one has made needless. */
const superseded = new Error("restarted again before this start finished");

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
    } else {
      child.once("exit", () => {
        resolve();
      });
    }
  });
}
