/**
 * What can go wrong with the server, each said once, in plain words, with the buttons that help. Knows nothing of VS Code.
 */

import { ServerNotFound } from "./server.ts";

/** What a button does. */
export type Help = "Restart" | "Open Settings" | "Show Logs";

/** A failure as it is shown. */
export interface Failure {
  message: string;
  /** The first helps most. */
  buttons: Help[];
}

/** The server did not answer the first message in time. */
export class StartTimeout extends Error {
  override name = "StartTimeout";
  readonly seconds: number;
  readonly file: string;
  constructor(seconds: number, file: string) {
    super(`no answer within ${String(seconds)} s`);
    this.seconds = seconds;
    this.file = file;
  }
}

/** The server ended before it had answered the first message. */
export class DiedStarting extends Error {
  override name = "DiedStarting";
  readonly file: string;
  readonly how: string;
  constructor(file: string, how: string) {
    super(how);
    this.file = file;
    this.how = how;
  }
}

/** How a process ended, in words. */
export function ending(code: number | null, signal: string | null): string {
  if (signal !== null) {
    return `signal ${signal}`;
  }
  return code === null ? "no exit code" : `exit code ${String(code)}`;
}

/** What to show for an error of the start. */
export function startFailure(error: unknown): Failure {
  if (error instanceof ServerNotFound) {
    return { message: error.message, buttons: ["Open Settings", "Show Logs"] };
  }
  if (error instanceof StartTimeout) {
    return {
      message:
        `The Noisy server did not answer within ${String(error.seconds)} seconds after its start ` +
        `and was stopped: ${error.file}`,
      buttons: ["Restart", "Open Settings", "Show Logs"],
    };
  }
  if (error instanceof DiedStarting) {
    return {
      message: `The Noisy server stopped while it was starting (${error.how}): ${error.file}`,
      buttons: ["Restart", "Open Settings", "Show Logs"],
    };
  }
  const why = error instanceof Error ? error.message : String(error);
  return {
    message: `The Noisy server could not be started: ${why}`,
    buttons: ["Restart", "Show Logs"],
  };
}

/** For a server that stops again and again. */
export function stopsOften(times: number, minutes: number): Failure {
  return {
    message: `The Noisy server stopped ${String(times)} times within ${String(minutes)} minutes and is not restarted automatically.`,
    buttons: ["Restart", "Show Logs"],
  };
}

/** For a command that needs the server. */
export const notRunning: Failure = {
  message: "The Noisy server is not running.",
  buttons: ["Restart", "Show Logs"],
};
