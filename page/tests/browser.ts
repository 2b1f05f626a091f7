/** Headless Chromium and a static web server for the tests of the page. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
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

/** Serve the folder target/page below a path, as any web server does. */
export function serve(): Promise<{ server: Server; address: string }> {
  const folder = fileURLToPath(new URL("target/page/", ROOT));
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
