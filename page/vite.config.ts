import { defineConfig } from "vitest/config";

export default defineConfig({
  // Relative paths, so that the folder works below any path of a web server.
  base: "./",
  build: {
    outDir: "../python/aqmlab/data/page",
    emptyOutDir: true,
    target: "es2023",
    license: { fileName: "licences.md" },
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  test: { testTimeout: 60_000, maxWorkers: 2 },
});
