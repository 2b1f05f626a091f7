/** Numbers with units, as in scenarios: "1.5 Mbit/s", "20 ms", "64 packets". */

/** Size of each unit in its base unit: s, bit/s, B, packets. */
const UNITS: Record<string, number> = {
  s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9, min: 60, h: 3600,
  "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
  B: 1, byte: 1, bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1048576, GiB: 1073741824,
  packet: 1, packets: 1, segment: 1, segments: 1,
};

/** A number and its unit. */
export type Quantity = { number: number; unit: string };

/** Parse a number with a unit. The result is undefined for any other text. */
export function parse(text: string): Quantity | undefined {
  const match = /^\s*([-+]?[\d._]+(?:e[-+]?\d+)?)\s*([a-z/]+)\s*$/i.exec(text);
  const number = Number(match?.[1]?.replaceAll("_", ""));
  return match && match[2]! in UNITS && Number.isFinite(number) ? { number, unit: match[2]! } : undefined;
}

/** Return a quantity in its base unit. */
export const inBase = ({ number, unit }: Quantity): number => number * (UNITS[unit] ?? 1);

/** Return a number with at most `digits` significant digits and without an exponent. */
export function rounded(number: number, digits = 3): string {
  return String(Number(number.toPrecision(digits)));
}

const SCALES: [string, number][] = [["G", 1e9], ["M", 1e6], ["k", 1e3]];

/** Format a rate in bit/s. */
export function rate(bps: number): string {
  const [prefix, scale] = SCALES.find(([, size]) => Math.abs(bps) >= size) ?? ["", 1];
  return Number.isFinite(bps) ? `${rounded(bps / scale)} ${prefix}bit/s` : "–";
}

/** Format a time in s. */
export function time(seconds: number): string {
  if (seconds === Infinity) return "unfinished";
  if (!Number.isFinite(seconds)) return "–";
  const size = Math.abs(seconds);
  if (size >= 1) return `${rounded(seconds)} s`;
  return size >= 1e-3 || size === 0 ? `${rounded(seconds * 1e3)} ms` : `${rounded(seconds * 1e6)} µs`;
}

/** Format a share as a percentage. */
export function share(value: number): string {
  return Number.isFinite(value) ? `${rounded(100 * value)} %` : "–";
}
