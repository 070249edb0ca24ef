// How a server is kept alive and how its failures are met: what the user wrote, with a default for everything else.

import { MESSAGES_PER_SECOND } from "../wire/inflow.ts";
import { rateOf, type Rate } from "../config/hub-limits.ts";
import type { ResilienceEntry, RetryRule } from "../config/resilience.ts";

export interface Resilience {
  /** What its tools say of themselves is believed. */
  readonly trusted: boolean;
  /** What the operator says about retries. */
  readonly retry: RetryRule;
  /** By the name that the server knows a tool by; wins over the server's rule. */
  readonly toolRetry: Readonly<Record<string, RetryRule>>;
  readonly breaker: BreakerLimits;
  /** 0: never. */
  readonly healthCheckMs: number;
  readonly restart: RestartRule;
  /** Started by the first call, stopped when nobody called it for `idleMs`. */
  readonly onDemand: boolean;
  readonly idleMs: number;
  /** Of a server whose callers have processes or connections of their own. */
  readonly instances: InstanceRule;
  readonly maxCalls: number;
  readonly maxQueuedCalls: number;
  readonly rate: Rate | undefined;
  /** That it may send unasked. */
  readonly messagesPerSecond: number;
}

export interface BreakerLimits {
  /** One after another. */
  readonly failures: number;
  readonly cooldownMs: number;
}

export interface InstanceRule {
  readonly max: number;
  /** One that was asked nothing for so long is ended. */
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
    rate: rateOf(entry),
    messagesPerSecond: entry.messages_per_second ?? MESSAGES_PER_SECOND,
  };
}
