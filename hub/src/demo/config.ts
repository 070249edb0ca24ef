// The entry of the built-in demo server, which runs if there is no config.

import { packagePath } from "../lib/package-path.ts";
import type { ServerConfig } from "../config/schema/types.ts";

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
      args: [packagePath("dist/bundle/demo.js"), configDir],
      hardened: false,
    },
    env: {},
    timeouts: {},
    groups: [],
  };
}
