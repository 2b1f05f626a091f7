/** Queueing delay of every packet at the link. */
import type { Arm } from "../../state/arm";
import { names, numbers } from "../../results/result";
import { colour } from "../colours";
import type { Drawing } from "../drawing";
import { together } from "./data";

/** Draw a dot per packet. The packets of the selected flow have a colour of their own. */
export function packetDelays(arm: Arm): Drawing | undefined {
  const detail = arm.traced.value;
  if (!detail?.result.tables["packet_delays"]?.rows) return undefined;
  const { result, flow } = detail;
  const x = numbers(result, "packet_delays", "time_s");
  const flows = names(result, "packet_delays", "flow");
  const delays = Array.from(numbers(result, "packet_delays", "delay_s"), (s) => 1e3 * s);
  const of = (selected: boolean) => ({ x, y: delays.map((ms, row) => ((flows[row] === flow) === selected ? ms : null)) });
  return {
    curves: [
      { label: "other packets", colour: colour("--queue"), shape: "points", width: 2 },
      { label: flow || "no flow", colour: colour("--average"), shape: "points", width: 4 },
    ],
    data: together([of(false), of(true)]),
    x: "time (s)",
    y: "queueing delay (ms)",
    overTime: true,
  };
}
