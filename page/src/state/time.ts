/** Simulated time that all figures share: the cursor, the visible range, and the events. */
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { names, numbers, type Result } from "../results/result";
import { queueOf } from "../scenario/queue-of";
import type { JsonTable } from "../simulator/client";
import { arms, type Arm } from "./arm";
import { pages } from "./shared";

/** Range of simulated time that the figures over time show, or undefined for the whole run. */
export const zoom = signal<[number, number] | undefined>(undefined);
/** Time of the cursor in s, or undefined. */
export const moment = signal<number | undefined>(undefined);
/** True while the cursor moves by itself. */
export const playing = signal(false);

/** Drop, mark or reduction of a window. */
export type Event = {
  time: number;
  kind: "drop" | "mark" | "window";
  flow: string;
  /** What happened, with the rule and the variables if the run has them. */
  text: string;
  /** Meaning of the rule, or "". */
  meaning: string;
};

type Rule = { name: string; meaning: string; source: string };
type Page = { name: string; rules?: Rule[] };

/** Return the meaning of a rule, from the page of the component or from any other page. */
function meaningOf(rule: string, component: string): string {
  const all = ["queues", "tcp"].flatMap((category) => (pages.value[category] ?? []) as unknown as Page[]);
  const first = all.filter((page) => page.name === component);
  const found = [...first, ...all].flatMap((page) => page.rules ?? []).find((one) => one.name === rule);
  return found ? `${found.meaning} (${found.source})` : "";
}

/** Return the variables of a row: the numbers in the columns after the column `source`. */
function variables(result: Result, table: string, row: number): string {
  const columns = Object.entries(result.tables[table]?.columns ?? {});
  const from = columns.findIndex(([name]) => name === "source") + 1;
  const values = columns.slice(from).flatMap(([name, { values }]) => {
    const value = values[row] ?? Number.NaN;
    return from === 0 || Number.isNaN(value) ? [] : [`${name} = ${Number(value.toPrecision(4))}`];
  });
  return values.join(", ");
}

/** Return the drops and marks of a link. `kind` is the kind of its queue. */
function signalled(result: Result, of: string, kindOfQueue: string): Event[] {
  // The table `why` has the rows of `drops` and `marks` with the rule of the queue.
  const tables = result.tables["why"] ? (["why"] as const) : (["drops", "marks"] as const);
  return tables.flatMap((table) => {
    const [times, links, flows, reasons] = [numbers(result, table, "time_s"), names(result, table, "link"), names(result, table, "flow"), names(result, table, "reason")];
    const [signals, rules] = [names(result, table, "signal"), names(result, table, "rule")];
    return [...times].flatMap((time, row): Event[] => {
      if (links[row] !== of) return [];
      const kind = table === "drops" || signals[row] === "drop" ? "drop" : "mark";
      const rule = rules[row] ? `, rule ${rules[row]}` : "";
      const values = variables(result, table, row);
      const meaning = rules[row] ? meaningOf(rules[row], kindOfQueue) : "";
      return [{ time, kind, flow: flows[row]!, meaning, text: `${kind} of a packet of ${flows[row]}: ${reasons[row]}${rule}${values ? ` (${values})` : ""}` }];
    });
  });
}

/** Return the reductions of the windows of the traced flow, if the run has their reasons. */
function reductions(result: Result, flow: string, control: string): Event[] {
  const table = "why_cwnd";
  const flows = names(result, table, "flow");
  const [before, after, times] = ["cwnd_before_bytes", "cwnd_after_bytes", "time_s"].map((column) => numbers(result, table, column));
  const rules = names(result, table, "rule");
  return flows.flatMap((name, row): Event[] => {
    if (name !== flow || !(after![row]! < before![row]!)) return [];
    const change = [before![row]!, after![row]!].map((bytes) => (bytes / 1e3).toPrecision(3)).join(" to ");
    const text = `cwnd of ${flow} from ${change} kB, rule ${rules[row]}`;
    return [{ time: times![row]!, kind: "window", flow, text, meaning: meaningOf(rules[row]!, control) }];
  });
}

function allEvents({ shown, detail, link, normalized }: Arm): Event[] {
  const [now, more] = [shown.value, detail.value];
  if (!now) return [];
  const withReasons = more?.result.tables["why"] ? more.result : now.result;
  const all = signalled(withReasons, link.value, String(queueOf(normalized.value, link.value)?.["kind"]));
  const control = String(((normalized.value["tcp"] as JsonTable)["congestion"] as JsonTable)["kind"]);
  if (more) all.push(...reductions(more.result, more.flow, control));
  return all.sort((a, b) => a.time - b.time);
}

const known = new WeakMap<Arm, ReadonlySignal<Event[]>>();

/** Return the drops and marks of the selected link, and known reductions of windows, in the order of time. */
export function eventsOf(arm: Arm): Event[] {
  const events = known.get(arm) ?? computed(() => allEvents(arm));
  known.set(arm, events);
  return events.value;
}

/** Duration of the longest run. */
const end = (): number => Math.max(...arms.value.map(({ shown }) => shown.value?.result.manifest.simulated_s ?? 0));

/** Return the range of time that the figures show. */
export const visibleRange = (): [number, number] => zoom.value ?? [0, end()];

/** Return the number of events at a time or before it. */
export function eventsUntil(all: Event[], time: number): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]!.time <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Move the cursor to the next event of any scenario, or to the previous one. */
export function step(direction: 1 | -1): void {
  const now = moment.value ?? 0;
  const next = arms.value.flatMap((arm) => {
    const all = eventsOf(arm);
    const until = eventsUntil(all, now);
    const event = direction > 0 ? all[until] : all.slice(0, until).findLast(({ time }) => time < now);
    return event ? [event.time] : [];
  });
  if (next.length > 0) show(direction > 0 ? Math.min(...next) : Math.max(...next));
}

/** Set the cursor, and move the visible range so that the cursor is inside it. */
export function show(time: number): void {
  moment.value = time;
  const range = zoom.value;
  if (range && (time < range[0] || time > range[1])) {
    const half = (range[1] - range[0]) / 2;
    zoom.value = [time - half, time + half];
  }
}

/** Enlarge or reduce the visible range around the cursor by a factor. */
export function enlarge(factor: number): void {
  const [low, high] = visibleRange();
  const centre = moment.value ?? (low + high) / 2;
  const half = (high - low) / 2 / factor;
  zoom.value = 2 * half >= end() ? undefined : [Math.max(0, centre - half), Math.min(end(), centre + half)];
}

/** Simulated time per second of real time while the cursor moves: the visible range in 20 s. */
const SECONDS = 20;

/** Move the cursor by itself until the end of the visible range, or stop it. */
export function play(): void {
  playing.value = !playing.value;
  let before = performance.now();
  const frame = (now: number) => {
    const [low, high] = visibleRange();
    if (!playing.value || high === 0) return;
    const at = moment.value ?? low;
    const next = (at >= high ? low : at) + ((now - before) / 1e3) * ((high - low) / SECONDS);
    before = now;
    moment.value = Math.min(next, high);
    if (next >= high) playing.value = false;
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
