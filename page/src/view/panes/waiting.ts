/** Packets that wait in the queue of the selected link. */
import { departedUntil, departures, DROPS_AT_HEAD, ONE_LINE, type Departure, type Waiting } from "../../results/departures";
import type { Result } from "../../results/result";
import type { Arm } from "../../state/arm";
import { queueOf } from "../../scenario/queue-of";

const known = new WeakMap<Result, Departure[]>();

/** Return the packets that wait at the time of a sample, or undefined if the run does not tell. */
export function waitingPackets(arm: Arm, sampled: number, count: number): Waiting[] | undefined {
  const [more, first] = [arm.detail.value, arm.shown.value];
  const queue = queueOf(arm.normalized.value, arm.link.value);
  const kind = String(queue?.["kind"]);
  const atTail = queue?.["drop_from"] === "tail" && (queue["mark_at"] === "tail" || DROPS_AT_HEAD.has(kind));
  if (!more || !first || more.link !== arm.link.value || !ONE_LINE.has(kind) || !atTail) return undefined;
  const all = known.get(more.result) ?? departures(more.result, first.result, arm.link.value, kind);
  known.set(more.result, all);
  const from = departedUntil(all, sampled);
  return all.slice(from, from + count).map(({ waiting }) => waiting);
}
