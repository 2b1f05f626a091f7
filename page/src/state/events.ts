/** Drops, marks and changes of cwnd of an arm, in the order of time. */
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { grouped, names, numbers, type Result } from "../results/result";
import type { Arm } from "./arm";
import { pages } from "./shared";

/** Drop, mark, or change of cwnd: a row of a table. */
export type Event = {
  time: number;
  kind: "drop" | "mark" | "reduction" | "growth";
  result: Result;
  table: "why" | "drops" | "marks" | "why_cwnd";
  row: number;
};

/** Groups of events over which the cursor can step, with their labels. */
export const STEPS = {
  all: "every event",
  signals: "drops and marks",
  cwnd: "changes of cwnd",
  reductions: "reductions of cwnd",
} as const;
/** Events over which the cursor steps. */
export const stepOver = signal<keyof typeof STEPS>("all");

const OF_STEPS: Record<keyof typeof STEPS, Event["kind"][]> = {
  all: ["drop", "mark", "reduction", "growth"],
  signals: ["drop", "mark"],
  cwnd: ["reduction", "growth"],
  reductions: ["reduction"],
};

/** Return the drops and marks of a link. */
function signalled(result: Result, link: string): Event[] {
  // The table `why` has the rows of `drops` and `marks` with the rule of the queue.
  const tables = result.tables["why"] ? (["why"] as const) : (["drops", "marks"] as const);
  return tables.flatMap((table) => {
    const [times, signals] = [numbers(result, table, "time_s"), names(result, table, "signal")];
    return (grouped(result, table, "link").get(link) ?? []).map((row): Event => {
      const kind = table === "drops" || signals[row] === "drop" ? "drop" : "mark";
      return { time: times[row]!, kind, result, table, row };
    });
  });
}

/** Return the changes of cwnd of all senders. */
function changes(result: Result): Event[] {
  const table = "why_cwnd";
  const [before, after] = ["cwnd_before_bytes", "cwnd_after_bytes"].map((column) => numbers(result, table, column));
  return Array.from(numbers(result, table, "time_s"), (time, row) =>
    ({ time, kind: after![row]! < before![row]! ? "reduction" : "growth", result, table, row }));
}

function all({ shown, detail, link }: Arm): Event[] {
  const [now, more] = [shown.value?.result, detail.value?.result];
  if (!now) return [];
  const events = signalled(more?.tables["why"] ? more : now, link.value);
  return (more ? [...events, ...changes(more)] : events).sort((a, b) => a.time - b.time);
}

function selected(arm: Arm): ReadonlySignal<Event[]> {
  const every = computed(() => all(arm));
  return computed(() => every.value.filter(({ kind }) => OF_STEPS[stepOver.value].includes(kind)));
}

const known = new WeakMap<Arm, ReadonlySignal<Event[]>>();

/** Return the events of an arm over which the cursor steps: those at the selected link, and the
 * changes of the windows of all senders. */
export function eventsOf(arm: Arm): Event[] {
  const events = known.get(arm) ?? selected(arm);
  known.set(arm, events);
  return events.value;
}

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

type Rule = { name: string; meaning: string; source: string };

/** Return the meaning of a rule, from the manual pages of queues or of TCP. Rules of different
 * components can have one name, but then they have different sources. */
function meaningOf(category: "queues" | "tcp", name: string, source: string): string {
  const rules = ((pages.value[category] ?? []) as unknown as { rules?: Rule[] }[]).flatMap((page) => page.rules ?? []);
  const rule = rules.find((one) => one.name === name && one.source === source);
  return rule ? `${rule.meaning} (${source})` : "";
}

/** Return the variables of a row: the numbers in the columns after the column `source`. */
function variables({ result, table, row }: Event): string {
  const columns = Object.entries(result.tables[table]?.columns ?? {});
  const from = columns.findIndex(([name]) => name === "source") + 1;
  const values = columns.slice(from).flatMap(([name, { values }]) => {
    const value = values[row] ?? Number.NaN;
    return from === 0 || Number.isNaN(value) ? [] : [`${name} = ${Number(value.toPrecision(4))}`];
  });
  return values.join(", ");
}

const name = ({ result, table, row }: Event, column: string): string => {
  const of = result.tables[table]?.columns[column];
  return of?.names[of.values[row] ?? -1] ?? "";
};

/** What happened and the rule, the variables of the rule, and its meaning. */
export type Described = { text: string; values: string; meaning: string };

/** Describe an event. The rule, its variables and its meaning are "" if the run does not have them. */
export function describe(event: Event): Described {
  const [flow, rule, source] = ["flow", "rule", "source"].map((column) => name(event, column));
  if (event.table === "why_cwnd") {
    return { text: `${flow}: ${windows(event)}, rule ${rule}`, values: "", meaning: meaningOf("tcp", rule!, source!) };
  }
  const text = `${event.kind} of a packet of ${flow}: ${name(event, "reason")}${rule && `, rule ${rule}`}`;
  return { text, values: variables(event), meaning: meaningOf("queues", rule!, source!) };
}

/** Return the changed windows of a row of `why_cwnd`. */
function windows({ result, table, row }: Event): string {
  const parts = ["cwnd", "ssthresh"].flatMap((window) => {
    const [before, after] = ["before", "after"].map((when) => numbers(result, table, `${window}_${when}_bytes`)[row]!);
    const bytes = (value: number) => (Number.isFinite(value) ? String(Math.round(value)) : "infinite");
    return before === after ? [] : [`${window} from ${bytes(before!)} to ${bytes(after!)} B`];
  });
  return parts.join(", ");
}
