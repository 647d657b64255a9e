/** The client of the server in the worker: messages, and a new worker where one has ended. */

import type { Early } from "./early.ts";

/** The server stops more often than this within so many minutes: the text itself ends it, so no further one is started. */
const MOST_STOPS = 3;
const MINUTES = 3;

/** A worker that says nothing for so long did not start. */
const START = 30_000;

/** An error of the server. */
export class Refused extends Error {
  override name = "Refused";
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

export interface Told {
  /** A server has started: everything is to be sent to it. */
  started(): void;
  /** There is no server any more. `again` is true if another one is started. */
  ended(why: string, again: boolean): void;
  notified(method: string, params: unknown): void;
  /** A request of the server. */
  asked(method: string, params: unknown): Promise<unknown>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Incoming {
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

export class Client {
  private worker: Worker | undefined;
  private last = 0;
  private readonly waiting = new Map<number, Waiting>();
  private stops: number[] = [];
  /** True once the server has answered `initialize`. */
  isRunning = false;

  constructor(
    private readonly early: Early,
    private readonly initialize: object,
    private readonly told: Told,
  ) {}

  async run(): Promise<void> {
    if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
      this.told.ended("this browser does not support WebAssembly", false);
      return;
    }
    this.end();
    const { start, worker: first, failure } = this.early;
    this.early.worker = undefined;
    const worker = first ?? new Worker("worker.js");
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<Incoming>): void => {
      if (this.worker === worker) {
        this.receive(event.data);
      }
    };
    worker.onerror = (event): void => {
      if (this.worker === worker) {
        this.died(event.message || "the worker did not start");
      }
    };
    if (first === undefined) {
      worker.postMessage(start);
    } else if (failure !== undefined) {
      this.died(failure);
      return;
    }
    const timer = setTimeout(() => {
      if (this.worker === worker && !this.isRunning) {
        this.died("the server did not answer");
      }
    }, START);
    try {
      await this.ask("initialize", this.initialize);
      this.isRunning = true;
      this.notify("initialized", {});
      this.told.started();
    } catch (error) {
      console.error(error);
    } finally {
      clearTimeout(timer);
    }
  }

  private end(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.isRunning = false;
    for (const it of this.waiting.values()) {
      it.reject(new Refused("the server has stopped", 0));
    }
    this.waiting.clear();
  }

  /** Starts anew, as often as the user wants. */
  restart(): Promise<void> {
    this.stops = [];
    return this.run();
  }

  private died(why: string): void {
    this.end();
    const now = Date.now();
    this.stops = [...this.stops, now].filter((it) => now - it <= MINUTES * 60_000);
    const again = this.stops.length <= MOST_STOPS;
    this.told.ended(why, again);
    if (again) {
      void this.run();
    }
  }

  private post(message: object): void {
    this.worker?.postMessage({ jsonrpc: "2.0", ...message });
  }

  notify(method: string, params: unknown): void {
    this.post({ method, params });
  }

  ask<T>(
    method: string,
    params: unknown,
    isCancelled?: { onCancellationRequested(act: () => void): unknown },
  ): Promise<T> {
    const id = ++this.last;
    return new Promise<T>((resolve, reject) => {
      if (this.worker === undefined) {
        reject(new Refused("there is no server", 0));
        return;
      }
      this.waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.post({ id, method, params });
      isCancelled?.onCancellationRequested(() => {
        if (this.waiting.has(id)) {
          this.notify("$/cancelRequest", { id });
        }
      });
    });
  }

  private receive(message: Incoming): void {
    if (message.method === undefined) {
      const waiting = this.waiting.get(message.id as number);
      this.waiting.delete(message.id as number);
      if (message.error !== undefined) {
        waiting?.reject(new Refused(message.error.message, message.error.code));
      } else {
        waiting?.resolve(message.result);
      }
    } else if (message.method === "noisy/died") {
      this.died((message.params as { message: string }).message);
    } else if (message.id === undefined) {
      this.told.notified(message.method, message.params);
    } else {
      const { id } = message;
      this.told.asked(message.method, message.params).then(
        (result) => {
          this.post({ id, result: result ?? null });
        },
        (error: unknown) => {
          this.post({ id, error: { code: -32603, message: String(error) } });
        },
      );
    }
  }
}
