import { defineConfig } from "vitest/config";

// The long lane: thousands of kills, minutes of load. On demand, one after the other, with nothing else on the machine.
export default defineConfig({
  test: {
    include: ["test/**/*.long.ts"],
    testTimeout: 3_600_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    pool: "forks",
    reporters: ["verbose"],
  },
});
