import { defineConfig } from "vitest/config";

const common = {
  // Real processes on slow machines: a hang is caught, slowness is not punished.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // Two at a time: the tests start many processes, and a loaded machine helps nobody.
  maxWorkers: 2,
  pool: "forks",
} as const;

export default defineConfig({
  test: {
    globalSetup: "hub/build/bundle.js",
    projects: [
      // Last by its name: what is short fills up the end. Nothing mutable is at module level, so that files can share a
      // process: to load the modules for each anew takes longer than most of the tests.
      { test: { ...common, name: "unit", include: ["{hub,chat}/src/**/*.test.ts"], isolate: false } },
      { test: { ...common, name: "run", include: ["test/**/*.test.ts"] } },
    ],
    reporters: ["default", "json"],
    outputFile: { json: "test-results/vitest.json" },
  },
});
