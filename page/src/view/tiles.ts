/** Measures that the page shows under the answer. */
import type { Measures } from "../results/measures";
import { rate, rounded, share, time } from "../scenario/quantity";

/** Measure with its label, its meaning, and the format of its value. */
export type Tile = { key: keyof Measures; label: string; meaning: string; format: (value: number) => string; better: "more" | "less" };

/** Measures in the order in which the page shows them. */
export const TILES: Tile[] = [
  { key: "goodput_bps", label: "goodput", meaning: "Application data that all flows deliver per second, in both directions.", format: rate, better: "more" },
  { key: "utilization", label: "link busy", meaning: "Share of the time in which the link transmits.", format: share, better: "more" },
  { key: "median_delay_s", label: "median delay", meaning: "Half of the packets wait at most this long in the queue of the link.", format: time, better: "less" },
  { key: "p95_delay_s", label: "delay, 95 %", meaning: "95 % of the packets wait at most this long in the queue of the link.", format: time, better: "less" },
  { key: "dropped", label: "dropped", meaning: "Share of the packets at the link that its queue drops.", format: share, better: "less" },
  { key: "marked", label: "marked CE", meaning: "Share of the packets at the link that its queue marks.", format: share, better: "more" },
  { key: "fairness", label: "fairness", meaning: "Jain's index of the goodputs of the flows with one connection: 1 if all are equal.", format: (v) => (Number.isFinite(v) ? rounded(v) : "–"), better: "more" },
  { key: "p95_duration_s", label: "transfers, 95 %", meaning: "95 % of the transfers and requests take at most this long.", format: time, better: "less" },
];

/** Return the label and the format of a measure. */
export const tile = (key: keyof Measures): Tile => TILES.find((one) => one.key === key) ?? TILES[0]!;
