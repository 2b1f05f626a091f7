/** Packets that left the queue of a link, from the capture of the link. */
import { grouped, names, numbers, type Result } from "./result";

/** A waiting packet: its flow, if the flow has one connection, and its CE mark. */
export type Waiting = { flow: string | undefined; marked: boolean };

/**
 * Queues with one line of packets. Their packets leave in the order of their arrival, so the packets
 * that wait at a time are the next ones that leave. Packets that CoDel drops at the head of the queue
 * have waited, too.
 */
export const ONE_LINE = new Set([
  "drop_tail", "red", "adaptive_red", "self_configuring_red", "nonlinear_red", "rio", "fred",
  "sred", "threshold", "blue", "rem", "pi", "avq", "pie", "pie_enhanced", "tc_pie", "pi2", "codel",
]);
/** Queues that drop and mark the packet at the head. */
export const DROPS_AT_HEAD = new Set(["codel"]);

/** A packet that left the queue at a time. */
export type Departure = { time: number; waiting: Waiting };

/** Return the packets that left the queue of a link after they had waited, in the order of time. */
export function departures(result: Result, first: Result, of: string, kind: string): Departure[] {
  const flows = [...grouped(first, "window", "flow").keys()];
  const [connections, marks] = [numbers(result, "packets", "connection"), numbers(result, "packets", "ce")];
  const atHead = DROPS_AT_HEAD.has(kind);
  const all = [...numbers(result, "packets", "time_s")].map((time, row): Departure => {
    // A queue that decides at its head marks a packet when the packet leaves.
    return { time, waiting: { flow: flows[connections[row]!], marked: !atHead && marks[row] === 1 } };
  });
  if (!atHead) return all;
  const [links, reasons, dropped] = ["link", "reason", "flow"].map((column) => names(first, "drops", column));
  numbers(first, "drops", "time_s").forEach((time, row) => {
    if (links![row] !== of || reasons![row] === "full") return;
    const flow = flows.find((one) => one === dropped![row]);
    all.push({ time, waiting: { flow, marked: false } });
  });
  return all.sort((a, b) => a.time - b.time);
}

/** Return the number of departures at a time or before it. */
export function departedUntil(all: Departure[], time: number): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]!.time <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
