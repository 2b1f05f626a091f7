/** Series that the page records, in addition to the scenario. */
import { inBase, parse } from "./quantity";
import type { Json, JsonTable } from "../simulator/client";
import type { Schemas } from "./schema";
import { tomlValue } from "./toml";

/** Number of samples that fill the width of a figure. */
const SAMPLES = 600;
/** Number of samples above which the page does not use the interval of the scenario. */
const MOST_SAMPLES = 4000;

/** Maximum number of links of a graph that are all recorded. */
const MOST_LINKS = 20;

/** Return the links whose queues are recorded; an empty list stands for all links. */
export function recordedLinks(normalized: JsonTable, chosen: string): string[] {
  const network = normalized["network"] as JsonTable;
  const links = network["links"] as JsonTable[] | undefined;
  if (links && links.length <= MOST_LINKS) return [];
  const first = links
    ? links.slice(0, MOST_LINKS).map((link) => `${String(link["from"])}>${String(link["to"])}`)
    : ["left>right", "right>left"];
  return [...new Set([...first, ...(chosen ? [chosen] : [])])];
}

/** Return the series of every run. */
function seriesOf(normalized: JsonTable): string[] {
  const series = ["queue", "window", "delays", "waits", "drops", "marks"];
  const flows = (normalized["flows"] ?? []) as JsonTable[];
  if (flows.some((flow) => flow["arrivals"])) series.push("transfers");
  const kinds = flows.map((flow) => (flow["traffic"] as JsonTable)["kind"]);
  if (kinds.some((kind) => ["web", "requests", "request_response", "ping"].includes(String(kind)))) {
    series.push("requests");
  }
  return series;
}

/** Return the changes of `record` for the first picture. `chosen` is the link that is shown, or "". */
export function firstSeries(normalized: JsonTable, written: JsonTable, chosen = ""): [string, string][] {
  const links = recordedLinks(normalized, chosen);
  return [["record.series", tomlValue(seriesOf(normalized))], ["record.links", tomlValue(links)], ...sampling(normalized, written)];
}

/** Return the changes of `record` for a further seed. If `packets` is true, the run records the delay of every packet at the link. */
export function seedSeries(normalized: JsonTable, written: JsonTable, link: string, packets: boolean): [string, string][] {
  const series = [...seriesOf(normalized), ...(packets ? ["packet_delays"] : [])];
  return [["record.series", tomlValue(series)], ["record.links", tomlValue([link])], ...sampling(normalized, written)];
}

/**
 * Return the changes of `record` for the figures of one flow, and for the packets of one link. `flow`
 * and `link` may be "".
 */
export function detailedSeries(flow: string, link: string): [string, string][] {
  const series = [...(flow ? ["segments", "rtt"] : []), ...(link ? ["packet_delays"] : [])];
  return [
    ["record.series", tomlValue(series)],
    ["record.links", tomlValue(link ? [link] : [])],
    ["record.traced", tomlValue(flow ? [flow] : [])],
    ["record.pcap", tomlValue({ on: link ? [link] : [] })],
  ];
}

/**
 * Return the changes of `record` for the reasons of all drops, marks and changes of cwnd. `flow` is
 * the only sender whose changes of cwnd are recorded, or "" for all senders.
 */
export function reasons(flow: string, schemas: Schemas): [string, string][] {
  const series = ["why", "why_cwnd"].filter((one) => schemas.has("record.series", one));
  return [["record.series", tomlValue(series)], ["record.traced", tomlValue(flow ? [flow] : [])]];
}

/** Return the change of the interval between samples, unless the scenario has a suitable one. */
function sampling(normalized: JsonTable, written: JsonTable): [string, string][] {
  const seconds = (text: Json | undefined) => {
    const quantity = typeof text === "string" ? parse(text) : undefined;
    return quantity && inBase(quantity);
  };
  const duration = seconds(normalized["duration"]);
  const own = seconds((written["record"] as JsonTable | undefined)?.["interval"]);
  if (!duration || (own && duration / own <= MOST_SAMPLES)) return [];
  const milliseconds = Number(((duration / SAMPLES) * 1e3).toPrecision(1));
  return [["record.interval", tomlValue(`${milliseconds} ms`)]];
}
