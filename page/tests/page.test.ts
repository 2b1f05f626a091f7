/** The page in headless Chromium. */
import type { Server } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dropExample, findings, hasChromium, launch, measure, open, PHONE, python, serve, settled } from "./browser";


let server: Server;
let address: string;
let browser: Browser;
let page: Page;

/** Move the slider of a key by a number of steps, as the reader does with the arrow keys. */
async function move(path: string, key: string, times: number): Promise<void> {
  await page.focus(`[data-path="${path}"] input[type=range]`);
  for (let i = 0; i < times; i++) await page.keyboard.press(key);
  await settled(page);
}

/** Type a value into the text of a key. */
async function type(path: string, value: string): Promise<void> {
  await page.fill(`[data-path="${path}"] input[type=text]`, value);
  await page.keyboard.press("Enter");
  await settled(page);
}

const shownValue = (path: string) => page.inputValue(`[data-path="${path}"] input[type=text]`);
const error = (path: string) => page.textContent(`[data-path="${path}"] [role=alert]`);

describe.skipIf(!hasChromium)("the page", () => {
  beforeAll(async () => {
    ({ server, address } = await serve());
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  test("the first load has less than 2 MB", async () => {
    const context = await browser.newContext();
    page = await context.newPage();
    const sizes: number[] = [];
    page.on("response", async (response) => sizes.push((await response.body()).length));
    await page.goto(address);
    await page.waitForSelector("[data-measure]");
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((a, b) => a + b)).toBeLessThan(2e6);
  });

  test("after a slider moves, the page shows the numbers of the native run", async () => {
    page = await open(browser, address);
    await move("network.delay", "ArrowRight", 7);
    await page.selectOption('[data-path="network.queue"] select', "red");
    await settled(page);
    await move("network.queue.maxth", "ArrowRight", 12);
    const changes = JSON.stringify({
      "network.delay": await shownValue("network.delay"),
      "network.queue": { kind: "red", limit: "167 packets", maxth: await shownValue("network.queue.maxth") },
      "record.series": ["delays"],
    });
    expect(changes).not.toContain('"40 ms"');
    expect(changes).not.toContain('"15 packets"');
    const native = python(`
import json, aqmlab
result = aqmlab.run("rfc7928", overrides=json.loads(${JSON.stringify(changes)}))
links = result.links.set_index("link").loc["left>right"]
delays = result.series("delays").set_index("link").loc["left>right"]
flows = result.flows.set_index("flow")
print(json.dumps({
    "goodput_bps": 8 * float(flows.acked_bytes.sum()) / result.manifest["simulated_s"],
    "utilization": float(links.utilization),
    "median_delay_s": float(delays.median_delay_s),
    "p95_delay_s": float(delays.p95_delay_s),
    "dropped": float(links.dropped_packets / links.arrived_packets),
    "flows": flows.goodput_bps.to_dict(),
}))`) as Record<string, number> & { flows: Record<string, number> };
    for (const name of ["goodput_bps", "utilization", "median_delay_s", "p95_delay_s", "dropped"]) {
      expect(await measure(page, name), name).toBe(native[name]);
    }
    for (const [flow, goodput] of Object.entries(native.flows)) {
      expect(Number(await page.getAttribute(`[data-goodput="${flow}"]`, "data-value")), flow).toBe(goodput);
    }
  });

  test("a link has the whole setting", async () => {
    const before = [await measure(page, "goodput_bps"), await page.inputValue('[data-path="network.queue"] select')];
    const link = page.url();
    page = await open(browser, link);
    expect([await measure(page, "goodput_bps"), await page.inputValue('[data-path="network.queue"] select')]).toEqual(before);
    expect(page.url()).toBe(link);
    page = await open(browser, `${address}#s=broken`);
    expect(await page.textContent("#problem")).toContain("The link does not contain a complete scenario");
  });

  test("an error is beside its control, and the figures remain", async () => {
    page = await open(browser, address);
    const goodput = await measure(page, "goodput_bps");
    await type("network.rate", "5 parsecs");
    expect(await error("network.rate")).toMatch(/^network\.rate: "5 parsecs" .*write for example "1\.5 Mbit\/s"/);
    expect(await measure(page, "goodput_bps")).toBe(goodput);
    await type("network.rate", "20 Mbit/s");
    expect(await page.locator("[role=alert]").count()).toBe(0);
  });

  test("a scenario that is too large for a page is refused with the reason", async () => {
    page = await open(browser, address);
    await type("flows.0.count", "1000000000");
    expect(await error("flows.0.count")).toContain("must be at least 1, at most 10000000");
    await type("flows.0.count", "10000000");
    expect(await error("flows.0.count")).toContain("more than the 100000 flows of a page");
    await type("flows.0.count", "12");
    expect(await page.locator("[role=alert]").count()).toBe(0);
    await type("network.rate", "900 Gbit/s");
    await type("duration", "90000 s");
    await page.waitForFunction(() => document.querySelector("#problem")?.textContent?.includes("million events"));
    expect(await page.textContent("#problem")).toContain("the page runs at most 200 million");
  });

  test("a file can be dropped", async () => {
    page = await open(browser, address);
    await dropExample(page, "two_flows.toml");
    await page.waitForFunction(() => document.querySelector(".title")?.textContent === "Two downloads through one queue");
    await page.waitForSelector("[data-goodput=download-1]");
  });

  test("the keyboard suffices", async () => {
    page = await open(browser, address);
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement?.id === "control-network-queue")) break;
    }
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("control-network-queue");
    const before = await measure(page, "median_delay_s");
    await page.keyboard.type("cod"); // selects codel
    await page.waitForFunction(() => (document.activeElement as HTMLSelectElement).value === "codel");
    await settled(page);
    expect(await measure(page, "median_delay_s")).toBeLessThan(before / 4);
  });

  test("a trap becomes a message, and the next run works", async () => {
    const context = await browser.newContext();
    page = await context.newPage();
    // The second run of the page, which is the one of the details, traps.
    const trap = `
      const instantiate = WebAssembly.instantiate;
      let runs = 0;
      WebAssembly.instantiate = async (...all) => {
        const { exports } = await instantiate(...all);
        const run = () => { if (++runs === 2) throw new WebAssembly.RuntimeError("unreachable"); return exports.run(); };
        return { exports: { ...exports, run } };
      };`;
    await page.route("**/worker-*.js", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: trap + (await response.text()) });
    });
    await page.goto(address);
    await page.waitForSelector("#problem >> text=The page has started the simulator again");
    const before = await measure(page, "goodput_bps");
    await type("network.rate", "10 Mbit/s");
    await page.waitForFunction((old) => document.querySelector('[data-measure="goodput_bps"]')?.getAttribute("data-value") !== String(old), before);
    expect(await page.locator("#problem").count()).toBe(0);
  });

  test("a lesson is solved by its answer", async () => {
    page = await open(browser, address);
    await page.selectOption("#ready", "lesson:1-bufferbloat");
    await page.waitForSelector(".checks .open");
    expect(await page.locator(".lesson.solved").count()).toBe(0);
    await page.click("text=Show an answer");
    await page.waitForSelector(".lesson.solved");
    await type("network.rate", "100 Mbit/s");
    await page.waitForSelector(".checks >> text=does not allow other values of network.rate");
  });

  test("the cursor steps from event to event, with the exact queue", async () => {
    page = await open(browser, address);
    await page.waitForSelector('section[aria-label="Delay of every packet"]');
    const next = () => page.click('[aria-label="Next event"]');
    await next();
    expect(await page.textContent(".events li")).toMatch(/^\d+\.\d{6} s: [a-z]+(-\d+)?: cwnd from 0 to \d+ B, .*rule initial-window/);
    await page.selectOption('[aria-label="Events of the steps"]', "signals");
    await page.waitForSelector(".state >> text=/0 of \\d+ events/");
    await next();
    const first = await page.textContent(".events li");
    expect(first).toMatch(/^\d+\.\d{6} s: drop of a packet of .*rule buffer-full \(queue_packets = 167/);
    expect(await page.getAttribute("[data-queue]", "data-queue")).toBe("167");
    expect(await page.getAttribute("[data-queue]", "data-exact")).toBe("true");
    expect(await page.getAttribute(".packets canvas", "data-packets")).toBe("167");
    await next();
    expect(await page.textContent(".events li:nth-child(2)")).toBe(first);
    await page.click('[aria-label="Previous event"]');
    expect(await page.textContent(".events li")).toBe(first);
    await page.selectOption('[aria-label="Events of the steps"]', "reductions");
    await next();
    const [, before, after] = /cwnd from (\d+) to (\d+) B/.exec((await page.textContent(".events li"))!)!;
    expect(Number(after)).toBeLessThan(Number(before));
  });

  test("a queue with several lines has a row per flow", async () => {
    page = await open(browser, address);
    await page.selectOption('[data-path="network.queue"] select', "fq_codel");
    await settled(page);
    await page.selectOption('[aria-label="Events of the steps"]', "signals");
    await page.waitForFunction(() => {
      document.querySelector<HTMLElement>('[aria-label="Next event"]')!.click();
      return document.querySelector("[data-exact=true]");
    });
    const counts = await page.getAttribute(".packets canvas", "aria-label");
    const queue = Number(await page.getAttribute("[data-queue]", "data-queue"));
    const rows = [...counts!.matchAll(/[a-z-]+\d* (\d+)(?=,|$)/g)].map(([, n]) => Number(n));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.reduce((a, b) => a + b)).toBe(queue);
  });

  test("several seeds give an interval of the differences from the previous setting", async () => {
    page = await open(browser, address);
    await page.selectOption(".settings select >> nth=1", "2");
    await page.waitForSelector(".first >> text=the bands span 2 seeds");
    await page.selectOption('[data-path="network.queue"] select', "codel");
    await page.waitForSelector(".difference >> text=/\\[.* to .*\\]/");
  });

  test("the page fits a phone", async () => {
    page = await open(browser, address, PHONE);
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1]!);
    await page.click(".drawer > summary");
    await move("network.rate", "ArrowLeft", 5);
    expect(await shownValue("network.rate")).not.toBe("20 Mbit/s");
  });

  test.each([
    ["light", {}],
    ["dark", { colorScheme: "dark" as const }],
    ["phone", PHONE],
  ])("axe has no serious finding: %s", async (_, options) => {
    page = await open(browser, address, options);
    if (options === PHONE) await page.click(".drawer > summary");
    await page.click('[data-path="network.rate"] .why');
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
    await page.waitForTimeout(1000);
    expect(await findings(page)).toEqual([]);
  });
});
