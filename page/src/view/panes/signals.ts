/** Drops and marks of the link over time. */
import type { Arm } from "../../state/arm";
import { colour } from "../colours";
import type { Result } from "../../results/result";
import type { Drawing } from "../drawing";
import { banded, counted, drawing, type Points } from "./data";

/** Number of intervals in which drops and marks are counted. */
const BINS = 120;

const total = ({ y }: Points): number => Array.prototype.reduce.call(y, (a: unknown, b: unknown) => Number(a) + Number(b), 0) as number;

/** Draw the numbers of drops and marks. */
export function signals(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  if (!of) return undefined;
  const end = of.result.manifest.simulated_s;
  const each = (result: Result) =>
    ["drops", "marks"].map((table) => counted(result, table, arm.link.value, BINS, end)) as [Points, Points];
  const both = (result: Result): Points => {
    const [dropped, marked] = each(result);
    return { x: dropped.x, y: Array.from(dropped.y, (y, i) => Number(y) + Number(marked.y[i])) };
  };
  const [dropped, marked] = each(of.result);
  const curves = banded(of.seeds.map(both), "steps");
  const before = arm.previous.value && both(arm.previous.value.result);
  if (before && total(before) > 0) curves.push([{ label: "drops and marks before", colour: colour("--ghost"), shape: "steps" }, before]);
  if (total(marked) > 0) curves.push([{ label: "marks", colour: colour("--mark"), shape: "bars" }, marked]);
  curves.push([{ label: "drops", colour: colour("--drop"), shape: "bars" }, dropped]);
  return drawing(curves, { x: "time (s)", y: `packets per ${Number((end / BINS).toPrecision(3))} s`, overTime: true });
}
