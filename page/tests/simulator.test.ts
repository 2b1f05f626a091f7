/** The WebAssembly build gives the results of the native builds. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { Simulator, SimulatorError } from "../src/simulator/module";
import { digest } from "./digest";
import { LISTED, request } from "./listed";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf-8");
let module: WebAssembly.Module;
let simulator: Simulator;
beforeAll(async () => {
  const file = new URL("target/wasm32-unknown-unknown/web/web.wasm", ROOT);
  module = await WebAssembly.compile(readFileSync(file));
  simulator = await Simulator.instantiate(module);
});

describe("digests", () => {
  expect(LISTED.length).toBeGreaterThan(5);
  test.each(LISTED)("%s %s", (expected, changes) => {
    expect(digest(simulator.run(request(changes)))).toBe(expected);
  });
});

describe("errors", () => {
  const error = (changes: string): SimulatorError => {
    try {
      simulator.run(request(changes));
    } catch (e) {
      if (e instanceof SimulatorError) return e;
    }
    throw new Error("the run succeeded");
  };

  test("an error has the path and the text of the command", () => {
    const wrong = error("network.queue.maxp=2");
    expect(wrong.path).toBe("network.queue.maxp");
    expect(wrong.message).toMatch(/^network\.queue\.maxp: 2 must be a number between 0 and 1; write/);
  });

  test("a scenario of 10^9 flows is refused, and the next run works", () => {
    expect(error("flows.0.count=1000000000").message).toContain("must be at least 1, at most 10000000");
    const flows = 'flows.0={ count = 2000000, from = "left-0", to = "right-0", traffic = "bulk" }';
    expect(error(`${flows};duration=1 s`).message).toContain("not enough memory for 2000000 flows");
    expect(digest(simulator.run(request(LISTED[0]![1])))).toBe(LISTED[0]![0]);
  }, 30_000);

  test("a limit on events ends a run", () => {
    const limited = { ...request("seed=1"), limits: { events: 1000 } };
    expect(() => simulator.run(limited)).toThrow(/limits.events/);
  });
});

test("progress is reported, and an exception in it ends the run", async () => {
  const shares: number[] = [];
  const long = request("flows.0.traffic.size=2 GB;network.rate=1 Gbit/s");
  (await Simulator.instantiate(module, (share) => shares.push(share))).run(long);
  expect(shares.length).toBeGreaterThan(1);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  const cancelled = await Simulator.instantiate(module, () => {
    throw new Error("cancelled");
  });
  expect(() => cancelled.run(long)).toThrow("cancelled");
}, 30_000);

test("the memory has a maximum of 1 GiB", () => {
  expect(simulator.memoryBytes()).toBeLessThanOrEqual(2 ** 30);
});

test("the description has the schema, the manual pages and the columns", () => {
  const described = simulator.describe();
  expect(Object.keys(described)).toEqual(["version", "schema", "pages", "columns"]);
  expect(described["schema"]).toEqual(JSON.parse(read("docs/reference/scenario.schema.json")));
});
