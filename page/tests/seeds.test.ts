/** Bands over the seeds. */
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { meanDelays } from "../src/results/mean-delays";
import { plainResult } from "../src/results/plain";
import { cell, numbers, rowOf } from "../src/results/result";
import { Simulator } from "../src/simulator/module";
import { envelope } from "../src/view/panes/data";
import { hasChromium, launch, open, ROOT, serve } from "./browser";

test("a band has the extremes at each position, also of curves of different lengths", () => {
  const [low, high] = envelope([
    { x: [0, 1, 2], y: [5, 1, null] },
    { x: [1, 2, 3], y: [4, 7, 9] },
  ]);
  expect(low).toEqual({ x: [0, 1, 2], y: [5, 1, 7] });
  expect(high).toEqual({ x: [0, 1, 2], y: [5, 4, 7] });
});

test("the mean delays over time have the mean of all packets", async () => {
  const file = new URL("target/wasm32-unknown-unknown/web/web.wasm", ROOT);
  const simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
  const text = readFileSync(new URL("python/aqmlab/data/scenarios/rfc7928.toml", ROOT), "utf-8");
  const changes: [string, string][] = [["record.series", '["packet_delays", "delays"]'], ["duration", '"12 s"']];
  const result = plainResult(simulator.run({ text, format: "toml", changes }));
  const { x, y } = meanDelays(result, "left>right", 12);
  const packets = new Array<number>(x.length).fill(0);
  const links = result.tables["packet_delays"]!.columns["link"]!;
  numbers(result, "packet_delays", "time_s").forEach((time, row) => {
    if (links.names[links.values[row]!] === "left>right") packets[Math.min(x.length - 1, Math.floor(time / 0.1))]! += 1;
  });
  const all = packets.reduce((a, b) => a + b);
  const mean = y.reduce<number>((sum, delay, i) => sum + (delay ?? 0) * packets[i]!, 0) / all;
  expect(mean).toBeCloseTo(cell(result, "delays", "mean_delay_s", rowOf(result, "delays", "link", "left>right")), 10);
  expect(x[0]).toBeCloseTo(0.05, 12);
});

describe.skipIf(!hasChromium)("the page", () => {
  let server: Server;
  let address: string;
  let browser: Browser;
  beforeAll(async () => {
    ({ server, address } = await serve());
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  test("figures over time have a band, and figures per packet name their seed", async () => {
    const page = await open(browser, address, { viewport: { width: 1300, height: 4000 } });
    await page.selectOption(".settings select >> nth=1", "2");
    await page.waitForSelector(".first >> text=the bands span 2 seeds");
    const section = (title: string) => page.locator(`section[aria-label="${title}"]`);
    for (const title of ["Queue", "Windows", "Goodput", "Drops and marks", "Delay over time"]) {
      await section(title).locator("text=maximum of 2 seeds").waitFor();
    }
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('[aria-label="Save the figure Queue as SVG"]')]);
    expect(readFileSync(await download.path(), "utf-8")).toContain("<polygon");
    for (const title of ["Delay of every packet", "Segments of one flow", "Round-trip times"]) {
      expect(await section(title).locator(".u-legend >> text=seeds").count(), title).toBe(0);
      expect(await section(title).locator(".note").textContent(), title).toContain("in the run of the first seed");
    }
  });
});
