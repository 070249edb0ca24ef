// The entry of the built-in demo server: what the hub runs when there is no config at all.

import { fileURLToPath } from "node:url";
import type { ServerConfig } from "../config/types.ts";

export function demoServer(configDir: string): ServerConfig {
  return {
    id: "demo",
    name: "demo",
    enabled: true,
    description: "Plugboard's built-in demo",
    source: { type: "manual" },
    transport: {
      type: "stdio",
      launcher: "binary",
      command: process.execPath,
      args: [fileURLToPath(new URL("../../dist/bundle/demo.js", import.meta.url)), configDir],
      hardened: false,
    },
    env: {},
    timeouts: {},
    groups: [],
  };
}
