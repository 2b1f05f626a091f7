/** Goodput of the flows over time. */
import type { Arm } from "../../state/arm";
import { grouped, numbers, pick, type Result } from "../../results/result";
import { colour, flowColour } from "../colours";
import type { Drawing } from "../drawing";
import { banded, drawing, type Points } from "./data";
import { MOST_CURVES } from "./windows";

/** Number of intervals over which goodput is computed. */
const BINS = 60;

/** Return the goodput of each flow in Mbit/s: the acknowledged data per interval of the time from 0 to `end`. */
function goodputs(result: Result, end: number): Map<string, Points> {
  const [times, acked] = [numbers(result, "window", "time_s"), numbers(result, "window", "acked_bytes")];
  const all = new Map<string, Points>();
  for (const [flow, rows] of grouped(result, "window", "flow")) {
    const [at, bytes] = [pick(times, rows), pick(acked, rows)];
    const last = new Array<number>(BINS + 1).fill(Number.NaN);
    last[0] = 0;
    // The last sample of each interval has the data that was acknowledged by then.
    at.forEach((t, i) => t <= end && (last[Math.min(BINS, Math.ceil((t / end) * BINS))] = bytes[i]!));
    for (let i = 1; i <= BINS; i++) if (Number.isNaN(last[i])) last[i] = last[i - 1]!;
    const y = last.slice(1).map((b, i) => (8e-6 * (b - last[i]!)) / (end / BINS));
    all.set(flow, { x: y.map((_, i) => ((i + 1) * end) / BINS), y });
  }
  return all;
}

function total(flows: Map<string, Points>): Points | undefined {
  const all = [...flows.values()];
  const first = all[0];
  return first && { x: first.x, y: Array.from(first.y, (_, i) => all.reduce((sum, { y }) => sum + Number(y[i]), 0)) };
}

/** Draw the goodput of the first flows and of all flows together. */
export function goodput(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  const end = of?.result.manifest.simulated_s ?? 0;
  const flows = of ? goodputs(of.result, end) : new Map<string, Points>();
  if (!of || flows.size === 0) return undefined;
  const curves = banded(of.seeds.flatMap((result) => total(goodputs(result, end)) ?? []), "steps");
  const before = arm.previous.value && total(goodputs(arm.previous.value.result, end));
  if (before) curves.push([{ label: "all before", colour: colour("--ghost"), shape: "steps" }, before]);
  if (flows.size > 1) curves.push([{ label: `all ${flows.size}`, colour: colour("--text"), shape: "steps" }, total(flows)!]);
  [...flows].slice(0, MOST_CURVES).forEach(([flow, points]) =>
    curves.push([{ label: flow, colour: flowColour(of.result, flow), shape: "steps" }, points]));
  return drawing(curves, { x: "time (s)", y: "Mbit/s", overTime: true });
}
