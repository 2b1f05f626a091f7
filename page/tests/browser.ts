/** Headless Chromium and a static web server for the tests of the page. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

export const ROOT = new URL("../../", import.meta.url);
const CHROMIUM = "/usr/bin/chromium";
const ARGUMENTS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** True if Chromium is installed. Without Chromium, the tests are skipped with this line. */
export const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) console.warn("The page is not tested in a browser; install Chromium with: apt-get install chromium");

/** Serve the built page below a path, as any web server does. */
export function serve(): Promise<{ server: Server; address: string }> {
  const folder = fileURLToPath(new URL("python/aqmlab/data/page/", ROOT));
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname.replace(/^\/below\//, "");
    const file = folder + (path || "index.html");
    if (path.includes("..") || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[file.split(".").pop()!] ?? "application/octet-stream" });
    response.end(readFileSync(file));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      resolve({ server, address: `http://127.0.0.1:${port}/below/` });
    });
  });
}

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });

/** Open the page, and wait until it shows a result. */
export async function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.goto(address);
  await page.waitForSelector("[data-measure]");
  return page;
}

export const PHONE = { viewport: { width: 390, height: 844 } };
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");

/** Return the serious findings of axe. */
export async function findings(of: Page): Promise<string[]> {
  await of.evaluate(AXE);
  return await of.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { impact: string; id: string; nodes: { html: string }[] }[] }> } };
    const { violations } = await axe.run();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    return serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(" | ")}`);
  });
}

/** Drop a file of the folder examples on the page. */
export async function dropExample(page: Page, name: string): Promise<void> {
  const text = readFileSync(new URL(`examples/${name}`, ROOT), "utf-8");
  const transfer = await page.evaluateHandle(([content, file]) => {
    const data = new DataTransfer();
    data.items.add(new File([content!], file!));
    return data;
  }, [text, name]);
  await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
}

/** Wait until the page has drawn the last change, and has no run or check in progress. */
export async function settled(page: Page): Promise<void> {
  await page.waitForTimeout(100);
  await page.waitForSelector('[data-busy="false"]');
}

/** Return a measure that the page shows, with all its digits. */
export async function measure(page: Page, name: string): Promise<number> {
  return Number(await page.getAttribute(`[data-measure="${name}"]`, "data-value"));
}

const PYTHON = process.env["AQMLAB_PYTHON"] ?? fileURLToPath(new URL(".venv/bin/python", ROOT));

/** Run a Python program that uses the native simulator, and return the JSON that it prints. */
export function python(program: string): unknown {
  const done = spawnSync(PYTHON, ["-c", program], { encoding: "utf-8", cwd: fileURLToPath(ROOT) });
  if (done.status !== 0) throw new Error(done.stderr || String(done.error));
  return JSON.parse(done.stdout);
}
