/** Distribution of the durations of transfers, requests, pages and pings. */
import type { Arm } from "../../state/arm";
import { durations } from "../../results/measures";
import { pageTimes } from "../../results/pages";
import type { Result } from "../../results/result";
import { colour, flowColour } from "../colours";
import type { Curve, Drawing } from "../drawing";
import { distribution, together, type Points } from "./data";

/** Return the times of the pages of all users, and the durations of the requests of each flow. */
const all = (result: Result) => new Map([...pageTimes(result), ...durations(result)]);

/** Draw the distribution of each flow, and of all flows before the change. */
export function times(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  const flows = of ? all(of.result) : new Map<string, number[]>();
  if (!of || flows.size === 0) return undefined;
  const curves: [Curve, Points][] = [];
  if (arm.previous.value) {
    for (const [flow, values] of all(arm.previous.value.result)) {
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
