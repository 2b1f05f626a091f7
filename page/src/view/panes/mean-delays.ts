/** Mean queueing delay at the link over time, with a band over the seeds. */
import type { MeanDelays } from "../../results/mean-delays";
import type { Arm } from "../../state/arm";
import { colour } from "../colours";
import type { Drawing } from "../drawing";
import { banded, drawing, type Layers, type Points } from "./data";

const milliseconds = ({ x, y }: MeanDelays): Points => ({ x, y: y.map((s) => (s === null ? null : 1e3 * s)) });

/** Draw the mean delays. */
export function meanDelays(arm: Arm): Drawing | undefined {
  const all = arm.delays.value?.map(milliseconds) ?? [];
  const [first] = all;
  if (!first) return undefined;
  const layers: Layers = banded(all, "line");
  const before = arm.previousDelays.value?.[0];
  if (before) layers.push([{ label: "before", colour: colour("--ghost") }, milliseconds(before)]);
  layers.push([{ label: "mean delay", colour: colour("--queue") }, first]);
  return drawing(layers, { x: "time (s)", y: "mean delay (ms)", overTime: true });
}
