/**
 * Save a screenshot of the built page.
 *
 * node tests/look.mjs FILE [--dark] [--phone] [--link FRAGMENT] [--readme]
 *
 * The option --readme saves the picture of the README: Drop Tail before, and CoDel after the change.
 */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dark: { type: "boolean" }, phone: { type: "boolean" }, link: { type: "string" }, readme: { type: "boolean" } },
});
const PORT = 8129;
const folder = new URL("../../python/aqmlab/data/page", import.meta.url).pathname;
const server = spawn("python3", ["-m", "http.server", String(PORT), "--bind", "127.0.0.1", "--directory", folder], { stdio: "ignore" });
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage({
    viewport: values.phone ? { width: 390, height: 2400 } : { width: values.readme ? 1340 : 1400, height: values.readme ? 840 : 2600 },
    colorScheme: values.dark ? "dark" : "light",
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await page.goto(`http://127.0.0.1:${PORT}/${values.link ? `#${values.link}` : ""}`);
  await page.waitForSelector("[data-measure]");
  if (values.readme) await page.selectOption('[data-path="network.queue"] select', "codel");
  await page.waitForTimeout(3000);
  await page.screenshot({ path: positionals[0] ?? "page.png" });
} finally {
  await browser.close();
  server.kill();
}
