/** Measures of one run that the page shows first. */
import { cell, grouped, names, numbers, rowOf, type Result } from "./result";

/** Measures of a run, for one link. A measure that the run does not have is NaN. */
export type Measures = {
  /** Application data that all flows delivered per second of simulated time, in bit/s. */
  goodput_bps: number;
  /** Share of the time in which the link transmitted. */
  utilization: number;
  /** Median of the queueing delays at the link, in s. */
  median_delay_s: number;
  /** 95th percentile of the queueing delays at the link, in s. */
  p95_delay_s: number;
  /** Share of the arrived packets that the link dropped. */
  dropped: number;
  /** Share of the arrived packets that the link marked. */
  marked: number;
  /** Jain's index of the goodputs of the flows with one connection. */
  fairness: number;
  /** Smallest goodput among the flows with one connection, in bit/s. */
  slowest_bps: number;
  /** 95th percentile of the durations of transfers and requests, in s. */
  p95_duration_s: number;
};

/** Return the quantile of sorted values by the nearest rank. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Return the sum of numbers. */
export const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

/** Return Jain's index (jain1984quantitative): 1 if all numbers are equal, 1/n if only one is not 0. */
export function jain(values: number[]): number {
  return sum(values) ** 2 / (values.length * sum(values.map((x) => x * x)));
}

/** Return the goodputs of the flows with one connection, in bit/s, by name. */
export function longFlows(result: Result): Map<string, number> {
  const several = new Set(names(result, "connections", "flow"));
  const goodput = numbers(result, "flows", "goodput_bps");
  const all = names(result, "flows", "flow").map((flow, i): [string, number] => [flow, goodput[i] ?? 0]);
  return new Map(all.filter(([flow]) => !several.has(flow)));
}

/** Return the durations of all transfers and requests in s; an unfinished one is infinite. */
export function durations(result: Result): Map<string, number[]> {
  const all = new Map<string, number[]>();
  for (const table of ["transfers", "requests"]) {
    const values = numbers(result, table, "duration_s");
    for (const [flow, rows] of grouped(result, table, "flow")) {
      const of = rows.map((row) => values[row] ?? Number.NaN);
      all.set(flow, of.map((x) => (Number.isNaN(x) ? Infinity : x)).sort((a, b) => a - b));
    }
  }
  return all;
}

/** Compute the measures of a run for the link with the given name. */
export function measures(result: Result, link: string): Measures {
  const row = rowOf(result, "links", "link", link);
  const delays = rowOf(result, "delays", "link", link);
  const of = (column: string) => cell(result, "links", column, row);
  const seconds = result.manifest.simulated_s - warmUp(result);
  const data = ["flows", "replies"].map((table) => sum(numbers(result, table, "acked_bytes")));
  data.push(sum(numbers(result, "datagrams", "received_bytes")));
  const flows = [...longFlows(result).values()];
  const finished = [...durations(result).values()].flat().sort((a, b) => a - b);
  return {
    goodput_bps: (8 * sum(data)) / seconds,
    utilization: of("utilization"),
    median_delay_s: cell(result, "delays", "median_delay_s", delays),
    p95_delay_s: cell(result, "delays", "p95_delay_s", delays),
    dropped: of("dropped_packets") / of("arrived_packets"),
    marked: of("marked_packets") / of("arrived_packets"),
    fairness: flows.length > 1 ? jain(flows) : Number.NaN,
    slowest_bps: flows.length > 0 ? Math.min(...flows) : Number.NaN,
    p95_duration_s: quantile(finished, 0.95),
  };
}

/** Return the duration of the warm-up in s, from the normalized scenario. */
function warmUp(result: Result): number {
  const text = String(result.manifest.scenario["warm_up"] ?? "0 s");
  const [number = "0", unit = "s"] = text.split(" ");
  return Number(number) * ({ s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 }[unit] ?? 1);
}

/** Return the link with the highest share of busy time among the links that drop or mark packets,
 * or among all links. */
export function busiest(result: Result): string {
  const links = names(result, "links", "link");
  const signals = links.map((_, i) =>
    cell(result, "links", "dropped_packets", i) + cell(result, "links", "marked_packets", i));
  const busy = numbers(result, "links", "utilization");
  const key = (i: number) => (busy[i] ?? 0) + ((signals[i] ?? 0) > 0 ? 1 : 0);
  return links[links.reduce((best, _, i) => (key(i) > key(best) ? i : best), 0)] ?? "";
}
