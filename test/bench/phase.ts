// One kind of load of a scenario, and the requests that it consists of.

import type { Call } from "./load/message.ts";

export interface Phase {
  readonly name: string;
  readonly kind: "echo" | "sized" | "list";
  readonly flight: number;
  /** Of the text that comes back. */
  readonly bytes: number;
  /** Over all servers in turn, instead of the first one. */
  readonly spread?: boolean;
  /** Run for peers too: what they do with the rest takes long and tells nothing new. */
  readonly forPeers?: boolean;
}

export function callsOf({ kind, bytes, spread = false }: Phase, tools: readonly string[]): Call[] {
  if (kind === "list") return [{ method: "tools/list", params: {} }];
  const names = toolsNamed(kind, tools);
  const args = kind === "echo" ? { text: "x".repeat(bytes) } : { bytes };
  return (spread ? names : names.slice(0, 1)).map((name) => ({
    method: "tools/call",
    params: { name, arguments: args },
  }));
}

/** The names of a tool, with whatever a hub puts before them. */
export function toolsNamed(name: string, tools: readonly string[]): string[] {
  return tools.filter((tool) => tool === name || new RegExp(`[^a-z0-9]${name}$`, "i").test(tool));
}

/** Small results are echoed, as arguments of that size go in; large ones are made by the server. */
export function calls(size: keyof typeof SIZES, flight: number, more: Partial<Phase> = {}): Phase {
  const bytes = SIZES[size];
  return { name: `${size} × ${flight}`, kind: bytes > 1000 ? "sized" : "echo", flight, bytes, ...more };
}

export function lists(flight: number, bytes: number): Phase {
  return { name: `list × ${flight}`, kind: "list", flight, bytes, forPeers: true };
}

const SIZES = { "100 B": 100, "10 KB": 10_000, "1 MB": 1_000_000 };
