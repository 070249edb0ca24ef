// The chat server without any protocol: config, store and sources put together. Who opens it, closes it.

import { chatHome, makeHome, type ChatHome, type Surroundings } from "./config/home.ts";
import { Configuration } from "./configuration.ts";
import { Requests, type Limits } from "./limits.ts";
import { Feed } from "./live/feed.ts";
import type { ChatStore } from "./query.ts";
import { Reader } from "./reader.ts";
import { SentLog } from "./sent-log.ts";
import { Sources } from "./sources/sources.ts";
import { openStore } from "./store/store.ts";

export interface AppOptions extends Surroundings {
  readonly log: (line: string) => void;
  readonly now?: () => number;
  readonly limits?: Limits;
}

export interface App {
  readonly home: ChatHome;
  readonly store: ChatStore;
  readonly sources: Sources;
  readonly reader: Reader;
  readonly feed: Feed;
  readonly requests: Requests;
  readonly sent: SentLog;
  readonly log: (line: string) => void;
  /** The sources connect in the background; changes of chat.json are followed. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Nothing connects before `start()`. */
export async function openApp({ log, now = Date.now, limits, ...surroundings }: AppOptions): Promise<App> {
  const home = chatHome(surroundings);
  await makeHome(home);
  const configuration = await Configuration.open({ home, env: surroundings.env, log, now });
  const store = await openStore(home.database);
  const feed = new Feed(now);
  const sources = new Sources(configuration.configured, { files: home, store, feed, log, now });
  const reader = new Reader({ store, sources }, configuration.policy);
  return {
    home,
    store,
    sources,
    reader,
    feed,
    requests: new Requests(limits),
    sent: new SentLog(home.sent),
    log,
    start: async () => {
      await sources.start();
      configuration.follow({ sources, reader });
    },
    close: async () => {
      await configuration.close();
      await sources.stop();
      await store.close();
    },
  };
}
