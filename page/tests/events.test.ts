/** Every rule that a run reports has a meaning on a manual page. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { plainResult } from "../src/results/plain";
import { numbers } from "../src/results/result";
import { Simulator } from "../src/simulator/module";
import type { JsonTable } from "../src/simulator/client";
import { describe as described, type Event } from "../src/state/events";
import { pages } from "../src/state/shared";
import { ROOT } from "./browser";

const TEXT = readFileSync(new URL("python/aqmlab/data/scenarios/rfc7928.toml", ROOT), "utf-8");

let simulator: Simulator;
beforeAll(async () => {
  const file = new URL("target/wasm32-unknown-unknown/web/web.wasm", ROOT);
  simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
  pages.value = simulator.describe()["pages"] as JsonTable;
});

test.each([["drop_tail", "reno"], ["red_pd", "cubic"], ["fq_codel", "bbr"], ["dualpi2", "prague"], ["fred", "dctcp"]])("%s and %s", (queue, control) => {
  const changes: [string, string][] = [
    ["network.queue", `{ kind = "${queue}", limit = "60 packets" }`],
    ["tcp.congestion", `"${control}"`],
    ["tcp.ecn", '"rfc3168"'],
    ["duration", '"8 s"'],
    ["record.series", '["why", "why_cwnd"]'],
  ];
  const result = plainResult(simulator.run({ text: TEXT, format: "toml", changes }));
  for (const table of ["why", "why_cwnd"] as const) {
    const rows = numbers(result, table, "time_s").length;
    expect(rows).toBeGreaterThan(20);
    for (let row = 0; row < rows; row++) {
      const event: Event = { time: 0, kind: "drop", result, table, row };
      expect(described(event).meaning, described(event).text).not.toBe("");
    }
  }
});

test("a loss that TCP detects is not described as a loss on a link", () => {
  const changes: [string, string][] = [["duration", '"5 s"'], ["record.series", '["why_cwnd"]']];
  const result = plainResult(simulator.run({ text: TEXT, format: "toml", changes }));
  const texts = [...numbers(result, "why_cwnd", "time_s")].map((time, row) => described({ time, kind: "reduction", result, table: "why_cwnd", row }));
  const losses = texts.filter(({ text }) => text.endsWith("rule loss"));
  expect(losses.length).toBeGreaterThan(0);
  for (const { meaning } of losses) expect(meaning).not.toContain("impairment");
});
