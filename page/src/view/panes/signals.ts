/** Drops and marks of the link over time. */
import type { Arm } from "../../state/arm";
import { colour } from "../colours";
import type { Curve, Drawing } from "../drawing";
import { counted, together, type Points } from "./data";

/** Number of intervals in which drops and marks are counted. */
const BINS = 120;

/** Draw the numbers of drops and marks. */
export function signals(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  if (!of) return undefined;
  const total = (points: Points) => Array.prototype.reduce.call(points.y, (a: unknown, b: unknown) => Number(a) + Number(b), 0) as number;
  const curves: [Curve, Points][] = [];
  const [dropped, marked] = ["drops", "marks"].map((table) => counted(of.result, table, arm.link.value, BINS)) as [Points, Points];
  const before = arm.previous.value && (["drops", "marks"] as const).map((table) => counted(arm.previous.value!.result, table, arm.link.value, BINS));
  if (before) {
    const both = { x: before[0]!.x, y: Array.from(before[0]!.y, (y, i) => Number(y) + Number(before[1]!.y[i])) };
    if (total(both) > 0) curves.push([{ label: "drops and marks before", colour: colour("--ghost"), shape: "steps" }, both]);
  }
  if (total(marked) > 0) curves.push([{ label: "marks", colour: colour("--mark"), shape: "bars" }, marked]);
  curves.push([{ label: "drops", colour: colour("--drop"), shape: "bars" }, dropped]);
  const width = of.result.manifest.simulated_s / BINS;
  return {
    curves: curves.map(([one]) => one),
    data: together(curves.map(([, points]) => points)),
    x: "time (s)",
    y: `packets per ${Number(width.toPrecision(3))} s`,
    overTime: true,
  };
}
