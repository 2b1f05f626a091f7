/** Difference of a measure between two settings, seed by seed. */
import type { Measures } from "../results/measures";
import { paired } from "../results/paired";
import type { Tile } from "./tiles";

/** Mean difference of a measure, and its interval if there are several seeds. */
export type Change = {
  mean: number;
  interval: [number, number] | undefined;
  /** True if the interval does not contain 0. */
  sure: boolean;
  /** Number of seeds. */
  n: number;
  /** Means of the measure over these seeds. */
  from: number;
  to: number;
};

/** Return the change of a measure, or undefined if a run does not have the measure. */
export function change(key: keyof Measures, before: Measures[], after: Measures[]): Change | undefined {
  const n = Math.min(before.length, after.length);
  const [from, to] = [before, after].map((all) => all.slice(0, n).map((of) => of[key]));
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / n;
  const means = { from: mean(from!), to: mean(to!) };
  if (n === 0 || ![means.from, means.to].every(Number.isFinite)) return undefined;
  const pairs = paired(to!, from!);
  if (!pairs) return { mean: to![0]! - from![0]!, interval: undefined, sure: false, n: 1, from: from![0]!, to: to![0]! };
  return { mean: pairs.mean, interval: [pairs.low, pairs.high], sure: pairs.low > 0 || pairs.high < 0, n, ...means };
}

/** Return a difference with its sign. A difference of shares is in percentage points. */
export const signed = (tile: Tile, value: number): string =>
  `${value >= 0 ? "+" : "−"}${tile.format(Math.abs(value)).replace("%", "pp")}`;

/** Return "good" or "bad" for a change in one direction, or "". */
export function judged(tile: Tile, { mean, interval, sure }: Change): "good" | "bad" | "" {
  if (mean === 0 || (interval && !sure)) return "";
  return mean > 0 === (tile.better === "more") ? "good" : "bad";
}

/** Return an interval in words. */
export const bounds = (tile: Tile, [low, high]: [number, number]): string => `${signed(tile, low)} to ${signed(tile, high)}`;

/** Show the difference from the previous setting below a measure. */
export function Difference({ tile, before, after }: { tile: Tile; before: Measures[]; after: Measures[] }) {
  const of = change(tile.key, before, after);
  if (!of) return null;
  const interval = of.interval && bounds(tile, of.interval);
  const title = interval
    ? `Mean difference over ${of.n} seeds, with a 95 % interval: ${interval}`
    : "Difference from the previous setting, in one run";
  return (
    <span class={`difference ${judged(tile, of)}`} title={title}>
      {signed(tile, of.mean)}
      {interval && ` [${interval}]`}
    </span>
  );
}
