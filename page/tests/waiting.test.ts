/** The packets that the page draws in the queue are those that wait. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { plainResult } from "../src/results/plain";
import { grouped, numbers } from "../src/results/result";
import { Simulator } from "../src/simulator/module";
import { departedUntil, departures, ONE_LINE } from "../src/results/departures";

const LINK = "left>right";
const ROOT = new URL("../../", import.meta.url);
const TEXT = readFileSync(new URL("python/aqmlab/data/scenarios/rfc7928.toml", ROOT), "utf-8");

let simulator: Simulator;
beforeAll(async () => {
  const file = new URL("target/wasm32-unknown-unknown/web/web.wasm", ROOT);
  simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
});

test.each([...ONE_LINE])("%s", (kind) => {
  const changes: [string, string][] = [
    ["network.queue", `{ kind = "${kind}", limit = "167 packets" }`],
    ["network.queue.ecn", '"mark"'],
    ["tcp.ecn", '"rfc3168"'],
    ["duration", '"20 s"'],
    ["record.series", '["queue", "window", "drops"]'],
    ["record.interval", '"20 ms"'],
    ["record.pcap.on", `["${LINK}"]`],
  ];
  const result = plainResult(simulator.run({ text: TEXT, format: "toml", changes }));
  const all = departures(result, result, LINK, kind);
  const rows = grouped(result, "queue", "link").get(LINK)!;
  const [times, counts] = [numbers(result, "queue", "time_s"), numbers(result, "queue", "queue_packets")];
  // Packets that had entered the queue by each sample: those that left, and those that wait.
  const entered = rows.map((row) => departedUntil(all, times[row]!) + counts[row]!);
  expect(entered.every((n, i) => i === 0 || n >= entered[i - 1]!)).toBe(true);
  // At the end of the run, all packets of the capture have left.
  expect(entered.at(-1)! - counts[rows.at(-1)!]!).toBe(all.length);
  expect(Math.max(...counts)).toBeGreaterThan(5);
});
