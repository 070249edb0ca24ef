// The chat server without a protocol: creates config, store, sources and what depends on them. The caller closes it.

import { prepareHome, type ChatHome, type HostEnvironment } from "./config/home.ts";
import { LiveConfig } from "./live-config.ts";
import { History } from "./history/history.ts";
import { LIMITS, RequestLimiter, type Limits } from "./limits.ts";
import { Feed } from "./live/feed.ts";
import { ListChanges } from "./tools/list-changes.ts";
import type { ChatStore } from "./model/store-port.ts";
import { Reader } from "./access/reader.ts";
import { SentLog } from "./access/sent-log.ts";
import { Sources, type SourceView } from "./sources/sources.ts";
import { openStore } from "./store/store.ts";

export interface AppOptions extends HostEnvironment {
  readonly log: (line: string) => void;
  readonly now?: () => number;
  readonly limits?: Limits;
}

export interface App {
  readonly home: ChatHome;
  readonly store: ChatStore;
  readonly sources: SourceView;
  readonly reader: Reader;
  readonly feed: Feed;
  readonly history: History;
  readonly listChanges: ListChanges;
  readonly requests: RequestLimiter;
  readonly sent: SentLog;
  readonly log: (line: string) => void;
  /** Connects the sources in the background, and applies changes of chat.json. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Nothing connects before `start()`. */
export async function openApp({ log, now = Date.now, limits = LIMITS, ...environment }: AppOptions): Promise<App> {
  const home = await prepareHome({ ...environment, log });
  const configuration = await LiveConfig.open({ home, env: environment.env, log, now });
  const store = await openStore(home.database);
  const feed = new Feed(now);
  const sources = new Sources(configuration.configured, { files: home, store, feed, log, now });
  const reader = new Reader({ store, sources, searchMs: limits.searchMs }, configuration.policy);
  const history = new History({ store, sources, now, log });
  const listChanges = new ListChanges({ reader, store, log });
  return {
    home,
    store,
    sources,
    reader,
    feed,
    history,
    listChanges,
    requests: new RequestLimiter(limits),
    sent: new SentLog(home.sent),
    log,
    start: async () => {
      await sources.start();
      history.start();
      listChanges.start();
      configuration.follow({ sources, reader });
    },
    close: async () => {
      listChanges.close();
      await configuration.close();
      await history.close();
      await sources.stop();
      await store.close();
    },
  };
}
