/** The queue that the page draws is the queue of the simulator, at every sample and at every drop. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { plainResult } from "../src/results/plain";
import { grouped, names, numbers, type Result } from "../src/results/result";
import { ONE_LINE, queueAt, waited, waitingAt } from "../src/results/waiting";
import { queueOf } from "../src/scenario/queue-of";
import type { JsonTable } from "../src/simulator/client";
import { Simulator } from "../src/simulator/module";

const LINK = "left>right";
const ROOT = new URL("../../", import.meta.url);
const TEXT = readFileSync(new URL("python/aqmlab/data/scenarios/rfc7928.toml", ROOT), "utf-8");
const LIMIT = 'limit = "167 packets"';
/** Classes for two groups of flows. */
const CLASSES = (kind: string, keys: string) =>
  `{ kind = "${kind}", classes = [{ match = { flows = ["short"] }, ${keys} }, { ${keys} }] }`;

/** Queues without required keys, by kind. */
const QUEUES = [...ONE_LINE].filter((kind) => !["tc_red", "wred", "tbf"].includes(kind)).concat("fq_codel", "fq_pie", "dualpi2", "sfq", "phb");
/** Queues that drop waiting packets whose arrival the tables do not have. */
const INCOMPLETE = new Set(["choke", "sfq"]);

let simulator: Simulator;
beforeAll(async () => {
  const file = new URL("target/wasm32-unknown-unknown/web/web.wasm", ROOT);
  simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
});

function run(queue: string, interval: string, ecn: boolean): Result {
  const changes: [string, string][] = [
    ["network.queue", queue],
    ["tcp.ecn", ecn ? '"rfc3168"' : '"off"'],
    ["duration", '"10 s"'],
    ["record.series", '["queue", "why", "packet_delays"]'],
    ["record.interval", `"${interval}"`],
    ["record.pcap.on", `["${LINK}"]`],
  ];
  return plainResult(simulator.run({ text: TEXT, format: "toml", changes }));
}

/** Return the numbers of samples at which the page's queue is exact, and at which it is wrong. */
function compare(queue: string, ecn: boolean): { exact: number; wrong: number; all: number } {
  const [fine, coarse] = [run(queue, "10 ms", ecn), run(queue, "100 ms", ecn)];
  const packets = waited(coarse, LINK, queueOf(coarse.manifest.scenario as JsonTable, LINK));
  const rows = grouped(fine, "queue", "link").get(LINK)!;
  const [times, counts] = [numbers(fine, "queue", "time_s"), numbers(fine, "queue", "queue_packets")];
  const seen = rows.map((row) => ({ ...queueAt(packets, coarse, LINK, times[row]!), truth: counts[row]! }));
  const exact = seen.filter((of) => of.exact);
  return { exact: exact.length, wrong: exact.filter(({ count, truth }) => count !== truth).length, all: rows.length };
}

describe.each([["with ECN", true], ["without ECN", false]])("%s", (_, ecn) => {
  test.each(QUEUES)("%s", (kind) => {
    const { exact, wrong, all } = compare(`{ kind = "${kind}", ${kind === "phb" ? "" : LIMIT} }`.replace(", }", " }"), ecn);
    expect(wrong).toBe(0);
    if (!INCOMPLETE.has(kind)) expect(exact / all).toBeGreaterThan(0.9);
  });
});

test.each(["front", "random", "longest-flow"])("drop_from = %s is never shown as exact", (from) => {
  expect(compare(`{ kind = "drop_tail", ${LIMIT}, drop_from = "${from}" }`, false)).toMatchObject({ exact: 0, wrong: 0 });
});

test.each([["drr", 'quantum = "1500 B"'], ["wrr", "packets = 1"], ["priority", ""]])("%s", (kind, keys) => {
  const { exact, wrong, all } = compare(CLASSES(kind, keys).replaceAll(", }", " }"), true);
  expect(wrong).toBe(0);
  expect(exact / all).toBeGreaterThan(0.9);
});

test("the queue after a drop at the tail is the one that the rule saw", () => {
  const result = run(`{ kind = "red", ${LIMIT} }`, "100 ms", false);
  const packets = waited(result, LINK, queueOf(result.manifest.scenario as JsonTable, LINK));
  const [times, counts] = [numbers(result, "why", "time_s"), numbers(result, "why", "queue_packets")];
  const rows = grouped(result, "why", "link").get(LINK)!.filter((row) => times[row]! < 9.5);
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) expect(waitingAt(packets, times[row]!).length).toBe(counts[row]);
});

test("a packet that CoDel drops has left the queue at its drop, and the marks are those of the capture", () => {
  const result = run(`{ kind = "codel", ${LIMIT} }`, "100 ms", false);
  const packets = waited(result, LINK, queueOf(result.manifest.scenario as JsonTable, LINK));
  const [times, sojourn] = [numbers(result, "why", "time_s"), numbers(result, "why", "sojourn_s")];
  const [row] = grouped(result, "why", "link").get(LINK)!.filter((of) => sojourn[of]! > 0);
  // CoDel drops the packet at the head, and the next packet leaves at the same time.
  expect(waitingAt(packets, times[row!]! - 1e-12).length).toBe(waitingAt(packets, times[row!]!).length + 2);
  const marking = run(`{ kind = "red", ${LIMIT} }`, "100 ms", true);
  const marked = waited(marking, LINK, queueOf(marking.manifest.scenario as JsonTable, LINK)).packets.filter((of) => of.marked);
  expect(marked.length).toBeGreaterThan(50);
  expect(marked.length).toBeLessThanOrEqual(names(marking, "why", "signal").filter((signal) => signal === "mark").length);
});
