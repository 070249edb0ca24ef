// A target: a program that offers MCP servers, started as its users start it. Each kind has its own file.

import type { Pinning } from "../machine.ts";
import type { Era } from "../upstreams/server.ts";

/** How an upstream server is reached, as in config files. */
export type Entry = { readonly command: string; readonly args: readonly string[] } | { readonly url: string };

/** The servers of a scenario, which a target must offer. */
export interface UpstreamPlan {
  readonly transport: "stdio" | "http";
  readonly era: Era;
  readonly servers: number;
  /** Tools of each server. */
  readonly tools: number;
  /** Answers are event streams; over HTTP only. */
  readonly sse?: boolean;
}

export interface Stage {
  /** An empty folder, removed afterwards. */
  readonly folder: string;
  readonly port: number;
  readonly plan: UpstreamPlan;
  readonly upstreams: Readonly<Record<string, Entry>>;
  readonly clientEra: Era;
  readonly pinning: Pinning;
}

/** How its clients connect to it. */
export type Face =
  | { readonly kind: "http"; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: "sse"; readonly url: string }
  | { readonly kind: "stdio" };

export interface Launch {
  readonly command: readonly string[];
  readonly face: Face;
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves when the work that answered calls leave behind is done. */
  readonly settle?: () => Promise<void>;
}

export interface Target {
  readonly name: string;
  /** Undefined if it does not support the scenario. */
  launch(stage: Stage): Promise<Launch | undefined>;
}

export function mcpUrl(port: number, path = "/mcp"): string {
  return `http://127.0.0.1:${port}${path}`;
}
