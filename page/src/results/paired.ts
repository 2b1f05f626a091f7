/** Differences between two settings, seed by seed. */
import { sum } from "./measures";

/** Mean difference of pairs, with a 95 % interval. */
export type Paired = { mean: number; low: number; high: number; n: number };

/** Two-sided 95 % quantiles of Student's t distribution for 1 to 29 degrees of freedom. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045,
];

/** Return the mean of `now - before` with its interval, or undefined for fewer than two pairs. */
export function paired(now: number[], before: number[]): Paired | undefined {
  const n = Math.min(now.length, before.length, T.length + 1);
  const differences = now.slice(0, n).map((x, i) => x - before[i]!);
  if (n < 2 || !differences.every(Number.isFinite)) return undefined;
  const mean = sum(differences) / n;
  const variance = sum(differences.map((d) => (d - mean) ** 2)) / (n - 1);
  const half = T[n - 2]! * Math.sqrt(variance / n);
  return { mean, low: mean - half, high: mean + half, n };
}
