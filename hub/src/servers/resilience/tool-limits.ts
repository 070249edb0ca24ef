// Limits the calls of single tools of one server: `resilience.tool_limits`.

import type { HubLimits } from "../../config/schema/hub-limits.ts";
import { CallLimits } from "./call-limits.ts";

/** By the server's own tool name. */
export type ToolLimitSettings = Readonly<Record<string, HubLimits>>;

export class ToolLimits {
  readonly #server: string;
  /** Read for each call, since the config may change. */
  readonly #settings: () => ToolLimitSettings;
  readonly #byTool = new Map<string, CallLimits>();

  constructor(server: string, settings: () => ToolLimitSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Undefined: the tool has none. */
  of(tool: string): CallLimits | undefined {
    if (!Object.hasOwn(this.#settings(), tool)) return undefined;
    const known = this.#byTool.get(tool);
    if (known !== undefined) return known;
    const settings = () => this.#settings()[tool] ?? UNLIMITED;
    const limits = new CallLimits(`The tool "${tool}" of "${this.#server}"`, `resilience.tool_limits.${tool}`, {
      slots: () => ({ max: settings().maxCalls, maxWaiting: settings().maxQueuedCalls }),
      rate: () => settings().rate,
    });
    this.#byTool.set(tool, limits);
    return limits;
  }

  /** Those of tools that were called. */
  get used(): ReadonlyMap<string, CallLimits> {
    return this.#byTool;
  }
}

/** While a call waits, its tool's limit may be removed from the config. */
const UNLIMITED: HubLimits = { maxCalls: Infinity, maxQueuedCalls: Infinity, rate: undefined };
