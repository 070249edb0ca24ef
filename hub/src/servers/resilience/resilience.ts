// The resilience settings of a server, with defaults.

import { MESSAGES_PER_SECOND } from "../../protocol/connect/read-limiter.ts";
import { toRate } from "../../config/schema/hub-limits.ts";
import type { ToolLimitSettings } from "./tool-limits.ts";
import type { Rate } from "../../lib/token-bucket.ts";
import type { ResilienceEntry, RetryRule } from "../../config/schema/resilience.ts";

export interface Resilience {
  /** Whether the hints of its tools are trusted. */
  readonly trusted: boolean;
  /** The operator's rule for retries. */
  readonly retry: RetryRule;
  /** By the server's own tool name. Wins over `retry`. */
  readonly toolRetry: Readonly<Record<string, RetryRule>>;
  readonly breaker: BreakerLimits;
  /** 0: no checks. */
  readonly healthCheckMs: number;
  readonly restart: RestartRule;
  /** Started by the first call, stopped after `idleMs` without a call. */
  readonly onDemand: boolean;
  readonly idleMs: number;
  /** For callers that do not share the main process or connection. */
  readonly instances: InstanceRule;
  readonly maxCalls: number;
  readonly maxQueuedCalls: number;
  readonly rate: Rate | undefined;
  readonly toolLimits: ToolLimitSettings;
  /** Notifications that it may send. */
  readonly messagesPerSecond: number;
}

export interface BreakerLimits {
  /** In a row. */
  readonly failures: number;
  readonly cooldownMs: number;
}

export interface InstanceRule {
  readonly max: number;
  /** An instance is ended after this idle time. */
  readonly idleMs: number;
}

export interface RestartRule {
  readonly enabled: boolean;
  /** Doubles with every failure, up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
}

export function resilienceOf(entry: ResilienceEntry = {}): Resilience {
  return {
    trusted: entry.trusted ?? true,
    retry: entry.retry ?? "auto",
    toolRetry: entry.tool_retry ?? {},
    breaker: { failures: entry.breaker_failures ?? 3, cooldownMs: entry.breaker_cooldown_ms ?? 60_000 },
    healthCheckMs: entry.health_check_ms ?? 300_000,
    restart: {
      enabled: entry.restart ?? true,
      firstMs: entry.restart_first_ms ?? 1000,
      maxMs: entry.restart_max_ms ?? 60_000,
    },
    onDemand: entry.on_demand ?? false,
    idleMs: entry.idle_ms ?? 600_000,
    instances: { max: entry.max_instances ?? 16, idleMs: entry.instance_idle_ms ?? 3_600_000 },
    maxCalls: entry.max_calls ?? 256,
    maxQueuedCalls: entry.max_queued_calls ?? 1024,
    rate: toRate(entry),
    toolLimits: toToolLimits(entry.tool_limits),
    messagesPerSecond: entry.messages_per_second ?? MESSAGES_PER_SECOND,
  };
}

function toToolLimits(entries: NonNullable<ResilienceEntry["tool_limits"]> = {}): ToolLimitSettings {
  const toLimits = (entry: (typeof entries)[string]) => ({
    maxCalls: entry.max_calls ?? Infinity,
    maxQueuedCalls: entry.max_queued_calls ?? 1024,
    rate: toRate(entry),
  });
  return Object.fromEntries(Object.entries(entries).map(([tool, entry]) => [tool, toLimits(entry)]));
}
