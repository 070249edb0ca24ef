import { defineConfig } from "vitest/config";

// The long lane: thousands of kills, minutes of load. On demand, one after the other, with nothing else on the machine.
export default defineConfig({
  test: {
    globalSetup: "hub/build/bundle.js",
    include: [
      "test/**/*.long.ts",
      "test/fuzz/*.test.ts",
      "test/integration/{config-kill,call-log-kill,cross-talk}.test.ts",
      "test/faults/*.test.ts",
      "{hub,chat}/src/store/{crash,damage}.test.ts",
      "hub/src/{calls/redact,catalog/names}.property.test.ts",
    ],
    // What the usual run does with fewer.
    env: {
      FUZZ_RUNS: "1000000",
      CROSS_TALK_CALLS: "1000000",
      KILLED_SAVES: "500",
      KILLS: "200",
      PLUGBOARD_KILLS: "200",
      PLUGBOARD_MUTATIONS: "1000",
      PLUGBOARD_CATALOGUES: "1000000",
      PLUGBOARD_REDACT_RUNS: "5000",
      // Each fault by itself, with all that must hold afterwards.
      ROWS: "1",
      ...process.env,
    },
    testTimeout: 3_600_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    pool: "forks",
    reporters: ["verbose"],
  },
});
