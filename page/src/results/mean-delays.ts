/** Mean queueing delay over time, from the delay of every packet. */
import { grouped, numbers, type Result } from "./result";

/** Number of intervals. */
const INTERVALS = 120;

/** Times in s, and the mean delays in s; null stands for an interval without a packet. */
export type MeanDelays = { x: number[]; y: (number | null)[] };

/** Return the mean delay of the packets at a link whose transmission begins in each interval of the
 * time from 0 to `end`, in s. */
export function meanDelays(result: Result, link: string, end: number): MeanDelays {
  const [times, delays] = ["time_s", "delay_s"].map((column) => numbers(result, "packet_delays", column));
  const [sums, counts] = [new Array<number>(INTERVALS).fill(0), new Array<number>(INTERVALS).fill(0)];
  for (const row of grouped(result, "packet_delays", "link").get(link) ?? []) {
    if (times![row]! > end) continue;
    const i = Math.min(INTERVALS - 1, Math.floor((times![row]! / end) * INTERVALS));
    sums[i]! += delays![row]!;
    counts[i]! += 1;
  }
  return {
    x: sums.map((_, i) => ((i + 0.5) * end) / INTERVALS),
    y: sums.map((sum, i) => (counts[i]! > 0 ? sum / counts[i]! : null)),
  };
}
