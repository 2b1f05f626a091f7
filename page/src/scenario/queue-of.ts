/** The queue of a link in a normalized scenario. */
import type { JsonTable } from "../simulator/client";

/** Return the queue of the link with the given name. */
export function queueOf(normalized: JsonTable, link: string): JsonTable | undefined {
  const network = normalized["network"] as JsonTable | undefined;
  if (!network) return undefined;
  const reverse = network["reverse"] as JsonTable | null;
  if (network["kind"] === "dumbbell") {
    if (link === "left>right") return network["queue"] as JsonTable;
    if (link === "right>left") return (reverse?.["queue"] ?? network["queue"]) as JsonTable;
    return network["access_queue"] as JsonTable | undefined;
  }
  const links = (network["links"] ?? []) as JsonTable[];
  return links.find((one) => `${String(one["from"])}>${String(one["to"])}` === link)?.["queue"] as JsonTable | undefined;
}
