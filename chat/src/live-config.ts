// Applies changes of chat.json while the server runs: starts and stops the sources that changed, and replaces the policy. An
// invalid or missing file changes nothing.

import { unwatchFile, watchFile, type StatsListener } from "node:fs";
import { readConfig } from "./config/file.ts";
import type { ChatHome } from "./config/home.ts";
import type { ChatConfigFile, SourceEntry } from "./config/schema.ts";
import { changedPolicy, toPolicy, type Policy } from "./access/policy.ts";
import type { Reader } from "./access/reader.ts";
import type { ChatSource } from "./model/source.ts";
import { createSource } from "./sources/kinds.ts";
import type { ConfiguredSource, Sources } from "./sources/sources.ts";

export interface LiveConfigOptions {
  readonly home: ChatHome;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (line: string) => void;
  readonly now: () => number;
}

/** The objects that a config change updates. */
export interface ConfigTargets {
  readonly sources: Sources;
  readonly reader: Reader;
}

/** Polls the file: a watch of the folder would fire for every write to the database. */
const POLL_MS = 1000;

export class LiveConfig {
  readonly #options: LiveConfigOptions;
  #config: ChatConfigFile;
  #policy: Policy;
  #configured: readonly ConfiguredSource[] = [];
  /** Serializes changes. */
  #changing: Promise<void> = Promise.resolve();
  #stopWatching: () => void = () => undefined;

  static async open(options: LiveConfigOptions): Promise<LiveConfig> {
    const self = new LiveConfig(options, await readConfig(options.home));
    self.#configured = await self.#toConfigured(self.#config, new Map());
    return self;
  }

  private constructor(options: LiveConfigOptions, config: ChatConfigFile) {
    this.#options = options;
    this.#config = config;
    this.#policy = toPolicy(config, options.now);
  }

  get policy(): Policy {
    return this.#policy;
  }

  get configured(): readonly ConfiguredSource[] {
    return this.#configured;
  }

  follow(concerned: ConfigTargets): void {
    const { config: path } = this.#options.home;
    const listener: StatsListener = (now, before) => {
      // watchFile() also fires for a file that does not exist.
      if (now.mtimeMs === 0 && before.mtimeMs === 0) return;
      this.#changing = this.#changing.then(() => this.#change(concerned));
    };
    watchFile(path, { interval: POLL_MS, persistent: false }, listener);
    this.#stopWatching = () => unwatchFile(path, listener);
  }

  /** Resolves when no change is under way. */
  async close(): Promise<void> {
    this.#stopWatching();
    await this.#changing;
  }

  async #change(concerned: ConfigTargets): Promise<void> {
    const { home, log, now } = this.#options;
    try {
      const config = await readConfig(home, { mustExist: true });
      const configured = await this.#toConfigured(config, this.#reusable(concerned.sources));
      this.#policy = changedPolicy({ policy: this.#policy, config: this.#config }, config, now);
      this.#config = config;
      const before = this.#configured;
      this.#configured = configured;
      // Before the sources change, so that a new source is never visible without its rules.
      concerned.reader.adopt(this.#policy);
      log(`info: chat.json has changed: ${describe(before, configured)}`);
      await concerned.sources.change(configured);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`warning: ${reason}; the previous config stays in use`);
    }
  }

  /** Unchanged sources, by key. A source in an error state is created again. */
  #reusable(sources: Sources): ReadonlyMap<string, ChatSource> {
    const working = this.#configured.filter(({ source }) => sources.state(source.id).status !== "error");
    return new Map(
      working.flatMap(({ source }) => {
        const entry = this.#config.sources[source.id];
        return entry === undefined ? [] : [[sourceKey(source.id, entry), source] as const];
      }),
    );
  }

  async #toConfigured(
    config: ChatConfigFile,
    known: ReadonlyMap<string, ChatSource>,
  ): Promise<readonly ConfiguredSource[]> {
    const environment = { env: this.#options.env, timeZone: this.#policy.clock.zone.name };
    return Promise.all(
      Object.entries(config.sources).map(async ([id, entry]) => ({
        source: known.get(sourceKey(id, entry)) ?? (await createSource(id, entry, environment)),
        send: entry.send,
      })),
    );
  }
}

/** Equal keys mean equal sources. Rules for chats and sending are not part of a source. */
function sourceKey(id: string, { kind, name, options }: SourceEntry): string {
  return JSON.stringify([id, kind, name, options]);
}

function describe(before: readonly ConfiguredSource[], after: readonly ConfiguredSource[]): string {
  const known = new Map(before.map(({ source }) => [source.id, source]));
  const now = new Map(after.map(({ source }) => [source.id, source]));
  const changes = [
    ...[...now].flatMap(([id, source]) => {
      if (!known.has(id)) return [`${id} was added`];
      return known.get(id) === source ? [] : [`${id} is restarted`];
    }),
    ...[...known.keys()].flatMap((id) => (now.has(id) ? [] : [`${id} was removed`])),
  ];
  return changes.length === 0 ? "sources are unchanged" : changes.join(", ");
}
