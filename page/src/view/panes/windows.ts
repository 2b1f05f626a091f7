/** Congestion windows of the flows over time. */
import type { Arm } from "../../state/arm";
import { grouped, numbers, type Result } from "../../results/result";
import { colour, flowColour } from "../colours";
import type { Drawing } from "../drawing";
import { banded, drawing, overTime, type Points } from "./data";

/** Maximum number of flows in a figure. */
export const MOST_CURVES = 8;
/** Number of flows up to which the figure also shows the windows before the change. */
const FEW = 3;

/** Return the sum of the windows of all flows in kB, at each sample. */
function summed(result: Result): Points {
  const [times, bytes] = [numbers(result, "window", "time_s"), numbers(result, "window", "cwnd_bytes")];
  const sums = new Map<number, number>();
  times.forEach((time, row) => Number.isFinite(bytes[row]!) && sums.set(time, (sums.get(time) ?? 0) + bytes[row]! / 1e3));
  const x = [...sums.keys()].sort((a, b) => a - b);
  return { x, y: x.map((time) => sums.get(time)!) };
}

/** Draw cwnd of the first flows, and with several seeds the sum of all flows. */
export function windows(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  const flows = of ? [...grouped(of.result, "window", "flow").keys()].slice(0, MOST_CURVES) : [];
  if (!of || flows.length === 0) return undefined;
  const curves = banded(of.seeds.map(summed), "line", true);
  const before = arm.previous.value;
  if (before && flows.length <= FEW) {
    for (const flow of flows) {
      const points = overTime(before.result, "window", "cwnd_bytes", "flow", flow, 1e-3);
      if (points.x.length > 0) curves.push([{ label: `${flow} before`, colour: colour("--ghost"), width: 1 }, points]);
    }
  }
  flows.forEach((flow) =>
    curves.push([{ label: flow, colour: flowColour(of.result, flow) }, overTime(of.result, "window", "cwnd_bytes", "flow", flow, 1e-3)]));
  if (of.seeds.length > 1) {
    curves.push([{ label: `sum of ${grouped(of.result, "window", "flow").size}`, colour: colour("--text"), right: true }, summed(of.result)]);
  }
  return drawing(curves, {
    x: "time (s)",
    y: "cwnd (kB)",
    ...(curves.some(([one]) => one.right) ? { right: "sum of all flows (kB)" } : {}),
    overTime: true,
  });
}
