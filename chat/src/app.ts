// The chat server without any protocol: config, store and sources put together. Who opens it, closes it.

import { chatHome, makeHome, type ChatHome, type Surroundings } from "./config/home.ts";
import { readConfig } from "./config/file.ts";
import type { ChatConfigFile } from "./config/schema.ts";
import { Requests, type Limits } from "./limits.ts";
import { Feed } from "./live/feed.ts";
import { NO_REDACTION, Outgoing } from "./outgoing.ts";
import type { ChatStore } from "./query.ts";
import { Reader } from "./reader.ts";
import { Redactor } from "./redact.ts";
import { SentLog } from "./sent-log.ts";
import { createSource } from "./sources/kinds.ts";
import { Sources } from "./sources/sources.ts";
import { openStore } from "./store/store.ts";
import { Visibility } from "./visibility.ts";
import { Zone } from "./zone.ts";

export interface AppOptions extends Surroundings {
  readonly log: (line: string) => void;
  readonly now?: () => number;
  readonly limits?: Limits;
}

export interface App {
  readonly home: ChatHome;
  readonly config: ChatConfigFile;
  readonly store: ChatStore;
  readonly sources: Sources;
  readonly reader: Reader;
  readonly feed: Feed;
  readonly requests: Requests;
  readonly sent: SentLog;
  readonly log: (line: string) => void;
  close(): Promise<void>;
}

/** Nothing connects before `sources.start()`. */
export async function openApp({ log, now = Date.now, limits, ...surroundings }: AppOptions): Promise<App> {
  const home = chatHome(surroundings);
  await makeHome(home);
  const config = await readConfig(home);
  const clock = { now, zone: new Zone(config.time_zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone) };
  const entries = Object.entries(config.sources);
  const configured = await Promise.all(
    entries.map(async ([id, entry]) => ({
      source: await createSource(id, entry, { env: surroundings.env, timeZone: clock.zone.name }),
      sendTo: entry.send?.chats,
    })),
  );
  const store = await openStore(home.database);
  const feed = new Feed(now);
  const sources = new Sources(configured, { files: home, store, feed, log, now });
  const visibility = new Visibility({
    rules: new Map(entries.map(([id, { chats }]) => [id, chats])),
    maxAge: config.max_age,
    clock,
  });
  const outgoing = new Outgoing(config.redact === undefined ? NO_REDACTION : new Redactor(config.redact), clock.zone);
  const reader = new Reader({ store, sources, visibility, outgoing, clock, allowStale: config.allow_stale });
  return {
    home,
    config,
    store,
    sources,
    reader,
    feed,
    requests: new Requests(limits),
    sent: new SentLog(home.sent),
    log,
    close: async () => {
      await sources.stop();
      await store.close();
    },
  };
}
