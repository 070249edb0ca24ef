// The targets without a hub: the upstream server itself, and the minimal proxy.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programOf } from "../places.ts";
import { mcpUrl, type Target } from "./target.ts";

/** The server's own HTTP front, with all tools of the scenario. The reference of every ratio. */
export const direct: Target = {
  name: "direct",
  launch: async ({ plan: { servers, tools, sse = false }, port, clientEra }) => {
    const options = ["--port", String(port), "--tools", String(servers * tools), "--era", clientEra];
    return {
      command: [process.execPath, programOf("upstreams/http"), ...options, ...(sse ? ["--sse"] : [])],
      face: { kind: "http", url: mcpUrl(port) },
    };
  },
};

/** It uses the same era on both sides. */
export const thin: Target = {
  name: "thin",
  launch: async ({ folder, port, upstreams, clientEra, plan }) => {
    if (plan.era !== clientEra) return undefined;
    const config = join(folder, "upstreams.json");
    await writeFile(config, JSON.stringify(upstreams));
    const options = ["--config", config, "--port", String(port), "--era", clientEra];
    return {
      command: [process.execPath, programOf("floor/proxy"), ...options],
      face: { kind: "http", url: mcpUrl(port) },
    };
  },
};

export const thinBridge: Target = {
  name: "thin bridge",
  launch: async ({ upstreams }) => {
    const [only] = Object.values(upstreams);
    if (only === undefined || !("url" in only)) return undefined;
    return { command: [process.execPath, programOf("floor/bridge"), only.url], face: { kind: "stdio" } };
  },
};
