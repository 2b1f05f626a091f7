/** State of the page: the scenario, its results, and the calls of the simulator. */
import { batch, computed, signal } from "@preact/signals";
import { Cancelled, type Checked, Client, fetchModule, type Json, type JsonTable } from "../simulator/client";
import { SimulatorError } from "../simulator/module";
import { fromFragment, toFragment } from "../scenario/link";
import { lessonOf } from "../lessons/lesson";
import { ready } from "../scenario/ready";
import { detailedSeries, firstSeries, recordedLinks } from "../scenario/recorded";
import { Schemas } from "../scenario/schema";
import { tomlValue } from "../scenario/toml";
import { busiest, longFlows, measures } from "../results/measures";
import { cell, names, rowOf, type Result } from "../results/result";

/** Scenario with which the page begins: the one of the README's picture. */
const FIRST = "rfc7928";
/** Maximum number of packets of a link that the page captures. */
const MOST_CAPTURED = 400_000;
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

export const schemas = signal<Schemas | undefined>(undefined);
export const version = signal("");
/** Descriptions of all tables and their columns. */
export const columns = signal<JsonTable>({});
/** Manual pages of all keys and components. */
export const pages = signal<JsonTable>({});
/** Scenario as written, and with all defaults. */
export const written = signal<JsonTable>({});
export const normalized = signal<JsonTable>({});
/** Name of the ready scenario or lesson from which the scenario was made. */
export const origin = signal(FIRST);
/** The ready scenario as written. */
export const original = signal<JsonTable | undefined>(undefined);
/** Number that changes when another scenario is opened. */
export const opened = signal(0);
export const shown = signal<Shown | undefined>(undefined);
/** Previous setting, which the figures draw as a ghost. */
export const reference = signal<Shown | undefined>(undefined);
/** True if the reader keeps the reference while the scenario changes. */
export const kept = signal(false);
export const problem = signal<Problem | undefined>(undefined);
/** Completed share of the current run, or undefined. */
export const progress = signal<number | undefined>(undefined);
/** True if a run or a check has begun whose result is not shown yet. */
export const busy = signal(false);
/** Number of seeds, each with a run. */
export const seeds = signal(1);
/** Link and flow that the reader selected, or "". */
export const chosenLink = signal("");
export const chosenFlow = signal("");
/** Run with the segments and round-trip times of one flow, and with the packets of one link. */
export const traced = signal<{ written: JsonTable; flow: string; link: string; result: Result } | undefined>(undefined);
/** The traced run, if it has the setting of the shown run. */
export const detail = computed(() => (traced.value?.written === shown.value?.written ? traced.value : undefined));

export const links = computed(() => (shown.value ? names(shown.value.result, "links", "link") : []));
export const link = computed(() => {
  const result = shown.value?.result;
  if (!result) return "";
  return links.value.includes(chosenLink.value) ? chosenLink.value : busiest(result);
});
/** Flows with one connection, whose segments can be drawn. */
export const flows = computed(() => (shown.value ? [...longFlows(shown.value.result).keys()] : []));
export const flow = computed(() =>
  flows.value.includes(chosenFlow.value) ? chosenFlow.value : (flows.value[0] ?? ""));
export const current = computed(() => shown.value && measures(shown.value.result, link.value));
export const previous = computed(() => {
  const of = reference.value;
  return of && names(of.result, "links", "link").includes(link.value) ? measures(of.result, link.value) : undefined;
});
/** Measures of each seed, of the current setting and of the reference. */
export const replicated = computed(() => shown.value?.seeds.map((result) => measures(result, link.value)) ?? []);
export const replicatedBefore = computed(() =>
  reference.value?.seeds.map((result) => measures(result, link.value)) ?? []);

let client: Client;
/** Changes that the next check applies, by their dotted paths. */
let pending = new Map<string, string>();
/** True if the loop of checks and runs must begin again. */
let again = false;
let looping = false;
/** Number of scenarios that are being opened. */
let opening = 0;
/** Time at which the current run began, or 0. */
let runStarted = 0;
/** Control of the last change, and its time. */
let last = { path: "", at: 0 };
/** Fragment that the page wrote into the address bar. */
let fragment = "";

/** Load the simulator, and open the scenario of the link, or the first one. */
export async function start(): Promise<void> {
  try {
    client = new Client(await fetchModule());
    const description = await client.describe();
    batch(() => {
      schemas.value = new Schemas(description.schema);
      version.value = description.version;
      columns.value = description.columns;
      pages.value = description.pages;
    });
    await openLink();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== fragment) void openLink();
    });
  } catch (e) {
    problem.value = { path: "", text: e instanceof Error ? e.message : String(e) };
  }
}

/** Open the scenario of the link in the address bar, or the first scenario. */
async function openLink(): Promise<void> {
  try {
    const linked = await fromFragment(location.hash);
    if (!linked) return await openNamed(FIRST);
    seeds.value = Math.min(Math.max(1, Math.trunc(linked.seeds ?? 1)), 30);
    await open(JSON.stringify(linked.scenario), "json", linked.name ?? "");
  } catch (e) {
    await openNamed(FIRST);
    problem.value = { path: "", text: e instanceof Error ? e.message : String(e) };
  }
}

/** Open a ready scenario or a lesson by its name, with changed keys. */
export async function openNamed(name: string, changes: [string, string][] = []): Promise<void> {
  const lesson = lessonOf(name);
  const one = ready(name);
  if (lesson) await open(JSON.stringify(lesson.scenario), "json", name, changes);
  else if (one) await open(one.text, "toml", name, changes);
}

/** Open a scenario text. `name` is the ready scenario from which it was made, or "". */
export async function open(
  text: string,
  format: "toml" | "json",
  name: string,
  changes: [string, string][] = [],
): Promise<void> {
  opening += 1;
  busy.value = true;
  if (runStarted) client.cancel();
  try {
    const base = ready(name);
    const checked = await check(text, format, changes);
    const before = base ? await client.check({ text: base.text, format: "toml" }) : undefined;
    batch(() => {
      written.value = checked.written;
      normalized.value = checked.normalized;
      origin.value = name;
      original.value = before?.written;
      opened.value += 1;
      if (!kept.value) reference.value = undefined;
      [chosenLink.value, chosenFlow.value] = ["", ""];
      [shown.value, traced.value, problem.value] = [undefined, undefined, undefined];
    });
    pending.clear();
    last = { path: "", at: 0 };
  } catch (e) {
    report(e);
    return;
  } finally {
    opening -= 1;
    busy.value = looping || opening > 0;
  }
  await rerun();
}

/** Change a key of the scenario. The value has the syntax of TOML. */
export function change(path: string, value: string): Promise<void> {
  pending.delete(path);
  pending.set(path, value);
  return rerun();
}

/** Show the queue of another link. */
export function showLink(name: string): void {
  chosenLink.value = name;
  void rerun();
}

/** Set a key to a JSON value; null removes the key, because TOML has no null. */
export function set(path: string, value: Json): Promise<void> {
  if (value !== null) return change(path, tomlValue(value));
  written.value = without(written.value, path.split("."));
  return rerun();
}

/** Return a copy of a table without the key at a path. */
function without(table: JsonTable, [key = "", ...rest]: string[]): JsonTable {
  const copy = (Array.isArray(table) ? [...table] : { ...table }) as JsonTable;
  const inner = copy[key];
  if (rest.length === 0) delete copy[key];
  else if (typeof inner === "object" && inner !== null) copy[key] = without(inner as JsonTable, rest);
  return copy;
}

/** Keep the current setting as the reference, or release it. */
export function keep(on: boolean): void {
  batch(() => {
    kept.value = on;
    if (on) reference.value = shown.value;
  });
}

/** Check a scenario, and refuse a scenario with too many flows for a page. */
async function check(text: string, format: "toml" | "json", changes: [string, string][]): Promise<Checked> {
  const counts = changes.filter(([path]) => path.endsWith(".count"));
  const large = counts.find(([, count]) => Number(count) > MOST_FLOWS && Number(count) <= 10_000_000);
  if (large) throw tooMany(large[0], Number(large[1]));
  const checked = await client.check({ text, format, changes });
  const flows = (checked.normalized["flows"] ?? []) as JsonTable[];
  const total = flows.reduce((n, one) => n + Number(one["count"] ?? 1), 0);
  if (total > MOST_FLOWS) throw tooMany("flows", total);
  return checked;
}

function tooMany(path: string, count: number): SimulatorError {
  const advice = "run the scenario with the command aqmlab, or lower the count";
  return new SimulatorError(path, `${path}: ${count} is more than the ${MOST_FLOWS} flows of a page; ${advice}`);
}

/** Cancel the current run. */
export function cancel(): void {
  pending.clear();
  again = false;
  client.cancel();
}

/** Check the pending changes, run the scenario and show its result, until no change is pending. */
export async function rerun(): Promise<void> {
  [again, busy.value] = [true, true];
  if (looping) {
    if (runStarted && performance.now() - runStarted > PATIENCE) client.cancel();
    return;
  }
  looping = true;
  while (again) {
    again = false;
    busy.value = true;
    try {
      await applyPending();
      await showFirst();
      if (!again) await showRest();
    } catch (e) {
      report(e);
    }
  }
  looping = false;
  busy.value = opening > 0;
}

async function applyPending(): Promise<void> {
  const changes = [...pending];
  pending = new Map();
  const path = changes.at(-1)?.[0] ?? "";
  const isNew = path !== last.path || performance.now() - last.at > PAUSE;
  const checked = await check(JSON.stringify(written.value), "json", changes);
  last = { path, at: performance.now() };
  batch(() => {
    if (isNew && !kept.value && shown.value) reference.value = shown.value;
    written.value = checked.written;
    normalized.value = checked.normalized;
    problem.value = undefined;
  });
}

/** Run the first seed, and show its result. */
async function showFirst(): Promise<void> {
  const document = written.value;
  let result = await run(firstSeries(normalized.value, document, chosenLink.value));
  const bottleneck = busiest(result);
  const recorded = recordedLinks(normalized.value, chosenLink.value);
  if (recorded.length > 0 && !chosenLink.value && !recorded.includes(bottleneck)) {
    // The bottleneck is a link whose queue was not recorded.
    chosenLink.value = bottleneck;
    result = await run(firstSeries(normalized.value, document, bottleneck));
  }
  shown.value = { written: document, result, seeds: [result] };
  busy.value = false;
  fragment = await toFragment({ scenario: document, name: origin.value, seeds: seeds.value });
  history.replaceState(null, "", `#${fragment}`);
}

/** After a pause, run the traced flow and the other seeds, unless another change arrives. */
async function showRest(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 120));
  if (again) return;
  const { written: document, result } = shown.value!;
  const name = flow.value;
  const departed = cell(result, "links", "departed_packets", rowOf(result, "links", "link", link.value));
  const captured = departed <= MOST_CAPTURED ? link.value : "";
  const detailed = await run(detailedSeries(name, captured, schemas.value!));
  if (again) return;
  traced.value = { written: document, flow: name, link: captured, result: detailed };
  const all = [result];
  const first = Number(normalized.value["seed"] ?? 1);
  while (all.length < seeds.value) {
    const changes = firstSeries(normalized.value, document, chosenLink.value);
    all.push(await run([...changes, ["seed", String(first + all.length)]]));
    if (again) return;
    progress.value = all.length / seeds.value;
  }
  if (all.length > 1) shown.value = { written: document, result, seeds: all };
  progress.value = undefined;
}

async function run(changes: [string, string][]): Promise<Result> {
  runStarted = performance.now();
  const request = { text: JSON.stringify(written.value), format: "json" as const, changes };
  try {
    return await client.run(request, (share) => (progress.value = share));
  } finally {
    runStarted = 0;
    progress.value = undefined;
  }
}

function report(e: unknown): void {
  if (e instanceof Cancelled) return;
  const path = e instanceof SimulatorError ? e.path : "";
  problem.value = { path, text: e instanceof Error ? e.message : String(e) };
}

/** Return the link to the current setting. */
export async function currentLink(): Promise<string> {
  const linked = await toFragment({ scenario: written.value, name: origin.value, seeds: seeds.value });
  return `${location.href.replace(/#.*/, "")}#${linked}`;
}
