import { defineConfig } from "vitest/config";

// The long lane: thousands of kills, minutes of load. Run on demand, sequentially, on an otherwise idle machine.
export default defineConfig({
  test: {
    globalSetup: "hub/build/bundle.js",
    include: [
      "test/**/*.long.ts",
      "test/fuzz/*.test.ts",
      "test/{config/kill,call-log/kill,calls/cross-talk}.test.ts",
      "test/faults/*.test.ts",
      "test/oauth/race.test.ts",
      "test/ui/long-log.test.ts",
      "{hub/src/call-log/sqlite,chat/src/store}/{crash,damage}.test.ts",
      "hub/src/{redaction/redactor,catalog/names}.property.test.ts",
    ],
    // Every test has its own upper bound (test/support/scale.ts).
    env: { TEST_SCALE: "1000", ...process.env },
    testTimeout: 3_600_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    pool: "forks",
    reporters: ["verbose"],
  },
});
