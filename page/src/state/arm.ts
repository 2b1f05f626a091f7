/** An arm of the page: a scenario, its results, and the calls of its simulator. */
import { batch, computed, signal } from "@preact/signals";
import { Cancelled, type Checked, Client, type Json, type JsonTable } from "../simulator/client";
import { SimulatorError } from "../simulator/module";
import { lessonOf } from "../lessons/lesson";
import { ready } from "../scenario/ready";
import { detailedSeries, firstSeries, reasons, recordedLinks, seedSeries } from "../scenario/recorded";
import { tomlValue } from "../scenario/toml";
import { busiest, longFlows, measures, sum } from "../results/measures";
import { meanDelays, type MeanDelays } from "../results/mean-delays";
import { cell, names, numbers, rowOf, type Result } from "../results/result";
import { schemas, seeds } from "./shared";

/** Maximum number of packets of a link that the page captures. */
const MOST_CAPTURED = 400_000;
/** Maximum number of packets of all links up to which the changes of cwnd of all senders are recorded. */
const MOST_EXPLAINED = 4_000_000;
/** Maximum number of flows of a scenario in the page. */
const MOST_FLOWS = 100_000;
/** Time in ms after which a new change ends a run instead of waiting for it. */
const PATIENCE = 300;
/** Time in ms after which a change of the same control counts as a new setting. */
const PAUSE = 2_000;

/** A result with the setting that gave it. */
export type Shown = { written: JsonTable; result: Result; seeds: Result[] };
/** Error of a check or run, with the dotted path of the key that caused it, or "". */
export type Problem = { path: string; text: string };
/** Run with the details of one flow and one link. */
export type Traced = { written: JsonTable; flow: string; link: string; result: Result };

/** A scenario with its results. The page has the arm A, and in a comparison also the arm B. */
export class Arm {
  /** Scenario as written, and with all defaults. */
  readonly written = signal<JsonTable>({});
  readonly normalized = signal<JsonTable>({});
  /** Name of the ready scenario or lesson from which the scenario was made, or "". */
  readonly origin = signal("");
  /** The ready scenario as written. */
  readonly original = signal<JsonTable | undefined>(undefined);
  /** Number that changes when another scenario is opened. */
  readonly opened = signal(0);
  readonly shown = signal<Shown | undefined>(undefined);
  readonly problem = signal<Problem | undefined>(undefined);
  /** Completed share of the current run, or undefined. */
  readonly progress = signal<number | undefined>(undefined);
  /** True if a run or a check has begun whose result is not shown yet. */
  readonly busy = signal(false);
  /** Link and flow that the reader selected, or "". */
  readonly chosenLink = signal("");
  readonly chosenFlow = signal("");
  /** Run with the segments and round-trip times of one flow, and with the packets of one link. */
  readonly traced = signal<Traced | undefined>(undefined);
  /** The traced run, if it has the setting of the shown run. */
  readonly detail = computed(() => (this.traced.value?.written === this.shown.value?.written ? this.traced.value : undefined));

  /** Title of the scenario, or "". */
  readonly title = computed(() => String(this.written.value["title"] ?? "") || ready(this.origin.value)?.title || "");
  readonly links = computed(() => (this.shown.value ? names(this.shown.value.result, "links", "link") : []));
  readonly link = computed(() => {
    const result = this.shown.value?.result;
    if (!result) return "";
    return this.links.value.includes(this.chosenLink.value) ? this.chosenLink.value : busiest(result);
  });
  /** Flows with one connection, whose segments can be drawn. */
  readonly flows = computed(() => (this.shown.value ? [...longFlows(this.shown.value.result).keys()] : []));
  readonly flow = computed(() =>
    this.flows.value.includes(this.chosenFlow.value) ? this.chosenFlow.value : (this.flows.value[0] ?? ""));
  /** Measures of each seed. */
  readonly replicated = computed(() => this.shown.value?.seeds.map((result) => measures(result, this.link.value)) ?? []);

  /** Mean delays over time of each seed; until the traced run ends, those of the previous setting. */
  readonly delays = signal<MeanDelays[] | undefined>(undefined);
  private readonly delaysBefore = signal<MeanDelays[] | undefined>(undefined);
  /** Mean delays of the previous setting. */
  readonly previousDelays = computed(() => (this.previous.value ? this.delaysBefore.value : undefined));

  private readonly before = signal<Shown | undefined>(undefined);
  /** Previous setting, which the figures draw in grey. A comparison has no previous setting. */
  readonly previous = computed(() => (arms.value.length > 1 ? undefined : this.before.value));
  /** Measures of each seed of the previous setting. */
  readonly replicatedBefore = computed(() => {
    const of = this.previous.value;
    const link = this.link.value;
    return of && names(of.result, "links", "link").includes(link) ? of.seeds.map((result) => measures(result, link)) : [];
  });

  private client!: Client;
  /** Changes that the next check applies, by their dotted paths. */
  private pending = new Map<string, string>();
  /** True if the loop of checks and runs must begin again. */
  private again = false;
  private looping = false;
  /** Number of scenarios that are being opened. */
  private opening = 0;
  /** Time at which the current run began, or 0. */
  private runStarted = 0;
  /** Control of the last change, and its time. */
  private last = { path: "", at: 0 };

  constructor(readonly name: "A" | "B") {}

  /** Start the simulator of the arm. */
  start(client: Client): void {
    this.client = client;
  }

  /** End the simulator of the arm. */
  end(): void {
    this.pending.clear();
    this.again = false;
    this.client.end();
  }

  /** Take over the scenario and the results of another arm. */
  copy(of: Arm): void {
    batch(() => {
      this.written.value = of.written.value;
      this.normalized.value = of.normalized.value;
      this.origin.value = of.origin.value;
      this.original.value = of.original.value;
      this.chosenLink.value = of.chosenLink.value;
      this.chosenFlow.value = of.chosenFlow.value;
      this.shown.value = of.shown.value;
      this.traced.value = of.traced.value;
      this.delays.value = of.delays.value;
      this.opened.value += 1;
    });
  }

  /** Open a ready scenario or a lesson by its name, with changed keys. */
  async openNamed(name: string, changes: [string, string][] = []): Promise<void> {
    const lesson = lessonOf(name);
    const one = ready(name);
    if (lesson) await this.open(JSON.stringify(lesson.scenario), "json", name, changes);
    else if (one) await this.open(one.text, "toml", name, changes);
  }

  /** Open a scenario text. `name` is the ready scenario from which it was made, or "". */
  async open(text: string, format: "toml" | "json", name: string, changes: [string, string][] = []): Promise<void> {
    this.opening += 1;
    this.busy.value = true;
    if (this.runStarted) this.client.cancel();
    try {
      const base = ready(name);
      const checked = await this.check(text, format, changes);
      const original = base ? await this.client.check({ text: base.text, format: "toml" }) : undefined;
      batch(() => {
        this.written.value = checked.written;
        this.normalized.value = checked.normalized;
        this.origin.value = name;
        this.original.value = original?.written;
        this.opened.value += 1;
        [this.chosenLink.value, this.chosenFlow.value] = ["", ""];
        for (const of of [this.before, this.shown, this.traced, this.delays, this.problem]) of.value = undefined;
      });
      this.pending.clear();
      this.last = { path: "", at: 0 };
    } catch (e) {
      this.report(e);
      return;
    } finally {
      this.opening -= 1;
      this.busy.value = this.looping || this.opening > 0;
    }
    await this.rerun();
  }

  /** Change a key of the scenario. The value has the syntax of TOML. */
  change(path: string, value: string): Promise<void> {
    this.pending.delete(path);
    this.pending.set(path, value);
    return this.rerun();
  }

  /** Set a key to a JSON value; null removes the key, because TOML has no null. */
  set(path: string, value: Json): Promise<void> {
    if (value !== null) return this.change(path, tomlValue(value));
    this.written.value = without(this.written.value, path.split("."));
    return this.rerun();
  }

  /** Cancel the current run. */
  cancel(): void {
    this.pending.clear();
    this.again = false;
    this.client.cancel();
  }

  /** Check the pending changes, run the scenario and show its result, until no change is pending. */
  async rerun(): Promise<void> {
    [this.again, this.busy.value] = [true, true];
    if (this.looping) {
      if (this.runStarted && performance.now() - this.runStarted > PATIENCE) this.client.cancel();
      return;
    }
    this.looping = true;
    while (this.again) {
      this.again = false;
      this.busy.value = true;
      try {
        await this.applyPending();
        await this.showFirst();
        if (!this.again) await this.showRest();
      } catch (e) {
        this.report(e);
      }
    }
    this.looping = false;
    this.busy.value = this.opening > 0;
  }

  /** Check a scenario, and refuse a scenario with too many flows for a page. */
  private async check(text: string, format: "toml" | "json", changes: [string, string][]): Promise<Checked> {
    const counts = changes.filter(([path]) => path.endsWith(".count"));
    const large = counts.find(([, count]) => Number(count) > MOST_FLOWS && Number(count) <= 10_000_000);
    if (large) throw tooMany(large[0], Number(large[1]));
    const checked = await this.client.check({ text, format, changes });
    const flows = (checked.normalized["flows"] ?? []) as JsonTable[];
    const total = flows.reduce((n, one) => n + Number(one["count"] ?? 1), 0);
    if (total > MOST_FLOWS) throw tooMany("flows", total);
    return checked;
  }

  private async applyPending(): Promise<void> {
    const changes = [...this.pending];
    this.pending = new Map();
    const path = changes.at(-1)?.[0] ?? "";
    const isNew = path !== this.last.path || performance.now() - this.last.at > PAUSE;
    const checked = await this.check(JSON.stringify(this.written.value), "json", changes);
    this.last = { path, at: performance.now() };
    batch(() => {
      if (isNew && isOther(this.shown.value, checked.written)) {
        this.before.value = this.shown.value;
        this.delaysBefore.value = this.detail.value && this.delays.value;
      }
      this.written.value = checked.written;
      this.normalized.value = checked.normalized;
      this.problem.value = undefined;
    });
  }

  /** Run the first seed, and show its result. */
  private async showFirst(): Promise<void> {
    const document = this.written.value;
    const series = (link: string) => firstSeries(this.normalized.value, document, link);
    let result = await this.run(series(this.chosenLink.value));
    const bottleneck = busiest(result);
    const recorded = recordedLinks(this.normalized.value, this.chosenLink.value);
    if (recorded.length > 0 && !this.chosenLink.value && !recorded.includes(bottleneck)) {
      // The bottleneck is a link whose queue was not recorded.
      this.chosenLink.value = bottleneck;
      result = await this.run(series(bottleneck));
    }
    this.shown.value = { written: document, result, seeds: [result] };
    this.busy.value = false;
  }

  /** After a pause, run the traced flow and the other seeds, unless another change arrives. */
  private async showRest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 120));
    if (this.again) return;
    const { written: document, result } = this.shown.value!;
    const [flow, link] = [this.flow.value, this.link.value];
    const departed = cell(result, "links", "departed_packets", rowOf(result, "links", "link", link));
    const captured = departed <= MOST_CAPTURED ? link : "";
    const detailed = await this.run(detailedSeries(flow, captured));
    if (this.again) return;
    // Segments of one flow and windows of all flows need different lists of traced flows.
    const isSmall = sum(numbers(result, "links", "departed_packets")) <= MOST_EXPLAINED;
    const explained = await this.run(reasons(isSmall ? "" : flow, schemas.value!));
    if (this.again) return;
    const tables = { ...detailed.tables, why: explained.tables["why"]!, why_cwnd: explained.tables["why_cwnd"]! };
    const end = result.manifest.simulated_s;
    batch(() => {
      this.traced.value = { written: document, flow, link: captured, result: { ...detailed, tables } };
      this.delays.value = captured ? [meanDelays(detailed, captured, end)] : undefined;
    });
    await this.runSeeds(document, result, link, captured !== "");
  }

  /** Run the other seeds, and show them together. */
  private async runSeeds(document: JsonTable, result: Result, link: string, packets: boolean): Promise<void> {
    const all = [result];
    const delays = [...(this.delays.value ?? [])];
    const first = Number(this.normalized.value["seed"] ?? 1);
    while (all.length < seeds.value) {
      const changes = seedSeries(this.normalized.value, document, link, packets);
      const next = await this.run([...changes, ["seed", String(first + all.length)]]);
      if (this.again) return;
      if (packets) delays.push(meanDelays(next, link, result.manifest.simulated_s));
      // The delays of all packets of all seeds could need more memory than the page has.
      delete next.tables["packet_delays"];
      all.push(next);
      this.progress.value = all.length / seeds.value;
    }
    if (all.length > 1) {
      batch(() => {
        this.shown.value = { written: document, result, seeds: all };
        if (packets) this.delays.value = delays;
      });
    }
    this.progress.value = undefined;
  }

  private async run(changes: [string, string][]): Promise<Result> {
    this.runStarted = performance.now();
    const request = { text: JSON.stringify(this.written.value), format: "json" as const, changes };
    try {
      return await this.client.run(request, (share) => (this.progress.value = share));
    } finally {
      this.runStarted = 0;
      this.progress.value = undefined;
    }
  }

  private report(e: unknown): void {
    if (e instanceof Cancelled) return;
    const path = e instanceof SimulatorError ? e.path : "";
    this.problem.value = { path, text: e instanceof Error ? e.message : String(e) };
  }
}

/** Return true if a shown result has another setting. */
const isOther = (shown: Shown | undefined, written: JsonTable) =>
  shown !== undefined && JSON.stringify(shown.written) !== JSON.stringify(written);

/** Return a copy of a table without the key at a path. */
function without(table: JsonTable, [key = "", ...rest]: string[]): JsonTable {
  const copy = (Array.isArray(table) ? [...table] : { ...table }) as JsonTable;
  const inner = copy[key];
  if (rest.length === 0) delete copy[key];
  else if (typeof inner === "object" && inner !== null) copy[key] = without(inner as JsonTable, rest);
  return copy;
}

function tooMany(path: string, count: number): SimulatorError {
  const advice = "run the scenario with the command aqmlab, or lower the count";
  return new SimulatorError(path, `${path}: ${count} is more than the ${MOST_FLOWS} flows of a page; ${advice}`);
}

/** Arms that the page shows: A alone, or A and B. */
export const arms = signal<Arm[]>([new Arm("A")]);
