/** Segments and round-trip times of one flow. */
import type { Arm } from "../../state/arm";
import { names, numbers, type Result } from "../../results/result";
import { colour } from "../colours";
import type { Curve, Drawing } from "../drawing";
import { together, type Points } from "./data";

/** Return the rows of the series segments that satisfy a condition, with a column as values. */
function points(result: Result, column: string, keep: (row: number) => boolean): Points {
  const [times, values] = [numbers(result, "segments", "time_s"), numbers(result, "segments", column)];
  const [x, y]: [number[], number[]] = [[], []];
  times.forEach((time, row) => {
    // uPlot needs increasing positions, so of equal times only the last one remains.
    if (!keep(row)) return;
    if (x[x.length - 1] === time) y[y.length - 1] = values[row]! * 1e-6;
    else {
      x.push(time);
      y.push(values[row]! * 1e-6);
    }
  });
  return { x, y };
}

/** Draw the time-sequence plot. */
export function sequence(arm: Arm): Drawing | undefined {
  const result = arm.traced.value?.result;
  if (!result?.tables["segments"]?.rows) return undefined;
  const direction = names(result, "segments", "direction");
  const [bytes, resent] = [numbers(result, "segments", "bytes"), numbers(result, "segments", "resent")];
  const sent = (row: number) => direction[row] === "sent" && bytes[row]! > 0;
  const curves: [Curve, Points][] = [
    [{ label: "acknowledged", colour: colour("--average"), shape: "steps" }, points(result, "ack", (row) => direction[row] === "received")],
    [{ label: "sent", colour: colour("--queue"), shape: "points", width: 2 }, points(result, "seq", (row) => sent(row) && resent[row] === 0)],
    [{ label: "retransmitted", colour: colour("--drop"), shape: "points", width: 5 }, points(result, "seq", (row) => sent(row) && resent[row] === 1)],
  ];
  return {
    curves: curves.map(([one]) => one),
    data: together(curves.map(([, of]) => of)),
    x: "time (s)",
    y: "data (MB)",
    overTime: true,
  };
}

/** Draw the round-trip times. */
export function roundTrips(arm: Arm): Drawing | undefined {
  const result = arm.traced.value?.result;
  if (!result?.tables["rtt"]?.rows) return undefined;
  const scaled = (column: string) => Array.from(numbers(result, "rtt", column), (s) => (Number.isNaN(s) ? null : 1e3 * s));
  const x = numbers(result, "rtt", "time_s");
  return {
    curves: [
      { label: "measured", colour: colour("--queue"), shape: "points", width: 2 },
      { label: "smoothed (SRTT)", colour: colour("--average") },
    ],
    data: together([{ x, y: scaled("rtt_s") }, { x, y: scaled("srtt_s") }]),
    x: "time (s)",
    y: "round-trip time (ms)",
    overTime: true,
  };
}
