/** Congestion windows of the flows over time. */
import type { Arm } from "../../state/arm";
import { grouped } from "../../results/result";
import { colour, flowColour } from "../colours";
import type { Curve, Drawing } from "../drawing";
import { overTime, together, type Points } from "./data";

/** Maximum number of flows in a figure. */
export const MOST_CURVES = 8;
/** Number of flows up to which the figure also shows the windows before the change. */
const FEW = 3;

/** Draw cwnd of the first flows. */
export function windows(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  const flows = of ? [...grouped(of.result, "window", "flow").keys()].slice(0, MOST_CURVES) : [];
  if (!of || flows.length === 0) return undefined;
  const curves: [Curve, Points][] = [];
  const before = arm.previous.value;
  if (before && flows.length <= FEW) {
    for (const flow of flows) {
      const points = overTime(before.result, "window", "cwnd_bytes", "flow", flow, 1e-3);
      if (points.x.length > 0) curves.push([{ label: `${flow} before`, colour: colour("--ghost"), width: 1 }, points]);
    }
  }
  flows.forEach((flow) =>
    curves.push([{ label: flow, colour: flowColour(of.result, flow) }, overTime(of.result, "window", "cwnd_bytes", "flow", flow, 1e-3)]));
  return {
    curves: curves.map(([one]) => one),
    data: together(curves.map(([, points]) => points)),
    x: "time (s)",
    y: "cwnd (kB)",
    overTime: true,
  };
}
