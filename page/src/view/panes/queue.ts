/** The queue of the link over time, its average, and its thresholds. */
import type { Arm } from "../../state/arm";
import type { Json, JsonTable } from "../../simulator/client";
import type { Result } from "../../results/result";
import { parse } from "../../scenario/quantity";
import { queueOf } from "../../scenario/queue-of";
import { colour } from "../colours";
import type { Drawing } from "../drawing";
import { banded, drawing, overTime } from "./data";

/** Thresholds in packets: the keys of the queue that are numbers of packets. */
function thresholds(queue: JsonTable | undefined): [string, number][] {
  const keys = ["minth", "maxth", "limit"];
  const packets = (value: Json | undefined) => {
    const of = typeof value === "string" ? parse(value) : undefined;
    return of && /^(packet|segment)/.test(of.unit) ? of.number : undefined;
  };
  return keys.flatMap((key): [string, number][] => {
    const value = packets(queue?.[key]);
    return value === undefined ? [] : [[key, value]];
  });
}

/** Draw the queue. */
export function queue(arm: Arm): Drawing | undefined {
  const of = arm.shown.value;
  if (!of) return undefined;
  const curve = (result: Result, column: string) => overTime(result, "queue", column, "link", arm.link.value);
  const length = curve(of.result, "queue_packets");
  if (length.x.length === 0) return undefined;
  const curves = banded(of.seeds.map((result) => curve(result, "queue_packets")), "line");
  if (arm.previous.value) {
    const before = curve(arm.previous.value.result, "queue_packets");
    if (before.x.length > 0) curves.push([{ label: "before", colour: colour("--ghost") }, before]);
  }
  curves.push([{ label: "queue", colour: colour("--queue") }, length]);
  const average = curve(of.result, "average_packets");
  if (Array.prototype.some.call(average.y, (y) => y !== null)) {
    curves.push([{ label: "average", colour: colour("--average"), width: 2 }, average]);
  }
  for (const [name, value] of thresholds(queueOf(arm.normalized.value, arm.link.value))) {
    curves.push([{ label: name, colour: colour("--threshold"), width: 1, dash: [4, 4] }, { x: length.x, y: Array.from(length.x, () => value) }]);
  }
  return drawing(curves, { x: "time (s)", y: "packets", overTime: true });
}
