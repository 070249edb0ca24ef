import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "hub/build/bundle.js",
    include: ["hub/src/**/*.test.ts", "chat/src/**/*.test.ts", "test/**/*.test.ts"],
    // Real processes on slow machines: a hang is caught, slowness is not punished.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two at a time: the tests start many processes, and a loaded machine helps nobody.
    maxWorkers: 2,
    pool: "forks",
    reporters: ["default", "json"],
    outputFile: { json: "test-results/vitest.json" },
  },
});
