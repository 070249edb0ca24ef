// What chat.json says of what agents see, and how: which chats, how far back, in which zone, without which words.

import type { ChatConfigFile } from "./config/schema.ts";
import { NO_REDACTION, Outgoing } from "./outgoing.ts";
import { Redactor } from "./redact.ts";
import type { Clock } from "./times.ts";
import { Visibility } from "./visibility.ts";
import { Zone } from "./zone.ts";

export interface Policy {
  readonly visibility: Visibility;
  readonly outgoing: Outgoing;
  readonly clock: Clock;
  readonly allowStale: boolean;
}

export function toPolicy(config: ChatConfigFile, now: () => number): Policy {
  const clock = { now, zone: new Zone(config.time_zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone) };
  const rules = new Map(Object.entries(config.sources).map(([id, { chats }]) => [id, chats]));
  return {
    visibility: new Visibility({ rules, maxAge: config.max_age, clock }),
    outgoing: new Outgoing(config.redact === undefined ? NO_REDACTION : new Redactor(config.redact), clock.zone),
    clock,
    allowStale: config.allow_stale,
  };
}

/** The same but for what has changed: tags such as [phone-3] go on to mean what they meant. */
export function changedPolicy(
  before: { readonly policy: Policy; readonly config: ChatConfigFile },
  config: ChatConfigFile,
  now: () => number,
): Policy {
  const after = toPolicy(config, now);
  const looksSame =
    JSON.stringify([before.config.redact, before.config.time_zone]) ===
    JSON.stringify([config.redact, config.time_zone]);
  return looksSame ? { ...after, outgoing: before.policy.outgoing } : after;
}
