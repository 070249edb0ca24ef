// Several hubs as processes on one real PostgreSQL.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "./client.ts";
import { makeHome, plugboard, startHub, type Home, type RunningHub, type StartOptions } from "./hub.ts";
import { Postgres } from "./postgres.ts";

const SECRET_KEY = "5a".repeat(32);

export interface Replica {
  readonly hub: RunningHub;
  readonly client: HubClient;
}

export interface ClusterOptions {
  /** Further members of hub.json. */
  readonly settings?: object;
}

export class Cluster {
  readonly postgres: Postgres;
  readonly database: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #settings: object;
  readonly #hubs: RunningHub[] = [];
  readonly #homes: Home[] = [];

  private constructor(postgres: Postgres, database: string, settings: object) {
    this.postgres = postgres;
    this.database = database;
    this.env = { PLUGBOARD_DATABASE_URL: postgres.urlOf(database), PLUGBOARD_SECRET_KEY: SECRET_KEY };
    this.#settings = settings;
  }

  static async open(postgres: Postgres, { settings = {} }: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(postgres, await postgres.createDatabase(), settings);
    const home = await cluster.makeHome("init");
    const { code, stderr } = await plugboard(home, ["cluster", "init"]);
    if (code !== 0) throw new Error(`cluster init failed: ${stderr}`);
    return cluster;
  }

  /** A machine that knows the database and the key. */
  async makeHome(name: string, more: object = {}): Promise<Home> {
    const home = await makeHome(undefined);
    this.#homes.push(home);
    const settings = { ...this.#settings, ...more, cluster: { name } };
    await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
    return { ...home, env: { ...home.env, ...this.env } };
  }

  async start(name: string, options: StartOptions = {}): Promise<Replica> {
    return this.startIn(await this.makeHome(name), options);
  }

  async startIn(home: Home, options: StartOptions = {}): Promise<Replica> {
    const hub = await startHub(home, { ready: false, ...options });
    this.#hubs.push(hub);
    return { hub, client: await clientOf(hub) };
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return this.postgres.query(this.database, sql);
  }

  async close(): Promise<void> {
    await Promise.all(this.#hubs.map((hub) => hub.kill()));
    await Promise.all(this.#homes.map((home) => home.remove()));
  }
}
