/** Times of web pages. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { pageTimes } from "../src/results/pages";
import { plainResult } from "../src/results/plain";
import { numbers } from "../src/results/result";
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

test.each([["each", 8 * 3], ["persistent", 8 * 3], ["session", 8 * 3]])("connections: %s", (connections, requests) => {
  const changes: [string, string][] = [["flows.0.traffic.connections", `"${connections}"`]];
  const result = plainResult(simulator.run({ text: TEXT, format: "toml", changes }));
  expect(numbers(result, "requests", "duration_s")).toHaveLength(requests);
  const pages = pageTimes(result).get("user-{i}, pages");
  if (connections === "session") return expect(pages).toBeUndefined();
  expect(pages).toHaveLength(6);
  // A page takes at least as long as each of its requests, and ends before the next page begins.
  expect(pages![0]).toBeGreaterThanOrEqual(Math.min(...numbers(result, "requests", "duration_s")));
  expect(pages!.at(-1)).toBeLessThan(5);
});
