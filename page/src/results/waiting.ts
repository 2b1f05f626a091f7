/** Packets that wait in the queue of a link, from the delay of every packet and the reasons of drops. */
import { grouped, names, numbers, type Result } from "./result";
import type { JsonTable } from "../simulator/client";

/**
 * Queues with one line of packets. The packets of all other queues are shown with a row per flow,
 * because a packet may overtake the packets of other flows.
 */
export const ONE_LINE = new Set([
  "drop_tail", "red", "tc_red", "adaptive_red", "self_configuring_red", "nonlinear_red", "red_pd", "wred", "rio",
  "fred", "sred", "threshold", "blue", "sfb", "tc_sfb", "rem", "pi", "avq", "pie", "pie_enhanced", "tc_pie", "pi2",
  "choke", "codel", "cobalt", "tbf",
]);
/** Rules that drop a waiting packet. The tables do not have the arrival of such a packet. */
const DROPS_WAITING = new Set(["same-flow", "longest-queue"]);

/** Packet that waited in the queue. The times are whole picoseconds, the resolution of the simulator. */
export type Packet = { enters: number; leaves: number; flow: string; marked: boolean };

/** Packets that waited at a link, in the order of their arrival. */
export type Waited = {
  packets: Packet[];
  /** For each packet, the latest departure of the packets up to it. */
  latest: number[];
  /** True if the tables have every packet, except those that wait at the end of the run. */
  complete: boolean;
};

/** Return a time in s as whole picoseconds. */
export const picoseconds = (seconds: number): number => Math.round(seconds * 1e12);

/** Return the positions at which the transmission of a packet with a CE mark begins, in ns. */
function markedDepartures(result: Result): Set<number> {
  const [times, ce] = ["time_s", "ce"].map((column) => numbers(result, "packets", column));
  const all = new Set<number>();
  // The resolution of a capture is 1 ns.
  times!.forEach((time, row) => ce![row] === 1 && all.add(Math.round(time * 1e9)));
  return all;
}

/** Return the packets that waited at a link. `queue` is the queue of the link in the normalized scenario. */
export function waited(result: Result, link: string, queue: JsonTable | undefined): Waited {
  const packets: Packet[] = [];
  const [times, delays] = ["time_s", "delay_s"].map((column) => numbers(result, "packet_delays", column));
  const flows = names(result, "packet_delays", "flow");
  const ofWhy = (column: string) => numbers(result, "why", column);
  const [at, sojourn] = [ofWhy("time_s"), ofWhy("sojourn_s")];
  const [dropped, signals, rules] = ["flow", "signal", "rule"].map((column) => names(result, "why", column));
  const rows = grouped(result, "why", "link").get(link) ?? [];
  const marks = new Set(rows.filter((row) => signals![row] === "mark").map((row) => picoseconds(at[row]!)));
  // With marks at the head, the table does not have the packet that a mark belongs to.
  const departures = queue?.["mark_at"] === "head" ? new Set<number>() : markedDepartures(result);
  for (const row of grouped(result, "packet_delays", "link").get(link) ?? []) {
    const leaves = picoseconds(times![row]!);
    // A queue that decides at its head marks a packet when the packet leaves.
    const ns = Math.floor(leaves / 1e3);
    const marked = (departures.has(ns) || departures.has(ns + 1)) && !marks.has(leaves);
    packets.push({ enters: picoseconds(times![row]! - delays![row]!), leaves, flow: flows[row]!, marked });
  }
  for (const row of rows) {
    // A queue that decides at its head drops a packet after the packet has waited.
    if (signals![row] !== "drop" || !(sojourn[row]! > 0)) continue;
    const leaves = picoseconds(at[row]!);
    packets.push({ enters: picoseconds(at[row]! - sojourn[row]!), leaves, flow: dropped![row]!, marked: false });
  }
  packets.sort((a, b) => a.enters - b.enters || a.leaves - b.leaves);
  let last = 0;
  const latest = packets.map(({ leaves }) => (last = Math.max(last, leaves)));
  const dropsWaiting = (row: number) => DROPS_WAITING.has(rules![row]!) || (rules![row] === "buffer-full" && (queue?.["drop_from"] ?? "tail") !== "tail");
  return { packets, latest, complete: !rows.some((row) => signals![row] === "drop" && dropsWaiting(row)) };
}

/** Return the packets that wait after the events at a time in s, in the order of their arrival. */
export function waitingAt({ packets, latest }: Waited, time: number): Packet[] {
  const now = picoseconds(time);
  let [low, high] = [0, packets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (latest[middle]! > now) high = middle;
    else low = middle + 1;
  }
  const all: Packet[] = [];
  for (let i = low; i < packets.length && packets[i]!.enters <= now; i++) {
    if (packets[i]!.leaves > now) all.push(packets[i]!);
  }
  return all;
}

/** Return the row of the last sample at a time or before it, or undefined. `rows` are in the order of time. */
export function rowAt(times: Float64Array, rows: number[], time: number): number | undefined {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[rows[middle]!]! <= time) low = middle + 1;
    else high = middle;
  }
  return rows[low - 1];
}

/** Number of waiting packets at a time, and the packets that the tables have. */
export type Queue = {
  packets: Packet[];
  /** Number of waiting packets: exact, or that of the last sample. */
  count: number;
  exact: boolean;
};

/**
 * Return the queue of a link at a time. `sampled` is a result with the series `queue`. The number is
 * exact if the tables have every packet, which the samples before and after the time confirm.
 */
export function queueAt(all: Waited | undefined, sampled: Result, link: string, time: number): Queue {
  const rows = grouped(sampled, "queue", "link").get(link) ?? [];
  const [times, counts] = ["time_s", "queue_packets"].map((column) => numbers(sampled, "queue", column));
  const before = rowAt(times!, rows, time);
  const after = before === undefined ? rows[0] : rows[rows.indexOf(before) + 1];
  const agrees = (row: number | undefined) => row === undefined || waitingAt(all!, times![row]!).length === counts![row];
  const packets = all ? waitingAt(all, time) : [];
  const exact = all !== undefined && all.complete && before !== undefined && agrees(before) && agrees(after);
  return { packets, count: exact ? packets.length : before === undefined ? 0 : counts![before]!, exact };
}
