/** Data that several figures need. */
import uPlot from "uplot";
import { grouped, names, numbers, pick, type Result } from "../../results/result";

/** Positions and values of a curve. */
export type Points = { x: ArrayLike<number>; y: ArrayLike<number | null> };

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
  const at = (curve: Points, i: number) => curve.y[i] ?? null;
  const extreme = (choose: (...values: number[]) => number): Points => ({
    x,
    y: Array.from({ length: x.length }, (_, i) => {
      const values = curves.map((curve) => at(curve, i)).filter((v): v is number => v !== null);
      return values.length > 0 ? choose(...values) : null;
    }),
  });
  return [extreme(Math.min), extreme(Math.max)];
}

/** Return the number of events in each bin over the simulated time, for the rows of one link. */
export function counted(result: Result, table: string, link: string, bins: number): Points {
  const end = result.manifest.simulated_s;
  const links = names(result, table, "link");
  const times = numbers(result, table, "time_s");
  const counts = new Array<number>(bins).fill(0);
  times.forEach((time, row) => {
    const bin = Math.min(bins - 1, Math.floor((time / end) * bins));
    if (links[row] === link) counts[bin] = (counts[bin] ?? 0) + 1;
  });
  return { x: counts.map((_, i) => (i * end) / bins), y: counts };
}

/** Return the cumulative distribution of sorted values, in percent, with an entry per value. */
export function distribution(sorted: number[]): Points {
  const finite = sorted.filter(Number.isFinite);
  return { x: [0, ...finite], y: [0, ...finite.map((_, i) => (100 * (i + 1)) / sorted.length)] };
}
