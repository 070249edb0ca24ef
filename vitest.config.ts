import { defineConfig } from "vitest/config";

const common = {
  // Real processes on slow machines: a hang is caught, slowness is not punished.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // Few at a time: the tests start many processes, and a loaded machine helps nobody. One more than the smallest machine has
  // processors: there is always one that waits for something.
  maxWorkers: 3,
  pool: "forks",
  // Nothing mutable is at module level, so that files can share a process: to load the modules for each anew takes longer
  // than most of the tests.
  isolate: false,
} as const;

const ALONE = ["test/{bench,fuzz}/**/*.test.ts", "test/faults/memory.test.ts", "test/integration/sessions.test.ts"];

export default defineConfig({
  test: {
    globalSetup: "hub/build/bundle.js",
    projects: [
      // Last by its name: what is short fills up the end.
      { test: { ...common, name: "unit", include: ["{hub,chat}/src/**/*.test.ts"] } },
      { test: { ...common, name: "run", include: ["test/**/*.test.ts"], exclude: ALONE } },
      // These measure their own process.
      { test: { ...common, name: "alone", include: ALONE, isolate: true } },
    ],
    reporters: ["default", "json"],
    outputFile: { json: "test-results/vitest.json" },
  },
});
