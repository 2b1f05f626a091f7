/**
 * Interface of the WebAssembly module. `crates/web/src/lib.rs` documents the exports.
 */

/** Column of numbers, or column of names as indices into `names`. */
export type Column =
  | { kind: "float"; values: Float64Array<ArrayBuffer> }
  | { kind: "count"; values: BigUint64Array<ArrayBuffer> }
  | { kind: "name"; values: Uint32Array<ArrayBuffer>; names: string[] };

/** Columns of a table by name, in the order of the table. */
export type RawTable = { rows: number; columns: Map<string, Column> };

/** Manifest of a run. `scenario` is the normalized scenario. */
export type Manifest = {
  scenario: Record<string, unknown>;
  seed: number;
  version: string;
  simulated_s: number;
  start_spread_s: number;
  events: number;
  warnings: { about: string; text: string }[];
};

/** Result of a run. `captures` has the pcapng files of the links in `record.pcap.on`. */
export type RawResult = {
  manifest: Manifest;
  tables: Map<string, RawTable>;
  captures: Record<string, Uint8Array<ArrayBuffer>>;
};

/** Request of a check or a run: a scenario text, its format, and changes of dotted paths. */
export type Request = {
  text: string;
  format: "toml" | "json";
  changes?: [string, string][];
  limits?: { events?: number; memory?: string };
};

/** Error of the simulator, with the dotted path of the key that caused the error, or "". */
export class SimulatorError extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

type Exports = {
  memory: WebAssembly.Memory;
  input(bytes: number): number;
  output(): number;
  describe(): number;
  check(): number;
  run(): number;
};

type ColumnPlace = { name: string; kind: Column["kind"]; address: number; names: string[] };
type TablePlace = { rows: number; columns: ColumnPlace[] };
type CapturePlace = { name: string; address: number; bytes: number };
type RunAnswer = { manifest: Manifest; tables: Record<string, TablePlace>; captures: CapturePlace[] };
type Answer = { error?: { path: string; text: string } };

/** Function that receives the completed share of a run and the number of its events. */
export type Progress = (share: number, events: number) => void;

/**
 * One instance of the module. If a call throws an error that is not a `SimulatorError`, the
 * instance is unusable, because the error is a trap or comes from `progress`.
 */
export class Simulator {
  private constructor(private readonly exports: Exports) {}

  static async instantiate(module: WebAssembly.Module, progress: Progress = () => {}): Promise<Simulator> {
    const instance = await WebAssembly.instantiate(module, { aqmlab: { progress } });
    return new Simulator(instance.exports as Exports);
  }

  /** Return the version, the JSON Schema, the manual pages and the columns of all tables. */
  describe(): Record<string, unknown> {
    return this.call("describe", "");
  }

  /** Return the scenario as written, and the scenario with all defaults. */
  check(request: Request): { written: Record<string, unknown>; normalized: Record<string, unknown> } {
    return this.call("check", JSON.stringify(request));
  }

  /** Run a scenario. The columns are copies, which remain valid after further calls. */
  run(request: Request): RawResult {
    const answer = this.call<RunAnswer>("run", JSON.stringify(request));
    const tables = Object.entries(answer.tables).map(
      ([name, place]) => [name, this.table(place)] as const,
    );
    const buffer = this.exports.memory.buffer as ArrayBuffer;
    const captures = answer.captures.map(({ name, address, bytes }) => [name, new Uint8Array(buffer, address, bytes).slice()] as const);
    return { manifest: answer.manifest, tables: new Map(tables), captures: Object.fromEntries(captures) };
  }

  /** Return the message of a panic, or "" if the module trapped for another reason. */
  panicMessage(): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, this.exports.output());
    const end = bytes.subarray(0, 4096).indexOf(0);
    const text = new TextDecoder().decode(bytes.subarray(0, Math.max(end, 0)));
    return text.startsWith("the simulator panicked") ? text : "";
  }

  /** Return the size of the memory of the instance in bytes. */
  memoryBytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  private call<T>(name: "describe" | "check" | "run", text: string): T {
    const bytes = new TextEncoder().encode(text);
    const address = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, address, bytes.length).set(bytes);
    const length = this.exports[name]();
    const output = new Uint8Array(this.exports.memory.buffer, this.exports.output(), length);
    const answer = JSON.parse(new TextDecoder().decode(output)) as T & Answer;
    if (answer.error) throw new SimulatorError(answer.error.path, answer.error.text);
    return answer;
  }

  private table({ rows, columns }: TablePlace): RawTable {
    return { rows, columns: new Map(columns.map((place) => [place.name, this.column(place, rows)])) };
  }

  private column({ kind, address, names }: ColumnPlace, rows: number): Column {
    const buffer = this.exports.memory.buffer as ArrayBuffer;
    switch (kind) {
      case "float":
        return { kind, values: new Float64Array(buffer, address, rows).slice() };
      case "count":
        return { kind, values: new BigUint64Array(buffer, address, rows).slice() };
      case "name":
        return { kind, values: new Uint32Array(buffer, address, rows).slice(), names };
    }
  }
}
