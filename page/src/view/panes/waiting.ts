/** Packets that wait in the queue of the selected link. */
import { departedUntil, departures, DROPS_AT_HEAD, ONE_LINE, type Departure, type Waiting } from "../../results/departures";
import type { Result } from "../../results/result";
import { detail, link, normalized, shown } from "../../state/laboratory";
import { queueOf } from "../../scenario/queue-of";

let known: { of: Result; all: Departure[] } | undefined;

/** Return the packets that wait at the time of a sample, or undefined if the run does not tell. */
export function waitingPackets(sampled: number, count: number): Waiting[] | undefined {
  const [more, first] = [detail.value, shown.value];
  const queue = queueOf(normalized.value, link.value);
  const kind = String(queue?.["kind"]);
  const atTail = queue?.["drop_from"] === "tail" && (queue["mark_at"] === "tail" || DROPS_AT_HEAD.has(kind));
  if (!more || !first || more.link !== link.value || !ONE_LINE.has(kind) || !atTail) return undefined;
  if (known?.of !== more.result) {
    known = { of: more.result, all: departures(more.result, first.result, link.value, kind) };
  }
  const from = departedUntil(known.all, sampled);
  return known.all.slice(from, from + count).map(({ waiting }) => waiting);
}
