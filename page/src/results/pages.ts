/** Times of web pages, from the series of requests. */
import { grouped, numbers, type Result } from "./result";
import type { JsonTable } from "../simulator/client";

/** Maximum number of objects of a page. With a connection per object, the numbers of the connections
 * of page n begin at this number times n (crates/traffic/src/web.rs). */
const OBJECTS = 1024;

/** Return the function from the number of a connection to the number of its page. Return undefined
 * for other traffic, and for sessions, whose connections carry several pages. */
function pageOf(traffic: JsonTable): ((connection: number) => number) | undefined {
  if (traffic["kind"] !== "web" || traffic["connections"] === "session") return undefined;
  return traffic["connections"] === "each" ? (connection) => Math.floor(connection / OBJECTS) : (connection) => connection;
}

/** Return the flows of a `[[flows]]` table, whose name may contain placeholders such as `{i}`. */
function flowsOf(table: JsonTable, flows: string[]): string[] {
  const parts = String(table["name"]).split(/\{[^}]*\}/).map((part) => part.replace(/[^\w]/g, "\\$&"));
  const name = new RegExp(`^${parts.join(".*")}$`);
  return flows.filter((flow) => name.test(flow));
}

/** Return the times of the web pages of each `[[flows]]` table in s, in ascending order: from the
 * first request of a page to its last response. The time of an unfinished page is infinite. */
export function pageTimes(result: Result): Map<string, number[]> {
  const all = new Map<string, number[]>();
  const rows = grouped(result, "requests", "flow");
  const [connections, starts, ends] = ["connection", "start_s", "completed_s"].map((column) => numbers(result, "requests", column));
  for (const table of (result.manifest.scenario["flows"] ?? []) as JsonTable[]) {
    const page = pageOf(table["traffic"] as JsonTable);
    if (!page) continue;
    const times: number[] = [];
    for (const flow of flowsOf(table, [...rows.keys()])) {
      const spans = new Map<number, [number, number]>();
      for (const row of rows.get(flow)!) {
        const number = page(connections![row]!);
        const [start, end] = spans.get(number) ?? [Infinity, 0];
        const done = ends![row]!;
        spans.set(number, [Math.min(start, starts![row]!), Math.max(end, Number.isNaN(done) ? Infinity : done)]);
      }
      for (const [start, end] of spans.values()) times.push(end - start);
    }
    if (times.length > 0) all.set(`${String(table["name"])}, pages`, times.sort((a, b) => a - b));
  }
  return all;
}
