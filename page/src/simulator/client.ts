/** The simulator as the page sees it: calls to a worker, each with a promise. */
import type { Result } from "../results/result";
import { SimulatorError, type Request } from "./module";

/** Message to the worker. */
export type Call =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "describe"; id: number }
  | { kind: "check" | "run"; id: number; request: Request };

/** Message from the worker: the answer of a call, or the progress of a run. */
export type Answer = {
  id: number;
  value?: unknown;
  error?: { path: string; text: string };
  progress?: number;
};

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A table of keys and values. */
export type JsonTable = { [key: string]: Json };
/** A scenario as its author wrote it, and with all defaults. */
export type Checked = { written: JsonTable; normalized: JsonTable };
/** Description of the simulator: JSON Schema, manual pages and the columns of all tables. */
export type Description = { version: string; schema: JsonTable; pages: JsonTable; columns: JsonTable };

/** Error of a call that was cancelled. */
export class Cancelled extends Error {}

type Waiting = {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  progress: ((share: number) => void) | undefined;
};

/** Fetch and compile the module. The file is compressed, because many web servers do not compress. */
export async function fetchModule(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL("./simulator.bin", document.baseURI));
  if (!response.ok || !response.body) {
    throw new Error(`The simulator could not be loaded: simulator.bin, status ${response.status}.`);
  }
  const unpacked = response.body.pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}

/** A worker with the simulator. */
export class Client {
  private worker!: Worker;
  private waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(private readonly module: WebAssembly.Module) {
    this.start();
  }

  describe(): Promise<Description> {
    return this.call<Description>({ kind: "describe", id: ++this.last });
  }

  check(request: Request): Promise<Checked> {
    return this.call<Checked>({ kind: "check", id: ++this.last, request });
  }

  run(request: Request, progress?: (share: number) => void): Promise<Result> {
    return this.call<Result>({ kind: "run", id: ++this.last, request }, progress);
  }

  /** End all calls with the error `Cancelled`, and start a fresh worker. */
  cancel(): void {
    this.end();
    this.start();
  }

  /** End all calls with the error `Cancelled`, and end the worker. */
  end(): void {
    this.worker.terminate();
    const ended = [...this.waiting.values()];
    this.waiting.clear();
    ended.forEach(({ reject }) => reject(new Cancelled()));
  }

  private start(): void {
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker.onmessage = (event: MessageEvent<Answer>) => this.receive(event.data);
    this.worker.postMessage({ kind: "start", module: this.module } satisfies Call);
  }

  private call<T>(call: Exclude<Call, { kind: "start" }>, progress?: (share: number) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(call.id, { resolve: resolve as (value: unknown) => void, reject, progress });
      this.worker.postMessage(call);
    });
  }

  private receive({ id, value, error, progress }: Answer): void {
    const waiting = this.waiting.get(id);
    if (progress !== undefined) {
      waiting?.progress?.(progress);
      return;
    }
    this.waiting.delete(id);
    if (error) waiting?.reject(new SimulatorError(error.path, error.text));
    else waiting?.resolve(value);
  }
}
