/** Data that several figures need. */
import uPlot from "uplot";
import { grouped, numbers, pick, type Result } from "../../results/result";
import type { Curve, Drawing } from "../drawing";

/** Positions and values of a curve. */
export type Points = { x: ArrayLike<number>; y: ArrayLike<number | null> };

/** Curves of a figure with their values, in the order in which they are drawn. */
export type Layers = [Curve, Points][];

/** Number of hidden curves of a band. */
const OF_BAND = 2;
const LOWEST = "minimum";

/** Return the two hidden curves of a band over the seeds, or no curve for one seed. They must be the
 * first curves of a figure. */
export function banded(seeds: Points[], shape: NonNullable<Curve["shape"]>, right = false): Layers {
  if (seeds.length < 2) return [];
  const [low, high] = envelope(seeds);
  const hidden = { colour: "transparent", width: 0, shape, right };
  return [[{ label: `maximum of ${seeds.length} seeds`, ...hidden }, high], [{ label: LOWEST, ...hidden }, low]];
}

/** Return the drawing of curves. */
export function drawing(layers: Layers, axes: Omit<Drawing, "curves" | "data" | "bands">): Drawing {
  return {
    ...axes,
    curves: layers.map(([one]) => one),
    data: together(layers.map(([, points]) => points)),
    bands: layers[OF_BAND - 1]?.[0].label === LOWEST ? [[1, OF_BAND]] : [],
  };
}

/** Return curves with common positions, as uPlot needs them. */
export function together(curves: Points[]): uPlot.AlignedData {
  const [first] = curves;
  const same = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    a === b || (a.length === b.length && Array.prototype.every.call(a, (x: number, i: number) => x === b[i]));
  if (!first) return [[]];
  if (curves.every(({ x }) => same(x, first.x))) {
    return [first.x, ...curves.map(({ y }) => y)] as unknown as uPlot.AlignedData;
  }
  return uPlot.join(curves.map(({ x, y }) => [x, y] as unknown as uPlot.AlignedData));
}

/** Return a column of a series for one link, over time. */
export function overTime(result: Result, table: string, column: string, by: "link" | "flow", name: string, scale = 1): Points {
  const rows = grouped(result, table, by).get(name) ?? [];
  const values = pick(numbers(result, table, column), rows);
  return { x: pick(numbers(result, table, "time_s"), rows), y: values.map((v) => (Number.isNaN(v) ? null : v * scale)) };
}

/** Return the minimum and the maximum of several curves at the positions of the first curve. */
export function envelope(curves: Points[]): [Points, Points] {
  const { x } = curves[0]!;
  // The curves may begin or end at different positions.
  const values = curves.map((curve) => new Map(Array.from(curve.x, (position, i) => [position, curve.y[i] ?? null])));
  const extreme = (choose: (...values: number[]) => number): Points => ({
    x,
    y: Array.from({ length: x.length }, (_, i) => {
      const known = values.map((of) => of.get(x[i]!) ?? null).filter((v): v is number => v !== null);
      return known.length > 0 ? choose(...known) : null;
    }),
  });
  return [extreme(Math.min), extreme(Math.max)];
}

/** Return the number of events in each bin of the time from 0 to `end`, for the rows of one link. */
export function counted(result: Result, table: string, link: string, bins: number, end: number): Points {
  const times = numbers(result, table, "time_s");
  const counts = new Array<number>(bins).fill(0);
  for (const row of grouped(result, table, "link").get(link) ?? []) {
    const bin = Math.min(bins - 1, Math.floor((times[row]! / end) * bins));
    if (times[row]! <= end) counts[bin]! += 1;
  }
  return { x: counts.map((_, i) => (i * end) / bins), y: counts };
}

/** Return the cumulative distribution of sorted values, in percent, with an entry per value. */
export function distribution(sorted: number[]): Points {
  const finite = sorted.filter(Number.isFinite);
  return { x: [0, ...finite], y: [0, ...finite.map((_, i) => (100 * (i + 1)) / sorted.length)] };
}
