/** In headless Chromium, the WebAssembly build has the digests of the native builds. */
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import { expect, test } from "vitest";
import { hasChromium, launch, ROOT } from "./browser";
import { LISTED, request } from "./listed";

test.skipIf(!hasChromium)("digests", async () => {
  const root = fileURLToPath(new URL("page/", ROOT));
  const server = await createServer({ root, configFile: false, server: { port: 0 }, logLevel: "silent", optimizeDeps: { noDiscovery: true } });
  await server.listen();
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`${server.resolvedUrls!.local[0]}src/simulator/module.ts`);
    // The program is a text, because the test runner would rewrite the imports of a function.
    const digests = await page.evaluate(`(async () => {
      const { Simulator } = await import("/src/simulator/module.ts");
      const { digest } = await import("/tests/digest.ts");
      const packed = (await fetch("/simulator.bin")).body.pipeThrough(new DecompressionStream("gzip"));
      const module = await WebAssembly.compile(await new Response(packed).arrayBuffer());
      const simulator = await Simulator.instantiate(module);
      const requests = ${JSON.stringify(LISTED.map(([, changes]) => request(changes)))};
      return requests.map((one) => digest(simulator.run(one)));
    })()`);
    expect(digests).toEqual(LISTED.map(([expected]) => expected));
  } finally {
    await browser.close();
    await server.close();
  }
});
