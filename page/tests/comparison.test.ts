/** Two scenarios side by side, in headless Chromium. */
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dropExample, findings, hasChromium, launch, open, PHONE, python, serve, settled } from "./browser";

let server: Server;
let address: string;
let browser: Browser;
let page: Page;

const seeds = (count: number) => page.selectOption(".settings select >> nth=1", String(count));
const queue = () => page.inputValue('[data-path="network.queue"] select');
const value = async (selector: string) => Number(await page.getAttribute(selector, "data-value"));
const ofArm = (name: string, arm: "A" | "B") => value(`[data-measure="${name}"][data-arm="${arm}"]`);

/** Open B, and give it the queue CoDel. */
async function compare(of: Page): Promise<void> {
  await of.click("text=Compare with this setting");
  if (!(await of.isVisible('[data-path="network.queue"] select'))) await of.click(".drawer > summary");
  await of.selectOption('[data-path="network.queue"] select', "codel");
  await settled(of);
}

/** Save a figure as SVG, and return the labels of its axes and its file name. */
async function axes(title: string): Promise<{ labels: string[]; name: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[aria-label="Save the figure ${title} as SVG"]`)]);
  const text = readFileSync(await download.path(), "utf-8");
  return { labels: [...text.matchAll(/<text [^>]*text-anchor="(?:middle|end)">([^<]*)</g)].map(([, label]) => label!), name: download.suggestedFilename() };
}

describe.skipIf(!hasChromium)("a comparison", () => {
  beforeAll(async () => {
    ({ server, address } = await serve());
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  test("its paired differences are those of the native runs", async () => {
    page = await open(browser, address);
    await compare(page);
    await seeds(2);
    await page.waitForSelector(".first >> text=means over 2 seeds");
    const native = python(`
import json, aqmlab
from scipy import stats
def measures(queue, seed):
    result = aqmlab.run("rfc7928", overrides={"network.queue": {"kind": queue, "limit": "167 packets"}, "seed": seed, "record.series": ["delays"]})
    links = result.links.set_index("link").loc["left>right"]
    return {
        "goodput_bps": 8 * float(result.flows.acked_bytes.sum()) / result.manifest["simulated_s"],
        "median_delay_s": float(result.series("delays").set_index("link").loc["left>right"].median_delay_s),
        "dropped": float(links.dropped_packets / links.arrived_packets),
    }
a, b = ([measures(queue, seed) for seed in (1, 2)] for queue in ("drop_tail", "codel"))
def row(name):
    d = [y[name] - x[name] for x, y in zip(a, b)]
    low, high = stats.t.interval(0.95, 1, sum(d) / 2, stats.sem(d))
    return [sum(x[name] for x in a) / 2, sum(x[name] for x in b) / 2, sum(d) / 2, low, high]
print(json.dumps({name: row(name) for name in a[0]}))`) as Record<string, [number, number, number, number, number]>;
    for (const [name, [a, b, difference]] of Object.entries(native)) {
      expect(await ofArm(name, "A"), name).toBeCloseTo(a, 12 - Math.ceil(Math.log10(a)));
      expect(await ofArm(name, "B"), name).toBeCloseTo(b, 12 - Math.ceil(Math.log10(b)));
      expect(await value(`[data-difference="${name}"]`), name).toBeCloseTo(difference, 11 - Math.ceil(Math.log10(a)));
    }
    const [, , mean, low, high] = native["median_delay_s"]!;
    const text = await page.textContent("#answer");
    const shown = [mean, low, high].map((s) => `−${Number(Math.abs(1e3 * s).toPrecision(3))} ms`);
    expect(text).toContain(`(${shown[0]} [${shown[1]} to ${shown[2]}])`);
  });

  test("the link has both scenarios", async () => {
    const before = [await ofArm("goodput_bps", "A"), await ofArm("goodput_bps", "B")];
    const link = page.url();
    page = await open(browser, link);
    await page.waitForSelector(".first >> text=means over 2 seeds");
    expect([await ofArm("goodput_bps", "A"), await ofArm("goodput_bps", "B")]).toEqual(before);
    expect(page.url()).toBe(link);
    await page.click("text=Close B");
    await page.waitForSelector(".tiles");
    expect(await page.locator(".arms").count()).toBe(0);
  });

  test("the controls, the copies and the files are those of the chosen scenario", async () => {
    const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, acceptDownloads: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    page = await context.newPage();
    await page.goto(address);
    await page.waitForSelector("[data-measure]");
    await compare(page);
    await seeds(1);
    await settled(page);
    const b = await ofArm("median_delay_s", "B");
    // The keyboard reaches the choice of the scenario.
    await page.focus('.arms input[value="B"]');
    await page.keyboard.press("ArrowUp");
    expect(await queue()).toBe("drop_tail");
    await page.click("text=Command");
    await page.waitForSelector("text=Command copied.");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("aqmlab run rfc7928");
    const ofA = await axes("Queueing delays");
    await page.selectOption('[data-path="network.queue"] select', "pie");
    await settled(page);
    expect(await ofArm("median_delay_s", "B")).toBe(b);
    await page.focus('.arms input[value="A"]');
    await page.keyboard.press("ArrowDown");
    expect(await queue()).toBe("codel");
    await page.selectOption("#ready", "dsl");
    await settled(page);
    await page.waitForSelector(".of-arm >> text=dsl");
    await dropExample(page, "two_flows.toml");
    await page.waitForSelector(".of-arm >> text=Two downloads through one queue");
    expect(await page.locator("[data-goodput=bulk-0]").count()).toBe(1);
    expect(ofA.name).toBe("queueing-delays-a.svg");
  });

  test("both charts of a figure have the same axes, next to each other", async () => {
    page = await open(browser, address);
    await compare(page);
    for (const title of ["Queue", "Queueing delays", "Delay of every packet"]) {
      await page.locator(`section[aria-label="${title}"]`).scrollIntoViewIfNeeded();
      await page.waitForTimeout(500);
      await page.check('.arms input[value="A"]');
      const a = await axes(title);
      await page.check('.arms input[value="B"]');
      const b = await axes(title);
      expect(a.labels.length, title).toBeGreaterThan(8);
      expect(a.labels, title).toEqual(b.labels);
      expect(a.name).not.toBe(b.name);
    }
    const boxes = await Promise.all((await page.locator('section[aria-label="Queue"] .chart').all()).map((one) => one.boundingBox()));
    expect(boxes[0]!.y).toBe(boxes[1]!.y);
    // One cursor crosses both charts.
    await page.click('[aria-label="Next event"]');
    const lines = page.locator('section[aria-label="Queue"] .moment:not([hidden])');
    expect(await lines.count()).toBe(2);
    const lefts = await lines.evaluateAll((all) => all.map((one) => (one as HTMLElement).style.left));
    expect(lefts[0]).toBe(lefts[1]);
  });

  test("on a phone, the charts are below each other", async () => {
    page = await open(browser, address, PHONE);
    await compare(page);
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1]!);
    const boxes = await Promise.all((await page.locator('section[aria-label="Queue"] .chart').all()).map((one) => one.boundingBox()));
    expect(boxes[1]!.y).toBeGreaterThan(boxes[0]!.y + 200);
    expect(boxes[1]!.x).toBe(boxes[0]!.x);
  });

  test.each([["light", {}], ["dark", { colorScheme: "dark" as const }], ["phone", PHONE]])("axe has no serious finding: %s", async (_, options) => {
    page = await open(browser, address, options);
    await compare(page);
    await page.click('[aria-label="Next event"]');
    await page.waitForSelector(".first >> text=means over 5 seeds");
    expect(await findings(page)).toEqual([]);
  });
});
