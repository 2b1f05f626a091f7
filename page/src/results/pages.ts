/** Times of web pages, from the series of requests. */
import { names, numbers, type Result } from "./result";

/** Pages of a flow's connection: the page of each request, in the order of the requests. */
type Connection = { table: string; pages: number[] };

const key = (flow: string, connection: number) => `${flow} ${connection}`;

/** Objects of a page: their number, and the connection of the first one. */
type Objects = { count: number; first: string };

/** Return the connections of web users, and the objects of each page. */
function connectionsOf(result: Result): { connections: Map<string, Connection>; objects: Map<string, Objects> } {
  const [tables, flows] = [names(result, "pages", "table"), names(result, "pages", "flow")];
  const [ofConnection, pages] = [numbers(result, "pages", "connection"), numbers(result, "pages", "page")];
  const connections = new Map<string, Connection>();
  const objects = new Map<string, Objects>();
  pages.forEach((page, row) => {
    const at = key(flows[row]!, ofConnection[row]!);
    const known = connections.get(at) ?? { table: tables[row]!, pages: [] };
    known.pages.push(page);
    connections.set(at, known);
    const of = key(flows[row]!, page);
    const { count, first } = objects.get(of) ?? { count: 0, first: at };
    objects.set(of, { count: count + 1, first });
  });
  return { connections, objects };
}

/** Return the rows of the requests of each connection of a flow, in the order of the requests. */
function requestsOf(result: Result): Map<string, number[]> {
  const [flows, connections, starts] = [names(result, "requests", "flow"), numbers(result, "requests", "connection"), numbers(result, "requests", "start_s")];
  const all = new Map<string, number[]>();
  connections.forEach((connection, row) => {
    const at = key(flows[row]!, connection);
    const rows = all.get(at);
    if (rows) rows.push(row);
    else all.set(at, [row]);
  });
  for (const rows of all.values()) rows.sort((a, b) => starts[a]! - starts[b]!);
  return all;
}

type Page = { table: string; start: number; end: number; requests: number };

/**
 * Return the times of the web pages of each `[[flows]]` table in s, in ascending order: from the
 * first request of a page to its last response. The time of a page is infinite if one of its objects
 * was not requested or not complete. A page that began during the warm-up is not counted.
 */
export function pageTimes(result: Result): Map<string, number[]> {
  const { connections, objects } = connectionsOf(result);
  if (connections.size === 0) return new Map();
  const [starts, opened, ends] = ["start_s", "opened_s", "completed_s"].map((column) => numbers(result, "requests", column));
  const flows = names(result, "requests", "flow");
  const pages = new Map<string, Page>();
  const requested = requestsOf(result);
  // The first request of a connection is written before the handshake is complete.
  const isWhole = (rows: number[] | undefined) => rows !== undefined && !(opened![rows[0]!]! <= starts![rows[0]!]!);
  for (const [at, rows] of requested) {
    const connection = connections.get(at);
    if (!connection || !isWhole(rows)) continue;
    rows.forEach((row, i) => {
      const page = key(flows[row]!, connection.pages[i]!);
      if (!isWhole(requested.get(objects.get(page)?.first ?? ""))) return;
      const known = pages.get(page) ?? { table: connection.table, start: Infinity, end: 0, requests: 0 };
      const end = ends![row]!;
      pages.set(page, {
        ...known,
        start: Math.min(known.start, starts![row]!),
        end: Math.max(known.end, Number.isNaN(end) ? Infinity : end),
        requests: known.requests + 1,
      });
    });
  }
  const all = new Map<string, number[]>();
  for (const [page, { table, start, end, requests }] of pages) {
    const label = `${table}, pages`;
    const times = all.get(label) ?? [];
    times.push(requests === objects.get(page)?.count ? end - start : Infinity);
    all.set(label, times);
  }
  for (const times of all.values()) times.sort((a, b) => a - b);
  return all;
}
