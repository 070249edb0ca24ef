// The access policy in chat.json: visible chats, maximum age, time zone and redaction.

import type { ChatConfigFile } from "../config/schema.ts";
import { NO_REDACTION, Presenter, type TextRedactor } from "./presenter.ts";
import { Redactor } from "../redaction/redactor.ts";
import type { Clock } from "../model/times.ts";
import { Visibility } from "./visibility.ts";
import { Zone } from "../model/zone.ts";

export interface Policy {
  readonly visibility: Visibility;
  readonly presenter: Presenter;
  readonly redactor: TextRedactor;
  readonly clock: Clock;
  readonly allowStale: boolean;
  /** Changes with the set of shown chats and with their names. */
  readonly shownRules: string;
  /** Whether files that are not text, and so cannot be redacted, may be read. */
  readonly showsFiles: boolean;
  /** What the access tokens of the hub may see, by their holder. */
  readonly access: ChatConfigFile["access"];
}

export function toPolicy(
  config: ChatConfigFile,
  now: () => number,
  redactor: TextRedactor = config.redact === undefined ? NO_REDACTION : new Redactor(config.redact),
): Policy {
  const clock = { now, zone: new Zone(config.time_zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone) };
  const rules = new Map(Object.entries(config.sources).map(([id, { chats }]) => [id, chats]));
  const visibility = new Visibility({ rules, maxAge: config.max_age, clock });
  const presenter = new Presenter(redactor, clock.zone, () => visibility.oldest());
  const shownRules = JSON.stringify([[...rules], config.max_age, config.redact]);
  const showsFiles = config.attachments ?? config.redact === undefined;
  return {
    visibility,
    presenter,
    redactor,
    clock,
    allowStale: config.allow_stale,
    shownRules,
    showsFiles,
    access: config.access,
  };
}

/** Keeps the redactor if its rules are unchanged, so that tags such as [phone-3] keep their meaning. */
export function changedPolicy(
  before: { readonly policy: Policy; readonly config: ChatConfigFile },
  config: ChatConfigFile,
  now: () => number,
): Policy {
  const isSame = JSON.stringify(before.config.redact) === JSON.stringify(config.redact);
  return toPolicy(config, now, isSame ? before.policy.redactor : undefined);
}
