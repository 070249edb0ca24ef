// What chat.json says of what agents see, and how: which chats, how far back, in which zone, without which words.

import type { ChatConfigFile } from "./config/schema.ts";
import { NO_REDACTION, Outgoing, type TextRedactor } from "./outgoing.ts";
import { Redactor } from "./redact.ts";
import type { Clock } from "./times.ts";
import { Visibility } from "./visibility.ts";
import { Zone } from "./zone.ts";

export interface Policy {
  readonly visibility: Visibility;
  readonly outgoing: Outgoing;
  readonly redactor: TextRedactor;
  readonly clock: Clock;
  readonly allowStale: boolean;
}

export function toPolicy(
  config: ChatConfigFile,
  now: () => number,
  redactor: TextRedactor = config.redact === undefined ? NO_REDACTION : new Redactor(config.redact),
): Policy {
  const clock = { now, zone: new Zone(config.time_zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone) };
  const rules = new Map(Object.entries(config.sources).map(([id, { chats }]) => [id, chats]));
  const visibility = new Visibility({ rules, maxAge: config.max_age, clock });
  const outgoing = new Outgoing(redactor, clock.zone, () => visibility.oldest());
  return { visibility, outgoing, redactor, clock, allowStale: config.allow_stale };
}

/** Where the same is redacted as before, tags such as [phone-3] go on to mean what they meant. */
export function changedPolicy(
  before: { readonly policy: Policy; readonly config: ChatConfigFile },
  config: ChatConfigFile,
  now: () => number,
): Policy {
  const isSame = JSON.stringify(before.config.redact) === JSON.stringify(config.redact);
  return toPolicy(config, now, isSame ? before.policy.redactor : undefined);
}
