/** Distribution of the queueing delays of all packets at the link. */
import type { Arm } from "../../state/arm";
import { grouped, numbers, pick, type Result } from "../../results/result";
import { colour } from "../colours";
import type { Curve, Drawing } from "../drawing";
import { together, type Points } from "./data";

/** Return the share of packets, in percent, whose queueing delay is at most x milliseconds. */
function cumulative(result: Result, of: string): Points {
  const rows = grouped(result, "waits", "link").get(of) ?? [];
  const packets = pick(numbers(result, "waits", "packets"), rows);
  const all = packets.reduce((a, b) => a + b, 0);
  let sum = 0;
  return { x: pick(numbers(result, "waits", "wait_s"), rows).map((s) => 1e3 * s), y: packets.map((n) => (100 * (sum += n)) / all) };
}

/** Draw the distribution. */
export function delays(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  const now = of && cumulative(of.result, arm.link.value);
  if (!now || now.x.length === 0) return undefined;
  const curves: [Curve, Points][] = [[{ label: "packets", colour: colour("--queue"), shape: "steps", width: 2 }, now]];
  const before = arm.previous.value && cumulative(arm.previous.value.result, arm.link.value);
  if (before && before.x.length > 0) curves.unshift([{ label: "before", colour: colour("--ghost"), shape: "steps" }, before]);
  return {
    curves: curves.map(([one]) => one),
    data: together(curves.map(([, points]) => points)),
    x: "queueing delay (ms)",
    y: "% of packets",
    overTime: false,
    range: [0, 100],
  };
}
