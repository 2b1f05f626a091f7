/** Content of a chart, and the axes that several charts share. */
import type uPlot from "uplot";

/** Curve of a figure. */
export type Curve = {
  label: string;
  colour: string;
  /** A line, a line of steps, bars, or points. The default is a line. */
  shape?: "line" | "steps" | "bars" | "points";
  width?: number;
  dash?: number[];
  /** True if the curve is drawn against the right axis. */
  right?: boolean;
};

/** Content of a figure. The first array of `data` has the positions on the horizontal axis. */
export type Drawing = {
  curves: Curve[];
  data: uPlot.AlignedData;
  /** Labels of the axes, with units. */
  x: string;
  y: string;
  right?: string;
  /** True if the horizontal axis is simulated time. */
  overTime: boolean;
  /** Pairs of curves, by their numbers counted from 1, between which the area is filled. */
  bands?: [number, number][];
  /** Format of the values. */
  format?: (value: number) => string;
  /** Format of the positions on the horizontal axis. */
  formatX?: (value: number) => string;
  /** Range of the vertical axis; default: from 0 to the maximum. */
  range?: [number, number];
  /** Range of the horizontal axis; default: from the first to the last position. */
  rangeX?: [number, number];
};

/** Return the maximum of the curves at one vertical axis, over the positions from `low` to `high`. */
export function maximum(drawing: Drawing, right: boolean, low: number, high: number): number {
  const [x, ...all] = drawing.data;
  const shown = all.filter((_, i) => Boolean(drawing.curves[i]?.right) === right);
  let most = 0;
  for (const values of shown) {
    for (let i = 0; i < x.length; i++) {
      const value = values[i];
      if (x[i]! >= low && x[i]! <= high && value != null && value > most) most = value;
    }
  }
  return most;
}

/** Return the positions that a drawing covers. */
export function extent({ data, rangeX }: Drawing): [number, number] {
  const [x] = data;
  return rangeX ?? [x[0] ?? 0, x[x.length - 1] ?? 1];
}
