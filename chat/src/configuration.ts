// chat.json while the server runs: a change is noticed, and only what it touches is. Sources come and go, and what agents may
// see holds from the next question on. A file that is broken or gone changes nothing.

import { unwatchFile, watchFile, type StatsListener } from "node:fs";
import { readConfig } from "./config/file.ts";
import type { ChatHome } from "./config/home.ts";
import type { ChatConfigFile, SourceEntry } from "./config/schema.ts";
import { changedPolicy, toPolicy, type Policy } from "./policy.ts";
import type { Reader } from "./reader.ts";
import type { ChatSource } from "./source.ts";
import { createSource } from "./sources/kinds.ts";
import type { ConfiguredSource, Sources } from "./sources/sources.ts";

export interface ConfigurationOptions {
  readonly home: ChatHome;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (line: string) => void;
  readonly now: () => number;
}

/** Those whom a change concerns. */
export interface Concerned {
  readonly sources: Sources;
  readonly reader: Reader;
}

/** The database in the same folder is written all the time: looking at the one file is cheaper than hearing of them all. */
const LOOK_MS = 1000;

export class Configuration {
  readonly #options: ConfigurationOptions;
  #config: ChatConfigFile;
  #policy: Policy;
  #configured: readonly ConfiguredSource[] = [];
  /** One change at a time. */
  #changing: Promise<void> = Promise.resolve();
  #stopWatching: () => void = () => undefined;

  static async open(options: ConfigurationOptions): Promise<Configuration> {
    const self = new Configuration(options, await readConfig(options.home));
    self.#configured = await self.#toConfigured(self.#config, new Map());
    return self;
  }

  private constructor(options: ConfigurationOptions, config: ChatConfigFile) {
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

  /** Until it is closed. */
  follow(concerned: Concerned): void {
    const { config: path } = this.#options.home;
    const listener: StatsListener = (now, before) => {
      // What was never there is told of as well.
      if (now.mtimeMs === 0 && before.mtimeMs === 0) return;
      this.#changing = this.#changing.then(() => this.#change(concerned));
    };
    watchFile(path, { interval: LOOK_MS, persistent: false }, listener);
    this.#stopWatching = () => unwatchFile(path, listener);
  }

  /** Resolves when no change is under way. */
  async close(): Promise<void> {
    this.#stopWatching();
    await this.#changing;
  }

  async #change(concerned: Concerned): Promise<void> {
    const { home, log, now } = this.#options;
    try {
      const config = await readConfig(home, { mustExist: true });
      const configured = await this.#toConfigured(config, this.#reusable(concerned.sources));
      this.#policy = changedPolicy({ policy: this.#policy, config: this.#config }, config, now);
      this.#config = config;
      const before = this.#configured;
      this.#configured = configured;
      // In one go: nothing of a source is to be seen before what is hidden of it.
      concerned.reader.adopt(this.#policy);
      log(`info: chat.json has changed: ${describe(before, configured)}`);
      await concerned.sources.change(configured);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`warning: ${reason}; what was there before stays in force`);
    }
  }

  /** Sources that need not be made anew, by how they were made. One that could not work is tried again. */
  #reusable(sources: Sources): ReadonlyMap<string, ChatSource> {
    const working = this.#configured.filter(({ source }) => sources.state(source.id).status !== "error");
    return new Map(
      working.flatMap(({ source }) => {
        const entry = this.#config.sources[source.id];
        return entry === undefined ? [] : [[recipe(source.id, entry), source] as const];
      }),
    );
  }

  async #toConfigured(
    config: ChatConfigFile,
    known: ReadonlyMap<string, ChatSource>,
  ): Promise<readonly ConfiguredSource[]> {
    const surroundings = { env: this.#options.env, timeZone: this.#policy.clock.zone.name };
    return Promise.all(
      Object.entries(config.sources).map(async ([id, entry]) => ({
        source: known.get(recipe(id, entry)) ?? (await createSource(id, entry, surroundings)),
        sendTo: entry.send?.chats,
      })),
    );
  }
}

/** All that decides what a source is; who may see or write what is not its affair. */
function recipe(id: string, { kind, name, options }: SourceEntry): string {
  return JSON.stringify([id, kind, name, options]);
}

function describe(before: readonly ConfiguredSource[], after: readonly ConfiguredSource[]): string {
  const known = new Map(before.map(({ source }) => [source.id, source]));
  const now = new Map(after.map(({ source }) => [source.id, source]));
  const told = [
    ...[...now].flatMap(([id, source]) => {
      if (!known.has(id)) return [`${id} is new`];
      return known.get(id) === source ? [] : [`${id} begins anew`];
    }),
    ...[...known.keys()].flatMap((id) => (now.has(id) ? [] : [`${id} has gone`])),
  ];
  return told.length === 0 ? "all sources stay" : told.join(", ");
}
