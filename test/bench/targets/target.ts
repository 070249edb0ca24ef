// What is measured: a program that offers MCP servers, started as its users start it. One file beside this for each kind.

import type { Pinning } from "../machine.ts";
import type { Era } from "../upstreams/server.ts";

/** How an upstream server is reached, as config files have it. */
export type Entry = { readonly command: string; readonly args: readonly string[] } | { readonly url: string };

/** The servers of a scenario, for whoever has to offer them. */
export interface UpstreamPlan {
  readonly transport: "stdio" | "http";
  readonly era: Era;
  readonly servers: number;
  /** Of each. */
  readonly tools: number;
  /** Answers come as event streams; over HTTP only. */
  readonly sse?: boolean;
}

export interface Stage {
  /** Empty, and removed afterwards. */
  readonly folder: string;
  readonly port: number;
  readonly plan: UpstreamPlan;
  readonly upstreams: Readonly<Record<string, Entry>>;
  readonly clientEra: Era;
  readonly pinning: Pinning;
}

/** How its clients speak to it. */
export type Face =
  | { readonly kind: "http"; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: "sse"; readonly url: string }
  | { readonly kind: "stdio" };

export interface Launch {
  readonly command: readonly string[];
  readonly face: Face;
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves when it has done what answered calls left to do. */
  readonly settle?: () => Promise<void>;
}

export interface Target {
  readonly name: string;
  /** Undefined where it cannot do what the scenario asks. */
  launch(stage: Stage): Promise<Launch | undefined>;
}

export function mcpUrl(port: number, path = "/mcp"): string {
  return `http://127.0.0.1:${port}${path}`;
}
