/** Distribution of the durations of transfers, requests, pages and pings. */
import { reference, shown } from "../../state/laboratory";
import { durations } from "../../results/measures";
import { colour, flowColour } from "../colours";
import type { Curve, Drawing } from "../figure";
import { distribution, together, type Points } from "./data";

/** Draw the distribution of each flow, and of all flows before the change. */
export function times(): Drawing | undefined {
  const of = shown.value;
  const flows = of ? durations(of.result) : new Map<string, number[]>();
  if (!of || flows.size === 0) return undefined;
  const curves: [Curve, Points][] = [];
  if (reference.value) {
    for (const [flow, values] of durations(reference.value.result)) {
      curves.push([{ label: `${flow} before`, colour: colour("--ghost"), shape: "steps" }, distribution(values)]);
    }
  }
  [...flows].slice(0, 8).forEach(([flow, values]) =>
    curves.push([{ label: flow, colour: flowColour(of.result, flow), shape: "steps", width: 2 }, distribution(values)]));
  return {
    curves: curves.map(([one]) => one),
    data: together(curves.map(([, points]) => points)),
    x: "duration (s)",
    y: "% finished within",
    overTime: false,
    range: [0, 100],
  };
}
