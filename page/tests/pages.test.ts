/** Times of web pages. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { pageTimes } from "../src/results/pages";
import { plainResult } from "../src/results/plain";
import { grouped, numbers, type Result } from "../src/results/result";
import { Simulator } from "../src/simulator/module";

const ROOT = new URL("../../", import.meta.url);
const TEXT = `
duration = "60 s"
network = { kind = "dumbbell", rate = "10 Mbit/s", delay = "10 ms", queue = "drop_tail", left_hosts = 1,
  left_rate = "100 Mbit/s", left_delay = "1 ms", right_hosts = 1, right_rate = "100 Mbit/s", right_delay = "1 ms" }
record.series = ["requests"]
[[flows]]
name = "user-{i}"
count = 2
from = "left-0"
to = "right-0"
[flows.traffic]
kind = "web"
pages = 3
sessions = 1
page_gap = "5 s"
objects = 4
request = "300 B"
response = "20 kB"
`;

let simulator: Simulator;
beforeAll(async () => {
  const file = new URL("target/wasm32-unknown-unknown/web/web.wasm", ROOT);
  simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
});

/** Pages, sessions, gaps and objects of different lengths, which a rule about times could not tell apart. */
const RANDOM: [string, string][] = [
  ["flows.0.traffic.pages", '{ kind = "geometric", mean = 4 }'],
  ["flows.0.traffic.sessions", "3"],
  ["flows.0.traffic.page_gap", '{ kind = "exponential", mean = "200 ms" }'],
  ["flows.0.traffic.objects", '{ kind = "geometric", mean = 3 }'],
  ["flows.0.traffic.parse_time", '"100 ms"'],
];
const run = (changes: [string, string][]) => plainResult(simulator.run({ text: TEXT, format: "toml", changes }));
const connections = (kind: string): [string, string] => ["flows.0.traffic.connections", `"${kind}"`];
const KINDS = ["each", "persistent", "pipelined", "multiplexed", "session"];

test.each(KINDS)("connections: %s", (kind) => {
  const result = run([connections(kind)]);
  expect(numbers(result, "requests", "duration_s")).toHaveLength(8 * 3);
  const pages = pageTimes(result).get("user-{i}, pages")!;
  expect(pages).toHaveLength(6);
  // A page takes at least as long as each of its requests, and ends before the next page begins.
  expect(pages[0]).toBeGreaterThanOrEqual(Math.min(...numbers(result, "requests", "duration_s")));
  expect(pages.at(-1)).toBeLessThan(5);
});

test("a session has the pages of the same user with a connection per page", () => {
  const [sessions, single] = [run([...RANDOM, connections("session")]), run([...RANDOM, connections("persistent")])];
  const sizes = (result: Result) => {
    const bytes = numbers(result, "requests", "response_bytes");
    return [...grouped(result, "requests", "flow").values()].map((rows) => rows.reduce((sum, row) => sum + bytes[row]!, 0));
  };
  expect(sizes(sessions)).toEqual(sizes(single));
  const [of, reference] = [sessions, single].map((result) => pageTimes(result).get("user-{i}, pages")!);
  expect(reference!.length).toBeGreaterThan(10);
  expect(of).toHaveLength(reference!.length);
  expect(of!.every(Number.isFinite)).toBe(true);
  // The first page of a session takes the same time; a later one needs no handshake.
  expect(of!.at(0)).toBeLessThanOrEqual(reference!.at(0)!);
});

test.each(KINDS)("a page that the run does not complete has no time: %s", (kind) => {
  const all = pageTimes(run([...RANDOM, connections(kind)])).get("user-{i}, pages")!;
  const short = pageTimes(run([...RANDOM, connections(kind), ["duration", '"1.3 s"']])).get("user-{i}, pages")!;
  expect(short.length).toBeLessThan(all.length);
  const finite = short.filter(Number.isFinite);
  expect(finite.length).toBeGreaterThanOrEqual(short.length - 2); // one page per user
  expect(finite.every((time) => all.some((one) => Math.abs(one - time) < 1e-9))).toBe(true);
});

test.each(KINDS)("a page that began during the warm-up is not counted: %s", (kind) => {
  const all = pageTimes(run([...RANDOM, connections(kind)])).get("user-{i}, pages")!;
  const late = pageTimes(run([...RANDOM, connections(kind), ["warm_up", '"1.3 s"']])).get("user-{i}, pages") ?? [];
  expect(late.length).toBeLessThan(all.length);
  expect(late.every((time) => all.some((one) => Math.abs(one - time) < 1e-9))).toBe(true);
});
